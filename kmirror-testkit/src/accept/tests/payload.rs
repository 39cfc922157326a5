//! The bytes themselves: sizes, checksums, and payloads that are none.

use super::*;

const KEPT: &str = "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 0 NONE +base+ple";
const UNKNOWN: &str = "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err -1 UNKNOWN";

/// A batch of this many bytes, header included.
fn sized(bytes: usize) -> Vec<u8> {
    let padded = |padding: usize| {
        let mut body = vec![0, 0, 0, 1];
        varint(&mut body, i64::try_from(padding).unwrap());
        body.resize(body.len() + padding, 7);
        body.push(0);
        let mut payload = Vec::new();
        varint(&mut payload, i64::try_from(body.len()).unwrap());
        payload.extend(body);
        batch_of(&[0]).with(|batch| (batch.payload, batch.max_timestamp) = (payload, THEN)).bytes()
    };
    let short = bytes - padded(bytes / 2).len();
    (short + bytes / 2 - 4..)
        .map(padded)
        .find(|batch| batch.len() >= bytes)
        .filter(|batch| batch.len() == bytes)
        .unwrap()
}

#[test]
fn r17_the_whole_batch_may_have_max_message_bytes() {
    for bytes in [1988, 1999, 2000] {
        sent(sized(bytes)).to(|topic| topic.max_message_bytes = 2000).measured(KEPT);
    }
    for bytes in [2001, 2012, 2013] {
        sent(sized(bytes))
            .to(|topic| topic.max_message_bytes = 2000)
            .measured("[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 10 MESSAGE_TOO_LARGE");
    }
}

#[test]
fn r17_the_default_grew_with_2_8() {
    sent(sized(1_000_012)).measured(KEPT);
    sent(sized(1_048_588)).measured(
        "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1] err 10 MESSAGE_TOO_LARGE
         [2.8.2,3.0.2,3.9.1,4.4.0] err 0 NONE +base+ple",
    );
    sent(sized(1_048_589)).measured("[0.11.0.3,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 10 MESSAGE_TOO_LARGE");
    let large = batch_of(&[0]).with(|batch| {
        (batch.payload, batch.max_timestamp) = (sized(1_200_000)[61..].to_vec(), THEN);
    });
    sent(large.codec(Codec::Gzip).bytes()).measured(KEPT);
}

#[test]
fn r17_a_segment_must_hold_it() {
    sent(sized(1100))
        .to(|topic| topic.segment_bytes = 1000)
        .measured("[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1] err 18 RECORD_LIST_TOO_LARGE");
}

#[test]
fn r18_a_wrong_checksum() {
    let mut damaged = batch().bytes();
    damaged[70] ^= 1;
    sent(damaged).measured("[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 2 CORRUPT_MESSAGE");
}

#[test]
fn r18_payloads_that_are_none() {
    // A length that does not end, and perhaps cannot be that of three records.
    for garbage in [vec![0xff; 50], vec![0xff; 12]] {
        sent(batch().bytes_around(&garbage)).measured(UNKNOWN);
        sent(batch().codec(Codec::Gzip).with(|batch| batch.payload = garbage).bytes()).measured(
            "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2] err -1 UNKNOWN
             [3.9.1,4.4.0] err 87 INVALID_RECORD",
        );
    }
    sent(batch().codec(Codec::Gzip).bytes_around(&batch().payload)).measured(UNKNOWN);
    sent(batch().with(|batch| batch.payload.extend(b"junk")).bytes()).measured(
        "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1] err 2 CORRUPT_MESSAGE
         [2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 87 INVALID_RECORD",
    );
}

#[test]
fn r18_lengths_and_ends_are_read_differently_by_each_release() {
    let three = || (0..3).flat_map(|delta| record(delta.into(), delta, Some(b"key"))).collect::<Vec<_>>();
    let case = |codec, payload: Vec<u8>| sent(batch().codec(codec).with(|batch| batch.payload = payload).bytes());
    let invalid = "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1] err 2 CORRUPT_MESSAGE
                   [2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 87 INVALID_RECORD";
    let mut beyond = three();
    beyond[0] = 0x7e;
    case(Codec::None, beyond.clone()).measured(
        "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2] err -1 UNKNOWN
         [3.0.2,3.9.1,4.4.0] err 87 INVALID_RECORD",
    );
    case(Codec::Gzip, beyond).measured(invalid);
    // Of the last record it is noticed.
    case(Codec::None, three()[..three().len() - 2].to_vec()).measured(invalid);
    let mut negative = three();
    negative[0] = 9;
    case(Codec::None, negative.clone()).measured(invalid);
    case(Codec::Gzip, negative.clone()).measured(
        "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1] err -1 UNKNOWN
         [2.8.2,3.0.2,3.9.1,4.4.0] err 87 INVALID_RECORD",
    );
    case(Codec::Gzip, negative).to(|topic| topic.compression = Some(Codec::Lz4)).measured(
        "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2] err -1 UNKNOWN
         [3.9.1,4.4.0] err 87 INVALID_RECORD",
    );
    let mut cut = Vec::new();
    compress(Codec::Gzip, &three(), &mut cut).unwrap();
    cut.truncate(cut.len() - 12);
    sent(batch().codec(Codec::Gzip).bytes_around(&cut)).measured(
        "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1] err 2 CORRUPT_MESSAGE
         [2.4.1,2.8.2,3.0.2] err 87 INVALID_RECORD
         [3.9.1,4.4.0] err -1 UNKNOWN",
    );
    sent(batch().codec(Codec::Gzip).bytes_around(&[])).measured(UNKNOWN);
}

#[test]
fn r18_a_batch_that_is_shorter_than_its_header() {
    let mut short = batch().bytes()[..52].to_vec();
    short[8..12].copy_from_slice(&40_i32.to_be_bytes());
    sent(short).measured("[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 2 CORRUPT_MESSAGE");
}

#[test]
fn m7_an_lz4_frame_with_the_wrong_header_checksum() {
    let mut payload = Vec::new();
    compress(Codec::Lz4, &batch().payload, &mut payload).unwrap();
    payload[6] ^= 0xff;
    sent(batch().codec(Codec::Lz4).bytes_around(&payload)).measured(UNKNOWN);
}
