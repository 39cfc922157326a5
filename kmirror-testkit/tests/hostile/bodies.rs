//! Bodies of requests at random, and what becomes of frames on a bad day.

use bytes::{Bytes, BytesMut};
use kmirror_proto::compress::Codec;
use kmirror_proto::messages::AnyRequest;
use kmirror_proto::records::{BatchBuilder, HeadersSource, MessageFormat, MessageSetBuilder, Stamp, crc32c};
use kmirror_proto::{ApiKey, DecodeError, Reader};

/// A sequence that its seed alone decides (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Any number.
    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.draw() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    /// One of these.
    pub(crate) fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// A body that is one of this API and version: pieces are put one behind the other as long as the decoder asks for
/// more, and those that it does not take are taken back. `None` if none was found.
pub(crate) fn body(random: &mut Random, key: ApiKey, version: i16, ids: &[[u8; 16]]) -> Option<Bytes> {
    (0..ATTEMPTS_MAX).find_map(|_| attempt(random, key, version, ids))
}

fn attempt(random: &mut Random, key: ApiKey, version: i16, ids: &[[u8; 16]]) -> Option<Bytes> {
    let mut body = Vec::new();
    let mut taken = 0;
    for _ in 0..PIECES_MAX {
        match AnyRequest::decode(key, version, &mut Reader::new(Bytes::copy_from_slice(&body))) {
            Ok(_) => return Some(body.into()),
            Err(DecodeError::UnknownApi { .. } | DecodeError::UnsupportedVersion { .. }) => return None,
            Err(DecodeError::Truncated { needed: ..=400, .. } | DecodeError::Count { count: 0..=4, .. }) => {
                taken = body.len();
            }
            Err(_) => body.truncate(taken),
        }
        body.extend(piece(random, ids));
    }
    None
}

/// Something that a field may hold, or the count before it.
fn piece(random: &mut Random, ids: &[[u8; 16]]) -> Vec<u8> {
    let number = *random.one_of(&[0_i64, 1, 2, 3, -1, -2, 100, 6000, 60_000, 1 << 20, i64::MAX, i64::MIN]);
    match random.below(12) {
        0 => vec![0],
        1 => vec![u8::try_from(random.below(4)).unwrap()],
        2 => vec![*random.one_of(&[0xff, 0x7f, 0x80, 8, 16, 32])],
        3 => i16::try_from(number.clamp(i16::MIN.into(), i16::MAX.into())).unwrap().to_be_bytes().to_vec(),
        4 => i32::try_from(number.clamp(i32::MIN.into(), i32::MAX.into())).unwrap().to_be_bytes().to_vec(),
        5 => number.to_be_bytes().to_vec(),
        6 => random.one_of(ids).to_vec(),
        7 | 8 => {
            let word = *random.one_of(WORDS);
            [&u16::try_from(word.len()).unwrap().to_be_bytes(), word.as_bytes()].concat()
        }
        9 => {
            let word = *random.one_of(WORDS);
            [&[u8::try_from(word.len() + 1).unwrap()], word.as_bytes()].concat()
        }
        10 => {
            let records = records(random);
            [&i32::try_from(records.len()).unwrap().to_be_bytes()[..], &records].concat()
        }
        _ => {
            let records = records(random);
            let length = u32::try_from(records.len() + 1).unwrap();
            // An unsigned varint of two bytes: the records take 127 to 16382.
            let [.., high, low] = ((length & 0x7f | 0x80) << 8 | length >> 7).to_be_bytes();
            [&[high, low], &records[..]].concat()
        }
    }
}

/// Records of any format, whole or not, with a right checksum or not.
fn records(random: &mut Random) -> Vec<u8> {
    let codec = *random.one_of(&[Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4]);
    let value = vec![b'v'; 30 + random.below(200)];
    let mut bytes = if random.below(3) == 0 {
        let format = *random.one_of(&[MessageFormat::V0, MessageFormat::V1]);
        let mut builder = MessageSetBuilder::new(format, codec);
        (0..5).for_each(|n| builder.push(1_700_000_000_000 + n, Some(b"key"), Some(&value)).unwrap());
        BytesMut::from(builder.finish().unwrap())
    } else {
        let mut builder = BatchBuilder::new(codec, None);
        (0..5)
            .for_each(|n| builder.push(1_700_000_000_000 + n, Some(b"k"), Some(&value), HeadersSource::None).unwrap());
        let producer_id = *random.one_of(&[-1, 0, 1, 7]);
        let stamp = Stamp { producer_id, producer_epoch: 0, base_sequence: if producer_id < 0 { -1 } else { 0 } };
        BytesMut::from(builder.finish(stamp).unwrap())
    };
    for _ in 0..random.below(3) {
        let at = random.below(70.min(bytes.len()));
        bytes[at] = *random.one_of(&[0, 1, 2, 4, 0x10, 0x7f, 0x80, 0xff]);
    }
    if bytes.len() > 61 && bytes[16] == 2 && random.below(4) > 0 {
        let crc = crc32c(&bytes[21..]).to_be_bytes();
        bytes[17..21].copy_from_slice(&crc);
    }
    // As long as a varint of two bytes can say.
    while bytes.len() < 130 {
        bytes.extend_from_slice(&[0]);
    }
    bytes.to_vec()
}

/// A frame that something has happened to.
pub(crate) fn damage(random: &mut Random, frame: &[u8]) -> Bytes {
    let mut frame = frame.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(frame.len());
        match random.below(5) {
            0 => frame[at] ^= 1 << random.below(8),
            1 => frame.truncate(at),
            2 => frame.insert(at, *random.one_of(&[0, 1, 0x7f, 0xff])),
            3 => frame[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff),
            _ => {
                let rest = frame[at..].iter_mut().take(4);
                rest.zip([0x7f, 0xff, 0xff, 0xff]).for_each(|(byte, large)| *byte = large);
            }
        }
        if frame.is_empty() {
            break;
        }
    }
    frame.into()
}

/// Names of what is there and what is not, settings, and values.
const WORDS: &[&str] = &[
    "orders",
    "keyed",
    "new.topic",
    "",
    "..",
    "group",
    "range",
    "consumer",
    "transaction",
    "client-id",
    "producer_byte_rate",
    "cleanup.policy",
    "segment.bytes",
    "compact",
    "0",
    "-1",
    "kafka-cluster",
    "User:ANONYMOUS",
    "__consumer_offsets",
];

/// More than any request here takes; what has not come to an end by then does not find one.
const PIECES_MAX: usize = 150;

/// How often it is begun again.
const ATTEMPTS_MAX: usize = 2000;
