//! Which target topic each source topic goes to, and what holds on the way.

use std::collections::BTreeMap;
use std::sync::Arc;

use regex::Regex;

use super::error::{ConfigError, PatternFault};
use super::pattern;
use super::topics::TopicPattern;
use crate::filter::Filters;

/// What is done about records that the target cannot take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossPolicy {
    /// The link stops in front of the record, with the reason.
    Refuse,
    /// It is left out, counted and named, or, where only a part of it has no place, carried without that part.
    Drop,
}

/// One policy for each kind of record that a target may not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policies {
    /// Headers towards brokers of 0.10, which have no place for them: `Drop` carries the record without them.
    pub headers: LossPolicy,
    /// A record larger than the target topic's `max.message.bytes`.
    pub too_large: LossPolicy,
    /// A timestamp outside `message.timestamp.before.max.ms` and `.after.max.ms` of the target's topic.
    pub timestamps: LossPolicy,
    /// A record without a key towards a compacted topic.
    pub keyless: LossPolicy,
    /// Whatever else a target broker refuses for good about a record.
    pub refused: LossPolicy,
}

/// What is done where the target's topic has fewer partitions than the source's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartitionPolicy {
    /// Partitions are added to the target's topic (brokers from 1.0 on).
    #[default]
    Grow,
    /// The partitions that the target does not have stand still, with the reason, until it has them.
    Stop,
    /// Partition n goes to partition n modulo the target's count (brokers from 0.11 on).
    Modulo,
}

/// What is done about a batch of the source that is damaged: its checksum does not match, its codec does not exist, or it
/// has to be decoded and does not parse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DamagePolicy {
    /// The link stops in front of it.
    #[default]
    Stop,
    /// It is left out as a whole, counted, and named by offset.
    Skip,
}

/// What is done about tiny batches that wait in a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coalesce {
    /// Those that have to wait, because as many requests are on their way as there may be, are joined into one.
    #[default]
    Auto,
    /// Each is written byte for byte as it came.
    Off,
}

/// How a topic that the target does not have is created there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicCreation {
    /// `auto.create`: whether it is created at all.
    pub create: bool,
    /// `replication.factor`; without it the source's, as far as the target has brokers.
    pub replication_factor: Option<i16>,
    /// Settings that win over the source's, by Kafka's names.
    pub settings: BTreeMap<String, String>,
}

/// What holds for the links of a route.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RouteConfig {
    /// What is done about records that the target cannot take.
    pub policies: Policies,
    /// What is done where the target has fewer partitions.
    pub partitions: PartitionPolicy,
    /// How the target's topic is created.
    pub creation: TopicCreation,
    /// Which records are mirrored, and as what.
    pub filters: Filters,
    /// What is done about damaged batches of the source.
    pub damage: DamagePolicy,
    /// What is done about tiny batches that wait.
    pub coalesce: Coalesce,
}

/// What a source topic is called on the target.
#[derive(Clone, Debug)]
pub enum Rename {
    /// The prefix in front of the source's name.
    Prefix(String),
    /// The replacement (`$1`, `${name}`: what the groups matched) of a pattern that the whole name has to match; a name
    /// that it does not match stays.
    Pattern {
        /// The pattern, anchored at both ends.
        pattern: Regex,
        /// The replacement.
        replacement: String,
    },
}

/// What holds for the topics of one pattern.
#[derive(Clone, Debug)]
pub struct RouteRule {
    /// Which source topics.
    pub topics: TopicPattern,
    /// Their names on the target; `None`: as the mirror says.
    pub rename: Option<Rename>,
    /// Everything else.
    pub config: Arc<RouteConfig>,
}

/// Every route of a mirror.
#[derive(Clone, Debug, Default)]
pub struct Routing {
    /// Source name → target name (`topicmapping.properties`): wins over every rule.
    pub mapping: BTreeMap<String, String>,
    /// The first rule whose pattern matches counts.
    pub rules: Vec<RouteRule>,
    /// For topics that no rule renames.
    pub rename: Option<Rename>,
    /// For topics that no rule matches.
    pub config: Arc<RouteConfig>,
}

