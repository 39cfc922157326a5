//! Which batches of an answer belong to aborted transactions.
//!
//! The broker names, per answer and partition, the transactions that were aborted and overlap it: producer id and
//! first offset. A batch is aborted if it is transactional and its producer has such a transaction open at that
//! point of the log; the abort marker closes it (KIP-98; `org.apache.kafka.clients.consumer.internals.CompletedFetch`).

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use bytes::{Buf, Bytes};
use kmirror_proto::messages::AbortedTransaction;
use kmirror_proto::records::{ControlKind, ControlRecord, Entry, RawBatch, split};

/// The aborted transactions of one partition's answer.
#[derive(Clone, Debug, Default)]
pub struct Aborted {
    /// (first offset, producer id), the next one last. A broker's list may be out of order.
    ahead: Vec<(i64, i64)>,
    open: BTreeSet<i64>,
    /// (producer id, offset) of each marker in the answer → whether it aborts.
    markers: BTreeMap<(i64, i64), bool>,
    answer: Bytes,
    /// Where the answer is damaged, once that is asked.
    damage: OnceCell<Vec<i64>>,
}

impl Aborted {
    /// Takes the answer's list; `None` where aborted records are mirrored too.
    #[must_use]
    pub fn new(list: Option<&[AbortedTransaction]>) -> Self {
        let mut ahead: Vec<_> =
            list.unwrap_or_default().iter().map(|aborted| (aborted.first_offset, aborted.producer_id)).collect();
        ahead.sort_unstable_by(|a, b| b.cmp(a));
        Self { ahead, ..Self::default() }
    }

    /// With what the answer itself says: the next marker of its producer decides about a batch, whatever the list says. A list
    /// with entries missing, or with one that is long over, is a broken one; nothing aborted may reach a target all the
    /// same, and nothing committed be missing there. The list decides where the marker lies behind the answer, and where
    /// something between the two is damaged: that may have been a marker.
    #[must_use]
    pub fn and_of(mut self, records: &Bytes) -> Self {
        let mut rest = records.clone();
        while let Some(marker) = next_entry(&mut rest) {
            if let Some(marker) = marker
                && let Some(aborts) = aborts(&marker)
            {
                self.markers.insert((marker.header.producer_id, marker.header.base_offset), aborts);
            }
        }
        self.answer = records.clone();
        self
    }

    /// Whether the entry, the next one of the answer, is part of an aborted transaction; goes on behind it.
    #[must_use]
    pub fn covers(&mut self, entry: &Entry) -> bool {
        let holds = self.holds(entry);
        self.pass(entry);
        holds
    }

    /// The same without going on: an entry that turns out to be damaged tells nothing about what follows it.
    #[must_use]
    pub fn holds(&self, entry: &Entry) -> bool {
        let Entry::Batch(batch) = entry else { return false };
        let (attributes, producer) = (batch.header.attributes, batch.header.producer_id);
        if !attributes.transactional() || attributes.control() {
            return false;
        }
        let (first, last) = (batch.header.base_offset, batch.header.last_offset());
        let mut begun = self.ahead.iter().rev().take_while(|(first, _)| *first <= last);
        let listed = self.open.contains(&producer) || begun.any(|(_, id)| *id == producer);
        let marker = self.markers.range((producer, first)..=(producer, i64::MAX)).next();
        match marker {
            Some((&(_, end), &aborts)) if aborts != listed && self.is_whole(first, end) => aborts,
            Some(_) | None => listed,
        }
    }

    /// Whether nothing of the answer in [first, end] is damaged.
    fn is_whole(&self, first: i64, end: i64) -> bool {
        let damage = self.damage.get_or_init(|| damage(&self.answer));
        let next = damage.partition_point(|offset| *offset < first);
        damage.get(next).is_none_or(|offset| *offset > end)
    }

    /// Goes on behind the entry.
    pub fn pass(&mut self, entry: &Entry) {
        if let Entry::Batch(batch) = entry {
            self.pass_batch(batch);
        }
    }

    fn pass_batch(&mut self, batch: &RawBatch) {
        let header = &batch.header;
        while let Some(&(first, producer)) = self.ahead.last() {
            if first > header.last_offset() {
                break;
            }
            self.open.insert(producer);
            self.ahead.pop();
        }
        if header.attributes.control() && aborts(batch) == Some(true) {
            self.open.remove(&header.producer_id);
        }
    }
}

/// Takes an entry off the records: `Some(None)` if it is not a transaction's marker, `None` behind the last whole one. Of
/// the others nothing is looked at but what says so.
fn next_entry(rest: &mut Bytes) -> Option<Option<RawBatch>> {
    let length = i32::from_be_bytes(rest.get(8..12)?.try_into().ok()?);
    let size = usize::try_from(length).ok()?.checked_add(12).filter(|size| *size <= rest.len())?;
    let is_marker = rest.get(16) == Some(&2) && rest.get(22).is_some_and(|bits| bits & MARKER_BITS == MARKER_BITS);
    if is_marker {
        return Some(RawBatch::from_bytes(rest.split_to(size)).ok());
    }
    rest.advance(size);
    Some(None)
}

/// Whether a control batch is an abort marker, or a commit marker; `None` if it is neither.
fn aborts(batch: &RawBatch) -> Option<bool> {
    match ControlRecord::of(batch, CONTROL_BYTES_MAX).ok()??.kind {
        ControlKind::ABORT => Some(true),
        ControlKind::COMMIT => Some(false),
        _ => None,
    }
}

/// The base offsets of damaged batches, lowest first; what does not parse is damage for the rest of the answer.
fn damage(answer: &Bytes) -> Vec<i64> {
    let mut damaged = Vec::new();
    let mut at = i64::MIN;
    for entry in split(answer.clone()) {
        match entry {
            Ok(Entry::Batch(batch)) => {
                at = batch.header.base_offset;
                if !batch.crc_ok() {
                    damaged.push(at);
                }
            }
            Ok(Entry::Message(_) | Entry::Partial(_)) => {}
            Err(_) => damaged.push(at.saturating_add(1)),
        }
    }
    damaged.sort_unstable();
    damaged
}

/// The bits of a transaction's marker in the attributes: transactional and control.
const MARKER_BITS: u8 = 0x30;

/// A control record is a few dozen bytes.
const CONTROL_BYTES_MAX: usize = 4096;

#[cfg(test)]
mod tests;
