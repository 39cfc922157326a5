//! One value of every message about quotas, at every version.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AlterClientQuotasRequest, AlterClientQuotasResponse, AlterableQuotas, AlteredQuotas, DescribeClientQuotasRequest,
    DescribeClientQuotasResponse, DescribedQuota, DescribedQuotas, QuotaChange, QuotaComponent, QuotaEntity,
    QuotaValue,
};

use super::{carried, text};

pub(super) fn describe_client_quotas_request(_: i16) -> DescribeClientQuotasRequest {
    let component = |n: i32| QuotaComponent {
        entity_type: format!("user-{n}"),
        match_type: 4,
        match_name: carried(n == 0, text("alice"), None),
    };
    DescribeClientQuotasRequest { components: vec![component(0), component(1)], strict: true }
}

pub(super) fn describe_client_quotas_response(_: i16) -> DescribeClientQuotasResponse {
    let part =
        |n: i32| QuotaEntity { entity_type: format!("user-{n}"), entity_name: carried(n == 0, text("alice"), None) };
    let value = |n: i32| DescribedQuota { key: format!("producer_byte_rate-{n}"), value: QuotaValue(1048576.5) };
    let entry = |_: i32| DescribedQuotas { entity: vec![part(0), part(1)], values: vec![value(0), value(1)] };
    DescribeClientQuotasResponse {
        throttle_time_ms: 44,
        error_code: ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        error_message: text("not yours"),
        entries: Some(vec![entry(0), entry(1)]),
    }
}

pub(super) fn alter_client_quotas_request(_: i16) -> AlterClientQuotasRequest {
    let part =
        |n: i32| QuotaEntity { entity_type: format!("user-{n}"), entity_name: carried(n == 0, text("alice"), None) };
    let op =
        |n: i32| QuotaChange { key: format!("producer_byte_rate-{n}"), value: QuotaValue(1048576.5), remove: true };
    let entry = |_: i32| AlterableQuotas { entity: vec![part(0), part(1)], ops: vec![op(0), op(1)] };
    AlterClientQuotasRequest { entries: vec![entry(0), entry(1)], validate_only: true }
}

pub(super) fn alter_client_quotas_response(_: i16) -> AlterClientQuotasResponse {
    let part =
        |n: i32| QuotaEntity { entity_type: format!("user-{n}"), entity_name: carried(n == 0, text("alice"), None) };
    let entry = |n: i32| AlteredQuotas {
        error_code: ErrorCode::INVALID_CONFIG,
        error_message: carried(n == 0, text("not yours"), None),
        entity: vec![part(0), part(1)],
    };
    AlterClientQuotasResponse { throttle_time_ms: 62, entries: vec![entry(0), entry(1)] }
}