/// Where one source topic goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Its name on the target. Not checked: a rename may give what cannot name a topic.
    pub target: String,
    /// What holds on the way.
    pub config: Arc<RouteConfig>,
}

impl Routing {
    /// The route of a source topic.
    #[must_use]
    pub fn route(&self, topic: &str) -> Route {
        let rule = self.rules.iter().find(|rule| rule.topics.matches(topic));
        let rename = rule.and_then(|rule| rule.rename.as_ref()).or(self.rename.as_ref());
        let target = match (self.mapping.get(topic), rename) {
            (Some(target), _) => target.clone(),
            (None, Some(rename)) => rename.apply(topic),
            (None, None) => topic.to_owned(),
        };
        Route { target, config: rule.map_or_else(|| self.config.clone(), |rule| rule.config.clone()) }
    }
}

impl Rename {
    /// A rule by a Java expression that the whole name has to match and Java's replacement: `$1`, `${1}` and `${name}` are what
    /// the groups matched, `\$` is a dollar sign. A name that does not match stays.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Pattern`] for an expression that is none, [`ConfigError::Replacement`] for a group that it does not
    /// have.
    pub fn pattern(from: &str, to: &str) -> Result<Self, ConfigError> {
        let chars: Vec<(usize, char)> = (1..).zip(from.chars()).collect();
        let fault = |fault| ConfigError::Pattern { pattern: from.to_owned(), fault };
        if chars.is_empty() {
            return Err(fault(PatternFault::Empty));
        }
        let pattern = pattern::compile(&chars).map_err(fault)?;
        let replacement =
            replacement(to, &pattern).map_err(|fault| ConfigError::Replacement { text: to.to_owned(), fault })?;
        Ok(Self::Pattern { pattern, replacement })
    }

    /// The name on the target.
    #[must_use]
    pub fn apply(&self, topic: &str) -> String {
        match self {
            Self::Prefix(prefix) => format!("{prefix}{topic}"),
            Self::Pattern { pattern, replacement } => pattern.replace(topic, replacement).into_owned(),
        }
    }
}

/// Java's replacement in the words of the regex crate: `$1a` is the first group and an `a` in Java, and a group of the
/// name `1a` there. (`Matcher.appendReplacement`)
fn replacement(text: &str, pattern: &Regex) -> Result<String, String> {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('$') => out.push_str("$$"),
                Some(c) => out.push(c),
                None => return Err("a backslash ends it".to_owned()),
            },
            '$' if chars.next_if_eq(&'{').is_some() => {
                let name: String = chars.by_ref().take_while(|&c| c != '}').collect();
                let numbered = name.parse::<usize>().is_ok_and(|group| group < pattern.captures_len());
                if !numbered && !pattern.capture_names().flatten().any(|known| known == name) {
                    return Err(format!("there is no group {name:?}"));
                }
                out.push_str(&format!("${{{name}}}"));
            }
            '$' => {
                let first = chars
                    .next()
                    .and_then(|c| c.to_digit(10))
                    .ok_or("a group's number or {name} follows a $; \\$ is the sign")?;
                let mut group = usize::try_from(first).unwrap_or(usize::MAX);
                // Java takes one more digit as long as there is such a group.
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                    let longer = group.saturating_mul(10).saturating_add(usize::try_from(digit).unwrap_or(usize::MAX));
                    if longer >= pattern.captures_len() {
                        break;
                    }
                    group = longer;
                    chars.next();
                }
                if group >= pattern.captures_len() {
                    return Err(format!("there is no group {group}"));
                }
                out.push_str(&format!("${{{group}}}"));
            }
            c => out.push(c),
        }
    }
    Ok(out)
}

impl Policies {
    /// The same policy for every kind of record.
    #[must_use]
    pub const fn all(policy: LossPolicy) -> Self {
        Self { headers: policy, too_large: policy, timestamps: policy, keyless: policy, refused: policy }
    }
}

