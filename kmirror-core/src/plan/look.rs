//! Asking an entry's records one by one, before anything of it is sent: which are mirrored, and which the target
//! cannot take.
//!
//! Most entries need no look; [`is_needed`] tells from their headers. Losses are found here and nowhere else, so
//! that what is left out can be stored in the ledger before anything behind it is written.

use std::mem::discriminant;
use std::ops::ControlFlow;

use kmirror_proto::compress::Codec;
use kmirror_proto::records::{
    BatchBuilder, Entry, HeadersSource, MessageFormat, MessageSetBuilder, RecordError, Stamp,
};

use super::decode::{Opened, SourceRecord};
use super::loss::{Loss, LossRange};
use super::view::{Fate, Magic, View};
use crate::config::LossPolicy;
use crate::limits::LEFT_OUT_RANGES_MAX;

/// What a look into an entry found.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// One for each record from the cursor on, up to the one that stops the link.
    pub(super) fates: Vec<Fate>,
    /// How many records the filters drop.
    pub(super) filtered: u64,
    /// Something is not written as it is.
    pub(super) changed: bool,
    /// The record that stops the link, and why.
    pub(super) refused: Option<(i64, Loss)>,
}

/// Whether an entry that is written somehow has to be looked into first; `rewritten` says that it is decoded anyway.
pub(super) fn is_needed(entry: &Entry, rewritten: bool, view: &View<'_>) -> bool {
    let limits = &view.limits;
    let limited = limits.batch_bytes_max.is_some()
        || limits.timestamp_before_max_ms.is_some()
        || limits.timestamp_after_max_ms.is_some();
    limits.keys_required
        || view.cursor < view.keys_to
        || (rewritten && limited)
        || !view.keeps_all(entry)
        || view.refuses_headers_of(entry)
        || !view.takes_timestamps_of(entry)
}

/// Looks at every record from the view's cursor on. `codec` is what the target would get them in. Records that the
/// policies leave out are added to `losses`; once that is full, the rest is not looked at.
///
/// # Errors
/// If the payload does not parse, or a record does not compress.
pub(super) fn look(
    opened: &Opened,
    view: &View<'_>,
    codec: Codec,
    losses: &mut Vec<LossRange>,
) -> Result<Look, RecordError> {
    let mut look = Look::default();
    let mut fault = Ok(());
    opened.each(|record| {
        if record.offset < view.cursor {
            return ControlFlow::Continue(());
        }
        let (fate, new) = view.fate(&record);
        let lost = match fate {
            Fate::Kept => lost(&record, view, codec),
            Fate::Replaced => lost(&new.as_ref().map_or(record, |new| record.with(new)), view, codec),
            Fate::Filtered | Fate::LeftOut => Ok(None),
        };
        match lost {
            Ok(None) => {}
            Ok(Some(loss)) if view.policy(&loss) == LossPolicy::Refuse => {
                look.refused = Some((record.offset, loss));
                look.changed = true;
                return ControlFlow::Break(());
            }
            Ok(Some(loss)) => {
                if !add(losses, record.offset, loss) {
                    return ControlFlow::Break(());
                }
            }
            Err(error) => {
                fault = Err(error);
                return ControlFlow::Break(());
            }
        }
        look.filtered += u64::from(fate == Fate::Filtered);
        look.changed |= fate != Fate::Kept;
        look.fates.push(fate);
        ControlFlow::Continue(())
    })?;
    fault.map(|()| look)
}

/// Why the target cannot take `record`, which is what would be written.
fn lost(record: &SourceRecord<'_>, view: &View<'_>, codec: Codec) -> Result<Option<Loss>, RecordError> {
    if (view.limits.keys_required || record.offset < view.keys_to) && record.key.is_none() {
        return Ok(Some(Loss::NoKey));
    }
    if !view.takes_timestamp(record.timestamp) {
        return Ok(Some(Loss::Timestamp { timestamp: record.timestamp }));
    }
    if let Some(bytes_max) = view.limits.batch_bytes_max
        && record.bytes() > room(bytes_max)
    {
        let bytes = bytes_alone(record, view.target.magic, codec)?;
        if bytes > bytes_max {
            return Ok(Some(Loss::TooLarge { bytes, bytes_max }));
        }
    }
    // Under the other policy the record is carried without them.
    let headers_stop = view.target.magic == Magic::V1 && view.policies.headers == LossPolicy::Refuse;
    Ok((headers_stop && record.headers.count() > 0).then_some(Loss::Headers))
}

/// How many bytes of records, before compression, surely fit into a batch of `bytes_max`: what does not compress grows
/// a little by its codec's framing, and the batch has a header.
pub(super) fn room(bytes_max: usize) -> usize {
    bytes_max.saturating_sub(bytes_max / 256 + 256)
}

/// The size of a batch that holds nothing but `record`.
fn bytes_alone(record: &SourceRecord<'_>, magic: Magic, codec: Codec) -> Result<usize, RecordError> {
    match magic {
        Magic::V1 => {
            let mut set = MessageSetBuilder::new(MessageFormat::V1, codec);
            set.push(record.timestamp, record.key, record.value)?;
            Ok(set.finish()?.len())
        }
        Magic::V2 => {
            let mut batch = BatchBuilder::new(codec, None);
            batch.push(record.timestamp, record.key, record.value, HeadersSource::Raw(record.headers.raw()))?;
            Ok(batch.finish(Stamp::NONE)?.len())
        }
    }
}

/// Adds a record to the runs of losses; `false` if there is no room for another run.
fn add(losses: &mut Vec<LossRange>, offset: i64, loss: Loss) -> bool {
    if let Some(last) = losses.last_mut()
        && last.to == offset
        && discriminant(&last.loss) == discriminant(&loss)
    {
        last.to = offset.saturating_add(1);
        last.records += 1;
        return true;
    }
    if losses.len() == LEFT_OUT_RANGES_MAX {
        return false;
    }
    losses.push(LossRange { from: offset, to: offset.saturating_add(1), records: 1, loss });
    true
}
