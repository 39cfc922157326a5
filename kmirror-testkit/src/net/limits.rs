//! Every bound of the TCP front, each with the reason for its value.

use std::time::Duration;

/// Above this a frame is read into a buffer of its own. The room that its buffer has for what follows, 64 KiB, is then
/// not worth mentioning.
pub(super) const LARGE_FRAME_BYTES: usize = 256 * 1024;

/// Answers that may wait to be written before the connection's next request is taken up, in bytes. Small ones go out in
/// one gathered write; a large one goes alone.
pub(super) const WAITING_BYTES_MAX: usize = 64 * 1024;

/// Requests of one connection that are taken up before the others have their turn.
pub(super) const FRAMES_PER_TURN: usize = 32;

/// Turns in a row before the runtime looks for news of other sockets and timers.
pub(super) const TURNS_BEFORE_YIELD: usize = 16;

/// Connections that one broker accepts in a turn.
pub(super) const ACCEPTS_PER_TURN: usize = 64;

/// Connections that the kernel keeps until they are accepted; more than any test opens at once.
pub(super) const BACKLOG: i32 = 1024;

/// Chunks in one gathered write; more of them wait for the next.
pub(super) const CHUNKS_PER_WRITE: usize = 64;

/// How long a connection that the broker closes is given to take what was written and to end its half. Clients do so
/// at once; after this it is reset.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
