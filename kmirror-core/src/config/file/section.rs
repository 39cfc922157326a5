//! One table of the file, read setting by setting; what nobody read is unknown.

use std::collections::BTreeMap;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::document::{Item, Text};
use crate::config::error::{ConfigError, Place};
use crate::config::keys::nearest_of;
use crate::config::origin::{Origin, Origins};
use crate::config::properties::RawEntry;
use crate::config::units::{DURATION_FORM, SIZE_FORM, duration, size};

/// A table, and the settings that have been asked of it.
pub(super) struct Section<'a> {
    text: &'a Text<'a>,
    pub(super) place: Place,
    /// In the order of the file.
    items: Vec<(&'a str, Item<'a>)>,
    known: Vec<&'static str>,
}

impl<'a> Section<'a> {
    pub(super) fn new(text: &'a Text<'a>, place: Place, table: &'a DeTable<'a>) -> Self {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let item = |(key, value): (&'a Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>)| {
            let name: &'a str = key.get_ref();
            let path = joined(&place.key, name);
            (name, Item::new(text, text.place(&path, &key.span()), value))
        };
        let items = entries.into_iter().map(item).collect();
        Self { text, place, items, known: Vec::new() }
    }

    /// Whether the setting is still there to be read.
    pub(super) fn has(&self, key: &str) -> bool {
        self.items.iter().any(|(name, _)| *name == key)
    }

    /// The value of a setting.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Item<'a>> {
        self.known.push(key);
        let at = self.items.iter().position(|(name, _)| *name == key)?;
        Some(self.items.remove(at).1)
    }

    /// Everything that is left, with its name.
    pub(super) fn take_all(&mut self) -> Vec<(&'a str, Item<'a>)> {
        std::mem::take(&mut self.items)
    }

    /// Everything that is left, as properties: tables are the parts before a key's dots.
    pub(super) fn properties(mut self, errors: &mut Vec<ConfigError>) -> Vec<RawEntry> {
        let mut entries = Vec::new();
        let table = if self.place.key.is_empty() { String::new() } else { format!("{}.", self.place.key) };
        let mut open: Vec<(String, Item<'a>)> =
            self.take_all().into_iter().rev().map(|(name, item)| (name.to_owned(), item)).collect();
        // Not recursive: the depth is the file's.
        while let Some((key, item)) = open.pop() {
            if item.value.get_ref().is_table() {
                let Ok(mut below) = item.section() else { continue };
                open.extend(below.take_all().into_iter().rev().map(|(name, item)| (format!("{key}.{name}"), item)));
                continue;
            }
            match item.property() {
                Ok(value) => {
                    let value = value.trim_matches(|c| c <= ' ').to_owned();
                    entries.push(RawEntry { key, value, line: item.place.line, table: table.clone() });
                }
                Err(error) => errors.push(error),
            }
        }
        entries
    }

    /// Each setting that nobody asked for is an error.
    pub(super) fn finish(self, errors: &mut Vec<ConfigError>) {
        let known = self.known;
        for (name, item) in self.items {
            let fault = match nearest_of(name, known.iter().copied()) {
                Some(near) => format!("unknown setting; did you mean {near}?"),
                None if item.value.get_ref().is_table() => {
                    "unknown setting; a name with a dot in it stands in quotes, as in [mirror.\"eu.orders\"]".to_owned()
                }
                None => "unknown setting".to_owned(),
            };
            errors.push(item.fault(fault));
        }
    }
}

/// A section that is read into settings: remembers where they come from, and goes on after an error.
pub(super) struct Reader<'a, 'e> {
    pub(super) section: Section<'a>,
    pub(super) errors: &'e mut Vec<ConfigError>,
    pub(super) origins: &'e mut Origins,
    /// Stands before the names of the settings, for their origins.
    prefix: String,
}

