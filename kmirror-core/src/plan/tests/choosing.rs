//! Filters, and what the ledger leaves out: who is asked, what is written, what is counted.

use std::sync::Arc;

use bytes::Bytes;
use kmirror_proto::compress::Codec;

use super::super::{LeftOut, Outcome, Refused, SourceRecord, View, plan, walk};
use super::{LARGE, V1, V2, bytes_of, consumed, contents, ranges, view};
use crate::fetch::Aborted;
use crate::filter::{Decision, Filters, RecordFilter, Replacement};
use crate::sample::{Batch, Seen, joined, message, records_of, wrapper};

/// Drops the records at these offsets.
#[derive(Debug)]
struct Without(&'static [i64]);

impl RecordFilter for Without {
    fn decide(&self, topic: &str, partition: i32, record: &SourceRecord<'_>) -> Decision {
        assert_eq!((topic, partition), ("t", 0));
        if self.0.contains(&record.offset) { Decision::Drop } else { Decision::Keep }
    }

    fn digest(&self) -> u64 {
        1
    }
}

/// Gives every record the value "new" and takes its key away.
#[derive(Debug)]
struct Rename;

impl RecordFilter for Rename {
    fn decide(&self, _: &str, _: i32, _: &SourceRecord<'_>) -> Decision {
        Decision::Replace(Replacement { key: None, value: Some(Bytes::from_static(b"new")) })
    }

    fn digest(&self) -> u64 {
        2
    }
}

fn without(offsets: &'static [i64]) -> Filters {
    Filters::new(vec![Arc::new(Without(offsets))])
}

fn planned(log: &Bytes, view: &View<'_>) -> Outcome {
    plan(log.clone(), Aborted::default(), view, None, LARGE, &mut None)
}

/// What a consumer sees of the records at other offsets.
fn consumed_without(log: &Bytes, offsets: &[i64]) -> Vec<Seen> {
    let kept = records_of(log.clone()).into_iter().filter(|seen| !offsets.contains(&seen.offset));
    kept.map(|seen| Seen { offset: 0, ..seen }).collect()
}

fn rewritten(outcome: &Outcome) -> Vec<bool> {
    outcome.pieces.iter().map(|piece| piece.rewritten).collect()
}

#[test]
fn a_batch_of_which_nothing_is_dropped_goes_through_as_it_is() {
    let filters = without(&[9]);
    let log = joined(&[Batch::new(5, 3).codec(Codec::Gzip).bytes(), Batch::new(8, 3).codec(Codec::Zstd).bytes()]);
    let outcome = planned(&log, &View { filters: &filters, ..view(5, V2) });
    assert_eq!((rewritten(&outcome), outcome.filtered, outcome.cursor), (vec![false, true], 1, 11));
    assert_eq!(contents(&outcome), consumed_without(&log, &[9]));
    let (begin, first) = (log.as_ptr(), bytes_of(&outcome.pieces[0]));
    assert_eq!(first.as_ptr(), begin, "a view into the answer itself");
}

#[test]
fn where_everything_is_dropped_nothing_is_written_and_the_cursor_moves() {
    let filters = without(&[7, 8, 9]);
    for target in [V1, V2] {
        let log = joined(&[Batch::new(5, 2).bytes(), Batch::new(7, 2).bytes(), Batch::new(9, 1).bytes()]);
        let outcome = planned(&log, &View { filters: &filters, ..view(5, target) });
        // The piece before it takes it along: a checkpoint behind it lies behind what was dropped.
        assert_eq!((ranges(&outcome), outcome.cursor, outcome.filtered), (vec![(5, 10)], 10, 3));
        let nothing = planned(&log, &View { filters: &filters, ..view(7, target) });
        assert_eq!((nothing.pieces.len(), nothing.cursor, nothing.filtered), (0, 10, 3));
    }
}

#[test]
fn a_message_that_is_dropped_ends_the_run_before_it_and_the_rest_goes_on_as_it_is() {
    let filters = without(&[6, 8]);
    let log = joined(&[message(5), message(6), message(7), wrapper(Codec::Gzip, &[8, 9]), message(10)]);
    let outcome = planned(&log, &View { filters: &filters, ..view(5, V1) });
    assert_eq!(contents(&outcome), consumed_without(&log, &[6, 8]));
    assert_eq!(rewritten(&outcome), [false, false, true, false]);
    assert_eq!(ranges(&outcome), [(5, 7), (7, 8), (9, 10), (10, 11)]);
    let built = planned(&log, &View { filters: &filters, ..view(5, V2) });
    assert_eq!(contents(&built), consumed_without(&log, &[6, 8]));
    assert_eq!(ranges(&built), [(5, 8), (9, 10), (10, 11)], "messages are joined over what is dropped between them");
}

#[test]
fn what_replaces_a_record_is_what_it_is_known_again_by() {
    let filters = Filters::new(vec![Arc::new(Rename)]);
    let log = Batch::new(5, 2).headers(1).bytes();
    for target in [V1, V2] {
        let view = View { filters: &filters, ..view(5, target) };
        let outcome = planned(&log, &view);
        let wanted = Seen {
            key: None,
            value: Some("new".to_owned()),
            headers: usize::from(target == V2),
            ..consumed(log.clone(), 6)[0].clone()
        };
        assert_eq!(contents(&outcome)[1], wanted);
        let walked = walk(log.clone(), Aborted::default(), &view, 2);
        assert_eq!(walked.last, outcome.pieces[0].fingerprint);
        assert!(walked.last.is_some());
    }
}

#[test]
fn what_is_left_out_is_neither_written_nor_counted_nor_asked() {
    // The filter would drop it, too: it was counted as lost when it was stored.
    let filters = without(&[6, 7]);
    let left_out: LeftOut = [(5, 7)].into_iter().collect();
    let log = joined(&[Batch::new(5, 4).bytes(), Batch::new(9, 2).bytes()]);
    for target in [V1, V2] {
        let view = View { filters: &filters, left_out: &left_out, ..view(5, target) };
        let outcome = planned(&log, &view);
        assert_eq!(contents(&outcome), consumed_without(&log, &[5, 6, 7]).into_iter().collect::<Vec<_>>());
        assert_eq!((outcome.filtered, outcome.left_out.len(), outcome.cursor), (1, 0, 11));
        let walked = walk(log.clone(), Aborted::default(), &view, 1);
        assert_eq!((walked.records, walked.cursor), (1, 9));
    }
    let view = View { left_out: &left_out, ..view(5, V2) };
    assert_eq!(rewritten(&planned(&log, &view)), [true, false], "a batch behind it is not touched");
}

#[test]
fn a_payload_that_cannot_be_read_is_nobodys_business_until_a_filter_asks() {
    // Nothing but the header of a batch is looked at on the raw path.
    let mut broken = Batch::new(0, 3);
    broken.attributes = 1;
    let log = joined(&[broken.bytes(), Batch::new(3, 2).bytes()]);
    let left_out: LeftOut = [(3, 4)].into_iter().collect();
    let raw = planned(&log, &View { left_out: &left_out, ..view(0, V2) });
    assert_eq!((rewritten(&raw), raw.refused), (vec![false, true], None));
    let walked = walk(log.clone(), Aborted::default(), &View { left_out: &left_out, ..view(0, V2) }, 4);
    assert_eq!((walked.records, walked.cursor), (4, 5));
    let filters = without(&[]);
    let asked = planned(&log, &View { filters: &filters, ..view(0, V2) });
    assert!(matches!(asked.refused, Some((0, Refused::Malformed(_)))), "{:?}", asked.refused);
}
