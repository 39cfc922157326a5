//! How a broker says no.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::RecordError;

use crate::Release;

/// Why nothing is appended, and what the producer gets to see of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// An error code for the partition.
    Code {
        /// The code.
        code: ErrorCode,
        /// What the broker has to say (Produce v8+).
        message: Option<String>,
        /// The records that are to blame (Produce v8+; KIP-467).
        record_errors: Vec<RecordError>,
        /// Whether the answer tells where the log begins (Produce v5+), and not -1. Java does for the exceptions that
        /// `ReplicaManager` does not expect, and for what `LogValidator` finds from 2.4 on.
        log_start: bool,
    },
    /// The connection is closed without an answer.
    Disconnect,
    /// Neither an answer nor a disconnect: the producer waits until its own timeout.
    Silence,
}

impl Refusal {
    /// Of the request, before the log is asked.
    pub(super) fn request(code: ErrorCode) -> Self {
        Self::Code { code, message: None, record_errors: Vec::new(), log_start: false }
    }

    /// Java's `InvalidRecordException`, as the log throws it.
    pub(super) fn invalid_record(release: Release) -> Self {
        Self::log(release, invalid_record(release))
    }

    /// Java's `CorruptRecordException`.
    pub(super) fn corrupt() -> Self {
        Self::request(ErrorCode::CORRUPT_MESSAGE)
    }

    /// An exception that the broker does not know: R18, and the codecs of R12.
    pub(super) fn unknown() -> Self {
        Self::unexpected(ErrorCode::UNKNOWN_SERVER_ERROR)
    }

    /// An exception that the broker does not expect.
    pub(super) fn unexpected(code: ErrorCode) -> Self {
        Self::Code { code, message: None, record_errors: Vec::new(), log_start: true }
    }

    /// What `LogValidator` finds.
    pub(super) fn log(release: Release, code: ErrorCode) -> Self {
        Self::Code { code, message: None, record_errors: Vec::new(), log_start: release >= Release::V2_4 }
    }

    /// The same, with something to say.
    pub(super) fn saying(mut self, text: String, errors: Vec<RecordError>) -> Self {
        if let Self::Code { message, record_errors, .. } = &mut self {
            (*message, *record_errors) = (Some(text), errors);
        }
        self
    }
}

/// The code of Java's `InvalidRecordException`: it was a `CorruptRecordException` until 2.4 gave it a code of its own
/// (KIP-467).
pub(super) fn invalid_record(release: Release) -> ErrorCode {
    if release >= Release::V2_4 { ErrorCode::INVALID_RECORD } else { ErrorCode::CORRUPT_MESSAGE }
}
