//! Flags and two properties files → [`Config`], once.

use std::sync::Arc;
use std::time::Duration;

use super::built_in::{BuiltIn, built_in};
use super::clients::{fetch, produce, start};
use super::cluster::{Warning, cluster, survey};
use super::error::ConfigError;
use super::keys::Role;
use super::mapping::mapping;
use super::model::{Config, ProduceConfig, defaults};
use super::origin::{Origins, of_flags, of_properties};
use super::properties::RawConfig;
use super::routing::{LossPolicy, Policies, Rename, RouteConfig, Routing};
use super::topics::{TopicPattern, TopicSelection};
use super::values::Values;
use crate::filter::Filters;

/// What `kmirror run` is told: MirrorMaker's flags and files, nothing decided yet.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// `--consumer.config`.
    pub consumer: RawConfig,
    /// `--producer.config`.
    pub producer: RawConfig,
    /// `--whitelist` or `--include`; empty beside `exclude`: every topic but those.
    pub topics: String,
    /// `--blacklist` or `--exclude`.
    pub exclude: Option<String>,
    /// Where the topics go, and what holds on the way.
    pub routing: Routing,
    /// Filters for every route that has none of its own.
    pub filters: Filters,
    /// `--topic.mappings`: source names with their target names, which win over those of `routing`.
    pub mapping: Option<RawConfig>,
    /// `--message.handler`: the name of a built-in filter or rename rule, for every route.
    pub message_handler: Option<String>,
    /// `--message.handler.args`.
    pub message_handler_args: Option<String>,
    /// `--consumer.rebalance.listener` or its arguments are given.
    pub rebalance_listener: bool,
    /// `--name`.
    pub name: Option<String>,
    /// `--num.streams`.
    pub streams: Option<i64>,
    /// How many streams there are without the flag, at most [`defaults::STREAMS_MAX`]: the machine's cores.
    pub cores: usize,
    /// `--offset.commit.interval.ms`.
    pub commit_interval_ms: Option<i64>,
    /// `--abort.on.send.failure`; `false` sets every policy of every route to [`LossPolicy::Drop`].
    pub abort_on_send_failure: Option<bool>,
    /// `--until-caught-up`.
    pub until_caught_up: bool,
}

/// A configuration, and what is to be said about it before it runs.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// What the engine runs on.
    pub config: Config,
    /// What was asked for and is not done, or is done otherwise.
    pub warnings: Vec<Warning>,
    /// Where each setting comes from.
    pub origins: Origins,
}

/// A topic's name has at most 249 characters, and the ledger's is `kmirror.<name>.ledger`.
const NAME_CHARS_MAX: usize = 249 - "kmirror..ledger".len();

/// More threads than this are a slip of the pen.
pub(super) const STREAMS_LIMIT: i64 = 1024;

const NO_LISTENER: &str = "--consumer.rebalance.listener: ignored: no group is joined on the source, so nothing is rebalanced, and \
                           there is no JVM to load a class into";

/// Decides every value.
///
/// # Errors
///
/// [`ConfigError`]: one sentence with file, line and key, and the way out.
pub fn resolve(options: &RunOptions) -> Result<Resolved, ConfigError> {
    let mut warnings = survey(Role::Consumer, &options.consumer)?;
    warnings.extend(survey(Role::Producer, &options.producer)?);

    let consumer = Values::new(&options.consumer, Role::Consumer);
    let producer = Values::new(&options.producer, Role::Producer);
    let group = consumer.text("group.id").map(str::to_owned);
    let fetch = fetch(&consumer)?;
    let mut source = cluster(Role::Consumer, &options.consumer, None)?;
    source.frame_bytes_max = frame_bytes_max(fetch.bytes_max);

    let config = Config {
        name: name(options, group.as_deref())?,
        group,
        target: cluster(Role::Producer, &options.producer, None)?,
        topics: topics(options)?,
        routing: routing(options, &mut warnings)?,
        refresh_interval: defaults::REFRESH_INTERVAL,
        start: start(&consumer, &mut warnings)?,
        fetch,
        produce: ProduceConfig {
            abort_on_send_failure: options.abort_on_send_failure.unwrap_or(defaults::ABORT_ON_SEND_FAILURE),
            ..produce(&producer, &mut warnings)?
        },
        streams: streams(options)?,
        commit_interval: commit_interval(options)?,
        checkpoint_interval: defaults::CHECKPOINT_INTERVAL,
        memory_bytes_max: defaults::MEMORY_BYTES_MAX.max(source.frame_bytes_max),
        until_caught_up: options.until_caught_up,
        stop_timeout: defaults::STOP_TIMEOUT,
        source,
    };
    let mut origins = of_properties(&consumer, &producer);
    of_flags(options, &mut origins);
    Ok(Resolved { config, warnings, origins })
}

