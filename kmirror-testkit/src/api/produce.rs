//! Produce: records are checked, made what the release makes of them, and appended.
//!
//! ```text
//! each partition ─► accept (rules of the format) ─► Log::append (rules of the sequence) ─► replicate
//! acks 0: no answer, a refusal closes the connection      acks 1: at once      acks all: once in-sync replicas have it
//! ```
//!
//! Java: `kafka.server.KafkaApis.handleProduceRequest`, `ReplicaManager.appendRecords`, `DelayedProduce`.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    ProducePartition, ProduceRequest, ProduceResponse, ProduceTopic, ProducedPartition, ProducedTopic, RecordChunks,
};
use kmirror_proto::records::BatchHeader;

use super::access;
use crate::Release;
use crate::accept::{Asked, Offered, Refusal, accept, refuse_request};
use crate::acls::Operation;
use crate::cluster::waits::Waiting as Wait;
use crate::cluster::{Call, Cluster, Coordinates, Partition, Reply};
use crate::transactions::Identity;

/// A produce whose records wait for the in-sync replicas.
#[derive(Debug)]
pub(crate) struct Waiting {
    response: ProduceResponse,
    /// Topic, partition, and the offset behind the last record.
    pending: Vec<(String, i32, i64)>,
}

/// What became of one partition's records.
enum Outcome {
    Done(ProducedPartition),
    Close,
    Silence,
}

/// Appends partition by partition; what one refuses does not hold up the others.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: ProduceRequest) -> Reply {
    let mut waiting = Waiting { response: ProduceResponse::default(), pending: Vec::new() };
    let asks = Asks { acks: request.acks, transactional_id: request.transactional_id.as_deref() };
    match refused_whole(cluster, call, &asks, &request.topics) {
        None => {}
        Some(Refusal::Disconnect) => return Reply::Close,
        Some(Refusal::Silence) => return Reply::Silence,
        Some(Refusal::Code { code, message, .. }) => {
            waiting.response.topics = request.topics.iter().map(|topic| all_refused(topic, code, &message)).collect();
            return reply(cluster, call, &asks, request.timeout_ms, waiting);
        }
    }
    for topic in request.topics {
        let name = cluster.name_of(call.version >= BY_ID_FROM, &topic.name, &topic.topic_id);
        let known_as = name.clone().unwrap_or_default();
        let mut produced = ProducedTopic { name: known_as, topic_id: topic.topic_id, partitions: Vec::new() };
        for partition in topic.partitions {
            let Some(name) = &name else {
                let (index, error_code) = (partition.index, ErrorCode::UNKNOWN_TOPIC_ID);
                produced.partitions.push(ProducedPartition { index, error_code, ..ProducedPartition::default() });
                continue;
            };
            match one(cluster, call, &asks, name, partition) {
                Outcome::Done(done) => produced.partitions.push(done),
                Outcome::Close => return Reply::Close,
                Outcome::Silence => return Reply::Silence,
            }
        }
        waiting.note(cluster, &produced);
        waiting.response.topics.push(produced);
    }
    cluster.waits.change();
    reply(cluster, call, &asks, request.timeout_ms, waiting)
}

/// Whether the in-sync replicas have all of it by now. What they will not get is answered for what it is: the leader is
/// another one, or too few are left in sync (the records stay); when the time is over the rest is too late.
pub(crate) fn look_again(cluster: &Cluster, call: &Call, waiting: &mut Waiting, over: bool) -> Option<ProduceResponse> {
    let mut settled = Vec::new();
    let in_sync_min = |topic: &str, partition: &Partition| {
        cluster.topics.get(topic).map_or(0, |topic| partition.in_sync_min(cluster.release, &topic.settings))
    };
    waiting.pending.retain(|(topic, index, next)| {
        let code = match cluster.partition(topic, *index) {
            None => Some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
            Some(partition) if partition.leader != Some(call.node) => Some(ErrorCode::NOT_LEADER_OR_FOLLOWER),
            Some(partition) if partition.high_watermark() < *next => over.then_some(ErrorCode::REQUEST_TIMED_OUT),
            Some(partition) if partition.in_sync().count() < in_sync_min(topic, partition) => {
                Some(ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND)
            }
            Some(_) => Some(ErrorCode::NONE),
        };
        settled.extend(code.map(|code| (topic.clone(), *index, code)));
        code.is_none()
    });
    for (topic, index, code) in settled.into_iter().filter(|(_, _, code)| !code.is_ok()) {
        let topics = waiting.response.topics.iter_mut().filter(|produced| produced.name == topic);
        for partition in topics.flat_map(|topic| &mut topic.partitions).filter(|p| p.index == index) {
            partition.error_code = code;
        }
    }
    waiting.pending.is_empty().then(|| std::mem::take(&mut waiting.response))
}

