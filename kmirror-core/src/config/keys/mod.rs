//! Every configuration key of Kafka's consumer, producer and admin client, 0.8 to 4.x, and what it means to a mirror.
//!
//! One table, so that a file that worked with MirrorMaker either does the same here or says in one line why not.
//! Sources: `ConsumerConfig`, `ProducerConfig`, `AdminClientConfig`, `CommonClientConfigs`, `SslConfigs`,
//! `SaslConfigs` of each release, and the Scala clients of 0.8.

mod table;

use Meaning::OldName;
use Role::{Admin, Consumer, Producer};
use table::TABLE;

/// Whose file a key stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `--consumer.config`: the source.
    Consumer,
    /// `--producer.config`: the target.
    Producer,
    /// `--command-config` of `kmirror offsets`.
    Admin,
}

/// What a key means here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// It decides something.
    Used,
    /// The name that an old release had for a key that is used.
    OldName(&'static str),
    /// kmirror always does the same: `always` says what. A value that is not one of `agrees` is worth a warning; no
    /// value is, where that list is empty.
    Same {
        /// What kmirror always does.
        always: &'static str,
        /// The values that ask for just that.
        agrees: &'static [&'static str],
    },
    /// Nothing, for this reason.
    Ignored(&'static str),
    /// It asks for what this release cannot do and what must not be ignored: (what "is/are", the way out).
    Refused(&'static str, &'static str),
}

/// Keys of one meaning. One that ends with a dot stands for all that begin with it.
struct Group {
    roles: &'static [Role],
    meaning: Meaning,
    keys: &'static [&'static str],
}

impl Role {
    /// `consumer`, `producer` or `admin client`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Consumer => "consumer",
            Producer => "producer",
            Admin => "admin client",
        }
    }

    /// The flag that takes its file.
    #[must_use]
    pub const fn flag(self) -> &'static str {
        match self {
            Consumer => "--consumer.config",
            Producer => "--producer.config",
            Admin => "--command-config",
        }
    }
}

/// What `key` means in a file of `role`; `None` if it has no such key.
#[must_use]
pub fn meaning(role: Role, key: &str) -> Option<Meaning> {
    let covers = |known: &&str| key == *known || (known.ends_with('.') && key.starts_with(*known));
    let group = TABLE.iter().find(|group| group.roles.contains(&role) && group.keys.iter().any(covers))?;
    Some(group.meaning)
}

/// The keys that decide something in a file of `role`.
pub fn used(role: Role) -> impl Iterator<Item = &'static str> {
    let groups = TABLE.iter().filter(move |group| group.roles.contains(&role) && group.meaning == Meaning::Used);
    groups.flat_map(|group| group.keys.iter().copied())
}

/// Another role that has the key: it stands in the wrong file.
#[must_use]
pub fn owner(key: &str) -> Option<Role> {
    [Consumer, Producer].into_iter().find(|&role| meaning(role, key).is_some())
}

/// The names that older releases had for `key`.
pub fn old_names(role: Role, key: &str) -> impl Iterator<Item = &'static str> {
    TABLE
        .iter()
        .filter(move |group| group.roles.contains(&role) && matches!(group.meaning, OldName(new) if new == key))
        .flat_map(|group| group.keys.iter().copied())
}

/// The key of `role` that was probably meant by an unknown one: at most one edit for every four characters away.
#[must_use]
pub fn nearest(role: Role, key: &str) -> Option<&'static str> {
    let groups = TABLE.iter().filter(|group| group.roles.contains(&role));
    nearest_of(key, groups.flat_map(|group| group.keys.iter().copied()).filter(|known| !known.ends_with('.')))
}

/// The one of `known` that was probably meant by `key`.
pub(super) fn nearest_of(key: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    // A name of the length of a file is no slip of the pen.
    if key.len() > KEY_CHARS_MAX {
        return None;
    }
    let key = key.to_ascii_lowercase();
    let (distance, nearest) = known.map(|known| (edits(&key, known), known)).min_by_key(|&(distance, _)| distance)?;
    (distance * 4 <= nearest.len()).then_some(nearest)
}

/// Longer keys are not compared.
const KEY_CHARS_MAX: usize = 100;

/// Levenshtein's distance: characters put in, left out or changed.
fn edits(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.chars().count()).collect();
    for (line, a) in (1..).zip(one.chars()) {
        let mut left = line;
        let mut diagonal = line - 1;
        for (above, b) in row.iter_mut().skip(1).zip(other.chars()) {
            let change = diagonal + usize::from(a != b);
            diagonal = *above;
            *above = change.min(left + 1).min(diagonal + 1);
            left = *above;
        }
        if let Some(first) = row.first_mut() {
            *first = line;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Meaning::{Ignored, Refused, Used};
    use super::*;

    #[test]
    fn no_key_stands_twice_in_one_role() {
        for role in [Consumer, Producer, Admin] {
            let mut keys: Vec<_> =
                TABLE.iter().filter(|group| group.roles.contains(&role)).flat_map(|group| group.keys).collect();
            let all = keys.len();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), all, "{}", role.name());
        }
    }

    #[test]
    fn a_key_that_ends_with_a_dot_covers_all_below_it() {
        assert!(matches!(meaning(Consumer, "sasl.jaas.config"), Some(Refused(..))));
        assert!(matches!(meaning(Producer, "ssl.truststore.location"), Some(Ignored(_))));
        assert!(matches!(meaning(Producer, "metrics.context.cluster"), Some(Ignored(_))));
        assert!(matches!(meaning(Producer, "config.providers.file.class"), Some(Refused(..))));
        assert_eq!(meaning(Producer, "sasl"), None);
        assert_eq!(meaning(Producer, "acks.x"), None);
    }

    #[test]
    fn roles_differ() {
        assert_eq!(meaning(Consumer, "group.id"), Some(Used));
        assert_eq!(meaning(Producer, "group.id"), None);
        assert_eq!(owner("group.id"), Some(Consumer));
        assert_eq!(owner("acks"), Some(Producer));
        assert_eq!(owner("nothing"), None);
    }

    #[test]
    fn old_names_lead_to_the_new() {
        assert_eq!(old_names(Consumer, "max.partition.fetch.bytes").collect::<Vec<_>>(), ["fetch.message.max.bytes"]);
        assert_eq!(old_names(Producer, "compression.type").collect::<Vec<_>>(), ["compression.codec"]);
        assert_eq!(old_names(Consumer, "compression.type").count(), 0);
        for group in TABLE {
            if let OldName(new) = group.meaning {
                assert!(group.roles.iter().all(|&role| meaning(role, new) == Some(Used)), "{new}");
            }
        }
    }

    #[test]
    fn a_slip_of_the_pen_is_recognised() {
        assert_eq!(nearest(Consumer, "auto.ofset.reset"), Some("auto.offset.reset"));
        assert_eq!(nearest(Consumer, "group-id"), Some("group.id"));
        assert_eq!(nearest(Consumer, "Bootstrap.Server"), Some("bootstrap.servers"));
        assert_eq!(nearest(Producer, "ack"), Some("acks"));
        assert_eq!(nearest(Producer, "compression.typ"), Some("compression.type"));
        assert_eq!(nearest(Consumer, "my.own.key"), None);
        assert_eq!(nearest(Consumer, ""), None);
    }

    #[test]
    fn edits_are_counted() {
        for (one, other, expected) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("kitten", "sitting", 3)]
        {
            assert_eq!(edits(one, other), expected, "{one} {other}");
        }
    }
}
