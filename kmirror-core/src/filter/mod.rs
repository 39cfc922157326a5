//! Which records of a route are mirrored, and as what: MirrorMaker's message handlers, told in decisions.
//!
//! A [`RecordFilter`] is asked for each record of its route, again after each restart, and has to decide alike each
//! time: where a link goes on is found by counting the records that were mirrored (rule P13). What the decisions
//! depend on is its [`digest`](RecordFilter::digest): a mirror that was killed goes on only under the digest that it had.

mod conditions;
pub use conditions::{BadPattern, ConditionFilter, Conditions};

mod time;
pub use time::timestamp;

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use xxhash_rust::xxh3::Xxh3;

use crate::plan::SourceRecord;

/// Decides about single records. Must be pure: the same record, the same decision, at any time and on any worker.
pub trait RecordFilter: fmt::Debug + Send + Sync {
    /// What becomes of `record` of the source's `topic` and `partition`.
    fn decide(&self, topic: &str, partition: i32, record: &SourceRecord<'_>) -> Decision;

    /// Stands for everything that the decisions depend on: code and settings. Filters that could ever decide differently
    /// must differ in it.
    fn digest(&self) -> u64;
}

/// What becomes of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is mirrored as it is.
    Keep,
    /// It is not mirrored, and counted as filtered.
    Drop,
    /// It is mirrored with another key and value; timestamp and headers stay.
    Replace(Replacement),
}

/// Another key and value for a record. `None` is null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replacement {
    /// The new key.
    pub key: Option<Bytes>,
    /// The new value.
    pub value: Option<Bytes>,
}

/// The filters of a route, in order: the first one that drops a record decides.
#[derive(Clone, Debug, Default)]
pub struct Filters(Vec<Arc<dyn RecordFilter>>);

impl Filters {
    /// These filters, in this order.
    #[must_use]
    pub fn new(filters: Vec<Arc<dyn RecordFilter>>) -> Self {
        Self(filters)
    }

    /// One more, behind those.
    pub fn push(&mut self, filter: Arc<dyn RecordFilter>) {
        self.0.push(filter);
    }

    /// Whether every record is mirrored as it is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Stands for all decisions; 0 without filters.
    #[must_use]
    pub fn digest(&self) -> u64 {
        if self.0.is_empty() {
            return 0;
        }
        let mut hash = Xxh3::new();
        for filter in &self.0 {
            hash.update(&filter.digest().to_be_bytes());
        }
        hash.digest().max(1)
    }

    /// What becomes of `record`: each filter sees what the one before it made.
    #[must_use]
    pub fn decide(&self, topic: &str, partition: i32, record: &SourceRecord<'_>) -> Decision {
        let mut replaced: Option<Replacement> = None;
        for filter in &self.0 {
            let seen = match &replaced {
                Some(new) => SourceRecord { key: new.key.as_deref(), value: new.value.as_deref(), ..*record },
                None => *record,
            };
            match filter.decide(topic, partition, &seen) {
                Decision::Keep => {}
                Decision::Drop => return Decision::Drop,
                Decision::Replace(new) => replaced = Some(new),
            }
        }
        replaced.map_or(Decision::Keep, Decision::Replace)
    }
}

/// One filter behind the other; empty without any.
impl fmt::Display for Filters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, filter) in self.0.iter().enumerate() {
            let before = if at == 0 { "" } else { ", then " };
            write!(f, "{before}{filter:?}")?;
        }
        Ok(())
    }
}

/// Two lists of filters are equal if they decide alike.
impl PartialEq for Filters {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}

#[cfg(test)]
mod tests {
    use kmirror_proto::records::Headers;

    use super::*;

    #[derive(Debug)]
    struct Upper;

    impl RecordFilter for Upper {
        fn decide(&self, _: &str, _: i32, record: &SourceRecord<'_>) -> Decision {
            let value = record.value.map(|value| Bytes::from(value.to_ascii_uppercase()));
            Decision::Replace(Replacement { key: None, value })
        }
        fn digest(&self) -> u64 {
            1
        }
    }

    #[derive(Debug)]
    struct Without(&'static [u8]);

    impl RecordFilter for Without {
        fn decide(&self, _: &str, _: i32, record: &SourceRecord<'_>) -> Decision {
            if record.value == Some(self.0) { Decision::Drop } else { Decision::Keep }
        }
        fn digest(&self) -> u64 {
            2
        }
    }

    fn decided(filters: Vec<Arc<dyn RecordFilter>>, value: &'static [u8]) -> Decision {
        let record = SourceRecord { offset: 0, timestamp: 0, key: None, value: Some(value), headers: Headers::NONE };
        Filters::new(filters).decide("t", 0, &record)
    }

    #[test]
    fn each_filter_sees_what_the_one_before_it_made() {
        let upper = || Arc::new(Upper);
        assert_eq!(decided(vec![upper(), Arc::new(Without(b"A"))], b"a"), Decision::Drop);
        assert_ne!(decided(vec![Arc::new(Without(b"A")), upper()], b"a"), Decision::Drop);
        let value = Some(Bytes::from_static(b"B"));
        assert_eq!(
            decided(vec![upper(), Arc::new(Without(b"A"))], b"b"),
            Decision::Replace(Replacement { key: None, value })
        );
        assert_eq!(decided(vec![], b"a"), Decision::Keep);
    }

    #[test]
    fn order_and_number_are_part_of_the_digest() {
        let (upper, without): (Arc<dyn RecordFilter>, Arc<dyn RecordFilter>) =
            (Arc::new(Upper), Arc::new(Without(b"")));
        let digest = |filters: &[&Arc<dyn RecordFilter>]| {
            Filters::new(filters.iter().map(|filter| Arc::clone(filter)).collect()).digest()
        };
        let all = [digest(&[]), digest(&[&upper]), digest(&[&upper, &without]), digest(&[&without, &upper])];
        assert_eq!(all[0], 0);
        assert_eq!(std::collections::BTreeSet::from(all).len(), 4);
    }
}
