//! Which routes there would be, by the clusters' metadata and the configuration alone.

use std::collections::{BTreeMap, BTreeSet};

use super::{OnTarget, Preview, RouteSeen, Sample};
use crate::client::{Metadata, Topic, is_same_cluster};
use crate::config::Config;
use crate::topics::Wanted;
use crate::topics::names::collision_key;

/// The routes of a mirror, and what can be said of them so far. What is wanted of the target comes back with it.
pub(super) fn routes(config: &Config, source: &Metadata, target: &Metadata, preview: &mut Preview) -> Vec<Wanted> {
    let one_cluster = is_same_cluster(source, target);
    let passed_over = source
        .topics
        .iter()
        .filter(|(name, topic)| config.topics.passes_over(name) || (topic.internal && config.topics.matches(name)));
    preview.passed_over = passed_over.map(|(name, _)| name.clone()).collect();
    let selected: Vec<(&String, &Topic, crate::config::Route)> = source
        .topics
        .iter()
        .filter(|(name, topic)| !topic.internal && config.topics.matches(name))
        .map(|(name, topic)| (name, topic, config.routing.route(name)))
        .collect();
    // A copy that lies beside its original would be copied again, and so on.
    let copies: BTreeSet<&str> = selected
        .iter()
        .filter(|(name, _, route)| one_cluster && **name != route.target)
        .map(|(_, _, route)| route.target.as_str())
        .collect();
    let mut wanted = Vec::new();
    for (name, topic, route) in &selected {
        if copies.contains(name.as_str()) {
            preview.notes.push(format!("topic {name} is a copy that this mirror makes: not mirrored again"));
            continue;
        }
        if one_cluster && **name == route.target {
            preview.obstacles.push(format!(
                "source and target are the same cluster ({}): topic {name} would be copied into itself: check \
                 bootstrap.servers of both sides, or rename it",
                preview.source
            ));
        }
        preview.routes.push(RouteSeen {
            topic: (*name).clone(),
            target: route.target.clone(),
            partitions: topic.partitions.len(),
            on_target: OnTarget::Unknown,
            obstacles: Vec::new(),
            starts: Vec::new(),
            sample: Sample::default(),
        });
        wanted.push(Wanted {
            source: (*name).clone(),
            target: route.target.clone(),
            partitions: topic.partitions.keys().next_back().map_or(0, |last| last.saturating_add(1)),
            source_replicas: topic.replicas_max(),
            config: route.config.clone(),
        });
    }
    if preview.routes.is_empty() {
        preview.obstacles.push(format!(
            "no topic of the source matches {}: the whole name must match; {} topics are there",
            config.topics,
            source.topics.len()
        ));
    }
    check_names(preview, target);
    let colliding: BTreeSet<&String> =
        preview.routes.iter().filter(|route| !route.obstacles.is_empty()).map(|route| &route.topic).collect();
    wanted.retain(|wanted| !colliding.contains(&wanted.source));
    wanted
}

/// Two sources for one target, and names that a broker takes for one.
fn check_names(preview: &mut Preview, target: &Metadata) {
    let mut by_target: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for route in &preview.routes {
        by_target.entry(&route.target).or_default().push(&route.topic);
    }
    let mut keys: BTreeMap<String, &str> =
        target.topics.keys().map(|name| (collision_key(name), name.as_str())).collect();
    let mut notes = Vec::new();
    for name in by_target.keys().filter(|name| !target.topics.contains_key(**name)) {
        if let Some(other) = keys.insert(collision_key(name), name) {
            notes.push(format!(
                "target topics {name} and {other} differ in \".\" and \"_\" only: a broker may refuse the second one, and their \
                 metrics are one"
            ));
        }
    }
    let mut mixed: BTreeMap<String, String> = BTreeMap::new();
    for (name, sources) in by_target.iter().filter(|(_, sources)| sources.len() > 1) {
        let text = format!(
            "source topics {} all go to target topic {name}: two sources are never mixed into one target; rename one of \
             them, or exclude it",
            sources.join(", ")
        );
        mixed.extend(sources.iter().map(|source| ((*source).to_owned(), text.clone())));
    }
    for route in &mut preview.routes {
        route.obstacles.extend(mixed.remove(&route.topic));
    }
    preview.notes.extend(notes);
}
