//! What the engine runs on: every value decided, no `Option` that means "default".
//!
//! Each default stands in one place, [`defaults`], beside Kafka's own.

use std::fmt;
use std::time::Duration;

use super::routing::Routing;
use super::topics::TopicSelection;

/// Which of the two clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The cluster that is read.
    Source,
    /// The cluster that is written.
    Target,
}

/// How to reach one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterConfig {
    /// `bootstrap.servers`: where to ask for the cluster's brokers first, as (host, port).
    pub bootstrap: Vec<(String, u16)>,
    /// `client.id`, in every request header.
    pub client_id: String,
    /// `request.timeout.ms`: a request without an answer for so long is of unknown outcome.
    pub request_timeout: Duration,
    /// `socket.connection.setup.timeout.ms`.
    pub connect_timeout: Duration,
    /// `reconnect.backoff.ms`: the first wait after a failed connection, doubled up to `reconnect_backoff_max`.
    pub reconnect_backoff: Duration,
    /// `reconnect.backoff.max.ms`.
    pub reconnect_backoff_max: Duration,
    /// `retry.backoff.ms`: the wait before an answer that says "later" is asked for again.
    pub retry_backoff: Duration,
    /// `metadata.max.age.ms`: how often leaders are asked for without a reason.
    pub metadata_max_age: Duration,
    /// The largest frame that is accepted from a broker of this cluster, in bytes.
    pub frame_bytes_max: usize,
}

/// Where a link starts that has neither a ledger entry nor a committed offset (`auto.offset.reset`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartPolicy {
    /// At the first record that the source still has.
    Earliest,
    /// Behind the last record of the source as of the first start.
    Latest,
    /// Nowhere: a link without a position is an error.
    None,
}

/// Which records of open and aborted transactions are mirrored (`isolation.level`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Committed records only.
    ReadCommitted,
    /// All records, never the control records.
    ReadUncommitted,
}

/// How the source is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchConfig {
    /// `fetch.max.bytes`: the most that one answer holds, in bytes.
    pub bytes_max: usize,
    /// `max.partition.fetch.bytes`: the most of one partition in an answer, in bytes.
    pub partition_bytes_max: usize,
    /// `fetch.min.bytes`: a broker waits until it has so much, or `wait_max`.
    pub bytes_min: usize,
    /// `fetch.max.wait.ms`.
    pub wait_max: Duration,
    /// `isolation.level`.
    pub isolation: Isolation,
    /// `check.crcs`: whether each batch's checksum is verified before it is forwarded.
    pub check_crcs: bool,
}

/// How the target is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProduceConfig {
    /// `max.request.size`: about how large a produce request is made, in bytes; a larger batch goes alone.
    pub request_bytes_max: usize,
    /// `batch.size`: how large a batch is built where records are re-encoded, in uncompressed bytes.
    pub batch_bytes_max: usize,
    /// `max.in.flight.requests.per.connection`, at most 5: batches of one link on their way at once.
    pub in_flight_max: usize,
    /// `compression.type`, where records have to be re-encoded; `None` keeps the source's codec.
    pub compression: Option<kmirror_proto::compress::Codec>,
    /// `abort.on.send.failure`: a link that stops because the target refuses a record stops the whole mirror.
    pub abort_on_send_failure: bool,
    /// How long a request of unknown outcome may still take effect (rule P7).
    pub settle: Duration,
}

/// A whole mirror.
#[derive(Clone, Debug)]
pub struct Config {
    /// The mirror's name: the ledger is found by it.
    pub name: String,
    /// `group.id`, whose offsets on the source are read once and committed as a courtesy.
    pub group: Option<String>,
    /// The cluster that is read.
    pub source: ClusterConfig,
    /// The cluster that is written.
    pub target: ClusterConfig,
    /// Which topics.
    pub topics: TopicSelection,
    /// Where each of them goes, and what holds on the way.
    pub routing: Routing,
    /// How often both clusters are looked at for topics and partitions that came or went.
    pub refresh_interval: Duration,
    /// Where a link starts that has no position when the mirror runs for the first time. What is found later starts at
    /// its first record.
    pub start: StartPolicy,
    /// How the source is read.
    pub fetch: FetchConfig,
    /// How the target is written.
    pub produce: ProduceConfig,
    /// `--num.streams`: shards, each a thread with its own connections and links.
    pub streams: usize,
    /// `--offset.commit.interval.ms`: how often the source's group is told.
    pub commit_interval: Duration,
    /// How often progress is stored in the ledger.
    pub checkpoint_interval: Duration,
    /// The most that all batches on their way hold, in bytes.
    pub memory_bytes_max: usize,
    /// `--until-caught-up`: end when each link has reached the source's end as of the start.
    pub until_caught_up: bool,
    /// How long a clean stop may take.
    pub stop_timeout: Duration,
}

/// Every default on one screen, Kafka's own beside it.
pub mod defaults {
    use std::time::Duration;

