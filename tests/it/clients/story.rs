//! What happens to every client, on every release.

use std::collections::BTreeMap;
use std::time::Duration;

use kmirror_testkit::disk::Folder;
use kmirror_testkit::{Cluster, Release};
use kmirror_tests::embedded::Embedded;
use kmirror_tests::failure::ensure;
use kmirror_tests::judge::Row;
use kmirror_tests::kafka::Kafka as _;
use kmirror_tests::segments::{self, Entry};
use kmirror_tests::wait::{self, Deadline, Stopwatch};
use kmirror_tests::{Failure, Result, measured, wire};

use super::client::{Abilities, Client, Isolation, Mode, Seen, Topic, Writing, arranged};
use super::command::{self, Member};

/// For a group to agree: several heartbeats, on a busy machine.
const AGREED_WITHIN: Duration = Duration::from_secs(60);

const PARTITIONS: u32 = 2;

/// Of a group's topic: two members have two each.
const SHARED_PARTITIONS: u32 = 4;

/// All stories of a client on one release.
pub(super) fn all(client: &(dyn Client + Sync), release: Release) -> Result {
    // Two brokers: leaders and coordinators have to be found.
    let mut builder = Cluster::builder(release).brokers(2);
    // All logs are stored to look into them: not a hundred empty ones.
    builder = builder.setting("offsets.topic.num.partitions", "2");
    if release >= Release::V0_11 {
        builder = builder.setting("transaction.state.log.num.partitions", "2");
    }
    let cluster = Embedded::of(builder)?;
    for (topic, partitions) in [("contents", PARTITIONS), ("transactions", PARTITIONS), ("shared", SHARED_PARTITIONS)] {
        cluster.with(|cluster, _| cluster.create_topic(topic, usize::try_from(partitions).unwrap_or(0)));
    }
    let tell = |name, story: fn(&dyn Client, Topic<'_>) -> Result| {
        let began = Stopwatch::start();
        let told = story(client, Topic { cluster: &cluster, name });
        measured(&format!("{name} on the embedded {release} took {:?}", began.elapsed()));
        told.map_err(|failure| Failure::new(format!("{name} on the embedded {release}: {failure}")))
    };
    // Side by side: a client waits more than it works.
    std::thread::scope(|scope| {
        let mut told = vec![scope.spawn(|| tell("contents", contents)), scope.spawn(|| tell("shared", group))];
        if client.abilities(release).transactions {
            told.push(scope.spawn(|| tell("transactions", transactions)));
        }
        told.into_iter().try_for_each(|told| told.join().map_err(|_| Failure::new("a story panicked"))?)
    })
}

/// The client writes in its codecs, and with a producer id; what lies in the log is that. What lies there, and what others
/// have written in every codec that the client knows, it reads.
fn contents(client: &dyn Client, topic: Topic<'_>) -> Result {
    let release = topic.cluster.release;
    let can = client.abilities(release);
    let writing = |mode: Mode| move |codec| Writing { codec, mode, rows: rows(&can, &format!("{mode:?} {codec}")) };
    let mut writings: Vec<Writing> = can.codecs.iter().copied().map(writing(Mode::Plain)).collect();
    if can.idempotence {
        writings.extend(can.codecs.iter().copied().take(1).map(writing(Mode::Idempotent)));
    }
    client.write(topic, &writings)?;
    let told = writings.iter().flat_map(|writing| &writing.rows).map(|(partition, row)| can.written(*partition, row));
    same("the log", told.collect(), log(topic, |partition, row| can.written(partition, row))?)?;
    written_as_told(topic, &writings)?;
    for codec in can.reads {
        for (partition, row) in rows(&can, &format!("another's {codec}")) {
            topic.cluster.write((topic.name, partition), codec, &[row])?;
        }
    }
    let there = log(topic, |partition, row| can.shown(partition, row))?;
    let read = client.read(topic, Isolation::Uncommitted, there.len())?;
    same("what the client reads", there, read)
}

