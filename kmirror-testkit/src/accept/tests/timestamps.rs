//! Whose time it is, and how far from now it may be.

use super::*;

const KEPT: &str = "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 0 NONE +base+ple";
const EVERY: &str = "0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0";
const HOUR: i64 = 3_600_000;

fn every(expected: &str) -> String {
    format!("[{EVERY}] {expected}")
}

/// Records a millisecond apart, the first one of this time.
fn at(timestamp: i64) -> Batch {
    batch().with(|batch| (batch.base_timestamp, batch.max_timestamp) = (timestamp, timestamp + 2))
}

#[test]
fn r8_the_append_time_bit_is_the_brokers() {
    for (codec, cleared) in [(Codec::None, "8->0"), (Codec::Gzip, "9->1")] {
        let sent = || sent(batch().codec(codec).with(|batch| batch.attributes |= 8).bytes());
        sent().measured(&format!(
            "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2] err 32 INVALID_TIMESTAMP
             [3.9.1,4.4.0] err 0 NONE +base+ple, crc, attributes {cleared}"
        ));
        sent().to(|topic| topic.append_time = true).measured(&every("err 32 INVALID_TIMESTAMP"));
    }
}

#[test]
fn r9_append_time_changes_the_header_only() {
    for (codec, attributes) in [(Codec::None, "0->8"), (Codec::Gzip, "1->9"), (Codec::Lz4, "3->11")] {
        sent(batch().codec(codec).bytes()).to(|topic| topic.append_time = true).measured(&every(&format!(
            "err 0 NONE lat=set +base+ple, crc, attributes {attributes}, maxTimestamp 1600000000002->NOW"
        )));
    }
    let producer = batch().with(|batch| batch.producer = (987_654, 0, 0));
    let changed = "err 0 NONE lat=set +base+ple, crc, attributes 0->8, maxTimestamp 1600000000002->NOW";
    sent(producer.bytes()).to(|topic| topic.append_time = true).measured(&every(changed));
    let gap = batch().with(|batch| batch.last_offset_delta = 5);
    sent(gap.bytes()).to(|topic| topic.append_time = true).measured(
        "[0.11.0.3,1.0.2] err 0 NONE lat=set changed: partitionLeaderEpoch -1->0, crc, attributes 0->8, \
         maxTimestamp 1600000000002->NOW
         [1.1.1,2.0.0,2.1.1] err 2 CORRUPT_MESSAGE
         [2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 87 INVALID_RECORD",
    );
}

#[test]
fn r9_append_time_takes_any_timestamp() {
    let future = NOW + 2 * HOUR;
    sent(at(future).bytes()).to(|topic| topic.append_time = true).measured(&every(&format!(
        "err 0 NONE lat=set +base+ple, crc, attributes 0->8, maxTimestamp {}->NOW",
        future + 2
    )));
}

#[test]
fn r10_a_wrong_maximum_is_put_right() {
    for codec in [Codec::None, Codec::Gzip] {
        for wrong in [1_500_000_000_000, 1_600_000_999_999, -1] {
            sent(batch().codec(codec).with(|batch| batch.max_timestamp = wrong).bytes())
                .measured(&every(&format!("err 0 NONE +base+ple, crc, maxTimestamp {wrong}->1600000000002")));
        }
        // R11: it is not the maximum that must not lie in the future.
        let wrong = NOW + 2 * HOUR;
        sent(batch().codec(codec).with(|batch| batch.max_timestamp = wrong).bytes())
            .measured(&every(&format!("err 0 NONE +base+ple, crc, maxTimestamp {wrong}->1600000000002")));
    }
}

#[test]
fn r10_timestamps_that_are_odd() {
    let alike = |timestamp| {
        at(timestamp).with(|batch| {
            batch.payload = [0, 1, 2].into_iter().flat_map(|delta| record(0, delta, Some(b"key"))).collect();
            batch.max_timestamp = timestamp;
        })
    };
    for codec in [Codec::None, Codec::Gzip] {
        sent(alike(-1).codec(codec).bytes()).measured(KEPT);
        sent(alike(0).codec(codec).bytes()).measured(KEPT);
        sent(at(-1000).codec(codec).bytes()).measured(&every("err 0 NONE +base+ple, crc, maxTimestamp -998->-1"));
        let zigzag = batch().with(|batch| {
            batch.payload = [5, -3, 1].into_iter().zip(0..).flat_map(|(at, n)| record(at, n, Some(b"key"))).collect();
            batch.max_timestamp = THEN + 5;
        });
        sent(zigzag.codec(codec).bytes()).measured(KEPT);
    }
}

#[test]
fn r11_the_future_is_refused_by_4_4() {
    for codec in [Codec::None, Codec::Gzip] {
        for timestamp in [NOW + 2 * HOUR, 9_900_000_000_000] {
            sent(at(timestamp).codec(codec).bytes()).measured(
                "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err 0 NONE +base+ple
                 [4.4.0] err 32 INVALID_TIMESTAMP",
            );
        }
        sent(at(NOW + HOUR / 60 * 50).codec(codec).bytes()).measured(KEPT);
    }
}

#[test]
fn r11_a_limit_that_was_set() {
    sent(batch().bytes()).to(|topic| topic.timestamp_before_max_ms = 1000).measured(&every("err 32 INVALID_TIMESTAMP"));
    sent(at(NOW - 1000).bytes()).to(|topic| topic.timestamp_before_max_ms = 1000).measured(KEPT);
    sent(at(NOW + 999).bytes())
        .to(|topic| topic.timestamp_after_max_ms = 1000)
        .measured(&every("err 32 INVALID_TIMESTAMP"));
    sent(at(NOW + 998).bytes()).to(|topic| topic.timestamp_after_max_ms = 1000).measured(KEPT);
}
