//! Targets that keep producer ids: 0.11 and newer.

use super::*;
use crate::sample::Batch;

/// Batches of the mirror, `records` each, one behind the other from target offset `base` and sequence `sequence` on.
fn ours(base: i64, sequence: i32, records: &[i32]) -> Vec<Bytes> {
    let (mut base, mut sequence, mut log) = (base, sequence, Vec::new());
    for count in records {
        log.push(Batch::new(base, *count).stamp(MIRROR.id, MIRROR.epoch, sequence).bytes());
        (base, sequence) = (base + i64::from(*count), sequence + count);
    }
    log
}

fn theirs(base: i64, records: i32) -> Bytes {
    Batch::new(base, records).stamp(4, 0, 0).bytes()
}

fn found(course: &Course) -> Found {
    course.outcome.clone().expect("a place")
}

#[test]
fn a_link_without_a_checkpoint_begins_at_the_end() {
    for target in [Target::default(), Target::of(vec![theirs(0, 5)]), Target { start: 12, ..Target::default() }] {
        let course = run(resume(None, None), &target);
        let found = found(&course);
        assert_eq!((found.from.target_next.0, found.from.source_next.0), (target.end(), 7));
        assert_eq!((found.written, found.origin, found.guarded, found.last), (0, true, true, None));
        assert!(course.waits.is_empty());
    }
}

#[test]
fn a_checkpoint_that_is_the_end_is_proved_by_the_batch_that_ends_there() {
    let target = Target::of(ours(0, 0, &[5, 3]));
    let found = found(&run(resume(Some(checkpoint(40, 8, 8)), None), &target));
    assert_eq!((found.from.source_next.0, found.from.target_next.0, found.written), (40, 8, 0));
    assert_eq!((found.from.sequence.to_wire(), found.guarded, found.origin), (8, true, false));
    assert_eq!(found.last, None, "nothing has to be found in the source");
}

