//! Variable-length integers: seven bits a byte, the lowest first, the top bit says that more follow.
//!
//! ```text
//! 300 = 0b10_0101100   ->   1 0101100   0 0000010
//! signed n is sent as zigzag: 0, -1, 1, -2 ... -> 0, 1, 2, 3 ...
//! ```
//!
//! Java: `org.apache.kafka.common.utils.ByteUtils`.

/// Reads an unsigned value of at most `bits` bits. Returns it with the number of bytes it took; `Err(true)` when the
/// bytes end inside it, `Err(false)` when it has more bytes, or more bits, than the type holds.
pub(super) fn read(bytes: &[u8], bits: u32) -> Result<(u64, usize), bool> {
    let bytes_max = bits.div_ceil(7) as usize;
    let mut value = 0u64;
    let mut shift = 0u32;
    for (position, &byte) in bytes.iter().take(bytes_max).enumerate() {
        let group = u64::from(byte & 0x7f);
        if shift + 7 > bits && (group >> (bits - shift)) != 0 {
            return Err(false);
        }
        value |= group << shift;
        if byte & 0x80 == 0 {
            return Ok((value, position + 1));
        }
        shift += 7;
    }
    Err(bytes.len() < bytes_max)
}

/// Writes `value` into `out`; returns the number of bytes, at most 10.
pub(super) fn write(mut value: u64, out: &mut [u8; 10]) -> usize {
    let mut length = 0;
    for slot in out.iter_mut() {
        length += 1;
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            *slot = low & 0x7f;
            break;
        }
        *slot = low | 0x80;
    }
    length
}

/// Unsigned back to signed.
pub(super) const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Signed to unsigned.
pub(super) const fn zigzag(value: i64) -> u64 {
    (value << 1).cast_unsigned() ^ (value >> 63).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::{read, unzigzag, write, zigzag};

    #[test]
    fn every_length_comes_back() {
        let mut values = vec![0u64, 1, u64::MAX];
        values.extend((0..64).flat_map(|bit| [1u64 << bit, (1u64 << bit) - 1]));
        for value in values {
            let mut out = [0u8; 10];
            let length = write(value, &mut out);
            assert_eq!(read(&out[..length], 64), Ok((value, length)), "{value}");
            for cut in 0..length {
                assert_eq!(read(&out[..cut], 64), Err(true), "{value} cut to {cut} bytes");
            }
        }
    }

    #[test]
    fn signs_fold_as_in_java() {
        for (signed, folded) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (i64::MAX, u64::MAX - 1), (i64::MIN, u64::MAX)] {
            assert_eq!(zigzag(signed), folded);
            assert_eq!(unzigzag(folded), signed);
        }
    }

    // A sixth byte, or a fifth with more than four bits, is not an int32. Java's newer readers throw; older ones
    // went on shifting and read garbage.
    #[test]
    fn more_than_the_type_holds_is_refused() {
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0x0f], 32), Ok((u64::from(u32::MAX), 5)));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0x1f], 32), Err(false));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0x00], 32), Err(false));
        assert_eq!(read(&[0xff; 11], 64), Err(false));
        assert_eq!(read(&[0x80; 10], 64), Err(false));
    }
}
