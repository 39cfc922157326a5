//! Which broker a call goes to, and when connections are opened.

#![expect(clippy::wildcard_enum_match_arm, reason = "a script names the requests that it is about")]

use kmirror_proto::ApiKey;

use super::super::script::{Act, KAFKA_2_0, versions_of};
use super::*;
use crate::client::{ClientEvent, ConnId};

fn asked(rig: &Rig, api: ApiKey) -> Vec<&str> {
    rig.requests.iter().filter(|request| request.2 == api).map(|request| request.1.as_str()).collect()
}

#[test]
fn bootstrap_addresses_are_tried_in_turn() {
    let mut rig = Rig::new(&["dead:1", "vanished:2", "boot:9"]);
    rig.host("vanished:2", Host::Vanished).host("boot:9", healthy());
    rig.advance(20 * SECOND);
    let order: Vec<&str> = rig.connects.iter().map(|(_, address)| address.as_str()).collect();
    assert_eq!(order, ["dead:1", "vanished:2", "boot:9"]);
    assert_eq!(rig.client.metadata().leader("t", 0), Some(1));
}

#[test]
fn each_broker_is_reached_at_its_advertised_address_and_only_when_needed() {
    let mut rig = settled();
    assert_eq!(rig.open(), ["boot:9"]);
    ask(&mut rig, Node::Id(2), list_offsets());
    ask(&mut rig, Node::Id(1), list_offsets());
    assert_eq!(asked(&rig, ApiKey::LIST_OFFSETS), ["b:2", "a:1"]);
    assert_eq!(rig.open(), ["a:1", "b:2", "boot:9"]);
    assert_eq!(rig.replies.iter().map(|reply| (reply.node, reply.version)).collect::<Vec<_>>(), [(2, 3), (1, 3)]);
    assert!(rig.replies.iter().all(|reply| reply.conn == rig.client.connection(reply.node) && reply.sent.is_some()));
}

#[test]
fn a_call_made_before_anything_is_known_waits_for_the_metadata() {
    let mut rig = Rig::new(&["boot:9"]);
    rig.host("boot:9", healthy()).host("b:2", healthy());
    ask(&mut rig, Node::Id(2), list_offsets());
    rig.advance(MS);
    assert_eq!((outcomes(&rig), rig.replies[0].node), (vec!["answered"], 2));
}

#[test]
fn a_broker_that_the_cluster_does_not_have_is_looked_up_once_more() {
    let mut rig = settled();
    rig.advance(SECOND);
    ask(&mut rig, Node::Id(7), list_offsets());
    assert_eq!(asked(&rig, ApiKey::METADATA).len(), 2);
    assert_eq!(error(&rig), "target broker 7 (address unknown): not a broker of the cluster, as of its metadata");
}

#[test]
fn any_prefers_the_least_busy_connection() {
    let mut rig = settled();
    rig.host("b:2", kafka(view(), |_, _| Act::Silence));
    rig.host("boot:9", kafka(view(), |_, _| Act::Silence));
    ask(&mut rig, Node::Id(2), list_offsets());
    ask(&mut rig, Node::Any, list_offsets());
    ask(&mut rig, Node::Id(1), list_offsets());
    ask(&mut rig, Node::Any, list_offsets());
    assert_eq!(asked(&rig, ApiKey::LIST_OFFSETS), ["b:2", "boot:9", "a:1", "a:1"]);
}

#[test]
fn a_dead_broker_delays_its_own_calls_only() {
    let mut rig = settled();
    rig.host("b:2", Host::Vanished);
    ask(&mut rig, Node::Id(2), list_offsets());
    ask(&mut rig, Node::Id(1), list_offsets());
    rig.advance(SECOND);
    assert_eq!((outcomes(&rig), rig.replies[0].node), (vec!["answered"], 1));
    rig.advance(15 * SECOND);
    assert_eq!((outcomes(&rig), rig.replies[1].node), (vec!["answered", "not sent"], 2));
}

#[test]
fn any_does_not_wait_for_a_vanished_broker_alone() {
    let mut rig = settled();
    rig.host("a:1", Host::Vanished).host("boot:9", Host::Refuses);
    rig.cut("boot:9");
    ask(&mut rig, Node::Any, list_offsets());
    rig.advance(2 * SECOND);
    assert_eq!((outcomes(&rig), rig.replies[0].node), (vec!["answered"], 2));
}

