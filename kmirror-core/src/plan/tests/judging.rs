//! Every rule, and their order.

use bytes::Bytes;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{Entry, RawBatch};

use super::super::{Refuse, Rewrite, Skip, Verdict, View, judge};
use super::{V1, V2, view};
use crate::sample::{Batch, TRANSACTIONAL, entry, message, message_of, old_message, old_set, wrapper, wrapper_with};

fn verdict(bytes: Bytes, view: &View<'_>) -> Verdict {
    judge(&entry(bytes), false, view)
}

fn damaged(bytes: &Bytes) -> Bytes {
    let mut bytes = bytes.to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    bytes.into()
}

fn refuses_checksum(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Refuse(Refuse::Checksum(checksums)) if !checksums.agree())
}

#[test]
fn a_whole_batch_goes_through_with_its_payload_untouched() {
    for codec in [Codec::None, Codec::Gzip, Codec::Lz4] {
        assert_eq!(verdict(Batch::new(5, 3).codec(codec).bytes(), &view(5, V2)), Verdict::Restamp);
    }
    // The bits that the header loses on the way do not matter (report B06).
    assert_eq!(verdict(Batch::new(5, 3).transactional(7).bytes(), &view(5, V2)), Verdict::Restamp);
}

#[test]
fn a_batch_behind_the_cursor_is_passed_over_even_if_damaged() {
    let batch = Batch::new(5, 3).bytes();
    assert_eq!(verdict(batch.clone(), &view(8, V2)), Verdict::Skip(Skip::BeforeCursor));
    assert_eq!(verdict(damaged(&batch), &view(8, V2)), Verdict::Skip(Skip::BeforeCursor));
    assert_eq!(verdict(batch, &view(7, V2)), Verdict::Rewrite(Rewrite::BeforeCursor));
}

#[test]
fn a_damaged_header_decides_nothing() {
    // Each of these bytes would say something else if it were believed: attributes, last delta, count.
    for byte in [22, 26, 60] {
        for target in [V1, V2] {
            let mut bytes = Batch::new(5, 3).transactional(7).bytes().to_vec();
            bytes[byte] ^= 0x20;
            let verdict = verdict(bytes.into(), &view(5, target));
            assert!(refuses_checksum(verdict), "byte {byte}");
        }
    }
    let aborted = judge(&entry(damaged(&Batch::new(5, 3).bytes())), true, &view(5, V2));
    assert!(refuses_checksum(aborted), "nor is it skipped as aborted");
    let marker = Batch::marker(5, 7, 0);
    assert!(refuses_checksum(verdict(damaged(&marker.bytes()), &view(5, V2))));
}

#[test]
fn checksums_are_looked_at_only_if_wanted() {
    let view = View { check_crcs: false, ..view(5, V2) };
    assert_eq!(verdict(damaged(&Batch::new(5, 3).bytes()), &view), Verdict::Restamp);
    assert_eq!(verdict(damaged(&message(5)), &View { target: V1, ..view }), Verdict::Forward);
}

#[test]
fn markers_aborted_and_empty_batches_are_skipped_for_every_target() {
    for target in [V1, V2] {
        let view = view(5, target);
        assert_eq!(verdict(Batch::marker(5, 7, 1).bytes(), &view), Verdict::Skip(Skip::Control));
        assert_eq!(judge(&Batch::new(5, 3).entry(), true, &view), Verdict::Skip(Skip::Aborted));
        // fact K2: what compaction leaves of a producer's last batch.
        let empty = Batch::gapped(5, vec![], 9);
        assert_eq!(verdict(empty.bytes(), &view), Verdict::Skip(Skip::Empty));
    }
    // A marker is one also where its transaction was aborted.
    assert_eq!(judge(&Batch::marker(5, 7, 0).entry(), true, &view(5, V2)), Verdict::Skip(Skip::Control));
}

#[test]
fn a_codec_that_does_not_exist_is_refused() {
    let mut batch = Batch::new(5, 3);
    batch.attributes = 5;
    for target in [V1, V2] {
        assert_eq!(verdict(batch.bytes(), &view(5, target)), Verdict::Refuse(Refuse::UnknownCodec));
        let message = message_of(5, 5, 0, None, Some(b"v"));
        assert_eq!(verdict(message, &view(5, target)), Verdict::Refuse(Refuse::UnknownCodec));
    }
}

#[test]
fn a_target_of_0_10_gets_message_sets() {
    assert_eq!(verdict(Batch::new(5, 3).bytes(), &view(5, V1)), Verdict::Rewrite(Rewrite::Format));
    assert_eq!(verdict(Batch::gapped(5, vec![0, 2], 2).bytes(), &view(5, V1)), Verdict::Rewrite(Rewrite::Format));
}

#[test]
fn a_compacted_batch_is_built_again() {
    // fact R3: a gap inside, at the end, at the beginning. 0.11 and 1.0 would store overlapping offsets.
    for deltas in [vec![0, 2], vec![0, 1], vec![1, 2]] {
        let batch = Batch::gapped(5, deltas, 2);
        assert_eq!(verdict(batch.bytes(), &view(5, V2)), Verdict::Rewrite(Rewrite::Gaps));
    }
}

#[test]
fn append_time_is_built_into_the_records() {
    let batch = Batch::new(5, 3).append_time(9);
    assert_eq!(verdict(batch.bytes(), &view(5, V2)), Verdict::Rewrite(Rewrite::AppendTime));
    let message = message_of(5, 8, 9, None, Some(b"v"));
    assert_eq!(verdict(message, &view(5, V1)), Verdict::Rewrite(Rewrite::AppendTime));
}

