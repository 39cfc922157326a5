//! The intercepts that are set, and what each has bitten.

use std::collections::BTreeMap;

use super::late::Late;
use super::{Fault, Requests, Seen};
use crate::cluster::Topic;

/// An intercept that was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InterceptId(u64);

/// All of them, in the order in which they were set.
#[derive(Debug, Default)]
pub(crate) struct Intercepts {
    set: BTreeMap<InterceptId, Intercept>,
    made: u64,
    /// Requests that take effect after their connection has ended.
    pub(super) late: Vec<Late>,
}

#[derive(Debug)]
struct Intercept {
    requests: Requests,
    fault: Fault,
    wanted: u64,
    bitten: u64,
}

impl Intercepts {
    pub(super) fn add(&mut self, requests: Requests, fault: Fault) -> InterceptId {
        self.made += 1;
        let id = InterceptId(self.made);
        self.set.insert(id, Intercept { requests, fault, wanted: 0, bitten: 0 });
        id
    }

    pub(super) fn remove(&mut self, id: InterceptId) -> u64 {
        self.set.remove(&id).map_or(0, |intercept| intercept.bitten)
    }

    pub(super) fn bitten(&self, id: InterceptId) -> u64 {
        self.set.get(&id).map_or(0, |intercept| intercept.bitten)
    }

    /// Nothing can bite: the usual case, which costs nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// The fault that meets a request, if any.
    pub(super) fn bite(&mut self, topics: &BTreeMap<String, Topic>, seen: &Seen<'_>) -> Option<(InterceptId, Fault)> {
        self.set.iter_mut().find_map(|(id, intercept)| Some((*id, intercept.bite(topics, seen)?)))
    }
}

impl Intercept {
    fn bite(&mut self, topics: &BTreeMap<String, Topic>, seen: &Seen<'_>) -> Option<Fault> {
        if self.bitten >= self.requests.times || !self.requests.want(topics, seen) {
            return None;
        }
        self.wanted += 1;
        if self.wanted <= self.requests.after {
            return None;
        }
        self.bitten += 1;
        Some(self.fault.clone())
    }
}
