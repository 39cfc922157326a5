//! The TCP front as clients meet it: a blocking client over real sockets.

mod client;
mod faults;
mod limits;
mod stopping;

use std::time::Duration;

use kmirror_proto::messages::{ApiVersionsRequest, ApiVersionsResponse, MetadataRequest, MetadataResponse};
use kmirror_testkit::net::Server;
use kmirror_testkit::{Cluster, NodeId, Release};

use client::{Client, fetch, produce};

fn started(brokers: u16) -> Server {
    let replicas = brokers.to_string();
    let cluster = Cluster::builder(Release::V2_0).brokers(brokers).setting("default.replication.factor", &replicas);
    // The only other thing that is ever due.
    let cluster = cluster.setting("log.retention.check.interval.ms", "86400000");
    Server::start(cluster.build().unwrap()).unwrap()
}

/// What a client is told is where the brokers are.
#[test]
fn every_broker_is_reached_at_its_advertised_address() {
    let server = started(3);
    let mut first = Client::connect(&server, NodeId(0));
    let answer: ApiVersionsResponse = first.ask(0, ApiVersionsRequest::default());
    assert_eq!(answer.api_keys, Release::V2_0.apis());
    let answer: MetadataResponse = first.ask(1, MetadataRequest::default());
    assert_eq!(answer.brokers.len(), 3);
    let told: Vec<String> = answer.brokers.iter().map(|b| format!("{}:{}", b.host, b.port)).collect();
    assert_eq!(server.bootstrap(), told.join(","));
    for broker in answer.brokers {
        let address = server.address(NodeId(broker.node_id)).unwrap();
        assert_eq!(format!("{}:{}", broker.host, broker.port), address.to_string());
        let _: ApiVersionsResponse = Client::at(address).ask(0, ApiVersionsRequest::default());
    }
    assert_eq!(server.address(NodeId(3)), None);
}

/// Requests that are sent without waiting are answered one by one, in order, also to a client that has ended its half.
#[test]
fn answers_come_in_the_order_of_the_requests() {
    let server = started(1);
    server.with(|cluster, _| cluster.create_topic("numbers", 1));
    let mut client = Client::connect(&server, NodeId(0));
    for _ in 0..100 {
        client.send(3, produce("numbers", 1, 200));
    }
    client.end();
    for n in 0..100 {
        assert_eq!(client.produced(3).base_offset, n);
    }
    assert!(client.is_closed());
}

/// A produce that nobody answers is applied though the client closes at once.
#[test]
fn what_was_sent_before_the_end_takes_effect() {
    let server = started(1);
    server.with(|cluster, _| cluster.create_topic("numbers", 1));
    let mut client = Client::connect(&server, NodeId(0));
    for _ in 0..50 {
        client.send(3, produce("numbers", 0, 1000));
    }
    client.end();
    assert!(client.is_closed(), "the broker has read to the end");
    assert_eq!(server.with(|cluster, _| cluster.offsets("numbers", 0)), Ok((0, 50)));
}

/// A fetch at the log end is answered when another client appends, and when its time is over.
#[test]
fn one_client_waits_for_what_another_writes() {
    let server = started(1);
    server.with(|cluster, _| cluster.create_topic("numbers", 1));
    let mut reader = Client::connect(&server, NodeId(0));
    let hour = 3_600_000;
    reader.send(4, fetch("numbers", 0, hour));
    let mut writer = Client::connect(&server, NodeId(0));
    writer.send(3, produce("numbers", 1, 100));
    assert_eq!(writer.produced(3).base_offset, 0);
    assert_eq!(reader.fetched(4).high_watermark, 1);

    reader.send(4, fetch("numbers", 1, hour));
    // Not before it is there can its hour pass.
    while server.with(|cluster, _| cluster.poll_timeout()).is_none_or(|due| due > Duration::from_secs(2 * 3600)) {}
    server.pass(Duration::from_secs(3600));
    assert_eq!(reader.fetched(4).records.map(|records| records.len()), Some(0));
}

/// The front wakes by itself for what is due.
#[test]
fn a_fetch_is_answered_when_its_time_is_over() {
    let server = started(1);
    server.with(|cluster, _| cluster.create_topic("numbers", 1));
    let mut reader = Client::connect(&server, NodeId(0));
    for _ in 0..3 {
        reader.send(4, fetch("numbers", 0, 20));
        assert_eq!(reader.fetched(4).high_watermark, 0);
    }
}

/// A test may change the cluster while clients are connected.
#[test]
fn a_leader_moves_while_clients_watch() {
    let server = started(2);
    server.with(|cluster, _| cluster.create_topic("numbers", 1));
    let mut client = Client::connect(&server, NodeId(0));
    let leader = |client: &mut Client| {
        let answer: MetadataResponse = client.ask(1, MetadataRequest::default());
        answer.topics[0].partitions[0].leader_id
    };
    assert_eq!(leader(&mut client), 0);
    server.with(|cluster, _| cluster.move_leader("numbers", 0, NodeId(1))).unwrap();
    assert_eq!(leader(&mut client), 1);
}
