//! The rules, one after the other, against the rows that were measured on real brokers.
//!
//! A row is written as the measurement wrote it: the releases, then what came back. `+base+ple` says that of the whole
//! batch only the base offset and the leader epoch changed; `NOW` is the time of the append.

mod answers;
mod formats;
mod header;
mod legacy;
mod messages;
mod payload;
mod request;
mod settings;
mod timestamps;

use std::ops::Range;

use bytes::Bytes;
use kmirror_proto::compress::{Codec, compress};
use kmirror_proto::records::{BATCH_HEADER_BYTES, crc32c};
use kmirror_proto::{ApiKey, ErrorCode};

use super::{Accepted, Offered, Refusal, accept};
use crate::settings::TopicSettings;
use crate::{Now, Release};

/// The log holds three records already.
const NEXT: i64 = 3;
/// The time of the append.
const NOW: i64 = 1_796_061_340_575;
/// The timestamp of the first record.
const THEN: i64 = 1_600_000_000_000;

/// A batch of magic 2 to be sent, each field as it will stand there.
#[derive(Clone)]
struct Batch {
    base_offset: i64,
    leader_epoch: i32,
    attributes: i16,
    last_offset_delta: i32,
    base_timestamp: i64,
    max_timestamp: i64,
    producer: (i64, i16, i32),
    count: i32,
    /// Not compressed yet.
    payload: Vec<u8>,
}

/// Three records: offsets 0, 1, 2, timestamps a millisecond apart, with keys.
fn batch() -> Batch {
    batch_of(&[0, 1, 2])
}

/// Records with these offset deltas.
fn batch_of(deltas: &[i32]) -> Batch {
    let record = |(index, &delta): (usize, &i32)| record(i64::try_from(index).unwrap(), delta, Some(b"key"));
    Batch {
        base_offset: 0,
        leader_epoch: -1,
        attributes: 0,
        last_offset_delta: deltas.last().copied().unwrap_or(-1),
        base_timestamp: THEN,
        max_timestamp: THEN + 2,
        producer: (-1, -1, -1),
        count: i32::try_from(deltas.len()).unwrap(),
        payload: deltas.iter().enumerate().flat_map(record).collect(),
    }
}

impl Batch {
    fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn codec(self, codec: Codec) -> Self {
        self.with(|batch| batch.attributes |= i16::from(codec.id()))
    }

    fn codec_sent(&self) -> Codec {
        Codec::from_id(u8::try_from(self.attributes & 7).unwrap()).unwrap_or_default()
    }

    fn bytes(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        compress(self.codec_sent(), &self.payload, &mut payload).unwrap();
        self.bytes_around(&payload)
    }

    /// The header around a payload that is taken as it is.
    fn bytes_around(&self, payload: &[u8]) -> Vec<u8> {
        let (producer_id, producer_epoch, sequence) = self.producer;
        let length = i32::try_from(payload.len() + BATCH_HEADER_BYTES - 12).unwrap();
        let mut bytes = [
            &self.base_offset.to_be_bytes()[..],
            &length.to_be_bytes(),
            &self.leader_epoch.to_be_bytes(),
            &[2, 0, 0, 0, 0],
            &self.attributes.to_be_bytes(),
            &self.last_offset_delta.to_be_bytes(),
            &self.base_timestamp.to_be_bytes(),
            &self.max_timestamp.to_be_bytes(),
            &producer_id.to_be_bytes(),
            &producer_epoch.to_be_bytes(),
            &sequence.to_be_bytes(),
            &self.count.to_be_bytes(),
            payload,
        ]
        .concat();
        let crc = crc32c(&bytes[21..]);
        bytes[17..21].copy_from_slice(&crc.to_be_bytes());
        bytes
    }
}

/// One record as it stands in a payload.
fn record(timestamp_delta: i64, offset_delta: i32, key: Option<&[u8]>) -> Vec<u8> {
    let mut body = vec![0];
    varint(&mut body, timestamp_delta);
    varint(&mut body, offset_delta.into());
    varint(&mut body, key.map_or(-1, |key| i64::try_from(key.len()).unwrap()));
    body.extend_from_slice(key.unwrap_or_default());
    varint(&mut body, 5);
    body.extend_from_slice(b"value");
    varint(&mut body, 0);
    let mut record = Vec::new();
    varint(&mut record, i64::try_from(body.len()).unwrap());
    record.extend(body);
    record
}

fn varint(out: &mut Vec<u8>, value: i64) {
    let mut raw = ((value << 1) ^ (value >> 63)).cast_unsigned();
    while raw >= 0x80 {
        out.push(raw.to_le_bytes()[0] | 0x80);
        raw >>= 7;
    }
    out.push(raw.to_le_bytes()[0]);
}

