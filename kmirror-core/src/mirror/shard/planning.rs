//! What a fetched answer becomes: pieces for the lane, or steps of a walk.

use std::sync::Arc;

use super::{Shard, ShardReport};
use crate::clock::Now;
use crate::config::RouteConfig;
use crate::fetch::Aborted;
use crate::mirror::link::{Link, LinkId, State};
use crate::mirror::report::Omitted;
use crate::observe::{Event, StopReason};
use crate::offset::SourceOffset;
use crate::plan::{LeftOut, LossRange, Outcome, Piece, Refused, View, plan, walk};
use crate::produce::Window;
use crate::resume::is_young;

/// What a view borrows of its link.
struct Lent {
    topic: Arc<str>,
    config: Arc<RouteConfig>,
    left_out: LeftOut,
}

impl Lent {
    fn of(link: &mut Link) -> Self {
        Self {
            topic: link.name.topic.clone(),
            config: link.config.clone(),
            left_out: std::mem::take(&mut link.left_out),
        }
    }
}

impl Shard {
    fn view<'a>(&self, now: Now, link: &Link, lent: &'a Lent) -> Option<View<'a>> {
        Some(View {
            cursor: link.cursor.next.0,
            end: link.source_end.map_or(i64::MAX, |end| end.0),
            target: link.route?.abilities,
            limits: link.limits,
            check_crcs: self.config.fetch.check_crcs,
            keys_to: link.keys_to.0,
            apart_to: link.apart_to.0,
            now_ms: now.unix_ms,
            topic: &lent.topic,
            partition: link.name.partition,
            policies: lent.config.policies,
            damage: lent.config.damage,
            filters: &lent.config.filters,
            left_out: &lent.left_out,
        })
    }

    /// An answer of a running link.
    pub(super) fn plan(&mut self, now: Now, id: LinkId, records: bytes::Bytes, aborted: Aborted) {
        let config = self.config.clone();
        let Some(lent) = self.links.get_mut(&id).map(Lent::of) else { return };
        let view = self.links.get(&id).and_then(|link| self.view(now, link, &lent));
        let produce = &config.produce;
        let outcome = view.map(|view| {
            plan(records, aborted, &view, produce.compression, produce.batch_bytes_max, &mut self.rewriter)
        });
        let Some(link) = self.links.get_mut(&id) else { return };
        link.left_out = lent.left_out;
        let Some(outcome) = outcome else { return };
        if outcome.refused.is_some() {
            // What it holds of the batch that failed is nobody's.
            self.rewriter = None;
        }
        let oldest = outcome.pieces.iter().map(|piece| piece.timestamp_max).min();
        if link.may_land_until > now.tick
            && link.producer.is_some()
            && oldest.is_some_and(|oldest| !is_young(oldest, now))
        {
            return self.settle_first(now, id);
        }
        self.take_outcome(now, id, outcome);
    }

    fn take_outcome(&mut self, now: Now, id: LinkId, outcome: Outcome) {
        let fault = self.push_pieces(id, outcome.pieces);
        let Some(link) = self.links.get_mut(&id) else { return };
        if outcome.gaps {
            link.unstable = true;
            link.lane.set_window(Window::One);
        }
        link.counters.filtered += outcome.filtered;
        link.counters.batches_skipped += outcome.skipped.iter().map(|count| u64::from(*count)).sum::<u64>();
        // What the lane could not take is not behind the link.
        let moved = fault.is_none() && outcome.cursor > link.cursor.next.0;
        if moved {
            link.cursor.move_to(SourceOffset(outcome.cursor));
            link.lane.skip_to(SourceOffset(outcome.cursor));
            link.fetch_backoff.reset();
            link.vacant = None;
        }
        self.writing.wake(id, &self.links);
        self.mark(now, id);
        if let Some((offset, why)) = fault.map(|why| (outcome.cursor, why)).or(outcome.refused) {
            self.stop_behind(now, id, stop_reason(offset, why));
        } else if !outcome.left_out.is_empty() {
            self.leave_out(now, id, outcome.left_out.iter().map(omitted).collect());
        } else if let Some(need) = outcome.too_small {
            self.grow(now, id, need);
        } else if !moved {
            // An answer that leads nowhere must not be asked for in a tight loop.
            self.hold(now, id);
        }
    }

    /// Puts pieces into the link's lane, up to the first one that it cannot take.
    fn push_pieces(&mut self, id: LinkId, pieces: Vec<Piece>) -> Option<Refused> {
        let link = self.links.get_mut(&id)?;
        for piece in pieces {
            if piece.headers_dropped > 0 && !std::mem::replace(&mut link.headers_warned, true) {
                let topic = link.name.topic.to_string();
                self.reports.push_back(ShardReport::Event(Event::HeadersDropped { topic }));
            }
            let before = link.lane.held_bytes();
            if let Err(error) = link.lane.push(piece) {
                return Some(Refused::Malformed(error));
            }
            self.fetching.take(link.lane.held_bytes() - before);
        }
        None
    }

    /// An answer of a link that walks over what is on the target already.
    pub(super) fn walk(&mut self, now: Now, id: LinkId, records: bytes::Bytes, aborted: Aborted) {
        let Some(link) = self.links.get_mut(&id) else { return };
        let State::Walking(walking) = link.state else { return };
        let lent = Lent::of(link);
        let view = self.links.get(&id).and_then(|link| self.view(now, link, &lent));
        let walked = view.map(|view| walk(records, aborted, &view, walking.left));
        let Some(link) = self.links.get_mut(&id) else { return };
        link.left_out = lent.left_out;
        let (Some(walked), State::Walking(walking)) = (walked, &mut link.state) else { return };
        walking.left -= walked.records;
        let (left, total, wanted, append_time) = (walking.left, walking.total, walking.last, walking.append_time);
        link.unstable |= walked.gaps;
        let moved = walked.cursor > link.cursor.next.0;
        if moved {
            link.cursor.move_to(SourceOffset(walked.cursor));
            link.fetch_backoff.reset();
            link.vacant = None;
        }
        if let Some((offset, why)) = walked.refused {
            return self.stop_link(now, id, stop_reason(offset, why));
        }
        if left == 0 {
            let agrees = match (walked.last, wanted) {
                (Some(source), Some(target)) => source.agrees(&target, append_time),
                // Retention left nothing to compare with: the count decides, where it cannot have changed (rule H7).
                (Some(_), None) => !link.unstable,
                // A codec that is not read here: on a stamped target the sequences have proved the count.
                (None, _) => link.producer.is_some() && !link.unstable,
            };
            let source_next = SourceOffset(walked.cursor);
            if agrees {
                self.walked(now, id, source_next, total);
            } else {
                self.stop_link(now, id, StopReason::ContentDiffers { source_next, written: total });
            }
        } else if let Some(need) = walked.too_small {
            self.grow(now, id, need);
        } else if !moved {
            self.hold(now, id);
        }
    }

    /// An answer held less than one batch (Fetch v2 and older cut it).
    fn grow(&mut self, now: Now, id: LinkId, need: Option<usize>) {
        let bytes_max = self.config.source.frame_bytes_max;
        let Some(link) = self.links.get_mut(&id) else { return };
        let offset = link.cursor.next;
        if !link.cursor.grow(need) {
            self.stop_behind(now, id, StopReason::TooLarge { offset, bytes_max });
        }
    }
}

/// Why a link stops in front of an offset.
fn stop_reason(offset: i64, why: Refused) -> StopReason {
    let offset = SourceOffset(offset);
    match why {
        Refused::Loss(loss) => StopReason::Loss { offset, loss },
        Refused::Verdict(_) | Refused::Malformed(_) => StopReason::Unreadable { offset, why },
    }
}

fn omitted(range: &LossRange) -> Omitted {
    Omitted {
        from: SourceOffset(range.from),
        to: SourceOffset(range.to),
        records: range.records,
        why: range.loss.to_string(),
    }
}
