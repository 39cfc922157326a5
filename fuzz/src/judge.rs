//! What becomes of a source log: the judge is total, and what is planned and what is counted agree.

use bytes::Bytes;
use kmirror_core::config::DamagePolicy;
use kmirror_core::fetch::Aborted;
use kmirror_core::plan::{Abilities, Body, Magic, Outcome, TopicLimits, Verdict, View, decode, judge, plan, walk};
use kmirror_proto::messages::AbortedTransaction;
use kmirror_proto::records::{Entry, Placement, split};

use crate::seeds;

/// Two bytes say what the target takes, where the cursor is and what was aborted; the rest is the log.
pub(crate) fn body(data: &[u8]) {
    let Some((head, log)) = data.split_first_chunk::<2>() else { return };
    let view = view(*head);
    let log = Bytes::copy_from_slice(log);
    let aborted = AbortedTransaction { producer_id: 9, first_offset: (head[1] >> 4).into() };
    let list = if head[0] & 128 == 0 { None } else { Some(std::slice::from_ref(&aborted)) };
    for entry in split(log.clone()).map_while(Result::ok) {
        if let Verdict::Refuse(_) = judge(&entry, false, &view) {
            break;
        }
    }
    let outcome = plan(log.clone(), Aborted::new(list), &view, None, BATCH_BYTES_MAX, &mut None);
    in_order(&outcome, view.cursor);
    let written: u64 = outcome.pieces.iter().map(|piece| holds(&piece.body, view.check_crcs)).sum();
    let said: u64 = outcome.pieces.iter().map(|piece| u64::from(piece.records)).sum();
    assert_eq!(written, said, "{outcome:?}");
    if written > 0 {
        let walked = walk(log, Aborted::new(list), &view, written);
        // What goes through unseen may be broken inside; the walk has to see its last record.
        let unseen = walked.refused.is_some() && outcome.pieces.iter().any(|piece| !decodes(&piece.body));
        assert!(walked.records == written || unseen, "{written} written, counted: {walked:?}");
    }
}

/// What is written of a whole log to a target of magic 2 (`0`) or 1 (`1`), by which nothing is refused.
pub(crate) fn written(target: u8, log: &[u8]) -> Vec<u8> {
    let view = view([target, 0]);
    let outcome = plan(log.to_vec().into(), Aborted::default(), &view, None, BATCH_BYTES_MAX, &mut None);
    assert_eq!(outcome.refused, None);
    outcome.pieces.iter().map(|piece| piece.body.bytes()).collect::<Vec<_>>().concat()
}

/// All that can be chosen, from two bytes.
fn view(head: [u8; 2]) -> View<'static> {
    let target = Abilities {
        magic: if head[0] & 1 == 0 { Magic::V2 } else { Magic::V1 },
        zstd: head[0] & 3 == 0,
        takes_unknown_ids: false,
    };
    View {
        cursor: i64::from(head[1] & 15),
        limits: TopicLimits {
            batch_bytes_max: (head[0] & 4 != 0).then_some(300),
            keys_required: head[0] & 8 != 0,
            timestamp_before_max_ms: (head[0] & 16 != 0).then_some(1000),
            timestamp_after_max_ms: None,
        },
        check_crcs: head[0] & 32 == 0,
        apart_to: if head[0] & 64 == 0 { i64::MIN } else { i64::MAX },
        now_ms: 1_700_000_000_000,
        damage: if head[0] & 128 == 0 { DamagePolicy::Stop } else { DamagePolicy::Skip },
        ..View::of(target)
    }
}

fn in_order(outcome: &Outcome, cursor: i64) {
    let mut at = cursor;
    for piece in &outcome.pieces {
        assert!(piece.first >= at && piece.next > piece.first, "{}..{} at {at}", piece.first, piece.next);
        at = piece.next;
    }
    assert!(outcome.cursor >= at, "{} behind {at}", outcome.cursor);
}

/// Whether the inside of a body can be read.
fn decodes(body: &Body) -> bool {
    split(body.bytes()).all(|entry| decode(&entry.unwrap(), |_| std::ops::ControlFlow::Continue(())).is_ok())
}

/// How many records a body holds; `0` where damage was let through because nobody checked.
fn holds(body: &Body, checked: bool) -> u64 {
    let mut count = 0;
    for entry in split(body.bytes()) {
        let entry = entry.unwrap();
        assert!(!matches!(entry, Entry::Partial(_)));
        let raw = match &entry {
            Entry::Batch(batch) => {
                assert!(!checked || batch.crc_ok());
                // The raw path does not look inside.
                count += u64::try_from(batch.header.records_count).unwrap();
                continue;
            }
            Entry::Message(message) => message,
            Entry::Partial(_) => continue,
        };
        assert!(!checked || raw.crc_ok());
        let _ = decode(&entry, |_| {
            count += 1;
            std::ops::ControlFlow::Continue(())
        });
    }
    count
}

const BATCH_BYTES_MAX: usize = 4096;

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let logs = seeds::batches().into_iter().chain(seeds::message_sets());
    let several = [
        seeds::batch(kmirror_proto::compress::Codec::Gzip, Placement::NONE),
        seeds::batch(kmirror_proto::compress::Codec::None, seeds::transaction(3)),
        seeds::marker(6, 0),
    ];
    let logs: Vec<Vec<u8>> = logs.chain([several.concat()]).collect();
    let heads = [[0, 0], [1, 0], [2, 1], [4, 0], [5, 2], [0x80, 0], [0x80, 0x31], [0x41, 0], [0x40, 0], [0x1c, 0]];
    heads.iter().flat_map(|head| logs.iter().map(|log| [&head[..], log].concat())).collect()
}
