//! How a mirror begins, and why it may not.

use kmirror_proto::ApiKey;

use super::world::{MINUTE, MS, SECOND, TOPIC, World};
use super::{fill, legacy, route, stamped};
use crate::config::{PartitionPolicy, StartPolicy};
use crate::mirror::worker::{EndReason, MirrorError};
use crate::observe::{Event, RouteEvent, StopReason};
use crate::offset::SourceOffset;
use crate::sample::Batch;
use crate::sample::broker::Release;

#[test]
fn everything_is_copied_between_all_formats() {
    for target in [Release::V0_10_0, Release::V0_10_2, Release::V2_0, Release::V3_9] {
        for mut world in [stamped(target, 30, 3), legacy(target, 20)] {
            world.config.until_caught_up = true;
            let summary = world.start().end_within(MINUTE).unwrap();
            assert_eq!((summary.reason, summary.drained), (EndReason::CaughtUp, true), "{target:?}");
            world.assert_mirrored();
            let total = summary.status.total();
            let (source, _) = world.values();
            assert_eq!(total.counters.records, source.len() as u64);
            assert_eq!((total.lag, total.links_caught_up), (Some(0), 1));
            assert!(world.doubts().is_empty(), "{:?}", world.doubts());
            assert!(world.shards_ended());
        }
    }
}

#[test]
fn a_second_start_copies_nothing_twice() {
    for target in [Release::V0_10_2, Release::V3_9] {
        let mut world = stamped(target, 10, 3);
        world.config.until_caught_up = true;
        assert!(world.start().end_within(MINUTE).is_ok());
        let writes = world.network.target.writes.len();
        assert!(world.start().end_within(10 * SECOND).is_ok(), "a clean stop leaves nothing to wait for");
        assert_eq!(world.network.target.writes.len(), writes);
        fill(&mut world, 0, 5, 2);
        assert!(world.start().end_within(10 * SECOND).is_ok());
        world.assert_mirrored();
        assert_eq!(world.counted(), 0);
    }
}

#[test]
fn an_empty_source_is_caught_up_at_once() {
    for target in [Release::V0_10_2, Release::V3_9] {
        let mut world = stamped(target, 0, 0);
        world.config.until_caught_up = true;
        let summary = world.start().end_within(5 * SECOND).unwrap();
        assert_eq!((summary.reason, summary.drained), (EndReason::CaughtUp, true));
    }
}

#[test]
fn many_links_over_many_shards_end_together() {
    let mut world = World::new(Release::V3_9, Release::V3_9);
    world.config.streams = 3;
    world.config.until_caught_up = true;
    world.network.source.topic(TOPIC, 10);
    world.network.target.topic(TOPIC, 12);
    // Half of them have nothing to copy.
    (0..5).for_each(|partition| fill(&mut world, partition * 2, 4, 5));
    let summary = world.start().end_within(MINUTE).unwrap();
    assert_eq!((summary.status.total().links, summary.status.total().links_caught_up), (10, 10));
    for partition in 0..10 {
        let wanted = world.network.source.log(TOPIC, partition).values();
        assert_eq!(world.network.target.log(TOPIC, partition).values(), wanted);
    }
}

#[test]
fn what_stands_on_the_target_before_is_left_alone() {
    let mut world = stamped(Release::V3_9, 3, 2);
    world.config.until_caught_up = true;
    world.network.target.log(TOPIC, 0).put(Batch::new(0, 4).stamp(5, 0, 0).bytes());
    assert!(world.start().end_within(MINUTE).is_ok());
    let (source, target) = world.values();
    assert_eq!(target[4..], source);
    fill(&mut world, 0, 1, 1);
    assert!(world.start().end_within(MINUTE).is_ok(), "and is told from ours by the next start");
    assert_eq!(world.values().1.len(), 11);
}

#[test]
fn the_groups_offset_is_where_it_starts() {
    let mut world = stamped(Release::V3_9, 10, 1);
    world.config.group = Some("g".to_owned());
    world.config.until_caught_up = true;
    world.network.source.committed.insert((TOPIC.to_owned(), 0), 6);
    assert!(world.start().end_within(MINUTE).is_ok());
    assert_eq!(world.values().1, ["v6", "v7", "v8", "v9"]);
    assert_eq!(world.network.source.committed[&(TOPIC.to_owned(), 0)], 10, "and where it ended is told");
}

#[test]
fn a_committed_offset_outside_of_the_log_is_said_and_the_policy_decides() {
    for (policy, wanted) in [(StartPolicy::Earliest, 7), (StartPolicy::Latest, 0)] {
        let mut world = stamped(Release::V3_9, 10, 1);
        world.config.group = Some("g".to_owned());
        world.config.start = policy;
        world.network.source.committed.insert((TOPIC.to_owned(), 0), 2);
        world.network.source.log(TOPIC, 0).delete_up_to(3);
        world.start().run(10 * SECOND);
        assert!(world.events.iter().any(|event| matches!(event, Event::CommittedOutOfRange { .. })));
        assert_eq!(world.values().1.len(), wanted);
    }
}

#[test]
fn without_any_position_a_link_stands_still() {
    let mut world = stamped(Release::V3_9, 10, 1);
    world.config.start = StartPolicy::None;
    let error = world.start().end_within(MINUTE).unwrap_err();
    assert!(matches!(error, MirrorError::LinksStopped { stopped: 1, links: 1, .. }), "{error}");
    assert_eq!(world.stops(), [&StopReason::NoPosition]);
    assert!(world.shards_ended());
}

