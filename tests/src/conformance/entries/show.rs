//! Records of an answer as lines.

use bytes::Bytes;
use kmirror_proto::compress::{Codec, decompress};

use super::Sent;
use super::batch::HEADER_BYTES;
use super::record::Record;
use crate::conformance::masks::Masks;
use crate::conformance::schema::Role;
use crate::conformance::value::Input;
use crate::{Failure, Result};

/// No payload that the suite meets is larger.
const PAYLOAD_BYTES_MAX: usize = 16 << 20;

/// Where the magic stands in an entry of any format.
const MAGIC_AT: usize = 16;

/// Where the last delta of a batch stands.
const LAST_DELTA_AT: usize = 23;

/// The header of an lz4 frame with independent blocks of 64 KiB, with the checksum of KAFKA-3160; and the right one.
const LZ4_HEADER_KAFKA_3160: [u8; 7] = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x1a];
const LZ4_CHECKSUM: u8 = 0x82;

/// The records of an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// A line for each entry.
    pub lines: Vec<String>,
    /// The offset behind the last whole entry, if there is one.
    pub next: Option<i64>,
    /// Bytes behind the last whole entry.
    pub tail: usize,
    /// Whether an entry is compressed: then sizes depend on who compressed it.
    pub compressed: bool,
}

/// Shows the entries in `bytes`; `sent` is what the case has sent so far. Plain messages that stand side by side and are
/// alike share a line.
pub(crate) fn show(bytes: &[u8], sent: &[Sent], masks: &mut Masks) -> Shown {
    let mut shown = Shown::default();
    let mut run: Option<(String, Vec<String>)> = None;
    let mut rest = bytes;
    while let Some((entry, behind)) = split(rest) {
        rest = behind;
        shown.next = next_offset(entry);
        let line = match entry[MAGIC_AT] {
            2 => batch(entry, sent, masks, &mut shown.compressed),
            0 | 1 => match message(entry, sent, masks, &mut shown.compressed) {
                Ok(Entry::Line(line)) => Ok(line),
                Ok(Entry::Message(shape, item)) => {
                    match &mut run {
                        Some((known, items)) if *known == shape => items.push(item),
                        _ => shown.lines.extend(run.replace((shape, vec![item])).map(messages)),
                    }
                    continue;
                }
                Err(failure) => Err(failure),
            },
            magic => Err(Failure::new(format!("magic {magic}"))),
        };
        shown.lines.extend(run.take().map(messages));
        shown.lines.push(line.unwrap_or_else(|failure| format!("entry of {} bytes: {failure}", entry.len())));
    }
    shown.lines.extend(run.map(messages));
    shown.tail = rest.len();
    shown
}

/// The offset behind an entry: that of a message is its last one, a batch has it in its header.
fn next_offset(entry: &[u8]) -> Option<i64> {
    let mut input = Input(entry);
    let offset = input.int(8).ok()?;
    let magic = *entry.get(MAGIC_AT)?;
    let last_delta = if magic == 2 { Input(entry.get(LAST_DELTA_AT..)?).int(4).ok()? } else { 0 };
    Some(offset + last_delta + 1)
}

fn messages((shape, items): (String, Vec<String>)) -> String {
    format!("messages {shape} [{}]", items.join(", "))
}

/// What is shown of a message or wrapper.
enum Entry {
    Line(String),
    /// A plain message: what it shares with its neighbours, and itself.
    Message(String, String),
}

fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = i32::from_be_bytes(bytes.get(8..12)?.try_into().ok()?);
    let end = 12 + usize::try_from(length).ok()?;
    if end > MAGIC_AT { bytes.split_at_checked(end) } else { None }
}

fn batch(entry: &[u8], sent: &[Sent], masks: &mut Masks, compressed: &mut bool) -> Result<String> {
    let mut input = Input(entry);
    let base = input.int(8)?;
    input.take(4)?;
    let leader_epoch = input.int(4)?;
    input.take(1)?;
    let crc = input.take(4)?;
    let crc = if crc == crc32c::crc32c(input.0).to_be_bytes() { "ok" } else { "BAD" };
    let attributes = input.int(2)?;
    *compressed |= attributes & 7 != 0;
    let epoch_of_leader = if leader_epoch == 0 { String::new() } else { format!(" ple={leader_epoch}") };
    let same = |known: &Sent| known.magic == 2 && known.bytes.get(MAGIC_AT..) == entry.get(MAGIC_AT..);
    if let Some(number) = sent.iter().position(same) {
        return Ok(format!("batch {base} as sent #{}{epoch_of_leader}", number + 1));
    }
    let last = input.int(4)?;
    let (first, max) = (input.int(8)?, input.int(8)?);
    let (pid, epoch, sequence) = (input.int(8)?, input.int(2)?, input.int(4)?);
    let count = input.int(4)?;
    let pid = masks.id(Role::Pid, &pid.to_string());
    let mut line = format!(
        "batch {base} lod={last} count={count} attrs=0x{attributes:02x} ts={}..{} pid={pid}/{epoch}/{sequence}{epoch_of_leader} crc={crc}",
        masks.show_time(first),
        masks.show_time(max),
    );
    if attributes & 7 == 0 {
        line.push_str(&format!(" len={}", entry.len()));
    }
    let payload = entry.get(HEADER_BYTES..).unwrap_or_default();
    if payload.is_empty() {
        return Ok(line);
    }
    if let Some(number) = sent.iter().position(|known| known.magic == 2 && known.payload == payload) {
        return Ok(format!("{line} payload as sent #{}", number + 1));
    }
    let plain = plain(attributes & 7, payload)?;
    let mut input = Input(&plain);
    let mut records = Vec::new();
    while !input.0.is_empty() {
        let record = Record::read(&mut input)?;
        let timestamp = masks.show_delta(first, record.timestamp);
        records.push(format!("{}{timestamp} {}", record.offset, record.show()));
    }
    Ok(format!("{line} records [{}]", records.join(", ")))
}

