//! The records of one entry, whatever its format.

use kmirror_proto::compress::Decompressor;
use kmirror_proto::records::{BatchHeader, Headers, Messages, RawBatch, RawMessage, RecordError, Records};

use crate::limits::DECOMPRESSED_BYTES_MAX;
use crate::log::Entry;

/// An entry whose payload is decompressed: its records can be walked more than once.
#[derive(Debug)]
pub(crate) enum Opened {
    /// A batch of magic 2.
    Batch(BatchHeader, Records),
    /// A message of magic 0 or 1, or what is in a wrapper.
    Messages(Messages),
}

/// One record, borrowed from its entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnyRecord<'a> {
    /// Its offset: the absolute one of a stored entry, the one that stands there of a sent one.
    pub offset: i64,
    /// Milliseconds since 1970; -1 for none, as always in magic 0.
    pub timestamp: i64,
    /// `None` is null.
    pub key: Option<&'a [u8]>,
    /// `None` is null.
    pub value: Option<&'a [u8]>,
    /// None before magic 2.
    pub headers: Headers<'a>,
}

impl Opened {
    /// An entry of a log.
    ///
    /// # Errors
    /// [`RecordError`] if it does not decompress, or is not what its header says.
    pub(crate) fn stored(entry: &Entry) -> Result<Self, RecordError> {
        if entry.magic == 2 {
            return Self::batch(&RawBatch::from_bytes(entry.bytes.clone())?);
        }
        let message = RawMessage::from_bytes(entry.bytes.clone())?;
        Messages::with(&mut Decompressor::new(), &message, DECOMPRESSED_BYTES_MAX).map(Self::Messages)
    }

    /// A batch of magic 2, sent or stored.
    ///
    /// # Errors
    /// [`RecordError`] if it does not decompress, or cannot hold as many records as it counts.
    pub(crate) fn batch(batch: &RawBatch) -> Result<Self, RecordError> {
        Records::of(batch, DECOMPRESSED_BYTES_MAX).map(|records| Self::Batch(batch.header, records))
    }

    /// A message or wrapper as a producer sent it, whatever its offsets are.
    ///
    /// # Errors
    /// [`RecordError`] if it does not decompress, or there is no message in it.
    pub(crate) fn sent(message: &RawMessage) -> Result<Self, RecordError> {
        Messages::as_sent(&mut Decompressor::new(), message, DECOMPRESSED_BYTES_MAX).map(Self::Messages)
    }

    /// Hands every record to `each`, in order.
    ///
    /// # Errors
    /// [`RecordError`] if the payload does not parse: nested wrappers, another magic inside, lengths that do not add up;
    /// or what `each` returns.
    pub(crate) fn each<E: From<RecordError>>(
        &self,
        mut each: impl FnMut(AnyRecord<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Batch(header, records) => {
                for record in records {
                    let record = record?;
                    each(AnyRecord {
                        offset: header.offset_of(&record),
                        timestamp: header.timestamp_of(&record),
                        key: record.key,
                        value: record.value,
                        headers: record.headers,
                    })?;
                }
            }
            Self::Messages(messages) => {
                for message in messages {
                    let message = message?;
                    each(AnyRecord {
                        offset: message.offset,
                        timestamp: message.timestamp,
                        key: message.key,
                        value: message.value,
                        headers: Headers::NONE,
                    })?;
                }
            }
        }
        Ok(())
    }
}
