//! The cluster: brokers, topics, connections, and the machines behind its APIs.
//!
//! ```text
//! receive(connection, frame) ─► serving ─► api::answer ─► Reply ─► Output
//!                                 ▲            │
//!                  fault rules ───┘            └─► Later: fetches, produces, groups … complete(ticket, response)
//! advance(now) ─► whatever is due
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::messages::ApiVersionRange;

use crate::acls::Acls;
use crate::configs::BrokerSettings;
use crate::fault::{Intercepts, Quotas};
use crate::groups::Groups;
use crate::transactions::Transactions;
use crate::{NodeId, Now, Release, uuid};

mod connection;
pub(crate) use connection::{Asked, Call, Connection, InFlight, Reply, Ticket};
pub use connection::{ConnectionId, Output};

mod options;
pub use options::ClusterBuilder;

mod topic;
pub(crate) use topic::{Partition, Topic};

mod broker;
pub(crate) use broker::Broker;

pub(crate) mod waits;
use waits::Waits;

mod serving;
pub(crate) use serving::{Arrived, Read};

mod coordinators;
pub(crate) use coordinators::Coordinates;

mod topics;

mod control;
pub use control::NoSuch;

mod freezing;

mod followers;

mod elections;

mod upkeep;
use upkeep::Upkeep;

mod contents;
pub use contents::{ContentsError, Record};

/// An embedded Kafka cluster as a value. See the [crate's page](crate) for how to use it.
///
/// Feed it with [`connect`](Self::connect), [`receive`](Self::receive), [`disconnect`](Self::disconnect) and
/// [`advance`](Self::advance); after each of these take what it puts out with [`poll_output`](Self::poll_output), and
/// come back at [`poll_timeout`](Self::poll_timeout) at the latest. What is done to it from outside (a broker that is
/// stopped, a fault that is lifted) may put something out as well.
///
/// ```
/// use bytes::Bytes;
/// use kmirror_testkit::proto::encode_request;
/// use kmirror_testkit::proto::messages::{FetchPartition, FetchRequest, FetchTopic};
/// use kmirror_testkit::{Cluster, NodeId, Now, Output, Release};
///
/// let mut cluster = Cluster::builder(Release::V2_0).build()?;
/// cluster.create_topic("orders", 1);
/// let mut now = Now { unix_ms: 1_700_000_000_000, ..Now::default() };
/// let client = cluster.connect(now, NodeId(0)).ok_or("the broker is down")?;
///
/// // There is nothing to fetch, and the request waits for half a second: virtual ones.
/// let partitions = vec![FetchPartition { partition_max_bytes: 1000, ..FetchPartition::default() }];
/// let topics = vec![FetchTopic { name: "orders".to_owned(), partitions, ..FetchTopic::default() }];
/// let fetch = FetchRequest { topics, max_wait_ms: 500, min_bytes: 1, ..FetchRequest::default() };
/// let frame = Bytes::from(encode_request(1, Some("docs"), 4, &fetch.into())?.chunks().concat());
/// cluster.receive(now, client, frame.slice(4..));
/// assert_eq!(cluster.poll_output(), None);
///
/// now = now.later(cluster.poll_timeout().ok_or("nothing is due")? - now.elapsed);
/// cluster.advance(now);
/// assert!(matches!(cluster.poll_output(), Some(Output::Frame(to, _)) if to == client));
/// assert_eq!(now.unix_ms, 1_700_000_000_500);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Cluster {
    pub(crate) release: Release,
    /// What it advertises.
    pub(crate) apis: Vec<ApiVersionRange>,
    pub(crate) settings: BrokerSettings,
    pub(crate) id: String,
    pub(crate) brokers: BTreeMap<NodeId, Broker>,
    pub(crate) topics: BTreeMap<String, Topic>,
    pub(crate) connections: BTreeMap<ConnectionId, Connection>,
    pub(crate) groups: Groups,
    pub(crate) transactions: Transactions,
    /// Who may do what; none without an authorizer.
    pub(crate) acls: Option<Acls>,
    upkeep: Upkeep,
    pub(crate) waits: Waits,
    pub(crate) intercepts: Intercepts,
    pub(crate) quotas: Quotas,
    /// Somebody may not follow: see [`Cluster::drop_laggards`].
    watch_followers: bool,
    laggards_due: Option<Duration>,
    /// Whose connection is served under which ticket.
    serving: BTreeMap<Ticket, ConnectionId>,
    outputs: VecDeque<Output>,
    now: Now,
    connections_made: u64,
    tickets: u64,
    random: u64,
}

