//! Dry runs against two clusters in memory.

use std::sync::Arc;
use std::time::Duration;

use kmirror_proto::compress::Codec;
use kmirror_proto::records::{BatchBuilder, HeadersSource, Stamp};
use kmirror_proto::{ApiKey, ErrorCode};

use super::*;
use crate::clock::Now;
use crate::config::{
    ClusterConfig, Config, FetchConfig, LossPolicy, PartitionPolicy, Policies, ProduceConfig, Rename, RouteConfig,
    RouteRule, Routing, Side, StartPolicy, TopicCreation, TopicPattern, TopicSelection,
};
use crate::ledger::{Checkpoint, LedgerEntry, StoredRoute};
use crate::machine::Machine;
use crate::mirror::worker::MirrorError;
use crate::offset::SourceOffset;
use crate::produce::Proved;
use crate::sample::broker::{Broker, Release};
use crate::sample::network::Network;
use crate::sample::{Batch, T0, message, record};

const SECOND: Duration = Duration::from_secs(1);

struct Scene {
    network: Network,
    config: Config,
}

impl Scene {
    /// Two clusters; the source has `orders`, three partitions, of which one holds ten batches.
    fn new(source: Release, target: Release) -> Self {
        let mut network = Network::new(Broker::new(source, "source"), Broker::new(target, "target"));
        network.target.auto_create = false;
        let log = network.source.topic("orders", 3).log("orders", 0);
        for base in 0..10 {
            log.put(if source < Release::V2_0 { message(base) } else { Batch::new(base * 5, 5).bytes() });
        }
        let cluster = |host: &str| ClusterConfig::new(vec![(host.to_owned(), 1)]);
        let config = Config {
            name: "m".to_owned(),
            group: None,
            source: cluster("source"),
            target: cluster("target"),
            topics: TopicSelection::pattern("orders.*").unwrap(),
            routing: Routing::default(),
            refresh_interval: SECOND,
            start: StartPolicy::Earliest,
            fetch: FetchConfig::default(),
            produce: ProduceConfig::default(),
            streams: 1,
            commit_interval: SECOND,
            checkpoint_interval: SECOND,
            memory_bytes_max: 1 << 20,
            until_caught_up: false,
            stop_timeout: SECOND,
        };
        Self { network, config }
    }

    fn select(&mut self, pattern: &str) -> &mut Self {
        self.config.topics = TopicSelection::pattern(pattern).unwrap();
        self
    }

    fn route(&mut self, config: RouteConfig) -> &mut Self {
        self.config.routing.config = Arc::new(config);
        self
    }

    fn source(&mut self) -> &mut Broker {
        &mut self.network.source
    }

    fn target(&mut self) -> &mut Broker {
        &mut self.network.target
    }

    /// What the ledger of the mirror says.
    fn ledger(&mut self, entries: &[LedgerEntry]) {
        let log = self.network.target.topic("kmirror.m.ledger", 1).log("kmirror.m.ledger", 0);
        for (offset, entry) in (0..).zip(entries) {
            log.put(record(offset, entry.key().as_bytes(), &entry.value()));
        }
    }

    fn outcome(&mut self) -> Result<Preview, MirrorError> {
        let mut run = DryRun::new(self.config.clone(), 7);
        let mut now = Now { unix_ms: T0, ..Now::default() };
        for _ in 0..100_000 {
            while let Some((side, action)) = run.poll_net() {
                self.network.apply(now, 0, side, action);
            }
            if run.is_finished() {
                return run.into_outcome();
            }
            let next = self.network.next_at().into_iter().chain(run.poll_timeout()).min().unwrap();
            now.tick = now.tick.max(next);
            if self.network.next_at().is_some_and(|at| at <= now.tick) {
                if let Some((_, side, event)) = self.network.step(now) {
                    run.handle_net(now, side, event);
                }
            } else {
                run.handle_timeout(now);
            }
        }
        panic!("no end");
    }

    fn preview(&mut self) -> Preview {
        self.outcome().unwrap()
    }
}

/// The only route.
fn only(preview: &Preview) -> &RouteSeen {
    let [route] = preview.routes.as_slice() else { panic!("{preview:?}") };
    route
}

/// The only obstacle of the only route.
fn obstacle(preview: &Preview) -> &str {
    assert!(!preview.is_clear());
    let [one] = only(preview).obstacles.as_slice() else { panic!("{preview:?}") };
    one
}

fn paths(route: &RouteSeen) -> Vec<(&str, Option<&str>)> {
    route.sample.paths.iter().map(|seen| (seen.path, seen.why)).collect()
}

