//! A cluster: its brokers, its ZooKeeper where it needs one, its data folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::fetch::{Distribution, distribution};
use super::jvm::{self, JvmProfile};
use super::node::{Node, START_WITHIN};
use super::ports::Port;
use super::release::{Mode, Release};
use crate::failure::Context as _;
use crate::process::{Guarded, Reaper};
use crate::wait::{self, Deadline};
use crate::{Failure, Result, wire};

/// A ZooKeeper session ends this long after its broker was killed; a restart under the same id has to wait for it.
const SESSION_MS: &str = "6000";

/// What a cluster is to be.
#[derive(Debug)]
pub struct ClusterBuilder {
    version: String,
    nodes: u32,
    properties: Vec<(String, String)>,
    profile: JvmProfile,
    heap_mib: u32,
}

impl ClusterBuilder {
    /// So many brokers (one unless said otherwise). They start together.
    pub fn nodes(mut self, nodes: u32) -> ClusterBuilder {
        self.nodes = nodes;
        self
    }

    /// A broker property; replaces one that the harness sets.
    pub fn property(mut self, key: &str, value: &str) -> ClusterBuilder {
        self.properties.push((key.to_owned(), value.to_owned()));
        self
    }

    /// How the JVMs are tuned, and the heap of each broker in MiB.
    pub fn jvm(mut self, profile: JvmProfile, heap_mib: u32) -> ClusterBuilder {
        self.profile = profile;
        self.heap_mib = heap_mib;
        self
    }

    /// Starts the cluster and waits until every broker answers and knows all others.
    pub fn start(self) -> Result<Cluster> {
        let distribution = distribution(&self.version)?;
        let folder = tempfile::Builder::new()
            .prefix(&format!("kmirror-{}-", self.version))
            .tempdir_in(data_folder())
            .context(|| format!("creating a folder in {}", data_folder().display()))?
            .keep();
        let reaper = Reaper::of(&folder)?;
        let zookeeper = match distribution.release.mode {
            Mode::ZooKeeper => Some(ZooKeeper::start(&distribution, &folder)?),
            Mode::KRaft => None,
        };
        let jvm = (self.profile, self.heap_mib);
        let ids = 0..self.nodes;
        let nodes = ids.map(|id| Node::new(id, &folder, &distribution, jvm)).collect::<Result<Vec<Node>>>()?;
        let cluster = Cluster { nodes, zookeeper, distribution, _reaper: reaper };
        cluster.start_nodes(&self.properties)?;
        Ok(cluster)
    }
}

/// A running cluster. Dropping it ends every process of it at once and removes its data.
#[derive(Debug)]
pub struct Cluster {
    // The order of the fields is the order of the end: brokers, ZooKeeper, then their folder.
    nodes: Vec<Node>,
    zookeeper: Option<ZooKeeper>,
    distribution: Distribution,
    _reaper: Reaper,
}

impl Cluster {
    /// A cluster of the release `version`, to be described further and started.
    pub fn of(version: &str) -> ClusterBuilder {
        let (version, profile) = (version.to_owned(), JvmProfile::QuickStart);
        ClusterBuilder { version, nodes: 1, properties: Vec::new(), profile, heap_mib: 512 }
    }

    /// One broker of the release `version`.
    pub fn start(version: &str) -> Result<Cluster> {
        Cluster::of(version).start()
    }