/// What is sent, and to what kind of topic.
struct Case {
    records: Option<Vec<u8>>,
    version: Option<i16>,
    transactional_id: Option<&'static str>,
    settings: fn(&mut TopicSettings),
}

/// Records sent with the newest Produce of each release.
fn sent(records: impl Into<Option<Vec<u8>>>) -> Case {
    Case { records: records.into(), version: None, transactional_id: None, settings: |_| {} }
}

impl Case {
    fn version(self, version: i16) -> Self {
        Self { version: Some(version), ..self }
    }

    fn transactional_id(self, id: &'static str) -> Self {
        Self { transactional_id: Some(id), ..self }
    }

    fn to(self, settings: fn(&mut TopicSettings)) -> Self {
        Self { settings, ..self }
    }

    /// Compares with rows of releases in brackets and what was measured on them.
    #[track_caller]
    fn measured(&self, rows: &str) {
        for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
            let (releases, expected) = row.strip_prefix('[').and_then(|row| row.split_once("] ")).expect(row);
            for release in releases.split(',') {
                let came = self.outcome(release.parse().expect(release));
                assert_eq!(came, expected, "{release}");
            }
        }
    }

    fn accept(&self, release: Release) -> Result<Accepted, Refusal> {
        let mut settings = TopicSettings::defaults(release);
        (self.settings)(&mut settings);
        accept(&mut Offered {
            release,
            version: self.version.unwrap_or_else(|| newest(release)),
            settings: &settings,
            topic: "orders",
            partition: 7,
            now: Now { unix_ms: NOW, ..Now::default() },
            records: self.records.clone().map(Bytes::from),
            next_offset: NEXT,
            leader_epoch: 0,
            transactional_id: self.transactional_id,
        })
    }

    fn outcome(&self, release: Release) -> String {
        match self.accept(release) {
            Ok(accepted) => {
                let time = if accepted.append_time_ms == -1 { "" } else { " lat=set" };
                let stored: Vec<_> = accepted.entries.iter().map(|entry| &entry.bytes[..]).collect();
                format!("err 0 NONE{time} {}", messages::shown(self.records.as_deref().unwrap(), &stored.concat()))
            }
            Err(Refusal::Code { code: ErrorCode::UNKNOWN_SERVER_ERROR, .. }) => "err -1 UNKNOWN".to_owned(),
            Err(Refusal::Code { code, .. }) => format!("err {} {}", code.0, code.name().unwrap()),
            Err(Refusal::Disconnect) => "DISCONNECT".to_owned(),
            Err(Refusal::Silence) => "TIMEOUT(8s)".to_owned(),
        }
    }
}

fn newest(release: Release) -> i16 {
    release.apis().iter().find(|api| api.api_key == ApiKey::PRODUCE).unwrap().max_version
}

/// Which fields of a batch changed, named as the measurement names them.
fn difference(sent: &[u8], stored: &[u8]) -> String {
    let number = |bytes: &[u8], at: &Range<usize>| {
        bytes[at.clone()].iter().fold(-i64::from(bytes[at.start] >> 7), |value, &byte| value << 8 | i64::from(byte))
    };
    let mut changes = Vec::new();
    for (name, at) in FIELDS {
        let (old, new) = (number(sent, &at), number(stored, &at));
        if old != new {
            let new = if new == NOW { "NOW".to_owned() } else { new.to_string() };
            changes.push(if name == "crc" { "crc".to_owned() } else { format!("{name} {old}->{new}") });
        }
    }
    let length = |bytes: &[u8]| usize::try_from(number(bytes, &FIELDS[1].1)).unwrap() + 12;
    assert_eq!(crc32c(&stored[21..]).to_be_bytes(), stored[17..21], "the stored CRC is right");
    assert_eq!(stored.len(), length(stored));
    if sent[61..length(sent)] != stored[61..] {
        changes.push("RECORDS".to_owned());
    }
    let changes = changes.join(", ");
    match changes.strip_prefix("baseOffset 0->3, partitionLeaderEpoch -1->0") {
        Some(others) => format!("+base+ple{others}"),
        None => format!("changed: {changes}"),
    }
}

const FIELDS: [(&str, Range<usize>); 12] = [
    ("baseOffset", 0..8),
    ("batchLength", 8..12),
    ("partitionLeaderEpoch", 12..16),
    ("crc", 17..21),
    ("attributes", 21..23),
    ("lastOffsetDelta", 23..27),
    ("baseTimestamp", 27..35),
    ("maxTimestamp", 35..43),
    ("producerId", 43..51),
    ("producerEpoch", 51..53),
    ("baseSequence", 53..57),
    ("count", 57..61),
];
