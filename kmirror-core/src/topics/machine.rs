//! The machine: which topics are wanted, which questions are out, and what came of them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem;
use std::time::Duration;

use super::job::{Clusters, Job, Known, Made, Need, Next};
use super::{Blocked, TopicEvent, Wanted};
use crate::client::{CallId, Client, Reply};
use crate::clock::{Now, Tick, earliest};
use crate::config::Side;

/// Sees to it that the target has the topics that are wanted; see the [module](super).
#[derive(Debug)]
pub struct Topics {
    pub(super) timeout: Duration,
    pub(super) backoff: Duration,
    /// Nothing is changed: what would be is checked by the target, if it can, and said.
    pub(super) dry: bool,
    /// By the target's name.
    pub(super) jobs: BTreeMap<String, Job>,
    /// Those that something is still to be done for.
    pub(super) open: BTreeSet<String>,
    /// Calls are numbered by each client for itself.
    pub(super) calls: BTreeMap<(Side, CallId), Question>,
    /// Sides whose unknown settings have been told of.
    told_unknown: BTreeSet<Side>,
    /// When something is due; nothing is while only answers are waited for.
    wake: Option<Tick>,
    /// Something has changed since it was last looked at.
    pub(super) stale: bool,
    /// The target's metadata that was last looked at.
    generation: u64,
    pub(super) events: VecDeque<TopicEvent>,
}

/// One request that is out.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) need: Need,
    /// The target topics that it is for.
    pub(super) topics: Vec<String>,
}

impl Topics {
    /// No topic is wanted yet. `timeout` is that of one request, `backoff` the first wait before it is made again.
    #[must_use]
    pub fn new(timeout: Duration, backoff: Duration) -> Self {
        Self {
            timeout,
            backoff: backoff.max(BACKOFF_MIN),
            dry: false,
            jobs: BTreeMap::new(),
            open: BTreeSet::new(),
            calls: BTreeMap::new(),
            told_unknown: BTreeSet::new(),
            wake: None,
            stale: false,
            generation: 0,
            events: VecDeque::new(),
        }
    }

    /// The same for a dry run: it says what it would do, checked by the target where its release can (0.10.2 for topics,
    /// 1.0 for partitions), and changes nothing. Partitions that nobody can foretell are said to be 0 (0.10.0, where the
    /// broker decides).
    #[must_use]
    pub fn dry(timeout: Duration, backoff: Duration) -> Self {
        Self { dry: true, ..Self::new(timeout, backoff) }
    }

    /// A topic is wanted, or now with other partitions or another configuration. Said again without a change: it is looked
    /// at again at once if it was blocked, or has fewer partitions than the source.
    pub fn want(&mut self, wanted: Wanted) {
        let name = wanted.target.clone();
        match self.jobs.get_mut(&name) {
            None => drop(self.jobs.insert(name.clone(), Job::new(wanted))),
            Some(job) if job.wanted != wanted => job.change(wanted),
            Some(job) if job.blocked.is_some() => job.retry_at = Tick::ZERO,
            Some(job) if job.told.is_some_and(|told| told < wanted.partitions) => {}
            Some(_) => return,
        }
        self.stale = true;
        if self.jobs.get(&name).is_some_and(|job| !job.asked) {
            self.open.insert(name);
        }
    }

    /// A topic is not wanted any more. It stays as it is.
    pub fn forget(&mut self, target: &str) {
        self.jobs.remove(target);
        self.open.remove(target);
    }

    /// Asks what has to be asked, if it is time.
    pub fn advance(&mut self, now: Now, source: &mut Client, target: &mut Client) {
        let generation = target.metadata().generation;
        if generation == 0 || source.metadata().generation == 0 {
            return;
        }
        let changed = self.generation != generation;
        let due = self.stale || changed || self.wake.is_some_and(|wake| wake <= now.tick);
        if !due {
            return;
        }
        (self.generation, self.stale) = (generation, false);
        let clusters = Clusters {
            target: target.metadata(),
            target_speech: super::asking::speech(target),
            source_speech: super::asking::speech(source),
            dry: self.dry,
        };
        let mut asks: BTreeMap<Need, Vec<String>> = BTreeMap::new();
        let mut look_again = false;
        for name in mem::take(&mut self.open) {
            match self.step(now, &name, &clusters, changed) {
                Step::Done => {}
                Step::Ask(need) => {
                    asks.entry(need).or_default().push(name.clone());
                    self.open.insert(name);
                }
                Step::Later { refresh } => {
                    look_again |= refresh;
                    self.open.insert(name);
                }
            }
        }
        if look_again {
            target.refresh_metadata(now);
        }
        for (need, names) in asks {
            self.ask(now, source, target, need, names);
        }
        let waits = self.open.iter().filter_map(|name| self.jobs.get(name)).map(|job| job.retry_at);
        // What is due and still here waits for an answer to make room.
        self.wake = waits.filter(|&at| at > now.tick).fold(None, |first, at| earliest(first, Some(at)));
    }

    /// Takes a reply of the source; `false` if it is not to one of these questions.
    pub fn handle_source_reply(&mut self, now: Now, source: &mut Client, target: &mut Client, reply: &Reply) -> bool {
        self.handle_reply(now, source, target, reply, Side::Source)
    }

    /// Takes a reply of the target; `false` if it is not to one of these questions.
    pub fn handle_target_reply(&mut self, now: Now, source: &mut Client, target: &mut Client, reply: &Reply) -> bool {
        self.handle_reply(now, source, target, reply, Side::Target)
    }

    /// What there is to say.
    pub fn poll_event(&mut self) -> Option<TopicEvent> {
        self.events.pop_front()
    }

    /// When to call [`Topics::advance`] again at the latest; `None` while only answers are waited for.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Tick> {
        self.wake
    }
}

