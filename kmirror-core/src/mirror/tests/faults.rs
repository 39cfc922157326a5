//! What goes wrong on the way, one thing at a time.

use kmirror_proto::ErrorCode;
use kmirror_proto::records::RawBatch;

use super::world::{MINUTE, SECOND, TOPIC, World};
use super::{drop_what_is_refused, fill, legacy, old, stamped};
use crate::config::Side;
use crate::mirror::worker::MirrorError;
use crate::observe::{Event, LinkState, StopReason};
use crate::offset::SourceOffset;
use crate::plan::{Refuse, Refused};
use crate::sample::Batch;
use crate::sample::broker::{Fault, Release};

/// Worlds with records for each kind of target.
fn worlds() -> Vec<World> {
    vec![stamped(Release::V3_9, 20, 3), stamped(Release::V2_0, 20, 3), legacy(Release::V0_10_2, 10)]
}

/// Runs a world whose writes meet these faults until everything is copied.
fn survive(world: &mut World, faults: &[Option<Fault>]) {
    world.network.target.faults.extend(faults.iter().cloned());
    world.config.until_caught_up = true;
    let ended = world.start().end_within(10 * MINUTE);
    assert!(ended.is_ok(), "{ended:?}");
    assert!(world.network.target.faults.is_empty(), "the faults did not bite");
    // Whatever is still under way has time to land.
    world.run(MINUTE).assert_mirrored();
}

#[test]
fn a_lost_acknowledgement_is_counted_and_nothing_is_written_twice() {
    for mut world in worlds() {
        survive(&mut world, &[None, Some(Fault::AckLost)]);
        assert!(world.counted() > 0, "{:#?}", world.events);
        assert!(!world.doubts().is_empty());
    }
}

#[test]
fn the_very_first_write_may_lose_its_acknowledgement() {
    for mut world in worlds() {
        survive(&mut world, &[Some(Fault::AckLost)]);
        assert!(world.counted() > 0);
    }
}

#[test]
fn a_connection_that_ends_before_the_append_loses_nothing() {
    for mut world in worlds() {
        survive(&mut world, &[None, Some(Fault::Reset)]);
        assert_eq!(world.counted(), 0);
    }
}

#[test]
fn a_refusal_that_passes_is_followed_by_a_look_at_the_log() {
    for code in [
        ErrorCode::NOT_LEADER_OR_FOLLOWER,
        ErrorCode::NOT_ENOUGH_REPLICAS,
        ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode::UNKNOWN_PRODUCER_ID,
        ErrorCode::REQUEST_TIMED_OUT,
        ErrorCode::UNKNOWN_SERVER_ERROR,
    ] {
        for mut world in worlds() {
            survive(&mut world, &[None, Some(Fault::Refuse(code)), Some(Fault::Refuse(code))]);
            assert!(world.doubts()[0].contains(&code.to_string()), "{:?}", world.doubts());
        }
    }
}

