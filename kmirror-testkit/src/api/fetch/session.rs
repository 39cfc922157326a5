//! Fetch sessions: the broker remembers what a client reads, and answers only with what is new (KIP-227; F10).
//!
//! ```text
//! id 0, epoch 0      a full answer, and a session is opened        id n, epoch 0    the same, n is dropped
//! id n, epoch e      what is new of n, which has to be at e        id n, epoch -1   a full answer, n is dropped
//! id 0, epoch -1     a full answer, no session
//! ```
//!
//! The offset that a client fetches from is not moved on by an answer: what it does not name again is read again. Java:
//! `kafka.server.FetchManager`, `FetchSession`, `CachedPartition`.

use std::collections::BTreeMap;
use std::time::Duration;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{FetchPartition, FetchRequest, FetchedPartition};

use crate::Now;
use crate::cluster::{Call, Cluster};

/// The sessions of one broker, by id.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    sessions: BTreeMap<i32, Session>,
    opened: i32,
}

#[derive(Debug)]
struct Session {
    /// The epoch that the next request has to have.
    next_epoch: i32,
    /// When it was last asked, on the monotonic clock.
    used: Duration,
    partitions: BTreeMap<Place, Cached>,
    /// Turns that were given out.
    turns: u64,
}

/// Topic by name, topic by id, partition.
type Place = (String, [u8; 16], i32);

#[derive(Clone, Debug)]
struct Cached {
    /// Partitions are read in the order of these: what had records goes to the end.
    turn: u64,
    asked: Asked,
    high_watermark: i64,
    log_start_offset: i64,
}

/// A partition that is to be read, and the topic as the request names it: by name, or from v13 on by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) name: String,
    pub(super) topic_id: [u8; 16],
    pub(super) partition: FetchPartition,
}

/// What a request comes to.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) asked: Vec<Asked>,
    /// What the answer says: 0 for none.
    pub(super) session_id: i32,
    /// Whether only what is new is answered.
    incremental: bool,
}

/// `max.incremental.fetch.session.cache.slots`.
const SESSIONS_MAX: usize = 1000;

/// `min.incremental.fetch.session.eviction.ms`: one that was not asked for longer makes room for another.
const EVICTION: Duration = Duration::from_secs(120);

/// No session.
const NONE: i32 = 0;

/// The epoch of a request that opens a session.
const INITIAL: i32 = 0;

/// The epoch of a request that wants none, or wants it no longer.
const FINAL: i32 = -1;

/// Which partitions a request is about.
///
/// # Errors
/// 70 for a session that is not there, 71 for another epoch than the one that is due.
pub(super) fn plan(cluster: &mut Cluster, call: &Call, request: &FetchRequest) -> Result<Plan, ErrorCode> {
    let full = |session_id| Plan { asked: asked(request), session_id, incremental: false };
    if call.version < 7 {
        return Ok(full(NONE));
    }
    let Some(broker) = cluster.brokers.get_mut(&call.node) else { return Ok(full(NONE)) };
    let sessions = &mut broker.sessions;
    match (request.session_id, request.session_epoch) {
        (id, FINAL) => {
            sessions.sessions.remove(&id);
            Ok(full(NONE))
        }
        (id, INITIAL) => {
            sessions.sessions.remove(&id);
            let plan = full(NONE);
            let session_id = if plan.asked.is_empty() { NONE } else { sessions.open(call.now, &plan.asked) };
            Ok(Plan { session_id, ..plan })
        }
        (id, epoch) => sessions.go_on(call.now, id, epoch, request),
    }
}

/// Which of the partitions that were read are answered; the session remembers what the client knows now.
pub(super) fn answered(cluster: &mut Cluster, call: &Call, plan: &Plan, fetched: &[FetchedPartition]) -> Vec<bool> {
    let sessions = cluster.brokers.get_mut(&call.node).map(|broker| &mut broker.sessions);
    let session = sessions.and_then(|sessions| sessions.sessions.get_mut(&plan.session_id));
    let Some(session) = session else { return vec![!plan.incremental || plan.session_id == NONE; fetched.len()] };
    let mut kept = Vec::with_capacity(fetched.len());
    for (asked, partition) in plan.asked.iter().zip(fetched) {
        let is_new = session.is_new(asked, partition);
        kept.push(is_new || !plan.incremental);
    }
    kept
}

