//! Records that the target cannot take: too large, too far in the future, without a key, with headers.

use std::collections::BTreeSet;

use super::{good, killed_on_the_way, left_out, timestamp};
use crate::judge::{self, Row};
use crate::kafka::Kafka;
use crate::kmirror::Finished;
use crate::mirror_file::{MirrorFile, stop, until_ends, until_said};
use crate::{Result, measured};

/// One kind of record that a target does not take.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// In the names of topics.
    mark: &'static str,
    /// The policy's key in the file.
    policy: &'static str,
    /// The settings of the target's topic, which is there before.
    settings: &'static [(&'static str, &'static str)],
    /// Such a record, as the `n`-th of its partition.
    bad: fn(usize) -> Row,
    /// One in so many records is like that where many are written.
    every: usize,
    /// Whether `drop` leaves only a part of it out.
    carried: bool,
    /// What the message about the one at offset 50 says.
    words: &'static [&'static str],
}

/// The target's brokers tell the limit: it is found before anything is sent.
pub const TOO_LARGE: Loss = Loss {
    mark: "large",
    policy: "on_too_large",
    settings: &[("max.message.bytes", "10000")],
    bad: |n| Row::sized(timestamp(n), "large", 30_000),
    every: 97,
    carried: false,
    words: &["offset 50", "max.message.bytes", "10000"],
};

/// 0.10 does not tell its topics' settings: the broker's refusal says so. Each costs looks at the target's log, and time
/// between them.
pub const TOO_LARGE_ANSWERED: Loss = Loss { mark: "answered", every: 970, words: &["max.message.bytes"], ..TOO_LARGE };

/// The year 2100; 4.x takes an hour from now.
pub const TIMESTAMP: Loss = Loss {
    mark: "future",
    policy: "on_timestamp",
    settings: &[("message.timestamp.after.max.ms", "3600000")],
    bad: |n| Row::new(4_102_444_800_000, Some("future"), Some(&format!("record {n}"))),
    every: 97,
    carried: false,
    words: &["offset 50", "4102444800000", "message.timestamp.after.max.ms"],
};

/// Towards a compacted topic.
pub const KEYLESS: Loss = Loss {
    mark: "keyless",
    policy: "on_keyless",
    settings: &[("cleanup.policy", "compact")],
    bad: |n| Row::new(timestamp(n), None, (n % 2 == 0).then_some("value")),
    every: 97,
    carried: false,
    words: &["offset 50", "no key", "compact"],
};

/// What 0.10 answers says nothing about keys.
pub const KEYLESS_ANSWERED: Loss = Loss { mark: "keyless-answered", every: 970, ..KEYLESS };

/// Towards 0.10, which keeps none.
pub const HEADERS: Loss = Loss {
    mark: "headers",
    policy: "on_headers",
    settings: &[],
    bad: |n| Row::new(timestamp(n), Some("headers"), Some("value")).header("trace", Some("1")).header("null", None),
    every: 97,
    carried: true,
    words: &["offset 50", "headers", "0.11"],
};

