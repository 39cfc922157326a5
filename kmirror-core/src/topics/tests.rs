//! The target's topics against two clusters in memory.

use std::collections::BTreeMap;
use std::time::Duration;

use kmirror_proto::{ApiKey, ErrorCode};

use super::*;
use crate::client::Client;
use crate::clock::Now;
use crate::config::{ClusterConfig, PartitionPolicy, TopicCreation};
use crate::sample::broker::{Broker, Release};
use crate::sample::network::Network;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

mod settings;

struct Scene {
    topics: Topics,
    network: Network,
    source: Client,
    target: Client,
    now: Now,
    told: Vec<TopicEvent>,
}

impl Scene {
    fn new(source: Release, target: Release) -> Self {
        Self::of(source, target, Topics::new(30 * SECOND, 100 * MS))
    }

    fn dry(source: Release, target: Release) -> Self {
        Self::of(source, target, Topics::dry(30 * SECOND, 100 * MS))
    }

    fn of(source: Release, target: Release, topics: Topics) -> Self {
        let config = |host: &str| ClusterConfig::new(vec![(host.to_owned(), 1)]);
        let mut network = Network::new(Broker::new(source, "s"), Broker::new(target, "t"));
        network.source.topic("orders", 3).set("orders", "cleanup.policy", "compact").set(
            "orders",
            "retention.ms",
            "1000",
        );
        network.target.auto_create = target == Release::V0_10_0;
        Self {
            topics,
            network,
            source: Client::new(Side::Source, &config("s"), 7),
            target: Client::new(Side::Target, &config("t"), 8),
            now: Now::default(),
            told: Vec::new(),
        }
    }

    /// Lets `time` pass, and says what was told in it.
    fn run(&mut self, time: Duration) -> Vec<TopicEvent> {
        let end = self.now.after(time);
        let mut in_place = 0;
        loop {
            self.settle();
            let clients = crate::clock::earliest(self.source.poll_timeout(), self.target.poll_timeout());
            let wakes = crate::clock::earliest(clients, self.topics.poll_timeout());
            let next = self.network.next_at().into_iter().chain(wakes).min();
            let Some(next) = next.filter(|next| *next <= end) else { break };
            in_place = if next > self.now.tick { 0 } else { in_place + 1 };
            assert!(in_place < 500, "woken for nothing at {}", self.now.tick);
            self.now.tick = self.now.tick.max(next);
            if self.network.next_at().is_some_and(|at| at <= self.now.tick) {
                match self.network.step(self.now) {
                    Some((_, Side::Source, event)) => self.source.handle_net(self.now, event),
                    Some((_, Side::Target, event)) => self.target.handle_net(self.now, event),
                    None => {}
                }
            } else {
                self.source.handle_timeout(self.now);
                self.target.handle_timeout(self.now);
            }
        }
        self.now.tick = end;
        std::mem::take(&mut self.told)
    }

    fn settle(&mut self) {
        let (topics, source, target) = (&mut self.topics, &mut self.source, &mut self.target);
        topics.advance(self.now, source, target);
        loop {
            if let Some(reply) = source.poll_reply() {
                assert!(topics.handle_source_reply(self.now, source, target, &reply));
            } else if let Some(reply) = target.poll_reply() {
                assert!(topics.handle_target_reply(self.now, source, target, &reply));
            } else {
                break;
            }
        }
        while let Some(action) = source.poll_net() {
            self.network.apply(self.now, 0, Side::Source, action);
        }
        while let Some(action) = target.poll_net() {
            self.network.apply(self.now, 0, Side::Target, action);
        }
        while source.poll_event().or_else(|| target.poll_event()).is_some() {}
        self.told.extend(std::iter::from_fn(|| self.topics.poll_event()));
    }

    fn want(&mut self, config: RouteConfig) -> &mut Self {
        self.topics.want(wanted("orders", 3, config));
        self
    }

    fn on_target(&mut self) -> &mut Broker {
        &mut self.network.target
    }

    fn asked(&self, key: ApiKey) -> usize {
        self.network.target.times_asked(key)
    }

    fn settings_of(&self, topic: &str) -> BTreeMap<String, String> {
        self.network.target.admin.settings.get(topic).cloned().unwrap_or_default()
    }
}

fn wanted(target: &str, partitions: i32, config: RouteConfig) -> Wanted {
    let (source, target) = ("orders".to_owned(), target.to_owned());
    Wanted { source, target, partitions, source_replicas: 1, config: Arc::new(config) }
}

fn with(policy: PartitionPolicy) -> RouteConfig {
    RouteConfig { partitions: policy, ..RouteConfig::default() }
}

