//! R13 and the measurements on producer ids.

use kmirror_proto::ErrorCode;

use super::*;

const IDEMPOTENT: [Release; 10] = [
    Release::V0_11,
    Release::V1_0,
    Release::V1_1,
    Release::V2_0,
    Release::V2_1,
    Release::V2_4,
    Release::V2_8,
    Release::V3_0,
    Release::V3_9,
    Release::V4_4,
];

const OUT_OF_ORDER: Err = Err(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
const FENCED: Err = Err(ErrorCode::INVALID_PRODUCER_EPOCH);
const UNKNOWN: Err = Err(ErrorCode::UNKNOWN_PRODUCER_ID);
type Err = Result<i64, ErrorCode>;

/// A producer's log: batches of so many records under (id 987654, epoch, sequence).
struct Wrote {
    log: Log,
    now: Now,
    timestamp: i64,
}

impl Wrote {
    /// Three records are there before it, as in the measurements.
    fn new(release: Release) -> Self {
        Self { log: filled(release, &[3]), now: at(NOW), timestamp: NOW }
    }

    /// The base offset that is answered.
    fn send(&mut self, epoch: i16, sequence: i32, records: usize) -> Result<i64, ErrorCode> {
        self.answer(epoch, sequence, records).map(|appended| appended.base_offset)
    }

    fn answer(&mut self, epoch: i16, sequence: i32, records: usize) -> Result<Appended, ErrorCode> {
        let stamp = Stamp { producer_id: 987_654, producer_epoch: epoch, base_sequence: sequence };
        let entry = batch(&self.log, stamp, &vec![self.timestamp; records]);
        self.log.append(self.now, &settings(), 0, vec![entry]).map_err(|refused| refused.code)
    }

    /// A repetition: its old base offset, and nothing appended.
    fn repeat(&mut self, epoch: i16, sequence: i32, records: usize) -> Result<i64, ErrorCode> {
        let end = self.log.end();
        let appended = self.answer(epoch, sequence, records)?;
        assert!(appended.duplicate && appended.append_time_ms != -1 && self.log.end() == end);
        Ok(appended.base_offset)
    }
}

const NOW: i64 = 1_600_000_000_000;
const DAY: i64 = 86_400_000;

#[test]
fn r13_sequence_0_first_then_the_next_one_a_gap_and_epochs() {
    for release in IDEMPOTENT {
        let mut log = Wrote::new(release);
        assert_eq!(log.send(0, 0, 3), Ok(3), "{release}");
        assert_eq!(log.send(0, 3, 3), Ok(6), "{release}");
        assert_eq!(log.repeat(0, 3, 3), Ok(6), "{release}");
        let older = if release == Release::V0_11 { log.send(0, 0, 3) } else { log.repeat(0, 0, 3) };
        assert_eq!(older, if release == Release::V0_11 { OUT_OF_ORDER } else { Ok(3) }, "{release}");
        assert_eq!(log.send(0, 0, 2), OUT_OF_ORDER, "{release}: other edges");
        assert_eq!(log.send(0, 10, 3), OUT_OF_ORDER, "{release}: a gap");
        assert_eq!(log.send(1, 0, 3), Ok(9), "{release}: a higher epoch");
        assert_eq!(log.send(0, 6, 3), FENCED, "{release}: the old epoch");
        assert_eq!(log.send(2, 57, 3), OUT_OF_ORDER, "{release}: a new epoch that does not begin at 0");
    }
}

#[test]
fn r13_an_unknown_id_that_begins_at_57() {
    for release in IDEMPOTENT {
        let mut log = Wrote::new(release);
        let first = log.send(0, 57, 3);
        if release >= Release::V2_8 {
            assert_eq!((first, log.send(0, 60, 3), log.send(0, 0, 3)), (Ok(3), Ok(6), OUT_OF_ORDER), "{release}");
        } else {
            let refused = if release == Release::V0_11 { OUT_OF_ORDER } else { UNKNOWN };
            assert_eq!((first, log.send(0, 60, 3), log.send(0, 0, 3)), (refused, refused, Ok(3)), "{release}");
        }
    }
}

#[test]
fn r13_five_batches_are_remembered_and_one_on_0_11() {
    for release in IDEMPOTENT {
        let mut log = Wrote::new(release);
        for n in 0..7 {
            assert_eq!(log.send(0, n * 3, 3), Ok(3 + i64::from(n) * 3), "{release}");
        }
        assert_eq!((log.send(0, 0, 3), log.send(0, 3, 3)), (OUT_OF_ORDER, OUT_OF_ORDER), "{release}");
        assert_eq!(log.repeat(0, 18, 3), Ok(21), "{release}");
        if release == Release::V0_11 {
            assert_eq!(log.send(0, 15, 3), OUT_OF_ORDER);
        } else {
            assert_eq!((log.repeat(0, 15, 3), log.repeat(0, 6, 3)), (Ok(18), Ok(9)), "{release}");
        }
        assert_eq!(log.send(0, 21, 3), Ok(24), "{release}");
    }
}

#[test]
fn r13_without_an_id_or_an_epoch_nothing_is_checked() {
    for (producer_id, producer_epoch, base_sequence) in [(-1, 0, 0), (9, -1, 0), (-1, -1, 5), (-2, 0, 0)] {
        let mut log = Log::new(Release::V2_0);
        for _ in 0..2 {
            let entry = batch(&log, Stamp { producer_id, producer_epoch, base_sequence }, &[NOW]);
            assert!(!append(&mut log, vec![entry]).duplicate);
        }
        assert!(log.producers().is_empty());
    }
}

#[test]
fn sequences_go_on_at_0_after_2147483647() {
    // Measured from 2.8 on, where an unknown id may begin there: a batch across the edge, then one from 1.
    let mut log = Wrote::new(Release::V2_8);
    assert_eq!(log.send(0, i32::MAX - 1, 3), Ok(3));
    assert_eq!(log.send(0, 1, 3), Ok(6));
    assert_eq!(log.repeat(0, i32::MAX - 1, 3), Ok(3));
    let mut log = Wrote::new(Release::V2_8);
    assert_eq!(log.send(0, i32::MAX - 2, 3), Ok(3));
    assert_eq!(log.send(0, 0, 1), Ok(6));
}

#[test]
fn a_late_batch_of_another_connection_is_out_of_order_or_the_duplicate_that_it_is() {
    // Sequences 0-2, 3-4, then 5 × 4 from a second connection; then the first one's late ones.
    for release in [Release::V0_11, Release::V2_0, Release::V3_9, Release::V4_4] {
        let mut log = Wrote::new(release);
        assert_eq!((log.send(0, 0, 3), log.send(0, 3, 2), log.send(0, 5, 4)), (Ok(3), Ok(6), Ok(8)));
        assert_eq!(log.send(0, 5, 2), OUT_OF_ORDER, "{release}");
        assert_eq!(log.repeat(0, 5, 4), Ok(8), "{release}");
        assert_eq!(log.send(0, 7, 4), OUT_OF_ORDER, "{release}");
        assert_eq!(log.send(0, 20, 1), OUT_OF_ORDER, "{release}");
    }
}

#[test]
fn a_fresh_partition_takes_the_second_request_though_the_first_was_refused() {
    // Two in flight, the first (0-2) refused for another reason: the second begins at 3.
    for (release, answer) in
        [(Release::V0_11, OUT_OF_ORDER), (Release::V2_0, UNKNOWN), (Release::V2_4, UNKNOWN), (Release::V2_8, Ok(0))]
    {
        let mut log = Wrote { log: Log::new(release), now: at(NOW), timestamp: NOW };
        assert_eq!(log.send(0, 3, 3), answer, "{release}");
    }
}

#[test]
fn after_kill_9_only_the_last_batch_of_a_producer_is_known() {
    for clean in [false, true] {
        let mut log = Wrote::new(Release::V2_0);
        for n in 0..6 {
            log.send(0, n * 3, 3).unwrap();
        }
        assert_eq!(log.repeat(0, 3, 3), Ok(6), "the fifth-last");
        log.log.restart(at(NOW), clean);
        assert_eq!(log.repeat(0, 15, 3), Ok(18), "the last");
        assert_eq!(log.send(0, 3, 3), OUT_OF_ORDER, "the fifth-last");
        assert_eq!(log.send(0, 20, 3), OUT_OF_ORDER, "a gap");
        assert_eq!(log.send(0, 18, 3), Ok(21), "the next");
    }
}

#[test]
fn a_new_leader_knows_the_last_batch_and_a_truncated_log_what_is_left() {
    let mut log = Wrote::new(Release::V2_0);
    for n in 0..4 {
        log.send(0, n * 3, 3).unwrap();
    }
    log.log.truncate(9);
    log.log.new_leader(1);
    assert_eq!((log.log.end(), log.log.end_of_epoch(0)), (9, (0, 9)));
    assert_eq!(log.send(0, 0, 3), OUT_OF_ORDER);
    assert_eq!(log.repeat(0, 3, 3), Ok(6));
    assert_eq!(log.send(0, 9, 3), OUT_OF_ORDER, "what was cut off is not known");
    assert_eq!(log.send(0, 6, 3), Ok(9));
}

#[test]
fn state_is_aged_by_the_records_timestamps_at_a_clean_restart() {
    for (release, old) in [
        (Release::V0_11, OUT_OF_ORDER),
        (Release::V2_0, UNKNOWN),
        (Release::V2_4, UNKNOWN),
        (Release::V2_8, Ok(9)),
        (Release::V3_9, Ok(9)),
        (Release::V4_4, Ok(9)),
    ] {
        let mut log = Wrote { timestamp: NOW - 8 * DAY, ..Wrote::new(release) };
        assert_eq!((log.send(0, 0, 3), log.send(0, 3, 3)), (Ok(3), Ok(6)));
        log.log.restart(at(NOW), true);
        // From 2.8 on it is appended a second time.
        assert_eq!(log.send(0, 3, 3), old, "{release}");

        let mut log = Wrote::new(release);
        assert_eq!((log.send(0, 0, 3), log.send(0, 3, 3)), (Ok(3), Ok(6)));
        log.log.restart(at(NOW), true);
        assert_eq!(log.repeat(0, 3, 3), Ok(6), "{release}: timestamps of now");
    }
}

#[test]
fn old_producers_are_looked_for_every_ten_minutes() {
    let mut log = Wrote { timestamp: NOW - 8 * DAY, ..Wrote::new(Release::V2_0) };
    assert_eq!(log.send(0, 0, 3), Ok(3));
    log.now = log.now.later(std::time::Duration::from_secs(599));
    assert_eq!(log.send(0, 3, 3), Ok(6));
    log.now = log.now.later(std::time::Duration::from_secs(1));
    assert_eq!(log.send(0, 6, 3), UNKNOWN);
    assert_eq!(log.send(0, 0, 3), Ok(9));
}

#[test]
fn a_fence_holds_across_a_restart() {
    for release in IDEMPOTENT {
        for clean in [false, true] {
            let mut log = Wrote::new(release);
            assert_eq!((log.send(0, 0, 3), log.send(1, 0, 3)), (Ok(3), Ok(6)));
            log.log.restart(at(NOW), clean);
            assert_eq!((log.send(0, 0, 3), log.send(0, 3, 3)), (FENCED, FENCED), "{release}");
        }
    }
}

#[test]
fn same_edges_with_other_content_are_the_old_batch() {
    let mut log = Wrote::new(Release::V2_0);
    log.send(0, 0, 3).unwrap();
    log.timestamp += 1;
    let appended = log.answer(0, 0, 3).unwrap();
    assert_eq!((appended.base_offset, appended.duplicate, appended.append_time_ms), (3, true, NOW));
}

#[test]
fn up_to_2_3_producers_go_with_their_records() {
    for (release, answer) in [(Release::V2_0, UNKNOWN), (Release::V2_4, Ok(9))] {
        let mut log = Wrote::new(release);
        assert_eq!((log.send(0, 0, 3), log.send(0, 3, 3)), (Ok(3), Ok(6)));
        log.log.delete_records(9);
        assert_eq!(log.send(0, 6, 3), answer, "{release}");
    }
}

#[test]
fn a_log_append_time_topic_answers_with_its_clock() {
    let mut log = Log::new(Release::V2_0);
    let append_time = TopicSettings { append_time: true, ..settings() };
    let entry = batch(&log, Stamp::NONE, &[5]);
    let appended = log.append(at(NOW), &append_time, 0, vec![entry]).unwrap();
    assert_eq!((appended.append_time_ms, appended.duplicate), (NOW, false));
    let entry = batch(&log, Stamp::NONE, &[5]);
    assert_eq!(append(&mut log, vec![entry]).append_time_ms, -1);
}
