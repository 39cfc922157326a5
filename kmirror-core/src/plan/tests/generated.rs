//! Logs of every kind: batches with gaps, transactions, markers, messages and wrappers.

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::messages::AbortedTransaction;
use kmirror_proto::records::{Entry, split};
use proptest::prelude::*;

use super::super::{Abilities, Magic};
use crate::fetch::Aborted;
use crate::sample::{Batch, Seen, joined, message, old_message, old_set, records_of, wrapper};

/// What the records of a generated batch carry beside key and value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bulk {
    padding: usize,
    headers: u8,
}

/// One entry of a generated log; offsets are given when the log is put together.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Batch {
        deltas: Vec<i32>,
        trailing: i32,
        codec: Codec,
        producer: Option<i64>,
        append_time: bool,
        bulk: Bulk,
    },
    Marker {
        producer: i64,
        abort: bool,
    },
    Message,
    OldMessage,
    /// `old` is magic 0.
    Wrapper {
        old: bool,
        gaps: Vec<i64>,
        codec: Codec,
    },
    Missing(i64),
}

fn bulk() -> impl Strategy<Value = Bulk> {
    let padding = prop_oneof![2 => Just(0), 1 => Just(400_usize)];
    (padding, prop_oneof![3 => Just(0), 1 => 1..3_u8]).prop_map(|(padding, headers)| Bulk { padding, headers })
}

fn codec() -> impl Strategy<Value = Codec> {
    prop_oneof![
        2 => Just(Codec::None),
        1 => Just(Codec::Gzip),
        1 => Just(Codec::Snappy),
        1 => Just(Codec::Lz4),
        1 => Just(Codec::Zstd),
    ]
}

fn legacy_codec() -> impl Strategy<Value = Codec> {
    prop_oneof![Just(Codec::Gzip), Just(Codec::Snappy), Just(Codec::Lz4)]
}

pub(super) fn part() -> impl Strategy<Value = Part> {
    let batch = (
        prop::collection::btree_set(0..6, 0..5),
        0..3,
        codec(),
        prop::option::of(1..3_i64),
        prop::bool::weighted(0.2),
        bulk(),
    );
    let batch = batch.prop_map(|(deltas, trailing, codec, producer, append_time, bulk)| Part::Batch {
        deltas: deltas.into_iter().collect(),
        trailing,
        codec,
        producer,
        append_time,
        bulk,
    });
    prop_oneof![
        4 => batch,
        2 => (1..6_i32, codec(), prop::option::of(1..3_i64), bulk()).prop_map(|(n, codec, producer, bulk)| Part::Batch {
            deltas: (0..n).collect(),
            trailing: 0,
            codec,
            producer,
            append_time: false,
            bulk,
        }),
        2 => (1..3_i64, any::<bool>()).prop_map(|(producer, abort)| Part::Marker { producer, abort }),
        2 => Just(Part::Message),
        1 => Just(Part::OldMessage),
        2 => (any::<bool>(), prop::collection::vec(1..3_i64, 1..4), legacy_codec())
            .prop_map(|(old, gaps, codec)| Part::Wrapper { old, gaps, codec }),
        1 => (1..4_i64).prop_map(Part::Missing),
    ]
}

/// A generated log.
pub(super) struct Log {
    pub(super) bytes: Bytes,
    pub(super) aborted: Vec<AbortedTransaction>,
    pub(super) end: i64,
}

/// Puts a log together; a producer's batches since its last marker are aborted if the next marker says so.
pub(super) fn log_of(parts: &[Part]) -> Log {
    let (mut entries, mut end, mut aborted) = (Vec::new(), 0, Vec::new());
    let mut open = std::collections::BTreeMap::new();
    for part in parts {
        match part {
            Part::Batch { deltas, trailing, codec, producer, append_time, bulk } => {
                let last = deltas.last().copied().unwrap_or(0) + trailing;
                let mut batch = Batch::gapped(end, deltas.clone(), last);
                // An empty batch has no payload to compress.
                batch.codec = if deltas.is_empty() { Codec::None } else { *codec };
                if let Some(producer) = producer {
                    open.entry(*producer).or_insert(end);
                    batch = batch.transactional(*producer);
                }
                batch = batch.padding(bulk.padding).headers(bulk.headers);
                if *append_time {
                    batch = batch.append_time(7);
                }
                entries.push(batch.bytes());
                end += i64::from(last) + 1;
            }
            Part::Marker { producer, abort } => {
                if let Some(first_offset) = open.remove(producer).filter(|_| *abort) {
                    aborted.push(AbortedTransaction { producer_id: *producer, first_offset });
                }
                entries.push(Batch::marker(end, *producer, i16::from(!abort)).bytes());
                end += 1;
            }
            Part::Message => {
                entries.push(message(end));
                end += 1;
            }
            Part::OldMessage => {
                entries.push(old_message(end));
                end += 1;
            }
            Part::Wrapper { old, gaps, codec } => {
                let offsets: Vec<i64> = gaps
                    .iter()
                    .map(|gap| {
                        end += gap;
                        end - 1
                    })
                    .collect();
                entries.push(if *old { old_set(*codec, &offsets) } else { wrapper(*codec, &offsets) });
            }
            Part::Missing(offsets) => end += offsets,
        }
    }
    aborted.reverse();
    Log { bytes: joined(&entries), aborted, end }
}

/// The records that a read_committed consumer gets, as the target's format keeps them.
pub(super) fn committed(log: &Log, cursor: i64, target: Abilities) -> Vec<Seen> {
    let mut aborted = Aborted::new(Some(&log.aborted));
    let mut seen = Vec::new();
    for entry in split(log.bytes.clone()) {
        let entry = entry.unwrap();
        let is_aborted = aborted.covers(&entry);
        let (bytes, control) = match &entry {
            Entry::Batch(batch) => (batch.bytes().clone(), batch.header.attributes.control()),
            Entry::Message(message) => (message.bytes().clone(), false),
            Entry::Partial(_) => continue,
        };
        if !is_aborted && !control {
            seen.extend(records_of(bytes).into_iter().filter(|seen| seen.offset >= cursor));
        }
    }
    if target.magic == Magic::V1 {
        seen.iter_mut().for_each(|seen| seen.headers = 0);
    }
    seen
}