#[test]
fn uncompressed_deltas_are_read_and_compressed_ones_believed() {
    // fact R3: every release stores the first as it is, and none the second.
    let odd = Batch::gapped(5, vec![0, 2, 5], 2);
    assert_eq!(verdict(odd.bytes(), &view(5, V2)), Verdict::Rewrite(Rewrite::Deltas));
    assert_eq!(verdict(odd.codec(Codec::Gzip).bytes(), &view(5, V2)), Verdict::Restamp);
    let unread = Batch::new(5, 3).bytes();
    let cut = RawBatch::from_bytes(recounted(&unread)).unwrap();
    assert!(cut.crc_ok());
    assert_eq!(
        judge(&Entry::Batch(cut), false, &view(5, V2)),
        Verdict::Restamp,
        "what does not parse is the target's to say"
    );
}

/// A batch whose last byte says that there are 63 more headers, under a checksum that is right.
fn recounted(batch: &Bytes) -> Bytes {
    let mut bytes = batch.to_vec();
    *bytes.last_mut().unwrap() = 0x7e;
    let crc = RawBatch::from_bytes(bytes.clone().into()).unwrap().checksums().computed;
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes.into()
}

#[test]
fn zstd_goes_only_to_those_who_know_it() {
    let mut batch = Batch::new(5, 3);
    batch.attributes = 4;
    assert_eq!(verdict(batch.bytes(), &view(5, V2)), Verdict::Restamp);
    let older = super::Abilities { zstd: false, ..V2 };
    assert_eq!(verdict(batch.bytes(), &view(5, older)), Verdict::Rewrite(Rewrite::Codec));
}

#[test]
fn plain_messages_go_to_0_10_as_they_are() {
    assert_eq!(verdict(message(5), &view(5, V1)), Verdict::Forward);
    assert_eq!(verdict(message(5), &view(6, V1)), Verdict::Skip(Skip::BeforeCursor));
    assert_eq!(verdict(message(5), &view(5, V2)), Verdict::Rewrite(Rewrite::Format));
    assert!(refuses_checksum(verdict(damaged(&message(5)), &view(5, V1))));
}

#[test]
fn magic_0_is_built_up_for_everyone() {
    for target in [V1, V2] {
        for old in [old_message(5), old_set(Codec::Gzip, &[5, 6, 7])] {
            assert_eq!(verdict(old, &view(5, target)), Verdict::Rewrite(Rewrite::Format));
        }
        assert!(refuses_checksum(verdict(damaged(&old_message(5)), &view(5, target))));
    }
}

#[test]
fn a_wrapper_goes_to_0_10_as_it_is_if_the_broker_keeps_it() {
    assert_eq!(verdict(wrapper(Codec::Gzip, &[5, 6, 7]), &view(5, V1)), Verdict::Restamp);
    // fact M2: inner gaps are recompressed and renumbered, another timestamp is rewritten.
    assert_eq!(verdict(wrapper(Codec::Gzip, &[5, 7]), &view(5, V1)), Verdict::Rewrite(Rewrite::Wrapper));
    let stale = message_of(7, 1, 3, None, entry_value(&wrapper(Codec::Gzip, &[5, 6, 7])).as_deref());
    assert_eq!(verdict(stale, &view(5, V1)), Verdict::Rewrite(Rewrite::Wrapper));
    let append_time = wrapper_with(Codec::Gzip, &[5, 6, 7], 0, Some(9));
    assert_eq!(verdict(append_time, &view(5, V1)), Verdict::Rewrite(Rewrite::AppendTime));
}

#[test]
fn a_wrapper_that_begins_before_the_cursor_is_built_again() {
    let wrapper = wrapper(Codec::Lz4, &[5, 6, 7]);
    assert_eq!(verdict(wrapper.clone(), &view(6, V1)), Verdict::Rewrite(Rewrite::Wrapper));
    assert_eq!(verdict(wrapper.clone(), &view(7, V1)), Verdict::Rewrite(Rewrite::Wrapper));
    assert_eq!(verdict(wrapper, &view(8, V1)), Verdict::Skip(Skip::BeforeCursor));
}

#[test]
fn the_transactional_bit_alone_changes_nothing() {
    // With read_uncommitted nothing is aborted: all records are mirrored (report B05).
    let mut batch = Batch::new(5, 2);
    batch.attributes |= TRANSACTIONAL;
    assert_eq!(judge(&batch.entry(), false, &view(5, V2)), Verdict::Restamp);
}

fn entry_value(wrapper: &Bytes) -> Option<Vec<u8>> {
    match entry(wrapper.clone()) {
        Entry::Message(message) => message.value().map(<[u8]>::to_vec),
        Entry::Batch(_) | Entry::Partial(_) => None,
    }
}

#[test]
fn what_was_refused_together_is_taken_apart() {
    let [apart, behind] = [7, 5].map(|apart_to| View { apart_to, ..view(5, V2) });
    assert_eq!(verdict(Batch::new(5, 3).bytes(), &apart), Verdict::Rewrite(Rewrite::Apart));
    assert_eq!(verdict(Batch::new(5, 1).bytes(), &apart), Verdict::Rewrite(Rewrite::Apart), "it may be none");
    assert_eq!(verdict(Batch::new(5, 3).bytes(), &behind), Verdict::Restamp);
    let apart = View { target: V1, ..apart };
    assert_eq!(verdict(wrapper(Codec::Gzip, &[5, 6]), &apart), Verdict::Rewrite(Rewrite::Apart));
    assert_eq!(verdict(message(5), &apart), Verdict::Forward);
}
