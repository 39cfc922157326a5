//! Our messages about configs as theirs.

use kafka_protocol::messages as theirs;
use kmirror_proto::messages as ours;

use super::{maybe, text};

pub(super) fn alter_configs_request(it: &ours::AlterConfigsRequest) -> theirs::AlterConfigsRequest {
    let config = |x: &ours::AlterableConfig| {
        theirs::alter_configs_request::AlterableConfig::default()
            .with_name(text(&x.name))
            .with_value(maybe(x.value.as_ref()))
    };
    let resource = |x: &ours::AlterConfigsResource| {
        theirs::alter_configs_request::AlterConfigsResource::default()
            .with_resource_type(x.resource_type)
            .with_resource_name(text(&x.resource_name))
            .with_configs(x.configs.iter().map(config).collect())
    };
    theirs::AlterConfigsRequest::default()
        .with_resources(it.resources.iter().map(resource).collect())
        .with_validate_only(it.validate_only)
}

pub(super) fn alter_configs_response(it: &ours::AlterConfigsResponse) -> theirs::AlterConfigsResponse {
    let response = |x: &ours::AlteredResource| {
        theirs::alter_configs_response::AlterConfigsResourceResponse::default()
            .with_error_code(x.error_code.0)
            .with_error_message(maybe(x.error_message.as_ref()))
            .with_resource_type(x.resource_type)
            .with_resource_name(text(&x.resource_name))
    };
    theirs::AlterConfigsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_responses(it.responses.iter().map(response).collect())
}

pub(super) fn incremental_alter_configs_request(
    it: &ours::IncrementalAlterConfigsRequest,
) -> theirs::IncrementalAlterConfigsRequest {
    let config = |x: &ours::ConfigChange| {
        theirs::incremental_alter_configs_request::AlterableConfig::default()
            .with_name(text(&x.name))
            .with_config_operation(x.config_operation)
            .with_value(maybe(x.value.as_ref()))
    };
    let resource = |x: &ours::IncrementalAlterConfigsResource| {
        theirs::incremental_alter_configs_request::AlterConfigsResource::default()
            .with_resource_type(x.resource_type)
            .with_resource_name(text(&x.resource_name))
            .with_configs(x.configs.iter().map(config).collect())
    };
    theirs::IncrementalAlterConfigsRequest::default()
        .with_resources(it.resources.iter().map(resource).collect())
        .with_validate_only(it.validate_only)
}

pub(super) fn incremental_alter_configs_response(
    it: &ours::IncrementalAlterConfigsResponse,
) -> theirs::IncrementalAlterConfigsResponse {
    let response = |x: &ours::AlteredResource| {
        theirs::incremental_alter_configs_response::AlterConfigsResourceResponse::default()
            .with_error_code(x.error_code.0)
            .with_error_message(maybe(x.error_message.as_ref()))
            .with_resource_type(x.resource_type)
            .with_resource_name(text(&x.resource_name))
    };
    theirs::IncrementalAlterConfigsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_responses(it.responses.iter().map(response).collect())
}

pub(super) fn list_config_resources_request(
    it: &ours::ListConfigResourcesRequest,
) -> theirs::ListConfigResourcesRequest {
    theirs::ListConfigResourcesRequest::default().with_resource_types(it.resource_types.clone())
}

pub(super) fn list_config_resources_response(
    it: &ours::ListConfigResourcesResponse,
) -> theirs::ListConfigResourcesResponse {
    let resource = |x: &ours::ConfigResource| {
        theirs::list_config_resources_response::ConfigResource::default()
            .with_resource_name(text(&x.resource_name))
            .with_resource_type(x.resource_type)
    };
    theirs::ListConfigResourcesResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
        .with_config_resources(it.config_resources.iter().map(resource).collect())
}
