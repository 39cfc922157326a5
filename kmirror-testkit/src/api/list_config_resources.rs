//! ListConfigResources: what has settings (KIP-1142). v0 asks for subscriptions to client metrics alone, of which there
//! are none here.
//!
//! Measured on 4.4. Java: `kafka.server.KafkaApis.handleListConfigResources`.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{ConfigResource, ListConfigResourcesRequest, ListConfigResourcesResponse};

use super::config_resources::{BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, TOPIC};
use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Reply};

/// In the order of the answer.
const KINDS: [i8; 5] = [GROUP, CLIENT_METRICS, BROKER_LOGGER, BROKER, TOPIC];

/// Lists kind by kind.
pub(crate) fn answer(cluster: &Cluster, call: &Call, request: &ListConfigResourcesRequest) -> Reply {
    let refused =
        |error_code| Reply::from(ListConfigResourcesResponse { error_code, ..ListConfigResourcesResponse::default() });
    if !authorized(cluster, call, Operation::DescribeConfigs, Resource::Cluster) {
        return refused(ErrorCode::CLUSTER_AUTHORIZATION_FAILED);
    }
    if request.resource_types.iter().any(|kind| !KINDS.contains(kind)) {
        return refused(ErrorCode::UNSUPPORTED_VERSION);
    }
    let wanted = |kind: &i8| match call.version {
        0 => *kind == CLIENT_METRICS,
        _ => request.resource_types.is_empty() || request.resource_types.contains(kind),
    };
    let of_kind = |kind: i8| {
        let names: Vec<String> = match kind {
            TOPIC => cluster.topics.keys().cloned().collect(),
            BROKER | BROKER_LOGGER => cluster.brokers.keys().map(ToString::to_string).collect(),
            _ => Vec::new(),
        };
        names.into_iter().map(move |resource_name| ConfigResource { resource_name, resource_type: kind })
    };
    let config_resources = KINDS.into_iter().filter(wanted).flat_map(of_kind).collect();
    Reply::from(ListConfigResourcesResponse { config_resources, ..ListConfigResourcesResponse::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Release;
    use crate::asking::Asking;

    fn ask(version: i16, resource_types: &[i8]) -> (i16, Vec<(i8, String)>) {
        let mut client = Asking::of(Release::V4_4);
        client.cluster.create_topic("t", 1);
        let request = ListConfigResourcesRequest { resource_types: resource_types.to_vec() };
        let answer: ListConfigResourcesResponse = client.ask(version, request);
        let found = answer.config_resources.into_iter().map(|found| (found.resource_type, found.resource_name));
        (answer.error_code.0, found.collect())
    }

    #[test]
    fn kinds_are_listed() {
        let of = |kind, name: &str| (kind, name.to_owned());
        assert_eq!(ask(0, &[]), (0, vec![]));
        assert_eq!(ask(1, &[]), (0, vec![of(BROKER_LOGGER, "0"), of(BROKER, "0"), of(TOPIC, "t")]));
        assert_eq!(ask(1, &[GROUP, BROKER]), (0, vec![of(BROKER, "0")]));
        for unknown in [0, 3, 64] {
            assert_eq!(ask(1, &[unknown]), (35, vec![]));
        }
    }
}