    /// Its release.
    pub fn release(&self) -> &'static Release {
        self.distribution.release
    }

    /// The jars that it runs on.
    pub fn distribution(&self) -> &Distribution {
        &self.distribution
    }

    /// `bootstrap.servers`: the addresses of all its brokers.
    pub fn bootstrap(&self) -> String {
        let addresses: Vec<String> = self.nodes.iter().map(Node::address).collect();
        addresses.join(",")
    }

    /// Its brokers, by id.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// `host:port` of its ZooKeeper, where it has one.
    pub fn zookeeper(&self) -> Option<String> {
        self.zookeeper.as_ref().map(ZooKeeper::address)
    }

    /// Stops a broker in order (SIGTERM) and waits for its end.
    pub fn stop(&self, id: u32) -> Result {
        self.node(id)?.stop()
    }

    /// Kills a broker (SIGKILL) and waits for its end.
    pub fn kill(&self, id: u32) -> Result {
        self.node(id)?.kill()
    }

    /// Sends a broker's JVM a signal by name, e.g. `STOP` and `CONT`.
    pub fn signal(&self, id: u32, name: &str) -> Result {
        self.node(id)?.signal(name)
    }

    /// Starts a broker that is down again, on its old port and data, and waits until it answers.
    pub fn restart(&self, id: u32) -> Result {
        let node = self.node(id)?;
        node.stop()?;
        if let Some(zookeeper) = &self.zookeeper {
            zookeeper.wait_forgotten(id)?;
        }
        node.spawn()?;
        node.wait_ready(1)
    }

    /// The end offset of every partition of a topic (`None` for one without a leader just now).
    pub fn ends(&self, topic: &str) -> Result<Vec<Option<i64>>> {
        wire::ends(&self.bootstrap(), topic, self.release().at_least(0, 11))
    }

    fn node(&self, id: u32) -> Result<&Node> {
        let index = usize::try_from(id).unwrap_or(usize::MAX);
        self.nodes
            .get(index)
            .ok_or_else(|| Failure::new(format!("no broker {id} in a cluster of {}", self.nodes.len())))
    }

    fn start_nodes(&self, extra: &[(String, String)]) -> Result {
        let kraft = match self.release().mode {
            Mode::ZooKeeper => None,
            Mode::KRaft => Some(Kraft::new(self.nodes.len())?),
        };
        for (index, node) in self.nodes.iter().enumerate() {
            let mut properties = common_properties(node, self.nodes.len());
            match (&kraft, &self.zookeeper) {
                (Some(kraft), _) => properties.extend(kraft.properties(node, index)),
                (None, Some(zookeeper)) => properties.extend(zookeeper.properties(node)),
                (None, None) => {}
            }
            for (key, value) in extra {
                properties.retain(|(known, _)| known != key);
                properties.push((key.clone(), value.clone()));
            }
            node.write_properties(&properties)?;
            if let Some(kraft) = &kraft {
                node.format(&kraft.cluster_id)?;
            }
        }
        self.nodes.iter().try_for_each(Node::spawn)?;
        self.nodes.iter().try_for_each(|node| node.wait_ready(self.nodes.len()))
    }
}

/// `KMIRROR_DATA` (a tmpfs, say), or the system's folder for temporary files.
fn data_folder() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| std::env::var_os("KMIRROR_DATA").map_or_else(std::env::temp_dir, PathBuf::from)).clone()
}

