//! Every bound of the runtime, each with the reason for its value.

use std::time::Duration;

/// How long bytes that were sent may go unacknowledged by the peer's kernel before a connection is given up
/// (`TCP_USER_TIMEOUT`). A request of an unknown outcome cannot arrive later than this; the settle time counts on it
/// (rule P7).
pub const USER_TIMEOUT: Duration = Duration::from_secs(10);

/// The silence after which the kernel asks whether the peer is still there. Well under the idle limits of common load
/// balancers and firewalls (350 s, 5 min, 4 min).
pub const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);

/// How often it asks again.
pub const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// Addresses of one host name that are tried.
pub const ADDRESSES_MAX: usize = 16;

/// What is read from one socket before the others have their turn, in bytes. Reads of this size and more cost no more
/// per byte; at 3 GB/s it keeps the others waiting for 0.3 ms.
pub const READ_BYTES_PER_TURN: usize = 1 << 20;

/// What is written to one socket before the others have their turn, in bytes: about what the kernel takes at once.
pub const WRITE_BYTES_PER_TURN: usize = 4 << 20;

/// `IOV_MAX` of Linux: chunks in one gathered write.
pub const CHUNKS_PER_WRITE: usize = 1024;

/// How long a connection that ends in order is given to write what waits, and the peer to end its half. A broker does
/// so at once; what waits here at an end is a last commit at most.
pub const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Turns in a row that a busy driver takes before it lets the runtime look for news of other sockets and timers.
pub const TURNS_BEFORE_YIELD: u32 = 16;

/// Commands that are taken in one turn; the sockets are not kept waiting by a flood of them.
pub const COMMANDS_PER_TURN: usize = 64;
