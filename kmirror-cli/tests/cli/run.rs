//! `kmirror run` up to the point where it needs a cluster: flags, files, warnings.

use crate::broker::dead_address;
use crate::{Done, Files, done, kmirror};

const CONSUMER: &str = "bootstrap.servers=SOURCE\ngroup.id=g\nauto.offset.reset=earliest\nrequest.timeout.ms=500\n\
                        socket.connection.setup.timeout.ms=500\n";
const PRODUCER: &str = "bootstrap.servers=TARGET\nrequest.timeout.ms=500\nsocket.connection.setup.timeout.ms=500\n";

/// Runs with two files that have these lines more, towards ports on which nothing listens.
fn run(consumer: &str, producer: &str, more: &[&str]) -> Done {
    let consumer = format!("{CONSUMER}{consumer}").replace("SOURCE", &dead_address());
    let producer = format!("{PRODUCER}{producer}").replace("TARGET", &dead_address());
    let files = Files::new(&[("consumer.properties", &consumer), ("producer.properties", &producer)]);
    let mut command = kmirror();
    command.arg("run").arg("--consumer.config").arg(files.path("consumer.properties"));
    command.arg("--producer.config").arg(files.path("producer.properties"));
    done(command.args(more).output().unwrap())
}

fn refused(done: &Done, word: &str) {
    assert_eq!((done.code, done.out.as_str()), (Some(2), ""), "{done:?}");
    assert!(done.err.contains(word), "{word:?} is not in {:?}", done.err);
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
}

#[test]
fn bad_input_is_one_sentence_with_the_place_and_the_way_out() {
    let t = ["--whitelist", "t"];
    let bad =
        "consumer.properties:6: auto.offset.reset: \"foo\" is not a value of this key: one of earliest, latest, none";
    refused(&run("auto.offset.reset=foo", "", &t), bad);
    refused(&run("fetch.max.bytes=many", "", &t), "consumer.properties:6: fetch.max.bytes: \"many\"");
    refused(&run("sasl.mechanism=PLAIN", "", &t), "SASL is not supported by this release");
    refused(&run("", "security.protocol=SSL", &t), "TLS and SASL are not supported by this release");
    refused(&run("group.id=a/b", "", &t), "give the mirror a name of its own with --name");
    refused(&run("", "", &["--whitelist", "a(?!b)"]), "negative lookahead (?! at character 2 is not supported");
    refused(&run("", "", &["--whitelist", "t", "--num.streams", "0"]), "--num.streams 0: how many threads");
    refused(&run("", "", &["--whitelist", "t", "--name", "a b"]), "--name \"a b\" cannot name the mirror");
    refused(&run("", "", &["--exclude", "("]), "topic pattern `(`: it is not a regular expression");
    let class = ["--whitelist", "t", "--message.handler", "com.acme.Renamer"];
    refused(
        &run("", "", &class),
        "--message.handler com.acme.Renamer: there is no JVM to load a class into; built in are",
    );
    refused(
        &run("", "", &["--whitelist", "t", "--topic.mappings", "absent"]),
        "--topic.mappings absent: cannot be read",
    );
    refused(&run("bootstrap.servers=a", "", &t), "bootstrap.servers: \"a\" is not a value of this key: host:port");
}

#[test]
fn a_file_that_is_not_there_is_named_with_its_flag() {
    let files = Files::new(&[("c", "bootstrap.servers=a:1\ngroup.id=g\n")]);
    let mut command = kmirror();
    command.args(["run", "--whitelist", "t", "--consumer.config"]).arg(files.path("c"));
    let done = done(command.arg("--producer.config").arg(files.path("absent")).output().unwrap());
    assert_eq!(done.code, Some(2));
    assert!(done.err.starts_with("--producer.config ") && done.err.contains("absent: cannot be read"), "{}", done.err);
}

/// Both clusters are dead: the mirror says which one it missed first, after one warning for each key that does nothing.
#[test]
fn warnings_come_first_then_the_failure_in_one_sentence() {
    let done = run("session.timeout.ms=6000\nauto.ofset.reset=latest\n", "acks=0\n", &["--whitelist", "t"]);
    assert_eq!((done.code, done.out.as_str()), (Some(1), ""), "{done:?}");
    let warnings: Vec<&str> =
        done.err.lines().filter(|line| line.contains("WARN") && line.contains(".properties")).collect();
    for (warning, words) in warnings.iter().zip([
        "consumer.properties:6: session.timeout.ms: ignored: kmirror does not join the source's group",
        "consumer.properties:7: auto.ofset.reset: ignored: Kafka's consumer has no such key; did you mean auto.offset.reset?",
        "producer.properties:4: acks: \"0\" is not followed: a write counts when every in-sync replica has it (acks=all)",
    ]) {
        assert!(warning.ends_with(words), "{warning}");
    }
    assert_eq!(warnings.len(), 3, "{}", done.err);
    let last = done.err.lines().next_back().unwrap_or_default();
    assert!(last.contains("cluster 127.0.0.1:") && last.contains("no broker answers"), "{}", done.err);
    assert!(done.err.lines().count() < 30, "a dead broker is not said over and over: {}", done.err);
    assert!(!done.err.contains('\u{1b}'), "no colours where there is no terminal");
}

#[test]
fn quiet_leaves_warnings_and_errors() {
    let done = run("linger.ms=1\n", "", &["--whitelist", "t", "--quiet"]);
    assert_eq!(done.code, Some(1));
    assert!(done.err.contains("WARN") && !done.err.contains("INFO"), "{}", done.err);
}
