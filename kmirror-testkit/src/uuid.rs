//! The ids of topics and clusters as text: 22 characters of base64 for URLs, without padding.
//!
//! Java: `org.apache.kafka.common.Uuid`.

/// The id as Kafka writes it.
pub(crate) fn text(id: [u8; 16]) -> String {
    let bits = u128::from_be_bytes(id);
    // 126 bits are 21 digits; the last two stand at the top of a 22nd.
    let digit = |place: u32| if place == 0 { (bits << 4) & 63 } else { (bits >> (6 * place - 4)) & 63 };
    let digits = (0..22).rev().map(digit);
    digits.filter_map(|digit| DIGITS.get(usize::try_from(digit).ok()?)).map(|byte| char::from(*byte)).collect()
}

/// The id that a text stands for.
pub(crate) fn parse(text: &str) -> Option<[u8; 16]> {
    let (head, last) = text.split_at_checked(21)?;
    let digit = |byte: u8| u128::try_from(DIGITS.iter().position(|digit| *digit == byte)?).ok();
    let bits = head.bytes().try_fold(0, |bits, byte| Some(bits << 6 | digit(byte)?))?;
    match last.as_bytes() {
        [last] => Some((bits << 2 | digit(*last)? >> 4).to_be_bytes()),
        _ => None,
    }
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_written_as_java_writes_them() {
        // Uuid.ONE_UUID and METADATA_TOPIC_ID of Java print as this.
        let mut one = [0; 16];
        one[15] = 1;
        assert_eq!(text(one), "AAAAAAAAAAAAAAAAAAAAAQ");
        let ff = [0xff; 16];
        assert_eq!(text(ff), "_____________________w");
        for id in [one, ff, *b"0123456789abcdef"] {
            assert_eq!(parse(&text(id)), Some(id));
        }
        assert_eq!(
            (parse("short"), parse("AAAAAAAAAAAAAAAAAAAA!Q"), parse("AAAAAAAAAAAAAAAAAAAAAQQ")),
            (None, None, None)
        );
    }
}
