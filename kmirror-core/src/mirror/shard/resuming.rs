//! Finding each link's place on the target, at the beginning and after every doubt.

use std::time::Duration;

use kmirror_proto::ErrorCode;

use super::{Shard, ShardReport};
use crate::client::{CallError, CallOptions, Node, Reply};
use crate::clock::{Now, Tick};
use crate::ledger::Checkpoint;
use crate::mirror::link::{Asked, Link, LinkId, State, TargetRoute, Walk};
use crate::mirror::report::StoredEntry;
use crate::observe::{Event, StopReason};
use crate::offset::SourceOffset;
use crate::plan::{Abilities, Magic};
use crate::produce::{Lane, Producer, Proved, Window};
use crate::resume::{Found, Next, Progress, Resume, settled_at};

impl Shard {
    /// Moves every link on that looks for its place.
    pub(super) fn resume_links(&mut self, now: Now) {
        let mut due = Vec::new();
        while let Some((_, id)) = self.alarms.first().filter(|(at, _)| *at <= now.tick).copied() {
            self.alarms.pop_first();
            due.push(id);
        }
        for id in due {
            let ready = self.links.get(&id).is_some_and(|link| match &link.state {
                State::Waiting(until) | State::Resuming(_, Asked::Until(until)) => *until <= now.tick,
                State::Doubting(until) => link.answers_due == 0 && *until <= now.tick,
                State::Resuming(_, Asked::Nothing | Asked::Call(_))
                | State::Storing
                | State::Walking(_)
                | State::Running
                | State::Stopped => false,
            });
            if ready {
                self.resume(now, id);
            }
        }
    }

    fn resume(&mut self, now: Now, id: LinkId) {
        let Some(link) = self.links.get_mut(&id) else { return };
        if let State::Waiting(_) | State::Doubting(_) = link.state {
            let Some(node) = self.target.metadata().leader(&link.name.target_topic, link.name.target_partition) else {
                return self.wait(now, id, "the partition has no leader");
            };
            let name = &link.name;
            let resume = Resume::new(
                &name.target_topic,
                name.target_partition,
                link.tenancy,
                link.checkpoint,
                link.start,
                link.producer,
                link.unsettled,
            );
            link.route = None;
            link.target_node = node;
            link.state = State::Resuming(Box::new(resume), Asked::Nothing);
        }
        self.step(now, id);
    }

    /// Asks the next question of a resume, or concludes it.
    fn step(&mut self, now: Now, id: LinkId) {
        let Some(link) = self.links.get_mut(&id) else { return };
        let node = link.target_node;
        let on = link.route.map(|route| route.conn);
        let name = link.name.to_string();
        let State::Resuming(resume, asked) = &mut link.state else { return };
        match resume.next(now) {
            Next::Call { request, version_min } => {
                let timeout = self.config.target.request_timeout;
                let options = CallOptions { min_version: version_min, max_version: i16::MAX, timeout, on };
                let call = self.target.call(now, Node::Id(node), request, options);
                *asked = Asked::Call(call);
                self.resuming.insert(call, id);
            }
            Next::Wait(until) => {
                *asked = Asked::Until(until);
                self.alarms.insert((until, id));
                // The pause between two readings of one log end is not worth a word.
                if until.since(now.tick) >= Duration::from_secs(1) {
                    self.say_settling(now, name, until);
                }
            }
            Next::Answer => {}
            Next::Found(found) => self.found(now, id, found),
            Next::Impossible(why) => self.stop_link(now, id, StopReason::Target(why)),
        }
    }

    /// Takes an answer about a link's place.
    pub(super) fn handle_place(&mut self, now: Now, id: LinkId, reply: Reply) {
        let abilities = reply.conn.and_then(|conn| Some((conn, self.abilities(reply.node)?)));
        let Some(link) = self.links.get_mut(&id) else { return };
        let State::Resuming(resume, asked) = &mut link.state else { return };
        *asked = Asked::Nothing;
        let response = match reply.outcome {
            Ok(response) => response,
            Err(error) => return self.not_placed(now, id, &error),
        };
        if let Some((conn, abilities)) = abilities {
            // Everything up to the first write goes over one connection: what was read there is what is written on.
            link.route = Some(TargetRoute { node: reply.node, conn, abilities });
        }
        match resume.handle_response(now, &response) {
            Ok(Progress::On) => self.step(now, id),
            Ok(Progress::Later(code)) => self.later(now, id, code),
            Err(why) => self.stop_link(now, id, StopReason::Target(why)),
        }
    }

    fn not_placed(&mut self, now: Now, id: LinkId, error: &CallError) {
        match error {
            CallError::NotSent(_) | CallError::Unknown(_) => self.wait(now, id, &error.to_string()),
            CallError::Unsupported { .. } => {
                self.stop_link(now, id, StopReason::NoCommonVersion(error.to_string()));
            }
        }
    }

