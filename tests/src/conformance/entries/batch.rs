//! Batches of magic 2.
//!
//! ```text
//! 0           8        12    16      17    21      23     27      35      43    51     53     57      61
//! | base (8) | len (4) | ple | magic | crc | attrs | lod | first  | max   | pid | epoch | seq | count | records
//!                                          | what the CRC is over ...
//! ```

use super::record::{self, Record};
use super::{Sent, codec, compressed};
use crate::conformance::masks::Masks;
use crate::conformance::schema::Role;
use crate::conformance::words::{Words, hex};
use crate::{Failure, Result};

/// Where the records begin.
pub(super) const HEADER_BYTES: usize = 61;

/// Builds the batch that the words describe: itself, and the bytes that are sent.
pub(super) fn build(mut words: Words, masks: &mut Masks) -> Result<(Vec<Sent>, Vec<u8>)> {
    let size: Option<usize> = words.number("size")?;
    let cut: Option<usize> = words.number("cut")?;
    let tail = words.text("tail")?.map(|digits| hex(&digits)).transpose()?.unwrap_or_default();
    let mut records = record::given(&mut words, "deltas", "ts-deltas")?;
    let header = Header::take(&mut words, &records, masks)?;
    words.finish()?;
    let mut sent = header.write(&records)?;
    if let Some(size) = size {
        pad(&mut records, size, |records| header.write(records).map(|sent| sent.bytes.len()))?;
        sent = header.write(&records)?;
    }
    let mut bytes = sent.bytes.clone();
    bytes.truncate(cut.unwrap_or(bytes.len()));
    bytes.extend(tail);
    Ok((vec![sent], bytes))
}

/// Lengthens the last value until the whole has `size` bytes.
fn pad(records: &mut [Record], size: usize, whole: impl Fn(&[Record]) -> Result<usize>) -> Result {
    let mut missing = size.saturating_sub(whole(records)?);
    loop {
        let bytes = vec![b'x'; missing];
        let before = records.last().and_then(|last| last.value.clone()).unwrap_or_default();
        if let Some(last) = records.last_mut() {
            last.value = Some([before.as_slice(), &bytes].concat());
        }
        match whole(records)? {
            length if length == size => return Ok(()),
            // The lengths themselves take more bytes now.
            length if length > size && missing > 0 => missing -= (length - size).min(missing),
            length => return Err(Failure::new(format!("no batch of {size} bytes, but one of {length}"))),
        }
        if let Some(last) = records.last_mut() {
            last.value = Some(before);
        }
    }
}

struct Header {
    base: i64,
    leader_epoch: i32,
    magic: u8,
    attributes: i16,
    codec: kmirror_proto::compress::Codec,
    last_delta: i32,
    first_timestamp: i64,
    max_timestamp: i64,
    pid: i64,
    epoch: i16,
    sequence: i32,
    count: i32,
    bad_crc: bool,
    fat: bool,
    payload: Option<Vec<u8>>,
    instead: Option<Vec<u8>>,
    behind: Vec<u8>,
}

impl Header {
    fn take(words: &mut Words, records: &[Record], masks: &mut Masks) -> Result<Header> {
        let plain = words.flag("plain");
        let name = words.text("codec")?;
        let (bits, mut codec) = codec(name.as_deref())?;
        if plain {
            codec = kmirror_proto::compress::Codec::None;
        }
        let first_timestamp = masks.time(&words.text("ts")?.unwrap_or_else(|| "1600000000000".to_owned()))?;
        let timestamps = records.iter().map(|record| first_timestamp + record.timestamp);
        timestamps.clone().for_each(|timestamp| masks.sent_time(timestamp));
        let max_timestamp = match words.text("max-ts")? {
            Some(text) => masks.time(&text)?,
            None => timestamps.max().unwrap_or(-1),
        };
        let pid = words.text("pid")?;
        if let Some(pid) = &pid {
            masks.give(Role::Pid, pid);
        }
        let epoch_default = if pid.is_some() { 0 } else { -1 };
        let count = i32::try_from(records.len()).unwrap_or(i32::MAX);
        let last = records.last().map_or(-1, |record| record.offset);
        let attributes = words.number::<u16>("attrs")?.unwrap_or(0).cast_signed();
        Ok(Header {
            base: words.number("base")?.unwrap_or(0),
            leader_epoch: words.number("ple")?.unwrap_or(-1),
            magic: words.number("magic")?.unwrap_or(2),
            attributes: attributes | bits,
            codec,
            last_delta: words.number("lod")?.unwrap_or(i32::try_from(last).unwrap_or(i32::MAX)),
            first_timestamp,
            max_timestamp,
            pid: pid.map_or(Ok(-1), |pid| crate::conformance::words::integer(&pid))?,
            epoch: words.number("epoch")?.unwrap_or(epoch_default),
            sequence: words.number("seq")?.unwrap_or(-1),
            count: words.number("count")?.unwrap_or(count),
            bad_crc: words.flag("bad-crc"),
            fat: words.flag("fat-length"),
            payload: words.text("payload")?.map(|digits| hex(&digits)).transpose()?,
            instead: words.text("instead")?.map(|digits| hex(&digits)).transpose()?,
            behind: words.text("behind")?.map(|digits| hex(&digits)).transpose()?.unwrap_or_default(),
        })
    }

    fn write(&self, records: &[Record]) -> Result<Sent> {
        let mut plain = Vec::new();
        records.iter().for_each(|record| record.write(self.fat, &mut plain));
        if let Some(instead) = &self.instead {
            plain.clone_from(instead);
        }
        plain.extend(&self.behind);
        let payload = match &self.payload {
            Some(payload) => payload.clone(),
            None => compressed(self.codec, &plain)?,
        };
        let mut covered = Vec::new();
        covered.extend(self.attributes.to_be_bytes());
        covered.extend(self.last_delta.to_be_bytes());
        covered.extend(self.first_timestamp.to_be_bytes());
        covered.extend(self.max_timestamp.to_be_bytes());
        covered.extend(self.pid.to_be_bytes());
        covered.extend(self.epoch.to_be_bytes());
        covered.extend(self.sequence.to_be_bytes());
        covered.extend(self.count.to_be_bytes());
        covered.extend(&payload);
        let crc = crc32c::crc32c(&covered) ^ u32::from(self.bad_crc);
        let length = i32::try_from(covered.len() + 9).map_err(|_| Failure::new("the batch is too long"))?;
        let mut bytes = self.base.to_be_bytes().to_vec();
        bytes.extend(length.to_be_bytes());
        bytes.extend(self.leader_epoch.to_be_bytes());
        bytes.push(self.magic);
        bytes.extend(crc.to_be_bytes());
        bytes.extend(covered);
        Ok(Sent { magic: self.magic, bytes, payload })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::words::words;

    fn built(line: &str) -> (Vec<Sent>, Vec<u8>) {
        build(Words::new(words(line).unwrap()), &mut Masks::new(String::new())).unwrap()
    }

    #[test]
    fn a_batch_has_the_size_that_is_asked_for() {
        for size in [200, 1988, 2001, 20_000] {
            assert_eq!(built(&format!("size={size}")).1.len(), size);
        }
    }

    #[test]
    fn what_is_sent_may_be_cut_and_followed_by_junk() {
        let (sent, bytes) = built("cut=70 tail=0102");
        assert_eq!(bytes.len(), 72);
        assert_eq!(bytes[..70], sent[0].bytes[..70]);
        assert_eq!(built("codec=gzip").0[0].bytes[22], 1);
        assert_eq!(built("attrs=0x7f00 codec=lz4").0[0].bytes[21..23], [0x7f, 3]);
    }
}
