//! The view of a cluster: brokers, topics, partitions, leaders. Built up from Metadata answers, none of which is taken
//! at its word.
//!
//! ```text
//! answer ──► usable at all? ──no──► rejected, the old view stands
//!              │ yes                 (no broker, another cluster, too large)
//!              ▼
//!            part by part: taken ── or open: the old part is kept, and the cluster is asked again soon
//!                                   (no leader, a leader that is no broker, a passing error, left out)
//! ```
//! A proxy may name no brokers, a broker that has just started or lags behind may leave out what is new, an election
//! leaves a partition without leader for a while (report B44). None of this takes anything from a partition that the
//! answer did describe.

use std::collections::BTreeMap;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{MetadataBroker, MetadataPartition, MetadataResponse, MetadataTopic};

use super::limits::{ABSENT_ANSWERS_MAX, BROKERS_MAX, HOST_BYTES_MAX, PARTITIONS_MAX, TOPIC_BYTES_MAX};

/// The view of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The cluster's id, from 0.10.1 on.
    pub cluster_id: Option<String>,
    /// The broker that is the controller, if one is named.
    pub controller: Option<i32>,
    /// The brokers by node id.
    pub brokers: BTreeMap<i32, Broker>,
    /// The topics by name; internal ones too.
    pub topics: BTreeMap<String, Topic>,
    /// Grows with each answer that changed anything; 0 until the first one.
    pub generation: u64,
    /// What answers have left out, and how often in a row. A key without a partition is a whole topic.
    absent: BTreeMap<(String, Option<i32>), u8>,
}

/// Where a broker listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broker {
    /// As advertised: printable, not empty, at most 255 bytes.
    pub host: String,
    /// As advertised: never 0.
    pub port: u16,
    /// `broker.rack`, from 0.10.0 on.
    pub rack: Option<String>,
}

/// A topic.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topic {
    /// Its id, from 2.8 on; else zeros. Another id under the same name is another topic.
    pub id: [u8; 16],
    /// Whether the broker calls it internal.
    pub internal: bool,
    /// Its partitions by index.
    pub partitions: BTreeMap<i32, Partition>,
}

impl Topic {
    /// The most replicas that a partition of it has, 1 where none is known.
    #[must_use]
    pub fn replicas_max(&self) -> usize {
        self.partitions.values().map(|partition| partition.replicas).max().unwrap_or(1)
    }
}

/// A partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The last leader heard of; `None` if never one. [`Metadata::leader`] says whether it is a broker now.
    pub leader: Option<i32>,
    /// The leader's epoch, from 2.1 on; else -1.
    pub leader_epoch: i32,
    /// How many replicas it is assigned to.
    pub replicas: usize,
}

/// What an answer did to the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Update {
    /// Anything is different now.
    pub(super) changed: bool,
    /// Nothing is left open: no need to ask again soon.
    pub(super) settled: bool,
}

impl Metadata {
    /// The broker that leads a partition; `None` if there is none known now.
    #[must_use]
    pub fn leader(&self, topic: &str, partition: i32) -> Option<i32> {
        let leader = self.topics.get(topic)?.partitions.get(&partition)?.leader?;
        self.brokers.contains_key(&leader).then_some(leader)
    }

    /// Takes an answer for all topics in.
    ///
    /// # Errors
    /// Why the answer is not believed; nothing has changed then.
    pub(super) fn update(&mut self, answer: MetadataResponse) -> Result<Update, String> {
        self.check(&answer)?;
        let mut settled = true;
        let brokers = read_brokers(answer.brokers, &self.brokers, &mut settled)?;
        let mut absent = BTreeMap::new();
        let mut topics = BTreeMap::new();
        for topic in answer.topics {
            let old = self.topics.get(&topic.name);
            if let Some((name, topic)) = read_topic(topic, old, &brokers, &mut settled) {
                let topic = match old.filter(|old| old.id == topic.id) {
                    Some(old) => self.keep_absent_partitions(&name, topic, old, &mut absent),
                    None => topic,
                };
                topics.insert(name, topic);
            }
        }
        self.keep_absent_topics(&mut topics, &mut absent);
        settled &= absent.is_empty();

        let cluster_id = answer.cluster_id.or_else(|| self.cluster_id.take());
        let controller = brokers.contains_key(&answer.controller_id).then_some(answer.controller_id);
        let next = Self { cluster_id, controller, brokers, topics, generation: self.generation, absent };
        let changed = self.generation == 0
            || (&next.controller, &next.brokers, &next.topics) != (&self.controller, &self.brokers, &self.topics);
        *self = next;
        self.generation += u64::from(changed);
        Ok(Update { changed, settled })
    }

