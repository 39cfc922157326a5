//! What topics are created with, what of it is refused, and what is known of topics that are there.

use super::*;

/// report B42.
#[test]
fn a_topic_is_created_with_the_sources_settings() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    let told = scene.want(RouteConfig::default()).run(2 * SECOND);
    let TopicEvent::Created { partitions, replication_factor, settings, not_set, .. } = &told[0] else {
        panic!("{told:?}")
    };
    assert_eq!((*partitions, *replication_factor, not_set.as_slice()), (3, 1, &[][..]));
    assert_eq!(settings.iter().cloned().collect::<BTreeMap<_, _>>(), scene.settings_of("orders"));
    let set = scene.settings_of("orders");
    assert_eq!((set["cleanup.policy"].as_str(), set["retention.ms"].as_str()), ("compact", "1000"));
    let (partitions, limits) = ready(&told[1]);
    assert_eq!((partitions, limits.keys_required), (3, false), "the source is compacted too");
    assert_eq!(told.len(), 2);
    assert_eq!((scene.asked(ApiKey::CREATE_TOPICS), scene.asked(ApiKey::DESCRIBE_CONFIGS)), (1, 1));
}

#[test]
fn keys_are_required_where_only_the_target_is_compacted() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.network.source.set("orders", "cleanup.policy", "delete");
    scene.on_target().topic("orders", 3).set("orders", "cleanup.policy", "compact");
    let told = scene.want(RouteConfig::default()).run(SECOND);
    assert!(ready(&told[0]).1.keys_required);
    let mut scene = Scene::new(Release::V0_10_2, Release::V3_9);
    scene.on_target().topic("orders", 3).set("orders", "cleanup.policy", "compact");
    let told = scene.want(RouteConfig::default()).run(SECOND);
    assert!(ready(&told[0]).1.keys_required, "the source is not known to be");
}

#[test]
fn settings_of_0_10_are_said_to_be_unknown_once() {
    let mut scene = Scene::new(Release::V0_10_2, Release::V2_0);
    let config = created_with(&[("retention.ms", "77")]);
    scene.network.source.topic("b", 1);
    scene.topics.want(wanted("a", 3, config.clone()));
    scene.topics.want(wanted("b", 1, config));
    let told = scene.run(2 * SECOND);
    let unknown = told.iter().filter(|event| matches!(event, TopicEvent::SettingsUnknown { side: Side::Source, .. }));
    assert_eq!(unknown.count(), 1);
    assert_eq!(scene.settings_of("a")["retention.ms"], "77");
    assert_eq!(scene.settings_of("a").len(), 2, "and the wide timestamps");
}

#[test]
fn a_setting_that_the_target_refuses_is_left_out_and_named() {
    for (release, says_which) in
        [(Release::V3_9, true), (Release::V2_0, true), (Release::V0_10_2, false), (Release::V2_0, false)]
    {
        let mut scene = Scene::new(Release::V2_0, release);
        scene.on_target().admin.refuses_setting = Some(("retention.ms", says_which));
        let told = scene.want(RouteConfig::default()).run(10 * SECOND);
        assert_eq!(not_set(&told), ["retention.ms"], "{release:?} {says_which}");
        assert_eq!(scene.settings_of("orders")["cleanup.policy"], "compact", "what matters is kept");
        assert!(matches!(told.last(), Some(TopicEvent::Ready { .. })));
    }
}

/// Measured on 0.10.1, which says −1 and nothing else.
#[test]
fn of_several_that_are_refused_those_of_the_file_go_first() {
    let mut scene = Scene::new(Release::V2_0, Release::V0_10_2);
    scene.on_target().admin.silent = true;
    let told = scene.want(created_with(&[("flush.ms", "1"), ("frobnicate", "1")])).run(20 * SECOND);
    assert_eq!(not_set(&told), ["flush.ms", "frobnicate"]);
    assert_eq!(scene.settings_of("orders")["cleanup.policy"], "compact");
}

#[test]
fn a_setting_that_nobody_knows_is_left_out_and_named() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    let config = created_with(&[("frobnicate.ms", "1"), ("message.format.version", "0.10.0")]);
    let told = scene.want(config).run(10 * SECOND);
    assert_eq!(not_set(&told), ["frobnicate.ms", "message.format.version"]);
    assert_eq!(scene.asked(ApiKey::CREATE_TOPICS), 3);
}

#[test]
fn too_many_replicas_are_said() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    let creation = TopicCreation { replication_factor: Some(3), ..TopicCreation::default() };
    let config = RouteConfig { creation, ..RouteConfig::default() };
    let text = blocked(&scene.want(config).run(20 * SECOND));
    assert!(text.contains("3 replicas") && text.contains("replication_factor"), "{text}");
}

#[test]
fn settings_that_must_not_be_read_are_gone_on_without() {
    let mut scene = Scene::new(Release::V2_0, Release::V3_9);
    scene.on_target().topic("a", 3).topic("b", 3).admin.describe_says = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
    scene.topics.want(wanted("a", 3, RouteConfig::default()));
    scene.topics.want(wanted("b", 3, RouteConfig::default()));
    let told = scene.run(SECOND);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(matches!(&told[0], TopicEvent::SettingsUnknown { side: Side::Target, reason } if reason.contains("grant")));
    assert_eq!(ready(&told[1]), (3, TopicLimits::default()));
}

#[test]
fn a_dry_run_changes_nothing_and_says_what_would_be() {
    for release in [Release::V0_10_0, Release::V0_10_2, Release::V2_0, Release::V3_9] {
        let mut scene = Scene::dry(Release::V2_0, release);
        scene.on_target().topic("small", 1);
        let mut config = created_with(&[("max.message.bytes", "77")]);
        config.partitions = PartitionPolicy::Grow;
        scene.topics.want(wanted("orders", 3, config.clone()));
        scene.topics.want(wanted("small", 3, config));
        let told = scene.run(5 * SECOND);
        let created = |event: &TopicEvent| matches!(event, TopicEvent::Created { target, .. } if target == "orders");
        assert!(told.iter().any(created), "{release:?}: {told:?}");
        let planned = told.iter().find_map(|event| match event {
            TopicEvent::Ready { target, partitions, limits } if target == "orders" => Some((*partitions, *limits)),
            _ => None,
        });
        let (partitions, limits) = planned.unwrap();
        if release == Release::V0_10_0 {
            assert_eq!((partitions, limits), (0, TopicLimits::default()));
        } else {
            assert_eq!((partitions, limits.batch_bytes_max), (3, Some(77)), "{release:?}");
        }
        let grown = TopicEvent::Grown { target: "small".to_owned(), from: 1, to: 3 };
        assert_eq!(told.contains(&grown), release >= Release::V2_0, "{release:?}");
        let there: Vec<usize> = scene.network.target.topics.values().map(Vec::len).collect();
        assert_eq!(there, [1], "{release:?}: as it was");
    }
}
