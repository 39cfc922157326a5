//! What a target cannot take, by policy, on real brokers.

use kmirror_tests::Result;
use kmirror_tests::stories::policies::losses::{
    HEADERS, KEYLESS, KEYLESS_ANSWERED, Loss, TIMESTAMP, TOO_LARGE, TOO_LARGE_ANSWERED,
};
use kmirror_tests::stories::policies::{creation, modulo, partitions, sizes};

use crate::played;

fn refused(loss: &Loss, to: &str) -> Result {
    played(|source, target| loss.is_refused(source, target), "2.0.0", to)
}

fn dropped(loss: &Loss, to: &str) -> Result {
    played(|source, target| loss.is_dropped(source, target), "2.0.0", to)
}

#[test]
fn a_record_that_is_too_large_is_refused() -> Result {
    refused(&TOO_LARGE, "3.9.1")
}

#[test]
fn a_record_that_is_too_large_is_dropped() -> Result {
    dropped(&TOO_LARGE, "3.9.1")
}

#[test]
fn a_record_whose_size_only_the_answer_tells_is_refused() -> Result {
    refused(&TOO_LARGE_ANSWERED, "0.10.1.1")
}

#[test]
fn a_record_whose_size_only_the_answer_tells_is_dropped() -> Result {
    dropped(&TOO_LARGE_ANSWERED, "0.10.1.1")
}

#[test]
fn a_timestamp_in_the_future_is_refused() -> Result {
    refused(&TIMESTAMP, "4.4.0")
}

#[test]
fn a_timestamp_in_the_future_is_dropped() -> Result {
    dropped(&TIMESTAMP, "4.4.0")
}

#[test]
fn a_record_without_a_key_is_refused() -> Result {
    refused(&KEYLESS, "3.9.1")
}

#[test]
fn a_record_without_a_key_is_dropped() -> Result {
    dropped(&KEYLESS, "3.9.1")
}

#[test]
fn a_record_whose_want_of_a_key_only_the_answer_tells_is_refused() -> Result {
    refused(&KEYLESS_ANSWERED, "0.10.1.1")
}

#[test]
fn a_record_whose_want_of_a_key_only_the_answer_tells_is_dropped() -> Result {
    dropped(&KEYLESS_ANSWERED, "0.10.1.1")
}

#[test]
fn a_record_with_headers_is_refused() -> Result {
    refused(&HEADERS, "0.10.1.1")
}

#[test]
fn a_record_with_headers_is_dropped() -> Result {
    dropped(&HEADERS, "0.10.1.1")
}

#[test]
fn a_missing_topic_is_waited_for_on_3_9() -> Result {
    played(creation::a_missing_topic_is_waited_for, "2.0.0", "3.9.1")
}

#[test]
fn a_missing_topic_is_waited_for_on_0_10_1() -> Result {
    played(creation::a_missing_topic_is_waited_for, "2.0.0", "0.10.1.1")
}

#[test]
fn stop_stands_still_until_the_target_has_its_partitions() -> Result {
    played(partitions::stop_stands_still_until_the_target_has_them, "2.0.0", "3.9.1")
}

#[test]
fn grow_adds_partitions_on_1_0() -> Result {
    played(partitions::grow_adds_them, "2.0.0", "1.0.2")
}

#[test]
fn grow_adds_partitions_on_4_4() -> Result {
    played(partitions::grow_adds_them, "2.0.0", "4.4.0")
}

#[test]
fn grow_says_where_it_cannot() -> Result {
    played(partitions::grow_says_where_it_cannot, "2.0.0", "0.10.1.1")
}

#[test]
fn modulo_is_refused_on_0_10() -> Result {
    played(partitions::modulo_is_refused_on_0_10, "2.0.0", "0.10.1.1")
}

#[test]
fn modulo_shares_partitions_on_0_11() -> Result {
    played(modulo::partitions_are_shared, "2.0.0", "0.11.0.3")
}

#[test]
fn modulo_shares_partitions_on_3_9() -> Result {
    played(modulo::partitions_are_shared, "2.0.0", "3.9.1")
}

#[test]
fn a_batch_that_is_too_large_is_split_on_3_9() -> Result {
    played(sizes::all_of_it_arrives, "2.0.0", "3.9.1")
}

#[test]
fn a_batch_that_is_too_large_is_split_on_0_10_1() -> Result {
    played(sizes::all_of_it_arrives, "2.0.0", "0.10.1.1")
}
