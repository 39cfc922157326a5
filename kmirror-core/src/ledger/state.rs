//! The ledger as one worker has read it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use bytes::Bytes;
use kmirror_proto::records::split;

use super::entry::{Checkpoint, LedgerEntry, LedgerError, Slot, StoredRoute};
use crate::plan::{LeftOut, decode, next_offset};

/// Everything that the ledger topic says, newest entry per key.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The mirror's producer ids: of each slot's entries the one with the lowest offset, (offset, id).
    ids: BTreeMap<Slot, (i64, i64)>,
    routes: BTreeMap<String, StoredRoute>,
    /// Target topic → source topics that were routed to it last.
    routed_to: BTreeMap<String, BTreeSet<String>>,
    left_out: BTreeMap<(String, i32), LeftOut>,
    /// (topic, partition) → worker → checkpoint.
    checkpoints: BTreeMap<(String, i32), BTreeMap<String, Checkpoint>>,
    /// (topic, partition) → the highest epoch.
    epochs: BTreeMap<(String, i32), i16>,
    /// Entries of a newer release.
    unknown: u64,
}

impl Ledger {
    /// Takes one record of the topic, in log order. A tombstone says nothing: no entry is taken back.
    ///
    /// # Errors
    /// If the record is damaged.
    pub fn read(&mut self, offset: i64, key: &[u8], value: Option<&[u8]>) -> Result<(), LedgerError> {
        if let Some(value) = value {
            self.take(offset, LedgerEntry::parse(key, value)?);
        }
        Ok(())
    }

    /// Takes what a fetch of the topic has brought, from `position` on, which moves behind it.
    ///
    /// # Errors
    /// If the records do not parse, or one is damaged; what stands before it is taken.
    pub(crate) fn read_records(&mut self, position: &mut i64, records: Bytes) -> Result<(), String> {
        for entry in split(records) {
            let entry = entry.map_err(|error| error.to_string())?;
            let from = *position;
            let mut fault = None;
            decode(&entry, |record| {
                if record.offset >= from
                    && let Err(error) = self.read(record.offset, record.key.unwrap_or_default(), record.value)
                {
                    fault = Some(error.to_string());
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            })
            .map_err(|error| error.to_string())?;
            fault.map_or(Ok(()), Err)?;
            if let Some(next) = next_offset(&entry) {
                *position = from.max(next);
            }
        }
        Ok(())
    }

    /// Takes an entry that stands in the topic at `offset`.
    pub fn take(&mut self, offset: i64, entry: LedgerEntry) {
        match entry {
            LedgerEntry::Id { slot, id } => {
                let first = self.ids.entry(slot).or_insert((offset, id));
                if offset < first.0 {
                    *first = (offset, id);
                }
            }
            LedgerEntry::Route { topic, route } => {
                if let Some(before) = self.routes.get(&topic)
                    && let Some(topics) = self.routed_to.get_mut(&before.target)
                {
                    topics.remove(&topic);
                }
                self.routed_to.entry(route.target.clone()).or_default().insert(topic.clone());
                self.routes.insert(topic, route);
            }
            LedgerEntry::LeftOut { topic, partition, ranges } => {
                self.left_out.insert((topic, partition), ranges);
            }
            LedgerEntry::Checkpoint { worker, topic, partition, checkpoint } => {
                self.checkpoints.entry((topic, partition)).or_default().insert(worker, checkpoint);
            }
            LedgerEntry::Epoch { topic, partition, epoch } => {
                let highest = self.epochs.entry((topic, partition)).or_default();
                *highest = epoch.max(*highest);
            }
            LedgerEntry::Unknown => self.unknown += 1,
        }
    }

    /// The mirror's producer id for a slot, once one is agreed.
    #[must_use]
    pub fn id(&self, slot: Slot) -> Option<i64> {
        self.ids.get(&slot).map(|(_, id)| *id)
    }

    /// Where a source topic went so far.
    #[must_use]
    pub fn route(&self, topic: &str) -> Option<&StoredRoute> {
        self.routes.get(topic)
    }

    /// The source topics of which records were mirrored to a target topic.
    pub fn mirrored_to(&self, target: &str) -> impl Iterator<Item = &str> {
        let topics = self.routed_to.get(target).into_iter().flatten();
        topics.map(String::as_str).filter(|topic| self.has_checkpoint(topic))
    }

    /// The target topics that source topics were routed to under another name.
    pub fn renamed_to(&self) -> impl Iterator<Item = &str> {
        self.routes.iter().filter(|(topic, route)| **topic != route.target).map(|(_, route)| route.target.as_str())
    }

    fn has_checkpoint(&self, topic: &str) -> bool {
        let (from, to) = ((topic.to_owned(), i32::MIN), (topic.to_owned(), i32::MAX));
        self.checkpoints.range(from..=to).next().is_some()
    }

    /// What is left out of a link behind its last stored checkpoint.
    #[must_use]
    pub fn left_out(&self, topic: &str, partition: i32) -> LeftOut {
        self.left_out.get(&(topic.to_owned(), partition)).cloned().unwrap_or_default()
    }

    /// Whether the mirror has never placed a link.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.checkpoints.is_empty()
    }