impl Sessions {
    /// A new one; [`NONE`] while there is no room for it.
    fn open(&mut self, now: Now, asked: &[Asked]) -> i32 {
        if self.sessions.len() >= SESSIONS_MAX {
            let idle = self.sessions.iter().min_by_key(|(_, session)| session.used);
            match idle.filter(|(_, session)| now.elapsed.saturating_sub(session.used) > EVICTION).map(|(id, _)| *id) {
                Some(id) => drop(self.sessions.remove(&id)),
                None => return NONE,
            }
        }
        self.opened = self.opened.checked_add(1).unwrap_or(1);
        let mut session = Session { next_epoch: 1, used: now.elapsed, partitions: BTreeMap::new(), turns: 0 };
        asked.iter().for_each(|asked| session.take_in(asked.clone()));
        self.sessions.insert(self.opened, session);
        self.opened
    }

    fn go_on(&mut self, now: Now, id: i32, epoch: i32, request: &FetchRequest) -> Result<Plan, ErrorCode> {
        let session = self.sessions.get_mut(&id).ok_or(ErrorCode::FETCH_SESSION_ID_NOT_FOUND)?;
        if session.next_epoch != epoch {
            return Err(ErrorCode::INVALID_FETCH_SESSION_EPOCH);
        }
        session.used = now.elapsed;
        session.update(request);
        if session.partitions.is_empty() {
            self.sessions.remove(&id);
            return Ok(Plan { asked: Vec::new(), session_id: NONE, incremental: true });
        }
        session.next_epoch = epoch.checked_add(1).unwrap_or(1);
        Ok(Plan { asked: session.in_turn(), session_id: id, incremental: true })
    }
}

impl Session {
    /// Takes in what a request changes.
    fn update(&mut self, request: &FetchRequest) {
        asked(request).into_iter().for_each(|asked| self.take_in(asked));
        for topic in &request.forgotten_topics {
            for partition in &topic.partitions {
                self.partitions.remove(&(topic.name.clone(), topic.topic_id, *partition));
            }
        }
    }

    /// A partition that is new, or is to be read from elsewhere.
    fn take_in(&mut self, asked: Asked) {
        let turn = self.next_turn();
        let cached = self.partitions.entry(asked.place());
        let new = Cached { turn, asked: asked.clone(), high_watermark: -1, log_start_offset: -1 };
        cached.and_modify(|cached| cached.asked = asked).or_insert(new);
    }

    fn in_turn(&self) -> Vec<Asked> {
        let mut cached: Vec<&Cached> = self.partitions.values().collect();
        cached.sort_by_key(|cached| cached.turn);
        cached.into_iter().map(|cached| cached.asked.clone()).collect()
    }

    fn next_turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns
    }

    /// Whether the client does not know this yet; from now on it does.
    fn is_new(&mut self, asked: &Asked, fetched: &FetchedPartition) -> bool {
        let turn = self.next_turn();
        let Some(cached) = self.partitions.get_mut(&asked.place()) else { return true };
        let has_records = fetched.records.as_ref().is_some_and(|records| !records.is_empty());
        let failed = fetched.error_code != ErrorCode::NONE;
        let moved =
            cached.high_watermark != fetched.high_watermark || cached.log_start_offset != fetched.log_start_offset;
        // An error is told again and again, and what follows it is news.
        cached.high_watermark = if failed { -1 } else { fetched.high_watermark };
        cached.log_start_offset = fetched.log_start_offset;
        if has_records {
            cached.turn = turn;
        }
        has_records || failed || moved || fetched.diverging_epoch.is_some() || fetched.preferred_read_replica >= 0
    }
}

impl Asked {
    fn place(&self) -> Place {
        (self.name.clone(), self.topic_id, self.partition.partition)
    }
}

/// Each partition once, in the order in which they are named first; what is said of it last counts, as in Kafka's map of
/// them. So no request gets a partition's records twice.
fn asked(request: &FetchRequest) -> Vec<Asked> {
    let named = request.topics.iter().flat_map(|topic| topic.partitions.iter().map(move |asked| (topic, asked)));
    let mut places = BTreeMap::new();
    let mut all: Vec<Asked> = Vec::new();
    for (topic, partition) in named {
        let at = *places.entry((&topic.name, topic.topic_id, partition.partition)).or_insert(all.len());
        match all.get_mut(at) {
            Some(before) => before.partition = *partition,
            None => all.push(Asked { name: topic.name.clone(), topic_id: topic.topic_id, partition: *partition }),
        }
    }
    all
}
