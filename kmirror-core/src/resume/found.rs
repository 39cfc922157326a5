//! What a resume asks for, and what it comes to.

use kmirror_proto::error_code::ErrorCode;
use kmirror_proto::messages::AnyRequest;

use crate::clock::Tick;
use crate::offset::TargetOffset;
use crate::plan::Fingerprint;
use crate::produce::{Producer, Proved, Sequence};

/// What the target's log says about one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The proved point from which the source is walked.
    pub from: Proved,
    /// Records that were written since.
    pub written: u64,
    /// Behind the last of them on the target; where others write too, the log goes on behind it.
    pub target_next: TargetOffset,
    /// The epoch of the last record that was written, and the sequence behind it.
    pub stamp: (i16, Sequence),
    /// Who writes from now on: in the epoch in force, the higher of the log's and the ledger's.
    pub producer: Option<Producer>,
    /// The last of them, to be found again in the source.
    pub last: Option<Fingerprint>,
    /// Whether the target stamps records with its own time.
    pub append_time: bool,
    /// Whether the link begins here for the first time: nothing is proved, what lies before is not ours.
    pub origin: bool,
    /// Whether the broker's own check of sequences can be trusted (rule P5).
    pub guarded: bool,
    /// The batch that would have proved the checkpoint is gone by retention: the count of offsets has to do (H7).
    pub tail_expired: bool,
}

/// Why a link cannot go on by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Impossible {
    /// Records of somebody else lie behind the checkpoint.
    Foreign {
        /// Where.
        offset: i64,
        /// Whose, −1 for a writer without id.
        producer_id: i64,
    },
    /// The log ends before the checkpoint.
    Lost {
        /// Where it ends.
        end: TargetOffset,
        /// Where the checkpoint says that it ended.
        checkpoint: TargetOffset,
    },
    /// The batch that ends at the checkpoint is not the one that we wrote.
    Unproved {
        /// The checkpoint's target offset.
        checkpoint: TargetOffset,
    },
    /// Retention took what was written behind the checkpoint, and because other links write to the partition too, its
    /// offsets do not say how much that was.
    Uncounted {
        /// The checkpoint's target offset.
        checkpoint: TargetOffset,
        /// Where the log begins.
        log_start: i64,
    },
    /// The log cannot be read.
    Unreadable(String),
}

/// What has to happen next.
#[derive(Debug)]
pub enum Next {
    /// Ask the target partition's leader; its answer goes to [`super::Resume::handle_response`].
    Call {
        /// The question.
        request: AnyRequest,
        /// The oldest version that can be asked.
        version_min: i16,
    },
    /// Nothing before this time.
    Wait(Tick),
    /// An answer is due.
    Answer,
    /// Done.
    Found(Found),
    /// The link stops.
    Impossible(Impossible),
}

/// What an answer was good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Go on with [`super::Resume::next`].
    On,
    /// The broker says "later" or is not the leader: try again from the beginning.
    Later(ErrorCode),
}
