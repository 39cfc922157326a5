//! Every option of MirrorMaker 1, one row each: what it does here, as `kmirror config check` shows it, or the one warning
//! that names it.

use crate::{Done, Files, done, kmirror};

const CONSUMER: &str = "bootstrap.servers=a:9092\ngroup.id=g\nauto.offset.reset=earliest\n";
const PRODUCER: &str = "bootstrap.servers=b:9092\n";

/// What an option does.
enum Seen {
    /// The setting has this value, from this flag or file.
    Setting(&'static str, &'static str, &'static str),
    /// This is the one warning.
    Warning(&'static str),
    /// It asks for what is always so: nothing to see.
    Nothing,
}
use Seen::{Nothing, Setting, Warning};

fn check(consumer: &str, producer: &str, more: &[&str]) -> Done {
    let files = Files::new(&[
        ("consumer.properties", &format!("{CONSUMER}{consumer}")),
        ("producer.properties", &format!("{PRODUCER}{producer}")),
        ("topicmapping.properties", "orders eu.orders\n"),
    ]);
    let mut command = kmirror();
    command.current_dir(files.folder.path()).args(["config", "check"]).args(more);
    command.args(["--consumer.config", "consumer.properties", "--producer.config", "producer.properties"]);
    done(command.output().unwrap())
}

/// The value and the origin of a setting in the table.
fn shown(out: &str, setting: &str) -> String {
    let line = out.lines().find(|line| line.split("  ").next() == Some(setting));
    let cells = line.unwrap_or_default().split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    cells.skip(1).take(2).collect::<Vec<_>>().join(" from ")
}

#[test]
fn every_option_is_accepted_with_its_effect_or_named_in_one_warning() {
    let options: &[(&[&str], Seen)] = &[
        (&["--whitelist", "a,b"], Setting("topics", "a,b", "--include or --whitelist")),
        (&["--include", "a|b"], Setting("topics", "a|b", "--include or --whitelist")),
        (&["--blacklist", "tmp.*"], Setting("exclude", "tmp.*", "--exclude or --blacklist")),
        (&["--exclude", "tmp.*"], Setting("topics", ".*", "default")),
        (&["--whitelist", "a.*", "--exclude", "a1"], Setting("exclude", "a1", "--exclude or --blacklist")),
        (&["--whitelist", "t", "--new.consumer"], Nothing),
        (&["--whitelist", "t", "--num.streams", "5"], Setting("streams", "5", "--num.streams")),
        (
            &["--whitelist", "t", "--offset.commit.interval.ms", "5000"],
            Setting("commit_interval", "5s", "--offset.commit.interval.ms"),
        ),
        (
            &["--whitelist", "t", "--abort.on.send.failure", "true"],
            Setting("abort_on_send_failure", "true", "--abort.on.send.failure"),
        ),
        (&["--whitelist", "t", "--abort.on.send.failure", "true"], Setting("on_refused", "refuse", "default")),
        (
            &["--whitelist", "t", "--abort.on.send.failure", "false"],
            Setting("on_refused", "drop", "--abort.on.send.failure"),
        ),
        (
            &["--whitelist", "t", "--consumer.rebalance.listener", "a.B", "--rebalance.listener.args", "x"],
            Warning(
                "--consumer.rebalance.listener: ignored: no group is joined on the source, so nothing is rebalanced",
            ),
        ),
        (&["--whitelist", "t", "--rebalance.listener.args", "x"], Warning("--consumer.rebalance.listener: ignored")),
        (
            &["--whitelist", "t", "--message.handler", "kafka.tools.MirrorMaker$defaultMirrorMakerMessageHandler"],
            Setting("filters", "none", "default"),
        ),
        (&["--whitelist", "t", "--message.handler", "identity"], Setting("filters", "none", "default")),
        (
            &["--whitelist", "t", "--message.handler", "filter", "--message.handler.args", "key=^a"],
            Setting("filters", r#"keep key="^a""#, "--message.handler"),
        ),
        (
            &["--whitelist", "t", "--message.handler", "drop", "--message.handler.args", "tombstone"],
            Setting("filters", "drop tombstone=true", "--message.handler"),
        ),
        (
            &["--whitelist", "t", "--message.handler", "rename", "--message.handler.args", "prefix=eu."],
            Setting("rename", "prefix eu.", "--message.handler"),
        ),
        (&["--whitelist", "t", "--message.handler.args", "x"], Warning("--message.handler.args: ignored: there is no")),
        (
            &["--whitelist", "t", "--topic.mappings", "topicmapping.properties"],
            Setting("topic_mappings", "orders → eu.orders", "topicmapping.properties"),
        ),
    ];
    for (flags, seen) in options {
        let done = check("", "", flags);
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{flags:?}");
        expect(&done, seen, flags);
    }
}

/// The keys of its two files that it sets itself or that its users set.
#[test]
fn every_key_of_the_two_files_is_accepted_with_its_effect_or_named_in_one_warning() {
    let keys: &[(&str, &str, Seen)] = &[
        ("group.id=h", "", Setting("group", "h", "consumer.properties:4")),
        ("auto.offset.reset=latest", "", Setting("start", "latest", "consumer.properties:4")),
        ("isolation.level=read_uncommitted", "", Setting("isolation", "read_uncommitted", "consumer.properties:4")),
        ("fetch.message.max.bytes=2048", "", Setting("max_partition_fetch_bytes", "2KiB", "consumer.properties:4")),
        ("client.id=me", "", Setting("source.client.id", "me", "consumer.properties:4")),
        ("enable.auto.commit=false", "", Nothing),
        ("partition.assignment.strategy=x.RoundRobinAssignor", "", Nothing),
        (
            "session.timeout.ms=1",
            "",
            Warning("consumer.properties:4: session.timeout.ms: ignored: kmirror does not join"),
        ),
        ("", "acks=all", Nothing),
        ("", "acks=1", Warning("producer.properties:2: acks: \"1\" is not followed")),
        ("", "retries=2147483647", Nothing),
        ("", "max.block.ms=9223372036854775807", Nothing),
        ("", "producer.type=sync", Nothing),
        ("", "producer.type=async", Nothing),
        ("", "max.in.flight.requests.per.connection=1", Setting("max_in_flight", "1", "producer.properties:2")),
        ("", "batch.size=1024", Setting("batch_size", "1KiB", "producer.properties:2")),
        ("", "max.request.size=2097152", Setting("max_request_size", "2MiB", "producer.properties:2")),
        ("", "compression.type=snappy", Setting("compression", "snappy", "producer.properties:2")),
        ("", "compression.type=zstd", Setting("compression", "zstd", "producer.properties:2")),
        ("", "linger.ms=5", Warning("producer.properties:2: linger.ms: ignored: batches come whole")),
        ("", "key.serializer=org.apache.kafka.common.serialization.ByteArraySerializer", Nothing),
    ];
    for (consumer, producer, seen) in keys {
        let done = check(consumer, producer, &["--whitelist", "t"]);
        assert_eq!(done.code, Some(0), "{consumer}{producer}: {done:?}");
        expect(&done, seen, &[consumer, producer]);
    }
}

fn expect(done: &Done, seen: &Seen, what: &[&str]) {
    let warnings: Vec<&str> = done.out.lines().filter_map(|line| line.strip_prefix("warning: ")).collect();
    // A key that replaces one of the file's own says so; that is another test's.
    let warnings: Vec<&str> = warnings.into_iter().filter(|warning| !warning.contains("given again")).collect();
    match seen {
        Setting(setting, value, origin) => {
            assert_eq!(shown(&done.out, setting), format!("{value} from {origin}"), "{what:?}\n{}", done.out);
            assert!(warnings.is_empty(), "{what:?}: {warnings:?}");
        }
        Warning(text) => {
            assert!(warnings.len() == 1 && warnings[0].starts_with(text), "{what:?}: {warnings:?}");
        }
        Nothing => assert!(warnings.is_empty(), "{what:?}: {warnings:?}"),
    }
}