/// Of a committed, an aborted and another committed transaction a reader is shown two or three, by what it asks for.
fn transactions(client: &dyn Client, topic: Topic<'_>) -> Result {
    let can = client.abilities(topic.cluster.release);
    let modes = [Mode::Commit, Mode::Abort, Mode::Commit];
    let writing = |(number, mode): (usize, Mode)| {
        let codec = can.codecs[number % can.codecs.len()];
        Writing { codec, mode, rows: rows(&can, &format!("{mode:?} {number}")) }
    };
    let writings: Vec<Writing> = modes.into_iter().enumerate().map(writing).collect();
    client.write(topic, &writings)?;
    written_as_told(topic, &writings)?;
    let there = log(topic, |partition, row| can.shown(partition, row))?;
    let told = |wanted: fn(&Writing) -> bool| -> Vec<Seen> {
        let rows = writings.iter().filter(|writing| wanted(writing)).flat_map(|writing| &writing.rows);
        rows.map(|(partition, row)| can.written(*partition, row)).collect()
    };
    same("the log", told(|_| true), log(topic, |partition, row| can.written(partition, row))?)?;
    // By their values, each of which is written once: where the client chose the timestamps, they are only in the log.
    let aborted: Vec<_> = told(|writing| writing.mode == Mode::Abort).into_iter().map(|seen| content(&seen)).collect();
    let (hidden, committed): (Vec<_>, Vec<_>) =
        there.iter().cloned().partition(|seen| aborted.contains(&content(seen)));
    ensure(hidden.len() == aborted.len(), || {
        format!("{} aborted records in the log, not {}", hidden.len(), aborted.len())
    })?;
    let read = client.read(topic, Isolation::Committed, committed.len())?;
    same("what the client reads of committed transactions", committed, read)?;
    let read = client.read(topic, Isolation::Uncommitted, there.len())?;
    same("what the client reads of all transactions", there, read)
}

/// A second member gets partitions, hands them back when it leaves, and what the group has committed a third one goes on from.
fn group(client: &dyn Client, topic: Topic<'_>) -> Result {
    const GROUP: &str = "readers";
    let mut rounds = Rounds { topic, next: 0 };
    let mut first = client.join(topic, GROUP)?;
    rounds.read_by(&mut [&mut first])?;
    let mut second = client.join(topic, GROUP)?;
    let both = "both members to be given records";
    wait::until(Deadline::after(AGREED_WITHIN), both, || {
        let shares = rounds.read_by(&mut [&mut first, &mut second])?;
        Ok(shares.iter().all(|share| *share > 0).then_some(()))
    })?;
    // What is read while partitions change hands may be read twice. Now everyone has what is his.
    let shares = rounds.read_by(&mut [&mut first, &mut second])?;
    ensure(shares == [2, 2], || format!("of four records, one in each partition, the members read {shares:?}"))?;
    second.leave()?;
    let shares = rounds.read_by(&mut [&mut first])?;
    ensure(shares == [4], || format!("of four records the one that is left read {shares:?}"))?;
    first.leave()?;
    let partitions = i32::try_from(SHARED_PARTITIONS).unwrap_or(0);
    let committed = wire::committed(&topic.cluster.bootstrap(), (topic.name, partitions), GROUP)?;
    let ends = (0..SHARED_PARTITIONS).map(|partition| topic.cluster.read(topic.name, partition).map(|rows| rows.len()));
    let ends: Vec<i64> = ends.map(|end| end.map(|end| i64::try_from(end).unwrap_or(-1))).collect::<Result<_>>()?;
    ensure(committed == ends, || format!("committed {committed:?}, and the log ends at {ends:?}"))?;
    let mut third = client.join(topic, GROUP)?;
    rounds.read_by(&mut [&mut third])?;
    let read = third.leave()?.len();
    ensure(read == 4, || format!("a member that comes later reads {read} records, not the four new ones"))
}

/// Records for a group to read: one in each partition, again and again.
struct Rounds<'a> {
    topic: Topic<'a>,
    next: u32,
}

impl Rounds<'_> {
    /// Writes a round, and waits until every record of it was read; how many by each.
    fn read_by(&mut self, members: &mut [&mut Member]) -> Result<Vec<usize>> {
        let round = self.next;
        self.next += 1;
        let value = |partition: u32| format!("round {round} of {partition}").into_bytes();
        for partition in 0..SHARED_PARTITIONS {
            let row = Row {
                timestamp: wait::unix_ms(),
                key: Some(b"k".to_vec()),
                value: Some(value(partition)),
                headers: vec![],
            };
            self.topic.cluster.write((self.topic.name, partition), "none", &[row])?;
        }
        let what = format!("round {round} to be read by {} members", members.len());
        let read = wait::until(Deadline::after(AGREED_WITHIN), &what, || {
            let mut shares = Vec::new();
            let mut missing: Vec<_> = (0..SHARED_PARTITIONS).map(value).collect();
            for member in members.iter_mut() {
                let seen = member.seen()?;
                let share = seen.iter().filter_map(|seen| seen.row.value.as_ref());
                let share = (0..SHARED_PARTITIONS).map(value).filter(|value| share.clone().any(|seen| seen == value));
                let share: Vec<_> = share.collect();
                missing.retain(|value| !share.contains(value));
                shares.push(share.len());
            }
            Ok(missing.is_empty().then_some(shares))
        });
        let said = |failure| members.iter().fold(format!("{failure}"), |text, member| text + "\n" + &member.output());
        read.map_err(|failure| Failure::new(said(failure)))
    }
}