/// A broker may answer with so much and, at the end of it, one more batch.
pub(super) fn frame_bytes_max(fetch_bytes_max: usize) -> usize {
    defaults::FRAME_BYTES_MAX.max(fetch_bytes_max.saturating_add(defaults::PARTITION_BYTES_MAX))
}

/// An exclude pattern alone is MirrorMaker's blacklist: every other topic.
fn topics(options: &RunOptions) -> Result<TopicSelection, ConfigError> {
    let exclude = options.exclude.as_deref().map(TopicPattern::parse).transpose()?;
    let include = if exclude.is_some() && options.topics.is_empty() { ".*" } else { &options.topics };
    Ok(TopicSelection::new(TopicPattern::parse(include)?, exclude))
}

fn routing(options: &RunOptions, warnings: &mut Vec<Warning>) -> Result<Routing, ConfigError> {
    let mut routing = options.routing.clone();
    if let Some(raw) = &options.mapping {
        routing.mapping.extend(mapping(raw)?);
    }
    let mut filters = options.filters.clone();
    match handled(options, warnings)? {
        BuiltIn::Identity => {}
        BuiltIn::Filter(filter) => filters.push(filter),
        BuiltIn::Rename(rename) => rename_all(&mut routing, &rename),
    }
    if options.rebalance_listener {
        warnings.push(Warning { place: None, text: NO_LISTENER.to_owned() });
    }
    let policies = (options.abort_on_send_failure == Some(false)).then_some(Policies::all(LossPolicy::Drop));
    let change = |config: &mut Arc<RouteConfig>| {
        let config = Arc::make_mut(config);
        config.policies = policies.unwrap_or(config.policies);
        if config.filters.is_empty() {
            config.filters = filters.clone();
        }
    };
    change(&mut routing.config);
    routing.rules.iter_mut().for_each(|rule| change(&mut rule.config));
    Ok(routing)
}

fn handled(options: &RunOptions, warnings: &mut Vec<Warning>) -> Result<BuiltIn, ConfigError> {
    let args = options.message_handler_args.as_deref();
    let Some(class) = &options.message_handler else {
        if args.is_some() {
            let text = "--message.handler.args: ignored: there is no --message.handler that would take them".to_owned();
            warnings.push(Warning { place: None, text });
        }
        return Ok(BuiltIn::Identity);
    };
    let wrong = |expected| ConfigError::Flag { flag: "--message.handler", value: class.clone(), expected };
    built_in(class, args).map_err(wrong)
}

/// For rules too, as far as they do not rename themselves.
fn rename_all(routing: &mut Routing, rename: &Rename) {
    routing.rename.get_or_insert_with(|| rename.clone());
}

/// `--name`, else `group.id`: a new group is a new mirror, as MirrorMaker's users expect.
fn name(options: &RunOptions, group: Option<&str>) -> Result<String, ConfigError> {
    let (origin, name, advice) = match (&options.name, group) {
        (Some(name), _) => ("--name", name.as_str(), "choose another"),
        (None, Some(group)) => ("group.id", group, "keep it, and give the mirror a name of its own with --name"),
        (None, None) => {
            return Err(ConfigError::Nameless { file: options.consumer.file().to_owned() });
        }
    };
    match name_fault(name) {
        Some(fault) => Err(ConfigError::Name { origin, name: name.to_owned(), fault, advice }),
        None => Ok(name.to_owned()),
    }
}

/// Why no ledger topic can carry the name.
pub(super) fn name_fault(name: &str) -> Option<String> {
    let illegal = name.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')));
    match illegal {
        // Nothing is replaced: two groups that differ in such a character only would share a ledger.
        Some(c) => Some(format!("{c:?} cannot stand in a topic's name, as letters, digits, '.', '_' and '-' can")),
        None if name.is_empty() => Some("it is empty".to_owned()),
        None if name.len() > NAME_CHARS_MAX => {
            Some(format!("it has {} characters, {NAME_CHARS_MAX} at most fit", name.len()))
        }
        None => None,
    }
}