#[test]
fn when_all_brokers_are_gone_the_bootstrap_addresses_are_asked_again() {
    let mut rig = settled();
    rig.host("boot:9", Host::Refuses).host("a:1", Host::Refuses).host("b:2", Host::Refuses);
    rig.cut("boot:9");
    rig.advance(5 * SECOND);
    // All brokers come back under other addresses; only the bootstrap name still leads to them.
    let moved = metadata(vec![broker(1, "c", 3), broker(2, "d", 4)], vec![leaders("t", &[1, 2])]);
    rig.host("boot:9", kafka(moved, default_answer)).host("d:4", healthy());
    rig.client.refresh_metadata(rig.now);
    rig.advance(3 * SECOND);
    ask(&mut rig, Node::Id(2), list_offsets());
    assert_eq!(asked(&rig, ApiKey::LIST_OFFSETS), ["d:4"]);
}

#[test]
fn a_leader_moves_and_is_seen_on_demand() {
    let mut rig = settled();
    rig.advance(SECOND);
    let moved = metadata(vec![broker(1, "a", 1), broker(2, "b", 2)], vec![leaders("t", &[2, 2])]);
    rig.host("boot:9", kafka(moved, default_answer));
    rig.events.clear();
    rig.client.refresh_metadata(rig.now);
    rig.client.refresh_metadata(rig.now);
    rig.settle();
    assert_eq!(rig.client.metadata().leader("t", 0), Some(2));
    assert_eq!(rig.events, [ClientEvent::MetadataUpdated { generation: 2, changed: true }]);
}

#[test]
fn without_a_demand_the_metadata_is_asked_for_at_its_age() {
    let mut rig = settled();
    rig.advance(95 * SECOND);
    assert_eq!(asked(&rig, ApiKey::METADATA).len(), 4, "at 0, 30, 60 and 90 s");
}

#[test]
fn leaderless_answers_keep_the_view_and_are_asked_for_again_with_back_off() {
    let mut rig = settled();
    let open = metadata(vec![broker(1, "a", 1), broker(2, "b", 2)], vec![leaders("t", &[-1, 1])]);
    rig.host("boot:9", kafka(open, default_answer));
    rig.advance(30 * SECOND);
    assert_eq!((rig.client.metadata().leader("t", 0), rig.client.metadata().leader("t", 1)), (Some(1), Some(1)));
    let before = asked(&rig, ApiKey::METADATA).len();
    rig.advance(20 * SECOND);
    let more = asked(&rig, ApiKey::METADATA).len() - before;
    assert!((16..=30).contains(&more), "{more} requests in 20 s");
    rig.host("boot:9", healthy());
    rig.advance(2 * SECOND);
    assert_eq!(rig.client.metadata().leader("t", 1), Some(2), "seen within 2 s of its return");
}

#[test]
fn an_answer_without_brokers_is_rejected_and_told() {
    let mut rig = settled();
    rig.host("boot:9", kafka(metadata(vec![], vec![]), default_answer));
    rig.events.clear();
    rig.advance(31 * SECOND);
    assert!(rig.events.iter().any(|event| matches!(event, ClientEvent::MetadataRejected { reason }
        if reason == "target bootstrap (boot:9): metadata: no broker with a usable address")));
    assert_eq!(rig.client.metadata().leader("t", 1), Some(2));
}

#[test]
fn a_stalled_broker_does_not_keep_the_metadata_from_the_others() {
    let mut rig = settled();
    ask(&mut rig, Node::Id(1), list_offsets());
    let moved = metadata(vec![broker(1, "a", 1), broker(2, "b", 2)], vec![leaders("t", &[2, 2])]);
    let stopped = Host::Broker(Box::new(|_, _| Act::Silence));
    rig.host("boot:9", stopped).host("a:1", kafka(moved, default_answer));
    rig.advance(SECOND);
    rig.client.refresh_metadata(rig.now);
    rig.advance(4 * SECOND);
    assert_eq!(asked(&rig, ApiKey::METADATA), ["boot:9", "boot:9", "a:1"]);
    assert_eq!(rig.client.metadata().leader("t", 0), Some(2));
    rig.advance(30 * SECOND);
    assert!(!rig.open().contains(&"boot:9"), "the one that owes an answer is ended after the request timeout");
}

