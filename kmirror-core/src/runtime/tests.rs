//! Sockets and the driver over loopback. Time is real here, and nothing waits for it but for a bound.

#![expect(clippy::wildcard_enum_match_arm, reason = "a script names the requests that it is about")]
#![expect(clippy::disallowed_types, reason = "the peer of a socket is a socket")]

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use kmirror_proto::messages::{
    ApiVersionRange, ApiVersionsResponse, ListOffsetsRequest, ListOffsetsResponse, MetadataBroker, MetadataResponse,
    ProducePartition, ProduceRequest, ProduceTopic, RecordChunks,
};
use kmirror_proto::{AnyRequest, AnyResponse, ApiKey, Frame, decode_request, encode_request, encode_response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::timeout;

use super::{Clock, Net, SocketOptions, drive, spawn};
use crate::client::{CallOptions, Client, ConnId, NetAction, NetEvent, Node};
use crate::clock::{Now, Tick};
use crate::config::{ClusterConfig, Side};
use crate::machine::Machine;

const CONN: ConnId = ConnId(1);
const BOUND: Duration = Duration::from_secs(20);
const FRAME_BYTES_MAX: usize = 64 << 20;

type Events = VecDeque<(Side, NetEvent)>;

async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(BOUND, future).await.expect("within the bound")
}

fn net() -> Net {
    let options = SocketOptions { frame_bytes_max: FRAME_BYTES_MAX, connect_timeout: Duration::from_secs(5) };
    Net::new(options, options)
}

async fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

fn connect_to(port: u16) -> NetAction {
    NetAction::Connect { conn: CONN, host: "127.0.0.1".to_owned(), port }
}

/// The next event of the target's connection.
async fn event(net: &mut Net, events: &mut Events) -> NetEvent {
    if events.is_empty() {
        within(net.next(events)).await;
    }
    let (side, event) = events.pop_front().unwrap();
    assert_eq!(side, Side::Target);
    event
}

/// A net with one open connection, and the peer's end of it.
async fn pair() -> (Net, Events, TcpStream) {
    let (mut net, mut events) = (net(), Events::new());
    let (listener, port) = listen().await;
    net.apply(Side::Target, connect_to(port));
    let (event, accepted) = tokio::join!(event(&mut net, &mut events), listener.accept());
    assert_eq!(event, NetEvent::Connected { conn: CONN });
    (net, events, accepted.unwrap().0)
}

/// A produce request of `chunks` chunks of `bytes` each, as a frame.
fn produce_frame(chunks: usize, bytes: usize) -> Frame {
    let chunk = |n: usize| Bytes::from(vec![u8::try_from(n % 251).unwrap(); bytes]);
    let records = RecordChunks((0..chunks).map(chunk).collect());
    let partitions = vec![ProducePartition { index: 0, records }];
    let topics = vec![ProduceTopic { name: "t".to_owned(), partitions, ..ProduceTopic::default() }];
    let request = ProduceRequest { acks: -1, topics, ..ProduceRequest::default() };
    encode_request(7, Some("test"), 7, &request.into()).unwrap()
}

fn prefixed(body: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(body.len()).unwrap().to_be_bytes().to_vec();
    frame.extend(body);
    frame
}

#[tokio::test]
async fn frames_come_whole_however_the_bytes_come() {
    let (mut net, mut events, mut peer) = pair().await;
    let bodies = [b"0123".to_vec(), vec![7; 70_000], b"the third".to_vec()];
    let stream: Vec<u8> = bodies.iter().flat_map(|body| prefixed(body)).collect();
    // One byte, then three (a whole prefix), then a part of the body, then all the rest with two more frames in it.
    let mut from = 0;
    for to in [1, 4, 6, 30_000, stream.len()] {
        peer.write_all(&stream[from..to]).await.unwrap();
        peer.flush().await.unwrap();
        from = to;
        tokio::task::yield_now().await;
        let waker = std::task::Waker::noop();
        let _ = net.poll_events(&mut std::task::Context::from_waker(waker), &mut events);
    }
    for body in bodies {
        assert_eq!(event(&mut net, &mut events).await, NetEvent::Frame { conn: CONN, body: body.into() });
    }
}

