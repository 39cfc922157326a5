//! Faults over real sockets: what the client's side of the connection sees.

use bytes::Bytes;
use kmirror_proto::ApiKey;
use kmirror_proto::messages::{ApiVersionsRequest, ApiVersionsResponse};
use kmirror_testkit::NodeId;
use kmirror_testkit::fault::{End, Fault, Requests};
use kmirror_testkit::net::Server;

use super::client::{Client, produce};
use super::started;

fn with_topic() -> Server {
    let server = started(1);
    server.with(|cluster, _| cluster.create_topic("numbers", 1));
    server
}

fn end(server: &Server) -> i64 {
    server.with(|cluster, _| cluster.offsets("numbers", 0)).unwrap().1
}

/// The bytes before the cut arrive, then the end that was asked for.
#[test]
fn an_answer_is_cut() {
    let server = with_topic();
    for how in [End::Close, End::Reset] {
        let fault = Fault::Cut { bytes: 9, end: how };
        server.with(|cluster, _| cluster.intercept(Requests::of(ApiKey::PRODUCE).times(1), fault));
        let mut client = Client::connect(&server, NodeId(0));
        client.send(3, produce("numbers", 1, 10));
        let cut = client.read(9);
        assert_eq!(cut[4..8], 7_i32.to_be_bytes(), "length, correlation id, and one byte more");
        match how {
            End::Close => assert!(client.is_closed()),
            End::Reset => assert!(client.is_reset()),
        }
    }
    assert_eq!(end(&server), 2, "both were applied");
}

#[test]
fn an_answer_is_dropped_and_the_connection_reset() {
    let server = with_topic();
    let fault = Fault::DropAnswer(End::Reset);
    let set = server.with(|cluster, _| cluster.intercept(Requests::of(ApiKey::PRODUCE), fault));
    let mut client = Client::connect(&server, NodeId(0));
    client.send(3, produce("numbers", 1, 10));
    assert!(client.is_reset());
    assert_eq!((end(&server), server.with(|cluster, _| cluster.bitten(set))), (1, 1));
}

#[test]
fn hostile_bytes_arrive_as_they_are() {
    let server = with_topic();
    let bytes = Bytes::from_static(b"\x00\x00\x00\x08\xde\xad\xbe\xef\x7f\xff\xff\xff");
    let fault = Fault::Bytes { bytes: bytes.clone(), end: None };
    server.with(|cluster, _| cluster.intercept(Requests::any().times(1), fault));
    let mut client = Client::connect(&server, NodeId(0));
    client.send(0, ApiVersionsRequest::default());
    assert_eq!(client.read(bytes.len()), bytes);
    let _: ApiVersionsResponse = client.ask(0, ApiVersionsRequest::default());
}

/// What a client sent to a frozen broker before it gave up is applied when that goes on.
#[test]
fn a_frozen_broker_serves_those_who_have_left() {
    let server = with_topic();
    server.with(|cluster, _| cluster.freeze_broker(NodeId(0))).unwrap();
    let mut client = Client::connect(&server, NodeId(0));
    client.send(3, produce("numbers", 1, 10));
    client.end();
    assert_eq!(end(&server), 0);
    server.with(|cluster, _| cluster.thaw_broker(NodeId(0))).unwrap();
    assert_eq!(client.produced(3).base_offset, 0);
    assert!(client.is_closed());
}

/// Delays are the front's to keep: nobody but the clock wakes it.
#[test]
fn a_delayed_answer_comes_by_itself() {
    let server = with_topic();
    let delay = std::time::Duration::from_millis(30);
    server.with(|cluster, _| cluster.intercept(Requests::any().times(1), Fault::DelayRequest(delay)));
    let mut client = Client::connect(&server, NodeId(0));
    client.send(3, produce("numbers", 1, 10));
    assert_eq!(client.produced(3).base_offset, 0);
}