fn created_with(settings: &[(&str, &str)]) -> RouteConfig {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    RouteConfig { creation: TopicCreation { settings, ..TopicCreation::default() }, ..RouteConfig::default() }
}

fn not_created() -> RouteConfig {
    RouteConfig { creation: TopicCreation { create: false, ..TopicCreation::default() }, ..RouteConfig::default() }
}

/// `Ready` with these partitions, and what it says of the limits.
fn ready(event: &TopicEvent) -> (i32, TopicLimits) {
    match event {
        TopicEvent::Ready { partitions, limits, .. } => (*partitions, *limits),
        other => panic!("{other:?}"),
    }
}

fn blocked(events: &[TopicEvent]) -> String {
    match events {
        [TopicEvent::Blocked { why, .. }] => why.to_string(),
        other => panic!("{other:?}"),
    }
}

/// What could not be set, of the first event.
fn not_set(events: &[TopicEvent]) -> Vec<&str> {
    match &events[0] {
        TopicEvent::Created { not_set, .. } => not_set.iter().map(|(name, _)| name.as_str()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_topic_that_is_there_is_ready_with_what_it_takes() {
    for release in [Release::V2_0, Release::V3_9] {
        let mut scene = Scene::new(Release::V2_0, release);
        scene.on_target().topic("orders", 4).set("orders", "max.message.bytes", "5000");
        let told = scene.want(RouteConfig::default()).run(SECOND);
        let limits = TopicLimits { batch_bytes_max: Some(5000), ..TopicLimits::default() };
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(ready(&told[0]), (4, limits));
        assert_eq!(scene.asked(ApiKey::CREATE_TOPICS), 0);
        assert_eq!(scene.network.source.times_asked(ApiKey::DESCRIBE_CONFIGS), 0, "nothing to know of it");
    }
}

#[test]
fn a_topic_of_0_10_is_ready_and_nothing_is_known_of_it() {
    let mut scene = Scene::new(Release::V2_0, Release::V0_10_2);
    scene.on_target().topic("orders", 3);
    let told = scene.want(RouteConfig::default()).run(SECOND);
    assert_eq!(ready(&told[0]), (3, TopicLimits::default()));
}

#[test]
fn the_names_of_0_10_0_are_asked_for_and_what_could_not_be_set_is_said() {
    let mut scene = Scene::new(Release::V2_0, Release::V0_10_0);
    let told = scene.want(created_with(&[("retention.ms", "77")])).run(SECOND);
    let missed = not_set(&told);
    assert!(missed.len() == 7 && missed.contains(&"retention.ms") && missed.contains(&"cleanup.policy"), "{missed:?}");
    assert_eq!(ready(&told[1]).0, 1, "what is there can be written");
    let text = blocked(&told[2..]);
    assert!(text.contains("has 1 partitions, the source's has 3") && text.contains("--alter"), "{text}");
    scene.on_target().topic("orders", 3);
    let told = scene.run(5 * SECOND);
    assert_eq!(ready(&told[0]).0, 3, "somebody has added some");
}

#[test]
fn a_0_10_0_that_creates_nothing_is_named_once_and_looked_at_again() {
    let mut scene = Scene::new(Release::V2_0, Release::V0_10_0);
    scene.on_target().auto_create = false;
    let told = scene.want(RouteConfig::default()).run(300 * SECOND);
    assert!(blocked(&told).contains("auto.create.topics.enable"), "{told:?}");
    scene.on_target().topic("orders", 3);
    let told = scene.run(31 * SECOND);
    assert_eq!(ready(told.last().unwrap()).0, 3);
}

#[test]
fn without_auto_create_there_is_one_clear_message() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    let told = scene.want(not_created()).run(120 * SECOND);
    let text = blocked(&told);
    assert!(text.contains("create = false") && text.contains("--partitions 3 --replication-factor 1"), "{text}");
    assert_eq!((scene.asked(ApiKey::CREATE_TOPICS), scene.topics.calls.len()), (0, 0));
    assert!(scene.asked(ApiKey::METADATA) < 40, "not in a hurry");
    scene.on_target().topic("orders", 3);
    scene.want(not_created());
    assert_eq!(ready(&scene.run(2 * SECOND)[0]).0, 3, "at once when it is wanted again");
}

#[test]
fn fewer_partitions_grow_or_stay_by_policy() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.on_target().topic("orders", 1);
    let told = scene.want(with(PartitionPolicy::Grow)).run(2 * SECOND);
    assert_eq!(told[0], TopicEvent::Grown { target: "orders".to_owned(), from: 1, to: 3 });
    assert_eq!((ready(&told[1]).0, told.len()), (3, 2));
    for policy in [PartitionPolicy::Stop, PartitionPolicy::Modulo] {
        let mut scene = Scene::new(Release::V2_0, Release::V3_9);
        scene.on_target().topic("orders", 1);
        let told = scene.want(with(policy)).run(2 * SECOND);
        assert_eq!((ready(&told[0]).0, told.len()), (1, 1));
        assert_eq!(scene.asked(ApiKey::CREATE_PARTITIONS), 0);
        // Nobody is told again of what has not changed, and who adds some is noticed.
        assert_eq!(scene.want(with(policy)).run(SECOND), []);
        scene.on_target().topic("orders", 3);
        scene.target.refresh_metadata(scene.now);
        scene.run(SECOND);
        assert_eq!(ready(&scene.want(with(policy)).run(SECOND)[0]).0, 3);
    }
}

#[test]
fn brokers_before_1_0_are_not_asked_for_partitions_but_people_are() {
    let mut scene = Scene::new(Release::V2_0, Release::V0_10_2);
    scene.on_target().topic("orders", 2);
    let told = scene.want(with(PartitionPolicy::Grow)).run(60 * SECOND);
    assert_eq!(ready(&told[0]).0, 2, "what is there can be written");
    let text = blocked(&told[1..]);
    assert!(text.contains("--alter --topic orders --partitions 3"), "{text}");
    // More are wanted: that is another reason, and nothing is forgotten.
    scene.topics.want(wanted("orders", 4, with(PartitionPolicy::Grow)));
    assert_eq!(
        blocked(&scene.run(60 * SECOND)[1..]),
        text.replace("has 3", "has 4").replace("partitions 3", "partitions 4")
    );
    scene.on_target().topic("orders", 4);
    assert_eq!(ready(&scene.run(31 * SECOND)[0]).0, 4);
}

#[test]
fn a_growth_that_is_refused_does_not_stop_what_is_there() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.on_target().topic("orders", 2).admin.grow_refusals.extend([ErrorCode::TOPIC_AUTHORIZATION_FAILED; 4]);
    let told = scene.want(with(PartitionPolicy::Grow)).run(3 * SECOND);
    assert_eq!(ready(&told[0]).0, 2);
    assert!(blocked(&told[1..]).contains("grant it ALTER"), "{told:?}");
    let told = scene.run(60 * SECOND);
    assert_eq!(told[0], TopicEvent::Grown { target: "orders".to_owned(), from: 2, to: 3 });
    assert_eq!((ready(&told[1]).0, told.len()), (3, 2), "once it is granted");
}

