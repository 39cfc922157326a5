//! One file → one cluster: its addresses and times, and a warning for each key that does nothing.

use std::fmt;
use std::time::Duration;

use super::error::{ConfigError, Place};
use super::keys::{self, Meaning, Role};
use super::model::{ClusterConfig, defaults};
use super::properties::{RawConfig, RawEntry};
use super::values::Values;

/// Kafka allows waits of 0 between attempts; a cluster that refuses at once would be called in a tight loop.
const BACKOFF_LEAST: Duration = Duration::from_millis(10);

/// The one `security.protocol` of this release.
pub(super) const PLAINTEXT: &str = "PLAINTEXT";

/// Something that was asked for and is not done, or done otherwise. One line each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The property, where it is one.
    pub place: Option<Place>,
    /// What is done instead, and why.
    pub text: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// How to reach the cluster of a client's properties file.
///
/// `servers`, a flag and its value, replaces `bootstrap.servers`, as those of Kafka's tools do.
///
/// # Errors
///
/// [`ConfigError`] for a value out of its range, for missing addresses, and for security settings that this release
/// does not have: a cluster is never reached in plaintext by mistake.
pub fn cluster(
    role: Role,
    raw: &RawConfig,
    servers: Option<(&'static str, &str)>,
) -> Result<ClusterConfig, ConfigError> {
    let values = Values::new(raw, role);
    plaintext(&values)?;
    let bootstrap = match servers {
        Some((flag, servers)) => {
            let wrong =
                |expected: &str| ConfigError::Flag { flag, value: servers.to_owned(), expected: expected.to_owned() };
            addresses(servers).map_err(wrong)?
        }
        None => bootstrap(&values, raw)?,
    };
    Ok(ClusterConfig {
        bootstrap,
        client_id: values.text("client.id").unwrap_or(defaults::CLIENT_ID).to_owned(),
        request_timeout: values.wait("request.timeout.ms", 1, defaults::REQUEST_TIMEOUT)?,
        connect_timeout: values.wait("socket.connection.setup.timeout.ms", 1, defaults::CONNECT_TIMEOUT)?,
        reconnect_backoff: values.wait("reconnect.backoff.ms", 0, defaults::RECONNECT_BACKOFF)?.max(BACKOFF_LEAST),
        reconnect_backoff_max: values.wait("reconnect.backoff.max.ms", 0, defaults::RECONNECT_BACKOFF_MAX)?,
        retry_backoff: values.wait("retry.backoff.ms", 0, defaults::RETRY_BACKOFF)?.max(BACKOFF_LEAST),
        metadata_max_age: values.wait("metadata.max.age.ms", 1, defaults::METADATA_MAX_AGE)?,
        frame_bytes_max: defaults::FRAME_BYTES_MAX,
    })
}

/// How long a command of `--command-config` may take (`default.api.timeout.ms`).
///
/// # Errors
///
/// [`ConfigError::Value`] for a value out of its range.
pub fn command_timeout(raw: &RawConfig) -> Result<Duration, ConfigError> {
    Values::new(raw, Role::Admin).wait("default.api.timeout.ms", 1, defaults::COMMAND_TIMEOUT)
}

/// Goes through every key of a file: what is refused is an error, what has no meaning is one warning.
///
/// # Errors
///
/// [`ConfigError::Unsupported`] for SASL and configuration providers.
pub fn survey(role: Role, raw: &RawConfig) -> Result<Vec<Warning>, ConfigError> {
    let mut warnings = Vec::new();
    for entry in raw.replaced() {
        if let Some(last) = raw.get(&entry.key).filter(|last| last.value != entry.value) {
            let text = match last.line {
                0 => "it is set again, which counts".to_owned(),
                line => format!("it is given again on line {line}, which counts"),
            };
            warnings.push(Warning { place: Some(raw.place(entry)), text });
        }
    }
    for entry in raw.entries() {
        let text = note(role, raw, entry)?;
        warnings.extend(text.map(|text| Warning { place: Some(raw.place(entry)), text }));
    }
    Ok(warnings)
}

/// What is to be said about one property in a file of `role`.
pub(super) fn note(role: Role, raw: &RawConfig, entry: &RawEntry) -> Result<Option<String>, ConfigError> {
    Ok(match keys::meaning(role, &entry.key) {
        Some(Meaning::Refused(what, advice)) => {
            return Err(ConfigError::Unsupported { place: raw.place(entry), what, advice });
        }
        Some(Meaning::Used) => None,
        Some(Meaning::OldName(new)) => raw.get(new).map(|_| format!("ignored: its new name {new} is set as well")),
        Some(Meaning::Same { always, agrees }) => disagreement(entry, always, agrees),
        Some(Meaning::Ignored(reason)) => Some(format!("ignored: {reason}")),
        None => Some(unknown(role, &entry.key)),
    })
}

fn disagreement(entry: &RawEntry, always: &str, agrees: &[&str]) -> Option<String> {
    let agreed = agrees.is_empty() || agrees.iter().any(|value| entry.value.eq_ignore_ascii_case(value));
    (!agreed).then(|| format!("{:?} is not followed: {always}", entry.value))
}

fn unknown(role: Role, key: &str) -> String {
    if let Some(owner) = keys::owner(key) {
        return format!("ignored: it is a key of the {}, whose file is that of {}", owner.name(), owner.flag());
    }
    let meant = keys::nearest(role, key).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    format!("ignored: Kafka's {} has no such key{meant}", role.name())
}

fn plaintext(values: &Values<'_>) -> Result<(), ConfigError> {
    let Some(entry) = values.entry("security.protocol") else {
        return Ok(());
    };
    match entry.value.to_ascii_uppercase().as_str() {
        PLAINTEXT => Ok(()),
        "SSL" | "SASL_PLAINTEXT" | "SASL_SSL" => Err(ConfigError::Unsupported {
            place: values.place(entry),
            what: "TLS and SASL are",
            advice: "connect to a plaintext listener of the cluster, with security.protocol=PLAINTEXT",
        }),
        _ => Err(values.wrong(entry, "only PLAINTEXT is supported by this release")),
    }
}

fn bootstrap(values: &Values<'_>, raw: &RawConfig) -> Result<Vec<(String, u16)>, ConfigError> {
    if let Some(entry) = values.entry("bootstrap.servers") {
        return addresses(&entry.value).map_err(|expected| values.wrong(entry, expected));
    }
    let zookeeper = ["zookeeper.connect", "zk.connect"].iter().find_map(|key| raw.get(key));
    let advice = match zookeeper {
        Some(entry) => format!("set it to the brokers, host:port; {} is not used", entry.key),
        None => "set it to some of the cluster's brokers, host:port with commas between".to_owned(),
    };
    Err(ConfigError::Missing { file: values.file().to_owned(), key: "bootstrap.servers", advice })
}

/// `host:port,[::1]:port,PLAINTEXT://host:port`, as Java's `Utils.getHost` and `getPort` take them.
fn addresses(text: &str) -> Result<Vec<(String, u16)>, &'static str> {
    const FORM: &str = "host:port with commas between, a port from 1 to 65535, IPv6 as [::1]:9092";
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let addresses = parts.map(|part| address(part).ok_or(FORM)).collect::<Result<Vec<_>, _>>()?;
    if addresses.is_empty() { Err(FORM) } else { Ok(addresses) }
}

