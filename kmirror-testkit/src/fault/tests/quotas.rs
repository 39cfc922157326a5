//! Throttling before and since KIP-219, and the quotas that lead to it.

use super::*;

fn frame_bytes() -> f64 {
    let frame = encode_request(7, Some("rig"), 3, &produce(1).into()).unwrap();
    f64::from(u32::try_from(frame.len() - 4).unwrap())
}

/// What an answer says, with the version that the answer to a produce has here.
fn throttle_time_ms(output: &Output) -> i32 {
    let Output::Frame(_, frame) = output else { panic!("no answer: {output:?}") };
    decode_response(ApiKey::PRODUCE, 3, body(frame)).unwrap().1.throttle_time_ms()
}

/// Since 2.0 the answer comes at once and says for how long the client is not heard; before it comes that much later.
#[test]
fn a_throttled_client_waits_before_or_after_its_answer() {
    for (release, at_once) in [(Release::V1_1, false), (Release::V2_0, true)] {
        let mut rig = Rig::of(release);
        let at = rig.connect();
        rig.cluster.intercept(Requests::any().times(1), Fault::Throttle(5 * SECOND));
        rig.produce(at);
        rig.produce(at);
        let first = rig.outputs();
        assert_eq!((first.len(), rig.end()), (usize::from(at_once), 1), "{release}");
        assert_eq!(rig.due(), Some(5 * SECOND), "{release}");
        rig.pass(5 * SECOND);
        let outputs: Vec<Output> = first.into_iter().chain(rig.outputs()).collect();
        let said: Vec<i32> = outputs.iter().map(throttle_time_ms).collect();
        assert_eq!((said.as_slice(), rig.end()), ([5000, 0].as_slice(), 2), "{release}");
    }
}

/// A quota that ten of these requests exhaust for ten seconds: each further one costs a second.
#[test]
fn a_producer_over_its_quota_is_throttled() {
    let mut rig = Rig::of(Release::V2_0);
    let quota = Quota { produce_bytes_per_second: Some(frame_bytes()), ..Quota::default() };
    rig.cluster.set_quota("rig", quota);
    for n in 0..12 {
        let at = rig.connect();
        rig.produce(at);
        let outputs = rig.outputs();
        assert_eq!(throttle_time_ms(&outputs[0]), [0, 1000, 2000][usize::max(n, 9) - 9], "request {n}");
    }
    let other = rig.connect();
    rig.ask_as(other, "other", 3, produce(1));
    assert_eq!(throttle_time_ms(&rig.outputs()[0]), 0, "others have no quota");
    rig.cluster.set_quota("rig", Quota::default());
    rig.produce(other);
    assert_eq!(throttle_time_ms(&rig.outputs()[0]), 0, "taken back");
}

/// Nothing at all may be produced: what was is throttled for ever, which is more milliseconds than the answer has room
/// for, and an answer that a fault keeps back as well is not kept back for less.
#[test]
fn a_quota_of_nothing_throttles_for_ever() {
    for release in [Release::V1_1, Release::V2_0] {
        let mut rig = Rig::of(release);
        rig.cluster.set_quota("rig", Quota { produce_bytes_per_second: Some(0.0), ..Quota::default() });
        let at = rig.connect();
        rig.cluster.intercept(Requests::any().times(1), Fault::DelayAnswer(SECOND));
        rig.produce(at);
        rig.pass(SECOND);
        let said: Vec<i32> = rig.outputs().iter().map(throttle_time_ms).collect();
        let expected: &[i32] = if release < Release::V2_0 { &[] } else { &[i32::MAX] };
        assert_eq!(said, expected, "{release}");
    }
}

/// Nobody tells a producer with acks 0, but it is not heard.
#[test]
fn a_producer_without_answers_is_muted() {
    let mut rig = Rig::of(Release::V2_0);
    let quota = Quota { produce_bytes_per_second: Some(frame_bytes() / 20.0), ..Quota::default() };
    rig.cluster.set_quota("rig", quota);
    let at = rig.connect();
    rig.ask(at, 3, produce(0));
    rig.ask(at, 3, produce(0));
    assert_eq!((rig.outputs(), rig.end()), (vec![], 1));
    assert_eq!(rig.due(), Some(10 * SECOND));
    rig.pass(10 * SECOND);
    assert_eq!(rig.end(), 2);
}

/// Since 2.0 a fetch that is over the quota brings nothing, and is not counted; the same fetch after the time does.
#[test]
fn a_consumer_over_its_quota_gets_nothing_for_a_while() {
    let mut rig = Rig::of(Release::V2_0);
    let at = rig.connect();
    rig.produce(at);
    assert_eq!(rig.produced(), Ok(0));
    rig.ask(at, 4, fetch());
    let whole = rig.fetched(4);
    let bytes = whole.topics[0].partitions[0].records.as_ref().unwrap().len();
    let tenth = f64::from(u32::try_from(bytes).unwrap()) / 10.0;
    rig.cluster.set_quota("rig", Quota { fetch_bytes_per_second: Some(tenth), ..Quota::default() });
    rig.ask(at, 4, fetch());
    assert_eq!(rig.fetched(4), whole, "as much as ten seconds allow");
    rig.ask(at, 4, fetch());
    let empty = rig.fetched(4);
    assert_eq!((empty.topics.len(), empty.throttle_time_ms), (0, 10_000));
    rig.ask(at, 4, fetch());
    assert_eq!(rig.outputs(), [], "not heard");
    rig.pass(11 * SECOND);
    assert_eq!(rig.fetched(4), whole);
}

/// Below 2.0 the records come, later.
#[test]
fn an_old_broker_keeps_the_records_back() {
    let mut rig = Rig::of(Release::V1_1);
    let at = rig.connect();
    rig.produce(at);
    assert_eq!(rig.produced(), Ok(0));
    rig.cluster.set_quota("rig", Quota { fetch_bytes_per_second: Some(5.0), ..Quota::default() });
    rig.ask(at, 4, fetch());
    assert_eq!(rig.outputs(), []);
    let due = rig.due().unwrap();
    assert!(due > SECOND, "{due:?}");
    rig.pass(due);
    let answer = rig.fetched(4);
    assert!(answer.topics[0].partitions[0].records.as_ref().is_some_and(|records| !records.is_empty()));
    assert_eq!(Duration::from_millis(answer.throttle_time_ms.try_into().unwrap()), due);
}
