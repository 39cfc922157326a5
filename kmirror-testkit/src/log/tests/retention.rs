//! How a log is cut into segments, and how it loses them.

use super::*;

/// One record per batch, each at its time; `clock` is the broker's.
fn timed(settings: &TopicSettings, timestamps: &[i64], clock: i64) -> Log {
    let mut log = Log::new(Release::V2_0);
    for timestamp in timestamps {
        let entry = batch(&log, Stamp::NONE, &[*timestamp]);
        log.append(at(clock), settings, 0, vec![entry]).unwrap();
    }
    log
}

fn bases(log: &Log) -> Vec<i64> {
    log.segments.iter().map(|segment| segment.base).collect()
}

#[test]
fn segments_are_rolled_by_the_records_timestamps() {
    let every_second = TopicSettings { segment_ms: 1000, ..settings() };
    let log = timed(&every_second, &[5000, 5500, 6000, 6001, 4000, 7001, 7002], 0);
    assert_eq!(bases(&log), [0, 3, 6]);
    // Without timestamps the broker's clock counts.
    let mut log = timed(&every_second, &[-1, -1], 0);
    let entry = batch(&log, Stamp::NONE, &[-1]);
    log.append(at(1001), &every_second, 0, vec![entry]).unwrap();
    assert_eq!(bases(&log), [0, 2]);
}

#[test]
fn a_batch_that_does_not_fit_begins_a_segment() {
    let size = batch_at(0, Stamp::NONE, &[0]).size();
    let two = TopicSettings { segment_bytes: 2 * size, ..settings() };
    assert_eq!(bases(&timed(&two, &[0; 5], 0)), [0, 2, 4]);
}

#[test]
fn retention_takes_whole_old_segments_and_the_active_one_too() {
    let kept = TopicSettings { segment_ms: 1000, retention_ms: 5000, ..settings() };
    let mut log = timed(&kept, &[0, 500, 2000, 2500, 4000, 4500], 0);
    assert_eq!(bases(&log), [0, 2, 4]);
    log.retain(at(5500), &kept, 6);
    assert_eq!((log.start(), log.end()), (0, 6), "its newest record is not older than 5 s yet");
    log.retain(at(5501), &kept, 6);
    assert_eq!((log.start(), bases(&log)), (2, vec![2, 4]));
    log.retain(at(1_000_000), &kept, 3);
    assert_eq!(log.start(), 2, "the followers do not have it yet");
    log.retain(at(1_000_000), &kept, 6);
    assert_eq!((log.start(), log.end(), bases(&log)), (6, 6, vec![6]));
    assert!(log.read(5, 6, 100, true).is_err());
    assert_eq!(log.read(6, 6, 100, true).unwrap().size(), 0);
}

#[test]
fn retention_by_bytes_keeps_at_least_so_many() {
    let size = batch_at(0, Stamp::NONE, &[0]).size();
    let one = TopicSettings { segment_bytes: size, retention_ms: -1, ..settings() };
    let kept = |bytes: usize| {
        let mut log = timed(&one, &[0; 5], 0);
        log.retain(at(0), &TopicSettings { retention_bytes: i64::try_from(bytes).unwrap(), ..one.clone() }, 5);
        log.start()
    };
    assert_eq!([kept(5 * size), kept(3 * size), kept(3 * size - 1), kept(0)], [0, 2, 2, 5]);
    let compacted = TopicSettings { delete: false, compact: true, retention_bytes: 0, ..one.clone() };
    let mut log = timed(&one, &[0; 5], 0);
    log.retain(at(0), &compacted, 5);
    assert_eq!(log.start(), 0);
}

#[test]
fn deleted_records_are_gone_at_once_and_their_segments_at_the_next_look() {
    let size = batch_at(0, Stamp::NONE, &[0]).size();
    let two = TopicSettings { segment_bytes: 2 * size, ..settings() };
    let mut log = timed(&two, &[0; 5], 0);
    log.delete_records(3);
    assert_eq!((log.start(), bases(&log)), (3, vec![0, 2, 4]));
    log.delete_records(2);
    assert_eq!(log.start(), 3);
    assert!(log.read(2, 5, 100, true).is_err());
    log.retain(at(0), &two, 5);
    assert_eq!((log.start(), bases(&log)), (3, vec![2, 4]));
}

#[test]
fn truncation_cuts_segments_and_what_is_written_next_goes_on_there() {
    let size = batch_at(0, Stamp::NONE, &[0]).size();
    let two = TopicSettings { segment_bytes: 2 * size, ..settings() };
    let mut log = timed(&two, &[10, 50, 20, 30, 5], 0);
    log.truncate(3);
    assert_eq!((log.end(), bases(&log), log.bytes()), (3, vec![0, 2], 3 * size));
    let entry = batch(&log, Stamp::NONE, &[7]);
    assert_eq!(append(&mut log, vec![entry]).base_offset, 3);
    assert_eq!(log.offset_for_time(21).map(|dated| dated.offset), Some(1));
    log.truncate(0);
    assert_eq!((log.start(), log.end(), log.bytes()), (0, 0, 0));
}
