//! The embedded broker under load: what is written and read, and the proof that it is the same.

use std::path::Path;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use kmirror_proto::compress::Codec;
use kmirror_proto::messages::{
    FetchPartition, FetchRequest, FetchResponse, FetchTopic, ProducePartition, ProduceRequest, ProduceResponse,
    ProduceTopic,
};
use kmirror_proto::records::{BatchBuilder, HeadersSource, Stamp};
use kmirror_proto::{ApiKey, Frame, decode_response, encode_request};
use kmirror_testkit::{Cluster, Release};
use kmirror_tests::failure::ensure;
use kmirror_tests::wait::Stopwatch;
use kmirror_tests::{Failure, Result};

use crate::sample;

mod in_process;
pub use in_process::in_process;

mod tcp;
pub use tcp::over_tcp;

/// What is written.
#[derive(Debug)]
pub struct Load {
    /// One batch after the other.
    pub batches: Vec<Bytes>,
    /// Bytes of the records before they are compressed.
    pub record_bytes: u64,
}

/// What the thread that serves has spent.
#[derive(Clone, Copy, Debug)]
pub struct Took {
    /// From the first request to the last acknowledgement.
    pub produce: Spent,
    /// From the first request to the last record.
    pub fetch: Spent,
}

/// Time.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    /// Of the serving thread, in the kernel too.
    pub cpu: Duration,
    /// On the clock.
    pub wall: Duration,
}

impl std::ops::Add for Spent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { cpu: self.cpu + other.cpu, wall: self.wall + other.wall }
    }
}

/// What it costs a thread to have something done; `stat` is the file of that thread below `/proc`.
fn spent<T>(stat: &Path, work: impl FnOnce() -> Result<T>) -> Result<(Spent, T)> {
    let (before, watch) = (sample::cpu_time(stat)?, Stopwatch::start());
    let done = work()?;
    let wall = watch.elapsed();
    Ok((Spent { cpu: sample::cpu_time(stat)? - before, wall }, done))
}

const TOPIC: &str = "rig";
const RECORD_BYTES: usize = 1000;
/// With their framing just under the default of `max.message.bytes`, 1000012.
const RECORDS_PER_BATCH: usize = 985;
const PRODUCE_VERSION: i16 = 5;
const FETCH_VERSION: i16 = 7;
/// The default of `max.partition.fetch.bytes`.
const FETCH_BYTES: i32 = 1 << 20;
/// The first bytes of a batch that a broker writes: offset, length, leader epoch, magic, CRC. The CRC covers the rest,
/// and is compared too.
const REWRITTEN_BYTES: usize = 16;

impl Load {
    /// So many batches; half of each record is noise, so that codecs have something to do.
    ///
    /// # Errors
    /// A batch cannot be built.
    pub fn build(codec: Codec, batches: usize) -> Result<Self> {
        let mut builder = BatchBuilder::new(codec, None);
        let mut value = vec![b'.'; RECORD_BYTES];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut built = Vec::with_capacity(batches);
        for _ in 0..batches {
            for _ in 0..RECORDS_PER_BATCH {
                for chunk in value.chunks_exact_mut(8).take(RECORD_BYTES / 16) {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    chunk.copy_from_slice(&state.to_le_bytes());
                }
                let pushed = builder.push(1_700_000_000_000, None, Some(&value), HeadersSource::None);
                pushed.map_err(failed("building a batch"))?;
            }
            built.push(builder.finish(Stamp::NONE).map_err(failed("finishing a batch"))?);
        }
        Ok(Self { batches: built, record_bytes: (batches * RECORDS_PER_BATCH * RECORD_BYTES) as u64 })
    }

    /// Bytes of all batches as they are sent.
    #[must_use]
    pub fn batch_bytes(&self) -> u64 {
        self.batches.iter().map(|batch| batch.len() as u64).sum()
    }

    fn produce(&self, batch: usize) -> Result<Frame> {
        let records = self.batches[batch].clone().into();
        let partitions = vec![ProducePartition { index: 0, records }];
        let topics = vec![ProduceTopic { name: TOPIC.to_owned(), partitions, ..ProduceTopic::default() }];
        let request = ProduceRequest { acks: -1, timeout_ms: 30_000, topics, ..ProduceRequest::default() };
        encoded(PRODUCE_VERSION, &request.into())
    }

    fn fetch(batch: usize) -> Result<Frame> {
        let fetch_offset = offset(batch);
        let partitions =
            vec![FetchPartition { fetch_offset, partition_max_bytes: FETCH_BYTES, ..FetchPartition::default() }];
        let topics = vec![FetchTopic { name: TOPIC.to_owned(), partitions, ..FetchTopic::default() }];
        encoded(
            FETCH_VERSION,
            &FetchRequest { topics, max_wait_ms: 500, min_bytes: 1, ..FetchRequest::default() }.into(),
        )
    }

    /// Proves that an answer acknowledges a batch.
    fn acknowledged(&self, batch: usize, answer: Bytes) -> Result {
        let (_, answer) = decode_response(ApiKey::PRODUCE, PRODUCE_VERSION, answer).map_err(failed(&reading(batch)))?;
        let answer = ProduceResponse::try_from(answer).map_err(|_| Failure::new(reading(batch)))?;
        let done = &answer.topics[0].partitions[0];
        ensure(done.error_code.is_ok() && done.base_offset == offset(batch), || {
            format!("batch {batch}: {} at {}", done.error_code, done.base_offset)
        })
    }

    /// Proves that an answer begins with a batch as it was written.
    fn fetched(&self, batch: usize, answer: Bytes) -> Result {
        let (_, answer) = decode_response(ApiKey::FETCH, FETCH_VERSION, answer).map_err(failed(&reading(batch)))?;
        let answer = FetchResponse::try_from(answer).map_err(|_| Failure::new(reading(batch)))?;
        let read = answer.topics[0].partitions[0].records.clone().unwrap_or_default();
        let written = &self.batches[batch];
        let same = read.len() >= written.len()
            && read[..8] == offset(batch).to_be_bytes()
            && read[8..12] == written[8..12]
            && read[REWRITTEN_BYTES..written.len()] == written[REWRITTEN_BYTES..];
        ensure(same, || format!("batch {batch} does not come back as it was written"))
    }
}

fn cluster() -> Result<Cluster> {
    let mut cluster = Cluster::builder(Release::V2_0).build().map_err(failed("building a cluster"))?;
    cluster.create_topic(TOPIC, 1);
    Ok(cluster)
}

fn encoded(version: i16, request: &kmirror_proto::AnyRequest) -> Result<Frame> {
    encode_request(1, Some("rig"), version, request).map_err(failed("writing a request"))
}

/// A frame without its length, in one piece, as it is read from a socket.
fn in_one_piece(frame: &Frame) -> Bytes {
    let mut bytes = BytesMut::with_capacity(frame.len());
    frame.chunks().iter().for_each(|chunk| bytes.extend_from_slice(chunk));
    bytes.freeze().slice(4..)
}

fn offset(batch: usize) -> i64 {
    i64::try_from(batch * RECORDS_PER_BATCH).unwrap_or(i64::MAX)
}

fn reading(batch: usize) -> String {
    format!("reading the answer about batch {batch}")
}

/// Says what was being done.
fn failed<E: std::fmt::Display>(what: &str) -> impl FnOnce(E) -> Failure {
    let what = what.to_owned();
    move |error| Failure::new(format!("{what}: {error}"))
}
