//! How a mirror ends, and what it leaves behind.

use super::world::{MINUTE, MS, SECOND, TOPIC, World};
use super::{fill, legacy, stamped};
use crate::ledger::{Ledger, LedgerEntry};
use crate::mirror::worker::EndReason;
use crate::observe::{Event, LinkState};
use crate::sample::broker::{Fault, Release};
use crate::sample::{Batch, Seen};

/// What the ledger says of the first partition.
fn checkpoint(world: &mut World) -> crate::ledger::Checkpoint {
    let mut ledger = Ledger::default();
    for Seen { offset, key, value, .. } in world.network.target.log("kmirror.m.ledger", 0).records() {
        ledger.read(offset, key.unwrap().as_bytes(), value.as_ref().map(String::as_bytes)).unwrap();
    }
    ledger.furthest(TOPIC, 0).expect("a checkpoint")
}

#[test]
fn a_stop_writes_what_was_read_and_says_so_in_the_ledger() {
    for target in [Release::V0_10_2, Release::V3_9] {
        let mut world = stamped(target, 10, 3);
        world.config.fetch.partition_bytes_max = 300;
        world.network.target.faults.extend([None, Some(Fault::Slow(3 * SECOND))]);
        assert!(world.start().reach(MINUTE, |world| world.network.target.faults.is_empty()));
        let summary = world.stop().end_within(20 * SECOND).unwrap();
        assert_eq!((summary.reason, summary.drained), (EndReason::Stopped, true));
        let (source, written) = world.values();
        assert_eq!(written, source[..written.len()], "what was read, and nothing else");
        let last = checkpoint(&mut world);
        let end = i64::try_from(written.len()).unwrap();
        assert_eq!((last.drained, last.source_next().0, last.target_next().0), (true, end, end));
        assert!(world.shards_ended());
    }
}

#[test]
fn a_target_that_does_not_answer_ends_the_stop_after_its_time_and_is_not_called_drained() {
    let mut world = stamped(Release::V3_9, 10, 3);
    world.config.stop_timeout = 10 * SECOND;
    world.network.target.faults.extend([None, Some(Fault::Slow(25 * SECOND))]);
    assert!(world.start().reach(MINUTE, |world| world.network.target.faults.is_empty()));
    let summary = world.stop().end_within(11 * SECOND).unwrap();
    assert!(!summary.drained);
    assert!(world.events.iter().any(|event| matches!(event, Event::StopTimedOut { links: 1 })), "{:#?}", world.events);
    assert!(!checkpoint(&mut world).drained);
    assert!(world.shards_ended());
    world.config.until_caught_up = true;
    assert!(world.start().end_within(MINUTE).is_ok());
    world.assert_mirrored();
}

#[test]
fn a_link_in_doubt_ends_at_once_and_leaves_its_doubt_in_the_ledger() {
    for mut world in [stamped(Release::V3_9, 10, 3), legacy(Release::V0_10_2, 5)] {
        world.network.target.faults.extend([None, Some(Fault::AppendLate(8 * SECOND))]);
        assert!(world.start().reach(MINUTE, |world| !world.doubts().is_empty()));
        assert_ne!(world.states(), [[LinkState::Running]]);
        let summary = world.stop().end_within(5 * SECOND).unwrap();
        assert!(!summary.drained, "something may still land");
        assert!(!checkpoint(&mut world).drained);
        world.config.until_caught_up = true;
        assert!(world.start().end_within(2 * MINUTE).is_ok());
        world.run(MINUTE).assert_mirrored();
    }
}

#[test]
fn a_stop_before_anything_began_is_a_clean_one() {
    let mut world = stamped(Release::V3_9, 1, 1);
    let summary = world.start().stop().end_within(SECOND).unwrap();
    assert_eq!((summary.reason, summary.drained), (EndReason::Stopped, true));
    assert!(world.shards_ended());
    // The same at every moment of the first second.
    for moment in 1..60 {
        let mut world = stamped(Release::V3_9, 3, 1);
        let ended = world.start().run(moment * MS).stop().end_within(5 * SECOND).unwrap();
        assert_eq!(ended.reason, EndReason::Stopped);
        assert!(world.shards_ended(), "after {moment} ms");
        world.config.until_caught_up = true;
        assert!(world.start().end_within(MINUTE).is_ok());
        world.assert_mirrored();
    }
}

