//! Writes the protocol's types; payloads are spliced in, not copied.
//!
//! ```text
//!   put_i32 ... put_string     put_shared        put_i32 ...       put_shared
//! +------------------------+ +---------------+ +---------------+ +---------------+
//! | small fields (BytesMut)| | payload       | | small fields  | | payload       |   -> Vec<Bytes>, gathered by
//! +------------------------+ +---------------+ +---------------+ +---------------+      one vectored write
//! ```

use bytes::{BufMut, Bytes, BytesMut};

use super::{Form, TaggedFields, varint};
use crate::error::EncodeError;

/// Up to this many bytes a payload is copied between the small fields: a 61-byte batch header costs less copied than
/// as one more entry of a vectored write.
const COPY_BYTES_MAX: usize = 128;

/// Room for the small fields of an ordinary request, so that it is allocated once.
const FIRST_BYTES: usize = 256;

/// An outgoing message under construction.
#[derive(Debug, Default)]
pub struct Writer {
    /// The first segment stays writable: the length of the frame is filled in at the end.
    first: Option<BytesMut>,
    closed: Vec<Bytes>,
    closed_bytes: usize,
    open: BytesMut,
}

impl Writer {
    /// An empty writer.
    #[must_use]
    pub fn new() -> Self {
        Self { open: BytesMut::with_capacity(FIRST_BYTES), ..Self::default() }
    }

    /// Bytes written so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.closed_bytes + self.open.len()
    }

    /// Nothing written so far?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What was written, in order, without empty chunks.
    #[must_use]
    pub fn into_chunks(mut self) -> Vec<Bytes> {
        let open = self.open.freeze();
        if !open.is_empty() {
            self.closed.push(open);
        }
        if let Some(first) = self.first.filter(|first| !first.is_empty()) {
            self.closed.insert(0, first.freeze());
        }
        self.closed
    }

    /// Writes `bytes` over the first bytes of the message.
    ///
    /// Nothing happens when the message began with fewer bytes than that before its first payload; only [`Frame`]
    /// calls it, which begins every message with its own four bytes.
    ///
    /// [`Frame`]: crate::Frame
    pub(crate) fn patch_first(&mut self, bytes: [u8; 4]) {
        let first = self.first.as_mut().unwrap_or(&mut self.open);
        debug_assert!(first.len() >= bytes.len(), "a frame begins with its length");
        if let Some(slot) = first.first_chunk_mut() {
            *slot = bytes;
        }
    }
}

/// Fixed sizes.
impl Writer {
    /// A signed byte.
    pub fn put_i8(&mut self, value: i8) {
        self.open.put_i8(value);
    }

    /// A signed 16-bit integer.
    pub fn put_i16(&mut self, value: i16) {
        self.open.put_i16(value);
    }

    /// An unsigned 16-bit integer.
    pub fn put_u16(&mut self, value: u16) {
        self.open.put_u16(value);
    }

    /// A signed 32-bit integer.
    pub fn put_i32(&mut self, value: i32) {
        self.open.put_i32(value);
    }

    /// An unsigned 32-bit integer.
    pub fn put_u32(&mut self, value: u32) {
        self.open.put_u32(value);
    }

    /// A signed 64-bit integer.
    pub fn put_i64(&mut self, value: i64) {
        self.open.put_i64(value);
    }

    /// A 64-bit floating point number.
    pub fn put_f64(&mut self, value: f64) {
        self.open.put_f64(value);
    }

    /// A boolean, as one byte.
    pub fn put_bool(&mut self, value: bool) {
        self.open.put_u8(u8::from(value));
    }

    /// Bytes as they stand, copied.
    pub fn put_slice(&mut self, bytes: &[u8]) {
        self.open.put_slice(bytes);
    }

    /// Bytes as they stand. Payloads are spliced in without a copy, short runs (up to 128 bytes) are copied.
    pub fn put_shared(&mut self, bytes: Bytes) {
        if bytes.len() <= COPY_BYTES_MAX {
            self.open.put_slice(&bytes);
            return;
        }
        let open = self.open.split();
        self.closed_bytes += open.len() + bytes.len();
        if self.first.is_none() {
            self.first = Some(open);
        } else if !open.is_empty() {
            self.closed.push(open.freeze());
        }
        self.closed.push(bytes);
    }
}

/// Variable sizes.
impl Writer {
    /// An unsigned 32-bit integer of one to five bytes.
    pub fn put_uvarint(&mut self, value: u32) {
        self.variable(u64::from(value));
    }

