//! uReplicator's `topicmapping.properties`: a source topic and its name on the target, one pair a line.
//!
//! uReplicator reads it as any Java properties file (`WorkerUtils.loadProperties`), so `orders eu.orders`,
//! `orders=eu.orders` and `orders: eu.orders` are all the same.

use std::collections::BTreeMap;

use super::error::ConfigError;
use super::properties::RawConfig;

/// Source name → target name.
///
/// # Errors
///
/// [`ConfigError::Value`] for a source topic without a name on the target.
pub(super) fn mapping(raw: &RawConfig) -> Result<BTreeMap<String, String>, ConfigError> {
    let pair = |entry: &super::RawEntry| {
        if entry.value.is_empty() {
            let expected = "the topic's name on the target stands behind that on the source".to_owned();
            return Err(ConfigError::Value { place: raw.place(entry), value: String::new(), expected });
        }
        Ok((entry.key.clone(), entry.value.clone()))
    };
    raw.entries().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_in_every_form() {
        let text = b"# comment\norders eu.orders\npayments=eu.payments\nusers : people\nsame same\n";
        let pairs = mapping(&RawConfig::parse("topicmapping.properties", text).unwrap()).unwrap();
        let expected = [("orders", "eu.orders"), ("payments", "eu.payments"), ("same", "same"), ("users", "people")];
        assert_eq!(pairs.iter().map(|(one, other)| (one.as_str(), other.as_str())).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_topic_without_a_name_on_the_target_is_named() {
        let error = mapping(&RawConfig::parse("m", b"a b\norders\n").unwrap()).unwrap_err().to_string();
        assert!(error.starts_with("m:2: orders: \"\" is not a value of this key: the topic's name"), "{error}");
    }
}
