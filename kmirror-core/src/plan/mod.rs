//! What happens to each batch between the source's answer and the target's request.
//!
//! ```text
//! records of one partition ── split ──► entry ── judge ──► Verdict
//!                                                            │ Forward, Restamp: the bytes as they came
//!                                                            │ Rewrite: decoded and built again
//!                                                            │ Skip: the cursor moves, nothing is written
//!                                                            │ Refuse: the link stops and says why
//!                                                            ▼
//!                                                          look: only where its records have to be asked one by one:
//!                                                            │   filters, losses, what is left out already
//!                                                            ▼
//!                                                          Piece
//! ```
//!
//! The same judgement drives [`walk`], which counts records that are on the target already: what was written once
//! and what is counted later can never differ.

mod entry;
pub use entry::next_offset;

mod view;
pub use view::{Abilities, Magic, TopicLimits, View};

mod judge;
pub use judge::{Refuse, Rewrite, Skip, Verdict, judge};

mod deltas;

mod damage;
pub use damage::Damage;

mod loss;
pub use loss::{LeftOut, Loss, LossRange};

mod decode;
pub use decode::{Fingerprint, SourceRecord, decode};

mod rewrite;
pub use rewrite::{Rewriter, cut};

mod coalesce;
pub use coalesce::{Joined, Joiner, joined_bytes_max};

mod look;

mod pieces;
pub use pieces::{Body, Outcome, Piece, Refused};

mod planner;
pub use planner::plan;

mod walk;
pub use walk::{Walked, walk};

#[cfg(test)]
mod tests;
