//! Waiting for a condition, never for a time.

use std::time::{Duration, Instant};

use crate::{Failure, Result};

/// How often a condition is looked at. Short against every condition that the tests wait for.
const POLL_EVERY: Duration = Duration::from_millis(20);

/// A point in time by which something must have happened.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// The deadline `time` from now.
    pub fn after(time: Duration) -> Deadline {
        Deadline(clock() + time)
    }

    /// What is left of it; zero once it has passed.
    pub fn left(&self) -> Duration {
        self.0.saturating_duration_since(clock())
    }

    /// Whether it has passed.
    pub fn passed(&self) -> bool {
        self.left().is_zero()
    }
}

/// A running stopwatch.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts at zero.
    pub fn start() -> Stopwatch {
        Stopwatch(clock())
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        clock().saturating_duration_since(self.0)
    }
}

/// Looks at a condition until it holds: `look` answers `Some` when it does, `None` to look again, an error to give up.
/// Past the deadline the failure names `what`.
pub fn until<T>(deadline: Deadline, what: &str, look: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    until_every(POLL_EVERY, deadline, what, look)
}

/// [`until`] with longer pauses, for a look that costs something.
pub fn until_every<T>(
    pause: Duration,
    deadline: Deadline,
    what: &str,
    mut look: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    loop {
        if let Some(value) = look()? {
            return Ok(value);
        }
        if deadline.passed() {
            return Err(Failure::new(format!("waited in vain for {what}")));
        }
        rest(pause);
    }
}

/// The time of day, milliseconds since 1970: what is written now has this timestamp.
#[expect(clippy::disallowed_methods, reason = "brokers judge timestamps by the time of day")]
pub fn unix_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[expect(clippy::disallowed_methods, reason = "processes and brokers live on the real clock")]
fn clock() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "the pause between two looks at a condition")]
fn rest(pause: Duration) {
    std::thread::sleep(pause);
}
