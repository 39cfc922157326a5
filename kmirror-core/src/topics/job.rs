//! One target topic on its way: what is known of it, and what that asks for next.

use std::time::Duration;

use super::blocked::{Blocked, Change};
use super::settings::{Blueprint, Dialect, Settings, blueprint, is_compacted, is_wide, limits};
use super::{TopicEvent, Wanted, names};
use crate::client::Metadata;
use crate::clock::{Now, Tick};
use crate::config::PartitionPolicy;
use crate::plan::TopicLimits;

/// What brokers can be asked about topics.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speech {
    /// CreateTopics (0.10.1).
    pub(super) creates: bool,
    /// CreateTopics that only checks (0.10.2).
    pub(super) validates: bool,
    /// CreatePartitions (1.0).
    pub(super) grows: bool,
    /// DescribeConfigs (0.11).
    pub(super) describes: bool,
    pub(super) dialect: Dialect,
}

/// Both clusters as they are now.
pub(super) struct Clusters<'a> {
    pub(super) target: &'a Metadata,
    pub(super) target_speech: Speech,
    pub(super) source_speech: Speech,
    /// Nothing is changed, only said.
    pub(super) dry: bool,
}

/// What a job wants to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    /// The settings of the source's topic.
    Source,
    /// The settings of the target's topic.
    Target,
    /// CreateTopics.
    Create,
    /// CreatePartitions.
    Grow,
    /// Metadata by name: 0.10.0 creates what it is asked for.
    Summon,
}

/// What follows from what is known.
#[derive(Debug)]
pub(super) enum Next {
    /// It can be written, with so many partitions.
    Ready(i32),
    Ask(Need),
    /// What it has of partitions can be written, while more cannot be had.
    Partly(i32),
    /// Only said, not done: a dry run where the broker checks nothing.
    Pretend(Need),
    /// The metadata does not show yet what was made.
    Wait,
    /// What was made is there, with so many partitions and replicas.
    Shown(i32, usize),
    /// What was made did not show up in time.
    Late,
    /// It is not there, and a broker that has just begun may not know it yet.
    Missing(Blocked),
    Block(Blocked),
}

/// What is known of a topic's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Nobody was asked.
    Unasked,
    /// Nobody says.
    Unknown,
    Read(Settings),
}

/// What was asked for and accepted, and is not seen yet.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) need: Need,
    /// How many partitions there were.
    pub(super) from: i32,
    /// How many there are to be.
    pub(super) partitions: i32,
    /// How it was created, if by us.
    pub(super) blueprint: Option<Blueprint>,
    /// Until when it should be seen.
    pub(super) by: Tick,
}

/// One target topic.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) wanted: Wanted,
    pub(super) source: Known,
    pub(super) target: Known,
    pub(super) made: Option<Made>,
    /// A dry run: what it would have.
    pub(super) pretended: Option<i32>,
    /// How it is to be created, while the target is asked.
    pub(super) draft: Option<Blueprint>,
    /// How many partitions it had when more were asked for, and how many were asked for.
    pub(super) had: i32,
    pub(super) asks: i32,
    /// A question about it is out.
    pub(super) asked: bool,
    pub(super) retry_at: Tick,
    /// Tries in a row that brought nothing.
    pub(super) tries: u32,
    /// Why the partitions that it lacks cannot be had, before that is said.
    pub(super) no_growth: Option<Blocked>,
    /// What was last said to stand in the way.
    pub(super) blocked: Option<Blocked>,
    /// Times in a row that it was blocked.
    pub(super) blocks: u32,
    /// What was last said of its partitions.
    pub(super) told: Option<i32>,
    /// Settings that the target refused, and why.
    left_out: Vec<(String, String)>,
    /// The setting that is left out of the try under way, to see whether it is the one that is refused.
    suspect: Option<usize>,
}

