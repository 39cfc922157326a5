//! While it runs: what shards report goes to the ledger, to the group and into the status.

use super::{Awaited, MirrorError, Phase, Worker};
use crate::clock::Now;
use crate::ledger::{Checkpoint, LedgerEntry};
use crate::limits;
use crate::mirror::link::LinkId;
use crate::mirror::report::{LinkProgress, Omitted, ShardCommand, ShardReport, StoredEntry};
use crate::observe::{Event, StopReason};
use crate::produce::Tenancy;

/// The worker's name in the ledger. A mirror is one process for now.
const WORKER: &str = "0";

impl Worker {
    pub(super) fn handle_report(&mut self, now: Now, shard: usize, report: ShardReport) {
        match report {
            // Every link of a topic finds it out for itself; once is enough.
            ShardReport::Event(Event::HeadersDropped { topic }) => {
                if self.headers_told.insert(topic.clone()) {
                    self.event(Event::HeadersDropped { topic });
                }
            }
            ShardReport::Event(event) => self.event(event),
            ShardReport::Progress(progress) => {
                for link in progress {
                    self.take_progress(link);
                }
                self.publish(now);
            }
            ShardReport::Place(progress) => {
                let id = progress.link;
                self.take_progress(progress);
                self.await_entry(id, Awaited::Place);
                if let Some(tracked) = self.links.get_mut(&id) {
                    // It is news, whatever the ledger was told before.
                    tracked.told = None;
                }
                self.checkpoint(now, id);
            }
            ShardReport::LeftOut { progress, omitted } => {
                let id = progress.link;
                self.take_progress(progress);
                // With the link's place in the ledger the list of what is left out behind it stays short.
                self.checkpoint(now, id);
                self.leave_out(id, omitted);
            }
            ShardReport::Stopped { link, reason } => {
                let name = self.links.get(&link).map(|tracked| tracked.name.to_string()).unwrap_or_default();
                let (text, send_failure) = (reason.to_string(), reason.is_send_failure());
                self.link_stopped(link, reason);
                if send_failure && self.config.produce.abort_on_send_failure {
                    self.fail(now, MirrorError::SendFailure { link: name, reason: text });
                }
            }
            ShardReport::Epoch { link, epoch } => {
                self.await_entry(link, Awaited::Epoch);
                if let Some(tracked) = self.links.get(&link) {
                    let (topic, partition) = (tracked.name.topic.to_string(), tracked.name.partition);
                    self.store.put(LedgerEntry::Epoch { topic, partition, epoch });
                }
            }
            ShardReport::Closed(progress) => {
                let id = progress.link;
                self.take_progress(progress);
                self.link_closed(now, id);
                self.publish(now);
            }
            ShardReport::Drained => {
                self.undrained.remove(&shard);
            }
        }
    }

    fn take_progress(&mut self, progress: LinkProgress) {
        if let Some(tracked) = self.links.get_mut(&progress.link) {
            tracked.progress = Some(progress);
        }
    }

    fn await_entry(&mut self, id: LinkId, awaited: Awaited) {
        if let Some(tracked) = self.links.get_mut(&id) {
            tracked.waits.insert(awaited);
        }
    }

    /// Records are left out: the ledger has to have it before anything behind them is written, so that every later walk
    /// counts without them.
    fn leave_out(&mut self, id: LinkId, omitted: Vec<Omitted>) {
        self.await_entry(id, Awaited::LeftOut);
        let Some(tracked) = self.links.get_mut(&id) else { return };
        for omitted in &omitted {
            tracked.left_out.add(omitted.from.0, omitted.to.0);
        }
        // The checkpoint that was told before goes to the ledger before this entry, or with it.
        let told = tracked.told.map_or(tracked.stored_next, |told| told.source_next());
        tracked.left_out.forget_below(told.0);
        tracked.left_out_told += 1;
        let (topic, partition) = (tracked.name.topic.to_string(), tracked.name.partition);
        let (link, ranges) = (tracked.name.to_string(), tracked.left_out.clone());
        self.store.put(LedgerEntry::LeftOut { topic, partition, ranges });
        for Omitted { from, to, records, why } in omitted {
            self.event(Event::Dropped { link: link.clone(), from, to, records, why });
        }
    }

