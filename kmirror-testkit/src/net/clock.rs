//! The clocks, and time that a test lets pass.

#![expect(clippy::disallowed_methods, reason = "this is where the clocks are read")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::Now;

/// The cluster's clock. Copies tell the same time.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    began: Instant,
    /// What was let pass, in nanoseconds.
    passed: Arc<AtomicU64>,
}

impl Clock {
    /// Starts it: this moment is zero.
    pub(super) fn start() -> Self {
        Self { began: Instant::now(), passed: Arc::default() }
    }

    /// What the cluster is told. A wall clock before 1970 counts as 1970.
    pub(super) fn now(&self) -> Now {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let unix_ms = i64::try_from(unix.as_millis()).unwrap_or(i64::MAX);
        Now { elapsed: self.began.elapsed(), unix_ms }.later(self.passed())
    }

    /// Lets time pass, for all copies.
    pub(super) fn pass(&self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.passed.fetch_add(nanos, Ordering::SeqCst);
    }

    /// The moment that the timers call `elapsed`; a century from the beginning if it is beyond what they can say.
    pub(super) fn instant(&self, elapsed: Duration) -> tokio::time::Instant {
        const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);
        let real = elapsed.saturating_sub(self.passed()).min(CENTURY);
        tokio::time::Instant::from_std(self.began.checked_add(real).unwrap_or(self.began))
    }

    fn passed(&self) -> Duration {
        Duration::from_nanos(self.passed.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_let_pass_counts_on_both_clocks() {
        const DAY: Duration = Duration::from_secs(86_400);
        let clock = Clock::start();
        let copy = clock.clone();
        let before = copy.now();
        clock.pass(DAY);
        let after = copy.now();
        assert!(after.elapsed >= before.elapsed + DAY && after.unix_ms >= before.unix_ms + 86_400_000);
        assert!(clock.instant(after.elapsed) <= tokio::time::Instant::now(), "the timers know that it has passed");
        assert!(clock.instant(Duration::MAX) > clock.instant(after.elapsed));
    }
}
