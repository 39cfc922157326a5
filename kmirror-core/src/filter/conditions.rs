//! The built-in filters: what a record's key, headers, time and value have to be like for it to be kept or dropped.

use std::fmt;

use regex::bytes::{Regex, RegexBuilder};
use xxhash_rust::xxh3::xxh3_64;

use super::{Decision, RecordFilter};
use crate::plan::SourceRecord;

/// What a record has to be like. Every condition that is set has to hold; without any, all records meet it.
///
/// Expressions are those of the `regex` crate over bytes: `.` is any byte but a line feed, `\xNN` is a byte, and they
/// are searched for anywhere unless `^` and `$` say otherwise. `(?u)` switches to Unicode.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    key: Option<Regex>,
    headers: Vec<(String, Option<Regex>)>,
    since: Option<i64>,
    until: Option<i64>,
    tombstone: Option<bool>,
}

/// A filter that keeps, or drops, the records that meet its conditions.
#[derive(Clone)]
pub struct ConditionFilter {
    met: Met,
    conditions: Conditions,
    digest: u64,
}

/// What becomes of a record that meets all conditions; any other record has the opposite fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Met {
    Keep,
    Drop,
}

/// An expression that is none, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a regular expression: {fault}")]
pub struct BadPattern {
    /// The expression.
    pub pattern: String,
    /// What is wrong with it.
    pub fault: String,
}

impl Conditions {
    /// The key matches. A record whose key is null does not meet this, whatever the expression.
    ///
    /// # Errors
    /// If `pattern` is no regular expression.
    pub fn key(self, pattern: &str) -> Result<Self, BadPattern> {
        Ok(Self { key: Some(compile(pattern)?), ..self })
    }

    /// The record has a header of this name.
    #[must_use]
    pub fn header(mut self, name: &str) -> Self {
        self.headers.push((name.to_owned(), None));
        self
    }

    /// The record has a header of this name whose value matches; null does not.
    ///
    /// # Errors
    /// If `pattern` is no regular expression.
    pub fn header_value(mut self, name: &str, pattern: &str) -> Result<Self, BadPattern> {
        self.headers.push((name.to_owned(), Some(compile(pattern)?)));
        Ok(self)
    }

    /// The record's time is this or later, in milliseconds since 1970. A record without a time does not meet this.
    #[must_use]
    pub fn since(self, ms: i64) -> Self {
        Self { since: Some(ms), ..self }
    }

    /// The record's time is earlier than this, in milliseconds since 1970. A record without a time does not meet this.
    #[must_use]
    pub fn until(self, ms: i64) -> Self {
        Self { until: Some(ms), ..self }
    }

    /// The value is null; or, for `false`, it is not.
    #[must_use]
    pub fn tombstone(self, wanted: bool) -> Self {
        Self { tombstone: Some(wanted), ..self }
    }

    /// Whether no condition is set: every record meets this.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { key, headers, since, until, tombstone } = self;
        key.is_none() && headers.is_empty() && since.is_none() && until.is_none() && tombstone.is_none()
    }

    /// Whether the record meets every condition.
    #[must_use]
    pub fn met_by(&self, record: &SourceRecord<'_>) -> bool {
        // Kafka's "no timestamp" is -1.
        let time = Some(record.timestamp).filter(|&time| time >= 0);
        self.since.is_none_or(|since| time.is_some_and(|time| time >= since))
            && self.until.is_none_or(|until| time.is_some_and(|time| time < until))
            && self.tombstone.is_none_or(|wanted| record.value.is_none() == wanted)
            && self.key.as_ref().is_none_or(|key| record.key.is_some_and(|bytes| key.is_match(bytes)))
            && self.headers.iter().all(|(name, value)| has_header(record, name, value.as_ref()))
    }
}

impl ConditionFilter {
    /// Keeps only the records that meet all conditions.
    #[must_use]
    pub fn keep(conditions: Conditions) -> Self {
        Self::new(Met::Keep, conditions)
    }

    /// Drops the records that meet all conditions.
    #[must_use]
    pub fn drop(conditions: Conditions) -> Self {
        Self::new(Met::Drop, conditions)
    }

