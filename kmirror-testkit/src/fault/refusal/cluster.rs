//! Refusals of what is about the cluster and the connection.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    ApiVersionsResponse, DescribeClusterResponse, DescribeLogDirsResponse, DescribedLogDir, MetadataRequest,
    MetadataResponse, MetadataTopic, SaslAuthenticateResponse, SaslHandshakeResponse,
};

pub(super) fn api_versions(error_code: ErrorCode) -> ApiVersionsResponse {
    ApiVersionsResponse { error_code, ..ApiVersionsResponse::default() }
}

/// Of each topic; of the whole from v13 on.
pub(super) fn metadata(request: &MetadataRequest, version: i16, error_code: ErrorCode) -> Option<MetadataResponse> {
    let topic = |asked: &kmirror_proto::messages::MetadataRequestTopic| MetadataTopic {
        error_code,
        name: asked.name.clone().unwrap_or_default(),
        topic_id: asked.topic_id,
        ..MetadataTopic::default()
    };
    let topics = request.topics.as_deref().unwrap_or_default();
    if topics.is_empty() && version < 13 {
        return None;
    }
    let whole = if version < 13 { ErrorCode::NONE } else { error_code };
    Some(MetadataResponse {
        topics: super::all(topics, topic),
        error_code: whole,
        controller_id: -1,
        ..MetadataResponse::default()
    })
}

pub(super) fn describe_cluster(error_code: ErrorCode) -> DescribeClusterResponse {
    DescribeClusterResponse { error_code, ..DescribeClusterResponse::default() }
}

/// Of one folder, which all versions have, and of the whole.
pub(super) fn describe_log_dirs(error_code: ErrorCode) -> DescribeLogDirsResponse {
    let results = vec![DescribedLogDir { error_code, ..DescribedLogDir::default() }];
    DescribeLogDirsResponse { error_code, results, ..DescribeLogDirsResponse::default() }
}

pub(super) fn sasl_handshake(error_code: ErrorCode) -> SaslHandshakeResponse {
    SaslHandshakeResponse { error_code, ..SaslHandshakeResponse::default() }
}

pub(super) fn sasl_authenticate(error_code: ErrorCode) -> SaslAuthenticateResponse {
    SaslAuthenticateResponse { error_code, ..SaslAuthenticateResponse::default() }
}
