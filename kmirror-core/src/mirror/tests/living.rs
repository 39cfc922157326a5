//! Topics and partitions that come, go and change their names while the mirror runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::world::{MINUTE, MS, SECOND, TOPIC, World};
use super::{fill, route, stamped};
use crate::config::{PartitionPolicy, Rename, StartPolicy, TopicSelection};
use crate::filter::{Decision, Filters, RecordFilter};
use crate::mirror::worker::MirrorError;
use crate::observe::{Event, RouteEvent, StopReason, TopicState};
use crate::plan::SourceRecord;
use crate::sample::Batch;
use crate::sample::broker::Release;

/// Appends records to any topic of the source.
fn write(world: &mut World, topic: &str, partition: usize, records: i32) {
    let log = world.network.source.log(topic, partition);
    log.put(Batch::new(log.end, records).bytes());
}

#[track_caller]
fn assert_copied(world: &mut World, topic: &str, target: &str, partitions: usize) {
    for partition in 0..partitions {
        let wanted = world.network.source.log(topic, partition).values();
        assert!(!wanted.is_empty());
        assert_eq!(
            world.network.target.log(target, partition).values(),
            wanted,
            "{topic}-{partition}: {:#?}",
            world.events
        );
    }
}

/// report B41: whatever the policy of the first run says.
#[test]
fn a_topic_that_is_born_later_is_mirrored_from_its_first_record() {
    for target in [Release::V0_10_2, Release::V2_0, Release::V3_9] {
        let mut world = stamped(target, 3, 2);
        world.config.start = StartPolicy::Latest;
        world.start().run(5 * SECOND);
        world.network.source.topic("t-new", 2);
        (0..2).for_each(|partition| write(&mut world, "t-new", partition, 5));
        world.run(30 * SECOND);
        assert_copied(&mut world, "t-new", "t-new", 2);
        assert_eq!(world.values().1.len(), 0, "of the first one nothing was to be copied");
        assert!(
            world
                .events
                .iter()
                .any(|event| matches!(event, Event::Route(RouteEvent::TopicFound { topic, .. }) if topic == "t-new"))
        );
        write(&mut world, "t-new", 1, 5);
        world.stop().run(SECOND);
        // Nor does a restart that finds it in its ledger ask the policy.
        world.start().run(MINUTE);
        assert_copied(&mut world, "t-new", "t-new", 2);
    }
}

#[test]
fn a_partition_that_is_added_is_added_on_the_target_first() {
    let mut world = stamped(Release::V3_9, 3, 2);
    world.config.start = StartPolicy::Latest;
    world.start().run(5 * SECOND);
    let logs = world.network.source.topics.get_mut(TOPIC).unwrap();
    logs.push(Default::default());
    write(&mut world, TOPIC, 1, 5);
    world.run(30 * SECOND);
    assert_eq!(world.network.target.topics[TOPIC].len(), 2, "{:#?}", world.events);
    assert_eq!(world.network.target.log(TOPIC, 1).values().len(), 5);
    let seen = |wanted: fn(&Event) -> bool| world.events.iter().any(wanted);
    assert!(seen(|event| matches!(event, Event::Route(RouteEvent::PartitionsFound { from: 1, to: 2, .. }))));
    assert!(seen(|event| matches!(event, Event::Route(RouteEvent::PartitionsAdded { from: 1, to: 2, .. }))));
}

#[test]
fn a_topic_that_is_gone_is_let_go_and_does_not_come_back_as_another() {
    let mut world = stamped(Release::V3_9, 3, 2);
    world.network.source.topic("t-other", 1);
    write(&mut world, "t-other", 0, 5);
    world.start().run(5 * SECOND);
    world.network.source.topics.remove("t-other");
    assert!(world.reach(MINUTE, |world| {
        world.status.topics.get("t-other").is_some_and(|topic| topic.state == TopicState::Gone)
    }));
    assert!(
        world
            .events
            .iter()
            .any(|event| matches!(event, Event::Route(RouteEvent::LetGo { gone: true, topic }) if topic == "t-other"))
    );
    assert_eq!(world.status.topics["t-other"].counters.records, 5, "what was done stays counted");
    fill(&mut world, 0, 2, 2);
    world.run(5 * SECOND);
    world.assert_mirrored();

    world.network.source.topic("t-other", 1);
    write(&mut world, "t-other", 0, 9);
    world.run(MINUTE);
    assert_eq!(world.network.target.log("t-other", 0).values().len(), 5, "report B25");
    assert!(world.blocked()[0].contains("gone for a while and is there again"), "{:?}", world.blocked());
    assert_eq!(world.status.topics["t-other"].state, TopicState::Stopped);
}