impl Job {
    pub(super) fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            source: Known::Unasked,
            target: Known::Unasked,
            made: None,
            pretended: None,
            draft: None,
            had: 0,
            asks: 0,
            asked: false,
            retry_at: Tick::ZERO,
            tries: 0,
            no_growth: None,
            blocked: None,
            blocks: 0,
            told: None,
            left_out: Vec::new(),
            suspect: None,
        }
    }

    /// What is wanted has changed. What was learned of the settings stays, unless it is of another topic.
    pub(super) fn change(&mut self, wanted: Wanted) {
        if self.wanted.source != wanted.source {
            self.source = Known::Unasked;
        }
        if self.wanted.config != wanted.config {
            (self.left_out, self.suspect) = (Vec::new(), None);
        }
        self.wanted = wanted;
        (self.told, self.blocked, self.no_growth, self.pretended) = (None, None, None, None);
        (self.tries, self.retry_at) = (0, Tick::ZERO);
    }

    /// A try brought nothing: the next one is made after a wait that grows with their number.
    pub(super) fn pause(&mut self, now: Now, backoff: Duration) {
        self.retry_at = now.after(backoff.saturating_mul(1 << self.tries.min(10)).min(PAUSE_MAX));
        self.tries = self.tries.saturating_add(1);
    }

    /// Whether new metadata may end the wait.
    pub(super) fn is_seen_in_metadata(&self) -> bool {
        self.made.is_some() || self.blocked.as_ref().is_some_and(Blocked::is_seen_in_metadata)
    }

    /// What to do next.
    pub(super) fn next(&self, now: Now, clusters: &Clusters<'_>) -> Next {
        let name = &self.wanted.target;
        if let Some(fault) = names::fault(name) {
            return Next::Block(Blocked::Name { topic: name.clone(), fault });
        }
        if let Some(partitions) = self.pretended {
            return self.settings_read(partitions, clusters);
        }
        let there = clusters.target.topics.get(name);
        let count = there.map_or(0, |topic| count(topic.partitions.len()));
        if let Some(made) = &self.made {
            let led = (0..made.partitions).all(|partition| clusters.target.leader(name, partition).is_some());
            let replicas = there.and_then(|topic| topic.partitions.get(&0)).map_or(0, |first| first.replicas);
            return match led && count >= made.partitions {
                true => Next::Shown(count, replicas),
                false if now.tick >= made.by => Next::Late,
                false => Next::Wait,
            };
        }
        if count == 0 {
            return self.absent(clusters);
        }
        if count >= self.wanted.partitions || self.wanted.config.partitions != PartitionPolicy::Grow {
            return self.settings_read(count, clusters);
        }
        let too_few = (!clusters.target_speech.grows).then(|| {
            let (topic, source) = (name.clone(), self.wanted.partitions);
            Blocked::TooFewPartitions { topic, source, target: count }
        });
        match self.no_growth.clone().or(too_few) {
            None => Next::Ask(Need::Grow),
            // The partitions that are there need not wait for the others.
            Some(_) if self.told != Some(count) => self.unread(clusters).map_or(Next::Partly(count), Next::Ask),
            Some(why) => Next::Block(why),
        }
    }

    fn absent(&self, clusters: &Clusters<'_>) -> Next {
        let speech = clusters.target_speech;
        if !self.wanted.config.creation.create {
            let brokers = clusters.target.brokers.len();
            let replication_factor = blueprint(&self.wanted, None, brokers, speech.dialect).replication_factor;
            let (topic, partitions) = (self.wanted.target.clone(), self.wanted.partitions);
            return Next::Missing(Blocked::NotThere { topic, partitions, replication_factor });
        }
        if self.source == Known::Unasked && clusters.source_speech.describes {
            return Next::Ask(Need::Source);
        }
        match (speech.creates, clusters.dry) {
            (true, true) if !speech.validates => Next::Pretend(Need::Create),
            (true, _) => Next::Ask(Need::Create),
            (false, true) => Next::Pretend(Need::Summon),
            (false, false) => Next::Ask(Need::Summon),
        }
    }

    /// Ready, once the settings that matter are read.
    fn settings_read(&self, partitions: i32, clusters: &Clusters<'_>) -> Next {
        self.unread(clusters).map_or(Next::Ready(partitions), Next::Ask)
    }

    /// Settings that matter and are not read.
    fn unread(&self, clusters: &Clusters<'_>) -> Option<Need> {
        if self.target == Known::Unasked && clusters.target_speech.describes {
            return Some(Need::Target);
        }
        let compacted = self.target.settings().is_some_and(is_compacted);
        (compacted && self.source == Known::Unasked && clusters.source_speech.describes).then_some(Need::Source)
    }

    /// What the target's topic takes.
    pub(super) fn limits(&self) -> TopicLimits {
        self.target.settings().map(|target| limits(target, self.source.settings())).unwrap_or_default()
    }

    /// What the topic is created with now: without what the target has refused.
    pub(super) fn blueprint(&self, brokers: usize, dialect: Dialect) -> Blueprint {
        let mut made = blueprint(&self.wanted, self.source.settings(), brokers, dialect);
        for (name, why) in &self.left_out {
            made.settings.remove(name);
            made.not_set.push((name.clone(), why.clone()));
        }
        let suspect = self.suspect.and_then(|at| self.suspects(&made.settings).into_iter().nth(at));
        if let Some(suspect) = suspect {
            made.settings.remove(&suspect);
            made.not_set.push((suspect, "the target refuses it, and does not say why".to_owned()));
        }
        made
    }

    /// The target refuses a setting: it is left out, if the message names it, else each in turn, then all that are
    /// configured, and at last all.
    /// `false` if there is nothing left to leave out.
    pub(super) fn leave_out(&mut self, brokers: usize, dialect: Dialect, message: &str) -> bool {
        let settings = blueprint(&self.wanted, self.source.settings(), brokers, dialect).settings;
        let left: Settings =
            settings.into_iter().filter(|(name, _)| !self.left_out.iter().any(|(out, _)| out == name)).collect();
        if let Some(name) = named(message, left.keys()) {
            self.left_out.push((name, message.to_owned()));
            self.suspect = None;
            return true;
        }
        let suspects = self.suspects(&left);
        let at = self.suspect.map_or(0, |at| at + 1);
        if at < suspects.len() {
            self.suspect = Some(at);
            return true;
        }
        // Several are refused: what was configured goes first, what the source has has been accepted by a broker before.
        let configured = |name: &&String| self.wanted.config.creation.settings.contains_key(*name);
        let mut out: Vec<String> = suspects.iter().filter(configured).cloned().collect();
        if out.is_empty() {
            out = suspects;
        }
        self.suspect = None;
        let why = "the target refuses some of the settings together, and does not say which";
        let any = !out.is_empty();
        self.left_out.extend(out.into_iter().map(|name| (name, why.to_owned())));
        any
    }

    /// What may be the refused one, the likeliest first: what was configured for the target comes before what a broker
    /// has accepted once already.
    fn suspects(&self, settings: &Settings) -> Vec<String> {
        let configured = &self.wanted.config.creation.settings;
        let (mut first, rest): (Vec<_>, Vec<_>) =
            settings.keys().cloned().partition(|name| configured.contains_key(name));
        first.extend(rest);
        first
    }

    /// What was made is there, or would be.
    pub(super) fn shown(&mut self, made: Made, partitions: i32, replicas: usize) -> Option<TopicEvent> {
        let target = self.wanted.target.clone();
        match (made.need, made.blueprint) {
            (Need::Grow, _) => Some(TopicEvent::Grown { target, from: made.from, to: partitions }),
            (Need::Create, Some(by)) => Some(TopicEvent::Created {
                target,
                partitions,
                replication_factor: by.replication_factor,
                settings: by.settings.into_iter().collect(),
                not_set: by.not_set,
            }),
            (Need::Summon, Some(by)) => {
                let why = "brokers of 0.10.0 create topics with their own settings only";
                let configured = &self.wanted.config.creation.settings;
                // Wide limits for timestamps are nobody's wish by themselves.
                let missed = |name: &String| !is_wide(name) || configured.contains_key(name);
                let not_set = by.settings.into_keys().filter(missed).map(|name| (name, why.to_owned()));
                Some(TopicEvent::Created {
                    target,
                    partitions,
                    replication_factor: i16::try_from(replicas).unwrap_or(i16::MAX),
                    settings: Vec::new(),
                    not_set: not_set.collect(),
                })
            }
            (Need::Create | Need::Summon, None) | (Need::Source | Need::Target, _) => None,
        }
    }

    /// Why what was made does not show up.
    pub(super) fn late(&self, made: &Made) -> Blocked {
        let topic = self.wanted.target.clone();
        match made.need {
            Need::Summon => Blocked::NoAutoCreation { topic, partitions: self.wanted.partitions },
            Need::Source | Need::Target | Need::Create | Need::Grow => Blocked::NoLeader { topic },
        }
    }

    /// What is to be said of a change that the target refuses for good.
    pub(super) fn refused(&self, what: Change, code: kmirror_proto::ErrorCode, message: &str) -> Blocked {
        Blocked::Refused { topic: self.wanted.target.clone(), what, code, message: message.to_owned() }
    }
}