#[tokio::test]
async fn a_frame_of_many_chunks_arrives_in_order_through_a_full_socket() {
    let (mut net, mut events, mut peer) = pair().await;
    let frame = produce_frame(5_000, 4_096);
    let expected = frame.chunks().concat();
    let small = produce_frame(1, 10);
    let both = [expected.as_slice(), &small.chunks().concat()].concat();
    net.apply(Side::Target, NetAction::Send { conn: CONN, frame });
    net.apply(Side::Target, NetAction::Send { conn: CONN, frame: small });
    let mut received = vec![0; both.len()];
    let reading = async {
        peer.read_exact(&mut received).await.unwrap();
        peer.write_all(&prefixed(b"done")).await.unwrap();
    };
    let ((), event) = within(async { tokio::join!(reading, event(&mut net, &mut events)) }).await;
    assert_eq!(event, NetEvent::Frame { conn: CONN, body: Bytes::from_static(b"done") });
    assert!(received == both, "{} bytes differ", received.iter().zip(&both).filter(|(a, b)| a != b).count());
}

#[tokio::test]
async fn a_large_frame_comes_in_one_piece() {
    let (mut net, mut events, mut peer) = pair().await;
    let body: Vec<u8> = (0..20_000_000_u32).map(|n| (n % 251).to_le_bytes()[0]).collect();
    let stream = prefixed(&body);
    let (written, event) = within(async { tokio::join!(peer.write_all(&stream), event(&mut net, &mut events)) }).await;
    written.unwrap();
    assert!(event == NetEvent::Frame { conn: CONN, body: body.into() });
}

