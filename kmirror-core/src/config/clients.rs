//! What the two files say beside where the clusters are: where a link starts, how it reads, how it writes.

use std::time::Duration;

use kmirror_proto::compress::Codec;

use super::cluster::Warning;
use super::error::ConfigError;
use super::model::{FetchConfig, Isolation, ProduceConfig, StartPolicy, defaults};
use super::values::Values;

/// Where a link starts; the last two are those of 0.8.
pub(super) const STARTS: &[(&str, StartPolicy)] = &[
    ("earliest", StartPolicy::Earliest),
    ("latest", StartPolicy::Latest),
    ("none", StartPolicy::None),
    ("smallest", StartPolicy::Earliest),
    ("largest", StartPolicy::Latest),
];

/// Which records of transactions are read.
pub(super) const ISOLATIONS: &[(&str, Isolation)] =
    &[("read_committed", Isolation::ReadCommitted), ("read_uncommitted", Isolation::ReadUncommitted)];

/// Codecs by name; the numbers are those of 0.8's `compression.codec`.
pub(super) const CODECS: &[(&str, Codec)] = &[
    ("none", Codec::None),
    ("gzip", Codec::Gzip),
    ("snappy", Codec::Snappy),
    ("lz4", Codec::Lz4),
    ("zstd", Codec::Zstd),
    ("0", Codec::None),
    ("1", Codec::Gzip),
    ("2", Codec::Snappy),
    ("3", Codec::Lz4),
];

/// `auto.offset.reset`; left out it is Kafka's `latest`, which is said aloud.
pub(super) fn start(consumer: &Values<'_>, warnings: &mut Vec<Warning>) -> Result<StartPolicy, ConfigError> {
    if let Some(start) = consumer.one_of("auto.offset.reset", STARTS)? {
        return Ok(start);
    }
    let text = format!(
        "{}: auto.offset.reset is not set, so Kafka's default \"latest\" holds: where neither the ledger nor the group has a \
         position yet, RECORDS THAT ARE ALREADY IN THE SOURCE ARE NOT COPIED, only new ones; set auto.offset.reset=earliest \
         to copy all",
        consumer.file()
    );
    warnings.push(Warning { place: None, text });
    Ok(StartPolicy::Latest)
}

/// How the consumer's file has the source read.
pub(super) fn fetch(consumer: &Values<'_>) -> Result<FetchConfig, ConfigError> {
    let default = FetchConfig::default();
    Ok(FetchConfig {
        bytes_max: consumer.bytes("fetch.max.bytes", 1, default.bytes_max)?,
        partition_bytes_max: consumer.bytes("max.partition.fetch.bytes", 1, default.partition_bytes_max)?,
        // Either may be 0 in Kafka: a broker answers at once then, also with nothing, and at the end of a log each answer
        // would be followed by the next question.
        bytes_min: consumer.bytes("fetch.min.bytes", 0, default.bytes_min)?.max(1),
        wait_max: consumer.wait("fetch.max.wait.ms", 0, default.wait_max)?.max(Duration::from_millis(1)),
        isolation: consumer.one_of("isolation.level", ISOLATIONS)?.unwrap_or(default.isolation),
        check_crcs: consumer.boolean("check.crcs", default.check_crcs)?,
    })
}

/// How the producer's file has the target written.
pub(super) fn produce(producer: &Values<'_>, warnings: &mut Vec<Warning>) -> Result<ProduceConfig, ConfigError> {
    let default = ProduceConfig::default();
    Ok(ProduceConfig {
        request_bytes_max: producer.bytes("max.request.size", 1, default.request_bytes_max)?,
        // 0 is Kafka's "no batching": the least that a batch can hold is one record.
        batch_bytes_max: producer.bytes("batch.size", 0, default.batch_bytes_max)?.max(1),
        in_flight_max: in_flight(producer, warnings)?,
        compression: compression(producer)?,
        ..default
    })
}

/// A broker knows the last five batches of a producer, so that is how many may be on their way.
fn in_flight(producer: &Values<'_>, warnings: &mut Vec<Warning>) -> Result<usize, ConfigError> {
    let key = "max.in.flight.requests.per.connection";
    let asked = producer.number(key, "requests", 1..=i64::from(i32::MAX))?;
    let asked = asked.map_or(defaults::IN_FLIGHT_MAX, |asked| usize::try_from(asked).unwrap_or(usize::MAX));
    if asked > defaults::IN_FLIGHT_MAX {
        let place = producer.entry(key).map(|entry| producer.place(entry));
        let text =
            format!("\"{asked}\" is not followed: {} is used, the most that keeps order", defaults::IN_FLIGHT_MAX);
        warnings.push(Warning { place, text });
    }
    Ok(asked.min(defaults::IN_FLIGHT_MAX))
}

