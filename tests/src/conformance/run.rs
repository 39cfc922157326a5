//! Runs cases against a broker, several side by side, each with names and connections of its own.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::connection::{Asked, Connection, Received};
use super::entries::Sent;
use super::masks::Masks;
use super::release_set::{self, RELEASES};
use super::schema::{self, Api};
use super::steps;
use super::suite::Case;
use super::value::Value;
use crate::wait::{self, Deadline, Stopwatch};
use crate::{Failure, Result};

/// So many cases run at once: most of them wait most of the time.
const AT_ONCE: usize = 8;

/// For an answer that is to come.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// For a broker to be there at all.
const REACHED_WITHIN: Duration = Duration::from_secs(20);

/// A broker under test.
#[derive(Debug)]
pub struct Target {
    /// The index of its release.
    pub release: usize,
    /// `host:port`.
    pub address: String,
    /// By API key: the versions that it offers.
    pub versions: BTreeMap<i64, (i64, i64)>,
    /// What the names of this run begin with.
    nonce: String,
}

impl Target {
    /// The broker of the release `version` at `address`, once it answers.
    pub fn reach(version: &str, address: &str) -> Result<Target> {
        let api = schema::api("ApiVersions")?;
        let answer = wait::until(Deadline::after(REACHED_WITHIN), "the broker to tell its versions", || {
            let mut connection = Connection::to(address)?;
            connection.ask(api, 0, &Value::Struct(Vec::new()))?;
            let Received::Frame(frame) = connection.receive(ANSWER_WITHIN)? else { return Ok(None) };
            connection.oldest().map(|asked| asked.read(&frame)).transpose()
        })?;
        let versions = answer.list("api_keys").iter();
        let versions =
            versions.filter_map(|one| Some((one.int("api_key")?, (one.int("min_version")?, one.int("max_version")?))));
        let mut random = fastrand::Rng::new();
        let nonce: String = (0..4).map(|_| random.lowercase()).collect();
        let release = release_set::index(version)?;
        Ok(Target { release, address: address.to_owned(), versions: versions.collect(), nonce })
    }

    /// The newest version of an API that the broker offers and the tables describe.
    pub fn newest(&self, api: &Api) -> Result<i16> {
        let (_, offered) = self
            .versions
            .get(&i64::from(api.key))
            .ok_or_else(|| Failure::new(format!("{} has no {}", RELEASES[self.release], api.name)))?;
        Ok(i16::try_from(*offered).unwrap_or(i16::MAX).min(api.versions.1))
    }
}

/// What came of a case: the lines of each step's answer, or why it could not be run to its end.
pub type Answers = Result<Vec<Vec<String>>>;

/// Runs cases; `done` is told the answers of each as it ends, and how long it took.
pub fn run_all(target: &Target, cases: &[&Case], done: impl Fn(&Case, Answers, Duration) + Sync) {
    let (alone, beside): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(|case| case.alone);
    // Cases that wait for the broker to do something by itself begin first.
    let (slow, quick): (Vec<&Case>, Vec<&Case>) =
        beside.into_iter().partition(|case| case.steps.iter().any(|step| step.text.contains("until(")));
    let queue = Mutex::new(slow.into_iter().chain(quick).collect::<VecDeque<&Case>>());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = next() {
                    let clock = Stopwatch::start();
                    let answers = run(target, case);
                    done(case, answers, clock.elapsed());
                }
            });
        }
    });
    for case in alone {
        let clock = Stopwatch::start();
        let answers = run(target, case);
        done(case, answers, clock.elapsed());
    }
}

/// Runs one case.
pub fn run(target: &Target, case: &Case) -> Answers {
    let mut run = Run {
        target,
        masks: Masks::new(format!("{}.{}.", target.nonce, case.id)),
        connections: BTreeMap::new(),
        sent: Vec::new(),
        saved: BTreeMap::new(),
        topic_ids: BTreeMap::new(),
        ended: false,
    };
    let mut answers = Vec::new();
    for step in &case.steps {
        let done = case.has(step, target.release) && !run.ended;
        let lines = if done { steps::perform(&mut run, &step.text) } else { Ok(Vec::new()) };
        answers.push(lines.map_err(|failure| {
            Failure::new(format!("{}:{}: {}: {failure}", case.file.display(), step.line, step.text))
        })?);
    }
    Ok(answers)
}

