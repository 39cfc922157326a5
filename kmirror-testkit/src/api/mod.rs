//! What a broker answers: one file per API.
//!
//! Each has `answer(cluster, call, request)`. What a release does differently stands there as a comparison with
//! [`Release`](crate::Release), with the rule of the measured matrices that it follows.

use kmirror_proto::messages::AnyRequest;

use crate::cluster::{Call, Cluster, Reply};

mod access;
pub(crate) mod access_lists;
pub(crate) mod add_offsets_to_txn;
pub(crate) mod add_partitions_to_txn;
pub(crate) mod alter_client_quotas;
pub(crate) mod alter_configs;
pub(crate) mod api_versions;
mod config_resources;
pub(crate) mod create_partitions;
pub(crate) mod create_topics;
pub(crate) mod delete_groups;
pub(crate) mod delete_records;
pub(crate) mod delete_topics;
pub(crate) mod describe_client_quotas;
pub(crate) mod describe_cluster;
pub(crate) mod describe_configs;
pub(crate) mod describe_groups;
pub(crate) mod describe_log_dirs;
pub(crate) mod describe_producers;
pub(crate) mod describe_topic_partitions;
pub(crate) mod describe_transactions;
pub(crate) mod elect_leaders;
pub(crate) mod end_txn;
mod error;
pub(crate) mod fetch;
pub(crate) mod find_coordinator;
pub(crate) mod heartbeat;
pub(crate) mod incremental_alter_configs;
pub(crate) mod init_producer_id;
pub(crate) mod join_group;
pub(crate) mod leave_group;
pub(crate) mod list_config_resources;
pub(crate) mod list_groups;
pub(crate) mod list_offsets;
pub(crate) mod list_transactions;
pub(crate) mod metadata;
pub(crate) mod offset_commit;
pub(crate) mod offset_delete;
pub(crate) mod offset_fetch;
pub(crate) mod offset_for_leader_epoch;
pub(crate) mod partition_reassignments;
pub(crate) mod produce;
pub(crate) mod sync_group;
pub(crate) mod topic_names;
pub(crate) mod txn_offset_commit;

/// Serves a request whose version the release has.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not served closes the connection, whatever it is")]
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: AnyRequest) -> Reply {
    if let Some(reply) = access::refused(cluster, call, &request) {
        return reply;
    }
    match request {
        AnyRequest::ApiVersions(request) => api_versions::answer(cluster, call, &request),
        AnyRequest::Metadata(request) => metadata::answer(cluster, call, &request),
        AnyRequest::Produce(request) => produce::answer(cluster, call, request),
        AnyRequest::Fetch(request) => fetch::answer(cluster, call, request),
        AnyRequest::ListOffsets(request) => list_offsets::answer(cluster, call, &request),
        AnyRequest::JoinGroup(request) => join_group::answer(cluster, call, request),
        AnyRequest::SyncGroup(request) => sync_group::answer(cluster, call, request),
        AnyRequest::Heartbeat(request) => heartbeat::answer(cluster, call, &request),
        AnyRequest::LeaveGroup(request) => leave_group::answer(cluster, call, &request),
        AnyRequest::FindCoordinator(request) => find_coordinator::answer(cluster, call, &request),
        AnyRequest::OffsetCommit(request) => offset_commit::answer(cluster, call, &request),
        AnyRequest::OffsetFetch(request) => offset_fetch::answer(cluster, call, &request),
        AnyRequest::DescribeGroups(request) => describe_groups::answer(cluster, call, &request),
        AnyRequest::ListGroups(request) => list_groups::answer(cluster, call, &request),
        AnyRequest::DeleteGroups(request) => delete_groups::answer(cluster, call, &request),
        AnyRequest::OffsetDelete(request) => offset_delete::answer(cluster, call, &request),
        AnyRequest::InitProducerId(request) => init_producer_id::answer(cluster, call, &request),
        AnyRequest::AddPartitionsToTxn(request) => add_partitions_to_txn::answer(cluster, call, &request),
        AnyRequest::AddOffsetsToTxn(request) => add_offsets_to_txn::answer(cluster, call, &request),
        AnyRequest::EndTxn(request) => end_txn::answer(cluster, call, &request),
        AnyRequest::DescribeTransactions(request) => describe_transactions::answer(cluster, call, &request),
        AnyRequest::ListTransactions(request) => list_transactions::answer(cluster, call, &request),
        AnyRequest::DeleteTopics(request) => delete_topics::answer(cluster, call, &request),
        AnyRequest::CreatePartitions(request) => create_partitions::answer(cluster, call, &request),
        AnyRequest::DeleteRecords(request) => delete_records::answer(cluster, call, &request),
        AnyRequest::DescribeConfigs(request) => describe_configs::answer(cluster, call, &request),
        AnyRequest::AlterConfigs(request) => alter_configs::answer(cluster, call, &request),
        AnyRequest::IncrementalAlterConfigs(request) => incremental_alter_configs::answer(cluster, call, &request),
        AnyRequest::DescribeCluster(request) => describe_cluster::answer(cluster, call, &request),
        AnyRequest::ListConfigResources(request) => list_config_resources::answer(cluster, call, &request),
        AnyRequest::DescribeTopicPartitions(request) => describe_topic_partitions::answer(cluster, call, &request),
        AnyRequest::DescribeLogDirs(request) => describe_log_dirs::answer(cluster, call, &request),
        AnyRequest::ElectLeaders(request) => elect_leaders::answer(cluster, call, &request),
        AnyRequest::AlterPartitionReassignments(request) => partition_reassignments::alter(cluster, call, &request),
        AnyRequest::ListPartitionReassignments(_) => partition_reassignments::list(cluster, call),
        AnyRequest::AlterClientQuotas(request) => alter_client_quotas::answer(cluster, call, &request),
        AnyRequest::DescribeClientQuotas(request) => describe_client_quotas::answer(cluster, call, &request),
        AnyRequest::DescribeAcls(request) => access_lists::describe(cluster, call, &request),
        AnyRequest::CreateAcls(request) => access_lists::create(cluster, call, &request),
        AnyRequest::DeleteAcls(request) => access_lists::delete(cluster, call, &request),
        AnyRequest::CreateTopics(request) => create_topics::answer(cluster, call, &request),
        AnyRequest::TxnOffsetCommit(request) => txn_offset_commit::answer(cluster, call, &request),
        AnyRequest::OffsetForLeaderEpoch(request) => offset_for_leader_epoch::answer(cluster, call, &request),
        AnyRequest::DescribeProducers(request) => describe_producers::answer(cluster, call, &request),
        _ => Reply::Close,
    }
}