impl Known {
    pub(super) fn settings(&self) -> Option<&Settings> {
        match self {
            Self::Read(settings) => Some(settings),
            Self::Unasked | Self::Unknown => None,
        }
    }
}

/// The longest wait between two tries that brought nothing.
const PAUSE_MAX: Duration = Duration::from_secs(2);

pub(super) fn count(partitions: usize) -> i32 {
    i32::try_from(partitions).unwrap_or(i32::MAX)
}

/// The setting that a broker's message is about: "Unknown topic config name: x", "Invalid value 7 for configuration x: …".
/// Of several the longest, because one name may be part of another.
fn named<'a>(message: &str, names: impl Iterator<Item = &'a String>) -> Option<String> {
    let part_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let words: Vec<&str> = message
        .split(|c| !part_of_name(c))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| word.len() > 1)
        .collect();
    names.filter(|name| words.contains(&name.as_str())).max_by_key(|name| name.len()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_that_a_broker_complains_about() {
        let names: Vec<String> = ["retention.ms", "delete.retention.ms", "frobnicate"].map(str::to_owned).into();
        let found = |message| named(message, names.iter());
        // As 0.10.2 … 4.4 say it (measured).
        let invalid = "Invalid value abc for configuration retention.ms: Not a number of type LONG";
        assert_eq!(found(invalid).as_deref(), Some("retention.ms"));
        assert_eq!(found("Unknown topic config name: frobnicate").as_deref(), Some("frobnicate"));
        assert_eq!(found("Unknown Log configuration frobnicate.").as_deref(), Some("frobnicate"));
        assert_eq!(found("Invalid value for delete.retention.ms").as_deref(), Some("delete.retention.ms"));
        assert_eq!(found("something went wrong"), None);
        assert_eq!(found(""), None);
    }
}
