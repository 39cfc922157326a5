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
use crate::wire::{Form, Reader, Writer};

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

macro_rules! apis {
    ($($name:ident $request:ident $response:ident $($unthrottled:ident)?,)*) => {
        /// A request of any API that this crate speaks.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum AnyRequest {
            $(
                #[doc = concat!("See [`", stringify!($request), "`].")]
                $name($request),
            )*
        }

        /// A response of any API that this crate speaks.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum AnyResponse {
            $(
                #[doc = concat!("See [`", stringify!($response), "`].")]
                $name($response),
            )*
        }

        impl AnyRequest {
            /// The API.
            #[must_use]
            pub const fn key(&self) -> ApiKey {
                match self {
                    $(Self::$name(_) => $request::KEY,)*
                }
            }

            /// The versions that this crate speaks.
            #[must_use]
            pub const fn versions(&self) -> RangeInclusive<i16> {
                match self {
                    $(Self::$name(_) => $request::VERSIONS,)*
                }
            }

            /// Writes the body as `version` has it.
            pub fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
                refuse_unspoken(self.key(), version)?;
                match self {
                    $(Self::$name(request) => request.encode(version, w),)*
                }
            }

            /// Reads the body of a request as `version` of `key` has it.
            pub fn decode(key: ApiKey, version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
                refuse_unknown(key, version)?;
                match key {
                    $($request::KEY => $request::decode(version, r).map(Self::$name),)*
                    key => Err(DecodeError::UnknownApi { key }),
                }
            }
        }

        impl AnyResponse {
            /// The API.
            #[must_use]
            pub const fn key(&self) -> ApiKey {
                match self {
                    $(Self::$name(_) => $request::KEY,)*
                }
            }

            /// How long the broker says that it holds this client back, in milliseconds, as sent; 0 where an API has no
            /// such field.
            #[must_use]
            pub const fn throttle_time_ms(&self) -> i32 {
                match self {
                    $(Self::$name(_response) => throttle_time_ms!(_response $($unthrottled)?),)*
                }
            }

            /// Writes the body as `version` has it.
            pub fn encode(&self, version: i16, w: &mut Writer) -> Result<(), EncodeError> {
                refuse_unspoken(self.key(), version)?;
                match self {
                    $(Self::$name(response) => response.encode(version, w),)*
                }
            }

            /// Reads the body of a response as `version` of `key` has it.
            pub fn decode(key: ApiKey, version: i16, r: &mut Reader) -> Result<Self, DecodeError> {
                refuse_unknown(key, version)?;
                match key {
                    $($request::KEY => $response::decode(version, r).map(Self::$name),)*
                    key => Err(DecodeError::UnknownApi { key }),
                }
            }
        }

        $(
            impl From<$request> for AnyRequest {
                fn from(request: $request) -> Self {
                    Self::$name(request)
                }
            }

            impl From<$response> for AnyResponse {
                fn from(response: $response) -> Self {
                    Self::$name(response)
                }
            }

            impl TryFrom<AnyResponse> for $response {
                type Error = AnyResponse;

                /// Gives the response back as it came when it is one of another API.
                fn try_from(response: AnyResponse) -> Result<Self, AnyResponse> {
                    if let AnyResponse::$name(response) = response { Ok(response) } else { Err(response) }
                }
            }
        )*

        /// The versions that this crate speaks of an API, and the first compact one.
        const fn spoken(key: ApiKey) -> Option<(RangeInclusive<i16>, i16)> {
            match key {
                $($request::KEY => Some(($request::VERSIONS, $request::FLEXIBLE_FROM)),)*
                _ => None,
            }
        }
    };
}

macro_rules! throttle_time_ms {
    ($response:ident) => {
        $response.throttle_time_ms
    };
    ($response:ident unthrottled) => {
        0
    };
}

