//! The conformance suite on the embedded broker of every release that it knows, and the suite itself. (On the real ones: `it`.)

use kmirror_tests::conformance::{Rules, Suite, Target, check, embedded};
use kmirror_tests::failure::ensure;
use kmirror_tests::wait::Stopwatch;
use kmirror_tests::{Result, measured};

use crate::at_once;

/// What was promised when the suite was begun.
const CASES_MIN: usize = 250;

/// What the embedded broker answers is what was recorded from the real one.
fn answers_as_recorded(release: &str) -> Result {
    let suite = Suite::load()?;
    let cluster = embedded(release)?;
    let target = Target::reach(release, &cluster.bootstrap())?;
    let clock = Stopwatch::start();
    let differences = check(&suite, &target, "embedded", |_| true);
    measured(&format!("{release} went through the suite in {:?}", clock.elapsed()));
    ensure(differences.is_empty(), || format!("{} differences\n{}", differences.len(), differences.join("\n")))
}

/// The suite waits for what hangs: all releases do so at the same time.
#[test]
fn embedded_releases_answer_as_recorded() -> Result {
    let releases = ["0.10.1.1", "0.11.0.3", "1.1.1", "2.0.0", "2.8.2", "3.9.1", "4.4.0"];
    at_once(releases.map(|release| (release.to_owned(), move || answers_as_recorded(release))))
}

/// Ids are unique, every rule of the table has a case, every case proves rules of it and expects something.
#[test]
fn the_suite_is_whole() -> Result {
    let suite = Suite::load()?;
    let complaints = Rules::load().complaints(&suite);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(suite.cases.len() >= CASES_MIN, "{} cases, {CASES_MIN} were promised", suite.cases.len());
    Ok(())
}
