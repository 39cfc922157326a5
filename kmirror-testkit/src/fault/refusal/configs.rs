//! Refusals of what is about configs, quotas and access.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AclCreationResult, AclFilterResult, AlterClientQuotasRequest, AlterClientQuotasResponse, AlterConfigsRequest,
    AlterConfigsResponse, AlteredQuotas, AlteredResource, CreateAclsRequest, CreateAclsResponse, DeleteAclsRequest,
    DeleteAclsResponse, DescribeAclsResponse, DescribeClientQuotasResponse, DescribeConfigsRequest,
    DescribeConfigsResponse, DescribedResource, IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse,
    ListConfigResourcesResponse,
};

use super::each;

pub(super) fn describe(request: &DescribeConfigsRequest, error_code: ErrorCode) -> Option<DescribeConfigsResponse> {
    let results = each(&request.resources, |resource| DescribedResource {
        error_code,
        resource_type: resource.resource_type,
        resource_name: resource.resource_name.clone(),
        ..DescribedResource::default()
    })?;
    Some(DescribeConfigsResponse { results, ..DescribeConfigsResponse::default() })
}

pub(super) fn alter(request: &AlterConfigsRequest, error_code: ErrorCode) -> Option<AlterConfigsResponse> {
    let responses = each(&request.resources, |of| altered(of.resource_type, &of.resource_name, error_code))?;
    Some(AlterConfigsResponse { responses, ..AlterConfigsResponse::default() })
}

pub(super) fn incremental_alter(
    request: &IncrementalAlterConfigsRequest,
    error_code: ErrorCode,
) -> Option<IncrementalAlterConfigsResponse> {
    let responses = each(&request.resources, |of| altered(of.resource_type, &of.resource_name, error_code))?;
    Some(IncrementalAlterConfigsResponse { responses, ..IncrementalAlterConfigsResponse::default() })
}

fn altered(resource_type: i8, name: &str, error_code: ErrorCode) -> AlteredResource {
    AlteredResource { error_code, error_message: None, resource_type, resource_name: name.to_owned() }
}

pub(super) fn list_resources(error_code: ErrorCode) -> ListConfigResourcesResponse {
    ListConfigResourcesResponse { error_code, ..ListConfigResourcesResponse::default() }
}

pub(super) fn describe_quotas(error_code: ErrorCode) -> DescribeClientQuotasResponse {
    DescribeClientQuotasResponse { error_code, entries: None, ..DescribeClientQuotasResponse::default() }
}

pub(super) fn alter_quotas(
    request: &AlterClientQuotasRequest,
    error_code: ErrorCode,
) -> Option<AlterClientQuotasResponse> {
    let entries = each(&request.entries, |entry| AlteredQuotas {
        error_code,
        entity: entry.entity.clone(),
        ..AlteredQuotas::default()
    })?;
    Some(AlterClientQuotasResponse { entries, ..AlterClientQuotasResponse::default() })
}

pub(super) fn describe_acls(error_code: ErrorCode) -> DescribeAclsResponse {
    DescribeAclsResponse { error_code, ..DescribeAclsResponse::default() }
}

pub(super) fn create_acls(request: &CreateAclsRequest, error_code: ErrorCode) -> Option<CreateAclsResponse> {
    let results = each(&request.creations, |_| AclCreationResult { error_code, ..AclCreationResult::default() })?;
    Some(CreateAclsResponse { results, ..CreateAclsResponse::default() })
}

pub(super) fn delete_acls(request: &DeleteAclsRequest, error_code: ErrorCode) -> Option<DeleteAclsResponse> {
    let filter_results = each(&request.filters, |_| AclFilterResult { error_code, ..AclFilterResult::default() })?;
    Some(DeleteAclsResponse { filter_results, ..DeleteAclsResponse::default() })
}
