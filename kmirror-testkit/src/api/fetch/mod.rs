//! Fetch: records from a partition's leader, at once or once there are enough; with a session only what is new.
//!
//! ```text
//! request ─► session: which partitions ─► partition: read, convert ─► enough? ─► session: what is left out ─► answer
//!                                              ▲                        │
//!                                              └── waits: changed, over ┘
//! ```
//!
//! Java: `kafka.server.KafkaApis.handleFetchRequest`, `ReplicaManager.readFromLocalLog`, `DelayedFetch`.

use std::time::Duration;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{FetchRequest, FetchResponse, FetchableTopic, FetchedPartition, NodeEndpoint};

use crate::NodeId;
use crate::cluster::waits::Waiting as Wait;
use crate::cluster::{Call, Cluster, Reply};

mod down;

mod partition;
use partition::Room;

mod session;
pub(crate) use session::Sessions;
use session::{Asked, Plan};

/// A fetch that waits for `min_bytes`.
#[derive(Debug)]
pub(crate) struct Waiting {
    request: FetchRequest,
    plan: Plan,
}

/// Answers what is there, or waits for more.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: FetchRequest) -> Reply {
    let plan = match session::plan(cluster, call, &request) {
        Ok(plan) => plan,
        Err(error_code) => return Reply::from(FetchResponse { error_code, ..FetchResponse::default() }),
    };
    let wait = Duration::from_millis(u64::try_from(request.max_wait_ms).unwrap_or(0));
    let mut waiting = Waiting { request, plan };
    match look_again(cluster, call, &mut waiting, wait.is_zero()) {
        Some(response) => Reply::from(response),
        None => {
            cluster.wait(call, call.now.after(wait), Wait::Fetch(waiting));
            Reply::Later
        }
    }
}

/// The answer, if there is enough for one, something is wrong, or the time is `over`.
pub(crate) fn look_again(
    cluster: &mut Cluster,
    call: &Call,
    waiting: &mut Waiting,
    over: bool,
) -> Option<FetchResponse> {
    let request = &waiting.request;
    let mut room = Room { left: usize::try_from(request.max_bytes).unwrap_or(0), taken: 0 };
    let mut fetched = Vec::with_capacity(waiting.plan.asked.len());
    for asked in &waiting.plan.asked {
        let partition = partition::fetch(cluster, call, request, asked, &room);
        room.take(partition.records.as_ref().map_or(0, bytes::Bytes::len));
        fetched.push(partition);
    }
    let failed = fetched.iter().any(|partition| partition.error_code != ErrorCode::NONE);
    let enough = room.taken >= usize::try_from(request.min_bytes).unwrap_or(0);
    if !enough && !failed && !over && !fetched.is_empty() {
        return None;
    }
    let kept = session::answered(cluster, call, &waiting.plan, &fetched);
    let answered = waiting.plan.asked.iter().zip(fetched).zip(kept).filter(|(_, kept)| *kept).map(|(pair, _)| pair);
    let mut response = FetchResponse { session_id: waiting.plan.session_id, ..FetchResponse::default() };
    for (asked, partition) in answered {
        name_leader(cluster, &mut response.node_endpoints, &partition);
        push(&mut response.topics, asked, partition);
    }
    Some(response)
}

/// Partitions of one topic that follow each other stand together.
fn push(topics: &mut Vec<FetchableTopic>, asked: &Asked, partition: FetchedPartition) {
    match topics.last_mut() {
        Some(topic) if topic.name == asked.name && topic.topic_id == asked.topic_id => topic.partitions.push(partition),
        Some(_) | None => topics.push(FetchableTopic {
            name: asked.name.clone(),
            topic_id: asked.topic_id,
            partitions: vec![partition],
        }),
    }
}

/// Where the leader is that an answer names (KIP-951).
fn name_leader(cluster: &Cluster, endpoints: &mut Vec<NodeEndpoint>, partition: &FetchedPartition) {
    let Some(leader) = partition.current_leader else { return };
    let known = endpoints.iter().any(|endpoint| endpoint.node_id == leader.leader_id);
    if !known && let Some(broker) = cluster.brokers.get(&NodeId(leader.leader_id)) {
        endpoints.push(NodeEndpoint {
            node_id: leader.leader_id,
            host: broker.host.clone(),
            port: i32::from(broker.port),
            rack: broker.rack.clone(),
        });
    }
}

