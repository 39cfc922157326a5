//! What stands in a partition: batches (magic 2), messages and wrappers (magic 0 and 1), built field by field so that
//! every one can be wrong, and shown field by field.
//!
//! A stored entry that is a sent one but for what a leader writes into it (offset, leader epoch) is shown as that:
//!
//! ```text
//! batch 3 as sent #2
//! batch 3 lod=2 count=3 attrs=0x01 ts=1600000000000..1600000000002 pid=-1/-1/-1 crc=ok payload as sent #1
//! ```

mod batch;
mod legacy;
mod record;
mod show;

pub(super) use show::show;

use super::masks::Masks;
use super::words::Words;
use crate::{Failure, Result};

/// Where a gzip stream says when it was made. No broker writes a time there: what it packs anew never equals what was sent.
const GZIP_TIME: std::ops::Range<usize> = 4..8;

/// An entry that a case sent.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// Its magic.
    pub magic: u8,
    /// All its bytes, before anything was cut off or appended.
    pub bytes: Vec<u8>,
    /// What its records are compressed into (or they themselves).
    pub payload: Vec<u8>,
}

/// The entries of a produce step, and the bytes that go into the request.
#[derive(Clone, Debug, Default)]
pub(super) struct Built {
    /// The entries.
    pub sent: Vec<Sent>,
    /// Their bytes; `None` for null records.
    pub bytes: Option<Vec<u8>>,
}

/// Builds what the calls of a produce step describe. `native` is what the release itself stores: a batch where it has them
/// (`has_batches`), else messages, or a wrapper when it has a codec.
pub(super) fn build(calls: Vec<(String, Words)>, has_batches: bool, masks: &mut Masks) -> Result<Built> {
    let mut built = Built::default();
    for (name, words) in calls {
        let bytes = built.bytes.get_or_insert_default();
        let compressed = words.has("codec");
        let name = match name.as_str() {
            "native" if has_batches => "batch",
            "native" if compressed => "wrapper",
            "native" => "messages",
            name => name,
        };
        let (sent, mut of_call) = match name {
            "batch" => batch::build(words, masks)?,
            "messages" => legacy::messages(words, masks)?,
            "wrapper" => legacy::wrapper(words, masks)?,
            "bytes" => {
                let mut words = words;
                let digits = words.plain().unwrap_or_default();
                words.finish()?;
                (Vec::new(), super::words::hex(&digits)?)
            }
            other => return Err(Failure::new(format!("no entry is called {other}"))),
        };
        bytes.append(&mut of_call);
        built.sent.extend(sent);
    }
    Ok(built)
}

/// The bits of a codec in the attributes, and the codec itself; a number that is none has no codec.
fn codec(name: Option<&str>) -> Result<(i16, kmirror_proto::compress::Codec)> {
    use kmirror_proto::compress::Codec;
    Ok(match name.unwrap_or("none") {
        "none" => (0, Codec::None),
        "gzip" => (1, Codec::Gzip),
        "snappy" => (2, Codec::Snappy),
        "lz4" => (3, Codec::Lz4),
        "zstd" => (4, Codec::Zstd),
        "5" => (5, Codec::None),
        other => return Err(Failure::new(format!("no codec {other}"))),
    })
}

/// `bytes` compressed.
fn compressed(codec: kmirror_proto::compress::Codec, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    kmirror_proto::compress::compress(codec, bytes, &mut out)
        .map_err(|error| Failure::new(format!("compressing: {error}")))?;
    if codec == kmirror_proto::compress::Codec::Gzip
        && let Some(time) = out.get_mut(GZIP_TIME)
    {
        time.copy_from_slice(b"sent");
    }
    Ok(out)
}