    /// The target's leader did not say where its log ends.
    fn later(&mut self, now: Now, id: LinkId, code: ErrorCode) {
        let passing =
            code.is_retriable() || matches!(code, ErrorCode::UNKNOWN_SERVER_ERROR | ErrorCode::OFFSET_OUT_OF_RANGE);
        if passing {
            self.wait(now, id, &code.to_string());
        } else {
            self.stop_link(now, id, StopReason::TargetUnreadable(code));
        }
    }

    /// Tries again after the link's back-off, at whichever broker leads then.
    fn wait(&mut self, now: Now, id: LinkId, why: &str) {
        let Some(link) = self.links.get_mut(&id) else { return };
        let until = now.after(link.write_backoff.next());
        if link.write_backoff.is_worth_a_word() {
            let event = Event::Waits { link: link.name.to_string(), why: why.to_owned() };
            self.reports.push_back(ShardReport::Event(event));
        }
        link.state = State::Waiting(until);
        link.route = None;
        self.alarms.insert((until, id));
        self.target.refresh_metadata(now);
    }

    fn abilities(&self, node: i32) -> Option<Abilities> {
        self.target.versions(node).map(Abilities::of)
    }

    fn found(&mut self, now: Now, id: LinkId, found: Found) {
        let Some(link) = self.links.get_mut(&id) else { return };
        let Some(route) = link.route else { return self.wait(now, id, "the connection is gone") };
        // Producer ids came with magic 2; a mirror has one exactly where its target keeps them.
        if (route.abilities.magic == Magic::V2) != link.producer.is_some() {
            let text = format!(
                "target broker {} speaks for another release than the one that the mirror began with: restart kmirror once all \
                 brokers are upgraded",
                route.node
            );
            return self.stop_link(now, id, StopReason::NoCommonVersion(text));
        }
        link.unsettled = None;
        link.producer = found.producer;
        let name = link.name.to_string();
        if found.tail_expired {
            self.reports
                .push_back(ShardReport::Event(Event::TailExpired { link: name, target_next: found.from.target_next }));
        }
        if found.origin {
            link.origin = Some(found.from.target_next);
            return self.store_place(id, found.from);
        }
        if link.checkpoint.is_some_and(|checkpoint| checkpoint.view != link.view) {
            // What lies behind the checkpoint was chosen by other filters: only nothing can be told from it (rule P4).
            return match found.written {
                0 => self.change_view(now, id, found.from),
                written => self.stop_link(now, id, StopReason::ViewChanged { written }),
            };
        }
        link.cursor.move_to(found.from.source_next);
        if found.written == 0 {
            link.place(found.from);
            self.run(now, id, 0);
        } else {
            let (left, total) = (found.written, found.written);
            link.state = State::Walking(Walk {
                left,
                total,
                stamp: found.stamp,
                last: found.last,
                append_time: found.append_time,
                target_next: found.target_next,
            });
            self.mark(now, id);
        }
    }

    /// The link's place has to be in the ledger before it goes on: where it begins, or under which view.
    fn store_place(&mut self, id: LinkId, from: Proved) {
        let Some(link) = self.links.get_mut(&id) else { return };
        link.place(from);
        link.state = State::Storing;
        link.place_due = true;
        self.reports.extend(self.progress(id).map(ShardReport::Place));
    }

    /// Other records of the source are mirrored from here on. A late request of the former view could stand in the place of
    /// ours and answer for it (trace C6): so it has its time first, and then the epoch is raised, which fences it (rule P4).
    fn change_view(&mut self, now: Now, id: LinkId, from: Proved) {
        let Some(link) = self.links.get_mut(&id) else { return };
        if link.producer.is_some() {
            if link.may_land_until > now.tick {
                return self.settle(now, id);
            }
            link.place(from);
            if !self.raise_epoch(now, id) {
                return;
            }
        }
        self.store_place(id, from);
    }

    /// The walk is done: `counted` records beyond the checkpoint are on the target, and the source goes on at `source_next`.
    pub(super) fn walked(&mut self, now: Now, id: LinkId, source_next: SourceOffset, counted: u64) {
        let Some(link) = self.links.get_mut(&id) else { return };
        let State::Walking(walk) = link.state else { return };
        let proved = Proved {
            source_next,
            target_next: walk.target_next,
            epoch: walk.stamp.0,
            sequence: walk.stamp.1,
            fingerprint: walk.last,
        };
        if link.placed {
            // This process wrote them, and never heard that they arrived.
            link.counters.records += counted;
        }
        link.place(proved);
        self.run(now, id, counted);
    }

    fn run(&mut self, now: Now, id: LinkId, counted: u64) {
        let Some(link) = self.links.get_mut(&id) else { return };
        if link.refused.take().is_some_and(|refused| Some(refused) == link.lane.begins()) {
            return self.forgotten(now, id);
        }
        link.state = State::Running;
        let proved = link.lane.proved();
        let event = Event::Resumed {
            link: link.name.to_string(),
            source_next: proved.source_next,
            target_next: proved.target_next,
            counted,
            origin: link.is_origin(),
        };
        self.event(event);
        self.mark(now, id);
    }

