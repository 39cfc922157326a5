//! The log, rule by rule; expectations are the measurements on real brokers.

mod compacting;
mod producers;
mod reads;
mod retention;
mod times;
mod transactions;

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{BatchBuilder, HeadersSource, Stamp};

use super::{Appended, Entry, Log};
use crate::settings::TopicSettings;
use crate::{Now, Release};

/// Kafka's defaults, as far as a log goes by them.
fn settings() -> TopicSettings {
    TopicSettings {
        max_message_bytes: 1_048_588,
        append_time: false,
        timestamp_before_max_ms: i64::MAX,
        timestamp_after_max_ms: i64::MAX,
        compression: None,
        magic: 2,
        down_conversion: true,
        compact: false,
        delete: true,
        retention_ms: 604_800_000,
        retention_bytes: -1,
        segment_bytes: 1 << 30,
        segment_ms: 604_800_000,
        min_insync_replicas: 1,
        delete_retention_ms: 86_400_000,
        min_cleanable_dirty_ratio: 0.5,
        unclean_leader_election: false,
    }
}

/// The wall clock at this many milliseconds.
fn at(unix_ms: i64) -> Now {
    Now { unix_ms, ..Now::default() }
}

/// A batch for the end of this log: records of one timestamp each.
fn batch(log: &Log, stamp: Stamp, timestamps: &[i64]) -> Entry {
    batch_at(log.end(), stamp, timestamps)
}

fn batch_at(base: i64, stamp: Stamp, timestamps: &[i64]) -> Entry {
    let mut builder = BatchBuilder::new(Codec::None, None);
    for timestamp in timestamps {
        builder.push(*timestamp, Some(b"k"), Some(b"value"), HeadersSource::None).unwrap();
    }
    placed(&builder.finish(stamp).unwrap(), base)
}

/// The batch where a leader of epoch 0 puts it.
fn placed(batch: &[u8], base: i64) -> Entry {
    let mut bytes = batch.to_vec();
    bytes[0..8].copy_from_slice(&base.to_be_bytes());
    bytes[12..16].copy_from_slice(&0_i32.to_be_bytes());
    Entry::read(Bytes::from(bytes)).unwrap()
}

fn append(log: &mut Log, entries: Vec<Entry>) -> Appended {
    log.append(at(0), &settings(), 0, entries).unwrap()
}

/// A log of batches of so many records, without producers.
fn filled(release: Release, batches: &[usize]) -> Log {
    let mut log = Log::new(release);
    for records in batches {
        let entry = batch(&log, Stamp::NONE, &vec![1000; *records]);
        append(&mut log, vec![entry]);
    }
    log
}
