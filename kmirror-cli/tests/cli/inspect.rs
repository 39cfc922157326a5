//! `kmirror inspect`: bytes in, boxes out.

use std::io::Write as _;
use std::process::Stdio;

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::messages::{AbortedTransaction, FetchResponse, FetchableTopic, FetchedPartition};
use kmirror_proto::records::{BatchBuilder, HeadersSource, MessageFormat, MessageSetBuilder, Placement, Stamp, crc32c};
use kmirror_proto::{ErrorCode, encode_response};

use crate::{Done, Files, done, kmirror, kmirror_with};

/// 2023-11-14T22:13:20Z.
const T0: i64 = 1_700_000_000_000;

/// What it says about these bytes, on standard input and as a file.
fn inspect(bytes: &[u8], more: &[&str]) -> Done {
    let files = Files::new(&[]);
    let path = files.path("00000000000000000000.log");
    std::fs::write(&path, bytes).unwrap();
    let from_file = done(kmirror().arg("inspect").arg(&path).args(more).output().unwrap());
    let mut child = kmirror();
    let child = child.args(["inspect", "-"]).args(more).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let from_stdin = done(child.wait_with_output().unwrap());
    assert_eq!((from_file.code, &from_file.out), (from_stdin.code, &from_stdin.out));
    from_file
}

fn batch(codec: Codec, values: &[&[u8]]) -> Bytes {
    let mut builder = BatchBuilder::new(codec, None);
    for (n, value) in (0..).zip(values) {
        let headers: &[(&[u8], Option<&[u8]>)] = &[(b"trace", Some(b"1")), (b"none", None)];
        builder.push(T0 + n, Some(b"key"), Some(value), HeadersSource::List(headers)).unwrap();
    }
    builder.finish(Stamp::NONE).unwrap()
}

#[test]
fn every_field_and_record_is_shown() {
    let bytes = batch(Codec::Gzip, &[b"one", b"two\x00", b"three"]);
    let done = inspect(&bytes, &["--records", "2", "--verdict", "0.10.1"]);
    let crc = u32::from_be_bytes(bytes[17..21].try_into().unwrap());
    let expected = format!(
        "\
┌ at byte 0: a batch of magic 2, {} bytes
│ offsets       0 to 2, 3 records
│ leader epoch  -1
│ CRC-32C       0x{crc:08x}, right
│ attributes    0x0001: gzip, create time
│ timestamps    first 2023-11-14T22:13:20.000Z (1700000000000), newest 2023-11-14T22:13:20.002Z (1700000000002)
│ producer      none
│ to 0.10.1     rewrite: the target keeps another message format
",
        bytes.len()
    );
    assert!(done.out.starts_with(&expected), "{}", done.out);
    let rest = &done.out[expected.len()..];
    assert!(rest.starts_with("│               as one set of messages of "), "{rest}");
    assert!(rest.contains(" bytes, the headers of 3 records are dropped\n"), "{rest}");
    let headers = "  \"trace\": \"1\" (1 byte)  \"none\": null\n";
    let records = format!(
        "\
├ 0  2023-11-14T22:13:20.000Z (1700000000000)  key \"key\" (3 bytes)  value \"one\" (3 bytes){headers}\
├ 1  2023-11-14T22:13:20.001Z (1700000000001)  key \"key\" (3 bytes)  value 0x74776f00 (4 bytes){headers}\
├ … and 1 more
└
"
    );
    assert!(rest.ends_with(&records), "{rest}");
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
}

