//! Counting what is on the target already.
//!
//! After anything unexpected the target's log says how many records were written since the last proved point; the
//! source is walked over as many mirrored records, and the last one must agree in content (rule P13). No
//! byte is built on the way. Filters decide again as they did then; what the target's topic takes is not asked: a
//! record that was lost to it is left out by the ledger, and one that was not has been written.

use std::ops::ControlFlow;

use bytes::{Buf, Bytes};
use kmirror_proto::records::{Entry, split};

use super::damage::{Damage, Passing, pass, size_of};
use super::decode::{Fingerprint, decode};
use super::entry::{has_gap, next_offset};
use super::judge::{Verdict, judge};
use super::loss::LossRange;
use super::pieces::Refused;
use super::view::{Fate, Magic, View};
use crate::fetch::Aborted;

/// How far one answer brought the walk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Walked {
    /// Where the link reads on.
    pub cursor: i64,
    /// Mirrored records passed.
    pub records: u64,
    /// The last of them, once all wanted ones are passed.
    pub last: Option<Fingerprint>,
    /// Something is missing between the records: their number can change.
    pub gaps: bool,
    /// The walk cannot pass this source offset.
    pub refused: Option<(i64, Refused)>,
    /// The answer held less than one whole batch: how many bytes are needed, if it says.
    pub too_small: Option<Option<usize>>,
}

/// Walks `records` from the view's cursor over at most `wanted` (> 0) mirrored records.
#[must_use]
pub fn walk(records: Bytes, mut aborted: Aborted, view: &View<'_>, wanted: u64) -> Walked {
    let mut view = *view;
    let begin = view.cursor;
    let mut walked = Walked { cursor: view.cursor, ..Walked::default() };
    let mut rest = records;
    let mut entries = split(rest.clone());
    while let Some(entry) = entries.next() {
        if let Ok(Entry::Partial(partial)) = &entry {
            if walked.cursor == begin {
                walked.too_small = Some(partial.need);
            }
            break;
        }
        view.cursor = walked.cursor;
        let (damage, len) = match &entry {
            Ok(entry) => (take(entry, &view, &aborted, wanted, &mut walked).err(), entry.size()),
            Err(error) => (Some(Damage::Malformed(error.clone())), size_of(&rest).unwrap_or(rest.len())),
        };
        if let Some(damage) = damage {
            match pass(&rest, entry.as_ref().ok(), &view, &damage) {
                Passing::Behind => {}
                Passing::LeftOut(next) => {
                    walked.cursor = next;
                    break;
                }
                // What the ledger does not know was written before it was damaged, and counts.
                Passing::New(LossRange { from: offset, .. }) | Passing::Stops(offset) => {
                    walked.refused = Some((offset, damage.into()));
                    break;
                }
            }
        } else if let Ok(entry) = &entry {
            aborted.pass(entry);
        }
        if walked.records == wanted {
            break;
        }
        rest.advance(len);
        if entry.is_err() {
            entries = split(rest.clone());
        }
    }
    walked
}

/// Takes one entry.
fn take(entry: &Entry, view: &View<'_>, aborted: &Aborted, wanted: u64, walked: &mut Walked) -> Result<(), Damage> {
    let gap = has_gap(entry, view.cursor);
    match judge(entry, aborted.holds(entry), view) {
        Verdict::Forward | Verdict::Restamp | Verdict::Rewrite(_) => step(entry, view, wanted, walked)?,
        Verdict::Skip(_) => walked.cursor = walked.cursor.max(next_offset(entry).unwrap_or(walked.cursor)),
        Verdict::Refuse(why) => return Err(Damage::Verdict(why)),
    }
    walked.gaps |= gap;
    Ok(())
}

/// Passes one entry, or as much of it as is wanted.
fn step(entry: &Entry, view: &View<'_>, wanted: u64, walked: &mut Walked) -> Result<(), Damage> {
    let left = wanted - walked.records;
    if let Some(count) = counted_by_header(entry, view)
        && count < left
    {
        walked.records += count;
        walked.cursor = next_offset(entry).unwrap_or(walked.cursor);
        return Ok(());
    }
    let mut passed = 0;
    let mut cursor = walked.cursor;
    let mut last = None;
    let mut whole = true;
    decode(entry, |record| {
        if record.offset < view.cursor {
            return ControlFlow::Continue(());
        }
        let (fate, new) = view.fate(&record);
        match fate {
            Fate::Kept | Fate::Replaced => {}
            Fate::Filtered | Fate::LeftOut => return ControlFlow::Continue(()),
        }
        if passed == left {
            whole = false;
            return ControlFlow::Break(());
        }
        passed += 1;
        cursor = record.offset.saturating_add(1);
        let written = new.as_ref().map_or(record, |new| record.with(new));
        last = Some(Fingerprint::of(&written, view.target.magic == Magic::V2));
        ControlFlow::Continue(())
    })
    .map_err(Damage::Malformed)?;
    walked.records += passed;
    walked.cursor = if whole { next_offset(entry).unwrap_or(cursor) } else { cursor };
    walked.last = last.filter(|_| walked.records == wanted);
    Ok(())
}

/// How many records of an entry are mirrored from the cursor on, where its header alone says so.
fn counted_by_header(entry: &Entry, view: &View<'_>) -> Option<u64> {
    match entry {
        Entry::Batch(batch) if batch.header.base_offset >= view.cursor && view.keeps_all(entry) => {
            u64::try_from(batch.header.records_count).ok()
        }
        Entry::Batch(_) | Entry::Message(_) | Entry::Partial(_) => None,
    }
}
