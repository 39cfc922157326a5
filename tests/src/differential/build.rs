//! Sets that kmirror writes, and what has to be read in them.

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{
    BATCH_HEADER_BYTES, BatchBuilder, Entry, HeadersSource, MessageFormat, MessageSetBuilder, Placement, RawBatch,
    RawMessage, RecordError, Stamp, restamp, rewrap, split,
};

use super::frames::framed;
use super::read::RecordRead;
use super::spec::{Spec, Writer};
use crate::{Failure, Result};

/// Builds the set of a spec; its bytes, and the records as whoever reads them has to see them.
pub(super) fn built(spec: &Spec) -> Result<(Bytes, Vec<RecordRead>)> {
    let by_hand = spec.writer == Writer::OursByHand;
    if spec.magic == 2 { batch(spec, by_hand) } else { messages(spec, by_hand) }
}

fn failed(error: &RecordError) -> Failure {
    Failure::new(format!("building a set: {error}"))
}

fn batch(spec: &Spec, by_hand: bool) -> Result<(Bytes, Vec<RecordRead>)> {
    // One in four is stamped when it is sent, as a mirror does: the offset is 0 then, and no transaction is left.
    let restamped = spec.frame % 4 == 0;
    let codec = if by_hand { Codec::None } else { spec.codec };
    let hint = (spec.frame % 5 == 0).then_some(spec.base_offset);
    let mut builder = BatchBuilder::new(codec, hint);
    builder.set_placement(Placement {
        base_offset: spec.base_offset,
        leader_epoch: spec.leader_epoch,
        append_time: spec.append_time,
        transactional: spec.transactional,
    });
    for record in &spec.records {
        let headers: Vec<_> = record.headers.iter().map(|(name, value)| (&name[..], value.as_deref())).collect();
        let headers = HeadersSource::List(&headers);
        let pushed = builder.push(record.timestamp, record.key.as_deref(), record.value.as_deref(), headers);
        pushed.map_err(|error| failed(&error))?;
    }
    let first = if restamped { Stamp::NONE } else { spec.stamp };
    let mut set = builder.finish(first).map_err(|error| failed(&error))?;
    if by_hand {
        set = packed_batch(&set, spec)?;
    }
    if restamped {
        let batch = RawBatch::from_bytes(set).map_err(|error| failed(&error))?;
        set = [&restamp(&batch, spec.stamp)[..], &batch.payload()].concat().into();
    }
    let base = if restamped { 0 } else { spec.base_offset };
    let numbered = (base..).zip(&spec.records).map(|(offset, record)| RecordRead { offset, ..record.clone() });
    Ok((set, seen(numbered.collect(), spec.append_time)))
}

/// The batch with its payload in a frame of the spec's.
fn packed_batch(plain: &Bytes, spec: &Spec) -> Result<Bytes> {
    let (header, payload) = plain.split_at(BATCH_HEADER_BYTES);
    let mut batch = header.to_vec();
    batch.extend(framed(spec.codec, spec.frame, payload)?);
    let length = i32::try_from(batch.len() - 12).unwrap_or(i32::MAX);
    batch[8..12].copy_from_slice(&length.to_be_bytes());
    batch[22] |= spec.codec.id();
    let crc = crc32c::crc32c(&batch[21..]);
    batch[17..21].copy_from_slice(&crc.to_be_bytes());
    Ok(batch.into())
}

fn messages(spec: &Spec, by_hand: bool) -> Result<(Bytes, Vec<RecordRead>)> {
    let format = if spec.magic == 0 { MessageFormat::V0 } else { MessageFormat::V1 };
    let mut builder = MessageSetBuilder::new(format, spec.codec);
    builder.set_base_offset(spec.base_offset);
    builder.set_append_time(spec.append_time);
    for record in &spec.records {
        let pushed = builder.push_at(record.offset, record.timestamp, record.key.as_deref(), record.value.as_deref());
        pushed.map_err(|error| failed(&error))?;
    }
    let mut set = builder.finish().map_err(|error| failed(&error))?;
    let mut records = spec.records.clone();
    if spec.codec != Codec::None {
        if by_hand {
            set = packed_wrapper(&set, spec)?;
        }
        // One in four wrappers of magic 1 lies elsewhere in the log.
        if spec.magic == 1 && spec.frame % 4 == 0 {
            let moved = i64::from(spec.frame % 1000);
            let wrapper = only_message(set)?;
            let (offset, rest) = rewrap(&wrapper, wrapper.offset + moved);
            set = [&offset[..], &rest].concat().into();
            records.iter_mut().for_each(|record| record.offset += moved);
        }
    }
    Ok((set, seen(records, spec.append_time)))
}

/// The wrapper with its set in a frame of the spec's.
fn packed_wrapper(wrapper: &Bytes, spec: &Spec) -> Result<Bytes> {
    let message = only_message(wrapper.clone())?;
    let value = Bytes::copy_from_slice(message.value().unwrap_or_default());
    let plain = kmirror_proto::compress::Decompressor::new()
        .decompress_magic_0(spec.codec, &value, 16 << 20)
        .map_err(|error| Failure::new(format!("opening a wrapper: {error}")))?;
    let frame = framed(spec.codec, spec.frame, &plain)?;
    let mut bytes = wrapper[..wrapper.len() - value.len() - 4].to_vec();
    bytes.extend(u32::try_from(frame.len()).unwrap_or(0).to_be_bytes());
    bytes.extend(frame);
    let size = u32::try_from(bytes.len() - 12).unwrap_or(0);
    bytes[8..12].copy_from_slice(&size.to_be_bytes());
    let crc = crc32fast::hash(&bytes[16..]);
    bytes[12..16].copy_from_slice(&crc.to_be_bytes());
    Ok(bytes.into())
}

fn only_message(set: Bytes) -> Result<RawMessage> {
    match split(set).next() {
        Some(Ok(Entry::Message(message))) => Ok(message),
        other => Err(Failure::new(format!("not a message: {other:?}"))),
    }
}

/// With an append time, that is every record's.
fn seen(mut records: Vec<RecordRead>, append_time: Option<i64>) -> Vec<RecordRead> {
    if let Some(append_time) = append_time {
        records.iter_mut().for_each(|record| record.timestamp = append_time);
    }
    records
}
