//! Reading the target's log: which batches are ours, in turn, and what the last one is.

use std::ops::ControlFlow;

use bytes::Bytes;
use kmirror_proto::records::{BatchHeader, Entry, MessageFormat, RawBatch, RawMessage, split};

use super::{Impossible, Resume, Tail};
use crate::offset::TargetOffset;
use crate::plan::{Fingerprint, decode, next_offset};
use crate::produce::{Sequence, Tenancy};

impl Resume {
    /// Reads batches from the place of the proof on: first the one that ends at the checkpoint, then those that
    /// were written since.
    pub(super) fn read(&mut self, records: Bytes) -> Result<(), Impossible> {
        for entry in split(records) {
            let entry = entry.map_err(|error| Impossible::Unreadable(error.to_string()))?;
            match &entry {
                Entry::Batch(batch) => self.read_batch(batch, &entry)?,
                Entry::Message(message) => self.read_message(message, &entry)?,
                Entry::Partial(partial) => {
                    // Fetch v2 cuts an answer at exactly the size that was asked for (fact F5).
                    let need = partial.need.and_then(|need| i32::try_from(need).ok());
                    self.bytes = self.bytes.max(need.unwrap_or(0));
                    break;
                }
            }
        }
        Ok(())
    }

    fn read_batch(&mut self, batch: &RawBatch, entry: &Entry) -> Result<(), Impossible> {
        let header = &batch.header;
        let has_our_id = self.producer.is_some_and(|producer| header.producer_id == producer.id);
        let ours = has_our_id && !header.attributes.control() && header.producer_epoch >= self.epoch;
        let records = u64::try_from(header.last_offset_delta).unwrap_or(0) + 1;
        if header.next_offset() <= self.position {
            if self.proved || header.next_offset() < self.position {
                return Ok(());
            }
            let ends = Sequence::from_wire(header.base_sequence).map(|base| base.plus(records));
            if !ours || (header.producer_epoch, ends) != (self.epoch, Some(self.sequence)) {
                return Err(Impossible::Unproved { checkpoint: TargetOffset(self.position) });
            }
            self.proved = true;
            return self.keep_tail(entry);
        }
        if !self.proved {
            return Err(Impossible::Unproved { checkpoint: TargetOffset(self.position) });
        }
        if self.checkpoint.is_none() {
            // The link begins at the end; it has just moved.
            self.position = header.next_offset();
            return Ok(());
        }
        if self.tenancy == Tenancy::Shared {
            self.position = header.next_offset();
            return if has_our_id { self.count(header, ours, records, entry) } else { Ok(()) };
        }
        // Records that were deleted up to the middle of a batch leave the whole batch in the log.
        let cut = if self.tail_expired && self.tail.is_none() { self.position - header.base_offset } else { 0 };
        let behind = u64::try_from(cut).unwrap_or(0);
        let begins = header.base_offset.saturating_add_unsigned(behind);
        let sequence = Sequence::from_wire(header.base_sequence).map(|base| base.plus(behind));
        if ours && header.producer_epoch > self.epoch {
            // A raised epoch begins at zero; where its beginning is deleted, anywhere.
            self.epoch = header.producer_epoch;
            self.sequence = sequence.filter(|_| self.tail_expired && self.tail.is_none()).unwrap_or(Sequence::ZERO);
        }
        if !ours || sequence != Some(self.sequence) || begins != self.position {
            return Err(Impossible::Foreign { offset: header.base_offset, producer_id: header.producer_id });
        }
        self.position = header.next_offset();
        self.sequence = self.sequence.plus(records.saturating_sub(behind));
        self.keep_tail(entry)
    }

    /// One of our batches between those of others: only its sequence says how many records we wrote (rule P22).
    fn count(&mut self, header: &BatchHeader, ours: bool, records: u64, entry: &Entry) -> Result<(), Impossible> {
        let foreign = Impossible::Foreign { offset: header.base_offset, producer_id: header.producer_id };
        let Some(sequence) = Sequence::from_wire(header.base_sequence).filter(|_| ours) else { return Err(foreign) };
        let first_left = self.tail_expired && self.tail.is_none();
        if header.producer_epoch > self.epoch {
            if first_left {
                // How many records of the epoch before are gone, nothing says.
                return Err(self.uncounted());
            }
            self.epoch = header.producer_epoch;
            self.sequence = Sequence::ZERO;
        }
        let gone = sequence.minus(self.sequence);
        if gone > 0 {
            // Only what retention took may be missing, and it lay between the checkpoint and the log's new beginning.
            let room = header.base_offset.min(self.log_start).saturating_sub(self.ours_end);
            if !first_left {
                return Err(foreign);
            }
            if u64::try_from(room).unwrap_or(0) < gone {
                return Err(Impossible::Unproved { checkpoint: TargetOffset(self.ours_end) });
            }
        }
        self.ours += gone + records;
        self.ours_end = header.next_offset();
        self.sequence = sequence.plus(records);
        self.keep_tail(entry)
    }

    /// A target of 0.10 knows no writers: the record at the checkpoint proves it by content, and the following ones
    /// are counted.
    fn read_message(&mut self, message: &RawMessage, entry: &Entry) -> Result<(), Impossible> {
        let next = message.next_offset();
        if next <= self.position && (self.proved || next < self.position) {
            return Ok(());
        }
        if message.format() == MessageFormat::V0 {
            return Err(Impossible::Unreadable(format!("offset {}: {TIMESTAMPS_ARE_LOST}", message.offset)));
        }
        if !self.proved {
            let wanted = self.checkpoint.and_then(|checkpoint| checkpoint.fingerprint());
            let found = self.record_at(entry, self.position - 1)?;
            let agrees = matches!((wanted, found), (Some(wanted), Some(found))
                if wanted.agrees(&found, append_time(entry)));
            if !agrees {
                return Err(Impossible::Unproved { checkpoint: TargetOffset(self.position) });
            }
            self.proved = true;
        }
        if next > self.position {
            self.position = next;
        }
        self.keep_tail(entry)
    }

    fn record_at(&self, entry: &Entry, offset: i64) -> Result<Option<Fingerprint>, Impossible> {
        let mut found = None;
        let with_headers = self.producer.is_some();
        decode(entry, |record| {
            if record.offset == offset {
                found = Some(Fingerprint::of(&record, with_headers));
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })
        .map_err(|error| Impossible::Unreadable(error.to_string()))?;
        Ok(found)
    }

    fn keep_tail(&mut self, entry: &Entry) -> Result<(), Impossible> {
        let Some(next) = next_offset(entry) else { return Ok(()) };
        let fingerprint = match self.record_at(entry, next - 1) {
            // A stamped batch is proved by its sequence; a codec that is not read here is no obstacle.
            Err(_) if self.producer.is_some() => Some(None),
            found => found?.map(Some),
        };
        if let Some(fingerprint) = fingerprint {
            let timestamp_max = match entry {
                Entry::Batch(batch) => batch.header.max_timestamp,
                Entry::Message(message) => message.timestamp,
                Entry::Partial(_) => -1,
            };
            self.tail = Some(Tail { fingerprint, append_time: append_time(entry), timestamp_max });
        }
        Ok(())
    }
}

/// A topic of message format 0 on a target of 0.10: the broker converts what is written there (fact R15).
const TIMESTAMPS_ARE_LOST: &str = "the topic keeps message format 0, which loses the timestamps";

fn append_time(entry: &Entry) -> bool {
    match entry {
        Entry::Batch(batch) => batch.header.attributes.append_time(),
        Entry::Message(message) => message.append_time(),
        Entry::Partial(_) => false,
    }
}
