//! Whole files, read: what each setting does, and what is said about those that cannot be used.

use std::time::Duration;

use kmirror_proto::compress::Codec;

use super::*;
use crate::config::{Change, LossPolicy, PartitionPolicy, StartPolicy, changes, effective};

const CLUSTERS: &str =
    "[cluster.old]\nbootstrap.servers = \"old:9092\"\n[cluster.new]\nbootstrap.servers = \"${NEW}\"\n";
const MIRROR: &str = "[mirror.orders]\nsource = \"old\"\ntarget = \"new\"\ntopics = [\"orders.*\", \"payments\"]\n";

fn read(text: impl AsRef<[u8]>) -> Result<Vec<Resolved>, ConfigErrors> {
    let env = |name: &str| (name == "NEW").then(|| "new:9092".to_owned());
    let read = |name: &str| match name {
        "topicmapping.properties" => Ok(b"orders.a eu.a\n".to_vec()),
        _ => Err("no such file".to_owned()),
    };
    parse("kmirror.toml", text.as_ref(), &Surroundings { env: &env, read: &read, cores: 2, until_caught_up: false })
}

/// One mirror with these lines more.
fn one(more: &str) -> Resolved {
    read(format!("{CLUSTERS}{MIRROR}{more}")).unwrap().remove(0)
}