#[cfg(test)]
mod tests {
    use kmirror_proto::messages::{AnyRequest, AnyResponse, FetchPartition, FetchTopic, ForgottenTopic};
    use kmirror_proto::records::Stamp;

    use super::*;
    use crate::Release;
    use crate::asking::{Asking, Came, batch};

    fn from(fetch_offset: i64) -> FetchRequest {
        let asked = FetchPartition { fetch_offset, partition_max_bytes: 1 << 20, ..FetchPartition::default() };
        let topics = vec![FetchTopic { name: "numbers".to_owned(), partitions: vec![asked], ..FetchTopic::default() }];
        FetchRequest { topics, max_wait_ms: 700, min_bytes: 1, ..FetchRequest::default() }
    }

    /// F6: at the log end the answer comes after `max_wait_ms`, or with the next record.
    #[test]
    fn at_the_end_a_fetch_waits() {
        let mut client = Asking::of(Release::V2_0);
        client.cluster.create_topic("numbers", 1);
        let request = AnyRequest::from(from(0));
        assert_eq!(client.send(4, request.clone()), Came::Nothing);
        assert_eq!(client.cluster.poll_timeout(), Some(Duration::from_millis(700)));
        assert_eq!(client.wait(Duration::from_millis(699), 4, &request), Came::Nothing);
        let Came::Answer(answer) = client.wait(Duration::from_millis(1), 4, &request) else { panic!("no answer") };
        let AnyResponse::Fetch(answer) = *answer else { panic!("of another API") };
        assert_eq!(answer.topics[0].partitions[0].records.as_ref().map(bytes::Bytes::len), Some(0));
    }

    /// F7.
    #[test]
    fn beyond_the_end_is_out_of_range() {
        let mut client = Asking::of(Release::V2_0);
        client.cluster.create_topic("numbers", 1);
        client.produce(3, "numbers", -1, batch(2, Stamp::NONE));
        for offset in [3, -1] {
            let answer: FetchResponse = client.ask(5, from(offset));
            let partition = &answer.topics[0].partitions[0];
            assert_eq!(partition.error_code, ErrorCode::OFFSET_OUT_OF_RANGE);
            assert_eq!((partition.high_watermark, partition.log_start_offset), (-1, -1));
        }
        let answer: FetchResponse = client.ask(5, from(0));
        assert_eq!(answer.topics[0].partitions[0].high_watermark, 2);
    }

    /// Error, session, and the partitions with the length of their records.
    fn told(client: &mut Asking, id: i32, epoch: i32, request: FetchRequest) -> (i16, i32, Vec<(i32, usize)>) {
        let request = FetchRequest { session_id: id, session_epoch: epoch, max_wait_ms: 0, ..request };
        let answer: FetchResponse = client.ask(7, request);
        let partitions = answer.topics.iter().flat_map(|topic| &topic.partitions);
        let length = |of: &FetchedPartition| of.records.as_ref().map_or(0, bytes::Bytes::len);
        let partitions = partitions.map(|of| (of.partition_index, length(of))).collect();
        (answer.error_code.0, answer.session_id, partitions)
    }

    /// Else a small request could ask for the same megabyte a thousand times.
    #[test]
    fn a_partition_that_is_named_twice_is_read_once() {
        let mut client = Asking::of(Release::V2_0);
        client.cluster.create_topic("numbers", 1);
        client.produce(3, "numbers", -1, batch(2, Stamp::NONE));
        let mut twice = from(0);
        twice.topics.extend(from(2).topics);
        assert_eq!(told(&mut client, 0, -1, twice), (0, 0, vec![(0, 0)]), "from where it is said last");
    }

    /// Kafka's cache has a thousand slots; one that was not used for two minutes makes room.
    #[test]
    fn sessions_are_limited() {
        let mut client = Asking::of(Release::V2_0);
        client.cluster.create_topic("numbers", 1);
        for id in 1..=1000 {
            assert_eq!(told(&mut client, 0, 0, from(0)).1, id);
        }
        assert_eq!(told(&mut client, 0, 0, from(0)).1, 0, "no room");
        client.now = client.now.later(Duration::from_secs(100));
        assert_eq!(told(&mut client, 1, 1, FetchRequest { topics: vec![], ..from(0) }).1, 1);
        client.now = client.now.later(Duration::from_secs(21));
        assert_eq!(told(&mut client, 0, 0, from(0)).1, 1001);
        assert_eq!(told(&mut client, 1, 2, FetchRequest { topics: vec![], ..from(0) }).1, 1, "it was used");
        assert_eq!(told(&mut client, 2, 1, from(0)).0, 70, "it was not");
    }

