//! The records of an entry, one line each.

use std::io::{self, Write};

use kmirror_core::limits::DECOMPRESSED_BYTES_MAX;
use kmirror_core::plan::{SourceRecord, decode};
use kmirror_proto::records::{ControlRecord, Entry};

use crate::date::utc;

/// Prints the first records of an entry, and how many more there are; returns whether something is broken.
pub(super) fn show_all(out: &mut impl Write, entry: &Entry, records_max: usize) -> io::Result<bool> {
    if let Entry::Batch(batch) = entry
        && batch.header.attributes.control()
    {
        return match ControlRecord::of(batch, DECOMPRESSED_BYTES_MAX) {
            Ok(None) => Ok(false),
            Ok(Some(record)) => {
                let epoch = record.coordinator_epoch.map(|epoch| format!(", coordinator epoch {epoch}"));
                let (kind, version) = (record.kind, record.version);
                writeln!(out, "├ {kind}, version {version}{}", epoch.unwrap_or_default()).map(|()| false)
            }
            Err(error) => writeln!(out, "├ {error}").map(|()| true),
        };
    }
    let (mut count, mut written) = (0_usize, Ok(()));
    let decoded = decode(entry, |record| {
        if count < records_max {
            written = writeln!(out, "├ {}", line(&record));
        }
        count += 1;
        if written.is_ok() { std::ops::ControlFlow::Continue(()) } else { std::ops::ControlFlow::Break(()) }
    });
    written?;
    if count > records_max && records_max > 0 {
        writeln!(out, "├ … and {} more", count - records_max)?;
    }
    match decoded {
        Ok(()) => Ok(false),
        Err(error) => writeln!(out, "├ record {count}: {error}").map(|()| true),
    }
}

fn line(record: &SourceRecord<'_>) -> String {
    let mut line = format!("{}  {}", record.offset, time(record.timestamp));
    line.push_str(&format!("  key {}  value {}", shown(record.key), shown(record.value)));
    for (name, value) in record.headers.iter() {
        line.push_str(&format!("  {}: {}", text(name), shown(value)));
    }
    line
}

/// A timestamp in words and as the number that it is.
pub(super) fn time(unix_ms: i64) -> String {
    if unix_ms == NO_TIMESTAMP { "no timestamp".to_owned() } else { format!("{} ({unix_ms})", utc(unix_ms)) }
}

/// Java's `RecordBatch.NO_TIMESTAMP`.
const NO_TIMESTAMP: i64 = -1;

fn shown(bytes: Option<&[u8]>) -> String {
    match bytes {
        None => "null".to_owned(),
        Some(bytes) if bytes.len() == 1 => format!("{} (1 byte)", text(bytes)),
        Some(bytes) => format!("{} ({} bytes)", text(bytes), bytes.len()),
    }
}

/// Text where it is text, else hexadecimal; cut where it is long. A terminal obeys nothing of it.
fn text(bytes: &[u8]) -> String {
    let is_text = |text: &str| text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t'));
    match std::str::from_utf8(bytes) {
        Ok(text) if is_text(text) => {
            let cut = text.char_indices().nth(TEXT_CHARS_MAX).map(|(at, _)| at);
            let shown = text.get(..cut.unwrap_or(text.len())).unwrap_or_default();
            format!("{shown:?}{}", if cut.is_some() { "…" } else { "" })
        }
        Ok(_) | Err(_) => {
            let hex: String = bytes.iter().take(HEX_BYTES_MAX).map(|byte| format!("{byte:02x}")).collect();
            format!("0x{hex}{}", if bytes.len() > HEX_BYTES_MAX { "…" } else { "" })
        }
    }
}

/// Characters of a text that are printed.
const TEXT_CHARS_MAX: usize = 64;

/// Bytes of what is no text that are printed.
const HEX_BYTES_MAX: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_as_what_they_are() {
        assert_eq!(shown(None), "null");
        assert_eq!(shown(Some(b"")), "\"\" (0 bytes)");
        assert_eq!(shown(Some("grüße".as_bytes())), "\"grüße\" (7 bytes)");
        assert_eq!(shown(Some(b"\x1b[31m")), "0x1b5b33316d (5 bytes)");
        assert_eq!(shown(Some(&[0xff; 33])), format!("0x{}… (33 bytes)", "ff".repeat(32)));
        assert_eq!(shown(Some(&[b'a'; 65])), format!("\"{}\"… (65 bytes)", "a".repeat(64)));
    }
}
