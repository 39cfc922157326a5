//! What the embedded Kafka writes to a folder, read by Kafka's own tool.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::{Bytes, BytesMut};
use kmirror_proto::compress::Codec;
use kmirror_proto::messages::{
    AddPartitionsToTxnRequest, AddPartitionsToTxnResponse, AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction,
    AnyRequest, AnyResponse, EndTxnRequest, EndTxnResponse, FindCoordinatorRequest, FindCoordinatorResponse,
    InitProducerIdRequest, InitProducerIdResponse, ProducePartition, ProduceRequest, ProduceResponse, ProduceTopic,
    RecordChunks,
};
use kmirror_proto::records::{BatchBuilder, HeadersSource, MessageFormat, MessageSetBuilder, Stamp, crc32c};
use kmirror_proto::{Frame, decode_response, encode_request};
use kmirror_testkit::disk::Folder;
use kmirror_testkit::{Cluster, ConnectionId, NodeId, Now, Output, Release};
use kmirror_tests::dump::{Dump, dump};
use kmirror_tests::{Failure, Result};

/// One embedded cluster, and a client of it in virtual time.
struct Embedded {
    cluster: Cluster,
    connection: ConnectionId,
    now: Now,
}

impl Embedded {
    fn of(release: Release, settings: &[(&str, &str)]) -> Result<Embedded> {
        let mut builder = Cluster::builder(release);
        for (key, value) in settings {
            builder = builder.setting(key, value);
        }
        let mut cluster = builder.build().map_err(|error| Failure::new(format!("building a cluster: {error}")))?;
        cluster.create_topic(TOPIC, 1);
        let now = Now { unix_ms: TIMESTAMP, ..Now::default() };
        let connection = cluster.connect(now, NodeId(0)).ok_or_else(|| Failure::new("the broker is not running"))?;
        Ok(Embedded { cluster, connection, now })
    }

    fn ask<R: TryFrom<AnyResponse, Error = AnyResponse>>(
        &mut self,
        version: i16,
        request: impl Into<AnyRequest>,
    ) -> Result<R> {
        let request = request.into();
        let failed = |what: String| Failure::new(format!("{:?} v{version}: {what}", request.key()));
        let frame = encode_request(1, None, version, &request).map_err(|error| failed(error.to_string()))?;
        self.cluster.receive(self.now, self.connection, body(&frame));
        let answer = match self.cluster.poll_output() {
            Some(Output::Frame(_, frame)) => decode_response(request.key(), version, body(&frame)),
            other => return Err(failed(format!("answered {other:?}"))),
        };
        let (_, answer) = answer.map_err(|error| failed(error.to_string()))?;
        R::try_from(answer).map_err(|other| failed(format!("answered {other:?}")))
    }

    /// The base offset.
    fn produce(&mut self, version: i16, transactional_id: Option<&str>, records: Bytes) -> Result<i64> {
        let partitions = vec![ProducePartition { index: 0, records: RecordChunks(vec![records]) }];
        let topics = vec![ProduceTopic { name: TOPIC.to_owned(), partitions, ..ProduceTopic::default() }];
        let transactional_id = transactional_id.map(str::to_owned);
        let request = ProduceRequest { transactional_id, acks: -1, timeout_ms: 1000, topics };
        let answer: ProduceResponse = self.ask(version, request)?;
        let partition = &answer.topics[0].partitions[0];
        if !partition.error_code.is_ok() {
            return Err(Failure::new(format!("produce v{version}: {}", partition.error_code)));
        }
        Ok(partition.base_offset)
    }

    /// Its id and epoch; a fresh broker of 3.9 and newer answers once that it is loading.
    fn producer(&mut self, id: &str) -> Result<(i64, i16)> {
        let begin = InitProducerIdRequest {
            transactional_id: Some(id.to_owned()),
            transaction_timeout_ms: 60_000,
            ..InitProducerIdRequest::default()
        };
        for _ in 0..2 {
            let producer: InitProducerIdResponse = self.ask(0, begin.clone())?;
            if producer.error_code.is_ok() {
                return Ok((producer.producer_id, producer.producer_epoch));
            }
        }
        Err(Failure::new(format!("no producer id for {id}")))
    }

    /// Two batches of a transaction, and its marker.
    fn transaction(&mut self, id: &str, committed: bool) -> Result {
        let find = FindCoordinatorRequest { key_type: 1, keys: vec![id.to_owned()] };
        let _: FindCoordinatorResponse = self.ask(1, find)?;
        let (producer_id, producer_epoch) = self.producer(id)?;
        let topics = vec![AddPartitionsToTxnTopic { name: TOPIC.to_owned(), partitions: vec![0] }];
        let transactional_id = id.to_owned();
        let added = AddPartitionsToTxnTransaction {
            transactional_id: transactional_id.clone(),
            producer_id,
            producer_epoch,
            topics,
            ..AddPartitionsToTxnTransaction::default()
        };
        let _: AddPartitionsToTxnResponse = self.ask(0, AddPartitionsToTxnRequest { transactions: vec![added] })?;
        for base_sequence in [0, 5] {
            let stamp = Stamp { producer_id, producer_epoch, base_sequence };
            self.produce(3, Some(id), transactional(&batch(Codec::Lz4, stamp, 5)))?;
        }
        let end = EndTxnRequest { transactional_id, producer_id, producer_epoch, committed };
        let ended: EndTxnResponse = self.ask(0, end)?;
        if ended.error_code.is_ok() { Ok(()) } else { Err(Failure::new(format!("EndTxn: {}", ended.error_code))) }
    }
}

