//! The ledger as one worker has read it.

use std::collections::BTreeMap;

use super::entry::{Checkpoint, LedgerEntry, LedgerError};

/// Everything that the ledger topic says, newest entry per key.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The mirror's producer id: of the `id` entry with the lowest offset.
    id: Option<(i64, i64)>,
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
        let Some(value) = value else { return Ok(()) };
        match LedgerEntry::parse(key, value)? {
            LedgerEntry::Id(id) => {
                if self.id.is_none_or(|(first, _)| offset < first) {
                    self.id = Some((offset, id));
                }
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
        Ok(())
    }

    /// The mirror's producer id, once one is agreed.
    #[must_use]
    pub fn id(&self) -> Option<i64> {
        self.id.map(|(_, id)| id)
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
        read(&mut ledger, 5, &LedgerEntry::Id(11));
        read(&mut ledger, 3, &LedgerEntry::Id(10));
        read(&mut ledger, 9, &LedgerEntry::Id(12));
        assert_eq!(ledger.id(), Some(10));
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
