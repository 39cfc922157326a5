//! AlterClientQuotas: how much whom is given (KIP-546).
//!
//! Codes and messages as measured on 2.8 to 4.4. Any broker does it. An entity that is there twice is told of once; 4.x
//! refuses it. Java: `kafka.server.ZkAdminManager.alterClientQuotas`,
//! `org.apache.kafka.controller.ClientQuotaControlManager`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AlterClientQuotasRequest, AlterClientQuotasResponse, AlterableQuotas, AlteredQuotas, QuotaChange, QuotaEntity,
};

use super::error::ApiError;
use crate::Release;
use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Reply};
use crate::quotas::{CONSUMER_RATE, Kind, PRODUCER_RATE, Whom};

/// An entity as it was sent, by kind; of two of a kind the last counts.
type Sent = BTreeMap<String, Option<String>>;

/// Changes entry by entry.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &AlterClientQuotasRequest) -> Reply {
    let release = cluster.release;
    let allowed = authorized(cluster, call, Operation::AlterConfigs, Resource::Cluster);
    let mut entries: Vec<(Sent, Result<(), ApiError>)> = Vec::new();
    for entry in &request.entries {
        let sent: Sent = entry.entity.iter().map(|e| (e.entity_type.clone(), e.entity_name.clone())).collect();
        let known = entries.iter().position(|(other, _)| *other == sent);
        let keys: BTreeSet<&String> = entry.ops.iter().map(|change| &change.key).collect();
        let repeated = known.is_some() || keys.len() < entry.ops.len();
        let outcome = if !allowed {
            Err(ApiError::new(ErrorCode::CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed."))
        } else if repeated && release >= Release::V4_4 {
            let entity = printed(&sent);
            Err(invalid(format!("Ignoring duplicate entity ClientQuotaEntity(entries={{{entity}}})")))
        } else {
            alter(cluster, &sent, entry, request.validate_only)
        };
        match known.and_then(|at| entries.get_mut(at)) {
            Some(earlier) => earlier.1 = outcome,
            None => entries.push((sent, outcome)),
        }
    }
    let entries = entries.into_iter().map(|(sent, outcome)| {
        let (error_code, error_message) = outcome.map_or_else(|e| (e.code, e.message), |()| (ErrorCode::NONE, None));
        AlteredQuotas { error_code, error_message, entity: in_order(sent) }
    });
    Reply::from(AlterClientQuotasResponse { entries: entries.collect(), ..AlterClientQuotasResponse::default() })
}

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::INVALID_REQUEST, message)
}

/// The order of Java's hash map of these names.
fn in_order(sent: Sent) -> Vec<QuotaEntity> {
    let place = |name: &str| ["client-id", "user", "ip"].iter().position(|known| *known == name).unwrap_or(3);
    let mut entity: Vec<_> = sent.into_iter().collect();
    entity.sort_by_key(|(kind, _)| place(kind));
    let part = |(entity_type, entity_name)| QuotaEntity { entity_type, entity_name };
    entity.into_iter().map(part).collect()
}

fn printed(sent: &Sent) -> String {
    let part = |entity: QuotaEntity| {
        format!("{}={}", entity.entity_type, entity.entity_name.unwrap_or_else(|| "null".to_owned()))
    };
    in_order(sent.clone()).into_iter().map(part).collect::<Vec<_>>().join(", ")
}

fn alter(cluster: &mut Cluster, sent: &Sent, entry: &AlterableQuotas, validate_only: bool) -> Result<(), ApiError> {
    let release = cluster.release;
    let whom = whom(release, sent)?;
    let mut changes: BTreeMap<&str, Option<f64>> = BTreeMap::new();
    for change in &entry.ops {
        check(release, &whom, change)?;
        changes.insert(&change.key, (!change.remove).then_some(change.value.0));
    }
    if !validate_only {
        for (key, value) in changes {
            cluster.quotas.table.set(&whom, key, value);
        }
    }
    Ok(())
}

