//! One connection to one broker: what is on its way, in order, and what ends it.
//!
//! Requests are answered in the order in which they were sent, so the answers need no search: the head of the queue is
//! next, and any other correlation id means that the stream has lost its step. A request that is not answered in time
//! ends the connection too: nothing behind it could be answered either.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::messages::{AnyRequest, AnyResponse, ApiVersionsRequest};
use kmirror_proto::{ApiKey, Frame, decode_response, encode_request, peek_correlation_id};

use super::call::{CallError, CallId, Waiting};
use super::limits::{CONNECT_GRACE, IN_FLIGHT_MAX, THROTTLE_MAX};
use super::transport::ConnId;
use super::versions::{ApiRanges, Negotiation, OLDEST, Step, ours};
use crate::clock::{Now, Tick};

/// A connection of the client.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: ConnId,
    /// Node id, or -1 for a bootstrap address.
    pub(super) node: i32,
    /// `host:port`, as it was when the connection was opened.
    pub(super) address: String,
    /// How errors name the broker: `target broker 3 (10.0.0.7:9092)`.
    pub(super) name: String,
    pub(super) began: Tick,
    /// No new calls; ends when the last answer is in.
    pub(super) retiring: bool,
    state: State,
    correlation_next: i32,
    in_flight: VecDeque<InFlight>,
    muted_until: Tick,
}

/// ```text
///             Connected              ranges agreed
/// Connecting ───────────► Negotiating ───────────► Ready
///     │                     │      │                 │
///     │ refused, deadline   │      └ no answer to v3 │ closed, request overdue,
///     ▼                     ▼        but a close or  ▼ answer that does not fit
///   Failed ◄──────────── Failed      silence:      Closed
///                                    Failed, and the next connection begins with v0
/// ```
/// `Failed` and `Closed` have no value: the connection is dropped by its owner. Any other move is the peer's error and
/// ends the connection.
#[derive(Debug)]
enum State {
    Connecting { deadline: Tick },
    Negotiating(Negotiation),
    Ready { ranges: ApiRanges, since: Tick },
}

#[derive(Debug)]
struct InFlight {
    correlation: i32,
    /// `None`: the question for versions.
    call: Option<CallId>,
    api: ApiKey,
    version: i16,
    sent: Tick,
    timeout: Duration,
    deadline: Tick,
}

/// What a frame turned out to be.
#[derive(Debug)]
pub(super) enum Heard {
    /// The answer to a call.
    Answer(Answer),
    /// Versions are agreed: the connection is ready.
    Ready,
    /// Versions have to be asked for again.
    AskAgain(Frame),
}

/// A call and its answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) call: CallId,
    pub(super) version: i16,
    pub(super) sent: Tick,
    pub(super) response: AnyResponse,
}

/// A call that was sent and will not be answered.
#[derive(Debug)]
pub(super) struct Unanswered {
    pub(super) call: CallId,
    pub(super) api: ApiKey,
    pub(super) version: i16,
    pub(super) sent: Tick,
}

impl Connection {
    /// A connection that is being opened; `timeout` is the socket's.
    pub(super) fn new(id: ConnId, node: i32, address: String, name: String, now: Now, timeout: Duration) -> Self {
        Self {
            id,
            node,
            address,
            name,
            began: now.tick,
            retiring: false,
            state: State::Connecting { deadline: now.after(timeout).after(CONNECT_GRACE) },
            correlation_next: 0,
            in_flight: VecDeque::new(),
            muted_until: Tick::ZERO,
        }
    }

    /// The socket is connected: the first frame, which asks for versions from `first` down.
    pub(super) fn connected(
        &mut self,
        now: Now,
        first: i16,
        timeout: Duration,
        client_id: &str,
    ) -> Result<Frame, String> {
        if !matches!(self.state, State::Connecting { .. }) {
            return Err("connected twice".to_owned());
        }
        let negotiation = Negotiation::new(first);
        self.state = State::Negotiating(negotiation);
        self.ask_versions(now, negotiation.asks(), timeout, client_id)
    }

