//! Exponential back-off with jitter, as Kafka's clients do it (KIP-144, KIP-580).

use std::time::Duration;

/// How long to wait before the next try: `first`, doubled each time up to `max`, each time ±20 %.
#[derive(Clone, Debug)]
pub struct Backoff {
    first: Duration,
    max: Duration,
    failures: u32,
}

impl Backoff {
    /// Waits from `first` to `max`; a `max` below `first` counts as `first`.
    #[must_use]
    pub fn new(first: Duration, max: Duration) -> Self {
        Self { first, max: max.max(first), failures: 0 }
    }

    /// The wait after one more failure.
    pub fn next(&mut self, rng: &mut fastrand::Rng) -> Duration {
        // 2^31 times anything is beyond every maximum: the shift needs no more.
        let doubled = self.first.saturating_mul(1 << self.failures.min(30));
        self.failures = self.failures.saturating_add(1);
        let jitter = 0.8 + 0.4 * rng.f64();
        doubled.min(self.max).mul_f64(jitter)
    }

    /// Begins again at the first wait.
    pub fn reset(&mut self) {
        self.failures = 0;
    }

    /// Failures since the last reset.
    #[must_use]
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// The longest wait, without jitter.
    #[must_use]
    pub fn max(&self) -> Duration {
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn doubles_up_to_the_maximum_within_a_fifth() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut backoff = Backoff::new(ms(50), ms(1000));
        for expected in [50, 100, 200, 400, 800, 1000, 1000, 1000] {
            let wait = backoff.next(&mut rng);
            assert!(wait >= ms(expected).mul_f64(0.8) && wait <= ms(expected).mul_f64(1.2), "{wait:?} for {expected}");
        }
        backoff.reset();
        assert!(backoff.next(&mut rng) <= ms(60));
    }

    #[test]
    fn the_hundredth_failure_does_not_overflow() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut backoff = Backoff::new(Duration::from_secs(3600), Duration::MAX.div_f64(4.0));
        for _ in 0..100 {
            backoff.next(&mut rng);
        }
        assert_eq!(backoff.failures(), 100);
    }

    #[test]
    fn same_seed_same_waits_and_two_workers_do_not_march_in_step() {
        let waits = |seed| {
            let (mut rng, mut backoff) = (fastrand::Rng::with_seed(seed), Backoff::new(ms(100), ms(1000)));
            (0..5).map(|_| backoff.next(&mut rng)).collect::<Vec<_>>()
        };
        assert_eq!(waits(7), waits(7));
        assert_ne!(waits(7), waits(8));
    }
}
