//! IncrementalAlterConfigs: single settings are set, taken away, and lists are added to (KIP-339).
//!
//! Codes and messages as measured on 2.4 to 4.4. 2.4 cannot add to a list that was not set; 2.8 and 3.0 add what is
//! there already once more. Java: `kafka.server.ZkAdminManager.incrementalAlterConfigs`,
//! `kafka.server.ConfigAdminManager`, `org.apache.kafka.controller.ConfigurationControlManager`.

use std::collections::BTreeSet;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    ConfigChange, IncrementalAlterConfigsRequest, IncrementalAlterConfigsResource, IncrementalAlterConfigsResponse,
};

use super::alter_configs::{Overrides, alter, altered};
use super::config_resources::{self as resources, TOPIC};
use super::error::ApiError;
use crate::Release;
use crate::cluster::{Call, Cluster, Reply};
use crate::configs::{Kind, broker_setting, topic_setting};

/// Changes resource by resource.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &IncrementalAlterConfigsRequest) -> Reply {
    let release = cluster.release;
    let mut told = BTreeSet::new();
    let mut responses = Vec::new();
    for resource in &request.resources {
        let (kind, name) = (resource.resource_type, resource.resource_name.as_str());
        let first = told.insert((kind, name));
        let is_same =
            |other: &&IncrementalAlterConfigsResource| (other.resource_type, &*other.resource_name) == (kind, name);
        let repeated = request.resources.iter().filter(is_same).count() > 1;
        let outcome = if repeated && release >= Release::V3_9 {
            Err(ApiError::new(ErrorCode::INVALID_REQUEST, "Each resource must appear at most once."))
        } else if !first {
            continue;
        } else if let Some(error) = wrong(release, resource).or_else(|| nameless(release, resource)) {
            Err(error)
        } else {
            alter(cluster, call, (kind, name), request.validate_only, |cluster, current| {
                changed(cluster, resource, current)
            })
        };
        responses.push(altered(kind, name, outcome));
    }
    cluster.waits.change();
    Reply::from(IncrementalAlterConfigsResponse { responses, ..IncrementalAlterConfigsResponse::default() })
}

/// Up to 3.0 a topic's name is a part of a path before it is anything else.
fn nameless(release: Release, resource: &IncrementalAlterConfigsResource) -> Option<ApiError> {
    let nameless = resource.resource_type == TOPIC && resource.resource_name.is_empty() && release <= Release::V3_0;
    nameless.then(|| {
        let resource = resources::printed(release, "TOPIC", "");
        let message = format!("Invalid config value for resource {resource}: Path must not end with / character");
        ApiError::new(ErrorCode::INVALID_REQUEST, message)
    })
}

/// What is wrong with the request, whatever is set by now.
fn wrong(release: Release, resource: &IncrementalAlterConfigsResource) -> Option<ApiError> {
    let invalid = |message: String| Some(ApiError::new(ErrorCode::INVALID_REQUEST, message));
    let mut seen = BTreeSet::new();
    let repeated: BTreeSet<_> =
        resource.configs.iter().map(|change| change.name.as_str()).filter(|name| !seen.insert(*name)).collect();
    if !repeated.is_empty() {
        let names = repeated.into_iter().collect::<Vec<_>>().join(",");
        let named = if release >= Release::V3_9 { String::new() } else { format!(" : {names}") };
        return invalid(format!("Error due to duplicate config keys{named}"));
    }
    let is_null = |change: &&ConfigChange| change.value.is_none() && change.config_operation != ConfigChange::DELETE;
    let with_operation = matches!(release, Release::V2_8 | Release::V3_0);
    let null = resource.configs.iter().filter(is_null).map(|change| {
        let operation = if with_operation { format!("{}:", operation(change.config_operation)) } else { String::new() };
        operation + &change.name
    });
    let null = null.collect::<Vec<_>>().join(",");
    if null.is_empty() {
        None
    } else if release <= Release::V2_4 {
        Some(ApiError::bare(ErrorCode::UNKNOWN_SERVER_ERROR))
    } else {
        invalid(format!("Null value not supported for : {null}"))
    }
}

/// What is set once the changes are made.
fn changed(
    cluster: &Cluster,
    resource: &IncrementalAlterConfigsResource,
    current: &Overrides,
) -> Result<Overrides, ApiError> {
    let mut next = current.clone();
    for change in &resource.configs {
        let value = change.value.clone().unwrap_or_default();
        match change.config_operation {
            ConfigChange::SET => {
                next.insert(change.name.clone(), value);
            }
            ConfigChange::DELETE => {
                next.remove(&change.name);
            }
            ConfigChange::APPEND | ConfigChange::SUBTRACT => {
                let list = list(cluster, resource.resource_type, change, current)?;
                next.insert(change.name.clone(), edited(cluster.release, change.config_operation, &list, &value));
            }
            _ => return Err(ApiError::bare(ErrorCode::UNKNOWN_SERVER_ERROR)),
        }
    }
    Ok(next)
}

