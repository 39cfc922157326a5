//! What one partition's answer becomes: pieces that go into a lane, and what came of the rest.

use std::fmt;

use bytes::Bytes;
use kmirror_proto::records::{RawBatch, RecordError};

use super::judge::Refuse;
use super::loss::{Loss, LossRange};

/// The part of a source log that is written as one batch (magic 2) or one set of messages (magic 1).
#[derive(Clone, Debug)]
pub struct Piece {
    /// The source offset of its first record.
    pub first: i64,
    /// The source offset behind it: where the next piece begins, gaps and skipped batches included.
    pub next: i64,
    /// How many records it writes.
    pub records: u32,
    /// The largest timestamp of its records, milliseconds.
    pub timestamp_max: i64,
    /// Records whose headers the target's format cannot carry.
    pub headers_dropped: u32,
    /// Its last record, where the target is told by content (0.10) or it was decoded anyway.
    pub fingerprint: Option<super::Fingerprint>,
    /// Whether it was decoded and built again.
    pub rewritten: bool,
    /// The bytes.
    pub body: Body,
}

/// What is written.
#[derive(Clone, Debug)]
pub enum Body {
    /// One magic 2 batch; it gets its stamp in the lane.
    Batch(RawBatch),
    /// Magic 1: either a run of plain messages, which may be joined with others in one request, or one compressed
    /// wrapper, which goes alone (fact R4).
    Set {
        /// As they go to the wire.
        bytes: Bytes,
        /// One compressed wrapper.
        wrapper: bool,
    },
}

impl Body {
    /// Its bytes, shared.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        match self {
            Self::Batch(batch) => batch.bytes().clone(),
            Self::Set { bytes, .. } => bytes.clone(),
        }
    }

    /// Its size in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Batch(batch) => batch.bytes().len(),
            Self::Set { bytes, .. } => bytes.len(),
        }
    }

    /// Whether it holds nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What came out of one partition's answer.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// To be written, in order.
    pub pieces: Vec<Piece>,
    /// Where the link reads on.
    pub cursor: i64,
    /// Batches passed over, by reason: control, aborted, empty.
    pub skipped: [u32; 3],
    /// Records that the filters dropped.
    pub filtered: u64,
    /// Records that have to be left out, lowest first. The ledger has to know them before anything behind them is
    /// written: the cursor stands in front of the entry that holds the first of them, and nothing of that entry or
    /// behind it is among the pieces. Once [`super::View::left_out`] has them, the same answer goes through.
    pub left_out: Vec<LossRange>,
    /// Offsets are missing that nothing explains: the log was compacted, and its past may change again.
    pub gaps: bool,
    /// The link cannot go on past this source offset.
    pub refused: Option<(i64, Refused)>,
    /// The answer held less than one whole batch: how many bytes are needed, if it says.
    pub too_small: Option<Option<usize>>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verdict(why) => why.fmt(f),
            Self::Malformed(error) => error.fmt(f),
            Self::Loss(loss) => loss.fmt(f),
        }
    }
}

/// Why a link cannot go on past an offset.
#[derive(Clone, Debug, PartialEq)]
pub enum Refused {
    /// The judge said so.
    Verdict(Refuse),
    /// The bytes do not parse.
    Malformed(RecordError),
    /// The target cannot take the record, and the route's policy is to stop.
    Loss(Loss),
}
