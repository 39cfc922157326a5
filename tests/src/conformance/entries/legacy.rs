//! Messages and wrappers of magic 0 and 1.
//!
//! ```text
//! 0             8        12    16      17      18 (magic 1 only)
//! | offset (8) | len (4) | crc | magic | attrs | timestamp (8) | key | value         key, value: length (4), bytes
//! ```
//!
//! The value of a wrapper is a compressed run of messages.

use super::record::{self, Record};
use super::{Sent, codec, compressed};
use crate::conformance::masks::Masks;
use crate::conformance::words::Words;
use crate::{Failure, Result};

/// The checksum in the header of an lz4 frame as Kafka computed it before 0.10 (KAFKA-3160), for the frames that are built here.
const LZ4_CHECKSUM_KAFKA_3160: u8 = 0x1a;

/// Plain messages, each an entry of its own.
pub(super) fn messages(mut words: Words, masks: &mut Masks) -> Result<(Vec<Sent>, Vec<u8>)> {
    let cut: Option<usize> = words.number("cut")?;
    let tail = words.text("tail")?.map(|digits| crate::conformance::words::hex(&digits)).transpose()?;
    let spec = Spec::take(&mut words)?;
    let mut records = record::given(&mut words, "offsets", "ts-deltas")?;
    spec.timestamps(&mut words, &mut records, masks)?;
    words.finish()?;
    let sent: Vec<Sent> = records.iter().map(|record| spec.message(record)).collect::<Result<_>>()?;
    let mut bytes: Vec<u8> = sent.iter().flat_map(|sent| sent.bytes.clone()).collect();
    bytes.truncate(cut.unwrap_or(bytes.len()));
    bytes.extend(tail.unwrap_or_default());
    Ok((sent, bytes))
}

/// A wrapper: by default at the offset of its last message, with the largest timestamp.
pub(super) fn wrapper(mut words: Words, masks: &mut Masks) -> Result<(Vec<Sent>, Vec<u8>)> {
    let spec = Spec::take(&mut words)?;
    let (bits, codec) = codec(words.text("codec")?.as_deref().or(Some("gzip")))?;
    let broken = words.flag("kafka-3160");
    let mut records = record::given(&mut words, "inner", "ts-deltas")?;
    spec.timestamps(&mut words, &mut records, masks)?;
    let offset = words.number("offset")?.or(records.last().map(|record| record.offset)).unwrap_or(0);
    let timestamp = match words.text("wrapper-ts")? {
        Some(text) => masks.time(&text)?,
        None => records.iter().map(|record| record.timestamp).max().unwrap_or(-1),
    };
    words.finish()?;
    let inner = Spec { attributes: 0, ..spec };
    let plain: Vec<Vec<u8>> = records.iter().map(|record| Ok(inner.message(record)?.bytes)).collect::<Result<_>>()?;
    let mut payload = compressed(codec, &plain.concat())?;
    if broken {
        match payload.get_mut(6) {
            Some(checksum) => *checksum = LZ4_CHECKSUM_KAFKA_3160,
            None => return Err(Failure::new("no lz4 frame to break")),
        }
    }
    let record = Record { offset, timestamp, value: Some(payload.clone()), ..Record::default() };
    let spec = Spec { attributes: spec.attributes | bits.to_be_bytes()[1], ..spec };
    let sent = Sent { payload, ..spec.message(&record)? };
    let bytes = sent.bytes.clone();
    Ok((vec![sent], bytes))
}

#[derive(Clone, Copy)]
struct Spec {
    magic: u8,
    attributes: u8,
    bad_crc: bool,
}

impl Spec {
    fn take(words: &mut Words) -> Result<Spec> {
        Ok(Spec {
            magic: words.number("magic")?.unwrap_or(1),
            attributes: words.number("attrs")?.unwrap_or(0),
            bad_crc: words.flag("bad-crc"),
        })
    }

    /// Makes the timestamps of the records absolute.
    fn timestamps(&self, words: &mut Words, records: &mut [Record], masks: &mut Masks) -> Result {
        let first = masks.time(&words.text("ts")?.unwrap_or_else(|| "1600000000000".to_owned()))?;
        for record in records {
            record.timestamp += first;
            masks.sent_time(record.timestamp);
        }
        Ok(())
    }

    fn message(&self, record: &Record) -> Result<Sent> {
        let mut covered = vec![self.magic, self.attributes];
        if self.magic > 0 {
            covered.extend(record.timestamp.to_be_bytes());
        }
        for field in [&record.key, &record.value] {
            let length = field.as_ref().map_or(Ok(-1), |bytes| i32::try_from(bytes.len()));
            covered.extend(length.map_err(|_| Failure::new("the message is too long"))?.to_be_bytes());
            covered.extend(field.iter().flatten());
        }
        let crc = crc32fast::hash(&covered) ^ u32::from(self.bad_crc);
        let length = i32::try_from(covered.len() + 4).map_err(|_| Failure::new("the message is too long"))?;
        let mut bytes = record.offset.to_be_bytes().to_vec();
        bytes.extend(length.to_be_bytes());
        bytes.extend(crc.to_be_bytes());
        bytes.extend(covered);
        Ok(Sent { magic: self.magic, bytes, payload: record.value.clone().unwrap_or_default() })
    }
}