    fn new(met: Met, conditions: Conditions) -> Self {
        let mut filter = Self { met, conditions, digest: 0 };
        // The number stands for the code above: another reading of the same settings has to have another one.
        filter.digest = xxh3_64(format!("kmirror conditions 1: {filter}").as_bytes());
        filter
    }
}

impl RecordFilter for ConditionFilter {
    fn decide(&self, _topic: &str, _partition: i32, record: &SourceRecord<'_>) -> Decision {
        match (self.met, self.conditions.met_by(record)) {
            (Met::Keep, true) | (Met::Drop, false) => Decision::Keep,
            (Met::Keep, false) | (Met::Drop, true) => Decision::Drop,
        }
    }

    fn digest(&self) -> u64 {
        self.digest
    }
}

/// As [`Display`](fmt::Display).
impl fmt::Debug for ConditionFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The canonical text: equal for filters that decide alike, different for any others.
impl fmt::Display for ConditionFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let met = match self.met {
            Met::Keep => "keep",
            Met::Drop => "drop",
        };
        write!(f, "{met} {}", self.conditions)
    }
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.key.as_ref().map(|key| format!("key={:?}", key.as_str())));
        parts.extend(self.headers.iter().map(|(name, value)| match value {
            Some(value) => format!("header={name:?}={:?}", value.as_str()),
            None => format!("header={name:?}"),
        }));
        parts.extend(self.since.map(|since| format!("since={since}")));
        parts.extend(self.until.map(|until| format!("until={until}")));
        parts.extend(self.tombstone.map(|wanted| format!("tombstone={wanted}")));
        f.write_str(&parts.join(" "))
    }
}

fn has_header(record: &SourceRecord<'_>, name: &str, value: Option<&Regex>) -> bool {
    let mut named = record.headers.iter().filter(|(found, _)| *found == name.as_bytes());
    match value {
        Some(pattern) => named.any(|(_, value)| value.is_some_and(|bytes| pattern.is_match(bytes))),
        None => named.next().is_some(),
    }
}

