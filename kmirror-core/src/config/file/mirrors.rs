//! `[mirror.…]`: from where to where, which topics, and how.

use std::time::Duration;

use super::Surroundings;
use super::clusters::{Clusters, survey};
use super::document::Item;
use super::route::{patterns, route, rule};
use super::section::{Reader, Section};
use crate::config::clients::{self, CODECS, ISOLATIONS, STARTS};
use crate::config::cluster::{Warning, cluster};
use crate::config::error::ConfigError;
use crate::config::keys::Role;
use crate::config::mapping::mapping;
use crate::config::model::{Config, FetchConfig, ProduceConfig, StartPolicy, defaults};
use crate::config::origin::{Origin, Origins, of_properties};
use crate::config::properties::{RawConfig, RawEntry};
use crate::config::resolve::{Resolved, STREAMS_LIMIT, frame_bytes_max, name_fault};
use crate::config::routing::{RouteConfig, Routing};
use crate::config::topics::TopicSelection;
use crate::config::values::Values;

/// Shorter waits between two looks would be a load of their own.
const INTERVAL_LEAST: Duration = Duration::from_millis(100);

/// Less does not hold a batch of the usual size.
const MEMORY_LEAST: usize = 1 << 20;

/// More is a slip of the pen.
const MEMORY_MOST: usize = 1 << 40;

/// Kafka's sizes are ints.
const INT_MAX: usize = i32::MAX.unsigned_abs() as usize;

/// The two clusters of a mirror as properties, the mirror's own among them.
struct Ends {
    consumer: RawConfig,
    producer: RawConfig,
    /// Both are there and say where they are.
    whole: bool,
    /// Source and target are one cluster.
    same: bool,
}

/// One mirror; `None` if something is missing, which is among `errors` then.
pub(super) fn mirror(
    name: &str,
    section: Section<'_>,
    clusters: &mut Clusters,
    surroundings: &Surroundings<'_>,
    errors: &mut Vec<ConfigError>,
) -> Option<Resolved> {
    let (place, mut own, mut warnings) = (section.place.clone(), Origins::default(), Vec::new());
    let mut reader = Reader::new(section, String::new(), errors, &mut own);
    if let Some(fault) = name_fault(name) {
        reader.fault(format!("{name:?} cannot name a mirror: {fault}"));
    }
    let ends = ends(&mut reader, clusters, &mut warnings);
    let (consumer, producer) =
        (Values::new(&ends.consumer, Role::Consumer), Values::new(&ends.producer, Role::Producer));
    let topics = topics(&mut reader);
    let routing = routing(&mut reader, surroundings);
    if ends.same && !renames(&routing) {
        reader.fault(
            "source and target are the same cluster and no topic is renamed: every record would be copied onto its own topic",
        );
    }
    let start = start(&mut reader, &consumer);
    let fetch = fetch(&mut reader, &consumer);
    let produce = produce(&mut reader, &producer, &mut warnings);
    let group = reader.read("group", Item::text).or_else(|| consumer.text("group.id").map(str::to_owned));
    let streams = reader.number("streams", 1..=STREAMS_LIMIT).and_then(|streams| usize::try_from(streams).ok());
    let mut interval = |key, default| reader.duration(key, INTERVAL_LEAST).unwrap_or(default);
    let refresh_interval = interval("refresh_interval", defaults::REFRESH_INTERVAL);
    let commit_interval = interval("commit_interval", defaults::COMMIT_INTERVAL);
    let checkpoint_interval = interval("checkpoint_interval", defaults::CHECKPOINT_INTERVAL);
    let stop_timeout = interval("stop_timeout", defaults::STOP_TIMEOUT);
    let memory = reader.size("memory", MEMORY_LEAST..=MEMORY_MOST);
    reader.finish();
    if !ends.whole {
        return None;
    }

    let mut reached = |role, raw| cluster(role, raw, None).map_err(|error| errors.push(error)).ok();
    let (source, target) = (reached(Role::Consumer, &ends.consumer), reached(Role::Producer, &ends.producer));
    let mut source = source?;
    source.frame_bytes_max = frame_bytes_max(fetch.bytes_max);
    let mut origins = of_properties(&consumer, &producer);
    origins.extend(own);
    origins.set("name", Origin::Place(place));
    if surroundings.until_caught_up {
        origins.set("until_caught_up", Origin::Flag("--until-caught-up"));
    }
    let config = Config {
        name: name.to_owned(),
        group: group.filter(|group| !group.is_empty()),
        memory_bytes_max: memory.unwrap_or_else(|| defaults::MEMORY_BYTES_MAX.max(source.frame_bytes_max)),
        source,
        target: target?,
        topics: topics?,
        routing,
        refresh_interval,
        start,
        fetch,
        produce,
        streams: streams.unwrap_or_else(|| surroundings.cores.clamp(1, defaults::STREAMS_MAX)),
        commit_interval,
        checkpoint_interval,
        until_caught_up: surroundings.until_caught_up,
        stop_timeout,
    };
    Some(Resolved { config, warnings, origins })
}

