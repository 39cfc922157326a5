//! Writing the target: one lane per link, and what an acknowledgement proves.

mod sequence;
pub use sequence::{Producer, Sequence};

mod lane;
pub use lane::{Lane, Outgoing, Proved, Window};

mod audit;
pub use audit::{Audit, Verdict, audit};