fn address(text: &str) -> Option<(String, u16)> {
    let text = match text.split_once("://") {
        Some((scheme, rest)) => scheme.eq_ignore_ascii_case("PLAINTEXT").then_some(rest)?,
        None => text,
    };
    let (host, port) = text.rsplit_once(':')?;
    let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let host = match bracketed {
        Some(host) => host,
        // More than one colon without brackets: part of the address would be taken for the port.
        None if host.contains([':', '[', ']']) => return None,
        None => host,
    };
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ':' | '%');
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    let port = port.parse().ok().filter(|&port| port > 0 && digits)?;
    (!host.is_empty() && host.chars().all(legal)).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawConfig {
        RawConfig::parse("c.properties", text.as_bytes()).unwrap()
    }

    fn warnings(role: Role, text: &str) -> Vec<String> {
        survey(role, &raw(text)).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn addresses_as_java_reads_them() {
        let pairs = |text| addresses(text).unwrap();
        let pair = |host: &str, port| (host.to_owned(), port);
        assert_eq!(pairs("a:9092"), [pair("a", 9092)]);
        assert_eq!(pairs(" a.example.com:1 , b_c-d:65535,"), [pair("a.example.com", 1), pair("b_c-d", 65535)]);
        assert_eq!(pairs("[::1]:9092,10.0.0.1:9092"), [pair("::1", 9092), pair("10.0.0.1", 9092)]);
        assert_eq!(pairs("PLAINTEXT://a:9092"), [pair("a", 9092)]);
        for bad in [
            "",
            ",",
            "a",
            "a:",
            ":9092",
            "a:0",
            "a:65536",
            "a:+1",
            "::1:9092",
            "SSL://a:9093",
            "a b:1",
            "a:9092;b:9092",
        ] {
            assert!(addresses(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_cluster_has_every_time_of_its_file() {
        let text = "bootstrap.servers=a:1\nclient.id=me\nrequest.timeout.ms=1\nsocket.connection.setup.timeout.ms=2\n\
                    reconnect.backoff.ms=30\nreconnect.backoff.max.ms=40\nretry.backoff.ms=50\nmetadata.max.age.ms=6";
        let cluster = cluster(Role::Consumer, &raw(text), None).unwrap();
        let ms = Duration::from_millis;
        let expected = ClusterConfig {
            bootstrap: vec![("a".to_owned(), 1)],
            client_id: "me".to_owned(),
            request_timeout: ms(1),
            connect_timeout: ms(2),
            reconnect_backoff: ms(30),
            reconnect_backoff_max: ms(40),
            retry_backoff: ms(50),
            metadata_max_age: ms(6),
            frame_bytes_max: defaults::FRAME_BYTES_MAX,
        };
        assert_eq!(cluster, expected);
        assert_eq!(warnings(Role::Consumer, text), Vec::<String>::new());
    }

    #[test]
    fn no_wait_at_all_would_be_a_tight_loop() {
        let text = "bootstrap.servers=a:1\nreconnect.backoff.ms=0\nretry.backoff.ms=0";
        let cluster = cluster(Role::Consumer, &raw(text), None).unwrap();
        assert_eq!((cluster.reconnect_backoff, cluster.retry_backoff), (BACKOFF_LEAST, BACKOFF_LEAST));
    }

    #[test]
    fn defaults_stand_where_the_file_is_silent() {
        let cluster = cluster(Role::Producer, &raw("metadata.broker.list=old:9092"), None).unwrap();
        assert_eq!(cluster, ClusterConfig::new(vec![("old".to_owned(), 9092)]));
    }

    #[test]
    fn a_flag_stands_in_for_the_file() {
        let cluster = cluster(Role::Admin, &raw("bootstrap.servers=a:1"), Some(("--broker-list", "b:2"))).unwrap();
        assert_eq!(cluster.bootstrap, [("b".to_owned(), 2)]);
        let error = super::cluster(Role::Admin, &raw(""), Some(("--broker-list", "b"))).unwrap_err().to_string();
        assert!(error.starts_with("--broker-list b: host:port with commas between"), "{error}");
        assert_eq!(command_timeout(&raw("")), Ok(Duration::from_secs(60)));
        assert_eq!(command_timeout(&raw("default.api.timeout.ms=5")), Ok(Duration::from_millis(5)));
    }

    #[test]
    fn missing_addresses_say_what_to_do() {
        let error = |text| cluster(Role::Consumer, &raw(text), None).unwrap_err().to_string();
        assert_eq!(
            error(""),
            "c.properties: bootstrap.servers is missing: set it to some of the cluster's brokers, host:port with commas between"
        );
        let old = error("zookeeper.connect=zk:2181");
        assert!(old.ends_with("set it to the brokers, host:port; zookeeper.connect is not used"), "{old}");
    }

    /// Silence would be a plaintext connection where the file asks for another.
    #[test]
    fn security_is_refused_by_name() {
        for protocol in ["SSL", "SASL_PLAINTEXT", "SASL_SSL", "sasl_ssl"] {
            let text = format!("bootstrap.servers=a:1\nsecurity.protocol={protocol}");
            let error = cluster(Role::Consumer, &raw(&text), None).unwrap_err().to_string();
            let start = "c.properties:2: security.protocol: TLS and SASL are not supported by this release: connect to";
            assert!(error.starts_with(start), "{error}");
        }
        assert!(cluster(Role::Consumer, &raw("bootstrap.servers=a:1\nsecurity.protocol=PLAINTEXT"), None).is_ok());
        assert!(cluster(Role::Consumer, &raw("bootstrap.servers=a:1\nsecurity.protocol=plain"), None).is_err());
        assert!(cluster(Role::Consumer, &raw("bootstrap.servers=SSL://a:1"), None).is_err());
        let sasl = survey(Role::Producer, &raw("sasl.jaas.config=secret")).unwrap_err().to_string();
        assert!(sasl.contains("SASL is not supported by this release") && !sasl.contains("secret"), "{sasl}");
        let ssl = warnings(Role::Producer, "ssl.key.password=secret");
        assert!(
            ssl.len() == 1 && ssl[0].contains("the connection is plaintext") && !ssl[0].contains("secret"),
            "{ssl:?}"
        );
    }

    #[test]
    fn each_key_without_meaning_is_one_warning_with_the_reason() {
        assert_eq!(
            warnings(Role::Consumer, "session.timeout.ms=6000\nmax.poll.records=5\nbootstrap.servers=a:1"),
            [
                "c.properties:1: session.timeout.ms: ignored: kmirror does not join the source's group",
                "c.properties:2: max.poll.records: ignored: batches are taken whole, however many records they hold",
            ]
        );
    }

    #[test]
    fn an_unknown_key_is_named_with_what_was_probably_meant() {
        assert_eq!(
            warnings(Role::Consumer, "auto.ofset.reset=earliest\nacks=1\nmy.key=1"),
            [
                "c.properties:1: auto.ofset.reset: ignored: Kafka's consumer has no such key; did you mean auto.offset.reset?",
                "c.properties:2: acks: ignored: it is a key of the producer, whose file is that of --producer.config",
                "c.properties:3: my.key: ignored: Kafka's consumer has no such key",
            ]
        );
    }

    #[test]
    fn what_contradicts_a_promise_says_what_is_done_instead() {
        assert_eq!(
            warnings(Role::Producer, "acks=0\nenable.idempotence=false\nretries=3\nkey.serializer=a.B"),
            [
                "c.properties:1: acks: \"0\" is not followed: a write counts when every in-sync replica has it (acks=all)",
                "c.properties:2: enable.idempotence: \"false\" is not followed: batches are stamped with a producer id and \
                 sequences on every target from 0.11 on",
                "c.properties:3: retries: \"3\" is not followed: a write is repeated until its outcome is known, however \
                 long the target needs",
                "c.properties:4: key.serializer: \"a.B\" is not followed: keys and values are copied byte for byte",
            ]
        );
    }

    /// The file that MirrorMaker's own documentation gives, and what it sets by itself: nothing to say.
    #[test]
    fn what_kmirror_does_anyway_is_accepted_in_silence() {
        let producer = "acks=all\nretries=2147483647\nmax.block.ms=9223372036854775807\ndelivery.timeout.ms=2147483647\n\
                        max.in.flight.requests.per.connection=1\nenable.idempotence=true\nproducer.type=sync\n\
                        key.serializer=org.apache.kafka.common.serialization.ByteArraySerializer";
        assert_eq!(warnings(Role::Producer, producer), Vec::<String>::new());
        let consumer = "enable.auto.commit=false\nexclude.internal.topics=true\n\
                        partition.assignment.strategy=org.apache.kafka.clients.consumer.RoundRobinAssignor\n\
                        value.deserializer=org.apache.kafka.common.serialization.ByteArrayDeserializer";
        assert_eq!(warnings(Role::Consumer, consumer), Vec::<String>::new());
    }

    #[test]
    fn a_repeated_key_and_an_old_name_beside_the_new_are_named() {
        assert_eq!(
            warnings(Role::Consumer, "group.id=a\ngroup.id=b\nfetch.wait.max.ms=1\nfetch.max.wait.ms=2"),
            [
                "c.properties:1: group.id: it is given again on line 2, which counts",
                "c.properties:3: fetch.wait.max.ms: ignored: its new name fetch.max.wait.ms is set as well",
            ]
        );
    }
}