/// A list with more or fewer parts.
fn edited(release: Release, operation: i8, list: &str, value: &str) -> String {
    let mut parts: Vec<&str> = list.split(',').filter(|part| !part.is_empty()).collect();
    let given = value.split(',').map(str::trim);
    if operation == ConfigChange::SUBTRACT {
        let given: Vec<&str> = given.collect();
        parts.retain(|part| !given.contains(part));
    } else {
        for part in given {
            if release < Release::V3_9 || !parts.contains(&part) {
                parts.push(part);
            }
        }
    }
    parts.join(",")
}

/// The list that is to be edited: as it was set, else the default.
fn list(cluster: &Cluster, kind: i8, change: &ConfigChange, current: &Overrides) -> Result<String, ApiError> {
    let (release, name) = (cluster.release, change.name.as_str());
    let of_topic = kind == TOPIC;
    let setting = if of_topic { topic_setting(release, name) } else { broker_setting(release, name) };
    let operation = operation(change.config_operation);
    let Some(setting) = setting.filter(|setting| setting.kind == Kind::List) else {
        let known = setting.is_some();
        let plain = format!("Config value {} is not allowed for config key: {name}", operation.to_lowercase());
        return Err(if release >= Release::V4_4 {
            let message = format!("Can't {operation} to key {name} because its type is not LIST.");
            ApiError::new(ErrorCode::INVALID_CONFIG, message)
        } else if known {
            let code = if release >= Release::V3_9 { ErrorCode::INVALID_CONFIG } else { ErrorCode::INVALID_REQUEST };
            ApiError::new(code, plain)
        } else if release <= Release::V2_4 {
            ApiError::new(ErrorCode::UNKNOWN_SERVER_ERROR, format!("key not found: {name}"))
        } else {
            ApiError::bare(ErrorCode::UNKNOWN_SERVER_ERROR)
        });
    };
    if let Some(set) = current.get(name) {
        return Ok(set.clone());
    }
    if release <= Release::V2_4 {
        // NullPointerException.
        return Err(ApiError::bare(ErrorCode::UNKNOWN_SERVER_ERROR));
    }
    let of_broker = || cluster.settings.value(name).map(str::to_owned);
    let value = if of_topic { cluster.settings.of_topics(name) } else { of_broker() };
    Ok(value.unwrap_or_else(|| setting.default.unwrap_or_default().to_owned()))
}

