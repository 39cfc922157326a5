//! One partition's log in memory.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{AbortedTransaction, FetchPartition, FetchedPartition};
use kmirror_proto::records::{Entry, RawBatch, rewrap, split, wrapper_shape};

use super::broker::{Release, refused};
use super::{Seen, joined, records_of};
use crate::plan::next_offset;

/// A log and what its leader remembers of producers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) entries: Vec<Bytes>,
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// Where an open transaction keeps read_committed readers.
    pub(crate) stable: Option<i64>,
    pub(crate) aborted: Vec<AbortedTransaction>,
    /// Every fetch is refused so.
    pub(crate) says: Option<ErrorCode>,
    /// Every fetch is answered with the first entry.
    pub(crate) stuck: bool,
    producers: BTreeMap<i64, Remembered>,
}

/// The newest batches of one producer.
#[derive(Clone, Debug, Default)]
struct Remembered {
    epoch: i16,
    /// (first sequence, last sequence, base offset), the newest one last.
    batches: VecDeque<(i32, i32, i64)>,
}

impl Log {
    /// Puts an entry at the end, as it is: for sources.
    pub(crate) fn put(&mut self, bytes: Bytes) {
        self.end = next_offset(&split(bytes.clone()).next().unwrap().unwrap()).unwrap();
        self.entries.push(bytes);
    }

    /// Every record that is there, markers too.
    pub(crate) fn records(&self) -> Vec<Seen> {
        records_of(joined(&self.entries))
    }

    /// The values in order.
    pub(crate) fn values(&self) -> Vec<String> {
        self.records().into_iter().filter_map(|seen| seen.value).collect()
    }

    /// Retention, or deletion, up to an offset.
    pub(crate) fn delete_up_to(&mut self, offset: i64) {
        self.start = offset;
        self.entries.retain(|bytes| next_offset(&split(bytes.clone()).next().unwrap().unwrap()) > Some(offset));
    }

    /// What a restart does to a producer whose records are old (fact E1).
    pub(crate) fn forget_producers(&mut self) {
        self.producers.clear();
    }

    pub(super) fn fetch(&self, ask: &FetchPartition, room: usize, first: bool, committed: bool) -> FetchedPartition {
        if let Some(code) = self.says {
            return refused(ask.partition, code);
        }
        if ask.fetch_offset < self.start || ask.fetch_offset > self.end {
            return refused(ask.partition, ErrorCode::OFFSET_OUT_OF_RANGE);
        }
        let stable = self.stable.unwrap_or(self.end);
        if self.stuck {
            let mut answer = refused(ask.partition, ErrorCode::NONE);
            (answer.high_watermark, answer.records) = (self.end, self.entries.first().cloned());
            return answer;
        }
        let limit = if committed { stable } else { self.end };
        let bytes_max = usize::try_from(ask.partition_max_bytes).unwrap().min(room);
        let mut records: Vec<u8> = Vec::new();
        for bytes in &self.entries {
            let next = next_offset(&split(bytes.clone()).next().unwrap().unwrap()).unwrap();
            if next <= ask.fetch_offset || next > limit {
                continue;
            }
            let fits = records.len() + bytes.len() <= bytes_max || (first && records.is_empty());
            if !fits {
                break;
            }
            records.extend_from_slice(bytes);
        }
        FetchedPartition {
            partition_index: ask.partition,
            error_code: ErrorCode::NONE,
            high_watermark: self.end,
            last_stable_offset: stable,
            log_start_offset: self.start,
            aborted_transactions: committed.then(|| self.aborted.clone()),
            records: Some(records.into()),
            ..FetchedPartition::default()
        }
    }

