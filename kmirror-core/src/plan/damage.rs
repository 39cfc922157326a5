//! What is damaged on the source: how far it reaches, and whether the link goes on behind it.
//!
//! ```text
//! | offset 8 | length 4 | … magic at 16 | …        believed as far as nothing contradicts it
//! |<----- the damaged entry ----->|<- the next one: what it begins with is not damaged
//! ```
//!
//! A damaged entry is never written, as it is or built again: a fresh checksum would launder it (report B17). It stops its
//! link, or is left out as a whole, offsets and all, the way other losses are: the ledger knows its offsets before anything
//! behind it is written, so that every later walk counts without it.

use std::fmt;

use kmirror_proto::records::{Entry, RecordError};

use super::entry::next_offset;
use super::judge::Refuse;
use super::loss::{Loss, LossRange};
use super::pieces::Refused;
use super::view::View;
use crate::config::DamagePolicy;

/// What is wrong with an entry of a source log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The judge sees it.
    Verdict(Refuse),
    /// It has to be decoded, and does not parse or decompress.
    Malformed(RecordError),
}

/// How a damaged entry is passed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Passing {
    /// It lies before the cursor: only what follows is wanted.
    Behind,
    /// The ledger has it: the cursor goes on at this offset.
    LeftOut(i64),
    /// It is to be left out, and the ledger does not know it yet.
    New(LossRange),
    /// The link stops in front of it, at this offset.
    Stops(i64),
}

/// Where a damaged entry lies: the source offsets that are lost with it, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    from: i64,
    to: i64,
    records: u32,
}

/// The size of the entry that `records` begins with, if it is whole; then the next one begins behind it.
pub(super) fn size_of(records: &[u8]) -> Option<usize> {
    let length = i32::from_be_bytes(field(records, 8)?);
    let size = usize::try_from(length).ok()?.checked_add(PREFIX_BYTES)?;
    (size >= ENTRY_BYTES_MIN && size <= records.len()).then_some(size)
}

/// Decides about the entry that `records`, the rest of an answer, begins with; `entry` if it is one at all.
pub(super) fn pass(records: &[u8], entry: Option<&Entry>, view: &View<'_>, damage: &Damage) -> Passing {
    let Some(extent) = extent(records, entry, view) else { return Passing::Stops(view.cursor) };
    if extent.to <= view.cursor {
        return Passing::Behind;
    }
    if let Some(end) = view.left_out.end_of(extent.from) {
        return Passing::LeftOut(end);
    }
    match view.damage {
        DamagePolicy::Stop => Passing::Stops(extent.from),
        DamagePolicy::Skip => {
            let Extent { from, to, records } = extent;
            Passing::New(LossRange { from, to, records, loss: Loss::Damaged(damage.clone()) })
        }
    }
}

fn extent(records: &[u8], entry: Option<&Entry>, view: &View<'_>) -> Option<Extent> {
    let size = size_of(records)?;
    let offset = i64::from_be_bytes(field(records, 0)?);
    let is_batch = records.get(MAGIC_AT) == Some(&2);
    // Where an older wrapper begins stands inside of it.
    let from = if is_batch { offset.max(view.cursor) } else { view.cursor };
    let intact = match entry {
        Some(Entry::Batch(batch)) => batch.crc_ok(),
        Some(Entry::Message(_)) => true,
        Some(Entry::Partial(_)) | None => false,
    };
    let claimed = entry.and_then(next_offset).or_else(|| claimed_next(records, offset, is_batch));
    let next = if intact { None } else { records.get(size..).and_then(|next| base_of(next, offset)) };
    let to = next.or(claimed).unwrap_or(offset).clamp(offset.saturating_add(1), view.end.max(offset.saturating_add(1)));
    let offsets = u32::try_from(to.saturating_sub(from)).unwrap_or(u32::MAX);
    let counted = match entry {
        Some(Entry::Batch(batch)) => u32::try_from(batch.header.records_count).ok().filter(|count| *count > 0),
        Some(Entry::Message(_) | Entry::Partial(_)) | None => None,
    };
    Some(Extent { from, to, records: counted.map_or(offsets, |count| count.min(offsets)) })
}

/// What the entry itself says of where it ends.
fn claimed_next(records: &[u8], offset: i64, is_batch: bool) -> Option<i64> {
    let last = if is_batch { i32::from_be_bytes(field(records, LAST_DELTA_AT)?) } else { 0 };
    (last >= 0).then(|| offset.saturating_add(last.into()).saturating_add(1))
}

/// Where the batch begins that follows one at `offset`, if one of magic 2 does and can.
fn base_of(next: &[u8], offset: i64) -> Option<i64> {
    let base = i64::from_be_bytes(field(next, 0)?);
    (next.get(MAGIC_AT) == Some(&2) && base > offset).then_some(base)
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

impl From<Damage> for Refused {
    fn from(damage: Damage) -> Self {
        match damage {
            Damage::Verdict(why) => Self::Verdict(why),
            Damage::Malformed(error) => Self::Malformed(error),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verdict(why) => why.fmt(f),
            Self::Malformed(error) => error.fmt(f),
        }
    }
}

/// Bytes before an entry's length ends.
const PREFIX_BYTES: usize = 12;
/// A message of magic 0 without key and value: nothing is shorter.
const ENTRY_BYTES_MIN: usize = 26;
/// Where the magic of every entry stands.
const MAGIC_AT: usize = 16;
/// Where a batch's last offset delta stands.
const LAST_DELTA_AT: usize = 23;