impl Default for Policies {
    fn default() -> Self {
        Self {
            headers: LossPolicy::Drop,
            too_large: LossPolicy::Refuse,
            timestamps: LossPolicy::Refuse,
            keyless: LossPolicy::Refuse,
            refused: LossPolicy::Refuse,
        }
    }
}

impl Default for TopicCreation {
    fn default() -> Self {
        Self { create: true, replication_factor: None, settings: BTreeMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(topics: &str, rename: Option<Rename>, partitions: PartitionPolicy) -> RouteRule {
        let config = Arc::new(RouteConfig { partitions, ..RouteConfig::default() });
        RouteRule { topics: TopicPattern::parse(topics).unwrap(), rename, config }
    }

    #[test]
    fn the_first_rule_that_matches_counts_and_the_mapping_names() {
        let pattern =
            Rename::Pattern { pattern: Regex::new(r"\A(?:eu\.(.*))\z").unwrap(), replacement: "$1.eu".to_owned() };
        let routing = Routing {
            mapping: [("eu.special".to_owned(), "plain".to_owned())].into(),
            rules: vec![
                rule("eu.*", Some(pattern), PartitionPolicy::Stop),
                rule("eu.orders|us.*", None, PartitionPolicy::Modulo),
            ],
            rename: Some(Rename::Prefix("copy.".to_owned())),
            config: Arc::default(),
        };
        let found = |topic: &str| {
            let route = routing.route(topic);
            (route.target, route.config.partitions)
        };
        assert_eq!(found("eu.orders"), ("orders.eu".to_owned(), PartitionPolicy::Stop));
        assert_eq!(found("eu.special"), ("plain".to_owned(), PartitionPolicy::Stop));
        assert_eq!(found("us.orders"), ("copy.us.orders".to_owned(), PartitionPolicy::Modulo));
        assert_eq!(found("orders"), ("copy.orders".to_owned(), PartitionPolicy::Grow));
        assert_eq!(Routing::default().route("orders").target, "orders");
    }

    #[test]
    fn a_name_that_the_pattern_does_not_match_stays() {
        let rename =
            Rename::Pattern { pattern: Regex::new(r"\A(?:a(\d))\z").unwrap(), replacement: "b${1}".to_owned() };
        assert_eq!((rename.apply("a1").as_str(), rename.apply("xa1").as_str()), ("b1", "xa1"));
    }

    #[test]
    fn replacements_are_javas() {
        let named = |from: &str, to: &str| Rename::pattern(from, to).map(|rename| rename.apply("eu.orders"));
        for (from, to, expected) in [
            (r"eu\.(.*)", "$1", "orders"),
            (r"(eu)\.(.*)", "$2.$1", "orders.eu"),
            // The regex crate would look for a group "1_eu", and find nothing.
            (r"eu\.(.*)", "$1_eu", "orders_eu"),
            (r"eu\.(.*)", "$10", "orders0"),
            (r"eu\.(.*)", "${1}0", "orders0"),
            (r"(?<region>..)\.(.*)", "${region}-$2", "eu-orders"),
            (".*", r"\$0 $0", "$0 eu.orders"),
            ("e(.)(.)(.)(.)(.)(.)(.)(.)", "$8$1", "su"),
            ("eu.*", "plain", "plain"),
            ("us.*", "plain", "eu.orders"),
        ] {
            assert_eq!(named(from, to).as_deref(), Ok(expected), "{from} {to}");
        }
        for (from, to, words) in [
            ("(a)", "$2", "replacement `$2`: there is no group 2"),
            ("(a)", "${2}", "there is no group \"2\""),
            ("(a)", "${b}", "there is no group \"b\""),
            ("(a)", "${", "there is no group \"\""),
            ("(a)", "$", "a group's number or {name} follows a $"),
            ("(a)", "a\\", "a backslash ends it"),
            ("", "a", "it is empty"),
            ("a(?=b)", "a", "lookahead (?= at character 2"),
        ] {
            let error = named(from, to).unwrap_err().to_string();
            assert!(error.contains(words), "{from} {to}: {error}");
        }
    }
}
