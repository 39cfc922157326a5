//! ApiVersions: what the release speaks (KIP-35, KIP-511). Java: `kafka.server.KafkaApis.handleApiVersionsRequest`.

use kmirror_proto::messages::{ApiVersionsRequest, ApiVersionsResponse};
use kmirror_proto::{ApiKey, ErrorCode};

use crate::Release;
use crate::cluster::{Call, Cluster, Reply};

/// The table of the release.
pub(crate) fn answer(cluster: &Cluster, _: &Call, _: &ApiVersionsRequest) -> Reply {
    Reply::from(ApiVersionsResponse { api_keys: cluster.release.apis(), ..ApiVersionsResponse::default() })
}

/// For a version above the newest: error 35, from 2.4 on with the range of ApiVersions itself.
pub(crate) fn unsupported(cluster: &Cluster) -> ApiVersionsResponse {
    let mut api_keys = Vec::new();
    if cluster.release >= Release::V2_4 {
        api_keys = cluster.release.apis();
        api_keys.retain(|range| range.api_key == ApiKey::API_VERSIONS);
    }
    ApiVersionsResponse { error_code: ErrorCode::UNSUPPORTED_VERSION, api_keys, ..ApiVersionsResponse::default() }
}