/// Every shape of record that a client can write, and has a place on the release, over all partitions. No two are alike.
fn rows(can: &Abilities, tag: &str) -> Vec<(u32, Row)> {
    let mut rows = Vec::new();
    for partition in 0..PARTITIONS {
        let named = |what: &str| format!("{tag} {partition} {what}");
        // A codec that makes it no smaller is not used by some.
        let large = named(&"large ".repeat(500));
        let mut shapes =
            vec![Row::new(0, Some(&named("key")), Some(&named("value"))), Row::new(0, Some("k"), Some(&large))];
        if can.nulls {
            shapes.push(Row::new(0, None, Some(&named("without key"))));
            shapes.push(Row::new(0, Some(&named("tombstone")), None));
        }
        if can.empties {
            shapes.push(Row::new(0, Some(""), Some(&named("with an empty key"))));
            shapes.push(Row::new(0, Some(&named("with an empty value")), Some("")));
        }
        if can.writes_headers {
            let row =
                Row::new(0, Some("k"), Some(&named("with headers"))).header("h", Some("1")).header("h", Some("2"));
            shapes.push(if can.null_headers { row.header("none", None).header("empty", Some("")) } else { row });
        }
        rows.extend(shapes.into_iter().map(|row| (partition, row)));
    }
    for (number, (_, row)) in (0..).zip(&mut rows) {
        row.timestamp = FIRST_TIMESTAMP + number;
    }
    rows
}

/// No round number, and no order that a client could make up.
const FIRST_TIMESTAMP: i64 = 1_790_000_000_123;

/// Every record that lies in a topic's log.
fn log(topic: Topic<'_>, show: impl Fn(u32, &Row) -> Seen) -> Result<Vec<Seen>> {
    let mut all = Vec::new();
    for partition in 0..PARTITIONS {
        let rows = topic.cluster.read(topic.name, partition)?;
        all.extend(rows.into_iter().map(|row| show(partition, &row)));
    }
    Ok(all)
}

/// Each way of writing left an entry with its codec, its producer id or none, and its transaction or none.
fn written_as_told(topic: Topic<'_>, writings: &[Writing]) -> Result {
    let folder = command::folder()?;
    let stored = topic.cluster.with(|cluster, _| Folder::at(folder.path()).write(cluster));
    stored.map_err(|error| Failure::new(format!("storing the logs: {error}")))?;
    let stored: BTreeMap<u32, Vec<Entry>> = segments::read_in(folder.path(), topic.name)?;
    for writing in writings {
        let transactional = matches!(writing.mode, Mode::Commit | Mode::Abort);
        let as_told = |entry: &Entry| match entry {
            Entry::Batch(batch) => {
                codec_name(batch.codec()) == writing.codec
                    && (batch.producer_id >= 0) == (writing.mode != Mode::Plain)
                    && batch.is_transactional() == transactional
            }
            Entry::Message(message) => {
                codec_name(i16::from(message.attributes & 7)) == writing.codec && writing.mode == Mode::Plain
            }
        };
        ensure(stored.values().flatten().any(as_told), || {
            format!("nothing in the log of {} is {:?} in {}", topic.name, writing.mode, writing.codec)
        })?;
    }
    Ok(())
}

/// Compares records, each partition in its order.
fn same(what: &str, wanted: Vec<Seen>, found: Vec<Seen>) -> Result {
    let (wanted, found) = (arranged(wanted), arranged(found));
    for (wanted, found) in wanted.iter().zip(&found) {
        ensure(wanted == found, || format!("{what} differs\nwanted {wanted:?}\nfound  {found:?}"))?;
    }
    ensure(wanted.len() == found.len(), || format!("{what}: {} records instead of {}", found.len(), wanted.len()))
}

fn content(seen: &Seen) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    (seen.row.key.clone(), seen.row.value.clone())
}

fn codec_name(codec: i16) -> &'static str {
    let names = ["none", "gzip", "snappy", "lz4", "zstd"];
    usize::try_from(codec).ok().and_then(|codec| names.get(codec)).copied().unwrap_or("unknown")
}

/// A test of `$client` on each of these releases.
macro_rules! on_each {
    ($client:expr; $($name:ident $release:ident)*) => {
        $(#[test]
        fn $name() -> kmirror_tests::Result {
            $crate::clients::story::all(&$client?, kmirror_testkit::Release::$release)
        })*
    };
    // On those that most clients know.
    ($client:expr) => {
        $crate::clients::story::on_each! { $client;
            on_0_10_0 V0_10_0
            on_0_10_1 V0_10_1
            on_0_11 V0_11
            on_1_1 V1_1
            on_2_0 V2_0
            on_2_8 V2_8
            on_3_9 V3_9
            on_4_4 V4_4
        }
    };
}
pub(super) use on_each;
