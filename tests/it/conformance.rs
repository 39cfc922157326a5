//! The conformance suite, on the real broker of every release that it knows. (On the embedded ones: `fast`.)

use kmirror_tests::conformance::{Suite, Target, broker, check};
use kmirror_tests::wait::Stopwatch;
use kmirror_tests::{Result, measured};

/// What a release answers is what was recorded from it.
fn answers_as_recorded(release: &str) -> Result {
    let suite = Suite::load()?;
    let cluster = broker(release).start()?;
    let target = Target::reach(release, &cluster.bootstrap())?;
    let clock = Stopwatch::start();
    let differences = check(&suite, &target, "real", |_| true);
    measured(&format!("{release} went through the suite in {:?}", clock.elapsed()));
    assert!(differences.is_empty(), "{} differences\n{}", differences.len(), differences.join("\n"));
    Ok(())
}

#[test]
fn real_0_10_1_answers_as_recorded() -> Result {
    answers_as_recorded("0.10.1.1")
}

#[test]
fn real_0_11_answers_as_recorded() -> Result {
    answers_as_recorded("0.11.0.3")
}

#[test]
fn real_1_1_answers_as_recorded() -> Result {
    answers_as_recorded("1.1.1")
}

#[test]
fn real_2_0_answers_as_recorded() -> Result {
    answers_as_recorded("2.0.0")
}

#[test]
fn real_2_8_answers_as_recorded() -> Result {
    answers_as_recorded("2.8.2")
}

#[test]
fn real_3_9_answers_as_recorded() -> Result {
    answers_as_recorded("3.9.1")
}

#[test]
fn real_4_4_answers_as_recorded() -> Result {
    answers_as_recorded("4.4.0")
}
