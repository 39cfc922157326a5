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