fn streams(options: &RunOptions) -> Result<usize, ConfigError> {
    let Some(asked) = options.streams else {
        return Ok(options.cores.clamp(1, defaults::STREAMS_MAX));
    };
    let streams = usize::try_from(asked).ok().filter(|_| (1..=STREAMS_LIMIT).contains(&asked));
    let expected = "how many threads, from 1 to 1024".to_owned();
    streams.ok_or_else(|| ConfigError::Flag { flag: "--num.streams", value: asked.to_string(), expected })
}

fn commit_interval(options: &RunOptions) -> Result<Duration, ConfigError> {
    let Some(ms) = options.commit_interval_ms else {
        return Ok(defaults::COMMIT_INTERVAL);
    };
    let interval = u64::try_from(ms).ok().filter(|_| (1..=i64::from(i32::MAX)).contains(&ms));
    let expected = "how many milliseconds, from 1 to 2147483647".to_owned();
    let flag = "--offset.commit.interval.ms";
    interval.map(Duration::from_millis).ok_or_else(|| ConfigError::Flag { flag, value: ms.to_string(), expected })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::model::{FetchConfig, StartPolicy};
    use crate::config::settings::effective;

    fn options(consumer: &str, producer: &str) -> RunOptions {
        RunOptions {
            consumer: RawConfig::parse("c.properties", consumer.as_bytes()).unwrap(),
            producer: RawConfig::parse("p.properties", producer.as_bytes()).unwrap(),
            topics: "test-mirror".to_owned(),
            cores: 16,
            ..RunOptions::default()
        }
    }

    const CONSUMER: &str = "bootstrap.servers=a:9092\ngroup.id=test-mirror\nauto.offset.reset=earliest\n\
                            partition.assignment.strategy=org.apache.kafka.clients.consumer.RoundRobinAssignor\n";
    const PRODUCER: &str = "bootstrap.servers=b:9092\n";

    fn resolved(consumer: &str, producer: &str) -> Resolved {
        resolve(&options(&format!("{CONSUMER}{consumer}"), &format!("{PRODUCER}{producer}"))).unwrap()
    }

    fn error(consumer: &str, producer: &str) -> String {
        resolve(&options(&format!("{CONSUMER}{consumer}"), &format!("{PRODUCER}{producer}"))).unwrap_err().to_string()
    }

    /// The two files and the flags of the first acceptance test.
    #[test]
    fn mirrormakers_own_example_needs_no_word() {
        let mut options = options(CONSUMER, PRODUCER);
        options.streams = Some(5);
        let Resolved { config, warnings, .. } = resolve(&options).unwrap();
        assert_eq!(warnings, []);
        assert_eq!((config.name.as_str(), config.group.as_deref()), ("test-mirror", Some("test-mirror")));
        assert_eq!(config.source.bootstrap, [("a".to_owned(), 9092)]);
        assert_eq!(config.target.bootstrap, [("b".to_owned(), 9092)]);
        assert_eq!((config.start, config.streams), (StartPolicy::Earliest, 5));
        assert_eq!((config.fetch, config.produce), (FetchConfig::default(), ProduceConfig::default()));
        assert_eq!(config.commit_interval, Duration::from_secs(60));
        assert!(config.topics.matches("test-mirror") && !config.until_caught_up);
    }

    #[test]
    fn flags_reach_the_config() {
        let options = RunOptions {
            name: Some("eu-to-us".to_owned()),
            commit_interval_ms: Some(5000),
            abort_on_send_failure: Some(false),
            until_caught_up: true,
            ..options(CONSUMER, PRODUCER)
        };
        let config = resolve(&options).unwrap().config;
        assert_eq!((config.name.as_str(), config.group.as_deref()), ("eu-to-us", Some("test-mirror")));
        assert_eq!(config.commit_interval, Duration::from_secs(5));
        assert!(!config.produce.abort_on_send_failure && config.until_caught_up);
        assert_eq!(config.streams, 4, "one per core, four at most");
    }

    #[test]
    fn an_exclude_pattern_alone_is_every_other_topic() {
        let chosen = |topics: &str, exclude: &str| {
            let exclude = Some(exclude.to_owned());
            let options = RunOptions { topics: topics.to_owned(), exclude, ..options(CONSUMER, PRODUCER) };
            resolve(&options).map(|resolved| resolved.config.topics)
        };
        let alone = chosen("", "tmp.*,test").unwrap();
        assert!(alone.matches("orders") && !alone.matches("tmp1") && !alone.matches("test") && !alone.matches("__x"));
        let beside = chosen("orders.*", "orders-tmp").unwrap();
        assert!(beside.matches("orders-1") && !beside.matches("orders-tmp") && !beside.matches("payments"));
        assert!(chosen("", "").unwrap_err().to_string().contains("it is empty"));
        assert!(chosen("a", "(").unwrap_err().to_string().starts_with("topic pattern `(`"));
    }

    #[test]
    fn a_failed_send_stops_the_mirror_or_is_left_out() {
        let of = |abort| {
            resolve(&RunOptions { abort_on_send_failure: abort, ..options(CONSUMER, PRODUCER) }).unwrap().config
        };
        for abort in [None, Some(true)] {
            let config = of(abort);
            assert!(config.produce.abort_on_send_failure);
            assert_eq!(config.routing.config.policies, Policies::default());
        }
        let config = of(Some(false));
        assert!(!config.produce.abort_on_send_failure);
        assert_eq!(config.routing.config.policies, Policies::all(LossPolicy::Drop));
    }

    #[test]
    fn built_in_filters_and_names_reach_the_routes() {
        let of = |class: &str, args: &str| {
            let (message_handler, message_handler_args) = (Some(class.to_owned()), Some(args.to_owned()));
            resolve(&RunOptions { message_handler, message_handler_args, ..options(CONSUMER, PRODUCER) })
        };
        let filtered = of("drop", "tombstone").unwrap().config.routing;
        assert_eq!(filtered.route("test-mirror").config.filters.to_string(), "drop tombstone=true");
        assert_eq!(of("rename", "prefix=eu.").unwrap().config.routing.route("test-mirror").target, "eu.test-mirror");
        assert_eq!(of("identity", "").unwrap().config.routing.config.filters.digest(), 0);
        let error = of("com.acme.Renamer", "").unwrap_err().to_string();
        assert!(error.starts_with("--message.handler com.acme.Renamer: there is no JVM"), "{error}");
    }

    #[test]
    fn a_mapping_names_single_topics() {
        let mapping = RawConfig::parse("topicmapping.properties", b"orders eu.orders\npayments=eu.payments\n").unwrap();
        let Resolved { config, origins, .. } =
            resolve(&RunOptions { mapping: Some(mapping), ..options(CONSUMER, PRODUCER) }).unwrap();
        let target = |topic: &str| config.routing.route(topic).target;
        assert_eq!([target("orders"), target("payments"), target("other")], ["eu.orders", "eu.payments", "other"]);
        assert_eq!(origins.of("topic_mappings").to_string(), "topicmapping.properties");
    }

    #[test]
    fn what_cannot_be_loaded_is_one_warning() {
        let options = RunOptions {
            rebalance_listener: true,
            message_handler_args: Some("x".to_owned()),
            ..options(CONSUMER, PRODUCER)
        };
        let warnings: Vec<String> = resolve(&options).unwrap().warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings.len(), 2);
        assert!(
            warnings[0].starts_with("--message.handler.args: ignored: there is no --message.handler"),
            "{warnings:?}"
        );
        assert!(warnings[1].starts_with("--consumer.rebalance.listener: ignored: no group is joined"), "{warnings:?}");
    }

    #[test]
    fn each_value_knows_where_it_comes_from() {
        let options = RunOptions {
            streams: Some(2),
            abort_on_send_failure: Some(false),
            ..options(
                &format!("{CONSUMER}fetch.message.max.bytes=5"),
                "bootstrap.servers=b:1\nlinger.ms=5\nbatch.size=9",
            )
        };
        let resolved = resolve(&options).unwrap();
        let settings = effective(&resolved);
        let one = |name: &str| {
            let setting = settings.iter().find(|setting| setting.name == name).unwrap();
            (setting.value.clone(), setting.origin.to_string())
        };
        let expected = |value: &str, origin: &str| (value.to_owned(), origin.to_owned());
        assert_eq!(one("source.bootstrap.servers"), expected("a:9092", "c.properties:1"));
        assert_eq!(one("target.bootstrap.servers"), expected("b:1", "p.properties:1"));
        assert_eq!(one("name"), expected("test-mirror", "c.properties:2"));
        assert_eq!(one("max_partition_fetch_bytes"), expected("5B", "c.properties:5"));
        assert_eq!(one("batch_size"), expected("9B", "p.properties:3"));
        assert_eq!(one("fetch_max_bytes"), expected("8MiB", "default"));
        assert_eq!(one("streams"), expected("2", "--num.streams"));
        assert_eq!(one("on_too_large"), expected("drop", "--abort.on.send.failure"));
        assert_eq!(one("partitions"), expected("grow", "default"));
    }

    #[test]
    fn a_flag_out_of_range_is_named() {
        for (flag, change) in [
            ("--num.streams 0:", (|o: &mut RunOptions| o.streams = Some(0)) as fn(&mut RunOptions)),
            ("--num.streams -1:", |o| o.streams = Some(-1)),
            ("--num.streams 1025:", |o| o.streams = Some(1025)),
            ("--offset.commit.interval.ms 0:", |o| o.commit_interval_ms = Some(0)),
            ("topic pattern `(`:", |o| o.topics = "(".to_owned()),
        ] {
            let mut options = options(CONSUMER, PRODUCER);
            change(&mut options);
            let error = resolve(&options).unwrap_err().to_string();
            assert!(error.starts_with(flag), "{error}");
        }
    }

    #[test]
    fn a_larger_fetch_has_larger_frames_and_memory() {
        let config = resolved("fetch.max.bytes=2147483647", "").config;
        assert!(config.source.frame_bytes_max > config.fetch.bytes_max);
        assert!(config.memory_bytes_max >= config.source.frame_bytes_max);
        assert_eq!(config.target.frame_bytes_max, defaults::FRAME_BYTES_MAX);
    }

    #[test]
    fn a_mirror_has_a_name_that_a_topic_can_carry() {
        let named = |name: Option<&str>, consumer: &str| {
            let name = name.map(str::to_owned);
            resolve(&RunOptions { name, ..options(consumer, PRODUCER) }).map(|resolved| resolved.config.name)
        };
        let no_group = "bootstrap.servers=a:1\n";
        let nameless = named(None, no_group).unwrap_err().to_string();
        assert!(nameless.contains("set group.id in c.properties, or give --name"), "{nameless}");
        assert!(named(None, "bootstrap.servers=a:1\ngroup.id=").is_err());
        assert_eq!(named(Some("m"), no_group).as_deref(), Ok("m"));

        let slash = named(None, "bootstrap.servers=a:1\ngroup.id=team/mirror").unwrap_err().to_string();
        assert_eq!(
            slash,
            "group.id \"team/mirror\" cannot name the mirror: '/' cannot stand in a topic's name, as letters, digits, '.', \
             '_' and '-' can; keep it, and give the mirror a name of its own with --name"
        );
        assert_eq!(named(Some("m"), "bootstrap.servers=a:1\ngroup.id=team/mirror").as_deref(), Ok("m"));

        let longest = "x".repeat(234);
        assert_eq!(named(Some(&longest), no_group), Ok(longest.clone()));
        assert_eq!(format!("kmirror.{longest}.ledger").len(), 249);
        assert!(named(Some(&format!("{longest}x")), no_group).unwrap_err().to_string().contains("235 characters"));
        assert!(named(Some(""), no_group).unwrap_err().to_string().contains("it is empty"));
    }

    #[test]
    fn both_files_are_surveyed() {
        let warnings = resolved("session.timeout.ms=1", "linger.ms=5").warnings;
        let places: Vec<_> = warnings.iter().filter_map(|w| w.place.as_ref()).map(ToString::to_string).collect();
        assert_eq!(places, ["c.properties:5: session.timeout.ms", "p.properties:2: linger.ms"]);
        assert!(error("", "sasl.mechanism=PLAIN").contains("SASL is not supported"));
    }
}
