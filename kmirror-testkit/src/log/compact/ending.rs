//! Which batches of transactions may go: aborted data at once, a marker once nothing of its transaction is left.
//!
//! Java: `CleanedTransactionMetadata`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::log::transactions::Aborted;
use crate::log::{Entry, Marker};

/// The transactions that a walk through the log is in.
pub(super) struct Ending {
    /// Those that are still to come, by first offset.
    aborted: VecDeque<Aborted>,
    /// Of the aborted ones the walk is in, by producer: the marker's offset, and whether data of it was met.
    in_aborted: BTreeMap<i64, (i64, bool)>,
    /// Producers of which transactional data was met that was not aborted.
    in_committed: BTreeSet<i64>,
    /// Markers of aborted transactions of which no data was met.
    gone: BTreeSet<i64>,
}

impl Ending {
    /// At the log's beginning.
    pub(super) fn new<'a>(aborted: impl Iterator<Item = &'a Aborted>) -> Self {
        let mut aborted: Vec<Aborted> = aborted.copied().collect();
        aborted.sort_by_key(|aborted| aborted.first_offset);
        Self {
            aborted: aborted.into(),
            in_aborted: BTreeMap::new(),
            in_committed: BTreeSet::new(),
            gone: BTreeSet::new(),
        }
    }

    /// Walks on to this entry: whether it is data of an aborted transaction, or a marker that no data of its
    /// transaction was met for.
    pub(super) fn allows_to_discard(&mut self, entry: &Entry) -> bool {
        while let Some(next) = self.aborted.pop_front_if(|next| next.first_offset <= entry.last_offset) {
            self.in_aborted.entry(next.producer_id).or_insert((next.last_offset, false));
        }
        match entry.producer {
            Some(stamp) if entry.control => self.marker(entry, stamp.id),
            Some(stamp) if entry.transactional => self.data(stamp.id),
            Some(_) | None => false,
        }
    }

    /// The markers of the aborted transactions of which nothing is left.
    pub(super) fn gone(self) -> BTreeSet<i64> {
        self.gone
    }

    fn data(&mut self, producer_id: i64) -> bool {
        if let Some((_, met)) = self.in_aborted.get_mut(&producer_id) {
            *met = true;
            return true;
        }
        self.in_committed.insert(producer_id);
        false
    }

    fn marker(&mut self, entry: &Entry, producer_id: i64) -> bool {
        match Marker::of(entry) {
            // It was emptied before.
            None => true,
            Some(marker) if marker.commit => !self.in_committed.remove(&producer_id),
            Some(_) => {
                let (marker, met) = self.in_aborted.remove(&producer_id).unwrap_or((entry.last_offset, false));
                if !met {
                    self.gone.insert(marker);
                }
                !met
            }
        }
    }
}
