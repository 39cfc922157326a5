//! Which requests a fault is for.

use std::collections::BTreeMap;
use std::fmt;

use kmirror_proto::ApiKey;
use kmirror_proto::messages::AnyRequest;

use crate::NodeId;
use crate::cluster::{ConnectionId, Topic};

/// Which requests a fault is for: those of which all holds that is said here.
///
/// ```
/// use kmirror_testkit::NodeId;
/// use kmirror_testkit::fault::{ApiKey, Requests};
///
/// // The third and fourth fetch of broker 1 that are about the topic:
/// let _ = Requests::of(ApiKey::FETCH).to(NodeId(1)).about("orders").after(2).times(2);
/// ```
pub struct Requests {
    key: Option<ApiKey>,
    node: Option<NodeId>,
    connection: Option<ConnectionId>,
    client_id: Option<String>,
    topic: Option<String>,
    predicate: Option<Predicate>,
    pub(super) after: u64,
    pub(super) times: u64,
}

type Predicate = Box<dyn FnMut(&Seen<'_>) -> bool + Send>;

/// A request, as a predicate sees it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The broker that it was sent to.
    pub node: NodeId,
    /// The connection that it came on.
    pub connection: ConnectionId,
    /// The name that the client gives itself.
    pub client_id: Option<&'a str>,
    /// The API.
    pub key: ApiKey,
    /// Its version.
    pub version: i16,
    /// The request; `None` if this crate does not read that API or version.
    pub request: Option<&'a AnyRequest>,
}

impl Requests {
    /// All of them.
    #[must_use]
    pub fn any() -> Self {
        Self {
            key: None,
            node: None,
            connection: None,
            client_id: None,
            topic: None,
            predicate: None,
            after: 0,
            times: u64::MAX,
        }
    }

    /// Those of one API.
    #[must_use]
    pub fn of(key: ApiKey) -> Self {
        Self { key: Some(key), ..Self::any() }
    }

    /// Those to one broker.
    #[must_use]
    pub fn to(self, node: NodeId) -> Self {
        Self { node: Some(node), ..self }
    }

    /// Those of one connection.
    #[must_use]
    pub fn on(self, connection: ConnectionId) -> Self {
        Self { connection: Some(connection), ..self }
    }

    /// Those of clients that give themselves this name.
    #[must_use]
    pub fn from_client(self, client_id: &str) -> Self {
        Self { client_id: Some(client_id.to_owned()), ..self }
    }

    /// Those that name this topic, by its name or its id, among others maybe. A Metadata request for all topics names
    /// none.
    #[must_use]
    pub fn about(self, topic: &str) -> Self {
        Self { topic: Some(topic.to_owned()), ..self }
    }

    /// Those that `predicate` wants. It is asked about what the rest leaves, once for each request.
    #[must_use]
    pub fn when(self, predicate: impl FnMut(&Seen<'_>) -> bool + Send + 'static) -> Self {
        Self { predicate: Some(Box::new(predicate)), ..self }
    }

    /// Not the first `n` of them.
    #[must_use]
    pub fn after(self, n: u64) -> Self {
        Self { after: n, ..self }
    }

    /// So many of them, not more.
    #[must_use]
    pub fn times(self, n: u64) -> Self {
        Self { times: n, ..self }
    }

    /// Whether a request is one of them, `after` and `times` left aside.
    pub(super) fn want(&mut self, topics: &BTreeMap<String, Topic>, seen: &Seen<'_>) -> bool {
        fn holds<T: PartialEq>(said: Option<&T>, is: &T) -> bool {
            said.is_none_or(|said| said == is)
        }
        holds(self.key.as_ref(), &seen.key)
            && holds(self.node.as_ref(), &seen.node)
            && holds(self.connection.as_ref(), &seen.connection)
            && self.client_id.as_deref().is_none_or(|name| seen.client_id == Some(name))
            && self.topic.as_deref().is_none_or(|topic| seen.is_about(topics, topic))
            && self.predicate.as_mut().is_none_or(|predicate| predicate(seen))
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requests")
            .field("key", &self.key)
            .field("node", &self.node)
            .field("connection", &self.connection)
            .field("client_id", &self.client_id)
            .field("topic", &self.topic)
            .field("predicate", &self.predicate.is_some())
            .field("after", &self.after)
            .field("times", &self.times)
            .finish()
    }
}

/// `resource_type` of a topic's configs and access rules.
const TOPIC_RESOURCE: i8 = 2;

impl Seen<'_> {
    fn is_about(&self, topics: &BTreeMap<String, Topic>, topic: &str) -> bool {
        let id = topics.get(topic).map(|topic| topic.id);
        self.request.is_some_and(|request| names(request, topic, id))
    }
}

