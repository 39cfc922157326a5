//! The answers: what each code means for each topic.

use std::collections::BTreeMap;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AnyResponse, CreatePartitionsResponse, CreateTopicsResponse, DescribeConfigsResponse, DescribedResource,
};

use super::asking::speech;
use super::blocked::{Blocked, Change};
use super::job::{Known, Made, Need};
use super::machine::{Question, Topics};
use crate::client::{CallError, Client, Reply};
use crate::clock::Now;
use crate::config::Side;

impl Topics {
    pub(super) fn handle_reply(
        &mut self,
        now: Now,
        source: &mut Client,
        target: &mut Client,
        reply: &Reply,
        side: Side,
    ) -> bool {
        let Some(question) = self.calls.remove(&(side, reply.call)) else { return false };
        self.stale = true;
        for name in &question.topics {
            if let Some(job) = self.jobs.get_mut(name) {
                (job.asked, job.retry_at) = (false, now.tick);
                self.open.insert(name.clone());
            }
        }
        match &reply.outcome {
            Ok(response) => self.answered(now, target, &question, response),
            Err(error) => self.unanswered(now, target, &question, error),
        }
        self.advance(now, source, target);
        true
    }

    fn answered(&mut self, now: Now, target: &mut Client, question: &Question, response: &AnyResponse) {
        match (question.need, response) {
            (Need::Source | Need::Target, AnyResponse::DescribeConfigs(response)) => {
                self.described(now, question, response);
            }
            (Need::Create, AnyResponse::CreateTopics(response)) => self.created(now, target, question, response),
            (Need::Grow, AnyResponse::CreatePartitions(response)) => self.grown(now, target, question, response),
            (Need::Summon, AnyResponse::Metadata(_)) => {
                for name in &question.topics {
                    if let Some(job) = self.jobs.get_mut(name) {
                        let draft = job.blueprint(1, speech(target).dialect);
                        job.draft = Some(draft);
                    }
                    self.made(now, name, Need::Summon);
                }
                target.refresh_metadata(now);
            }
            (Need::Source | Need::Target | Need::Create | Need::Grow | Need::Summon, other) => {
                self.all_later(now, question, &format!("an answer to another question: {}", other.key()));
            }
        }
    }

    fn unanswered(&mut self, now: Now, target: &mut Client, question: &Question, error: &CallError) {
        let side = if question.need == Need::Source { Side::Source } else { Side::Target };
        match (question.need, error) {
            // In a cluster of mixed releases another broker may be asked than the one whose word counted.
            (Need::Source | Need::Target, CallError::Unsupported { .. }) => {
                for name in &question.topics {
                    self.set_known(side, name, Known::Unknown);
                }
                self.unknown(side, &error.to_string());
            }
            // Whether anything was made is seen in the metadata, never assumed.
            (Need::Create | Need::Grow | Need::Summon, _) => {
                target.refresh_metadata(now);
                self.all_later(now, question, &error.to_string());
            }
            (Need::Source | Need::Target, CallError::NotSent(_) | CallError::Unknown(_)) => {
                self.all_later(now, question, &error.to_string());
            }
        }
    }

    fn all_later(&mut self, now: Now, question: &Question, reason: &str) {
        for name in &question.topics {
            self.later(now, name, reason);
        }
    }

    fn set_known(&mut self, side: Side, name: &str, known: Known) {
        let Some(job) = self.jobs.get_mut(name) else { return };
        match side {
            Side::Source => job.source = known,
            Side::Target => job.target = known,
        }
        job.tries = 0;
    }

    fn described(&mut self, now: Now, question: &Question, response: &DescribeConfigsResponse) {
        let side = if question.need == Need::Source { Side::Source } else { Side::Target };
        let results: BTreeMap<&str, &DescribedResource> =
            response.results.iter().map(|result| (result.resource_name.as_str(), result)).collect();
        for name in &question.topics {
            let Some(job) = self.jobs.get(name) else { continue };
            let resource = if side == Side::Source { &job.wanted.source } else { &job.wanted.target };
            let Some(result) = results.get(resource.as_str()) else {
                self.later(now, name, "the answer to DescribeConfigs leaves it out");
                continue;
            };
            let code = result.error_code;
            if code.is_ok() {
                let set = result.configs.iter().filter_map(|config| Some((config.name.clone(), config.value.clone()?)));
                self.set_known(side, name, Known::Read(set.collect()));
            } else if code.is_retriable() || code == ErrorCode::UNKNOWN_SERVER_ERROR {
                self.later(now, name, &format!("its settings: {}", said(code, result.error_message.as_deref())));
            } else {
                let said = said(code, result.error_message.as_deref());
                self.unknown(side, &format!("topic {resource}: {said}: grant the mirror DESCRIBE_CONFIGS on topics"));
                self.set_known(side, name, Known::Unknown);
            }
        }
    }

    fn created(&mut self, now: Now, target: &mut Client, question: &Question, response: &CreateTopicsResponse) {
        let results: BTreeMap<&str, (ErrorCode, &str)> = response
            .topics
            .iter()
            .map(|topic| (topic.name.as_str(), (topic.error_code, topic.error_message.as_deref().unwrap_or_default())))
            .collect();
        for name in &question.topics {
            match results.get(name.as_str()) {
                Some(&(code, message)) => self.created_one(now, target, name, code, message),
                None => self.later(now, name, "the answer to CreateTopics leaves it out"),
            }
        }
        target.refresh_metadata(now);
    }