    /// Appends a set as a leader of `release` does; the base offset that it got.
    pub(super) fn append(&mut self, release: Release, bytes_max: usize, records: Bytes) -> Result<i64, ErrorCode> {
        if release >= Release::V2_0 {
            let batch = RawBatch::from_bytes(records).map_err(|_| ErrorCode::CORRUPT_MESSAGE)?;
            return self.append_batch(release, bytes_max, &batch);
        }
        let base = self.end;
        let entries: Vec<Entry> = split(records).collect::<Result<_, _>>().map_err(|_| ErrorCode::CORRUPT_MESSAGE)?;
        let wrappers = entries.iter().filter(|entry| super::is_wrapper(entry)).count();
        assert!(wrappers == 0 || entries.len() == 1, "fact R4: a wrapper goes alone");
        // All or nothing.
        if entries.iter().any(|entry| matches!(entry, Entry::Message(message) if message.bytes().len() > bytes_max)) {
            return Err(ErrorCode::MESSAGE_TOO_LARGE);
        }
        for entry in entries {
            let Entry::Message(message) = entry else { return Err(ErrorCode::CORRUPT_MESSAGE) };
            assert!(message.crc_ok() && message.magic == 1);
            let shape = wrapper_shape(&message, 1 << 26).map_err(|_| ErrorCode::CORRUPT_MESSAGE)?;
            assert!(shape.is_kept(), "fact M2: it would be compressed again");
            let records = i64::try_from(shape.records).unwrap();
            let (offset, rest) = rewrap(&message, self.end + records - 1);
            self.entries.push(joined(&[Bytes::copy_from_slice(&offset), rest]));
            self.end += records;
        }
        Ok(base)
    }

    fn append_batch(&mut self, release: Release, bytes_max: usize, batch: &RawBatch) -> Result<i64, ErrorCode> {
        let header = &batch.header;
        assert_eq!(header.base_offset, 0, "fact R2");
        assert!(!header.attributes.transactional() && !header.attributes.control(), "fact R6, R7");
        assert!(!header.attributes.append_time(), "fact R8");
        assert_eq!(header.records_count, header.last_offset_delta + 1, "fact R3");
        if !batch.crc_ok() {
            return Err(ErrorCode::CORRUPT_MESSAGE);
        }
        if batch.bytes().len() > bytes_max {
            return Err(ErrorCode::MESSAGE_TOO_LARGE);
        }
        if header.producer_id >= 0 {
            let (first, count) = (header.base_sequence, header.records_count);
            let last = i32::try_from((i64::from(first) + i64::from(count) - 1) % (1 << 31)).unwrap();
            let known = self.producers.get(&header.producer_id);
            if let Some(base) = in_turn(release, known, header.producer_epoch, first, last)? {
                return Ok(base);
            }
            let remembered = self.producers.entry(header.producer_id).or_default();
            if remembered.epoch != header.producer_epoch {
                *remembered = Remembered { epoch: header.producer_epoch, batches: VecDeque::new() };
            }
            remembered.batches.push_back((first, last, self.end));
            if remembered.batches.len() > 5 {
                remembered.batches.pop_front();
            }
        }
        let mut stored = batch.bytes().to_vec();
        stored[..8].copy_from_slice(&self.end.to_be_bytes());
        let base = self.end;
        self.end += i64::from(header.records_count);
        self.entries.push(stored.into());
        Ok(base)
    }
}

/// fact R13: the offset of the batch that this one repeats, or nothing if it is the next one.
fn in_turn(
    release: Release,
    known: Option<&Remembered>,
    epoch: i16,
    first: i32,
    last: i32,
) -> Result<Option<i64>, ErrorCode> {
    let Some(known) = known else {
        let refuses = release == Release::V2_0 && first != 0;
        return if refuses { Err(ErrorCode::UNKNOWN_PRODUCER_ID) } else { Ok(None) };
    };
    if epoch < known.epoch {
        return Err(ErrorCode::INVALID_PRODUCER_EPOCH);
    }
    if epoch > known.epoch {
        return if first == 0 { Ok(None) } else { Err(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER) };
    }
    if let Some((_, _, base)) = known.batches.iter().find(|(a, b, _)| (*a, *b) == (first, last)) {
        return Ok(Some(*base));
    }
    let next = known.batches.back().map_or(0, |(_, last, _)| last.wrapping_add(1) & i32::MAX);
    if first == next { Ok(None) } else { Err(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER) }
}