fn message(entry: &[u8], sent: &[Sent], masks: &mut Masks, compressed: &mut bool) -> Result<Entry> {
    let message = Message::read(entry)?;
    *compressed |= message.attributes & 7 != 0;
    let plain_one = message.attributes & 7 == 0;
    let offset = message.record.offset;
    let same = |known: &Sent| known.magic < 2 && known.bytes.get(12..) == entry.get(12..);
    if let Some(number) = sent.iter().position(same) {
        return Ok(match plain_one {
            true => Entry::Message("as sent".to_owned(), format!("{offset} #{}", number + 1)),
            false => Entry::Line(format!("wrapper {offset} as sent #{}", number + 1)),
        });
    }
    let crc = if message.crc_fits { "ok" } else { "BAD" };
    let shape = format!("magic={} attrs=0x{:02x} crc={crc}", message.magic, message.attributes);
    if plain_one {
        return Ok(Entry::Message(shape, message.show(masks)));
    }
    let mut line = format!("wrapper {offset} {shape}");
    if message.magic > 0 {
        line.push_str(&format!(" ts={}", masks.show_time(message.record.timestamp)));
    }
    let mut payload = message.record.value.unwrap_or_default();
    if let Some(number) = sent.iter().position(|known| known.magic < 2 && known.payload == payload) {
        return Ok(Entry::Line(format!("{line} payload as sent #{}", number + 1)));
    }
    // Java writes magic 0 as Kafka did before 0.10: with a checksum in the frame's header that no other reader takes.
    if payload.starts_with(&LZ4_HEADER_KAFKA_3160) {
        line.push_str(" kafka-3160");
        payload[6] = LZ4_CHECKSUM;
    }
    let plain = plain(i64::from(message.attributes & 7), &payload)?;
    let mut inner = Vec::new();
    let mut rest = plain.as_ref();
    while let Some((entry, behind)) = split(rest) {
        let message = Message::read(entry)?;
        let crc = if message.crc_fits { "" } else { " crc=BAD" };
        inner.push(format!("{}{crc}", message.show(masks)));
        rest = behind;
    }
    let tail = if rest.is_empty() { String::new() } else { format!(" tail={}", rest.len()) };
    Ok(Entry::Line(format!("{line} inner [{}]{tail}", inner.join(", "))))
}

struct Message {
    magic: u8,
    attributes: u8,
    crc_fits: bool,
    record: Record,
}

impl Message {
    fn read(entry: &[u8]) -> Result<Message> {
        let mut input = Input(entry);
        let mut record = Record { offset: input.int(8)?, ..Record::default() };
        input.take(4)?;
        let crc = input.take(4)?;
        let crc_fits = crc == crc32fast::hash(input.0).to_be_bytes();
        let (magic, attributes) = (input.take(1)?[0], input.take(1)?[0]);
        record.timestamp = if magic > 0 { input.int(8)? } else { -1 };
        for field in [&mut record.key, &mut record.value] {
            *field = match usize::try_from(input.int(4)?) {
                Ok(length) => Some(input.take(length)?.to_vec()),
                Err(_) => None,
            };
        }
        Ok(Message { magic, attributes, crc_fits, record })
    }

    /// `3@1600000000000 k0=value-0`.
    fn show(&self, masks: &Masks) -> String {
        let timestamp = match self.magic {
            0 => String::new(),
            _ => format!("@{}", masks.show_time(self.record.timestamp)),
        };
        format!("{}{timestamp} {}", self.record.offset, self.record.show())
    }
}

fn plain(codec: i64, payload: &[u8]) -> Result<Bytes> {
    let codec = u8::try_from(codec).map_err(|error| error.to_string());
    codec
        .and_then(|codec| Codec::from_id(codec).map_err(|error| error.to_string()))
        .and_then(|codec| {
            decompress(codec, &Bytes::copy_from_slice(payload), PAYLOAD_BYTES_MAX).map_err(|error| error.to_string())
        })
        .map_err(Failure::new)
}
