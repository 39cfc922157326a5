//! Requests that wait for something: records to come, replicas to catch up, a time to pass.
//!
//! Kafka calls it purgatory. A wait is looked at again whenever the cluster has changed, and when its time is over.

use std::collections::BTreeMap;
use std::time::Duration;

use kmirror_proto::messages::AnyResponse;

use super::{Call, Cluster, Ticket};
use crate::api::{create_topics, fetch, join_group, produce, sync_group};
use crate::groups::GroupEvent;

/// What is waiting.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    waiting: BTreeMap<Ticket, Wait>,
    /// Something that a wait may be waiting for has changed.
    changed: bool,
}

/// One waiting request.
#[derive(Debug)]
struct Wait {
    call: Call,
    until: Duration,
    what: Waiting,
}

/// What it waits for.
#[derive(Debug)]
pub(crate) enum Waiting {
    /// Fetch, for `min_bytes` (KAFKA: `DelayedFetch`).
    Fetch(fetch::Waiting),
    /// Produce with acks all, for the in-sync replicas (`DelayedProduce`).
    Produce(produce::Waiting),
    /// Nothing but time: what is answered then is known already.
    Time(Box<AnyResponse>),
    /// CreateTopics, for leaders (`DelayedCreatePartitions`).
    CreateTopics(create_topics::Waiting),
}

impl Waits {
    /// When the next wait is over.
    pub(super) fn due(&self) -> Option<Duration> {
        self.waiting.values().map(|wait| wait.until).min()
    }

    /// The waits are to be looked at again.
    pub(crate) fn change(&mut self) {
        self.changed = true;
    }
}

impl Cluster {
    /// Keeps a request that is answered later.
    pub(crate) fn wait(&mut self, call: &Call, until: Duration, what: Waiting) {
        self.waits.waiting.insert(call.ticket, Wait { call: call.clone(), until, what });
    }

    /// The request will not be answered: its connection is gone.
    pub(super) fn stop_waiting(&mut self, ticket: Ticket) {
        self.waits.waiting.remove(&ticket);
    }

    /// Answers what has what it waited for, until nothing changes any more.
    pub(crate) fn settle(&mut self) {
        loop {
            self.drop_laggards();
            if std::mem::take(&mut self.waits.changed) {
                self.mark_transactions();
                let tickets: Vec<Ticket> = self.waits.waiting.keys().copied().collect();
                for ticket in tickets {
                    self.look_again(ticket, false);
                }
            } else if let Some(event) = self.groups.poll_event() {
                self.tell(event);
            } else {
                return;
            }
        }
    }

    /// Answers a member of a group.
    fn tell(&mut self, event: GroupEvent) {
        match event {
            GroupEvent::Joined(ticket, joined) => {
                self.complete(ticket, join_group::response(self.release, joined).into());
            }
            GroupEvent::Synced(ticket, synced) => self.complete(ticket, sync_group::response(synced).into()),
        }
    }

    /// Answers what has waited long enough.
    pub(super) fn expire_waits(&mut self) {
        let now = self.now().elapsed;
        let over = |(ticket, wait): (&Ticket, &Wait)| (wait.until <= now).then_some(*ticket);
        let tickets: Vec<Ticket> = self.waits.waiting.iter().filter_map(over).collect();
        for ticket in tickets {
            self.look_again(ticket, true);
        }
    }

    fn look_again(&mut self, ticket: Ticket, over: bool) {
        let Some(mut wait) = self.waits.waiting.remove(&ticket) else { return };
        wait.call.now = self.now();
        let answer = match &mut wait.what {
            Waiting::Fetch(waiting) => fetch::look_again(self, &wait.call, waiting, over).map(Into::into),
            Waiting::Produce(waiting) => produce::look_again(self, &wait.call, waiting, over).map(Into::into),
            Waiting::Time(answer) => over.then(|| (**answer).clone()),
            Waiting::CreateTopics(waiting) => {
                create_topics::look_again(self, &wait.call, waiting, over).map(Into::into)
            }
        };
        match answer {
            Some(answer) => self.complete(ticket, answer),
            None => {
                self.waits.waiting.insert(ticket, wait);
            }
        }
    }
}