fn operation(number: i8) -> &'static str {
    match number {
        ConfigChange::SET => "SET",
        ConfigChange::DELETE => "DELETE",
        ConfigChange::APPEND => "APPEND",
        _ => "SUBTRACT",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::config_resources::BROKER;
    use crate::asking::Asking;

    fn request(kind: i8, name: &str, changes: &[(i8, &str, Option<&str>)]) -> IncrementalAlterConfigsRequest {
        let configs = changes.iter().map(|(operation, name, value)| ConfigChange {
            name: (*name).to_owned(),
            config_operation: *operation,
            value: value.map(str::to_owned),
        });
        let resource_name = name.to_owned();
        let resources =
            vec![IncrementalAlterConfigsResource { resource_type: kind, resource_name, configs: configs.collect() }];
        IncrementalAlterConfigsRequest { resources, validate_only: false }
    }

    fn with_topic(release: Release) -> Asking {
        let mut client = Asking::of(release);
        client.cluster.create_topic("t", 1);
        client
    }

    fn ask(client: &mut Asking, changes: &[(i8, &str, Option<&str>)]) -> (i16, Option<String>) {
        let answer: IncrementalAlterConfigsResponse = client.ask(0, request(TOPIC, "t", changes));
        (answer.responses[0].error_code.0, answer.responses[0].error_message.clone())
    }

    fn overrides(client: &Asking) -> Vec<(&str, &str)> {
        let overrides = &client.cluster.topics.get("t").unwrap().overrides;
        overrides.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    use ConfigChange as Op;

    fn releases() -> [Release; 5] {
        [Release::V2_4, Release::V2_8, Release::V3_0, Release::V3_9, Release::V4_4]
    }

    #[test]
    fn what_is_not_named_stays() {
        for release in releases() {
            let mut client = with_topic(release);
            ask(&mut client, &[(Op::SET, "retention.ms", Some("1000"))]);
            ask(&mut client, &[(Op::SET, "segment.ms", Some("7"))]);
            assert_eq!(overrides(&client), [("retention.ms", "1000"), ("segment.ms", "7")], "{release}");
            ask(&mut client, &[(Op::DELETE, "retention.ms", None), (Op::DELETE, "no.such", None)]);
            assert_eq!(overrides(&client), [("segment.ms", "7")], "{release}");
        }
    }

    #[test]
    fn lists_are_added_to() {
        for (release, twice, once) in [
            (Release::V2_8, "delete,compact,compact", "compact,compact"),
            (Release::V3_0, "delete,compact,compact", "compact,compact"),
            (Release::V3_9, "delete,compact", "compact"),
            (Release::V4_4, "delete,compact", "compact"),
        ] {
            let mut client = with_topic(release);
            for _ in 0..2 {
                assert_eq!(
                    ask(&mut client, &[(Op::APPEND, "cleanup.policy", Some("compact"))]),
                    (0, None),
                    "{release}"
                );
            }
            assert_eq!(overrides(&client), [("cleanup.policy", twice)], "{release}");
            assert_eq!(ask(&mut client, &[(Op::SUBTRACT, "cleanup.policy", Some("delete"))]), (0, None), "{release}");
            assert_eq!(overrides(&client), [("cleanup.policy", once)], "{release}");
        }
        assert_eq!(ask(&mut with_topic(Release::V2_4), &[(Op::APPEND, "cleanup.policy", Some("compact"))]).0, -1);
    }

    #[test]
    fn what_is_no_list() {
        let said = |release, name| {
            let (code, message) = ask(&mut with_topic(release), &[(Op::APPEND, name, Some("1"))]);
            (code, message.unwrap_or_else(|| "null".to_owned()))
        };
        let plain = "Config value append is not allowed for config key: retention.ms".to_owned();
        assert_eq!(said(Release::V3_0, "retention.ms"), (42, plain.clone()));
        assert_eq!(said(Release::V3_9, "retention.ms"), (40, plain));
        let of_4 = |name: &str| (40, format!("Can't APPEND to key {name} because its type is not LIST."));
        assert_eq!(said(Release::V4_4, "retention.ms"), of_4("retention.ms"));
        assert_eq!(said(Release::V4_4, "no.such"), of_4("no.such"));
        assert_eq!(said(Release::V2_4, "no.such"), (-1, "key not found: no.such".to_owned()));
        assert_eq!(said(Release::V3_9, "no.such"), (-1, "null".to_owned()));
    }

    #[test]
    fn what_is_wrong_with_a_request() {
        let null = |release| ask(&mut with_topic(release), &[(Op::SET, "retention.ms", None)]);
        assert_eq!(null(Release::V2_4), (-1, None));
        assert_eq!(null(Release::V3_0), (42, Some("Null value not supported for : SET:retention.ms".to_owned())));
        assert_eq!(null(Release::V4_4), (42, Some("Null value not supported for : retention.ms".to_owned())));
        let twice = [(Op::SET, "retention.ms", Some("1")), (Op::SET, "retention.ms", Some("2"))];
        let said = |release| ask(&mut with_topic(release), &twice).1.unwrap();
        assert_eq!(said(Release::V3_0), "Error due to duplicate config keys : retention.ms");
        assert_eq!(said(Release::V4_4), "Error due to duplicate config keys");
        for release in releases() {
            assert_eq!(ask(&mut with_topic(release), &[(9, "retention.ms", Some("1"))]).0, -1, "{release}");
        }
    }

    #[test]
    fn a_resource_twice_in_a_request() {
        for (release, codes) in [(Release::V3_0, vec![0]), (Release::V3_9, vec![42, 42])] {
            let mut twice = request(TOPIC, "t", &[]);
            twice.resources.extend(twice.resources.clone());
            let answer: IncrementalAlterConfigsResponse = with_topic(release).ask(0, twice);
            assert_eq!(answer.responses.iter().map(|one| one.error_code.0).collect::<Vec<_>>(), codes, "{release}");
        }
    }

    /// Measured on 4.4: other settings of the cluster can be changed beside `min.insync.replicas`.
    #[test]
    fn settings_of_the_cluster() {
        let mut client = with_topic(Release::V4_4);
        let change = request(BROKER, "", &[(Op::SET, "message.max.bytes", Some("5000"))]);
        let answer: IncrementalAlterConfigsResponse = client.ask(0, change);
        assert_eq!(answer.responses[0].error_code.0, 0);
        assert_eq!(client.cluster.topics.get("t").unwrap().settings.max_message_bytes, 5000);
    }
}
