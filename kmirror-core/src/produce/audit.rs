//! What an answer to a write proves.
//!
//! An acknowledgement counts only if the broker appended the batch exactly where the link expected it
//! (rule P18); where other links write to the partition too, not before what the link has written already (rule P22). Whatever else comes back, the link looks at the target's log again before it goes on.

use kmirror_proto::error_code::ErrorCode;

use super::Tenancy;
use crate::offset::TargetOffset;

/// One partition's answer to a write, and what was expected of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audit {
    /// The broker's error code.
    pub error: ErrorCode,
    /// The offset that the broker gave the first record; −1 with an error.
    pub base_offset: i64,
    /// Where the record had to land; in a shared partition, where it could land at the earliest.
    pub expected: TargetOffset,
    /// Who writes to the partition.
    pub tenancy: Tenancy,
}

/// What the answer means for the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Appended where it had to be.
    Written,
    /// Appended somewhere else: another writer was there first, or the answer is that of an earlier batch.
    Elsewhere {
        /// Where the broker says it is.
        base_offset: i64,
    },
    /// Not appended, and it may be tried again once the target's log was read.
    Retry(ErrorCode),
    /// It may have been appended (the broker timed out while it waited for replicas).
    Unknown(ErrorCode),
    /// Not appended, and the same bytes will never be.
    Final(ErrorCode),
}

/// Judges one answer.
#[must_use]
pub fn audit(answer: Audit) -> Verdict {
    let Audit { error, base_offset, expected, tenancy } = answer;
    if error.is_ok() {
        let fits = match tenancy {
            Tenancy::Exclusive => base_offset == expected.0,
            Tenancy::Shared => base_offset >= expected.0,
        };
        return if fits { Verdict::Written } else { Verdict::Elsewhere { base_offset } };
    }
    match error {
        // Appended by the leader, not known to be by the replicas: only the log can tell.
        ErrorCode::REQUEST_TIMED_OUT
        | ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND
        // A sequence that is not the next one: look at the log end, never "give up" (measured).
        | ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER
        | ErrorCode::UNKNOWN_PRODUCER_ID
        | ErrorCode::DUPLICATE_SEQUENCE_NUMBER
        | ErrorCode::INVALID_PRODUCER_EPOCH
        // -1 stands for broken bytes as well as for a broker in trouble (fact R18).
        | ErrorCode::UNKNOWN_SERVER_ERROR => Verdict::Unknown(error),
        ErrorCode::MESSAGE_TOO_LARGE
        | ErrorCode::RECORD_LIST_TOO_LARGE
        | ErrorCode::CORRUPT_MESSAGE
        | ErrorCode::INVALID_RECORD
        | ErrorCode::INVALID_TIMESTAMP
        | ErrorCode::UNSUPPORTED_COMPRESSION_TYPE
        | ErrorCode::UNSUPPORTED_FOR_MESSAGE_FORMAT
        | ErrorCode::TOPIC_AUTHORIZATION_FAILED
        | ErrorCode::CLUSTER_AUTHORIZATION_FAILED
        | ErrorCode::POLICY_VIOLATION
        | ErrorCode::INVALID_REQUIRED_ACKS => Verdict::Final(error),
        other => if other.is_retriable() { Verdict::Retry(other) } else { Verdict::Final(other) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(error: ErrorCode, base_offset: i64) -> Verdict {
        audit(Audit { error, base_offset, expected: TargetOffset(7), tenancy: Tenancy::Exclusive })
    }

    #[test]
    fn only_the_expected_offset_is_credited() {
        assert_eq!(answer(ErrorCode::NONE, 7), Verdict::Written);
        // A repeated batch is answered with error 0 and its *old* offset, and nothing is appended.
        assert_eq!(answer(ErrorCode::NONE, 3), Verdict::Elsewhere { base_offset: 3 });
        // Somebody else appended first.
        assert_eq!(answer(ErrorCode::NONE, 9), Verdict::Elsewhere { base_offset: 9 });
    }

    #[test]
    fn among_others_offsets_only_have_to_rise() {
        let shared = |error, base_offset| {
            audit(Audit { error, base_offset, expected: TargetOffset(7), tenancy: Tenancy::Shared })
        };
        assert_eq!(shared(ErrorCode::NONE, 7), Verdict::Written);
        assert_eq!(shared(ErrorCode::NONE, 9), Verdict::Written, "a neighbour was there first");
        assert_eq!(shared(ErrorCode::NONE, 6), Verdict::Elsewhere { base_offset: 6 }, "an earlier batch's answer");
        let refused = ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER;
        assert_eq!(shared(refused, 9), Verdict::Unknown(refused));
    }

    #[test]
    fn a_sequence_error_means_look_at_the_log() {
        for code in [ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode::UNKNOWN_PRODUCER_ID] {
            assert_eq!(answer(code, -1), Verdict::Unknown(code));
        }
    }

    #[test]
    fn a_batch_that_is_refused_as_damaged_is_not_sent_again() {
        // report B03: a client that takes error 2 for transient loops for ever.
        assert_eq!(answer(ErrorCode::CORRUPT_MESSAGE, -1), Verdict::Final(ErrorCode::CORRUPT_MESSAGE));
        assert_eq!(answer(ErrorCode::INVALID_RECORD, -1), Verdict::Final(ErrorCode::INVALID_RECORD));
    }

    #[test]
    fn a_moved_leader_is_tried_again() {
        let code = ErrorCode::NOT_LEADER_OR_FOLLOWER;
        assert_eq!(answer(code, -1), Verdict::Retry(code));
    }
}