#[tokio::test]
async fn an_abort_is_a_reset_and_drops_what_waits() {
    let (mut net, _, mut peer) = pair().await;
    net.apply(Side::Target, NetAction::Send { conn: CONN, frame: produce_frame(10, 10) });
    net.apply(Side::Target, NetAction::Close { conn: CONN, abort: true });
    let error = within(peer.read(&mut [0; 16])).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn an_end_in_order_writes_what_waits_first() {
    let (mut net, _, mut peer) = pair().await;
    let frame = produce_frame(2_000, 4_096);
    let expected = frame.chunks().concat();
    // Something unread lies in the socket: closing it at once would reset it.
    peer.write_all(&prefixed(b"an answer that nobody waits for")).await.unwrap();
    net.apply(Side::Target, NetAction::Send { conn: CONN, frame });
    net.apply(Side::Target, NetAction::Close { conn: CONN, abort: false });
    let mut received = Vec::new();
    let reading = async {
        peer.read_to_end(&mut received).await.unwrap();
        drop(peer);
    };
    within(async { tokio::join!(reading, net.close()) }).await;
    assert!(received == expected);
}

#[tokio::test]
async fn a_peer_that_never_ends_its_half_does_not_hold_the_end_up_for_ever() {
    let (mut net, _, _peer) = pair().await;
    within(net.close()).await;
}

#[tokio::test]
async fn a_refused_port_is_named() {
    let (listener, port) = listen().await;
    drop(listener);
    let (mut net, mut events) = (net(), Events::new());
    net.apply(Side::Target, connect_to(port));
    let reason = "connection refused".to_owned();
    assert_eq!(event(&mut net, &mut events).await, NetEvent::ConnectFailed { conn: CONN, reason });
}

#[tokio::test]
async fn every_address_of_a_name_is_tried() {
    let (listener, port) = listen().await;
    let (mut net, mut events) = (net(), Events::new());
    // Where the name has ::1 too, and first, nobody listens there.
    net.apply(Side::Target, NetAction::Connect { conn: CONN, host: "localhost".to_owned(), port });
    assert_eq!(event(&mut net, &mut events).await, NetEvent::Connected { conn: CONN });
    drop(listener);
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_named() {
    let (mut net, mut events) = (net(), Events::new());
    net.apply(Side::Target, NetAction::Connect { conn: CONN, host: "no such host".to_owned(), port: 1 });
    let NetEvent::ConnectFailed { reason, .. } = event(&mut net, &mut events).await else { panic!() };
    assert!(reason.starts_with("the name is not resolved"), "{reason}");
}

#[tokio::test]
async fn peers_that_do_not_speak_kafka_are_named() {
    let cases: [(&[u8], &str); 4] = [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "this looks like HTTP"),
        (&[0x15, 3, 3, 0, 2, 2, 80], "this looks like TLS"),
        (&[0x7f, 0xff, 0xff, 0xff], "above the limit"),
        (&[0xff, 0xff, 0xff, 0xff], "frame length -1"),
    ];
    for (bytes, expected) in cases {
        let (mut net, mut events, mut peer) = pair().await;
        peer.write_all(bytes).await.unwrap();
        let NetEvent::Closed { reason, .. } = event(&mut net, &mut events).await else { panic!() };
        assert!(reason.contains(expected), "{reason}");
        net.apply(Side::Target, NetAction::Send { conn: CONN, frame: produce_frame(1, 1) }); // gone: ignored
    }
}

#[tokio::test]
async fn the_end_of_a_stream_says_whether_it_was_inside_a_frame() {
    for (bytes, expected) in [(&b""[..], "closed by the peer"), (b"\0\0\0\x09abc", "closed by the peer inside a frame")]
    {
        let (mut net, mut events, mut peer) = pair().await;
        peer.write_all(bytes).await.unwrap();
        drop(peer);
        let reason = expected.to_owned();
        assert_eq!(event(&mut net, &mut events).await, NetEvent::Closed { conn: CONN, reason });
    }
}

#[tokio::test]
async fn a_peer_that_ends_its_half_gets_nothing_more_of_what_is_called_unknown_now() {
    let (mut net, mut events, mut peer) = pair().await;
    net.apply(Side::Target, NetAction::Send { conn: CONN, frame: produce_frame(5_000, 4_096) });
    peer.shutdown().await.unwrap();
    assert!(matches!(event(&mut net, &mut events).await, NetEvent::Closed { .. }));
    let error = within(peer.read_to_end(&mut Vec::new())).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
}

/// The smallest machine around a client: each command is a call, each report its outcome; the last ends it.
struct Caller {
    client: Client,
    calls_left: usize,
    wakes: usize,
}

impl Caller {
    fn new(port: u16, calls: usize) -> Self {
        let config = ClusterConfig::new(vec![("127.0.0.1".to_owned(), port)]);
        Self { client: Client::new(Side::Source, &config, 1), calls_left: calls, wakes: 0 }
    }
}

impl Machine for Caller {
    type Command = Node;
    type Report = Result<i32, String>;

    fn handle_net(&mut self, now: Now, _: Side, event: NetEvent) {
        self.client.handle_net(now, event);
    }

    fn handle_command(&mut self, now: Now, node: Node) {
        self.client.call(now, node, ListOffsetsRequest::default().into(), CallOptions::within(BOUND));
    }

    fn handle_timeout(&mut self, now: Now) {
        self.wakes += 1;
        self.client.handle_timeout(now);
    }

    fn poll_net(&mut self) -> Option<(Side, NetAction)> {
        Some((Side::Source, self.client.poll_net()?))
    }

    fn poll_report(&mut self) -> Option<Self::Report> {
        let reply = self.client.poll_reply()?;
        self.calls_left -= 1;
        Some(reply.outcome.map(|_| reply.node).map_err(|error| error.to_string()))
    }

    fn poll_timeout(&self) -> Option<Tick> {
        self.client.poll_timeout()
    }

    fn is_finished(&self) -> bool {
        self.calls_left == 0
    }
}

/// Answers what comes over one connection, as node 5 at `port`, until it ends.
async fn serve(mut stream: TcpStream, port: u16) {
    while let Ok(length) = stream.read_u32().await {
        let mut body = BytesMut::with_capacity(length as usize).limit(length as usize);
        while body.has_remaining_mut() && stream.read_buf(&mut body).await.unwrap() > 0 {}
        let (header, request) = decode_request(body.into_inner().freeze()).unwrap();
        let answer = encode_response(header.correlation_id, header.version, &answer(&request, port)).unwrap();
        stream.write_all(&answer.chunks().concat()).await.unwrap();
    }
}

fn answer(request: &AnyRequest, port: u16) -> AnyResponse {
    let range = |api_key, max_version| ApiVersionRange { api_key, min_version: 0, max_version };
    match request {
        AnyRequest::ApiVersions(_) => AnyResponse::ApiVersions(ApiVersionsResponse {
            api_keys: vec![range(ApiKey::METADATA, 9), range(ApiKey::LIST_OFFSETS, 5)],
            ..ApiVersionsResponse::default()
        }),
        AnyRequest::Metadata(_) => {
            let broker = MetadataBroker { node_id: 5, host: "127.0.0.1".to_owned(), port: port.into(), rack: None };
            AnyResponse::Metadata(MetadataResponse { brokers: vec![broker], ..MetadataResponse::default() })
        }
        _ => AnyResponse::ListOffsets(ListOffsetsResponse::default()),
    }
}

#[tokio::test]
async fn a_machine_is_driven_from_its_first_connection_to_its_end() {
    let (listener, port) = listen().await;
    let (commands, heard) = unbounded_channel();
    let (reports, mut told) = unbounded_channel();
    commands.send(Node::Any).unwrap();
    commands.send(Node::Any).unwrap();
    drop(commands);
    let driving = drive(Caller::new(port, 2), net(), Clock::start(), heard, reports);
    let serving = async { serve(listener.accept().await.unwrap().0, port).await };
    let (machine, ()) = within(async { tokio::join!(driving, serving) }).await;
    assert!(machine.is_finished());
    assert_eq!((told.recv().await, told.recv().await), (Some(Ok(-1)), Some(Ok(-1))));
    assert_eq!(told.recv().await, None);
    assert!(machine.wakes <= 3, "woken {} times: for the first connection and little else", machine.wakes);
}

#[tokio::test]
async fn nobody_listening_is_an_outcome_and_not_a_hang() {
    let (listener, port) = listen().await;
    drop(listener);
    let (commands, heard) = unbounded_channel();
    let (reports, mut told) = unbounded_channel();
    commands.send(Node::Any).unwrap();
    within(drive(Caller::new(port, 1), net(), Clock::start(), heard, reports)).await;
    let reason = format!("source bootstrap (127.0.0.1:{port}): connection refused");
    assert_eq!(told.recv().await, Some(Err(reason)));
}

#[tokio::test]
async fn a_shard_runs_in_its_own_thread_and_gives_its_machine_back() {
    let (listener, port) = listen().await;
    let mut shard = spawn("test-shard", Caller::new(port, 1), net(), Clock::start()).unwrap();
    shard.commands.send(Node::Id(5)).unwrap();
    // Two connections: the bootstrap address, then the broker by its id. The first stays open while the second is
    // served, so each has a server of its own.
    let serving = async {
        let first = serve(listener.accept().await.unwrap().0, port);
        let second = async { serve(listener.accept().await.unwrap().0, port).await };
        tokio::join!(first, second)
    };
    let (report, _) = within(async { tokio::join!(shard.reports.recv(), serving) }).await;
    assert_eq!(report, Some(Ok(5)));
    assert!(shard.thread.join().unwrap().is_finished());
}

/// A machine that only wants to be woken, at once and then 3 ms after each wake.
struct Sleeper {
    next: Tick,
    woken: Vec<Tick>,
}

impl Machine for Sleeper {
    type Command = ();
    type Report = ();

    fn handle_net(&mut self, _: Now, _: Side, _: NetEvent) {}

    fn handle_command(&mut self, _: Now, (): ()) {}

    fn handle_timeout(&mut self, now: Now) {
        self.woken.push(now.tick);
        self.next = now.after(Duration::from_millis(3));
    }

    fn poll_net(&mut self) -> Option<(Side, NetAction)> {
        None
    }

    fn poll_report(&mut self) -> Option<()> {
        None
    }

    fn poll_timeout(&self) -> Option<Tick> {
        Some(self.next)
    }

    fn is_finished(&self) -> bool {
        self.woken.len() == 4
    }
}

#[tokio::test]
async fn a_machine_is_woken_when_it_asked_for_it_and_not_before() {
    let (_commands, heard) = unbounded_channel();
    let (reports, _told) = unbounded_channel();
    let sleeper = Sleeper { next: Tick::ZERO, woken: Vec::new() };
    let sleeper = within(drive(sleeper, net(), Clock::start(), heard, reports)).await;
    let waits: Vec<Duration> = sleeper.woken.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    assert!(waits.iter().all(|&wait| wait >= Duration::from_millis(3)), "{waits:?}");
}