    /// Takes a frame in. An error ends the connection.
    pub(super) fn frame(&mut self, now: Now, body: Bytes, client_id: &str) -> Result<Heard, String> {
        let correlation = peek_correlation_id(&body).map_err(|error| error.to_string())?;
        let Some(head) = self.in_flight.front() else {
            return Err(format!("answer {correlation}, which nothing asked for"));
        };
        if head.correlation != correlation {
            return Err(format!("answer {correlation} where {} ({}) was due", head.correlation, head.api));
        }
        let (api, version) = (head.api, head.version);
        let (_, response) =
            decode_response(api, version, body).map_err(|error| format!("{api} v{version}: {error}"))?;
        let Some(head) = self.in_flight.pop_front() else { return Err("no head".to_owned()) };
        match (head.call, response) {
            (Some(call), response) => Ok(Heard::Answer(Answer { call, version, sent: head.sent, response })),
            (None, AnyResponse::ApiVersions(answer)) => self.versions(now, &answer, head.timeout, client_id),
            (None, other) => Err(format!("{} where ApiVersions was due", other.key())),
        }
    }

    /// Sends a call, or says why it cannot be: then nothing was sent, and the connection is as before.
    pub(super) fn send(&mut self, now: Now, call: &Waiting, client_id: &str) -> Result<Frame, CallError> {
        let State::Ready { ranges, .. } = &self.state else {
            return Err(CallError::NotSent(format!("{}: not ready", self.name)));
        };
        let api = call.request.key();
        let theirs = ranges.get(api);
        let unsupported = |ours| CallError::Unsupported { broker: self.name.clone(), api, ours, theirs };
        let wanted = ours(api, &call.request.versions(), call.options.min_version, call.options.max_version);
        let wanted = wanted.map_err(unsupported)?;
        let version = ranges.pick(api, wanted).ok_or_else(|| unsupported(wanted))?;
        if matches!(&call.request, AnyRequest::Produce(produce) if produce.acks == 0) {
            let reason = "without acks there is no answer to wait for";
            return Err(CallError::NotSent(format!("{}: {api}: {reason}", self.name)));
        }
        self.enqueue(now, Some(call.id), version, &call.request, call.options.timeout, client_id)
            .map_err(|reason| CallError::NotSent(format!("{}: {reason}", self.name)))
    }

    /// A broker that throttles answers nothing for so long: deadlines move along.
    pub(super) fn throttled(&mut self, now: Now, wait: Duration) {
        self.muted_until = self.muted_until.max(now.after(wait.min(THROTTLE_MAX)));
        for request in &mut self.in_flight {
            request.deadline = request.deadline.max(self.muted_until.after(request.timeout));
        }
    }

    /// What cannot be waited for any longer; the connection has to end.
    pub(super) fn overdue(&self, now: Now) -> Option<String> {
        if let State::Connecting { deadline } = self.state
            && deadline <= now.tick
        {
            return Some("no answer to the connection attempt".to_owned());
        }
        let late = self.in_flight.iter().find(|request| request.deadline <= now.tick)?;
        Some(format!("no answer to {} v{} within {:?}", late.api, late.version, now.tick.since(late.sent)))
    }

    /// When something will be [`overdue`](Self::overdue).
    pub(super) fn deadline(&self) -> Option<Tick> {
        match self.state {
            State::Connecting { deadline } => Some(deadline),
            State::Negotiating(_) | State::Ready { .. } => self.in_flight.iter().map(|request| request.deadline).min(),
        }
    }

    /// Whether calls can be sent. A connection that is retiring takes none.
    pub(super) fn is_ready(&self) -> bool {
        self.ready_since().is_some() && !self.retiring
    }

    /// Whether one more call can be sent.
    pub(super) fn has_room(&self) -> bool {
        self.is_ready() && self.in_flight.len() < IN_FLIGHT_MAX
    }

    /// Since when calls can be sent, if they can.
    pub(super) fn ready_since(&self) -> Option<Tick> {
        match self.state {
            State::Ready { since, .. } => Some(since),
            State::Connecting { .. } | State::Negotiating(_) => None,
        }
    }

    /// What the broker speaks, once agreed.
    pub(super) fn ranges(&self) -> Option<&ApiRanges> {
        match &self.state {
            State::Ready { ranges, .. } => Some(ranges),
            State::Connecting { .. } | State::Negotiating(_) => None,
        }
    }

    /// Whether the peer was asked for versions above the oldest and has said nothing that could be read: it may be
    /// one that can only be asked at the oldest.
    pub(super) fn may_need_oldest(&self) -> bool {
        matches!(&self.state, State::Negotiating(negotiation) if negotiation.asks() > OLDEST)
    }

    /// Whether the peer was asked at the oldest version of all and has not answered.
    pub(super) fn asked_oldest(&self) -> bool {
        matches!(&self.state, State::Negotiating(negotiation) if negotiation.asks() == OLDEST)
    }

    /// Requests that are on their way.
    pub(super) fn load(&self) -> usize {
        self.in_flight.len()
    }

