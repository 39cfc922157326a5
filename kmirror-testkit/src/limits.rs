//! The bounds that this crate sets where Kafka has none, each with the reason for its value. Those of the TCP front stand
//! beside it, Kafka's own where they are kept.

use std::time::Duration;

/// What the payload of one entry may come to, in bytes. Java decompresses without a limit; here a request of some MB
/// cannot take more than this.
pub(crate) const DECOMPRESSED_BYTES_MAX: usize = 1 << 30;

/// Partitions that one request may make. 4.x has this bound itself (`ReplicationControlManager.MAX_PARTITIONS_PER_BATCH`),
/// Kafka before it none but ZooKeeper's; a few bytes must not fill the memory.
pub(crate) const PARTITIONS_PER_REQUEST_MAX: i64 = 10_000;

/// The shortest rest of the cleaner. `log.cleaner.backoff.ms` may be 0, but then there would be no moment at which nothing
/// is due.
pub(crate) const CLEANER_REST_MIN: Duration = Duration::from_millis(1);
