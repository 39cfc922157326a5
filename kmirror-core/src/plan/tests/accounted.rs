//! Every record of the source is written, filtered or left out, whatever its route says; and the walk counts the same.

use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::split;
use proptest::prelude::*;

use super::super::{
    Abilities, Fingerprint, LeftOut, Loss, LossRange, Magic, Outcome, Piece, Refused, SourceRecord, TopicLimits, View,
    Walked, decode, plan, walk,
};
use super::generated::{Log, committed, log_of, part};
use super::{LARGE, V1, V2, bytes_of, contents, view};
use crate::config::{LossPolicy, Policies};
use crate::fetch::Aborted;
use crate::filter::{Decision, Filters, RecordFilter, Replacement};
use crate::sample::{Seen, T0};

/// `max.message.bytes` of the target's topic: more than any generated record takes.
const BYTES_MAX: usize = 1200;

/// Every seventh record each: dropped, without its key, too large, too large unless it is compressed.
#[derive(Debug)]
struct ByOffset;

impl RecordFilter for ByOffset {
    fn decide(&self, _: &str, _: i32, record: &SourceRecord<'_>) -> Decision {
        let key = record.key.map(Bytes::copy_from_slice);
        match record.offset % 7 {
            1 => Decision::Drop,
            2 => Decision::Replace(Replacement { key: None, value: record.value.map(Bytes::copy_from_slice) }),
            3 => Decision::Replace(Replacement { key, value: Some(noise().into()) }),
            4 => Decision::Replace(Replacement { key, value: Some(vec![b'x'; 5000].into()) }),
            _ => Decision::Keep,
        }
    }

    fn digest(&self) -> u64 {
        7
    }
}

/// Letters that do not compress well.
fn noise() -> Vec<u8> {
    let mut state = 7_u32;
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b'0' + u8::try_from(state >> 26).unwrap()
    };
    (0..4000).map(|_| letter()).collect()
}

#[derive(Clone, Debug)]
struct Route {
    target: Abilities,
    codec: Option<Codec>,
    filters: Filters,
    limits: TopicLimits,
    policies: Policies,
    left_out: LeftOut,
}

/// What a link did with a log until it was at its end or stopped.
#[derive(Debug, Default)]
struct Account {
    pieces: Vec<Piece>,
    filtered: u64,
    left_out: Vec<LossRange>,
    refused: Option<(i64, Refused)>,
    cursor: i64,
}

