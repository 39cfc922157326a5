//! Every bound of the client, each with the reason for its value.

use std::time::Duration;

/// Requests on their way over one connection. A broker serves one at a time; the callers' own limits are far lower,
/// this one keeps a runaway caller from filling the socket's queue.
pub const IN_FLIGHT_MAX: usize = 128;

/// Calls that wait for a connection, over all nodes of a client. Each may hold a request's worth of records, which the
/// caller's memory budget counts; this bounds their number (the first call of each queue is taken above it).
pub const CALLS_WAITING_MAX: usize = 16_384;

/// Brokers of a cluster. The largest known clusters have some hundreds.
pub const BROKERS_MAX: usize = 4_096;

/// Partitions of a cluster, over all topics. KRaft was built for "millions" and tested with two; a view of one million
/// takes about 100 MB.
pub const PARTITIONS_MAX: usize = 1_000_000;

/// The longest host name of DNS.
pub const HOST_BYTES_MAX: usize = 255;

/// The longest topic name that a broker accepts.
pub const TOPIC_BYTES_MAX: usize = 249;

/// Answers in a row that must leave a topic or a partition out before it counts as gone. A broker that was just
/// started, or lags behind the controller, leaves out what is new (report B44).
pub const ABSENT_ANSWERS_MAX: u8 = 3;

/// What is believed of a throttle time: `throttle_time_ms` is a peer's number, and 2^31-1 would be 24 days
/// (kind H21).
pub const THROTTLE_MAX: Duration = Duration::from_secs(30);

/// How much longer than `socket.connection.setup.timeout.ms` a connection attempt is waited for: the socket's own
/// timeout fires first and knows the reason.
pub const CONNECT_GRACE: Duration = Duration::from_secs(1);

/// How long a call that may go to any broker waits for one connection attempt before another broker is tried beside it.
pub const ANY_PATIENCE: Duration = Duration::from_secs(1);

/// How long an answer to a metadata request is waited for before another broker is asked. The request stays in flight:
/// it may stand behind a produce that waits for its replicas, and ending that connection would help nobody.
pub const METADATA_PATIENCE: Duration = Duration::from_secs(3);
