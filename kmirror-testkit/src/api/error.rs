//! An error as the admin APIs answer it: a code, and what the broker says about it.

use kmirror_proto::ErrorCode;

use crate::Release;
use crate::configs::SettingError;

/// A code and its message (Java: `org.apache.kafka.common.requests.ApiError`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) code: ErrorCode,
    pub(crate) message: Option<String>,
}

impl ApiError {
    /// With a message.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: Some(message.into()) }
    }

    /// Without one.
    pub(crate) const fn bare(code: ErrorCode) -> Self {
        Self { code, message: None }
    }

    /// For a setting that is not taken.
    pub(crate) fn of_setting(release: Release, error: &SettingError) -> Self {
        Self::new(error.code(release), error.in_answers(release))
    }
}
