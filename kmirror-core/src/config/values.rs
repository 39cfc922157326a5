//! Values of single properties, read as Kafka's `ConfigDef` reads them: numbers and booleans trimmed, ranges checked.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::error::{ConfigError, Place};
use super::keys::{Role, old_names};
use super::properties::{RawConfig, RawEntry};

/// Kafka's `int` keys end here; a wait of so many milliseconds (24 days) is as good as for ever.
const INT_MAX: i64 = i32::MAX as i64;

/// One file, asked for the keys of one role.
pub(super) struct Values<'a> {
    raw: &'a RawConfig,
    role: Role,
}

impl<'a> Values<'a> {
    pub(super) const fn new(raw: &'a RawConfig, role: Role) -> Self {
        Self { raw, role }
    }

    pub(super) fn file(&self) -> &'a str {
        self.raw.file()
    }

    /// The entry of a key, under its name of today or, failing that, an older one. An empty value is none.
    pub(super) fn entry(&self, key: &str) -> Option<&'a RawEntry> {
        let old = old_names(self.role, key).find_map(|old| self.raw.get(old));
        self.raw.get(key).or(old).filter(|entry| !entry.value.is_empty())
    }

    pub(super) fn place(&self, entry: &RawEntry) -> Place {
        self.raw.place(entry)
    }

    pub(super) fn wrong(&self, entry: &RawEntry, expected: impl Into<String>) -> ConfigError {
        ConfigError::Value { place: self.place(entry), value: entry.value.clone(), expected: expected.into() }
    }

    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.entry(key).map(|entry| entry.value.as_str())
    }

    /// A wait in milliseconds; one beyond `INT_MAX` is cut to it, since Kafka's `long` keys may hold any.
    pub(super) fn wait(&self, key: &str, least_ms: i64, default: Duration) -> Result<Duration, ConfigError> {
        let Some(ms) = self.number(key, "milliseconds", least_ms..=i64::MAX)? else {
            return Ok(default);
        };
        Ok(Duration::from_millis(ms.min(INT_MAX).unsigned_abs()))
    }

    /// A size in bytes, up to what Kafka's `int` holds.
    pub(super) fn bytes(&self, key: &str, least: i64, default: usize) -> Result<usize, ConfigError> {
        let Some(bytes) = self.number(key, "bytes", least..=INT_MAX)? else {
            return Ok(default);
        };
        Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    pub(super) fn boolean(&self, key: &str, default: bool) -> Result<bool, ConfigError> {
        let Some(entry) = self.entry(key) else {
            return Ok(default);
        };
        match entry.value.to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.wrong(entry, "true or false")),
        }
    }

    /// One of a few words, compared as Kafka compares them: case counts.
    pub(super) fn one_of<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<Option<T>, ConfigError> {
        let Some(entry) = self.entry(key) else { return Ok(None) };
        let found = words.iter().find(|(word, _)| *word == entry.value);
        let expected = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        found.map(|&(_, value)| Some(value)).ok_or_else(|| self.wrong(entry, format!("one of {}", expected())))
    }

    pub(super) fn number(&self, key: &str, unit: &str, range: RangeInclusive<i64>) -> Result<Option<i64>, ConfigError> {
        let Some(entry) = self.entry(key) else { return Ok(None) };
        let number = entry.value.parse().ok().filter(|number| range.contains(number));
        number.map(Some).ok_or_else(|| {
            let upper = if *range.end() == i64::MAX { String::new() } else { format!(" and at most {}", range.end()) };
            self.wrong(entry, format!("a whole number of {unit}, at least {}{upper}", range.start()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<T>(text: &str, role: Role, ask: impl FnOnce(&Values<'_>) -> T) -> T {
        let raw = RawConfig::parse("c.properties", text.as_bytes()).unwrap();
        ask(&Values::new(&raw, role))
    }

    #[test]
    fn waits_have_a_least_value_and_end_at_an_int() {
        let wait = |text: &str| with(text, Role::Consumer, |v| v.wait("retry.backoff.ms", 1, Duration::from_secs(7)));
        assert_eq!(wait(""), Ok(Duration::from_secs(7)));
        assert_eq!(wait("retry.backoff.ms="), Ok(Duration::from_secs(7)));
        assert_eq!(wait("retry.backoff.ms= 250 "), Ok(Duration::from_millis(250)));
        assert_eq!(wait("retry.backoff.ms=9223372036854775807"), Ok(Duration::from_millis(2_147_483_647)));
        for bad in ["0", "-1", "1.5", "5s", "99999999999999999999"] {
            let error = wait(&format!("\nretry.backoff.ms={bad}")).unwrap_err().to_string();
            let expected = "a whole number of milliseconds, at least 1";
            let text = format!("c.properties:2: retry.backoff.ms: {bad:?} is not a value of this key: {expected}");
            assert_eq!(error, text);
        }
    }

    #[test]
    fn sizes_are_ints() {
        let bytes = |text: &str| with(text, Role::Consumer, |v| v.bytes("fetch.max.bytes", 0, 8));
        assert_eq!(bytes("fetch.max.bytes=52428800"), Ok(52_428_800));
        assert_eq!(bytes("fetch.max.bytes=0"), Ok(0));
        assert!(bytes("fetch.max.bytes=2147483648").unwrap_err().to_string().ends_with("at most 2147483647"));
    }

    #[test]
    fn a_new_name_wins_over_the_old() {
        let bytes = |text: &str| with(text, Role::Consumer, |v| v.bytes("max.partition.fetch.bytes", 1, 8));
        assert_eq!(bytes("fetch.message.max.bytes=100"), Ok(100));
        assert_eq!(bytes("fetch.message.max.bytes=100\nmax.partition.fetch.bytes=200"), Ok(200));
    }

    #[test]
    fn booleans_and_words() {
        let crcs = |text: &str| with(text, Role::Consumer, |v| v.boolean("check.crcs", true));
        assert_eq!(crcs(""), Ok(true));
        assert_eq!(crcs("check.crcs=FALSE"), Ok(false));
        assert!(crcs("check.crcs=no").is_err());

        let words: &[(&str, u8)] = &[("one", 1), ("two", 2)];
        let word = |text: &str| with(text, Role::Consumer, |v| v.one_of("isolation.level", words));
        assert_eq!(word("isolation.level=two"), Ok(Some(2)));
        assert!(word("isolation.level=Two").unwrap_err().to_string().ends_with("one of one, two"));
    }
}
