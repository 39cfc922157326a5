//! What stands in a route's way, each in one sentence with the way out.

use std::fmt;

use crate::offset::SourceOffset;
use crate::topics::Blocked;

/// Why a route, or a part of it, is not mirrored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// Other sources go to the same target.
    Collision { target: String, others: Vec<String> },
    /// The ledger says that another source was mirrored to the same target.
    TargetTaken { target: String, by: String },
    /// The target's topic cannot be prepared.
    Target(Blocked),
    /// The target's topic has fewer partitions than the source's, and is not to grow.
    TooFewPartitions { target: String, source: usize, on_target: i32, missing: usize },
    /// The ledger says that the topic was mirrored under another name.
    RouteChanged { before: String, now: String },
    /// Under the topic's name there is another topic on the source than the one that was mirrored, up to there.
    SourceRecreated(SourceOffset),
    /// The topic was gone for a while and is there again, on a cluster without topic ids: it was mirrored up to there.
    SourceBack(SourceOffset),
    /// Partitions are to be shared on a target without producer ids.
    SharedWithoutIds,
}

impl Obstacle {
    /// Whether it stands for as long as this mirror runs; else it is looked at again.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Self::TargetTaken { .. }
            | Self::RouteChanged { .. }
            | Self::SourceRecreated(_)
            | Self::SourceBack(_)
            | Self::SharedWithoutIds => true,
            Self::Collision { .. } | Self::Target(_) | Self::TooFewPartitions { .. } => false,
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Collision { target, others } => write!(
                f,
                "it goes to target topic {target}, and so does {}: two sources are never mixed into one target; rename one of \
                 them (rename, topic_mappings), or exclude it",
                others.join(", ")
            ),
            Self::TargetTaken { target, by } => write!(
                f,
                "it goes to target topic {target}, to which this mirror has mirrored {by} before: two sources are never mixed \
                 into one target; rename it, or start a mirror under another --name"
            ),
            Self::Target(blocked) => blocked.fmt(f),
            Self::TooFewPartitions { target, source, on_target, missing } => write!(
                f,
                "the target's topic {target} has {on_target} partitions, the source's has {source}, and partition n goes to \
                 partition n: {missing} partitions stand still; add partitions there (kafka-topics.sh --alter --topic \
                 {target} --partitions {source}), or set partitions to \"grow\" or \"modulo\""
            ),
            Self::RouteChanged { before, now } => write!(
                f,
                "until now it was mirrored to target topic {before}, and is to go to {now} from here on: take the rename \
                 back, or start a mirror under another --name, which copies all of it to {now}"
            ),
            Self::SourceRecreated(mirrored) => write!(
                f,
                "the source's topic was deleted and created again; the former one was mirrored up to offset {mirrored}, and \
                 nothing is appended to its copy silently: to copy the new one, delete the copy or rename the route, and \
                 start a mirror under another --name"
            ),
            Self::SourceBack(mirrored) => write!(
                f,
                "the source's topic was gone for a while and is there again; brokers before 2.8 do not tell whether it is the \
                 same one, which was mirrored up to offset {mirrored}: if it is, restart kmirror, which goes on there; if it was \
                 deleted and created again, start a mirror under another --name, into a copy of its own"
            ),
            Self::SharedWithoutIds => f.write_str(
                "partitions = \"modulo\" needs a target of 0.11 or newer: without producer ids nothing tells which records of \
                 a shared partition are whose",
            ),
        }
    }
}
