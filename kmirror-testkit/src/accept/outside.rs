//! The entries from outside, one after the other: offset, size, checksum and codec.
//!
//! Mirrors Java's `Log.analyzeAndValidateRecords`.

use kmirror_proto::ErrorCode;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{BatchHeader, crc32c};

use super::sent::{Form, Sent};
use super::{Offered, Refusal};

/// Checks every entry in turn, and tells the codec of the set: that of the last compressed entry.
///
/// # Errors
/// R2, R12, R17, R18: of the first entry that has one, in this order.
pub(super) fn check(offered: &Offered<'_>, sent: &[Sent]) -> Result<Codec, Refusal> {
    let mut codec = Codec::None;
    for entry in sent {
        base_offset(offered, entry)?;
        larger_than_max(offered, entry.bytes.len())?;
        checksum(entry)?;
        let own = known_codec(offered, entry)?;
        if own != Codec::None {
            codec = own;
        }
    }
    Ok(codec)
}

/// R17: the whole entry, its 12 bytes of offset and length included, may be as large as `max.message.bytes`.
pub(super) fn larger_than_max(offered: &Offered<'_>, bytes: usize) -> Result<(), Refusal> {
    if bytes > offered.settings.max_message_bytes {
        return Err(Refusal::request(ErrorCode::MESSAGE_TOO_LARGE));
    }
    Ok(())
}

/// R2: a producer's batch begins at offset 0. Messages before magic 2 may have any offset.
fn base_offset(offered: &Offered<'_>, entry: &Sent) -> Result<(), Refusal> {
    match &entry.form {
        Form::Batch(header) if header.base_offset != 0 => Err(Refusal::invalid_record(offered.release)),
        Form::Batch(_) | Form::Message(_) | Form::Unreadable => Ok(()),
    }
}

/// R18, M5: the checksum. What has the right one and cannot be read all the same is an exception that the broker does
/// not know.
fn checksum(entry: &Sent) -> Result<(), Refusal> {
    let right = match &entry.form {
        Form::Batch(header) => batch_checksum(header, &entry.bytes),
        Form::Message(message) => message.crc_ok(),
        Form::Unreadable if message_checksum(&entry.bytes) => return Err(Refusal::unknown()),
        Form::Unreadable => false,
    };
    if right { Ok(()) } else { Err(Refusal::corrupt()) }
}

fn batch_checksum(header: &BatchHeader, bytes: &[u8]) -> bool {
    crc32c(bytes.get(CRC_COVERS_FROM..).unwrap_or_default()) == header.crc
}

fn message_checksum(bytes: &[u8]) -> bool {
    let stored = bytes.get(MESSAGE_CRC_AT..).and_then(|rest| rest.first_chunk());
    stored == Some(&crc32fast::hash(bytes.get(MESSAGE_CRC_COVERS_FROM..).unwrap_or_default()).to_be_bytes())
}

/// R12: a codec that the release does not know, zstd before 2.1 among them (R1).
fn known_codec(offered: &Offered<'_>, entry: &Sent) -> Result<Codec, Refusal> {
    match entry.codec() {
        Ok(codec) if !offered.release.knows(codec) => Err(Refusal::unknown()),
        Ok(codec) => Ok(codec),
        Err(_) => Err(Refusal::unknown()),
    }
}

/// Where the bytes begin that a batch's CRC covers: at the attributes.
pub(super) const CRC_COVERS_FROM: usize = 21;
/// Where the CRC of a message stands.
pub(super) const MESSAGE_CRC_AT: usize = 12;
/// Where the bytes begin that it covers: at the magic.
pub(super) const MESSAGE_CRC_COVERS_FROM: usize = 16;
