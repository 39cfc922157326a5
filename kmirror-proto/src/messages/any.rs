//! A request or a response of any API, and the one table of what this crate speaks.
//!
//! ```text
//! apis! { Fetch FetchRequest FetchResponse, ... }  ->  AnyRequest::Fetch(..), AnyResponse::Fetch(..), conversions,
//!                                                      and which versions of which API there are
//! ```
//!
//! Java: `org.apache.kafka.common.protocol.ApiKeys`.

use std::ops::RangeInclusive;

use super::*;
use crate::api::ApiKey;
use crate::error::{DecodeError, EncodeError};
use crate::wire::{Form, Reader, Writer};

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

            /// Says how long the broker holds this client back, in milliseconds; nothing where an API has no such field.
            pub const fn set_throttle_time_ms(&mut self, _ms: i32) {
                match self {
                    $(Self::$name(_response) => set_throttle_time_ms!(_response _ms $($unthrottled)?),)*
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

macro_rules! set_throttle_time_ms {
    ($response:ident $ms:ident) => {
        $response.throttle_time_ms = $ms
    };
    ($response:ident $ms:ident unthrottled) => {
        ()
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