/// Whom an entity is.
fn whom(release: Release, sent: &Sent) -> Result<Whom, ApiError> {
    if sent.is_empty() {
        return Err(invalid("Invalid empty client quota entity"));
    }
    let mut whom = Whom::new();
    for (name, of) in sent {
        let kind = Kind::named(name).ok_or_else(|| invalid(format!("Unhandled client quota entity type: {name}")))?;
        if of.as_deref() == Some("") {
            return Err(invalid(format!("Empty {name} not supported")));
        }
        whom.insert(kind, of.clone());
    }
    if whom.contains_key(&Kind::Ip) && whom.len() > 1 {
        let what = if release >= Release::V4_4 {
            "IP entity shouldnot be combined with User or ClientId"
        } else {
            "IP entity should not be used with user/client ID entity."
        };
        return Err(invalid(format!("Invalid quota entity combination, {what}")));
    }
    Ok(whom)
}

/// Whether something may be limited for whom, and by so much.
fn check(release: Release, whom: &Whom, change: &QuotaChange) -> Result<(), ApiError> {
    let key = change.key.as_str();
    let ip = whom.get(&Kind::Ip);
    if let Some(Some(address)) = ip
        && address.parse::<IpAddr>().is_err()
        && address != "localhost"
    {
        let sanitized = if release >= Release::V4_4 { address.clone() } else { sanitized(address) };
        return Err(invalid(format!("{sanitized} is not a valid IP or resolvable host.")));
    }
    let known: &[&str] = match ip {
        Some(_) => &["connection_creation_rate"],
        None => &[PRODUCER_RATE, CONSUMER_RATE, "request_percentage", "controller_mutation_rate"],
    };
    if !known.contains(&key) {
        return Err(invalid(format!("Invalid configuration key {key}")));
    }
    if change.remove {
        return Ok(());
    }
    let value = change.value.0;
    let whole = !matches!(key, "request_percentage" | "controller_mutation_rate");
    let fraction = whole && (value.fract() != 0.0 || value.is_nan());
    if release >= Release::V4_4 {
        return match value {
            value if value <= 0.0 => Err(invalid(format!("Quota {key} must be greater than 0"))),
            _ if fraction => Err(invalid(format!("{key} cannot be a fractional value."))),
            _ => Ok(()),
        };
    }
    if fraction || (whole && value < 0.0) {
        let kind = if ip.is_some() { "INT" } else { "LONG" };
        return Err(invalid(format!("Configuration {key} must be a {kind} value")));
    }
    Ok(())
}

