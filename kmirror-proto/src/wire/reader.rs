//! Reads the protocol's types from a [`Bytes`], in order, never beyond its end.

use std::collections::BTreeSet;

use bytes::{Buf, Bytes};

use super::{Form, varint};
use crate::error::DecodeError;

/// A position in a run of bytes. Every read names what it reads, for the error; payloads come out as slices of the
/// same buffer.
///
/// A count is compared with the bytes that are left before anything is allocated for it: `count * min_size` must fit,
/// where `min_size` is the size of the smallest possible element. So a decoded message takes memory in proportion to
/// the bytes that carried it.
#[derive(Debug, Clone)]
pub struct Reader {
    bytes: Bytes,
}

impl Reader {
    /// Reads `bytes` from their beginning.
    #[must_use]
    pub const fn new(bytes: Bytes) -> Self {
        Self { bytes }
    }

    /// Bytes that have not been read yet.
    #[must_use]
    pub const fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// Takes everything that is left.
    #[must_use]
    pub fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.bytes)
    }

    /// Ends the reading of `what`; bytes that are left over are an error.
    pub fn finish(self, what: &'static str) -> Result<(), DecodeError> {
        match self.bytes.len() {
            0 => Ok(()),
            bytes => Err(DecodeError::Trailing { what, bytes }),
        }
    }
}

/// What one field holds.
impl Reader {
    /// Reads `bytes` as `what`, to their end: a tagged field is as long as its size says.
    pub fn whole<T>(
        bytes: Bytes,
        what: &'static str,
        read: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let mut r = Self::new(bytes);
        let value = read(&mut r)?;
        r.finish(what)?;
        Ok(value)
    }
}

/// Fixed sizes.
impl Reader {
    /// `N` bytes as they stand.
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], DecodeError> {
        let Some(array) = self.bytes.first_chunk::<N>().copied() else {
            return Err(self.truncated(what, N));
        };
        self.bytes.advance(N);
        Ok(array)
    }

    /// A signed byte.
    pub fn i8(&mut self, what: &'static str) -> Result<i8, DecodeError> {
        self.array(what).map(i8::from_be_bytes)
    }

    /// A signed 16-bit integer.
    pub fn i16(&mut self, what: &'static str) -> Result<i16, DecodeError> {
        self.array(what).map(i16::from_be_bytes)
    }

    /// An unsigned 16-bit integer.
    pub fn u16(&mut self, what: &'static str) -> Result<u16, DecodeError> {
        self.array(what).map(u16::from_be_bytes)
    }

    /// A signed 32-bit integer.
    pub fn i32(&mut self, what: &'static str) -> Result<i32, DecodeError> {
        self.array(what).map(i32::from_be_bytes)
    }

    /// An unsigned 32-bit integer.
    pub fn u32(&mut self, what: &'static str) -> Result<u32, DecodeError> {
        self.array(what).map(u32::from_be_bytes)
    }

    /// A signed 64-bit integer.
    pub fn i64(&mut self, what: &'static str) -> Result<i64, DecodeError> {
        self.array(what).map(i64::from_be_bytes)
    }

    /// A 64-bit floating point number.
    pub fn f64(&mut self, what: &'static str) -> Result<f64, DecodeError> {
        self.array(what).map(f64::from_be_bytes)
    }

    /// A boolean: any byte but 0 is true, as in Java.
    pub fn bool(&mut self, what: &'static str) -> Result<bool, DecodeError> {
        self.array(what).map(|[byte]| byte != 0)
    }

    /// `n` bytes as a slice of the buffer.
    pub fn bytes(&mut self, n: usize, what: &'static str) -> Result<Bytes, DecodeError> {
        if n > self.bytes.len() {
            return Err(self.truncated(what, n));
        }
        Ok(self.bytes.split_to(n))
    }
}

/// Variable sizes.
impl Reader {
    /// An unsigned 32-bit integer of one to five bytes.
    pub fn uvarint(&mut self, what: &'static str) -> Result<u32, DecodeError> {
        let value = self.variable(32, what)?;
        u32::try_from(value).map_err(|_| DecodeError::Varint { what })
    }

    /// A zigzag 32-bit integer of one to five bytes.
    pub fn varint(&mut self, what: &'static str) -> Result<i32, DecodeError> {
        let value = varint::unzigzag(self.variable(32, what)?);
        i32::try_from(value).map_err(|_| DecodeError::Varint { what })
    }

    /// A zigzag 64-bit integer of one to ten bytes.
    pub fn varlong(&mut self, what: &'static str) -> Result<i64, DecodeError> {
        Ok(varint::unzigzag(self.variable(64, what)?))
    }

    /// A string that may not be null.
    pub fn string(&mut self, form: Form, what: &'static str) -> Result<String, DecodeError> {
        self.nullable_string(form, what)?.ok_or(DecodeError::Null { what })
    }