/// Over bytes: keys and header values need not be text.
fn compile(pattern: &str) -> Result<Regex, BadPattern> {
    RegexBuilder::new(pattern).unicode(false).build().map_err(|error| {
        let text = error.to_string();
        // The last line of the crate's drawing is what it has to say.
        let fault = text.lines().next_back().unwrap_or_default().trim_start_matches("error: ").to_owned();
        BadPattern { pattern: pattern.to_owned(), fault }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ops::ControlFlow;

    use kmirror_proto::compress::Codec;
    use kmirror_proto::records::{BatchBuilder, Headers, HeadersSource, Stamp, split};

    use super::*;

    fn met(conditions: &Conditions, key: Option<&[u8]>, value: Option<&[u8]>, timestamp: i64) -> bool {
        let headers = Headers::NONE;
        conditions.met_by(&SourceRecord { offset: 0, timestamp, key, value, headers })
    }

    fn keyed(pattern: &str, key: Option<&[u8]>) -> bool {
        met(&Conditions::default().key(pattern).unwrap(), key, None, 0)
    }

    #[test]
    fn a_key_is_bytes_and_null_is_none() {
        assert!(keyed("^tmp", Some(b"tmp-1")) && !keyed("^tmp", Some(b"a tmp")) && keyed("tmp", Some(b"a tmp")));
        assert!(keyed("^$", Some(b"")) && !keyed("^$", None) && !keyed("", None));
        assert!(keyed(r"^\xff.\x00$", Some(b"\xff\xfe\x00")), "no text, and matched byte by byte");
        assert!(keyed("ü", Some("für".as_bytes())), "a character is its bytes");
    }

    #[test]
    fn time_is_a_half_open_range_and_no_time_is_outside() {
        let range = Conditions::default().since(10).until(20);
        let at: Vec<i64> = [-1, 9, 10, 19, 20].into_iter().filter(|&ms| met(&range, None, None, ms)).collect();
        assert_eq!(at, [10, 19]);
        assert!(!met(&Conditions::default().until(20), None, None, -1));
        assert!(met(&Conditions::default().since(0), None, None, 0));
    }

    #[test]
    fn a_tombstone_has_no_value() {
        let (tombstone, other) = (Conditions::default().tombstone(true), Conditions::default().tombstone(false));
        assert!(met(&tombstone, Some(b"k"), None, 0) && !met(&tombstone, None, Some(b""), 0));
        assert!(!met(&other, Some(b"k"), None, 0) && met(&other, None, Some(b""), 0));
    }

    /// Each header condition is met by any header of that name; duplicates are legal in Kafka.
    #[test]
    fn headers_by_name_and_value() {
        let mut builder = BatchBuilder::new(Codec::None, None);
        let headers: &[(&[u8], Option<&[u8]>)] =
            &[(b"origin", Some(b"eu")), (b"origin", Some(b"us")), (b"trace", None)];
        builder.push(1, None, None, HeadersSource::List(headers)).unwrap();
        let entry = split(builder.finish(Stamp::NONE).unwrap()).next().unwrap().unwrap();
        let has = |conditions: Conditions| {
            let mut found = None;
            crate::plan::decode(&entry, |record| {
                found = Some(conditions.met_by(&record));
                ControlFlow::Break(())
            })
            .unwrap();
            found.unwrap()
        };
        assert!(has(Conditions::default().header("origin")) && has(Conditions::default().header("trace")));
        assert!(!has(Conditions::default().header("Origin")));
        for (name, pattern, expected) in
            [("origin", "^us$", true), ("origin", "^u$", false), ("trace", "", false), ("none", "", false)]
        {
            let conditions = Conditions::default().header_value(name, pattern).unwrap();
            assert_eq!(has(conditions), expected, "{name} {pattern}");
        }
        assert!(!has(Conditions::default().header("origin").header("none")), "all of them");
    }

    #[test]
    fn keep_and_drop_are_opposites() {
        let conditions = || Conditions::default().key("a").unwrap().tombstone(true);
        let decided = |filter: &ConditionFilter, key: &'static [u8], value| {
            let headers = Headers::NONE;
            filter.decide("t", 0, &SourceRecord { offset: 0, timestamp: 0, key: Some(key), value, headers })
        };
        let (keep, drop) = (ConditionFilter::keep(conditions()), ConditionFilter::drop(conditions()));
        assert_eq!((decided(&keep, b"a", None), decided(&drop, b"a", None)), (Decision::Keep, Decision::Drop));
        for (key, value) in [(b"a", Some(&b""[..])), (b"b", None)] {
            assert_eq!((decided(&keep, key, value), decided(&drop, key, value)), (Decision::Drop, Decision::Keep));
        }
    }

    #[test]
    fn the_text_tells_filters_apart() {
        let base = Conditions::default;
        let filters = [
            ConditionFilter::keep(base().key("a").unwrap()),
            ConditionFilter::drop(base().key("a").unwrap()),
            ConditionFilter::keep(base().header("a")),
            ConditionFilter::keep(base().header_value("a", "").unwrap()),
            // Quoted, so that no value passes for another condition.
            ConditionFilter::keep(base().key("a\" since=\"1").unwrap()),
            ConditionFilter::keep(base().key("a").unwrap().since(1)),
            ConditionFilter::keep(base().key("a").unwrap().until(1)),
            ConditionFilter::keep(base().tombstone(true)),
            ConditionFilter::keep(base().tombstone(false)),
            ConditionFilter::keep(base().header("a").header("b")),
        ];
        let digests: BTreeSet<u64> = filters.iter().map(RecordFilter::digest).collect();
        assert_eq!(digests.len(), filters.len());
        assert_eq!(ConditionFilter::keep(base().since(1)).digest(), ConditionFilter::keep(base().since(1)).digest());
        let all = base().key("^a").unwrap().header_value("h", "x").unwrap().since(1).until(2).tombstone(false);
        let text = r#"drop key="^a" header="h"="x" since=1 until=2 tombstone=false"#;
        assert_eq!(ConditionFilter::drop(all).to_string(), text);
    }

    #[test]
    fn a_bad_expression_is_one_sentence() {
        for pattern in ["(", "a(?!b)", "*", &"(a{1000}){1000}".repeat(3)] {
            let error = Conditions::default().key(pattern).unwrap_err().to_string();
            assert!(error.contains("is not a regular expression") && !error.contains('\n'), "{error}");
        }
    }
}
