//! While it runs: what shards report goes to the ledger, to the group and into the status.

use super::{MirrorError, Phase, Worker, WorkerReport};
use crate::clock::Now;
use crate::ledger::{Checkpoint, LedgerEntry};
use crate::limits;
use crate::mirror::link::LinkId;
use crate::mirror::report::{LinkProgress, ShardCommand, ShardReport};
use crate::observe::{Event, LinkState, Status, StopReason};

/// The worker's name in the ledger. A mirror is one process for now.
const WORKER: &str = "0";

impl Worker {
    pub(super) fn handle_report(&mut self, now: Now, shard: usize, report: ShardReport) {
        match report {
            ShardReport::Event(event) => self.event(event),
            ShardReport::Progress(progress) => {
                for link in progress {
                    self.take_progress(now, link);
                }
                self.publish(now);
            }
            ShardReport::Stopped { link, reason, send_failure } => {
                let name = self.links.get(&link).map(|tracked| tracked.name.to_string()).unwrap_or_default();
                let text = reason.to_string();
                self.link_stopped(link, reason);
                if send_failure && self.config.produce.abort_on_send_failure {
                    self.fail(now, MirrorError::SendFailure { link: name, reason: text });
                }
            }
            ShardReport::Epoch { link, epoch } => {
                if let Some(tracked) = self.links.get_mut(&link) {
                    tracked.waits = true;
                    let (topic, partition) = (tracked.name.topic.to_string(), tracked.name.partition);
                    self.store.put(LedgerEntry::Epoch { topic, partition, epoch });
                }
            }
            ShardReport::Drained => {
                self.undrained.remove(&shard);
            }
        }
    }

    fn take_progress(&mut self, now: Now, progress: LinkProgress) {
        let id = progress.link;
        let Some(tracked) = self.links.get_mut(&id) else { return };
        let first = progress.origin && progress.state == LinkState::Resuming && !tracked.waits;
        tracked.progress = Some(progress);
        if first {
            tracked.waits = true;
            self.checkpoint(now, id);
        }
    }

    /// Puts a link's proved point into the ledger, if it is news.
    pub(super) fn checkpoint(&mut self, now: Now, id: LinkId) {
        let Some(tracked) = self.links.get_mut(&id) else { return };
        let Some(progress) = &tracked.progress else { return };
        let Some(proved) = progress.proved else { return };
        let checkpoint =
            Checkpoint::new(&proved, progress.producer, progress.leader_epoch, progress.drained, now.unix_ms);
        let checkpoint = Checkpoint { origin: progress.origin, ..checkpoint };
        let old =
            tracked.told.is_some_and(|told| now.unix_ms.saturating_sub(told.written_ms) >= limits::CHECKPOINT_AGAIN_MS);
        let news =
            old || tracked.told.is_none_or(|told| Checkpoint { written_ms: told.written_ms, ..checkpoint } != told);
        if news {
            self.tell_ledger(id, checkpoint);
        }
    }

    pub(super) fn tell_ledger(&mut self, id: LinkId, checkpoint: Checkpoint) {
        let Some(tracked) = self.links.get_mut(&id) else { return };
        tracked.told = Some(checkpoint);
        self.store.put(LedgerEntry::Checkpoint {
            worker: WORKER.to_owned(),
            topic: tracked.name.topic.to_string(),
            partition: tracked.name.partition,
            checkpoint,
        });
    }

    /// Every link's proved point into the ledger.
    pub(super) fn checkpoint_all(&mut self, now: Now) {
        let ids: Vec<LinkId> = self.links.keys().copied().collect();
        for id in ids {
            self.checkpoint(now, id);
        }
    }

