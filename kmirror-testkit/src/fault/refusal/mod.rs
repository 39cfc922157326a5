//! Answers that say an error in every place that their API has for one.
//!
//! Each is about what its request names, as a broker's is. An answer that would have no place for the code (a request
//! that names nothing, Metadata for all topics before v13) is none.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{AnyRequest, AnyResponse};

mod cluster;
mod configs;
mod groups;
mod records;
mod topics;
mod transactions;

/// The answer to a request of this version; `None` if it has no place for a code.
pub(crate) fn of(request: &AnyRequest, version: i16, code: ErrorCode) -> Option<AnyResponse> {
    let response = match request {
        AnyRequest::ApiVersions(_) => cluster::api_versions(code).into(),
        AnyRequest::Metadata(request) => cluster::metadata(request, version, code)?.into(),
        AnyRequest::DescribeCluster(_) => cluster::describe_cluster(code).into(),
        AnyRequest::DescribeLogDirs(_) => cluster::describe_log_dirs(code).into(),
        AnyRequest::SaslHandshake(_) => cluster::sasl_handshake(code).into(),
        AnyRequest::SaslAuthenticate(_) => cluster::sasl_authenticate(code).into(),

        AnyRequest::Produce(request) => records::produce(request, code)?.into(),
        AnyRequest::Fetch(request) => records::fetch(request, version, code)?.into(),
        AnyRequest::ListOffsets(request) => records::list_offsets(request, code)?.into(),
        AnyRequest::OffsetForLeaderEpoch(request) => records::offset_for_leader_epoch(request, code)?.into(),
        AnyRequest::DeleteRecords(request) => records::delete_records(request, code)?.into(),
        AnyRequest::DescribeProducers(request) => records::describe_producers(request, code)?.into(),

        AnyRequest::FindCoordinator(request) => groups::find_coordinator(request, code)?.into(),
        AnyRequest::JoinGroup(request) => groups::join(request, code).into(),
        AnyRequest::SyncGroup(_) => groups::sync(code).into(),
        AnyRequest::Heartbeat(_) => groups::heartbeat(code).into(),
        AnyRequest::LeaveGroup(_) => groups::leave(code).into(),
        AnyRequest::OffsetCommit(request) => groups::offset_commit(request, code)?.into(),
        AnyRequest::TxnOffsetCommit(request) => groups::txn_offset_commit(request, code)?.into(),
        AnyRequest::OffsetFetch(request) => groups::offset_fetch(request, version, code)?.into(),
        AnyRequest::OffsetDelete(_) => groups::offset_delete(code).into(),
        AnyRequest::DescribeGroups(request) => groups::describe(request, code)?.into(),
        AnyRequest::ListGroups(_) => groups::list(code).into(),
        AnyRequest::DeleteGroups(request) => groups::delete(request, code)?.into(),

        AnyRequest::InitProducerId(_) => transactions::init_producer_id(code).into(),
        AnyRequest::AddPartitionsToTxn(request) => transactions::add_partitions(request, code)?.into(),
        AnyRequest::AddOffsetsToTxn(_) => transactions::add_offsets(code).into(),
        AnyRequest::EndTxn(_) => transactions::end(code).into(),
        AnyRequest::WriteTxnMarkers(request) => transactions::write_markers(request, code)?.into(),
        AnyRequest::DescribeTransactions(request) => transactions::describe(request, code)?.into(),
        AnyRequest::ListTransactions(_) => transactions::list(code).into(),

        AnyRequest::CreateTopics(request) => topics::create(request, code)?.into(),
        AnyRequest::CreatePartitions(request) => topics::create_partitions(request, code)?.into(),
        AnyRequest::DeleteTopics(request) => topics::delete(request, code)?.into(),
        AnyRequest::DescribeTopicPartitions(request) => topics::describe_partitions(request, code)?.into(),
        AnyRequest::ElectLeaders(request) => topics::elect_leaders(request, version, code)?.into(),
        AnyRequest::AlterPartitionReassignments(_) => topics::alter_reassignments(code).into(),
        AnyRequest::ListPartitionReassignments(_) => topics::list_reassignments(code).into(),

        AnyRequest::DescribeConfigs(request) => configs::describe(request, code)?.into(),
        AnyRequest::AlterConfigs(request) => configs::alter(request, code)?.into(),
        AnyRequest::IncrementalAlterConfigs(request) => configs::incremental_alter(request, code)?.into(),
        AnyRequest::ListConfigResources(_) => configs::list_resources(code).into(),
        AnyRequest::DescribeClientQuotas(_) => configs::describe_quotas(code).into(),
        AnyRequest::AlterClientQuotas(request) => configs::alter_quotas(request, code)?.into(),
        AnyRequest::DescribeAcls(_) => configs::describe_acls(code).into(),
        AnyRequest::CreateAcls(request) => configs::create_acls(request, code)?.into(),
        AnyRequest::DeleteAcls(request) => configs::delete_acls(request, code)?.into(),
    };
    Some(response)
}

/// One part of an answer for each part of a request; `None` if there is no part.
fn each<A, B>(asked: &[A], refuse: impl Fn(&A) -> B) -> Option<Vec<B>> {
    (!asked.is_empty()).then(|| asked.iter().map(refuse).collect())
}

/// As [`each`], for what stands within a part that may be empty.
fn all<A, B>(asked: &[A], refuse: impl Fn(&A) -> B) -> Vec<B> {
    asked.iter().map(refuse).collect()
}
