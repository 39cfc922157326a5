//! Fetch v0 to v3: records in a format that those versions know (F1, F2).
//!
//! Up to 1.1 the answer is as long as what was converted. From 2.0 on it is converted while it is sent, and its length
//! was said before: that of the records as they are stored, or of the first converted batch if that is longer. What
//! does not fit is cut off; what is missing is filled up with the head of a batch that never comes.

use bytes::Bytes;
use kmirror_proto::ErrorCode;
use kmirror_proto::records::MessageFormat;

use crate::Release;
use crate::convert::{self, Headers, NotDown, Packing};
use crate::log::Slice;
use crate::settings::TopicSettings;

/// The format that records have to be converted to; `None` for as they are. It goes by the topic's format, not by what
/// is stored.
pub(super) fn format(release: Release, version: i16, settings: &TopicSettings) -> Option<MessageFormat> {
    // From 3.0 on message.format.version is ignored.
    let stored = if release >= Release::V3_0 { release.magic() } else { settings.magic };
    match version {
        0 | 1 if stored > 0 => Some(MessageFormat::V0),
        2 | 3 if stored > 1 => Some(MessageFormat::V1),
        _ => None,
    }
}

/// The records of a slice in an older format.
///
/// # Errors
/// 76 for zstd, -1 for what trips the release.
pub(super) fn convert(
    release: Release,
    slice: &Slice<'_>,
    format: MessageFormat,
    offset: i64,
) -> Result<Bytes, ErrorCode> {
    if slice.entries.is_empty() {
        // Not one whole entry: its beginning goes out as it is, until 3.0.
        return Ok(if release >= Release::V3_0 { Bytes::new() } else { slice.records() });
    }
    if !convert::is_needed(slice.entries, format) {
        return Ok(slice.records());
    }
    let packing = if release < Release::V0_11 { Packing::Together } else { Packing::Apart };
    let headers = if release == Release::V0_11 { Headers::Refused } else { Headers::Dropped };
    let down = |entries| {
        convert::down(entries, format, offset, packing, headers).map_err(|not| match not {
            NotDown::Zstd => ErrorCode::UNSUPPORTED_COMPRESSION_TYPE,
            NotDown::Broken(_) => ErrorCode::UNKNOWN_SERVER_ERROR,
        })
    };
    let all = down(slice.entries)?;
    if release < Release::V2_0 {
        return Ok(all.records);
    }
    let first_leaves_nothing = down(slice.entries.get(..1).unwrap_or_default())?.records.is_empty();
    let all = if first_leaves_nothing { all.first_twice() } else { all };
    Ok(all.filled(slice.size()))
}