#[test]
fn a_group_with_live_members_ends_it() {
    let mut world = stamped(Release::V3_9, 10, 1);
    world.config.group = Some("g".to_owned());
    world.network.source.group_alive = true;
    let error = world.start().end_within(MINUTE).unwrap_err();
    assert_eq!(error, MirrorError::GroupAlive { group: "g".to_owned() });
    assert!(world.shards_ended());
}

#[test]
fn a_cluster_is_not_copied_into_itself() {
    for release in [Release::V0_10_0, Release::V3_9] {
        let mut world = World::new(release, release);
        if release == Release::V0_10_0 {
            // No cluster id: the brokers' addresses tell.
            world.network.target.host = "source";
            world.config.target = world.config.source.clone();
        } else {
            world.network.target.cluster_id = world.network.source.cluster_id;
        }
        let error = world.start().end_within(MINUTE).unwrap_err();
        assert!(matches!(&error, MirrorError::SameCluster { topic, .. } if topic == TOPIC), "{error}");
        assert!(world.shards_ended(), "a shard without links ends too");
    }
}

#[test]
fn a_topic_that_must_not_be_made_is_named_and_the_others_are_copied() {
    let mut world = stamped(Release::V3_9, 3, 1);
    world.config.until_caught_up = true;
    route(&mut world, |route| {
        route.creation.create = false;
        route.partitions = PartitionPolicy::Stop;
    });
    world.network.source.topic("t-missing", 2).topic("t-small", 3);
    world.network.target.topic("t-small", 2);
    let error = world.start().end_within(MINUTE).unwrap_err();
    assert!(matches!(error, MirrorError::LinksStopped { stopped: 2, .. }), "{error}");
    let blocked = world.blocked();
    assert!(blocked[0].contains("t-small has 2 partitions, the source's has 3"), "{blocked:?}");
    assert!(blocked[1].contains("t-missing") && blocked[1].contains("--partitions 2"), "{blocked:?}");
    assert_eq!(blocked.len(), 2);
    world.assert_mirrored();
}

/// report B44: it answers, and knows no topic, until the controller has told it.
#[test]
fn a_broker_that_has_just_started_is_given_time() {
    let mut world = stamped(Release::V3_9, 3, 1);
    world.config.until_caught_up = true;
    let topics = std::mem::take(&mut world.network.source.topics);
    world.start().run(2 * SECOND);
    assert!(world.finished.is_none());
    world.network.source.topics = topics;
    assert!(world.end_within(10 * SECOND).is_ok());
    world.assert_mirrored();
}

#[test]
fn nothing_that_matches_is_an_error_only_where_an_end_was_asked_for() {
    let mut world = World::new(Release::V3_9, Release::V3_9);
    world.network.source.topics.clear();
    world.config.until_caught_up = true;
    let error = world.start().end_within(MINUTE).unwrap_err();
    assert!(matches!(error, MirrorError::NothingMatches { .. }), "{error}");
    assert!(world.shards_ended());

    world.config.until_caught_up = false;
    world.start().run(MINUTE);
    assert!(world.finished.is_none());
    assert!(
        world.events.iter().any(|event| matches!(event, Event::Route(RouteEvent::NothingMatches { topics: 0, .. })))
    );
    world.network.source.topic(TOPIC, 1);
    fill(&mut world, 0, 5, 1);
    world.run(30 * SECOND);
    world.assert_mirrored();
}

#[test]
fn a_cluster_that_does_not_answer_is_named() {
    let mut world = World::new(Release::V3_9, Release::V3_9);
    world.network.target.down = true;
    let error = world.start().end_within(MINUTE).unwrap_err();
    assert!(error.to_string().contains("target cluster target:1"), "{error}");
    assert!(world.shards_ended());
}

#[test]
fn a_ledger_that_cannot_be_made_ends_it() {
    let mut world = stamped(Release::V3_9, 1, 1);
    world.network.target.create_says = kmirror_proto::ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    let error = world.start().end_within(MINUTE).unwrap_err();
    assert!(matches!(error, MirrorError::Ledger { .. }), "{error}");
    assert_eq!(world.network.target.writes.len(), 0);
}

#[test]
fn nothing_is_written_before_the_ledger_says_where_it_began() {
    let mut world = stamped(Release::V3_9, 3, 1);
    // Its id goes through, its first checkpoint does not for a while.
    let refused = kmirror_proto::ErrorCode::NOT_ENOUGH_REPLICAS;
    world.start().reach(MINUTE, |world| world.network.target.times_asked(ApiKey::INIT_PRODUCER_ID) > 0);
    assert!(world.reach(MINUTE, |world| !world.network.target.log("kmirror.m.ledger", 0).values().is_empty()));
    world.network.target.ledger_refusals.extend([refused; 5]);
    world.run(2 * SECOND);
    assert_eq!(world.network.target.writes.len(), 0);
    world.run(10 * SECOND);
    world.assert_mirrored();
}

#[test]
fn a_source_that_was_created_again_is_not_caught_up_with() {
    let mut world = stamped(Release::V2_0, 10, 1);
    world.config.until_caught_up = true;
    assert!(world.start().end_within(MINUTE).is_ok());
    // report B25: fewer records than were mirrored.
    world.network.source.topic(TOPIC, 1);
    fill(&mut world, 0, 4, 1);
    // The source's word comes later than the first report.
    world.network.latency = 300 * MS;
    let error = world.start().end_within(MINUTE).unwrap_err();
    assert!(matches!(error, MirrorError::LinksStopped { .. }), "{error}");
    let truncated = StopReason::SourceTruncated { wanted: SourceOffset(10), log_end: SourceOffset(4) };
    assert_eq!(world.stops(), [&truncated]);
}
