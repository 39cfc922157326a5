//! What is generated from a seed: one record set, who writes it, and how.

use fastrand::Rng;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::Stamp;

use super::read::RecordRead;

/// Who writes a set, and with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// Java's `MemoryRecordsBuilder`, then perhaps a broker's conversion and the log cleaner.
    Java,
    /// Java's record classes by hand: any timestamps, and any frame that the codecs' libraries write.
    JavaByHand,
    /// A transaction marker of Java's.
    JavaMarker,
    /// kmirror's builders.
    Ours,
    /// kmirror's builders, with the payload compressed by hand.
    OursByHand,
}

impl Writer {
    /// Whether the set comes from the JVM.
    pub(super) fn is_java(self) -> bool {
        match self {
            Writer::Java | Writer::JavaByHand | Writer::JavaMarker => true,
            Writer::Ours | Writer::OursByHand => false,
        }
    }
}

/// One generated set.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    pub(super) writer: Writer,
    pub(super) magic: i8,
    pub(super) codec: Codec,
    /// Of the codec; `None` for its own.
    pub(super) level: Option<i32>,
    /// The frame's options where it is written by hand, whatever they are in the codec. Not negative.
    pub(super) frame: i32,
    pub(super) append_time: Option<i64>,
    pub(super) base_offset: i64,
    /// What the inner offsets of a wrapper of magic 1 count from.
    pub(super) inner_base: i64,
    pub(super) stamp: Stamp,
    pub(super) transactional: bool,
    pub(super) leader_epoch: i32,
    pub(super) delete_horizon: Option<i64>,
    /// The log cleaner keeps the offsets whose remainder by the length has its flag set.
    pub(super) kept: Option<Vec<u8>>,
    /// A broker of that time converts it.
    pub(super) convert_to: Option<i8>,
    pub(super) records: Vec<RecordRead>,
}

impl Spec {
    /// The set of a seed; the same for ever.
    pub(super) fn of(seed: u64) -> Spec {
        let rng = &mut Rng::with_seed(seed);
        let magic = [0, 1, 2, 2][rng.usize(..4)];
        let codecs = if magic == 2 { 5 } else { 4 };
        let codec = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd][rng.usize(..codecs)];
        let writer = match rng.u8(..12) {
            0..4 => Writer::Java,
            4 | 5 => Writer::JavaByHand,
            6 if magic == 2 => Writer::JavaMarker,
            6..10 => Writer::Ours,
            _ => Writer::OursByHand,
        };
        let stamped = magic == 2 && (rng.bool() || writer == Writer::JavaMarker);
        let base_offset = if rng.bool() { rng.i64(0..50) } else { rng.i64(0..1 << 40) };
        let mut spec = Spec {
            writer,
            magic,
            codec,
            level: (rng.u8(..4) == 0).then(|| level(codec, rng)).flatten(),
            frame: rng.i32(0..),
            append_time: (magic > 0 && rng.u8(..4) == 0).then(|| rng.i64(1..2_000_000_000_000)),
            base_offset,
            inner_base: if rng.bool() { base_offset } else { rng.i64(0..=base_offset) },
            stamp: if stamped { stamp(rng) } else { Stamp::NONE },
            transactional: stamped && rng.bool(),
            leader_epoch: if magic == 2 { rng.i32(-1..100) } else { -1 },
            delete_horizon: None,
            kept: None,
            convert_to: None,
            records: Vec::new(),
        };
        if writer == Writer::Java {
            spec.age(rng);
        }
        spec.records = records(&spec, rng);
        spec
    }

    /// What becomes of a set in a broker's log.
    fn age(&mut self, rng: &mut Rng) {
        let converts = self.codec != Codec::Zstd && rng.u8(..6) == 0;
        self.convert_to = (converts && self.magic > 0).then(|| rng.i8(0..self.magic));
        self.kept = (rng.u8(..3) == 0).then(|| (0..rng.usize(1..6)).map(|_| u8::from(rng.bool())).collect());
        let horizon = self.magic == 2 && rng.u8(..8) == 0;
        self.delete_horizon = horizon.then(|| rng.i64(0..2_000_000_000_000));
    }

    /// What the JVM is told; `tests/judge/records/Spec.java` reads it.
    pub(super) fn question(&self) -> Vec<u8> {
        let how = match self.writer {
            Writer::Java => 0,
            Writer::JavaByHand | Writer::Ours | Writer::OursByHand => 1,
            Writer::JavaMarker => 2,
        };
        let mut out = vec![1, how, self.magic.cast_unsigned(), self.codec.id()];
        out.extend(self.level.unwrap_or(i32::MIN).to_be_bytes());
        out.extend(self.frame.to_be_bytes());
        out.push(u8::from(self.append_time.is_some()));
        // A marker has its own timestamp.
        let unmarked = if self.writer == Writer::JavaMarker { 1_600_000_000_000 } else { -1 };
        out.extend(self.append_time.unwrap_or(unmarked).to_be_bytes());
        out.extend(self.base_offset.to_be_bytes());
        out.extend(self.inner_base.to_be_bytes());
        out.extend(self.stamp.producer_id.to_be_bytes());
        out.extend(self.stamp.producer_epoch.to_be_bytes());
        out.extend(self.stamp.base_sequence.to_be_bytes());
        out.push(u8::from(self.transactional));
        out.extend(self.leader_epoch.to_be_bytes());
        out.extend(self.delete_horizon.unwrap_or(-1).to_be_bytes());
        put_bytes(&mut out, self.kept.as_deref());
        out.push(self.convert_to.unwrap_or(-1).cast_unsigned());
        put_length(&mut out, self.records.len());
        for record in &self.records {
            out.extend(record.offset.to_be_bytes());
            out.extend(record.timestamp.to_be_bytes());
            put_bytes(&mut out, record.key.as_deref());
            put_bytes(&mut out, record.value.as_deref());
            put_length(&mut out, record.headers.len());
            for (name, value) in &record.headers {
                put_bytes(&mut out, Some(name));
                put_bytes(&mut out, value.as_deref());
            }
        }
        out
    }
}

