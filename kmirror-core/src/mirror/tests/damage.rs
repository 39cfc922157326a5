//! Damaged batches of the source: one link stops, or goes on without them, and a restart counts the same.

use kmirror_proto::ErrorCode;
use kmirror_proto::records::{Checksums, RawBatch};

use super::world::{MINUTE, SECOND, TOPIC, World};
use super::{fill, route, stamped};
use crate::config::{Coalesce, DamagePolicy};
use crate::observe::{Event, StopReason};
use crate::offset::SourceOffset;
use crate::plan::Refused;
use crate::sample::Batch;
use crate::sample::broker::{Fault, Release};

/// Flips a bit of the last value of the batch `number` of a partition of the source; both checksums.
fn damage(world: &mut World, partition: usize, number: usize) -> Checksums {
    let log = world.network.source.log(TOPIC, partition);
    let mut bytes = log.entries[number].to_vec();
    let at = bytes.len() - 2;
    bytes[at] ^= 1;
    let checksums = RawBatch::from_bytes(bytes.clone().into()).unwrap().checksums();
    log.entries[number] = bytes.into();
    checksums
}

/// Eight batches of three records; the sixth is damaged.
fn skipping(target: Release) -> World {
    let mut world = stamped(target, 8, 3);
    damage(&mut world, 0, 5);
    world.config.until_caught_up = true;
    route(&mut world, |route| route.damage = DamagePolicy::Skip);
    world
}

/// The target holds everything but offsets 15, 16, 17.
#[track_caller]
fn assert_all_but_the_sixth(world: &mut World) {
    let (source, target) = world.values();
    let expected: Vec<_> = source.iter().take(15).chain(source.iter().skip(18)).cloned().collect();
    assert_eq!(target, expected, "{:#?}", world.events);
}

fn dropped(world: &World) -> Vec<(SourceOffset, SourceOffset, u32)> {
    let dropped = world.events.iter().filter_map(|event| {
        if let Event::Dropped { from, to, records, .. } = event { Some((*from, *to, *records)) } else { None }
    });
    dropped.collect()
}

#[test]
fn the_others_go_on_where_one_link_stops() {
    let mut world = World::new(Release::V3_9, Release::V3_9);
    world.network.source.topic(TOPIC, 2);
    world.network.target.topic(TOPIC, 2);
    world.config.produce.abort_on_send_failure = false;
    for partition in 0..2 {
        fill(&mut world, partition, 6, 2);
    }
    let checksums = damage(&mut world, 0, 3);
    world.start().run(10 * SECOND);
    let stopped = world.events.iter().find(|event| matches!(event, Event::Stopped { .. })).unwrap().to_string();
    let (stored, computed) = (format!("{:08x}", checksums.stored), format!("{:08x}", checksums.computed));
    for said in ["t-0", "offset 6", &stored, &computed, "on_damage"] {
        assert!(stopped.contains(said), "{said}: {stopped}");
    }
    assert_eq!(world.network.target.log(TOPIC, 0).values().len(), 6);
    assert_eq!(world.network.target.log(TOPIC, 1).values().len(), 12);
    fill(&mut world, 1, 1, 2);
    world.run(5 * SECOND);
    assert_eq!(world.network.target.log(TOPIC, 1).values().len(), 14);
}

#[test]
fn a_damaged_batch_is_left_out_with_an_event_and_counted() {
    for target in [Release::V3_9, Release::V2_0, Release::V0_10_2] {
        let mut world = skipping(target);
        let ended = world.start().end_within(MINUTE);
        assert!(ended.is_ok(), "{ended:?}");
        assert_all_but_the_sixth(&mut world);
        assert_eq!(dropped(&world), [(SourceOffset(15), SourceOffset(18), 3)]);
        let text = world.events.iter().find(|event| matches!(event, Event::Dropped { .. })).unwrap().to_string();
        assert!(
            text.contains("t-0: 3 records dropped, source offsets [15, 18)") && text.contains("checksum"),
            "{text}"
        );
        assert_eq!((world.status.total().counters.dropped, world.status.total().counters.records), (3, 21));
        // The next run neither finds it again nor misses anything.
        world.events.clear();
        fill(&mut world, 0, 2, 3);
        assert!(world.start().end_within(2 * MINUTE).is_ok());
        assert_all_but_the_sixth(&mut world);
        assert_eq!(dropped(&world), []);
    }
}

