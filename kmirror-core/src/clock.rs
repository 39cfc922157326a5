//! Time as a value. Machines never read a clock: whoever drives them says what time it is, so a test or a
//! simulator can let a day pass in a microsecond.

use std::fmt;
use std::time::Duration;

/// A point on the worker's monotonic clock, in nanoseconds since the worker began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(pub u64);

/// What a machine is told about time: the monotonic clock for waiting, the wall clock for comparing with
/// record timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// The monotonic clock.
    pub tick: Tick,
    /// The wall clock, in milliseconds since 1970 (UTC).
    pub unix_ms: i64,
}

impl Tick {
    /// The beginning of the clock.
    pub const ZERO: Self = Self(0);

    /// This point plus `wait`; stays at the clock's end instead of wrapping.
    #[must_use]
    pub fn after(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// How long ago `earlier` was; zero if it is not in the past.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Now {
    /// The point `wait` from now.
    #[must_use]
    pub fn after(self, wait: Duration) -> Tick {
        self.tick.after(wait)
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{:.3}s", Duration::from_nanos(self.0).as_secs_f64())
    }
}

/// The earlier of two optional points: how machines combine the times at which they want to be woken.
#[must_use]
pub fn earliest(a: Option<Tick>, b: Option<Tick>) -> Option<Tick> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, None) | (None, one) => one,
    }
}
