//! Tiny batches that wait are joined, where they may be.

use kmirror_proto::ErrorCode;
use kmirror_proto::records::RawBatch;

use super::world::{MINUTE, MS, SECOND, TOPIC, World};
use super::{fill, route, stamped};
use crate::config::Coalesce;
use crate::observe::Counters;
use crate::sample::Batch;
use crate::sample::broker::{Fault, Release};

/// A hundred batches of three records, and a target that is 20 ms away.
fn far(coalesce: Coalesce) -> World {
    let mut world = stamped(Release::V3_9, 100, 3);
    world.network.latency = 20 * MS;
    world.config.until_caught_up = true;
    route(&mut world, |route| route.coalesce = coalesce);
    world
}

/// How many records each batch of the target holds.
fn sizes(world: &mut World) -> Vec<i32> {
    let entries = world.network.target.log(TOPIC, 0).entries.clone();
    entries.into_iter().map(|entry| RawBatch::from_bytes(entry).unwrap().header.records_count).collect()
}

fn counters(world: &World) -> Counters {
    world.status.total().counters
}

#[test]
fn a_backlog_of_tiny_batches_takes_few_requests() {
    let mut world = far(Coalesce::Auto);
    let began = world.now;
    assert!(world.start().end_within(MINUTE).is_ok());
    world.assert_mirrored();
    let took = world.now.tick.since(began.tick);
    assert_eq!(sizes(&mut world), [300]);
    let counted = counters(&world);
    assert_eq!((counted.batches_joined, counted.batches_raw, counted.records), (100, 0, 300));

    let mut apart = far(Coalesce::Off);
    let began = apart.now;
    assert!(apart.start().end_within(MINUTE).is_ok());
    assert_eq!(sizes(&mut apart), vec![3; 100]);
    let counted = counters(&apart);
    assert_eq!((counted.batches_joined, counted.batches_raw, counted.records), (0, 100, 300));
    assert!(apart.now.tick.since(began.tick) > took + 400 * MS, "five requests in a round trip of 40 ms");
}

#[test]
fn an_idle_link_joins_nothing_and_waits_for_nothing() {
    let mut world = far(Coalesce::Auto);
    world.config.until_caught_up = false;
    world.start().run(5 * SECOND);
    let joined = counters(&world).batches_joined;
    for _ in 0..10 {
        fill(&mut world, 0, 1, 2);
        world.run(SECOND);
    }
    world.assert_mirrored();
    assert_eq!(counters(&world).batches_joined, joined);
    assert_eq!(sizes(&mut world)[1..], [2; 10]);
}

#[test]
fn off_is_byte_for_byte() {
    let mut world = far(Coalesce::Off);
    assert!(world.start().end_within(MINUTE).is_ok());
    let payloads = |entries: &[bytes::Bytes]| entries.iter().map(|entry| entry.slice(61..)).collect::<Vec<_>>();
    let source = payloads(&world.network.source.log(TOPIC, 0).entries);
    assert_eq!(source, payloads(&world.network.target.log(TOPIC, 0).entries));
}

#[test]
fn a_large_batch_among_tiny_ones_goes_as_it_came() {
    let mut world = far(Coalesce::Auto);
    let log = world.network.source.log(TOPIC, 0);
    log.put(Batch::new(log.end, 2).padding(9_000).bytes());
    let large = log.entries[100].slice(61..);
    fill(&mut world, 0, 50, 3);
    assert!(world.start().end_within(MINUTE).is_ok());
    world.assert_mirrored();
    assert_eq!(sizes(&mut world), [300, 2, 150]);
    assert_eq!(world.network.target.log(TOPIC, 0).entries[1].slice(61..), large);
    assert_eq!(counters(&world).batches_raw, 1);
}

#[test]
fn a_joined_batch_that_is_refused_goes_as_it_came() {
    // The topic says more than its broker takes: three records fit, three hundred do not.
    let mut world = far(Coalesce::Auto);
    world.network.target.batch_bytes_max = 4_000;
    assert!(world.start().end_within(MINUTE).is_ok());
    world.assert_mirrored();
    assert!(world.doubts()[0].contains("joined: they go as they came"), "{:?}", world.doubts());
    assert_eq!(sizes(&mut world), vec![3; 100], "none is taken apart further");
}

#[test]
fn a_lost_acknowledgement_of_a_joined_batch_is_counted() {
    for fault in [Fault::AckLost, Fault::AppendLate(3 * SECOND), Fault::Refuse(ErrorCode::NOT_LEADER_OR_FOLLOWER)] {
        let mut world = far(Coalesce::Auto);
        world.config.fetch.partition_bytes_max = 2_000;
        world.network.target.faults.extend([None, Some(fault)]);
        assert!(world.start().end_within(5 * MINUTE).is_ok());
        assert!(world.network.target.faults.is_empty() && !world.doubts().is_empty());
        world.run(MINUTE).assert_mirrored();
        assert!(counters(&world).batches_joined > 0);
    }
}

#[test]
fn a_process_that_is_killed_amid_joined_batches_repeats_nothing() {
    let mut world = far(Coalesce::Auto);
    world.config.fetch.partition_bytes_max = 2_000;
    world.network.target.faults.extend([None, None, Some(Fault::AppendLate(2 * SECOND))]);
    assert!(world.start().reach(MINUTE, |world| world.network.target.faults.is_empty()));
    world.kill();
    // The next one joins others than the first: the sequences are the records', not the batches'.
    world.config.produce.batch_bytes_max = 400;
    assert!(world.start().end_within(5 * MINUTE).is_ok());
    world.run(MINUTE).assert_mirrored();
}