    /// Kafka: `kafka-mirror-maker` has no default; ours names the product.
    pub const CLIENT_ID: &str = "kmirror";
    /// Kafka: 30 s (producer and consumer).
    pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
    /// Kafka: 10 s.
    pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
    /// Kafka: 50 ms.
    pub const RECONNECT_BACKOFF: Duration = Duration::from_millis(50);
    /// Kafka: 1 s.
    pub const RECONNECT_BACKOFF_MAX: Duration = Duration::from_secs(1);
    /// Kafka: 100 ms.
    pub const RETRY_BACKOFF: Duration = Duration::from_millis(100);
    /// Kafka: 5 min; shorter, so that a new partition is seen within 30 s.
    pub const METADATA_MAX_AGE: Duration = Duration::from_secs(30);
    /// Kafka's brokers answer at most `fetch.max.bytes` or one batch more; `socket.request.max.bytes` is 100 MiB.
    pub const FRAME_BYTES_MAX: usize = 104_857_600;
    /// Kafka: 50 MiB; smaller, so that a buffer stays warm in the cache and memory bounded.
    pub const FETCH_BYTES_MAX: usize = 8 << 20;
    /// Kafka: 1 MiB.
    pub const PARTITION_BYTES_MAX: usize = 1 << 20;
    /// Kafka: 1.
    pub const FETCH_BYTES_MIN: usize = 1;
    /// Kafka: 500 ms.
    pub const FETCH_WAIT_MAX: Duration = Duration::from_millis(500);
    /// Kafka: 1 MiB.
    pub const REQUEST_BYTES_MAX: usize = 1 << 20;
    /// Kafka: 16 KiB for a producer that fills batches record by record; a mirror has them at once.
    pub const BATCH_BYTES_MAX: usize = 800_000;
    /// Kafka: 5.
    pub const IN_FLIGHT_MAX: usize = 5;
    /// MirrorMaker: true.
    pub const ABORT_ON_SEND_FAILURE: bool = true;
    /// In a `kmirror.toml`: the link stops, its neighbours go on. MirrorMaker: true.
    pub const ABORT_ON_SEND_FAILURE_OF_FILES: bool = false;
    /// In a `kmirror.toml`. Kafka: latest; MirrorMaker 2: earliest.
    pub const START_OF_FILES: super::StartPolicy = super::StartPolicy::Earliest;
    /// rule P7.
    pub const SETTLE: Duration = Duration::from_secs(30);
    /// Kafka: 60 s (admin client).
    pub const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);
    /// MirrorMaker 2: 10 min.
    pub const REFRESH_INTERVAL: Duration = Duration::from_secs(10);
    /// MirrorMaker: 60 s.
    pub const COMMIT_INTERVAL: Duration = Duration::from_secs(60);
    /// No counterpart: MirrorMaker has no ledger.
    pub const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(1);
    /// No counterpart; MirrorMaker: the heap.
    pub const MEMORY_BYTES_MAX: usize = 256 << 20;
    /// No counterpart: MirrorMaker waits as long as it takes.
    pub const STOP_TIMEOUT: Duration = Duration::from_secs(30);
    /// MirrorMaker: 1; kmirror: one per core, four at most.
    pub const STREAMS_MAX: usize = 4;
}

impl Side {
    /// `source` or `target`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Target => "target",
        }
    }
}

impl Isolation {
    /// As requests say it (KIP-98).
    #[must_use]
    pub const fn level(self) -> i8 {
        match self {
            Self::ReadUncommitted => 0,
            Self::ReadCommitted => 1,
        }
    }
}

impl StartPolicy {
    /// What it says in this run: it is about the mirror's very first one. What a later run finds new is mirrored from its
    /// first record on (report B41).
    #[must_use]
    pub const fn in_run(self, is_first: bool) -> Self {
        match self {
            Self::Latest if !is_first => Self::Earliest,
            Self::Earliest | Self::Latest | Self::None => self,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ClusterConfig {
    /// A cluster reached through `bootstrap` with every default.
    #[must_use]
    pub fn new(bootstrap: Vec<(String, u16)>) -> Self {
        Self {
            bootstrap,
            client_id: defaults::CLIENT_ID.to_owned(),
            request_timeout: defaults::REQUEST_TIMEOUT,
            connect_timeout: defaults::CONNECT_TIMEOUT,
            reconnect_backoff: defaults::RECONNECT_BACKOFF,
            reconnect_backoff_max: defaults::RECONNECT_BACKOFF_MAX,
            retry_backoff: defaults::RETRY_BACKOFF,
            metadata_max_age: defaults::METADATA_MAX_AGE,
            frame_bytes_max: defaults::FRAME_BYTES_MAX,
        }
    }
}

impl Default for FetchConfig {
    fn default() -> Self {
        Self {
            bytes_max: defaults::FETCH_BYTES_MAX,
            partition_bytes_max: defaults::PARTITION_BYTES_MAX,
            bytes_min: defaults::FETCH_BYTES_MIN,
            wait_max: defaults::FETCH_WAIT_MAX,
            isolation: Isolation::ReadCommitted,
            check_crcs: true,
        }
    }
}

impl Default for ProduceConfig {
    fn default() -> Self {
        Self {
            request_bytes_max: defaults::REQUEST_BYTES_MAX,
            batch_bytes_max: defaults::BATCH_BYTES_MAX,
            in_flight_max: defaults::IN_FLIGHT_MAX,
            compression: None,
            abort_on_send_failure: defaults::ABORT_ON_SEND_FAILURE,
            settle: defaults::SETTLE,
        }
    }
}