    /// The target refuses the very stamp that follows its log's last record: it has forgotten the producer id. Once no
    /// earlier request can take effect any more, the link goes on in the next epoch (rules P17, P3).
    fn forgotten(&mut self, now: Now, id: LinkId) {
        let Some(link) = self.links.get_mut(&id) else { return };
        link.checkpoint = Some(link.memory(now));
        if link.may_land_until > now.tick {
            link.refused = link.lane.begins();
            return self.settle(now, id);
        }
        if self.raise_epoch(now, id)
            && let Some(link) = self.links.get_mut(&id)
        {
            link.place(link.lane.proved());
            link.state = State::Storing;
        }
    }

    /// Waits until no earlier request can take effect any more; then the target's log is read again.
    fn settle(&mut self, now: Now, id: LinkId) {
        let Some(link) = self.links.get_mut(&id) else { return };
        link.unsettled = Some(link.may_land_until);
        link.state = State::Waiting(link.may_land_until);
        let (name, until) = (link.name.to_string(), link.may_land_until);
        self.alarms.insert((until, id));
        self.say_settling(now, name, until);
    }

    fn say_settling(&mut self, now: Now, link: String, until: Tick) {
        let wait_ms = u64::try_from(until.since(now.tick).as_millis()).unwrap_or(u64::MAX);
        self.event(Event::Settling { link, wait_ms });
    }

    /// The link's stamps are of the next epoch, which has to be in the ledger before its first use (rule P3); `false` if
    /// there is none.
    fn raise_epoch(&mut self, now: Now, id: LinkId) -> bool {
        let Some(link) = self.links.get_mut(&id) else { return false };
        let raised =
            link.producer.and_then(|producer| Some(Producer { epoch: producer.epoch.checked_add(1)?, ..producer }));
        let Some(producer) = raised else {
            self.stop_link(now, id, StopReason::OutOfSequence(ErrorCode::UNKNOWN_PRODUCER_ID));
            return false;
        };
        link.producer = Some(producer);
        link.epoch_due = true;
        let name = link.name.to_string();
        self.event(Event::EpochRaised { link: name, epoch: producer.epoch });
        self.reports.push_back(ShardReport::Epoch { link: id, epoch: producer.epoch });
        true
    }

    /// What the link waited for is in the ledger: from now on a crash finds where it began, or in which epoch it writes.
    pub(super) fn stored(&mut self, now: Now, id: LinkId, entry: StoredEntry) {
        let Some(link) = self.links.get_mut(&id) else { return };
        match entry {
            StoredEntry::Place => link.place_due = false,
            StoredEntry::Epoch => link.epoch_due = false,
            StoredEntry::LeftOut(told) => link.left_out_stored = told,
        }
        if matches!(link.state, State::Storing) && !link.place_due && !link.epoch_due {
            self.run(now, id, 0);
        }
    }

    /// Old records are about to be written while an earlier request may still take effect. Of those the broker keeps no
    /// memory that would refuse one of the two (rule P5, fact E1): the earlier one has its time first, then the log is
    /// read again.
    pub(super) fn settle_first(&mut self, now: Now, id: LinkId) {
        self.doubt(now, id, "old records, and an earlier request may still land".to_owned(), None);
        let Some(link) = self.links.get_mut(&id) else { return };
        let until = link.may_land_until;
        link.unsettled = Some(until);
        link.state = State::Doubting(until);
        self.alarms.insert((until, id));
        let name = link.name.to_string();
        self.say_settling(now, name, until);
    }

    /// Something unexpected: nothing more is sent, and once every answer that is due has come the target's log is
    /// asked. `unsettled` is when a request was sent whose outcome is unknown.
    pub(super) fn doubt(&mut self, now: Now, id: LinkId, why: String, unsettled: Option<Tick>) {
        let settle = self.config.produce.settle;
        let Some(link) = self.links.get_mut(&id) else { return };
        if let Some(sent) = unsettled {
            let until = settled_at(sent, settle);
            link.unsettled = Some(link.unsettled.map_or(until, |other| other.max(until)));
            link.may_land_until = link.may_land_until.max(until);
        }
        if matches!(link.state, State::Doubting(_) | State::Stopped) {
            return;
        }
        if link.placed {
            link.checkpoint = Some(link.memory(now));
        }
        let released = link.lane.clear();
        let until = now.after(link.write_backoff.next());
        link.state = State::Doubting(until);
        link.ending = None;
        let name = link.name.to_string();
        self.alarms.insert((until, id));
        self.fetching.release(released);
        self.writing.forget(id);
        self.event(Event::Doubt { link: name, why });
    }
}

impl Link {
    /// The link has its place.
    fn place(&mut self, proved: Proved) {
        self.lane = Lane::new(self.producer, proved);
        self.lane.set_window(Window::One);
        self.cursor.move_to(proved.source_next);
        self.placed = true;
    }

    /// The lane's proved point as a claim for the next resume.
    fn memory(&self, now: Now) -> Checkpoint {
        let checkpoint = Checkpoint::new(&self.lane.proved(), self.producer, -1, false, now.unix_ms);
        Checkpoint { origin: self.is_origin(), view: self.view, ..checkpoint }
    }
}