#[test]
fn a_mirror_that_nothing_stands_in_the_way_of() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    let preview = scene.preview();
    assert!(preview.is_clear(), "{preview:?}");
    let route = only(&preview);
    assert_eq!((route.topic.as_str(), route.target.as_str(), route.partitions), ("orders", "orders", 3));
    let OnTarget::Created { partitions: 3, replication_factor: 1, settings, not_set } = &route.on_target else {
        panic!("{route:?}")
    };
    assert_eq!((settings["cleanup.policy"].as_str(), not_set.len()), ("delete", 0));
    assert_eq!(paths(route), [("restamped", None)]);
    assert_eq!((route.sample.batches, route.sample.records, route.sample.losses.len()), (10, 50, 0));
    let starts: Vec<_> = route.starts.iter().map(|start| (start.partition, start.offset, start.behind)).collect();
    assert_eq!(starts, [(0, 0, 50), (1, 0, 0), (2, 0, 0)]);
    // Nothing was written on either side, and nobody was asked what would make a topic.
    assert_eq!((scene.target().topics.len(), scene.target().writes.len()), (0, 0));
    for key in [ApiKey::PRODUCE, ApiKey::INIT_PRODUCER_ID, ApiKey::FIND_COORDINATOR, ApiKey::OFFSET_COMMIT] {
        assert_eq!((scene.source().times_asked(key), scene.target().times_asked(key)), (0, 0), "{key}");
    }
}

#[test]
fn the_first_and_the_newest_batch_of_a_long_log() {
    let mut scene = Scene::new(Release::V2_0, Release::V2_0);
    let log = scene.source().topic("orders", 1).log("orders", 0);
    for base in 0..20 {
        log.put(Batch::new(base, 1).padding(20_000).bytes());
    }
    log.put(Batch::new(20, 1).padding(90_000).append_time(T0).bytes());
    let preview = scene.preview();
    let sample = &only(&preview).sample;
    assert_eq!(sample.batches, 4, "as many as fit into one answer, and the newest, which is larger");
    assert_eq!(paths(only(&preview))[1], ("rewritten", Some("the source's append times are kept")));
    assert_eq!(scene.source().times_asked(ApiKey::FETCH), 2);
}

#[test]
fn each_path_is_named_with_its_reason() {
    let mut scene = Scene::new(Release::V2_0, Release::V0_10_2);
    assert_eq!(paths(only(&scene.preview())), [("rewritten", Some("the target keeps another message format"))]);
    let mut scene = Scene::new(Release::V0_10_2, Release::V0_10_2);
    assert_eq!(paths(only(&scene.preview())), [("raw", None)]);
    let mut scene = Scene::new(Release::V3_9, Release::V2_0);
    let log = scene.source().topic("orders", 1).log("orders", 0);
    log.put(Batch::new(0, 2).codec(Codec::Zstd).bytes());
    log.put(Batch::gapped(2, vec![0, 3], 3).bytes());
    log.put(Batch::new(6, 2).append_time(T0).bytes());
    let preview = scene.preview();
    let found = paths(only(&preview));
    for why in ["the target does not take zstd", "compaction left gaps", "the source's append times are kept"] {
        assert!(found.contains(&("rewritten", Some(why))), "{why}: {found:?}");
    }
}

/// complaint 16: one wrong character, all healthy, nothing copied.
#[test]
fn a_pattern_that_matches_nothing_shows() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.select("orders,paymets.*");
    scene.source().topic("payments.eu", 1);
    let preview = scene.preview();
    let counts: Vec<_> = preview.patterns.iter().map(|seen| (seen.pattern.as_str(), seen.topics)).collect();
    assert_eq!(counts, [("orders", 1), ("paymets.*", 0)]);
    assert!(preview.is_clear(), "it may match later");
    let preview = scene.select("paymets.*").preview();
    assert!(preview.obstacles[0].contains("no topic of the source matches paymets.*"), "{preview:?}");
}

