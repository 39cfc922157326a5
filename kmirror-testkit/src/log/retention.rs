//! How a log loses its beginning: by age, by size, by request.
//!
//! Whole segments go, the active one too: it is rolled first, so that a log can be empty with its start at its end
//! (measured on 2.0.0: start = end = 12). Java: `UnifiedLog.deleteOldSegments`.

use super::{Log, Segment};
use crate::settings::TopicSettings;
use crate::{Now, Release};

impl Log {
    /// Drops the segments that are too old or too many, up to the high watermark.
    pub(crate) fn retain(&mut self, now: Now, settings: &TopicSettings, high_watermark: i64) {
        if settings.delete {
            let too_old = |segment: &Segment| {
                settings.retention_ms >= 0 && now.unix_ms.saturating_sub(segment.age_ms()) > settings.retention_ms
            };
            self.drop_while(now, high_watermark, |segment, _| too_old(segment));
            if let Ok(bytes_max) = usize::try_from(settings.retention_bytes) {
                let mut over = self.bytes().checked_sub(bytes_max);
                self.drop_while(now, high_watermark, |segment, _| {
                    over = over.and_then(|over| over.checked_sub(segment.bytes));
                    over.is_some()
                });
            }
        }
        let start = self.start;
        self.drop_while(now, high_watermark, |_, next| next.is_some_and(|next| next <= start));
    }

    /// DeleteRecords: the log begins at `before` from now on. Segments that lie before it go with the next
    /// [`Log::retain`].
    pub(crate) fn delete_records(&mut self, before: i64) {
        self.move_start(before);
    }

    /// Bytes of all segments.
    pub(crate) fn bytes(&self) -> usize {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// Drops segments from the oldest on while it is told to, with the offset at which the next one begins.
    fn drop_while(&mut self, now: Now, high_watermark: i64, mut gone: impl FnMut(&Segment, Option<i64>) -> bool) {
        let mut count = 0;
        let mut segments = self.segments.iter().peekable();
        while let Some(segment) = segments.next() {
            let next = segments.peek().map(|next| next.base);
            let empty_and_last = segment.bytes == 0 && next.is_none();
            if empty_and_last || next.unwrap_or(self.end) > high_watermark || !gone(segment, next) {
                break;
            }
            count += 1;
        }
        if count == 0 {
            return;
        }
        if count == self.segments.len() {
            self.roll(now);
        }
        self.segments.drain(..count);
        let start = self.segments.first().map_or(self.end, |segment| segment.base);
        self.move_start(start.max(self.start));
    }

    fn move_start(&mut self, start: i64) {
        let start = start.min(self.end);
        if start <= self.start {
            return;
        }
        self.start = start;
        if self.release >= Release::V0_11 {
            self.epochs.start_moved(start);
            let evicted = self.producers.start_moved(start);
            self.transactions.forget(&evicted);
            self.transactions.start_moved(start);
        }
    }
}
