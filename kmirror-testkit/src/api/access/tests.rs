//! Expectations: what brokers with an authorizer answered to the same requests.

use kmirror_proto::messages::{
    AclEntry, AclPattern, CreatableTopic, CreateTopicsRequest, CreateTopicsResponse, DescribeGroupsRequest,
    DescribeGroupsResponse, EndTxnRequest, EndTxnResponse, FindCoordinatorRequest, FindCoordinatorResponse,
    HeartbeatRequest, HeartbeatResponse, InitProducerIdRequest, InitProducerIdResponse, ListGroupsRequest,
    ListGroupsResponse, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic,
    MetadataRequest, MetadataRequestTopic, MetadataResponse, ProducePartition, ProduceRequest, ProduceTopic,
    RecordChunks,
};
use kmirror_proto::records::Stamp;

use super::*;
use crate::NodeId;
use crate::acls::CLUSTER_NAME;
use crate::asking::{Asking, Came, batch};

const TOPIC: i8 = 2;
const GROUP: i8 = 3;
const CLUSTER: i8 = 4;
const TRANSACTION: i8 = 5;

/// A client that may do everything but these.
fn denied(release: Release, denied: &[(i8, &str, Operation)]) -> Asking {
    let mut cluster = Cluster::builder(release).authorizer().build().unwrap();
    cluster.create_topic("t", 1);
    let acls = cluster.acls.as_mut().unwrap();
    let entry = |operation, permission_type| {
        let (principal, host) = ("User:ANONYMOUS".to_owned(), "*".to_owned());
        AclEntry { principal, host, operation, permission_type }
    };
    for (resource_type, name, operation) in denied {
        let (resource_type, resource_name) = (*resource_type, (*name).to_owned());
        let pattern = AclPattern { resource_type, resource_name, ..AclPattern::default() };
        acls.add(pattern.clone(), entry(2, 3));
        acls.add(pattern, entry(*operation as i8, 2));
    }
    Asking::to(cluster, NodeId(0))
}

fn metadata(client: &mut Asking, name: Option<&str>) -> Vec<i16> {
    let topic = |name: &str| MetadataRequestTopic { topic_id: [0; 16], name: Some(name.to_owned()) };
    let request = MetadataRequest { topics: name.map(|name| vec![topic(name)]), ..MetadataRequest::default() };
    let answer: MetadataResponse = client.ask(1, request);
    answer.topics.iter().map(|topic| topic.error_code.0).collect()
}

fn releases() -> [Release; 5] {
    [Release::V0_11, Release::V2_0, Release::V2_4, Release::V3_9, Release::V4_4]
}

#[test]
fn topics_that_may_not_be_seen() {
    for release in releases() {
        let mut client = denied(release, &[(TOPIC, "t", Operation::Describe)]);
        assert_eq!(metadata(&mut client, Some("t")), [29], "{release}");
        assert_eq!(metadata(&mut client, None), [] as [i16; 0], "{release}");
        let partition = ListOffsetsPartition { partition_index: 0, timestamp: -1, ..ListOffsetsPartition::default() };
        let topics = vec![ListOffsetsTopic { name: "t".to_owned(), partitions: vec![partition] }];
        let answer: ListOffsetsResponse = client.ask(1, ListOffsetsRequest { topics, ..ListOffsetsRequest::default() });
        assert_eq!(answer.topics[0].partitions[0].error_code.0, 29, "{release}");
    }
}

#[test]
fn topics_that_may_not_be_written() {
    for release in releases() {
        let mut client = denied(release, &[(TOPIC, "t", Operation::Write)]);
        assert_eq!(client.produce(3, "t", 1, batch(1, Stamp::NONE)).error_code.0, 29, "{release}");
        assert_eq!(client.cluster.offsets("t", 0), Ok((0, 0)), "{release}");
    }
}