#[test]
fn every_answer_that_is_due_comes_before_the_log_is_read() {
    // EXACTNESS.md P16: the second of several requests is refused while the third is still being looked at.
    let mut world = stamped(Release::V3_9, 20, 3);
    world.config.fetch.partition_bytes_max = 1_000;
    let refusal = Fault::Refuse(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    world.network.target.faults.extend([None, Some(refusal), Some(Fault::Slow(5 * SECOND))]);
    assert!(world.start().reach(MINUTE, |world| !world.doubts().is_empty()));
    world.run(4 * SECOND);
    assert_eq!(world.states(), [[LinkState::Waiting]], "the log is read while a request may still change it");
    world.run(MINUTE).assert_mirrored();
}

#[test]
fn an_answer_that_says_no_after_the_append_is_not_believed() {
    // report B38: 20 means that it is there.
    for code in [ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND, ErrorCode::REQUEST_TIMED_OUT] {
        for mut world in worlds() {
            survive(&mut world, &[Some(Fault::AppendAndSay(code)), None, Some(Fault::AppendAndSay(code))]);
            assert!(world.counted() > 0);
        }
    }
}

#[test]
fn a_request_that_lands_late_is_found_before_anything_is_written_again() {
    // trace C14: on 0.10 only the settle time closes this; with stamps the broker refuses the second one.
    for mut world in worlds() {
        survive(&mut world, &[None, Some(Fault::AppendLate(20 * SECOND))]);
    }
}

#[test]
fn old_records_wait_for_a_lost_request_even_in_an_empty_log() {
    // The first request is lost on its way, its records are written again, and a restart makes the broker forget them:
    // the lost request would then be taken for news (EXACTNESS.md F1, P5).
    for target in [Release::V2_0, Release::V3_9] {
        let mut world = old(target);
        world.network.target.faults.push_back(Some(Fault::AppendLate(2 * SECOND)));
        world.start().run(SECOND);
        assert!(world.network.target.faults.is_empty() && !world.doubts().is_empty());
        world.network.target.log(TOPIC, 0).forget_producers();
        world.cut(Side::Target).run(2 * MINUTE).assert_mirrored();
        assert!(world.events.iter().any(|event| matches!(event, Event::Settling { .. })));
    }
}

#[test]
fn a_process_that_is_killed_with_a_request_on_its_way_repeats_nothing() {
    for mut world in worlds() {
        world.network.target.faults.extend([None, None, Some(Fault::AppendLate(10 * SECOND))]);
        assert!(world.start().reach(MINUTE, |world| world.network.target.faults.is_empty()));
        world.kill();
        world.config.until_caught_up = true;
        assert!(world.start().end_within(2 * MINUTE).is_ok());
        world.run(MINUTE).assert_mirrored();
    }
}

#[test]
fn a_crash_right_after_a_start_from_a_clean_stop_is_a_crash() {
    // The ledger still says that the last writer left nothing behind, unless that is taken back before the first write.
    let mut world = legacy(Release::V0_10_2, 3);
    world.config.until_caught_up = true;
    assert!(world.start().end_within(MINUTE).is_ok());
    let log = world.network.source.log(TOPIC, 0);
    (0..4).for_each(|_| log.put(crate::sample::message(log.end)));
    world.network.target.faults.push_back(Some(Fault::AppendLate(5 * SECOND)));
    assert!(world.start().reach(MINUTE, |world| world.network.target.faults.is_empty()));
    world.kill();
    assert!(world.start().end_within(2 * MINUTE).is_ok());
    world.run(MINUTE).assert_mirrored();
}

#[test]
fn a_broker_that_is_slow_is_waited_for() {
    for mut world in worlds() {
        survive(&mut world, &[None, Some(Fault::Slow(20 * SECOND))]);
        assert!(world.doubts().is_empty());
    }
    // But not for ever. (On 0.10 what lands later than the settle time is the assumption behind rule P7.)
    for target in [Release::V2_0, Release::V3_9] {
        let mut world = stamped(target, 20, 3);
        survive(&mut world, &[None, Some(Fault::Slow(45 * SECOND))]);
        assert!(!world.doubts().is_empty());
        world.start().run(MINUTE).assert_mirrored();
    }
}

#[test]
fn clusters_that_go_away_and_come_back_are_found_again() {
    for side in [Side::Source, Side::Target] {
        for mut world in worlds() {
            world.start().run(2 * SECOND);
            for _ in 0..3 {
                broker(&mut world, side).down = true;
                world.cut(side).run(20 * SECOND);
                broker(&mut world, side).down = false;
                let log = world.network.source.log(TOPIC, 0);
                log.put(crate::sample::message(log.end));
                world.run(40 * SECOND);
                world.assert_mirrored();
            }
        }
    }
}

fn broker(world: &mut World, side: Side) -> &mut crate::sample::broker::Broker {
    match side {
        Side::Source => &mut world.network.source,
        Side::Target => &mut world.network.target,
    }
}

#[test]
fn records_that_are_gone_before_they_were_read_are_named_exactly() {
    let mut world = stamped(Release::V3_9, 10, 10);
    world.start().run(2 * SECOND);
    // report B24: error 1, and every field of the answer is −1.
    fill(&mut world, 0, 50, 10);
    world.network.source.log(TOPIC, 0).delete_up_to(500);
    let error = world.end_within(MINUTE).unwrap_err();
    let gone = StopReason::SourceGone { wanted: SourceOffset(100), log_start: SourceOffset(500) };
    assert_eq!(world.stops(), [&gone]);
    assert!(matches!(error, MirrorError::LinksStopped { stopped: 1, .. }), "{error}");
    assert!(error.to_string().contains("[100, 500)"), "{error}");
    assert_eq!(world.values().1.len(), 100, "what was read before is there");
}

/// Nothing is left to compare with after a crash: the count of offsets decides, unless compaction may have changed it.
#[test]
fn a_target_that_retention_emptied_after_a_crash_is_gone_on_with() {
    for (target, compacted) in [(Release::V2_0, false), (Release::V3_9, false), (Release::V3_9, true)] {
        let mut world = stamped(target, 10, 3);
        if compacted {
            world.network.source.log(TOPIC, 0).entries.remove(4);
        }
        world.config.checkpoint_interval = MINUTE;
        world.start().run(5 * SECOND).kill();
        let log = world.network.target.log(TOPIC, 0);
        let written = log.end;
        assert_eq!(written, if compacted { 27 } else { 30 });
        log.delete_up_to(written);
        log.forget_producers();
        fill(&mut world, 0, 2, 3);
        world.config.until_caught_up = true;
        let ended = world.start().end_within(MINUTE);
        assert!(world.events.iter().any(|event| matches!(event, Event::TailExpired { .. })), "it did not bite");
        let (source, target) = world.values();
        if compacted {
            assert!(matches!(world.stops()[..], [StopReason::ContentDiffers { .. }]), "{:?}", world.stops());
            assert_eq!(target.len(), 0);
        } else {
            assert!(ended.is_ok(), "{ended:?}");
            assert_eq!(target, source[30..]);
        }
    }
}

#[test]
fn what_stands_before_damage_is_written_and_then_the_link_stops() {
    let mut world = stamped(Release::V3_9, 8, 3);
    let log = world.network.source.log(TOPIC, 0);
    let mut damaged = log.entries[5].to_vec();
    *damaged.last_mut().unwrap() ^= 1;
    let checksums = RawBatch::from_bytes(damaged.clone().into()).unwrap().checksums();
    log.entries[5] = damaged.into();
    assert!(world.start().end_within(MINUTE).is_err());
    let reason =
        StopReason::Unreadable { offset: SourceOffset(15), why: Refused::Verdict(Refuse::Checksum(checksums)) };
    assert_eq!(world.stops(), [&reason]);
    assert_eq!(world.network.target.log(TOPIC, 0).values().len(), 15, "report B17: up to it, and not beyond");
}

#[test]
fn records_on_the_target_that_nobody_mirrored_stop_the_link() {
    let mut world = stamped(Release::V3_9, 3, 2);
    world.start().run(3 * SECOND);
    let log = world.network.target.log(TOPIC, 0);
    log.put(Batch::new(log.end, 1).stamp(5, 0, 0).bytes());
    fill(&mut world, 0, 1, 1);
    assert!(world.end_within(MINUTE).is_err());
    assert!(matches!(world.stops()[0], StopReason::Target(_)), "{:?}", world.stops());
    let mut world = legacy(Release::V0_10_2, 3);
    world.start().run(3 * SECOND);
    let log = world.network.target.log(TOPIC, 0);
    log.put(crate::sample::message(log.end));
    let log = world.network.source.log(TOPIC, 0);
    log.put(crate::sample::message(log.end));
    assert!(world.end_within(MINUTE).is_err());
    assert!(matches!(world.stops()[0], StopReason::AppendedElsewhere { .. }), "{:?}", world.stops());
}

#[test]
fn a_batch_that_the_target_never_takes_ends_the_mirror() {
    let mut world = stamped(Release::V3_9, 3, 2);
    let log = world.network.source.log(TOPIC, 0);
    log.put(Batch::new(log.end, 1).padding(5_000).bytes());
    log.put(Batch::new(log.end, 2).bytes());
    world.network.target.batch_bytes_max = 4_000;
    let error = world.start().end_within(MINUTE).unwrap_err();
    assert!(matches!(&error, MirrorError::SendFailure { link, .. } if link == "t-0"), "{error}");
    assert_eq!(world.values().1.len(), 6);
    assert!(world.shards_ended());
}

#[test]
fn or_is_left_out_counted_and_named_and_its_neighbours_go_on() {
    for target in [Release::V0_10_2, Release::V2_0, Release::V3_9] {
        let mut world = stamped(target, 3, 2);
        drop_what_is_refused(&mut world);
        world.config.until_caught_up = true;
        let log = world.network.source.log(TOPIC, 0);
        log.put(Batch::new(log.end, 1).padding(5_000).bytes());
        log.put(Batch::new(log.end, 2).bytes());
        world.network.target.batch_bytes_max = 4_000;
        let summary = world.start().end_within(MINUTE).unwrap();
        let counters = summary.status.total().counters;
        assert_eq!((counters.dropped, counters.records), (1, 8), "{target:?}");
        let dropped = world.events.iter().filter_map(|event| match event {
            Event::Dropped { from, to, records, .. } => Some((from.0, to.0, *records)),
            _ => None,
        });
        assert_eq!(dropped.collect::<Vec<_>>(), [(6, 7, 1)]);
        let (mut source, target) = world.values();
        source.remove(6);
        assert_eq!(target, source);
        // A restart does not find it again.
        assert!(world.start().end_within(MINUTE).is_ok());
        assert_eq!(world.values().1.len(), 8);
    }
}

#[test]
fn a_batch_that_is_too_large_goes_in_parts() {
    // report B31 (a): twelve records of 100 KB in one batch, a target that takes 1 MB.
    for target in [Release::V0_10_2, Release::V2_0, Release::V3_9] {
        let mut world = stamped(target, 3, 2);
        world.config.until_caught_up = true;
        let log = world.network.source.log(TOPIC, 0);
        log.put(Batch::new(log.end, 12).padding(1_000).bytes());
        fill(&mut world, 0, 3, 2);
        world.network.target.batch_bytes_max = 5_000;
        let summary = world.start().end_within(MINUTE).unwrap();
        world.assert_mirrored();
        assert_eq!(summary.status.total().counters.dropped, 0);
        assert!(world.network.target.writes.len() < 40, "and what follows goes in batches again");
    }
}

#[test]
fn one_record_that_is_refused_does_not_take_its_batch_with_it() {
    // report B20: a compacted target refuses the whole batch for one record without a key.
    for target in [Release::V0_10_2, Release::V2_0, Release::V3_9] {
        for mut world in [stamped(target, 6, 5), legacy(target, 8)] {
            drop_what_is_refused(&mut world);
            world.config.until_caught_up = true;
            world.network.target.refuses_value = Some("v12");
            let summary = world.start().end_within(MINUTE).unwrap();
            assert_eq!(summary.status.total().counters.dropped, 1, "{target:?}: {:#?}", world.events);
            let (mut source, target) = world.values();
            source.remove(12);
            assert_eq!(target, source);
        }
    }
}

#[test]
fn other_partitions_go_on_while_one_cannot() {
    let mut world = World::new(Release::V3_9, Release::V3_9);
    world.network.source.topic(TOPIC, 2);
    world.network.target.topic(TOPIC, 2);
    world.network.source.log(TOPIC, 0).says = Some(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    fill(&mut world, 0, 5, 2);
    fill(&mut world, 1, 5, 2);
    world.start().run(20 * SECOND);
    assert_eq!(world.network.target.log(TOPIC, 1).values().len(), 10);
    world.network.source.log(TOPIC, 0).says = None;
    world.run(5 * SECOND);
    assert_eq!(world.network.target.log(TOPIC, 0).values().len(), 10);
}

#[test]
fn a_broker_that_forgets_the_producer_is_met_with_a_new_epoch() {
    // facts: a restart drops producers whose records are old; 2.0 answers 59, 3.9 accepts (rule P17).
    for (target, epochs) in [(Release::V2_0, 1), (Release::V3_9, 0)] {
        let mut world = stamped(target, 5, 2);
        world.start().run(3 * SECOND);
        world.network.target.log(TOPIC, 0).forget_producers();
        world.cut(Side::Target).run(3 * SECOND);
        fill(&mut world, 0, 5, 2);
        world.run(MINUTE).assert_mirrored();
        let raised = |event: &&Event| matches!(event, Event::EpochRaised { .. });
        assert_eq!(world.events.iter().filter(raised).count(), epochs, "{target:?}: {:#?}", world.events);
        world.kill();
        fill(&mut world, 0, 5, 2);
        world.start().run(MINUTE).assert_mirrored();
    }
}

#[test]
fn after_every_doubt_the_states_lead_back_to_running() {
    for mut world in worlds() {
        world.start().run(3 * SECOND);
        world.refuse_next(ErrorCode::NOT_LEADER_OR_FOLLOWER);
        let log = world.network.source.log(TOPIC, 0);
        log.put(crate::sample::message(log.end));
        assert!(world.reach(5 * SECOND, |world| world.states() == [[LinkState::Waiting]]));
        assert!(world.reach(5 * SECOND, |world| world.states() == [[LinkState::Running]]));
        world.run(SECOND).assert_mirrored();
    }
}
