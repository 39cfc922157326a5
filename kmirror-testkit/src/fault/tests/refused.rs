//! Errors in the place of answers, for every API.

use kmirror_proto::encode_response;
use kmirror_proto::messages::*;

use super::super::refusal;
use super::*;

/// No broker sends it.
const CODE: ErrorCode = ErrorCode(777);

/// One request of each API that names something.
fn each() -> Vec<AnyRequest> {
    fn one<T: Default>() -> Vec<T> {
        vec![T::default()]
    }
    let name = || vec!["name".to_owned()];
    vec![
        ApiVersionsRequest::default().into(),
        MetadataRequest {
            topics: Some(vec![MetadataRequestTopic { name: Some("t".to_owned()), ..MetadataRequestTopic::default() }]),
            ..MetadataRequest::default()
        }
        .into(),
        fetch().into(),
        produce(1).into(),
        ListOffsetsRequest {
            topics: vec![ListOffsetsTopic { partitions: one(), ..ListOffsetsTopic::default() }],
            ..ListOffsetsRequest::default()
        }
        .into(),
        FindCoordinatorRequest { keys: name(), ..FindCoordinatorRequest::default() }.into(),
        OffsetCommitRequest {
            topics: vec![OffsetCommitTopic { partitions: one(), ..OffsetCommitTopic::default() }],
            ..OffsetCommitRequest::default()
        }
        .into(),
        OffsetFetchRequest {
            groups: vec![OffsetFetchGroup {
                topics: Some(vec![OffsetFetchTopic { partition_indexes: one(), ..OffsetFetchTopic::default() }]),
                ..OffsetFetchGroup::default()
            }],
            ..OffsetFetchRequest::default()
        }
        .into(),
        JoinGroupRequest::default().into(),
        SyncGroupRequest::default().into(),
        HeartbeatRequest::default().into(),
        LeaveGroupRequest::default().into(),
        DescribeGroupsRequest { groups: name(), ..DescribeGroupsRequest::default() }.into(),
        ListGroupsRequest::default().into(),
        DeleteGroupsRequest { groups_names: name() }.into(),
        OffsetDeleteRequest::default().into(),
        InitProducerIdRequest::default().into(),
        AddPartitionsToTxnRequest {
            transactions: vec![AddPartitionsToTxnTransaction {
                topics: vec![AddPartitionsToTxnTopic { partitions: one(), ..AddPartitionsToTxnTopic::default() }],
                ..AddPartitionsToTxnTransaction::default()
            }],
        }
        .into(),
        AddOffsetsToTxnRequest::default().into(),
        EndTxnRequest::default().into(),
        TxnOffsetCommitRequest {
            topics: vec![OffsetCommitTopic { partitions: one(), ..OffsetCommitTopic::default() }],
            ..TxnOffsetCommitRequest::default()
        }
        .into(),
        WriteTxnMarkersRequest {
            markers: vec![WritableTxnMarker {
                topics: vec![WritableTxnMarkerTopic { partition_indexes: one(), ..WritableTxnMarkerTopic::default() }],
                ..WritableTxnMarker::default()
            }],
        }
        .into(),
        DescribeTransactionsRequest { transactional_ids: name() }.into(),
        ListTransactionsRequest::default().into(),
        SaslHandshakeRequest::default().into(),
        SaslAuthenticateRequest::default().into(),
    ]
}

