//! Events: what happened, as values. [`std::fmt::Display`] makes the one sentence that logs show.

use std::fmt;

use super::reason::StopReason;
use crate::config::{Side, Warning};
use crate::offset::{SourceOffset, TargetOffset};

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Of interest to whoever looks for something.
    Debug,
    /// The course of things.
    Info,
    /// Something that an operator may want to change; no data is at risk.
    Warn,
    /// Data is at risk, or a link stands still.
    Error,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A setting that does nothing, or that something else is done for.
    Setting(Warning),
    /// A broker can be talked to.
    Connected {
        /// Of which cluster.
        side: Side,
        /// Which broker, with its address.
        broker: String,
    },
    /// A broker cannot be talked to, or no longer.
    Disconnected {
        /// Of which cluster.
        side: Side,
        /// Which broker, with its address.
        broker: String,
        /// Why.
        reason: String,
    },
    /// The mirror has its topics and begins.
    Started {
        /// Its name.
        name: String,
        /// Topics that match.
        topics: usize,
        /// Links that are opened.
        links: usize,
        /// Threads that share them.
        streams: usize,
    },
    /// No topic of the source matches. It may come to be.
    NothingMatches {
        /// What was looked for.
        pattern: String,
        /// How many topics the source has.
        topics: usize,
    },
    /// Other topics are wanted from now on.
    Selected {
        /// Which.
        pattern: String,
    },
    /// A topic that was not there before is mirrored from its first record on.
    TopicFound {
        /// Its name on the source.
        topic: String,
        /// Its name on the target.
        target: String,
        /// Partitions of the source.
        partitions: usize,
    },
    /// A mirrored topic has new partitions; they are mirrored from their first record on.
    PartitionsFound {
        /// Its name on the source.
        topic: String,
        /// How many it had.
        from: usize,
        /// How many it has.
        to: usize,
    },
    /// A topic is no longer mirrored: it is gone from the source, or no longer wanted. The target's copy stays.
    LetGo {
        /// Its name on the source.
        topic: String,
        /// Whether it is gone; else it is no longer wanted.
        gone: bool,
    },
    /// A topic was created on the target.
    TopicCreated {
        /// Its name there.
        target: String,
        /// Its partitions.
        partitions: i32,
        /// Its replication factor.
        replication_factor: i16,
        /// Settings that it was given.
        settings: Vec<(String, String)>,
        /// Settings that could not be set, and why.
        not_set: Vec<(String, String)>,
    },
    /// A topic of the target was given more partitions.
    PartitionsAdded {
        /// Its name there.
        target: String,
        /// How many it had.
        from: i32,
        /// How many it has.
        to: i32,
    },
    /// A topic, or some of its partitions, cannot be mirrored until something outside changes. It is looked for again.
    Blocked {
        /// Its name on the source.
        topic: String,
        /// What stands in the way, and the way out.
        reason: String,
    },
    /// The settings of a cluster's topics cannot be read. Of the source: what is created on the target gets the configured
    /// settings only. Of the target: what its topics do not take shows when they refuse it.
    SettingsUnknown {
        /// Which cluster.
        side: Side,
        /// Why.
        reason: String,
    },
    /// Two topics of the target differ only in `.` and `_`, which Kafka's metrics do not tell apart.
    NamesCollide {
        /// One.
        target: String,
        /// The other.
        other: String,
    },
    /// A link has its place on both sides and goes on.
    Resumed {
        /// `topic-partition`.
        link: String,
        /// It reads on here.
        source_next: SourceOffset,
        /// It writes on here.
        target_next: TargetOffset,
        /// Records found on the target beyond the checkpoint.
        counted: u64,
        /// Whether it begins for the first time.
        origin: bool,
    },
    /// A link waits until requests of unknown outcome can no longer take effect.
    Settling {
        /// `topic-partition`.
        link: String,
        /// For so long, milliseconds.
        wait_ms: u64,
    },
    /// The batch that would prove the checkpoint was deleted by retention; the count of offsets had to do.
    TailExpired {
        /// `topic-partition`.
        link: String,
        /// The checkpoint.
        target_next: TargetOffset,
    },
    /// The target has forgotten the mirror's producer id; the link goes on in a new epoch, which fences the old one.
    EpochRaised {
        /// `topic-partition`.
        link: String,
        /// The new epoch.
        epoch: i16,
    },
    /// A link cannot find its place on the target yet and tries again.
    Waits {
        /// `topic-partition`.
        link: String,
        /// What it waits for.
        why: String,
    },
    /// A link looks at the target's log again before it goes on.
    Doubt {
        /// `topic-partition`.
        link: String,
        /// What happened.
        why: String,
    },
    /// A committed offset lies outside the source's log; the start policy decides instead.
    CommittedOutOfRange {
        /// `topic-partition`.
        link: String,
        /// The committed offset.
        committed: SourceOffset,
        /// The source's log.
        log: (SourceOffset, SourceOffset),
        /// Where the link starts instead.
        start: SourceOffset,
    },
    /// Records lost their headers because the target's format has none.
    HeadersDropped {
        /// The topic.
        topic: String,
    },
    /// Records that the target cannot take were left out, as the route's policy says.
    Dropped {
        /// `topic-partition`.
        link: String,
        /// Their source offsets.
        from: SourceOffset,
        /// Behind them.
        to: SourceOffset,
        /// How many.
        records: u32,
        /// Why.
        why: String,
    },
    /// A link stands still for good.
    Stopped {
        /// `topic-partition`, or the topic.
        link: String,
        /// Why, and the way out.
        reason: StopReason,
    },
    /// The source's group could not be told; the ledger does not depend on it.
    CommitFailed {
        /// The group.
        group: String,
        /// Why.
        reason: String,
    },
    /// The ledger could not be written yet.
    LedgerDelayed {
        /// Its topic.
        topic: String,
        /// Why.
        reason: String,
    },
    /// The mirror has been told to stop.
    Stopping,
    /// The stop took too long; what was on its way is found by the next start.
    StopTimedOut {
        /// Links that were not drained.
        links: usize,
    },
}