impl Route {
    fn view(&self, cursor: i64) -> View<'_> {
        View {
            limits: self.limits,
            now_ms: T0 + 10,
            policies: self.policies,
            filters: &self.filters,
            left_out: &self.left_out,
            ..view(cursor, self.target)
        }
    }

    fn planned(&self, log: &Log, cursor: i64) -> Outcome {
        let aborted = Aborted::new(Some(&log.aborted));
        plan(log.bytes.clone(), aborted, &self.view(cursor), self.codec, LARGE, &mut None)
    }

    /// Plans as a link does: what has to be left out is stored, then the same answer is planned from where it stands.
    fn run(&mut self, log: &Log, cursor: i64) -> Account {
        let mut account = Account { cursor, ..Account::default() };
        loop {
            let outcome = self.planned(log, account.cursor);
            account.cursor = outcome.cursor;
            account.filtered += outcome.filtered;
            account.pieces.extend(outcome.pieces);
            account.refused = outcome.refused;
            if outcome.left_out.is_empty() {
                return account;
            }
            assert_eq!(account.refused, None, "first things first");
            for range in outcome.left_out {
                assert!(!self.left_out.touches(range.from, range.to), "left out once");
                self.left_out.add(range.from, range.to);
                account.left_out.push(range);
            }
        }
    }

    fn walked(&self, log: &Log, cursor: i64, wanted: u64) -> Walked {
        walk(log.bytes.clone(), Aborted::new(Some(&log.aborted)), &self.view(cursor), wanted)
    }

    /// What would be written of a record; `None` if the filters drop it.
    fn filtered(&self, record: &Seen) -> Option<Seen> {
        let mut record = record.clone();
        if !self.filters.is_empty() {
            match record.offset % 7 {
                1 => return None,
                2 => record.key = None,
                3 => record.value = Some(String::from_utf8(noise()).unwrap()),
                4 => record.value = Some("x".repeat(5000)),
                _ => {}
            }
        }
        Some(record)
    }

    /// Why it cannot be written, and whether that stops the link.
    fn lost(&self, record: &Seen, headers: usize) -> Option<(&'static str, LossPolicy)> {
        let age = T0 + 10 - record.timestamp;
        let too_large = match record.value.as_ref().map_or(0, String::len) {
            4000 => true,
            5000 => self.codec == Some(Codec::None),
            _ => false,
        };
        if self.limits.keys_required && record.key.is_none() {
            Some(("key", self.policies.keyless))
        } else if record.timestamp != -1
            && (self.limits.timestamp_before_max_ms.is_some_and(|most| age > most)
                || self.limits.timestamp_after_max_ms.is_some_and(|most| -age > most))
        {
            Some(("timestamp", self.policies.timestamps))
        } else if self.limits.batch_bytes_max.is_some() && too_large {
            Some(("size", self.policies.too_large))
        } else if self.target.magic == Magic::V1 && headers > 0 && self.policies.headers == LossPolicy::Refuse {
            Some(("headers", LossPolicy::Refuse))
        } else {
            None
        }
    }
}

fn kind(loss: &Loss) -> &'static str {
    match loss {
        Loss::Headers => "headers",
        Loss::TooLarge { .. } => "size",
        Loss::Timestamp { .. } => "timestamp",
        Loss::NoKey => "key",
        Loss::Damaged(_) => "damage",
    }
}

fn written(account: &Account) -> Vec<Seen> {
    contents(&Outcome { pieces: account.pieces.clone(), ..Outcome::default() })
}

/// What each written record is known again by, as the target's log gives it.
fn fingerprints(account: &Account, target: Abilities) -> Vec<Fingerprint> {
    let mut all = Vec::new();
    for piece in &account.pieces {
        for entry in split(bytes_of(piece)) {
            decode(&entry.unwrap(), |record| {
                all.push(Fingerprint::of(&record, target.magic == Magic::V2));
                ControlFlow::Continue(())
            })
            .unwrap();
        }
    }
    all
}

fn policy() -> impl Strategy<Value = LossPolicy> {
    prop_oneof![3 => Just(LossPolicy::Drop), 1 => Just(LossPolicy::Refuse)]
}

