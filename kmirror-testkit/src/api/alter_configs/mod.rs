//! AlterConfigs: a resource's settings are replaced, all of them (KIP-133).
//!
//! Codes and messages as measured on 0.11 to 4.4. Nobody needs the controller for it. What 2.8 and newer do with a
//! resource that is there twice: nothing, and the client waits. Java: `kafka.server.ZkAdminManager.alterConfigs`,
//! `kafka.server.ConfigAdminManager`, `org.apache.kafka.controller.ConfigurationControlManager`.

use std::collections::{BTreeMap, BTreeSet};

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{AlterConfigsRequest, AlterConfigsResource, AlterConfigsResponse, AlteredResource};

use super::config_resources::BROKER_LOGGER;
use super::error::ApiError;
use crate::Release;
use crate::cluster::{Call, Cluster, Reply};

mod alter;
pub(super) use alter::{Overrides, alter};

/// Replaces the settings of resource by resource.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &AlterConfigsRequest) -> Reply {
    let release = cluster.release;
    let null = request.resources.iter().flat_map(|resource| &resource.configs).any(|config| config.value.is_none());
    if null && (Release::V2_0..=Release::V2_4).contains(&release) {
        return Reply::Close;
    }
    let mut told = BTreeSet::new();
    let mut responses = Vec::new();
    for resource in &request.resources {
        let (kind, name) = (resource.resource_type, resource.resource_name.as_str());
        if !told.insert((kind, name)) {
            if release >= Release::V2_8 {
                return Reply::Silence;
            }
            continue;
        }
        let outcome = match wrong(release, resource) {
            Some(error) => Err(error),
            None => alter(cluster, call, (kind, name), request.validate_only, |_, _| Ok(as_sent(resource))),
        };
        // What it does not know it calls 0.
        let known = alter::is_known(release, kind) || release >= Release::V2_8;
        responses.push(altered(if known { kind } else { 0 }, name, outcome));
    }
    cluster.waits.change();
    Reply::from(AlterConfigsResponse { responses, ..AlterConfigsResponse::default() })
}

/// The answer about one resource.
pub(super) fn altered(resource_type: i8, name: &str, outcome: Result<(), ApiError>) -> AlteredResource {
    let (error_code, error_message) = outcome.map_or_else(|e| (e.code, e.message), |()| (ErrorCode::NONE, None));
    AlteredResource { error_code, error_message, resource_type, resource_name: name.to_owned() }
}

fn as_sent(resource: &AlterConfigsResource) -> Overrides {
    let sent = resource.configs.iter().filter_map(|config| Some((config.name.clone(), config.value.clone()?)));
    sent.collect::<BTreeMap<_, _>>()
}

/// What is wrong with the request, whatever it is about.
fn wrong(release: Release, resource: &AlterConfigsResource) -> Option<ApiError> {
    let invalid = |message: String| Some(ApiError::new(ErrorCode::INVALID_REQUEST, message));
    match (resource.resource_type, release) {
        (BROKER_LOGGER, Release::V2_4 | Release::V2_8 | Release::V3_0) => {
            return invalid(
                "AlterConfigs is deprecated and does not support the resource type BROKER_LOGGER".to_owned(),
            );
        }
        (BROKER_LOGGER, Release::V3_9 | Release::V4_4) => return invalid("Unknown resource type 8".to_owned()),
        _ => {}
    }
    let names: BTreeSet<_> = resource.configs.iter().map(|config| &config.name).collect();
    if names.len() < resource.configs.len() && release >= Release::V3_9 {
        return invalid("Error due to duplicate config keys".to_owned());
    }
    let null = resource.configs.iter().filter(|config| config.value.is_none()).map(|config| config.name.as_str());
    let null = null.collect::<Vec<_>>().join(",");
    if null.is_empty() {
        return None;
    }
    if release >= Release::V3_9 {
        return invalid(format!("Null value not supported for : {null}"));
    }
    Some(ApiError::bare(ErrorCode::UNKNOWN_SERVER_ERROR))
}

#[cfg(test)]
mod tests;
