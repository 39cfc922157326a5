//! The fields of an entry, as a box.

use std::io::{self, Write};

use kmirror_proto::compress::{Codec, CodecError};
use kmirror_proto::records::{Checksums, Entry, Partial, RawBatch, RawMessage};

use super::record::time;
use super::transactions::State;

/// Prints everything but the records.
pub(super) fn show(
    out: &mut impl Write,
    at: usize,
    entry: &Entry,
    state: State,
    verdict: &[(String, String)],
) -> io::Result<()> {
    let rows = match entry {
        Entry::Batch(batch) => {
            writeln!(out, "┌ at byte {at}: a batch of magic 2, {} bytes", batch.bytes().len())?;
            of_batch(batch, state)
        }
        Entry::Message(message) => {
            let what = if message.codec() == Ok(Codec::None) { "message" } else { "wrapper" };
            let (magic, bytes) = (message.magic, message.bytes().len());
            writeln!(out, "┌ at byte {at}: a {what} of magic {magic}, {bytes} bytes")?;
            of_message(message)
        }
        Entry::Partial(partial) => {
            writeln!(out, "┌ at byte {at}: a cut-off tail")?;
            of_partial(partial)
        }
    };
    let rows = rows.iter().map(|(name, value)| (*name, value));
    let verdict = verdict.iter().map(|(name, value)| (name.as_str(), value));
    for (name, value) in rows.chain(verdict) {
        writeln!(out, "│ {name:<14}{value}")?;
    }
    Ok(())
}

/// Whether an entry's bytes are not those that its checksum was made of.
pub(super) fn is_damaged(entry: &Entry) -> bool {
    match entry {
        Entry::Batch(batch) => !batch.crc_ok(),
        Entry::Message(message) => !message.crc_ok(),
        Entry::Partial(_) => false,
    }
}

type Rows = Vec<(&'static str, String)>;

fn of_batch(batch: &RawBatch, state: State) -> Rows {
    let header = &batch.header;
    let count = header.records_count;
    let dense = i64::from(count) == i64::from(header.last_offset_delta) + 1;
    let gaps = if dense { "" } else { ", with gaps" };
    let records = if count == 1 { "1 record".to_owned() } else { format!("{count} records") };
    let producer = if header.producer_id < 0 {
        "none".to_owned()
    } else {
        let (id, epoch, first) = (header.producer_id, header.producer_epoch, header.base_sequence);
        let last = first.saturating_add(header.last_offset_delta);
        format!("id {id}, epoch {epoch}, sequences {first} to {last}")
    };
    let base = if header.attributes.delete_horizon() { "delete horizon" } else { "first" };
    let timestamps = format!("{base} {}, newest {}", time(header.base_timestamp), time(header.max_timestamp));
    vec![
        ("offsets", format!("{} to {}, {records}{gaps}", header.base_offset, header.last_offset())),
        ("leader epoch", header.partition_leader_epoch.to_string()),
        ("CRC-32C", checksums(batch.checksums())),
        ("attributes", batch_attributes(batch, state)),
        ("timestamps", timestamps),
        ("producer", producer),
    ]
}

fn batch_attributes(batch: &RawBatch, state: State) -> String {
    let attributes = batch.header.attributes;
    let mut names = vec![codec(attributes.codec()), time_kind(attributes.append_time())];
    if attributes.transactional() {
        names.push(match state {
            State::Outside => "transactional".to_owned(),
            State::Kept => "transactional (not aborted)".to_owned(),
            State::Committed => "transactional (committed)".to_owned(),
            State::Aborted => "transactional (aborted)".to_owned(),
            State::Open => "transactional (its end is not in this file)".to_owned(),
        });
    }
    if attributes.control() {
        names.push("control".to_owned());
    }
    if attributes.delete_horizon() {
        names.push("delete horizon".to_owned());
    }
    format!("0x{:04x}: {}", attributes.0, names.join(", "))
}

fn of_message(message: &RawMessage) -> Rows {
    let mut names = vec![codec(message.codec())];
    if message.magic > 0 {
        names.push(time_kind(message.append_time()));
    }
    vec![
        ("offset", message.offset.to_string()),
        ("CRC-32", checksums(message.checksums())),
        ("attributes", format!("0x{:02x}: {}", message.attributes, names.join(", "))),
        ("timestamp", time(message.timestamp)),
    ]
}

fn of_partial(partial: &Partial) -> Rows {
    let need = partial.need.map_or("unknown".to_owned(), |need| format!("{need} bytes"));
    vec![("there", format!("{} bytes", partial.have)), ("needed", need)]
}

fn checksums(checksums: Checksums) -> String {
    if checksums.agree() { format!("0x{:08x}, right", checksums.stored) } else { format!("DAMAGED: {checksums}") }
}

fn codec(codec: Result<Codec, CodecError>) -> String {
    match codec {
        Ok(Codec::None) => "not compressed".to_owned(),
        Ok(codec) => codec.to_string(),
        Err(error) => error.to_string(),
    }
}

fn time_kind(append_time: bool) -> String {
    if append_time { "append time" } else { "create time" }.to_owned()
}
