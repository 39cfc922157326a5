//! Which requests are met, by which intercept, and how often.

use super::*;

const GONE: Fault = Fault::End(End::Close);

/// Whether requests like this one are met: each on a connection of its own.
fn meets(rig: &mut Rig, client_id: &str, version: i16, request: impl Into<AnyRequest>) -> bool {
    let at = rig.connect();
    rig.ask_as(at, client_id, version, request);
    rig.outputs() == [Output::Close(at)]
}

#[test]
fn all_that_is_said_has_to_hold() {
    let mut rig = Rig::of(Release::V2_0);
    rig.cluster.create_topic("letters", 1);
    let wanted = || Requests::of(ApiKey::PRODUCE).from_client("one").about("numbers").to(NodeId(0));
    let set = rig.cluster.intercept(wanted(), GONE);
    assert!(meets(&mut rig, "one", 3, produce(1)));
    assert!(!meets(&mut rig, "another", 3, produce(1)));
    assert!(!meets(&mut rig, "one", 4, fetch()));
    let mut letters = produce(1);
    letters.topics[0].name = "letters".to_owned();
    assert!(!meets(&mut rig, "one", 3, letters.clone()));
    letters.topics.extend(produce(1).topics);
    assert!(meets(&mut rig, "one", 3, letters), "among others");
    assert_eq!(rig.cluster.lift(set), 2);
    assert!(!meets(&mut rig, "one", 3, produce(1)), "lifted");
    rig.cluster.intercept(wanted().to(NodeId(1)), GONE);
    assert!(!meets(&mut rig, "one", 3, produce(1)), "another broker");
}

#[test]
fn the_first_are_left_and_then_some_are_taken() {
    let mut rig = Rig::of(Release::V2_0);
    let set = rig.cluster.intercept(Requests::of(ApiKey::PRODUCE).after(2).times(2), GONE);
    let met: Vec<bool> = (0..6)
        .map(|n| {
            assert!(!meets(&mut rig, "rig", 0, ApiVersionsRequest::default()), "others do not count, {n}");
            meets(&mut rig, "rig", 3, produce(1))
        })
        .collect();
    assert_eq!(met, [false, false, true, true, false, false]);
    assert_eq!((rig.cluster.bitten(set), rig.end()), (2, 4));
}

#[test]
fn a_predicate_sees_the_request() {
    let mut rig = Rig::of(Release::V2_0);
    let at = rig.connect();
    let wanted = Requests::any().when(move |seen| {
        assert_eq!((seen.node, seen.connection, seen.client_id, seen.version), (NodeId(0), at, Some("rig"), 3));
        matches!(seen.request, Some(AnyRequest::Produce(request)) if request.acks == -1)
    });
    let set = rig.cluster.intercept(wanted.on(at), GONE);
    rig.produce(at);
    assert_eq!(rig.produced(), Ok(0));
    rig.ask(at, 3, produce(-1));
    assert_eq!((rig.outputs(), rig.cluster.bitten(set)), (vec![Output::Close(at)], 1));
}

/// An intercept that another one was quicker than does not count the request.
#[test]
fn the_first_intercept_that_wants_a_request_has_it() {
    let mut rig = Rig::of(Release::V2_0);
    let first = rig.cluster.intercept(Requests::any().times(1), Fault::Error(ErrorCode::NOT_LEADER_OR_FOLLOWER));
    let second = rig.cluster.intercept(Requests::any(), Fault::Error(ErrorCode::KAFKA_STORAGE_ERROR));
    let at = rig.connect();
    rig.produce(at);
    assert_eq!(rig.produced(), Err(ErrorCode::NOT_LEADER_OR_FOLLOWER));
    assert_eq!((rig.cluster.bitten(first), rig.cluster.bitten(second)), (1, 0));
    rig.produce(at);
    assert_eq!(rig.produced(), Err(ErrorCode::KAFKA_STORAGE_ERROR));
}

/// 4.4 names topics in Fetch by their ids.
#[test]
fn a_topic_is_known_by_its_id_too() {
    let mut rig = Rig::of(Release::V4_4);
    let set = rig.cluster.intercept(Requests::of(ApiKey::FETCH).about("numbers"), GONE);
    let mut by_id = fetch();
    by_id.topics[0].name = String::new();
    by_id.topics[0].topic_id = rig.cluster.topics["numbers"].id;
    assert!(meets(&mut rig, "rig", 13, by_id.clone()));
    by_id.topics[0].topic_id = [7; 16];
    assert!(!meets(&mut rig, "rig", 13, by_id));
    assert_eq!(rig.cluster.bitten(set), 1);
}

/// A request of an API that the release does not have can be met, though nobody reads it.
#[test]
fn what_cannot_be_read_can_be_met() {
    let mut rig = Rig::of(Release::V0_10_1);
    let at = rig.connect();
    let bytes = Bytes::from_static(b"no such thing");
    let wanted = Requests::of(ApiKey::HEARTBEAT).when(|seen| seen.request.is_none());
    rig.cluster.intercept(wanted, Fault::Bytes { bytes: bytes.clone(), end: None });
    rig.ask(at, 4, HeartbeatRequest::default());
    assert_eq!(rig.outputs(), [Output::Bytes(at, bytes)]);
}
