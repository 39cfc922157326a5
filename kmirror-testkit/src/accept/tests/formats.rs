//! Topics whose log is of an older format, or of another codec or clock than the messages that come.

use super::messages::{gzip, plain, set, wrapper};
use super::*;

const HEEDED: &str = "0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2";
const KEPT: &str = "[3.0.2,3.9.1] err 0 NONE +base+ple";

const MAGIC_0: fn(&mut TopicSettings) = |topic| topic.magic = 0;
const MAGIC_1: fn(&mut TopicSettings) = |topic| topic.magic = 1;
const APPEND_TIME: fn(&mut TopicSettings) = |topic| topic.append_time = true;
const GZIP: fn(&mut TopicSettings) = |topic| topic.compression = Some(Codec::Gzip);
const UNCOMPRESSED: fn(&mut TopicSettings) = |topic| topic.compression = Some(Codec::None);

fn old(records: Vec<u8>) -> Case {
    sent(records).version(2)
}

#[test]
fn r15_batches_go_down_to_the_format_of_the_topic() {
    sent(batch().bytes())
        .to(MAGIC_0)
        .measured(&format!("[{HEEDED}] err 0 NONE 1 entries -> 3 entries magic0 attrs=0x0 off=3 ts=None"));
    sent(batch().codec(Codec::Gzip).bytes())
        .to(MAGIC_0)
        .measured(&format!("[{HEEDED}] err 0 NONE magic 2->0 (attrs=0x1 off=5 ts=None crcok=True)"));
    sent(batch().bytes())
        .to(MAGIC_1)
        .measured(&format!("[{HEEDED}] err 0 NONE 1 entries -> 3 entries magic1 attrs=0x0 off=3 ts=1600000000000"));
    sent(batch().codec(Codec::Gzip).bytes())
        .to(MAGIC_1)
        .measured(&format!("[{HEEDED}] err 0 NONE magic 2->1 (attrs=0x1 off=5 ts=1600000000002 crcok=True)"));
    for settings in [MAGIC_0, MAGIC_1] {
        sent(batch().bytes()).to(settings).measured(KEPT);
        sent(batch().codec(Codec::Gzip).bytes()).to(settings).measured(KEPT);
    }
    sent(batch_of(&[0, 2, 5]).bytes()).to(MAGIC_1).measured(
        "[0.11.0.3,1.0.2] err 0 NONE 1 entries -> 3 entries magic1 attrs=0x0 off=3 ts=1600000000000
         [1.1.1,2.0.0,2.1.1] err 2 CORRUPT_MESSAGE
         [2.4.1,2.8.2,3.0.2,3.9.1] err 87 INVALID_RECORD",
    );
}

#[test]
fn r15_what_has_no_place_in_an_older_format() {
    let refused = |expected: &str| format!("[{HEEDED}] err {expected}");
    let producer = batch().with(|batch| batch.producer = (987_654, 0, 0));
    sent(producer.bytes()).to(MAGIC_1).measured(&refused("43 UNSUPPORTED_FOR_MESSAGE_FORMAT"));
    sent(producer.bytes()).to(MAGIC_1).measured(KEPT);
    // A transaction is found out by the builder, or by whoever looks at the batch, whichever comes first.
    let transactional = batch().with(|batch| batch.attributes = 0x10);
    let case = |codec| sent(transactional.clone().codec(codec).bytes()).transactional_id("tx").to(MAGIC_1);
    case(Codec::None).measured(&refused("-1 UNKNOWN"));
    case(Codec::Gzip).measured(&refused("43 UNSUPPORTED_FOR_MESSAGE_FORMAT"));
    let headers = batch().with(|batch| {
        batch.payload = (0..3).flat_map(|delta| record_with(delta, &[2, 2, b'h', 2, b'v'])).collect();
    });
    sent(headers.bytes()).to(MAGIC_1).measured(&refused("-1 UNKNOWN"));
    sent(headers.bytes()).to(MAGIC_1).measured(KEPT);
}

/// A record whose headers are these bytes.
fn record_with(offset_delta: i32, headers: &[u8]) -> Vec<u8> {
    let mut record = record(offset_delta.into(), offset_delta, Some(b"key"));
    record.pop();
    record.extend_from_slice(headers);
    record[0] += u8::try_from(2 * (headers.len() - 1)).unwrap();
    record
}

#[test]
fn r15_messages_go_down_or_stay() {
    let heeded = "0.10.1.1,0.10.2.2,0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2";
    let down = |offset| format!("magic 1->0 (attrs=0x0 off={offset} ts=None crcok=True)");
    old(set(1, &[0, 1, 2])).to(MAGIC_0).measured(&format!(
        "[{heeded}] err 0 NONE #0:{} | #1:{} | #2:{}",
        down(3),
        down(4),
        down(5)
    ));
    old(gzip(1))
        .to(MAGIC_0)
        .measured(&format!("[{heeded}] err 0 NONE magic 1->0 (attrs=0x1 off=5 ts=None crcok=True)"));
    // M3: offsets inside magic 0 are absolute.
    old(gzip(0)).to(MAGIC_0).measured(&format!("[{heeded}] err 0 NONE changed: offset 2->5, crc, VALUE differs"));
    old(set(1, &[0, 1, 2])).to(MAGIC_1).measured(&format!(
        "[{heeded}] err 0 NONE #0:changed: offset 0->3 | #1:changed: offset 1->4 | #2:changed: offset 2->5"
    ));
    old(gzip(1)).to(MAGIC_1).measured(&format!("[{heeded}] err 0 NONE changed: offset 2->5"));
    for settings in [MAGIC_0, MAGIC_1] {
        old(set(1, &[0, 1, 2]))
            .to(settings)
            .measured("[3.0.2,3.9.1] err 0 NONE 3 entries -> 1 entries magic2 attrs=0x0 count=3 lod=2 pid=-1 base=3");
        old(gzip(1)).to(settings).measured("[3.0.2,3.9.1] err 0 NONE magic 1->2 (attrs=0x1 count=3 pid=-1 crcok=True)");
    }
}

