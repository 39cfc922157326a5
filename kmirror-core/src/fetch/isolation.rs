//! Which batches of an answer belong to aborted transactions.
//!
//! The broker names, per answer and partition, the transactions that were aborted and overlap it: producer id and
//! first offset. A batch is aborted if it is transactional and its producer has such a transaction open at that
//! point of the log; the abort marker closes it (KIP-98; `org.apache.kafka.clients.consumer.internals.CompletedFetch`).

use std::collections::BTreeSet;

use kmirror_proto::messages::AbortedTransaction;
use kmirror_proto::records::{ControlKind, ControlRecord, Entry, RawBatch};

/// The aborted transactions of one partition's answer.
#[derive(Clone, Debug, Default)]
pub struct Aborted {
    /// (first offset, producer id), the next one last. A broker's list may be out of order.
    ahead: Vec<(i64, i64)>,
    open: BTreeSet<i64>,
}

impl Aborted {
    /// Takes the answer's list; `None` where aborted records are mirrored too.
    #[must_use]
    pub fn new(list: Option<&[AbortedTransaction]>) -> Self {
        let mut ahead: Vec<_> =
            list.unwrap_or_default().iter().map(|aborted| (aborted.first_offset, aborted.producer_id)).collect();
        ahead.sort_unstable_by(|a, b| b.cmp(a));
        Self { ahead, open: BTreeSet::new() }
    }

    /// Whether the entry, the next one of the answer, is part of an aborted transaction.
    #[must_use]
    pub fn covers(&mut self, entry: &Entry) -> bool {
        match entry {
            Entry::Batch(batch) => self.covers_batch(batch),
            Entry::Message(_) | Entry::Partial(_) => false,
        }
    }

    fn covers_batch(&mut self, batch: &RawBatch) -> bool {
        let header = &batch.header;
        while let Some(&(first, producer)) = self.ahead.last() {
            if first > header.last_offset() {
                break;
            }
            self.open.insert(producer);
            self.ahead.pop();
        }
        if header.attributes.control() {
            if is_abort(batch) {
                self.open.remove(&header.producer_id);
            }
            return false;
        }
        header.attributes.transactional() && self.open.contains(&header.producer_id)
    }
}

fn is_abort(batch: &RawBatch) -> bool {
    ControlRecord::of(batch, CONTROL_BYTES_MAX)
        .is_ok_and(|record| record.is_some_and(|record| record.kind == ControlKind::ABORT))
}

/// A control record is a few dozen bytes.
const CONTROL_BYTES_MAX: usize = 4096;

#[cfg(test)]
mod tests;