#[test]
fn rules_exclusions_and_mappings_are_counted() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.source().topic("orders.eu", 1).topic("orders.us", 1).topic("__consumer_offsets", 1);
    let parsed = |text: &str| TopicPattern::parse(text).unwrap();
    scene.config.topics = TopicSelection::new(parsed(".*"), Some(parsed("orders.us|refunds")));
    let rename = Some(Rename::Prefix("copy.".to_owned()));
    scene.config.routing = Routing {
        mapping: [("orders.eu".to_owned(), "eu".to_owned()), ("gone".to_owned(), "x".to_owned())].into(),
        rules: vec![RouteRule { topics: parsed("orders.*"), rename, config: Arc::default() }],
        ..Routing::default()
    };
    let preview = scene.preview();
    let counts: Vec<_> = preview.patterns.iter().map(|seen| (seen.pattern.as_str(), seen.role, seen.topics)).collect();
    assert_eq!(
        counts,
        [
            (".*", PatternRole::Include, 4),
            ("orders.us", PatternRole::Exclude, 1),
            ("refunds", PatternRole::Exclude, 0),
            ("orders.*", PatternRole::Rule, 2),
            ("gone", PatternRole::Mapping, 0),
            ("orders.eu", PatternRole::Mapping, 1),
        ]
    );
    let targets: Vec<_> = preview.routes.iter().map(|route| route.target.as_str()).collect();
    assert_eq!(
        (targets, preview.passed_over.as_slice()),
        (vec!["copy.orders", "eu"], &["__consumer_offsets".to_owned()][..])
    );
}

#[test]
fn headers_have_no_place_on_0_10() {
    for (policy, stops) in [(LossPolicy::Drop, false), (LossPolicy::Refuse, true)] {
        let mut scene = Scene::new(Release::V2_0, Release::V0_10_2);
        let log = scene.source().topic("orders", 1).log("orders", 0);
        log.put(Batch::new(0, 3).headers(2).bytes());
        let policies = Policies { headers: policy, ..Policies::default() };
        let preview = scene.route(RouteConfig { policies, ..RouteConfig::default() }).preview();
        let [loss] = only(&preview).sample.losses.as_slice() else { panic!("{preview:?}") };
        assert_eq!((loss.policy, loss.stops, loss.records, loss.first), ("on_headers", stops, 3, (0, 0)));
        assert_eq!(preview.is_clear(), !stops);
    }
}

/// complaint 39, report B20, report B31: found before anything is sent.
#[test]
fn what_the_targets_topic_does_not_take_is_found() {
    let day = "86400000";
    for (setting, value, policy, records) in [
        ("message.timestamp.before.max.ms", day, "on_timestamp", 2),
        ("cleanup.policy", "compact", "on_keyless", 1),
        ("max.message.bytes", "400", "on_too_large", 1),
    ] {
        let mut scene = Scene::new(Release::V3_9, Release::V3_9);
        let mut builder = BatchBuilder::new(Codec::None, None);
        for (timestamp, key, value) in
            [(T0 - 90_000_000, Some("a"), 10), (T0, None, 10), (T0, Some("c"), 500), (T0 - 99_000_000, Some("d"), 10)]
        {
            let value = vec![b'x'; value];
            builder.push(timestamp, key.map(str::as_bytes), Some(&value), HeadersSource::None).unwrap();
        }
        scene.source().topic("orders", 1).log("orders", 0).put(builder.finish(Stamp::NONE).unwrap());
        scene.target().topic("orders", 1).set("orders", setting, value);
        let preview = scene.preview();
        let [loss] = only(&preview).sample.losses.as_slice() else { panic!("{preview:?}") };
        assert_eq!((loss.policy, loss.stops, loss.records), (policy, true, records), "{loss:?}");
        assert!(obstacle(&preview).contains(policy), "{preview:?}");
    }
}

#[test]
fn damage_is_found() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    let mut bytes = Batch::new(0, 3).bytes().to_vec();
    let last = bytes.len() - 3;
    bytes[last] ^= 1;
    scene.source().topic("orders", 1).log("orders", 0).put(bytes.into());
    let preview = scene.preview();
    assert!(obstacle(&preview).contains("checksum"), "{preview:?}");
    assert_eq!(paths(only(&preview)), [("refused", None)]);
}

fn checkpoint(partition: i32, source_next: i64) -> LedgerEntry {
    let proved = Proved { source_next: SourceOffset(source_next), ..Proved::default() };
    let checkpoint = Checkpoint::new(&proved, None, -1, false, 0);
    LedgerEntry::Checkpoint { worker: "w".to_owned(), topic: "orders".to_owned(), partition, checkpoint }
}

#[test]
fn links_start_where_the_ledger_says_then_the_group_then_the_policy() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.config.group = Some("g".to_owned());
    scene.ledger(&[checkpoint(0, 20)]);
    let log = scene.source().topic("__consumer_offsets", 1).log("orders", 1);
    log.put(Batch::new(0, 9).bytes());
    scene.source().committed.insert(("orders".to_owned(), 1), 4);
    let preview = scene.preview();
    let starts: Vec<_> = only(&preview).starts.iter().map(|start| (start.offset, start.by, start.behind)).collect();
    assert_eq!(starts, [(20, StartBy::Ledger, 30), (4, StartBy::Group, 5), (0, StartBy::Earliest, 0)]);
    assert!(preview.is_clear(), "{preview:?}");
}

