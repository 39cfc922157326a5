//! How the log stores what was sent: in which format, with which codec, and whether as the bytes that came.

use kmirror_proto::compress::Codec;

use super::Offered;
use super::inside::Walked;
use super::sent::Sent;
use crate::Release;

/// The format and codec of a log, beside those of what was sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stored {
    /// The message format.
    pub(super) magic: i8,
    /// The codec that it is stored with.
    pub(super) codec: Codec,
    /// The codec that the set came with.
    sent: Codec,
    /// All entries came in the format of the log.
    same_format: bool,
}

impl Stored {
    /// R14, R15: `compression.type` if it names a codec, and `message.format.version` where the release heeds it.
    pub(super) fn of(offered: &Offered<'_>, sent: &[Sent], codec: Codec) -> Self {
        let release = offered.release;
        let magic = if release >= Release::V3_0 { 2 } else { offered.settings.magic.min(release.magic()) };
        Self {
            magic,
            codec: offered.settings.compression.unwrap_or(codec),
            sent: codec,
            same_format: sent.iter().all(|entry| entry.is_magic(magic)),
        }
    }

    /// Whether an entry came compressed.
    pub(super) fn came_compressed(self) -> bool {
        self.sent != Codec::None
    }

    /// Whether the set came compressed or will be: it is one entry in the end, numbered from 0 on the way.
    pub(super) fn is_compressed(self) -> bool {
        self.came_compressed() || self.codec != Codec::None
    }

    /// Whether the entries are taken as they are, each on its own, or written in another format.
    pub(super) fn is_converted(self) -> bool {
        !self.is_compressed() && !self.same_format
    }

    /// Whether the bytes stay as they came, as far as it shows before the records are looked at (M2, M3).
    pub(super) fn seems_kept(self) -> bool {
        if self.is_compressed() {
            return self.same_format && self.sent == self.codec && self.magic > 0;
        }
        self.same_format
    }

    /// Whether the bytes stay as they came. Nobody looks at the numbering of what is not compressed (R3).
    pub(super) fn is_kept(self, sent: &[Sent], walked: &Walked) -> bool {
        let numbered = sent.len() == 1 && walked.seen.iter().all(|entry| entry.dense);
        self.seems_kept() && (numbered || !self.is_compressed())
    }
}
