//! CreateTopics: names, counts, assignments and settings are checked, in an order that is the release's; what passes is
//! there at once.
//!
//! Measured on every release from 0.10.1 to 4.4 (codes and messages), beside the facts on CreateTopics. With a timeout
//! of 0 brokers with ZooKeeper create the topics and answer 7 (REQUEST_TIMED_OUT); 4.x answers 7 and creates nothing.
//! A topic whose assignment names a broker that is not there exists without a leader on releases with ZooKeeper, and the
//! answer comes when the time is over: 7 again.
//!
//! Up to 2.1 an assignment may leave partitions out; here those behind them move up.
//!
//! Java: `kafka.server.KafkaApis.handleCreateTopicsRequest`, `ZkAdminManager.createTopics`,
//! `org.apache.kafka.controller.ReplicationControlManager.createTopics`.

use std::collections::BTreeSet;
use std::time::Duration;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    CreatableTopic, CreateTopicsRequest, CreateTopicsResponse, CreatedTopic, CreatedTopicConfig,
};

use super::error::ApiError;
use crate::Release;
use crate::acls::{Operation, Resource, authorized};
use crate::cluster::waits::Waiting as Wait;
use crate::cluster::{Call, Cluster, Reply};
use crate::configs::describe;

mod checks;
pub(super) use checks::{named_brokers, too_many};

/// Topics that wait for leaders.
#[derive(Debug)]
pub(crate) struct Waiting {
    response: CreateTopicsResponse,
}

/// Creates topic by topic; what one refuses does not hold up the others.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &CreateTopicsRequest) -> Reply {
    let (release, patient) = (cluster.release, request.timeout_ms > 0);
    // NullPointerException in the request's parser.
    let null = request.topics.iter().flat_map(|topic| &topic.configs).any(|config| config.value.is_none());
    if null && release <= Release::V0_10_2 {
        return Reply::Close;
    }
    let mut response = CreateTopicsResponse::default();
    let repeated = repeated(&request.topics);
    let too_many = too_many(release, checks::partitions_in_all(cluster, &request.topics), "partitions");
    // What stood there before the request: 4.x looks for collisions among these alone.
    let before: BTreeSet<String> = cluster.topics.keys().cloned().collect();
    let mut told = BTreeSet::new();
    for topic in &request.topics {
        let name = topic.name.as_str();
        let outcome = if release < Release::V4_4 && cluster.controller() != Some(call.node) {
            // The message is a field that is not null since the messages are generated.
            let message = (release >= Release::V2_4).then(String::new);
            Err(ApiError { code: ErrorCode::NOT_CONTROLLER, message })
        } else if repeated.contains(name) {
            // 2.4 to 3.9 say it of each entry, the others once.
            if !told.insert(name) && !(Release::V2_4..=Release::V3_9).contains(&release) {
                continue;
            }
            Err(repeated_complaint(release, call, name))
        } else if release >= Release::V4_4 && !patient {
            Err(ApiError::bare(ErrorCode::REQUEST_TIMED_OUT))
        } else if let Some(error) = &too_many {
            Err(error.clone())
        } else if let Some(error) = unauthorized(cluster, call, name) {
            Err(error)
        } else {
            create(cluster, call, topic, &before, request.validate_only)
        };
        response.topics.push(match outcome {
            Ok(created) => created,
            Err(error) => refused(name, error),
        });
    }
    if request.validate_only {
        return Reply::from(response);
    }
    cluster.waits.change();
    let mut waiting = Waiting { response };
    if !patient {
        // A leader has to be heard of by all brokers, and no time is given for that.
        time_out(&mut waiting.response, |_| true);
    }
    match look_again(cluster, call, &mut waiting, false) {
        Some(response) => Reply::from(response),
        None => {
            let wait = Duration::from_millis(u64::try_from(request.timeout_ms).unwrap_or(0));
            cluster.wait(call, call.now.after(wait), Wait::CreateTopics(waiting));
            Reply::Later
        }
    }
}

/// Whether every topic has its leaders; when the time is over the answer says which have not.
pub(crate) fn look_again(
    cluster: &Cluster,
    _: &Call,
    waiting: &mut Waiting,
    over: bool,
) -> Option<CreateTopicsResponse> {
    let leaderless = |topic: &CreatedTopic| {
        let topic = cluster.topics.get(&topic.name).filter(|_| topic.error_code.is_ok());
        topic.is_some_and(|topic| topic.partitions.iter().any(|partition| partition.leader.is_none()))
    };
    if over {
        time_out(&mut waiting.response, leaderless);
    }
    let done = over || !waiting.response.topics.iter().any(leaderless);
    done.then(|| std::mem::take(&mut waiting.response))
}

