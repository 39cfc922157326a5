//! CRC-32C of batches, and how a CRC moves when only the header changes.
//!
//! A CRC is linear: for two messages of one length, `crc(a) XOR crc(b) = raw(a XOR b)`, where `raw` is the CRC without
//! its initial value and final inversion. If a and b differ in the first 40 covered bytes only, the rest of `a XOR b`
//! is zeros, and `raw(d ‖ 0ⁿ) = shift(raw(d), n)`: the register multiplied by x^8n modulo the polynomial.
//!
//! `combine` of the crc crates computes that x^8n anew at every call, 5-52 µs. Here n is cut into hexadecimal digits;
//! for each digit and place the multiplication is a table over the 8 nibbles of the register: 8 loads per non-zero
//! digit, 64 KiB of tables in all, built at compile time.

use std::fmt;

/// The CRC-32C (Castagnoli) that magic 2 batches carry over everything from their attributes on.
#[inline]
#[must_use]
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes)
}

/// Both checksums of an entry: that which stands in it, and that of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Checksums {
    /// As the producer or the broker computed it.
    pub stored: u32,
    /// Of the bytes as they are now.
    pub computed: u32,
}

impl Checksums {
    /// Whether the bytes are those that the checksum was made of.
    #[must_use]
    pub const fn agree(self) -> bool {
        self.stored == self.computed
    }
}

impl fmt::Display for Checksums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:08x} is stored, 0x{:08x} computed", self.stored, self.computed)
    }
}

/// The CRC register after `bytes` when it begins with 0 and nothing is inverted.
#[inline]
pub(super) fn raw(bytes: &[u8]) -> u32 {
    // The crate inverts on the way in and on the way out.
    !crc32c::crc32c_append(!0, bytes)
}

/// The CRC register after `len` more zero bytes. Lengths of 4 GiB and more do not occur: a batch has 31 bits of length.
#[inline]
pub(super) fn shift(register: u32, len: u32) -> u32 {
    let mut register = register;
    let mut len = len;
    for place in &SHIFT {
        if len == 0 {
            break;
        }
        if len & 15 != 0 {
            #[expect(clippy::indexing_slicing, reason = "the index is a hexadecimal digit, the table has 16 entries")]
            let operator = &place[(len & 15) as usize];
            register = apply(operator, register);
        }
        len >>= 4;
    }
    register
}

/// A linear map of the register, by its 8 nibbles.
type Operator = [[u32; 16]; 8];

/// `SHIFT[place][digit]` moves the register past `digit * 16^place` zero bytes.
static SHIFT: [[Operator; 16]; 8] = shift_table();

/// The reflected Castagnoli polynomial.
const POLYNOMIAL: u32 = 0x82f6_3b78;

#[inline]
#[expect(clippy::indexing_slicing, reason = "the index is a nibble, the table has 16 entries; const fn has no get()")]
const fn apply(operator: &Operator, register: u32) -> u32 {
    operator[0][(register & 15) as usize]
        ^ operator[1][(register >> 4 & 15) as usize]
        ^ operator[2][(register >> 8 & 15) as usize]
        ^ operator[3][(register >> 12 & 15) as usize]
        ^ operator[4][(register >> 16 & 15) as usize]
        ^ operator[5][(register >> 20 & 15) as usize]
        ^ operator[6][(register >> 24 & 15) as usize]
        ^ operator[7][(register >> 28) as usize]
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler: an index out of range does not build")]
const fn shift_table() -> [[Operator; 16]; 8] {
    let mut table = [[[[0; 16]; 8]; 16]; 8];
    let mut unit = one_zero_byte();
    let mut place = 0;
    while place < 8 {
        // Digit 0 moves nothing.
        table[place][0] = operator(&identity());
        let mut digit = 1;
        while digit < 16 {
            table[place][digit] = compose(&unit, &table[place][digit - 1]);
            digit += 1;
        }
        unit = compose(&unit, &table[place][15]);
        place += 1;
    }
    table
}

/// What each single bit of the register becomes.
type Columns = [u32; 32];

const fn identity() -> Columns {
    let mut columns = [0; 32];
    let mut bit = 0;
    #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler: an index out of range does not build")]
    while bit < 32 {
        columns[bit] = 1 << bit;
        bit += 1;
    }
    columns
}

/// The map of one zero byte: eight steps of the register.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler: an index out of range does not build")]
const fn one_zero_byte() -> Operator {
    let mut columns = identity();
    let mut bit = 0;
    while bit < 32 {
        let mut step = 0;
        while step < 8 {
            let carry = if columns[bit] & 1 == 1 { POLYNOMIAL } else { 0 };
            columns[bit] = columns[bit] >> 1 ^ carry;
            step += 1;
        }
        bit += 1;
    }
    operator(&columns)
}

/// First `second`, then `first`.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler: an index out of range does not build")]
const fn compose(first: &Operator, second: &Operator) -> Operator {
    let mut columns = identity();
    let mut bit = 0;
    while bit < 32 {
        columns[bit] = apply(first, apply(second, columns[bit]));
        bit += 1;
    }
    operator(&columns)
}

/// The nibble tables of a map that is given by its columns.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler: an index out of range does not build")]
const fn operator(columns: &Columns) -> Operator {
    let mut operator = [[0; 16]; 8];
    let mut nibble = 0;
    while nibble < 8 {
        let mut value: usize = 1;
        while value < 16 {
            let lowest = value.trailing_zeros() as usize;
            operator[nibble][value] = operator[nibble][value & (value - 1)] ^ columns[4 * nibble + lowest];
            value += 1;
        }
        nibble += 1;
    }
    operator
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_check_value_of_castagnoli() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn shift_is_hashing_zeros_for_every_short_length() {
        let begin = raw(b"some header difference");
        let mut hashed = begin;
        for len in 0..70_000 {
            assert_eq!(shift(begin, len), hashed, "{len}");
            hashed = !crc32c::crc32c_append(!hashed, &[0]);
        }
    }

    #[test]
    fn shift_agrees_with_the_crates_combine_for_long_lengths() {
        for len in [1 << 20, (1 << 24) + 3, i32::MAX.cast_unsigned(), 0x1234_5678] {
            let register = 0xdead_beef;
            // combine(a, b, len) is shift(a, len) XOR b.
            assert_eq!(shift(register, len), crc32c::crc32c_combine(register, 0, len as usize), "{len}");
        }
    }

    proptest! {
        #[test]
        fn shift_is_linear_and_adds_up(a: u32, b: u32, m in 0..1_u32 << 30, n in 0..1_u32 << 30) {
            prop_assert_eq!(shift(a, m) ^ shift(b, m), shift(a ^ b, m));
            prop_assert_eq!(shift(shift(a, m), n), shift(a, m + n));
        }
    }
}
