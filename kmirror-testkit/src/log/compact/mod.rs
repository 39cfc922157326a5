//! Compaction: of each key the last record stays.
//!
//! ```text
//!  |  cleaned before  |  dirty: its keys are looked up everywhere before  |  active: untouched  |
//!  0             dirty_from                                        first uncleanable           end
//! ```
//!
//! | | |
//! |---|---|
//! | K1 | base offset and last delta stay, count shrinks, deltas keep their gaps, the base timestamp is the first survivor's |
//! | K2 | the last batch of a producer stays, emptied: its sequence is known by it |
//! | K3 | from 3.1 on (KIP-534) a batch with tombstones gets the time at which they go; before, they go by their segment's age |
//! | K4 | a magic 1 wrapper gets the offset of its last survivor |
//! | K5 | a removed offset is read as the next one |
//!
//! Java: `LogCleaner`, `Cleaner`, `MemoryRecords.filterTo`.

mod newest;
use newest::Newest;

mod ending;
use ending::Ending;

mod rebuild;

mod legacy;

use super::{Entry, Log, Segment};
use crate::settings::TopicSettings;
use crate::{Now, Release};

impl Log {
    /// Compacts what is not compacted yet, if there is enough of it (`min.cleanable.dirty.ratio`).
    pub(crate) fn compact(&mut self, now: Now, settings: &TopicSettings) {
        let cleanable = self.cleanable();
        if !settings.compact || !self.is_worth_it(cleanable, settings) {
            return;
        }
        let dirty = self.segments.partition_point(|segment| segment.base < self.dirty_from);
        let older = self.segments.iter().take(cleanable).skip(dirty);
        let newest = Newest::of(older, Ending::new(self.transactions.aborted(0, i64::MAX)));
        let mut cleaning = Cleaning {
            log: self,
            now_ms: now.unix_ms,
            delete_retention_ms: settings.delete_retention_ms,
            newest,
            ending: Ending::new(self.transactions.aborted(0, i64::MAX)),
            legacy_horizon_ms: self.legacy_horizon(dirty, settings),
        };
        let cleaned: Vec<Segment> = groups(self.segments.get(..cleanable).unwrap_or_default(), settings.segment_bytes)
            .into_iter()
            .map(|group| cleaning.clean(group))
            .collect();
        let gone = cleaning.ending.gone();
        self.dirty_from = self.segments.get(cleanable).map_or(self.end, |segment| segment.base);
        self.segments.splice(..cleanable, cleaned);
        self.rewrites += 1;
        self.transactions.retain_aborted(|aborted| !gone.contains(&aborted.last_offset));
    }

    /// How many segments may be cleaned: those before the active one and before what is not decided yet.
    fn cleanable(&self) -> usize {
        let stable = self.last_stable(self.end);
        let ends = self.segments.iter().skip(1).map(|next| next.base);
        ends.take_while(|end| *end <= stable).count()
    }

    fn is_worth_it(&self, cleanable: usize, settings: &TopicSettings) -> bool {
        let (mut clean, mut dirty) = (0_usize, 0_usize);
        for segment in self.segments.iter().take(cleanable) {
            if segment.base < self.dirty_from { clean += segment.bytes } else { dirty += segment.bytes }
        }
        let total = clean + dirty;
        #[expect(clippy::cast_precision_loss, reason = "a ratio of sizes in memory")]
        let ratio = if total == 0 { 0.0 } else { dirty as f64 / total as f64 };
        ratio > settings.min_cleanable_dirty_ratio
    }

    /// Up to 3.0, and for magic 0 and 1: segments that were written before it lose tombstones and markers.
    fn legacy_horizon(&self, dirty: usize, settings: &TopicSettings) -> i64 {
        let last_clean = dirty.checked_sub(1).and_then(|at| self.segments.get(at));
        last_clean.map_or(0, |segment| segment.modified_ms.saturating_sub(settings.delete_retention_ms))
    }
}