/// Without its clusters the mirror's own settings are still read, for their errors.
fn ends(reader: &mut Reader<'_, '_>, clusters: &mut Clusters, warnings: &mut Vec<Warning>) -> Ends {
    let file = reader.section.place.file.clone();
    let (source, target) = (cluster_name(reader, "source", clusters), cluster_name(reader, "target", clusters));
    let same = source.is_some() && source == target;
    let mut whole = true;
    let mut end = |key, role, name: Option<String>| {
        let own = properties(reader, key, role, warnings);
        let Some(cluster) = name.and_then(|name| clusters.get(&name)) else {
            whole = false;
            return RawConfig::of_entries(&file, own);
        };
        let raw = cluster.properties(&file, own);
        whole &= !cluster.faulty;
        if !cluster.faulty && Values::new(&raw, role).entry("bootstrap.servers").is_none() {
            whole = false;
            let fault =
                "bootstrap.servers is missing: some of the cluster's brokers, \"host:port\" with commas between";
            reader.errors.push(ConfigError::Setting { place: cluster.place.clone(), fault: fault.to_owned() });
        }
        raw
    };
    let (consumer, producer) = (end("consumer", Role::Consumer, source), end("producer", Role::Producer, target));
    Ends { consumer, producer, whole, same }
}

/// The cluster that `source` or `target` names; it is marked as used.
fn cluster_name(reader: &mut Reader<'_, '_>, key: &'static str, clusters: &mut Clusters) -> Option<String> {
    let known = || clusters.keys().cloned().collect::<Vec<_>>().join(", ");
    let there = reader.section.has(key);
    let name = reader.read(key, |item| {
        let name = item.text()?;
        if clusters.contains_key(&name) {
            Ok(name)
        } else {
            Err(item.wrong(format!("one of the file's clusters ({})", known())))
        }
    });
    if !there {
        reader.fault(format!("{key} is missing: it names one of the file's clusters ({})", known()));
    }
    let name = name?;
    if let Some(cluster) = clusters.get_mut(&name) {
        match key {
            "source" => cluster.read = true,
            _ => cluster.written = true,
        }
    }
    Some(name)
}

/// `[mirror.….consumer]` or `[mirror.….producer]`: Kafka's own keys, over those of the cluster.
fn properties(
    reader: &mut Reader<'_, '_>,
    key: &'static str,
    role: Role,
    warnings: &mut Vec<Warning>,
) -> Vec<RawEntry> {
    let Some(item) = reader.section.take(key) else { return Vec::new() };
    match item.section() {
        Ok(section) => {
            let entries = section.properties(reader.errors);
            let raw = RawConfig::of_entries(&item.place.file, entries.iter().cloned());
            warnings.extend(survey(&raw, &[role], reader.errors));
            entries
        }
        Err(error) => {
            reader.errors.push(error);
            Vec::new()
        }
    }
}

fn topics(reader: &mut Reader<'_, '_>) -> Option<TopicSelection> {
    if !reader.section.has("topics") {
        reader.fault("topics is missing: expressions for whole names, such as [\"orders.*\", \"payments\"]");
    }
    let (topics, exclude) = (reader.read("topics", patterns), reader.read("exclude", patterns));
    Some(TopicSelection::new(topics?, exclude))
}

