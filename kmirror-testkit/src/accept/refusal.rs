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
    },
    /// The connection is closed without an answer.
    Disconnect,
    /// Neither an answer nor a disconnect: the producer waits until its own timeout.
    Silence,
}

impl Refusal {
    /// A code alone.
    pub(super) fn code(code: ErrorCode) -> Self {
        Self::Code { code, message: None, record_errors: Vec::new() }
    }

    /// Java's `InvalidRecordException`: it was a `CorruptRecordException` until 2.4 gave it a code of its own
    /// (KIP-467).
    pub(super) fn invalid_record(release: Release) -> Self {
        Self::code(invalid_record(release))
    }

    /// Java's `CorruptRecordException`.
    pub(super) fn corrupt() -> Self {
        Self::code(ErrorCode::CORRUPT_MESSAGE)
    }

    /// An exception that the broker does not know: R18, and the codecs of R12.
    pub(super) fn unknown() -> Self {
        Self::code(ErrorCode::UNKNOWN_SERVER_ERROR)
    }
}

/// The code of Java's `InvalidRecordException`.
pub(super) fn invalid_record(release: Release) -> ErrorCode {
    if release >= Release::V2_4 { ErrorCode::INVALID_RECORD } else { ErrorCode::CORRUPT_MESSAGE }
}
