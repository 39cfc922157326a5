//! Which topics a mirror copies.
//!
//! MirrorMaker's whitelist (`kafka.utils.Whitelist`, later `TopicFilter.IncludeList`): white space and quotes around
//! it are dropped, a comma is `|`, and the whole name must match.

use std::fmt;

use regex::Regex;

use super::error::{ConfigError, PatternFault};
use super::pattern;

/// A whitelist of Kafka's tools: a Java expression that a whole topic name must match.
#[derive(Clone, Debug)]
pub struct TopicPattern {
    text: String,
    regex: Regex,
}

/// The topics that a mirror copies: those that its include pattern names and its exclude pattern does not, but for
/// internal ones.
#[derive(Clone, Debug)]
pub struct TopicSelection {
    include: TopicPattern,
    exclude: Option<TopicPattern>,
}

impl TopicPattern {
    /// Reads a whitelist.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Pattern`] if it is empty, is no expression, or uses what Java's expressions have and ours do not.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let fault = |fault| ConfigError::Pattern { pattern: text.to_owned(), fault };
        let chars = cleaned(text);
        if chars.is_empty() {
            return Err(fault(PatternFault::Empty));
        }
        let regex = pattern::compile(&chars).map_err(fault)?;
        Ok(Self { text: text.to_owned(), regex })
    }

    /// What any of several whitelists names.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse), for the first one that cannot be used.
    pub fn any<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, ConfigError> {
        let patterns = texts.into_iter().map(Self::parse).collect::<Result<Vec<_>, _>>()?;
        if let [one] = patterns.as_slice() {
            return Ok(one.clone());
        }
        let fault = |fault| ConfigError::Pattern { pattern: String::new(), fault };
        if patterns.is_empty() {
            return Err(fault(PatternFault::Empty));
        }
        // Each one is anchored in a group of its own, so that a flag such as (?i) ends with it.
        let alternatives: Vec<String> = patterns.iter().map(|pattern| format!("(?:{})", pattern.regex)).collect();
        let syntax = |error: regex::Error| fault(PatternFault::Syntax(error.to_string().replace('\n', " ")));
        let regex = Regex::new(&alternatives.join("|")).map_err(syntax)?;
        let text = patterns.iter().map(Self::as_str).collect::<Vec<_>>().join(",");
        Ok(Self { text, regex })
    }

    /// Whether the whole of `name` matches.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.regex.is_match(name)
    }

    /// The pattern as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl TopicSelection {
    /// The topics that a whitelist names.
    ///
    /// # Errors
    ///
    /// As [`TopicPattern::parse`].
    pub fn pattern(text: &str) -> Result<Self, ConfigError> {
        TopicPattern::parse(text).map(|include| Self { include, exclude: None })
    }

    /// The topics that `include` names and `exclude` does not.
    #[must_use]
    pub fn new(include: TopicPattern, exclude: Option<TopicPattern>) -> Self {
        Self { include, exclude }
    }

    /// The include pattern as it was given.
    #[must_use]
    pub fn include(&self) -> &str {
        self.include.as_str()
    }

    /// The exclude pattern as it was given.
    #[must_use]
    pub fn exclude(&self) -> Option<&str> {
        self.exclude.as_ref().map(TopicPattern::as_str)
    }

    /// Whether the topic is copied.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.names(name) && !is_internal(name)
    }

    /// Whether the pattern names the topic, which is not copied because it is internal: worth a line in the log.
    #[must_use]
    pub fn passes_over(&self, name: &str) -> bool {
        self.names(name) && is_internal(name)
    }

    fn names(&self, name: &str) -> bool {
        self.include.matches(name) && !self.exclude.as_ref().is_some_and(|exclude| exclude.matches(name))
    }
}

impl fmt::Display for TopicSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.include.as_str())?;
        match &self.exclude {
            Some(exclude) => write!(f, " (without {})", exclude.as_str()),
            None => Ok(()),
        }
    }
}

/// Topics that are never mirrored, whatever the pattern: what brokers, Connect, MirrorMaker 2 and kmirror itself keep
/// about their own cluster. Copied, they would overwrite the target's own, or go round for ever between two mirrors.
#[must_use]
pub fn is_internal(name: &str) -> bool {
    let ledger = name.strip_prefix("kmirror.").is_some_and(|rest| rest.ends_with(".ledger"));
    name.starts_with("__") || name.ends_with(".internal") || name.ends_with("-internal") || ledger
}

