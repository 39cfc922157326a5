//! Which names topics may have, and what brokers say about others.
//!
//! Java: `org.apache.kafka.common.internals.Topic`, formerly `kafka.common.Topic`. The wording was measured with
//! CreateTopics.

use crate::Release;

/// Whether clients are told that a topic is the brokers' own: that of transactions since there are any.
pub(crate) fn is_internal(release: Release, name: &str) -> bool {
    name == "__consumer_offsets" || (name == "__transaction_state" && release >= Release::V0_11)
}

/// Kafka's own limit.
const BYTES_MAX: usize = 249;

/// Whether a topic may have this name.
pub(crate) fn is_valid(name: &str) -> bool {
    wrong(name).is_none()
}

/// What a release says about a name that no topic may have.
pub(crate) fn complaint(release: Release, name: &str) -> Option<String> {
    let wrong = wrong(name)?;
    let characters = "ASCII alphanumerics, '.', '_' and '-'";
    Some(if release >= Release::V3_9 {
        let what = match wrong {
            Wrong::Empty => "the empty string is not allowed".to_owned(),
            Wrong::Dots => format!("'{name}' is not allowed"),
            Wrong::Long => format!("the length of '{name}' is longer than the max allowed length {BYTES_MAX}"),
            Wrong::Characters => format!("'{name}' contains one or more characters other than {characters}"),
        };
        format!("Topic name is invalid: {what}")
    } else if release >= Release::V0_11 {
        match wrong {
            Wrong::Empty => "Topic name is illegal, it can't be empty".to_owned(),
            Wrong::Dots => "Topic name cannot be \".\" or \"..\"".to_owned(),
            Wrong::Long => {
                let topic = if release >= Release::V3_0 { "Topic" } else { "topic" };
                format!("Topic name is illegal, it can't be longer than {BYTES_MAX} characters, {topic} name: {name}")
            }
            Wrong::Characters => {
                format!("Topic name \"{name}\" is illegal, it contains a character other than {characters}")
            }
        }
    } else {
        match wrong {
            Wrong::Empty => "topic name is illegal, can't be empty".to_owned(),
            Wrong::Dots => "topic name cannot be \".\" or \"..\"".to_owned(),
            Wrong::Long => format!("topic name is illegal, can't be longer than {BYTES_MAX} characters"),
            Wrong::Characters => {
                format!("topic name {name} is illegal, contains a character other than {characters}")
            }
        }
    })
}

/// Whether metrics could not tell the two apart: they write `.` as `_`.
pub(crate) fn collide(one: &str, other: &str) -> bool {
    one != other && one.replace('.', "_") == other.replace('.', "_")
}

enum Wrong {
    Empty,
    Dots,
    Long,
    Characters,
}

fn wrong(name: &str) -> Option<Wrong> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    match name {
        "" => Some(Wrong::Empty),
        "." | ".." => Some(Wrong::Dots),
        _ if name.len() > BYTES_MAX => Some(Wrong::Long),
        _ if !name.chars().all(legal) => Some(Wrong::Characters),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_refused_in_the_words_of_the_release() {
        let of = |release, name| complaint(release, name).unwrap();
        assert_eq!(
            [Release::V0_10_2, Release::V2_0, Release::V3_9].map(|release| of(release, "a b")),
            [
                "topic name a b is illegal, contains a character other than ASCII alphanumerics, '.', '_' and '-'",
                "Topic name \"a b\" is illegal, it contains a character other than ASCII alphanumerics, '.', '_' and '-'",
                "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, '.', \
                 '_' and '-'",
            ]
        );
        assert_eq!(of(Release::V4_4, ".."), "Topic name is invalid: '..' is not allowed");
        assert_eq!(of(Release::V2_1, ""), "Topic name is illegal, it can't be empty");
        assert!(is_valid(&"n".repeat(BYTES_MAX)) && !is_valid(&"n".repeat(BYTES_MAX + 1)));
    }

    #[test]
    fn a_dot_is_an_underscore_to_metrics() {
        assert!(collide("a.b", "a_b") && collide("a._", "a_."));
        assert!(!collide("a.b", "a.b") && !collide("a.b", "a-b"));
    }
}