apis! {
    ApiVersions ApiVersionsRequest ApiVersionsResponse,
    Metadata MetadataRequest MetadataResponse,
    Fetch FetchRequest FetchResponse,
    Produce ProduceRequest ProduceResponse,
    ListOffsets ListOffsetsRequest ListOffsetsResponse,
    FindCoordinator FindCoordinatorRequest FindCoordinatorResponse,
    OffsetCommit OffsetCommitRequest OffsetCommitResponse,
    OffsetFetch OffsetFetchRequest OffsetFetchResponse,
    JoinGroup JoinGroupRequest JoinGroupResponse,
    SyncGroup SyncGroupRequest SyncGroupResponse,
    Heartbeat HeartbeatRequest HeartbeatResponse,
    LeaveGroup LeaveGroupRequest LeaveGroupResponse,
    DescribeGroups DescribeGroupsRequest DescribeGroupsResponse,
    ListGroups ListGroupsRequest ListGroupsResponse,
    DeleteGroups DeleteGroupsRequest DeleteGroupsResponse,
    OffsetDelete OffsetDeleteRequest OffsetDeleteResponse,
    InitProducerId InitProducerIdRequest InitProducerIdResponse,
    AddPartitionsToTxn AddPartitionsToTxnRequest AddPartitionsToTxnResponse,
    AddOffsetsToTxn AddOffsetsToTxnRequest AddOffsetsToTxnResponse,
    EndTxn EndTxnRequest EndTxnResponse,
    TxnOffsetCommit TxnOffsetCommitRequest TxnOffsetCommitResponse,
    WriteTxnMarkers WriteTxnMarkersRequest WriteTxnMarkersResponse unthrottled,
    DescribeTransactions DescribeTransactionsRequest DescribeTransactionsResponse,
    ListTransactions ListTransactionsRequest ListTransactionsResponse,
    SaslHandshake SaslHandshakeRequest SaslHandshakeResponse unthrottled,
    SaslAuthenticate SaslAuthenticateRequest SaslAuthenticateResponse unthrottled,
    CreateTopics CreateTopicsRequest CreateTopicsResponse,
    CreatePartitions CreatePartitionsRequest CreatePartitionsResponse,
    DescribeConfigs DescribeConfigsRequest DescribeConfigsResponse,
    DeleteTopics DeleteTopicsRequest DeleteTopicsResponse,
    DeleteRecords DeleteRecordsRequest DeleteRecordsResponse,
    OffsetForLeaderEpoch OffsetForLeaderEpochRequest OffsetForLeaderEpochResponse,
    DescribeProducers DescribeProducersRequest DescribeProducersResponse,
    DescribeTopicPartitions DescribeTopicPartitionsRequest DescribeTopicPartitionsResponse,
    AlterConfigs AlterConfigsRequest AlterConfigsResponse,
    IncrementalAlterConfigs IncrementalAlterConfigsRequest IncrementalAlterConfigsResponse,
    ListConfigResources ListConfigResourcesRequest ListConfigResourcesResponse,
    DescribeCluster DescribeClusterRequest DescribeClusterResponse,
    ElectLeaders ElectLeadersRequest ElectLeadersResponse,
    DescribeLogDirs DescribeLogDirsRequest DescribeLogDirsResponse,
    AlterPartitionReassignments AlterPartitionReassignmentsRequest AlterPartitionReassignmentsResponse,
    ListPartitionReassignments ListPartitionReassignmentsRequest ListPartitionReassignmentsResponse,
    DescribeClientQuotas DescribeClientQuotasRequest DescribeClientQuotasResponse,
    AlterClientQuotas AlterClientQuotasRequest AlterClientQuotasResponse,
    DescribeAcls DescribeAclsRequest DescribeAclsResponse,
    CreateAcls CreateAclsRequest CreateAclsResponse,
    DeleteAcls DeleteAclsRequest DeleteAclsResponse,
}

impl AnyRequest {
    /// Is this version compact (KIP-482)?
    #[must_use]
    pub const fn flexible(&self, version: i16) -> bool {
        matches!(form_of(self.key(), version), Form::Compact)
    }
}

/// The form of a version of an API; classic for an API that this crate does not speak.
pub(crate) const fn form_of(key: ApiKey, version: i16) -> Form {
    match spoken(key) {
        Some((_, flexible_from)) => Form::at(version, flexible_from),
        None => Form::Classic,
    }
}

fn refuse_unknown(key: ApiKey, version: i16) -> Result<(), DecodeError> {
    match spoken(key) {
        None => Err(DecodeError::UnknownApi { key }),
        Some((versions, _)) if !versions.contains(&version) => Err(DecodeError::UnsupportedVersion { key, version }),
        Some(_) => Ok(()),
    }
}

fn refuse_unspoken(key: ApiKey, version: i16) -> Result<(), EncodeError> {
    match refuse_unknown(key, version) {
        Ok(()) => Ok(()),
        Err(_) => Err(EncodeError::UnsupportedVersion { key, version }),
    }
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