#[test]
fn a_broker_that_knows_no_topics_for_a_moment_takes_none_away() {
    let mut world = stamped(Release::V3_9, 3, 2);
    world.start().run(20 * SECOND);
    let topics = std::mem::take(&mut world.network.source.topics);
    world.select("t.*").run(4 * SECOND);
    world.network.source.topics = topics;
    fill(&mut world, 0, 3, 2);
    world.run(MINUTE);
    world.assert_mirrored();
    assert!(world.stops().is_empty() && world.blocked().is_empty(), "{:#?}", world.events);
}

#[test]
fn a_mirror_that_began_with_nothing_takes_all_of_what_comes() {
    let mut world = World::new(Release::V3_9, Release::V3_9);
    world.config.start = StartPolicy::Latest;
    world.config.topics = TopicSelection::pattern("nothing").unwrap();
    world.start().run(30 * SECOND);
    fill(&mut world, 0, 3, 2);
    world.select("t.*").run(30 * SECOND);
    world.assert_mirrored();
}

#[test]
fn other_topics_can_be_wanted_at_any_time() {
    let mut world = stamped(Release::V3_9, 3, 2);
    world.network.source.topic("orders", 1);
    write(&mut world, "orders", 0, 5);
    world.start().run(5 * SECOND);
    assert!(!world.network.target.topics.contains_key("orders"));
    world.select("orders").run(5 * SECOND);
    assert_copied(&mut world, "orders", "orders", 1);
    fill(&mut world, 0, 1, 4);
    write(&mut world, "orders", 0, 5);
    world.run(MINUTE);
    assert_copied(&mut world, "orders", "orders", 1);
    assert_eq!(world.values().1.len(), 6, "no longer wanted");

    world.select("t|orders").run(5 * SECOND);
    world.assert_mirrored();
    assert_eq!(world.counted(), 0, "it went on where it had left off");
    assert!(world.stops().is_empty() && world.doubts().is_empty(), "{:#?}", world.events);
    world.stop();
    assert!(world.end_within(MINUTE).unwrap().drained);
}

#[test]
fn a_renamed_topic_keeps_its_place_and_another_name_is_not_taken_silently() {
    let mut world = stamped(Release::V3_9, 3, 2);
    world.config.until_caught_up = true;
    world.config.routing.rename = Some(Rename::Prefix("copy.".to_owned()));
    for _ in 0..2 {
        fill(&mut world, 0, 2, 2);
        assert!(world.start().end_within(MINUTE).is_ok());
        assert_copied(&mut world, TOPIC, "copy.t", 1);
    }
    world.config.routing.rename = None;
    let error = world.start().end_within(MINUTE).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("mirrored to target topic copy.t") && text.contains("take the rename back"), "{text}");
    assert!(world.values().1.is_empty());
}

#[test]
fn two_sources_are_never_mixed_into_one_target() {
    let mut world = stamped(Release::V3_9, 3, 2);
    world.network.source.topic("t-other", 1).topic("t-third", 1);
    write(&mut world, "t-third", 0, 5);
    let mapping = [("t-other".to_owned(), "t".to_owned())];
    world.config.routing.mapping = BTreeMap::from(mapping);
    world.start().run(MINUTE);
    assert_copied(&mut world, "t-third", "t-third", 1);
    assert_eq!(world.values().1.len(), 0, "neither begins");
    assert_eq!(world.blocked().len(), 2);
    assert!(world.blocked()[0].contains("never mixed into one target"), "{:?}", world.blocked());
    // When one of them is gone, the other one begins.
    world.network.source.topics.remove("t-other");
    world.run(MINUTE);
    world.assert_mirrored();
}

/// What one source has left there is not continued by another, under the same producer id.
#[test]
fn a_target_that_one_source_has_left_is_not_taken_by_another() {
    let mut world = stamped(Release::V3_9, 3, 2);
    world.network.source.topic("t-other", 1);
    write(&mut world, "t-other", 0, 9);
    world.config.routing.mapping = BTreeMap::from([("t-other".to_owned(), "t".to_owned())]);
    world.config.topics = TopicSelection::pattern("t").unwrap();
    world.start().run(5 * SECOND);
    world.select("t-other").run(MINUTE);
    world.assert_mirrored();
    assert!(world.blocked().iter().any(|why| why.contains("has mirrored t before")), "{:?}", world.blocked());
}