/// What ends the whole request before anything of it is appended, whichever partition has it.
fn refused_whole(cluster: &Cluster, call: &Call, asks: &Asks<'_>, topics: &[ProduceTopic]) -> Option<Refusal> {
    topics.iter().flat_map(|topic| &topic.partitions).find_map(|partition| {
        let records = joined(partition.records.clone());
        let (release, version, transactional_id) = (cluster.release, call.version, asks.transactional_id);
        refuse_request(&Asked { release, version, records: records.as_ref(), transactional_id }).err()
    })
}

fn all_refused(topic: &ProduceTopic, error_code: ErrorCode, message: &Option<String>) -> ProducedTopic {
    let refused = |partition: &ProducePartition| ProducedPartition {
        index: partition.index,
        error_code,
        error_message: message.clone(),
        ..ProducedPartition::default()
    };
    ProducedTopic {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        partitions: topic.partitions.iter().map(refused).collect(),
    }
}

struct Asks<'a> {
    acks: i16,
    transactional_id: Option<&'a str>,
}

fn reply(cluster: &mut Cluster, call: &Call, asks: &Asks<'_>, timeout_ms: i32, mut waiting: Waiting) -> Reply {
    match asks.acks {
        0 => {
            let failed = |partition: &ProducedPartition| partition.error_code != ErrorCode::NONE;
            let any_failed = waiting.response.topics.iter().flat_map(|topic| &topic.partitions).any(failed);
            if any_failed { Reply::Close } else { Reply::Nothing }
        }
        -1 => match look_again(cluster, call, &mut waiting, false) {
            Some(response) => Reply::from(response),
            None => {
                let wait = Duration::from_millis(u64::try_from(timeout_ms).unwrap_or(0));
                cluster.wait(call, call.now.after(wait), Wait::Produce(waiting));
                Reply::Later
            }
        },
        _ => Reply::from(waiting.response),
    }
}

impl Waiting {
    fn note(&mut self, cluster: &Cluster, produced: &ProducedTopic) {
        for done in produced.partitions.iter().filter(|done| done.error_code == ErrorCode::NONE) {
            if let Some(partition) = cluster.partition(&produced.name, done.index) {
                self.pending.push((produced.name.clone(), done.index, partition.log.end()));
            }
        }
    }
}

