//! One value of every message about access control lists, at every version.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AclCreation, AclCreationResult, AclEntry, AclFilter, AclFilterResult, AclPattern, CreateAclsRequest,
    CreateAclsResponse, DeleteAclsRequest, DeleteAclsResponse, DeletedAcl, DescribeAclsRequest, DescribeAclsResponse,
    DescribedAcls,
};

use super::{carried, text};

fn filter(v: i16, resource_name: Option<String>) -> AclFilter {
    AclFilter {
        resource_type: 2,
        resource_name,
        pattern_type: carried(v >= 1, AclPattern::MATCH, AclPattern::LITERAL),
        principal: text("User:alice"),
        host: None,
        operation: 3,
        permission_type: 1,
    }
}

fn pattern(v: i16, resource_name: &str) -> AclPattern {
    AclPattern {
        resource_type: 2,
        resource_name: resource_name.to_owned(),
        pattern_type: carried(v >= 1, AclPattern::PREFIXED, AclPattern::LITERAL),
    }
}

fn entry(principal: &str) -> AclEntry {
    AclEntry { principal: principal.to_owned(), host: "10.0.0.7".to_owned(), operation: 4, permission_type: 3 }
}

pub(super) fn describe_acls_request(v: i16) -> DescribeAclsRequest {
    DescribeAclsRequest { filter: filter(v, text("orders")) }
}

pub(super) fn describe_acls_response(v: i16) -> DescribeAclsResponse {
    let described = |name: &str, acls: Vec<AclEntry>| DescribedAcls { pattern: pattern(v, name), acls };
    DescribeAclsResponse {
        throttle_time_ms: 100,
        error_code: ErrorCode::SECURITY_DISABLED,
        error_message: text("there is no authorizer"),
        resources: vec![
            described("orders", vec![entry("User:alice"), entry("User:bob")]),
            described("payments", Vec::new()),
        ],
    }
}

pub(super) fn create_acls_request(v: i16) -> CreateAclsRequest {
    let creation = |name: &str| AclCreation { pattern: pattern(v, name), entry: entry("User:alice") };
    CreateAclsRequest { creations: vec![creation("orders"), creation("payments")] }
}

pub(super) fn create_acls_response(_: i16) -> CreateAclsResponse {
    let result =
        |error_message: Option<String>| AclCreationResult { error_code: ErrorCode::INVALID_REQUEST, error_message };
    CreateAclsResponse { throttle_time_ms: 100, results: vec![result(text("no such operation")), result(None)] }
}

pub(super) fn delete_acls_request(v: i16) -> DeleteAclsRequest {
    DeleteAclsRequest { filters: vec![filter(v, text("orders")), filter(v, None)] }
}

pub(super) fn delete_acls_response(v: i16) -> DeleteAclsResponse {
    let deleted = |name: &str, error_message: Option<String>| DeletedAcl {
        error_code: ErrorCode::UNKNOWN_SERVER_ERROR,
        error_message,
        pattern: pattern(v, name),
        entry: entry("User:alice"),
    };
    let result = |error_message: Option<String>, matching_acls: Vec<DeletedAcl>| AclFilterResult {
        error_code: ErrorCode::INVALID_REQUEST,
        error_message,
        matching_acls,
    };
    DeleteAclsResponse {
        throttle_time_ms: 100,
        filter_results: vec![
            result(None, vec![deleted("orders", text("it stayed")), deleted("payments", None)]),
            result(text("no such operation"), Vec::new()),
        ],
    }
}
