//! Records in every format and codec, as real brokers store them.

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{
    BatchBuilder, HeadersSource, MessageFormat, MessageSetBuilder, Placement, RecordError, Stamp, crc32c,
};

/// 2023-11-14T22:13:20Z.
const T0: i64 = 1_700_000_000_000;

/// Batches of each codec: with headers, of a transaction, with the time of the append, a marker, an empty one.
pub(crate) fn batches() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let (plain, transactional) = (batch(codec, Placement::NONE), batch(codec, transaction(5)));
        let append_time = batch(codec, Placement { append_time: Some(T0 + 9), base_offset: 8, ..Placement::NONE });
        all.push([&plain[..], &transactional, &marker(8, 0), &append_time].concat());
    }
    all.push(empty(7));
    all
}

/// Messages and wrappers of each codec, and one wrapper in another.
pub(crate) fn message_sets() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for format in [MessageFormat::V0, MessageFormat::V1] {
        for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4] {
            let set = set(format, codec, 3);
            all.push([&set[..], &set].concat());
        }
    }
    all.push(nested(40));
    all
}

pub(crate) fn transaction(base_offset: i64) -> Placement {
    Placement { base_offset, leader_epoch: 3, append_time: None, transactional: true }
}

pub(crate) fn batch(codec: Codec, placement: Placement) -> Vec<u8> {
    let mut builder = BatchBuilder::new(codec, None);
    builder.set_placement(placement);
    let headers: &[(&[u8], Option<&[u8]>)] = &[(b"a", Some(b"1")), (b"a", None), (&[0xff, 0], Some(b""))];
    let values: [Option<&[u8]>; 3] = [Some(b"value"), None, Some(b"")];
    for (n, value) in (0..).zip(values) {
        let key = (n != 1).then_some(&b"key"[..]);
        builder.push(T0 - n, key, value, HeadersSource::List(headers)).unwrap();
    }
    let stamp = if placement.transactional {
        Stamp { producer_id: 9, producer_epoch: 0, base_sequence: 0 }
    } else {
        Stamp::NONE
    };
    builder.finish(stamp).unwrap().to_vec()
}

/// The end of producer 9's transaction; it commits with 1 and aborts with 0.
pub(crate) fn marker(base_offset: i64, kind: u8) -> Vec<u8> {
    let mut builder = BatchBuilder::new(Codec::None, None);
    builder.set_placement(transaction(base_offset));
    builder.push(T0, Some(&[0, 0, 0, kind]), Some(&[0, 0, 0, 0, 0, 7]), HeadersSource::None).unwrap();
    let bytes = builder.finish(Stamp { producer_id: 9, producer_epoch: 0, base_sequence: -1 }).unwrap();
    sealed(bytes.to_vec(), |bytes| bytes[22] |= 0x20)
}

/// What compaction leaves of a batch of three.
fn empty(base_offset: i64) -> Vec<u8> {
    let whole = batch(Codec::None, Placement { base_offset, ..Placement::NONE });
    let mut header = whole[..61].to_vec();
    header[8..12].copy_from_slice(&49_i32.to_be_bytes());
    sealed(header, |bytes| bytes[57..61].fill(0))
}

/// Changes a batch, and makes its checksum right again.
fn sealed(mut bytes: Vec<u8>, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    change(&mut bytes);
    let crc = crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes
}

fn set(format: MessageFormat, codec: Codec, messages: i64) -> Vec<u8> {
    built(format, codec, messages).unwrap().to_vec()
}

fn built(format: MessageFormat, codec: Codec, messages: i64) -> Result<Bytes, RecordError> {
    let mut builder = MessageSetBuilder::new(format, codec);
    for n in 0..messages {
        builder.push(T0 + n, (n != 1).then_some(&b"key"[..]), Some(b"value"))?;
    }
    builder.finish()
}

/// A wrapper in a wrapper, so many times: the last one holds a message.
fn nested(depth: usize) -> Vec<u8> {
    let mut inner = set(MessageFormat::V1, Codec::Gzip, 1);
    for _ in 0..depth {
        let mut value = Vec::new();
        kmirror_proto::compress::compress(Codec::Gzip, &inner, &mut value).unwrap();
        let mut message = vec![1, Codec::Gzip.id()];
        message.extend(T0.to_be_bytes());
        message.extend((-1_i32).to_be_bytes());
        message.extend(u32::try_from(value.len()).unwrap().to_be_bytes());
        message.extend(&value);
        let size = u32::try_from(4 + message.len()).unwrap();
        let crc = crc32(&message);
        inner = [&0_i64.to_be_bytes()[..], &size.to_be_bytes(), &crc.to_be_bytes(), &message].concat();
    }
    inner
}

/// Bit by bit: it is made for a seed.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, bit: u32| if (crc ^ bit) & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc, |crc, at| step(crc, u32::from(byte >> at) & 1)))
}
