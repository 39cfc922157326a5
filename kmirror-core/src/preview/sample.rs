//! What real batches of a source would meet: the same judging and planning as on the way, with nothing written.

use std::collections::BTreeMap;

use bytes::Bytes;
use kmirror_proto::records::{Entry, split};

use super::{LossSeen, PathSeen, Sample};
use crate::config::{Config, LossPolicy, Policies, RouteConfig};
use crate::fetch::Aborted;
use crate::observe::StopReason;
use crate::offset::SourceOffset;
use crate::plan::{Abilities, LeftOut, Loss, LossRange, TopicLimits, Verdict, View, judge, next_offset, plan};

/// What a sample is judged by.
#[derive(Clone, Copy)]
pub(super) struct Bench<'a> {
    pub(super) config: &'a Config,
    pub(super) route: &'a RouteConfig,
    pub(super) target: Abilities,
    pub(super) limits: TopicLimits,
    pub(super) topic: &'a str,
    pub(super) partition: i32,
    /// Where the link would start: what lies before it stands in nobody's way.
    pub(super) from: i64,
    pub(super) now_ms: i64,
}

/// What is collected over all samples of a route.
#[derive(Debug, Default)]
pub(super) struct Judged {
    paths: BTreeMap<(&'static str, Option<&'static str>), usize>,
    losses: BTreeMap<&'static str, LossSeen>,
    records: u64,
    filtered: u64,
    /// What would stop a link, beside losses.
    pub(super) stops: Vec<String>,
}

impl Judged {
    /// Looks at what a fetch from `offset` on brought, and says what lies behind it.
    pub(super) fn take(&mut self, bench: &Bench<'_>, offset: i64, records: &Bytes, aborted: &Aborted) -> i64 {
        let mut named = aborted.clone();
        let (mut cursor, mut next) = (offset, offset);
        for (number, entry) in split(records.clone()).enumerate() {
            let Ok(entry) = entry else { break };
            if matches!(entry, Entry::Partial(_)) {
                break;
            }
            // The first batch of an answer may begin before what was asked for: that is no path of its own.
            if let (0, Entry::Batch(batch)) = (number, &entry) {
                cursor = batch.header.base_offset;
            }
            let is_aborted = named.covers(&entry);
            let nothing = LeftOut::default();
            let verdict = judge(&entry, is_aborted, &bench.view(i64::MIN, &nothing));
            *self.paths.entry(path(verdict)).or_default() += 1;
            next = next.max(next_offset(&entry).unwrap_or(next));
        }
        self.plan(bench, cursor, records, aborted);
        next
    }

    fn plan(&mut self, bench: &Bench<'_>, cursor: i64, records: &Bytes, aborted: &Aborted) {
        let mut left_out = LeftOut::default();
        let mut rewriter = None;
        let produce = &bench.config.produce;
        for _ in 0..ROUNDS_MAX {
            let view = bench.view(cursor, &left_out);
            let outcome = plan(
                records.clone(),
                aborted.clone(),
                &view,
                produce.compression,
                produce.batch_bytes_max,
                &mut rewriter,
            );
            if outcome.left_out.is_empty() {
                self.count(bench, &outcome);
                return;
            }
            for range in &outcome.left_out {
                self.lose(bench, range);
                left_out.add(range.from, range.to);
            }
        }
    }

    fn count(&mut self, bench: &Bench<'_>, outcome: &crate::plan::Outcome) {
        self.filtered += outcome.filtered;
        for piece in &outcome.pieces {
            self.records += u64::from(piece.records);
            if piece.headers_dropped > 0 {
                let (from, records) = (piece.first, piece.headers_dropped);
                self.lose(bench, &LossRange { from, to: piece.next, records, loss: Loss::Headers });
            }
        }
        if let Some((offset, why)) = &outcome.refused
            && *offset >= bench.from
        {
            let reason = StopReason::Unreadable { offset: SourceOffset(*offset), why: why.clone() };
            self.stops.push(format!("partition {}: {reason}", bench.partition));
        }
    }

