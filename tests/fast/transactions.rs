//! Transactions of the source between embedded clusters: committed, aborted, interleaved and open ones, in every codec; and a
//! read_committed reader of the target sees its log's end, whatever was mirrored.
#![expect(clippy::disallowed_types, reason = "a producer from outside")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use bytes::Bytes;
use kmirror_proto::messages::{
    AddPartitionsToTxnRequest, AddPartitionsToTxnResponse, AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction,
    AnyRequest, AnyResponse, EndTxnRequest, EndTxnResponse, FetchPartition, FetchRequest, FetchResponse, FetchTopic,
    FindCoordinatorRequest, FindCoordinatorResponse, InitProducerIdRequest, InitProducerIdResponse, ProducePartition,
    ProduceRequest, ProduceResponse, ProduceTopic, RecordChunks,
};
use kmirror_proto::records::{BatchBuilder, Entry, HeadersSource, Placement, Stamp, split};
use kmirror_proto::{ErrorCode, decode_response, encode_request};
use kmirror_testkit::{Codec, Release};
use kmirror_tests::embedded::{Embedded, WITHIN, mirror_of, run};
use kmirror_tests::failure::ensure;
use kmirror_tests::wait::{self, Deadline};
use kmirror_tests::{Failure, Result};

const TOPIC: &str = "bank";

/// A failed step with what was being done.
fn told<T, E: std::fmt::Display>(what: &str, result: std::result::Result<T, E>) -> Result<T> {
    result.map_err(|error| Failure::new(format!("{what}: {error}")))
}

/// One connection to the only broker of a cluster.
struct Client(TcpStream);

impl Client {
    fn of(cluster: &Embedded) -> Result<Client> {
        let stream = told("connecting", TcpStream::connect(cluster.bootstrap()))?;
        told("connecting", stream.set_read_timeout(Some(WITHIN)))?;
        Ok(Client(stream))
    }

    fn ask<R: TryFrom<AnyResponse>>(&mut self, version: i16, request: impl Into<AnyRequest>) -> Result<R> {
        let request = request.into();
        let what = request.key().to_string();
        let frame = told(&what, encode_request(1, Some("bank"), version, &request))?;
        for chunk in frame.chunks() {
            told(&what, self.0.write_all(chunk))?;
        }
        let mut prefix = [0; 4];
        told(&what, self.0.read_exact(&mut prefix))?;
        let mut answer = vec![0; usize::try_from(i32::from_be_bytes(prefix)).unwrap_or(0)];
        told(&what, self.0.read_exact(&mut answer))?;
        let (_, answer) = told(&what, decode_response(request.key(), version, answer.into()))?;
        R::try_from(answer).map_err(|_| Failure::new("an answer of another kind"))
    }
}

/// A transactional producer.
struct Producer {
    client: Client,
    name: String,
    stamp: Stamp,
}

impl Producer {
    fn new(cluster: &Embedded, name: &str) -> Result<Producer> {
        let mut client = Client::of(cluster)?;
        // The first question about a coordinator makes the topic that it keeps its transactions in.
        let find = FindCoordinatorRequest { key_type: 1, keys: vec![name.to_owned()] };
        settled(|| {
            let answer: FindCoordinatorResponse = client.ask(1, find.clone())?;
            Ok((answer.coordinators[0].error_code, ()))
        })?;
        let init = InitProducerIdRequest {
            transactional_id: Some(name.to_owned()),
            transaction_timeout_ms: 60_000,
            producer_id: -1,
            producer_epoch: -1,
            ..InitProducerIdRequest::default()
        };
        let initial: InitProducerIdResponse = settled(|| {
            let answer: InitProducerIdResponse = client.ask(0, init.clone())?;
            Ok((answer.error_code, answer))
        })?;
        let (producer_id, producer_epoch) = (initial.producer_id, initial.producer_epoch);
        Ok(Producer { client, name: name.to_owned(), stamp: Stamp { producer_id, producer_epoch, base_sequence: 0 } })
    }

    fn begin(&mut self) -> Result {
        let topics = vec![AddPartitionsToTxnTopic { name: TOPIC.to_owned(), partitions: vec![0] }];
        let transaction = AddPartitionsToTxnTransaction {
            transactional_id: self.name.clone(),
            producer_id: self.stamp.producer_id,
            producer_epoch: self.stamp.producer_epoch,
            topics,
            ..AddPartitionsToTxnTransaction::default()
        };
        let add = AddPartitionsToTxnRequest { transactions: vec![transaction] };
        settled(|| {
            let answer: AddPartitionsToTxnResponse = self.client.ask(0, add.clone())?;
            let partitions =
                answer.results.iter().flat_map(|result| &result.topics).flat_map(|topic| &topic.partitions);
            Ok((partitions.map(|partition| partition.error_code).next().unwrap_or(answer.error_code), ()))
        })
    }

