//! Refusals of what the controller does with topics.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AlterPartitionReassignmentsResponse, CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsResult,
    CreateTopicsRequest, CreateTopicsResponse, CreatedTopic, DeleteTopicsRequest, DeleteTopicsResponse, DeletedTopic,
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, DescribedTopic, ElectLeadersRequest,
    ElectLeadersResponse, ElectedPartition, ElectedTopic, ListPartitionReassignmentsResponse,
};

use super::{all, each};

pub(super) fn create(request: &CreateTopicsRequest, error_code: ErrorCode) -> Option<CreateTopicsResponse> {
    let topics = each(&request.topics, |topic| CreatedTopic {
        name: topic.name.clone(),
        error_code,
        ..CreatedTopic::default()
    })?;
    Some(CreateTopicsResponse { topics, ..CreateTopicsResponse::default() })
}

pub(super) fn create_partitions(
    request: &CreatePartitionsRequest,
    error_code: ErrorCode,
) -> Option<CreatePartitionsResponse> {
    let results = each(&request.topics, |topic| CreatePartitionsResult {
        name: topic.name.clone(),
        error_code,
        ..CreatePartitionsResult::default()
    })?;
    Some(CreatePartitionsResponse { results, ..CreatePartitionsResponse::default() })
}

pub(super) fn delete(request: &DeleteTopicsRequest, error_code: ErrorCode) -> Option<DeleteTopicsResponse> {
    let responses = each(&request.topics, |topic| DeletedTopic {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        error_code,
        ..DeletedTopic::default()
    })?;
    Some(DeleteTopicsResponse { responses, ..DeleteTopicsResponse::default() })
}

pub(super) fn describe_partitions(
    request: &DescribeTopicPartitionsRequest,
    error_code: ErrorCode,
) -> Option<DescribeTopicPartitionsResponse> {
    let topics = each(&request.topics, |topic| DescribedTopic {
        error_code,
        name: Some(topic.name.clone()),
        ..DescribedTopic::default()
    })?;
    Some(DescribeTopicPartitionsResponse { topics, ..DescribeTopicPartitionsResponse::default() })
}

/// Of each partition, and of the whole from v1 on.
pub(super) fn elect_leaders(
    request: &ElectLeadersRequest,
    version: i16,
    error_code: ErrorCode,
) -> Option<ElectLeadersResponse> {
    let asked = request.topic_partitions.as_deref().unwrap_or_default();
    if asked.is_empty() && version == 0 {
        return None;
    }
    let replica_election_results = all(asked, |topic| ElectedTopic {
        name: topic.name.clone(),
        partitions: all(&topic.partitions, |index| ElectedPartition {
            partition_index: *index,
            error_code,
            ..ElectedPartition::default()
        }),
    });
    let whole = if version == 0 { ErrorCode::NONE } else { error_code };
    Some(ElectLeadersResponse { error_code: whole, replica_election_results, ..ElectLeadersResponse::default() })
}

pub(super) fn alter_reassignments(error_code: ErrorCode) -> AlterPartitionReassignmentsResponse {
    AlterPartitionReassignmentsResponse { error_code, ..AlterPartitionReassignmentsResponse::default() }
}

pub(super) fn list_reassignments(error_code: ErrorCode) -> ListPartitionReassignmentsResponse {
    ListPartitionReassignmentsResponse { error_code, ..ListPartitionReassignmentsResponse::default() }
}
