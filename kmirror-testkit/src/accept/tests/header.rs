//! What stands in the header of a batch.

use super::*;

const KEPT: &str = "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 0 NONE +base+ple";
const INVALID: &str = "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1] err 2 CORRUPT_MESSAGE
                       [2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 87 INVALID_RECORD";
const INVALID_FROM_1_1: &str = "[1.1.1,2.0.0,2.1.1] err 2 CORRUPT_MESSAGE
                                [2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 87 INVALID_RECORD";

fn gapped(deltas: &[i32], last_offset_delta: i32) -> Batch {
    batch_of(deltas).with(|batch| batch.last_offset_delta = last_offset_delta)
}

#[test]
fn r2_the_base_offset_must_be_0() {
    for base_offset in [1000, -7] {
        sent(batch().with(|batch| batch.base_offset = base_offset).bytes()).measured(INVALID);
    }
}

#[test]
fn r1_the_leader_epoch_that_was_sent_is_ignored() {
    sent(batch().with(|batch| batch.leader_epoch = 77).bytes())
        .measured("[0.11.0.3,2.0.0,3.9.1,4.4.0] err 0 NONE changed: baseOffset 0->3, partitionLeaderEpoch 77->0");
    sent(batch().with(|batch| batch.leader_epoch = 0).bytes())
        .measured("[0.11.0.3,2.0.0,3.9.1,4.4.0] err 0 NONE changed: baseOffset 0->3");
}

/// The log's end is 3: the batch goes to where it does not belong.
#[test]
fn r3_compacted_batches_damage_the_log_of_0_11_and_1_0() {
    for (batch, moved) in [
        (gapped(&[0, 2, 5], 5), "changed: partitionLeaderEpoch -1->0"),
        (gapped(&[0, 1, 2], 5), "changed: partitionLeaderEpoch -1->0"),
        (gapped(&[2, 3, 4], 4), "changed: baseOffset 0->1, partitionLeaderEpoch -1->0"),
    ] {
        sent(batch.bytes()).measured(&format!("[0.11.0.3,1.0.2] err 0 NONE {moved}"));
        sent(batch.bytes()).measured(INVALID_FROM_1_1);
    }
}

#[test]
fn r3_compressed_compacted_batches_are_numbered_again_unless_the_gap_is_behind() {
    for (batch, moved) in [
        (gapped(&[0, 2, 5], 5), "+base+ple, crc, lastOffsetDelta 5->2, RECORDS"),
        (gapped(&[0, 1, 2], 5), "changed: partitionLeaderEpoch -1->0"),
        (gapped(&[2, 3, 4], 4), "+base+ple, crc, lastOffsetDelta 4->2, RECORDS"),
    ] {
        let batch = batch.codec(Codec::Gzip).bytes();
        sent(batch.clone()).measured(&format!("[0.11.0.3,1.0.2] err 0 NONE {moved}"));
        sent(batch).measured(INVALID_FROM_1_1);
    }
}

#[test]
fn r3_a_count_that_fits_hides_the_deltas_of_what_is_not_compressed() {
    for deltas in [[0, 2, 5], [0, 0, 0]] {
        sent(gapped(&deltas, 2).bytes()).measured(KEPT);
    }
}

#[test]
fn r3_the_deltas_of_what_is_compressed_are_looked_at() {
    sent(gapped(&[0, 2, 5], 2).codec(Codec::Gzip).bytes()).measured(
        "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1] err 0 NONE +base+ple, crc, RECORDS
         [2.4.1] err 87 INVALID_RECORD
         [2.8.2,3.0.2,3.9.1,4.4.0] err -1 UNKNOWN",
    );
}

#[test]
fn r3_counts() {
    let counted = |count, last_offset_delta| {
        batch().with(|batch| (batch.count, batch.last_offset_delta) = (count, last_offset_delta))
    };
    for codec in [Codec::None, Codec::Gzip] {
        sent(counted(5, 4).codec(codec).bytes()).measured(INVALID);
        sent(counted(2, 1).codec(codec).bytes()).measured(INVALID);
        for last_offset_delta in [-1, 0, 9] {
            sent(gapped(&[], last_offset_delta).codec(codec).bytes()).measured(INVALID);
        }
    }
}

#[test]
fn r7_control_batches_are_refused() {
    sent(batch().with(|batch| batch.attributes = 0x20).bytes()).measured(INVALID);
    sent(batch().with(|batch| batch.attributes = 0x20).bytes()).version(3).measured(INVALID);
    let both = batch().with(|batch| (batch.attributes, batch.producer) = (0x30, (987_654, 0, 0)));
    sent(both.bytes()).measured(
        "[0.11.0.3,1.0.2,1.1.1,2.0.0] err 2 CORRUPT_MESSAGE
         [2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err 53 TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
    );
}

#[test]
fn r12_unknown_attributes_are_kept() {
    for attributes in [0x40, 0x80, 0x0100, 0x7f00, i16::MIN] {
        sent(batch().with(|batch| batch.attributes = attributes).bytes()).measured(KEPT);
    }
    for attributes in [0x41, 0x7f81] {
        sent(batch().with(|batch| batch.attributes = attributes).bytes()).measured(KEPT);
    }
}

#[test]
fn r12_unknown_attributes_are_lost_with_the_checksum() {
    let changed =
        |kept: i64| format!("err 0 NONE +base+ple, crc, attributes 32704->{kept}, maxTimestamp 5->1600000000002");
    sent(batch().with(|batch| (batch.attributes, batch.max_timestamp) = (0x7fc0, 5)).bytes()).measured(&format!(
        "[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2] {}
         [3.9.1,4.4.0] {}",
        changed(0),
        changed(0x40)
    ));
}

#[test]
fn r12_an_unknown_codec_is_not() {
    sent(batch().with(|batch| batch.attributes = 5).bytes())
        .measured("[0.11.0.3,1.0.2,1.1.1,2.0.0,2.1.1,2.4.1,2.8.2,3.0.2,3.9.1,4.4.0] err -1 UNKNOWN");
}

#[test]
fn r13_a_producer_id_needs_a_sequence_and_nothing_else() {
    let by = |producer| sent(batch().with(|batch| batch.producer = producer).bytes());
    by((987_654, 0, -1)).measured(INVALID);
    for producer in [(987_654, 0, 0), (987_654, -1, 0), (-1, 0, 0), (-1, -1, 5), (-2, 0, 0)] {
        by(producer).measured(KEPT);
    }
}
