//! M2: what 0.10 keeps, and what of it changes.

use kmirror_proto::records::MessageFormat::{V0, V1};

use super::super::{Time, WrapperAtZero, is_numbered_from, keep_message};
use super::*;

fn numbered(outer: i64, inner: &[i64], zero: WrapperAtZero) -> bool {
    let wrapper = sent_wrapper(V1, Codec::Gzip, outer, inner);
    is_numbered_from(0, &wrapper, &opened_sent(&wrapper), zero).unwrap()
}

#[test]
fn a_wrapper_is_kept_if_its_messages_are_numbered_from_zero() {
    for zero in [WrapperAtZero::CountsBack, WrapperAtZero::SaysNothing] {
        assert!(numbered(2, &[0, 1, 2], zero), "m1gzip-rel");
        assert!(numbered(0, &[0], zero), "one message");
        assert!(!numbered(5, &[0, 2, 5], zero), "m1gzip gap inner offsets [0,2,5] wrap 5");
        assert!(!numbered(3, &[1, 2, 3], zero), "m1gzip inner offsets [1,2,3] wrap 3");
        assert!(!numbered(1002, &[0, 1, 2], zero), "m1gzip absolute wrapper offset 1002");
        assert!(!numbered(0, &[0, 0, 0], zero), "m1gzip-allzero-inner");
        // Offsets that only differ by the wrapper's come to the same.
        assert!(numbered(2, &[100, 101, 102], zero));
    }
    // m1gzip-wrapoff0: 0.10.0, 0.10.1 `changed: offset 0->N, crc, VALUE differs`; 0.10.2 `changed: offset 0->N`.
    assert!(!numbered(0, &[0, 1, 2], WrapperAtZero::CountsBack));
    assert!(numbered(0, &[0, 1, 2], WrapperAtZero::SaysNothing));
}

#[test]
fn a_second_wrapper_is_not_numbered_on_and_magic_0_is_not_asked() {
    let second = sent_wrapper(V1, Codec::Gzip, 2, &[0, 1, 2]);
    assert!(!is_numbered_from(3, &second, &opened_sent(&second), WrapperAtZero::CountsBack).unwrap(), "R4");
    let old = sent_wrapper(V0, Codec::Gzip, 0, &[0, 0, 0]);
    assert!(is_numbered_from(3, &old, &opened_sent(&old), WrapperAtZero::CountsBack).unwrap());
    let plain = RawMessage::from_bytes(set(V1, Codec::None, 7, &[told(0)]).remove(0).bytes).unwrap();
    assert!(is_numbered_from(7, &plain, &opened_sent(&plain), WrapperAtZero::SaysNothing).unwrap());
    assert!(!is_numbered_from(8, &plain, &opened_sent(&plain), WrapperAtZero::SaysNothing).unwrap());
}

/// Which fields changed, as the measurement names them.
fn changes(sent: &RawMessage, stored: &Bytes) -> String {
    let now = RawMessage::from_bytes(stored.clone()).unwrap();
    assert!(now.crc_ok());
    assert_eq!((now.key(), now.value()), (sent.key(), sent.value()));
    let mut changes = vec![format!("offset {}->{}", sent.offset, now.offset)];
    if sent.bytes()[12..16] != stored[12..16] {
        changes.push("crc".to_owned());
    }
    if sent.attributes != now.attributes {
        changes.push(format!("attributes {}->{}", sent.attributes, now.attributes));
    }
    if sent.timestamp != now.timestamp {
        let shown = |timestamp| if timestamp == NOW { "NOW".to_owned() } else { format!("{timestamp}") };
        changes.push(format!("timestamp {}->{}", shown(sent.timestamp), shown(now.timestamp)));
    }
    changes.join(", ")
}

#[test]
fn what_is_kept_changes_in_its_offset_only() {
    for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4] {
        let wrapper = sent_wrapper(V1, codec, 2, &[0, 1, 2]);
        for time in [Time::Sent, Time::Largest(THEN + 2)] {
            assert_eq!(changes(&wrapper, &keep_message(&wrapper, 5, time)), "offset 2->5");
        }
    }
    for format in [V0, V1] {
        let plain = RawMessage::from_bytes(set(format, Codec::None, 0, &[told(0)]).remove(0).bytes).unwrap();
        assert_eq!(changes(&plain, &keep_message(&plain, 3, Time::Sent)), "offset 0->3");
    }
}

#[test]
fn a_wrappers_wrong_timestamp_is_corrected_from_0_10_1_on() {
    // `B:m1gzip wrapper ts wrong(0)`, `ts -1`: 0.10.0 `offset 2->5`; 0.10.1 `offset 2->5, crc, timestamp 0->1600000000002`
    for timestamp in [0, -1] {
        let right = sent_wrapper(V1, Codec::Gzip, 2, &[0, 1, 2]);
        let wrong = RawMessage::from_bytes(keep_message(&right, 2, Time::Largest(timestamp))).unwrap();
        assert_eq!(changes(&wrong, &keep_message(&wrong, 5, Time::Sent)), "offset 2->5");
        let corrected = keep_message(&wrong, 5, Time::Largest(THEN + 2));
        assert_eq!(changes(&wrong, &corrected), format!("offset 2->5, crc, timestamp {timestamp}->1600000000002"));
        assert_eq!(corrected[12..], right.bytes()[12..]);
    }
}

#[test]
fn r9_a_log_append_time_topic_marks_what_it_keeps() {
    // `B:m1gzip on LogAppendTime topic`: `offset 2->5, crc, attributes 1->9, timestamp 1600000000002->NOW`
    let wrapper = sent_wrapper(V1, Codec::Gzip, 2, &[0, 1, 2]);
    let row = "offset 2->5, crc, attributes 1->9, timestamp 1600000000002->NOW";
    let stored = keep_message(&wrapper, 5, Time::Append(NOW));
    assert_eq!(changes(&wrapper, &stored), row);
    assert!(read(&[Entry::read(stored).unwrap()]).iter().all(|(_, told)| told.timestamp == NOW));
    // `#0:changed: offset 0->3, crc, attributes 0->8, timestamp 1600000000000->NOW`
    let plain = RawMessage::from_bytes(set(V1, Codec::None, 0, &[told(0)]).remove(0).bytes).unwrap();
    let row = "offset 0->3, crc, attributes 0->8, timestamp 1600000000000->NOW";
    assert_eq!(changes(&plain, &keep_message(&plain, 3, Time::Append(NOW))), row);
    // Magic 0 has neither.
    let old = RawMessage::from_bytes(set(V0, Codec::None, 0, &[told(0)]).remove(0).bytes).unwrap();
    assert_eq!(changes(&old, &keep_message(&old, 3, Time::Append(NOW))), "offset 0->3");
}
