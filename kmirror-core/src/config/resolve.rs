//! Flags and two properties files → [`Config`], once.

use std::time::Duration;

use super::clients::{fetch, produce, start};
use super::cluster::{Warning, cluster, survey};
use super::error::ConfigError;
use super::keys::Role;
use super::model::{Config, ProduceConfig, defaults};
use super::properties::RawConfig;
use super::routing::Routing;
use super::topics::TopicSelection;
use super::values::Values;

/// What `kmirror run` is told: MirrorMaker's flags and files, nothing decided yet.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// `--consumer.config`.
    pub consumer: RawConfig,
    /// `--producer.config`.
    pub producer: RawConfig,
    /// `--whitelist` or `--include`.
    pub topics: String,
    /// `--name`.
    pub name: Option<String>,
    /// `--num.streams`.
    pub streams: Option<i64>,
    /// How many streams there are without the flag, at most [`defaults::STREAMS_MAX`]: the machine's cores.
    pub cores: usize,
    /// `--offset.commit.interval.ms`.
    pub commit_interval_ms: Option<i64>,
    /// `--abort.on.send.failure`.
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
}

/// A topic's name has at most 249 characters, and the ledger's is `kmirror.<name>.ledger`.
const NAME_CHARS_MAX: usize = 249 - "kmirror..ledger".len();

/// More threads than this are a slip of the pen.
const STREAMS_LIMIT: i64 = 1024;

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
    // A broker may answer with so much and, at the end of it, one more batch.
    source.frame_bytes_max = source.frame_bytes_max.max(fetch.bytes_max.saturating_add(defaults::PARTITION_BYTES_MAX));
    let memory_bytes_max = defaults::MEMORY_BYTES_MAX.max(source.frame_bytes_max);

    let config = Config {
        name: name(options, group.as_deref())?,
        group,
        target: cluster(Role::Producer, &options.producer, None)?,
        topics: TopicSelection::pattern(&options.topics)?,
        routing: Routing::default(),
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
        memory_bytes_max,
        until_caught_up: options.until_caught_up,
        stop_timeout: defaults::STOP_TIMEOUT,
        source,
    };
    Ok(Resolved { config, warnings })
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
    let illegal = name.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')));
    let fault = match illegal {
        // Nothing is replaced: two groups that differ in such a character only would share a ledger.
        Some(c) => Some(format!("{c:?} cannot stand in a topic's name, as letters, digits, '.', '_' and '-' can")),
        None if name.is_empty() => Some("it is empty".to_owned()),
        None if name.len() > NAME_CHARS_MAX => {
            Some(format!("it has {} characters, {NAME_CHARS_MAX} at most fit", name.len()))
        }
        None => None,
    };
    match fault {
        Some(fault) => Err(ConfigError::Name { origin, name: name.to_owned(), fault, advice }),
        None => Ok(name.to_owned()),
    }
}

fn streams(options: &RunOptions) -> Result<usize, ConfigError> {
    let Some(asked) = options.streams else {
        return Ok(options.cores.clamp(1, defaults::STREAMS_MAX));
    };
    let streams = usize::try_from(asked).ok().filter(|_| (1..=STREAMS_LIMIT).contains(&asked));
    let expected = "how many threads, from 1 to 1024";
    streams.ok_or_else(|| ConfigError::Flag { flag: "--num.streams", value: asked.to_string(), expected })
}

fn commit_interval(options: &RunOptions) -> Result<Duration, ConfigError> {
    let Some(ms) = options.commit_interval_ms else {
        return Ok(defaults::COMMIT_INTERVAL);
    };
    let interval = u64::try_from(ms).ok().filter(|_| (1..=i64::from(i32::MAX)).contains(&ms));
    let expected = "how many milliseconds, from 1 to 2147483647";
    let flag = "--offset.commit.interval.ms";
    interval.map(Duration::from_millis).ok_or_else(|| ConfigError::Flag { flag, value: ms.to_string(), expected })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::model::{FetchConfig, StartPolicy};

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
        let Resolved { config, warnings } = resolve(&options).unwrap();
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
