//! Targets of 0.10: no ids; proved by content, and by time where a request may still be under way.

use kmirror_proto::compress::Codec;

use super::*;
use crate::sample::{joined, message, message_of, old_message, old_set, wrapper};

fn fingerprint(offset: i64) -> Fingerprint {
    let mut found = Fingerprint::default();
    decode(&entry(&message(offset)), |record| {
        found = Fingerprint::of(&record, false);
        std::ops::ControlFlow::Continue(())
    })
    .unwrap();
    found
}

/// A checkpoint behind target offset `target` − 1, whose record is that of the sample.
fn checkpoint_at(source: i64, target: i64) -> Checkpoint {
    let proved = Proved {
        source_next: SourceOffset(source),
        target_next: TargetOffset(target),
        epoch: 0,
        sequence: Sequence::ZERO,
        fingerprint: Some(fingerprint(target - 1)),
    };
    Checkpoint::new(&proved, None, -1, false, 0)
}

fn resume_at(checkpoint: Option<Checkpoint>, unsettled: Option<Tick>) -> Resume {
    Resume::new("t", 0, Tenancy::Exclusive, checkpoint, SourceOffset(7), None, unsettled)
}

fn plain(offsets: std::ops::Range<i64>) -> Vec<Bytes> {
    offsets.map(message).collect()
}

#[test]
fn the_record_at_the_checkpoint_proves_it() {
    let course = run(resume_at(Some(checkpoint_at(40, 5)), None), &Target::of(plain(0..5)));
    let found = course.outcome.unwrap();
    assert_eq!((found.from.target_next.0, found.written, found.last), (5, 0, None));
    assert_eq!((course.fetches, course.waits.len(), found.guarded), (1, 0, false), "clean: nothing to wait for");
}

#[test]
fn a_topic_that_keeps_magic_0_cannot_be_proved_for_want_of_timestamps() {
    for behind in [old_message(5), old_set(Codec::Gzip, &[5, 6])] {
        let mut log = plain(0..5);
        log.push(behind);
        let outcome = run(resume_at(Some(checkpoint_at(40, 5)), None), &Target::of(log)).outcome;
        let Err(Impossible::Unreadable(why)) = outcome else { panic!("{outcome:?}") };
        assert!(why.contains("message format 0, which loses the timestamps"), "{why}");
    }
    // What was there before the checkpoint, when the topic was still of that format, is none of ours.
    let log = (0..4).map(old_message).chain(plain(4..6)).collect();
    assert_eq!(run(resume_at(Some(checkpoint_at(40, 5)), None), &Target::of(log)).outcome.unwrap().written, 1);
}

#[test]
fn what_was_written_since_is_counted() {
    let mut log = plain(0..5);
    log.push(wrapper(Codec::Gzip, &[5, 6, 7]));
    log.extend(plain(8..9));
    let found = run(resume_at(Some(checkpoint_at(40, 5)), None), &Target::of(log)).outcome.unwrap();
    assert_eq!((found.written, found.last), (4, Some(fingerprint(8))));
}

#[test]
fn the_record_before_the_checkpoint_may_stand_inside_of_a_wrapper() {
    let log = vec![wrapper(Codec::Gzip, &[0, 1, 2, 3]), message(4)];
    let found = run(resume_at(Some(checkpoint_at(40, 4)), None), &Target::of(log.clone())).outcome.unwrap();
    assert_eq!(found.written, 1);
    // And the point itself, where a broker joined what was sent apart (fact R4).
    let found = run(resume_at(Some(checkpoint_at(40, 2)), None), &Target::of(log)).outcome.unwrap();
    assert_eq!(found.written, 3);
}

#[test]
fn other_content_proves_nothing() {
    let mut log = plain(0..4);
    log.push(message_of(4, 0, T0 + 4, Some(b"k4"), Some(b"other")));
    let course = run(resume_at(Some(checkpoint_at(40, 5)), None), &Target::of(log));
    assert_eq!(course.outcome, Err(Impossible::Unproved { checkpoint: TargetOffset(5) }));
    let mut log = plain(0..4);
    log.push(message_of(4, 0, 77, Some(b"k4"), Some(b"v4")));
    let course = run(resume_at(Some(checkpoint_at(40, 5)), None), &Target::of(log));
    assert_eq!(course.outcome, Err(Impossible::Unproved { checkpoint: TargetOffset(5) }), "another time");
}

#[test]
fn a_target_with_append_time_is_proved_by_key_and_value() {
    let mut log = plain(0..4);
    log.push(message_of(4, 8, 77, Some(b"k4"), Some(b"v4")));
    let found = run(resume_at(Some(checkpoint_at(40, 5)), None), &Target::of(log)).outcome.unwrap();
    assert!(found.append_time);
}

#[test]
fn a_request_that_may_still_land_is_waited_for_and_then_two_readings_have_to_agree() {
    // trace C14, and 300 ms as measured.
    let until = now().after(30_000 * MS);
    let late = until.after(100 * MS);
    let target = |_: usize, now: Now| Target::of(plain(0..if now.tick < late { 5 } else { 6 }));
    let course = run_with(resume_at(Some(checkpoint_at(40, 5)), Some(until)), now(), target);
    assert_eq!(course.outcome.unwrap().written, 1, "the late one is counted");
    assert_eq!(course.waits, [30_000 * MS, 300 * MS, 300 * MS], "settle; a reading that grew; one that did not");
    assert_eq!(course.ended.tick, until.after(600 * MS));
}

#[test]
fn two_equal_readings_are_enough() {
    let until = now().after(30_000 * MS);
    let course = run_with(resume_at(Some(checkpoint_at(40, 5)), Some(until)), now(), |_, _| Target::of(plain(0..5)));
    assert_eq!((course.waits, course.fetches), (vec![30_000 * MS, 300 * MS], 2));
}

#[test]
fn an_entry_that_does_not_fit_is_asked_for_with_its_own_size() {
    let large = vec![b'x'; 2_000_000];
    let mut log = plain(0..5);
    log.push(message_of(5, 0, 0, None, Some(&large)));
    log.extend(plain(6..7));
    let target = Target { cuts_at: Some(1), ..Target::of(log) };
    let course = run(resume_at(Some(checkpoint_at(40, 5)), None), &target);
    assert_eq!(course.outcome.unwrap().written, 2);
    assert!(course.waits.is_empty());
}

#[test]
fn an_empty_log_is_where_a_link_may_begin() {
    let course = run(resume_at(None, None), &Target::of(vec![joined(&[message(0)])]));
    let found = course.outcome.unwrap();
    assert_eq!((found.from.target_next.0, found.origin, found.guarded), (1, true, false));
}
