//! What a mirror costs while nothing, or much, happens.

use kmirror_proto::ApiKey;

use super::world::{MINUTE, SECOND, TOPIC, World};
use super::{fill, stamped};
use crate::config::Side;
use crate::sample::Batch;
use crate::sample::broker::{Fault, Release};

#[test]
fn an_idle_mirror_sleeps() {
    for target in [Release::V0_10_2, Release::V3_9] {
        let mut world = stamped(target, 3, 2);
        world.start().run(10 * SECOND);
        let (wakes, fetches) = (world.wakes, world.network.source.times_asked(ApiKey::FETCH));
        world.run(MINUTE);
        assert!(world.wakes - wakes < 150, "{} wakes in an idle minute", world.wakes - wakes);
        let fetches = world.network.source.times_asked(ApiKey::FETCH) - fetches;
        assert!((100..130).contains(&fetches), "{fetches} fetches: one per fetch.max.wait.ms");
    }
}

#[test]
fn a_mirror_in_trouble_does_not_spin() {
    for (side, seen) in [(Side::Source, ApiKey::FETCH), (Side::Target, ApiKey::PRODUCE)] {
        let mut world = stamped(Release::V3_9, 3, 2);
        world.start().run(5 * SECOND);
        match side {
            Side::Source => world.network.source.down = true,
            Side::Target => world.network.target.down = true,
        }
        fill(&mut world, 0, 1, 1);
        world.cut(side).run(MINUTE);
        let wakes = world.wakes;
        world.run(MINUTE);
        assert!(world.wakes - wakes < 600, "{side}: {} wakes in a minute without {seen}", world.wakes - wakes);
    }
}

#[test]
fn links_that_are_held_back_do_not_keep_the_others_awake() {
    // One link is refused again and again while another one's fetch is parked at the same broker.
    let mut world = World::new(Release::V3_9, Release::V3_9);
    world.network.source.topic(TOPIC, 2);
    world.network.target.topic(TOPIC, 2);
    world.start().run(5 * SECOND);
    world.network.source.log(TOPIC, 0).says = Some(kmirror_proto::ErrorCode::NOT_LEADER_OR_FOLLOWER);
    let wakes = world.wakes;
    world.run(MINUTE);
    assert!(world.wakes - wakes < 400, "{} wakes in a minute", world.wakes - wakes);
}

#[test]
fn a_topic_that_nobody_leads_is_asked_for_with_rests() {
    let mut world = stamped(Release::V3_9, 3, 2);
    world.start().run(5 * SECOND);
    world.network.source.leaderless = true;
    world.network.target.leaderless = true;
    world.network.target.faults.push_back(Some(Fault::Refuse(kmirror_proto::ErrorCode::NOT_LEADER_OR_FOLLOWER)));
    fill(&mut world, 0, 1, 1);
    world.run(5 * SECOND);
    let (wakes, asked) = (world.wakes, world.network.target.times_asked(ApiKey::METADATA));
    world.run(MINUTE);
    let asked = world.network.target.times_asked(ApiKey::METADATA) - asked;
    assert!(asked < 150, "{asked} questions for metadata in a minute, from worker and shard");
    assert!(world.wakes - wakes < 600, "{} wakes in a minute", world.wakes - wakes);
}

#[test]
fn an_answer_that_leads_nowhere_is_not_asked_for_in_a_tight_loop() {
    let mut world = stamped(Release::V3_9, 3, 2);
    world.start().run(5 * SECOND);
    // The log's end says that there is more, but what comes back lies before it.
    let log = world.network.source.log(TOPIC, 0);
    log.stuck = true;
    let fetches = world.network.source.times_asked(ApiKey::FETCH);
    world.run(MINUTE);
    let fetches = world.network.source.times_asked(ApiKey::FETCH) - fetches;
    assert!(fetches < 100, "{fetches} fetches in a minute");
}

#[test]
fn memory_stays_within_its_budget_and_one_batch() {
    let mut world = World::new(Release::V3_9, Release::V3_9);
    let (partitions, batch) = (8, 40_000);
    world.network.source.topic(TOPIC, partitions);
    world.network.target.topic(TOPIC, partitions);
    for partition in 0..partitions {
        let log = world.network.source.log(TOPIC, partition);
        for _ in 0..30 {
            log.put(Batch::new(log.end, 4).padding(batch / 4).bytes());
        }
    }
    world.config.memory_bytes_max = 200_000;
    world.config.fetch.bytes_max = 150_000;
    world.config.fetch.partition_bytes_max = 50_000;
    world.config.until_caught_up = true;
    world.network.target.faults.extend((0..40).map(|n| (n % 4 == 0).then_some(Fault::Slow(SECOND))));
    assert!(world.start().end_within(10 * MINUTE).is_ok());
    assert!(world.memory_max > 100_000, "the budget is used: {}", world.memory_max);
    assert!(world.memory_max <= 200_000 + batch + 1_000, "{} bytes", world.memory_max);
    for partition in 0..partitions {
        assert_eq!(world.network.target.log(TOPIC, partition).values().len(), 120);
    }
}

#[test]
fn a_batch_larger_than_the_whole_budget_still_gets_through() {
    let mut world = World::new(Release::V3_9, Release::V3_9);
    let log = world.network.source.log(TOPIC, 0);
    (0..3).for_each(|_| log.put(Batch::new(log.end, 1).padding(90_000).bytes()));
    world.config.memory_bytes_max = 20_000;
    world.config.fetch.partition_bytes_max = 10_000;
    world.config.until_caught_up = true;
    assert!(world.start().end_within(MINUTE).is_ok());
    world.assert_mirrored();
}

#[test]
fn full_lanes_are_not_read_for() {
    let mut world = World::new(Release::V3_9, Release::V3_9);
    world.network.source.topic(TOPIC, 2);
    world.network.target.topic(TOPIC, 2);
    world.config.fetch.partition_bytes_max = 2_000;
    fill(&mut world, 0, 500, 5);
    fill(&mut world, 1, 500, 5);
    world.network.target.faults.extend([None, Some(Fault::Slow(10 * SECOND))]);
    world.start().run(8 * SECOND);
    assert!(world.memory_max < 256 * 1024 * 1024);
    let (held, fetches) = (world.memory_max, world.network.source.times_asked(ApiKey::FETCH));
    world.run(SECOND);
    assert_eq!((world.memory_max, world.network.source.times_asked(ApiKey::FETCH)), (held, fetches));
    world.run(MINUTE);
    assert_eq!(world.network.target.log(TOPIC, 1).values().len(), 2_500);
}

#[test]
fn old_records_are_written_one_at_a_time_where_that_matters() {
    // rule P8: two days old.
    for (target, wanted) in [(Release::V3_9, 1), (Release::V2_0, 5)] {
        let mut world = World::new(Release::V3_9, target);
        let log = world.network.source.log(TOPIC, 0);
        for _ in 0..40 {
            let mut batch = Batch::new(log.end, 1);
            batch.t0 -= 2 * 86_400_000;
            log.put(batch.bytes());
        }
        world.config.fetch.partition_bytes_max = 300;
        world.network.latency = 20 * super::world::MS;
        assert!(world.start().reach(MINUTE, |world| world.values().1.len() == 40));
        assert_eq!(world.in_flight_max, wanted, "{target:?}");
    }
}
