//! The raw path: a batch's header rewritten for a target, its payload untouched.
//!
//! ```text
//!  0               8        12                16      17     21               43                             57
//! | base offset 0 | length | leader epoch -1 | magic | CRC' | attributes ... | producer id, epoch, sequence | count |
//!                                                            10 and 40 off    the stamp
//! ```
//!
//! The CRC is fixed from the *stored* one, never computed from the bytes: `CRC' = CRC XOR shift(raw(old XOR new),
//! payload bytes)`, old and new being the 40 covered bytes of the header. A batch that was damaged on the way fails its
//! check after the patch as it did before: the target, or whoever reads there, refuses it. It is also cheaper by the
//! whole payload.

use super::batch::BATCH_HEADER_BYTES;
use super::{Attributes, RawBatch, crc};

/// Whose write a batch is: what an idempotent producer puts into the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The producer id, -1 for none.
    pub producer_id: i64,
    /// The producer's epoch, -1 for none.
    pub producer_epoch: i16,
    /// The sequence of the first record, -1 for none.
    pub base_sequence: i32,
}

impl Stamp {
    /// Not idempotent: -1, -1, -1.
    pub const NONE: Self = Self { producer_id: -1, producer_epoch: -1, base_sequence: -1 };
}

/// The header under which the batch goes to a target: base offset 0, leader epoch -1, the stamp, the transactional and
/// the delete-horizon bit cleared, the CRC moved accordingly. Send it before [`RawBatch::payload`].
#[must_use]
pub fn restamp(batch: &RawBatch, stamp: Stamp) -> [u8; BATCH_HEADER_BYTES] {
    let Some(old) = batch.bytes().first_chunk::<BATCH_HEADER_BYTES>() else {
        // A RawBatch is made from a whole header only.
        return [0; BATCH_HEADER_BYTES];
    };
    // The fields are the bytes' own, whatever has become of `batch.header`.
    let old_attributes = Attributes(i16::from_be_bytes([old[21], old[22]]));
    let attributes = old_attributes.without_transactional().without_delete_horizon();
    let stored = u32::from_be_bytes([old[17], old[18], old[19], old[20]]);
    // The batch length has 31 bits.
    let payload_len = u32::try_from(batch.bytes().len() - BATCH_HEADER_BYTES).unwrap_or(0);

    let mut crc = stored ^ stamp_difference(old, stamp, payload_len);
    let cleared = old_attributes.0 ^ attributes.0;
    if cleared != 0 {
        crc ^= crc::shift(crc::raw(&cleared.to_be_bytes()), AFTER_ATTRIBUTES + payload_len);
    }

    let mut new = *old;
    new[0..8].copy_from_slice(&0_i64.to_be_bytes());
    new[12..16].copy_from_slice(&(-1_i32).to_be_bytes());
    new[17..21].copy_from_slice(&crc.to_be_bytes());
    new[21..23].copy_from_slice(&attributes.0.to_be_bytes());
    new[43..51].copy_from_slice(&stamp.producer_id.to_be_bytes());
    new[51..53].copy_from_slice(&stamp.producer_epoch.to_be_bytes());
    new[53..57].copy_from_slice(&stamp.base_sequence.to_be_bytes());
    new
}

/// What the change of the stamp does to the CRC.
///
/// Zeros in front of a difference do not move a register that begins with 0, so only the 14 bytes of the stamp are
/// hashed, with the two zeros behind them that make up two words, and shifted over what follows. Attributes likewise.
fn stamp_difference(old: &[u8; BATCH_HEADER_BYTES], stamp: Stamp, payload_len: u32) -> u32 {
    let old_id = i64::from_be_bytes([old[43], old[44], old[45], old[46], old[47], old[48], old[49], old[50]]);
    let old_epoch = i16::from_be_bytes([old[51], old[52]]);
    let old_sequence = i32::from_be_bytes([old[53], old[54], old[55], old[56]]);
    let id = u128::from((old_id ^ stamp.producer_id).cast_unsigned());
    let epoch = u128::from((old_epoch ^ stamp.producer_epoch).cast_unsigned());
    let sequence = u128::from((old_sequence ^ stamp.base_sequence).cast_unsigned());
    let difference = Words((id << 64 | epoch << 48 | sequence << 16).to_be_bytes());
    crc::shift(crc::raw(&difference.0), AFTER_WORDS + payload_len)
}