/// report B41.
#[test]
fn a_source_that_grows_is_followed() {
    let mut scene = Scene::new(Release::V2_0, Release::V2_0);
    scene.want(RouteConfig::default()).run(2 * SECOND);
    scene.topics.want(wanted("orders", 8, RouteConfig::default()));
    let told = scene.run(2 * SECOND);
    assert_eq!(told[0], TopicEvent::Grown { target: "orders".to_owned(), from: 3, to: 8 });
    assert_eq!((ready(&told[1]).0, told.len()), (8, 2));
}

#[test]
fn what_passes_is_waited_for_without_a_word() {
    for code in [ErrorCode::NOT_CONTROLLER, ErrorCode::UNKNOWN_SERVER_ERROR, ErrorCode::INVALID_REPLICATION_FACTOR] {
        let mut scene = Scene::new(Release::V2_0, Release::V2_0);
        scene.on_target().admin.create_refusals.extend([code, code]);
        let told = scene.want(RouteConfig::default()).run(5 * SECOND);
        assert!(matches!(told[0], TopicEvent::Created { .. }), "{code}: {told:?}");
        assert_eq!((told.len(), not_set(&told)), (2, vec![]));
        let mut scene = Scene::new(Release::V2_0, Release::V2_0);
        scene
            .on_target()
            .topic("orders", 1)
            .admin
            .grow_refusals
            .extend([ErrorCode::NOT_CONTROLLER, ErrorCode::INVALID_PARTITIONS]);
        assert_eq!(scene.want(RouteConfig::default()).run(5 * SECOND).len(), 2);
    }
}

#[test]
fn what_was_made_by_somebody_else_is_fine() {
    let mut scene = Scene::new(Release::V2_0, Release::V2_0);
    scene.on_target().admin.create_refusals.push_back(ErrorCode::TOPIC_ALREADY_EXISTS);
    assert_eq!(scene.want(RouteConfig::default()).run(SECOND), []);
    scene.on_target().topic("orders", 3);
    assert_eq!(ready(&scene.run(5 * SECOND)[0]).0, 3);
}

