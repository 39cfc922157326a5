//! What a partition's leader remembers of the producers that wrote to it, and what it refuses for that.
//!
//! ```text
//!  id ─► epoch │ the last batches: sequences and offsets │ newest timestamp │ open transaction
//!              │ 0.11: one · later: five                  │ aged by it
//! ```
//!
//! R13 and the measurements on producer ids; every rule has its test in `tests/producers.rs`. KIP-98, KIP-360.
//! Java: `ProducerStateManager`, `ProducerAppendInfo`.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use kmirror_proto::ErrorCode;

use super::{Entry, Stamped};
use crate::{Now, Release};

/// The producers of one partition.
#[derive(Clone, Debug)]
pub(crate) struct Producers {
    release: Release,
    known: BTreeMap<i64, Producer>,
    /// When the producers are next looked through for old ones, on the monotonic clock.
    next_look: Option<Duration>,
}

/// One producer.
#[derive(Clone, Debug)]
pub(crate) struct Producer {
    /// Its epoch.
    pub epoch: i16,
    /// Its last batches under this epoch, oldest first.
    batches: VecDeque<Written>,
    /// The timestamp of the last batch or marker, in milliseconds.
    pub last_timestamp: i64,
    /// The epoch of the coordinator that last ended a transaction of it, -1 for none.
    pub coordinator_epoch: i32,
    /// Where its open transaction begins.
    pub open_from: Option<i64>,
}

/// A batch that is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    first_sequence: i32,
    last_sequence: i32,
    /// Where it begins in the log.
    pub base_offset: i64,
    /// Where it ends in the log.
    pub last_offset: i64,
    /// The largest timestamp of its records.
    pub timestamp: i64,
}

impl Producers {
    /// Nobody is known.
    pub(crate) fn new(release: Release) -> Self {
        Self { release, known: BTreeMap::new(), next_look: None }
    }

    /// What is known of a producer.
    pub(crate) fn get(&self, id: i64) -> Option<&Producer> {
        self.known.get(&id)
    }

