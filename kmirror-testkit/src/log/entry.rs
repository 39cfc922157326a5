//! One entry of a log: a magic 2 batch, or one message of magic 0 or 1.
//!
//! ```text
//! +----------+----------+--------------------------------------------+
//! | offset 8 | length 4 | length bytes; magic at 16 of the entry     |
//! +----------+----------+--------------------------------------------+
//! magic 2: the offset is the first one, the last stands in the header
//! magic 0, 1: the offset is the message's; of a wrapper, that of its last message
//! ```
//!
//! What the log has to know of an entry is read from its header once, when it is made. Mirrors Java's `RecordBatch`.

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{BatchHeader, RecordError};

/// One entry as it lies in the log. Its offsets are final.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// All of it, the 12 bytes of offset and length included.
    pub bytes: Bytes,
    /// The first offset that it occupies. A wrapper does not say it: there it is the last one until the log has taken
    /// the entry, which knows where it put it.
    pub base_offset: i64,
    /// The last offset that it occupies.
    pub last_offset: i64,
    /// The largest timestamp of its records, in milliseconds; -1 for none.
    pub max_timestamp: i64,
    /// The partition's leader epoch as it is stored; -1 for magic 0 and 1.
    pub leader_epoch: i32,
    /// 0, 1 or 2.
    pub magic: i8,
    /// How its records are compressed; [`Codec::None`] of a plain message.
    pub codec: Codec,
    /// Who wrote it under which numbers, if it was an idempotent producer.
    pub producer: Option<Stamped>,
    /// The broker set the timestamp.
    pub append_time: bool,
    /// It belongs to a transaction.
    pub transactional: bool,
    /// It holds a control record, not data.
    pub control: bool,
    /// Its base timestamp is a delete horizon (KIP-534).
    pub delete_horizon: bool,
}

/// The producer's numbers on a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamped {
    /// The producer id, at least 0.
    pub id: i64,
    /// Its epoch, at least 0.
    pub epoch: i16,
    /// Sequence of the first record; -1 of a marker.
    pub first_sequence: i32,
    /// Sequence of the last record as the batch was written, past 2147483647 at 0 again; -1 of a marker.
    pub last_sequence: i32,
}

impl Entry {
    /// Takes exactly one entry. Neither the CRC nor the payload is looked at.
    ///
    /// # Errors
    /// [`RecordError`] if the header is not one, if the codec is unknown, or if the bytes are more or fewer than the
    /// length says.
    pub(crate) fn read(bytes: Bytes) -> Result<Self, RecordError> {
        let have = bytes.len();
        let magic = bytes.get(MAGIC_AT).map_or(0, |magic| magic.cast_signed());
        let (size, entry) = match magic {
            0 | 1 => message(bytes, magic)?,
            _ => batch(bytes)?,
        };
        match have.checked_sub(size) {
            Some(0) => Ok(entry),
            Some(left) => Err(RecordError::Trailing { what: "log entry", left }),
            None => Err(RecordError::Truncated { what: "log entry", need: size, have }),
        }
    }

    /// Bytes of it.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The first offset after it.
    pub(crate) fn next_offset(&self) -> i64 {
        self.last_offset.saturating_add(1)
    }

    /// A message of magic 0 or 1 that holds compressed ones.
    pub(crate) fn is_wrapper(&self) -> bool {
        self.magic < 2 && self.codec != Codec::None
    }
}

/// The sequence `count` records behind `first`: after 2147483647 comes 0.
pub(crate) fn sequence_after(first: i32, count: i32) -> i32 {
    // Both are at least 0, so that only bit 31 can be carried into.
    first.wrapping_add(count) & i32::MAX
}

fn batch(bytes: Bytes) -> Result<(usize, Entry), RecordError> {
    let header = BatchHeader::parse(&bytes)?;
    let producer = (header.producer_id >= 0 && header.producer_epoch >= 0).then(|| {
        let first_sequence = header.base_sequence;
        let last_sequence =
            if first_sequence < 0 { first_sequence } else { sequence_after(first_sequence, header.last_offset_delta) };
        Stamped { id: header.producer_id, epoch: header.producer_epoch, first_sequence, last_sequence }
    });
    let entry = Entry {
        bytes,
        base_offset: header.base_offset,
        last_offset: header.last_offset(),
        max_timestamp: header.max_timestamp,
        leader_epoch: header.partition_leader_epoch,
        magic: header.magic,
        codec: header.attributes.codec()?,
        producer,
        append_time: header.attributes.append_time(),
        transactional: header.attributes.transactional(),
        control: header.attributes.control(),
        delete_horizon: header.attributes.delete_horizon(),
    };
    Ok((header.size(), entry))
}

