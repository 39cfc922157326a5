//! DeleteTopics: topics are gone at once.
//!
//! Measured on 0.10.1 to 4.4: a name that is none, or is not there, is 3; without time (timeout 0) releases with
//! ZooKeeper delete and answer 7, 4.x answers 7 and deletes nothing. An id that is not there is 100. Only 4.x says the
//! ids of what it deleted, and messages. With `delete.topic.enable=false` all releases before 2.1 wait in vain (7), later
//! ones say 73, to clients before v3 42 (KIP-322). Java: `kafka.server.KafkaApis.handleDeleteTopicsRequest`,
//! `kafka.server.ControllerApis.deleteTopics`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{DeletableTopic, DeleteTopicsRequest, DeleteTopicsResponse, DeletedTopic};

use super::error::ApiError;
use super::metadata::NO_ID;
use crate::Release;
use crate::acls::{Operation, Resource, authorized};
use crate::cluster::waits::Waiting;
use crate::cluster::{Call, Cluster, Reply};

/// How a topic is asked for: by name, by id.
type Asked = (Option<String>, [u8; 16]);

/// Deletes topic by topic.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &DeleteTopicsRequest) -> Reply {
    let release = cluster.release;
    if release < Release::V4_4 && cluster.controller() != Some(call.node) {
        return refuse_all(request, &ApiError::bare(ErrorCode::NOT_CONTROLLER));
    }
    let enabled = cluster.settings.delete_topics;
    if !enabled && release >= Release::V2_1 {
        let code = if call.version < 3 { ErrorCode::INVALID_REQUEST } else { ErrorCode::TOPIC_DELETION_DISABLED };
        return refuse_all(request, &ApiError::bare(code));
    }
    let patient = request.timeout_ms > 0;
    let mut gone: BTreeMap<Asked, DeletedTopic> = BTreeMap::new();
    let mut responses = Vec::new();
    for topic in told(release, &request.topics) {
        let asked = (topic.name.clone(), topic.topic_id);
        let repeated = request.topics.iter().filter(|other| *other == topic).count() > 1;
        let outcome = if release >= Release::V4_4 && repeated {
            Err(ApiError::new(ErrorCode::INVALID_REQUEST, "Duplicate topic name."))
        } else if release >= Release::V4_4 && !patient {
            Err(ApiError::bare(ErrorCode::REQUEST_TIMED_OUT))
        } else if let Some(deleted) = gone.get(&asked) {
            Ok(deleted.clone())
        } else {
            delete(cluster, call, topic, patient)
        };
        if let Ok(deleted) = &outcome {
            gone.insert(asked, deleted.clone());
        }
        responses.push(outcome.unwrap_or_else(|error| refused(topic, &error)));
    }
    cluster.waits.change();
    let response = DeleteTopicsResponse { responses, ..DeleteTopicsResponse::default() };
    if enabled || gone.is_empty() || !patient {
        return Reply::from(response);
    }
    let wait = Duration::from_millis(u64::try_from(request.timeout_ms).unwrap_or(0));
    cluster.wait(call, call.now.after(wait), Waiting::Time(Box::new(response.into())));
    Reply::Later
}

/// About which topics the answer says something: all but 2.4 to 3.9 say it once about one that is asked for twice.
fn told(release: Release, topics: &[DeletableTopic]) -> Vec<&DeletableTopic> {
    let mut seen = BTreeSet::new();
    let each = (Release::V2_4..=Release::V3_9).contains(&release);
    topics.iter().filter(|topic| seen.insert((&topic.name, topic.topic_id)) || each).collect()
}

