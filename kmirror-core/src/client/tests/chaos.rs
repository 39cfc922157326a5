//! Whatever brokers and network do, each call gets one reply, and the reply does not lie about what was sent.

#![expect(clippy::wildcard_enum_match_arm, reason = "a script names the requests that it is about")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use kmirror_proto::messages::ListOffsetsTopic;

use super::super::script::{Act, KAFKA_2_0, versions_of};
use super::*;
use crate::client::CallId;

/// How often each call, known by a topic name that is its own, has reached a broker.
type Seen = Rc<RefCell<BTreeMap<String, usize>>>;

const ADDRESSES: [&str; 4] = ["boot:9", "a:1", "b:2", "c:3"];

fn marked(mark: &str) -> AnyRequest {
    let topics = vec![ListOffsetsTopic { name: mark.to_owned(), partitions: Vec::new() }];
    ListOffsetsRequest { topics, ..ListOffsetsRequest::default() }.into()
}

/// A host of some kind. A broker notes what it is asked and then answers, lies, keeps silent or hangs up.
fn some_host(rng: &mut fastrand::Rng, seen: &Seen) -> Host {
    let (mut rng, seen, kind) = (rng.fork(), seen.clone(), rng.u8(..10));
    match kind {
        0 => Host::Refuses,
        1 => Host::Vanished,
        _ => Host::Broker(Box::new(move |header, request| {
            if let AnyRequest::ListOffsets(request) = request {
                *seen.borrow_mut().entry(request.topics[0].name.clone()).or_default() += 1;
            }
            let answer = match request {
                AnyRequest::ApiVersions(_) if header.version > rng.i16(0..4) => return Act::Close("not to my taste"),
                AnyRequest::ApiVersions(_) => versions_of(KAFKA_2_0),
                AnyRequest::Metadata(_) => some_view(&mut rng).into(),
                AnyRequest::ListOffsets(_) => kmirror_proto::AnyResponse::ListOffsets(Default::default()),
                other => panic!("{} was never sent", other.key()),
            };
            match rng.u8(..kind * 10) {
                0 => Act::Silence,
                1 => Act::Close("closed by the broker"),
                2 => Act::AnswerAs(rng.i32(..), answer),
                3 => Act::Raw(rng.i64(..).to_be_bytes().to_vec().into()),
                _ => Act::Answer(answer),
            }
        })),
    }
}

fn some_view(rng: &mut fastrand::Rng) -> MetadataResponse {
    let mut brokers = vec![broker(1, "a", 1), broker(2, "b", 2), broker(3, "c", 3)];
    match rng.u8(..8) {
        0 => brokers.clear(),
        1 => brokers[1].host = "c".to_owned(),
        2 => brokers[2].port = 70_000,
        3 => drop(brokers.pop()),
        _ => {}
    }
    metadata(brokers, vec![leaders("t", &[rng.i32(-1..4), rng.i32(-1..4)])])
}

struct Chaos {
    rig: Rig,
    rng: fastrand::Rng,
    seen: Seen,
    calls: BTreeMap<CallId, String>,
}

impl Chaos {
    fn new(seed: u64) -> Self {
        let (mut rng, seen) = (fastrand::Rng::with_seed(seed), Seen::default());
        let mut rig = Rig::new(&["boot:9", "a:1"]);
        for address in ADDRESSES {
            rig.host(address, some_host(&mut rng, &seen));
        }
        Self { rig, rng, seen, calls: BTreeMap::new() }
    }

    fn step(&mut self) {
        let address = ADDRESSES[self.rng.usize(..ADDRESSES.len())];
        let now = self.rig.now;
        match self.rng.u8(..20) {
            0 => self.rig.cut(address),
            1 => self.rig.client.abort(now, self.rng.i32(-1..5), "chaos"),
            2..5 => drop(self.rig.host(address, some_host(&mut self.rng, &self.seen))),
            5 => self.rig.client.refresh_metadata(now),
            6..9 => self.rig.advance(self.rng.u32(..8_000) * MS),
            9..11 => self.rig.settle(),
            _ => {
                let node = if self.rng.bool() { Node::Any } else { Node::Id(self.rng.i32(1..5)) };
                let mark = format!("call-{}", self.calls.len());
                let mut options = CallOptions::within(self.rng.u32(1..20_000) * MS);
                options.on = self.rig.client.connection(self.rng.i32(-1..4)).filter(|_| self.rng.u8(..4) == 0);
                let call = self.rig.client.call(now, node, marked(&mark), options);
                self.calls.insert(call, mark);
            }
        }
    }

    fn check(mut self) {
        self.rig.client.close(self.rig.now);
        self.rig.settle();
        assert_eq!(self.rig.replies.len(), self.calls.len(), "one reply for each call");
        for reply in &self.rig.replies {
            let mark = self.calls.remove(&reply.call).expect("one call for each reply");
            let seen = self.seen.borrow().get(&mark).copied().unwrap_or(0);
            let fits = match &reply.outcome {
                Ok(_) => seen == 1 && reply.sent.is_some() && reply.version == 3,
                Err(CallError::Unknown(_)) => seen <= 1 && reply.sent.is_some() && reply.conn.is_some(),
                Err(CallError::NotSent(_) | CallError::Unsupported { .. }) => seen == 0 && reply.sent.is_none(),
            };
            assert!(fits, "{mark} was seen {seen} times and ended in {:?}", reply.outcome);
        }
    }
}

#[test]
fn each_call_gets_one_reply_and_it_is_true() {
    let mut answered = 0;
    for seed in 0..400 {
        let mut chaos = Chaos::new(seed);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            for _ in 0..250 {
                chaos.step();
            }
            let answered = chaos.rig.replies.iter().filter(|reply| reply.outcome.is_ok()).count();
            chaos.check();
            answered
        }));
        answered += result.unwrap_or_else(|_| panic!("seed {seed}"));
    }
    assert!(answered > 10_000, "{answered} answers: the chaos is too much to prove anything");
}