#[test]
fn a_segment_of_every_format_with_what_it_would_become() {
    let all = [message_set(MessageFormat::V0), message_set(MessageFormat::V1), batch(Codec::Zstd, &[b"v"])].concat();
    for (release, verdicts) in [
        ("0.10.1", ["rewrite: the target keeps another message format", "restamp: ", "rewrite: the target keeps"]),
        ("2.0", ["rewrite: the target keeps", "rewrite: the target keeps", "rewrite: the target does not take zstd"]),
        ("4.4", ["rewrite: the target keeps", "rewrite: the target keeps", "restamp: "]),
    ] {
        let done = inspect(&all, &["--verdict", release]);
        assert_eq!(done.code, Some(0), "{done:?}");
        let said: Vec<&str> = done
            .out
            .lines()
            .filter_map(|line| line.strip_prefix(&format!("│ {:<14}", format!("to {release}"))))
            .collect();
        assert_eq!(said.len(), 3, "{}", done.out);
        for (said, verdict) in said.iter().zip(verdicts) {
            assert!(said.starts_with(verdict), "{release}: {said}");
        }
    }
    let old = inspect(&all, &[]);
    assert!(old.out.contains("a wrapper of magic 0, "), "{}", old.out);
    assert!(old.out.contains("├ 0  no timestamp  key null  value \"v\" (1 byte)\n"), "{}", old.out);
    assert!(old.out.contains("├ 1  2023-11-14T22:13:20.000Z (1700000000000)  key \"k\" (1 byte)  value null\n"));
}

/// What is damaged is named with both checksums, and the rest is shown all the same.
#[test]
fn damage_is_found_and_is_exit_code_1() {
    let whole = batch(Codec::None, &[b"v"]);
    for (damaged, crc) in [(whole.to_vec(), "CRC-32C"), (message_set(MessageFormat::V1).to_vec(), "CRC-32 ")] {
        let mut damaged = damaged;
        *damaged.last_mut().unwrap() ^= 1;
        let done = inspect(&[&damaged[..], &whole].concat(), &["--verdict", "2.0"]);
        assert_eq!(done.code, Some(1));
        assert!(done.err.ends_with(".log: 1 damaged\n"), "{}", done.err);
        let line = done.out.lines().find(|line| line.contains(crc)).unwrap();
        assert!(
            line.contains("DAMAGED: 0x") && line.contains(" is stored, 0x") && line.ends_with(" computed"),
            "{line}"
        );
        assert!(done.out.contains("refuse: the checksum does not match the bytes (0x"), "{}", done.out);
        assert!(done.out.contains("right"), "the one behind it: {}", done.out);
    }
}

#[test]
fn what_is_no_batch_is_named_by_its_place() {
    let whole = batch(Codec::None, &[b"v"]);
    let garbage = inspect(&[&whole[..], &[0xab; 100]].concat(), &[]);
    assert_eq!(garbage.code, Some(1));
    let place = format!("at byte {}: entry length: ", whole.len());
    assert!(garbage.out.contains(&place) && garbage.out.ends_with("100 bytes are left and not read\n"), "{garbage:?}");
    let cut = inspect(&[&whole[..], &whole[..50]].concat(), &["--verdict", "2.0"]);
    assert!(cut.code == Some(0) && cut.out.contains("a cut-off tail\n│ there         50 bytes\n"), "{cut:?}");
    let zeros = inspect(&[&whole[..], &[0; 4096]].concat(), &[]);
    assert!(zeros.code == Some(0) && zeros.out.ends_with("4096 bytes of zeros, kept free for more\n"), "{zeros:?}");
    assert_eq!(inspect(&[], &[]).code, Some(0), "an empty segment");
}

/// In a file the markers say how a transaction ended.
#[test]
fn transactions_end_as_their_markers_say() {
    let of = |producer_id, offset| transactional(producer_id, offset, b"k", b"v");
    let log = [of(1, 0), of(2, 1), marker(1, 2, 0), marker(2, 3, 1), of(1, 4), of(3, 5), marker(1, 6, 1)].concat();
    let done = inspect(&log, &["--verdict", "2.0"]);
    let states: Vec<&str> =
        done.out.lines().filter_map(|line| line.split_once("create time, ")).map(|(_, s)| s).collect();
    assert_eq!(
        states,
        [
            "transactional (aborted)",
            "transactional (committed)",
            "transactional, control",
            "transactional, control",
            "transactional (committed)",
            "transactional (its end is not in this file)",
            "transactional, control"
        ]
    );
    assert_eq!(done.out.matches("skip: an aborted transaction").count(), 1, "{}", done.out);
    assert_eq!(done.out.matches("skip: a transaction's marker").count(), 3);
    assert!(done.out.contains("├ ABORT (0), version 0, coordinator epoch 7\n"), "{}", done.out);
}