    /// Writes the values as one batch of the transaction.
    fn write(&mut self, codec: Codec, values: &[&str]) -> Result {
        let mut batch = BatchBuilder::new(codec, None);
        batch.set_placement(Placement { transactional: true, ..Placement::NONE });
        for value in values {
            let pushed = batch.push(1_700_000_000_000, None, Some(value.as_bytes()), HeadersSource::None);
            told("building", pushed)?;
        }
        let bytes: Bytes = told("building", batch.finish(self.stamp))?;
        self.stamp.base_sequence += i32::try_from(values.len()).unwrap_or(0);
        let partitions = vec![ProducePartition { index: 0, records: RecordChunks(vec![bytes]) }];
        let produce = ProduceRequest {
            transactional_id: Some(self.name.clone()),
            acks: -1,
            timeout_ms: 10_000,
            topics: vec![ProduceTopic { name: TOPIC.to_owned(), partitions, ..ProduceTopic::default() }],
        };
        // v7 is the first that takes zstd (KIP-110).
        let answer: ProduceResponse = self.client.ask(if codec == Codec::Zstd { 7 } else { 3 }, produce)?;
        let error = answer.topics[0].partitions[0].error_code;
        ensure(error.is_ok(), || format!("{} cannot write: {error}", self.name))
    }

    fn end(&mut self, committed: bool) -> Result {
        let end = EndTxnRequest {
            transactional_id: self.name.clone(),
            producer_id: self.stamp.producer_id,
            producer_epoch: self.stamp.producer_epoch,
            committed,
        };
        settled(|| {
            let answer: EndTxnResponse = self.client.ask(0, end.clone())?;
            Ok((answer.error_code, ()))
        })
    }
}

/// Asks until the coordinator is done with what it was asked before.
fn settled<R>(mut ask: impl FnMut() -> Result<(ErrorCode, R)>) -> Result<R> {
    wait::until(Deadline::after(WITHIN), "the transaction's coordinator", || {
        let (error, answer) = ask()?;
        let busy = error.is_retriable() || error == ErrorCode::CONCURRENT_TRANSACTIONS;
        ensure(busy || error.is_ok(), || format!("the coordinator says {error}"))?;
        Ok(error.is_ok().then_some(answer))
    })
}

/// A commits, aborts; then B and A are open at once, A commits, B aborts; C stays open in the end (report B05). The values
/// say what became of them.
fn banked(release: Release, codec: Codec, leave_open: bool) -> Result<Embedded> {
    let source = Embedded::start(release)?;
    source.with(|cluster, _| cluster.create_topic(TOPIC, 1));
    let (mut a, mut b) = (Producer::new(&source, "a")?, Producer::new(&source, "b")?);
    a.begin()?;
    a.write(codec, &["committed 1", "committed 2"])?;
    a.end(true)?;
    a.begin()?;
    a.write(codec, &["aborted 1", "aborted 2"])?;
    a.end(false)?;
    b.begin()?;
    a.begin()?;
    b.write(codec, &["aborted 3"])?;
    a.write(codec, &["committed 3"])?;
    b.write(codec, &["aborted 4", "aborted 5"])?;
    a.end(true)?;
    b.end(false)?;
    // Begun, and aborted without a record.
    b.begin()?;
    b.end(false)?;
    b.begin()?;
    b.write(codec, &["committed 4"])?;
    b.end(true)?;
    if leave_open {
        a.begin()?;
        a.write(codec, &["open 1"])?;
        b.begin()?;
        b.write(codec, &["behind an open one 1"])?;
        b.end(true)?;
    }
    Ok(source)
}