    fn check(&self, answer: &MetadataResponse) -> Result<(), String> {
        if let (Some(known), Some(named)) = (&self.cluster_id, &answer.cluster_id)
            && known != named
        {
            return Err(format!("metadata of another cluster: {} instead of {known}", named.escape_debug()));
        }
        if answer.brokers.len() > BROKERS_MAX {
            return Err(format!("metadata: {} brokers, at most {BROKERS_MAX} are believed", answer.brokers.len()));
        }
        let partitions: usize = answer.topics.iter().map(|topic| topic.partitions.len()).sum();
        if partitions > PARTITIONS_MAX {
            return Err(format!("metadata: {partitions} partitions, at most {PARTITIONS_MAX} are believed"));
        }
        Ok(())
    }

    fn keep_absent_topics(
        &self,
        topics: &mut BTreeMap<String, Topic>,
        absent: &mut BTreeMap<(String, Option<i32>), u8>,
    ) {
        for (name, old) in &self.topics {
            if !topics.contains_key(name) && self.still_kept(name, None, absent) {
                topics.insert(name.clone(), old.clone());
            }
        }
    }

    fn keep_absent_partitions(
        &self,
        name: &str,
        mut topic: Topic,
        old: &Topic,
        absent: &mut BTreeMap<(String, Option<i32>), u8>,
    ) -> Topic {
        for (&index, &partition) in &old.partitions {
            if !topic.partitions.contains_key(&index) && self.still_kept(name, Some(index), absent) {
                topic.partitions.insert(index, partition);
            }
        }
        topic
    }

    /// Counts one more answer that left this out; false once it has been left out often enough to be gone.
    fn still_kept(&self, name: &str, partition: Option<i32>, absent: &mut BTreeMap<(String, Option<i32>), u8>) -> bool {
        let key = (name.to_owned(), partition);
        let times = self.absent.get(&key).map_or(1, |times| times + 1);
        if times >= ABSENT_ANSWERS_MAX {
            return false;
        }
        absent.insert(key, times);
        true
    }
}

/// The brokers of an answer. One without a usable address keeps its old one; of two with one id the first counts.
fn read_brokers(
    named: Vec<MetadataBroker>,
    old: &BTreeMap<i32, Broker>,
    settled: &mut bool,
) -> Result<BTreeMap<i32, Broker>, String> {
    let mut brokers = BTreeMap::new();
    for MetadataBroker { node_id, host, port, rack, .. } in named {
        let port = u16::try_from(port).ok().filter(|&port| port != 0 && is_host(&host));
        let broker = match (port, old.get(&node_id)) {
            (Some(port), _) => Broker { host, port, rack },
            (None, Some(old)) => {
                *settled = false;
                old.clone()
            }
            (None, None) => {
                *settled = false;
                continue;
            }
        };
        if node_id >= 0 {
            brokers.entry(node_id).or_insert(broker);
        }
    }
    if brokers.is_empty() { Err("metadata: no broker with a usable address".to_owned()) } else { Ok(brokers) }
}

/// A topic of an answer; `None` if it says that there is no such topic (or none that could be one).
fn read_topic(
    topic: MetadataTopic,
    old: Option<&Topic>,
    brokers: &BTreeMap<i32, Broker>,
    settled: &mut bool,
) -> Option<(String, Topic)> {
    let MetadataTopic { error_code, name, topic_id, is_internal, partitions, .. } = topic;
    if !is_topic_name(&name) || error_code == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION {
        return None;
    }
    if !error_code.is_ok() {
        *settled &= !error_code.is_retriable();
        return old.map(|old| (name, old.clone()));
    }
    let old = old.filter(|old| old.id == topic_id);
    let mut read = BTreeMap::new();
    for partition in partitions {
        let index = partition.partition_index;
        if index >= 0 {
            let known = old.and_then(|old| old.partitions.get(&index));
            read.entry(index).or_insert_with(|| read_partition(&partition, known, brokers, settled));
        }
    }
    Some((name, Topic { id: topic_id, internal: is_internal, partitions: read }))
}