const TOPIC: &str = "stored";
const TIMESTAMP: i64 = 1_700_000_000_000;
const CODECS: [Codec; 5] = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];

fn body(frame: &Frame) -> Bytes {
    let mut bytes = BytesMut::new();
    frame.chunks().iter().for_each(|chunk| bytes.extend_from_slice(chunk));
    bytes.freeze().slice(4..)
}

fn batch(codec: Codec, stamp: Stamp, records: i64) -> Bytes {
    let mut builder = BatchBuilder::new(codec, None);
    for n in 0..records {
        let value = format!("value {n} of a batch that is {codec}");
        let headers: &[(&[u8], Option<&[u8]>)] = &[(b"name", Some(b"value")), (b"null", None)];
        let pushed = builder.push(TIMESTAMP + n, Some(b"key"), Some(value.as_bytes()), HeadersSource::List(headers));
        assert!(pushed.is_ok());
    }
    builder.finish(stamp).unwrap_or_default()
}

fn transactional(batch: &Bytes) -> Bytes {
    let mut bytes = BytesMut::from(batch.as_ref());
    bytes[22] |= 0x10;
    let crc = crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes.freeze()
}

/// The files of the partition with these endings.
fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join(format!("{TOPIC}-0"))).into_iter().flatten().flatten();
    let is_one = |path: &PathBuf| path.extension().is_some_and(|it| endings.iter().any(|ending| it == *ending));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_one).collect();
    files.sort();
    files
}

fn written(embedded: &Embedded) -> Result<tempfile::TempDir> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(format!("writing the folder: {error}"));
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    Folder::at(folder.path()).write(&embedded.cluster).map_err(|error| failed(&error))?;
    Ok(folder)
}

/// All files, with and without looking into batches: so many entries are valid, and nothing else is said.
fn assert_valid(folder: &Path, entries: usize, records: usize) -> Result {
    for (deep, expected) in [(false, entries), (true, entries)] {
        let said = dump(&files(folder, &["log", "index", "timeindex"]), deep)?;
        assert_eq!((said.valid, said.invalid), (expected, 0), "deep: {deep}\n{}", said.text);
        assert!(!said.finds_mismatches(), "deep: {deep}\n{}", said.text);
        let inside = said.text.lines().filter(|line| line.starts_with("| offset:")).count();
        assert_eq!(inside, if deep { records } else { 0 }, "{}", said.text);
    }
    Ok(())
}

/// Every codec, a producer, transactions with their markers, in several segments, with and without leader epochs.
#[test]
fn magic_2_is_what_kafka_reads() -> Result {
    for release in [Release::V2_1, Release::V4_4] {
        let mut embedded = Embedded::of(release, &[("transaction.state.log.replication.factor", "1")])?;
        for n in 0..30 {
            for codec in CODECS {
                embedded.produce(7, None, batch(codec, Stamp::NONE, n + 1))?;
            }
        }
        let plain = 150;
        let records: i64 = (1..=30).map(|n| 5 * n).sum();
        embedded.transaction("committed", true)?;
        embedded.transaction("aborted", false)?;
        let folder = written(&embedded)?;
        assert_valid(folder.path(), plain + 6, usize::try_from(records).unwrap_or(0) + 22)?;
    }
    Ok(())
}

/// Plain messages and wrappers, as brokers of 0.10 keep them.
#[test]
fn magic_1_is_what_kafka_reads() -> Result {
    let mut embedded = Embedded::of(Release::V0_10_1, &[("log.segment.bytes", "5000")])?;
    for codec in [Codec::None, Codec::Gzip, Codec::None] {
        for _ in 0..20 {
            let mut set = MessageSetBuilder::new(MessageFormat::V1, codec);
            for n in 0..10 {
                assert!(set.push(TIMESTAMP + n, Some(b"key"), Some(b"a value that is long enough")).is_ok());
            }
            embedded.produce(2, None, set.finish().unwrap_or_default())?;
        }
    }
    let folder = written(&embedded)?;
    assert!(files(folder.path(), &["log"]).len() > 3, "several segments");
    let said = dump(&files(folder.path(), &["log", "index", "timeindex"]), false)?;
    assert_eq!((said.valid, said.invalid, said.finds_mismatches()), (420, 0, false), "{}", said.text);
    Ok(())
}

/// The tool sees a flipped byte; else it would prove nothing above.
#[test]
fn a_planted_flipped_byte_is_reported() -> Result {
    let mut embedded = Embedded::of(Release::V2_1, &[])?;
    for codec in CODECS {
        embedded.produce(7, None, batch(codec, Stamp::NONE, 3))?;
    }
    let folder = written(&embedded)?;
    let log = files(folder.path(), &["log"]).remove(0);
    let mut bytes = fs::read(&log).unwrap_or_default();
    // In the payload of the first batch, which is not compressed.
    bytes[100] ^= 1;
    fs::write(&log, &bytes).map_err(|error| Failure::new(format!("flipping a byte: {error}")))?;
    for deep in [false, true] {
        let said: Dump = dump(std::slice::from_ref(&log), deep)?;
        assert_eq!((said.valid, said.invalid), (4, 1), "deep: {deep}\n{}", said.text);
    }
    let mut cluster = embedded.cluster;
    let cuts = Folder::at(folder.path()).read(&mut cluster);
    let cuts = cuts.map_err(|error| Failure::new(error.to_string()))?;
    assert_eq!(cuts.iter().map(|cut| cut.offset).collect::<Vec<_>>(), [0], "and so is it here");
    Ok(())
}