/// One topic.
fn delete(cluster: &mut Cluster, call: &Call, topic: &DeletableTopic, patient: bool) -> Result<DeletedTopic, ApiError> {
    let release = cluster.release;
    let name = name_of(cluster, topic)?;
    if !authorized(cluster, call, Operation::Delete, Resource::Topic(&name)) {
        return Err(of_4(release, ErrorCode::TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed."));
    }
    if !cluster.topics.contains_key(&name) {
        let message = "This server does not host this topic-partition.";
        return Err(of_4(release, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, message));
    }
    let mut deleted = DeletedTopic { name: Some(name.clone()), topic_id: topic.topic_id, ..DeletedTopic::default() };
    // Before 2.1 the controller does not do what it must not, and the broker waits for it to be done.
    if !patient || !cluster.settings.delete_topics {
        deleted.error_code = ErrorCode::REQUEST_TIMED_OUT;
    }
    if cluster.settings.delete_topics {
        let id = cluster.remove_topic(&name).map(|topic| topic.id);
        if release >= Release::V4_4 {
            deleted.topic_id = id.unwrap_or(NO_ID);
        }
    }
    Ok(deleted)
}

fn name_of(cluster: &Cluster, topic: &DeletableTopic) -> Result<String, ApiError> {
    let release = cluster.release;
    match (&topic.name, topic.topic_id == NO_ID) {
        (Some(name), true) => Ok(name.clone()),
        (Some(_), false) => {
            let message = "You may not specify both topic name and topic id.";
            Err(of_4(release, ErrorCode::INVALID_REQUEST, message))
        }
        // What 2.8 to 3.9 cannot find they take for something that this client must not know of.
        (None, true) if release < Release::V4_4 => Err(ApiError::bare(ErrorCode::TOPIC_AUTHORIZATION_FAILED)),
        (None, true) => Err(of_4(release, ErrorCode::INVALID_REQUEST, "Neither topic name nor id were specified.")),
        (None, false) => {
            let found = cluster.topics.iter().find(|(_, known)| known.id == topic.topic_id);
            let message = "This server does not host this topic ID.";
            found.map(|(name, _)| name.clone()).ok_or_else(|| of_4(release, ErrorCode::UNKNOWN_TOPIC_ID, message))
        }
    }
}

/// Only 4.x has messages here.
fn of_4(release: Release, code: ErrorCode, message: &str) -> ApiError {
    if release >= Release::V4_4 { ApiError::new(code, message) } else { ApiError::bare(code) }
}

fn refused(topic: &DeletableTopic, error: &ApiError) -> DeletedTopic {
    DeletedTopic {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        error_code: error.code,
        error_message: error.message.clone(),
    }
}

fn refuse_all(request: &DeleteTopicsRequest, error: &ApiError) -> Reply {
    let responses = request.topics.iter().map(|topic| refused(topic, error)).collect();
    Reply::from(DeleteTopicsResponse { responses, ..DeleteTopicsResponse::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;
    use crate::asking::{Asking, Came};

    fn named(names: &[&str]) -> DeleteTopicsRequest {
        let topics =
            names.iter().map(|name| DeletableTopic { name: Some((*name).to_owned()), ..DeletableTopic::default() });
        DeleteTopicsRequest { topics: topics.collect(), timeout_ms: 1000 }
    }

    fn codes(client: &mut Asking, version: i16, request: DeleteTopicsRequest) -> Vec<i16> {
        let answer: DeleteTopicsResponse = client.ask(version, request);
        answer.responses.iter().map(|topic| topic.error_code.0).collect()
    }

    #[test]
    fn a_topic_is_gone_at_once() {
        for (release, version) in
            [(Release::V0_10_1, 0), (Release::V2_0, 2), (Release::V3_9, 6), (Release::V4_4, 1), (Release::V4_4, 6)]
        {
            // Not allowed by default before 1.0.
            let cluster = Cluster::builder(release).setting("delete.topic.enable", "true").build().unwrap();
            let mut client = Asking::to(cluster, NodeId(0));
            client.cluster.create_topic("orders", 2);
            assert_eq!(codes(&mut client, version, named(&["orders", "a b"])), [0, 3], "{release}");
            assert!(client.cluster.topics.is_empty(), "{release}");
            assert_eq!(codes(&mut client, version, named(&["orders"])), [3], "{release}");
        }
    }

    #[test]
    fn by_id() {
        for (release, missing) in [(Release::V2_8, 29), (Release::V3_9, 29), (Release::V4_4, 42)] {
            let mut client = Asking::of(release);
            client.cluster.create_topic("orders", 1);
            let topic_id = client.cluster.topics.get("orders").unwrap().id;
            let of = |name: Option<&str>, topic_id| DeletableTopic { name: name.map(str::to_owned), topic_id };
            let topics = vec![of(None, topic_id), of(None, [9; 16]), of(Some("orders"), [9; 16]), of(None, NO_ID)];
            let request = DeleteTopicsRequest { topics, timeout_ms: 1000 };
            assert_eq!(codes(&mut client, 6, request), [0, 100, 42, missing], "{release}");
        }
    }

    #[test]
    fn a_topic_twice_in_a_request() {
        for (release, expected) in [(Release::V2_1, vec![0]), (Release::V2_4, vec![0, 0]), (Release::V4_4, vec![42])] {
            let mut client = Asking::of(release);
            client.cluster.create_topic("t", 1);
            assert_eq!(codes(&mut client, 1, named(&["t", "t"])), expected, "{release}");
        }
    }

    #[test]
    fn without_time() {
        for (release, there) in [(Release::V3_9, false), (Release::V4_4, true)] {
            let mut client = Asking::of(release);
            client.cluster.create_topic("t", 1);
            let hasty = DeleteTopicsRequest { timeout_ms: 0, ..named(&["t"]) };
            assert_eq!(codes(&mut client, 1, hasty), [7], "{release}");
            assert_eq!(client.cluster.topics.contains_key("t"), there, "{release}");
        }
    }

    fn forbidden(release: Release) -> Asking {
        let cluster = Cluster::builder(release).setting("delete.topic.enable", "false").build().unwrap();
        let mut client = Asking::to(cluster, NodeId(0));
        client.cluster.create_topic("t", 1);
        client
    }

    #[test]
    fn where_deletion_is_disabled() {
        for (release, version, code) in
            [(Release::V2_1, 2, 42), (Release::V2_1, 3, 73), (Release::V3_9, 6, 73), (Release::V4_4, 6, 73)]
        {
            let mut client = forbidden(release);
            assert_eq!(codes(&mut client, version, named(&["t", "nope"])), [code, code], "{release} v{version}");
            assert!(client.cluster.topics.contains_key("t"));
        }
        let mut client = forbidden(Release::V1_1);
        let request = named(&["t", "nope"]).into();
        assert_eq!(client.send(1, named(&["t", "nope"])), Came::Nothing);
        let Came::Answer(answer) = client.wait(Duration::from_secs(1), 1, &request) else { panic!("no answer") };
        let answer = DeleteTopicsResponse::try_from(*answer).unwrap();
        assert_eq!(answer.responses.iter().map(|topic| topic.error_code.0).collect::<Vec<_>>(), [7, 3]);
        assert!(client.cluster.topics.contains_key("t"));
    }

    #[test]
    fn only_the_controller_deletes_topics() {
        for (release, code) in [(Release::V2_0, 41), (Release::V3_9, 41), (Release::V4_4, 0)] {
            let cluster = Cluster::builder(release).brokers(2).build().unwrap();
            let mut client = Asking::to(cluster, NodeId(1));
            client.cluster.create_topic("t", 1);
            assert_eq!(codes(&mut client, 1, named(&["t"])), [code], "{release}");
        }
    }
}