/// The topics of a response that were created and `are_late`: they exist, and the answer says 7.
fn time_out(response: &mut CreateTopicsResponse, are_late: impl Fn(&CreatedTopic) -> bool) {
    for topic in response.topics.iter_mut().filter(|topic| topic.error_code.is_ok()) {
        if are_late(topic) {
            let topic_id = topic.topic_id;
            *topic = CreatedTopic { topic_id, ..refused(&topic.name, ApiError::bare(ErrorCode::REQUEST_TIMED_OUT)) };
        }
    }
}

/// One topic.
fn create(
    cluster: &mut Cluster,
    call: &Call,
    topic: &CreatableTopic,
    before: &BTreeSet<String>,
    validate_only: bool,
) -> Result<CreatedTopic, ApiError> {
    let checked = checks::check(cluster, topic, before, validate_only)?;
    let replicas = checked.assignment.first().map_or(0, Vec::len);
    let configs = describe::topic(&cluster.settings, cluster.controller().unwrap_or_default(), &checked.overrides);
    let mut created = CreatedTopic {
        name: topic.name.clone(),
        num_partitions: i32::try_from(checked.assignment.len()).unwrap_or(i32::MAX),
        replication_factor: i16::try_from(replicas).unwrap_or(i16::MAX),
        configs: Some(configs.into_iter().map(config).collect()),
        ..CreatedTopic::default()
    };
    if !authorized(cluster, call, Operation::DescribeConfigs, Resource::Topic(&topic.name)) {
        created.topic_config_error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
        (created.num_partitions, created.replication_factor, created.configs) = (-1, -1, Some(Vec::new()));
    }
    if !validate_only {
        created.topic_id = cluster.place_topic(&topic.name, &checked.assignment, checked.overrides);
    } else if cluster.release >= Release::V4_4 {
        // The controller draws one before it notices that it is not to keep the topic.
        created.topic_id = cluster.new_uuid();
    }
    Ok(created)
}

/// Who may create topics of the cluster may create any; from 2.0 on also who may create this one (KIP-277).
fn unauthorized(cluster: &Cluster, call: &Call, name: &str) -> Option<ApiError> {
    if may_create(cluster, call, name) {
        return None;
    }
    Some(if cluster.release <= Release::V1_1 {
        ApiError::bare(ErrorCode::CLUSTER_AUTHORIZATION_FAILED)
    } else if cluster.release <= Release::V2_1 {
        ApiError::bare(ErrorCode::TOPIC_AUTHORIZATION_FAILED)
    } else {
        ApiError::new(ErrorCode::TOPIC_AUTHORIZATION_FAILED, "Authorization failed.")
    })
}

/// Whether a client may create a topic, by name or by asking for it.
pub(super) fn may_create(cluster: &Cluster, call: &Call, name: &str) -> bool {
    authorized(cluster, call, Operation::Create, Resource::Cluster)
        || (cluster.release >= Release::V2_0 && authorized(cluster, call, Operation::Create, Resource::Topic(name)))
}

fn config(described: describe::Described) -> CreatedTopicConfig {
    CreatedTopicConfig {
        name: described.setting.name.to_owned(),
        value: described.value,
        read_only: described.read_only,
        config_source: described.source.number(),
        is_sensitive: described.setting.sensitive,
    }
}

fn refused(name: &str, error: ApiError) -> CreatedTopic {
    CreatedTopic {
        name: name.to_owned(),
        error_code: error.code,
        error_message: error.message,
        configs: Some(Vec::new()),
        ..CreatedTopic::default()
    }
}

fn repeated(topics: &[CreatableTopic]) -> BTreeSet<&str> {
    let mut seen = BTreeSet::new();
    topics.iter().map(|topic| topic.name.as_str()).filter(|name| !seen.insert(*name)).collect()
}

fn repeated_complaint(release: Release, call: &Call, name: &str) -> ApiError {
    let message = if release >= Release::V4_4 {
        "Duplicate topic name.".to_owned()
    } else if release >= Release::V2_4 {
        "Found multiple entries for this topic.".to_owned()
    } else {
        let client = call.client_id.as_deref().unwrap_or_default();
        format!(
            "Create topics request from client `{client}` contains multiple entries for the following topics: {name}"
        )
    };
    ApiError::new(ErrorCode::INVALID_REQUEST, message)
}

#[cfg(test)]
mod tests;
