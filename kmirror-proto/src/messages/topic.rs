//! How messages say which topic they mean: by its name, and from some version of an API on by its id alone (KIP-516).
//!
//! ```text
//! by name     +--------+
//!             | string |
//!             +--------+----------+
//! by id       | 16 bytes          |     the name is empty when it is read
//!             +-------------------+
//! ```

use super::refuse_left_out;
use crate::error::{DecodeError, EncodeError};
use crate::wire::{Form, Reader, Writer};

/// The id of no topic.
const NONE: [u8; 16] = [0; 16];

/// Where a version of an API puts a topic's name, or its id.
#[derive(Debug, Clone, Copy)]
pub(super) struct TopicField {
    form: Form,
    by_id: bool,
    version: i16,
}

impl TopicField {
    /// Of an API whose versions name topics by id from `by_id_from` on.
    pub(super) const fn at(version: i16, form: Form, by_id_from: i16) -> Self {
        Self { form, by_id: version >= by_id_from, version }
    }

    /// Writes the topic that a request is about. What the version has no place for is dropped where the other one is
    /// there, else the request would be about no topic at all.
    pub(super) fn put_asked(self, w: &mut Writer, name: &str, id: &[u8; 16]) -> Result<(), EncodeError> {
        if self.by_id {
            refuse_left_out(*id == NONE && !name.is_empty(), "topic by name", self.version)?;
        } else {
            refuse_left_out(name.is_empty() && *id != NONE, "topic by id", self.version)?;
        }
        self.put(w, name, id)
    }

    /// Writes the topic that an answer is about.
    pub(super) fn put(self, w: &mut Writer, name: &str, id: &[u8; 16]) -> Result<(), EncodeError> {
        if self.by_id {
            w.put_slice(id);
            Ok(())
        } else {
            w.put_string(self.form, name, "topic name")
        }
    }

    /// Reads a topic: its name, or its id, the other one empty.
    pub(super) fn read(self, r: &mut Reader) -> Result<(String, [u8; 16]), DecodeError> {
        if self.by_id {
            Ok((String::new(), r.array("topic id")?))
        } else {
            Ok((r.string(self.form, "topic name")?, NONE))
        }
    }

    /// The size of the smallest topic: an empty name or an id, an empty array, no tags.
    pub(super) const fn bytes_min(self) -> usize {
        if self.by_id { 18 } else { 3 }
    }
}