    /// The ledger has these entries now. A link that waits for its own may write.
    pub(super) fn stored(&mut self, entries: Vec<LedgerEntry>) {
        for entry in entries {
            let link = match entry {
                LedgerEntry::Checkpoint { topic, partition, checkpoint, .. } if checkpoint.origin => (topic, partition),
                LedgerEntry::Epoch { topic, partition, .. } => (topic, partition),
                LedgerEntry::Checkpoint { .. }
                | LedgerEntry::Id { .. }
                | LedgerEntry::Route { .. }
                | LedgerEntry::LeftOut { .. }
                | LedgerEntry::Unknown => continue,
            };
            let Some(id) = self.by_name.get(&link).copied() else { continue };
            if let Some(tracked) = self.links.get_mut(&id)
                && std::mem::take(&mut tracked.waits)
            {
                let shard = tracked.shard;
                self.tell(shard, ShardCommand::Stored(id));
            }
        }
    }

    /// Checkpoints and commits that are due, and whether it is over.
    pub(super) fn keep_up(&mut self, now: Now) {
        if self.checkpoint_at.is_some_and(|at| at <= now.tick) {
            self.checkpoint_at = Some(now.after(self.config.checkpoint_interval));
            self.checkpoint_all(now);
            self.publish(now);
        }
        self.store.advance(now, &mut self.target);
        self.commit_if_due(now);
        let links = self.links.len();
        let stopped = self.links.values().filter(|tracked| tracked.stopped).count();
        if stopped == links {
            let error = self.links_stopped();
            return self.fail(now, error);
        }
        let caught_up =
            self.links.values().filter(|tracked| !tracked.stopped && is_caught_up(tracked.progress.as_ref()));
        if self.config.until_caught_up && caught_up.count() + stopped == links {
            self.end_caught_up(now);
        }
    }

    fn commit_if_due(&mut self, now: Now) {
        let Some(group) = &self.group else { return };
        let due = match group.poll_timeout() {
            Some(at) => at <= now.tick,
            // The group was not asked at the start: as soon as every link has its place.
            None => {
                group.is_idle()
                    && self.links.values().all(|tracked| tracked.stopped || is_placed(tracked.progress.as_ref()))
            }
        };
        if due {
            self.commit(now);
        }
    }

    pub(super) fn link_stopped(&mut self, id: LinkId, reason: StopReason) {
        let Some(tracked) = self.links.get_mut(&id) else { return };
        tracked.stopped = true;
        let link = tracked.name.to_string();
        self.refused.push(format!("{link}: {reason}"));
        self.event(Event::Stopped { link, reason });
    }

    pub(super) fn links_stopped(&self) -> MirrorError {
        MirrorError::LinksStopped {
            stopped: self.refused.len(),
            links: self.links.len().max(self.refused.len()),
            first: self.refused.first().cloned().unwrap_or_default(),
        }
    }

    /// Tells how everything stands.
    pub(super) fn publish(&mut self, now: Now) {
        let status = self.status(now);
        self.out.push_back(WorkerReport::Status(status));
    }

    pub(super) fn status(&self, now: Now) -> Status {
        let elapsed = now.tick.since(self.started.unwrap_or(now.tick));
        let mut status = Status { name: self.config.name.clone(), elapsed, ..Status::default() };
        for tracked in self.links.values() {
            let topic = status.topics.entry(tracked.name.topic.to_string()).or_default();
            let first = topic.links == 0;
            topic.links += 1;
            topic.links_stopped += usize::from(tracked.stopped);
            topic.links_caught_up += usize::from(is_caught_up(tracked.progress.as_ref()));
            let lag = tracked.progress.as_ref().and_then(|progress| {
                Some(progress.source_end?.0.saturating_sub(progress.proved?.source_next.0).max(0))
            });
            topic.lag = if first { lag } else { topic.lag.zip(lag).map(|(all, one)| all + one) };
            if let Some(progress) = &tracked.progress {
                topic.counters.add(&progress.counters);
            }
        }
        status
    }

    /// Whether something concerns the whole mirror now and no longer later.
    pub(super) fn is_ending(&self) -> bool {
        matches!(self.phase, Phase::Stopping | Phase::Closing | Phase::Finished)
    }
}

fn is_caught_up(progress: Option<&LinkProgress>) -> bool {
    progress.is_some_and(|progress| progress.caught_up)
}

fn is_placed(progress: Option<&LinkProgress>) -> bool {
    progress.is_some_and(|progress| progress.proved.is_some())
}
