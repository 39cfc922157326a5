//! ApiVersions: what the release speaks (KIP-35, KIP-511). Java: `kafka.server.KafkaApis.handleApiVersionsRequest`.

use kmirror_proto::messages::{ApiVersionsRequest, ApiVersionsResponse};
use kmirror_proto::{ApiKey, ErrorCode};

use crate::Release;
use crate::cluster::{Call, Cluster, Reply};

/// The table of the release.
///
/// From v3 on a client says what it is, in words that have a form (KIP-511); else 42.
pub(crate) fn answer(cluster: &Cluster, call: &Call, request: &ApiVersionsRequest) -> Reply {
    let names = [&request.client_software_name, &request.client_software_version];
    if call.version >= NAMED_FROM && !names.into_iter().all(|name| is_name(name)) {
        let error_code = ErrorCode::INVALID_REQUEST;
        return Reply::from(ApiVersionsResponse { error_code, ..ApiVersionsResponse::default() });
    }
    Reply::from(ApiVersionsResponse { api_keys: cluster.apis.clone(), ..ApiVersionsResponse::default() })
}

/// The first version with a name in it.
const NAMED_FROM: i16 = 3;

/// `[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?`, as `ApiVersionsRequest.SOFTWARE_NAME_VERSION_PATTERN` has it.
fn is_name(name: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    edge(name.chars().next()) && edge(name.chars().next_back()) && name.chars().all(inner)
}

/// For a version above the newest: error 35, from 2.4 on with the range of ApiVersions itself.
pub(crate) fn unsupported(cluster: &Cluster) -> ApiVersionsResponse {
    let mut api_keys = Vec::new();
    if cluster.release >= Release::V2_4 {
        api_keys = cluster.apis.clone();
        api_keys.retain(|range| range.api_key == ApiKey::API_VERSIONS);
    }
    ApiVersionsResponse { error_code: ErrorCode::UNSUPPORTED_VERSION, api_keys, ..ApiVersionsResponse::default() }
}
