//! F9 and R6: the log of the measurements, `[0-1] plain, [2-4] txA ABORTED + 5, [6-9] txB COMMITTED + 10, [11-12] plain,
//! [13-17] txC OPEN, [18] plain`.

use super::super::Marker;
use super::*;

fn stamp(producer_id: i64) -> Stamp {
    Stamp { producer_id, producer_epoch: 0, base_sequence: 0 }
}

fn marker(producer_id: i64, commit: bool) -> Marker {
    Marker { producer_id, producer_epoch: 0, coordinator_epoch: 0, commit }
}

fn transactional(log: &Log, producer_id: i64, records: usize) -> Entry {
    let mut bytes = batch(log, stamp(producer_id), &vec![1000; records]).bytes.to_vec();
    bytes[22] |= 0x10;
    Entry::read(Bytes::from(bytes)).unwrap()
}

fn measured() -> Log {
    let mut log = filled(Release::V2_1, &[2]);
    for (producer, records, commit) in [(0, 3, false), (1, 4, true)] {
        let entry = transactional(&log, producer, records);
        append(&mut log, vec![entry]);
        log.append_marker(at(0), &settings(), 0, marker(producer, commit));
    }
    let plain = batch(&log, Stamp::NONE, &[1000; 2]);
    append(&mut log, vec![plain]);
    let open = transactional(&log, 2, 5);
    append(&mut log, vec![open]);
    let plain = batch(&log, Stamp::NONE, &[1000]);
    append(&mut log, vec![plain]);
    log
}

#[test]
fn f9_a_marker_is_the_batch_that_kafka_writes() {
    let log = measured();
    let markers: Vec<&Entry> = log.entries(0).filter(|entry| entry.control).collect();
    let payloads: Vec<String> = markers.iter().map(|entry| hex(&entry.bytes[61..])).collect();
    assert_eq!(payloads, ["2000000008000000000c00000000000000", "2000000008000000010c00000000000000"]);
    for (entry, offset) in markers.iter().zip([5_i64, 10]) {
        let header = kmirror_proto::records::RawBatch::from_bytes(entry.bytes.clone()).unwrap();
        assert!(header.crc_ok());
        let header = header.header;
        assert_eq!((header.base_offset, header.last_offset_delta, header.records_count), (offset, 0, 1));
        assert_eq!((header.attributes.0, header.base_sequence, header.producer_epoch), (0x30, -1, 0));
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn f9_committed_readers_end_before_what_is_open_and_are_told_what_was_aborted() {
    let log = measured();
    assert_eq!((log.end(), log.last_stable(19)), (19, 13));
    let committed = |from: i64| {
        let slice = log.read(from, log.last_stable(19), 1 << 20, true).unwrap();
        let bases: Vec<i64> = slice.entries.iter().map(|entry| entry.base_offset).collect();
        (bases, log.aborted(from, slice.aborted_below))
    };
    assert_eq!(committed(0), (vec![0, 2, 5, 6, 10, 11], vec![(0, 2)]));
    assert_eq!(committed(6), (vec![6, 10, 11], vec![]));
    assert_eq!(committed(13), (vec![], vec![]));
    assert_eq!(committed(14), (vec![], vec![]));
}

#[test]
fn a_transaction_is_stable_once_its_marker_is_replicated() {
    let mut log = measured();
    assert_eq!((log.last_stable(2), log.last_stable(4), log.last_stable(5), log.last_stable(6)), (2, 2, 2, 6));
    log.append_marker(at(0), &settings(), 0, marker(2, true));
    assert_eq!((log.last_stable(19), log.last_stable(20)), (13, 20));
}

#[test]
fn r6_the_transactional_bit_hangs_the_log_but_not_without_an_id() {
    let mut log = filled(Release::V0_11, &[3]);
    let mut bytes = batch(&log, Stamp::NONE, &[1000]).bytes.to_vec();
    bytes[22] |= 0x10;
    append(&mut log, vec![Entry::read(Bytes::from(bytes)).unwrap()]);
    assert_eq!(log.last_stable(4), 4);
    let foreign = transactional(&log, 987_654, 3);
    append(&mut log, vec![foreign]);
    assert_eq!(log.last_stable(7), 4);
}

#[test]
fn data_outside_the_transaction_that_its_producer_has_open_is_refused() {
    let mut log = measured();
    let entry = batch(&log, Stamp { base_sequence: 5, ..stamp(2) }, &[1000]);
    let refused = log.append(at(0), &settings(), 0, vec![entry]).unwrap_err();
    assert_eq!(refused.code, kmirror_proto::ErrorCode::INVALID_TXN_STATE);
}

#[test]
fn transactions_are_as_before_when_the_log_is_read_again() {
    let mut log = measured();
    let rows = log.producers();
    assert_eq!(rows[2].current_transaction_start, 13);
    assert_eq!((rows[0].last_sequence, rows[0].coordinator_epoch, rows[2].coordinator_epoch), (2, 0, -1));
    log.restart(at(0), false);
    assert_eq!((log.last_stable(19), log.aborted(0, 13), log.producers()), (13, vec![(0, 2)], rows));
    log.truncate(5);
    assert_eq!((log.end(), log.last_stable(5), log.aborted(0, 5)), (5, 2, vec![]));
}

#[test]
fn the_aborted_list_is_found_between_many() {
    let mut log = Log::new(Release::V2_1);
    for n in 0..100 {
        let entry = transactional(&log, n, 3);
        append(&mut log, vec![entry]);
        log.append_marker(at(0), &settings(), 0, marker(n, n % 2 == 1));
    }
    // Offsets 4n to 4n + 3; the even ones were aborted.
    assert_eq!(log.aborted(200, 209), vec![(50, 200), (52, 208)]);
    assert_eq!(log.aborted(203, 208), vec![(50, 200)]);
    assert_eq!(log.aborted(0, 400).len(), 50);
}
