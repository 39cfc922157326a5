//! What happens to each batch between the source's answer and the target's request.
//!
//! ```text
//! records of one partition ── split ──► entry ── judge ──► Verdict
//!                                                            │ Forward, Restamp: the bytes as they came
//!                                                            │ Rewrite: decoded and built again
//!                                                            │ Skip: the cursor moves, nothing is written
//!                                                            ▼ Refuse: the link stops and says why
//!                                                          Piece
//! ```
//!
//! The same judgement drives [`walk`], which counts records that are on the target already: what was written once
//! and what is counted later can never differ.

mod entry;
pub use entry::next_offset;

mod judge;
pub use judge::{Abilities, Magic, Refuse, Rewrite, Skip, TopicLimits, Verdict, View, judge};

mod loss;
pub use loss::{LeftOut, Loss, LossRange};

mod decode;
pub use decode::{Fingerprint, SourceRecord, decode};

mod rewrite;
pub use rewrite::{Rewriter, cut};

mod pieces;
pub use pieces::{Body, Outcome, Piece, Refused, plan};

mod walk;
pub use walk::{Walked, walk};

#[cfg(test)]
mod tests;