#[test]
fn what_was_written_since_is_counted_and_its_last_record_kept() {
    let target = Target::of(ours(0, 0, &[5, 3, 4]));
    let found = found(&run(resume(Some(checkpoint(40, 5, 5)), None), &target));
    assert_eq!((found.from.target_next.0, found.written), (5, 7));
    let last = target.log.last().unwrap();
    let mut wanted = Fingerprint::default();
    decode(&entry(last), |record| {
        wanted = Fingerprint::of(&record, true);
        std::ops::ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(found.last, Some(wanted));
}

#[test]
fn the_first_writes_of_a_link_are_counted_from_its_origin() {
    let mut log = vec![theirs(0, 5)];
    let begun = run(resume(Some(origin(7, 5)), None), &Target::of(log.clone()));
    assert_eq!((found(&begun).written, found(&begun).guarded), (0, true), "nothing of ours is there to be forgotten");
    log.extend(ours(5, 0, &[2, 2]));
    assert_eq!(found(&run(resume(Some(origin(7, 5)), None), &Target::of(log))).written, 4);
}

#[test]
fn a_foreign_batch_between_two_of_ours_stops_the_link() {
    // trace C11: the tail alone does not show it.
    let mut log = ours(0, 0, &[5]);
    log.push(theirs(5, 1));
    log.extend(ours(6, 5, &[2]));
    let course = run(resume(Some(checkpoint(40, 5, 5)), None), &Target::of(log));
    assert_eq!(course.outcome, Err(Impossible::Foreign { offset: 5, producer_id: 4 }));
}

#[test]
fn a_raised_epoch_begins_at_zero_and_is_the_one_in_force() {
    let mut log = ours(0, 0, &[5]);
    log.push(Batch::new(5, 2).stamp(MIRROR.id, 1, 0).bytes());
    log.push(Batch::new(7, 3).stamp(MIRROR.id, 1, 2).bytes());
    let found = found(&run(resume(Some(checkpoint(40, 5, 5)), None), &Target::of(log.clone())));
    assert_eq!((found.written, found.stamp.0, found.stamp.1.to_wire()), (5, 1, 5));
    assert_eq!(found.producer, Some(Producer { epoch: 1, ..MIRROR }));
    // A later batch of the old epoch would be a zombie's that the broker did not fence; a later beginning is a gap.
    for (epoch, sequence) in [(0, 5), (2, 1)] {
        let mut log = log.clone();
        log.push(Batch::new(10, 1).stamp(MIRROR.id, epoch, sequence).bytes());
        let course = run(resume(Some(checkpoint(40, 5, 5)), None), &Target::of(log));
        assert_eq!(course.outcome, Err(Impossible::Foreign { offset: 10, producer_id: MIRROR.id }));
    }
}

#[test]
fn an_epoch_that_only_the_ledger_knows_is_in_force_too() {
    // trace C16: its first request was lost, or its records were.
    let raised = Producer { epoch: 3, ..MIRROR };
    let resume =
        Resume::new("t", 0, Tenancy::Exclusive, Some(checkpoint(40, 5, 5)), SourceOffset(7), Some(raised), None);
    let found = found(&run(resume, &Target::of(ours(0, 0, &[5, 2]))));
    assert_eq!((found.written, found.stamp.0, found.producer), (2, 0, Some(raised)));
}

#[test]
fn a_gap_in_the_sequence_stops_the_link() {
    let mut log = ours(0, 0, &[5]);
    log.extend(ours(5, 6, &[2]));
    let course = run(resume(Some(checkpoint(40, 5, 5)), None), &Target::of(log));
    assert!(matches!(course.outcome, Err(Impossible::Foreign { offset: 5, .. })), "{:?}", course.outcome);
}

#[test]
fn markers_and_records_without_an_id_are_somebody_elses() {
    for foreign in [Batch::marker(5, MIRROR.id, 1), Batch::new(5, 1)] {
        let mut log = ours(0, 0, &[5]);
        log.push(foreign.bytes());
        let course = run(resume(Some(checkpoint(40, 5, 5)), None), &Target::of(log));
        assert!(matches!(course.outcome, Err(Impossible::Foreign { offset: 5, .. })), "{:?}", course.outcome);
    }
}

#[test]
fn a_log_that_ends_before_the_checkpoint_has_lost_records() {
    let course = run(resume(Some(checkpoint(40, 8, 8)), None), &Target::of(ours(0, 0, &[5])));
    let lost = Impossible::Lost { end: TargetOffset(5), checkpoint: TargetOffset(8) };
    assert_eq!(course.outcome, Err(lost));
    let emptied = run(resume(Some(checkpoint(40, 8, 8)), None), &Target::default());
    assert!(matches!(emptied.outcome, Err(Impossible::Lost { .. })), "created again");
}

#[test]
fn another_batch_at_the_checkpoint_proves_nothing() {
    // trace C12: cut to 5, then grown to 8 again by somebody else. Or by ourselves, under other numbers.
    let regrown = [theirs(5, 3), ours(5, 9, &[3]).remove(0)];
    for batch in regrown {
        let mut log = ours(0, 0, &[5]);
        log.push(batch);
        let course = run(resume(Some(checkpoint(40, 8, 8)), None), &Target::of(log));
        assert_eq!(course.outcome, Err(Impossible::Unproved { checkpoint: TargetOffset(8) }));
    }
    let straddles = run(resume(Some(checkpoint(40, 8, 8)), None), &Target::of(ours(0, 0, &[5, 4])));
    assert_eq!(straddles.outcome, Err(Impossible::Unproved { checkpoint: TargetOffset(8) }));
}

#[test]
fn a_tail_that_retention_took_is_counted_by_offsets() {
    // hole H7. Emptied, or with something left.
    let emptied = Target { start: 12, ..Target::default() };
    let left = Target { start: 12, ..Target::of(ours(12, 12, &[3])) };
    for (target, written) in [(emptied, 4), (left, 7)] {
        let found = found(&run(resume(Some(checkpoint(40, 8, 8)), None), &target));
        assert_eq!((found.written, found.tail_expired), (written, true));
    }
    let foreign = Target { start: 12, ..Target::of(vec![theirs(12, 3)]) };
    assert!(matches!(run(resume(Some(checkpoint(40, 8, 8)), None), &foreign).outcome, Err(Impossible::Foreign { .. })));
}

#[test]
fn the_first_records_of_a_link_may_expire_too() {
    let target = Target { start: 9, ..Target::of(ours(9, 4, &[3])) };
    let found = found(&run(resume(Some(origin(7, 5)), None), &target));
    assert_eq!((found.written, found.tail_expired), (7, true));
}

#[test]
fn records_deleted_up_to_the_middle_of_a_batch_leave_a_place() {
    let target = Target { start: 10, ..Target::of(ours(8, 8, &[4, 2])) };
    for claim in [checkpoint(40, 8, 8), checkpoint(40, 6, 6), origin(7, 0)] {
        let found = found(&run(resume(Some(claim), None), &target));
        assert_eq!(found.from.target_next.0 + i64::try_from(found.written).unwrap(), 14);
    }
}

#[test]
fn the_numbers_go_on_over_the_wrap() {
    let last = i32::MAX;
    let mut log = vec![Batch::new(0, 1).stamp(MIRROR.id, 0, last).bytes()];
    log.push(Batch::new(1, 2).stamp(MIRROR.id, 0, 0).bytes());
    let found = found(&run(resume(Some(checkpoint(40, 1, 0)), None), &Target::of(log)));
    assert_eq!((found.written, found.from.sequence.to_wire()), (2, 0));
}

#[test]
fn a_long_proof_takes_several_answers() {
    let target = Target::of(ours(0, 0, &[1; 60]));
    let cut = |asked: usize, _: Now| Target { log: target.log[..(asked * 7).min(60)].to_vec(), ..target.clone() };
    let wanted = |course: &Course| found(course).written;
    // The answers grow with the log: an answer that brings more is followed by another question.
    let course = run_with(resume(Some(checkpoint(0, 3, 3)), None), now(), |asked, now| Target {
        end: Some(60),
        ..cut(asked, now)
    });
    assert_eq!(wanted(&course), 57);
    assert!(course.fetches > 5);
}

#[test]
fn an_answer_without_records_is_asked_again_with_rests_and_not_for_ever() {
    let target = Target { end: Some(9), ..Target::of(ours(0, 0, &[5])) };
    let course = run(resume(Some(checkpoint(40, 5, 5)), None), &target);
    assert!(matches!(course.outcome, Err(Impossible::Unreadable(_))), "{:?}", course.outcome);
    assert!(course.waits.iter().sum::<Duration>() > 3_000 * MS, "{:?}", course.waits);
}

#[test]
fn guarded_means_no_wait() {
    // rule P6: late requests of young records are harmless, whatever their delay.
    let target = Target::of(ours(0, 0, &[5, 3]));
    let unsettled = Some(now().after(30_000 * MS));
    let course = run(resume(Some(checkpoint(40, 5, 5)), unsettled), &target);
    assert_eq!((found(&course).guarded, course.waits.len()), (true, 0));
}

#[test]
fn old_records_wait_for_the_settle_time_and_are_read_again() {
    // fact E1: the broker has forgotten the id; an old request would be appended a second time.
    let day = 86_400_000;
    let later = Now { unix_ms: now().unix_ms + day, ..now() };
    let until = later.after(30_000 * MS);
    let late = |_: usize, now: Now| Target::of(ours(0, 0, if now.tick < until { &[5] } else { &[5, 3] }));
    let course = run_with(resume(Some(checkpoint(40, 5, 5)), Some(until)), later, late);
    assert_eq!((found(&course).written, found(&course).guarded), (3, false), "the late one is counted");
    assert_eq!(course.waits, [30_000 * MS]);
    let settled = run_with(resume(Some(checkpoint(40, 5, 5)), None), later, late);
    assert!(settled.waits.is_empty(), "every request was answered");
}

#[test]
fn not_the_leader_means_all_over_again() {
    let target = Target::of(ours(0, 0, &[5, 3]));
    for stage in 0..3 {
        let mut resume = resume(Some(checkpoint(40, 5, 5)), None);
        for asked in 0..=stage {
            let Next::Call { request, .. } = resume.next(now()) else { panic!("a question") };
            let code = ErrorCode::NOT_LEADER_OR_FOLLOWER;
            let refusal = match request {
                AnyRequest::ListOffsets(_) => listed(code, -1),
                _ => fetched(code, -1, Bytes::new()),
            };
            let answer = if asked == stage { refusal } else { target.answer(&request) };
            let wanted = if asked == stage { Progress::Later(code) } else { Progress::On };
            assert_eq!(resume.handle_response(now(), &answer), Ok(wanted));
        }
        assert_eq!(found(&run(resume, &target)).written, 3, "after a refusal at question {stage}");
    }
}

#[test]
fn an_answer_that_leaves_the_partition_out_means_later() {
    let mut resume = resume(None, None);
    assert!(matches!(resume.next(now()), Next::Call { .. }));
    let empty = AnyResponse::ListOffsets(ListOffsetsResponse::default());
    let later = Ok(Progress::Later(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION));
    assert_eq!(resume.handle_response(now(), &empty), later);
}

#[test]
fn bytes_that_are_no_records_stop_the_link() {
    let target = Target { end: Some(9), ..Target::of(ours(0, 0, &[5])) };
    let mut resume = resume(Some(checkpoint(40, 5, 5)), None);
    let mut bytes = ours(5, 5, &[2]).remove(0).to_vec();
    bytes[16] = 9;
    let broken = fetched(ErrorCode::NONE, 9, bytes.into());
    let mut outcome = Ok(Progress::On);
    while let (Ok(_), Next::Call { request, .. }) = (&outcome, resume.next(now())) {
        let is_fetch = matches!(request, AnyRequest::Fetch(_));
        outcome = resume.handle_response(now(), &if is_fetch { broken.clone() } else { target.answer(&request) });
    }
    assert!(matches!(outcome, Err(Impossible::Unreadable(_))), "{outcome:?}");
}