fn routing(reader: &mut Reader<'_, '_>, surroundings: &Surroundings<'_>) -> Routing {
    let mapping = reader.read("topic_mappings", |item| {
        let name = item.text()?;
        let bytes =
            (surroundings.read)(&name).map_err(|error| item.fault(format!("{name} cannot be read: {error}")))?;
        RawConfig::parse(&name, &bytes).and_then(|raw| mapping(&raw))
    });
    let (rename, config) = route(reader, &RouteConfig::default());
    let mut rules = Vec::new();
    if let Some(item) = reader.section.take("route") {
        match item.items() {
            Some(items) => {
                for (at, item) in (1..).zip(items) {
                    let Ok(section) = item.section().map_err(|error| reader.errors.push(error)) else { continue };
                    let mut below = Reader::new(section, format!("route.{at}."), reader.errors, reader.origins);
                    rules.extend(rule(&mut below, &config));
                    below.finish();
                }
            }
            None => reader.errors.push(item.fault("routes are a list: [[mirror.….route]] with double brackets")),
        }
    }
    Routing { mapping: mapping.unwrap_or_default(), rules, rename, config: config.into() }
}

fn renames(routing: &Routing) -> bool {
    routing.rename.is_some() || !routing.mapping.is_empty() || routing.rules.iter().any(|rule| rule.rename.is_some())
}

/// Unlike Kafka's clients a mirror of the file starts at the first record: what is left out has to be said.
fn start(reader: &mut Reader<'_, '_>, consumer: &Values<'_>) -> StartPolicy {
    if let Some(start) = reader.one_of("start", STARTS) {
        return start;
    }
    if consumer.entry("auto.offset.reset").is_none() {
        return defaults::START_OF_FILES;
    }
    clients::start(consumer, &mut Vec::new()).unwrap_or_else(|error| {
        reader.errors.push(error);
        defaults::START_OF_FILES
    })
}

fn fetch(reader: &mut Reader<'_, '_>, consumer: &Values<'_>) -> FetchConfig {
    let base = clients::fetch(consumer).unwrap_or_else(|error| {
        reader.errors.push(error);
        FetchConfig::default()
    });
    let mut size = |key, base| reader.size(key, 1..=INT_MAX).unwrap_or(base);
    FetchConfig {
        bytes_max: size("fetch_max_bytes", base.bytes_max),
        partition_bytes_max: size("max_partition_fetch_bytes", base.partition_bytes_max),
        bytes_min: size("fetch_min_bytes", base.bytes_min),
        wait_max: reader.duration("fetch_max_wait", Duration::from_millis(1)).unwrap_or(base.wait_max),
        isolation: reader.one_of("isolation", ISOLATIONS).unwrap_or(base.isolation),
        check_crcs: reader.boolean("check_crcs").unwrap_or(base.check_crcs),
    }
}

fn produce(reader: &mut Reader<'_, '_>, producer: &Values<'_>, warnings: &mut Vec<Warning>) -> ProduceConfig {
    let base = clients::produce(producer, warnings).unwrap_or_else(|error| {
        reader.errors.push(error);
        ProduceConfig::default()
    });
    let codecs: Vec<_> =
        CODECS.iter().map(|&(name, codec)| (name, Some(codec))).take(5).chain([("source", None)]).collect();
    let in_flight_max = i64::try_from(defaults::IN_FLIGHT_MAX).unwrap_or(i64::MAX);
    let in_flight = reader.number("max_in_flight", 1..=in_flight_max).and_then(|asked| usize::try_from(asked).ok());
    ProduceConfig {
        request_bytes_max: reader.size("max_request_size", 1..=INT_MAX).unwrap_or(base.request_bytes_max),
        batch_bytes_max: reader.size("batch_size", 1..=INT_MAX).unwrap_or(base.batch_bytes_max),
        in_flight_max: in_flight.unwrap_or(base.in_flight_max),
        compression: reader.one_of("compression", &codecs).unwrap_or(base.compression),
        abort_on_send_failure: reader
            .boolean("abort_on_send_failure")
            .unwrap_or(defaults::ABORT_ON_SEND_FAILURE_OF_FILES),
        ..base
    }
}
