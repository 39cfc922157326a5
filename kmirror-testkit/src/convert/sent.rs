//! Whether messages were sent under the offsets that let a broker keep a wrapper as it is.
//!
//! ```text
//! wrapper 2    [0 1 2]   0 1 2            kept under another wrapper offset                                     M2
//! wrapper 1002 [0 1 2]   1000 1001 1002   as fetched: written anew
//! wrapper 5    [0 2 5]   0 2 5            compacted: written anew
//! wrapper 0    [0 1 2]   -2 -1 0          written anew; 0 1 2 and kept, where a wrapper at 0 is taken for librdkafka's
//! wrapper 0    [0 0 0]   0 0 0            kafka-python's of old: written anew
//! ```
//!
//! Mirrors the comparison with `expectedInnerOffset` in Java's `LogValidator`.

use kmirror_proto::compress::Codec;
use kmirror_proto::records::{MessageFormat, RawMessage, RecordError};

use super::Opened;

/// What the offset 0 of a wrapper with several messages says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrapperAtZero {
    /// Inner offsets count back from it, as from any other (0.10.0 and 0.10.1).
    CountsBack,
    /// Nothing: it is from a producer that does not set it (from 0.10.2 on).
    SaysNothing,
}

/// Whether the messages of an entry of magic 1 have the offsets `first`, `first + 1` and so on. Of magic 0 nobody asks:
/// it is written anew in any case.
///
/// # Errors
/// [`RecordError`] if the entry's payload does not parse.
pub(crate) fn is_numbered_from(
    first: i64,
    message: &RawMessage,
    opened: &Opened,
    zero: WrapperAtZero,
) -> Result<bool, RecordError> {
    if message.format() == MessageFormat::V0 {
        return Ok(true);
    }
    let mut inner = Vec::new();
    opened.each(|record| {
        inner.push(record.offset);
        Ok::<_, RecordError>(())
    })?;
    let counts_back = message.codec()? != Codec::None && (message.offset != 0 || zero == WrapperAtZero::CountsBack);
    let base = if counts_back { message.offset.wrapping_sub(inner.last().copied().unwrap_or(0)) } else { 0 };
    Ok((first..).zip(&inner).all(|(expected, inner)| base.wrapping_add(*inner) == expected))
}