impl Event {
    /// How much it matters.
    #[must_use]
    pub fn level(&self) -> Severity {
        match self {
            Self::Connected { .. } => Severity::Debug,
            Self::Started { .. }
            | Self::EpochRaised { .. }
            | Self::Stopping
            | Self::Settling { .. }
            | Self::Selected { .. }
            | Self::TopicFound { .. }
            | Self::PartitionsFound { .. }
            | Self::PartitionsAdded { .. }
            | Self::LetGo { gone: false, .. } => Severity::Info,
            Self::TopicCreated { not_set, .. } if not_set.is_empty() => Severity::Info,
            // One per link: thousands at the start of a large mirror.
            Self::Resumed { counted: 0, .. } => Severity::Debug,
            Self::Resumed { .. } => Severity::Info,
            Self::Setting(_)
            | Self::NothingMatches { .. }
            | Self::LetGo { gone: true, .. }
            | Self::TopicCreated { .. }
            | Self::SettingsUnknown { .. }
            | Self::NamesCollide { .. }
            | Self::Disconnected { .. }
            | Self::TailExpired { .. }
            | Self::Doubt { .. }
            | Self::Waits { .. }
            | Self::CommittedOutOfRange { .. }
            | Self::HeadersDropped { .. }
            | Self::CommitFailed { .. }
            | Self::LedgerDelayed { .. }
            | Self::StopTimedOut { .. } => Severity::Warn,
            Self::Dropped { .. } | Self::Blocked { .. } | Self::Stopped { .. } => Severity::Error,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(warning) => warning.fmt(f),
            Self::Connected { broker, .. } => write!(f, "{broker}: connected"),
            Self::Disconnected { broker, reason, .. } => write!(f, "{broker}: {reason}"),
            Self::Started { name, topics, links, streams } => {
                write!(f, "mirror {name}: {topics} topics, {links} links, {streams} streams")
            }
            Self::NothingMatches { pattern, topics } => write!(
                f,
                "no topic of the source matches {pattern}: the whole name must match; {topics} topics are there; new ones are \
                 waited for"
            ),
            Self::Selected { pattern } => write!(f, "topics that are mirrored from now on: {pattern}"),
            Self::TopicFound { topic, target, partitions } => {
                write!(f, "{}: new on the source, {partitions} partitions", renamed(topic, target))
            }
            Self::PartitionsFound { topic, from, to } => {
                write!(f, "{topic}: the source has {to} partitions now, before {from}")
            }
            Self::LetGo { topic, gone: true } => {
                write!(f, "{topic}: let go: it is gone from the source; its copy on the target stays")
            }
            Self::LetGo { topic, gone: false } => {
                write!(f, "{topic}: let go: it is no longer wanted; its copy on the target stays")
            }
            Self::TopicCreated { target, partitions, replication_factor, settings, not_set } => {
                write!(f, "target topic {target}: created, {partitions} partitions")?;
                if *replication_factor > 0 {
                    write!(f, ", replication factor {replication_factor}")?;
                }
                settings.iter().try_for_each(|(key, value)| write!(f, ", {key}={value}"))?;
                not_set.iter().try_for_each(|(key, why)| write!(f, "; {key} could not be set: {why}"))
            }
            Self::PartitionsAdded { target, from, to } => {
                write!(f, "target topic {target}: {to} partitions now, before {from}")
            }
            Self::Blocked { topic, reason } => write!(f, "{topic}: not mirrored for now: {reason}"),
            Self::SettingsUnknown { side: Side::Source, reason } => write!(
                f,
                "the settings of the source's topics cannot be read ({reason}): topics that are created on the target get what \
                 the configuration says, and the target's defaults"
            ),
            Self::SettingsUnknown { side: Side::Target, reason } => write!(
                f,
                "the settings of the target's topics cannot be read ({reason}): what they do not take shows when they refuse it"
            ),
            Self::NamesCollide { target, other } => write!(
                f,
                "target topics {target} and {other} differ only in '.' and '_': Kafka's metrics mix them up, and its brokers \
                 refuse to create the second one; rename one of them (rename, topic_mappings)"
            ),
            Self::Resumed { link, source_next, target_next, origin: true, .. } => {
                write!(f, "{link}: begins at source offset {source_next}, target offset {target_next}")
            }
            Self::Resumed { link, source_next, target_next, counted, .. } => write!(
                f,
                "{link}: goes on at source offset {source_next}, target offset {target_next} ({counted} records were found \
                 beyond the checkpoint)"
            ),
            Self::Settling { link, wait_ms } => write!(
                f,
                "{link}: waits {wait_ms} ms until earlier requests of unknown outcome can no longer take effect"
            ),
            Self::TailExpired { link, target_next } => write!(
                f,
                "{link}: tail expired, not proved by content: retention deleted the target's records before offset \
                 {target_next}; the count of offsets decides"
            ),
            Self::EpochRaised { link, epoch } => {
                write!(f, "{link}: the target has forgotten the mirror's producer id: goes on in epoch {epoch}")
            }
            Self::Waits { link, why } => write!(f, "{link}: waits for its place on the target: {why}"),
            Self::Doubt { link, why } => {
                write!(f, "{link}: {why}: the target's log is read before anything is sent again")
            }
            Self::CommittedOutOfRange { link, committed, log: (start, end), start: chosen } => write!(
                f,
                "{link}: the group's committed offset {committed} lies outside the source's log [{start}, {end}): \
                 auto.offset.reset says {chosen}"
            ),
            Self::HeadersDropped { topic } => write!(
                f,
                "{topic}: the target's brokers are older than 0.11 and keep no record headers: headers are dropped and \
                 counted"
            ),
            Self::Dropped { link, from, to, records, why } => {
                write!(f, "{link}: {records} records dropped, source offsets [{from}, {to}): {why}")
            }
            Self::Stopped { link, reason } => write!(f, "{link}: stopped: {reason}"),
            Self::CommitFailed { group, reason } => write!(
                f,
                "source group {group}: offsets not committed: {reason}; lag tools see old figures, the mirror does not depend \
                 on it"
            ),
            Self::LedgerDelayed { topic, reason } => write!(f, "target topic {topic}: ledger entries wait: {reason}"),
            Self::Stopping => f.write_str("stopping: no more fetches, what is on its way is written"),
            Self::StopTimedOut { links } => write!(
                f,
                "{links} links were not drained in time: the next start finds out from the target's log what was written"
            ),
        }
    }
}

/// A topic's name, and the target's where it is another one.
fn renamed(topic: &str, target: &str) -> String {
    if topic == target { topic.to_owned() } else { format!("{topic} → {target}") }
}
