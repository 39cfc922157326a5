//! Why a whole mirror ends badly, each in one sentence with the way out.

use thiserror::Error;

use crate::config::Side;

/// Why a mirror ended badly.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MirrorError {
    /// No broker of a cluster answers.
    #[error(
        "{side} cluster {bootstrap}: no broker answers ({last}): check bootstrap.servers and that the cluster is up"
    )]
    Unreachable {
        /// Which cluster.
        side: Side,
        /// Its configured addresses.
        bootstrap: String,
        /// The last thing that went wrong.
        last: String,
    },
    /// Source and target are one cluster, and a topic would be copied into itself.
    #[error(
        "source and target are the same cluster ({cluster}): topic {topic} would be copied into itself: check \
         bootstrap.servers of both files"
    )]
    SameCluster {
        /// Its id, or the addresses of its brokers.
        cluster: String,
        /// The first topic that matches.
        topic: String,
    },
    /// No topic of the source matches.
    #[error(
        "source cluster {cluster}: no topic matches {pattern}: the whole name must match; {topics} topics are there"
    )]
    NothingMatches {
        /// The source's id or addresses.
        cluster: String,
        /// As configured.
        pattern: String,
        /// How many topics the source has.
        topics: usize,
    },
    /// The ledger's topic cannot be used.
    #[error(
        "target topic {topic}: the ledger cannot be used: {reason}: create it by hand (kafka-topics.sh --create --topic \
         {topic} --partitions 1 --config cleanup.policy=compact), or grant CREATE on it"
    )]
    Ledger {
        /// Its name.
        topic: String,
        /// Why.
        reason: String,
    },
    /// Somebody else consumes with the mirror's group id.
    #[error(
        "source group {group} has live members: is MirrorMaker still running? stop it first; nothing is mirrored twice \
         afterwards"
    )]
    GroupAlive {
        /// The group.
        group: String,
    },
    /// The source's group cannot be asked where it is.
    #[error("source group {group}: its committed offsets cannot be read: {reason}: grant READ on the group")]
    Group {
        /// The group.
        group: String,
        /// Why.
        reason: String,
    },
    /// The target refuses a batch for good, and the mirror is configured to stop then.
    #[error("{link}: {reason} (abort.on.send.failure=true)")]
    SendFailure {
        /// `topic-partition`.
        link: String,
        /// Why, and the way out.
        reason: String,
    },
    /// Links stand still for good.
    #[error("{stopped} of {links} links could not be mirrored; the first: {first}")]
    LinksStopped {
        /// How many.
        stopped: usize,
        /// Of how many.
        links: usize,
        /// The first one, why, and the way out.
        first: String,
    },
    /// The runtime could not be set up.
    #[error("cannot start: {0}")]
    Runtime(String),
}
