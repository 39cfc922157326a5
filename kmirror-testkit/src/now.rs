//! Time as a value: the cluster is told what time it is.

use std::time::Duration;

/// What a cluster is told about time. Neither clock goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// The monotonic clock, since some beginning: for waiting.
    pub elapsed: Duration,
    /// The wall clock, in milliseconds since 1970 (UTC): for timestamps, retention and compaction.
    pub unix_ms: i64,
}

impl Now {
    /// The point of the monotonic clock that lies `wait` ahead.
    #[must_use]
    pub fn after(self, wait: Duration) -> Duration {
        self.elapsed.saturating_add(wait)
    }

    /// The moment `wait` later, on both clocks.
    #[must_use]
    pub fn later(self, wait: Duration) -> Self {
        let ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
        Self { elapsed: self.after(wait), unix_ms: self.unix_ms.saturating_add(ms) }
    }
}
