//! The error codes of the protocol, as open integers.
//!
//! Java: `org.apache.kafka.common.protocol.Errors`; whether a code is retriable is what the exception of the Java
//! client says (`RetriableException`), as of Kafka 4.1.

use std::fmt;

/// An error code as a broker sent it. Codes that this crate does not know survive and print as their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ErrorCode(pub i16);

impl ErrorCode {
    /// No error?
    #[must_use]
    pub const fn is_ok(self) -> bool {
        self.0 == Self::NONE.0
    }
}

impl fmt::Display for ErrorCode {
    /// `NOT_LEADER_OR_FOLLOWER (6)`; a code without a name is `error 999`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "error {}", self.0),
        }
    }
}

macro_rules! error_codes {
    ($($code:literal $name:ident $retriable:ident,)*) => {
        impl ErrorCode {
            $(
                #[doc = concat!("`", stringify!($name), "`, ", stringify!($code), ", ", stringify!($retriable), ".")]
                pub const $name: Self = Self($code);
            )*

            /// The name of the code in Kafka's `Errors`, if this crate knows it.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($code => Some(stringify!($name)),)*
                    _ => None,
                }
            }

            /// Would the Java client try again? A code without a name is not retriable.
            #[must_use]
            pub const fn is_retriable(self) -> bool {
                match self.0 {
                    $($code => error_codes!(@ $retriable),)*
                    _ => false,
                }
            }
        }
    };
    (@ retriable) => { true };
    (@ fatal) => { false };
}