#[test]
fn a_topic_that_is_wanted_again_at_once_goes_on_behind_its_last_word() {
    for target in [Release::V0_10_2, Release::V3_9] {
        let mut world = stamped(target, 30, 3);
        world.network.source.topic("orders", 1);
        world.network.latency = 50 * MS;
        world.start().reach(MINUTE, |world| world.values().1.len() > 10);
        for _ in 0..5 {
            world.select("orders");
            world.select("t").run(300 * MS);
        }
        fill(&mut world, 0, 3, 2);
        world.run(2 * MINUTE);
        world.assert_mirrored();
        assert!(world.stops().is_empty(), "{:#?}", world.events);
        world.kill();
        // That it was let go in between is no word of the one that ran last.
        world.start().run(10 * SECOND);
        let settled = world.events.iter().filter(|event| matches!(event, Event::Settling { .. })).count();
        assert_eq!(settled > 0, target == Release::V0_10_2);
    }
}

#[test]
fn thousands_of_topics_can_be_let_go_at_once() {
    let mut world = stamped(Release::V3_9, 1, 1);
    route(&mut world, |route| route.creation.create = false);
    for topic in 0..3_000 {
        world.network.source.topic(&format!("t-{topic}"), 1);
    }
    world.start().run(10 * SECOND);
    world.select("t").run(10 * SECOND);
    let gone = world.events.iter().filter(|event| matches!(event, Event::Route(RouteEvent::LetGo { .. }))).count();
    assert_eq!(gone, 3_000, "each said once");
    world.assert_mirrored();
}

#[test]
fn a_copy_within_one_cluster_is_not_copied_again() {
    let mut world = World::new(Release::V3_9, Release::V3_9);
    world.network.target.cluster_id = world.network.source.cluster_id;
    world.config.routing.rename = Some(Rename::Prefix("t.".to_owned()));
    // What an earlier run has written stands beside its source.
    world.network.source.topic("t.t", 1);
    fill(&mut world, 0, 3, 2);
    write(&mut world, "t.t", 0, 6);
    world.start().run(MINUTE);
    assert_copied(&mut world, TOPIC, "t.t", 1);
    assert!(!world.network.target.topics.contains_key("t.t.t"), "{:#?}", world.events);
}

#[test]
fn several_partitions_share_one_and_each_keeps_its_place() {
    let mut world = World::new(Release::V3_9, Release::V3_9);
    world.network.source.topic(TOPIC, 5);
    world.network.target.topic(TOPIC, 2);
    world.config.until_caught_up = true;
    world.config.streams = 2;
    route(&mut world, |route| route.partitions = PartitionPolicy::Modulo);
    for _ in 0..3 {
        (0..5).for_each(|partition| fill(&mut world, partition, 4, 3));
        let before = world.network.target.log(TOPIC, 0).values().len();
        assert!(world.start().reach(MINUTE, |world| world.network.target.log(TOPIC, 0).values().len() > before + 3));
        world.kill();
        assert!(world.start().end_within(5 * MINUTE).is_ok(), "{:#?}", world.events);
        for target in 0..2_usize {
            let sources = (0..5).filter(|partition| partition % 2 == target);
            let mut wanted: Vec<String> =
                sources.flat_map(|partition| world.network.source.log(TOPIC, partition).values()).collect();
            let mut found = world.network.target.log(TOPIC, target).values();
            wanted.sort();
            found.sort();
            assert_eq!(found, wanted, "{:#?}", world.events);
        }
    }
    assert_eq!(world.stops(), Vec::<&StopReason>::new());
}

#[test]
fn without_producer_ids_partitions_are_not_shared() {
    let mut world = stamped(Release::V0_10_2, 3, 2);
    route(&mut world, |route| route.partitions = PartitionPolicy::Modulo);
    let error = world.start().end_within(MINUTE).unwrap_err();
    assert!(error.to_string().contains("needs a target of 0.11"), "{error}");
}

/// Keeps records whose offset is a multiple of the number.
#[derive(Debug)]
struct Every(i64);

impl RecordFilter for Every {
    fn decide(&self, _: &str, _: i32, record: &SourceRecord<'_>) -> Decision {
        if record.offset % self.0 == 0 { Decision::Keep } else { Decision::Drop }
    }
    fn digest(&self) -> u64 {
        self.0.unsigned_abs()
    }
}

fn every(world: &mut World, number: i64) {
    route(world, |route| route.filters = Filters::new(vec![Arc::new(Every(number))]));
}