    /// F10, line by line.
    #[test]
    fn a_session_tells_only_what_is_new() {
        let mut client = Asking::of(Release::V2_0);
        client.cluster.create_topic("numbers", 1);
        client.produce(3, "numbers", -1, batch(2, Stamp::NONE));
        let nothing = || FetchRequest { topics: vec![], ..from(0) };
        let (_, id, full) = told(&mut client, 0, 0, from(0));
        assert!(id > 0 && full.len() == 1 && full[0].1 > 0);
        assert_eq!(told(&mut client, id, 1, nothing()), (0, id, full.clone()), "the offset is not moved on");
        assert_eq!(told(&mut client, id, 2, from(2)), (0, id, vec![]), "at the end there is nothing new");
        assert_eq!(told(&mut client, id, 3, nothing()), (0, id, vec![]));
        assert_eq!(told(&mut client, id, 9, nothing()), (71, 0, vec![]), "another epoch");
        assert_eq!(told(&mut client, 12345, 1, nothing()), (70, 0, vec![]), "no such session");
        client.produce(3, "numbers", -1, batch(2, Stamp::NONE));
        assert_eq!(told(&mut client, id, 4, nothing()), (0, id, full.clone()));
        let forgotten = ForgottenTopic { name: "numbers".to_owned(), partitions: vec![0], ..ForgottenTopic::default() };
        let forgets = FetchRequest { forgotten_topics: vec![forgotten], ..nothing() };
        assert_eq!(told(&mut client, id, 5, forgets), (0, 0, vec![]), "forgetting the last closes it");
        assert_eq!(told(&mut client, id, 6, nothing()), (70, 0, vec![]));
        let (_, id, _) = told(&mut client, 0, 0, from(2));
        assert_eq!(told(&mut client, id, -1, from(2)), (0, 0, full.clone()), "closed, and answered in full");
        assert_eq!(told(&mut client, 0, -1, from(2)), (0, 0, full), "without a session");
    }

    /// F8 as measured on a log with an open transaction at 0 or none: who is told the last stable offset.
    #[test]
    fn the_last_stable_offset_is_told_as_the_release_does() {
        for (release, isolation_level, told) in [
            (Release::V1_1, 0, -1),
            (Release::V1_1, 1, 2),
            (Release::V2_0, 0, -1),
            (Release::V2_0, 1, -1),
            (Release::V2_1, 0, 2),
            (Release::V4_4, 1, 2),
        ] {
            let mut client = Asking::of(release);
            client.cluster.create_topic("numbers", 1);
            client.produce(3, "numbers", -1, batch(2, Stamp::NONE));
            let answer: FetchResponse = client.ask(4, FetchRequest { isolation_level, ..from(0) });
            assert_eq!(answer.topics[0].partitions[0].last_stable_offset, told, "{release} {isolation_level}");
        }
    }

    /// F2: from 2.0 on a converted answer is as long as what is stored, and ends in a batch that never comes.
    #[test]
    fn a_converted_answer_has_the_length_of_what_is_stored() {
        for (release, exact) in [(Release::V1_1, true), (Release::V2_0, false), (Release::V3_9, false)] {
            let mut client = Asking::of(release);
            client.cluster.create_topic("numbers", 1);
            client.produce(3, "numbers", -1, batch(1, Stamp::NONE));
            client.produce(3, "numbers", -1, batch(1, Stamp::NONE));
            let length = |client: &mut Asking, version| {
                let answer: FetchResponse = client.ask(version, from(0));
                answer.topics[0].partitions[0].records.clone().unwrap()
            };
            let stored = length(&mut client, 4).len();
            let converted = length(&mut client, 0);
            let message = 12 + 14 + 1;
            assert_eq!(converted.len(), if exact { 2 * message } else { stored }, "{release}");
            if !exact {
                assert_eq!(converted[2 * message..][..8], (-1_i64).to_be_bytes(), "{release}");
            }
        }
    }
}
