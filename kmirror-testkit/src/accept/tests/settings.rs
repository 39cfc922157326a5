//! Topics that want something else.

use super::*;

const KEPT: &str = "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 0 NONE +base+ple";
const EVERY: &str = "0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0";

#[test]
fn r14_another_codec_is_compressed_again() {
    for (from, into, settings) in [
        (Codec::None, Codec::Gzip, (|topic| topic.compression = Some(Codec::Gzip)) as fn(&mut TopicSettings)),
        (Codec::Lz4, Codec::Gzip, |topic| topic.compression = Some(Codec::Gzip)),
        (Codec::Gzip, Codec::None, |topic| topic.compression = Some(Codec::None)),
        (Codec::Lz4, Codec::None, |topic| topic.compression = Some(Codec::None)),
        (Codec::Gzip, Codec::Lz4, |topic| topic.compression = Some(Codec::Lz4)),
    ] {
        let offered = batch().codec(from).with(|batch| batch.producer = (987_654, 0, 0)).bytes();
        let mut recoded = Vec::new();
        compress(into, &batch().payload, &mut recoded).unwrap();
        sent(offered.clone()).to(settings).measured(&format!(
            "[{EVERY}] err 0 NONE changed: baseOffset 0->3, batchLength {}->{}, partitionLeaderEpoch -1->0, crc, \
             attributes {}->{}, RECORDS",
            offered.len() - 12,
            recoded.len() + 49,
            from.id(),
            into.id(),
        ));
    }
}

#[test]
fn r14_a_header_is_written_anew() {
    let gzip: fn(&mut TopicSettings) = |topic| topic.compression = Some(Codec::Gzip);
    // R12: what Java does not know of the attributes is lost, and so is a maximum that is wrong (R10).
    let odd = batch().with(|batch| (batch.attributes, batch.max_timestamp) = (0x7fc0, 5));
    let outcome = sent(odd.bytes()).to(gzip).outcome(Release::V3_9);
    assert!(outcome.ends_with("attributes 32704->1, maxTimestamp 5->1600000000002, RECORDS"), "{outcome}");
    // R3: so are the offsets, but where 2.4 insists on them.
    let gap = batch_of(&[0, 2, 5]).with(|batch| batch.last_offset_delta = 2);
    sent(gap.bytes()).to(gzip).measured("[2.4.1] err 87 INVALID_RECORD");
    let outcome = sent(gap.bytes()).to(gzip).outcome(Release::V4_4);
    assert!(outcome.ends_with("attributes 0->1, RECORDS"), "{outcome}");
}

#[test]
fn r14_what_javas_builder_refuses_is_unknown() {
    let refused = |batch: Batch| {
        let case = sent(batch.bytes()).transactional_id("tx").to(|topic| topic.compression = Some(Codec::Gzip));
        case.measured(&format!("[{EVERY}] err -1 UNKNOWN"));
    };
    refused(batch().with(|batch| batch.attributes = 0x10));
    refused(batch().with(|batch| batch.producer = (987_654, -1, 0)));
    refused(batch().with(|batch| batch.producer = (-2, -1, -1)));
    refused(batch().with(|batch| (batch.base_timestamp, batch.max_timestamp) = (-1000, -998)));
}

#[test]
fn r14_the_same_codec_is_kept() {
    sent(batch().bytes()).to(|topic| topic.compression = Some(Codec::None)).measured(KEPT);
    sent(batch().codec(Codec::Gzip).bytes()).to(|topic| topic.compression = Some(Codec::Gzip)).measured(KEPT);
}

#[test]
fn r14_zstd_topics() {
    let zstd: fn(&mut TopicSettings) = |topic| topic.compression = Some(Codec::Zstd);
    for version in [3, 7] {
        for codec in [Codec::None, Codec::Gzip] {
            let case = sent(batch().codec(codec).bytes()).version(version).to(zstd);
            for release in [Release::V2_1, Release::V2_8, Release::V3_9, Release::V4_4] {
                let outcome = case.outcome(release);
                let attributes = format!("attributes {}->4, RECORDS", codec.id());
                assert!(outcome.starts_with("err 0 NONE changed: baseOffset 0->3, batchLength"), "{outcome}");
                assert!(outcome.ends_with(&attributes), "{outcome}");
            }
        }
    }
    sent(batch().codec(Codec::Zstd).bytes())
        .version(7)
        .to(zstd)
        .measured("[2.1.1,2.8.2,3.9.1,4.4.0] err 0 NONE +base+ple");
}

#[test]
fn r16_a_compacted_topic_wants_keys() {
    let without =
        batch().with(|batch| batch.payload = (0..3).flat_map(|delta| record(delta.into(), delta, None)).collect());
    for codec in [Codec::None, Codec::Gzip] {
        let without = without.clone().codec(codec).bytes();
        sent(without.clone()).to(|topic| topic.compact = true).measured(
            "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1] err 2 CORRUPT_MESSAGE
             [2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 87 INVALID_RECORD",
        );
        sent(without).measured(KEPT);
    }
    sent(batch().bytes()).to(|topic| topic.compact = true).measured(KEPT);
}