fn route() -> impl Strategy<Value = Route> {
    let limits = (
        prop::option::of(Just(BYTES_MAX)),
        any::<bool>(),
        prop::option::weighted(0.3, 0_i64..12),
        prop::option::weighted(0.3, 0_i64..12),
    );
    let limits =
        limits.prop_map(|(batch_bytes_max, keys_required, timestamp_before_max_ms, timestamp_after_max_ms)| {
            TopicLimits { batch_bytes_max, keys_required, timestamp_before_max_ms, timestamp_after_max_ms }
        });
    let policies = (policy(), policy(), policy(), policy()).prop_map(|(headers, too_large, timestamps, keyless)| {
        Policies { headers, too_large, timestamps, keyless, ..Policies::default() }
    });
    let codec =
        prop_oneof![Just(Codec::None), Just(Codec::Gzip), Just(Codec::Snappy), Just(Codec::Lz4), Just(Codec::Zstd)];
    (any::<bool>(), codec, any::<bool>(), limits, policies).prop_map(|(magic_2, codec, filtered, limits, policies)| {
        Route {
            target: if magic_2 { V2 } else { V1 },
            codec: Some(codec),
            filters: Filters::new(if filtered { vec![Arc::new(ByOffset)] } else { vec![] }),
            limits,
            policies,
            left_out: LeftOut::default(),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_record_is_accounted_for_and_the_walk_agrees(
        parts in prop::collection::vec(part(), 0..9),
        mut route in route(),
        start in 0.0..1.0_f64,
    ) {
        let log = log_of(&parts);
        #[expect(clippy::cast_possible_truncation, reason = "a fraction of a small number")]
        let cursor = (start * log.end as f64) as i64;
        let account = route.run(&log, cursor);

        let (mut wanted, mut filtered, mut left_out, mut refused) = (Vec::new(), 0, Vec::new(), None);
        for (seen, with_headers) in committed(&log, cursor, route.target).iter().zip(committed(&log, cursor, V2)) {
            let Some(record) = route.filtered(seen) else {
                filtered += 1;
                continue;
            };
            match route.lost(&record, with_headers.headers) {
                None => wanted.push(Seen { offset: 0, ..record }),
                Some((why, LossPolicy::Drop)) => left_out.push((record.offset, why)),
                Some((why, LossPolicy::Refuse)) => {
                    refused = Some((record.offset, why));
                    break;
                }
            }
        }
        let given = account.left_out.iter().flat_map(|range| (range.from..range.to).map(|at| (at, kind(&range.loss))));
        prop_assert_eq!(given.collect::<Vec<_>>(), left_out);
        prop_assert!(account.left_out.iter().all(|range| i64::from(range.records) == range.to - range.from));
        let stopped = account.refused.as_ref().map(|(offset, why)| match why {
            Refused::Loss(loss) => (*offset, kind(loss)),
            Refused::Verdict(_) | Refused::Malformed(_) => (*offset, "else"),
        });
        prop_assert_eq!(stopped, refused);
        prop_assert_eq!(written(&account), wanted);
        prop_assert_eq!(account.filtered, filtered);
        if let Some((offset, _)) = refused {
            prop_assert_eq!(account.cursor, offset, "the link stands in front of the record");
        }
        pieces_are_in_order(&account, cursor)?;
        if route.limits.batch_bytes_max.is_some() {
            prop_assert!(account.pieces.iter().all(|piece| piece.body.len() <= BYTES_MAX));
        }
        the_walk_agrees(&mut route, &log, cursor, &account)?;
    }
}

fn pieces_are_in_order(account: &Account, cursor: i64) -> Result<(), TestCaseError> {
    let mut at = cursor;
    for piece in &account.pieces {
        prop_assert!(piece.first >= at && piece.next > piece.first, "{}..{} at {at}", piece.first, piece.next);
        at = piece.next;
    }
    prop_assert!(account.cursor >= at);
    Ok(())
}

/// After any number of written records a crash: the walk over as many, and what is planned from there is the rest.
fn the_walk_agrees(route: &mut Route, log: &Log, cursor: i64, account: &Account) -> Result<(), TestCaseError> {
    let (all, known_by) = (written(account), fingerprints(account, route.target));
    let mut passed = 0_usize;
    for piece in &account.pieces {
        passed += piece.records as usize;
        let behind = route.run(log, piece.next);
        prop_assert_eq!(&written(&behind)[..], &all[passed..], "from the checkpoint behind {}", piece.next);
    }
    for (written_before, last) in known_by.iter().enumerate() {
        let count = written_before + 1;
        let walked = route.walked(log, cursor, count as u64);
        prop_assert_eq!((walked.records, &walked.refused), (count as u64, &None));
        prop_assert_eq!(walked.last.as_ref(), Some(last), "the record that was written is the one that is known again");
        let rest = route.run(log, walked.cursor);
        prop_assert_eq!(&written(&rest)[..], &all[count..], "after {}", count);
        prop_assert_eq!((&rest.left_out, &rest.refused), (&vec![], &account.refused));
        prop_assert!(rest.cursor == account.cursor || (rest.pieces.is_empty() && walked.cursor >= account.cursor));
    }
    Ok(())
}
