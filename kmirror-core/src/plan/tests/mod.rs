//! From answer to pieces, over logs made for each case.

mod accounted;
mod agree;
mod choosing;
mod coalescing;
mod damaged;
mod generated;
mod judging;
mod legacy;
mod losing;
mod pieces;

use bytes::Bytes;

use super::{Abilities, Magic, Outcome, Piece, Rewriter, View, Walked, plan, walk};
use crate::fetch::Aborted;
use crate::sample::{Seen, T0, records_of};

/// A target from 2.5 on.
const V2: Abilities = Abilities { magic: Magic::V2, zstd: true, takes_unknown_ids: true };
/// A target of 0.10.
const V1: Abilities = Abilities { magic: Magic::V1, zstd: false, takes_unknown_ids: false };

const LARGE: usize = 800_000;

/// The view of a route without filters, limits and losses.
fn view(cursor: i64, target: Abilities) -> View<'static> {
    View { cursor, now_ms: T0, topic: "t", ..View::of(target) }
}

fn planned(records: Bytes, cursor: i64, target: Abilities) -> Outcome {
    planned_up_to(records, cursor, target, LARGE)
}

fn planned_up_to(records: Bytes, cursor: i64, target: Abilities, batch_bytes_max: usize) -> Outcome {
    let mut rewriter: Option<Rewriter> = None;
    plan(records, Aborted::default(), &view(cursor, target), None, batch_bytes_max, &mut rewriter)
}

fn walked(records: Bytes, cursor: i64, target: Abilities, wanted: u64) -> Walked {
    walk(records, Aborted::default(), &view(cursor, target), wanted)
}

fn bytes_of(piece: &Piece) -> Bytes {
    piece.body.bytes()
}

/// What a consumer of the target would see of the pieces, without the offsets, which the target gives.
fn contents(outcome: &Outcome) -> Vec<Seen> {
    let all = outcome.pieces.iter().flat_map(|piece| records_of(bytes_of(piece)));
    all.map(|seen| Seen { offset: 0, ..seen }).collect()
}

/// What a consumer of the source sees of a log from `cursor` on, without the offsets.
fn consumed(log: Bytes, cursor: i64) -> Vec<Seen> {
    let all = records_of(log).into_iter().filter(|seen| seen.offset >= cursor);
    all.map(|seen| Seen { offset: 0, ..seen }).collect()
}

/// The source offsets of the pieces, as `first..next` each.
fn ranges(outcome: &Outcome) -> Vec<(i64, i64)> {
    outcome.pieces.iter().map(|piece| (piece.first, piece.next)).collect()
}
