//! Agreeing on versions with every kind of peer.

#![expect(clippy::wildcard_enum_match_arm, reason = "a script names the requests that it is about")]

use bytes::Bytes;
use kmirror_proto::messages::AnyResponse;
use kmirror_proto::{ApiKey, RequestHeader};

use super::super::script::{Act, KAFKA_2_0, versions_of};
use super::*;
use crate::client::ClientEvent;

/// A broker that treats the questions for versions as `script` says, and answers everything else.
fn versions_host(mut script: impl FnMut(&RequestHeader) -> Act + 'static) -> Host {
    Host::Broker(Box::new(move |header, request| match request {
        AnyRequest::ApiVersions(_) => script(header),
        AnyRequest::Metadata(_) => Act::Answer(view().into()),
        _ => default_answer(header, request),
    }))
}

fn questions(rig: &Rig) -> Vec<(u64, i16)> {
    let questions = rig.requests.iter().filter(|(_, _, api, _)| *api == ApiKey::API_VERSIONS);
    questions.map(|&(conn, _, _, version)| (conn.0, version)).collect()
}

fn meet(host: Host) -> Rig {
    let mut rig = Rig::new(&["boot:9"]);
    rig.host("boot:9", host);
    rig.advance(30 * SECOND);
    rig
}

#[test]
fn a_0_10_1_refuses_v3_and_is_asked_again_over_the_same_connection() {
    let mut rig = meet(versions_host(|header| match header.version {
        0 => Act::Answer(versions_of(&[(ApiKey::METADATA, 0, 2), (ApiKey::PRODUCE, 0, 2)])),
        _ => {
            let mut refusal = header.correlation_id.to_be_bytes().to_vec();
            refusal.extend([0, 35, 0, 0, 0, 0]); // measured: no entries, v0 framing
            Act::Raw(refusal.into())
        }
    }));
    assert_eq!(questions(&rig), [(0, 3), (0, 0)]);
    assert_eq!(rig.connects.len(), 1);
    assert!(rig.requests.iter().any(|&(_, _, api, version)| (api, version) == (ApiKey::METADATA, 2)));
    rig.settle();
    assert_eq!(rig.client.versions(-1).unwrap().get(ApiKey::PRODUCE).unwrap().to_string(), "v0-2");
}

#[test]
fn a_refusal_that_names_a_range_is_followed() {
    let rig = meet(versions_host(|header| match header.version {
        3.. => {
            let mut refusal = header.correlation_id.to_be_bytes().to_vec();
            refusal.extend([0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 2]);
            Act::Raw(refusal.into())
        }
        _ => Act::Answer(versions_of(KAFKA_2_0)),
    }));
    assert_eq!(questions(&rig), [(0, 3), (0, 2)]);
    assert_eq!(rig.client.metadata().generation, 1);
}

#[test]
fn a_4_x_answers_v3_and_is_never_sent_the_produce_that_it_would_drop() {
    let mut rig = meet(versions_host(|_| {
        Act::Answer(versions_of(&[
            (ApiKey::PRODUCE, 0, 13),
            (ApiKey::FETCH, 4, 18),
            (ApiKey::METADATA, 0, 13),
            (ApiKey::API_VERSIONS, 0, 5),
        ]))
    }));
    assert_eq!(questions(&rig), [(0, 3)]);
    let magic_1 = CallOptions::within(SECOND).versions(0, 2);
    rig.client.call(rig.now, Node::Any, produce(), magic_1);
    rig.settle();
    assert_eq!(error(&rig), "target bootstrap (boot:9): Produce: we need v0-2, the broker has v3-13");
    assert!(rig.requests.iter().all(|&(_, _, api, _)| api != ApiKey::PRODUCE));
    assert_eq!(rig.connects.len(), 1, "and no reconnect loop (B51)");
}

#[test]
fn a_peer_that_closes_on_v3_is_asked_v0_on_a_new_connection() {
    let rig = meet(versions_host(|header| match header.version {
        0 => Act::Answer(versions_of(KAFKA_2_0)),
        _ => Act::Close("closed by the broker"),
    }));
    assert_eq!(questions(&rig), [(0, 3), (1, 0)]);
    assert_eq!(rig.connects[0].0, rig.connects[1].0, "at once");
    assert_eq!(rig.client.metadata().generation, 1);
    assert!(!rig.events.iter().any(|event| matches!(event, ClientEvent::ConnectFailed { .. })));
}

#[test]
fn a_0_9_never_answers_and_is_named() {
    let mut rig = Rig::new(&["boot:9"]);
    rig.host("boot:9", versions_host(|_| Act::Silence));
    ask(&mut rig, Node::Any, list_offsets());
    rig.advance(25 * SECOND);
    assert_eq!(questions(&rig)[..2], [(0, 3), (1, 0)]);
    assert_eq!(
        error(&rig),
        "target bootstrap (boot:9): neither ApiVersions v3 nor v0 is answered: older than 0.10, or not Kafka \
         (no answer to ApiVersions v0 within 10s)"
    );
    assert_eq!(outcomes(&rig), ["not sent"]);
}

#[test]
fn a_web_server_is_named() {
    let mut rig = Rig::new(&["boot:9"]);
    // What runtime::net makes of "HTTP/1.1 400 Bad Request".
    let not_kafka = kmirror_proto::FrameError::Http.to_string();
    let not_kafka: &'static str = Box::leak(not_kafka.into_boxed_str());
    rig.host("boot:9", versions_host(move |_| Act::Close(not_kafka)));
    ask(&mut rig, Node::Any, list_offsets());
    rig.advance(MS);
    assert!(error(&rig).contains("HTTP"), "{}", error(&rig));
    assert!(rig.connects.len() < 4, "{:?}", rig.connects);
}

#[test]
fn an_answer_that_is_not_one_ends_the_connection() {
    for body in [&b"\0\0\0\0\0"[..], b"\0\0\0\0\0\0\x7f\xff\xff\xff", b"\0\0\0\x07\0\0\0\0\0\0"] {
        let mut rig = Rig::new(&["boot:9"]);
        rig.host("boot:9", versions_host(move |_| Act::Raw(Bytes::copy_from_slice(body))));
        ask(&mut rig, Node::Any, list_offsets());
        rig.advance(MS);
        assert_eq!(outcomes(&rig), ["not sent"]);
        assert!(rig.closes.iter().all(|&(_, abort)| abort) && !rig.closes.is_empty());
    }
}

#[test]
fn the_next_connection_begins_with_v3_again() {
    let mut asked = 0;
    let mut rig = meet(versions_host(move |_| {
        asked += 1;
        if asked == 1 { Act::Close("restarting") } else { Act::Answer(versions_of(KAFKA_2_0)) }
    }));
    rig.cut("boot:9");
    rig.host("a:1", versions_host(|_| Act::Silence)).host("b:2", Host::Refuses);
    rig.advance(10 * SECOND);
    ask(&mut rig, Node::Any, list_offsets());
    rig.advance(60 * SECOND);
    let boot: Vec<i16> = rig.requests.iter().filter(|request| request.1 == "boot:9").map(|request| request.3).collect();
    assert_eq!(boot.iter().filter(|&&version| version == 0).count(), 1, "only after the first close: {boot:?}");
}

#[test]
fn an_answer_to_something_else_cannot_be_mistaken_for_one() {
    let rig = meet(versions_host(|header| {
        Act::AnswerAs(header.correlation_id + 1, AnyResponse::clone(&versions_of(KAFKA_2_0)))
    }));
    assert_eq!(rig.client.metadata().generation, 0);
}
