//! The two formats, and where they differ in layout.

/// The format of a message: its magic byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageFormat {
    /// Magic 0, of 0.9 and before: no timestamp; inside a wrapper offsets are absolute.
    V0,
    /// Magic 1, of 0.10 (KIP-31, KIP-32).
    V1,
}

impl MessageFormat {
    /// The format with this magic, if it is one of messages.
    #[must_use]
    pub const fn from_magic(magic: i8) -> Option<Self> {
        match magic {
            0 => Some(Self::V0),
            1 => Some(Self::V1),
            _ => None,
        }
    }

    /// The magic byte, 0 or 1.
    #[must_use]
    pub const fn magic(self) -> i8 {
        match self {
            Self::V0 => 0,
            Self::V1 => 1,
        }
    }

    /// Bytes before the key: all fixed fields and the key's length.
    pub(super) const fn head_bytes(self) -> usize {
        match self {
            Self::V0 => 22,
            Self::V1 => 30,
        }
    }
}
