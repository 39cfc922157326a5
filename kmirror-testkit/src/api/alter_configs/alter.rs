//! New settings for one resource: whether they are taken, and what comes of them.

use std::collections::BTreeMap;

use kmirror_proto::ErrorCode;

use crate::acls::{Operation, Resource, authorized};
use crate::api::config_resources::{self as resources, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, TOPIC};
use crate::api::error::ApiError;
use crate::api::topic_names;
use crate::cluster::{Call, Cluster};
use crate::configs::{Change, SettingError, broker_setting, read_overrides};
use crate::settings::TopicSettings;
use crate::{NodeId, Release};

/// What is set for a resource, by name.
pub(in crate::api) type Overrides = BTreeMap<String, String>;

/// Puts what `next` makes of the resource's settings in their place. `next` is told what is set by now, and what kind of
/// resource it is.
pub(in crate::api) fn alter(
    cluster: &mut Cluster,
    call: &Call,
    (kind, name): (i8, &str),
    validate_only: bool,
    next: impl FnOnce(&Cluster, &Overrides) -> Result<Overrides, ApiError>,
) -> Result<(), ApiError> {
    let release = cluster.release;
    let may = |resource| authorized(cluster, call, Operation::AlterConfigs, resource);
    match kind {
        TOPIC if !may(Resource::Topic(name)) => {
            Err(forbidden(release, ErrorCode::TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed."))
        }
        TOPIC => topic(cluster, name, validate_only, next),
        BROKER | BROKER_LOGGER | CLIENT_METRICS | GROUP if is_known(release, kind) && !may(Resource::Cluster) => {
            Err(ApiError::bare(ErrorCode::CLUSTER_AUTHORIZATION_FAILED))
        }
        BROKER if release <= Release::V1_0 => {
            Err(invalid("AlterConfigs is only supported for topics, but resource type is BROKER"))
        }
        BROKER => match resources::broker(release, call, name, "") {
            Ok(node) => broker(cluster, (name, node), validate_only, next),
            Err(message) => Err(invalid(message)),
        },
        // Nobody logs here, measures clients, or keeps settings of groups.
        BROKER_LOGGER | CLIENT_METRICS | GROUP if is_known(release, kind) => Ok(()),
        _ if release >= Release::V3_9 => Err(invalid(format!("Unknown resource type {kind}"))),
        3 if release <= Release::V1_1 => Err(invalid("Unexpected resource type GROUP")),
        _ => Err(invalid("Unexpected resource type UNKNOWN")),
    }
}

/// Whether the release has settings for this kind of resource.
pub(super) fn is_known(release: Release, kind: i8) -> bool {
    match kind {
        TOPIC | BROKER => true,
        BROKER_LOGGER => release >= Release::V2_4,
        CLIENT_METRICS | GROUP => release >= Release::V4_4,
        3 => release <= Release::V1_1,
        _ => false,
    }
}

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::INVALID_REQUEST, message)
}

fn forbidden(release: Release, code: ErrorCode, message: &str) -> ApiError {
    if release >= Release::V4_4 { ApiError::new(code, message) } else { ApiError::bare(code) }
}

/// How releases before 4.x begin what they say about a value.
fn about(release: Release, kind: &str, name: &str) -> String {
    format!("Invalid config value for resource {}: ", resources::printed(release, kind, name))
}

fn topic(
    cluster: &mut Cluster,
    name: &str,
    validate_only: bool,
    next: impl FnOnce(&Cluster, &Overrides) -> Result<Overrides, ApiError>,
) -> Result<(), ApiError> {
    exists(cluster, name)?;
    let release = cluster.release;
    let current = cluster.topics.get(name).map(|topic| topic.overrides.clone()).unwrap_or_default();
    let new = next(cluster, &current)?;
    let sent = new.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let overrides = read_overrides(&cluster.settings, sent).map_err(|error| match error {
        SettingError::Invalid { .. } => {
            let begins = if release >= Release::V4_4 { String::new() } else { about(release, "TOPIC", name) };
            let code = if release >= Release::V3_9 { ErrorCode::INVALID_CONFIG } else { ErrorCode::INVALID_REQUEST };
            ApiError::new(code, begins + &error.in_answers(release))
        }
        SettingError::Unknown { .. } | SettingError::Conflict { .. } => ApiError::of_setting(release, &error),
    })?;
    let settings = TopicSettings::of(&cluster.settings, &overrides);
    if let Some(topic) = cluster.topics.get_mut(name).filter(|_| !validate_only) {
        topic.overrides = overrides;
        topic.settings = settings;
    }
    Ok(())
}

