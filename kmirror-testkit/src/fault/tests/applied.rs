//! What is applied, when, and what the client sees of it.

use super::*;

/// The worst that a network does to a producer: the record is there, and nobody said so.
#[test]
fn an_answer_is_dropped_after_it_was_earned() {
    for (end, output) in [
        (End::Close, Output::Close as fn(ConnectionId) -> Output),
        (End::Reset, Output::Reset as fn(ConnectionId) -> Output),
    ] {
        let mut rig = Rig::of(Release::V2_0);
        let at = rig.connect();
        let set = rig.cluster.intercept(Requests::of(ApiKey::PRODUCE).times(1), Fault::DropAnswer(end));
        rig.produce(at);
        assert_eq!(rig.outputs(), [output(at)]);
        assert_eq!((rig.end(), rig.cluster.bitten(set)), (1, 1));
        let again = rig.connect();
        rig.produce(again);
        assert_eq!(rig.produced(), Ok(1), "the record is there twice now");
    }
}

/// Without an answer there is one less to drop, and the connection ends all the same.
#[test]
fn acks_0_has_no_answer_to_drop() {
    let mut rig = Rig::of(Release::V2_0);
    let at = rig.connect();
    rig.cluster.intercept(Requests::any(), Fault::DropAnswer(End::Reset));
    rig.ask(at, 3, produce(0));
    assert_eq!((rig.outputs(), rig.end()), (vec![Output::Reset(at)], 1));
}

/// The request that overtakes nothing and is overtaken by all: its connection is long gone when it takes effect.
#[test]
fn a_request_takes_effect_after_its_connection_is_gone() {
    let mut rig = Rig::of(Release::V2_0);
    let at = rig.connect();
    let late = Fault::Late { after: 30 * SECOND, end: End::Reset };
    rig.cluster.intercept(Requests::of(ApiKey::PRODUCE).times(1), late);
    rig.produce(at);
    assert_eq!((rig.outputs(), rig.end()), (vec![Output::Reset(at)], 0));
    let again = rig.connect();
    rig.produce(again);
    assert_eq!(rig.produced(), Ok(0), "the client's second try is first");
    assert_eq!(rig.due(), Some(30 * SECOND));
    rig.pass(30 * SECOND);
    assert_eq!((rig.outputs(), rig.end(), rig.due()), (vec![], 2, None));
}

#[test]
fn a_broker_that_is_down_has_lost_what_was_late() {
    let mut rig = Rig::of(Release::V2_0);
    let at = rig.connect();
    rig.cluster.intercept(Requests::any(), Fault::Late { after: SECOND, end: End::Close });
    rig.produce(at);
    rig.cluster.stop_broker(NodeId(0)).unwrap();
    rig.pass(SECOND);
    rig.cluster.start_broker(NodeId(0)).unwrap();
    rig.pass(SECOND);
    assert_eq!(rig.end(), 0);
}

#[test]
fn an_answer_is_late_and_the_next_request_with_it() {
    let mut rig = Rig::of(Release::V2_0);
    let at = rig.connect();
    rig.cluster.intercept(Requests::any().times(1), Fault::DelayAnswer(3 * SECOND));
    rig.produce(at);
    rig.produce(at);
    assert_eq!((rig.outputs(), rig.end(), rig.due()), (vec![], 1, Some(3 * SECOND)), "applied, and not answered");
    rig.pass(2 * SECOND);
    assert_eq!(rig.outputs(), []);
    rig.pass(SECOND);
    assert_eq!((rig.outputs().len(), rig.end()), (2, 2));
}

#[test]
fn a_request_is_taken_up_late() {
    let mut rig = Rig::of(Release::V2_0);
    let (at, other) = (rig.connect(), rig.connect());
    rig.cluster.intercept(Requests::of(ApiKey::PRODUCE).times(1), Fault::DelayRequest(3 * SECOND));
    rig.produce(at);
    rig.produce(at);
    assert_eq!((rig.outputs(), rig.end(), rig.due()), (vec![], 0, Some(3 * SECOND)));
    rig.produce(other);
    assert_eq!(rig.produced(), Ok(0), "others are served meanwhile");
    rig.pass(3 * SECOND);
    assert_eq!((rig.outputs().len(), rig.end()), (2, 3));
}

