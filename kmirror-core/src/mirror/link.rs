//! One partition of a route, from its source cursor to its target lane.
//!
//! ```text
//!            leader known           place found              counted records passed
//! Waiting ───────────────► Resuming ───────────► Walking ─────────────────────────► Running
//!    ▲                        │   │ first start                                        │
//!    │ back-off               │   └──────► Storing ── origin in the ledger ──► Running │ anything unexpected
//!    └────────────────────────┘                                                        ▼
//!    ▲                                                                              Doubting
//!    └───────────────── every answer that was due has come ────────────────────────────┘
//!
//! Storing comes before Running also where the target has forgotten the producer id (a raised epoch is stored first) and
//! where other records of the source are mirrored than before (the new view, in a new epoch). A running link that leaves
//! records out reads on when the ledger has them.
//! Stopped: from any state, with the reason; for good.
//! ```

use std::fmt;
use std::sync::Arc;

use crate::client::CallId;
use crate::client::ConnId;
use crate::clock::Tick;
use crate::config::{FetchConfig, Isolation, RouteConfig};
use crate::fetch::Cursor;
use crate::filter::Filters;
use crate::ledger::Checkpoint;
use crate::limits;
use crate::observe::{Counters, LinkState, StopReason};
use crate::offset::{SourceOffset, TargetOffset};
use crate::plan::{Abilities, Fingerprint, LeftOut, TopicLimits};
use crate::produce::{Lane, Producer, Proved, Sequence, Tenancy};
use crate::resume::Resume;

/// A link's number within its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// What a link is called: the source's topic and partition, and the target's topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkName {
    /// On the source.
    pub topic: Arc<str>,
    /// The source's partition.
    pub partition: i32,
    /// On the target.
    pub target_topic: Arc<str>,
    /// The target's partition: the same, but where several share one.
    pub target_partition: i32,
}

/// What a shard needs to know to copy a link.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Its number.
    pub id: LinkId,
    /// Its name.
    pub name: LinkName,
    /// What holds on the way.
    pub config: Arc<RouteConfig>,
    /// What the target's topic takes.
    pub limits: TopicLimits,
    /// Whether others write to the target's partition as well.
    pub tenancy: Tenancy,
    /// Which records of the source are mirrored: the digest of filters and isolation.
    pub view: u64,
    /// Records that are left out for good.
    pub left_out: LeftOut,
    /// Where it starts if there is no checkpoint.
    pub start: SourceOffset,
    /// The furthest checkpoint in the ledger.
    pub checkpoint: Option<Checkpoint>,
    /// The mirror's producer id; `None` where the target has none (0.10).
    pub producer_id: Option<i64>,
    /// The epoch in force, as far as the ledger knows.
    pub epoch: i16,
    /// The source's end as of the start.
    pub until: SourceOffset,
}

/// Stands for which records of a source are mirrored: a link whose past was counted under another view cannot be walked
/// over again (rule P4). 0 for all committed records, as they are.
#[must_use]
pub(super) fn view_digest(filters: &Filters, isolation: Isolation) -> u64 {
    match isolation {
        Isolation::ReadCommitted => filters.digest(),
        Isolation::ReadUncommitted => filters.digest().rotate_left(1) ^ 1,
    }
}