impl Loss {
    /// The counter of what the policy `drop` left out.
    fn counter(&self) -> &'static str {
        if self.carried { "headers_dropped" } else { "dropped" }
    }

    /// What arrives of rows of which those at `bad` are bad.
    fn arriving(&self, rows: &[Row], bad: &BTreeSet<usize>) -> Vec<Row> {
        let kept = rows.iter().enumerate().filter(|(n, _)| self.carried || !bad.contains(n));
        kept.map(|(_, row)| if self.carried { row.without_headers() } else { row.clone() }).collect()
    }

    /// The rows of a partition, of which those at `bad` are bad.
    fn rows(&self, partition: u32, count: usize, bad: &BTreeSet<usize>) -> Vec<Row> {
        (0..count).map(|n| if bad.contains(&n) { (self.bad)(n) } else { good(partition, n) }).collect()
    }

    /// `refuse`: the link stops in front of the record and says why; its neighbours go on. A later run with `drop` goes on
    /// behind it.
    pub fn is_refused(&self, source: &dyn Kafka, target: &dyn Kafka) -> Result {
        let topic = format!("policies-refuse-{}-{}", self.mark, target.release().version);
        let neighbour = format!("{topic}-neighbour");
        source.create(&topic, 2, &[])?;
        source.create(&neighbour, 1, &[])?;
        target.create(&topic, 2, self.settings)?;
        let bad = BTreeSet::from([50]);
        let rows = self.rows(0, 100, &bad);
        let others: Vec<Row> = (0..150).map(|n| good(1, n)).collect();
        source.write((&topic, 0), "gzip", &rows)?;
        source.write((&topic, 1), "none", &others[..100])?;
        source.write((&neighbour, 0), "none", &others[..100])?;

        let between = || MirrorFile::between(source, target, &topic, &format!("{topic}.*"));
        let mirror = between().line(&format!("{} = \"refuse\"", self.policy));
        let mut running = mirror.start()?;
        until_ends(&mut running, target, &topic, &[50, 100])?;
        until_ends(&mut running, target, &neighbour, &[100])?;
        let link = format!("{topic}-0");
        until_said(&mut running, &[&link, "stopped"])?;
        source.write((&topic, 1), "none", &others[100..])?;
        source.write((&neighbour, 0), "none", &others[100..])?;
        until_ends(&mut running, target, &topic, &[50, 150])?;
        until_ends(&mut running, target, &neighbour, &[150])?;
        let (finished, report) = stop(running)?;
        let said = finished.one_line_with(&[&[link.as_str(), "stopped"], self.words].concat())?;
        measured(said);
        assert_eq!((report.state(&topic), report.state(&neighbour)), ("stopped", "running"));
        assert!(self.words.iter().all(|word| report.reason(&topic).contains(word)), "{}", report.reason(&topic));
        assert_eq!((report.count(&topic, "dropped"), report.count(&topic, "headers_dropped")), (0, 0));
        judge::holds(&target.list(&topic)?, (&topic, 0), &rows[..50])?;

        let (_, report) = between().line(&format!("{} = \"drop\"", self.policy)).run_until_caught_up()?;
        assert_eq!(report.count(&topic, self.counter()), 1);
        let listing = target.list(&topic)?;
        judge::holds(&listing, (&topic, 0), &self.arriving(&rows, &bad))?;
        judge::holds(&listing, (&topic, 1), &others)
    }

    /// `drop`: left out, counted and named by offset, whatever else is in the batch. Killed in the middle and started again,
    /// the mirror repeats nothing and loses nothing else.
    pub fn is_dropped(&self, source: &dyn Kafka, target: &dyn Kafka) -> Result {
        const PARTITIONS: u32 = 3;
        const RECORDS: usize = 4000;
        const MORE: usize = 500;
        let topic = format!("policies-drop-{}-{}", self.mark, target.release().version);
        source.create(&topic, PARTITIONS, &[])?;
        target.create(&topic, PARTITIONS, self.settings)?;
        // Alone, several in a row, the first and the last one.
        let one_in_many = (0..RECORDS + MORE).filter(|n| n % self.every == 13);
        let bad: BTreeSet<usize> = one_in_many.chain(2000..2005).chain([0, RECORDS + MORE - 1]).collect();
        let rows: Vec<Vec<Row>> = (0..PARTITIONS).map(|p| self.rows(p, RECORDS + MORE, &bad)).collect();
        for (partition, rows) in (0..).zip(&rows) {
            source.write_many((&topic, partition), &rows[..RECORDS])?;
        }
        let between = || {
            let mirror = MirrorFile::between(source, target, &topic, &topic);
            mirror.line(&format!("{} = \"drop\"", self.policy)).slowly()
        };
        let mirror = between();
        let killed = killed_on_the_way(&mirror, target, &topic, RECORDS * 3)?;
        let (finished, report) = mirror.run_until_caught_up()?;
        let listing = target.list(&topic)?;
        let early: BTreeSet<usize> = bad.range(..RECORDS).copied().collect();
        let (before, after) = (self.named(&killed, &topic)?, self.named(&finished, &topic)?);
        for (partition, rows) in (0..).zip(&rows) {
            judge::holds(&listing, (&topic, partition), &self.arriving(&rows[..RECORDS], &early))?;
        }
        let all = early.len() * rows.len();
        assert!(report.count(&topic, self.counter()) <= all as u64, "counted more than there were");
        measured(&format!("{topic}: {all} losses; {before} named before SIGKILL, {after} after it"));

        // A run of its own counts exactly.
        for (partition, rows) in (0..).zip(&rows) {
            source.write_many((&topic, partition), &rows[RECORDS..])?;
        }
        let (finished, report) = mirror.run_until_caught_up()?;
        let late: BTreeSet<usize> = bad.range(RECORDS..).copied().collect();
        assert_eq!(report.count(&topic, self.counter()), (late.len() * rows.len()) as u64);
        let listing = target.list(&topic)?;
        for (partition, rows) in (0..).zip(&rows) {
            judge::holds(&listing, (&topic, partition), &self.arriving(rows, &bad))?;
            if !self.carried {
                let (offsets, counted) = left_out(&finished, &format!("{topic}-{partition}"))?;
                assert_eq!((&offsets, counted), (&late, late.len()), "{topic}-{partition}: each is named once");
            }
        }
        Ok(())
    }

    /// How many records a run named as left out; no name that is none.
    fn named(&self, finished: &Finished, topic: &str) -> Result<usize> {
        let mut named = 0;
        for partition in 0..3 {
            let (offsets, counted) = left_out(finished, &format!("{topic}-{partition}"))?;
            assert_eq!(offsets.len(), counted, "{topic}-{partition}: an event is about neighbours");
            named += counted;
        }
        Ok(named)
    }
}