    /// A zigzag 32-bit integer of one to five bytes.
    pub fn put_varint(&mut self, value: i32) {
        self.variable(varint::zigzag(i64::from(value)));
    }

    /// A zigzag 64-bit integer of one to ten bytes.
    pub fn put_varlong(&mut self, value: i64) {
        self.variable(varint::zigzag(value));
    }

    /// A string.
    pub fn put_string(&mut self, form: Form, value: &str, what: &'static str) -> Result<(), EncodeError> {
        let too_long = EncodeError::TooLong { what, length: value.len() };
        // Java's reader takes no string above 32767 bytes in either form.
        let length = i16::try_from(value.len()).map_err(|_| too_long)?;
        match form {
            Form::Classic => self.put_i16(length),
            Form::Compact => self.put_uvarint(u32::from(length.unsigned_abs()) + 1),
        }
        self.put_slice(value.as_bytes());
        Ok(())
    }

    /// A string or null.
    pub fn put_nullable_string(
        &mut self,
        form: Form,
        value: Option<&str>,
        what: &'static str,
    ) -> Result<(), EncodeError> {
        match (value, form) {
            (Some(value), _) => self.put_string(form, value, what)?,
            (None, Form::Classic) => self.put_i16(-1),
            (None, Form::Compact) => self.put_uvarint(0),
        }
        Ok(())
    }

    /// The length of a run of bytes, or the count of an array.
    pub fn put_length(&mut self, form: Form, length: usize, what: &'static str) -> Result<(), EncodeError> {
        let signed = i32::try_from(length).map_err(|_| EncodeError::TooLong { what, length })?;
        match form {
            Form::Classic => self.put_i32(signed),
            Form::Compact => self.put_uvarint(signed.unsigned_abs() + 1),
        }
        Ok(())
    }

    /// Null in the place of a run of bytes or of an array.
    pub fn put_null(&mut self, form: Form) {
        match form {
            Form::Classic => self.put_i32(-1),
            Form::Compact => self.put_uvarint(0),
        }
    }

    /// Record bytes or null, spliced in.
    pub fn put_nullable_records(
        &mut self,
        form: Form,
        records: Option<&Bytes>,
        what: &'static str,
    ) -> Result<(), EncodeError> {
        let Some(records) = records else {
            self.put_null(form);
            return Ok(());
        };
        self.put_length(form, records.len(), what)?;
        self.put_shared(records.clone());
        Ok(())
    }

    /// A run of bytes, spliced in.
    pub fn put_sized_bytes(&mut self, form: Form, bytes: &Bytes, what: &'static str) -> Result<(), EncodeError> {
        self.put_nullable_records(form, Some(bytes), what)
    }

    /// An array.
    pub fn put_items<T>(
        &mut self,
        form: Form,
        items: &[T],
        what: &'static str,
        mut write: impl FnMut(&mut Self, &T) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        self.put_length(form, items.len(), what)?;
        items.iter().try_for_each(|item| write(self, item))
    }

    /// An array of 32-bit integers.
    pub fn put_i32s(&mut self, form: Form, items: &[i32], what: &'static str) -> Result<(), EncodeError> {
        self.put_length(form, items.len(), what)?;
        items.iter().for_each(|&item| self.put_i32(item));
        Ok(())
    }

    /// The tagged fields of a structure: none. Nothing in the classic form.
    pub fn put_no_tagged_fields(&mut self, form: Form) {
        if form == Form::Compact {
            self.put_uvarint(0);
        }
    }

    /// The tagged fields of a structure. Nothing in the classic form, which has none: they are left out.
    pub fn put_tagged_fields(
        &mut self,
        form: Form,
        fields: TaggedFields,
        what: &'static str,
    ) -> Result<(), EncodeError> {
        if form == Form::Classic {
            return Ok(());
        }
        let fields = fields.into_fields();
        let too_long = |length: usize| EncodeError::TooLong { what, length };
        self.put_uvarint(u32::try_from(fields.len()).map_err(|_| too_long(fields.len()))?);
        for (tag, bytes) in fields {
            self.put_uvarint(tag);
            self.put_uvarint(u32::try_from(bytes.len()).map_err(|_| too_long(bytes.len()))?);
            self.put_shared(bytes);
        }
        Ok(())
    }

    fn variable(&mut self, value: u64) {
        let mut out = [0u8; 10];
        let length = varint::write(value, &mut out);
        self.put_slice(out.get(..length).unwrap_or_default());
    }
}
