//! When the metadata is asked for: at its age, on demand, and again after an answer that left something open.
//!
//! ```text
//!          due (age, demand, unsettled) and allowed (back-off)           patience over: asks elsewhere
//!   Idle ───────────────────────────────────────────────────► Asked ──────────────────────────────────► Idle, due at once
//!    ▲                                                          │
//!    └────────────── answer, or no answer: back-off ────────────┘
//! ```

use std::time::Duration;

use super::backoff::Backoff;
use super::call::CallId;
use super::limits::METADATA_PATIENCE;
use crate::clock::{Now, Tick};

/// The state of asking. At most one request is awaited at a time.
#[derive(Debug)]
pub(super) struct Refresh {
    age_max: Duration,
    backoff: Backoff,
    due: Tick,
    allowed: Tick,
    asked: Option<Asked>,
}

#[derive(Debug)]
struct Asked {
    call: CallId,
    patience: Option<Tick>,
}

impl Refresh {
    /// Due at once; then every `age_max`, or on demand, at intervals that `backoff` gives.
    pub(super) fn new(age_max: Duration, backoff: Backoff) -> Self {
        Self { age_max, backoff, due: Tick::ZERO, allowed: Tick::ZERO, asked: None }
    }

    /// Wanted as soon as the back-off allows.
    pub(super) fn want(&mut self, now: Now) {
        // After a calm time the first demand is a new story, and is not made to wait for the end of the last one.
        if now.tick > self.allowed.after(2 * self.backoff.max()) {
            self.backoff.reset();
        }
        self.due = self.due.min(now.tick);
    }

    /// When a request is to be made; `None` while one is awaited.
    pub(super) fn asks_at(&self) -> Option<Tick> {
        self.asked.is_none().then(|| self.due.max(self.allowed))
    }

    /// A request was made.
    pub(super) fn asks(&mut self, call: CallId) {
        self.asked = Some(Asked { call, patience: None });
    }

    /// The request has gone out.
    pub(super) fn sent(&mut self, now: Now, call: CallId) {
        if let Some(asked) = self.asked.as_mut().filter(|asked| asked.call == call) {
            asked.patience = Some(now.after(METADATA_PATIENCE));
        }
    }

    /// Whether this is the request whose answer is awaited.
    pub(super) fn awaits(&self, call: CallId) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.call == call)
    }

    /// When the patience with the request that has gone out ends.
    pub(super) fn patience(&self) -> Option<Tick> {
        self.asked.as_ref()?.patience
    }

    /// Another broker may be asked at once, if the patience is over.
    pub(super) fn lose_patience(&mut self, now: Now) {
        if self.patience().is_some_and(|at| at <= now.tick) {
            self.asked = None;
            (self.due, self.allowed) = (now.tick, now.tick);
        }
    }

    /// A believed answer came. `settled`: nothing is left open.
    pub(super) fn answered(&mut self, now: Now, rng: &mut fastrand::Rng, settled: bool, changed: bool) {
        if settled && changed {
            self.backoff.reset();
        }
        self.rest(now, rng);
        if settled {
            self.due = now.after(self.age_max);
        }
    }

    /// No answer came, or none that was believed.
    pub(super) fn failed(&mut self, now: Now, rng: &mut fastrand::Rng) {
        self.rest(now, rng);
    }

    fn rest(&mut self, now: Now, rng: &mut fastrand::Rng) {
        self.asked = None;
        self.due = now.tick;
        self.allowed = now.after(self.backoff.next(rng));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn at(ms: u64) -> Now {
        Now { tick: Tick(ms * 1_000_000), unix_ms: 0 }
    }

    fn refresh() -> (Refresh, fastrand::Rng) {
        let backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
        (Refresh::new(MINUTE, backoff), fastrand::Rng::with_seed(3))
    }

    #[test]
    fn a_settled_answer_rests_until_its_age() {
        let (mut refresh, mut rng) = refresh();
        assert_eq!(refresh.asks_at(), Some(Tick::ZERO));
        refresh.asks(CallId(1));
        assert_eq!(refresh.asks_at(), None, "one at a time");
        refresh.answered(at(5), &mut rng, true, true);
        assert_eq!(refresh.asks_at(), Some(at(5).after(MINUTE)));
    }

    #[test]
    fn a_leader_that_stays_away_is_asked_for_more_and_more_rarely() {
        let (mut refresh, mut rng) = refresh();
        let (mut now, mut requests) = (at(0), 0);
        while now.tick < Tick::ZERO.after(MINUTE) {
            refresh.asks(CallId(requests));
            requests += 1;
            refresh.answered(now, &mut rng, false, false);
            refresh.want(now); // each of the waiting links says so
            now.tick = refresh.asks_at().unwrap();
        }
        assert!((55..85).contains(&requests), "{requests} requests in a minute");
    }

    #[test]
    fn a_demand_after_a_calm_time_does_not_inherit_the_back_off_of_the_last_trouble() {
        let (mut refresh, mut rng) = refresh();
        for _ in 0..10 {
            refresh.answered(at(0), &mut rng, false, false);
        }
        refresh.answered(at(0), &mut rng, true, false);
        refresh.want(at(10_000));
        assert_eq!(refresh.asks_at(), Some(at(10_000).tick));
        refresh.failed(at(10_000), &mut rng);
        assert!(refresh.asks_at().unwrap() <= at(10_120).tick, "100 ms again, not a second");
    }

    #[test]
    fn patience_counts_from_the_sending() {
        let (mut refresh, _) = refresh();
        refresh.asks(CallId(1));
        assert_eq!(refresh.patience(), None);
        refresh.sent(at(0), CallId(1));
        refresh.lose_patience(at(1));
        assert!(refresh.awaits(CallId(1)));
        refresh.lose_patience(Now { tick: at(0).after(METADATA_PATIENCE), unix_ms: 0 });
        assert!(!refresh.awaits(CallId(1)));
        assert_eq!(refresh.asks_at(), Some(at(0).after(METADATA_PATIENCE)));
    }
}