/// Aligned, so that the CRC goes by words from the first byte on.
#[repr(align(16))]
struct Words([u8; 16]);

/// Header bytes from the end of the attributes, at 23, to the payload.
const AFTER_ATTRIBUTES: u32 = 38;
/// Header bytes from the end of the two words, at 59, to the payload.
const AFTER_WORDS: u32 = 2;

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::super::{BatchBuilder, HeadersSource};
    use super::*;
    use crate::compress::Codec;

    /// A batch of one record whose header is as a broker would store it after a transaction.
    fn stored(value: &[u8], attributes: i16, header: [u8; 14]) -> RawBatch {
        let mut builder = BatchBuilder::new(Codec::None, None);
        builder.push(1_500_000_000_000, Some(b"key"), Some(value), HeadersSource::None).unwrap();
        let mut bytes = builder.finish(Stamp::NONE).unwrap().to_vec();
        bytes[0..8].copy_from_slice(&987_654_321_i64.to_be_bytes());
        bytes[12..16].copy_from_slice(&17_i32.to_be_bytes());
        bytes[21..23].copy_from_slice(&attributes.to_be_bytes());
        bytes[43..57].copy_from_slice(&header);
        let crc = crc::crc32c(&bytes[21..]);
        bytes[17..21].copy_from_slice(&crc.to_be_bytes());
        RawBatch::from_bytes(Bytes::from(bytes)).unwrap()
    }

    fn restamped(batch: &RawBatch, stamp: Stamp) -> RawBatch {
        let bytes = [&restamp(batch, stamp)[..], &batch.payload()].concat();
        RawBatch::from_bytes(Bytes::from(bytes)).unwrap()
    }

    #[test]
    fn only_what_must_change_changes() {
        let batch = stored(b"value", 0x7f10 | 0x40, [3; 14]);
        let new = restamp(&batch, Stamp { producer_id: 5, producer_epoch: 6, base_sequence: 7 });
        let old = batch.bytes();
        assert_eq!(new[0..8], [0; 8]);
        assert_eq!(new[8..12], old[8..12]);
        assert_eq!(new[12..16], [0xff; 4]);
        assert_eq!(new[21..23], 0x7f00_i16.to_be_bytes());
        assert_eq!(new[23..43], old[23..43]);
        assert_eq!(new[43..57], [0, 0, 0, 0, 0, 0, 0, 5, 0, 6, 0, 0, 0, 7]);
        assert_eq!(new[57..61], old[57..61]);
        assert!(restamped(&batch, Stamp::NONE).crc_ok());
    }

    proptest! {
        #[test]
        fn an_undamaged_batch_gets_the_crc_that_hashing_again_gives(
            value in proptest::collection::vec(any::<u8>(), 0..5000),
            attributes: i16, header: [u8; 14],
            producer_id: i64, producer_epoch: i16, base_sequence: i32,
        ) {
            let batch = stored(&value, attributes, header);
            prop_assert!(batch.crc_ok());
            let new = restamped(&batch, Stamp { producer_id, producer_epoch, base_sequence });
            prop_assert_eq!(new.header.crc, crc::crc32c(&new.bytes()[21..]));
            prop_assert!(!new.header.attributes.transactional() && !new.header.attributes.delete_horizon());
            prop_assert_eq!(new.payload(), batch.payload());
        }

        #[test]
        fn damage_stays_damage(
            value in proptest::collection::vec(any::<u8>(), 1..3000),
            attributes: i16, header: [u8; 14], at: usize, bit in 0..8_u32,
        ) {
            let mut bytes = stored(&value, attributes, header).bytes().to_vec();
            let at = 21 + at % (bytes.len() - 21);
            // Length and offsets stay as they are: the header must still parse.
            prop_assume!(!(23..27).contains(&at) && !(57..61).contains(&at));
            bytes[at] ^= 1 << bit;
            let batch = RawBatch::from_bytes(Bytes::from(bytes)).unwrap();
            prop_assert!(!batch.crc_ok());
            let new = restamped(&batch, Stamp { producer_id: 1, producer_epoch: 0, base_sequence: 9 });
            prop_assert!(!new.crc_ok(), "byte {} bit {} was laundered", at, bit);
        }
    }
}
