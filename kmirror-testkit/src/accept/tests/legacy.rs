//! Messages of magic 0 and 1: kept by 0.10, written anew by everybody later.

use super::messages::{gzip, plain, set, wrapper};
use super::*;

const UP: &str = "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err 0 NONE 3 entries -> 1 entries magic2 \
                  attrs=0x0 count=3 lod=2 pid=-1 base=3";
const WRAPPER_UP: &str = "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err 0 NONE magic 1->2 \
                          (attrs=0x1 count=3 pid=-1 crcok=True)";
const WRAPPER_UP_BUT_2_4: &str = "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.8.2,3.0.2,3.9.1] err 0 NONE magic 1->2 \
                                  (attrs=0x1 count=3 pid=-1 crcok=True)
                                  [2.4.1] err 87 INVALID_RECORD";
const OFFSETS: &str = "#0:changed: offset 0->3 | #1:changed: offset 1->4 | #2:changed: offset 2->5";

/// Sent with the last version that takes messages.
fn old(records: Vec<u8>) -> Case {
    sent(records).version(2)
}

#[test]
fn m1_produce_v3_takes_no_messages() {
    let rows = "[0.11.0.3,1.0.2,1.1.1,2.0.0] DISCONNECT
                [2.1.1] err 2 CORRUPT_MESSAGE
                [2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 87 INVALID_RECORD";
    for records in [set(0, &[0, 1, 2]), set(1, &[0, 1, 2]), gzip(0), gzip(1)] {
        sent(records.clone()).measured(rows);
        sent(records).version(3).measured(rows);
    }
    // R4: nor beside a batch.
    sent([set(1, &[0]), batch().bytes()].concat()).measured(rows);
}

#[test]
fn m2_0_10_keeps_plain_messages_under_any_offset() {
    for version in 0..3 {
        let case = sent(set(1, &[0, 1, 2])).version(version);
        case.measured(&format!("[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE {OFFSETS}"));
        case.measured(UP);
        case.measured("[4.4.0] DISCONNECT");
    }
    old(set(1, &[1000, 1005, 1010])).measured(
        "[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE #0:changed: offset 1000->3 | #1:changed: offset 1005->4 | \
         #2:changed: offset 1010->5",
    );
    old(set(1, &[1000, 1005, 1010])).measured(UP);
    // Some clients number nothing.
    for (release, entries) in [(Release::V0_10_1, 3), (Release::V2_0, 1)] {
        assert_eq!(old(set(1, &[-1, -1, -1])).accept(release).unwrap().entries.len(), entries);
    }
}

#[test]
fn m2_0_10_keeps_a_wrapper_that_is_numbered_from_0() {
    old(gzip(1)).measured("[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE changed: offset 2->5");
    old(gzip(1)).measured(WRAPPER_UP);
    for codec in [Codec::Snappy, Codec::Lz4] {
        let packed = wrapper(1, 2, codec, &set(1, &[0, 1, 2])).bytes();
        old(packed.clone()).measured("[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE changed: offset 2->5");
        old(packed).measured(&format!(
            "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err 0 NONE magic 1->2 (attrs=0x{} count=3 \
             pid=-1 crcok=True)",
            codec.id()
        ));
    }
}

#[test]
fn m2_a_wrapper_that_is_numbered_otherwise_is_written_anew() {
    for (offsets, outer, moved) in
        [(&[0, 2, 5][..], 5, ""), (&[1, 2, 3], 3, "offset 3->5, "), (&[0, 1, 2], 1002, "offset 1002->5, ")]
    {
        let packed = wrapper(1, outer, Codec::Gzip, &set(1, offsets)).bytes();
        old(packed.clone())
            .measured(&format!("[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE changed: {moved}crc, VALUE differs"));
        old(packed).measured(WRAPPER_UP_BUT_2_4);
    }
    let zeros = wrapper(1, 0, Codec::Gzip, &set(1, &[0, 0, 0])).bytes();
    old(zeros.clone()).measured("[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE changed: offset 0->5, crc, VALUE differs");
    old(zeros).measured(WRAPPER_UP_BUT_2_4);
}

#[test]
fn m2_a_wrapper_under_an_offset_before_its_last_message() {
    let under = |offset| old(wrapper(1, offset, Codec::Gzip, &set(1, &[0, 1, 2])).bytes());
    under(0).measured(
        "[0.10.0.1,0.10.1.1] err 0 NONE changed: offset 0->5, crc, VALUE differs
         [0.10.2.2] err 0 NONE changed: offset 0->5",
    );
    under(0).measured(WRAPPER_UP);
    under(1).measured(
        "[0.10.0.1,0.10.1.1] err 0 NONE changed: offset 1->5, crc, VALUE differs
         [0.10.2.2] err 0 NONE changed: offset 1->5
         [0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1] err 2 CORRUPT_MESSAGE
         [2.4.1,2.8.2,3.0.2,3.9.1] err 87 INVALID_RECORD",
    );
}

#[test]
fn m2_a_wrapper_gets_the_largest_timestamp_inside() {
    for timestamp in [0, -1] {
        let mut wrapper = wrapper(1, 2, Codec::Gzip, &set(1, &[0, 1, 2]));
        wrapper.timestamp = timestamp;
        old(wrapper.bytes()).measured(&format!(
            "[0.10.0.1] err 0 NONE changed: offset 2->5
             [0.10.1.1,0.10.2.2] err 0 NONE changed: offset 2->5, crc, timestamp {timestamp}->1600000000002"
        ));
        old(wrapper.bytes()).measured(WRAPPER_UP);
    }
}

#[test]
fn m3_magic_0_becomes_magic_1_on_0_10() {
    let converted = |offset| format!("magic 0->1 (attrs=0x0 off={offset} ts=-1 crcok=True)");
    old(set(0, &[0, 1, 2])).measured(&format!(
        "[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE #0:{} | #1:{} | #2:{}",
        converted(3),
        converted(4),
        converted(5)
    ));
    old(set(0, &[0, 1, 2])).measured(UP);
    old(gzip(0)).measured("[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE magic 0->1 (attrs=0x1 off=5 ts=-1 crcok=True)");
    old(gzip(0)).measured(&WRAPPER_UP.replace("magic 1->2", "magic 0->2"));
}

#[test]
fn m3_unknown_attributes_survive_a_conversion_by_0_10_1() {
    let mut message = plain(0, 0, 0);
    message.attributes = 0xf8;
    old(message.bytes()).measured(
        "[0.10.0.1,0.10.1.1] err 0 NONE magic 0->1 (attrs=0xf0 off=3 ts=-1 crcok=True)
         [0.10.2.2] err 0 NONE magic 0->1 (attrs=0x0 off=3 ts=-1 crcok=True)",
    );
}

#[test]
fn r4_wrappers_are_merged_until_2_4_refuses_them() {
    let refused = "[2.4.1,2.8.2,3.0.2,3.9.1] err 87 INVALID_RECORD";
    for (records, entries) in [([gzip(1), gzip(1)].concat(), 2), ([set(1, &[0, 1, 2]), gzip(1)].concat(), 4)] {
        old(records.clone()).measured(&format!(
            "[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE {entries} entries -> 1 entries magic1 attrs=0x1 off=8 \
             ts=1600000000002
             [0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1] err 0 NONE {entries} entries -> 1 entries magic2 attrs=0x1 count=6 \
             lod=5 pid=-1 base=3"
        ));
        old(records).measured(refused);
    }
    // The codec is that of the last wrapper.
    let lz4 = wrapper(1, 2, Codec::Lz4, &set(1, &[0, 1, 2])).bytes();
    old([gzip(1), lz4].concat()).measured(
        "[0.10.0.1,0.10.2.2] err 0 NONE 2 entries -> 1 entries magic1 attrs=0x3 off=8 ts=1600000000002
         [2.1.1] err 0 NONE 2 entries -> 1 entries magic2 attrs=0x3 count=6 lod=5 pid=-1 base=3",
    );
}

#[test]
fn r4_batches_below_produce_v3_are_kept_side_by_side_or_merged() {
    let two = |codec| old([batch().codec(codec).bytes(), batch().codec(codec).bytes()].concat());
    two(Codec::None).measured(
        "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1] err 0 NONE #0:+base+ple | #1:changed: baseOffset 0->6, \
         partitionLeaderEpoch -1->0
         [2.4.1,2.8.2,3.9.1] err 87 INVALID_RECORD",
    );
    two(Codec::Gzip).measured(
        "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1] err 0 NONE 2 entries -> 1 entries magic2 attrs=0x1 count=6 lod=5 pid=-1 \
         base=3
         [2.4.1,2.8.2,3.9.1] err 87 INVALID_RECORD",
    );
}

#[test]
fn m6_formats_side_by_side() {
    old([set(0, &[0]), set(1, &[0, 1])].concat()).measured(
        "[0.10.0.1,0.10.1.1] err -1 UNKNOWN
         [0.10.2.2] err 0 NONE #0:magic 0->1 (attrs=0x0 off=3 ts=-1 crcok=True) | #1:changed: offset 0->4 | \
         #2:changed: offset 1->5
         [0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1] err 0 NONE 3 entries -> 1 entries magic2 attrs=0x0 count=3 lod=2 pid=-1 \
         base=3
         [2.4.1,2.8.2,3.0.2,3.9.1] err 87 INVALID_RECORD",
    );
}

#[test]
fn m6_the_append_time_bit_is_the_brokers() {
    let rows =
        "[0.10.0.1,0.10.1.1,0.10.2.2,0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2] err 32 INVALID_TIMESTAMP";
    let mut message = plain(1, 0, THEN);
    message.attributes = 8;
    old(message.bytes()).measured(rows);
    old(message.bytes()).measured("[3.9.1] err 0 NONE magic 1->2 (attrs=0x0 count=1 pid=-1 crcok=True)");
    let mut wrapper = wrapper(1, 2, Codec::Gzip, &set(1, &[0, 1, 2]));
    wrapper.attributes |= 8;
    old(wrapper.bytes()).measured(rows);
    old(wrapper.bytes()).measured("[3.9.1] err 0 NONE magic 1->2 (attrs=0x1 count=3 pid=-1 crcok=True)");
}

#[test]
fn m7_a_wrong_lz4_header_checksum_is_of_magic_0_only() {
    let packed = wrapper(0, 2, Codec::Lz4, &set(0, &[0, 1, 2]));
    old(packed.bytes())
        .measured("[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE magic 0->1 (attrs=0x3 off=5 ts=-1 crcok=True)");
    let mut broken = wrapper(1, 2, Codec::Lz4, &set(1, &[0, 1, 2]));
    broken.value.as_mut().unwrap()[6] ^= 0xff;
    old(broken.bytes()).measured(
        "[0.10.0.1,0.10.1.1] err 2 CORRUPT_MESSAGE
         [0.10.2.2,0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err -1 UNKNOWN",
    );
}

#[test]
fn r5_a_partial_message_is_dropped() {
    let cut = [set(1, &[0, 1, 2]), set(1, &[3])[..20].to_vec()].concat();
    old(cut.clone()).measured(&format!("[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE {OFFSETS}"));
    old(cut).measured(UP);
}

#[test]
fn r12_unknown_attributes_and_nulls_are_kept_by_0_10() {
    let mut odd = plain(1, 0, THEN);
    (odd.attributes, odd.key, odd.value) = (0xf0, None, None);
    old(odd.bytes()).measured("[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE changed: offset 0->3");
    old(odd.bytes()).measured("[0.11.0.3,2.4.1,3.9.1] err 0 NONE magic 1->2 (attrs=0x0 count=1 pid=-1 crcok=True)");
}

#[test]
fn r18_wrong_checksums() {
    let mut damaged = set(1, &[0, 1, 2]);
    damaged[30] ^= 1;
    let everywhere = "[0.10.0.1,0.10.1.1,0.10.2.2,0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err 2 \
                      CORRUPT_MESSAGE";
    old(damaged.clone()).measured(everywhere);
    // Inside a wrapper too, unless 0.10 writes it anew.
    old(wrapper(1, 2, Codec::Gzip, &damaged).bytes()).measured(everywhere);
    let mut damaged = set(0, &[0]);
    damaged[24] ^= 1;
    old(wrapper(0, 0, Codec::Gzip, &damaged).bytes()).measured(
        "[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE magic 0->1 (attrs=0x1 off=3 ts=-1 crcok=True)
         [0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err 2 CORRUPT_MESSAGE",
    );
}

#[test]
fn r18_wrappers_of_what_does_not_belong_there() {
    let invalid = "[0.10.1.1,0.10.2.2,0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1] err 2 CORRUPT_MESSAGE
                   [2.4.1,2.8.2,3.0.2,3.9.1] err 87 INVALID_RECORD";
    old(wrapper(1, 2, Codec::Gzip, &gzip(1)).bytes()).measured(invalid);
    old(wrapper(1, 2, Codec::Gzip, &set(0, &[0, 1, 2])).bytes()).measured(invalid);
    old(wrapper(1, 2, Codec::Gzip, &set(0, &[0, 1, 2])).bytes()).measured("[0.10.0.1] err -1 UNKNOWN");
    let mut nothing = wrapper(1, 0, Codec::Gzip, &[]);
    nothing.value = None;
    old(nothing.bytes()).measured(
        "[0.10.0.1,0.10.1.1,0.10.2.2] err -1 UNKNOWN
         [0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1] err 2 CORRUPT_MESSAGE
         [2.4.1,2.8.2,3.0.2,3.9.1] err 87 INVALID_RECORD",
    );
    let mut zstd = plain(1, 2, THEN);
    zstd.attributes = Codec::Zstd.id();
    old(zstd.bytes()).measured(
        "[0.10.0.1,0.10.1.1,0.10.2.2,0.11.0.3,1.0.2,1.1.1,2.0.0] err -1 UNKNOWN
         [2.1.1] err 2 CORRUPT_MESSAGE
         [2.4.1,2.8.2,3.0.2,3.9.1] err 87 INVALID_RECORD",
    );
}

#[test]
fn r17_0_10_counts_each_message() {
    let mut large = plain(1, 0, THEN);
    large.value = Some(vec![7; 600_000]);
    let three = [large.bytes(), large.bytes(), large.bytes()].concat();
    let kept = "#0:changed: offset 0->3 | #1:changed: offset 0->4 | #2:changed: offset 0->5";
    old(three.clone()).measured(&format!("[0.10.0.1,0.10.1.1,0.10.2.2] err 0 NONE {kept}"));
    old(three).measured("[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err 10 MESSAGE_TOO_LARGE");
    large.value = Some(vec![7; 1_200_000]);
    old(large.bytes()).measured(
        "[0.10.0.1,0.10.1.1,0.10.2.2,0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err 10 \
         MESSAGE_TOO_LARGE",
    );
    let packed = wrapper(1, 0, Codec::Gzip, &large.bytes());
    old(packed.bytes()).measured("[2.0.0,2.8.2] err 0 NONE magic 1->2 (attrs=0x1 count=1 pid=-1 crcok=True)");
}
