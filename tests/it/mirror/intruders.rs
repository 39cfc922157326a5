//! Somebody else's hand in a mirrored topic, on real brokers.

use kmirror_tests::Result;
use kmirror_tests::stories::intruders::{a_foreign_record_stops_its_link, records_that_are_gone_are_named_exactly};

use crate::played;

#[test]
fn a_foreign_record_stops_its_link_on_2_0() -> Result {
    played(a_foreign_record_stops_its_link, "2.0.0", "2.0.0/second")
}

#[test]
fn a_foreign_record_stops_its_link_on_0_10_1() -> Result {
    played(a_foreign_record_stops_its_link, "2.0.0", "0.10.1.1")
}

#[test]
fn records_that_are_gone_are_named() -> Result {
    played(records_that_are_gone_are_named_exactly, "2.0.0", "2.0.0/second")
}