    /// Whether a request of this API is on its way.
    pub(super) fn carries(&self, api: ApiKey) -> bool {
        self.in_flight.iter().any(|request| request.api == api)
    }

    /// The calls that end with this connection.
    pub(super) fn take_unanswered(&mut self) -> Vec<Unanswered> {
        let requests = self.in_flight.drain(..);
        requests
            .filter_map(|InFlight { call, api, version, sent, .. }| {
                Some(Unanswered { call: call?, api, version, sent })
            })
            .collect()
    }

    fn versions(
        &mut self,
        now: Now,
        answer: &kmirror_proto::messages::ApiVersionsResponse,
        timeout: Duration,
        client_id: &str,
    ) -> Result<Heard, String> {
        let State::Negotiating(negotiation) = &mut self.state else {
            return Err("versions agreed twice".to_owned());
        };
        match negotiation.answered(answer) {
            Step::Agreed(ranges) => {
                self.state = State::Ready { ranges, since: now.tick };
                Ok(Heard::Ready)
            }
            Step::Ask(version) => self.ask_versions(now, version, timeout, client_id).map(Heard::AskAgain),
            Step::Refused(reason) => Err(reason),
        }
    }

    fn ask_versions(&mut self, now: Now, version: i16, timeout: Duration, client_id: &str) -> Result<Frame, String> {
        let request = AnyRequest::ApiVersions(ApiVersionsRequest {
            client_software_name: "kmirror".to_owned(),
            client_software_version: env!("CARGO_PKG_VERSION").to_owned(),
            ..ApiVersionsRequest::default()
        });
        self.enqueue(now, None, version, &request, timeout, client_id)
    }

    fn enqueue(
        &mut self,
        now: Now,
        call: Option<CallId>,
        version: i16,
        request: &AnyRequest,
        timeout: Duration,
        client_id: &str,
    ) -> Result<Frame, String> {
        let (correlation, api) = (self.correlation_next, request.key());
        let frame = encode_request(correlation, Some(client_id), version, request)
            .map_err(|error| format!("{api} v{version}: {error}"))?;
        self.correlation_next = correlation.checked_add(1).unwrap_or(0);
        let deadline = now.tick.max(self.muted_until).after(timeout);
        self.in_flight.push_back(InFlight { correlation, call, api, version, sent: now.tick, timeout, deadline });
        Ok(frame)
    }
}

#[cfg(test)]
mod tests {
    use kmirror_proto::messages::ListOffsetsRequest;

    use super::*;
    use crate::client::call::CallOptions;
    use crate::client::script::{answer_frame, body_of, versions_of};
    use crate::client::versions::NEWEST;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(ms: u64) -> Now {
        Now { tick: Tick(ms * 1_000_000), unix_ms: 0 }
    }

    fn negotiating() -> Connection {
        let mut connection =
            Connection::new(ConnId(1), 3, "a:9092".to_owned(), "source broker 3 (a:9092)".to_owned(), at(0), SECOND);
        connection.connected(at(0), NEWEST, SECOND, "me").unwrap();
        connection
    }

    fn ready() -> Connection {
        let mut connection = negotiating();
        let body = answer_frame(0, NEWEST, &versions_of(&[(ApiKey::LIST_OFFSETS, 0, 5)]));
        assert!(matches!(connection.frame(at(0), body, "me"), Ok(Heard::Ready)));
        connection
    }

    fn call(id: u64, timeout: Duration) -> Waiting {
        Waiting {
            id: CallId(id),
            request: ListOffsetsRequest::default().into(),
            options: CallOptions::within(timeout),
            deadline: Tick::ZERO,
            attempts_left: 1,
        }
    }

    fn listed(correlation: i32) -> Bytes {
        answer_frame(correlation, 5, &AnyResponse::ListOffsets(Default::default()))
    }

    #[test]
    fn answers_come_in_order() {
        let mut connection = ready();
        for id in [7, 8] {
            connection.send(at(1), &call(id, SECOND), "me").unwrap();
        }
        for (correlation, id) in [(1, 7), (2, 8)] {
            let Ok(Heard::Answer(answer)) = connection.frame(at(2), listed(correlation), "me") else { panic!() };
            assert_eq!((answer.call, answer.version, answer.sent), (CallId(id), 5, at(1).tick));
        }
        assert_eq!(connection.load(), 0);
    }

