//! What people get wrong, with real brokers.

use kmirror_tests::Result;
use kmirror_tests::brokers::shared;
use kmirror_tests::kafka::Kafka;
use kmirror_tests::stories::bad_input;

use crate::played;

fn between(story: fn(&dyn Kafka, &dyn Kafka) -> Result) -> Result {
    played(story, "2.0.0", "2.0.0/second")
}

#[test]
fn an_unreachable_source_is_named() -> Result {
    bad_input::an_unreachable_source_is_named(shared("2.0.0")?)
}

#[test]
fn an_unreachable_target_is_named() -> Result {
    bad_input::an_unreachable_target_is_named(shared("2.0.0")?)
}

#[test]
fn a_web_server_is_recognised() -> Result {
    bad_input::a_web_server_is_recognised(shared("2.0.0")?)
}

#[test]
fn an_unknown_property_is_one_warning() -> Result {
    between(bad_input::an_unknown_property_is_one_warning)
}

#[test]
fn a_pattern_that_is_none_is_a_usage_error() -> Result {
    between(bad_input::a_pattern_that_is_none_is_a_usage_error)
}

#[test]
fn one_cluster_on_both_sides_is_refused() -> Result {
    bad_input::one_cluster_on_both_sides_is_refused(shared("2.0.0")?)
}

#[test]
fn fewer_partitions_at_the_target_are_named() -> Result {
    played(bad_input::fewer_partitions_at_the_target_are_named, "2.0.0", "0.10.1.1")
}

#[test]
fn a_topic_that_the_target_does_not_have_is_made() -> Result {
    played(bad_input::a_topic_that_the_target_does_not_have_is_made, "2.0.0", "0.10.1.1")
}

#[test]
fn a_group_that_is_still_running_is_left_alone() -> Result {
    between(bad_input::a_group_that_is_still_running_is_left_alone)
}
