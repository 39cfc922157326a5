//! What a client can make a broker hold: one frame, one answer.

use kmirror_proto::messages::{ApiVersionsRequest, ApiVersionsResponse, MetadataRequest, MetadataResponse};
use kmirror_proto::{ApiKey, ErrorCode, encode_request};
use kmirror_testkit::net::Server;
use kmirror_testkit::{Cluster, NodeId, Release};

use super::client::{Client, fetch, produce};
use super::started;

/// `socket.request.max.bytes`, measured on all releases: a size of exactly this is accepted, one more closes the
/// connection (other.md, "Sizes").
const FRAME_BYTES_MAX: i32 = 104_857_600;

#[test]
fn the_longest_frame_is_served() {
    let server = started(1);
    server.with(|cluster, _| cluster.create_topic("numbers", 1));
    let mut client = Client::connect(&server, NodeId(0));
    // What stands around a value has the same length for all values of about this one's.
    let probe = 100_000_000;
    let around = encode_request(7, Some("front"), 3, &produce("numbers", 1, probe)).unwrap().len() - probe;
    client.send(3, produce("numbers", 1, usize::try_from(FRAME_BYTES_MAX).unwrap() + 4 - around));
    assert_eq!(client.produced(3).error_code, ErrorCode::MESSAGE_TOO_LARGE);
    let _: ApiVersionsResponse = client.ask(0, ApiVersionsRequest::default());
}

#[test]
fn a_longer_one_and_a_negative_one_close_the_connection() {
    let server = started(1);
    for length in [FRAME_BYTES_MAX + 1, -1, i32::MIN, i32::MAX] {
        let mut client = Client::connect(&server, NodeId(0));
        let _: ApiVersionsResponse = client.ask(0, ApiVersionsRequest::default());
        client.write(&length.to_be_bytes());
        assert!(client.is_closed(), "a length of {length}");
    }
}

/// It is a setting, and counts what stands behind the length.
#[test]
fn the_longest_frame_is_as_long_as_the_setting_says() {
    let request = || MetadataRequest { topics: Some(Vec::new()), ..MetadataRequest::default() };
    let length = encode_request(7, Some("front"), 1, &request().into()).unwrap().len() - 4;
    for (longest, is_served) in [(length, true), (length - 1, false)] {
        let cluster = Cluster::builder(Release::V2_0).setting("socket.request.max.bytes", &longest.to_string());
        let server = Server::start(cluster.build().unwrap()).unwrap();
        let mut client = Client::connect(&server, NodeId(0));
        client.send(1, request());
        if is_served {
            let _: MetadataResponse = client.answer(ApiKey::METADATA, 1);
        } else {
            assert!(client.is_closed());
        }
    }
}

/// What was asked before the frame that is none is answered before the connection ends.
#[test]
fn answers_before_the_close_arrive() {
    let server = started(1);
    let mut client = Client::connect(&server, NodeId(0));
    client.send(0, ApiVersionsRequest::default());
    client.write(b"GET / HTTP/1.1\r\n\r\n");
    let _: ApiVersionsResponse = client.answer(ApiKey::API_VERSIONS, 0);
    assert!(client.is_closed());
}

/// A client asks for 200 MB in small requests and does not read: the broker takes up as many as the kernel's buffers
/// have room for answers, and leaves the rest where they are.
#[test]
fn a_client_that_does_not_read_is_not_read_from() {
    const ASKED: usize = 200;
    let server = started(1);
    server.with(|cluster, _| cluster.create_topic("large", 1));
    let mut client = Client::connect(&server, NodeId(0));
    client.send(3, produce("large", 1, 990_000));
    assert_eq!(client.produced(3).error_code, ErrorCode::NONE);
    for _ in 0..ASKED {
        client.send(4, fetch("large", 0, 0));
    }
    client.send(3, produce("large", 1, 1));
    client.await_bytes();
    // More turns of the broker's loop than it would need for all of it.
    for _ in 0..2 * ASKED {
        server.with(|_, _| ());
    }
    let end = || server.with(|cluster, _| cluster.offsets("large", 0)).unwrap().1;
    assert_eq!(end(), 1, "what stands behind the fetches is not taken up");
    for _ in 0..ASKED {
        assert!(client.fetched(4).records.unwrap().len() > 990_000);
    }
    assert_eq!(client.produced(3).base_offset, 1);
    assert_eq!(end(), 2);
}

/// While a client's answer waits, others are served.
#[test]
fn a_client_that_does_not_read_holds_up_nobody() {
    let server = started(1);
    server.with(|cluster, _| cluster.create_topic("large", 1));
    let mut deaf = Client::connect(&server, NodeId(0));
    deaf.send(3, produce("large", 1, 990_000));
    for _ in 0..100 {
        deaf.send(4, fetch("large", 0, 0));
    }
    let mut other = Client::connect(&server, NodeId(0));
    for _ in 0..20 {
        let _: ApiVersionsResponse = other.ask(0, ApiVersionsRequest::default());
    }
}
