//! What tests put into a cluster's logs and read out of them, without a client.

use bytes::Bytes;
use kmirror_proto::ErrorCode;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{BatchBuilder, HeadersSource, MessageFormat, MessageSetBuilder, RecordError, Stamp};

use super::{Cluster, NoSuch};
use crate::accept::{Offered, Refusal, accept};
use crate::convert::Opened;
use crate::{Now, Release};

/// One record, borrowed from the log or from whoever writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its offset; of no account when it is written.
    pub offset: i64,
    /// Milliseconds since 1970, -1 for none.
    pub timestamp: i64,
    /// `None` is null.
    pub key: Option<&'a [u8]>,
    /// `None` is null.
    pub value: Option<&'a [u8]>,
    /// Names and nullable values in order; magic 0 and 1 have no place for them.
    pub headers: &'a [(&'a [u8], Option<&'a [u8]>)],
}

impl<'a> Record<'a> {
    /// A record with a value and nothing else; with more, it is `Record { key: Some(b"key"), ..Record::of(…) }`.
    ///
    /// Mind the retention when you choose the timestamp, in milliseconds since 1970.
    #[must_use]
    pub const fn of(timestamp: i64, value: &'a [u8]) -> Self {
        Self { offset: 0, timestamp, key: None, value: Some(value), headers: &[] }
    }
}

/// Why records could not be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentsError {
    /// The partition is not there.
    #[error(transparent)]
    NoSuch(#[from] NoSuch),
    /// They cannot be built, or what is stored cannot be read.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// The broker does not take them, as it would tell a producer.
    #[error("refused: {0}")]
    Refused(ErrorCode),
}

impl Cluster {
    /// Appends records to a partition as one batch in the release's newest format, as a producer without an id would, and
    /// returns the offset of the first. An empty iterator appends nothing.
    ///
    /// # Errors
    /// [`ContentsError`].
    pub fn write<'a>(
        &mut self,
        now: Now,
        topic: &str,
        partition: i32,
        codec: Codec,
        records: impl IntoIterator<Item = Record<'a>>,
    ) -> Result<i64, ContentsError> {
        let release = self.release;
        let name = format!("{topic}-{partition}");
        let index = partition;
        let found = self.partition_mut(topic, index);
        let (partition, settings) = found.ok_or_else(|| NoSuch::new("partition", &name))?;
        let built = if release.magic() < 2 { messages(codec, records)? } else { batch(codec, records)? };
        let Some(records) = built else { return Ok(partition.log.end()) };
        let accepted = accept(&mut Offered {
            release,
            version: produce_version(release),
            settings,
            topic,
            partition: index,
            now,
            records: Some(records),
            next_offset: partition.log.end(),
            leader_epoch: partition.leader_epoch,
            transactional_id: None,
        });
        let accepted = accepted.map_err(|refusal| match refusal {
            Refusal::Code { code, .. } => ContentsError::Refused(code),
            Refusal::Disconnect | Refusal::Silence => ContentsError::Refused(ErrorCode::UNKNOWN_SERVER_ERROR),
        })?;
        let appended = partition.log.append(now, settings, partition.leader_epoch, accepted.entries);
        let base_offset = appended.map_err(|refused| ContentsError::Refused(refused.code))?.base_offset;
        partition.replicate();
        self.waits.change();
        self.settle();
        Ok(base_offset)
    }

    /// Has a partition begin at `before`, or at its high watermark if that is earlier, as retention and DeleteRecords do:
    /// what stood in front is gone. It never begins earlier again.
    ///
    /// # Errors
    /// There is no such partition.
    pub fn delete_records(&mut self, topic: &str, partition: i32, before: i64) -> Result<(), NoSuch> {
        let name = format!("{topic}-{partition}");
        let (partition, _) = self.partition_mut(topic, partition).ok_or_else(|| NoSuch::new("partition", &name))?;
        partition.log.delete_records(before.min(partition.high_watermark()));
        self.waits.change();
        self.settle();
        Ok(())
    }

    /// Hands every record of a partition to `each`, in order: also those of open and aborted transactions, but no markers.
    ///
    /// # Errors
    /// [`ContentsError`].
    pub fn read(&self, topic: &str, partition: i32, mut each: impl FnMut(Record<'_>)) -> Result<(), ContentsError> {
        let found = self.partition(topic, partition);
        let found = found.ok_or_else(|| NoSuch::new("partition", &format!("{topic}-{partition}")))?;
        for entry in found.log.entries(found.log.start()).filter(|entry| !entry.control) {
            Opened::stored(entry)?.each(|record| {
                let headers = record.headers.iter().collect::<Vec<_>>();
                each(Record {
                    offset: record.offset,
                    timestamp: record.timestamp,
                    key: record.key,
                    value: record.value,
                    headers: &headers,
                });
                Ok::<(), RecordError>(())
            })?;
        }
        Ok(())
    }
}

