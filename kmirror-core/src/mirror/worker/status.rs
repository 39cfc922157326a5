//! Where everything stands, topic by topic.

use std::time::Duration;

use super::routes::Routed;
use super::running::is_caught_up;
use super::{Stage, Tracked, Worker, WorkerReport};
use crate::clock::Now;
use crate::observe::{LinkState, Status, TopicState, TopicStatus};

impl Worker {
    /// Tells how everything stands.
    pub(super) fn publish(&mut self, now: Now) {
        let status = self.status(now);
        self.out.push_back(WorkerReport::Status(status));
    }

    pub(super) fn status(&self, now: Now) -> Status {
        let elapsed = self.started.map_or(Duration::ZERO, |started| now.tick.since(started));
        let mut status = Status { name: self.config.name.clone(), elapsed, ..Status::default() };
        for (name, counters) in &self.departed {
            let topic = TopicStatus { state: TopicState::Gone, counters: *counters, ..TopicStatus::default() };
            status.topics.insert(name.clone(), topic);
        }
        for (name, route) in &self.routes {
            let topic = status.topics.entry(name.clone()).or_default();
            topic.target = route.target.to_string();
            topic.state = route.state();
            topic.reason = route.obstacle.as_ref().map(ToString::to_string);
        }
        for tracked in self.links.values() {
            add(status.topics.entry(tracked.name.topic.to_string()).or_default(), tracked);
        }
        status
    }
}

fn add(topic: &mut TopicStatus, tracked: &Tracked) {
    let first = topic.links == 0;
    topic.links += 1;
    topic.links_stopped += usize::from(tracked.is_stopped());
    topic.links_caught_up += usize::from(is_caught_up(tracked.progress.as_ref()));
    let lag = tracked
        .progress
        .as_ref()
        .and_then(|progress| Some(progress.source_end?.0.saturating_sub(progress.proved?.source_next.0).max(0)));
    topic.lag = if first { lag } else { topic.lag.zip(lag).map(|(all, one)| all + one) };
    if let Some(progress) = &tracked.progress {
        topic.counters.add(&progress.counters);
    }
    topic.state = topic.state.max(state(tracked));
    if topic.reason.is_none() {
        topic.reason.clone_from(&tracked.stop_reason);
    }
}

fn state(tracked: &Tracked) -> TopicState {
    let placed = tracked.progress.as_ref().is_some_and(|progress| progress.state == LinkState::Running);
    match tracked.stage {
        _ if tracked.is_stopped() => TopicState::Stopped,
        Stage::Open if placed => TopicState::Running,
        Stage::Placing | Stage::Open => TopicState::Preparing,
        Stage::Leaving | Stage::Closed => TopicState::Gone,
    }
}

impl Routed {
    fn state(&self) -> TopicState {
        match &self.obstacle {
            Some(obstacle) if obstacle.is_final() => TopicState::Stopped,
            Some(_) => TopicState::Blocked,
            None if self.ready.is_none() => TopicState::Preparing,
            None => TopicState::Gone,
        }
    }
}