    /// A string or null.
    pub fn nullable_string(&mut self, form: Form, what: &'static str) -> Result<Option<String>, DecodeError> {
        let length = match form {
            Form::Classic => length_of(i64::from(self.i16(what)?), what)?,
            Form::Compact => self.compact_length(what)?,
        };
        let Some(length) = length else { return Ok(None) };
        let Some(text) = self.bytes.get(..length) else {
            return Err(self.truncated(what, length));
        };
        let text = std::str::from_utf8(text).map_err(|_| DecodeError::NotUtf8 { what })?.to_owned();
        self.bytes.advance(length);
        Ok(Some(text))
    }

    /// Record bytes or null, as a slice of the buffer.
    pub fn nullable_records(&mut self, form: Form, what: &'static str) -> Result<Option<Bytes>, DecodeError> {
        let length = match form {
            Form::Classic => length_of(i64::from(self.i32(what)?), what)?,
            Form::Compact => self.compact_length(what)?,
        };
        length.map(|length| self.bytes(length, what)).transpose()
    }

    /// A run of bytes that may not be null, as a slice of the buffer.
    pub fn sized_bytes(&mut self, form: Form, what: &'static str) -> Result<Bytes, DecodeError> {
        self.nullable_records(form, what)?.ok_or(DecodeError::Null { what })
    }

    /// An array that may not be null. `min_size` is the size in bytes of the smallest possible element, at least 1.
    pub fn items<T>(
        &mut self,
        form: Form,
        min_size: usize,
        what: &'static str,
        read: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        self.nullable_items(form, min_size, what, read)?.ok_or(DecodeError::Null { what })
    }

    /// An array or null. `min_size` is the size in bytes of the smallest possible element, at least 1.
    pub fn nullable_items<T>(
        &mut self,
        form: Form,
        min_size: usize,
        what: &'static str,
        mut read: impl FnMut(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Option<Vec<T>>, DecodeError> {
        let count = match form {
            Form::Classic => length_of(i64::from(self.i32(what)?), what)?,
            Form::Compact => self.compact_length(what)?,
        };
        let Some(count) = count else { return Ok(None) };
        let remaining = self.bytes.len();
        if count.checked_mul(min_size.max(1)).is_none_or(|size| size > remaining) {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            return Err(DecodeError::Count { what, count, remaining });
        }
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(read(self)?);
        }
        Ok(Some(items))
    }

    /// An array of 32-bit integers.
    pub fn i32s(&mut self, form: Form, what: &'static str) -> Result<Vec<i32>, DecodeError> {
        self.items(form, 4, what, |r| r.i32(what))
    }

    /// Skips the tagged fields at the end of a structure: whoever wrote them knows more than we do (KIP-482). Nothing
    /// in the classic form.
    pub fn skip_tagged_fields(&mut self, form: Form, what: &'static str) -> Result<(), DecodeError> {
        self.tagged_fields(form, what, |_, _| Ok(()))
    }

    /// Hands every tagged field of a structure to `read` as (tag, bytes). A tag that stands twice is an error. Nothing
    /// in the classic form.
    pub fn tagged_fields(
        &mut self,
        form: Form,
        what: &'static str,
        mut read: impl FnMut(u32, Bytes) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        if form == Form::Classic {
            return Ok(());
        }
        let count = self.uvarint(what)?;
        let remaining = self.bytes.len();
        // A field takes two bytes at least: its tag and its size.
        if u64::from(count) * 2 > remaining as u64 {
            return Err(DecodeError::Count { what, count: i64::from(count), remaining });
        }
        let mut seen = BTreeSet::new();
        for _ in 0..count {
            let tag = self.uvarint(what)?;
            if !seen.insert(tag) {
                return Err(DecodeError::DuplicateTag { what, tag });
            }
            let size = self.uvarint(what)? as usize;
            let field = self.bytes(size, what)?;
            read(tag, field)?;
        }
        Ok(())
    }
}

/// The pieces that the reads above share.
impl Reader {
    fn variable(&mut self, bits: u32, what: &'static str) -> Result<u64, DecodeError> {
        match varint::read(&self.bytes, bits) {
            Ok((value, length)) => {
                self.bytes.advance(length);
                Ok(value)
            }
            Err(true) => Err(self.truncated(what, self.bytes.len() + 1)),
            Err(false) => Err(DecodeError::Varint { what }),
        }
    }

    /// A compact length: one more than the length, 0 for null.
    fn compact_length(&mut self, what: &'static str) -> Result<Option<usize>, DecodeError> {
        Ok((self.uvarint(what)? as usize).checked_sub(1))
    }

    const fn truncated(&self, what: &'static str, needed: usize) -> DecodeError {
        DecodeError::Truncated { what, needed, remaining: self.bytes.len() }
    }
}

/// A classic length: -1 for null, nothing below it.
fn length_of(length: i64, what: &'static str) -> Result<Option<usize>, DecodeError> {
    match usize::try_from(length) {
        Ok(length) => Ok(Some(length)),
        Err(_) if length == -1 => Ok(None),
        Err(_) => Err(DecodeError::NegativeLength { what, length }),
    }
}