#[test]
fn a_crash_behind_what_is_left_out_counts_without_it() {
    for target in [Release::V3_9, Release::V2_0, Release::V0_10_2] {
        for lost in 1..6 {
            let mut world = skipping(target);
            // One batch in an answer; the acknowledgement of one write, before or behind the damage, is lost and so is the
            // process.
            world.config.fetch.partition_bytes_max = 100;
            world.config.checkpoint_interval = MINUTE;
            let faults = (0..lost).map(|_| None).chain([Some(Fault::AckLost)]);
            world.network.target.faults.extend(faults);
            assert!(world.start().reach(MINUTE, |world| world.network.target.faults.is_empty()), "{target:?} {lost}");
            world.kill();
            assert!(world.start().end_within(3 * MINUTE).is_ok(), "{target:?} {lost}: {:#?}", world.events);
            world.run(MINUTE);
            assert_all_but_the_sixth(&mut world);
        }
    }
}

#[test]
fn damage_among_joined_batches_is_left_out_alone() {
    let mut world = skipping(Release::V3_9);
    route(&mut world, |route| route.coalesce = Coalesce::Auto);
    assert!(world.start().end_within(MINUTE).is_ok());
    assert_all_but_the_sixth(&mut world);
    assert!(world.status.total().counters.batches_joined > 0);
}

#[test]
fn several_damaged_batches_in_a_row_are_left_out_one_by_one() {
    let mut world = skipping(Release::V3_9);
    for number in [0, 6, 7] {
        damage(&mut world, 0, number);
    }
    assert!(world.start().end_within(MINUTE).is_ok());
    let (source, target) = world.values();
    assert_eq!(target, source[3..15]);
    let ranges: Vec<_> = dropped(&world).iter().map(|(from, to, _)| (from.0, to.0)).collect();
    assert_eq!(ranges, [(0, 3), (15, 18), (18, 21), (21, 24)]);
}

#[test]
fn a_payload_that_the_target_cannot_read_is_looked_into() {
    // fact R18: a broker says −1 to broken bytes, as it does in trouble of its own. Nothing is looked into at once.
    let refusal = || Some(Fault::Refuse(ErrorCode::UNKNOWN_SERVER_ERROR));
    let mut broken = Batch::new(0, 2);
    broken.attributes = 1;
    let mut world = stamped(Release::V3_9, 0, 0);
    world.network.source.log(TOPIC, 0).put(broken.bytes());
    world.network.target.faults.extend([refusal(), refusal(), refusal()]);
    assert!(world.start().end_within(2 * MINUTE).is_err());
    assert!(world.network.target.faults.is_empty(), "it is tried three times");
    let stops = world.stops();
    assert!(
        matches!(stops[..], [StopReason::Unreadable { offset: SourceOffset(0), why: Refused::Malformed(_) }]),
        "{stops:?}"
    );
    assert_eq!(world.network.target.log(TOPIC, 0).end, 0);
}

#[test]
fn a_broker_in_trouble_is_waited_for() {
    // The same answer, and records that parse: they go one by one, and all of them arrive.
    let mut world = stamped(Release::V3_9, 2, 3);
    world.config.until_caught_up = true;
    let refusal = || Some(Fault::Refuse(ErrorCode::UNKNOWN_SERVER_ERROR));
    world.network.target.faults.extend([refusal(), refusal(), refusal(), refusal(), refusal()]);
    assert!(world.start().end_within(5 * MINUTE).is_ok());
    assert!(world.network.target.faults.is_empty());
    world.assert_mirrored();
}
