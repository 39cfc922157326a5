//! What people get wrong, and what others do to a mirrored topic: stories of `it`, on embedded clusters of more releases.

use kmirror_testkit::Release::{V0_10_0, V0_10_1, V0_11, V1_0, V2_0, V2_8, V3_9, V4_4};
use kmirror_tests::Result;
use kmirror_tests::embedded::Embedded;
use kmirror_tests::stories::{abort, bad_input, intruders};

use crate::plays;

#[test]
fn one_cluster_on_both_sides_is_refused() -> Result {
    bad_input::one_cluster_on_both_sides_is_refused(&Embedded::start(V4_4)?)
}

plays! {
    an_unknown_property_is_one_warning: bad_input::an_unknown_property_is_one_warning, [(V0_10_1, V4_4)];
    a_pattern_that_is_none_is_a_usage_error: bad_input::a_pattern_that_is_none_is_a_usage_error, [(V2_0, V2_0)];
    fewer_partitions_are_named: bad_input::fewer_partitions_at_the_target_are_named,
        [(V4_4, V0_10_0), (V0_10_1, V0_10_1), (V2_0, V0_11)];
    a_missing_topic_is_made: bad_input::a_topic_that_the_target_does_not_have_is_made,
        [(V4_4, V0_10_1), (V2_0, V2_8), (V0_11, V4_4)];
    a_running_group_is_left_alone: bad_input::a_group_that_is_still_running_is_left_alone,
        [(V0_10_1, V4_4), (V4_4, V0_10_1), (V2_0, V3_9)];
    abort_true_ends_the_mirror: abort::true_ends_the_mirror, [(V4_4, V0_10_1), (V0_10_1, V4_4), (V2_0, V1_0)];
    abort_false_leaves_it_out: abort::false_leaves_it_out, [(V4_4, V0_10_0), (V0_10_1, V4_4), (V2_0, V3_9)];
    a_foreign_record_stops_its_link: intruders::a_foreign_record_stops_its_link,
        [(V4_4, V0_10_1), (V2_0, V1_0), (V0_10_1, V4_4)];
    records_that_are_gone_are_named: intruders::records_that_are_gone_are_named_exactly,
        [(V0_10_1, V4_4), (V4_4, V0_10_1), (V2_0, V2_8)];
}
