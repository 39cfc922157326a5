//! Which names a topic may have, and which two a broker takes for one.

use std::fmt;

use crate::client::limits::TOPIC_BYTES_MAX;

/// Why a name cannot be a topic's (Java: `org.apache.kafka.common.internals.Topic`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameFault {
    /// It is empty.
    Empty,
    /// It is `.` or `..`.
    Dots,
    /// It is longer than 249 bytes.
    TooLong(usize),
    /// It holds this character; letters and digits of ASCII, `.`, `_` and `-` are allowed.
    Character(char),
}

/// What is wrong with a topic's name, if anything.
#[must_use]
pub fn fault(name: &str) -> Option<NameFault> {
    if name.is_empty() {
        return Some(NameFault::Empty);
    }
    if name == "." || name == ".." {
        return Some(NameFault::Dots);
    }
    if let Some(bad) = name.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))) {
        return Some(NameFault::Character(bad));
    }
    (name.len() > TOPIC_BYTES_MAX).then_some(NameFault::TooLong(name.len()))
}

/// Names with the same key collide: brokers name metrics after topics, with `_` for `.`, and refuse to create a topic
/// whose metrics another one has already.
#[must_use]
pub fn collision_key(name: &str) -> String {
    name.replace('.', "_")
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Dots => f.write_str("\".\" and \"..\" name no topic"),
            Self::TooLong(bytes) => write!(f, "it has {bytes} bytes, at most {TOPIC_BYTES_MAX} are allowed"),
            Self::Character(bad) => {
                write!(f, "it holds {bad:?}; letters, digits, \".\", \"_\" and \"-\" are allowed")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_brokers_judge_them() {
        for good in ["a", "Orders-1.eu_west", "...", "_schemas", &"x".repeat(249)] {
            assert_eq!(fault(good), None, "{good}");
        }
        assert_eq!(fault(""), Some(NameFault::Empty));
        assert_eq!((fault("."), fault("..")), (Some(NameFault::Dots), Some(NameFault::Dots)));
        assert_eq!(fault(&"x".repeat(250)), Some(NameFault::TooLong(250)));
        for (bad, c) in [("a b", ' '), ("a/b", '/'), ("größe", 'ö'), ("a:b", ':'), ("a\n", '\n'), ("$1", '$')] {
            assert_eq!(fault(bad), Some(NameFault::Character(c)), "{bad}");
        }
    }

    #[test]
    fn a_dot_and_an_underscore_are_one_to_a_metric() {
        assert_eq!(collision_key("a.b_c"), collision_key("a_b.c"));
        assert_ne!(collision_key("a.b"), collision_key("a-b"));
        assert_ne!(collision_key("a.b"), collision_key("ab"));
    }
}