/// Else the next start towards 0.10 would wait for the settle time though nothing was written in between.
#[test]
fn a_stop_while_it_starts_leaves_the_last_word_standing() {
    for moment in 0..60 {
        let mut world = legacy(Release::V0_10_2, 3);
        world.config.until_caught_up = true;
        assert!(world.start().end_within(MINUTE).is_ok());
        let summary = world.start().run(moment * MS).stop().end_within(5 * SECOND).unwrap();
        assert!(summary.drained, "after {moment} ms");
        assert!(checkpoint(&mut world).drained, "after {moment} ms: {:#?}", world.events);
        assert!(world.start().end_within(SECOND).is_ok(), "after {moment} ms: it waits");
        world.assert_mirrored();
    }
}

#[test]
fn a_kill_at_any_moment_loses_and_repeats_nothing() {
    for target in [Release::V2_0, Release::V3_9] {
        for moment in (1..60).map(|n| n * 2) {
            let mut world = stamped(target, 40, 2);
            world.config.fetch.partition_bytes_max = 1_000;
            world.config.until_caught_up = true;
            world.start().run(moment * MS).kill().run(3 * MS);
            let ended = world.start().end_within(MINUTE);
            assert!(ended.is_ok(), "{moment}: {ended:?}");
            world.run(SECOND).assert_mirrored();
        }
    }
}

#[test]
fn until_caught_up_ends_behind_markers_and_aborted_records() {
    let mut world = stamped(Release::V3_9, 2, 2);
    let log = world.network.source.log(TOPIC, 0);
    log.put(Batch::new(4, 2).transactional(7).bytes());
    log.put(Batch::marker(6, 7, 0).bytes());
    log.aborted = vec![kmirror_proto::messages::AbortedTransaction { producer_id: 7, first_offset: 4 }];
    world.config.until_caught_up = true;
    let summary = world.start().end_within(MINUTE).unwrap();
    assert_eq!(
        (summary.status.total().lag, world.values().1),
        (Some(0), ["v0", "v1", "v2", "v3"].map(String::from).into())
    );
}

#[test]
fn until_caught_up_does_not_wait_for_what_compaction_took() {
    // report B30, KAFKA-12980: the log's end lies behind its last record.
    for source in [Release::V0_10_2, Release::V3_9] {
        let mut world = World::new(source, Release::V3_9);
        let log = world.network.source.log(TOPIC, 0);
        (0..4).for_each(|_| log.put(crate::sample::message(log.end)));
        log.end = 10;
        world.config.until_caught_up = true;
        let summary = world.start().end_within(MINUTE).unwrap();
        assert_eq!((summary.status.total().lag, summary.status.total().links_caught_up), (Some(0), 1));
        assert_eq!(world.values().1.len(), 4);
        let last = checkpoint(&mut world);
        assert_eq!(last.source_next().0, 4, "and claims nothing about offsets that were never read");
    }
}

#[test]
fn until_caught_up_ends_at_an_open_transaction() {
    let mut world = stamped(Release::V3_9, 2, 2);
    let log = world.network.source.log(TOPIC, 0);
    log.put(Batch::new(4, 2).transactional(7).bytes());
    log.stable = Some(4);
    world.config.until_caught_up = true;
    let summary = world.start().end_within(MINUTE).unwrap();
    assert_eq!((summary.status.total().lag, world.values().1.len()), (Some(0), 4));
}

#[test]
fn checkpoints_follow_while_it_runs_and_are_not_drained() {
    let mut world = stamped(Release::V3_9, 10, 3);
    world.start().run(5 * SECOND);
    let first = checkpoint(&mut world);
    assert_eq!((first.source_next().0, first.drained, first.origin), (30, false, false));
    fill(&mut world, 0, 5, 2);
    world.run(3 * SECOND);
    assert_eq!(checkpoint(&mut world).source_next().0, 40);
    let entries = world.network.target.log("kmirror.m.ledger", 0).values().len();
    world.run(10 * MINUTE);
    assert_eq!(world.network.target.log("kmirror.m.ledger", 0).values().len(), entries, "no news, no entries");
}

#[test]
fn a_link_that_wrote_nothing_yet_is_an_origin() {
    let mut world = stamped(Release::V3_9, 0, 0);
    world.network.target.log(TOPIC, 0).put(Batch::new(0, 4).bytes());
    world.start().run(5 * SECOND);
    let first = checkpoint(&mut world);
    assert_eq!((first.origin, first.drained, first.target_next().0), (true, false, 4));
    world.stop();
    assert!(world.end_within(SECOND).is_ok());
    let last = checkpoint(&mut world);
    assert_eq!((last.origin, last.drained), (true, true));
    fill(&mut world, 0, 1, 1);
    world.start().run(5 * SECOND);
    assert!(!checkpoint(&mut world).origin);
    assert!(matches!(LedgerEntry::Id { slot: crate::ledger::Slot::Exclusive, id: 1 }.key().as_str(), "id/1"));
}
