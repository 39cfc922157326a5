//! Every bound of the engine, each with the reason for its value.

use std::time::Duration;

/// The most that one batch may hold once it is decompressed, in bytes. A broker accepts 1 MiB batches by default and
/// text compresses 100 times at the very best; a bomb ends here.
pub const DECOMPRESSED_BYTES_MAX: usize = 128 << 20;

/// How long a cluster may be out of reach at the start before a mirror, or a dry run of one, gives up.
pub const START_TIMEOUT: Duration = Duration::from_secs(15);

/// How long topics may be missing at the start before they are said to be. The controller tells a broker that has just
/// started about its topics within a second (report B44).
pub const SELECT_PATIENCE: Duration = Duration::from_secs(5);

/// Requests on their way to one target broker. A broker serves one request of a connection at a time; the others wait
/// in its socket buffer, so more than a few buy nothing.
pub const PRODUCE_REQUESTS_IN_FLIGHT_MAX: usize = 5;

/// What waits in one lane before its link is left out of the fetches, in bytes, as a multiple of what one fetch of a
/// partition brings: one being written and one being read.
pub const LANE_FETCHES_MAX: usize = 2;

/// A partition's records are copied out of an answer of which they are less than one in so many parts: what a slow link
/// holds of an answer is then at most so many times what it is charged for.
pub const PINNED_SHARE_MIN: usize = 16;

/// A batch of at least so many bytes is never joined with another one: it goes through as it came. Kafka's producers fill
/// batches up to so much by default; what is smaller was not worth waiting for.
pub const TINY_BATCH_BYTES: usize = 16 << 10;

/// Readings in a row of a log end before the checkpoint until it counts as lost: a new leader's high watermark lags behind
/// for a moment. With [`END_READ_AGAIN`] between them they last some seconds.
pub const SHORT_READINGS_MAX: u32 = 20;

/// How often a checkpoint is written again without news: a ledger that could not be made compacted (0.10.0) loses old
/// entries to retention.
pub const CHECKPOINT_AGAIN_MS: i64 = 3_600_000;

/// How long a fetch may be parked at a broker while one of its links is held back by a full lane: the held link is
/// asked for again after at most so long.
pub const FETCH_WAIT_HELD: Duration = Duration::from_millis(5);

/// The wait of a link before it tries again after an answer that says "later", at first; doubled up to the next.
pub const LINK_BACKOFF_MIN: Duration = Duration::from_millis(100);

/// The longest wait of a link between two tries. A bounced target broker's links move again within 10 s.
pub const LINK_BACKOFF_MAX: Duration = Duration::from_secs(2);

/// The wait between two readings of a 0.10 log end that have to agree. With a second equal reading 300 ms later,
/// 0 of 250 trials wrote twice (measured).
pub const END_READ_AGAIN: Duration = Duration::from_millis(300);

/// A broker forgets a producer whose newest record timestamp is older than `producer.id.expiration.ms` (one day by
/// default). Half a day leaves room for clocks that differ (rule P5).
pub const GUARD_HORIZON: Duration = Duration::from_secs(12 * 3600);

/// How often a shard tells the worker about its links.
pub const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// How many bytes one answer brings while a link's position is proved on the target.
pub const PROOF_FETCH_BYTES: i32 = 1 << 20;

/// Runs of records that one answer may have left out at once. Together they are one entry of the ledger, some 30 bytes
/// each, and an event each; the rest of the answer is read again once they are stored.
pub const LEFT_OUT_RANGES_MAX: usize = 5_000;

/// The size of a ledger write, in bytes: well under every broker's default `max.message.bytes` (1,000,012).
pub const LEDGER_BATCH_BYTES: usize = 512 << 10;