#[test]
fn a_filter_decides_alike_before_and_after_a_crash() {
    for target in [Release::V0_10_2, Release::V2_0, Release::V3_9] {
        let mut world = stamped(target, 40, 5);
        every(&mut world, 3);
        world.start().reach(MINUTE, |world| world.values().1.len() > 20);
        world.kill();
        world.config.until_caught_up = true;
        let summary = world.start().end_within(5 * MINUTE).unwrap();
        let wanted: Vec<String> = (0..200).step_by(3).map(|offset| format!("v{offset}")).collect();
        assert_eq!(world.values().1, wanted, "{target:?}");
        assert!(world.counted() > 0, "some were found behind the checkpoint");
        assert_eq!(summary.status.total().counters.dropped, 0, "a filter's choice is not a loss");
    }
}

#[test]
fn another_filter_after_a_clean_stop_goes_on_and_after_a_crash_stands_still() {
    let mut world = stamped(Release::V3_9, 4, 5);
    world.config.until_caught_up = true;
    every(&mut world, 2);
    assert!(world.start().end_within(MINUTE).is_ok());
    every(&mut world, 5);
    fill(&mut world, 0, 4, 5);
    assert!(world.start().end_within(MINUTE).is_ok());
    let first = (0..20).step_by(2).chain((20..40).step_by(5));
    assert_eq!(world.values().1, first.map(|offset| format!("v{offset}")).collect::<Vec<_>>());

    fill(&mut world, 0, 40, 5);
    world.config.until_caught_up = false;
    let before = world.values().1.len();
    assert!(world.start().reach(MINUTE, |world| world.values().1.len() > before + 5));
    world.kill();
    world.config.until_caught_up = true;
    every(&mut world, 7);
    let error = world.start().end_within(MINUTE).unwrap_err();
    assert!(matches!(error, MirrorError::LinksStopped { .. }), "{error}");
    assert!(matches!(world.stops()[..], [StopReason::ViewChanged { .. }]), "{:?}", world.stops());
    every(&mut world, 5);
    assert!(world.start().end_within(MINUTE).is_ok(), "under the former one it goes on");
}

/// trace C6: a late request under the former filter has its time, and is fenced then.
#[test]
fn another_filter_after_a_crash_with_nothing_to_count_begins_in_a_new_epoch() {
    let mut world = stamped(Release::V3_9, 4, 5);
    every(&mut world, 2);
    world.start().run(10 * SECOND).kill();
    every(&mut world, 5);
    fill(&mut world, 0, 4, 5);
    let before = world.events.len();
    world.start().run(MINUTE);
    let first = (0..20).step_by(2).chain((20..40).step_by(5));
    assert_eq!(world.values().1, first.map(|offset| format!("v{offset}")).collect::<Vec<_>>());
    let since = &world.events[before..];
    assert!(since.iter().any(|event| matches!(event, Event::Settling { .. })), "{since:#?}");
    assert!(since.iter().any(|event| matches!(event, Event::EpochRaised { epoch: 1, .. })), "{since:#?}");
}

#[test]
fn what_is_left_out_is_left_out_again_after_a_crash() {
    for target in [Release::V0_10_2, Release::V2_0, Release::V3_9] {
        let mut world = stamped(target, 3, 2);
        super::drop_what_is_refused(&mut world);
        for _ in 0..5 {
            let log = world.network.source.log(TOPIC, 0);
            log.put(Batch::new(log.end, 1).padding(5_000).bytes());
            log.put(Batch::new(log.end, 3).bytes());
        }
        world.network.target.batch_bytes_max = 4_000;
        let mut kept = 0;
        // Killed at every few records, and always before the ledger has the newest checkpoint.
        while world.values().1.len() < 6 + 5 * 3 {
            kept += 3;
            world.start().reach(5 * MINUTE, |world| world.values().1.len() >= kept);
            world.kill();
        }
        let (mut source, target) = world.values();
        (0..5).rev().for_each(|n| drop(source.remove(6 + n * 4)));
        assert_eq!(target, source);
    }
}

#[test]
fn others_may_write_between_in_a_shared_partition() {
    let mut world = stamped(Release::V3_9, 3, 2);
    world.config.until_caught_up = true;
    route(&mut world, |route| route.partitions = PartitionPolicy::Modulo);
    assert!(world.start().end_within(MINUTE).is_ok());
    // In a shared partition others may write between.
    let log = world.network.target.log(TOPIC, 0);
    log.put(Batch::new(log.end, 4).stamp(777, 0, 0).bytes());
    log.put(Batch::new(log.end, 1).stamp(-1, -1, -1).bytes());
    fill(&mut world, 0, 3, 2);
    assert!(world.start().end_within(MINUTE).is_ok(), "{:#?}", world.events);
    assert_eq!(world.values().1.len(), 6 + 5 + 6);
}