/// As [`each`], for what administers.
fn each_of_admin() -> Vec<AnyRequest> {
    fn one<T: Default>() -> Vec<T> {
        vec![T::default()]
    }
    vec![
        CreateTopicsRequest { topics: one(), ..CreateTopicsRequest::default() }.into(),
        CreatePartitionsRequest { topics: one(), ..CreatePartitionsRequest::default() }.into(),
        DeleteTopicsRequest {
            topics: vec![DeletableTopic { name: Some("t".to_owned()), ..DeletableTopic::default() }],
            ..DeleteTopicsRequest::default()
        }
        .into(),
        DeleteRecordsRequest {
            topics: vec![DeleteRecordsTopic { partitions: one(), ..DeleteRecordsTopic::default() }],
            ..DeleteRecordsRequest::default()
        }
        .into(),
        OffsetForLeaderEpochRequest {
            topics: vec![OffsetForLeaderTopic { partitions: one(), ..OffsetForLeaderTopic::default() }],
            ..OffsetForLeaderEpochRequest::default()
        }
        .into(),
        DescribeProducersRequest {
            topics: vec![DescribeProducersTopic { partition_indexes: one(), ..DescribeProducersTopic::default() }],
        }
        .into(),
        DescribeTopicPartitionsRequest { topics: one(), ..DescribeTopicPartitionsRequest::default() }.into(),
        DescribeConfigsRequest { resources: one(), ..DescribeConfigsRequest::default() }.into(),
        AlterConfigsRequest { resources: one(), ..AlterConfigsRequest::default() }.into(),
        IncrementalAlterConfigsRequest { resources: one(), ..IncrementalAlterConfigsRequest::default() }.into(),
        ListConfigResourcesRequest::default().into(),
        DescribeClusterRequest::default().into(),
        ElectLeadersRequest {
            topic_partitions: Some(vec![ElectLeadersTopic { partitions: one(), ..ElectLeadersTopic::default() }]),
            ..ElectLeadersRequest::default()
        }
        .into(),
        DescribeLogDirsRequest::default().into(),
        AlterPartitionReassignmentsRequest::default().into(),
        ListPartitionReassignmentsRequest::default().into(),
        DescribeClientQuotasRequest::default().into(),
        AlterClientQuotasRequest { entries: one(), ..AlterClientQuotasRequest::default() }.into(),
        DescribeAclsRequest::default().into(),
        CreateAclsRequest { creations: one() }.into(),
        DeleteAclsRequest { filters: one() }.into(),
    ]
}

/// Every API at every version: the answer can be written, and whoever reads it finds the code.
#[test]
fn every_api_can_be_refused() {
    let mut refused = 0;
    for request in each().into_iter().chain(each_of_admin()) {
        for version in request.versions() {
            let answer = refusal::of(&request, version, CODE).expect("it names something");
            assert_eq!(answer.key(), request.key());
            let frame = encode_response(7, version, &answer).unwrap();
            let (_, read) = decode_response(request.key(), version, body(&frame)).unwrap();
            assert!(format!("{read:?}").contains("ErrorCode(777)"), "{} v{version}: {read:?}", request.key());
        }
        refused += 1;
    }
    assert_eq!(refused, 47, "all that are spoken");
}

/// A request that names nothing has nowhere to be told.
#[test]
fn where_there_is_no_place_the_connection_ends() {
    let mut rig = Rig::of(Release::V2_0);
    rig.cluster.intercept(Requests::any(), Fault::Error(CODE));
    let at = rig.connect();
    rig.ask(at, 4, MetadataRequest::default());
    assert_eq!(rig.outputs(), [Output::Close(at)]);
    let at = rig.connect();
    rig.ask(at, 3, produce(0));
    assert_eq!((rig.outputs(), rig.end()), (vec![Output::Close(at)], 0), "acks 0 hears of errors by the end alone");
    assert_eq!(refusal::of(&FetchRequest::default().into(), 6, CODE), None);
    assert!(refusal::of(&FetchRequest::default().into(), 7, CODE).is_some(), "a session's fetch may name nothing");
}

#[test]
fn a_refused_produce_is_not_applied() {
    let mut rig = Rig::of(Release::V2_0);
    let at = rig.connect();
    rig.cluster.intercept(Requests::of(ApiKey::PRODUCE).times(1), Fault::Error(ErrorCode::NOT_LEADER_OR_FOLLOWER));
    rig.produce(at);
    assert_eq!((rig.produced(), rig.end()), (Err(ErrorCode::NOT_LEADER_OR_FOLLOWER), 0));
    rig.produce(at);
    assert_eq!((rig.produced(), rig.end()), (Ok(0), 1), "the connection goes on");
}