/// Java's order: trim, commas to `|`, spaces out, quotes off both ends; each character with its place in `text`.
fn cleaned(text: &str) -> Vec<(usize, char)> {
    let before = text.chars().take_while(|c| c.is_whitespace()).count();
    let chars: Vec<(usize, char)> = (before + 1..)
        .zip(text.trim().chars())
        .map(|(at, c)| (at, if c == ',' { '|' } else { c }))
        .filter(|&(_, c)| c != ' ')
        .collect();
    let quotes = |(_, c): &(usize, char)| matches!(c, '"' | '\'');
    let leading = chars.iter().take_while(|pair| quotes(pair)).count();
    let trailing = chars.iter().skip(leading).rev().take_while(|pair| quotes(pair)).count();
    chars.get(leading..chars.len() - trailing).unwrap_or_default().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(pattern: &str, name: &str) -> bool {
        TopicSelection::pattern(pattern).unwrap().matches(name)
    }

    #[test]
    fn a_comma_is_or_and_spaces_and_quotes_go() {
        for pattern in ["a,b", " a , b ", "\"a,b\"", "'a|b'", "\"'a,b'\"", "a|b"] {
            assert!(selects(pattern, "a") && selects(pattern, "b"), "{pattern:?}");
            assert!(!selects(pattern, "a,b") && !selects(pattern, "c"), "{pattern:?}");
        }
    }

    #[test]
    fn a_list_of_patterns_is_any_of_them() {
        let any = |texts: &[&str]| TopicPattern::any(texts.iter().copied());
        let list = any(&["(?i)orders", "pay.*,refunds", "\\Qa.b\\E"]).unwrap();
        for (name, expected) in [
            ("ORDERS", true),
            ("payments", true),
            ("PAYMENTS", false),
            ("refunds", true),
            ("a.b", true),
            ("axb", false),
        ] {
            assert_eq!(list.matches(name), expected, "{name}");
        }
        assert_eq!(list.as_str(), "(?i)orders,pay.*,refunds,\\Qa.b\\E");
        assert_eq!(any(&["orders"]).unwrap().as_str(), "orders");
        assert!(any(&[]).is_err() && any(&["a", ""]).is_err());
        let error = any(&["a", "b)|(c"]).unwrap_err().to_string();
        assert!(error.starts_with("topic pattern `b)|(c`"), "{error}");
    }

    #[test]
    fn an_exclude_pattern_is_subtracted() {
        let pattern = |text| TopicPattern::parse(text).unwrap();
        let selection = TopicSelection::new(pattern("orders.*"), Some(pattern("orders\\.tmp.*,orders-x")));
        assert!(selection.matches("orders.eu") && selection.matches("orders"));
        assert!(!selection.matches("orders.tmp.1") && !selection.matches("orders-x") && !selection.matches("payments"));
        assert!(!selection.passes_over("__orders"));
        assert_eq!(selection.to_string(), "orders.* (without orders\\.tmp.*,orders-x)");
    }

    #[test]
    fn the_whole_name_matches() {
        assert!(selects("test-mirror", "test-mirror"));
        assert!(!selects("test-mirror", "test-mirror-2"));
        assert!(selects("test.*", "test-mirror-2"));
        // As in Java, a dot is any character.
        assert!(selects("a.b", "a-b") && !selects(r"a\.b", "a-b"));
    }

    /// report B40: `.*` takes everything but what belongs to a cluster itself.
    #[test]
    fn internal_topics_never_match() {
        for name in [
            "__consumer_offsets",
            "__transaction_state",
            "mm2-offset-syncs.b.internal",
            "a.checkpoints.internal",
            "connect-offsets-internal",
            "kmirror.test-mirror.ledger",
        ] {
            let all = TopicSelection::pattern(".*").unwrap();
            assert!(!all.matches(name) && all.passes_over(name), "{name}");
            let exact = TopicSelection::pattern(&regex::escape(name)).unwrap();
            assert!(!exact.matches(name), "{name}");
        }
        for name in ["_schemas", "internal", "kmirror.ledger.x", "ledger", "internal.orders", "orders"] {
            assert!(selects(".*", name), "{name}");
        }
    }

    #[test]
    fn an_empty_pattern_is_an_error_with_a_way_out() {
        for pattern in ["", "  ", "\"\"", "' '"] {
            let error = TopicPattern::parse(pattern).unwrap_err().to_string();
            assert!(error.contains("it is empty") && error.contains("\".*\" for all"), "{error}");
        }
    }

    #[test]
    fn a_position_counts_in_the_text_as_given() {
        let error = TopicPattern::parse("  \"orders, (?!tmp).*\"").unwrap_err().to_string();
        assert_eq!(
            error,
            "topic pattern `  \"orders, (?!tmp).*\"`: negative lookahead (?! at character 12 is not supported: \
             name the wanted topics instead, for example as a list \"orders.*|payments.*\""
        );
    }
}