/// A link in its shard.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) name: LinkName,
    pub(super) config: Arc<RouteConfig>,
    pub(super) limits: TopicLimits,
    pub(super) tenancy: Tenancy,
    pub(super) view: u64,
    pub(super) left_out: LeftOut,
    /// How often it was reported that records are left out, and up to which of these the ledger has it: nothing is read
    /// before it has all.
    pub(super) left_out_told: u64,
    pub(super) left_out_stored: u64,
    /// What the ledger has to have before the link leaves `Storing`: its place, its raised epoch.
    pub(super) place_due: bool,
    pub(super) epoch_due: bool,
    /// It is forgotten as soon as what was read of it is written.
    pub(super) closing: bool,
    pub(super) state: State,
    pub(super) cursor: Cursor,
    /// The last claim that a resume starts from: the ledger's at first, then the lane's own proved points.
    pub(super) checkpoint: Option<Checkpoint>,
    pub(super) start: SourceOffset,
    pub(super) producer: Option<Producer>,
    pub(super) until: SourceOffset,
    pub(super) lane: Lane,
    /// Whether the link has its place, so that the lane's proved point means something.
    pub(super) placed: bool,
    /// Where this mirror's records begin on the target, while none was written.
    pub(super) origin: Option<TargetOffset>,
    /// The target broker and connection that were asked for the place, and that carry the writes.
    pub(super) route: Option<TargetRoute>,
    /// Until when a request of unknown outcome may still take effect.
    pub(super) unsettled: Option<Tick>,
    /// Produce answers that are due.
    pub(super) answers_due: u32,
    /// Whether the source has gaps that no control batch explains: its past can change (rule P20).
    pub(super) unstable: bool,
    /// Until when any request of unknown outcome may take effect, trusted sequences or not.
    pub(super) may_land_until: Tick,
    /// The stamp that the target refused as out of turn when nothing else was on its way.
    pub(super) refused: Option<(i16, Sequence)>,
    /// Resumes in a row without an acknowledgement, after answers about sequences.
    pub(super) out_of_sequence: u32,
    /// The leader of the target's partition that is asked for the place.
    pub(super) target_node: i32,
    pub(super) fetch_backoff: LinkBackoff,
    /// Nothing is fetched before.
    pub(super) fetch_not_before: Tick,
    pub(super) write_backoff: LinkBackoff,
    pub(super) source_end: Option<SourceOffset>,
    /// The source has nothing from here up to there: its tail was compacted away.
    pub(super) vacant: Option<(SourceOffset, SourceOffset)>,
    /// Up to there a record without a key is taken for what the target refused.
    pub(super) keys_to: SourceOffset,
    /// Up to there every record is written alone: the target has refused them together.
    pub(super) apart_to: SourceOffset,
    /// From there on tiny batches may be joined: those before were refused together.
    pub(super) joins_from: SourceOffset,
    /// How often in a row the target gave no reason, and for the batch at which offset.
    pub(super) unexplained: (SourceOffset, u32),
    /// It is stopped for this reason as soon as what was read before is written.
    pub(super) ending: Option<StopReason>,
    pub(super) counters: Counters,
    pub(super) headers_warned: bool,
}

/// Where a link writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TargetRoute {
    pub(super) node: i32,
    pub(super) conn: ConnId,
    pub(super) abilities: Abilities,
}

/// What a link is doing; drawn above.
#[derive(Debug)]
pub(super) enum State {
    /// Until the time, then as soon as the target's leader is known and connected.
    Waiting(Tick),
    /// The target's log is asked; the call is the question that is out.
    Resuming(Box<Resume>, Asked),
    /// The first checkpoint, or a raised epoch, is on its way to the ledger.
    Storing,
    /// So many records of the source are on the target already.
    Walking(Walk),
    /// Copying.
    Running,
    /// Something unexpected happened; the answers that are still due are waited for, and at least until the time.
    Doubting(Tick),
    /// For good.
    Stopped,
}

/// What a resume waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Nothing: its next question can be asked.
    Nothing,
    /// An answer.
    Call(CallId),
    /// A point in time.
    Until(Tick),
}

/// The rest of a walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    pub(super) left: u64,
    /// The stamp behind the last record.
    pub(super) stamp: (i16, Sequence),
    pub(super) last: Option<Fingerprint>,
    pub(super) append_time: bool,
    pub(super) total: u64,
    /// Behind the last record on the target.
    pub(super) target_next: TargetOffset,
}

/// A link's own back-off: doubles, is cut short by success.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkBackoff {
    tries: u32,
}

impl LinkBackoff {
    /// The next wait.
    pub(super) fn next(&mut self) -> std::time::Duration {
        let wait = limits::LINK_BACKOFF_MIN.saturating_mul(1 << self.tries.min(8));
        self.tries += 1;
        wait.min(limits::LINK_BACKOFF_MAX)
    }

    /// The 4th, 8th, 16th … wait in a row: the first ones are ordinary, and the rest need not be said each time.
    pub(super) fn is_worth_a_word(self) -> bool {
        self.tries >= 4 && self.tries.is_power_of_two()
    }

    pub(super) fn reset(&mut self) {
        self.tries = 0;
    }
}