error_codes! {
    -1 UNKNOWN_SERVER_ERROR fatal,
    0 NONE fatal,
    1 OFFSET_OUT_OF_RANGE fatal,
    2 CORRUPT_MESSAGE retriable,
    3 UNKNOWN_TOPIC_OR_PARTITION retriable,
    4 INVALID_FETCH_SIZE fatal,
    5 LEADER_NOT_AVAILABLE retriable,
    6 NOT_LEADER_OR_FOLLOWER retriable,
    7 REQUEST_TIMED_OUT retriable,
    8 BROKER_NOT_AVAILABLE fatal,
    9 REPLICA_NOT_AVAILABLE retriable,
    10 MESSAGE_TOO_LARGE fatal,
    11 STALE_CONTROLLER_EPOCH fatal,
    12 OFFSET_METADATA_TOO_LARGE fatal,
    13 NETWORK_EXCEPTION retriable,
    14 COORDINATOR_LOAD_IN_PROGRESS retriable,
    15 COORDINATOR_NOT_AVAILABLE retriable,
    16 NOT_COORDINATOR retriable,
    17 INVALID_TOPIC_EXCEPTION fatal,
    18 RECORD_LIST_TOO_LARGE fatal,
    19 NOT_ENOUGH_REPLICAS retriable,
    20 NOT_ENOUGH_REPLICAS_AFTER_APPEND retriable,
    21 INVALID_REQUIRED_ACKS fatal,
    22 ILLEGAL_GENERATION fatal,
    23 INCONSISTENT_GROUP_PROTOCOL fatal,
    24 INVALID_GROUP_ID fatal,
    25 UNKNOWN_MEMBER_ID fatal,
    26 INVALID_SESSION_TIMEOUT fatal,
    27 REBALANCE_IN_PROGRESS fatal,
    28 INVALID_COMMIT_OFFSET_SIZE fatal,
    29 TOPIC_AUTHORIZATION_FAILED fatal,
    30 GROUP_AUTHORIZATION_FAILED fatal,
    31 CLUSTER_AUTHORIZATION_FAILED fatal,
    32 INVALID_TIMESTAMP fatal,
    33 UNSUPPORTED_SASL_MECHANISM fatal,
    34 ILLEGAL_SASL_STATE fatal,
    35 UNSUPPORTED_VERSION fatal,
    36 TOPIC_ALREADY_EXISTS fatal,
    37 INVALID_PARTITIONS fatal,
    38 INVALID_REPLICATION_FACTOR fatal,
    39 INVALID_REPLICA_ASSIGNMENT fatal,
    40 INVALID_CONFIG fatal,
    41 NOT_CONTROLLER retriable,
    42 INVALID_REQUEST fatal,
    43 UNSUPPORTED_FOR_MESSAGE_FORMAT fatal,
    44 POLICY_VIOLATION fatal,
    45 OUT_OF_ORDER_SEQUENCE_NUMBER fatal,
    46 DUPLICATE_SEQUENCE_NUMBER fatal,
    47 INVALID_PRODUCER_EPOCH fatal,
    48 INVALID_TXN_STATE fatal,
    49 INVALID_PRODUCER_ID_MAPPING fatal,
    50 INVALID_TRANSACTION_TIMEOUT fatal,
    51 CONCURRENT_TRANSACTIONS retriable,
    52 TRANSACTION_COORDINATOR_FENCED fatal,
    53 TRANSACTIONAL_ID_AUTHORIZATION_FAILED fatal,
    54 SECURITY_DISABLED fatal,
    55 OPERATION_NOT_ATTEMPTED fatal,
    56 KAFKA_STORAGE_ERROR retriable,
    57 LOG_DIR_NOT_FOUND fatal,
    58 SASL_AUTHENTICATION_FAILED fatal,
    59 UNKNOWN_PRODUCER_ID fatal,
    60 REASSIGNMENT_IN_PROGRESS fatal,
    61 DELEGATION_TOKEN_AUTH_DISABLED fatal,
    62 DELEGATION_TOKEN_NOT_FOUND fatal,
    63 DELEGATION_TOKEN_OWNER_MISMATCH fatal,
    64 DELEGATION_TOKEN_REQUEST_NOT_ALLOWED fatal,
    65 DELEGATION_TOKEN_AUTHORIZATION_FAILED fatal,
    66 DELEGATION_TOKEN_EXPIRED fatal,
    67 INVALID_PRINCIPAL_TYPE fatal,
    68 NON_EMPTY_GROUP fatal,
    69 GROUP_ID_NOT_FOUND fatal,
    70 FETCH_SESSION_ID_NOT_FOUND retriable,
    71 INVALID_FETCH_SESSION_EPOCH retriable,
    72 LISTENER_NOT_FOUND retriable,
    73 TOPIC_DELETION_DISABLED fatal,
    74 FENCED_LEADER_EPOCH retriable,
    75 UNKNOWN_LEADER_EPOCH retriable,
    76 UNSUPPORTED_COMPRESSION_TYPE fatal,
    77 STALE_BROKER_EPOCH fatal,
    78 OFFSET_NOT_AVAILABLE retriable,
    79 MEMBER_ID_REQUIRED fatal,
    80 PREFERRED_LEADER_NOT_AVAILABLE retriable,
    81 GROUP_MAX_SIZE_REACHED fatal,
    82 FENCED_INSTANCE_ID fatal,
    83 ELIGIBLE_LEADERS_NOT_AVAILABLE retriable,
    84 ELECTION_NOT_NEEDED retriable,
    85 NO_REASSIGNMENT_IN_PROGRESS fatal,
    86 GROUP_SUBSCRIBED_TO_TOPIC fatal,
    87 INVALID_RECORD fatal,
    88 UNSTABLE_OFFSET_COMMIT retriable,
    89 THROTTLING_QUOTA_EXCEEDED retriable,
    90 PRODUCER_FENCED fatal,
    91 RESOURCE_NOT_FOUND fatal,
    92 DUPLICATE_RESOURCE fatal,
    93 UNACCEPTABLE_CREDENTIAL fatal,
    94 INCONSISTENT_VOTER_SET fatal,
    95 INVALID_UPDATE_VERSION fatal,
    96 FEATURE_UPDATE_FAILED fatal,
    97 PRINCIPAL_DESERIALIZATION_FAILURE fatal,
    98 SNAPSHOT_NOT_FOUND fatal,
    99 POSITION_OUT_OF_RANGE fatal,
    100 UNKNOWN_TOPIC_ID retriable,
    101 DUPLICATE_BROKER_REGISTRATION fatal,
    102 BROKER_ID_NOT_REGISTERED fatal,
    103 INCONSISTENT_TOPIC_ID retriable,
    104 INCONSISTENT_CLUSTER_ID fatal,
    105 TRANSACTIONAL_ID_NOT_FOUND fatal,
    106 FETCH_SESSION_TOPIC_ID_ERROR retriable,
    107 INELIGIBLE_REPLICA fatal,
    108 NEW_LEADER_ELECTED fatal,
    109 OFFSET_MOVED_TO_TIERED_STORAGE fatal,
    110 FENCED_MEMBER_EPOCH fatal,
    111 UNRELEASED_INSTANCE_ID fatal,
    112 UNSUPPORTED_ASSIGNOR fatal,
    113 STALE_MEMBER_EPOCH fatal,
    114 MISMATCHED_ENDPOINT_TYPE fatal,
    115 UNSUPPORTED_ENDPOINT_TYPE fatal,
    116 UNKNOWN_CONTROLLER_ID fatal,
    117 UNKNOWN_SUBSCRIPTION_ID fatal,
    118 TELEMETRY_TOO_LARGE fatal,
    119 INVALID_REGISTRATION fatal,
    120 TRANSACTION_ABORTABLE fatal,
    121 INVALID_RECORD_STATE fatal,
    122 SHARE_SESSION_NOT_FOUND retriable,
    123 INVALID_SHARE_SESSION_EPOCH retriable,
    124 FENCED_STATE_EPOCH fatal,
    125 INVALID_VOTER_KEY fatal,
    126 DUPLICATE_VOTER fatal,
    127 VOTER_NOT_FOUND fatal,
    128 INVALID_REGULAR_EXPRESSION fatal,
    129 REBOOTSTRAP_REQUIRED fatal,
    130 STREAMS_INVALID_TOPOLOGY fatal,
    131 STREAMS_INVALID_TOPOLOGY_EPOCH fatal,
    132 STREAMS_TOPOLOGY_FENCED fatal,
    133 SHARE_SESSION_LIMIT_REACHED retriable,
}

#[cfg(test)]
mod tests {
    use super::ErrorCode;

    #[test]
    fn a_code_of_tomorrow_survives_and_prints() {
        assert_eq!(ErrorCode(999).to_string(), "error 999");
        assert_eq!(ErrorCode(999).name(), None);
        assert!(!ErrorCode(999).is_ok());
        assert!(!ErrorCode(999).is_retriable());
    }

    #[test]
    fn names_and_retries_are_those_of_java() {
        assert_eq!(ErrorCode::NOT_LEADER_OR_FOLLOWER.to_string(), "NOT_LEADER_OR_FOLLOWER (6)");
        assert_eq!(ErrorCode::UNKNOWN_SERVER_ERROR, ErrorCode(-1));
        assert!(ErrorCode::NONE.is_ok());
        assert!(ErrorCode::NOT_LEADER_OR_FOLLOWER.is_retriable());
        assert!(ErrorCode::KAFKA_STORAGE_ERROR.is_retriable());
        assert!(!ErrorCode::OFFSET_OUT_OF_RANGE.is_retriable());
        assert!(!ErrorCode::MESSAGE_TOO_LARGE.is_retriable());
    }
}
