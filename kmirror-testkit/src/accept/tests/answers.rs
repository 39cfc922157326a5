//! What an answer says beside its code: measured with Produce v8 and later.

use kmirror_proto::messages::RecordError;

use super::*;

/// A record by its position, and what is wrong with it.
type Named = (i32, Option<String>);

/// The broker's words, the records that it names, and whether it tells the log's start.
fn answer(case: &Case, release: Release) -> (Option<String>, Vec<Named>, bool) {
    match case.accept(release) {
        Err(Refusal::Code { message, record_errors, log_start, .. }) => {
            let named = |RecordError { batch_index, message }| (batch_index, message);
            (message, record_errors.into_iter().map(named).collect(), log_start)
        }
        other => panic!("{release}: {other:?}"),
    }
}

/// Records 0 and 2 without a key.
fn without_keys() -> Case {
    let keys = [None, Some(&b"key"[..]), None];
    let payload = (0..3).zip(keys).flat_map(|(delta, key)| record(delta.into(), delta, key)).collect();
    sent(batch().with(|batch| batch.payload = payload).bytes()).to(|topic| topic.compact = true)
}

#[test]
fn r16_faulty_records_are_named() {
    let text = "Compacted topic cannot accept message without key in topic partition orders-7";
    let (message, named, _) = answer(&without_keys(), Release::V2_4);
    assert_eq!((message, named), (Some(format!("{text}.")), vec![(0, None)]));
    for release in [Release::V2_8, Release::V3_0] {
        let (message, named, _) = answer(&without_keys(), release);
        assert_eq!(message.as_deref(), Some("One or more records have been rejected"));
        assert_eq!(named, [(0, Some(format!("{text}."))), (2, Some(format!("{text}.")))]);
    }
    for release in [Release::V3_9, Release::V4_4] {
        let (message, named, _) = answer(&without_keys(), release);
        let said = format!(
            "One or more records have been rejected due to 2 record errors in total, and only showing the first three \
             errors at most: [RecordError(batchIndex=0, message='{text}'), RecordError(batchIndex=2, \
             message='{text}')]"
        );
        assert_eq!(message, Some(said));
        assert_eq!(named, [(0, Some(text.to_owned())), (2, Some(text.to_owned()))]);
    }
}

#[test]
fn r11_one_timestamp_makes_it_a_matter_of_timestamps() {
    let case = without_keys().to(|topic| {
        topic.compact = true;
        (topic.timestamp_before_max_ms, topic.timestamp_after_max_ms) = (1000, 2000);
    });
    case.measured(
        "[2.1.1] err 2 CORRUPT_MESSAGE\n[2.4.1] err 87 INVALID_RECORD\n[2.8.2,4.4.0] err 32 INVALID_TIMESTAMP",
    );
    let (message, named, _) = answer(&case, Release::V3_9);
    assert_eq!(message.as_deref(), Some("One or more records have been rejected due to invalid timestamp"));
    let range = format!(
        "Timestamp 1600000000001 of message with offset 1 is out of range. The timestamp should be within [{}, {}]",
        NOW - 1000,
        NOW + 2000
    );
    assert_eq!((named.len(), named[1].clone()), (3, (1, Some(range))));
}

#[test]
fn r8_r3_a_record_is_printed_as_java_prints_it() {
    let append_time = sent(batch().with(|batch| batch.attributes = 8).bytes());
    let (_, named, _) = answer(&append_time, Release::V2_8);
    let text = "Invalid timestamp type in message DefaultRecord(offset=2, timestamp=1600000000002, key=3 bytes, value=5 \
                bytes). Producer should not set timestamp type to LogAppendTime.";
    assert_eq!(named[2], (2, Some(text.to_owned())));
    let gap = sent(batch_of(&[0, 2, 5]).codec(Codec::Gzip).with(|batch| batch.last_offset_delta = 2).bytes());
    let (message, named, _) = answer(&gap, Release::V2_4);
    let text = "Inner record DefaultRecord(offset=2, timestamp=1600000000001, key=3 bytes, value=5 bytes) inside the \
                compressed record batch does not have incremental offsets, expected offset is 1 in topic partition \
                orders-7.";
    assert_eq!((message.as_deref(), named), (Some(text), vec![(1, None)]));
}

#[test]
fn r5_bytes_that_are_no_entries_are_described_from_2_8_on() {
    let mut magic = batch().bytes();
    magic[16] = 3;
    let mut size = batch().bytes();
    size[8..12].copy_from_slice(&13_i32.to_be_bytes());
    for (records, text) in [
        (magic, "Invalid magic found in record: 3"),
        (size, "Record size 13 is less than the minimum record overhead (14)"),
    ] {
        let case = sent(records.clone());
        case.measured(
            "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1] DISCONNECT
             [2.8.2,3.0.2,3.9.1,4.4.0] err 2 CORRUPT_MESSAGE",
        );
        assert_eq!(answer(&case, Release::V2_8).0.as_deref(), Some(text));
        // Behind a whole batch it is found too late to be described.
        let behind = sent([batch().bytes(), records].concat());
        behind.measured("[0.11.0.3,2.0.0] DISCONNECT\n[2.1.1,2.4.1,2.8.2,4.4.0] err 2 CORRUPT_MESSAGE");
        assert_eq!(answer(&behind, Release::V2_8).0, None);
    }
}

/// The log start offset of a refusal is -1 where Java had the exception in mind.
#[test]
fn whether_an_answer_tells_the_log_start() {
    let tells = |case: &Case| {
        let told = |release: &&Release| answer(case, **release).2;
        let releases = [Release::V1_1, Release::V2_1, Release::V2_4, Release::V4_4];
        releases.iter().filter(told).copied().collect::<Vec<_>>()
    };
    let (validated, always) =
        ([Release::V2_4, Release::V4_4], [Release::V1_1, Release::V2_1, Release::V2_4, Release::V4_4]);
    assert_eq!(tells(&sent(batch().with(|batch| batch.base_offset = 9).bytes())), validated);
    assert_eq!(tells(&without_keys()), validated);
    assert_eq!(tells(&sent(batch().with(|batch| batch.attributes = 5).bytes())), always);
    let mut damaged = batch().bytes();
    damaged[70] ^= 1;
    assert_eq!(tells(&sent(damaged)), []);
    assert_eq!(tells(&sent(batch().bytes()).to(|topic| topic.max_message_bytes = 10)), []);
    assert_eq!(tells(&sent(batch().bytes()).to(|topic| topic.segment_bytes = 10)), []);
}