impl Link {
    pub(super) fn new(spec: LinkSpec, fetch: &FetchConfig, frame_bytes_max: usize) -> Self {
        let producing = spec.checkpoint.and_then(|checkpoint| checkpoint.producing());
        let epoch = producing.map_or(0, |producing| producing.epoch).max(spec.epoch);
        let producer = spec.producer_id.map(|id| Producer { id, epoch });
        Self {
            name: spec.name,
            config: spec.config,
            limits: spec.limits,
            tenancy: spec.tenancy,
            view: spec.view,
            left_out: spec.left_out,
            left_out_told: 0,
            left_out_stored: 0,
            place_due: false,
            epoch_due: false,
            closing: false,
            state: State::Waiting(Tick::ZERO),
            cursor: Cursor::new(spec.start, fetch, frame_bytes_max),
            origin: spec.checkpoint.filter(|checkpoint| checkpoint.origin).map(|checkpoint| checkpoint.target_next()),
            checkpoint: spec.checkpoint,
            start: spec.start,
            producer,
            until: spec.until,
            lane: Lane::new(producer, Proved::default()),
            placed: false,
            route: None,
            unsettled: None,
            answers_due: 0,
            unstable: false,
            may_land_until: Tick::ZERO,
            refused: None,
            out_of_sequence: 0,
            target_node: -1,
            fetch_backoff: LinkBackoff::default(),
            fetch_not_before: Tick::ZERO,
            write_backoff: LinkBackoff::default(),
            source_end: Some(spec.until),
            vacant: None,
            keys_to: SourceOffset(i64::MIN),
            apart_to: SourceOffset(i64::MIN),
            joins_from: SourceOffset(i64::MIN),
            unexplained: (SourceOffset(i64::MIN), 0),
            ending: None,
            counters: Counters::default(),
            headers_warned: false,
        }
    }

    /// Whether this mirror has written nothing to the partition yet.
    pub(super) fn is_origin(&self) -> bool {
        self.placed && self.origin == Some(self.lane.proved().target_next)
    }

    /// Whether the source's end as of the start is reached and acknowledged. A source that ends before what was mirrored
    /// of it is not caught up with but cut off, which its next answer will say.
    pub(super) fn is_caught_up(&self) -> bool {
        let at = self.lane.proved().source_next;
        let at = self.vacant.filter(|(from, _)| *from == at).map_or(at, |(_, to)| to);
        let reached = at >= self.until && self.source_end.is_none_or(|end| at <= end);
        matches!(self.state, State::Running) && self.lane.is_idle() && reached
    }

    /// The source's end as a consumer sees it: offsets without records at the end are nothing to wait for.
    pub(super) fn visible_end(&self) -> Option<SourceOffset> {
        match self.vacant {
            Some((from, to)) if self.source_end == Some(to) => Some(from),
            Some(_) | None => self.source_end,
        }
    }

    /// Whether nothing of it is on its way and no earlier request may still take effect.
    pub(super) fn is_drained(&self) -> bool {
        self.answers_due == 0 && self.lane.is_idle() && self.unsettled.is_none()
    }

    /// Whether every answer has come and all that was read is written, as far as it can be now.
    pub(super) fn is_quiet(&self) -> bool {
        self.answers_due == 0
            && match self.state {
                State::Running => self.lane.is_idle(),
                State::Doubting(_)
                | State::Waiting(_)
                | State::Resuming(..)
                | State::Storing
                | State::Walking(_)
                | State::Stopped => true,
            }
    }

    /// For reports.
    pub(super) fn link_state(&self) -> LinkState {
        match self.state {
            State::Waiting(_) | State::Doubting(_) => LinkState::Waiting,
            State::Resuming(..) | State::Storing => LinkState::Resuming,
            State::Walking(_) => LinkState::Walking,
            State::Running => LinkState::Running,
            State::Stopped => LinkState::Stopped,
        }
    }

    /// Where it reads next, if it reads.
    pub(super) fn reads_at(&self) -> Option<SourceOffset> {
        match self.state {
            State::Walking(_) | State::Running
                if self.ending.is_none() && !self.closing && self.left_out_stored == self.left_out_told =>
            {
                Some(self.cursor.next)
            }
            State::Walking(_)
            | State::Running
            | State::Waiting(_)
            | State::Resuming(..)
            | State::Storing
            | State::Doubting(_)
            | State::Stopped => None,
        }
    }
}

impl fmt::Display for LinkName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}
