//! report B05 and what other clients got wrong about it.

use super::*;
use crate::sample::Batch;

fn aborted(list: &[(i64, i64)]) -> Aborted {
    let of = |&(producer_id, first_offset): &(i64, i64)| AbortedTransaction { producer_id, first_offset };
    Aborted::new(Some(&list.iter().map(of).collect::<Vec<_>>()))
}

/// The base offsets of the batches that are aborted.
fn covered(mut aborted: Aborted, log: &[Batch]) -> Vec<i64> {
    log.iter().filter(|batch| aborted.covers(&batch.entry())).map(|batch| batch.base).collect()
}

const ABORT: i16 = 0;
const COMMIT: i16 = 1;

/// A commits 0-1, aborts 3-4; B begins, A begins, B 6, A 7, B 8, A commits, B aborts.
fn log() -> Vec<Batch> {
    vec![
        Batch::new(0, 2).transactional(1),
        Batch::marker(2, 1, COMMIT),
        Batch::new(3, 2).transactional(1),
        Batch::marker(5, 1, ABORT),
        Batch::new(6, 1).transactional(2),
        Batch::new(7, 1).transactional(1),
        Batch::new(8, 1).transactional(2),
        Batch::marker(9, 1, COMMIT),
        Batch::marker(10, 2, ABORT),
    ]
}

#[test]
fn interleaved_transactions_are_told_apart() {
    assert_eq!(covered(aborted(&[(1, 3), (2, 6)]), &log()), [3, 6, 8]);
}

#[test]
fn the_list_may_be_out_of_order() {
    assert_eq!(covered(aborted(&[(2, 6), (1, 3)]), &log()), [3, 6, 8]);
}

#[test]
fn an_entry_that_is_missing_makes_its_records_committed_and_no_others_aborted() {
    // librdkafka#3369: an abort marker without an entry made the next committed data vanish.
    assert_eq!(covered(aborted(&[(2, 6)]), &log()), [6, 8]);
    assert_eq!(covered(aborted(&[(1, 3)]), &log()), [3]);
}

#[test]
fn a_marker_without_data_ends_nothing() {
    let mut log = log();
    log.insert(2, Batch::marker(2, 1, ABORT));
    log.insert(2, Batch::marker(2, 1, ABORT));
    assert_eq!(covered(aborted(&[(1, 3), (2, 6)]), &log), [3, 6, 8]);
}

#[test]
fn a_commit_of_the_same_producer_is_not_its_abort() {
    // brod#659. The commit marker of an earlier transaction stands in front of the aborted one's records.
    let log = [
        Batch::new(0, 1).transactional(1),
        Batch::new(1, 1).transactional(1),
        Batch::marker(2, 1, COMMIT),
        Batch::new(3, 1).transactional(1),
        Batch::marker(4, 1, ABORT),
        Batch::new(5, 1).transactional(1),
    ];
    assert_eq!(covered(aborted(&[(1, 3)]), &log), [3]);
}

#[test]
fn two_aborted_transactions_of_one_producer_are_two() {
    let log = [
        Batch::new(0, 1).transactional(1),
        Batch::marker(1, 1, ABORT),
        Batch::new(2, 1).transactional(1),
        Batch::marker(3, 1, COMMIT),
        Batch::new(4, 1).transactional(1),
        Batch::marker(5, 1, ABORT),
    ];
    assert_eq!(covered(aborted(&[(1, 0), (1, 4)]), &log), [0, 4]);
    assert_eq!(covered(aborted(&[(1, 4), (1, 0)]), &log), [0, 4]);
}

#[test]
fn an_answer_may_begin_inside_of_an_aborted_transaction() {
    assert_eq!(covered(aborted(&[(2, 6)]), &log()[6..]), [8]);
    // Inside of a batch of it, even: its first offset lies before what was asked for.
    assert_eq!(covered(aborted(&[(1, 3)]), &log()[2..]), [3]);
}

#[test]
fn records_outside_of_transactions_are_nobodys() {
    let log = [Batch::new(0, 1).stamp(1, 0, 0), Batch::new(1, 1), Batch::new(2, 1).transactional(1)];
    assert_eq!(covered(aborted(&[(1, 0)]), &log), [2]);
}

#[test]
fn without_a_list_nothing_is_aborted() {
    assert_eq!(covered(Aborted::new(None), &log()), Vec::<i64>::new());
    assert_eq!(covered(Aborted::default(), &log()), Vec::<i64>::new());
}

/// The records of an answer.
fn answer(log: &[Batch]) -> Bytes {
    crate::sample::joined(&log.iter().map(Batch::bytes).collect::<Vec<_>>())
}

#[test]
fn an_entry_that_is_missing_is_read_off_the_markers() {
    for list in [&[][..], &[(1, 3)], &[(2, 6)], &[(2, 6), (1, 3)], &[(1, 3), (1, 3), (2, 8)]] {
        assert_eq!(covered(aborted(list).and_of(&answer(&log())), &log()), [3, 6, 8], "{list:?}");
    }
    // As much of it as an answer shows.
    for from in 0..log().len() {
        let part = &log()[from..];
        let expected: Vec<i64> = [3, 6, 8].into_iter().filter(|base| part[0].base <= *base).collect();
        assert_eq!(covered(aborted(&[]).and_of(&answer(part)), part), expected);
    }
}

#[test]
fn markers_of_committed_transactions_and_markers_alone_abort_nothing() {
    let log = [
        Batch::new(0, 1).transactional(1),
        Batch::marker(1, 1, COMMIT),
        // Begun, and aborted before anything was written.
        Batch::marker(2, 1, ABORT),
        Batch::new(3, 1).transactional(1),
        Batch::marker(4, 1, COMMIT),
        Batch::new(5, 1).stamp(2, 0, 0),
        Batch::marker(6, 2, ABORT),
        Batch::new(7, 1).transactional(2),
    ];
    assert_eq!(covered(aborted(&[]).and_of(&answer(&log)), &log), Vec::<i64>::new());
}

#[test]
fn overlapping_lists_name_a_transaction_once_for_each_answer() {
    assert_eq!(covered(aborted(&[(2, 6), (1, 3), (2, 6), (1, 3)]), &log()), [3, 6, 8]);
    // An entry that was over before the answer begins: what its producer has committed since is committed.
    let part = &log()[4..];
    assert_eq!(covered(aborted(&[(1, 3), (2, 6)]).and_of(&answer(part)), part), [6, 8]);
}

#[test]
fn where_a_marker_is_damaged_the_list_decides() {
    let batches = log();
    let mut bytes = answer(&batches[2..]).to_vec();
    let at = batches[2].bytes().len() + batches[3].bytes().len() - 1;
    bytes[at] ^= 1;
    let bytes = Bytes::from(bytes);
    // Of producer 1 the next one that can be read is a commit, of another transaction.
    assert_eq!(covered(aborted(&[(1, 3), (2, 6)]).and_of(&bytes), &batches[2..]), [3, 6, 8]);
    assert_eq!(covered(aborted(&[]).and_of(&bytes), &batches[2..]), [6, 8]);
}

#[test]
fn what_follows_the_last_whole_batch_is_not_read() {
    let whole = answer(&log());
    for end in 0..whole.len() {
        drop(aborted(&[]).and_of(&whole.slice(..end)));
    }
}
