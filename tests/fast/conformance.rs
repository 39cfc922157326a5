//! The conformance suite on the embedded broker of every release that it knows, and the suite itself. (On the real ones: `it`.)

use kmirror_tests::conformance::{Rules, Suite, Target, check, embedded};
use kmirror_tests::wait::Stopwatch;
use kmirror_tests::{Result, measured};

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
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), differences.join("\n"));
    Ok(())
}

#[test]
fn embedded_0_10_1_answers_as_recorded() -> Result {
    answers_as_recorded("0.10.1.1")
}

#[test]
fn embedded_0_11_answers_as_recorded() -> Result {
    answers_as_recorded("0.11.0.3")
}

#[test]
fn embedded_1_1_answers_as_recorded() -> Result {
    answers_as_recorded("1.1.1")
}

#[test]
fn embedded_2_0_answers_as_recorded() -> Result {
    answers_as_recorded("2.0.0")
}

#[test]
fn embedded_2_8_answers_as_recorded() -> Result {
    answers_as_recorded("2.8.2")
}

#[test]
fn embedded_3_9_answers_as_recorded() -> Result {
    answers_as_recorded("3.9.1")
}

#[test]
fn embedded_4_4_answers_as_recorded() -> Result {
    answers_as_recorded("4.4.0")
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