fn common_properties(node: &Node, nodes: usize) -> Vec<(String, String)> {
    let replicas = nodes.min(3).to_string();
    let min_isr = if nodes >= 3 { "2" } else { "1" };
    pairs(&[
        ("log.dirs", &node.log_dir().display().to_string()),
        // Tests write records as old as they like; none of them wants the broker to delete them.
        ("log.retention.ms", "-1"),
        ("offsets.topic.replication.factor", &replicas),
        ("transaction.state.log.replication.factor", &replicas),
        ("transaction.state.log.min.isr", min_isr),
        ("group.initial.rebalance.delay.ms", "0"),
        // Off by default before 1.0.
        ("delete.topic.enable", "true"),
        // Fifty partitions of an internal topic each cost a start-up more than the tests gain by them.
        ("offsets.topic.num.partitions", "4"),
        ("transaction.state.log.num.partitions", "4"),
        ("log.cleaner.dedupe.buffer.size", "8388608"),
    ])
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// The quorum of a KRaft cluster: one controller beside each broker.
struct Kraft {
    cluster_id: String,
    controllers: Vec<Port>,
    voters: String,
}

impl Kraft {
    fn new(nodes: usize) -> Result<Kraft> {
        let controllers = (0..nodes).map(|_| Port::reserve()).collect::<Result<Vec<Port>>>()?;
        let voter = |(id, port): (usize, &Port)| format!("{id}@127.0.0.1:{}", port.number());
        let voters: Vec<String> = controllers.iter().enumerate().map(voter).collect();
        // A UUID in base64url: 21 free digits, then one whose low four bits are zero.
        let mut random = fastrand::Rng::new();
        let cluster_id: String = (0..21).map(|_| random.alphanumeric()).chain(['Q']).collect();
        Ok(Kraft { cluster_id, controllers, voters: voters.join(",") })
    }

    fn properties(&self, node: &Node, index: usize) -> Vec<(String, String)> {
        let controller = self.controllers.get(index).map_or(0, Port::number);
        pairs(&[
            ("node.id", &node.id().to_string()),
            ("process.roles", "broker,controller"),
            ("listeners", &format!("PLAINTEXT://{},CONTROLLER://127.0.0.1:{controller}", node.address())),
            ("advertised.listeners", &format!("PLAINTEXT://{}", node.address())),
            ("controller.listener.names", "CONTROLLER"),
            ("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"),
            ("controller.quorum.voters", &self.voters),
        ])
    }
}

/// The ZooKeeper of a cluster.
#[derive(Debug)]
struct ZooKeeper {
    _jvm: Guarded,
    port: Port,
}

impl ZooKeeper {
    fn start(distribution: &Distribution, folder: &Path) -> Result<ZooKeeper> {
        let port = Port::reserve()?;
        let config = folder.join("zookeeper.properties");
        // The shortest session that a client may ask for is two ticks.
        let text = format!(
            "dataDir={}\nclientPort={}\nclientPortAddress=127.0.0.1\nmaxClientCnxns=0\ntickTime=500\n",
            folder.join("zookeeper").display(),
            port.number()
        );
        fs::write(&config, text).context(|| format!("writing {}", config.display()))?;
        let log4j = folder.join("zookeeper-log4j.properties");
        fs::write(&log4j, jvm::LOG4J).context(|| format!("writing {}", log4j.display()))?;
        let main = ["org.apache.zookeeper.server.ZooKeeperServerMain"];
        let log4j = log4j.display().to_string();
        let mut command = jvm::java(distribution, JvmProfile::QuickStart, 256, &log4j, &main);
        command.push(config.into());
        let log = folder.join("zookeeper.log");
        let mut jvm = Guarded::spawn("ZooKeeper", &command, &log, &log)?;
        wait::until(Deadline::after(START_WITHIN), "ZooKeeper to answer", || {
            if let Some(status) = jvm.status()? {
                return Err(Failure::new(format!("ZooKeeper ended with {status}")));
            }
            let address = format!("127.0.0.1:{}", port.number());
            Ok(wire::four_letters(&address, "ruok").is_ok_and(|answer| answer == "imok").then_some(()))
        })
        .map_err(|failure| Failure::new(format!("{failure}\n{}", jvm.output())))?;
        Ok(ZooKeeper { _jvm: jvm, port })
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port.number())
    }

    fn properties(&self, node: &Node) -> Vec<(String, String)> {
        let listener = format!("PLAINTEXT://{}", node.address());
        pairs(&[
            ("broker.id", &node.id().to_string()),
            ("listeners", &listener),
            ("advertised.listeners", &listener),
            ("zookeeper.connect", &self.address()),
            ("zookeeper.session.timeout.ms", SESSION_MS),
            ("zookeeper.connection.timeout.ms", "60000"),
        ])
    }

    /// Waits until the entry of a killed broker is gone: one that comes back earlier is refused its own id.
    fn wait_forgotten(&self, id: u32) -> Result {
        let what = format!("ZooKeeper to forget broker {id}");
        let entry = format!("/brokers/ids/{id}");
        wait::until(Deadline::after(START_WITHIN), &what, || {
            let sessions = wire::four_letters(&self.address(), "dump")?;
            Ok((!sessions.lines().any(|line| line.trim() == entry)).then_some(()))
        })
    }
}
