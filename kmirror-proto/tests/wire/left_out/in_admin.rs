//! The same of messages that administer topics, logs, configs, quotas and access.

use kmirror_proto::messages::{
    AclCreation, AclFilter, AclPattern, AlterPartitionReassignmentsRequest, CreateAclsRequest, DeletableTopic,
    DeleteAclsRequest, DeleteTopicsRequest, DeletedTopic, DescribeAclsRequest, DescribeAclsResponse,
    DescribeClusterRequest, DescribeClusterResponse, DescribeTopicPartitionsRequest, DescribedAcls, DescribedBroker,
    ElectLeadersRequest, ElectLeadersResponse, ListConfigResourcesRequest, OffsetForLeaderEpochRequest,
};
use kmirror_proto::{AnyResponse, EncodeError, ErrorCode, encode_response};

use super::refused;

/// Takes out what is not ignorable, as `version` lacks it: each would be taken for something else.
#[expect(clippy::wildcard_enum_match_arm, reason = "what the others lack is ignorable")]
pub(super) fn without_what_is_refused(version: i16, response: &mut AnyResponse) {
    let literal = |pattern: &mut AclPattern| {
        if version < 1 {
            pattern.pattern_type = AclPattern::LITERAL;
        }
    };
    match response {
        AnyResponse::DeleteTopics(deleted) => {
            let nameless = deleted.responses.iter_mut().filter(|topic| topic.name.is_none() && version < 6);
            nameless.for_each(|topic| topic.name = Some("payments".to_owned()));
        }
        AnyResponse::DescribeCluster(described) => {
            if version < 1 {
                described.endpoint_type = DescribeClusterRequest::BROKERS;
            }
            described.brokers.iter_mut().for_each(|broker| broker.is_fenced &= version >= 2);
        }
        AnyResponse::ElectLeaders(elected) if version < 1 => elected.error_code = ErrorCode::NONE,
        AnyResponse::DescribeAcls(described) => {
            described.resources.iter_mut().for_each(|resource| literal(&mut resource.pattern));
        }
        AnyResponse::DeleteAcls(deleted) => {
            let acls = deleted.filter_results.iter_mut().flat_map(|result| &mut result.matching_acls);
            acls.for_each(|acl| literal(&mut acl.pattern));
        }
        _ => {}
    }
}

#[test]
fn what_must_not_be_dropped_is_refused() {
    let topics = vec![DeletableTopic { name: None, topic_id: [1; 16] }];
    refused(5, DeleteTopicsRequest { topics, timeout_ms: 0 }, "there is no name to send");
    let some = ListConfigResourcesRequest { resource_types: vec![2] };
    refused(0, some, "client metrics would be listed instead");
    let controllers =
        DescribeClusterRequest { endpoint_type: DescribeClusterRequest::CONTROLLERS, ..Default::default() };
    refused(0, controllers, "brokers would be described instead");
    let fenced = DescribeClusterRequest { include_fenced_brokers: true, ..Default::default() };
    refused(1, fenced, "they would be missing");
    let unclean = ElectLeadersRequest { election_type: ElectLeadersRequest::UNCLEAN, ..Default::default() };
    refused(0, unclean, "only a replica in sync would be elected");
    let fixed = AlterPartitionReassignmentsRequest { allow_replication_factor_change: false, ..Default::default() };
    refused(0, fixed, "the number of replicas could change");
}

/// v0 has literal names alone: a prefix would become the name of one topic.
#[test]
fn a_prefix_is_never_taken_for_a_name() {
    let pattern = AclPattern { pattern_type: AclPattern::PREFIXED, ..Default::default() };
    let filter = AclFilter { pattern_type: AclPattern::ANY, ..Default::default() };
    refused(0, DescribeAclsRequest { filter: filter.clone() }, "prefixes would be missing");
    refused(0, DeleteAclsRequest { filters: vec![filter] }, "prefixes would stay");
    let creation = AclCreation { pattern: pattern.clone(), ..Default::default() };
    refused(0, CreateAclsRequest { creations: vec![creation] }, "one topic alone would be covered");
    let resources = vec![DescribedAcls { pattern, acls: Vec::new() }];
    let response = DescribeAclsResponse { resources, ..Default::default() };
    let refused = encode_response(1, 0, &response.into());
    assert_eq!(refused, Err(EncodeError::NotInVersion { what: "pattern type", version: 0 }));
}

#[test]
fn an_answer_is_never_taken_for_another_one() {
    let controllers = DescribeClusterResponse { endpoint_type: 2, ..Default::default() };
    let brokers = vec![DescribedBroker { is_fenced: true, ..Default::default() }];
    let fenced = DescribeClusterResponse { brokers, ..Default::default() };
    let failed = ElectLeadersResponse { error_code: ErrorCode::NOT_CONTROLLER, ..Default::default() };
    let responses = vec![DeletedTopic { topic_id: [1; 16], ..Default::default() }];
    let deleted = kmirror_proto::messages::DeleteTopicsResponse { throttle_time_ms: 0, responses };
    let cases: [(i16, AnyResponse, &str); 4] = [
        (0, controllers.into(), "controllers would be taken for brokers"),
        (1, fenced.into(), "it would be taken for one that serves"),
        (0, failed.into(), "the election would seem to be one of no partitions"),
        (5, deleted.into(), "there is no name to send"),
    ];
    for (version, response, why) in cases {
        let error = encode_response(1, version, &response).expect_err(why);
        assert!(matches!(error, EncodeError::NotInVersion { version: v, .. } if v == version), "{error}: {why}");
    }
}

#[test]
fn defaults_are_those_of_kafka() {
    assert_eq!(OffsetForLeaderEpochRequest::default().replica_id, -2);
    assert_eq!(DescribeTopicPartitionsRequest::default().response_partition_limit, 2000);
    assert_eq!(ElectLeadersRequest::default().timeout_ms, 60_000);
    assert!(AlterPartitionReassignmentsRequest::default().allow_replication_factor_change);
    assert_eq!(DescribeClusterRequest::default().endpoint_type, DescribeClusterRequest::BROKERS);
    assert_eq!(AclFilter::default().pattern_type, AclPattern::LITERAL);
}