fn message(bytes: Bytes, magic: i8) -> Result<(usize, Entry), RecordError> {
    let what = "message header";
    let need = if magic == 0 { TIMESTAMP_AT } else { TIMESTAMP_AT + 8 };
    let Some(head) = bytes.get(..need) else {
        return Err(RecordError::Truncated { what, need, have: bytes.len() });
    };
    let attributes = head.get(MAGIC_AT + 1).copied().unwrap_or(0);
    let long = |at: usize| head.get(at..).and_then(|rest| rest.first_chunk()).copied().map_or(-1, i64::from_be_bytes);
    let length = head.get(8..).and_then(|rest| rest.first_chunk()).copied().map_or(0, i32::from_be_bytes);
    let (offset, out_of_range) = (long(0), |what, value| Err(RecordError::Range { what, value }));
    let size = match usize::try_from(length) {
        Ok(length) if length >= LENGTH_MIN => length + PREFIX_BYTES,
        _ => return out_of_range("message size", length.into()),
    };
    if offset < 0 {
        return out_of_range("message offset", offset);
    }
    let entry = Entry {
        base_offset: offset,
        last_offset: offset,
        max_timestamp: if magic == 0 { -1 } else { long(TIMESTAMP_AT) },
        leader_epoch: -1,
        magic,
        codec: Codec::from_id(attributes & 0x07)?,
        producer: None,
        append_time: magic == 1 && attributes & 0x08 != 0,
        transactional: false,
        control: false,
        delete_horizon: false,
        bytes,
    };
    Ok((size, entry))
}

/// Bytes of offset and length.
pub(super) const PREFIX_BYTES: usize = 12;
/// Where the magic stands, in every format.
const MAGIC_AT: usize = 16;
/// Where the timestamp of a magic 1 message stands, and the key of a magic 0 one.
const TIMESTAMP_AT: usize = 18;
/// What the length of the shortest message says.
const LENGTH_MIN: usize = 14;

#[cfg(test)]
mod tests {
    use kmirror_proto::records::{BatchBuilder, HeadersSource, MessageFormat, MessageSetBuilder, Stamp};

    use super::*;

    fn built(codec: Codec) -> Bytes {
        let mut builder = BatchBuilder::new(codec, None);
        for timestamp in [1000, 3000, 2000] {
            builder.push(timestamp, None, Some(b"v"), HeadersSource::None).unwrap();
        }
        builder.finish(Stamp { producer_id: 7, producer_epoch: 1, base_sequence: i32::MAX - 1 }).unwrap()
    }

    #[test]
    fn a_batch_says_what_its_header_says_and_sequences_wrap() {
        let mut bytes = built(Codec::Gzip).to_vec();
        bytes[0..8].copy_from_slice(&40_i64.to_be_bytes());
        let entry = Entry::read(Bytes::from(bytes)).unwrap();
        assert_eq!((entry.base_offset, entry.last_offset, entry.next_offset()), (40, 42, 43));
        assert_eq!((entry.magic, entry.codec, entry.max_timestamp), (2, Codec::Gzip, 3000));
        let stamp = Stamped { id: 7, epoch: 1, first_sequence: i32::MAX - 1, last_sequence: 0 };
        assert_eq!(entry.producer, Some(stamp));
    }

    #[test]
    fn a_message_of_either_magic_is_an_entry_with_one_offset() {
        let mut builder = MessageSetBuilder::new(MessageFormat::V1, Codec::Gzip);
        builder.push(5, None, Some(b"v")).unwrap();
        builder.push(9, None, Some(b"v")).unwrap();
        let wrapper = Entry::read(builder.finish().unwrap()).unwrap();
        assert_eq!((wrapper.magic, wrapper.codec, wrapper.max_timestamp), (1, Codec::Gzip, 9));
        assert_eq!((wrapper.base_offset, wrapper.last_offset, wrapper.is_wrapper()), (1, 1, true));
        // Magic 0 has no timestamp: key and value follow the attributes.
        let mut old = vec![0; 26];
        old[7] = 3;
        old[11] = 14;
        let old = Entry::read(Bytes::from(old)).unwrap();
        assert_eq!((old.magic, old.last_offset, old.max_timestamp, old.is_wrapper()), (0, 3, -1, false));
    }

    #[test]
    fn bytes_must_be_one_entry_exactly() {
        let bytes = built(Codec::None);
        for len in 0..bytes.len() {
            assert!(Entry::read(bytes.slice(..len)).is_err(), "{len}");
        }
        let longer = Bytes::from([&bytes[..], &[0]].concat());
        assert_eq!(Entry::read(longer).unwrap_err(), RecordError::Trailing { what: "log entry", left: 1 });
    }
}