#[test]
fn r9_messages_on_a_topic_of_the_append_time() {
    let stamped = |n: i64| {
        let (old, new, time) = (n, n + 3, THEN + n);
        format!("#{n}:changed: offset {old}->{new}, crc, attributes 0->8, timestamp {time}->NOW")
    };
    old(set(1, &[0, 1, 2])).to(APPEND_TIME).measured(&format!(
        "[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE lat=set {} | {} | {}
         [0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err 0 NONE lat=set 3 entries -> 1 entries magic2 \
         attrs=0x8 count=3 lod=2 pid=-1 base=3",
        stamped(0),
        stamped(1),
        stamped(2)
    ));
    old(gzip(1)).to(APPEND_TIME).measured(
        "[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE lat=set changed: offset 2->5, crc, attributes 1->9, timestamp \
         1600000000002->NOW
         [0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err 0 NONE lat=set magic 1->2 (attrs=0x9 count=3 \
         pid=-1 crcok=True)",
    );
    // Written anew, the wrapper has the time of the append all the same.
    let gap = wrapper(1, 5, Codec::Gzip, &set(1, &[0, 2, 5])).bytes();
    old(gap).to(APPEND_TIME).measured(
        "[0.10.1.1,0.10.2.2] err 0 NONE lat=set changed: crc, attributes 1->9, timestamp 1600000000002->NOW, VALUE \
         differs",
    );
    let mut odd = plain(1, 0, THEN);
    odd.attributes = 0xf0;
    old(odd.bytes()).to(|topic| (topic.magic, topic.append_time) = (1, true)).measured(
        "[0.10.1.1,0.10.2.2] err 0 NONE lat=set changed: offset 0->3, crc, attributes 240->248, timestamp \
         1600000000000->NOW
         [0.11.0.3,2.4.1] err 0 NONE lat=set changed: offset 0->3, crc, attributes 240->8, timestamp \
         1600000000000->NOW",
    );
}

#[test]
fn r11_0_10_takes_no_timestamp_for_one_of_long_ago() {
    let recent: fn(&mut TopicSettings) = |topic| {
        (topic.timestamp_before_max_ms, topic.timestamp_after_max_ms) = (1000, 1000);
    };
    for message in [plain(0, 0, -1), plain(1, 0, -1)] {
        old(message.bytes()).to(recent).measured("[0.10.1.1,0.10.2.2] err 32 INVALID_TIMESTAMP");
        old(message.bytes()).to(recent).measured(&format!(
            "[0.11.0.3,2.4.1,3.9.1] err 0 NONE magic {}->2 (attrs=0x0 count=1 pid=-1 crcok=True)",
            message.magic
        ));
    }
    // Of a wrapper of magic 0 it does not ask.
    old(gzip(0)).to(recent).measured("[0.10.1.1,0.10.2.2] err 0 NONE magic 0->1 (attrs=0x1 off=5 ts=-1 crcok=True)");
    old(gzip(1)).to(recent).measured("[0.10.1.1,0.10.2.2,0.11.0.3,2.4.1,3.9.1] err 32 INVALID_TIMESTAMP");
}

#[test]
fn r16_a_compacted_topic_wants_keys_of_messages_too() {
    let mut message = plain(1, 0, THEN);
    message.key = None;
    let rows = "[0.10.0.1,0.10.1.1,0.10.2.2,0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1] err 2 CORRUPT_MESSAGE
                [2.4.1,2.8.2,3.0.2,3.9.1] err 87 INVALID_RECORD";
    old(message.bytes()).to(|topic| topic.compact = true).measured(rows);
    old(wrapper(1, 0, Codec::Gzip, &message.bytes()).bytes()).to(|topic| topic.compact = true).measured(rows);
}

#[test]
fn r14_messages_get_the_codec_of_the_topic() {
    old(set(1, &[0, 1, 2])).to(GZIP).measured(
        "[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE 3 entries -> 1 entries magic1 attrs=0x1 off=5 ts=1600000000002
         [0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err 0 NONE 3 entries -> 1 entries magic2 \
         attrs=0x1 count=3 lod=2 pid=-1 base=3",
    );
    old(gzip(1)).to(GZIP).measured("[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE changed: offset 2->5");
    let lz4 = wrapper(1, 2, Codec::Lz4, &set(1, &[0, 1, 2])).bytes();
    old(lz4).to(GZIP).measured(
        "[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE changed: offset 2->5, crc, attributes 3->1, VALUE differs
         [0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err 0 NONE magic 1->2 (attrs=0x1 count=3 pid=-1 \
         crcok=True)",
    );
    old(gzip(1)).to(UNCOMPRESSED).measured(
        "[0.10.1.1,0.10.2.2] err 0 NONE 1 entries -> 3 entries magic1 attrs=0x0 off=3 ts=1600000000000
         [0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err 0 NONE magic 1->2 (attrs=0x0 count=3 pid=-1 \
         crcok=True)",
    );
    // R3: numbers that 2.4 insists on before it compresses.
    old(set(1, &[1000, 1005, 1010])).to(GZIP).measured(
        "[2.1.1,2.8.2] err 0 NONE 3 entries -> 1 entries magic2 attrs=0x1 count=3 lod=2 pid=-1 base=3
         [2.4.1] err 87 INVALID_RECORD",
    );
}
