//! Why a target topic cannot be written, each in one sentence with the way out.

use std::fmt;

use kmirror_proto::ErrorCode;

use super::names::NameFault;

/// Why a target topic cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// It is not there, and is not to be created.
    NotThere {
        /// Its name.
        topic: String,
        /// How many partitions the source has.
        partitions: i32,
        /// How many replicas it would get.
        replication_factor: i16,
    },
    /// It is not there, and the brokers (0.10.0) neither have CreateTopics nor create it when its name is asked for.
    NoAutoCreation {
        /// Its name.
        topic: String,
        /// How many partitions the source has.
        partitions: i32,
    },
    /// Its name is none.
    Name {
        /// As the rename gave it.
        topic: String,
        /// What is wrong with it.
        fault: NameFault,
    },
    /// It has fewer partitions than the source, and the brokers (before 1.0) cannot be asked for more.
    TooFewPartitions {
        /// Its name.
        topic: String,
        /// How many the source has.
        source: i32,
        /// How many it has.
        target: i32,
    },
    /// There are fewer brokers than replicas wanted.
    TooFewBrokers {
        /// Its name.
        topic: String,
        /// How many replicas were wanted.
        replication_factor: i16,
        /// How many brokers the target has.
        brokers: usize,
    },
    /// The mirror may not create or change it.
    Unauthorized {
        /// Its name.
        topic: String,
        /// What was to be done.
        what: Change,
        /// The broker's answer.
        code: ErrorCode,
    },
    /// The target refuses it for good.
    Refused {
        /// Its name.
        topic: String,
        /// What was to be done.
        what: Change,
        /// The broker's answer.
        code: ErrorCode,
        /// What the broker had to say about it.
        message: String,
    },
    /// It was created or grown, and the metadata does not show it, or not a leader for each partition.
    NoLeader {
        /// Its name.
        topic: String,
    },
    /// The brokers do not answer, or put it off again and again.
    Unanswered {
        /// Its name.
        topic: String,
        /// What was last heard.
        reason: String,
    },
}

/// What was to be done about a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was to be created.
    Create,
    /// Partitions were to be added.
    Grow,
}

impl Blocked {
    /// Whether the metadata shows when somebody has taken it out of the way.
    pub(super) fn is_seen_in_metadata(&self) -> bool {
        match self {
            Self::NotThere { .. }
            | Self::NoAutoCreation { .. }
            | Self::TooFewPartitions { .. }
            | Self::NoLeader { .. } => true,
            Self::Name { .. }
            | Self::TooFewBrokers { .. }
            | Self::Unauthorized { .. }
            | Self::Refused { .. }
            | Self::Unanswered { .. } => false,
        }
    }

    /// Whether the partitions that are there can be written all the same.
    pub(super) fn is_of_growth(&self) -> bool {
        match self {
            Self::TooFewPartitions { .. } => true,
            Self::Unauthorized { what, .. } | Self::Refused { what, .. } => *what == Change::Grow,
            Self::NotThere { .. }
            | Self::NoAutoCreation { .. }
            | Self::Name { .. }
            | Self::TooFewBrokers { .. }
            | Self::NoLeader { .. }
            | Self::Unanswered { .. } => false,
        }
    }

    /// Whether it says the same to a reader, so that it is not worth being said again.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            // The words for one trouble differ from try to try.
            (Self::Unanswered { .. }, Self::Unanswered { .. }) => true,
            (this, other) => this == other,
        }
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThere { topic, partitions, replication_factor } => write!(
                f,
                "the target has no topic {topic}, and create = false: create it there (kafka-topics.sh --create --topic {topic} \
                 --partitions {partitions} --replication-factor {replication_factor}), or set create to true"
            ),
            Self::NoAutoCreation { topic, partitions } => write!(
                f,
                "the target has no topic {topic}, and its brokers (0.10.0) create none unless auto.create.topics.enable=true: \
                 create it there (kafka-topics.sh --zookeeper HOST:2181 --create --topic {topic} --partitions {partitions} \
                 --replication-factor 1)"
            ),
            Self::Name { topic, fault } => write!(
                f,
                "{:?} cannot be a topic's name on the target: {fault}: change the rename rule or the mapping",
                topic.chars().take(NAME_SHOWN_MAX).collect::<String>()
            ),
            Self::TooFewPartitions { topic, source, target } => write!(
                f,
                "the target's topic {topic} has {target} partitions, the source's has {source}, and brokers before 1.0 cannot \
                 be asked to add some: add them there (kafka-topics.sh --zookeeper HOST:2181 --alter --topic {topic} \
                 --partitions {source})"
            ),
            Self::TooFewBrokers { topic, replication_factor, brokers } => write!(
                f,
                "the target's topic {topic} cannot be created with {replication_factor} replicas: the target has {brokers} \
                 brokers: lower replication_factor, or start more brokers"
            ),
            Self::Unauthorized { topic, what: Change::Create, code } => write!(
                f,
                "the target does not let the mirror create topic {topic}: {code}: grant it CREATE on the topic or the cluster, \
                 or create the topic by hand"
            ),
            Self::Unauthorized { topic, what: Change::Grow, code } => write!(
                f,
                "the target does not let the mirror add partitions to topic {topic}: {code}: grant it ALTER on the topic, or \
                 add them by hand"
            ),
            Self::Refused { topic, what, code, message } => {
                write!(f, "the target refuses {what} topic {topic}: {code}")?;
                if !message.is_empty() {
                    write!(f, ": {message}")?;
                }
                f.write_str("; what stands in the way has to be changed there, or the topic made by hand")
            }
            Self::NoLeader { topic } => write!(
                f,
                "the target's topic {topic} is there by its controller's word, and the metadata does not show a leader for each of \
                 its partitions: see whether all brokers of the target are up"
            ),
            Self::Unanswered { topic, reason } => {
                write!(f, "the target's topic {topic} cannot be prepared yet: {reason}; it is tried again and again")
            }
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "to create",
            Self::Grow => "to add partitions to",
        })
    }
}

/// How much of a name is shown that is none: it may be as long as a rename makes it.
const NAME_SHOWN_MAX: usize = 300;
