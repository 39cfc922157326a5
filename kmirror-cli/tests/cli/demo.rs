//! `kmirror demo` and `kmirror broker`: the embedded clusters as a user meets them.
#![cfg(feature = "testkit")]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use crate::{Done, kmirror, kmirror_with};

fn demo(more: &[&str]) -> Done {
    kmirror_with(&[&["demo", "--records", "1000", "--partitions", "3"], more].concat())
}

/// Starts a command, and returns it with what it says.
fn started(args: &[&str]) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut child = kmirror().args(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    (child, lines)
}

/// The first word that is the address of a broker.
fn address(line: &str) -> Option<String> {
    line.split([' ', ',']).find(|word| word.starts_with("127.0.0.1:")).map(str::to_owned)
}

#[test]
fn both_sides_are_shown_and_compared() {
    let done = demo(&[]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for line in [
        "an embedded Kafka 2.0.0 at 127.0.0.1:",
        "an embedded Kafka 0.10.1.1 at 127.0.0.1:",
        "== loading 1,000 records into 3 partitions of test-mirror\n",
        "== kmirror run --consumer.config ",
        " --num.streams 5 --whitelist test-mirror --until-caught-up\n",
        "test-mirror-0              0         334               0         334\n",
        "test-mirror-2              0         333               0         333\n",
        "== 1,000 records compared: values, timestamps and order are equal\n",
        "== mirrored in ",
        " s of CPU, both clusters included\n",
    ] {
        assert!(done.out.contains(line), "{line}{}", done.out);
    }
}

/// The last one has to be compressed anew: its target does not know zstd.
#[test]
fn any_release_codec_and_size() {
    for (from, to, codec) in
        [("0.10.0", "4.4", "gzip"), ("4.4", "0.11", "snappy"), ("2.8", "3.9.1", "lz4"), ("3.9", "0.10.1", "zstd")]
    {
        let releases = ["--source-version", from, "--target-version", to];
        let done = demo(&[&releases[..], &["--codec", codec, "--record-size", "300"]].concat());
        assert_eq!(done.code, Some(0), "{from} to {to}, {codec}: {done:?}");
        assert!(done.out.contains("== 1,000 records compared"), "{}", done.out);
    }
}

#[test]
fn what_cannot_be_is_refused_in_one_sentence() {
    for (args, code, words) in [
        (&["--source-version", "0.9"][..], 2, "--source-version: "),
        (&["--codec", "zstd"], 2, "--codec zstd: Kafka 2.0.0 does not know it (2.1 and later do)"),
        (&["--record-size", "7"], 2, "--record-size"),
        (&["--partitions", "0"], 2, "--partitions"),
    ] {
        let done = demo(args);
        assert_eq!(done.code, Some(code), "{args:?}: {done:?}");
        assert!(done.err.contains(words), "{words}: {}", done.err);
    }
}

#[cfg(unix)]
#[test]
fn both_clusters_stay_up_for_other_clients() {
    let (mut child, mut lines) = started(&["demo", "--records", "10", "--partitions", "2", "--serve"]);
    let line = lines.find(|line| line.contains("both clusters stay up until Ctrl-C")).expect("it serves");
    let target = address(line.split_once(" and ").unwrap().1).unwrap();
    let asked = kmirror_with(&["offsets", "--bootstrap-server", &target, "--topic", "test-mirror"]);
    assert_eq!((asked.code, asked.out.as_str()), (Some(0), "test-mirror:0:5\ntest-mirror:1:5\n"), "{asked:?}");
    crate::signals::signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn one_cluster_on_its_own() {
    let topics = ["--topic", "orders:2", "--topic", "payments"];
    let (mut child, mut lines) =
        started(&[&["broker", "--profile", "0.11", "--listen", "127.0.0.1:0", "--brokers", "2"], &topics[..]].concat());
    let bootstrap = lines.next().unwrap();
    assert_eq!(bootstrap.split(',').count(), 2, "{bootstrap}");
    let asked = kmirror_with(&["offsets", "--bootstrap-server", &bootstrap]);
    assert_eq!((asked.code, asked.out.as_str()), (Some(0), "orders:0:0\norders:1:0\npayments:0:0\n"), "{asked:?}");
    crate::signals::signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_broker_that_cannot_be_says_why() {
    for (args, words) in [
        (&["--profile", "5.0"][..], "--profile: "),
        (&["--setting", "no-equals-sign"], "--setting no-equals-sign: a line of server.properties, name=value"),
        (&["--setting", "num.partitions=many"], "--setting: "),
        (&["--topic", "orders:x"], "--topic orders:x: a name, or name:partitions"),
        (&["--topic", "orders:0"], "--topic orders:0: a name, or name:partitions"),
        (&["--topic", "a b"], "--topic a b: \"a b\" cannot be a topic's name: it holds ' '"),
        (&["--listen", "nowhere"], "--listen: "),
    ] {
        let done = kmirror_with(&[&["broker"], args].concat());
        assert_eq!((done.code, done.out.as_str()), (Some(2), ""), "{args:?}: {done:?}");
        assert!(done.err.contains(words), "{words}: {}", done.err);
    }
}
