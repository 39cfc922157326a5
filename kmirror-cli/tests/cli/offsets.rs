//! `kmirror offsets` against a broker, in the words of both generations of `GetOffsetShell`.

use crate::broker::{Broker, Topics, dead_address};
use crate::{Done, Files, kmirror_with};

const TOPICS: Topics = &[
    ("t", &[(0, 31), (5, 31), (0, 0), (0, 7), (0, 7), (0, 7), (0, 7), (0, 7), (0, 7), (0, 7), (0, 10)]),
    ("other", &[(1, 2)]),
    ("__consumer_offsets", &[(0, 3)]),
    ("secret", &[(0, 9), (0, 4)]),
];

fn broker() -> Broker {
    let broker = Broker::start(TOPICS);
    broker.refuse_offsets("secret", 0);
    broker
}

fn offsets(broker: &Broker, flag: &str, more: &[&str]) -> Done {
    let address = broker.address();
    let mut args = vec!["offsets", flag, &address];
    args.extend(more);
    kmirror_with(&args)
}

fn new(more: &[&str]) -> Done {
    offsets(&broker(), "--bootstrap-server", more)
}

fn old(more: &[&str]) -> Done {
    offsets(&broker(), "--broker-list", more)
}

fn prints(done: &Done, out: &str) {
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (Some(0), out, ""));
}

#[test]
fn ends_are_the_default_and_numbers_are_sorted_as_numbers() {
    let ends = "t:0:31\nt:1:31\nt:2:0\nt:3:7\nt:4:7\nt:5:7\nt:6:7\nt:7:7\nt:8:7\nt:9:7\nt:10:10\n";
    prints(&new(&["--topic", "t"]), ends);
    prints(&old(&["--topic", "t"]), ends);
    prints(&new(&["--topic", "t", "--time", "-1"]), ends);
    prints(&new(&["--topic=t", "--time=latest"]), ends);
}

#[test]
fn starts_and_times() {
    prints(&new(&["--topic", "t", "--partitions", "0,1,2", "--time", "-2"]), "t:0:0\nt:1:5\nt:2:0\n");
    prints(&new(&["--topic", "t", "--partitions", "0,1", "--time", "earliest"]), "t:0:0\nt:1:5\n");
    // The first record since then; a partition whose records are all older has none.
    prints(&new(&["--topic", "t|other", "--partitions", "0,1,2", "--time", "3"]), "t:0:3\nt:1:5\n");
    prints(&old(&["--topic", "t|other", "--partitions", "0,1,2", "--time", "3"]), "other:0:\nt:0:3\nt:1:5\nt:2:\n");
}

#[test]
fn topics_are_chosen_by_pattern() {
    prints(&new(&["--topic", "t,o.*", "--partitions", "0"]), "other:0:2\nt:0:31\n");
    prints(&new(&["--topic", "__.*"]), "__consumer_offsets:0:3\n");
    prints(&new(&["--topic-partitions", "t:0-2,other,:10"]), "other:0:2\nt:0:31\nt:1:31\nt:10:10\n");
    let without = new(&["--exclude-internal-topics", "--topic-partitions", ".*:0"]);
    assert!(!without.out.contains("__consumer_offsets") && without.out.contains("other:0:2"), "{without:?}");
}

#[test]
fn what_the_old_tool_takes_is_taken() {
    prints(&old(&["--topic", "other", "--offsets", "1", "--max-wait-ms", "1000"]), "other:0:2\n");
}

#[test]
fn a_partition_that_no_broker_tells_is_skipped_with_a_word() {
    let done = new(&["--topic", "secret"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "secret:1:4\n"));
    assert_eq!(
        done.err,
        "Skip getting offsets for topic-partition secret-0 due to error: TOPIC_AUTHORIZATION_FAILED (29)\n"
    );
}

