//! DescribeConfigs: the settings of topics and brokers, where they come from, and what they would be otherwise.
//!
//! Measured on 0.11 to 4.4. A topic that is not there is described as one without overrides up to 1.1, 3 from 2.0 on. A
//! broker describes itself and, from 1.1 on, what is set for the cluster (the broker without a name). From 2.8 on no
//! names at all mean all of them. Before 2.8 the answer has a resource once, however often it was asked for. Java:
//! `kafka.server.ConfigHelper.describeConfigs`; KIP-133, KIP-226, KIP-569.

use std::collections::BTreeMap;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    ConfigSynonym, DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse, DescribedConfig,
    DescribedResource,
};

use super::config_resources::{self as resources, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, TOPIC};
use super::error::ApiError;
use super::topic_names;
use crate::Release;
use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Reply};
use crate::configs::describe::{self, Described};

/// Describes resource by resource.
pub(crate) fn answer(cluster: &Cluster, call: &Call, request: &DescribeConfigsRequest) -> Reply {
    let mut results: Vec<DescribedResource> = Vec::new();
    for (at, asked) in request.resources.iter().enumerate() {
        let same = |other: &DescribeConfigsResource| {
            (other.resource_type, &other.resource_name) == (asked.resource_type, &asked.resource_name)
        };
        if cluster.release < Release::V2_8 && request.resources.iter().take(at).any(same) {
            continue;
        }
        results.push(one(cluster, call, request, asked));
    }
    Reply::from(DescribeConfigsResponse { results, ..DescribeConfigsResponse::default() })
}

fn one(
    cluster: &Cluster,
    call: &Call,
    request: &DescribeConfigsRequest,
    asked: &DescribeConfigsResource,
) -> DescribedResource {
    let release = cluster.release;
    let mut result = DescribedResource {
        // The field is not nullable since the messages are generated: empty where there is nothing to say.
        error_message: (release >= Release::V2_8).then(String::new),
        resource_type: asked.resource_type,
        resource_name: asked.resource_name.clone(),
        ..DescribedResource::default()
    };
    match described(cluster, call, asked) {
        Ok(configs) => {
            let wanted = asked.configuration_keys.as_deref();
            let wanted = wanted.filter(|names| !(names.is_empty() && release >= Release::V2_8));
            let named = |one: &Described| wanted.is_none_or(|names| names.iter().any(|name| name == one.setting.name));
            result.configs = configs
                .into_iter()
                .filter(named)
                .map(|one| config((release, call.version), request, asked.resource_type, one))
                .collect();
        }
        Err(error) => {
            result.error_code = error.code;
            result.error_message = error.message.or(result.error_message);
            if release < Release::V2_8 && !is_known(release, asked.resource_type) {
                result.resource_type = 0;
            }
        }
    }
    result
}

