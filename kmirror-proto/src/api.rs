//! Which API a message belongs to, and the way from a message to a frame and back.
//!
//! ```text
//!             +--------+--------------------------+------+
//! request     | i32 n  | header (v1 or v2)        | body |
//!             +--------+--------------------------+------+
//! response    | i32 n  | correlation id [+ tags]  | body |
//!             +--------+--------------------------+------+
//! ```
//!
//! Java: `org.apache.kafka.common.protocol.ApiKeys`, `RequestUtils`, `AbstractResponse.parseResponse`.

use std::fmt;

use bytes::Bytes;

use crate::error::{DecodeError, EncodeError};
use crate::frame::Frame;
use crate::header::{self, RequestHeader};
use crate::messages::{AnyRequest, AnyResponse};
use crate::wire::{Reader, Writer};

/// An API of Kafka, as an open integer: keys that this crate does not know survive and print as their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiKey(pub i16);

impl fmt::Display for ApiKey {
    /// `Fetch`; a key without a name is `api 999`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "api {}", self.0),
        }
    }
}

/// A request as a whole frame. `version` is one of [`AnyRequest::versions`]; the payloads of `request` are shared with
/// the frame, not copied.
pub fn encode_request(
    correlation_id: i32,
    client_id: Option<&str>,
    version: i16,
    request: &AnyRequest,
) -> Result<Frame, EncodeError> {
    Frame::build(|w| {
        header::encode_request_header(request.key(), version, correlation_id, client_id, w)?;
        request.encode(version, w)
    })
}

/// The answer of a broker: `body` is a frame without its length prefix, `key` and `version` are those of the request.
/// Returns the correlation id with the message. Bytes that are left over are an error.
///
/// A broker that does not know the version of an ApiVersions request answers with error 35 in a v0 body, whatever was
/// asked (KIP-511); that comes back like any other answer.
pub fn decode_response(key: ApiKey, version: i16, body: Bytes) -> Result<(i32, AnyResponse), DecodeError> {
    let mut r = Reader::new(body);
    let correlation_id = header::decode_response_header(key, version, &mut r)?;
    let response = AnyResponse::decode(key, version, &mut r)?;
    r.finish(key.name().unwrap_or("response"))?;
    Ok((correlation_id, response))
}

/// The correlation id of an answer, before it is known what it answers.
pub fn peek_correlation_id(body: &Bytes) -> Result<i32, DecodeError> {
    Reader::new(body.clone()).i32("correlation id")
}

/// A request as a broker sees it: `body` is a frame without its length prefix. Bytes that are left over are an error.
///
/// For a request whose version is unknown, [`RequestHeader::decode`] alone still says who asked for what.
pub fn decode_request(body: Bytes) -> Result<(RequestHeader, AnyRequest), DecodeError> {
    let mut r = Reader::new(body);
    let header = RequestHeader::decode(&mut r)?;
    let request = AnyRequest::decode(header.key, header.version, &mut r)?;
    r.finish(header.key.name().unwrap_or("request"))?;
    Ok((header, request))
}

/// An answer as a whole frame, from a broker's side. An ApiVersions answer with error 35 is written as v0.
pub fn encode_response(correlation_id: i32, version: i16, response: &AnyResponse) -> Result<Frame, EncodeError> {
    Frame::build(|w: &mut Writer| {
        header::encode_response_header(response.key(), version, correlation_id, w);
        response.encode(version, w)
    })
}

