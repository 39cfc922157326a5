//! FindCoordinator: which broker looks after a group or a transaction.
//!
//! The first question makes the internal topic, and is answered with 15: ask again. Java:
//! `kafka.server.KafkaApis.handleFindCoordinatorRequest`.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{Coordinator, FindCoordinatorRequest, FindCoordinatorResponse};

use crate::Release;
use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Coordinates, Reply};

/// The kinds of keys on the wire.
const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;

/// Answers for each key; any broker knows.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &FindCoordinatorRequest) -> Reply {
    let coordinators = request.keys.iter().map(|key| one(cluster, call, request.key_type, key)).collect();
    Reply::from(FindCoordinatorResponse { coordinators, ..FindCoordinatorResponse::default() })
}

fn one(cluster: &mut Cluster, call: &Call, key_type: i8, key: &str) -> Coordinator {
    let refused = |error_code| Coordinator { key: key.to_owned(), error_code, ..Coordinator::default() };
    let what = match key_type {
        GROUP => Coordinates::Group,
        TRANSACTION => Coordinates::Transaction,
        _ => return refused(ErrorCode::INVALID_REQUEST),
    };
    let (resource, code, message) = match what {
        Coordinates::Group => {
            (Resource::Group(key), ErrorCode::GROUP_AUTHORIZATION_FAILED, "Group authorization failed.")
        }
        Coordinates::Transaction => (
            Resource::TransactionalId(key),
            ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            "Transactional Id authorization failed.",
        ),
    };
    if !authorized(cluster, call, Operation::Describe, resource) {
        let error_message = (cluster.release >= Release::V2_4).then(|| message.to_owned());
        return Coordinator { error_message, ..refused(code) };
    }
    if cluster.make_internal_topic(what) {
        return refused(ErrorCode::COORDINATOR_NOT_AVAILABLE);
    }
    let found = cluster.coordinator(what, key);
    let Some((node, broker)) = found.and_then(|node| Some((node, cluster.brokers.get(&node)?))) else {
        return refused(ErrorCode::COORDINATOR_NOT_AVAILABLE);
    };
    Coordinator {
        key: key.to_owned(),
        node_id: node.0,
        host: broker.host.clone(),
        port: i32::from(broker.port),
        error_message: of_success(cluster.release, call.version),
        ..Coordinator::default()
    }
}

/// What is said of success, from 2.4 on (measured on 2.8 and later).
fn of_success(release: Release, version: i16) -> Option<String> {
    match version {
        _ if release < Release::V2_4 => None,
        0 => None,
        1..=3 => Some("NONE".to_owned()),
        _ => Some(String::new()),
    }
}
