//! Our messages about access control lists as theirs.

use kafka_protocol::messages as theirs;
use kmirror_proto::messages as ours;

use super::{maybe, text};

pub(super) fn describe_acls_request(it: &ours::DescribeAclsRequest) -> theirs::DescribeAclsRequest {
    theirs::DescribeAclsRequest::default()
        .with_resource_type_filter(it.filter.resource_type)
        .with_resource_name_filter(maybe(it.filter.resource_name.as_ref()))
        .with_pattern_type_filter(it.filter.pattern_type)
        .with_principal_filter(maybe(it.filter.principal.as_ref()))
        .with_host_filter(maybe(it.filter.host.as_ref()))
        .with_operation(it.filter.operation)
        .with_permission_type(it.filter.permission_type)
}

pub(super) fn describe_acls_response(it: &ours::DescribeAclsResponse) -> theirs::DescribeAclsResponse {
    let entry = |x: &ours::AclEntry| {
        theirs::describe_acls_response::AclDescription::default()
            .with_principal(text(&x.principal))
            .with_host(text(&x.host))
            .with_operation(x.operation)
            .with_permission_type(x.permission_type)
    };
    let described = |x: &ours::DescribedAcls| {
        theirs::describe_acls_response::DescribeAclsResource::default()
            .with_resource_type(x.pattern.resource_type)
            .with_resource_name(text(&x.pattern.resource_name))
            .with_pattern_type(x.pattern.pattern_type)
            .with_acls(x.acls.iter().map(entry).collect())
    };
    theirs::DescribeAclsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
        .with_error_message(maybe(it.error_message.as_ref()))
        .with_resources(it.resources.iter().map(described).collect())
}

pub(super) fn create_acls_request(it: &ours::CreateAclsRequest) -> theirs::CreateAclsRequest {
    let creation = |x: &ours::AclCreation| {
        theirs::create_acls_request::AclCreation::default()
            .with_resource_type(x.pattern.resource_type)
            .with_resource_name(text(&x.pattern.resource_name))
            .with_resource_pattern_type(x.pattern.pattern_type)
            .with_principal(text(&x.entry.principal))
            .with_host(text(&x.entry.host))
            .with_operation(x.entry.operation)
            .with_permission_type(x.entry.permission_type)
    };
    theirs::CreateAclsRequest::default().with_creations(it.creations.iter().map(creation).collect())
}

pub(super) fn create_acls_response(it: &ours::CreateAclsResponse) -> theirs::CreateAclsResponse {
    let result = |x: &ours::AclCreationResult| {
        theirs::create_acls_response::AclCreationResult::default()
            .with_error_code(x.error_code.0)
            .with_error_message(maybe(x.error_message.as_ref()))
    };
    theirs::CreateAclsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_results(it.results.iter().map(result).collect())
}

pub(super) fn delete_acls_request(it: &ours::DeleteAclsRequest) -> theirs::DeleteAclsRequest {
    let filter = |x: &ours::AclFilter| {
        theirs::delete_acls_request::DeleteAclsFilter::default()
            .with_resource_type_filter(x.resource_type)
            .with_resource_name_filter(maybe(x.resource_name.as_ref()))
            .with_pattern_type_filter(x.pattern_type)
            .with_principal_filter(maybe(x.principal.as_ref()))
            .with_host_filter(maybe(x.host.as_ref()))
            .with_operation(x.operation)
            .with_permission_type(x.permission_type)
    };
    theirs::DeleteAclsRequest::default().with_filters(it.filters.iter().map(filter).collect())
}

pub(super) fn delete_acls_response(it: &ours::DeleteAclsResponse) -> theirs::DeleteAclsResponse {
    let deleted = |x: &ours::DeletedAcl| {
        theirs::delete_acls_response::DeleteAclsMatchingAcl::default()
            .with_error_code(x.error_code.0)
            .with_error_message(maybe(x.error_message.as_ref()))
            .with_resource_type(x.pattern.resource_type)
            .with_resource_name(text(&x.pattern.resource_name))
            .with_pattern_type(x.pattern.pattern_type)
            .with_principal(text(&x.entry.principal))
            .with_host(text(&x.entry.host))
            .with_operation(x.entry.operation)
            .with_permission_type(x.entry.permission_type)
    };
    let result = |x: &ours::AclFilterResult| {
        theirs::delete_acls_response::DeleteAclsFilterResult::default()
            .with_error_code(x.error_code.0)
            .with_error_message(maybe(x.error_message.as_ref()))
            .with_matching_acls(x.matching_acls.iter().map(deleted).collect())
    };
    theirs::DeleteAclsResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_filter_results(it.filter_results.iter().map(result).collect())
}
