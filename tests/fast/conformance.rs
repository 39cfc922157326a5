//! The conformance suite itself. (On the real brokers: `it`.)

use kmirror_tests::Result;
use kmirror_tests::conformance::{Rules, Suite};

/// What was promised when the suite was begun.
const CASES_MIN: usize = 250;

/// Ids are unique, every rule of the table has a case, every case proves rules of it and expects something.
#[test]
fn the_suite_is_whole() -> Result {
    let suite = Suite::load()?;
    let complaints = Rules::load().complaints(&suite);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(suite.cases.len() >= CASES_MIN, "{} cases, {CASES_MIN} were promised", suite.cases.len());
    Ok(())
}