/// A partition of an answer. Only the leader matters: an error such as "replica not available" beside a leader is
/// about somebody else.
fn read_partition(
    partition: &MetadataPartition,
    old: Option<&Partition>,
    brokers: &BTreeMap<i32, Broker>,
    settled: &mut bool,
) -> Partition {
    let replicas = partition.replica_nodes.len();
    if brokers.contains_key(&partition.leader_id) {
        return Partition { leader: Some(partition.leader_id), leader_epoch: partition.leader_epoch, replicas };
    }
    *settled = false;
    old.copied().unwrap_or(Partition { leader: None, leader_epoch: -1, replicas })
}

/// Whether this can be a host's name or address. What is not printable would end up in logs and on terminals.
fn is_host(host: &str) -> bool {
    !host.is_empty() && host.len() <= HOST_BYTES_MAX && host.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether a broker would accept this as a topic's name (Java: `org.apache.kafka.common.internals.Topic`).
fn is_topic_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= TOPIC_BYTES_MAX
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::script::{broker, leaders, metadata};

    fn view(answer: MetadataResponse) -> Metadata {
        let mut view = Metadata::default();
        assert_eq!(view.update(answer), Ok(Update { changed: true, settled: true }));
        view
    }

    fn two_brokers() -> Vec<MetadataBroker> {
        vec![broker(1, "a", 9092), broker(2, "b", 9092)]
    }

    #[test]
    fn the_same_answer_twice_changes_nothing() {
        let answer = metadata(two_brokers(), vec![leaders("t", &[1, 2])]);
        let mut view = view(answer.clone());
        assert_eq!((view.leader("t", 0), view.leader("t", 1), view.leader("t", 2)), (Some(1), Some(2), None));
        assert_eq!(view.update(answer), Ok(Update { changed: false, settled: true }));
        assert_eq!(view.generation, 1);
    }

    #[test]
    fn a_leader_moves() {
        let mut view = view(metadata(two_brokers(), vec![leaders("t", &[1])]));
        let update = view.update(metadata(two_brokers(), vec![leaders("t", &[2])]));
        assert_eq!(update, Ok(Update { changed: true, settled: true }));
        assert_eq!((view.leader("t", 0), view.generation), (Some(2), 2));
    }

    #[test]
    fn an_answer_without_brokers_is_a_proxys_and_takes_nothing() {
        let mut view = view(metadata(two_brokers(), vec![leaders("t", &[1])]));
        let before = view.clone();
        assert!(view.update(metadata(vec![], vec![])).is_err());
        assert_eq!(view, before);
    }

    #[test]
    fn a_partition_without_leader_keeps_its_old_one_and_its_neighbours_move_on() {
        let mut view = view(metadata(two_brokers(), vec![leaders("t", &[1, 1])]));
        let update = view.update(metadata(two_brokers(), vec![leaders("t", &[-1, 2])]));
        assert_eq!(update, Ok(Update { changed: true, settled: false }));
        assert_eq!((view.leader("t", 0), view.leader("t", 1)), (Some(1), Some(2)));
    }

    #[test]
    fn a_leader_that_is_no_broker_is_no_leader() {
        let mut view = Metadata::default();
        let update = view.update(metadata(two_brokers(), vec![leaders("t", &[7])]));
        assert_eq!(update, Ok(Update { changed: true, settled: false }));
        assert_eq!(view.leader("t", 0), None);
        // The old leader's broker goes away with it: what is kept must not be handed out.
        let mut view = view_of_dead_leader();
        assert_eq!(view.leader("t", 0), None);
        assert!(view.update(metadata(two_brokers(), vec![leaders("t", &[-1])])).is_ok());
        assert_eq!(view.leader("t", 0), Some(2), "it is back");
    }

    fn view_of_dead_leader() -> Metadata {
        let mut view = view(metadata(two_brokers(), vec![leaders("t", &[2])]));
        let update = view.update(metadata(vec![broker(1, "a", 9092)], vec![leaders("t", &[-1])]));
        assert_eq!(update, Ok(Update { changed: true, settled: false }));
        view
    }

    #[test]
    fn a_passing_error_keeps_the_topic() {
        let mut view = view(metadata(two_brokers(), vec![leaders("t", &[1])]));
        for (code, settled) in [(5, false), (29, true)] {
            let mut topic = leaders("t", &[]);
            topic.error_code = ErrorCode(code);
            let update = view.update(metadata(two_brokers(), vec![topic]));
            assert_eq!(update, Ok(Update { changed: false, settled }), "error {code}");
            assert_eq!(view.leader("t", 0), Some(1));
        }
    }

    #[test]
    fn a_stale_broker_that_leaves_out_what_is_new_is_not_believed_at_once() {
        let full = metadata(two_brokers(), vec![leaders("new", &[1]), leaders("t", &[1, 2])]);
        let stale = metadata(two_brokers(), vec![leaders("t", &[1])]);
        let mut view = view(full.clone());
        for _ in 0..2 {
            for _ in 1..ABSENT_ANSWERS_MAX {
                assert_eq!(view.update(stale.clone()), Ok(Update { changed: false, settled: false }));
            }
            assert_eq!(
                view.update(full.clone()),
                Ok(Update { changed: false, settled: true }),
                "the count begins again"
            );
        }
    }

    #[test]
    fn topics_and_partitions_that_stay_away_are_gone() {
        let mut view = view(metadata(two_brokers(), vec![leaders("old", &[1]), leaders("t", &[1, 2])]));
        let answer = metadata(two_brokers(), vec![leaders("t", &[1])]);
        let updates: Vec<_> = (0..3).map(|_| view.update(answer.clone()).unwrap()).collect();
        assert_eq!(updates[2], Update { changed: true, settled: true });
        assert_eq!(view.topics.keys().collect::<Vec<_>>(), ["t"]);
        assert_eq!(view.topics["t"].partitions.len(), 1);
    }

    #[test]
    fn a_recreated_topic_inherits_nothing() {
        let mut view = view(metadata(two_brokers(), vec![leaders("t", &[1, 1, 1])]));
        let mut again = leaders("t", &[-1]);
        again.topic_id = [9; 16];
        assert!(view.update(metadata(two_brokers(), vec![again])).is_ok());
        assert_eq!((view.topics["t"].partitions.len(), view.leader("t", 0)), (1, None));
    }

    #[test]
    fn senseless_brokers_and_names_are_left_out() {
        let brokers = vec![
            broker(1, "a", 9092),
            broker(1, "twice", 9092),
            broker(2, "b", 0),
            broker(3, "c", 70_000),
            broker(4, "\u{1b}[2J", 9092),
            broker(5, "", 9092),
            broker(-7, "negative", 9092),
        ];
        let mut view = Metadata::default();
        let topics = vec![leaders("../../etc", &[1]), leaders("", &[1]), leaders("t", &[1])];
        assert_eq!(view.update(metadata(brokers, topics)), Ok(Update { changed: true, settled: false }));
        assert_eq!(view.brokers.keys().collect::<Vec<_>>(), [&1]);
        assert_eq!(view.brokers[&1].host, "a");
        assert_eq!(view.topics.keys().collect::<Vec<_>>(), ["t"]);
    }

    #[test]
    fn another_cluster_behind_the_same_address_is_refused() {
        let mut ours = metadata(two_brokers(), vec![leaders("t", &[1])]);
        ours.cluster_id = Some("ours".to_owned());
        let mut view = view(ours.clone());
        let mut theirs = ours.clone();
        theirs.cluster_id = Some("theirs".to_owned());
        assert!(view.update(theirs).unwrap_err().contains("theirs instead of ours"));
        ours.cluster_id = None; // 0.10.0 has none
        assert!(view.update(ours).is_ok());
        assert_eq!(view.cluster_id.as_deref(), Some("ours"));
    }

    #[test]
    fn a_view_of_a_million_and_one_partitions_is_refused() {
        let topic = leaders("t", &vec![1; PARTITIONS_MAX + 1]);
        assert!(Metadata::default().update(metadata(two_brokers(), vec![topic])).is_err());
    }
}
