//! One conformance suite as data, run over TCP against real brokers and against anything that claims to behave like them.
//!
//! The cases stand in `tests/conformance/*.cases`, a step a line, and under each step what every release answered. The
//! language is explained in the README beside them. A run needs an address and the release that listens there:
//!
//! ```no_run
//! use kmirror_tests::conformance::{Suite, Target, check};
//! # fn main() -> kmirror_tests::Result {
//! let suite = Suite::load()?;
//! let target = Target::reach("2.0.0", "127.0.0.1:9092")?;
//! let differences = check(&suite, &target, "real", |_| true);
//! assert!(differences.is_empty(), "{}", differences.join("\n"));
//! # Ok(())
//! # }
//! ```
//!
//! Answers were recorded from the real brokers (`cargo run -p kmirror-tests --bin conformance -- record`) and read; what a
//! run answers differently is a difference, whatever it is.

mod release_set;
pub use release_set::{RELEASES, ReleaseSet, index};

mod suite;
pub use suite::{Case, Step, Suite};

mod rules;
pub use rules::Rules;

mod words;

mod schema;
mod value;

mod connection;

mod masks;

mod entries;

mod steps;

mod run;
pub use run::{Answers, Target, run, run_all};

mod compare;
pub use compare::differences;

mod record;
pub use record::{Recorded, take, write};

use std::sync::{Mutex, PoisonError};

use crate::brokers::{Cluster, ClusterBuilder};
use crate::embedded::Embedded;
use crate::{Failure, Result};

/// A real broker for the suite, to be started: its cleaner comes by every 300 ms.
///
/// No other test may use it: one that leaves the cleaner of a 2.0.0 an empty batch ends it (its thread dies of an "offset
/// overflow at offset -1").
pub fn broker(version: &str) -> ClusterBuilder {
    Cluster::of(version).property("log.cleaner.backoff.ms", "300")
}

/// The embedded broker of a release, with the settings that the real one is given.
pub fn embedded(version: &str) -> Result<Embedded> {
    let release: kmirror_testkit::Release =
        version.parse().map_err(|error: kmirror_testkit::UnknownRelease| Failure::new(error.to_string()))?;
    let mut builder = kmirror_testkit::Cluster::builder(release)
        .setting("log.cleaner.backoff.ms", "300")
        .setting("log.retention.ms", "-1")
        .setting("offsets.topic.replication.factor", "1")
        .setting("offsets.topic.num.partitions", "4")
        .setting("delete.topic.enable", "true");
    if release >= kmirror_testkit::Release::V0_11 {
        builder = builder.setting("group.initial.rebalance.delay.ms", "0");
    }
    Embedded::of(builder)
}

/// Runs the cases of a suite that are for the target's release, and that `wanted` takes; every difference, as text. `on` says
/// what the target is (`real`, `embedded`).
pub fn check(suite: &Suite, target: &Target, on: &str, wanted: impl Fn(&Case) -> bool) -> Vec<String> {
    let cases: Vec<&Case> =
        suite.cases.iter().filter(|case| case.releases.has(target.release) && wanted(case)).collect();
    let found = Mutex::new(Vec::new());
    run_all(target, &cases, |case, answers, _| {
        let differences = differences(case, target.release, on, &answers);
        found.lock().unwrap_or_else(PoisonError::into_inner).extend(differences);
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort();
    found
}