    /// All of them, by id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i64, &Producer)> {
        self.known.iter().map(|(id, producer)| (*id, producer))
    }

    /// Whether a client's batch may be appended; `Some` if it has been appended before.
    ///
    /// # Errors
    /// 45, 47, 48 or 59.
    pub(crate) fn check(&self, entry: &Entry) -> Result<Option<Written>, ErrorCode> {
        let Some(stamp) = entry.producer else { return Ok(None) };
        let Some(producer) = self.known.get(&stamp.id) else {
            return self.check_unknown(stamp).map(|()| None);
        };
        if let Some(written) = producer.repeated(stamp) {
            return Ok(Some(written));
        }
        if stamp.epoch < producer.epoch {
            return Err(ErrorCode::INVALID_PRODUCER_EPOCH);
        }
        self.check_sequence(producer, stamp)?;
        if producer.open_from.is_some() && !entry.transactional {
            return Err(ErrorCode::INVALID_TXN_STATE);
        }
        Ok(None)
    }

    /// Remembers a batch of data that was appended.
    pub(crate) fn wrote(&mut self, entry: &Entry) {
        let Some(stamp) = entry.producer else { return };
        let batches_max = if self.release == Release::V0_11 { 1 } else { BATCHES_MAX };
        let producer = self.producer(stamp);
        producer.batches.push_back(Written {
            first_sequence: stamp.first_sequence,
            last_sequence: stamp.last_sequence,
            base_offset: entry.base_offset,
            last_offset: entry.last_offset,
            timestamp: entry.max_timestamp,
        });
        while producer.batches.len() > batches_max {
            producer.batches.pop_front();
        }
        producer.last_timestamp = entry.max_timestamp;
        if entry.transactional {
            producer.open_from.get_or_insert(entry.base_offset);
        }
    }

    /// Remembers that a marker was appended; gives where the transaction began that it ended.
    pub(crate) fn ended(&mut self, stamp: Stamped, timestamp: i64, coordinator_epoch: i32) -> Option<i64> {
        let producer = self.producer(stamp);
        producer.last_timestamp = timestamp;
        producer.coordinator_epoch = coordinator_epoch;
        producer.open_from.take()
    }

    /// Every ten minutes those are forgotten whose last timestamp is too old, however long ago they were written.
    pub(crate) fn age(&mut self, now: Now) {
        match self.next_look {
            Some(next) if now.elapsed < next => return,
            Some(_) => self.forget_old(now.unix_ms),
            None => {}
        }
        self.next_look = Some(now.after(LOOK_EVERY));
    }

    /// Forgets those whose last timestamp is too old.
    pub(crate) fn forget_old(&mut self, now_ms: i64) {
        let age_max = if self.release >= Release::V3_9 { DAY_MS } else { 7 * DAY_MS };
        let stays = |producer: &Producer| {
            producer.open_from.is_some() || now_ms.saturating_sub(producer.last_timestamp) < age_max
        };
        self.known.retain(|_, producer| stays(producer));
    }

    /// Of each only the last batch is known from here on: all that a snapshot, or a log that is read again, says.
    pub(crate) fn forget_all_but_last(&mut self) {
        for producer in self.known.values_mut() {
            let last = producer.batches.pop_back();
            producer.batches = last.into_iter().collect();
        }
    }

    /// Before the log is read again: what it cannot say any more is kept, if this release keeps it at all.
    pub(crate) fn forget_from(&mut self, start: i64) {
        self.known.retain(|_, producer| producer.last_offset().is_some_and(|last| last < start));
        self.known.values_mut().for_each(|producer| producer.open_from = None);
    }

    /// The log begins later than before: up to 2.3 producers without a batch are forgotten (KAFKA-7190). Gives where
    /// their open transactions began.
    pub(crate) fn start_moved(&mut self, start: i64) -> Vec<i64> {
        if self.release >= Release::V2_4 {
            return Vec::new();
        }
        let mut evicted = Vec::new();
        self.known.retain(|_, producer| {
            producer.batches.retain(|batch| batch.last_offset >= start);
            if producer.batches.is_empty() {
                evicted.extend(producer.open_from);
            }
            !producer.batches.is_empty()
        });
        evicted
    }

    /// The producer under this epoch, which it has from now on.
    fn producer(&mut self, stamp: Stamped) -> &mut Producer {
        let producer = self.known.entry(stamp.id).or_insert_with(|| Producer::new(stamp.epoch));
        if producer.epoch != stamp.epoch {
            producer.epoch = stamp.epoch;
            producer.batches.clear();
        }
        producer
    }

    /// A producer of which nothing is known begins at 0; from 2.5 on wherever it likes (KIP-360).
    fn check_unknown(&self, stamp: Stamped) -> Result<(), ErrorCode> {
        if stamp.first_sequence == 0 || self.release >= Release::V2_8 {
            return Ok(());
        }
        let code = if self.release == Release::V0_11 {
            ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER
        } else {
            ErrorCode::UNKNOWN_PRODUCER_ID
        };
        Err(code)
    }

    fn check_sequence(&self, producer: &Producer, stamp: Stamped) -> Result<(), ErrorCode> {
        let expected = match producer.batches.back() {
            _ if stamp.epoch != producer.epoch => 0,
            Some(last) => super::entry::sequence_after(last.last_sequence, 1),
            None => 0,
        };
        if stamp.first_sequence == expected {
            return Ok(());
        }
        // Only a marker is left of this epoch: 1.0 to 2.4 do not know what came before it.
        let unknown = stamp.epoch == producer.epoch && producer.batches.is_empty();
        if unknown && (Release::V1_0..Release::V2_8).contains(&self.release) {
            return Err(ErrorCode::UNKNOWN_PRODUCER_ID);
        }
        Err(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER)
    }
}

impl Producer {
    fn new(epoch: i16) -> Self {
        Self { epoch, batches: VecDeque::new(), last_timestamp: -1, coordinator_epoch: -1, open_from: None }
    }

    /// The last sequence, -1 if no batch is known under this epoch.
    pub(crate) fn last_sequence(&self) -> i32 {
        self.batches.back().map_or(-1, |batch| batch.last_sequence)
    }

    /// The last offset of its last batch.
    pub(crate) fn last_offset(&self) -> Option<i64> {
        self.batches.back().map(|batch| batch.last_offset)
    }

    /// The remembered batch that has the same epoch and the same first and last sequence; contents are not compared.
    fn repeated(&self, stamp: Stamped) -> Option<Written> {
        let same = |batch: &&Written| {
            (batch.first_sequence, batch.last_sequence) == (stamp.first_sequence, stamp.last_sequence)
        };
        self.batches.iter().filter(|_| stamp.epoch == self.epoch).find(same).copied()
    }
}

/// How many batches of a producer are remembered, from 1.0 on (KIP-98; the Java producer's largest
/// `max.in.flight.requests.per.connection` with idempotence).
const BATCHES_MAX: usize = 5;
/// How often old producers are looked for: Kafka's `producer.id.expiration.check.interval.ms`.
const LOOK_EVERY: Duration = Duration::from_secs(600);
/// `producer.id.expiration.ms` (KIP-854); before it a producer lived as long as a transactional id, 7 of them.
const DAY_MS: i64 = 86_400_000;