    #[test]
    fn an_answer_out_of_turn_ends_it() {
        let mut connection = ready();
        for id in [7, 8] {
            connection.send(at(1), &call(id, SECOND), "me").unwrap();
        }
        assert!(connection.frame(at(2), listed(2), "me").unwrap_err().contains("answer 2 where 1"));
        assert_eq!(connection.take_unanswered().iter().map(|call| call.call.0).collect::<Vec<_>>(), [7, 8]);
    }

    #[test]
    fn an_answer_that_nothing_asked_for_ends_it() {
        assert!(ready().frame(at(2), listed(1), "me").unwrap_err().contains("nothing asked for"));
        let mut repeated = ready();
        repeated.send(at(1), &call(7, SECOND), "me").unwrap();
        assert!(repeated.frame(at(2), listed(1), "me").is_ok());
        assert!(repeated.frame(at(2), listed(1), "me").is_err());
    }

    #[test]
    fn a_frame_shorter_or_longer_than_its_message_ends_it() {
        for change in [|body: &mut Vec<u8>| body.truncate(6), |body: &mut Vec<u8>| body.push(0)] {
            let mut connection = ready();
            connection.send(at(1), &call(7, SECOND), "me").unwrap();
            let mut body = listed(1).to_vec();
            change(&mut body);
            let reason = connection.frame(at(2), body.into(), "me").unwrap_err();
            assert!(reason.starts_with("ListOffsets v5: "), "{reason}");
        }
        assert!(ready().frame(at(2), Bytes::from_static(b"\0"), "me").is_err());
    }

    #[test]
    fn correlation_ids_pass_the_end_of_their_range() {
        let mut connection = ready();
        connection.correlation_next = i32::MAX;
        for id in [7, 8] {
            connection.send(at(1), &call(id, SECOND), "me").unwrap();
        }
        assert!(connection.frame(at(2), listed(i32::MAX), "me").is_ok());
        assert!(connection.frame(at(2), listed(0), "me").is_ok());
    }

    #[test]
    fn a_shorter_timeout_behind_a_longer_one_is_seen() {
        let mut connection = ready();
        connection.send(at(0), &call(7, 30 * SECOND), "me").unwrap();
        connection.send(at(0), &call(8, SECOND), "me").unwrap();
        assert_eq!(connection.deadline(), Some(at(1000).tick));
        assert_eq!(connection.overdue(at(999)), None);
        assert_eq!(connection.overdue(at(1000)).as_deref(), Some("no answer to ListOffsets v5 within 1s"));
    }

    #[test]
    fn a_throttled_connection_is_given_the_time_but_not_24_days() {
        let mut connection = ready();
        connection.send(at(0), &call(7, SECOND), "me").unwrap();
        connection.throttled(at(0), Duration::from_millis(i32::MAX.unsigned_abs().into()));
        assert_eq!(connection.deadline(), Some(at(0).after(THROTTLE_MAX).after(SECOND)));
    }

    #[test]
    fn what_cannot_be_said_is_not_sent() {
        let mut connection = ready();
        let mut beyond = call(7, SECOND);
        beyond.options = beyond.options.versions(6, 8);
        let error = connection.send(at(0), &beyond, "me").unwrap_err();
        assert_eq!(error.to_string(), "source broker 3 (a:9092): ListOffsets: we need v6-8, the broker has v0-5");
        let mut no_acks = call(8, SECOND);
        no_acks.request = kmirror_proto::messages::ProduceRequest { acks: 0, ..Default::default() }.into();
        assert!(connection.send(at(0), &no_acks, "me").is_err());
        assert_eq!(connection.load(), 0);
    }

    #[test]
    fn a_second_connected_or_a_second_agreement_is_an_error() {
        let mut connection = ready();
        assert!(connection.connected(at(0), NEWEST, SECOND, "me").is_err());
        let again = answer_frame(1, NEWEST, &versions_of(&[]));
        assert!(connection.frame(at(0), again, "me").is_err());
    }

    #[test]
    fn the_second_question_for_versions_goes_over_the_same_connection() {
        let mut connection = negotiating();
        let refusal = Bytes::from_static(&[0, 0, 0, 0, 0, 35, 0, 0, 0, 0]); // measured on 0.10.1
        let Ok(Heard::AskAgain(frame)) = connection.frame(at(1), refusal, "me") else { panic!() };
        assert_eq!(body_of(&frame)[..8], [0, 18, 0, 0, 0, 0, 0, 1], "key 18, v0, correlation 1");
        let body = answer_frame(1, 0, &versions_of(&[(ApiKey::FETCH, 0, 3)]));
        assert!(matches!(connection.frame(at(2), body, "me"), Ok(Heard::Ready)));
    }
}
