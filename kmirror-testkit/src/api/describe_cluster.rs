//! DescribeCluster: the brokers that run, and the one that controls (KIP-700).
//!
//! Measured on 2.8 to 4.4: whoever asks a broker for controllers is told 114, for anything else 115 (KIP-919). Java:
//! `kafka.server.KafkaApis.handleDescribeCluster`.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{DescribeClusterRequest, DescribeClusterResponse, DescribedBroker};

use crate::NodeId;
use crate::acls::{Resource, authorized_operations};
use crate::cluster::{Call, Cluster, Reply};

const BROKERS: i8 = 1;
const CONTROLLERS: i8 = 2;

/// Answers for the whole cluster, whichever broker is asked.
pub(crate) fn answer(cluster: &Cluster, call: &Call, request: &DescribeClusterRequest) -> Reply {
    let refused = |error_code, message: String| {
        let error_message = Some(message);
        Reply::from(DescribeClusterResponse { error_code, error_message, ..DescribeClusterResponse::default() })
    };
    match request.endpoint_type {
        BROKERS => {}
        CONTROLLERS => {
            let message =
                "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER";
            return refused(ErrorCode::MISMATCHED_ENDPOINT_TYPE, message.to_owned());
        }
        other => {
            return refused(ErrorCode::UNSUPPORTED_ENDPOINT_TYPE, format!("Unsupported endpoint type {other}"));
        }
    }
    let shown = cluster.brokers.iter().filter(|(_, broker)| broker.running || request.include_fenced_brokers);
    let brokers = shown.map(|(NodeId(broker_id), broker)| DescribedBroker {
        broker_id: *broker_id,
        host: broker.host.clone(),
        port: i32::from(broker.port),
        rack: broker.rack.clone(),
        is_fenced: !broker.running,
    });
    let mut response = DescribeClusterResponse {
        cluster_id: cluster.id.clone(),
        controller_id: cluster.controller().map_or(-1, |node| node.0),
        brokers: brokers.collect(),
        ..DescribeClusterResponse::default()
    };
    if request.include_cluster_authorized_operations {
        response.cluster_authorized_operations = authorized_operations(cluster, call, Resource::Cluster);
    }
    Reply::from(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Release;
    use crate::asking::Asking;

    fn ask(client: &mut Asking, version: i16, request: DescribeClusterRequest) -> DescribeClusterResponse {
        client.ask(version, request)
    }

    #[test]
    fn brokers_and_what_one_may_do() {
        for (release, version) in [(Release::V2_8, 0), (Release::V3_9, 1), (Release::V4_4, 2)] {
            let cluster = Cluster::builder(release).brokers(2).build().unwrap();
            let mut client = Asking::to(cluster, NodeId(1));
            let plain = ask(&mut client, version, DescribeClusterRequest::default());
            let ids: Vec<i32> = plain.brokers.iter().map(|broker| broker.broker_id).collect();
            assert_eq!((plain.controller_id, ids, plain.cluster_authorized_operations), (0, vec![0, 1], i32::MIN));
            let include_cluster_authorized_operations = true;
            let asked = DescribeClusterRequest { include_cluster_authorized_operations, ..Default::default() };
            assert_eq!(ask(&mut client, version, asked).cluster_authorized_operations, 8096, "{release}");
        }
    }

    #[test]
    fn a_broker_that_is_down_is_fenced() {
        let cluster = Cluster::builder(Release::V4_4).brokers(2).build().unwrap();
        let mut client = Asking::to(cluster, NodeId(0));
        client.cluster.stop_broker(NodeId(1)).unwrap();
        assert_eq!(ask(&mut client, 2, DescribeClusterRequest::default()).brokers.len(), 1);
        let asked = DescribeClusterRequest { include_fenced_brokers: true, ..DescribeClusterRequest::default() };
        let fenced: Vec<bool> = ask(&mut client, 2, asked).brokers.iter().map(|broker| broker.is_fenced).collect();
        assert_eq!(fenced, [false, true]);
    }

    #[test]
    fn other_endpoints() {
        let mut client = Asking::of(Release::V4_4);
        for (endpoint_type, code) in [(2, 114), (7, 115)] {
            let asked = DescribeClusterRequest { endpoint_type, ..DescribeClusterRequest::default() };
            let answer = ask(&mut client, 1, asked);
            assert_eq!((answer.error_code.0, answer.brokers.len()), (code, 0));
        }
    }
}
