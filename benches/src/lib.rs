//! Rigs that run kmirror beside the mirrors that it replaces, in turns and between the same brokers, and count what each
//! one costs: the CPU time of its process alone, from `/proc/<pid>/stat`.
//!
//! [`embedded`] is a rig of another kind: the embedded broker alone, and how much goes through it.
//!
//! A rig proves what it measured: after each run every partition of the target holds the source's records in their order.

pub mod embedded;
pub mod floor;
pub mod rival;
pub mod sample;
pub mod table;
