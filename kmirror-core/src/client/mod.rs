//! One cluster as seen by one shard: every connection to its brokers, without a socket.
//!
//! Promise: no clock, no socket, no task; time is an argument, jitter comes from the seed. Same seed and same calls
//! of these methods, same run.
//!
//! [`Client`] is driven as every machine of this crate. Its methods sort into
//!
//! - what the owner says: [`Client::call`], [`Client::refresh_metadata`], [`Client::abort`], [`Client::close`];
//! - what the owner reads: [`Client::poll_reply`], [`Client::poll_event`], [`Client::metadata`],
//!   [`Client::connection`], [`Client::versions`], [`Client::describe_node`];
//! - what the network says: [`Client::handle_net`], [`Client::handle_timeout`];
//! - what the network is told: [`Client::poll_net`], [`Client::poll_timeout`].
//!
//! After any `call`, `handle_…` or `abort`, poll replies, events and network actions until they are `None`, then ask
//! for the timeout. A new client asks to be woken at once: that first [`Client::handle_timeout`] connects and asks for
//! the metadata.
//!
//! What holds at all times:
//!
//! - Every call gets exactly one [`Reply`]. [`CallError::NotSent`] is said only if no byte of the request can have left
//!   this process; [`CallError::Unknown`] otherwise, and then nothing is sent again by this module.
//! - Calls to one node are sent in the order in which they were made.
//! - Answers come in the order of the requests of a connection; anything else ends the connection.
//! - A slow or dead broker delays its own calls only.
//!
//! The files, in the order in which a call passes through them: `call`, `router` (with
//! `traffic` and `upkeep`), `peer`, `connection` (with `versions`
//! for what can be said on it), `transport`; and for the view of the cluster `metadata`, `identity` and `refresh`.

pub mod limits;

mod by_topic;
pub(crate) use by_topic::ByTopic;

mod requests;
pub(crate) use requests::{EARLIEST, LATEST, fetch_one, fetch_partition, list_offsets};

mod call;
pub use call::{CallError, CallId, CallOptions, ClientEvent, Node, Reply};

mod router;
pub use router::Client;

mod traffic;
mod upkeep;

mod peer;

mod backoff;
pub use backoff::Backoff;

mod connection;

mod versions;
pub use versions::{ApiRanges, VersionRange};

mod transport;
pub use transport::{ConnId, NetAction, NetEvent};

mod metadata;
pub use metadata::{Broker, Metadata, Partition, Topic};

mod identity;
pub(crate) use identity::{addresses, cluster_name, is_same_cluster};

mod refresh;

#[cfg(test)]
mod script;
#[cfg(test)]
mod tests;
