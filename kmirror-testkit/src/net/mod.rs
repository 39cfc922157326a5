//! The TCP front: a cluster that clients of any language can reach.
//!
//! ```text
//!  Server (any thread)                         its own thread, a current-thread runtime, one task
//!  with(|cluster, now| …) ──┐                   ┌─ Gate per broker: accepts, or refuses while the broker is stopped
//!                           ├─► Cluster (lock) ◄┤
//!  drop ────────────────────┘                   └─ Socket per connection: frames in, gathered writes out
//! ```
//!
//! As in Kafka's network layer (`kafka.network.Processor`) a connection has one request at a time in the broker: the
//! next is not read before the answer to the last one is nearly written, so a client that does not read its answers
//! costs one frame and one answer, not more. Only this module reads a clock, opens sockets and starts a thread.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use tokio::runtime;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::cluster::Cluster;
use crate::{NodeId, Now};

mod clock;
use clock::Clock;

mod listen_on;
pub use listen_on::{BadAddress, ListenOn};

mod gate;
use gate::Gate;

mod socket;

mod front;
use front::Front;

mod limits;

/// A cluster that listens: every broker on a port of its own.
///
/// It serves from a thread of its own until it is dropped; then that thread and all sockets are gone.
///
/// ```
/// use kmirror_testkit::net::Server;
/// use kmirror_testkit::{Cluster, NodeId, Release};
///
/// let cluster = Cluster::builder(Release::V2_0).brokers(3).setting("default.replication.factor", "3").build()?;
/// let server = Server::start(cluster)?;
/// server.with(|cluster, _| cluster.create_topic("orders", 4));
/// println!("bootstrap.servers={}", server.bootstrap());
/// // … a client under test …
/// server.with(|cluster, _| cluster.stop_broker(NodeId(0)))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Server {
    cluster: Arc<Shared>,
    clock: Clock,
    addresses: BTreeMap<NodeId, SocketAddr>,
    bootstrap: String,
    /// Each is told when all that happened before it is carried out. Dropped: the thread ends.
    attention: Option<UnboundedSender<mpsc::Sender<()>>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves the cluster on free ports of 127.0.0.1, and tells it these addresses.
    ///
    /// # Errors
    /// The system has no ports, no event queue or no thread to give.
    pub fn start(cluster: Cluster) -> io::Result<Self> {
        Self::start_on(cluster, &ListenOn::default())
    }

    /// Serves the cluster where it is told to, and tells it these addresses. A broker that is stopped has its port all
    /// the same, and refuses connections there.
    ///
    /// # Errors
    /// As [`start`](Self::start); the host's name is not resolved; one of the ports is taken, or beyond 65535.
    pub fn start_on(mut cluster: Cluster, listen_on: &ListenOn) -> io::Result<Self> {
        let runtime = runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let nodes: Vec<NodeId> = cluster.brokers().collect();
        let (mut gates, mut addresses, mut bootstrap) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut places = listen_on.resolve()?;
        for node in nodes {
            let beyond =
                || io::Error::new(io::ErrorKind::InvalidInput, format!("broker {node} has no port: there are 65535"));
            let gate = Gate::open(places.next().ok_or_else(beyond)?)?;
            let address = gate.address();
            let host = listen_on.advertised(address);
            cluster.listen(node, &host, address.port());
            bootstrap.push(if host.contains(':') {
                format!("[{host}]:{}", address.port())
            } else {
                format!("{host}:{}", address.port())
            });
            addresses.insert(node, address);
            gates.insert(node, gate);
        }
        let (cluster, clock) = (Arc::new(Shared::new(cluster)), Clock::start());
        let (attention, attended) = unbounded_channel();
        let front = Front::new(Arc::clone(&cluster), clock.clone(), gates, attended);
        let thread = Builder::new().name("kafka".to_owned()).spawn(move || {
            // Sockets are closed within their runtime.
            runtime.block_on(front.serve());
        })?;
        let bootstrap = bootstrap.join(",");
        let mut server =
            Self { cluster, clock, addresses, bootstrap, attention: Some(attention), thread: Some(thread) };
        server.attend();
        if server.thread.as_ref().is_some_and(JoinHandle::is_finished) {
            server.end();
            return Err(io::Error::other("the thread that serves the cluster has ended"));
        }
        Ok(server)
    }

    /// What a client is given as `bootstrap.servers`: all brokers, separated by commas.
    #[must_use]
    pub fn bootstrap(&self) -> &str {
        &self.bootstrap
    }

    /// Where a broker listens, if there is one of this id.
    #[must_use]
    pub fn address(&self, node: NodeId) -> Option<SocketAddr> {
        self.addresses.get(&node).copied()
    }

    /// Looks at the cluster or changes it while it serves. When this returns, what it caused is carried out: answers
    /// are handed to the sockets, connections are cut, the listeners of stopped brokers are closed.
    ///
    /// The cluster is locked meanwhile; a call from within `control` would wait for itself for ever. A panic in
    /// `control` is the caller's alone: the cluster goes on.
    pub fn with<R>(&self, control: impl FnOnce(&mut Cluster, Now) -> R) -> R {
        let result = {
            let mut cluster = self.cluster.lock();
            let now = self.clock.now();
            cluster.advance(now);
            control(&mut cluster, now)
        };
        self.attend();
        result
    }

    /// Lets time pass at once, on both of the cluster's clocks: what is due by then happens before this returns.
    pub fn pass(&self, time: Duration) {
        self.clock.pass(time);
        self.with(|_, _| ());
    }

    /// Has the thread carry out what is to be done, and waits for it. One that has ended has nothing to do.
    fn attend(&self) {
        let (told, done) = mpsc::channel();
        if self.attention.as_ref().is_some_and(|attention| attention.send(told).is_ok()) {
            let _ = done.recv();
        }
    }

    fn end(&mut self) {
        self.attention = None;
        if let Some(thread) = self.thread.take() {
            // Its panic was printed where it happened; a second one in a drop would hide it.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("bootstrap", &self.bootstrap).finish_non_exhaustive()
    }
}

/// The cluster, and whose turn with it is next: the thread that serves would else be back at a lock that it has just
/// released before anybody who waits for it is awake.
#[derive(Debug)]
struct Shared {
    turnstile: Mutex<()>,
    cluster: Mutex<Cluster>,
}

impl Shared {
    fn new(cluster: Cluster) -> Self {
        Self { turnstile: Mutex::new(()), cluster: Mutex::new(cluster) }
    }

    /// A control that panicked has left the cluster as a value of its type: it is used on.
    fn lock(&self) -> MutexGuard<'_, Cluster> {
        let _turn = self.turnstile.lock().unwrap_or_else(PoisonError::into_inner);
        self.cluster.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