/// What became of a topic that was looked at.
enum Step {
    Done,
    Ask(Need),
    /// It is looked at again later; `refresh`: with newer metadata.
    Later {
        refresh: bool,
    },
}

impl Topics {
    /// Looks at one topic. `changed`: the metadata is new.
    fn step(&mut self, now: Now, name: &str, clusters: &Clusters<'_>, changed: bool) -> Step {
        loop {
            let Some(job) = self.jobs.get_mut(name) else { return Step::Done };
            if job.retry_at > now.tick && !(changed && job.is_seen_in_metadata()) {
                return Step::Later { refresh: false };
            }
            match job.next(now, clusters) {
                Next::Ready(partitions) => {
                    self.ready(name, partitions);
                    return Step::Done;
                }
                Next::Partly(partitions) => self.tell_ready(name, partitions),
                Next::Ask(need) => {
                    self.before_creation(need, clusters);
                    return Step::Ask(need);
                }
                Next::Pretend(need) => {
                    let brokers = clusters.target.brokers.len();
                    job.draft = Some(job.blueprint(brokers, clusters.target_speech.dialect));
                    self.before_creation(need, clusters);
                    self.pretend(name, need);
                }
                Next::Shown(partitions, replicas) => {
                    let event = job.made.take().and_then(|made| job.shown(made, partitions, replicas));
                    self.events.extend(event);
                }
                Next::Wait => {
                    job.pause(now, self.backoff);
                    return Step::Later { refresh: true };
                }
                Next::Missing(_) if job.tries < PASSING_TRIES => {
                    job.pause(now, self.backoff);
                    return Step::Later { refresh: true };
                }
                Next::Late => {
                    let Some(made) = job.made.take() else { continue };
                    let why = job.late(&made);
                    self.block(now, name, why);
                    return Step::Later { refresh: true };
                }
                Next::Missing(why) | Next::Block(why) => {
                    self.block(now, name, why);
                    return Step::Later { refresh: true };
                }
            }
        }
    }

    fn before_creation(&mut self, need: Need, clusters: &Clusters<'_>) {
        if need == Need::Create && !clusters.source_speech.describes {
            let why =
                "brokers older than 0.11 do not tell them; target topics are created with the configured ones only";
            self.unknown(Side::Source, why);
        }
    }

    fn ready(&mut self, name: &str, partitions: i32) {
        let Some(job) = self.jobs.get_mut(name) else { return };
        (job.blocked, job.blocks, job.tries) = (None, 0, 0);
        self.tell_ready(name, partitions);
    }

    fn tell_ready(&mut self, name: &str, partitions: i32) {
        let Some(job) = self.jobs.get_mut(name) else { return };
        if job.told.replace(partitions) != Some(partitions) {
            self.events.push_back(TopicEvent::Ready { target: name.to_owned(), partitions, limits: job.limits() });
        }
    }

    /// A dry run: what was drafted counts as made.
    pub(super) fn pretend(&mut self, name: &str, need: Need) {
        let Some(job) = self.jobs.get_mut(name) else { return };
        let blueprint = job.draft.take();
        let partitions = if need == Need::Summon { 0 } else { job.wanted.partitions };
        match (need, &blueprint) {
            (Need::Create, Some(draft)) => job.target = Known::Read(draft.settings.clone()),
            (Need::Summon, _) => job.target = Known::Unknown,
            (Need::Create, None) | (Need::Source | Need::Target | Need::Grow, _) => {}
        }
        let made = Made { need, from: job.had, partitions, blueprint, by: Tick::ZERO };
        job.pretended = Some(partitions);
        let event = job.shown(made, partitions, 1);
        self.events.extend(event);
    }

    /// Something stands in the way: it is said, unless it was, and looked at again after a while.
    pub(super) fn block(&mut self, now: Now, name: &str, why: Blocked) {
        let Some(job) = self.jobs.get_mut(name) else { return };
        job.retry_at = now.after(BLOCKED_MIN.saturating_mul(1 << job.blocks.min(5)).min(BLOCKED_MAX));
        job.blocks = job.blocks.saturating_add(1);
        // Whether more can be had is tried again.
        job.no_growth = None;
        if !why.is_of_growth() {
            job.told = None;
        }
        if !job.blocked.as_ref().is_some_and(|said| said.is_like(&why)) {
            self.events.push_back(TopicEvent::Blocked { target: name.to_owned(), why: why.clone() });
        }
        job.blocked = Some(why);
    }

    /// A try that brought nothing: it is made again soon, and after some of them said.
    pub(super) fn later(&mut self, now: Now, name: &str, reason: &str) {
        let Some(job) = self.jobs.get_mut(name) else { return };
        job.pause(now, self.backoff);
        if job.tries > PASSING_TRIES {
            self.block(now, name, Blocked::Unanswered { topic: name.to_owned(), reason: reason.to_owned() });
        }
    }

    /// The settings of a side's topics are unknown: said once.
    pub(super) fn unknown(&mut self, side: Side, reason: &str) {
        if self.told_unknown.insert(side) {
            self.events.push_back(TopicEvent::SettingsUnknown { side, reason: reason.to_owned() });
        }
    }
}

/// The first wait before a blocked topic is looked at again, doubled up to the next.
const BLOCKED_MIN: Duration = Duration::from_secs(2);

/// The longest wait before a blocked topic is looked at again.
const BLOCKED_MAX: Duration = Duration::from_secs(30);

/// Tries in a row that bring nothing until that is said: with the default back-off about five seconds. A cluster that has
/// just started knows little for a moment (B44).
const PASSING_TRIES: u32 = 6;

/// A `retry.backoff.ms` of 0 must not become a loop.
const BACKOFF_MIN: Duration = Duration::from_millis(20);