/// As names stand in ZooKeeper's paths (`org.apache.kafka.common.utils.Sanitizer`).
fn sanitized(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    name.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use kmirror_proto::messages::QuotaValue;

    use super::*;
    use crate::asking::Asking;

    type Entity<'a> = &'a [(&'a str, Option<&'a str>)];

    pub(in crate::api) fn request(entity: Entity<'_>, ops: &[(&str, Option<f64>)]) -> AlterClientQuotasRequest {
        let entity = entity
            .iter()
            .map(|(kind, name)| QuotaEntity { entity_type: (*kind).to_owned(), entity_name: name.map(str::to_owned) });
        let ops = ops.iter().map(|(key, value)| QuotaChange {
            key: (*key).to_owned(),
            value: QuotaValue(value.unwrap_or(0.0)),
            remove: value.is_none(),
        });
        let entries = vec![AlterableQuotas { entity: entity.collect(), ops: ops.collect() }];
        AlterClientQuotasRequest { entries, validate_only: false }
    }

    fn said(release: Release, entity: Entity<'_>, key: &str, value: f64) -> (i16, String) {
        let answer: AlterClientQuotasResponse = Asking::of(release).ask(0, request(entity, &[(key, Some(value))]));
        let entry = answer.entries[0].clone();
        (entry.error_code.0, entry.error_message.unwrap_or_else(|| "null".to_owned()))
    }

    const ME: Entity<'static> = &[("client-id", Some("me"))];

    #[test]
    fn quotas_are_set_and_taken_away() {
        for release in [Release::V2_8, Release::V3_0, Release::V3_9, Release::V4_4] {
            let mut client = Asking::of(release);
            let validate =
                AlterClientQuotasRequest { validate_only: true, ..request(ME, &[(PRODUCER_RATE, Some(1.0))]) };
            let _: AlterClientQuotasResponse = client.ask(1, validate);
            assert_eq!(client.cluster.quotas.table.iter().count(), 0, "{release}");
            let _: AlterClientQuotasResponse = client.ask(1, request(ME, &[(PRODUCER_RATE, Some(1000.0))]));
            assert_eq!(client.cluster.quotas.table.of_client(PRODUCER_RATE, "me"), Some(1000.0), "{release}");
            let _: AlterClientQuotasResponse = client.ask(1, request(ME, &[(PRODUCER_RATE, None)]));
            assert_eq!(client.cluster.quotas.table.of_client(PRODUCER_RATE, "me"), None, "{release}");
        }
    }

    #[test]
    fn what_cannot_be_limited() {
        let of = |entity, key| said(Release::V3_9, entity, key, 1.0).1;
        assert_eq!(of(ME, "no.such"), "Invalid configuration key no.such");
        assert_eq!(of(ME, "connection_creation_rate"), "Invalid configuration key connection_creation_rate");
        assert_eq!(of(&[("bogus", Some("me"))], PRODUCER_RATE), "Unhandled client quota entity type: bogus");
        assert_eq!(of(&[], PRODUCER_RATE), "Invalid empty client quota entity");
        assert_eq!(of(&[("client-id", Some(""))], PRODUCER_RATE), "Empty client-id not supported");
        let ip: Entity<'_> = &[("ip", Some("not an ip!"))];
        let rate = "connection_creation_rate";
        assert_eq!(of(ip, rate), "not%20an%20ip%21 is not a valid IP or resolvable host.");
        assert_eq!(said(Release::V4_4, ip, rate, 1.0).1, "not an ip! is not a valid IP or resolvable host.");
        assert_eq!(said(Release::V3_9, &[("ip", Some("127.0.0.9"))], rate, 10.0).0, 0);
        let both: Entity<'_> = &[("ip", Some("127.0.0.9")), ("user", Some("u"))];
        assert!(of(both, rate).ends_with("IP entity should not be used with user/client ID entity."));
    }

    #[test]
    fn by_how_much() {
        let long = "Configuration producer_byte_rate must be a LONG value".to_owned();
        assert_eq!(said(Release::V3_9, ME, PRODUCER_RATE, 1.5), (42, long.clone()));
        assert_eq!(said(Release::V3_9, ME, PRODUCER_RATE, -1.0), (42, long));
        assert_eq!(said(Release::V3_9, ME, PRODUCER_RATE, 0.0).0, 0);
        assert_eq!(said(Release::V3_9, ME, "request_percentage", 1.5).0, 0);
        let more = "Quota producer_byte_rate must be greater than 0".to_owned();
        assert_eq!(said(Release::V4_4, ME, PRODUCER_RATE, 0.0), (42, more));
        let fraction = "producer_byte_rate cannot be a fractional value.".to_owned();
        assert_eq!(said(Release::V4_4, ME, PRODUCER_RATE, 1.5), (42, fraction));
    }

    #[test]
    fn an_entity_twice_in_a_request() {
        for (release, code) in [(Release::V3_9, 0), (Release::V4_4, 42)] {
            let mut twice = request(ME, &[(PRODUCER_RATE, Some(1.0))]);
            twice.entries.extend(twice.entries.clone());
            let answer: AlterClientQuotasResponse = Asking::of(release).ask(0, twice);
            assert_eq!((answer.entries.len(), answer.entries[0].error_code.0), (1, code), "{release}");
        }
    }
}
