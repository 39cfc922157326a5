//! `[cluster.…]`: any Kafka client property, for every mirror that reads or writes the cluster.

use std::collections::BTreeMap;

use super::section::Section;
use crate::config::cluster::{Warning, note};
use crate::config::error::{ConfigError, Place};
use crate::config::keys::{self, Meaning, Role};
use crate::config::properties::{RawConfig, RawEntry};

/// One cluster of the file.
pub(super) struct Cluster {
    pub(super) place: Place,
    entries: Vec<RawEntry>,
    pub(super) read: bool,
    pub(super) written: bool,
    /// One of its values cannot be read, which is said already.
    pub(super) faulty: bool,
}

/// Every cluster by name.
pub(super) type Clusters = BTreeMap<String, Cluster>;

/// Reads them all.
pub(super) fn clusters(section: Option<Section<'_>>, errors: &mut Vec<ConfigError>) -> Clusters {
    let mut clusters = Clusters::new();
    for (name, item) in section.map(|mut section| section.take_all()).unwrap_or_default() {
        match item.section() {
            Ok(section) => {
                let before = errors.len();
                let entries = section.properties(errors);
                let faulty = errors.len() > before;
                let cluster = Cluster { place: item.place, entries, read: false, written: false, faulty };
                clusters.insert(name.to_owned(), cluster);
            }
            Err(error) => errors.push(error),
        }
    }
    clusters
}

impl Cluster {
    /// The properties that hold for a mirror: the cluster's, then the mirror's own.
    pub(super) fn properties(&self, file: &str, own: Vec<RawEntry>) -> RawConfig {
        RawConfig::of_entries(file, self.entries.iter().cloned().chain(own))
    }

    /// One warning for each key that does nothing in any mirror.
    pub(super) fn survey(&self, file: &str, errors: &mut Vec<ConfigError>) -> Vec<Warning> {
        let uses = [(self.read, Role::Consumer), (self.written, Role::Producer)];
        let roles: Vec<Role> = uses.into_iter().filter(|(used, _)| *used).map(|(_, role)| role).collect();
        if roles.is_empty() {
            let text = "no mirror reads or writes this cluster".to_owned();
            return vec![Warning { place: Some(self.place.clone()), text }];
        }
        survey(&RawConfig::of_entries(file, self.entries.iter().cloned()), &roles, errors)
    }
}

/// One warning for each key that does nothing in any of the roles.
pub(super) fn survey(raw: &RawConfig, roles: &[Role], errors: &mut Vec<ConfigError>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for entry in raw.entries() {
        let text = match foreign(raw, entry, roles) {
            Some(text) => Ok(text),
            None => in_roles(raw, entry, roles),
        };
        match text {
            Ok(text) => warnings.extend(text.map(|text| Warning { place: Some(raw.place(entry)), text })),
            Err(error) => errors.push(error),
        }
    }
    warnings
}

/// What is to be said in every role; nothing, if one of them has use for the key.
fn in_roles(raw: &RawConfig, entry: &RawEntry, roles: &[Role]) -> Result<Option<String>, ConfigError> {
    let mut said = None;
    for &role in roles {
        let Some(text) = note(role, raw, entry)? else { return Ok(None) };
        said = said.or(Some(text));
    }
    Ok(said)
}

/// What is to be said about a key that only the other role has; `None` for any other key.
fn foreign(raw: &RawConfig, entry: &RawEntry, roles: &[Role]) -> Option<Option<String>> {
    if roles.iter().any(|&role| keys::meaning(role, &entry.key).is_some()) {
        return None;
    }
    let (role, side) = match roles {
        [Role::Consumer] => (Role::Producer, "target"),
        [Role::Producer] => (Role::Consumer, "source"),
        _ => return None,
    };
    match keys::meaning(role, &entry.key)? {
        Meaning::Used | Meaning::OldName(_) => {
            let text =
                format!("ignored: it is a key of the {}, and counts only where the cluster is a {side}", role.name());
            Some(Some(text))
        }
        Meaning::Same { .. } | Meaning::Ignored(_) | Meaning::Refused(..) => {
            Some(note(role, raw, entry).ok().flatten())
        }
    }
}
