//! Held connections and frozen brokers: what a client sends into a stopped process.

use super::*;

/// Held until it is lifted, with all that came behind.
#[test]
fn a_connection_is_held_until_it_is_lifted() {
    let mut rig = Rig::of(Release::V2_0);
    let (at, other) = (rig.connect(), rig.connect());
    let set = rig.cluster.intercept(Requests::of(ApiKey::PRODUCE).on(at), Fault::Hold);
    rig.produce(at);
    rig.ask(at, 0, ApiVersionsRequest::default());
    rig.pass(3600 * SECOND);
    assert_eq!((rig.outputs(), rig.end(), rig.due()), (vec![], 0, None));
    rig.produce(other);
    assert_eq!(rig.produced(), Ok(0));
    assert_eq!(rig.cluster.lift(set), 1);
    assert_eq!((rig.outputs().len(), rig.end()), (2, 2));
}

/// A client that closes has sent what it has sent: the kernel keeps it for the broker. One that resets has not.
#[test]
fn what_a_frozen_broker_was_sent_waits_for_it() {
    for (reset, end) in [(false, 2), (true, 0)] {
        let mut rig = Rig::of(Release::V2_0);
        let at = rig.connect();
        rig.cluster.freeze_broker(NodeId(0)).unwrap();
        rig.produce(at);
        rig.produce(at);
        if reset {
            rig.cluster.reset(rig.now, at);
        } else {
            rig.cluster.disconnect(rig.now, at);
        }
        rig.pass(3600 * SECOND);
        assert_eq!((rig.outputs(), rig.end()), (vec![], 0));
        rig.cluster.thaw_broker(NodeId(0)).unwrap();
        assert_eq!((rig.outputs(), rig.end()), (vec![], end), "reset: {reset}");
        assert!(reset || rig.cluster.connections.is_empty(), "nothing is left of it");
    }
}

/// It accepts connections, and answers nothing before it goes on: neither new requests nor those that wait.
#[test]
fn a_frozen_broker_answers_nothing() {
    let mut rig = Rig::of(Release::V2_0);
    let reader = rig.connect();
    rig.ask(reader, 4, FetchRequest { max_wait_ms: 500, min_bytes: 1, ..fetch() });
    rig.cluster.freeze_broker(NodeId(0)).unwrap();
    let at = rig.connect();
    rig.ask(at, 0, ApiVersionsRequest::default());
    rig.pass(SECOND);
    assert_eq!((rig.outputs(), rig.due()), (vec![], None));
    rig.cluster.thaw_broker(NodeId(0)).unwrap();
    let answered: Vec<ConnectionId> = rig.outputs().iter().map(Output::connection).collect();
    assert_eq!(answered, [reader, at]);
}

/// A request that is late for a frozen broker takes effect when that goes on.
#[test]
fn what_is_late_waits_for_a_frozen_broker() {
    let mut rig = Rig::of(Release::V2_0);
    let at = rig.connect();
    rig.cluster.intercept(Requests::any(), Fault::Late { after: SECOND, end: End::Close });
    rig.produce(at);
    rig.cluster.freeze_broker(NodeId(0)).unwrap();
    rig.pass(2 * SECOND);
    assert_eq!((rig.end(), rig.due()), (0, None));
    rig.cluster.thaw_broker(NodeId(0)).unwrap();
    assert_eq!(rig.end(), 1);
}
