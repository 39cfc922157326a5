//! The client among scripted brokers, in virtual time.

mod chaos;
mod negotiation;
mod outcomes;
mod routing;

use std::time::Duration;

use kmirror_proto::messages::{AnyRequest, ListOffsetsRequest, MetadataResponse, ProduceRequest};

use super::script::{Host, Rig, broker, default_answer, kafka, leaders, metadata};
use super::{CallError, CallOptions, Node};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn list_offsets() -> AnyRequest {
    ListOffsetsRequest::default().into()
}

fn produce() -> AnyRequest {
    ProduceRequest { acks: -1, ..ProduceRequest::default() }.into()
}

/// Two brokers, `a:1` and `b:2`; the topic `t` has its partition 0 on broker 1 and its partition 1 on broker 2.
fn view() -> MetadataResponse {
    metadata(vec![broker(1, "a", 1), broker(2, "b", 2)], vec![leaders("t", &[1, 2])])
}

fn healthy() -> Host {
    kafka(view(), default_answer)
}

/// A client that has the view, through the bootstrap address `boot:9`.
fn settled() -> Rig {
    let mut rig = Rig::new(&["boot:9"]);
    rig.host("boot:9", healthy()).host("a:1", healthy()).host("b:2", healthy());
    rig.advance(10 * MS);
    assert_eq!(rig.client.metadata().leader("t", 1), Some(2));
    rig
}

/// The outcomes so far, each as one word.
fn outcomes(rig: &Rig) -> Vec<&'static str> {
    let word = |outcome: &Result<_, CallError>| match outcome {
        Ok(_) => "answered",
        Err(CallError::NotSent(_)) => "not sent",
        Err(CallError::Unknown(_)) => "unknown",
        Err(CallError::Unsupported { .. }) => "unsupported",
    };
    rig.replies.iter().map(|reply| word(&reply.outcome)).collect()
}

/// The text of the only error so far.
fn error(rig: &Rig) -> String {
    let errors: Vec<String> =
        rig.replies.iter().filter_map(|reply| Some(reply.outcome.as_ref().err()?.to_string())).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].clone()
}

fn ask(rig: &mut Rig, node: Node, request: AnyRequest) {
    rig.client.call(rig.now, node, request, CallOptions::within(30 * SECOND));
    rig.settle();
}
