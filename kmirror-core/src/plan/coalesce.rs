//! Joining: tiny batches that wait behind one another become one.
//!
//! ```text
//! waiting     [ 0 1 2 ] [ 3 ] [ 4 5 ]      one request takes one of them (fact R4)
//!                  │      │      │
//!                  ▼      ▼      ▼
//! written     [ 0 1 2    3     4 5 ]       dense deltas; timestamps, headers and the codec as they came
//! ```
//!
//! A request takes one batch of a partition, so five requests, one round trip and one record in each batch are five records
//! a round trip, however fast both clusters are. Nothing waits to be joined: only what has to wait anyway is.

use kmirror_proto::compress::{Codec, Decompressor};
use kmirror_proto::records::{BatchBuilder, HeadersSource, RawBatch, RecordError, Records, Stamp};

use super::look::room;
use super::view::TopicLimits;
use crate::limits::TINY_BATCH_BYTES;

/// Joins batches for every lane of a shard; its buffers and the codecs' contexts live as long as that.
#[derive(Debug, Default)]
pub struct Joiner {
    decompressor: Decompressor,
    /// One for each codec that was met.
    builders: Vec<(Codec, BatchBuilder)>,
}

/// What became of the batches that could be joined.
#[derive(Clone, Debug)]
pub struct Joined {
    /// All their records, without a stamp.
    pub batch: RawBatch,
    /// How many of the batches are in it, at least two.
    pub batches: usize,
}

/// How large a joined batch may become, in bytes before compression: as large as one that is built again.
#[must_use]
pub fn joined_bytes_max(batch_bytes_max: usize, limits: &TopicLimits) -> usize {
    batch_bytes_max.min(limits.batch_bytes_max.map_or(usize::MAX, room))
}

impl Joiner {
    /// Joins as many of `batches` as fit into `bytes_max` bytes before compression, from the first one on; `None` if that
    /// is not even two. It ends in front of a batch that is not tiny, has another codec, is damaged or does not parse:
    /// such a one goes as it is, and whoever takes it says what is wrong with it.
    pub fn join<'a>(
        &mut self,
        batches: impl Iterator<Item = &'a RawBatch> + Clone,
        bytes_max: usize,
    ) -> Option<Joined> {
        let codec = batches.clone().next()?.header.attributes.codec().ok()?;
        let batches = batches
            .take_while(|batch| batch.bytes().len() < TINY_BATCH_BYTES && batch.header.attributes.codec() == Ok(codec));
        batches.clone().nth(1)?;
        let known = self.builders.iter().position(|(of, _)| *of == codec);
        let (_, mut builder) = match known {
            Some(at) => self.builders.swap_remove(at),
            None => (codec, BatchBuilder::new(codec, None)),
        };
        let mut taken = 0;
        for batch in batches {
            let left = bytes_max.saturating_sub(builder.bytes());
            let Some(records) = fitting(&mut self.decompressor, batch, left) else { break };
            append(&mut builder, batch, &records).ok()?;
            taken += 1;
        }
        // A single one goes as it is. What a builder holds that ends here is nobody's, and goes with it.
        if taken == 1 {
            return None;
        }
        let built =
            if taken > 1 { Some(builder.finish(Stamp::NONE).and_then(RawBatch::from_bytes).ok()?) } else { None };
        self.builders.push((codec, builder));
        Some(Joined { batch: built?, batches: taken })
    }
}

/// The records of a batch that may be joined with those before it, if they fit into `left` bytes.
fn fitting(decompressor: &mut Decompressor, batch: &RawBatch, left: usize) -> Option<Records> {
    // A checksum is never computed over bytes that were not what they should be (report B17), whatever `check.crcs` says.
    if !batch.crc_ok() {
        return None;
    }
    let records = Records::with(decompressor, batch, left).ok()?;
    let bytes = records.len().saturating_mul(GROWTH_OF_A_RECORD).saturating_add(records.payload().len());
    (bytes <= left && records.iter().all(|record| record.is_ok())).then_some(records)
}

fn append(builder: &mut BatchBuilder, batch: &RawBatch, records: &Records) -> Result<(), RecordError> {
    for record in records {
        let record = record?;
        let timestamp = batch.header.timestamp_of(&record);
        builder.push(timestamp, record.key, record.value, HeadersSource::from(record.headers))?;
    }
    Ok(())
}

/// Offset and timestamp deltas count from another record now: by so many bytes a record can grow, its length included.
const GROWTH_OF_A_RECORD: usize = 16;
