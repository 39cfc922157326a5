//! One value of every message about configs, at every version.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AlterConfigsRequest, AlterConfigsResource, AlterConfigsResponse, AlterableConfig, AlteredResource, ConfigChange,
    ConfigResource, IncrementalAlterConfigsRequest, IncrementalAlterConfigsResource, IncrementalAlterConfigsResponse,
    ListConfigResourcesRequest, ListConfigResourcesResponse,
};

use super::{carried, text};

pub(super) fn alter_configs_request(_: i16) -> AlterConfigsRequest {
    let config =
        |n: i32| AlterableConfig { name: format!("retention.ms-{n}"), value: carried(n == 0, text("compact"), None) };
    let resource = |n: i32| AlterConfigsResource {
        resource_type: 6,
        resource_name: format!("orders-{n}"),
        configs: vec![config(0), config(1)],
    };
    AlterConfigsRequest { resources: vec![resource(0), resource(1)], validate_only: true }
}

pub(super) fn alter_configs_response(_: i16) -> AlterConfigsResponse {
    let response = |n: i32| AlteredResource {
        error_code: ErrorCode::INVALID_REQUEST,
        error_message: carried(n == 0, text("not yours"), None),
        resource_type: 6,
        resource_name: format!("orders-{n}"),
    };
    AlterConfigsResponse { throttle_time_ms: 13, responses: vec![response(0), response(1)] }
}

pub(super) fn incremental_alter_configs_request(_: i16) -> IncrementalAlterConfigsRequest {
    let config = |n: i32| ConfigChange {
        name: format!("retention.ms-{n}"),
        config_operation: 4,
        value: carried(n == 0, text("compact"), None),
    };
    let resource = |n: i32| IncrementalAlterConfigsResource {
        resource_type: 6,
        resource_name: format!("orders-{n}"),
        configs: vec![config(0), config(1)],
    };
    IncrementalAlterConfigsRequest { resources: vec![resource(0), resource(1)], validate_only: true }
}

pub(super) fn incremental_alter_configs_response(_: i16) -> IncrementalAlterConfigsResponse {
    let response = |n: i32| AlteredResource {
        error_code: ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        error_message: carried(n == 0, text("not yours"), None),
        resource_type: 6,
        resource_name: format!("orders-{n}"),
    };
    IncrementalAlterConfigsResponse { throttle_time_ms: 27, responses: vec![response(0), response(1)] }
}

pub(super) fn list_config_resources_request(v: i16) -> ListConfigResourcesRequest {
    ListConfigResourcesRequest { resource_types: carried(v >= 1, vec![2, 4], Vec::new()) }
}

pub(super) fn list_config_resources_response(v: i16) -> ListConfigResourcesResponse {
    let resource =
        |n: i32| ConfigResource { resource_name: format!("orders-{n}"), resource_type: carried(v >= 1, 5, 16) };
    ListConfigResourcesResponse {
        throttle_time_ms: 32,
        error_code: ErrorCode::INVALID_REQUEST,
        config_resources: vec![resource(0), resource(1)],
    }
}