#[test]
fn nothing_that_matches_is_a_failure_in_the_words_of_its_generation() {
    let fails =
        |done: Done, err: &str| assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (Some(1), "", err));
    let nothing = "Error occurred: Could not match any topic-partitions with the specified filters\n";
    fails(new(&["--topic", "absent"]), nothing);
    fails(new(&["--topic", "t", "--partitions", "99"]), nothing);
    fails(old(&["--topic", "absent"]), "Topic absent does not exist\n");
    let none = "Topic t does not have any of the requested partitions 98,99\n";
    fails(old(&["--topic", "t", "--partitions", "98,99"]), none);

    let some = old(&["--topic", "t", "--partitions", "0,99"]);
    assert_eq!((some.code, some.out.as_str()), (Some(0), "t:0:31\n"));
    assert_eq!(some.err, "Error: partition 99 does not exist\n");
}

/// A terminal would obey what is in such a name.
#[test]
fn a_topic_whose_name_cannot_be_one_is_not_listed() {
    let broker = Broker::start(&[("bent", &[(0, 1)]), ("c", &[(0, 2)])]);
    broker.call("bent", "a\u{1b}[31mb");
    prints(&offsets(&broker, "--bootstrap-server", &[]), "c:0:2\n");
}

#[test]
fn wrong_usage_is_1_as_in_java() {
    for (args, word) in [
        (&["--topic", "t", "--topic-partitions", "t"][..], "cannot be used with --topic or --partitions"),
        (&["--topic-partitions", "t:x"], "Invalid rule specification: t:x"),
        (&["--partitions", "0,x"], "numeric partition ids, but received: 0,x"),
        (&["--time", "now"], "Malformed time argument now"),
        (&["--time", "-5"], "--time -5 is not supported by this release"),
        (&["--topic", "("], "topic pattern `(`: it is not a regular expression"),
        (&["--frobnicate"], "--frobnicate"),
    ] {
        let done = new(args);
        assert_eq!((done.code, done.out.as_str()), (Some(1), ""), "{args:?}");
        assert!(done.err.contains(word), "{}", done.err);
    }
    let bad = kmirror_with(&["offsets", "--bootstrap-server", "localhost"]);
    assert_eq!(bad.code, Some(1));
    assert!(bad.err.starts_with("--bootstrap-server localhost: host:port with commas between"), "{}", bad.err);
}

#[test]
fn a_time_that_the_broker_does_not_know_is_refused() {
    let done = new(&["--topic", "t", "--time", "-3"]);
    assert_eq!((done.code, done.out.as_str()), (Some(1), ""));
    assert!(done.err.contains("ListOffsets") && done.err.contains("needs brokers of 3.0 or later"), "{}", done.err);
}

#[test]
fn a_cluster_that_is_not_there_is_one_sentence() {
    let files = Files::new(&[("admin.properties", "socket.connection.setup.timeout.ms=300\n")]);
    let (address, config) = (dead_address(), files.path("admin.properties"));
    let config = config.to_str().unwrap();
    let done = kmirror_with(&["offsets", "--bootstrap-server", &address, "--command-config", config]);
    assert_eq!((done.code, done.out.as_str()), (Some(1), ""));
    assert!(
        done.err.starts_with("Error occurred: the cluster cannot be reached: bootstrap (127.0.0.1:"),
        "{}",
        done.err
    );
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
}

#[test]
fn the_command_config_is_read() {
    let files = Files::new(&[("a.properties", "security.protocol=SSL\n"), ("b.properties", "request.timeout.ms=x\n")]);
    for (name, word) in [
        ("a.properties", "TLS and SASL are not supported by this release"),
        ("b.properties", "b.properties:1: request.timeout.ms: \"x\" is not a value of this key"),
        ("absent.properties", "absent.properties: cannot be read"),
    ] {
        let path = files.path(name);
        let done = new(&["--command-config", path.to_str().unwrap()]);
        assert_eq!((done.code, done.out.as_str()), (Some(1), ""));
        assert!(done.err.contains(word), "{}", done.err);
    }
}
