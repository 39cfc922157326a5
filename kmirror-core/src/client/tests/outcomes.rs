//! What becomes of a call when things go wrong: `NotSent` only where no byte can have left.

use kmirror_proto::messages::ProduceResponse;

use super::super::script::Act;
use super::*;
use crate::client::limits::{CALLS_WAITING_MAX, IN_FLIGHT_MAX, THROTTLE_MAX};
use crate::client::{ClientEvent, ConnId};

fn silent() -> Host {
    kafka(view(), |_, _| Act::Silence)
}

#[test]
fn a_refused_connection_leaves_nothing_in_doubt() {
    let mut rig = settled();
    rig.host("b:2", Host::Refuses);
    ask(&mut rig, Node::Id(2), produce());
    assert_eq!(error(&rig), "target broker 2 (b:2): connection refused");
    assert_eq!(outcomes(&rig), ["not sent"]);
    assert_eq!((rig.replies[0].sent, rig.replies[0].version, rig.replies[0].conn), (None, -1, None));
}

#[test]
fn a_connection_that_closes_leaves_what_was_sent_in_doubt() {
    let mut rig = settled();
    rig.host("b:2", silent());
    ask(&mut rig, Node::Id(2), produce());
    ask(&mut rig, Node::Id(2), produce());
    rig.cut("b:2");
    assert_eq!(outcomes(&rig), ["unknown", "unknown"]);
    let text = rig.replies[0].outcome.as_ref().unwrap_err().to_string();
    assert_eq!(text, "target broker 2 (b:2): Produce v6: closed by the broker (outcome unknown)");
    assert!(rig.replies[0].sent.is_some());
    assert!(rig.events.contains(&ClientEvent::Disconnected {
        node: 2,
        address: "b:2".to_owned(),
        reason: "closed by the broker".to_owned()
    }));
}

#[test]
fn an_abort_resets_the_connection_and_leaves_what_was_sent_in_doubt() {
    let mut rig = settled();
    rig.host("b:2", silent());
    ask(&mut rig, Node::Id(2), produce());
    let conn = rig.client.connection(2).unwrap();
    rig.client.abort(rig.now, 2, "the log end was not where it should be");
    rig.settle();
    assert_eq!(rig.closes, [(conn, true)]);
    assert_eq!(outcomes(&rig), ["unknown"]);
    assert!(error(&rig).contains("the log end was not where it should be"));
    // The answer was on its way: it belongs to nobody any more.
    let late = super::super::script::answer_frame(2, 6, &kmirror_proto::AnyResponse::Produce(Default::default()));
    rig.client.handle_net(rig.now, crate::client::NetEvent::Frame { conn, body: late });
    rig.settle();
    assert_eq!(rig.replies.len(), 1);
    // And the broker can be used again, over a new connection.
    rig.host("b:2", healthy());
    ask(&mut rig, Node::Id(2), produce());
    rig.advance(SECOND);
    assert_eq!(outcomes(&rig), ["unknown", "answered"]);
    assert_ne!(rig.client.connection(2), Some(conn));
}

#[test]
fn an_abort_takes_back_what_waits() {
    let mut rig = settled();
    rig.host("b:2", Host::Vanished);
    ask(&mut rig, Node::Id(2), produce());
    rig.client.abort(rig.now, 2, "resume");
    rig.settle();
    assert_eq!(outcomes(&rig), ["not sent"]);
}

#[test]
fn a_request_timeout_ends_the_connection_with_all_that_is_on_its_way() {
    let mut rig = settled();
    rig.host("b:2", silent());
    ask(&mut rig, Node::Id(2), produce());
    rig.client.call(rig.now, Node::Id(2), list_offsets(), CallOptions::within(5 * SECOND));
    rig.advance(4 * SECOND);
    assert_eq!(outcomes(&rig), [""; 0]);
    let conn = rig.client.connection(2).unwrap();
    rig.advance(SECOND);
    assert_eq!(outcomes(&rig), ["unknown", "unknown"]);
    assert_eq!(rig.closes, [(conn, true)]);
}

#[test]
fn a_call_that_never_got_a_connection_was_not_sent() {
    let mut rig = settled();
    rig.host("b:2", Host::Vanished);
    rig.client.call(rig.now, Node::Id(2), produce(), CallOptions::within(2 * SECOND));
    rig.advance(3 * SECOND);
    assert_eq!(error(&rig), "target broker 2 (b:2): Produce: no connection for 2s");
}