#[test]
fn a_connection_that_ends_at_any_question_is_no_end() {
    for key in [ApiKey::CREATE_TOPICS, ApiKey::DESCRIBE_CONFIGS] {
        let mut scene = Scene::new(Release::V2_0, Release::V3_9);
        scene.on_target().hangs_up_on = Some(key);
        scene.network.source.hangs_up_on = Some(key);
        let told = scene.want(RouteConfig::default()).run(10 * SECOND);
        assert!(matches!(told.last(), Some(TopicEvent::Ready { .. })), "{key}: {told:?}");
    }
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.on_target().topic("orders", 1).hangs_up_on = Some(ApiKey::CREATE_PARTITIONS);
    let told = scene.want(RouteConfig::default()).run(10 * SECOND);
    assert!(matches!(told.last(), Some(TopicEvent::Ready { partitions: 3, .. })), "{told:?}");
}

#[test]
fn a_refusal_for_good_names_topic_and_way_out() {
    for (code, word) in [
        (ErrorCode::CLUSTER_AUTHORIZATION_FAILED, "grant"),
        (ErrorCode::POLICY_VIOLATION, "POLICY_VIOLATION"),
        (ErrorCode::INVALID_TOPIC_EXCEPTION, "INVALID_TOPIC"),
    ] {
        let mut scene = Scene::new(Release::V2_0, Release::V3_9);
        scene.on_target().create_says = code;
        let text = blocked(&scene.want(RouteConfig::default()).run(100 * SECOND));
        assert!(text.contains("orders") && text.contains(word), "{text}");
        assert!((3..12).contains(&scene.asked(ApiKey::CREATE_TOPICS)), "tried again, with longer and longer waits");
        scene.on_target().create_says = ErrorCode::NONE;
        let told = scene.run(31 * SECOND);
        assert!(matches!(told.last(), Some(TopicEvent::Ready { .. })), "{told:?}");
    }
}

#[test]
fn a_name_that_is_none_asks_nobody() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.topics.want(wanted("a/b", 1, RouteConfig::default()));
    let text = blocked(&scene.run(60 * SECOND));
    assert!(text.contains("\"a/b\"") && text.contains("'/'"), "{text}");
    assert_eq!(scene.asked(ApiKey::CREATE_TOPICS), 0);
}

#[test]
fn thousands_of_topics_take_a_handful_of_requests() {
    let mut scene = Scene::new(Release::V3_9, Release::V3_9);
    for n in 0..3000 {
        let (source, config) = (format!("s{n}"), Arc::default());
        scene.network.source.topic(&source, 2);
        let target = format!("t{n}");
        scene.topics.want(Wanted { source, target, partitions: 2, source_replicas: 1, config });
    }
    let told = scene.run(10 * SECOND);
    assert_eq!(told.iter().filter(|event| matches!(event, TopicEvent::Ready { partitions: 2, .. })).count(), 3000);
    let batches = &scene.network.target.admin.batches;
    assert_eq!(batches.iter().sum::<usize>(), 6000, "each topic created once and described once");
    assert!(batches.iter().all(|batch| *batch <= 250) && batches.len() < 50, "{batches:?}");
    // Partitions count too.
    let mut scene = Scene::new(Release::V3_9, Release::V3_9);
    for n in 0..10 {
        scene.topics.want(wanted(&format!("t{n}"), 900, RouteConfig::default()));
    }
    scene.topics.want(wanted("wide", 5000, RouteConfig::default()));
    scene.run(10 * SECOND);
    assert_eq!(scene.network.target.admin.batches.iter().take(6).collect::<Vec<_>>(), [&2, &2, &2, &2, &2, &1]);
}

#[test]
fn a_topic_that_is_forgotten_is_let_go() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.want(not_created()).run(10 * SECOND);
    scene.topics.forget("orders");
    scene.on_target().topic("orders", 3);
    assert_eq!(scene.run(60 * SECOND), []);
    assert_eq!(scene.topics.poll_timeout(), None);
}

#[test]
fn leaders_are_waited_for() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.on_target().leaderless = true;
    assert_eq!(scene.want(RouteConfig::default()).run(20 * SECOND), []);
    scene.on_target().leaderless = false;
    let told = scene.run(5 * SECOND);
    assert_eq!(told.len(), 2, "{told:?}");
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.on_target().leaderless = true;
    let told = scene.want(RouteConfig::default()).run(32 * SECOND);
    assert!(blocked(&told).contains("leader"), "{told:?}");
}
