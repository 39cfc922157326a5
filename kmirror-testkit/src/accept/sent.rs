//! The entries of a records field as a producer sent them: nothing about them is known to be true.

use bytes::{Bytes, BytesMut};
use kmirror_proto::compress::{Codec, CodecError};
use kmirror_proto::records::{Attributes, BATCH_HEADER_BYTES, BatchHeader, RawMessage};

use crate::Release;

/// One entry.
#[derive(Debug)]
pub(super) struct Sent {
    /// The whole entry, its 12 bytes of offset and length included.
    pub(super) bytes: Bytes,
    /// The offset that it begins with, which need not make sense.
    pub(super) offset: i64,
    /// What it is.
    pub(super) form: Form,
}

/// The formats.
#[derive(Debug)]
pub(super) enum Form {
    /// A batch of magic 2, with the fields that it claims.
    Batch(BatchHeader),
    /// A message or wrapper of magic 0 or 1. Its own offset is 0 if the one that was sent is negative.
    Message(RawMessage),
    /// Neither: magic 2 on a broker that does not know it (M5), or lengths that do not add up.
    Unreadable,
}

/// Where the entries can no longer be told apart.
#[derive(Debug)]
pub(super) struct NotEntries {
    /// At the very beginning.
    pub(super) first: bool,
    /// What is wrong, in Java's words.
    pub(super) text: String,
}

impl Sent {
    /// The entries of a records field. What is left at the end, too short for an entry, is dropped (R5).
    ///
    /// # Errors
    /// [`NotEntries`] if a length is below that of the shortest entry, or a magic is not one.
    pub(super) fn entries(release: Release, records: Bytes) -> Result<Vec<Self>, NotEntries> {
        let mut rest = records;
        let mut entries = Vec::new();
        while let Some(size) = whole(&rest).map_err(|text| NotEntries { first: entries.is_empty(), text })? {
            let entry = Self::read(release, rest.split_to(size));
            entries.push(entry.map_err(|text| NotEntries { first: entries.is_empty(), text })?);
        }
        Ok(entries)
    }

    /// Whether the entry is of this magic, or says so.
    pub(super) fn is_magic(&self, magic: i8) -> bool {
        self.bytes.get(MAGIC_AT) == Some(&magic.cast_unsigned())
    }

    /// The codec of the payload, whether the format has it or not.
    ///
    /// # Errors
    /// [`CodecError::Unknown`] for 5, 6 and 7.
    pub(super) fn codec(&self) -> Result<Codec, CodecError> {
        match &self.form {
            Form::Batch(header) => header.attributes.codec(),
            Form::Message(message) => Attributes(message.attributes.into()).codec(),
            Form::Unreadable => Ok(Codec::None),
        }
    }

    /// Whether the entry says that it belongs to a transaction.
    pub(super) fn is_transactional(&self) -> bool {
        matches!(&self.form, Form::Batch(header) if header.attributes.transactional())
    }

    fn read(release: Release, bytes: Bytes) -> Result<Self, String> {
        let magic = bytes.get(MAGIC_AT).map_or(0, |magic| magic.cast_signed());
        let offset = bytes.first_chunk().copied().map_or(0, i64::from_be_bytes);
        let form = match magic {
            2 if release.magic() == 2 => header(&bytes).map_or(Form::Unreadable, Form::Batch),
            0 | 1 => numbered(&bytes, offset).map_or(Form::Unreadable, Form::Message),
            // 0.10 knows of no other format: what it cannot read is a message.
            _ if release.magic() < 2 => Form::Unreadable,
            _ => return Err(format!("Invalid magic found in record: {magic}")),
        };
        Ok(Self { bytes, offset, form })
    }
}

/// The size of the entry that the bytes begin with, if all of it is there.
fn whole(bytes: &[u8]) -> Result<Option<usize>, String> {
    let Some([_, _, _, _, _, _, _, _, length @ ..]) = bytes.first_chunk::<PREFIX_BYTES>() else { return Ok(None) };
    let length = i32::from_be_bytes(*length);
    match usize::try_from(length) {
        Ok(length) if length >= ENTRY_LENGTH_MIN => {
            let size = PREFIX_BYTES.saturating_add(length);
            Ok((size <= bytes.len()).then_some(size))
        }
        _ => Err(format!("Record size {length} is less than the minimum record overhead ({ENTRY_LENGTH_MIN})")),
    }
}

/// A message whose offset may be negative, as some clients send it.
fn numbered(bytes: &Bytes, offset: i64) -> Option<RawMessage> {
    if offset >= 0 {
        return RawMessage::from_bytes(bytes.clone()).ok();
    }
    let mut zeroed = BytesMut::from(&bytes[..]);
    *zeroed.first_chunk_mut()? = 0_i64.to_be_bytes();
    RawMessage::from_bytes(zeroed.freeze()).ok()
}

/// The header of a batch, whatever its fields say; [`BatchHeader::parse`] refuses what a broker answers with an error.
fn header(bytes: &[u8]) -> Option<BatchHeader> {
    let head = bytes.first_chunk::<BATCH_HEADER_BYTES>()?;
    Some(BatchHeader {
        base_offset: i64::from_be_bytes(field(head, 0)),
        batch_length: i32::from_be_bytes(field(head, 8)),
        partition_leader_epoch: i32::from_be_bytes(field(head, 12)),
        magic: 2,
        crc: u32::from_be_bytes(field(head, 17)),
        attributes: Attributes(i16::from_be_bytes(field(head, 21))),
        last_offset_delta: i32::from_be_bytes(field(head, 23)),
        base_timestamp: i64::from_be_bytes(field(head, 27)),
        max_timestamp: i64::from_be_bytes(field(head, 35)),
        producer_id: i64::from_be_bytes(field(head, 43)),
        producer_epoch: i16::from_be_bytes(field(head, 51)),
        base_sequence: i32::from_be_bytes(field(head, 53)),
        records_count: i32::from_be_bytes(field(head, 57)),
    })
}

fn field<const N: usize>(head: &[u8; BATCH_HEADER_BYTES], at: usize) -> [u8; N] {
    // Every field lies within the header.
    head.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

/// Bytes before the length ends.
const PREFIX_BYTES: usize = 12;
/// Where the magic stands in every format.
const MAGIC_AT: usize = 16;
/// What the length of the shortest entry says: Java's `LegacyRecord.RECORD_OVERHEAD_V0`.
const ENTRY_LENGTH_MIN: usize = 14;
