//! `kmirror.toml`: clusters, and any number of mirrors between them.
//!
//! ```text
//! [cluster.old]                        Kafka's own keys, quoted or dotted
//! bootstrap.servers = "old:9092"
//! [cluster.new]
//! bootstrap.servers = "${NEW_KAFKA}"
//!
//! [mirror.orders]                      the name of the mirror
//! source = "old"
//! target = "new"
//! topics = ["orders.*", "payments"]    …and what kmirror.example.toml explains
//! consumer.fetch.max.bytes = 1048576   Kafka's own keys, for this mirror only
//!
//! [[mirror.orders.route]]              other settings for some of the topics
//! topics = "payments"
//! partitions = "stop"
//! ```
//!
//! Errors do not end the reading: all of them are told at once, each with its file, line and key.

mod clusters;
mod document;
mod mirrors;
mod route;
mod section;

use std::fmt;

pub use document::FILE_BYTES_MAX;

use super::error::{ConfigError, Place};
use super::origin::Origins;
use super::resolve::Resolved;
use document::{Item, Text};
use section::{Reader, Section};

/// What lies outside of the file: this module reads neither the environment nor other files.
pub struct Surroundings<'a> {
    /// The variable of a name.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// The bytes of a file that the file names.
    pub read: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// How many streams a mirror has that says nothing, at most [`defaults::STREAMS_MAX`](super::defaults::STREAMS_MAX):
    /// the machine's cores.
    pub cores: usize,
    /// `--until-caught-up`, for every mirror.
    pub until_caught_up: bool,
}

/// All that is wrong with a file; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors(Vec<ConfigError>);

/// Reads a configuration file; `name` is what messages call it. The mirrors come in the order of the file.
///
/// # Errors
///
/// Everything that is wrong with it, each in one sentence with its place.
pub fn parse(name: &str, bytes: &[u8], surroundings: &Surroundings<'_>) -> Result<Vec<Resolved>, ConfigErrors> {
    let text = Text::new(name, bytes, surroundings.env).map_err(ConfigErrors::one)?;
    let table = text.parse().map_err(ConfigErrors::one)?;
    let top = Place { file: name.to_owned(), line: 1, key: String::new() };
    let (mut errors, mut origins) = (Vec::new(), Origins::default());

    let section = Section::new(&text, top.clone(), table.get_ref());
    let mut reader = Reader::new(section, String::new(), &mut errors, &mut origins);
    let (clusters, mirrors) = (reader.read("cluster", Item::section), reader.read("mirror", Item::section));
    reader.finish();

    let mut clusters = clusters::clusters(clusters, &mut errors);
    let mut resolved: Vec<Resolved> = Vec::new();
    let mut found = false;
    for (name, item) in mirrors.map(|mut mirrors| mirrors.take_all()).unwrap_or_default() {
        found = true;
        match item.section() {
            Ok(section) => resolved.extend(mirrors::mirror(name, section, &mut clusters, surroundings, &mut errors)),
            Err(error) => errors.push(error),
        }
    }
    if !found && errors.is_empty() {
        let fault = "it has no mirror: [mirror.NAME] with source, target and topics makes one".to_owned();
        errors.push(ConfigError::Toml { file: name.to_owned(), line: 1, fault });
    }
    let mut warnings: Vec<_> = clusters.values().flat_map(|cluster| cluster.survey(name, &mut errors)).collect();
    warnings.sort_by_key(|warning| warning.place.as_ref().map_or(0, |place| place.line));
    // What is said about clusters is said once.
    if let Some(first) = resolved.first_mut() {
        first.warnings.splice(0..0, warnings);
    }
    if errors.is_empty() { Ok(resolved) } else { Err(ConfigErrors::of(errors)) }
}

impl ConfigErrors {
    fn one(error: ConfigError) -> Self {
        Self(vec![error])
    }

    /// In the order of the file.
    fn of(mut errors: Vec<ConfigError>) -> Self {
        errors.sort_by_key(ConfigError::line);
        errors.dedup();
        Self(errors)
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &ConfigError> {
        self.0.iter()
    }
}

impl std::error::Error for ConfigErrors {}

/// One line each.
impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.0.iter().enumerate() {
            let before = if at == 0 { "" } else { "\n" };
            write!(f, "{before}{error}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod example;
#[cfg(test)]
mod tests;