/// What is wrong with a mirror that has these lines more; they begin on line 9.
fn errors(more: &str) -> Vec<String> {
    let errors = read(format!("{CLUSTERS}{MIRROR}{more}")).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

fn warnings(resolved: &Resolved) -> Vec<String> {
    resolved.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_small_file_is_a_whole_mirror() {
    let Resolved { config, warnings, .. } = one("");
    assert_eq!(warnings, []);
    assert_eq!((config.name.as_str(), config.group), ("orders", None));
    assert_eq!(config.source.bootstrap, [("old".to_owned(), 9092)]);
    assert_eq!(config.target.bootstrap, [("new".to_owned(), 9092)]);
    assert!(
        config.topics.matches("orders.a") && config.topics.matches("payments") && !config.topics.matches("payments2")
    );
    assert_eq!((config.start, config.streams), (StartPolicy::Earliest, 2));
    assert!(!config.produce.abort_on_send_failure);
}

#[test]
fn every_setting_has_its_effect() {
    let Resolved { config, .. } = one("exclude = 'orders\\.tmp.*'\ngroup = \"g\"\nstart = \"latest\"\nstreams = 3\n\
        refresh_interval = \"5s\"\ncommit_interval = \"2min\"\ncheckpoint_interval = \"500ms\"\nmemory = \"64MiB\"\n\
        stop_timeout = \"1min\"\nabort_on_send_failure = true\nisolation = \"read_uncommitted\"\ncheck_crcs = false\n\
        fetch_max_bytes = \"1MiB\"\nmax_partition_fetch_bytes = \"512KiB\"\nfetch_min_bytes = \"2B\"\nfetch_max_wait = \"1s\"\n\
        compression = \"zstd\"\nbatch_size = \"100kB\"\nmax_request_size = \"2MiB\"\nmax_in_flight = 2\n");
    assert!(!config.topics.matches("orders.tmp1") && config.topics.matches("orders.x"));
    assert_eq!((config.group.as_deref(), config.start, config.streams), (Some("g"), StartPolicy::Latest, 3));
    let seconds = [config.refresh_interval, config.commit_interval, config.stop_timeout].map(|time| time.as_secs());
    assert_eq!((seconds, config.checkpoint_interval), ([5, 120, 60], Duration::from_millis(500)));
    assert_eq!((config.memory_bytes_max, config.produce.abort_on_send_failure), (64 << 20, true));
    let fetch = config.fetch;
    assert_eq!((fetch.bytes_max, fetch.partition_bytes_max, fetch.bytes_min), (1 << 20, 512 << 10, 2));
    assert_eq!((fetch.wait_max, fetch.check_crcs), (Duration::from_secs(1), false));
    assert_eq!(fetch.isolation, crate::config::Isolation::ReadUncommitted);
    let produce = config.produce;
    assert_eq!((produce.compression, produce.batch_bytes_max), (Some(Codec::Zstd), 100_000));
    assert_eq!((produce.request_bytes_max, produce.in_flight_max), (2 << 20, 2));
}

#[test]
fn kafkas_own_keys_stand_in_clusters_and_mirrors() {
    let text = "[cluster.old]\n\"bootstrap.servers\" = [\"a:1\", \"b:2\"]\nfetch.max.bytes = 1000\nretry.backoff.ms = \"50\"\n\
                check.crcs = false\ngroup.id = \"g\"\n[cluster.new]\nbootstrap.servers = \"n:1\"\ncompression.type = \"gzip\"\n\
                [mirror.m]\nsource = \"old\"\ntarget = \"new\"\ntopics = \"t\"\nconsumer.fetch.max.bytes = 2000\n\
                consumer.auto.offset.reset = \"latest\"\n[mirror.m.producer]\nbatch.size = 3000\n\
                [mirror.n]\nsource = \"old\"\ntarget = \"new\"\ntopics = \"u\"\nfetch_max_bytes = \"3kB\"\n";
    let mirrors = read(text).unwrap();
    let (m, n) = (&mirrors[0].config, &mirrors[1].config);
    assert_eq!(m.source.bootstrap, [("a".to_owned(), 1), ("b".to_owned(), 2)]);
    assert_eq!((m.fetch.bytes_max, n.fetch.bytes_max), (2000, 3000), "the mirror's own word wins");
    assert_eq!((m.fetch.check_crcs, m.source.retry_backoff), (false, Duration::from_millis(50)));
    assert_eq!((m.start, n.start), (StartPolicy::Latest, StartPolicy::Earliest));
    assert_eq!((m.produce.batch_bytes_max, m.produce.compression), (3000, Some(Codec::Gzip)));
    assert_eq!((m.group.as_deref(), n.group.as_deref()), (Some("g"), Some("g")));
    let origin = |resolved: &Resolved, name: &str| resolved.origins.of(name).to_string();
    assert_eq!(origin(&mirrors[0], "fetch_max_bytes"), "kmirror.toml:14");
    assert_eq!(origin(&mirrors[1], "fetch_max_bytes"), "kmirror.toml:22");
    assert_eq!(origin(&mirrors[0], "source.bootstrap.servers"), "kmirror.toml:2");
    assert_eq!(origin(&mirrors[0], "streams"), "default");
    assert_eq!(warnings(&mirrors[0]), Vec::<String>::new());
}

#[test]
fn a_key_without_meaning_is_warned_of_once() {
    let text = "[cluster.old]\nbootstrap.servers = \"a:1\"\nsession.timeout.ms = 6000\nacks = \"all\"\nbatch.size = 5\n\
                auto.ofset.reset = \"latest\"\n[cluster.new]\nbootstrap.servers = \"b:1\"\n[cluster.spare]\n\
                bootstrap.servers = \"c:1\"\n[mirror.m]\nsource = \"old\"\ntarget = \"new\"\ntopics = \"t\"\n\
                [mirror.n]\nsource = \"old\"\ntarget = \"new\"\ntopics = \"u\"\nproducer.linger.ms = 5\n";
    let mirrors = read(text).unwrap();
    assert_eq!(
        warnings(&mirrors[0]),
        [
            "kmirror.toml:3: cluster.old.session.timeout.ms: ignored: kmirror does not join the source's group",
            "kmirror.toml:5: cluster.old.batch.size: ignored: it is a key of the producer, and counts only where the cluster \
             is a target",
            "kmirror.toml:6: cluster.old.auto.ofset.reset: ignored: Kafka's consumer has no such key; did you mean auto.offset.reset?",
            "kmirror.toml:9: cluster.spare: no mirror reads or writes this cluster",
        ]
    );
    assert_eq!(warnings(&mirrors[1]).len(), 1);
    assert!(
        warnings(&mirrors[1])[0]
            .starts_with("kmirror.toml:19: mirror.n.producer.linger.ms: ignored: batches come whole")
    );
}

#[test]
fn routes_take_over_what_they_do_not_say() {
    let config = one("partitions = \"stop\"\nsettings = { \"retention.ms\" = 1000, cleanup.policy = \"compact\" }\n\
        replication_factor = 3\non_too_large = \"drop\"\nrename = { prefix = \"eu.\" }\n\
        topic_mappings = \"topicmapping.properties\"\nfilters = [{ drop = { key = '^tmp' } }, { keep = { since = 2026-01-01 } }]\n\
        [[mirror.orders.route]]\ntopics = \"payments\"\npartitions = \"modulo\"\nrename = { from = '(.*)ments', to = '${1}ed' }\n\
        settings.\"retention.ms\" = 5\nreplication_factor = \"source\"\ncreate = false\nfilters = []\n\
        [[mirror.orders.route]]\ntopics = [\"orders.b\", \"orders.c\"]\non_refused = \"drop\"\n")
    .config;
    let [own, payments, orders] = ["orders.z", "payments", "orders.c"].map(|topic| config.routing.route(topic));
    assert_eq!([&own.target, &payments.target, &orders.target], ["eu.orders.z", "payed", "eu.orders.c"]);
    assert_eq!(config.routing.route("orders.a").target, "eu.a");
    assert_eq!(own.config.partitions, PartitionPolicy::Stop);
    assert_eq!(
        (payments.config.partitions, orders.config.partitions),
        (PartitionPolicy::Modulo, PartitionPolicy::Stop)
    );
    assert_eq!(own.config.filters.to_string(), "drop key=\"^tmp\", then keep since=1767225600000");
    assert_eq!((payments.config.filters.is_empty(), orders.config.filters == own.config.filters), (true, true));
    let creation = |route: &crate::config::Route| route.config.creation.clone();
    assert_eq!(
        creation(&own).settings.into_iter().collect::<Vec<_>>(),
        [("cleanup.policy".to_owned(), "compact".to_owned()), ("retention.ms".to_owned(), "1000".to_owned())]
    );
    assert_eq!(creation(&payments).settings["retention.ms"], "5");
    assert_eq!((creation(&own).replication_factor, creation(&payments).replication_factor), (Some(3), None));
    assert!(creation(&own).create && !creation(&payments).create);
    let policies = |route: &crate::config::Route| (route.config.policies.too_large, route.config.policies.refused);
    assert_eq!(policies(&payments), (LossPolicy::Drop, LossPolicy::Refuse));
    assert_eq!(policies(&orders), (LossPolicy::Drop, LossPolicy::Drop));
}

#[test]
fn a_slip_of_the_pen_is_named_with_what_was_meant() {
    assert_eq!(
        errors("partitons = \"grow\"\n"),
        ["kmirror.toml:9: mirror.orders.partitons: unknown setting; did you mean partitions?"]
    );
    assert_eq!(errors("frobnicate = 1\n"), ["kmirror.toml:9: mirror.orders.frobnicate: unknown setting"]);
    assert_eq!(
        errors("[[mirror.orders.route]]\ntopics = 't'\nrenam = { prefix = 'a' }\n"),
        ["kmirror.toml:11: mirror.orders.route.renam: unknown setting; did you mean rename?"]
    );
    assert_eq!(errors("[miror.x]\n"), ["kmirror.toml:9: miror: unknown setting; did you mean mirror?"]);
    let dotted = errors("[mirror.eu.orders]\nsource = 'old'\ntarget = 'new'\ntopics = 't'\n");
    assert!(
        dotted[0].contains("kmirror.toml:9: mirror.eu")
            && dotted.iter().any(|error| error.contains("[mirror.\"eu.orders\"]")),
        "{dotted:?}"
    );
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let found = errors(
        "streams = 0\nmemory = 8\nrefresh_interval = 10\nstart = \"first\"\nrename = { prefix = 'a', to = 'b' }\n\
        filters = [{ drop = { kye = 'a' } }]\nfilters_ = 1\non_headers = true\ngroup = \"${GROUP}\"\nexclude = '('\n",
    );
    let expected = [
        "kmirror.toml:9: mirror.orders.streams: \"0\" is not a value of this key: a whole number from 1 to 1024",
        "kmirror.toml:10: mirror.orders.memory: \"8\" is not a value of this key: a size with its unit, such as \"8MiB\"",
        "kmirror.toml:11: mirror.orders.refresh_interval: \"10\" is not a value of this key: a duration with its unit, such as \"10s\"",
        "kmirror.toml:12: mirror.orders.start: \"first\" is not a value of this key: one of \"earliest\", \"latest\", \"none\"",
        "kmirror.toml:13: mirror.orders.rename: a rule is { prefix = \"eu.\" } or { from = 'REGEX', to = '$1' }",
        "kmirror.toml:14: mirror.orders.filters.drop.kye: \"kye\" is no condition: key=REGEX",
        "kmirror.toml:15: mirror.orders.filters_: unknown setting; did you mean filters?",
        "kmirror.toml:16: mirror.orders.on_headers: \"true\" is not a value of this key: a text in quotes",
        "kmirror.toml:17: mirror.orders.group: the environment has no GROUP",
        "kmirror.toml:18: mirror.orders.exclude: topic pattern `(`: it is not a regular expression",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}\n{expected}");
    }
}

#[test]
fn what_is_missing_is_named() {
    let all = |text: &str| read(text).unwrap_err().to_string();
    assert!(all("").starts_with("kmirror.toml:1: it has no mirror: [mirror.NAME]"));
    let empty = all("[cluster.a]\nclient.id = 'x'\n[mirror.m]\n");
    let expected = [
        "kmirror.toml:3: mirror.m: source is missing: it names one of the file's clusters (a)",
        "kmirror.toml:3: mirror.m: target is missing: it names one of the file's clusters (a)",
        "kmirror.toml:3: mirror.m: topics is missing: expressions for whole names, such as [\"orders.*\", \"payments\"]",
    ];
    assert_eq!(empty.lines().collect::<Vec<_>>(), expected);
    let addressless =
        all(&format!("[cluster.a]\nclient.id = 'x'\n{CLUSTERS}[mirror.m]\nsource = 'a'\ntarget = 'old'\ntopics = 't'"));
    assert_eq!(
        addressless,
        "kmirror.toml:1: cluster.a: bootstrap.servers is missing: some of the cluster's brokers, \"host:port\" with commas between"
    );
    let unknown = all(&format!("{CLUSTERS}[mirror.m]\nsource = 'odl'\ntarget = 'new'\ntopics = 't'"));
    assert!(
        unknown.starts_with(
            "kmirror.toml:6: mirror.m.source: \"odl\" is not a value of this key: one of the file's clusters (new, old)"
        ),
        "{unknown}"
    );
    let same = all(&format!("{CLUSTERS}[mirror.m]\nsource = 'old'\ntarget = 'old'\ntopics = 't'"));
    assert!(same.contains("source and target are the same cluster and no topic is renamed"), "{same}");
    let routeless = errors("[[mirror.orders.route]]\npartitions = 'stop'\n");
    assert_eq!(
        routeless,
        ["kmirror.toml:9: mirror.orders.route: topics is missing: it says for which topics the route is"]
    );
    assert!(errors("topic_mappings = 'gone'")[0].contains("gone cannot be read: no such file"));
    assert!(
        errors("[mirror.\"a/b\"]\nsource='old'\ntarget='new'\ntopics='t'")[0]
            .contains("\"a/b\" cannot name a mirror: '/'")
    );
}

#[test]
fn security_is_refused_and_values_are_checked_as_in_properties() {
    let text = |more: &str| {
        format!(
            "[cluster.old]\nbootstrap.servers = \"a:1\"\n{more}\n[cluster.new]\nbootstrap.servers = \"b:1\"\n{MIRROR}"
        )
    };
    for (more, words) in [
        (
            "sasl.jaas.config = \"secret\"",
            "kmirror.toml:3: cluster.old.sasl.jaas.config: SASL is not supported by this release",
        ),
        (
            "security.protocol = \"SSL\"",
            "kmirror.toml:3: cluster.old.security.protocol: TLS and SASL are not supported",
        ),
        (
            "fetch.max.bytes = \"many\"",
            "kmirror.toml:3: cluster.old.fetch.max.bytes: \"many\" is not a value of this key",
        ),
        ("fetch.max.bytes = 1.5", "kmirror.toml:3: cluster.old.fetch.max.bytes: \"1.5\" is not a value of this key"),
        ("retry.backoff.ms = -1", "kmirror.toml:3: cluster.old.retry.backoff.ms: \"-1\" is not a value of this key"),
    ] {
        let found = read(text(more)).unwrap_err().to_string();
        assert!(found.starts_with(words) && !found.contains("secret"), "{found}");
    }
}

#[test]
fn hostile_text_is_one_sentence() {
    let deep = format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let dotted = format!("{} = 1", "a.".repeat(100_000) + "a");
    let inline = format!("a = {}1{}", "{a=".repeat(50_000), "}".repeat(50_000));
    let header = format!("[{}a]\n", "a.".repeat(100_000));
    let many = "x".repeat(FILE_BYTES_MAX + 1);
    let long = format!("{} = 1", "k".repeat(1_000_000));
    for (text, place) in [
        (deep.as_bytes(), "kmirror.toml:1: "),
        (dotted.as_bytes(), "kmirror.toml:1: "),
        (inline.as_bytes(), "kmirror.toml:1: "),
        (header.as_bytes(), "kmirror.toml:1: "),
        (many.as_bytes(), "kmirror.toml:1: it has 4194305 bytes, 4194304 at most are read"),
        (long.as_bytes(), "kmirror.toml:1: "),
        (b"a = 1\n\0 = 2\n", "kmirror.toml:2: "),
        (b"a = 1\nb = \"\xff\"\n", "kmirror.toml:2: the text is not UTF-8"),
        (b"\n[mirror.m]\nsource = 'a'\nsource = 'b'\n", "kmirror.toml:4: duplicate key"),
        (b"[mirror.m\n", "kmirror.toml:1: "),
        (b"mirror = 1\n", "kmirror.toml:1: mirror: \"1\" is not a value of this key: a table"),
        (b"[[mirror]]\n", "kmirror.toml:1: mirror: a list is not a value of this key: a table"),
        (b"cluster.a = 'x'\n", "kmirror.toml:1: cluster.a: \"x\" is not a value of this key: a table"),
        (b"\xef\xbb\xbf[mirror.m]\n", "kmirror.toml:1: mirror.m: source is missing"),
    ] {
        let error = read(text).unwrap_err();
        let first = error.iter().next().unwrap().to_string();
        assert!(first.starts_with(place) && !first.contains('\n') && first.len() < 2_000_000, "{:.300}", first);
    }
}

#[test]
fn a_second_reading_tells_topics_from_the_rest() {
    let text = format!("{CLUSTERS}{MIRROR}");
    let second = "[mirror.b]\nsource = \"old\"\ntarget = \"new\"\ntopics = \"b\"\n";
    let said = |old: &str, new: &str| -> Vec<String> {
        let changes = changes(&read(old).unwrap(), &read(new).unwrap());
        let text = |change: &Change| match change {
            Change::Topics { mirror, topics } => format!("{mirror}: topics {topics}"),
            Change::Setting { mirror, setting } => format!("{mirror}: {setting}"),
            Change::Appeared(mirror) => format!("{mirror} appeared"),
            Change::Vanished(mirror) => format!("{mirror} vanished"),
        };
        changes.iter().map(text).collect()
    };
    assert_eq!(said(&text, &text), Vec::<String>::new());
    assert_eq!(said(&text, &text.replace("payments", "refunds")), ["orders: topics orders.*,refunds"]);
    assert_eq!(
        said(&text, &format!("{text}exclude = 'orders.tmp'")),
        ["orders: topics orders.*,payments (without orders.tmp)"]
    );
    assert_eq!(
        said(&text, &format!("{text}memory = '64MiB'\nsettings.a = '1'\n").replace("old:9092", "old:9093")),
        ["orders: memory", "orders: source.bootstrap.servers", "orders: settings.a"]
    );
    assert_eq!(said(&text, &format!("{text}{second}")), ["b appeared"]);
    assert_eq!(said(&format!("{text}{second}"), &text), ["b vanished"]);
}

#[test]
fn what_is_in_force_is_shown_with_its_place_and_without_secrets() {
    let resolved =
        one("settings = { my.password = 'x1y2' }\n[[mirror.orders.route]]\ntopics = 'payments'\npartitions = 'stop'\n");
    let settings = effective(&resolved);
    let shown = |name: &str| {
        let setting = settings.iter().find(|setting| setting.name == name).unwrap();
        format!("{} ({})", setting.value, setting.origin)
    };
    assert_eq!(shown("settings.my.password"), "*** (kmirror.toml:9)");
    assert_eq!(shown("topics"), "orders.*,payments (kmirror.toml:8)");
    assert_eq!(shown("name"), "orders (kmirror.toml:5)");
    assert_eq!(shown("route.1.partitions"), "stop (kmirror.toml:12)");
    assert_eq!(shown("route.1.create"), "true (default)");
    assert_eq!(shown("target.bootstrap.servers"), "new:9092 (kmirror.toml:4)");
    assert!(!format!("{settings:?}").contains("x1y2"));
}
