//! What is looked at in the request as a whole.

use super::*;
use crate::accept::{Asked, refuse_request};

#[test]
fn r1_every_codec_of_the_release_is_kept() {
    for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4] {
        sent(batch().codec(codec).bytes())
            .measured("[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 0 NONE +base+ple");
    }
}

#[test]
fn r1_zstd_came_with_2_1_and_produce_v7() {
    let zstd = || sent(batch().codec(Codec::Zstd).bytes());
    zstd().version(3).measured(
        "[0.11.0.3,1.0.2,1.1.1,2.0.0] err -1 UNKNOWN
         [2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 76 UNSUPPORTED_COMPRESSION_TYPE",
    );
    zstd().version(5).measured("[1.0.2,1.1.1] err -1 UNKNOWN");
    zstd().version(6).measured(
        "[2.0.0] err -1 UNKNOWN
         [2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 76 UNSUPPORTED_COMPRESSION_TYPE",
    );
    zstd().version(7).measured("[2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 0 NONE +base+ple");
    zstd().measured("[2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 0 NONE +base+ple");
}

#[test]
fn r4_produce_v3_takes_one_batch() {
    let rows = "[0.11.0.3,1.0.2,1.1.1,2.0.0] DISCONNECT
                [2.1.1] err 2 CORRUPT_MESSAGE
                [2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 87 INVALID_RECORD";
    let two = |codec| [batch().codec(codec).bytes(), batch().codec(codec).bytes()].concat();
    sent(two(Codec::None)).version(3).measured(rows);
    sent(two(Codec::None)).measured(rows);
    sent(two(Codec::Gzip)).measured(rows);
}

#[test]
fn r5_what_follows_the_last_whole_batch_is_dropped() {
    for rest in [&b"junk!"[..], &batch().bytes()[..100]] {
        sent([&batch().bytes(), rest].concat())
            .measured("[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 0 NONE +base+ple");
    }
}

#[test]
fn r5_no_whole_batch() {
    let rows = "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1] DISCONNECT
                [2.8.2,3.0.2,3.9.1,4.4.0] err 87 INVALID_RECORD";
    sent(batch().bytes()[..100].to_vec()).measured(rows);
    sent(vec![]).measured(rows);
    sent(vec![]).version(3).measured(rows);
    sent(vec![]).version(2).measured(
        "[0.10.0.1,0.10.1.1,0.10.2.2,0.11.0.3,1.0.2,1.1.1,2.0.0,2.8.2,3.0.2,3.9.1] err 0 NONE base=-1
         [2.1.1,2.4.1,4.4.0] DISCONNECT",
    );
}

#[test]
fn r5_null_records() {
    sent(None).measured(
        "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,3.0.2] DISCONNECT
         [2.8.2] err -1 UNKNOWN
         [3.9.1,4.4.0] TIMEOUT(8s)",
    );
    sent(None).version(3).measured(
        "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1] DISCONNECT
         [2.8.2,3.0.2] err -1 UNKNOWN
         [3.9.1,4.4.0] TIMEOUT(8s)",
    );
    sent(None).version(2).measured(
        "[3.9.1] TIMEOUT(8s)
         [0.10.0.1,0.10.1.1,0.10.2.2,0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,4.4.0] DISCONNECT
         [2.8.2,3.0.2] err -1 UNKNOWN",
    );
}

#[test]
fn r6_a_transactional_batch_needs_a_transactional_id_from_2_1_on() {
    let batch = batch().with(|batch| batch.attributes = 0x10);
    let foreign = || sent(batch.clone().with(|batch| batch.producer = (987_654, 0, 0)).bytes());
    let rows = "[0.11.0.3,1.0.2,1.1.1,2.0.0] err 0 NONE +base+ple
                [2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 53 TRANSACTIONAL_ID_AUTHORIZATION_FAILED";
    foreign().measured(rows);
    foreign().version(3).measured(rows);
    sent(batch.bytes()).measured(rows);
    // Whether the id may be used, the coordinator says (3.9 and later).
    foreign()
        .transactional_id("tx")
        .measured("[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2] err 0 NONE +base+ple");
    sent(batch.bytes())
        .transactional_id("tx")
        .measured("[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 0 NONE +base+ple");
    sent(super::batch().bytes())
        .transactional_id("tx")
        .measured("[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 0 NONE +base+ple");
}

#[test]
fn m4_produce_below_v3_is_dropped_by_4_x() {
    for version in 0..3 {
        sent(batch().bytes()).version(version).measured(
            "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err 0 NONE +base+ple
             [4.4.0] DISCONNECT",
        );
    }
}

#[test]
fn m5_magic_2_on_0_10_is_a_message_whose_checksum_is_wrong() {
    for codec in [Codec::None, Codec::Gzip] {
        sent(batch().codec(codec).bytes()).measured("[0.10.0.1,0.10.1.1,0.10.2.2] err 2 CORRUPT_MESSAGE");
    }
}

/// A request whose second partition is refused like this has appended nothing to the first.
#[test]
fn what_concerns_the_whole_request_is_told_before_anything_is_appended() {
    let whole = |release, records: Option<Vec<u8>>| {
        let records = records.map(Bytes::from);
        let (version, records) = (newest(release), records.as_ref());
        refuse_request(&Asked { release, version, records, transactional_id: None })
    };
    let two = || Some([batch().bytes(), batch().bytes()].concat());
    assert_eq!(whole(Release::V2_0, two()), Err(Refusal::Disconnect));
    assert_eq!(whole(Release::V2_1, two()), Ok(()));
    assert_eq!(whole(Release::V2_4, Some(vec![])), Err(Refusal::Disconnect));
    assert_eq!(whole(Release::V2_8, Some(vec![])), Ok(()));
    assert_eq!(whole(Release::V3_9, None), Err(Refusal::Silence));
    let transactional = batch().with(|batch| batch.attributes = 0x10).bytes();
    assert!(matches!(whole(Release::V2_1, Some(transactional)), Err(Refusal::Code { .. })));
}
