//! The tests that need nothing but Rust: mirrors between embedded clusters, and the tree itself.
//!
//! What they say about the embedded clusters' likeness to real ones is proved by the conformance suite, which runs on
//! both. The real brokers' tests are in `it`.

mod after_a_wait;
mod bad_input;
mod conformance;
mod faults;
mod leaders;
mod live;
mod logs;
mod pairs;
mod policies;
mod resume;
mod tidy;
mod transactions;

use std::thread;

use kmirror_testkit::Release;
use kmirror_tests::embedded::Embedded;
use kmirror_tests::kafka::Kafka;
use kmirror_tests::{Failure, Result};

/// Plays a story between embedded clusters of each of these pairs of releases, all at the same time: most of the time a
/// mirror waits for something.
fn played(story: impl Fn(&dyn Kafka, &dyn Kafka) -> Result + Sync, pairs: &[(Release, Release)]) -> Result {
    at_once(pairs.iter().map(|(from, to)| {
        let story = &story;
        (format!("{from} to {to}"), move || story(&Embedded::start(*from)?, &Embedded::start(*to)?))
    }))
}

/// Runs all of these at the same time; fails as the first of them that fails, by its name.
fn at_once<F: FnOnce() -> Result + Send>(all: impl IntoIterator<Item = (String, F)>) -> Result {
    thread::scope(|scope| {
        let running: Vec<_> = all.into_iter().map(|(name, run)| (name, scope.spawn(run))).collect();
        let ended: Vec<_> = running.into_iter().map(|(name, running)| (name, running.join())).collect();
        ended.into_iter().try_for_each(|(name, ended)| {
            let ended = ended.unwrap_or_else(|_| Err(Failure::new("it panicked")));
            ended.map_err(|failure| Failure::new(format!("{name}: {failure}")))
        })
    })
}

/// Tests that play a story: `name: story, [(from, to), …];`.
macro_rules! plays {
    ($($name:ident: $story:path, $pairs:expr;)*) => {
        $(
            #[test]
            fn $name() -> kmirror_tests::Result {
                crate::played($story, &$pairs)
            }
        )*
    };
}
use plays;
