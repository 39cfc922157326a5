//! Why a link stands still for good, in one sentence with the way out.

use std::fmt;

use kmirror_proto::error_code::ErrorCode;

use crate::offset::{SourceOffset, TargetOffset};
use crate::plan::{Loss, Refused};
use crate::resume::Impossible;

/// Why a link was stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// The source no longer has what the link wants next.
    SourceGone {
        /// What was wanted.
        wanted: SourceOffset,
        /// What the source begins with.
        log_start: SourceOffset,
    },
    /// The source's log ends before what was mirrored.
    SourceTruncated {
        /// What was wanted.
        wanted: SourceOffset,
        /// Where the source ends.
        log_end: SourceOffset,
    },
    /// A batch of the source cannot be mirrored.
    Unreadable {
        /// Where it begins.
        offset: SourceOffset,
        /// What is wrong with it.
        why: Refused,
    },
    /// A batch that does not fit into a frame.
    TooLarge {
        /// Where it begins.
        offset: SourceOffset,
        /// The largest frame, bytes.
        bytes_max: usize,
    },
    /// A broker of the source refuses the link for good.
    SourceRefuses(ErrorCode),
    /// A broker of the target does not let the link read where it is.
    TargetUnreadable(ErrorCode),
    /// The target refuses a batch for good.
    TargetRefuses {
        /// The source offsets of the batch.
        from: SourceOffset,
        /// Behind it.
        to: SourceOffset,
        /// The broker's answer.
        code: ErrorCode,
    },
    /// A record that the target cannot take, and the route's policy is to stop in front of it.
    Loss {
        /// The record's source offset.
        offset: SourceOffset,
        /// Why it cannot be taken.
        loss: Loss,
    },
    /// What is mirrored of the source was changed while records behind the checkpoint are not accounted for.
    ViewChanged {
        /// How many records were written behind the checkpoint.
        written: u64,
    },
    /// The target's log does not confirm what the ledger says.
    Target(Impossible),
    /// The last record on the target is not the one that the source has at that place.
    ContentDiffers {
        /// The source offset behind the record.
        source_next: SourceOffset,
        /// How many records were counted.
        written: u64,
    },
    /// The target holds more records behind the checkpoint than the source.
    MoreThanSource {
        /// Where the source ends.
        source_end: SourceOffset,
        /// How many the target holds.
        written: u64,
        /// How many the source holds.
        found: u64,
    },
    /// The target appended records somewhere else than where the link's log ended.
    AppendedElsewhere {
        /// Where they were expected.
        expected: TargetOffset,
        /// Where they are.
        found: i64,
    },
    /// The target refuses the link's sequence again and again.
    OutOfSequence(ErrorCode),
    /// The target's broker does not take any format that the engine writes.
    NoCommonVersion(String),
    /// There is neither a ledger entry nor a committed offset, and `auto.offset.reset` is `none`.
    NoPosition,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SourceGone { wanted, log_start } => write!(
                f,
                "the source begins at offset {log_start} but {wanted} was to be read next: records [{wanted}, {log_start}) are \
                 gone, by retention or deletion, before they were mirrored; nothing is skipped silently: to go on \
                 without them, start a mirror under another --name"
            ),
            Self::SourceTruncated { wanted, log_end } => write!(
                f,
                "the source ends at offset {log_end} but was mirrored up to {wanted}: the topic was created again, or its \
                 log was cut by an unclean election; to copy it again, start a mirror under another --name"
            ),
            Self::Unreadable { offset, why } => write!(
                f,
                "the source's batch at offset {offset} cannot be mirrored: {why}; check the broker's segment with \
                 \"kmirror inspect\" or kafka-dump-log.sh, or let it be left out and counted: on_damage = \"skip\""
            ),
            Self::TooLarge { offset, bytes_max } => write!(
                f,
                "the source's batch at offset {offset} is larger than the largest frame ({bytes_max} bytes): raise \
                 fetch.max.bytes"
            ),
            Self::SourceRefuses(code) => write!(f, "the source refuses to be read: {code}: {}", advice(*code)),
            Self::TargetUnreadable(code) => write!(
                f,
                "the target does not let its log be read, which says where the link is: {code}: grant the mirror READ and \
                 DESCRIBE on target topics"
            ),
            Self::TargetRefuses { from, to, code } => refusal(f, *from, *to, *code),
            Self::Loss { offset, loss } => {
                let (advice, policy) = loss_advice(loss);
                let text = "the target cannot take the record at source offset";
                write!(f, "{text} {offset}: {loss}; {advice}, or let it be left out and counted: {policy} = \"drop\"")
            }
            Self::ViewChanged { written } => write!(
                f,
                "filters or isolation.level were changed, and the last run ended without its last word: which records are \
                 the {written} behind the checkpoint is told by the former settings only; start once with those, stop it \
                 cleanly (SIGTERM), and change them then"
            ),
            Self::Target(impossible) => impossible.fmt(f),
            Self::ContentDiffers { source_next, written } => write!(
                f,
                "the target's last record is not the one before source offset {source_next}, {written} records behind the \
                 checkpoint: another producer writes to this partition, or the source changed"
            ),
            Self::MoreThanSource { source_end, written, found } => write!(
                f,
                "the target holds {written} records behind the checkpoint, the source only {found} (it ends at offset \
                 {source_end}): another producer or mirror writes to this partition; stop it, or start a mirror under another \
                 --name that begins behind them"
            ),
            Self::AppendedElsewhere { expected, found } => write!(
                f,
                "the target appended at offset {found} what was expected at {expected}: another producer writes to this \
                 partition; a mirrored partition belongs to its mirror alone"
            ),
            Self::OutOfSequence(code) => write!(
                f,
                "the target refuses the next sequence again and again ({code}) though its log ends where it should: it \
                 has forgotten the mirror's producer id; start a mirror under another --name"
            ),
            Self::NoCommonVersion(why) => write!(f, "{why}"),
            Self::NoPosition => f.write_str(
                "no ledger entry, no committed offset of the group, and auto.offset.reset=none: set it to earliest or latest",
            ),
        }
    }
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign { offset, producer_id } => write!(
                f,
                "the target holds records at offset {offset} that this mirror did not write (producer id {producer_id}): \
                 another producer or mirror writes to this partition; stop it, or start a mirror under another --name \
                 that begins behind them"
            ),
            Self::Lost { end, checkpoint } => write!(
                f,
                "the target's log ends at offset {end}, the ledger says that it was written up to {checkpoint}: the topic was \
                 created again or lost data; to copy it again, start a mirror under another --name"
            ),
            Self::Unproved { checkpoint } => write!(
                f,
                "the target's log does not confirm the ledger's checkpoint at offset {checkpoint}: what ends there is not \
                 what this mirror wrote; to copy again, start a mirror under another --name"
            ),
            Self::Uncounted { checkpoint, log_start } => write!(
                f,
                "the target's log begins at offset {log_start}: retention took what this link wrote behind the ledger's \
                 checkpoint at offset {checkpoint}, and as other links write to the same partition, how many records that \
                 were cannot be counted; to copy again, start a mirror under another --name"
            ),
            Self::Unreadable(why) => write!(f, "the target's log cannot be read: {why}"),
        }
    }
}