fn compression(producer: &Values<'_>) -> Result<Option<Codec>, ConfigError> {
    producer.one_of("compression.type", CODECS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys::Role;
    use crate::config::properties::RawConfig;

    fn raw(text: &str) -> RawConfig {
        RawConfig::parse("f.properties", text.as_bytes()).unwrap()
    }

    fn started(text: &str) -> (Result<StartPolicy, ConfigError>, Vec<Warning>) {
        let mut warnings = Vec::new();
        (start(&Values::new(&raw(text), Role::Consumer), &mut warnings), warnings)
    }

    fn produced(text: &str) -> (Result<ProduceConfig, ConfigError>, Vec<Warning>) {
        let mut warnings = Vec::new();
        (produce(&Values::new(&raw(text), Role::Producer), &mut warnings), warnings)
    }

    #[test]
    fn every_used_key_is_used() {
        let text = "fetch.max.bytes=1000\nmax.partition.fetch.bytes=100\nfetch.min.bytes=10\nfetch.max.wait.ms=1\n\
                    isolation.level=read_uncommitted\ncheck.crcs=false";
        let expected = FetchConfig {
            bytes_max: 1000,
            partition_bytes_max: 100,
            bytes_min: 10,
            wait_max: Duration::from_millis(1),
            isolation: Isolation::ReadUncommitted,
            check_crcs: false,
        };
        assert_eq!(fetch(&Values::new(&raw(text), Role::Consumer)), Ok(expected));

        let text =
            "max.request.size=2000\nbatch.size=200\nmax.in.flight.requests.per.connection=2\ncompression.type=lz4";
        let expected = ProduceConfig {
            request_bytes_max: 2000,
            batch_bytes_max: 200,
            in_flight_max: 2,
            compression: Some(Codec::Lz4),
            ..ProduceConfig::default()
        };
        assert_eq!(produced(text), (Ok(expected), vec![]));
    }

    #[test]
    fn a_fetch_that_waits_for_nothing_would_be_a_tight_loop() {
        let text = raw("fetch.min.bytes=0\nfetch.max.wait.ms=0");
        let fetch = fetch(&Values::new(&text, Role::Consumer)).unwrap();
        assert_eq!((fetch.bytes_min, fetch.wait_max), (1, Duration::from_millis(1)));
    }

    #[test]
    fn starts_of_both_generations() {
        for (value, expected) in [
            ("earliest", StartPolicy::Earliest),
            ("latest", StartPolicy::Latest),
            ("none", StartPolicy::None),
            ("smallest", StartPolicy::Earliest),
            ("largest", StartPolicy::Latest),
        ] {
            assert_eq!(started(&format!("auto.offset.reset={value}")), (Ok(expected), vec![]));
        }
        assert_eq!(
            started("auto.offset.reset=foo").0.unwrap_err().to_string(),
            "f.properties:1: auto.offset.reset: \"foo\" is not a value of this key: one of earliest, latest, none, smallest, largest"
        );
    }

    #[test]
    fn a_start_that_is_left_out_is_latest_and_said_aloud() {
        let (start, warnings) = started("group.id=g");
        assert_eq!((start, warnings.len()), (Ok(StartPolicy::Latest), 1));
        let text = warnings[0].to_string();
        assert!(text.starts_with("f.properties: auto.offset.reset is not set"), "{text}");
        assert!(text.contains("ARE NOT COPIED"), "{text}");
    }

    #[test]
    fn more_in_flight_than_brokers_remember_is_cut_with_a_word() {
        let (produce, warnings) = produced("max.in.flight.requests.per.connection=10");
        assert_eq!(produce.unwrap().in_flight_max, 5);
        assert_eq!(
            warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "f.properties:1: max.in.flight.requests.per.connection: \"10\" is not followed: 5 is used, the most that keeps order"
            ]
        );
        let error = produced("max.in.flight.requests.per.connection=0").0.unwrap_err().to_string();
        assert!(error.contains("at least 1"), "{error}");
    }

    #[test]
    fn codecs_of_both_generations() {
        let codec = |text: &str| produced(text).0.map(|produce| produce.compression);
        assert_eq!(codec(""), Ok(None));
        assert_eq!(codec("compression.type=none"), Ok(Some(Codec::None)));
        assert_eq!(codec("compression.type=gzip"), Ok(Some(Codec::Gzip)));
        assert_eq!(codec("compression.type=lz4"), Ok(Some(Codec::Lz4)));
        assert_eq!(codec("compression.type=snappy"), Ok(Some(Codec::Snappy)));
        assert_eq!(codec("compression.type=zstd"), Ok(Some(Codec::Zstd)));
        assert_eq!(codec("compression.codec=1"), Ok(Some(Codec::Gzip)));
        assert_eq!(codec("compression.codec=2"), Ok(Some(Codec::Snappy)));
        let unknown = codec("compression.type=brotli").unwrap_err().to_string();
        assert!(unknown.contains("one of none, gzip, snappy, lz4, zstd"), "{unknown}");
    }

    #[test]
    fn a_batch_size_of_none_is_one_record() {
        assert_eq!(produced("batch.size=0").0.unwrap().batch_bytes_max, 1);
    }
}
