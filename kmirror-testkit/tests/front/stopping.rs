//! Brokers that stop and come back, and the end of the server.

#![expect(clippy::disallowed_types, reason = "another process that wants the port")]

use std::io::ErrorKind;
use std::net::TcpListener;

use kmirror_proto::messages::{ApiVersionsRequest, ApiVersionsResponse};
use kmirror_testkit::net::{ListenOn, Server};
use kmirror_testkit::{Cluster, NodeId, Release};

use super::client::{Client, is_refused};
use super::started;

/// A stopped broker cuts its connections and refuses new ones; its port stays its own, and it is there again.
#[test]
fn a_broker_stops_and_comes_back_at_the_same_port() {
    let server = started(2);
    let address = server.address(NodeId(1)).unwrap();
    for _ in 0..10 {
        let mut client = Client::at(address);
        let _: ApiVersionsResponse = client.ask(0, ApiVersionsRequest::default());
        server.with(|cluster, _| cluster.stop_broker(NodeId(1))).unwrap();
        assert!(client.is_reset());
        assert!(is_refused(address));
        assert_eq!(TcpListener::bind(address).unwrap_err().kind(), ErrorKind::AddrInUse);
        let _: ApiVersionsResponse = Client::connect(&server, NodeId(0)).ask(0, ApiVersionsRequest::default());
        server.with(|cluster, _| cluster.start_broker(NodeId(1))).unwrap();
        let _: ApiVersionsResponse = Client::at(address).ask(0, ApiVersionsRequest::default());
    }
}

/// A cluster whose broker is down from the beginning refuses there from the beginning.
#[test]
fn a_broker_that_was_never_up_refuses() {
    let mut cluster = Cluster::builder(Release::V2_0).brokers(2).build().unwrap();
    cluster.stop_broker(NodeId(0)).unwrap();
    let server = Server::start(cluster).unwrap();
    assert!(is_refused(server.address(NodeId(0)).unwrap()));
    let _: ApiVersionsResponse = Client::connect(&server, NodeId(1)).ask(0, ApiVersionsRequest::default());
}

#[test]
fn dropping_the_server_ends_everything() {
    let server = started(2);
    let addresses = [0, 1].map(|node| server.address(NodeId(node)).unwrap());
    let mut clients = addresses.map(Client::at);
    for client in &mut clients {
        let _: ApiVersionsResponse = client.ask(0, ApiVersionsRequest::default());
    }
    drop(server);
    for client in &mut clients {
        assert!(client.is_closed());
    }
    for address in addresses {
        assert!(is_refused(address));
    }
}

/// A port that somebody has is an error, not a second listener on it.
#[test]
fn a_port_that_is_taken_is_an_error() {
    let server = started(1);
    let port = server.address(NodeId(0)).unwrap().port();
    let listen_on = ListenOn { port, ..ListenOn::default() };
    let cluster = || Cluster::builder(Release::V0_10_1).build().unwrap();
    assert_eq!(Server::start_on(cluster(), &listen_on).unwrap_err().kind(), ErrorKind::AddrInUse);
    drop(server);
    let again = Server::start_on(cluster(), &listen_on).unwrap();
    assert_eq!(again.bootstrap(), format!("127.0.0.1:{port}"));
}

/// Else some brokers would be told of that nobody can reach.
#[test]
fn ports_that_there_are_not_are_an_error() {
    let cluster = Cluster::builder(Release::V2_0).brokers(2).build().unwrap();
    let listen_on = ListenOn { port: u16::MAX, ..ListenOn::default() };
    let error = Server::start_on(cluster, &listen_on).unwrap_err();
    // The last one may be somebody else's.
    assert!(matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::AddrInUse), "{error}");
}

/// A panic in a test's control is that test's: clients are served on.
#[test]
fn a_control_that_panics_does_not_end_the_cluster() {
    let server = started(1);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        server.with(|_, _| panic!("an assertion of the test failed"));
    }));
    assert!(panicked.is_err());
    let _: ApiVersionsResponse = Client::connect(&server, NodeId(0)).ask(0, ApiVersionsRequest::default());
}
