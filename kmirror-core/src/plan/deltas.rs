//! Whether the offset deltas of a batch are 0, 1, 2, …: read over its bytes, nothing is allocated, nothing copied.
//!
//! ```text
//! | length | attributes 1 | timestamp delta | offset delta | key, value, headers |   × count
//! | varint |              | varlong         | varint       | not looked at       |
//! ```

/// Whether one of `count` uncompressed records says another offset delta than its place. Records that do not parse say
/// nothing: what is forwarded is not judged by its insides.
pub(super) fn contradict(payload: &[u8], count: i32) -> bool {
    let mut rest = payload;
    for place in 0..count {
        let Some((delta, behind)) = first_delta(rest) else { return false };
        if delta != place {
            return true;
        }
        rest = behind;
    }
    false
}

/// The offset delta of the first record, and what lies behind that record.
fn first_delta(records: &[u8]) -> Option<(i32, &[u8])> {
    let (length, body) = varint(records)?;
    let (body, behind) = body.split_at_checked(usize::try_from(length).ok()?)?;
    let mut fields = body.get(1..)?;
    // The timestamp delta: at most ten bytes, the last one without the bit that says "more".
    let end = fields.iter().take(VARLONG_BYTES_MAX).position(|byte| byte & 0x80 == 0)?;
    fields = fields.get(end + 1..)?;
    let (delta, _) = varint(fields)?;
    Some((delta, behind))
}

/// A zigzag varint, and what lies behind it.
fn varint(bytes: &[u8]) -> Option<(i32, &[u8])> {
    let mut raw = 0_u32;
    for (at, byte) in bytes.iter().enumerate().take(VARINT_BYTES_MAX) {
        raw |= u32::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some(((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed(), bytes.get(at + 1..)?));
        }
    }
    None
}

const VARINT_BYTES_MAX: usize = 5;
const VARLONG_BYTES_MAX: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Batch;

    fn contradicts(deltas: Vec<i32>) -> bool {
        let batch = Batch::gapped(7, deltas, 0).raw();
        contradict(&batch.payload(), batch.header.records_count)
    }

    #[test]
    fn each_record_says_its_place() {
        for count in [0, 1, 63, 64, 65, 9000] {
            assert!(!contradicts((0..count).collect()), "{count}");
        }
        for deltas in [vec![1], vec![0, 2], vec![0, 0], vec![1, 0], vec![0, 1, 2, 9], vec![-1, 0]] {
            assert!(contradicts(deltas.clone()), "{deltas:?}");
        }
        assert!(contradicts((0..9000).map(|n| if n == 8999 { 9001 } else { n }).collect()));
    }

    #[test]
    fn what_does_not_parse_says_nothing() {
        let payload = Batch::new(7, 3).raw().payload();
        for end in 0..payload.len() {
            assert!(!contradict(&payload[..end], 3), "{end}");
        }
        for garbage in [&[0x80; 12][..], &[0xff; 40], &[2, 0], &[1], &[]] {
            assert!(!contradict(garbage, 5), "{garbage:?}");
        }
        assert!(!contradict(&payload, i32::MIN));
    }
}
