//! What a configuration that was read again changes in the mirrors that run: topics at once, the rest at the next start.

use std::collections::BTreeMap;

use super::resolve::Resolved;
use super::settings::in_force;
use super::topics::TopicSelection;

/// What is different for one mirror.
#[derive(Clone, Debug)]
pub enum Change {
    /// It copies other topics from now on.
    Topics {
        /// The mirror.
        mirror: String,
        /// Which topics.
        topics: TopicSelection,
    },
    /// Another setting: it counts from the next start on.
    Setting {
        /// The mirror.
        mirror: String,
        /// The setting's name.
        setting: String,
    },
    /// The mirror is new: it runs from the next start on.
    Appeared(String),
    /// The mirror is gone from the configuration: it runs until the next start.
    Vanished(String),
}

/// What is different in `new`, mirror by mirror.
#[must_use]
pub fn changes(old: &[Resolved], new: &[Resolved]) -> Vec<Change> {
    let mut changes = Vec::new();
    for before in old {
        let mirror = &before.config.name;
        match new.iter().find(|after| after.config.name == *mirror) {
            Some(after) => changes.extend(of_mirror(before, after)),
            None => changes.push(Change::Vanished(mirror.clone())),
        }
    }
    let known = |name: &str| old.iter().any(|before| before.config.name == name);
    let names = new.iter().map(|after| &after.config.name);
    changes.extend(names.filter(|name| !known(name)).cloned().map(Change::Appeared));
    changes
}

fn of_mirror(before: &Resolved, after: &Resolved) -> Vec<Change> {
    let mut changes = Vec::new();
    let mirror = &before.config.name;
    let topics = &after.config.topics;
    if topics.to_string() != before.config.topics.to_string() {
        changes.push(Change::Topics { mirror: mirror.clone(), topics: topics.clone() });
    }
    let values = |resolved: &Resolved| -> BTreeMap<String, String> {
        in_force(resolved).into_iter().map(|setting| (setting.name, setting.value)).collect()
    };
    let (old, mut new) = (values(before), values(after));
    let mut names: Vec<String> = Vec::new();
    for (name, value) in old {
        if new.remove(&name) != Some(value) {
            names.push(name);
        }
    }
    names.extend(new.into_keys());
    let others = names.into_iter().filter(|name| name != "topics" && name != "exclude");
    changes.extend(others.map(|setting| Change::Setting { mirror: mirror.clone(), setting }));
    changes
}
