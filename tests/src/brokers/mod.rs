//! Real brokers of every release that kmirror speaks to, on free loopback ports.
//!
//! ```no_run
//! use kmirror_tests::brokers::Cluster;
//!
//! # fn main() -> kmirror_tests::Result {
//! let target = Cluster::of("0.10.1.1").property("message.max.bytes", "2000000").start()?;
//! println!("{}", target.bootstrap());
//! target.kill(0)?;
//! target.restart(0)?;
//! # Ok(())
//! # }
//! ```

mod cluster;
mod fetch;
mod jvm;
mod node;
mod ports;
mod release;
mod shared;

pub use cluster::{Cluster, ClusterBuilder};
pub use fetch::{Distribution, distribution, tools};
pub use jvm::JvmProfile;
pub use node::Node;
pub use release::{Mode, RELEASES, Release, release};
pub use shared::{shared, shared_pair};
