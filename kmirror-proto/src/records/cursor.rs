//! A borrowing reader over one slice: big-endian integers, zigzag varints, length-prefixed bytes.
//!
//! It reads inside one batch, where every value borrows from the payload; frames are read by `wire::Reader`.
//! Varints are Java's `ByteUtils`: non-minimal encodings are accepted, 5 bytes at most for 32 bits and 10 for 64, and
//! bits beyond the value's width are dropped.

use super::RecordError;

/// What is left to read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    pub(super) fn bytes(&mut self, len: usize, what: &'static str) -> Result<&'a [u8], RecordError> {
        match self.rest.split_at_checked(len) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(RecordError::Truncated { what, need: len, have: self.rest.len() }),
        }
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], RecordError> {
        match self.rest.split_first_chunk::<N>() {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(*taken)
            }
            None => Err(RecordError::Truncated { what, need: N, have: self.rest.len() }),
        }
    }

    #[inline]
    pub(super) fn i8(&mut self, what: &'static str) -> Result<i8, RecordError> {
        self.array(what).map(i8::from_be_bytes)
    }

    #[inline]
    pub(super) fn i16(&mut self, what: &'static str) -> Result<i16, RecordError> {
        self.array(what).map(i16::from_be_bytes)
    }

    #[inline]
    pub(super) fn i32(&mut self, what: &'static str) -> Result<i32, RecordError> {
        self.array(what).map(i32::from_be_bytes)
    }

    #[inline]
    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, RecordError> {
        self.array(what).map(u32::from_be_bytes)
    }

    #[inline]
    pub(super) fn i64(&mut self, what: &'static str) -> Result<i64, RecordError> {
        self.array(what).map(i64::from_be_bytes)
    }

    /// A zigzag varint of 32 bits.
    #[inline]
    pub(super) fn varint(&mut self, what: &'static str) -> Result<i32, RecordError> {
        if let [first @ 0..=0x7f, rest @ ..] = self.rest {
            self.rest = rest;
            return Ok(unzigzag_32(u32::from(*first)));
        }
        #[expect(clippy::cast_possible_truncation, reason = "as Java: bits beyond the 32nd are dropped")]
        self.long_varint(what, VARINT_BYTES_MAX).map(|raw| unzigzag_32(raw as u32))
    }

    /// A zigzag varint of 64 bits.
    #[inline]
    pub(super) fn varlong(&mut self, what: &'static str) -> Result<i64, RecordError> {
        if let [first @ 0..=0x7f, rest @ ..] = self.rest {
            self.rest = rest;
            return Ok(unzigzag_64(u64::from(*first)));
        }
        self.long_varint(what, VARLONG_BYTES_MAX).map(unzigzag_64)
    }

    /// Bytes behind a varint length; null for any negative length, as Java reads keys and values.
    #[inline]
    pub(super) fn varint_nullable(&mut self, what: &'static str) -> Result<Option<&'a [u8]>, RecordError> {
        match usize::try_from(self.varint(what)?) {
            Ok(len) => self.bytes(len, what).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Bytes behind a 32-bit length; null for -1, as magic 0 and 1 write keys and values.
    #[inline]
    pub(super) fn i32_nullable(&mut self, what: &'static str) -> Result<Option<&'a [u8]>, RecordError> {
        let len = self.i32(what)?;
        match usize::try_from(len) {
            Ok(len) => self.bytes(len, what).map(Some),
            Err(_) if len == -1 => Ok(None),
            Err(_) => Err(RecordError::Range { what, value: len.into() }),
        }
    }

    /// Nothing may be left.
    #[inline]
    pub(super) fn finish(&self, what: &'static str) -> Result<(), RecordError> {
        if self.rest.is_empty() { Ok(()) } else { Err(RecordError::Trailing { what, left: self.rest.len() }) }
    }

    /// The bits of a varint of any length up to `bytes_max`, before zigzag.
    fn long_varint(&mut self, what: &'static str, bytes_max: usize) -> Result<u64, RecordError> {
        let mut value = 0_u64;
        for (i, &byte) in self.rest.iter().take(bytes_max).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                self.rest = self.rest.get(i + 1..).unwrap_or_default();
                return Ok(value);
            }
        }
        let have = self.rest.len();
        if have < bytes_max {
            Err(RecordError::Truncated { what, need: have + 1, have })
        } else {
            Err(RecordError::Varint { what, bytes_max })
        }
    }
}

/// The longest varint of 32 bits.
pub(super) const VARINT_BYTES_MAX: usize = 5;
/// The longest varint of 64 bits.
pub(super) const VARLONG_BYTES_MAX: usize = 10;

#[inline]
fn unzigzag_32(raw: u32) -> i32 {
    (raw >> 1).cast_signed() ^ -((raw & 1).cast_signed())
}

#[inline]
fn unzigzag_64(raw: u64) -> i64 {
    (raw >> 1).cast_signed() ^ -((raw & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varint(bytes: &[u8]) -> Result<i32, RecordError> {
        Cursor::new(bytes).varint("n")
    }

    fn varlong(bytes: &[u8]) -> Result<i64, RecordError> {
        Cursor::new(bytes).varlong("n")
    }

    #[test]
    fn zigzag_reaches_both_ends() {
        for (bytes, value) in [(&[0][..], 0), (&[1], -1), (&[2], 1), (&[0x7f], -64), (&[0x80, 1], 64)] {
            assert_eq!(varint(bytes), Ok(value));
            assert_eq!(varlong(bytes), Ok(value.into()));
        }
        assert_eq!(varint(&[0xff, 0xff, 0xff, 0xff, 0x0f]), Ok(i32::MIN));
        assert_eq!(varint(&[0xfe, 0xff, 0xff, 0xff, 0x0f]), Ok(i32::MAX));
        assert_eq!(varlong(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), Ok(i64::MIN));
    }

    #[test]
    fn non_minimal_varints_are_accepted() {
        assert_eq!(varint(&[0x82, 0x80, 0x80, 0x80, 0x00]), Ok(1));
        assert_eq!(varlong(&[0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]), Ok(1));
    }

    #[test]
    fn a_varint_of_6_or_11_bytes_and_an_unterminated_one_are_errors() {
        assert_eq!(varint(&[0x80; 6]), Err(RecordError::Varint { what: "n", bytes_max: 5 }));
        assert_eq!(varlong(&[0x80; 11]), Err(RecordError::Varint { what: "n", bytes_max: 10 }));
        assert_eq!(varint(&[0x80; 3]), Err(RecordError::Truncated { what: "n", need: 4, have: 3 }));
        assert_eq!(varint(&[]), Err(RecordError::Truncated { what: "n", need: 1, have: 0 }));
    }

    #[test]
    fn lengths_beyond_the_end_are_errors_and_negative_ones_null() {
        assert_eq!(Cursor::new(&[4, 7]).varint_nullable("key").unwrap_err().to_string(), "key: 2 bytes needed, 1 left");
        assert_eq!(Cursor::new(&[3]).varint_nullable("key"), Ok(None));
        assert_eq!(Cursor::new(&[255; 4]).i32_nullable("key"), Ok(None));
        assert_eq!(
            Cursor::new(&[255, 255, 255, 254]).i32_nullable("key"),
            Err(RecordError::Range { what: "key", value: -2 })
        );
    }
}
