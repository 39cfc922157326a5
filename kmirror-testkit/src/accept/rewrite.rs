//! Records that are encoded anew: with another codec, in another format, or numbered again.
//!
//! What comes out is [`convert::rewrite`]'s; here stands what the broker asks of it, and what it refuses. Mirrors Java's
//! `LogValidator.buildRecordsAndAssignOffsets` and `convertAndAssignOffsetsNonCompressed`, and `MemoryRecordsBuilder`
//! with its exceptions, none of which the broker knows.

use kmirror_proto::compress::Codec;
use kmirror_proto::records::{BatchHeader, RawMessage, RecordError, Stamp};

use super::inside::Walked;
use super::sent::{Form, Sent};
use super::stored::Stored;
use super::{Offered, Refusal, fault, keep};
use crate::Release;
use crate::convert::{self, Opened};
use crate::log::Entry;

/// R3, R14, R15, M2-M4: all records as the log wants them, under their offsets.
///
/// # Errors
/// [`Refusal::unknown`] for what the builder cannot write.
pub(super) fn write(
    offered: &Offered<'_>,
    sent: &[Sent],
    walked: &Walked,
    stored: Stored,
) -> Result<Vec<Entry>, Refusal> {
    let Some(first) = walked.opened.first() else { return Ok(Vec::new()) };
    skipped_contents(offered, first, stored)?;
    writable_timestamps(offered, walked)?;
    let append_time = offered.settings.append_time.then_some(offered.now.unix_ms);
    let behind = offered.release < Release::V0_11 && stored.codec != Codec::None && stored.magic > 0;
    let mut form = convert::Form {
        leader_epoch: offered.leader_epoch,
        append_time: append_time.filter(|_| !behind),
        ..convert::Form::of(stored.magic, stored.codec, offered.next_offset)
    };
    if let (Opened::Batch(header, _), 2) = (first, stored.magic) {
        writable_producer(header)?;
        form.stamp = stamp(header);
        form.transactional = header.attributes.transactional();
    }
    let mut entries = convert::rewrite(&walked.opened, &form).map_err(|_| Refusal::unknown())?;
    if behind && offered.settings.append_time {
        append_time_behind(offered, &mut entries).map_err(|_| Refusal::unknown())?;
    }
    if offered.release < Release::V0_10_2 && stored.is_converted() {
        unknown_attributes(sent, &mut entries).map_err(|_| Refusal::unknown())?;
    }
    Ok(entries)
}

/// R3: from 2.8 on a batch that seems to be kept is walked without its keys and values. If it then turns out to need
/// another numbering, there is nothing to write.
fn skipped_contents(offered: &Offered<'_>, first: &Opened, stored: Stored) -> Result<(), Refusal> {
    let batch = matches!(first, Opened::Batch(..));
    if batch && stored.seems_kept() && offered.release >= Release::V2_8 { Err(Refusal::unknown()) } else { Ok(()) }
}

/// Java's builder refuses timestamps before 1970 from 0.11 on.
fn writable_timestamps(offered: &Offered<'_>, walked: &Walked) -> Result<(), Refusal> {
    let before = walked.seen.iter().any(|seen| seen.min_timestamp < fault::NO_TIMESTAMP);
    if before && offered.release >= Release::V0_11 { Err(Refusal::unknown()) } else { Ok(()) }
}

/// Java's builder refuses a transaction without a producer id, and an id without an epoch.
fn writable_producer(header: &BatchHeader) -> Result<(), Refusal> {
    let none = header.producer_id == Stamp::NONE.producer_id;
    if none && header.attributes.transactional() || !none && header.producer_epoch == Stamp::NONE.producer_epoch {
        return Err(Refusal::unknown());
    }
    Ok(())
}

fn stamp(header: &BatchHeader) -> Stamp {
    Stamp {
        producer_id: header.producer_id,
        producer_epoch: header.producer_epoch,
        base_sequence: header.base_sequence,
    }
}

/// R9: 0.10 leaves the producer's timestamps inside a wrapper that it writes, and sets the wrapper's own behind.
fn append_time_behind(offered: &Offered<'_>, entries: &mut [Entry]) -> Result<(), RecordError> {
    for entry in entries {
        let message = RawMessage::from_bytes(entry.bytes.clone())?;
        let head = keep::Message::appended(offered, &message, message.offset);
        *entry = keep::entry(&entry.bytes, |bytes| head.write(bytes))?;
    }
    Ok(())
}

/// M3: 0.10.0 and 0.10.1 leave the attributes that they do not know when they convert a message.
fn unknown_attributes(sent: &[Sent], entries: &mut [Entry]) -> Result<(), RecordError> {
    for (sent, entry) in sent.iter().zip(entries) {
        if let Form::Message(message) = &sent.form {
            *entry = keep::entry(&entry.bytes, |bytes| keep::add_attributes(bytes, message.attributes))?;
        }
    }
    Ok(())
}