fn exists(cluster: &Cluster, name: &str) -> Result<(), ApiError> {
    let release = cluster.release;
    if name.is_empty() && release >= Release::V3_9 {
        return Err(invalid("Default topic resources are not allowed."));
    }
    let checked = release <= Release::V2_4 || release >= Release::V4_4;
    if let Some(message) = topic_names::complaint(release, name).filter(|_| checked) {
        return Err(ApiError::new(ErrorCode::INVALID_TOPIC_EXCEPTION, message));
    }
    if cluster.topics.contains_key(name) {
        Ok(())
    } else if release <= Release::V2_4 {
        Err(ApiError::new(ErrorCode::UNKNOWN_SERVER_ERROR, format!("Topic \"{name}\" does not exist.")))
    } else {
        Err(ApiError::new(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, format!("The topic '{name}' does not exist.")))
    }
}

fn broker(
    cluster: &mut Cluster,
    (name, node): (&str, Option<NodeId>),
    validate_only: bool,
    next: impl FnOnce(&Cluster, &Overrides) -> Result<Overrides, ApiError>,
) -> Result<(), ApiError> {
    let release = cluster.release;
    let settings = &cluster.settings;
    let current = match node {
        Some(node) => settings.of_brokers.get(&node).cloned().unwrap_or_default(),
        None => settings.of_cluster.clone(),
    };
    let new = next(cluster, &current)?;
    let begins = if release >= Release::V3_9 { String::new() } else { about(release, "BROKER", name) };
    if let Some(message) = unchangeable(release, node, &new) {
        return Err(invalid(begins + &message));
    }
    let mut read = Overrides::new();
    // A name that the release does not know is some plugin's: taken, and nothing comes of it.
    for (name, value) in &new {
        if let Some(setting) = broker_setting(release, name) {
            let value =
                setting.read(release, value).map_err(|e| invalid(format!("{begins}{}", e.in_answers(release))))?;
            read.insert(name.clone(), value);
        }
    }
    let removed = current.contains_key(IN_SYNC_MIN) && !read.contains_key(IN_SYNC_MIN);
    if removed && node.is_none() && release >= Release::V4_4 {
        let message = "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.";
        return Err(ApiError::new(ErrorCode::INVALID_CONFIG, message));
    }
    if !validate_only {
        match node {
            Some(node) => {
                cluster.settings.of_brokers.insert(node, read);
            }
            None => cluster.change_settings(read),
        }
    }
    Ok(())
}

const IN_SYNC_MIN: &str = "min.insync.replicas";

/// What a running broker says about settings that it cannot change.
fn unchangeable(release: Release, node: Option<NodeId>, new: &Overrides) -> Option<String> {
    let named = |wanted: &dyn Fn(&str, Change) -> bool| {
        let found = new.keys().filter(|name| broker_setting(release, name).is_some_and(|s| wanted(name, s.change)));
        found.map(String::as_str).collect::<Vec<_>>().join(", ")
    };
    let read_only = named(&|_, change| change == Change::ReadOnly);
    if !read_only.is_empty() {
        let set = if release >= Release::V4_4 { format!("[{read_only}]") } else { format!("Set({read_only})") };
        return Some(format!("Cannot update these configs dynamically: {set}"));
    }
    let security = named(&|name, _| is_of_listener(name));
    if !security.is_empty() {
        let set = if release >= Release::V4_4 {
            format!("[{security}]")
        } else if release >= Release::V2_8 {
            format!("HashSet({security})")
        } else {
            format!("Set({security})")
        };
        return Some(format!(
            "These security configs can be dynamically updated only per-listener using the listener prefix: {set}"
        ));
    }
    let of_one = named(&|_, change| change == Change::OneBroker);
    if node.is_none() && !of_one.is_empty() {
        let set = if release >= Release::V4_4 { format!("[{of_one}]") } else { format!("Set({of_one})") };
        return Some(format!("Cannot update these configs at default cluster level: {set}"));
    }
    None
}

/// Key stores and trust stores: `DynamicBrokerConfig.DynamicSecurityConfigs`.
fn is_of_listener(name: &str) -> bool {
    name.starts_with("ssl.keystore.") || name.starts_with("ssl.truststore.") || name == "ssl.key.password"
}