impl<'a, 'e> Reader<'a, 'e> {
    pub(super) fn new(
        section: Section<'a>,
        prefix: String,
        errors: &'e mut Vec<ConfigError>,
        origins: &'e mut Origins,
    ) -> Self {
        Self { section, errors, origins, prefix }
    }

    /// Something is wrong with the table as a whole.
    pub(super) fn fault(&mut self, fault: impl Into<String>) {
        let place = self.section.place.clone();
        self.errors.push(ConfigError::Setting { place, fault: fault.into() });
    }

    /// One setting, if it is there and can be read.
    pub(super) fn read<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Item<'a>) -> Result<T, ConfigError>,
    ) -> Option<T> {
        let item = self.section.take(key)?;
        self.origins.set(format!("{}{key}", self.prefix), Origin::Place(item.place.clone()));
        read(&item).map_err(|error| self.errors.push(error)).ok()
    }

    pub(super) fn duration(&mut self, key: &'static str, least: Duration) -> Option<Duration> {
        self.read(key, |item| {
            let read = item.value.get_ref().as_str().map(|_| item.text()).transpose()?;
            let found = read.as_deref().and_then(duration).filter(|found| *found >= least);
            // Kafka's waits are ints of milliseconds.
            let found = found.filter(|found| found.as_millis() <= i32::MAX.unsigned_abs().into());
            let least = if least.is_zero() { String::new() } else { format!(", at least {}ms", least.as_millis()) };
            found.ok_or_else(|| item.wrong(format!("{DURATION_FORM}{least}")))
        })
    }

    pub(super) fn size(&mut self, key: &'static str, range: std::ops::RangeInclusive<usize>) -> Option<usize> {
        self.read(key, |item| {
            let read = item.value.get_ref().as_str().map(|_| item.text()).transpose()?;
            let found = read.as_deref().and_then(size).filter(|found| range.contains(found));
            let bounds = format!(", from {}B to {}B", range.start(), range.end());
            found.ok_or_else(|| item.wrong(format!("{SIZE_FORM}{bounds}")))
        })
    }

    pub(super) fn number(&mut self, key: &'static str, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        self.read(key, |item| {
            let found = item.whole().filter(|found| range.contains(found));
            found.ok_or_else(|| item.wrong(format!("a whole number from {} to {}", range.start(), range.end())))
        })
    }

    pub(super) fn boolean(&mut self, key: &'static str) -> Option<bool> {
        self.read(key, Item::boolean)
    }

    pub(super) fn one_of<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)]) -> Option<T> {
        self.read(key, |item| {
            let text = item.text()?;
            let found = words.iter().find(|(word, _)| *word == text).map(|&(_, value)| value);
            let expected = || words.iter().map(|(word, _)| format!("{word:?}")).collect::<Vec<_>>().join(", ");
            found.ok_or_else(|| item.wrong(format!("one of {}", expected())))
        })
    }

    /// A table of texts by name, dots and all.
    pub(super) fn table(&mut self, key: &'static str) -> BTreeMap<String, String> {
        let Some(item) = self.section.take(key) else { return BTreeMap::new() };
        match item.section() {
            Ok(section) => {
                let entries = section.properties(self.errors);
                let file = self.section.text.file.to_owned();
                for RawEntry { key: name, line, table, .. } in &entries {
                    let place = Place { file: file.clone(), line: *line, key: format!("{table}{name}") };
                    self.origins.set(format!("{}{key}.{name}", self.prefix), Origin::Place(place));
                }
                entries.into_iter().map(|entry| (entry.key, entry.value)).collect()
            }
            Err(error) => {
                self.errors.push(error);
                BTreeMap::new()
            }
        }
    }

    pub(super) fn finish(self) {
        self.section.finish(self.errors);
    }
}

/// A path as TOML would have it.
pub(super) fn joined(path: &str, name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let name = if bare { name.to_owned() } else { format!("{name:?}") };
    if path.is_empty() { name } else { format!("{path}.{name}") }
}