/// The Produce version of the release's newest format.
const fn produce_version(release: Release) -> i16 {
    match release.magic() {
        0 | 1 => 2,
        // The first that takes every codec; the format does not depend on it.
        _ => 7,
    }
}

fn batch<'a>(codec: Codec, records: impl IntoIterator<Item = Record<'a>>) -> Result<Option<Bytes>, RecordError> {
    let mut builder = BatchBuilder::new(codec, None);
    for record in records {
        builder.push(record.timestamp, record.key, record.value, HeadersSource::List(record.headers))?;
    }
    if builder.is_empty() { Ok(None) } else { builder.finish(Stamp::NONE).map(Some) }
}

fn messages<'a>(codec: Codec, records: impl IntoIterator<Item = Record<'a>>) -> Result<Option<Bytes>, RecordError> {
    let mut builder = MessageSetBuilder::new(MessageFormat::V1, codec);
    for record in records {
        builder.push(record.timestamp, record.key, record.value)?;
    }
    if builder.is_empty() { Ok(None) } else { builder.finish().map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written is read back, in every format and codec that the release has.
    #[test]
    fn what_is_written_is_read_back() {
        for release in Release::ALL {
            let mut cluster = Cluster::builder(release).build().unwrap();
            cluster.create_topic("t", 1);
            let now = Now { unix_ms: 1_700_000_000_000, ..Now::default() };
            let codecs = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4];
            for (n, codec) in codecs.into_iter().enumerate() {
                let values = [[0_u8, 1], [2, 3], [4, 5]];
                let records = values.iter().map(|value| Record::of(now.unix_ms, value));
                let base = cluster.write(now, "t", 0, codec, records);
                assert_eq!(base, Ok(3 * i64::try_from(n).unwrap()), "{release} {codec:?}");
            }
            let mut read = Vec::new();
            cluster.read("t", 0, |record| read.push((record.offset, record.value.unwrap()[0]))).unwrap();
            assert_eq!(read.len(), 12, "{release}");
            assert_eq!(read[9..], [(9, 0), (10, 2), (11, 4)], "{release}");
        }
    }

    #[test]
    fn a_partition_begins_later() {
        let mut cluster = Cluster::builder(Release::V2_0).build().unwrap();
        cluster.create_topic("t", 1);
        let value = [7_u8];
        let record = Record { offset: 0, timestamp: -1, key: None, value: Some(&value), headers: &[] };
        cluster.write(Now::default(), "t", 0, Codec::None, [record; 5]).unwrap();
        for (before, start) in [(2, 2), (1, 2), (-1, 2), (9, 5)] {
            cluster.delete_records("t", 0, before).unwrap();
            assert_eq!(cluster.offsets("t", 0), Ok((start, 5)), "{before}");
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        let mut cluster = Cluster::builder(Release::V2_0).build().unwrap();
        let refused = cluster.write(Now::default(), "absent", 3, Codec::None, []).unwrap_err();
        assert_eq!(refused.to_string(), "no such partition: absent-3");
    }
}
