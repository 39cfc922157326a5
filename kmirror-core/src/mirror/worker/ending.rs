//! The end: shards drain, the last checkpoints are stored, the group is told, and then the reason.

use std::fmt;

use super::{MirrorError, Phase, Stage, Worker, WorkerReport};
use crate::clock::Now;
use crate::mirror::link::LinkId;
use crate::mirror::report::ShardCommand;
use crate::observe::{Event, Status};

/// Why a mirror ends.
#[derive(Clone, Debug)]
pub(super) enum Ending {
    Stopped,
    CaughtUp,
    Failed(MirrorError),
}

/// How a mirror ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Where everything stood at the end.
    pub status: Status,
    /// Why it ended.
    pub reason: EndReason,
    /// Whether everything that was read was written and is in the ledger.
    pub drained: bool,
}

/// Why a mirror ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Every link had reached the source's end as of the start.
    CaughtUp,
    /// It was told to.
    Stopped,
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CaughtUp => "caught up: every link has reached the source's end as of the start",
            Self::Stopped => "stopped",
        })
    }
}

impl Worker {
    /// Ends cleanly.
    pub(super) fn stop(&mut self, now: Now) {
        self.event(Event::Stopping);
        self.begin_end(now, Ending::Stopped);
    }

    /// Ends at once: nothing more is written or told.
    pub(super) fn abort(&mut self, now: Now) {
        if self.phase != Phase::Finished {
            self.ending = Some(Ending::Stopped);
            self.finish(now);
        }
    }

    /// Every link that can has reached the source's end as of the start.
    pub(super) fn end_caught_up(&mut self, now: Now) {
        let all = self.refused.is_empty() && self.obstacles().next().is_none();
        let ending = if all { Ending::CaughtUp } else { Ending::Failed(self.links_stopped()) };
        self.begin_end(now, ending);
    }

    /// Something concerns the whole mirror. What is on its way is still written.
    pub(super) fn fail(&mut self, now: Now, error: MirrorError) {
        self.begin_end(now, Ending::Failed(error));
    }

    fn begin_end(&mut self, now: Now, ending: Ending) {
        if self.is_ending() {
            // The first reason stands, but for a failure that shows while a clean end is under way.
            if let (Some(Ending::Stopped | Ending::CaughtUp), Ending::Failed(_)) = (&self.ending, &ending) {
                self.ending = Some(ending);
            }
            return;
        }
        self.ending = Some(ending);
        self.deadline = Some(now.after(self.config.stop_timeout));
        self.phase = Phase::Stopping;
        self.give_claims_back();
        if self.opened {
            self.undrained = (0..self.shards).collect();
            self.tell_all(&ShardCommand::Stop);
        } else {
            // No shard has a link yet: there is nothing to drain.
            self.tell_all(&ShardCommand::Abort);
        }
        self.wind_down(now);
    }

    /// Links that were claimed and never opened are as their last writer left them.
    fn give_claims_back(&mut self) {
        let links = self.links.iter().filter(|(_, tracked)| tracked.stage == Stage::Placing);
        let placing: Vec<_> = links.map(|(id, _)| *id).collect();
        for id in placing {
            self.give_claim_back(id);
        }
    }

    /// Nothing was written under a link's claim: the word of its last writer holds again.
    pub(super) fn give_claim_back(&mut self, id: LinkId) {
        let Some(tracked) = self.links.get(&id) else { return };
        let is_claimed = tracked.told.is_some_and(|told| !told.drained);
        if let Some(checkpoint) = tracked.checkpoint.filter(|checkpoint| checkpoint.drained && is_claimed) {
            self.tell_ledger(id, checkpoint);
        }
    }

    /// Waits for the shards.
    pub(super) fn wind_down(&mut self, now: Now) {
        self.store.advance(now, &mut self.target);
        if !self.undrained.is_empty() && !self.is_overdue(now) {
            return;
        }
        self.phase = Phase::Closing;
        // What was never placed has nothing to say.
        if self.links.values().any(|tracked| tracked.progress.is_some()) {
            self.checkpoint_all(now);
            self.commit(now);
        }
        self.close(now);
    }

    /// Waits for the ledger and the group.
    pub(super) fn close(&mut self, now: Now) {
        self.store.advance(now, &mut self.target);
        let group_idle = self.group.as_ref().is_none_or(super::group::Group::is_idle);
        if (self.store.is_idle() && group_idle) || self.is_overdue(now) || self.nothing_to_store() {
            self.finish(now);
        }
    }

    fn nothing_to_store(&self) -> bool {
        self.links.values().all(|tracked| tracked.progress.is_none() && (tracked.told.is_none() || tracked.is_told))
    }

    fn is_overdue(&self, now: Now) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now.tick)
    }

    fn finish(&mut self, now: Now) {
        self.phase = Phase::Finished;
        let undrained = self
            .links
            .values()
            .filter(|tracked| {
                tracked.progress.as_ref().is_some_and(|progress| !progress.drained) && !tracked.is_stopped()
            })
            .count();
        let drained = undrained == 0 && self.store.is_idle();
        if !drained {
            self.event(Event::StopTimedOut { links: undrained });
        }
        if !drained || !self.undrained.is_empty() {
            self.tell_all(&ShardCommand::Abort);
        }
        self.source.close(now);
        self.target.close(now);
        self.publish(now);
        let status = self.status(now);
        let result = match self.ending.take() {
            Some(Ending::Failed(error)) => Err(error),
            Some(Ending::CaughtUp) => Ok(Summary { status, reason: EndReason::CaughtUp, drained }),
            Some(Ending::Stopped) | None => Ok(Summary { status, reason: EndReason::Stopped, drained }),
        };
        self.out.push_back(WorkerReport::Finished(result));
    }
}
