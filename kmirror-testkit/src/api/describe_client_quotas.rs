//! DescribeClientQuotas: what was set for whom (KIP-546).
//!
//! Codes and messages as measured on 2.8 to 4.4. Java: `kafka.server.ZkAdminManager.describeClientQuotas`,
//! `org.apache.kafka.image.ClientQuotasImage.describe`.

use std::collections::BTreeMap;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    DescribeClientQuotasRequest, DescribeClientQuotasResponse, DescribedQuota, DescribedQuotas, QuotaComponent,
    QuotaEntity, QuotaValue,
};

use super::error::ApiError;
use crate::Release;
use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Reply};
use crate::quotas::{Kind, Whom};

/// What is asked of one kind.
enum Wanted<'a> {
    Named(&'a str),
    Default,
    Any,
}

/// Describes what the filter lets through.
pub(crate) fn answer(cluster: &Cluster, call: &Call, request: &DescribeClientQuotasRequest) -> Reply {
    if !authorized(cluster, call, Operation::DescribeConfigs, Resource::Cluster) {
        return Reply::from(refused(ApiError::bare(ErrorCode::CLUSTER_AUTHORIZATION_FAILED)));
    }
    let filter = match filter(cluster.release, &request.components) {
        Ok(filter) => filter,
        Err(error) => return Reply::from(refused(error)),
    };
    let matching = cluster.quotas.table.iter().filter(|(whom, _)| matches(&filter, request.strict, whom));
    let entries = matching.map(|(whom, values)| DescribedQuotas {
        entity: entity(cluster.release, whom),
        values: values
            .iter()
            .map(|(key, value)| DescribedQuota { key: key.clone(), value: QuotaValue(*value) })
            .collect(),
    });
    Reply::from(DescribeClientQuotasResponse {
        error_message: Some(String::new()),
        entries: Some(entries.collect()),
        ..DescribeClientQuotasResponse::default()
    })
}

fn refused(error: ApiError) -> DescribeClientQuotasResponse {
    DescribeClientQuotasResponse {
        error_code: error.code,
        error_message: error.message,
        entries: None,
        ..DescribeClientQuotasResponse::default()
    }
}

/// In the order of the maps that the releases keep them in.
fn entity(release: Release, whom: &Whom) -> Vec<QuotaEntity> {
    let part = |(kind, name): (&Kind, &Option<String>)| QuotaEntity {
        entity_type: kind.name().to_owned(),
        entity_name: name.clone(),
    };
    let mut parts: Vec<_> = whom.iter().map(part).collect();
    if release >= Release::V4_4 {
        parts.reverse();
    }
    parts
}

fn filter(release: Release, components: &[QuotaComponent]) -> Result<BTreeMap<Kind, Wanted<'_>>, ApiError> {
    let of_4 = release >= Release::V4_4;
    let invalid = |message: String| Err(ApiError::new(ErrorCode::INVALID_REQUEST, message));
    let mut filter = BTreeMap::new();
    for component in components {
        let name = component.entity_type.as_str();
        // Kafka's own code of 2.8 to 3.9 throws where it did not expect this.
        let unexpected = |message: &str| match of_4 {
            true => ApiError::new(ErrorCode::INVALID_REQUEST, message),
            false => ApiError::bare(ErrorCode::UNKNOWN_SERVER_ERROR),
        };
        let named = component.match_name.as_deref();
        let wanted = match (component.match_type, named) {
            (QuotaComponent::EXACT, Some(name)) => Wanted::Named(name),
            (QuotaComponent::EXACT, None) => {
                return Err(unexpected("Request specified MATCH_TYPE_EXACT, but set match string to null."));
            }
            (QuotaComponent::DEFAULT, Some(_)) if of_4 => {
                return Err(unexpected("Request specified MATCH_TYPE_DEFAULT, but also specified a match string."));
            }
            (QuotaComponent::DEFAULT, _) => Wanted::Default,
            (QuotaComponent::ANY, _) => Wanted::Any,
            (other, _) => return Err(unexpected(&format!("Unknown match type {other}"))),
        };
        if name.is_empty() {
            let old = "Unexpected empty filter component entity type";
            return invalid(if of_4 { "Invalid empty entity type." } else { old }.to_owned());
        }
        let Some(kind) = Kind::named(name) else {
            let old = format!("Custom entity type '{name}' not supported");
            let message = if of_4 { format!("Unsupported entity type {name}") } else { old };
            return Err(ApiError::new(ErrorCode::UNSUPPORTED_VERSION, message));
        };
        if filter.insert(kind, wanted).is_some() {
            let old = format!("Duplicate {name} filter component entity type");
            return invalid(if of_4 {
                format!("Entity type {name} cannot appear more than once in the filter.")
            } else {
                old
            });
        }
    }
    if filter.contains_key(&Kind::Ip) && filter.len() > 1 {
        let stop = if of_4 { "." } else { "," };
        return invalid(format!(
            "Invalid entity filter component combination{stop} IP filter component should not be used with user or \
             clientId filter component."
        ));
    }
    Ok(filter)
}

