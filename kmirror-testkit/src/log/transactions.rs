//! Which transactions of a partition are open, and which were aborted.
//!
//! ```text
//!  first ─── data of the transaction ─── marker        last stable offset: the first offset of what is not decided,
//!    open: no marker yet                               or whose marker the followers do not have yet
//! ```
//!
//! Java: `ProducerStateManager`'s unstable offsets, `TransactionIndex`.

use std::collections::{BTreeMap, BTreeSet};

/// The transactions of one partition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transactions {
    /// Where the open ones begin.
    open: BTreeSet<i64>,
    /// Of the ended ones, by the marker's offset: where they began.
    ended: BTreeMap<i64, i64>,
    /// In the order of their markers.
    aborted: Vec<Aborted>,
}

/// An aborted transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Aborted {
    /// Whose.
    pub producer_id: i64,
    /// Its first offset.
    pub first_offset: i64,
    /// Its marker's offset.
    pub last_offset: i64,
    /// The last stable offset when it was aborted: whatever is aborted later begins there or behind.
    last_stable: i64,
}

impl Transactions {
    /// A batch of a transaction that begins here, or has begun here.
    pub(crate) fn open(&mut self, first_offset: i64) {
        self.open.insert(first_offset);
    }

    /// A marker was appended for a transaction that began at `first_offset`.
    pub(crate) fn end(&mut self, producer_id: i64, first_offset: i64, marker: i64, commit: bool) {
        self.open.remove(&first_offset);
        self.ended.insert(marker, first_offset);
        if !commit {
            let last_stable = self.open.first().copied().unwrap_or(marker + 1);
            self.aborted.push(Aborted { producer_id, first_offset, last_offset: marker, last_stable });
        }
    }

    /// Open transactions that began here are forgotten with their producers.
    pub(crate) fn forget(&mut self, first_offsets: &[i64]) {
        self.open.retain(|first| !first_offsets.contains(first));
    }

    /// The log begins here from now on.
    pub(crate) fn start_moved(&mut self, start: i64) {
        self.ended.retain(|marker, _| *marker >= start);
        self.aborted.retain(|aborted| aborted.last_offset >= start);
    }

    /// Keeps of the aborted ones those that this says.
    pub(crate) fn retain_aborted(&mut self, keep: impl FnMut(&Aborted) -> bool) {
        self.aborted.retain(keep);
    }

    /// The last stable offset under this high watermark.
    pub(crate) fn last_stable(&self, high_watermark: i64) -> i64 {
        let undecided = self.open.first().copied();
        let unreplicated = self.ended.range(high_watermark..).map(|(_, first)| *first).min();
        [undecided, unreplicated].into_iter().flatten().fold(high_watermark, i64::min)
    }

    /// The aborted transactions that end at `from` or later and begin before `below`.
    pub(crate) fn aborted(&self, from: i64, below: i64) -> impl Iterator<Item = &Aborted> {
        let begin = self.aborted.partition_point(|aborted| aborted.last_offset < from);
        let rest = self.aborted.get(begin..).unwrap_or_default();
        // What was aborted once everything below was decided cannot begin there.
        let end = rest.iter().position(|aborted| aborted.last_stable >= below).map_or(rest.len(), |at| at + 1);
        rest.iter().take(end).filter(move |aborted| aborted.first_offset < below)
    }
}