    fn lose(&mut self, bench: &Bench<'_>, range: &LossRange) {
        if range.to <= bench.from {
            return;
        }
        let (policy, decided) = policy(&range.loss, &bench.route.policies);
        let seen = self.losses.entry(policy).or_insert_with(|| LossSeen {
            policy,
            stops: decided == LossPolicy::Refuse,
            records: 0,
            first: (bench.partition, range.from.max(bench.from)),
            why: range.loss.to_string(),
        });
        seen.records += u64::from(range.records);
    }

    /// The sample, and each loss that would stop a link.
    pub(super) fn finish(self) -> (Sample, Vec<String>) {
        let mut paths: Vec<PathSeen> =
            self.paths.into_iter().map(|((path, why), batches)| PathSeen { path, why, batches }).collect();
        paths.sort_by_key(|seen| std::cmp::Reverse(seen.batches));
        let batches = paths.iter().map(|seen| seen.batches).sum();
        let mut stops = self.stops;
        for loss in self.losses.values().filter(|loss| loss.stops) {
            let (partition, offset) = loss.first;
            stops.push(format!(
                "partition {partition}: the record at source offset {offset} cannot be mirrored: {}; {}",
                loss.why,
                way_out(loss.policy)
            ));
        }
        let losses = self.losses.into_values().collect();
        (Sample { batches, records: self.records, paths, filtered: self.filtered, losses }, stops)
    }
}

impl<'a> Bench<'a> {
    fn view(&self, cursor: i64, left_out: &'a LeftOut) -> View<'a> {
        View {
            cursor,
            end: i64::MAX,
            target: self.target,
            limits: self.limits,
            check_crcs: self.config.fetch.check_crcs,
            keys_to: i64::MIN,
            apart_to: i64::MIN,
            now_ms: self.now_ms,
            topic: self.topic,
            partition: self.partition,
            // Every loss is to be seen, whatever would be done about it.
            policies: EVERY_LOSS,
            damage: self.route.damage,
            filters: &self.route.filters,
            left_out,
        }
    }
}

const EVERY_LOSS: Policies = Policies {
    headers: LossPolicy::Drop,
    too_large: LossPolicy::Drop,
    timestamps: LossPolicy::Drop,
    keyless: LossPolicy::Drop,
    refused: LossPolicy::Drop,
};

/// A path, and what takes a batch off the ordinary one.
fn path(verdict: Verdict) -> (&'static str, Option<&'static str>) {
    match verdict {
        Verdict::Forward => ("raw", None),
        Verdict::Restamp => ("restamped", None),
        Verdict::Rewrite(why) => ("rewritten", Some(why.reason())),
        Verdict::Skip(why) => ("skipped", Some(why.reason())),
        Verdict::Refuse(_) => ("refused", None),
    }
}

/// The policy that decides about a loss, by its name in the configuration.
fn policy(loss: &Loss, policies: &Policies) -> (&'static str, LossPolicy) {
    match loss {
        Loss::Headers => ("on_headers", policies.headers),
        Loss::TooLarge { .. } => ("on_too_large", policies.too_large),
        Loss::Timestamp { .. } => ("on_timestamp", policies.timestamps),
        Loss::NoKey => ("on_keyless", policies.keyless),
        // It stops nothing, else it were no loss.
        Loss::Damaged(_) => ("on_damage", LossPolicy::Drop),
    }
}

fn way_out(policy: &str) -> &'static str {
    match policy {
        "on_headers" => "on_headers = \"drop\" carries it without them",
        "on_too_large" => "raise max.message.bytes of the target's topic, or set on_too_large = \"drop\"",
        "on_timestamp" => "widen the limits of the target's topic, or set on_timestamp = \"drop\"",
        _ => "set on_keyless = \"drop\", or the target topic's cleanup.policy to delete",
    }
}

/// How often what is lost is looked for anew in one answer: each round finds many ranges.
const ROUNDS_MAX: usize = 8;
