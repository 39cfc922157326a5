//! Offsets that cannot be swapped: a mirror lives between two logs whose numbers look alike.

use std::fmt;

/// An offset in a source partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceOffset(pub i64);

/// An offset in a target partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetOffset(pub i64);

impl TargetOffset {
    /// The offset `records` further on; stays at the end of the number line.
    #[must_use]
    pub fn plus(self, records: u32) -> Self {
        Self(self.0.saturating_add(i64::from(records)))
    }

    /// Records from `earlier` up to here; negative where this lies before it.
    #[must_use]
    pub fn minus(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for SourceOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for TargetOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