/// 0.11: whoever may create topics of the cluster. 2.0: or this one (KIP-277).
#[test]
fn topics_that_may_not_be_created() {
    let create = |client: &mut Asking, version| {
        let (num_partitions, replication_factor) = (1, 1);
        let new = CreatableTopic { name: "new".to_owned(), num_partitions, replication_factor, ..Default::default() };
        let request = CreateTopicsRequest { topics: vec![new], ..CreateTopicsRequest::default() };
        let answer: CreateTopicsResponse = client.ask(version, request);
        (answer.topics[0].error_code.0, answer.topics[0].error_message.clone())
    };
    let both = [(CLUSTER, CLUSTER_NAME, Operation::Create), (TOPIC, "new", Operation::Create)];
    for (release, code, message) in [
        (Release::V0_11, 31, None),
        (Release::V2_0, 29, None),
        (Release::V2_4, 29, Some("Authorization failed.")),
        (Release::V4_4, 29, Some("Authorization failed.")),
    ] {
        let mut client = denied(release, &both);
        assert_eq!(create(&mut client, 2), (code, message.map(str::to_owned)), "{release}");
        assert_eq!(metadata(&mut client, Some("new")), [29], "{release}");
        let allowed = create(&mut denied(release, &both[..1]), 2).0;
        assert_eq!(allowed, if release == Release::V0_11 { 31 } else { 0 }, "{release}");
    }
}

#[test]
fn groups() {
    for release in releases() {
        let mut client = denied(release, &[(GROUP, "g", Operation::Read)]);
        let (group_id, member_id) = ("g".to_owned(), "m".to_owned());
        let heartbeat = HeartbeatRequest { group_id, generation_id: 1, member_id, ..HeartbeatRequest::default() };
        let answer: HeartbeatResponse = client.ask(0, heartbeat);
        assert_eq!(answer.error_code.0, 30, "{release}");

        let mut client = denied(release, &[(GROUP, "g", Operation::Describe)]);
        let find = FindCoordinatorRequest { keys: vec!["g".to_owned()], ..FindCoordinatorRequest::default() };
        let answer: FindCoordinatorResponse = client.ask(0, find);
        assert_eq!(answer.coordinators[0].error_code.0, 30, "{release}");
        let describe = DescribeGroupsRequest { groups: vec!["g".to_owned()], ..DescribeGroupsRequest::default() };
        let answer: DescribeGroupsResponse = client.ask(0, describe);
        assert_eq!(answer.groups[0].error_code.0, 30, "{release}");

        let mut client = denied(release, &[(CLUSTER, CLUSTER_NAME, Operation::Describe)]);
        let answer: ListGroupsResponse = client.ask(0, ListGroupsRequest::default());
        assert_eq!(answer.error_code.0, if release <= Release::V2_0 { 31 } else { 0 }, "{release}");
    }
}

#[test]
fn producers() {
    let init = |client: &mut Asking, transactional_id: Option<&str>| {
        let transactional_id = transactional_id.map(str::to_owned);
        let request = InitProducerIdRequest { transactional_id, ..InitProducerIdRequest::default() };
        let answer: InitProducerIdResponse = client.ask(0, request);
        answer.error_code.0
    };
    for release in releases() {
        let mut client = denied(release, &[(TRANSACTION, "tx", Operation::Write)]);
        assert_eq!(init(&mut client, Some("tx")), 53, "{release}");
        let end = EndTxnRequest { transactional_id: "tx".to_owned(), committed: true, ..EndTxnRequest::default() };
        let answer: EndTxnResponse = client.ask(0, end);
        assert_eq!(answer.error_code.0, 53, "{release}");

        let idempotent = (CLUSTER, CLUSTER_NAME, Operation::IdempotentWrite);
        assert_eq!(init(&mut denied(release, &[idempotent, (TOPIC, "*", Operation::Write)]), None), 31, "{release}");
        let one = init(&mut denied(release, &[idempotent]), None);
        assert_eq!(one == 31, release <= Release::V2_4, "{release}: who may write to a topic may be idempotent");
    }
}

/// A produce without an answer that is refused closes the connection, be it for its topic or its transaction.
#[test]
fn what_has_no_answer() {
    for (resource, transactional_id) in
        [((TOPIC, "t", Operation::Write), None), ((TRANSACTION, "x", Operation::Write), Some("x"))]
    {
        let mut client = denied(Release::V2_0, &[resource]);
        let partitions = vec![ProducePartition { index: 0, records: RecordChunks(vec![batch(1, Stamp::NONE)]) }];
        let topics = vec![ProduceTopic { name: "t".to_owned(), partitions, ..ProduceTopic::default() }];
        let transactional_id = transactional_id.map(str::to_owned);
        let request = ProduceRequest { transactional_id, acks: 0, timeout_ms: 1000, topics };
        assert_eq!(client.send(3, request), Came::Closed);
    }
}