impl StopReason {
    /// Whether it is the target that does not take a record, which stops the whole mirror where
    /// `abort.on.send.failure` is on.
    #[must_use]
    pub fn is_send_failure(&self) -> bool {
        matches!(self, Self::TargetRefuses { .. } | Self::Loss { .. } | Self::OutOfSequence(_))
    }
}

fn refusal(f: &mut fmt::Formatter<'_>, from: SourceOffset, to: SourceOffset, code: ErrorCode) -> fmt::Result {
    write!(f, "the target refuses the records of source offsets [{from}, {to}): {code}: {}", advice(code))?;
    match refusal_policy(code) {
        Some(policy) => write!(f, "; or let them be left out and counted: {policy} = \"drop\""),
        None => Ok(()),
    }
}

/// The setting that leaves such records out, where there is one.
fn refusal_policy(code: ErrorCode) -> Option<&'static str> {
    match code {
        ErrorCode::MESSAGE_TOO_LARGE | ErrorCode::RECORD_LIST_TOO_LARGE => Some("on_too_large"),
        ErrorCode::INVALID_TIMESTAMP => Some("on_timestamp"),
        ErrorCode::CORRUPT_MESSAGE | ErrorCode::INVALID_RECORD => Some("on_refused"),
        _ => None,
    }
}

/// How the target can be made to take such records, and the setting that leaves them out.
fn loss_advice(loss: &Loss) -> (&'static str, &'static str) {
    match loss {
        Loss::Headers => ("mirror to brokers of 0.11 or newer", "on_headers"),
        Loss::TooLarge { .. } => ("raise max.message.bytes of the target's topic and start again", "on_too_large"),
        Loss::Timestamp { .. } => ("widen both settings of the target's topic and start again", "on_timestamp"),
        Loss::Damaged(_) => ("look at the source's segment with \"kmirror inspect\"", "on_damage"),
        Loss::NoKey => ("change cleanup.policy of the target's topic and start again", "on_keyless"),
    }
}

/// What an operator can do about a broker's final refusal.
pub(crate) fn advice(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::TOPIC_AUTHORIZATION_FAILED => {
            "grant the mirror READ and DESCRIBE on source topics, WRITE and DESCRIBE on target topics"
        }
        ErrorCode::CLUSTER_AUTHORIZATION_FAILED => "grant the mirror IDEMPOTENT_WRITE on the target cluster",
        ErrorCode::MESSAGE_TOO_LARGE | ErrorCode::RECORD_LIST_TOO_LARGE => {
            "raise max.message.bytes of the target's topic"
        }
        ErrorCode::INVALID_TIMESTAMP => {
            "widen message.timestamp.before.max.ms and message.timestamp.after.max.ms of the target's topic"
        }
        ErrorCode::CORRUPT_MESSAGE | ErrorCode::INVALID_RECORD => {
            "a compacted target topic refuses records without a key; otherwise the batch was damaged on its way"
        }
        ErrorCode::UNSUPPORTED_FOR_MESSAGE_FORMAT => "remove message.format.version from the target's topic",
        _ => "see the broker's log",
    }
}