impl Cluster {
    /// Says what the cluster is to be.
    #[must_use]
    pub fn builder(release: Release) -> ClusterBuilder {
        ClusterBuilder::new(release)
    }

    fn new(built: &ClusterBuilder, settings: BrokerSettings) -> Self {
        let brokers = (0..built.brokers).map(|id| (NodeId(i32::from(id)), Broker::new())).collect();
        let mut cluster = Self {
            release: built.release,
            apis: built.release.apis(),
            id: String::new(),
            brokers,
            topics: BTreeMap::new(),
            connections: BTreeMap::new(),
            transactions: Transactions::new(built.release),
            groups: Groups::new(built.release, settings.groups.clone()),
            acls: Acls::of(&settings),
            settings,
            upkeep: Upkeep::default(),
            waits: Waits::default(),
            intercepts: Intercepts::default(),
            quotas: Quotas::new(built.release),
            watch_followers: false,
            laggards_due: None,
            serving: BTreeMap::new(),
            outputs: VecDeque::new(),
            now: Now::default(),
            connections_made: 0,
            tickets: 0,
            random: built.seed,
        };
        cluster.id = uuid::text(cluster.new_uuid());
        cluster
    }

    /// Which release its brokers are.
    #[must_use]
    pub fn release(&self) -> Release {
        self.release
    }

    /// The ids of its brokers, running or not.
    pub fn brokers(&self) -> impl Iterator<Item = NodeId> {
        self.brokers.keys().copied()
    }

    /// Whether a broker runs.
    #[must_use]
    pub fn is_running(&self, node: NodeId) -> bool {
        self.brokers.get(&node).is_some_and(|broker| broker.running)
    }

    /// Where clients reach a broker: what Metadata tells them. Port 0 until it is said.
    pub fn listen(&mut self, node: NodeId, host: &str, port: u16) {
        if let Some(broker) = self.brokers.get_mut(&node) {
            host.clone_into(&mut broker.host);
            broker.port = port;
        }
    }

    /// A client connects to a broker; `None` if it is not running.
    pub fn connect(&mut self, now: Now, node: NodeId) -> Option<ConnectionId> {
        self.now = now;
        if !self.brokers.get(&node)?.running {
            return None;
        }
        self.connections_made += 1;
        let id = ConnectionId(self.connections_made);
        self.connections.insert(id, Connection::new(node));
        Some(id)
    }

    /// A frame of a client, without its length prefix. Frames of a connection that is gone are ignored.
    pub fn receive(&mut self, now: Now, connection: ConnectionId, frame: Bytes) {
        self.now = now;
        if let Some(to) = self.connections.get_mut(&connection) {
            to.waiting.push_back(Asked { frame, put_off: false });
        }
        self.serve(connection);
        self.settle();
    }

    /// Whether a connection has no request waiting or being served: its next one is looked at when it comes. Kafka reads
    /// no further from a socket until then.
    #[must_use]
    pub fn is_idle(&self, connection: ConnectionId) -> bool {
        self.connections.get(&connection).is_none_or(|found| found.in_flight.is_none() && found.waiting.is_empty())
    }

    /// The client has closed the connection. What it sent before still takes effect, as on a broker; a request that is
    /// never answered excepted, with what stands behind it.
    pub fn disconnect(&mut self, now: Now, connection: ConnectionId) {
        self.now = now;
        self.orphan(connection);
        self.settle();
    }

    /// The client has reset the connection: what the broker has not begun with is lost.
    pub fn reset(&mut self, now: Now, connection: ConnectionId) {
        self.now = now;
        self.forget(connection);
        self.settle();
    }

    /// Lets everything happen that is due by now.
    pub fn advance(&mut self, now: Now) {
        self.now = now;
        self.expire();
        self.settle();
    }

    /// What is to be done with connections, in order.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When [`advance`](Self::advance) has to be called at the latest, on the monotonic clock.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Duration> {
        let machines = [self.groups.poll_timeout(), self.transactions.poll_timeout()];
        let due =
            [self.connections_due(), self.waits.due(), self.late_due(), self.laggards_due].into_iter().chain(machines);
        due.chain([self.upkeep_due()]).flatten().min()
    }

    /// What the cluster was told last about time.
    pub(crate) fn now(&self) -> Now {
        self.now
    }

    /// The next number of a sequence that the seed alone decides (SplitMix64).
    pub(crate) fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A topic's id, never the zero one (KIP-516), or a cluster's.
    pub(crate) fn new_uuid(&mut self) -> [u8; 16] {
        let id = (u128::from(self.draw()) << 64) | u128::from(self.draw() | 1);
        id.to_be_bytes()
    }
}