/// The settings of a resource, all of them.
fn described(cluster: &Cluster, call: &Call, asked: &DescribeConfigsResource) -> Result<Vec<Described>, ApiError> {
    let (release, name) = (cluster.release, asked.resource_name.as_str());
    let invalid = |message: String| Err(ApiError::new(ErrorCode::INVALID_REQUEST, message));
    let may = |resource| authorized(cluster, call, Operation::DescribeConfigs, resource);
    match asked.resource_type {
        TOPIC if !may(Resource::Topic(name)) => {
            Err(forbidden(release, ErrorCode::TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed."))
        }
        TOPIC => topic(cluster, call, name),
        BROKER | BROKER_LOGGER if !may(Resource::Cluster) => {
            Err(forbidden(release, ErrorCode::CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed."))
        }
        BROKER => {
            let expected = if release >= Release::V1_1 { " or empty string" } else { "" };
            // As long as it could not be anything else the name had to be a number.
            let found = resources::broker(release, call, name, expected);
            match found.or_else(invalid_name)? {
                None => Ok(describe::cluster(&cluster.settings)),
                Some(node) => {
                    let address = cluster.brokers.get(&node).map(|broker| format!("{}:{}", broker.host, broker.port));
                    Ok(describe::broker(&cluster.settings, node, &address.unwrap_or_default()))
                }
            }
        }
        // Nobody logs here.
        BROKER_LOGGER if release >= Release::V2_4 => Ok(Vec::new()),
        CLIENT_METRICS if release == Release::V3_9 => {
            invalid("Config type client-metrics is only supported on KRaft clusters".to_owned())
        }
        CLIENT_METRICS | GROUP if release >= Release::V4_4 => Ok(Vec::new()),
        _ if release >= Release::V2_8 => invalid(
            "This most likely occurs because of a request being malformed by the client library or the message was sent \
             to an incompatible broker. See the broker logs for more details."
                .to_owned(),
        ),
        3 if release <= Release::V1_1 => invalid(format!("Unexpected resource type GROUP for resource {name}")),
        _ => invalid(format!("Unexpected resource type UNKNOWN for resource {name}")),
    }
}

fn invalid_name<T>(message: String) -> Result<T, ApiError> {
    Err(ApiError::new(ErrorCode::INVALID_REQUEST, message))
}

fn topic(cluster: &Cluster, call: &Call, name: &str) -> Result<Vec<Described>, ApiError> {
    if let Some(message) = topic_names::complaint(cluster.release, name) {
        return Err(ApiError::new(ErrorCode::INVALID_TOPIC_EXCEPTION, message));
    }
    let none = BTreeMap::new();
    match cluster.topics.get(name) {
        Some(topic) => Ok(describe::topic(&cluster.settings, call.node, &topic.overrides)),
        None if cluster.release <= Release::V1_1 => Ok(describe::topic(&cluster.settings, call.node, &none)),
        None => Err(ApiError::bare(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)),
    }
}

fn forbidden(release: Release, code: ErrorCode, message: &str) -> ApiError {
    if release >= Release::V2_8 { ApiError::new(code, message) } else { ApiError::bare(code) }
}

/// Whether the release has this kind of resource, of those that a client could ask for.
fn is_known(release: Release, kind: i8) -> bool {
    match kind {
        TOPIC | BROKER => true,
        BROKER_LOGGER => release >= Release::V2_4,
        3 => release <= Release::V1_1,
        _ => false,
    }
}

fn config(
    (release, version): (Release, i16),
    request: &DescribeConfigsRequest,
    kind: i8,
    one: Described,
) -> DescribedConfig {
    let synonyms = if request.include_synonyms { one.synonyms } else { Vec::new() };
    let synonyms = synonyms.into_iter().map(|synonym| ConfigSynonym {
        name: synonym.name,
        value: synonym.value,
        source: synonym.source.number(),
    });
    let documented = request.include_documentation && release >= Release::V2_8;
    // Before 1.1 a topic's setting is a default unless the topic itself overrides it.
    let hides = release <= Release::V1_0 && kind == TOPIC && one.source == describe::Source::Static;
    // v0 has "is default" in its place, which stays unset from 2.8 on (measured).
    let unset = version == 0 && release >= Release::V2_8 && one.source == describe::Source::Default;
    let source = match (unset, hides) {
        (true, _) => describe::Source::Topic,
        (false, true) => describe::Source::Default,
        (false, false) => one.source,
    };
    DescribedConfig {
        name: one.setting.name.to_owned(),
        value: one.value,
        // Nothing could be changed on a running broker before 1.1.
        read_only: one.read_only,
        config_source: source.number(),
        is_sensitive: one.setting.sensitive,
        synonyms: synonyms.collect(),
        config_type: one.setting.kind.number(),
        documentation: documented.then(|| one.setting.documentation()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asking::Asking;

    fn request(resource_type: i8, name: &str, names: Option<&[&str]>) -> DescribeConfigsRequest {
        let configuration_keys = names.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        let resource = DescribeConfigsResource { resource_type, resource_name: name.to_owned(), configuration_keys };
        DescribeConfigsRequest { resources: vec![resource], ..DescribeConfigsRequest::default() }
    }

    fn ask(client: &mut Asking, request: DescribeConfigsRequest) -> DescribedResource {
        let apis = client.cluster.release().apis();
        let range = apis.iter().find(|range| range.api_key == kmirror_proto::ApiKey::DESCRIBE_CONFIGS).unwrap();
        let answer: DescribeConfigsResponse = client.ask(range.max_version, request);
        answer.results[0].clone()
    }

    fn releases() -> impl Iterator<Item = Release> {
        Release::ALL.into_iter().filter(|release| *release >= Release::V0_11)
    }

    fn said(release: Release, resource_type: i8, name: &str) -> (i16, String) {
        let result = ask(&mut Asking::of(release), request(resource_type, name, None));
        (result.error_code.0, result.error_message.unwrap_or_else(|| "null".to_owned()))
    }

    /// Facts: how many there are, and the defaults that changed.
    #[test]
    fn a_topic_is_described() {
        for (release, count) in releases().zip([24, 24, 24, 25, 25, 26, 26, 26, 36, 37]) {
            let mut client = Asking::of(release);
            client.cluster.create_topic("t", 1);
            let all = ask(&mut client, request(TOPIC, "t", None));
            assert_eq!((all.error_code.0, all.configs.len()), (0, count), "{release}");
            let size = all.configs.iter().find(|config| config.name == "max.message.bytes").unwrap();
            let expected = if release >= Release::V2_8 { "1048588" } else { "1000012" };
            assert_eq!((size.value.as_deref(), size.config_source), (Some(expected), 5), "{release}");
        }
    }

    #[test]
    fn some_names_no_names_and_all_names() {
        for release in releases() {
            let mut client = Asking::of(release);
            client.cluster.create_topic("t", 1);
            let mut count = |names: Option<&[&str]>| ask(&mut client, request(TOPIC, "t", names)).configs.len();
            assert_eq!(count(Some(&["retention.ms", "no.such"])), 1, "{release}");
            assert_eq!(count(Some(&["no.such"])), 0, "{release}");
            assert_eq!(count(Some(&[])) > 0, release >= Release::V2_8, "{release}");
        }
    }

    #[test]
    fn a_topic_that_is_not_there() {
        assert_eq!(said(Release::V1_1, TOPIC, "nope"), (0, "null".to_owned()));
        assert_eq!(said(Release::V2_0, TOPIC, "nope"), (3, "null".to_owned()));
        assert_eq!(said(Release::V3_9, TOPIC, "nope"), (3, String::new()));
        assert_eq!(said(Release::V2_0, TOPIC, ""), (17, "Topic name is illegal, it can't be empty".to_owned()));
    }

    #[test]
    fn a_broker_knows_itself() {
        for (release, count) in releases().zip([154, 155, 171, 181, 184, 192, 218, 232, 314, 350]) {
            assert_eq!(ask(&mut Asking::of(release), request(BROKER, "0", None)).configs.len(), count, "{release}");
        }
        let wrong = |release| said(release, BROKER, "1").1;
        assert_eq!(wrong(Release::V0_11), "Unexpected broker id, expected 0, but received 1");
        let old = "Unexpected broker id, expected 0 or empty string, but received ";
        assert_eq!(wrong(Release::V1_1), format!("{old}Resource(type=BROKER, name='1'}}.name"));
        assert_eq!(wrong(Release::V2_1), format!("{old}ConfigResource(type=BROKER, name='1').name"));
        assert_eq!(wrong(Release::V4_4), format!("{old}1"));
        assert_eq!(said(Release::V3_9, BROKER, "x"), (42, "Broker id must be an integer, but it is: x".to_owned()));
        assert_eq!(said(Release::V1_0, BROKER, ""), (42, "Broker id must be an integer, but it is: ".to_owned()));
        assert_eq!(said(Release::V1_1, BROKER, ""), (0, "null".to_owned()));
    }

    /// Since 2.8 v0 says of no setting that it is a default.
    #[test]
    fn defaults_in_the_first_version() {
        for (release, source) in [(Release::V1_1, 5), (Release::V3_9, -1)] {
            let mut client = Asking::of(release);
            client.cluster.create_topic("t", 1);
            let answer: DescribeConfigsResponse = client.ask(0, request(TOPIC, "t", Some(&["segment.ms"])));
            assert_eq!(answer.results[0].configs[0].config_source, source, "{release}");
        }
    }

    #[test]
    fn what_has_no_settings() {
        for (release, kind, message) in [
            (Release::V1_1, 3, "Unexpected resource type GROUP for resource r"),
            (Release::V2_4, 3, "Unexpected resource type UNKNOWN for resource r"),
            (Release::V2_1, BROKER_LOGGER, "Unexpected resource type UNKNOWN for resource r"),
            (Release::V3_9, CLIENT_METRICS, "Config type client-metrics is only supported on KRaft clusters"),
        ] {
            assert_eq!(said(release, kind, "r"), (42, message.to_owned()), "{release} {kind}");
        }
        assert!(
            said(Release::V2_8, 3, "r").1.starts_with("This most likely occurs because of a request being malformed")
        );
    }

    #[test]
    fn types_and_documentation_come_when_asked_for() {
        let mut client = Asking::of(Release::V3_9);
        client.cluster.create_topic("t", 1);
        let asked =
            DescribeConfigsRequest { include_documentation: true, ..request(TOPIC, "t", Some(&["retention.ms"])) };
        let config = ask(&mut client, asked).configs.remove(0);
        assert_eq!(config.config_type, 5);
        assert!(config.documentation.is_some_and(|text| text.contains("LONG")));
        let config = ask(&mut client, request(TOPIC, "t", Some(&["retention.ms"]))).configs.remove(0);
        assert_eq!(config.documentation, None);
    }
}
