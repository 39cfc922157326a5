//! Which topics a mirror copies.

/// A set of topics.
#[derive(Clone, Debug)]
pub struct TopicSelection;