/// Whether a request names a topic.
#[expect(clippy::wildcard_enum_match_arm, reason = "what has no place for a topic names none")]
fn names(request: &AnyRequest, topic: &str, id: Option<[u8; 16]>) -> bool {
    let named = |name: &str| name == topic;
    let either = |name: &str, topic_id: [u8; 16]| name == topic || id == Some(topic_id);
    match request {
        AnyRequest::Metadata(r) => {
            r.topics.iter().flatten().any(|t| either(t.name.as_deref().unwrap_or(""), t.topic_id))
        }
        AnyRequest::Produce(r) => r.topics.iter().any(|t| either(&t.name, t.topic_id)),
        AnyRequest::Fetch(r) => r.topics.iter().any(|t| either(&t.name, t.topic_id)),
        AnyRequest::ListOffsets(r) => r.topics.iter().any(|t| named(&t.name)),
        AnyRequest::OffsetForLeaderEpoch(r) => r.topics.iter().any(|t| named(&t.name)),
        AnyRequest::OffsetCommit(r) => r.topics.iter().any(|t| either(&t.name, t.topic_id)),
        AnyRequest::TxnOffsetCommit(r) => r.topics.iter().any(|t| either(&t.name, t.topic_id)),
        AnyRequest::OffsetFetch(r) => {
            r.groups.iter().flat_map(|g| g.topics.iter().flatten()).any(|t| either(&t.name, t.topic_id))
        }
        AnyRequest::OffsetDelete(r) => r.topics.iter().any(|t| named(&t.name)),
        AnyRequest::AddPartitionsToTxn(r) => r.transactions.iter().flat_map(|t| &t.topics).any(|t| named(&t.name)),
        AnyRequest::WriteTxnMarkers(r) => r.markers.iter().flat_map(|m| &m.topics).any(|t| named(&t.name)),
        AnyRequest::CreateTopics(r) => r.topics.iter().any(|t| named(&t.name)),
        AnyRequest::CreatePartitions(r) => r.topics.iter().any(|t| named(&t.name)),
        AnyRequest::DeleteTopics(r) => r.topics.iter().any(|t| either(t.name.as_deref().unwrap_or(""), t.topic_id)),
        AnyRequest::DeleteRecords(r) => r.topics.iter().any(|t| named(&t.name)),
        AnyRequest::DescribeProducers(r) => r.topics.iter().any(|t| named(&t.name)),
        AnyRequest::DescribeTopicPartitions(r) => r.topics.iter().any(|t| named(&t.name)),
        AnyRequest::ElectLeaders(r) => r.topic_partitions.iter().flatten().any(|t| named(&t.name)),
        AnyRequest::DescribeLogDirs(r) => r.topics.iter().flatten().any(|t| named(&t.name)),
        AnyRequest::AlterPartitionReassignments(r) => r.topics.iter().any(|t| named(&t.name)),
        AnyRequest::ListPartitionReassignments(r) => r.topics.iter().flatten().any(|t| named(&t.name)),
        AnyRequest::DescribeConfigs(r) => {
            r.resources.iter().any(|c| c.resource_type == TOPIC_RESOURCE && named(&c.resource_name))
        }
        AnyRequest::AlterConfigs(r) => {
            r.resources.iter().any(|c| c.resource_type == TOPIC_RESOURCE && named(&c.resource_name))
        }
        AnyRequest::IncrementalAlterConfigs(r) => {
            r.resources.iter().any(|c| c.resource_type == TOPIC_RESOURCE && named(&c.resource_name))
        }
        _ => false,
    }
}