#[test]
fn a_broker_that_moves_gets_a_new_connection_and_the_old_one_ends_with_its_last_answer() {
    let mut rig = settled();
    rig.host("b:2", kafka(view(), |_, _| Act::Silence));
    ask(&mut rig, Node::Id(2), list_offsets());
    let old = rig.client.connection(2).unwrap();
    let moved = metadata(vec![broker(1, "a", 1), broker(2, "new", 2)], vec![leaders("t", &[1, 2])]);
    rig.host("boot:9", kafka(moved, default_answer)).host("new:2", healthy());
    rig.advance(SECOND);
    rig.client.refresh_metadata(rig.now);
    rig.settle();
    assert_eq!(rig.client.connection(2), None);
    assert_eq!(rig.client.describe_node(2), "target broker 2 (new:2)");
    ask(&mut rig, Node::Id(2), list_offsets());
    assert_eq!(asked(&rig, ApiKey::LIST_OFFSETS), ["b:2", "new:2"]);
    assert_eq!(outcomes(&rig), ["answered"], "the old connection's call is still on its way");

    let answer = super::super::script::answer_frame(2, 3, &kmirror_proto::AnyResponse::ListOffsets(Default::default()));
    rig.client.handle_net(rig.now, crate::client::NetEvent::Frame { conn: old, body: answer });
    rig.settle();
    assert_eq!(outcomes(&rig), ["answered", "answered"]);
    assert!(rig.closes.contains(&(old, false)));
}

#[test]
fn reconnects_back_off_and_begin_anew_after_a_good_life() {
    let mut rig = settled();
    ask(&mut rig, Node::Id(2), list_offsets());
    rig.advance(5 * SECOND);
    rig.host("b:2", Host::Refuses);
    rig.cut("b:2");
    let from = rig.connects.len();
    for _ in 0..200 {
        ask(&mut rig, Node::Id(2), list_offsets());
        rig.advance(50 * MS);
    }
    let attempts = rig.connects.len() - from;
    assert!((12..=20).contains(&attempts), "{attempts} attempts in 10 s");
    rig.host("b:2", healthy());
    ask(&mut rig, Node::Id(2), list_offsets());
    rig.advance(1500 * MS);
    assert_eq!(outcomes(&rig).last(), Some(&"answered"));
}

#[test]
fn a_broker_that_drops_every_connection_is_not_called_in_a_loop() {
    let mut rig = settled();
    rig.host("b:2", kafka(view(), |_, _| Act::Close("closed by the broker")));
    let from = rig.connects.len();
    for _ in 0..100 {
        ask(&mut rig, Node::Id(2), list_offsets());
        rig.advance(100 * MS);
    }
    assert!(rig.connects.len() - from <= 20, "{} attempts in 10 s", rig.connects.len() - from);
}

#[test]
fn the_same_seed_makes_the_same_run() {
    let run = || {
        let mut rig = settled();
        rig.host("b:2", Host::Refuses);
        for _ in 0..20 {
            ask(&mut rig, Node::Id(2), list_offsets());
            rig.advance(100 * MS);
        }
        rig.connects
    };
    assert_eq!(run(), run());
}

#[test]
fn calls_to_one_node_are_sent_in_order_also_when_they_had_to_wait() {
    let mut rig = Rig::new(&["boot:9"]);
    let mut versions = Vec::new();
    let script = Host::Broker(Box::new(move |header, request| match request {
        AnyRequest::ApiVersions(_) => Act::Answer(versions_of(KAFKA_2_0)),
        AnyRequest::Metadata(_) => Act::Answer(view().into()),
        _ => {
            versions.push(header.version);
            assert!(versions.is_sorted(), "{versions:?}");
            default_answer(header, request)
        }
    }));
    rig.host("boot:9", healthy()).host("a:1", script);
    for version in 0..=3 {
        let options = CallOptions::within(SECOND).versions(version, version);
        rig.client.call(rig.now, Node::Id(1), list_offsets(), options);
    }
    rig.advance(MS);
    ask(&mut rig, Node::Id(1), list_offsets());
    assert_eq!(rig.replies.len(), 5);
    assert_eq!(rig.replies[0].conn, Some(ConnId(1)));
}
