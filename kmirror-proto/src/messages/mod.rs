//! One file per API: its request, its response, and both at every version that this crate speaks.
//!
//! The structs do not depend on a version. What a version does not carry is left out when it is written, where Kafka
//! calls the field ignorable, and comes back as its documented default when it is read; leaving out a field whose
//! absence would change what is asked for is an [`EncodeError`]. `Default` gives Kafka's defaults.
//!
//! Names are those of Kafka's message definitions (`clients/src/main/resources/common/message/*.json`). Tagged fields
//! that a module does not mention are skipped when they are read and not written.

use std::ops::RangeInclusive;

use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::wire::{Reader, Writer};

mod topic;

mod leadership;
pub use leadership::{LeaderIdAndEpoch, NodeEndpoint};

mod api_versions;
pub use api_versions::{ApiVersionRange, ApiVersionsRequest, ApiVersionsResponse, FinalizedFeature, SupportedFeature};

mod metadata;
pub use metadata::{
    MetadataBroker, MetadataPartition, MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataTopic,
};

mod fetch;
pub use fetch::{
    AbortedTransaction, EpochEndOffset, FetchPartition, FetchRequest, FetchResponse, FetchTopic, FetchableTopic,
    FetchedPartition, ForgottenTopic,
};

mod produce;
pub use produce::{
    ProducePartition, ProduceRequest, ProduceResponse, ProduceTopic, ProducedPartition, ProducedTopic, RecordChunks,
    RecordError,
};

mod list_offsets;
pub use list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic, ListedOffset, ListedTopic,
};

mod find_coordinator;
pub use find_coordinator::{Coordinator, FindCoordinatorRequest, FindCoordinatorResponse};

mod offset_commit;
pub use offset_commit::{
    CommittedPartition, CommittedTopic, OffsetCommitPartition, OffsetCommitRequest, OffsetCommitResponse,
    OffsetCommitTopic,
};

mod offset_fetch;
pub use offset_fetch::{
    FetchedOffset, FetchedOffsetGroup, FetchedOffsetTopic, OffsetFetchGroup, OffsetFetchRequest, OffsetFetchResponse,
    OffsetFetchTopic,
};

mod join_group;
pub use join_group::{JoinGroupProtocol, JoinGroupRequest, JoinGroupResponse, JoinedMember};

mod sync_group;
pub use sync_group::{SyncGroupAssignment, SyncGroupRequest, SyncGroupResponse};

mod heartbeat;
pub use heartbeat::{HeartbeatRequest, HeartbeatResponse};

mod leave_group;
pub use leave_group::{LeaveGroupRequest, LeaveGroupResponse, LeavingMember, LeftMember};

mod describe_groups;
pub use describe_groups::{DescribeGroupsRequest, DescribeGroupsResponse, DescribedGroup, DescribedGroupMember};

mod list_groups;
pub use list_groups::{ListGroupsRequest, ListGroupsResponse, ListedGroup};

mod delete_groups;
pub use delete_groups::{DeleteGroupsRequest, DeleteGroupsResponse, DeletedGroup};

mod offset_delete;
pub use offset_delete::{
    DeletedOffset, DeletedOffsetTopic, OffsetDeleteRequest, OffsetDeleteResponse, OffsetDeleteTopic,
};

mod init_producer_id;
pub use init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};

mod add_partitions_to_txn;
pub use add_partitions_to_txn::{
    AddPartitionsToTxnRequest, AddPartitionsToTxnResponse, AddPartitionsToTxnResult, AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction, AddedPartition, AddedTopic,
};

mod add_offsets_to_txn;
pub use add_offsets_to_txn::{AddOffsetsToTxnRequest, AddOffsetsToTxnResponse};

mod end_txn;
pub use end_txn::{EndTxnRequest, EndTxnResponse};

mod txn_offset_commit;
pub use txn_offset_commit::{TxnOffsetCommitRequest, TxnOffsetCommitResponse};

mod write_txn_markers;
pub use write_txn_markers::{
    WritableTxnMarker, WritableTxnMarkerTopic, WriteTxnMarkersRequest, WriteTxnMarkersResponse, WrittenTxnMarker,
    WrittenTxnMarkerPartition, WrittenTxnMarkerTopic,
};

mod describe_transactions;
pub use describe_transactions::{
    DescribeTransactionsRequest, DescribeTransactionsResponse, DescribedTransaction, TransactionTopic,
};

mod list_transactions;
pub use list_transactions::{ListTransactionsRequest, ListTransactionsResponse, ListedTransaction};

mod sasl_handshake;
pub use sasl_handshake::{SaslHandshakeRequest, SaslHandshakeResponse};

mod sasl_authenticate;
pub use sasl_authenticate::{SaslAuthenticateRequest, SaslAuthenticateResponse};

mod create_topics;
pub use create_topics::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig, CreateTopicsRequest, CreateTopicsResponse,
    CreatedTopic, CreatedTopicConfig,
};

