//! The entries of a records field as a producer sent them: nothing about them is known to be true.

use bytes::Bytes;
use kmirror_proto::compress::{Codec, CodecError};
use kmirror_proto::records::{Attributes, BATCH_HEADER_BYTES, BatchHeader, RawMessage};

use crate::Release;

/// One entry.
#[derive(Debug)]
pub(super) struct Sent {
    /// The whole entry, its 12 bytes of offset and length included.
    pub(super) bytes: Bytes,
    /// What it is.
    pub(super) form: Form,
}

/// The formats.
#[derive(Debug)]
pub(super) enum Form {
    /// A batch of magic 2, with the fields that it claims.
    Batch(BatchHeader),
    /// A message or wrapper of magic 0 or 1.
    Message(RawMessage),
    /// Neither, so that its checksum cannot be right: magic 2 on a broker that does not know it (M5), or lengths that
    /// do not add up.
    Unreadable,
}

/// The entries could not be told apart.
#[derive(Debug)]
pub(super) struct NotEntries;

impl Sent {
    /// The entries of a records field. What is left at the end, too short for an entry, is dropped (R5).
    ///
    /// # Errors
    /// [`NotEntries`] if a length is below that of the shortest entry, or a magic is not one.
    pub(super) fn entries(release: Release, records: Bytes) -> Result<Vec<Self>, NotEntries> {
        let mut rest = records;
        let mut entries = Vec::new();
        while let Some(size) = whole(&rest)? {
            entries.push(Self::read(release, rest.split_to(size))?);
        }
        Ok(entries)
    }

    /// Whether the entry is of this magic.
    pub(super) fn is_magic(&self, magic: i8) -> bool {
        match &self.form {
            Form::Batch(_) => magic == 2,
            Form::Message(message) => message.magic == magic,
            Form::Unreadable => false,
        }
    }

    /// The codec of the payload.
    pub(super) fn codec(&self) -> Result<Codec, CodecError> {
        match &self.form {
            Form::Batch(header) => header.attributes.codec(),
            Form::Message(message) => message.codec(),
            Form::Unreadable => Ok(Codec::None),
        }
    }

    /// Whether the entry says that it belongs to a transaction.
    pub(super) fn is_transactional(&self) -> bool {
        matches!(&self.form, Form::Batch(header) if header.attributes.transactional())
    }

    fn read(release: Release, bytes: Bytes) -> Result<Self, NotEntries> {
        let form = match bytes.get(MAGIC_AT) {
            Some(2) if release.magic() == 2 => header(&bytes).map_or(Form::Unreadable, Form::Batch),
            Some(0 | 1) => RawMessage::from_bytes(bytes.clone()).map_or(Form::Unreadable, Form::Message),
            Some(_) if release.magic() < 2 => Form::Unreadable,
            _ => return Err(NotEntries),
        };
        Ok(Self { bytes, form })
    }
}

/// The size of the entry that the bytes begin with, if all of it is there.
fn whole(bytes: &[u8]) -> Result<Option<usize>, NotEntries> {
    let Some([_, _, _, _, _, _, _, _, length @ ..]) = bytes.first_chunk::<PREFIX_BYTES>() else { return Ok(None) };
    let length = usize::try_from(i32::from_be_bytes(*length)).map_err(|_| NotEntries)?;
    if length < ENTRY_LENGTH_MIN {
        return Err(NotEntries);
    }
    let size = PREFIX_BYTES.saturating_add(length);
    Ok((size <= bytes.len()).then_some(size))
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