/// Neighbours that together are no larger than one segment become one.
fn groups(segments: &[Segment], segment_bytes: usize) -> Vec<&[Segment]> {
    let (mut groups, mut rest) = (Vec::new(), segments);
    while let Some((first, more)) = rest.split_first() {
        let mut bytes = first.bytes;
        let fits = |segment: &&Segment| {
            bytes = bytes.saturating_add(segment.bytes);
            let last = segment.entries.last().map_or(segment.base, |entry| entry.last_offset);
            bytes <= segment_bytes && last.saturating_sub(first.base) <= i64::from(i32::MAX)
        };
        let count = 1 + more.iter().take_while(fits).count();
        let (group, left) = rest.split_at(count);
        groups.push(group);
        rest = left;
    }
    groups
}

/// One round of cleaning.
struct Cleaning<'a> {
    log: &'a Log,
    now_ms: i64,
    delete_retention_ms: i64,
    newest: Newest,
    ending: Ending,
    legacy_horizon_ms: i64,
}

/// What becomes of a batch without records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Emptied {
    /// Its header stays (K2).
    Stays,
    /// It goes.
    Goes,
}

impl Cleaning<'_> {
    fn clean(&mut self, group: &[Segment]) -> Segment {
        let base = group.first().map_or(0, |segment| segment.base);
        let mut cleaned = Segment::new(base, group.first().and_then(|segment| segment.created_ms));
        for segment in group {
            let old = segment.modified_ms <= self.legacy_horizon_ms;
            for entry in &segment.entries {
                let kept = if entry.magic >= 2 { self.batch(entry, old) } else { self.message(entry, old) };
                if let Some(kept) = kept {
                    cleaned.push(kept, segment.modified_ms);
                }
            }
            cleaned.modified_ms = segment.modified_ms;
        }
        cleaned.close();
        cleaned
    }

    /// What stays of a batch. `old`: tombstones and markers in its segment go, where segments decide about that.
    fn batch(&mut self, entry: &Entry, old: bool) -> Option<Entry> {
        let horizons = self.log.release >= Release::V3_9;
        let horizon = rebuild::horizon(entry);
        let past = horizon.is_some_and(|horizon| horizon <= self.now_ms);
        let decided = self.ending.allows_to_discard(entry);
        let discard = decided && (!entry.control || if horizons { past } else { old });
        let emptied = self.emptied(entry);
        if discard && emptied == Emptied::Goes {
            return None;
        }
        let tombstones_stay = if horizons { !past } else { !old };
        let newest = &self.newest;
        let survives = |offset: i64, key: Option<&[u8]>, value: Option<&[u8]>| {
            !discard && (entry.control || newest.is(key, offset) && (value.is_some() || tombstones_stay))
        };
        // A file that cannot be read stops Kafka's cleaner for good: what it holds stays as it is.
        let Ok(kept) = rebuild::Kept::of(entry, survives) else { return Some(entry.clone()) };
        if kept.is_empty() {
            return (emptied == Emptied::Stays).then(|| rebuild::emptied(entry)).flatten();
        }
        let marked = horizons && horizon.is_none() && (kept.has_tombstones() || decided && entry.control);
        if kept.is_all() && !marked {
            return Some(entry.clone());
        }
        let horizon = if marked { Some(self.now_ms.saturating_add(self.delete_retention_ms)) } else { horizon };
        kept.batch(horizon)
    }

    fn message(&self, entry: &Entry, old: bool) -> Option<Entry> {
        let survives = |offset: i64, key: Option<&[u8]>, value: Option<&[u8]>| {
            self.newest.is(key, offset) && (value.is_some() || !old)
        };
        legacy::survivors(entry, survives)
    }

    /// K2: by its last batch a producer's last sequence is known, by its last marker its epoch. 4.4 keeps the batch at
    /// the log's end too, which says where that is.
    fn emptied(&self, entry: &Entry) -> Emptied {
        let last_of_producer = entry.producer.is_some_and(|stamp| {
            self.log.producers.get(stamp.id).is_some_and(|producer| match producer.last_offset() {
                Some(last) => last == entry.last_offset,
                None => entry.control && stamp.epoch == producer.epoch,
            })
        });
        let last_of_log = self.log.release >= Release::V4_4 && entry.next_offset() == self.log.end;
        if last_of_producer || last_of_log { Emptied::Stays } else { Emptied::Goes }
    }
}