    /// Puts a link's proved point into the ledger, if it is news.
    pub(super) fn checkpoint(&mut self, now: Now, id: LinkId) {
        let Some(tracked) = self.links.get_mut(&id) else { return };
        let Some(progress) = &tracked.progress else { return };
        let Some(proved) = progress.proved else {
            // It never had its place, so it wrote nothing.
            if progress.drained {
                self.give_claim_back(id);
            }
            return;
        };
        let checkpoint =
            Checkpoint::new(&proved, progress.producer, progress.leader_epoch, progress.drained, now.unix_ms);
        let shared = tracked.tenancy == Tenancy::Shared;
        let checkpoint = Checkpoint {
            origin: progress.origin,
            view: progress.view,
            target_partition: shared.then_some(tracked.name.target_partition),
            ..checkpoint
        };
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
        tracked.is_told = false;
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

    /// The ledger has these entries now. A link that waits for its own may go on.
    pub(super) fn stored(&mut self, now: Now, entries: Vec<LedgerEntry>) {
        for entry in entries {
            match entry {
                LedgerEntry::Checkpoint { topic, partition, checkpoint, .. } => {
                    self.checkpoint_stored(&(topic, partition), checkpoint);
                }
                LedgerEntry::Epoch { topic, partition, .. } => {
                    self.entry_stored(&(topic, partition), Awaited::Epoch, StoredEntry::Epoch);
                }
                LedgerEntry::LeftOut { topic, partition, ranges } => {
                    let link = (topic, partition);
                    let tracked = self.by_name.get(&link).and_then(|id| self.links.get(id));
                    // One that was put before is not yet what the link waits for.
                    if let Some(told) = tracked.filter(|tracked| tracked.left_out == ranges).map(|of| of.left_out_told)
                    {
                        self.entry_stored(&link, Awaited::LeftOut, StoredEntry::LeftOut(told));
                    }
                }
                LedgerEntry::Id { .. } | LedgerEntry::Route { .. } | LedgerEntry::Unknown => {}
            }
        }
        self.place(now);
    }

    fn checkpoint_stored(&mut self, link: &(String, i32), checkpoint: Checkpoint) {
        let Some(tracked) = self.by_name.get(link).and_then(|id| self.links.get_mut(id)) else { return };
        tracked.stored_next = checkpoint.source_next();
        if tracked.told != Some(checkpoint) {
            return;
        }
        tracked.is_told = true;
        tracked.waits.remove(&Awaited::Claim);
        self.entry_stored(link, Awaited::Place, StoredEntry::Place);
        self.forget_closed(link);
    }

    fn entry_stored(&mut self, link: &(String, i32), awaited: Awaited, stored: StoredEntry) {
        let Some(id) = self.by_name.get(link).copied() else { return };
        let Some(tracked) = self.links.get_mut(&id) else { return };
        if tracked.waits.remove(&awaited) {
            let shard = tracked.shard;
            self.tell(shard, ShardCommand::Stored(id, stored));
        }
    }

    /// Checkpoints and commits that are due, what is new on either cluster, and whether it is over.
    pub(super) fn keep_up(&mut self, now: Now) {
        // What is let go on the way may be wanted again already.
        while self.look(now) {}
        self.topics.advance(now, &mut self.source, &mut self.target);
        self.take_topic_events();
        self.place(now);
        if self.checkpoint_at.is_some_and(|at| at <= now.tick) {
            self.checkpoint_at = Some(now.after(self.config.checkpoint_interval));
            self.checkpoint_all(now);
            self.publish(now);
        }
        self.store.advance(now, &mut self.target);
        self.commit_if_due(now);
        if !self.is_ending() {
            self.end_if_over(now);
        }
    }

    fn end_if_over(&mut self, now: Now) {
        let links = self.links.len();
        let stopped = self.links.values().filter(|tracked| tracked.is_stopped()).count();
        let routes = || self.routes.values();
        // What still gets its target topic, or its links, is neither stopped nor caught up.
        let preparing =
            self.looked.is_none() || routes().any(|route| route.ready.is_none() && route.obstacle.is_none());
        let may_begin = routes().any(|route| route.obstacle.as_ref().is_some_and(|obstacle| !obstacle.is_final()));
        if self.config.until_caught_up && !preparing && self.routes.is_empty() {
            return self.end_caught_up(now);
        }
        let nothing_goes_on = stopped == links && (links > 0 || routes().any(|route| route.obstacle.is_some()));
        if nothing_goes_on && !preparing && (!may_begin || self.config.until_caught_up) {
            let error = self.links_stopped();
            return self.fail(now, error);
        }
        let caught_up =
            self.links.values().filter(|tracked| !tracked.is_stopped() && is_caught_up(tracked.progress.as_ref()));
        if self.config.until_caught_up && !preparing && links > 0 && caught_up.count() + stopped == links {
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
                    && self.links.values().all(|tracked| tracked.is_stopped() || is_placed(tracked.progress.as_ref()))
            }
        };
        if due {
            self.commit(now);
        }
    }

    pub(super) fn link_stopped(&mut self, id: LinkId, reason: StopReason) {
        let Some(tracked) = self.links.get_mut(&id) else { return };
        let link = tracked.name.to_string();
        let text = format!("{link}: {reason}");
        tracked.stop_reason = Some(text.clone());
        self.refused.push(text);
        self.positions.forget(id);
        self.event(Event::Stopped { link, reason });
    }

    pub(super) fn links_stopped(&self) -> MirrorError {
        let blocked: Vec<String> = self.obstacles().collect();
        MirrorError::LinksStopped {
            stopped: self.refused.len() + blocked.len(),
            links: self.links.len().max(self.refused.len()) + blocked.len(),
            first: self.refused.first().or(blocked.first()).cloned().unwrap_or_default(),
        }
    }

    /// Routes that are not mirrored, or not all of them, and why.
    pub(super) fn obstacles(&self) -> impl Iterator<Item = String> {
        let routes = self.routes.iter();
        routes.filter_map(|(name, route)| Some(format!("{name}: {}", route.obstacle.as_ref()?)))
    }

    /// Whether something concerns the whole mirror now and no longer later.
    pub(super) fn is_ending(&self) -> bool {
        matches!(self.phase, Phase::Stopping | Phase::Closing | Phase::Finished)
    }
}

pub(super) fn is_caught_up(progress: Option<&LinkProgress>) -> bool {
    progress.is_some_and(|progress| progress.caught_up)
}

fn is_placed(progress: Option<&LinkProgress>) -> bool {
    progress.is_some_and(|progress| progress.proved.is_some())
}