#[test]
fn what_the_ledger_knows_otherwise_stands_in_the_way() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.ledger(&[checkpoint(0, 20)]);
    scene.source().log("orders", 0).delete_up_to(30);
    assert!(obstacle(&scene.preview()).contains("[20, 30)"));
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    let route = StoredRoute { target: "before".to_owned(), topic_id: None };
    scene.ledger(&[LedgerEntry::Route { topic: "orders".to_owned(), route }]);
    assert!(obstacle(&scene.preview()).contains("before"));
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.ledger(&[]);
    scene.target().log("kmirror.m.ledger", 0).put(record(0, b"id/5", b"00000000 {}"));
    let preview = scene.preview();
    assert!(preview.obstacles[0].contains("ledger cannot be read"), "{preview:?}");
}

#[test]
fn two_sources_for_one_target_and_names_that_differ_in_a_dot() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.select("a|b|c.d").source().topic("a", 1).topic("b", 1).topic("c.d", 1);
    scene.config.routing.mapping = [("a".to_owned(), "x".to_owned()), ("b".to_owned(), "x".to_owned())].into();
    scene.target().topic("c_d", 1);
    let preview = scene.preview();
    let stopped: Vec<_> = preview.routes.iter().map(|route| route.obstacles.len()).collect();
    assert_eq!(stopped, [1, 1, 0], "{preview:?}");
    assert!(preview.notes.iter().any(|note| note.contains("c.d and c_d")), "{:?}", preview.notes);
}

/// report B40.
#[test]
fn a_topic_is_not_copied_into_itself_and_a_copy_is_not_copied() {
    let mut scene = Scene::new(Release::V2_0, Release::V2_0);
    scene.network.source.cluster_id = "one";
    scene.network.target.cluster_id = "one";
    assert!(scene.preview().obstacles[0].contains("same cluster"));
    scene.config.routing.rename = Some(Rename::Prefix("orders.copy.".to_owned()));
    scene.source().topic("orders.copy.orders", 3);
    scene.target().topic("orders.copy.orders", 3);
    let preview = scene.preview();
    assert_eq!(only(&preview).target, "orders.copy.orders");
    assert!(preview.is_clear(), "{preview:?}");
}

#[test]
fn a_target_that_is_not_enough_stands_in_the_way() {
    for (policy, release, clear) in [
        (PartitionPolicy::Grow, Release::V3_9, true),
        (PartitionPolicy::Grow, Release::V0_10_2, false),
        (PartitionPolicy::Stop, Release::V3_9, false),
        (PartitionPolicy::Modulo, Release::V3_9, true),
        (PartitionPolicy::Modulo, Release::V0_10_2, false),
    ] {
        let mut scene = Scene::new(Release::V2_0, release);
        scene.target().topic("orders", 1);
        let preview = scene.route(RouteConfig { partitions: policy, ..RouteConfig::default() }).preview();
        assert_eq!(preview.is_clear(), clear, "{policy:?} {release:?}: {preview:?}");
        assert_eq!(scene.target().topics["orders"].len(), 1);
    }
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    let creation = TopicCreation { create: false, ..TopicCreation::default() };
    let preview = scene.route(RouteConfig { creation, ..RouteConfig::default() }).preview();
    assert!(obstacle(&preview).contains("create = false"));
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.target().create_says = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    assert!(obstacle(&scene.preview()).contains("grant"));
}

#[test]
fn a_cluster_that_does_not_answer_is_named() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.target().down = true;
    let error = scene.outcome().unwrap_err();
    assert!(matches!(error, MirrorError::Unreachable { side: Side::Target, .. }), "{error:?}");
}

#[test]
fn ten_thousand_topics_are_looked_at_and_some_looked_into() {
    let mut scene = Scene::new(Release::V3_9, Release::V3_9);
    for number in 0..10_000 {
        scene
            .source()
            .topic(&format!("orders.{number}"), 1)
            .log(&format!("orders.{number}"), 0)
            .put(Batch::new(0, 2).bytes());
    }
    let preview = scene.preview();
    assert_eq!((preview.routes.len(), preview.is_clear()), (10_001, true));
    assert!(preview.routes.iter().filter(|route| route.sample.batches > 0).count() >= 200);
    assert!(scene.source().times_asked(ApiKey::FETCH) <= 500);
    assert!(preview.notes.iter().any(|note| note.contains("too many topics")), "{:?}", preview.notes);
}