/// The first bytes come, the rest does not; the record is there.
#[test]
fn an_answer_is_cut_at_any_byte() {
    let mut rig = Rig::of(Release::V2_0);
    let at = rig.connect();
    rig.produce(at);
    let answered = rig.outputs();
    let [Output::Frame(_, whole)] = answered.as_slice() else { panic!("no answer") };
    let length = whole.len();
    for bytes in [0, 1, 3, 4, 7, length - 1, length, length + 1] {
        let at = rig.connect();
        let set = rig.cluster.intercept(Requests::any(), Fault::Cut { bytes, end: End::Reset });
        rig.produce(at);
        let outputs = rig.outputs();
        let [Output::Bytes(_, cut), Output::Reset(_)] = outputs.as_slice() else { panic!("{outputs:?}") };
        assert_eq!(cut.len(), bytes.min(length));
        rig.cluster.lift(set);
    }
    assert_eq!(rig.end(), 9);
}

/// What is swallowed was applied, what meets silence was not; either way nothing behind it is heard.
#[test]
fn there_is_no_answer_at_all() {
    for (fault, end) in [(Fault::Swallow, 1), (Fault::Silence, 0)] {
        let mut rig = Rig::of(Release::V2_0);
        let at = rig.connect();
        rig.cluster.intercept(Requests::of(ApiKey::PRODUCE).times(1), fault);
        rig.produce(at);
        rig.produce(at);
        rig.ask(at, 0, ApiVersionsRequest::default());
        rig.pass(3600 * SECOND);
        assert_eq!((rig.outputs(), rig.end(), rig.due()), (vec![], end, None));
        rig.cluster.disconnect(rig.now, at);
        assert_eq!(rig.end(), end, "nor when the client gives up");
    }
}

#[test]
fn a_connection_ends_before_the_request_is_looked_at() {
    let mut rig = Rig::of(Release::V2_0);
    let at = rig.connect();
    rig.cluster.intercept(Requests::any(), Fault::End(End::Reset));
    rig.produce(at);
    assert_eq!((rig.outputs(), rig.end()), (vec![Output::Reset(at)], 0));
    rig.produce(at);
    assert_eq!(rig.outputs(), [], "what comes later belongs to nobody");
}

#[test]
fn bytes_come_in_the_place_of_an_answer() {
    let mut rig = Rig::of(Release::V2_0);
    let at = rig.connect();
    let bytes = Bytes::from_static(b"\x7f\xff\xff\xffHTTP/1.1 400 Bad Request");
    rig.cluster.intercept(Requests::any().times(1), Fault::Bytes { bytes: bytes.clone(), end: None });
    rig.cluster.intercept(Requests::any().times(1), Fault::Bytes { bytes: bytes.clone(), end: Some(End::Close) });
    rig.produce(at);
    assert_eq!((rig.outputs(), rig.end()), (vec![Output::Bytes(at, bytes.clone())], 0));
    rig.produce(at);
    assert_eq!(rig.outputs(), [Output::Bytes(at, bytes), Output::Close(at)]);
}

#[test]
fn an_answer_is_changed() {
    let mut rig = Rig::of(Release::V2_0);
    let at = rig.connect();
    let elsewhere = Fault::alter(|answer| {
        let AnyResponse::Produce(answer) = answer else { panic!("of another API") };
        answer.topics[0].partitions[0].base_offset = 41;
    });
    rig.cluster.intercept(Requests::of(ApiKey::PRODUCE), elsewhere);
    rig.produce(at);
    assert_eq!((rig.produced(), rig.end()), (Ok(41), 1));
}

/// A fetch that waits is answered late as well, counted from its answer.
#[test]
fn a_delay_begins_with_the_answer() {
    let mut rig = Rig::of(Release::V2_0);
    let (reader, writer) = (rig.connect(), rig.connect());
    rig.cluster.intercept(Requests::of(ApiKey::FETCH), Fault::DelayAnswer(SECOND));
    rig.ask(reader, 4, FetchRequest { max_wait_ms: 60_000, min_bytes: 1, ..fetch() });
    rig.pass(5 * SECOND);
    rig.produce(writer);
    assert_eq!(rig.produced(), Ok(0));
    assert_eq!(rig.due(), Some(SECOND));
    rig.pass(SECOND);
    assert_eq!(rig.fetched(4).topics[0].partitions[0].high_watermark, 1);
}