    fn created_one(&mut self, now: Now, target: &Client, name: &str, code: ErrorCode, message: &str) {
        let Some(job) = self.jobs.get_mut(name) else { return };
        let brokers = target.metadata().brokers.len();
        let factor = job.draft.as_ref().map_or(0, |draft| draft.replication_factor);
        match code {
            // Begun, and not done in time: it goes on.
            ErrorCode::NONE | ErrorCode::REQUEST_TIMED_OUT => self.made(now, name, Need::Create),
            ErrorCode::TOPIC_ALREADY_EXISTS => {
                job.draft = None;
                self.made(now, name, Need::Create);
            }
            // Brokers that have just begun are not counted yet.
            ErrorCode::INVALID_REPLICATION_FACTOR if usize::try_from(factor).is_ok_and(|wanted| wanted > brokers) => {
                let topic = name.to_owned();
                self.block(now, name, Blocked::TooFewBrokers { topic, replication_factor: factor, brokers });
            }
            ErrorCode::INVALID_CONFIG | ErrorCode::UNKNOWN_SERVER_ERROR => {
                self.setting_refused(now, target, name, code, message);
            }
            ErrorCode::TOPIC_AUTHORIZATION_FAILED | ErrorCode::CLUSTER_AUTHORIZATION_FAILED => {
                let topic = name.to_owned();
                self.block(now, name, Blocked::Unauthorized { topic, what: Change::Create, code });
            }
            code if code.is_retriable() || code == ErrorCode::INVALID_REPLICATION_FACTOR => {
                self.later(now, name, &said(code, Some(message)));
            }
            code => {
                let why = job.refused(Change::Create, code, message);
                self.block(now, name, why);
            }
        }
    }

    /// 40, or up to 2.0 −1, which a broker that has just begun says as well (measured).
    fn setting_refused(&mut self, now: Now, target: &Client, name: &str, code: ErrorCode, message: &str) {
        let Some(job) = self.jobs.get_mut(name) else { return };
        let passing = code == ErrorCode::UNKNOWN_SERVER_ERROR;
        if passing && message.is_empty() && job.tries < UNSAID_TRIES {
            return self.later(now, name, &said(code, None));
        }
        let (brokers, dialect) = (target.metadata().brokers.len(), speech(target).dialect);
        if job.leave_out(brokers, dialect, message) {
            return;
        }
        if passing {
            self.later(now, name, &said(code, Some(message)));
        } else {
            let why = job.refused(Change::Create, code, message);
            self.block(now, name, why);
        }
    }

    fn grown(&mut self, now: Now, target: &mut Client, question: &Question, response: &CreatePartitionsResponse) {
        for name in &question.topics {
            let Some(result) = response.results.iter().find(|result| result.name == *name) else {
                self.later(now, name, "the answer to CreatePartitions leaves it out");
                continue;
            };
            let (code, message) = (result.error_code, result.error_message.as_deref().unwrap_or_default());
            let Some(job) = self.jobs.get_mut(name) else { continue };
            match code {
                ErrorCode::NONE | ErrorCode::REQUEST_TIMED_OUT => self.made(now, name, Need::Grow),
                ErrorCode::TOPIC_AUTHORIZATION_FAILED | ErrorCode::CLUSTER_AUTHORIZATION_FAILED => {
                    let topic = name.clone();
                    job.no_growth = Some(Blocked::Unauthorized { topic, what: Change::Grow, code });
                }
                // 37: somebody else was faster, and the metadata is about to say so.
                code if code.is_retriable() || PASSING_GROWTH.contains(&code) => {
                    self.later(now, name, &said(code, Some(message)));
                }
                code => job.no_growth = Some(job.refused(Change::Grow, code, message)),
            }
        }
        target.refresh_metadata(now);
    }

    /// The target has accepted it; the metadata shows when it is there.
    fn made(&mut self, now: Now, name: &str, need: Need) {
        if self.dry {
            return self.pretend(name, need);
        }
        let (backoff, patience) = (self.backoff, self.timeout);
        let Some(job) = self.jobs.get_mut(name) else { return };
        let by = now.after(patience);
        // What somebody else made, or the broker as it is configured, may have fewer than are wanted.
        let foreign = need == Need::Summon || (need == Need::Create && job.draft.is_none());
        let partitions = if foreign { 1 } else { job.asks };
        job.made = Some(Made { need, from: job.had, partitions, blueprint: job.draft.take(), by });
        job.tries = 0;
        job.pause(now, backoff);
    }
}

/// A code and what the broker had to say about it.
fn said(code: ErrorCode, message: Option<&str>) -> String {
    match message {
        Some(message) if !message.is_empty() => format!("{code}: {message}"),
        Some(_) | None => code.to_string(),
    }
}

/// What CreatePartitions may say for a while only.
const PASSING_GROWTH: [ErrorCode; 3] =
    [ErrorCode::INVALID_PARTITIONS, ErrorCode::REASSIGNMENT_IN_PROGRESS, ErrorCode::UNKNOWN_SERVER_ERROR];

/// Tries until a −1 without a word (CreateTopics v0) is taken for a refused setting.
const UNSAID_TRIES: u32 = 3;