mod create_partitions;
pub use create_partitions::{
    CreatePartitionsAssignment, CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsResult,
    CreatePartitionsTopic,
};

mod describe_configs;
pub use describe_configs::{
    ConfigSynonym, DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse, DescribedConfig,
    DescribedResource,
};

mod delete_topics;
pub use delete_topics::{DeletableTopic, DeleteTopicsRequest, DeleteTopicsResponse, DeletedTopic};

mod delete_records;
pub use delete_records::{
    DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsResponse, DeleteRecordsTopic, DeletedRecordsPartition,
    DeletedRecordsTopic,
};

mod offset_for_leader_epoch;
pub use offset_for_leader_epoch::{
    EpochEnd, EpochEndTopic, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, OffsetForLeaderPartition,
    OffsetForLeaderTopic,
};

mod describe_producers;
pub use describe_producers::{
    DescribeProducersRequest, DescribeProducersResponse, DescribeProducersTopic, DescribedProducersPartition,
    DescribedProducersTopic, ProducerState,
};

mod describe_topic_partitions;
pub use describe_topic_partitions::{
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, DescribeTopicPartitionsTopic, DescribedPartition,
    DescribedTopic, TopicPartitionCursor,
};

mod alter_configs;
pub use alter_configs::{
    AlterConfigsRequest, AlterConfigsResource, AlterConfigsResponse, AlterableConfig, AlteredResource,
};

mod incremental_alter_configs;
pub use incremental_alter_configs::{
    ConfigChange, IncrementalAlterConfigsRequest, IncrementalAlterConfigsResource, IncrementalAlterConfigsResponse,
};

mod list_config_resources;
pub use list_config_resources::{ConfigResource, ListConfigResourcesRequest, ListConfigResourcesResponse};

mod describe_cluster;
pub use describe_cluster::{DescribeClusterRequest, DescribeClusterResponse, DescribedBroker};

mod elect_leaders;
pub use elect_leaders::{ElectLeadersRequest, ElectLeadersResponse, ElectLeadersTopic, ElectedPartition, ElectedTopic};

mod describe_log_dirs;
pub use describe_log_dirs::{
    DescribeLogDirsRequest, DescribeLogDirsResponse, DescribeLogDirsTopic, DescribedLogDir, DescribedLogDirPartition,
    DescribedLogDirTopic,
};

mod alter_partition_reassignments;
pub use alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, ReassignablePartition, ReassignableTopic,
    ReassignedPartition, ReassignedTopic,
};

mod list_partition_reassignments;
pub use list_partition_reassignments::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse, ListPartitionReassignmentsTopic,
    OngoingPartitionReassignment, OngoingTopicReassignment,
};

mod quotas;
pub use quotas::{QuotaEntity, QuotaValue};

mod describe_client_quotas;
pub use describe_client_quotas::{
    DescribeClientQuotasRequest, DescribeClientQuotasResponse, DescribedQuota, DescribedQuotas, QuotaComponent,
};

mod alter_client_quotas;
pub use alter_client_quotas::{
    AlterClientQuotasRequest, AlterClientQuotasResponse, AlterableQuotas, AlteredQuotas, QuotaChange,
};

mod acls;
pub use acls::{AclEntry, AclFilter, AclPattern};

mod describe_acls;
pub use describe_acls::{DescribeAclsRequest, DescribeAclsResponse, DescribedAcls};

mod create_acls;
pub use create_acls::{AclCreation, AclCreationResult, CreateAclsRequest, CreateAclsResponse};

mod delete_acls;
pub use delete_acls::{AclFilterResult, DeleteAclsRequest, DeleteAclsResponse, DeletedAcl};

mod any;
pub(crate) use any::form_of;
pub use any::{AnyRequest, AnyResponse};

/// The body of a request or of a response.
///
/// `version` has to be one that the API has; [`AnyRequest`] and [`AnyResponse`] check it.
pub trait Message: Sized {
    /// Writes the body as `version` has it.
    fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError>;

    /// Reads the body as `version` has it; what stands after it is left in `r`.
    fn decode(version: i16, r: &mut Reader) -> Result<Self, DecodeError>;
}

/// The body of a request.
pub trait Request: Message + Into<AnyRequest> {
    /// The API.
    const KEY: ApiKey;
    /// The versions that this crate speaks.
    const VERSIONS: RangeInclusive<i16>;
    /// The first compact version (KIP-482).
    const FLEXIBLE_FROM: i16;
    /// What answers it.
    type Response: Message;
}

/// Refuses to leave out a field that was `set` and that `version` cannot carry.
fn refuse_left_out(set: bool, what: &'static str, version: i16) -> Result<(), EncodeError> {
    if set { Err(EncodeError::NotInVersion { what, version }) } else { Ok(()) }
}

/// The only one of `items`, where `version` has room for exactly one.
fn only<'a, T>(items: &'a [T], what: &'static str, version: i16) -> Result<&'a T, EncodeError> {
    match items {
        [item] => Ok(item),
        _ => Err(EncodeError::NotInVersion { what, version }),
    }
}