fn matches(filter: &BTreeMap<Kind, Wanted<'_>>, strict: bool, whom: &Whom) -> bool {
    let has = |(kind, wanted): (&Kind, &Wanted<'_>)| match (wanted, whom.get(kind)) {
        (_, None) => false,
        (Wanted::Any, Some(_)) => true,
        (Wanted::Default, Some(name)) => name.is_none(),
        (Wanted::Named(wanted), Some(name)) => name.as_deref() == Some(*wanted),
    };
    filter.iter().all(has) && (!strict || whom.len() == filter.len())
}

#[cfg(test)]
mod tests {
    use kmirror_proto::messages::AlterClientQuotasResponse;

    use super::super::alter_client_quotas::tests::request as alter;
    use super::*;
    use crate::asking::Asking;

    fn filled(release: Release) -> Asking {
        let mut client = Asking::of(release);
        let both = [("user", Some("u")), ("client-id", Some("c"))];
        for (entity, key) in [
            (&both[1..], "producer_byte_rate"),
            (&both[..1], "consumer_byte_rate"),
            (&both[..], "request_percentage"),
            (&[("client-id", None)][..], "producer_byte_rate"),
        ] {
            let _: AlterClientQuotasResponse = client.ask(0, alter(entity, &[(key, Some(10.0))]));
        }
        client
    }

    fn ask(release: Release, components: &[(&str, i8, Option<&str>)], strict: bool) -> DescribeClientQuotasResponse {
        let components = components.iter().map(|(entity_type, match_type, name)| QuotaComponent {
            entity_type: (*entity_type).to_owned(),
            match_type: *match_type,
            match_name: name.map(str::to_owned),
        });
        let request = DescribeClientQuotasRequest { components: components.collect(), strict };
        filled(release).ask(0, request)
    }

    fn found(components: &[(&str, i8, Option<&str>)], strict: bool) -> usize {
        ask(Release::V3_9, components, strict).entries.unwrap().len()
    }

    #[test]
    fn filters() {
        assert_eq!(found(&[], false), 4);
        assert_eq!(found(&[], true), 0);
        assert_eq!(found(&[("client-id", QuotaComponent::EXACT, Some("c"))], false), 2);
        assert_eq!(found(&[("client-id", QuotaComponent::EXACT, Some("c"))], true), 1);
        assert_eq!(found(&[("client-id", QuotaComponent::DEFAULT, None)], false), 1);
        assert_eq!(found(&[("user", QuotaComponent::ANY, None)], false), 2);
        assert_eq!(found(&[("user", QuotaComponent::EXACT, Some("nobody"))], false), 0);
    }

    /// Measured: ZooKeeper's path has the user first, the map of 4.x has it last.
    #[test]
    fn the_order_of_an_entity() {
        for (release, first) in [(Release::V2_8, "user"), (Release::V4_4, "client-id")] {
            let both = [("user", QuotaComponent::ANY, None), ("client-id", QuotaComponent::ANY, None)];
            let entries = ask(release, &both, true).entries.unwrap();
            assert_eq!(entries[0].entity[0].entity_type, first, "{release}");
        }
    }

    #[test]
    fn filters_that_are_none() {
        let said = |release, components: &[(&str, i8, Option<&str>)]| {
            let answer = ask(release, components, false);
            (answer.error_code.0, answer.error_message.unwrap_or_else(|| "null".to_owned()))
        };
        let (old, new) = (Release::V3_9, Release::V4_4);
        assert_eq!(said(old, &[("bogus", 2, None)]), (35, "Custom entity type 'bogus' not supported".to_owned()));
        assert_eq!(said(new, &[("bogus", 2, None)]), (35, "Unsupported entity type bogus".to_owned()));
        assert_eq!(said(old, &[("user", 5, None)]), (-1, "null".to_owned()));
        assert_eq!(said(new, &[("user", 5, None)]), (42, "Unknown match type 5".to_owned()));
        let twice = [("user", 2, None), ("user", 2, None)];
        assert_eq!(said(old, &twice), (42, "Duplicate user filter component entity type".to_owned()));
        let ip = [("ip", 2, None), ("user", 2, None)];
        assert!(said(new, &ip).1.starts_with("Invalid entity filter component combination. IP"));
    }
}