/// A case that is run.
pub(super) struct Run<'a> {
    /// Against this broker.
    pub target: &'a Target,
    /// Its names.
    pub masks: Masks,
    /// The entries that it sent, in order.
    pub sent: Vec<Sent>,
    /// Answers that it saved, by name.
    pub saved: BTreeMap<String, Value>,
    /// Whether the steps that are left have become pointless.
    pub ended: bool,
    connections: BTreeMap<String, Connection>,
    topic_ids: BTreeMap<String, Value>,
}

/// What came of a request.
#[derive(Debug)]
pub(super) enum Answered {
    /// The answer.
    Value(Value),
    /// It was to have none, or it is fetched later.
    Nothing,
    /// In place of an answer.
    Line(String),
}

/// How a request is made.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// Over which connection.
    pub connection: String,
    /// How long to wait for the answer.
    pub within: Duration,
    /// Whether the answer is collected later.
    pub later: bool,
}

impl Run<'_> {
    /// The connection with this name; opened when there is none.
    pub(super) fn connection(&mut self, name: &str) -> Result<&mut Connection> {
        if !self.connections.contains_key(name) {
            self.connections.insert(name.to_owned(), Connection::to(&self.target.address)?);
        }
        self.connections.get_mut(name).ok_or_else(|| Failure::new("no connection"))
    }

    /// Closes a connection; a next request opens another.
    pub(super) fn close(&mut self, name: &str) {
        self.connections.remove(name);
    }

    /// Makes a request and waits for its answer.
    pub(super) fn ask(&mut self, way: &Way, api: &'static Api, version: i16, body: &Value) -> Result<Answered> {
        if !self.connection(&way.connection)?.ask(api, version, body)? {
            self.close(&way.connection);
            return Ok(Answered::Line("disconnect".to_owned()));
        }
        if way.later { Ok(Answered::Nothing) } else { Ok(self.answer(way)?.1) }
    }

    /// Waits for the answer to the oldest request of a connection.
    pub(super) fn answer(&mut self, way: &Way) -> Result<(Option<Asked>, Answered)> {
        let connection = self.connection(&way.connection)?;
        let asked = connection.oldest();
        let received = connection.receive(way.within)?;
        let answered = match (received, &asked) {
            (Received::Closed, _) => {
                self.close(&way.connection);
                Answered::Line("disconnect".to_owned())
            }
            (Received::Silence, _) => {
                self.close(&way.connection);
                Answered::Line(format!("no answer within {} ms", way.within.as_millis()))
            }
            (Received::Frame(frame), Some(asked)) => match asked.read(&frame) {
                Ok(value) => Answered::Value(value),
                Err(failure) => Answered::Line(format!("unreadable: {failure}: {}", steps::digits(&frame))),
            },
            (Received::Frame(frame), None) => Answered::Line(format!("unasked: {}", steps::digits(&frame))),
        };
        Ok((asked, answered))
    }

    /// The topic with this id, if it was asked for.
    pub(super) fn topic_of(&self, id: &Value) -> Option<String> {
        self.topic_ids.iter().find(|(_, known)| *known == id).map(|(name, _)| name.clone())
    }

    /// The id of a topic, by its name on the broker.
    pub(super) fn topic_id(&mut self, name: &str) -> Result<Value> {
        if let Some(id) = self.topic_ids.get(name) {
            return Ok(id.clone());
        }
        let metadata = schema::api("Metadata")?;
        let topic = Value::of(vec![("name", Value::text(name)), ("topic_id", Value::Bytes(vec![0; 16]))]);
        let body = Value::of(vec![("topics", Value::List(vec![topic])), ("allow_auto_topic_creation", Value::Int(0))]);
        let way = Way { connection: "topic ids".to_owned(), within: ANSWER_WITHIN, later: false };
        let Answered::Value(answer) = self.ask(&way, metadata, self.target.newest(metadata)?, &body)? else {
            return Err(Failure::new(format!("no metadata of {name}")));
        };
        let id = answer.at("topics.0.topic_id").cloned();
        let id = id.ok_or_else(|| Failure::new(format!("no topic id of {name}")))?;
        self.topic_ids.insert(name.to_owned(), id.clone());
        Ok(id)
    }
}