/// An answer lists what was aborted; it may have its length in front.
#[test]
fn an_answer_to_fetch_has_its_partitions() {
    let records = [transactional(1, 0, b"k", b"a"), transactional(2, 1, b"k", b"b")].concat();
    let answer = FetchResponse {
        topics: vec![FetchableTopic {
            name: "orders".to_owned(),
            partitions: vec![
                FetchedPartition {
                    partition_index: 3,
                    high_watermark: 9,
                    last_stable_offset: 8,
                    aborted_transactions: Some(vec![AbortedTransaction { producer_id: 1, first_offset: 0 }]),
                    records: Some(records.into()),
                    ..FetchedPartition::default()
                },
                FetchedPartition { partition_index: 4, error_code: ErrorCode(3), ..FetchedPartition::default() },
            ],
            ..FetchableTopic::default()
        }],
        ..FetchResponse::default()
    };
    let frame = encode_response(7, 11, &answer.into()).unwrap().chunks().concat();
    for bytes in [&frame[..], &frame[4..]] {
        let done = inspect(bytes, &["--fetch-response", "11"]);
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(done.out.starts_with("orders-3: NONE (0), high watermark 9, last stable offset 8\n"), "{}", done.out);
        assert!(done.out.contains("orders-4: UNKNOWN_TOPIC_OR_PARTITION (3), "), "{}", done.out);
        assert_eq!(done.out.matches("transactional (aborted)").count(), 1);
        assert_eq!(done.out.matches("transactional (not aborted)").count(), 1);
    }
    let other = inspect(&frame, &["--fetch-response", "4"]);
    assert!(other.code == Some(1) && other.err.contains("no answer to Fetch v4: "), "{other:?}");
}

#[test]
fn wrong_usage_is_told() {
    let done = inspect(b"", &["--verdict", "0.9"]);
    assert_eq!((done.code, done.out.as_str()), (Some(2), ""));
    assert_eq!(done.err, "--verdict 0.9: a release of 0.10 or later, such as 2.8\n");
    let absent = kmirror_with(&["inspect", "/nowhere/0.log"]);
    assert!(absent.code == Some(1) && absent.err.starts_with("/nowhere/0.log: "), "{absent:?}");
    assert_eq!(inspect(b"", &["--records", "few"]).code, Some(2));
}

fn message_set(format: MessageFormat) -> Bytes {
    let mut set = MessageSetBuilder::new(format, Codec::Gzip);
    set.push(T0, None, Some(b"v")).unwrap();
    set.push(T0, Some(b"k"), None).unwrap();
    set.finish().unwrap()
}

fn transactional(producer_id: i64, base_offset: i64, key: &[u8], value: &[u8]) -> Bytes {
    let mut builder = BatchBuilder::new(Codec::None, None);
    builder.set_placement(Placement { base_offset, leader_epoch: 0, append_time: None, transactional: true });
    builder.push(T0, Some(key), Some(value), HeadersSource::None).unwrap();
    builder.finish(Stamp { producer_id, producer_epoch: 0, base_sequence: 0 }).unwrap()
}

/// A marker of coordinator epoch 7; it commits with 1 and aborts with 0.
fn marker(producer_id: i64, base_offset: i64, kind: u8) -> Bytes {
    let mut bytes = transactional(producer_id, base_offset, &[0, 0, 0, kind], &[0, 0, 0, 0, 0, 7]).to_vec();
    bytes[22] |= 0x20;
    let crc = crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes.into()
}