fn put_length(out: &mut Vec<u8>, length: usize) {
    out.extend(i32::try_from(length).unwrap_or(i32::MAX).to_be_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    match bytes {
        None => out.extend((-1_i32).to_be_bytes()),
        Some(bytes) => {
            put_length(out, bytes.len());
            out.extend_from_slice(bytes);
        }
    }
}

/// A level that Kafka takes for the codec.
fn level(codec: Codec, rng: &mut Rng) -> Option<i32> {
    match codec {
        Codec::None | Codec::Snappy => None,
        Codec::Gzip => Some(rng.i32(1..=9)),
        Codec::Lz4 => Some(rng.i32(1..=17)),
        Codec::Zstd => Some(rng.i32(-7..=12)),
    }
}

fn stamp(rng: &mut Rng) -> Stamp {
    Stamp {
        producer_id: if rng.bool() { rng.i64(0..5000) } else { rng.i64(0..) },
        producer_epoch: rng.i16(0..),
        // Also one where the sequences wrap within the batch.
        base_sequence: if rng.u8(..8) == 0 { i32::MAX - rng.i32(0..3) } else { rng.i32(0..1000) },
    }
}

fn records(spec: &Spec, rng: &mut Rng) -> Vec<RecordRead> {
    let count = if rng.u8(..20) == 0 { rng.usize(1..300) } else { rng.usize(1..12) };
    // Our builder of magic 2 numbers records without gaps; everything else may leave some.
    let gaps = (spec.magic != 2 || spec.writer.is_java()) && rng.u8(..3) == 0;
    let headers = spec.magic == 2 && rng.bool();
    let mut offset = spec.base_offset;
    let mut record = |index: usize, rng: &mut Rng| {
        if gaps && (index > 0 || rng.bool()) {
            offset += rng.i64(0..6);
        }
        offset += 1;
        RecordRead {
            offset: offset - 1,
            timestamp: if spec.magic == 0 { -1 } else { timestamp(spec.writer, rng) },
            valid: true,
            key: bytes(rng),
            value: if rng.u8(..60) == 0 { Some(large(rng)) } else { bytes(rng) },
            headers: if headers { (0..rng.usize(..4)).map(|_| header(spec.writer, rng)).collect() } else { Vec::new() },
        }
    };
    (0..count).map(|index| record(index, rng)).collect()
}

/// Kafka's builder knows no time before 1970 but -1; brokers and consumers do.
fn timestamp(writer: Writer, rng: &mut Rng) -> i64 {
    match rng.u8(..16) {
        0 => -1,
        1 => 0,
        2 if writer != Writer::Java => rng.i64(-2_000_000_000_000..0),
        3 if writer != Writer::Java => rng.i64(..),
        4 => rng.i64(0..),
        _ => 1_500_000_000_000 + rng.i64(-100_000..100_000),
    }
}

/// Null, empty, short, or some hundred bytes that compress or do not.
fn bytes(rng: &mut Rng) -> Option<Vec<u8>> {
    let length = match rng.u8(..8) {
        0 => return None,
        1 => 0,
        2 => rng.usize(100..2000),
        _ => rng.usize(1..30),
    };
    let letter = rng.u8(..);
    let random = rng.bool();
    Some((0..length).map(|_| if random { rng.u8(..) } else { letter.wrapping_add(rng.u8(..2)) }).collect())
}

/// More than a block of any codec's frame.
fn large(rng: &mut Rng) -> Vec<u8> {
    let length = rng.usize(60_000..150_000);
    let random = rng.u8(..4) == 0;
    let word = rng.u64(..).to_be_bytes();
    (0..length).map(|at| if random { rng.u8(..) } else { word[at % word.len()] }).collect()
}

/// Names come twice, are empty, and from us any bytes at all; Java writes text only.
fn header(writer: Writer, rng: &mut Rng) -> (Vec<u8>, Option<Vec<u8>>) {
    let name = match rng.u8(..6) {
        0 => Vec::new(),
        1 if !writer.is_java() => (0..rng.usize(1..9)).map(|_| rng.u8(..)).collect(),
        2 => "naïve ☂ 𝄞".as_bytes().to_vec(),
        3 => vec![b'n'; rng.usize(1..300)],
        _ => b"trace".to_vec(),
    };
    (name, bytes(rng))
}
