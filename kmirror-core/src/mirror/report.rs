//! What the worker and its shards tell each other.

use super::link::{LinkId, LinkSpec};
use crate::observe::{Counters, Event, LinkState, StopReason};
use crate::offset::SourceOffset;
use crate::produce::{Producer, Proved};

/// What the worker tells a shard.
#[derive(Clone, Debug)]
pub enum ShardCommand {
    /// Copy these links too.
    Open(Vec<LinkSpec>),
    /// What the link waits for is in the ledger.
    Stored(LinkId, StoredEntry),
    /// Copy these links no longer: what was read of them is written, then they are forgotten.
    Close(Vec<LinkId>),
    /// Fetch nothing more, write what is there, report, end.
    Stop,
    /// End now.
    Abort,
}

/// What of a link is in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredEntry {
    /// Its place.
    Place,
    /// Its raised epoch.
    Epoch,
    /// Everything that it leaves out, up to the report of this number.
    LeftOut(u64),
}

/// What a shard tells the worker.
#[derive(Clone, Debug)]
pub enum ShardReport {
    /// Links that moved since the last report.
    Progress(Vec<LinkProgress>),
    /// Something happened.
    Event(Event),
    /// A link has its place, which has to be in the ledger before its first write.
    Place(LinkProgress),
    /// Records are left out, which has to be in the ledger before anything behind them is written.
    LeftOut {
        /// Where it stands.
        progress: LinkProgress,
        /// Which records.
        omitted: Vec<Omitted>,
    },
    /// A link's stamps are to be raised to this epoch, which has to be in the ledger before its first use.
    Epoch {
        /// Which.
        link: LinkId,
        /// The epoch.
        epoch: i16,
    },
    /// A link stands still for good.
    Stopped {
        /// Which.
        link: LinkId,
        /// Why.
        reason: StopReason,
    },
    /// A link that was to be let go is: the last that is heard of it.
    Closed(LinkProgress),
    /// Every lane is empty: the last report of a shard that was told to stop.
    Drained,
}

/// Neighbouring records that are left out for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omitted {
    /// The first one.
    pub from: SourceOffset,
    /// Behind the last one.
    pub to: SourceOffset,
    /// How many records lie between.
    pub records: u32,
    /// Why, in one sentence.
    pub why: String,
}

/// Where one link stands.
#[derive(Clone, Debug)]
pub struct LinkProgress {
    /// Which.
    pub link: LinkId,
    /// What it does.
    pub state: LinkState,
    /// Up to where both logs are known to agree, once it has its place.
    pub proved: Option<Proved>,
    /// Whether nothing was written yet by this mirror.
    pub origin: bool,
    /// Which records of the source are mirrored: the digest of filters and isolation.
    pub view: u64,
    /// Who writes.
    pub producer: Option<Producer>,
    /// The epoch of the target partition's leader, −1 where unknown.
    pub leader_epoch: i32,
    /// Whether nothing of it is on its way and nothing will be sent any more.
    pub drained: bool,
    /// Whether the source's end as of the start is reached.
    pub caught_up: bool,
    /// The source's end as last seen.
    pub source_end: Option<SourceOffset>,
    /// Totals since the start.
    pub counters: Counters,
}
