//! Our messages about quotas as theirs.

use kafka_protocol::messages as theirs;
use kmirror_proto::messages as ours;

use super::{maybe, text};

pub(super) fn describe_client_quotas_request(
    it: &ours::DescribeClientQuotasRequest,
) -> theirs::DescribeClientQuotasRequest {
    let component = |x: &ours::QuotaComponent| {
        theirs::describe_client_quotas_request::ComponentData::default()
            .with_entity_type(text(&x.entity_type))
            .with_match_type(x.match_type)
            .with_match(maybe(x.match_name.as_ref()))
    };
    theirs::DescribeClientQuotasRequest::default()
        .with_components(it.components.iter().map(component).collect())
        .with_strict(it.strict)
}

pub(super) fn describe_client_quotas_response(
    it: &ours::DescribeClientQuotasResponse,
) -> theirs::DescribeClientQuotasResponse {
    let part = |x: &ours::QuotaEntity| {
        theirs::describe_client_quotas_response::EntityData::default()
            .with_entity_type(text(&x.entity_type))
            .with_entity_name(maybe(x.entity_name.as_ref()))
    };
    let value = |x: &ours::DescribedQuota| {
        theirs::describe_client_quotas_response::ValueData::default().with_key(text(&x.key)).with_value(x.value.0)
    };
    let entry = |x: &ours::DescribedQuotas| {
        theirs::describe_client_quotas_response::EntryData::default()
            .with_entity(x.entity.iter().map(part).collect())
            .with_values(x.values.iter().map(value).collect())
    };
    theirs::DescribeClientQuotasResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_error_code(it.error_code.0)
        .with_error_message(maybe(it.error_message.as_ref()))
        .with_entries(it.entries.as_ref().map(|all| all.iter().map(entry).collect()))
}

pub(super) fn alter_client_quotas_request(it: &ours::AlterClientQuotasRequest) -> theirs::AlterClientQuotasRequest {
    let part = |x: &ours::QuotaEntity| {
        theirs::alter_client_quotas_request::EntityData::default()
            .with_entity_type(text(&x.entity_type))
            .with_entity_name(maybe(x.entity_name.as_ref()))
    };
    let op = |x: &ours::QuotaChange| {
        theirs::alter_client_quotas_request::OpData::default()
            .with_key(text(&x.key))
            .with_value(x.value.0)
            .with_remove(x.remove)
    };
    let entry = |x: &ours::AlterableQuotas| {
        theirs::alter_client_quotas_request::EntryData::default()
            .with_entity(x.entity.iter().map(part).collect())
            .with_ops(x.ops.iter().map(op).collect())
    };
    theirs::AlterClientQuotasRequest::default()
        .with_entries(it.entries.iter().map(entry).collect())
        .with_validate_only(it.validate_only)
}

pub(super) fn alter_client_quotas_response(it: &ours::AlterClientQuotasResponse) -> theirs::AlterClientQuotasResponse {
    let part = |x: &ours::QuotaEntity| {
        theirs::alter_client_quotas_response::EntityData::default()
            .with_entity_type(text(&x.entity_type))
            .with_entity_name(maybe(x.entity_name.as_ref()))
    };
    let entry = |x: &ours::AlteredQuotas| {
        theirs::alter_client_quotas_response::EntryData::default()
            .with_error_code(x.error_code.0)
            .with_error_message(maybe(x.error_message.as_ref()))
            .with_entity(x.entity.iter().map(part).collect())
    };
    theirs::AlterClientQuotasResponse::default()
        .with_throttle_time_ms(it.throttle_time_ms)
        .with_entries(it.entries.iter().map(entry).collect())
}