macro_rules! api_keys {
    ($($key:literal $constant:ident $name:ident,)*) => {
        impl ApiKey {
            $(
                #[doc = concat!("`", stringify!($name), "`, key ", stringify!($key), ".")]
                pub const $constant: Self = Self($key);
            )*

            /// The name of the API as in Kafka's protocol guide, if this crate knows it.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($key => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

api_keys! {
    0 PRODUCE Produce,
    1 FETCH Fetch,
    2 LIST_OFFSETS ListOffsets,
    3 METADATA Metadata,
    4 LEADER_AND_ISR LeaderAndIsr,
    5 STOP_REPLICA StopReplica,
    6 UPDATE_METADATA UpdateMetadata,
    7 CONTROLLED_SHUTDOWN ControlledShutdown,
    8 OFFSET_COMMIT OffsetCommit,
    9 OFFSET_FETCH OffsetFetch,
    10 FIND_COORDINATOR FindCoordinator,
    11 JOIN_GROUP JoinGroup,
    12 HEARTBEAT Heartbeat,
    13 LEAVE_GROUP LeaveGroup,
    14 SYNC_GROUP SyncGroup,
    15 DESCRIBE_GROUPS DescribeGroups,
    16 LIST_GROUPS ListGroups,
    17 SASL_HANDSHAKE SaslHandshake,
    18 API_VERSIONS ApiVersions,
    19 CREATE_TOPICS CreateTopics,
    20 DELETE_TOPICS DeleteTopics,
    21 DELETE_RECORDS DeleteRecords,
    22 INIT_PRODUCER_ID InitProducerId,
    23 OFFSET_FOR_LEADER_EPOCH OffsetForLeaderEpoch,
    24 ADD_PARTITIONS_TO_TXN AddPartitionsToTxn,
    25 ADD_OFFSETS_TO_TXN AddOffsetsToTxn,
    26 END_TXN EndTxn,
    27 WRITE_TXN_MARKERS WriteTxnMarkers,
    28 TXN_OFFSET_COMMIT TxnOffsetCommit,
    29 DESCRIBE_ACLS DescribeAcls,
    30 CREATE_ACLS CreateAcls,
    31 DELETE_ACLS DeleteAcls,
    32 DESCRIBE_CONFIGS DescribeConfigs,
    33 ALTER_CONFIGS AlterConfigs,
    34 ALTER_REPLICA_LOG_DIRS AlterReplicaLogDirs,
    35 DESCRIBE_LOG_DIRS DescribeLogDirs,
    36 SASL_AUTHENTICATE SaslAuthenticate,
    37 CREATE_PARTITIONS CreatePartitions,
    38 CREATE_DELEGATION_TOKEN CreateDelegationToken,
    39 RENEW_DELEGATION_TOKEN RenewDelegationToken,
    40 EXPIRE_DELEGATION_TOKEN ExpireDelegationToken,
    41 DESCRIBE_DELEGATION_TOKEN DescribeDelegationToken,
    42 DELETE_GROUPS DeleteGroups,
    43 ELECT_LEADERS ElectLeaders,
    44 INCREMENTAL_ALTER_CONFIGS IncrementalAlterConfigs,
    45 ALTER_PARTITION_REASSIGNMENTS AlterPartitionReassignments,
    46 LIST_PARTITION_REASSIGNMENTS ListPartitionReassignments,
    47 OFFSET_DELETE OffsetDelete,
    48 DESCRIBE_CLIENT_QUOTAS DescribeClientQuotas,
    49 ALTER_CLIENT_QUOTAS AlterClientQuotas,
    50 DESCRIBE_USER_SCRAM_CREDENTIALS DescribeUserScramCredentials,
    51 ALTER_USER_SCRAM_CREDENTIALS AlterUserScramCredentials,
    52 VOTE Vote,
    53 BEGIN_QUORUM_EPOCH BeginQuorumEpoch,
    54 END_QUORUM_EPOCH EndQuorumEpoch,
    55 DESCRIBE_QUORUM DescribeQuorum,
    56 ALTER_PARTITION AlterPartition,
    57 UPDATE_FEATURES UpdateFeatures,
    58 ENVELOPE Envelope,
    59 FETCH_SNAPSHOT FetchSnapshot,
    60 DESCRIBE_CLUSTER DescribeCluster,
    61 DESCRIBE_PRODUCERS DescribeProducers,
    62 BROKER_REGISTRATION BrokerRegistration,
    63 BROKER_HEARTBEAT BrokerHeartbeat,
    64 UNREGISTER_BROKER UnregisterBroker,
    65 DESCRIBE_TRANSACTIONS DescribeTransactions,
    66 LIST_TRANSACTIONS ListTransactions,
    67 ALLOCATE_PRODUCER_IDS AllocateProducerIds,
    68 CONSUMER_GROUP_HEARTBEAT ConsumerGroupHeartbeat,
    69 CONSUMER_GROUP_DESCRIBE ConsumerGroupDescribe,
    70 CONTROLLER_REGISTRATION ControllerRegistration,
    71 GET_TELEMETRY_SUBSCRIPTIONS GetTelemetrySubscriptions,
    72 PUSH_TELEMETRY PushTelemetry,
    73 ASSIGN_REPLICAS_TO_DIRS AssignReplicasToDirs,
    74 LIST_CONFIG_RESOURCES ListConfigResources,
    75 DESCRIBE_TOPIC_PARTITIONS DescribeTopicPartitions,
    76 SHARE_GROUP_HEARTBEAT ShareGroupHeartbeat,
    77 SHARE_GROUP_DESCRIBE ShareGroupDescribe,
    78 SHARE_FETCH ShareFetch,
    79 SHARE_ACKNOWLEDGE ShareAcknowledge,
    80 ADD_RAFT_VOTER AddRaftVoter,
    81 REMOVE_RAFT_VOTER RemoveRaftVoter,
    82 UPDATE_RAFT_VOTER UpdateRaftVoter,
    83 INITIALIZE_SHARE_GROUP_STATE InitializeShareGroupState,
    84 READ_SHARE_GROUP_STATE ReadShareGroupState,
    85 WRITE_SHARE_GROUP_STATE WriteShareGroupState,
    86 DELETE_SHARE_GROUP_STATE DeleteShareGroupState,
    87 READ_SHARE_GROUP_STATE_SUMMARY ReadShareGroupStateSummary,
    88 STREAMS_GROUP_HEARTBEAT StreamsGroupHeartbeat,
    89 STREAMS_GROUP_DESCRIBE StreamsGroupDescribe,
    90 DESCRIBE_SHARE_GROUP_OFFSETS DescribeShareGroupOffsets,
    91 ALTER_SHARE_GROUP_OFFSETS AlterShareGroupOffsets,
    92 DELETE_SHARE_GROUP_OFFSETS DeleteShareGroupOffsets,
}

#[cfg(test)]
mod tests {
    use super::ApiKey;

    #[test]
    fn a_key_of_tomorrow_survives_and_prints() {
        assert_eq!(ApiKey::LIST_OFFSETS.to_string(), "ListOffsets");
        assert_eq!(ApiKey(999).to_string(), "api 999");
        assert_eq!(ApiKey(999).name(), None);
    }
}
