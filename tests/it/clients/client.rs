//! What the stories want of a client, and what they have to know of it.

use kmirror_testkit::Release;
use kmirror_tests::Result;
use kmirror_tests::embedded::Embedded;
use kmirror_tests::judge::Row;

use super::command::Member;

/// An independent client.
pub(super) trait Client {
    /// What it can say and show on a release.
    fn abilities(&self, release: Release) -> Abilities;

    /// Writes groups of records in their order; all are acknowledged when it returns.
    fn write(&self, topic: Topic<'_>, writings: &[Writing]) -> Result;

    /// Reads so many records from the beginning.
    fn read(&self, topic: Topic<'_>, isolation: Isolation, count: usize) -> Result<Vec<Seen>>;

    /// Starts a member of a consumer group, which begins at the beginning where nothing is committed.
    fn join(&self, topic: Topic<'_>, group: &str) -> Result<Member>;
}

/// A topic of an embedded cluster.
#[derive(Clone, Copy)]
pub(super) struct Topic<'a> {
    pub(super) cluster: &'a Embedded,
    pub(super) name: &'a str,
}

/// What a client can say of the records that it writes, and shows of those that it reads.
#[derive(Clone, Copy)]
pub(super) struct Abilities {
    /// It writes to the partition that it is told.
    pub(super) chooses_partition: bool,
    /// It writes the timestamp that it is told.
    pub(super) chooses_timestamp: bool,
    /// Records without a key, and without a value, as apart from empty ones.
    pub(super) nulls: bool,
    /// Empty keys and values.
    pub(super) empties: bool,
    /// Headers with values.
    pub(super) writes_headers: bool,
    /// Headers without one.
    pub(super) null_headers: bool,
    pub(super) shows_partition: bool,
    pub(super) shows_timestamp: bool,
    pub(super) shows_headers: bool,
    /// Those that it writes, by Kafka's names.
    pub(super) codecs: &'static [&'static str],
    /// Those that it reads.
    pub(super) reads: &'static [&'static str],
    pub(super) idempotence: bool,
    pub(super) transactions: bool,
}

impl Abilities {
    /// Everything that a release has.
    pub(super) fn all_of(release: Release) -> Abilities {
        Abilities {
            chooses_partition: true,
            chooses_timestamp: true,
            nulls: true,
            empties: true,
            writes_headers: release >= Release::V0_11,
            null_headers: true,
            shows_partition: true,
            shows_timestamp: true,
            shows_headers: true,
            codecs: codecs(release),
            reads: codecs(release),
            idempotence: release >= Release::V0_11,
            transactions: release >= Release::V0_11,
        }
    }

    /// How the client shows a record that lies in the log.
    pub(super) fn shown(&self, partition: u32, row: &Row) -> Seen {
        let mut row = row.clone();
        if !self.shows_timestamp {
            row.timestamp = 0;
        }
        if !self.shows_headers {
            row.headers.clear();
        }
        Seen { partition: self.shows_partition.then_some(partition), row }
    }

    /// What can be foretold of a record that it is told to write.
    pub(super) fn written(&self, partition: u32, row: &Row) -> Seen {
        let timestamp = if self.chooses_timestamp { row.timestamp } else { 0 };
        Seen { partition: self.chooses_partition.then_some(partition), row: Row { timestamp, ..row.clone() } }
    }
}

/// Every codec of a release.
fn codecs(release: Release) -> &'static [&'static str] {
    let all: &[&str] = &["none", "gzip", "snappy", "lz4", "zstd"];
    if release >= Release::V2_1 { all } else { &all[..4] }
}

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    /// Without a producer id.
    Plain,
    /// With one.
    Idempotent,
    /// As a transaction that is committed.
    Commit,
    /// As one that is aborted.
    Abort,
}

/// Records that are written in one way.
#[derive(Clone, Debug)]
pub(super) struct Writing {
    pub(super) codec: &'static str,
    pub(super) mode: Mode,
    /// Each with its partition.
    pub(super) rows: Vec<(u32, Row)>,
}

/// Which records a reader wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Isolation {
    Uncommitted,
    Committed,
}

impl Isolation {
    /// The value of `isolation.level`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Isolation::Uncommitted => "read_uncommitted",
            Isolation::Committed => "read_committed",
        }
    }
}

/// A record as a client shows it: without what it does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) partition: Option<u32>,
    pub(super) row: Row,
}

/// Groups records by partition, each in its order; without partitions there is none, and they are sorted.
pub(super) fn arranged(mut records: Vec<Seen>) -> Vec<Seen> {
    records.sort_by_cached_key(|seen| {
        let anywhere = seen.partition.is_none();
        (seen.partition, anywhere.then(|| seen.row.text()))
    });
    records
}
