//! The clocks.

#![expect(clippy::disallowed_methods, reason = "this is where the clocks are read")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::clock::{Now, Tick};

/// The worker's clock. Copies tell the same time, so all shards of a worker share one.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    began: Instant,
}

impl Clock {
    /// Starts it: this moment is [`Tick::ZERO`].
    #[must_use]
    pub fn start() -> Self {
        Self { began: Instant::now() }
    }

    /// What machines are told. A wall clock before 1970 counts as 1970.
    #[must_use]
    pub fn now(&self) -> Now {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let tick = Tick::ZERO.after(self.began.elapsed());
        Now { tick, unix_ms: i64::try_from(unix.as_millis()).unwrap_or(i64::MAX) }
    }

    /// The moment that the timers call `tick`; a century from now if it is beyond what they can say.
    pub(super) fn instant(&self, tick: Tick) -> tokio::time::Instant {
        const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);
        let since = tick.since(Tick::ZERO);
        tokio::time::Instant::from_std(self.began.checked_add(since.min(CENTURY)).unwrap_or(self.began))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_at_zero_and_does_not_go_back() {
        let clock = Clock::start();
        let (first, second) = (clock.now(), clock.now());
        assert!(first.tick < Tick::ZERO.after(Duration::from_secs(60)));
        assert!(second.tick >= first.tick);
        assert!(first.unix_ms > 1_700_000_000_000, "after 2023");
    }

    #[test]
    fn the_end_of_all_ticks_is_a_moment_too() {
        let clock = Clock::start();
        assert!(clock.instant(Tick(u64::MAX)) > clock.instant(Tick(1)));
    }
}
