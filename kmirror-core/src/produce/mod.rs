//! Writing the target: one lane per link, and what an acknowledgement proves.

mod sequence;
pub use sequence::{Producer, Sequence};

mod lane;
pub use lane::{Batches, Joining, Lane, Outgoing, Proved, Released, Window};

mod audit;
pub use audit::{Audit, Verdict, audit};

/// Who writes to a link's target partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tenancy {
    /// This link alone: an offset has one right value.
    #[default]
    Exclusive,
    /// Other links too, each with a producer id of its own: position is counted in sequences (rule P22).
    Shared,
}