/// The values that a reader gets who reads committed records only, up to the log's end, with nothing of a transaction in it.
fn committed(target: &Embedded) -> Result<Vec<String>> {
    let partition = FetchPartition { partition: 0, partition_max_bytes: 1 << 20, ..FetchPartition::default() };
    let fetch = FetchRequest {
        replica_id: -1,
        max_wait_ms: 0,
        min_bytes: 0,
        max_bytes: 1 << 20,
        isolation_level: 1,
        topics: vec![FetchTopic { name: TOPIC.to_owned(), partitions: vec![partition], ..FetchTopic::default() }],
        ..FetchRequest::default()
    };
    let answer: FetchResponse = Client::of(target)?.ask(4, fetch)?;
    let fetched = &answer.topics[0].partitions[0];
    let mut batches = 0;
    let mut end = 0;
    for entry in split(fetched.records.clone().unwrap_or_default()) {
        if let Ok(Entry::Batch(batch)) = entry {
            let attributes = batch.header.attributes;
            ensure(!attributes.transactional() && !attributes.control(), || format!("{attributes:?} on the target"))?;
            (batches, end) = (batches + 1, batch.header.next_offset());
        }
    }
    ensure(fetched.error_code.is_ok() && batches > 0, || format!("{:?}", fetched.error_code))?;
    // 0.11 … 2.0 do not say the last stable offset (fact F8); the records are what matters.
    let stable = fetched.last_stable_offset;
    ensure(end == fetched.high_watermark, || format!("a reader comes to {end} of {}", fetched.high_watermark))?;
    ensure(stable < 0 || stable == end, || format!("{stable} is stable of {end}"))?;
    values(target)
}

fn values(target: &Embedded) -> Result<Vec<String>> {
    let records = target.read(TOPIC, 0)?;
    Ok(records
        .iter()
        .map(|record| String::from_utf8_lossy(record.value.as_deref().unwrap_or_default()).into())
        .collect())
}

const COMMITTED: [&str; 4] = ["committed 1", "committed 2", "committed 3", "committed 4"];
const ALL: [&str; 9] = [
    "committed 1",
    "committed 2",
    "aborted 1",
    "aborted 2",
    "aborted 3",
    "committed 3",
    "aborted 4",
    "aborted 5",
    "committed 4",
];
const OPEN: [&str; 2] = ["open 1", "behind an open one 1"];

fn mirrored(from: Release, to: Release, codec: Codec) -> Result {
    for (isolation, leave_open) in
        [("read_committed", false), ("read_committed", true), ("read_uncommitted", false), ("read_uncommitted", true)]
    {
        let (source, target) = (banked(from, codec, leave_open)?, Embedded::start(to)?);
        let mirror =
            || mirror_of(&source, &target, TOPIC).source_property("isolation.level", isolation).until_caught_up(true);
        let what = format!("{from} to {to}, {codec}, {isolation}, open: {leave_open}");
        let copied = told(&what, run(mirror()))?;
        let expected: Vec<&str> = match (isolation, leave_open) {
            ("read_committed", _) => COMMITTED.to_vec(),
            (_, false) => ALL.to_vec(),
            (_, true) => [&ALL[..], &OPEN].concat(),
        };
        assert_eq!(told(&what, committed(&target))?, expected, "{what}");
        assert_eq!(copied.status.total().counters.records, expected.len() as u64, "{what}");
        // A 2.0 does not say the last stable offset (fact F8): what an open transaction holds back is lag there.
        let held = from == Release::V2_0 && leave_open && isolation == "read_committed";
        assert_eq!(copied.status.total().lag, Some(if held { 3 } else { 0 }), "{what}");
        let again = told(&what, run(mirror()))?;
        assert_eq!(again.status.total().counters.records, 0, "{what}: a second run copies nothing");
    }
    Ok(())
}

#[test]
fn from_0_11_to_4_4() -> Result {
    mirrored(Release::V0_11, Release::V4_4, Codec::Gzip)
}

#[test]
fn from_2_0_to_0_11() -> Result {
    mirrored(Release::V2_0, Release::V0_11, Codec::None)
}

#[test]
fn from_2_0_to_2_0() -> Result {
    mirrored(Release::V2_0, Release::V2_0, Codec::Lz4)
}

#[test]
fn from_3_9_to_2_0() -> Result {
    mirrored(Release::V3_9, Release::V2_0, Codec::Snappy)
}

#[test]
fn from_4_4_to_3_9() -> Result {
    mirrored(Release::V4_4, Release::V3_9, Codec::Zstd)
}

#[test]
fn nothing_aborted_reaches_0_10() -> Result {
    let (source, target) = (banked(Release::V2_0, Codec::Gzip, false)?, Embedded::start(Release::V0_10_1)?);
    run(mirror_of(&source, &target, TOPIC).until_caught_up(true))?;
    assert_eq!(values(&target)?, COMMITTED);
    Ok(())
}
