//! Where decisions meet the world: the only module with a clock, sockets, tasks and threads.
//!
//! ```text
//!            commands                       reports
//!               │                              ▲
//!               ▼                              │
//!  Clock ──► drive: feed what is ready, carry out what the machine wants ──► Net ──► sockets
//!               ▲                                                             │
//!               └──────────────── events: whole frames, ends ◄────────────────┘
//! ```
//! A shard is one thread with one single-threaded tokio runtime, in which one task polls one machine and all its
//! sockets. Nothing is handed from task to task on the way of a batch: a frame goes from the read into the machine,
//! and the machine's frames from there into one gathered write.

mod clock;
pub use clock::Clock;

mod driver;
pub use driver::drive;

mod net;
pub use net::{Net, SocketOptions};

mod socket;

mod thread;
pub use thread::{Thread, spawn};

mod offsets;
pub use offsets::list_offsets;

mod preview;
pub use preview::preview;

mod mirror;
pub use mirror::{EventStream, Mirror, MirrorBuilder, SelectionHandle, StatusReader, StopHandle};

pub mod limits;

#[cfg(test)]
mod tests;
