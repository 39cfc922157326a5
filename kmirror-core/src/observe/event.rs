//! Events: what happened, as values. [`std::fmt::Display`] makes the one sentence that logs show.

use std::fmt;

use super::reason::StopReason;
use super::route_event::RouteEvent;
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
    /// Topics and partitions came, went, or cannot be mirrored.
    Route(RouteEvent),
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
            Self::Started { .. } | Self::EpochRaised { .. } | Self::Stopping | Self::Settling { .. } => Severity::Info,
            Self::Route(event) => event.level(),
            // One per link: thousands at the start of a large mirror.
            Self::Resumed { counted: 0, .. } => Severity::Debug,
            Self::Resumed { .. } => Severity::Info,
            Self::Setting(_)
            | Self::Disconnected { .. }
            | Self::TailExpired { .. }
            | Self::Doubt { .. }
            | Self::Waits { .. }
            | Self::CommittedOutOfRange { .. }
            | Self::HeadersDropped { .. }
            | Self::CommitFailed { .. }
            | Self::LedgerDelayed { .. }
            | Self::StopTimedOut { .. } => Severity::Warn,
            Self::Dropped { .. } | Self::Stopped { .. } => Severity::Error,
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
            Self::Route(event) => event.fmt(f),
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
