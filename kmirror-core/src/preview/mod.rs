//! What a mirror would do, before it does anything: which topics, where to, on which path, and what stands in the way.
//!
//! ```text
//! both clusters' metadata ─► routes ─┬─► target topics, as a dry run of `topics` finds them ─┐
//!                                    ├─► ledger, if there is one                             ├─► starts ─► samples ─► Preview
//!                                    └─► source logs' ends, the group's offsets ─────────────┘
//! ```
//! [`DryRun`] asks, and changes nothing on either side: the ledger and the logs are read, topics are only checked, and no
//! group is joined or committed to.

mod patterns;
mod routes;
mod starts;
mod sample;

mod machine;
pub use machine::DryRun;

mod errands;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

/// What a mirror would do.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Preview {
    /// The mirror's name.
    pub mirror: String,
    /// The source cluster: its id, or its addresses.
    pub source: String,
    /// The target cluster.
    pub target: String,
    /// Each pattern of the selection, and each rule, with how many topics it is about now.
    pub patterns: Vec<PatternSeen>,
    /// Topics that are selected and never mirrored, because they belong to a cluster itself.
    pub passed_over: Vec<String>,
    /// By source topic.
    pub routes: Vec<RouteSeen>,
    /// What stands in the way of the whole mirror, each with the way out.
    pub obstacles: Vec<String>,
    /// What is worth knowing and stands in nobody's way.
    pub notes: Vec<String>,
}

/// One pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PatternSeen {
    /// As configured.
    pub pattern: String,
    /// What it is for.
    pub role: PatternRole,
    /// How many of the source's topics it is about.
    pub topics: usize,
}

/// What a pattern is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternRole {
    /// Its topics are mirrored.
    Include,
    /// Its topics are not.
    Exclude,
    /// Its topics have a configuration of their own.
    Rule,
    /// It names one topic that has another name on the target.
    Mapping,
}

/// One route.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RouteSeen {
    /// The source's topic.
    pub topic: String,
    /// Its name on the target.
    pub target: String,
    /// Partitions of the source.
    pub partitions: usize,
    /// What becomes of the target's topic.
    pub on_target: OnTarget,
    /// What stands in the way of it, or of some of its links, each with the way out.
    pub obstacles: Vec<String>,
    /// Where its links would start.
    pub starts: Vec<LinkStart>,
    /// Which path its batches take, as far as a sample shows.
    pub sample: Sample,
}

/// What becomes of the target's topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnTarget {
    /// Nobody has said.
    Unknown,
    /// It is there.
    There {
        /// With so many partitions.
        partitions: i32,
    },
    /// It is made.
    Created {
        /// With so many partitions; 0 where the broker decides (0.10.0).
        partitions: i32,
        /// With so many replicas of each.
        replication_factor: i16,
        /// With these settings, by Kafka's names.
        settings: BTreeMap<String, String>,
        /// Without these, and why.
        not_set: BTreeMap<String, String>,
    },
    /// It gets more partitions.
    Grown {
        /// So many are there.
        from: i32,
        /// So many will be.
        to: i32,
    },
}

/// Where a link would start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkStart {
    /// The source partition.
    pub partition: i32,
    /// The source offset.
    pub offset: i64,
    /// Why there.
    pub by: StartBy,
    /// How many offsets lie between it and the source's end.
    pub behind: i64,
}

/// What decides where a link starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StartBy {
    /// The mirror's ledger.
    Ledger,
    /// The group's committed offset.
    Group,
    /// The first record that the source has.
    Earliest,
    /// The source's end.
    Latest,
}

/// What a sample of a route's records shows: the first and the newest batch of some of its partitions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// How many batches were looked at.
    pub batches: usize,
    /// How many records they hold, as far as they are mirrored.
    pub records: u64,
    /// The paths that they take, the commonest first.
    pub paths: Vec<PathSeen>,
    /// Records that the route's filters drop.
    pub filtered: u64,
    /// What the target cannot take, by kind.
    pub losses: Vec<LossSeen>,
}

/// How many batches of a sample take one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathSeen {
    /// `raw`, `restamped`, `rewritten` or `skipped`.
    pub path: &'static str,
    /// Why, where that is not the ordinary way.
    pub why: Option<&'static str>,
    /// How many.
    pub batches: usize,
}

/// Records of a sample that the target cannot take, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LossSeen {
    /// `on_headers`, `on_too_large`, `on_timestamp` or `on_keyless`: the policy that decides.
    pub policy: &'static str,
    /// Whether the link stops in front of them; else they are dropped and counted.
    pub stops: bool,
    /// How many.
    pub records: u64,
    /// The source partition and offset of the first one.
    pub first: (i32, i64),
    /// Why, said of the first one.
    pub why: String,
}

impl Preview {
    /// Whether a run would mirror everything that is selected, as far as can be told.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        self.obstacles.is_empty() && self.routes.iter().all(|route| route.obstacles.is_empty())
    }

    /// Where a topic's route stands: they are in the order of their topics.
    fn position(&self, topic: &str) -> Option<usize> {
        self.routes.binary_search_by(|route| route.topic.as_str().cmp(topic)).ok()
    }

    fn route(&self, topic: &str) -> Option<&RouteSeen> {
        self.routes.get(self.position(topic)?)
    }

    fn route_mut(&mut self, topic: &str) -> Option<&mut RouteSeen> {
        let position = self.position(topic)?;
        self.routes.get_mut(position)
    }
}