    /// The furthest checkpoint of a link over all workers (rule P9). It counts as drained only if no worker's
    /// later entry says otherwise.
    #[must_use]
    pub fn furthest(&self, topic: &str, partition: i32) -> Option<Checkpoint> {
        let of_link = self.checkpoints.get(&(topic.to_owned(), partition))?;
        let furthest = of_link.values().max_by_key(|checkpoint| checkpoint.source_next())?;
        let drained =
            of_link.values().filter(|other| other.written_ms >= furthest.written_ms).all(|other| other.drained);
        Some(Checkpoint { drained, ..*furthest })
    }

    /// The epoch in force for a link, as far as the ledger knows.
    #[must_use]
    pub fn epoch(&self, topic: &str, partition: i32) -> i16 {
        self.epochs.get(&(topic.to_owned(), partition)).copied().unwrap_or(0)
    }

    /// Entries that a newer release wrote.
    #[must_use]
    pub fn unknown(&self) -> u64 {
        self.unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offset::{SourceOffset, TargetOffset};
    use crate::produce::Proved;

    fn checkpoint(source: i64, drained: bool, written_ms: i64) -> Checkpoint {
        let proved =
            Proved { source_next: SourceOffset(source), target_next: TargetOffset(source), ..Proved::default() };
        Checkpoint::new(&proved, None, -1, drained, written_ms)
    }

    fn read(ledger: &mut Ledger, offset: i64, entry: &LedgerEntry) {
        ledger.read(offset, entry.key().as_bytes(), Some(&entry.value())).unwrap();
    }

    fn of(worker: &str, checkpoint: Checkpoint) -> LedgerEntry {
        LedgerEntry::Checkpoint { worker: worker.to_owned(), topic: "t".to_owned(), partition: 0, checkpoint }
    }

    #[test]
    fn the_first_id_in_the_log_is_everybodys() {
        let mut ledger = Ledger::default();
        let mut read = |offset, slot, id| read(&mut ledger, offset, &LedgerEntry::Id { slot, id });
        read(5, Slot::Exclusive, 11);
        read(3, Slot::Exclusive, 10);
        read(9, Slot::Exclusive, 12);
        read(1, Slot::Shared(0), 20);
        read(2, Slot::Shared(0), 21);
        assert_eq!((ledger.id(Slot::Exclusive), ledger.id(Slot::Shared(0))), (Some(10), Some(20)));
        assert_eq!(ledger.id(Slot::Shared(1)), None);
    }

    #[test]
    fn the_furthest_checkpoint_of_all_workers_counts() {
        let mut ledger = Ledger::default();
        read(&mut ledger, 0, &of("a", checkpoint(10, false, 100)));
        read(&mut ledger, 1, &of("b", checkpoint(30, true, 200)));
        read(&mut ledger, 2, &of("a", checkpoint(20, true, 90)));
        let furthest = ledger.furthest("t", 0).unwrap();
        assert_eq!((furthest.source_next(), furthest.drained), (SourceOffset(30), true));
        assert_eq!(ledger.furthest("t", 1), None);
    }

    #[test]
    fn a_worker_that_may_still_write_keeps_the_link_undrained() {
        let mut ledger = Ledger::default();
        read(&mut ledger, 0, &of("b", checkpoint(30, true, 200)));
        read(&mut ledger, 1, &of("a", checkpoint(20, false, 300)));
        assert!(!ledger.furthest("t", 0).unwrap().drained);
    }
}