fn one(cluster: &mut Cluster, call: &Call, asks: &Asks<'_>, topic: &str, offered: ProducePartition) -> Outcome {
    let (index, release, node) = (offered.index, cluster.release, call.node);
    let refused = |error_code| Outcome::Done(ProducedPartition { index, error_code, ..ProducedPartition::default() });
    let refused_from = |log_start_offset, error_code| {
        Outcome::Done(ProducedPartition { index, error_code, log_start_offset, ..ProducedPartition::default() })
    };
    if let Err(code) = access::topic(cluster, call, Operation::Write, topic) {
        return refused(code);
    }
    if !matches!(asks.acks, -1..=1) {
        return refused(ErrorCode::INVALID_REQUIRED_ACKS);
    }
    let Some((partition, settings)) = cluster.partition_mut(topic, index) else {
        return refused(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    };
    if partition.leader != Some(node) {
        return refused(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    }
    if asks.acks == -1 && partition.in_sync().count() < partition.in_sync_min(release, settings) {
        return refused_from(partition.log.start(), ErrorCode::NOT_ENOUGH_REPLICAS);
    }
    let records = joined(offered.records);
    if let Err(code) = verify(cluster, call, asks, (topic, index), records.as_ref()) {
        return refused(code);
    }
    let Some((partition, settings)) = cluster.partition_mut(topic, index) else {
        return refused(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    };
    let accepted = accept(&mut Offered {
        release,
        version: call.version,
        settings,
        topic,
        partition: index,
        now: call.now,
        records,
        next_offset: partition.log.end(),
        leader_epoch: partition.leader_epoch,
        transactional_id: asks.transactional_id,
    });
    let accepted = match accepted {
        Ok(accepted) => accepted,
        Err(Refusal::Disconnect) => return Outcome::Close,
        Err(Refusal::Silence) => return Outcome::Silence,
        Err(Refusal::Code { code, message, record_errors, log_start }) => {
            return Outcome::Done(ProducedPartition {
                index,
                error_code: code,
                log_start_offset: if log_start { partition.log.start() } else { -1 },
                record_errors,
                error_message: message,
                ..ProducedPartition::default()
            });
        }
    };
    if accepted.entries.is_empty() {
        // R5: nothing whole was sent, and nothing is wrong with that below v3.
        return refused(ErrorCode::NONE);
    }
    match partition.log.append(call.now, settings, partition.leader_epoch, accepted.entries) {
        Err(refusal) => refused_from(partition.log.start(), refusal.code),
        Ok(appended) => {
            partition.replicate();
            Outcome::Done(ProducedPartition {
                index,
                base_offset: appended.base_offset,
                // A repeated batch is answered with the time of its first append: its only sign (R13).
                log_append_time_ms: if appended.duplicate { appended.append_time_ms } else { accepted.append_time_ms },
                log_start_offset: partition.log.start(),
                ..ProducedPartition::default()
            })
        }
    }
}

/// R6: from 3.6 on a batch of a transaction has to be one of a transaction that the coordinator knows to have this
/// partition (KIP-890); from v12 on writing is enough to add it. Without the topic of transactions nobody knows: 19.
fn verify(
    cluster: &mut Cluster,
    call: &Call,
    asks: &Asks<'_>,
    (topic, index): (&str, i32),
    records: Option<&Bytes>,
) -> Result<(), ErrorCode> {
    let header = records.and_then(|records| BatchHeader::parse(records).ok());
    let (Some(header), Some(id)) = (header, asks.transactional_id) else { return Ok(()) };
    if cluster.release < Release::V3_9 || !header.attributes.transactional() || header.producer_id < 0 {
        return Ok(());
    }
    if !cluster.topics.contains_key(Coordinates::Transaction.topic()) {
        return Err(ErrorCode::NOT_ENOUGH_REPLICAS);
    }
    let producer = Identity { id: header.producer_id, epoch: header.producer_epoch };
    let place = (topic.to_owned(), index);
    match (cluster.transactions.has(id, producer, &place)?, call.version) {
        (true, _) => Ok(()),
        (false, ADDS_FROM..) => cluster.transactions.add(call.now, (id, producer), true, [place]),
        (false, ABORTABLE_FROM..) => Err(ErrorCode::TRANSACTION_ABORTABLE),
        (false, _) => Err(ErrorCode::INVALID_TXN_STATE),
    }
}

/// The first version whose topics go by id.
const BY_ID_FROM: i16 = 13;

/// The first version with error 120 (KIP-890).
const ABORTABLE_FROM: i16 = 11;

/// The first version that adds the partition to the transaction.
const ADDS_FROM: i16 = 12;

/// Records that arrived in one frame are one slice of it, null ones none; more of them are copied together.
fn joined(chunks: RecordChunks) -> Option<Bytes> {
    let mut chunks = chunks.0;
    if chunks.len() <= 1 {
        return chunks.pop();
    }
    let mut joined = BytesMut::with_capacity(chunks.iter().map(Bytes::len).sum());
    chunks.iter().for_each(|chunk| joined.extend_from_slice(chunk));
    Some(joined.freeze())
}

#[cfg(test)]
mod tests {
    use kmirror_proto::messages::{AnyRequest, AnyResponse, ProduceTopic};
    use kmirror_proto::records::Stamp;

    use super::*;
    use crate::NodeId;
    use crate::asking::{Asking, Came, batch};

    #[test]
    fn batches_get_the_next_offsets() {
        let mut client = Asking::of(Release::V2_0);
        client.cluster.create_topic("numbers", 1);
        let bases = [(); 3].map(|()| client.produce(3, "numbers", -1, batch(4, Stamp::NONE)).base_offset);
        assert_eq!(bases, [0, 4, 8]);
        assert_eq!(client.cluster.offsets("numbers", 0), Ok((0, 12)));
    }

    /// 2.0 reads the batches while it parses the request (R4), later releases refuse the one partition.
    #[test]
    fn what_ends_the_request_leaves_no_partition_half_done() {
        for (release, first_end) in [(Release::V2_0, 0), (Release::V2_1, 1)] {
            let mut client = Asking::of(release);
            client.cluster.create_topic("two", 2);
            let double = Bytes::from([batch(1, Stamp::NONE), batch(1, Stamp::NONE)].concat());
            let partitions = [batch(1, Stamp::NONE), double].into_iter().zip(0..);
            let partitions = partitions.map(|(records, index)| ProducePartition { index, records: records.into() });
            let (name, partitions) = ("two".to_owned(), partitions.collect());
            let topics = vec![ProduceTopic { name, partitions, ..ProduceTopic::default() }];
            let came = client.send(3, ProduceRequest { topics, ..ProduceRequest::default() });
            assert_eq!(came == Came::Closed, release == Release::V2_0, "{release}");
            assert_eq!(client.cluster.offsets("two", 0), Ok((0, first_end)));
            assert_eq!(client.cluster.offsets("two", 1), Ok((0, 0)));
        }
    }

    /// With acks all the answer comes when the in-sync follower has the records, or says that it did not in time.
    #[test]
    fn acks_all_waits_for_the_in_sync_replicas() {
        let cluster = Cluster::builder(Release::V2_0).brokers(2).setting("default.replication.factor", "2").build();
        let mut client = Asking::to(cluster.unwrap(), NodeId(0));
        client.cluster.create_topic("slow", 1);
        client.cluster.partition_mut("slow", 0).unwrap().0.replicas[1].follows = false;
        let partitions = vec![ProducePartition { index: 0, records: RecordChunks(vec![batch(1, Stamp::NONE)]) }];
        let topics = vec![ProduceTopic { name: "slow".to_owned(), partitions, ..ProduceTopic::default() }];
        let request = AnyRequest::from(ProduceRequest { transactional_id: None, acks: -1, timeout_ms: 500, topics });
        assert_eq!(client.send(3, request.clone()), Came::Nothing);
        assert_eq!(client.wait(Duration::from_millis(499), 3, &request), Came::Nothing);
        let Came::Answer(answer) = client.wait(Duration::from_millis(1), 3, &request) else { panic!("no answer") };
        let AnyResponse::Produce(answer) = *answer else { panic!("of another API") };
        assert_eq!(answer.topics[0].partitions[0].error_code, ErrorCode::REQUEST_TIMED_OUT);
        assert_eq!(client.produce(3, "slow", 1, batch(1, Stamp::NONE)).base_offset, 1);
    }

    /// Records that came alone in their frame are not copied: the log has them where they were read.
    #[test]
    fn records_stay_where_they_were_read() {
        let mut client = Asking::of(Release::V2_0);
        client.cluster.create_topic("numbers", 1);
        let partitions = vec![ProducePartition { index: 0, records: RecordChunks(vec![batch(4, Stamp::NONE)]) }];
        let topics = vec![ProduceTopic { name: "numbers".to_owned(), partitions, ..ProduceTopic::default() }];
        let request = AnyRequest::from(ProduceRequest { topics, ..ProduceRequest::default() });
        let frame = crate::asking::body(&kmirror_proto::encode_request(7, None, 3, &request).unwrap());
        let read_at = frame.as_ptr_range();
        let at = client.connection();
        client.cluster.receive(client.now, at, frame);
        let stored = client.cluster.partition("numbers", 0).unwrap().log.entries(0).next().unwrap().bytes.as_ptr();
        assert!(read_at.contains(&stored));
    }
}