#[test]
fn a_wrong_correlation_id_ends_the_connection() {
    let mut rig = settled();
    let answer = || kmirror_proto::AnyResponse::Produce(Default::default());
    rig.host("b:2", kafka(view(), move |header, _| Act::AnswerAs(header.correlation_id.wrapping_sub(1), answer())));
    ask(&mut rig, Node::Id(2), produce());
    assert_eq!(outcomes(&rig), ["unknown"]);
    assert!(error(&rig).contains("answer 1 where 2 (Produce) was due"), "{}", error(&rig));
    assert_eq!(rig.closes.len(), 1);
}

#[test]
fn a_call_for_one_connection_is_never_sent_over_another() {
    let mut rig = settled();
    ask(&mut rig, Node::Id(2), list_offsets());
    let conn = rig.client.connection(2).unwrap();
    let only = CallOptions::within(SECOND).on(conn);
    rig.client.call(rig.now, Node::Id(2), produce(), only);
    rig.settle();
    assert_eq!(outcomes(&rig), ["answered", "answered"]);
    assert_eq!(rig.replies[1].conn, Some(conn));
    rig.cut("b:2");
    rig.client.call(rig.now, Node::Id(2), produce(), only);
    rig.advance(SECOND);
    assert_eq!(outcomes(&rig)[2..], ["not sent"]);
    assert_eq!(rig.connects.iter().filter(|(_, address)| address == "b:2").count(), 1);
}

#[test]
fn a_call_for_one_connection_that_waits_behind_a_full_one_ends_with_it() {
    let mut rig = settled();
    rig.host("b:2", silent());
    ask(&mut rig, Node::Id(2), list_offsets());
    let only = CallOptions::within(SECOND).on(rig.client.connection(2).unwrap());
    for _ in 0..IN_FLIGHT_MAX {
        rig.client.call(rig.now, Node::Id(2), produce(), only);
    }
    rig.settle();
    rig.host("b:2", healthy());
    rig.cut("b:2");
    assert_eq!(outcomes(&rig).iter().filter(|word| **word == "unknown").count(), IN_FLIGHT_MAX);
    assert_eq!(outcomes(&rig).last(), Some(&"not sent"));
    rig.advance(SECOND);
    assert_eq!(rig.replies.len(), IN_FLIGHT_MAX + 1);
}

#[test]
fn when_nobody_can_be_reached_any_call_says_so_after_one_round() {
    let mut rig = Rig::new(&["a:1", "b:2"]);
    ask(&mut rig, Node::Any, list_offsets());
    assert_eq!(error(&rig), "target bootstrap (b:2): connection refused");
    assert_eq!(rig.connects.len(), 2);
    ask(&mut rig, Node::Any, list_offsets());
    rig.advance(SECOND);
    assert_eq!(outcomes(&rig), ["not sent", "not sent"]);
}

#[test]
fn a_throttle_time_is_told_and_capped() {
    let mut rig = settled();
    rig.host(
        "b:2",
        kafka(view(), |_, _| {
            let throttle_time_ms = i32::MAX;
            Act::Answer(ProduceResponse { throttle_time_ms, ..ProduceResponse::default() }.into())
        }),
    );
    ask(&mut rig, Node::Id(2), produce());
    assert_eq!(outcomes(&rig), ["answered"]);
    assert!(rig.events.contains(&ClientEvent::Throttled { node: 2, wait: THROTTLE_MAX }));
}

#[test]
fn closing_ends_everything_once() {
    let mut rig = settled();
    rig.host("b:2", silent()).host("a:1", Host::Vanished);
    ask(&mut rig, Node::Id(2), produce());
    ask(&mut rig, Node::Id(1), produce());
    rig.client.close(rig.now);
    rig.client.close(rig.now);
    rig.settle();
    assert_eq!(outcomes(&rig), ["not sent", "unknown"]);
    assert_eq!(rig.closes, [(ConnId(0), false), (ConnId(1), false), (ConnId(2), false)]);
    assert_eq!(rig.client.poll_timeout(), None);
    ask(&mut rig, Node::Id(2), produce());
    assert_eq!(outcomes(&rig)[2..], ["not sent"]);
}

#[test]
fn the_queue_of_waiting_calls_has_an_end() {
    let mut rig = settled();
    rig.host("b:2", Host::Vanished);
    for _ in 0..=CALLS_WAITING_MAX {
        rig.client.call(rig.now, Node::Id(2), produce(), CallOptions::within(SECOND));
    }
    rig.settle();
    assert_eq!(error(&rig), "target: 16384 calls wait already");
}

#[test]
fn a_busy_connection_takes_more_when_answers_come() {
    let mut rig = settled();
    ask(&mut rig, Node::Id(2), list_offsets());
    // All at once, before any answer is taken in: more than may be on their way.
    for _ in 0..300 {
        rig.client.call(rig.now, Node::Id(2), list_offsets(), CallOptions::within(SECOND));
    }
    rig.settle();
    assert_eq!(outcomes(&rig), ["answered"; 301]);
}
