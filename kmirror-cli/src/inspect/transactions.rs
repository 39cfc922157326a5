//! Which batches belong to transactions, and how these ended: an answer to Fetch lists the aborted ones, in a segment the
//! markers say it.

use std::collections::BTreeMap;

use kmirror_core::fetch::Aborted;
use kmirror_proto::messages::AbortedTransaction;
use kmirror_proto::records::{ControlKind, ControlRecord, Entry, RawBatch, split};

use super::input::Part;

/// What is known about the transaction that a batch belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// None.
    Outside,
    /// It was not aborted, as far as is known.
    Kept,
    /// Its marker is in the same file.
    Committed,
    /// It was aborted.
    Aborted,
    /// Its marker is not in the file.
    Open,
}

/// Goes through the entries of one partition in order.
pub(super) struct Transactions {
    aborted: Aborted,
    /// Where a producer's last marker is. `None` where the answer has a list.
    ends: Option<BTreeMap<i64, i64>>,
}

impl Transactions {
    pub(super) fn of(part: &Part) -> Self {
        let Some(aborted) = &part.aborted else {
            let found = Markers::find(part);
            return Self { aborted: Aborted::new(Some(&found.aborted)), ends: Some(found.ends) };
        };
        Self { aborted: Aborted::new(Some(aborted)), ends: None }
    }

    /// About the next entry.
    pub(super) fn next(&mut self, entry: &Entry) -> State {
        let aborted = self.aborted.covers(entry);
        let Entry::Batch(batch) = entry else { return State::Outside };
        let header = &batch.header;
        if aborted {
            return State::Aborted;
        }
        if !header.attributes.transactional() || header.attributes.control() {
            return State::Outside;
        }
        let Some(ends) = &self.ends else { return State::Kept };
        if ends.get(&header.producer_id).is_some_and(|end| *end > header.base_offset) {
            State::Committed
        } else {
            State::Open
        }
    }
}

/// What the markers of a segment say.
#[derive(Default)]
struct Markers {
    aborted: Vec<AbortedTransaction>,
    ends: BTreeMap<i64, i64>,
}

impl Markers {
    fn find(part: &Part) -> Self {
        let mut found = Self::default();
        // By producer: where its open transaction begins.
        let mut open: BTreeMap<i64, i64> = BTreeMap::new();
        for entry in split(part.records.clone()).map_while(Result::ok) {
            let Entry::Batch(batch) = entry else { continue };
            let header = &batch.header;
            if header.attributes.control() {
                let Some(commits) = end(&batch) else { continue };
                found.ends.insert(header.producer_id, header.base_offset);
                if let Some(first_offset) = open.remove(&header.producer_id).filter(|_| !commits) {
                    found.aborted.push(AbortedTransaction { producer_id: header.producer_id, first_offset });
                }
            } else if header.attributes.transactional() {
                open.entry(header.producer_id).or_insert(header.base_offset);
            }
        }
        found
    }
}

/// Whether a marker commits; `None` for other control batches.
fn end(batch: &RawBatch) -> Option<bool> {
    let record = ControlRecord::of(batch, CONTROL_BYTES_MAX).ok()??;
    match record.kind {
        ControlKind::COMMIT => Some(true),
        ControlKind::ABORT => Some(false),
        _ => None,
    }
}

/// A control record is a few dozen bytes.
const CONTROL_BYTES_MAX: usize = 4096;
