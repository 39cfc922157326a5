//! What a log is after it lost its tail, or its broker was started again.
//!
//! What is known of producers is written down when a broker is stopped; else it is read from the log again. Both know
//! the last batch of each producer only, so that an older one that is repeated is refused (45) where it was a duplicate
//! before: measured on 2.0.0, and after an election as well.

use super::{Log, Segment};
use crate::{Now, Release};

impl Log {
    /// Drops what lies at `to` and behind it, as followers of a leader with less do after an unclean election.
    pub(crate) fn truncate(&mut self, to: i64) {
        if to >= self.end {
            return;
        }
        self.segments.retain(|segment| segment.base < to);
        if let Some(active) = self.segments.last_mut() {
            let keep = active.find(to);
            active.truncate(keep);
        } else {
            self.segments.push(Segment::new(to, None));
        }
        self.end = to;
        self.start = self.start.min(to);
        self.dirty_from = self.dirty_from.min(to);
        self.epochs.truncate(to);
        self.rewrites += 1;
        self.read_again();
    }

    /// The broker is started again: after it was stopped `clean`, with what it had written down of its producers but for
    /// those that are too old; else with what the log says.
    pub(crate) fn restart(&mut self, now: Now, clean: bool) {
        if clean {
            self.producers.forget_all_but_last();
            self.producers.forget_old(now.unix_ms);
        } else {
            self.read_again();
        }
    }

    /// Another broker leads from here on: it knows the last batch of each producer.
    pub(crate) fn new_leader(&mut self, leader_epoch: i32) {
        self.producers.forget_all_but_last();
        self.begin_epoch(leader_epoch);
    }

    /// Producers and transactions, as the entries tell them.
    fn read_again(&mut self) {
        let kept_from = if self.release >= Release::V2_4 { self.start } else { 0 };
        self.producers.forget_from(kept_from);
        self.transactions = super::Transactions::default();
        let segments = std::mem::take(&mut self.segments);
        for entry in segments.iter().flat_map(|segment| &segment.entries) {
            self.note(entry);
        }
        self.segments = segments;
        self.producers.forget_all_but_last();
    }
}
