//! Tagged fields to be written (KIP-482): each of them may be absent, and who does not know a tag skips it.
//!
//! ```text
//! +---------------+     +-------------+--------------+----------------+
//! | uvarint count |     | uvarint tag | uvarint size | the field      |   count times, tags ascending
//! +---------------+     +-------------+--------------+----------------+
//! ```

use bytes::Bytes;

use super::Writer;
use crate::error::EncodeError;

/// The tagged fields of one structure, in the order of their tags. Fields at their defaults are left out, so the usual
/// case is an empty one, which takes no memory.
#[derive(Debug, Default)]
pub struct TaggedFields(Vec<(u32, Bytes)>);

impl TaggedFields {
    /// No fields yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a field. Tags have to ascend: readers of other implementations rely on it.
    pub fn put(
        &mut self,
        tag: u32,
        write: impl FnOnce(&mut Writer) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        debug_assert!(self.0.last().is_none_or(|(last, _)| *last < tag), "tags ascend");
        let mut field = Writer::new();
        write(&mut field)?;
        self.0.push((tag, field.into_chunks().concat().into()));
        Ok(())
    }

    pub(super) fn into_fields(self) -> Vec<(u32, Bytes)> {
        self.0
    }
}
