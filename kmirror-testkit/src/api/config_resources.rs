//! What has settings, as the APIs about them name it (`org.apache.kafka.common.config.ConfigResource.Type`).

use crate::cluster::Call;
use crate::{NodeId, Release};

/// The kinds on the wire.
pub(super) const TOPIC: i8 = 2;
pub(super) const BROKER: i8 = 4;
pub(super) const BROKER_LOGGER: i8 = 8;
pub(super) const CLIENT_METRICS: i8 = 16;
pub(super) const GROUP: i8 = 32;

/// A resource as messages of brokers print it.
pub(super) fn printed(release: Release, kind: &str, name: &str) -> String {
    if release <= Release::V1_1 {
        format!("Resource(type={kind}, name='{name}'}}")
    } else {
        format!("ConfigResource(type={kind}, name='{name}')")
    }
}

/// The broker that a resource names: `None` is all of them. Only the broker that is asked may be named.
///
/// # Errors
/// What the release says about any other name; `expected` is how it says which one it had expected.
pub(super) fn broker(release: Release, call: &Call, name: &str, expected: &str) -> Result<Option<NodeId>, String> {
    if name.is_empty() && release >= Release::V1_1 {
        return Ok(None);
    }
    let Ok(id) = name.parse::<i32>() else {
        let what = if expected.is_empty() && release >= Release::V3_9 { "Node" } else { "Broker" };
        return Err(format!("{what} id must be an integer, but it is: {name}"));
    };
    if id == call.node.0 {
        return Ok(Some(call.node));
    }
    // A format string that Scala took for a plain one.
    let plain = matches!(release, Release::V1_1 | Release::V2_0 | Release::V2_1);
    let received = if plain { format!("{}.name", printed(release, "BROKER", name)) } else { name.to_owned() };
    Err(format!("Unexpected broker id, expected {}{expected}, but received {received}", call.node))
}
