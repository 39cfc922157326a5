//! What a mirror makes of a set: planned towards a target, and what Java has to read in the pieces.

use bytes::Bytes;
use fastrand::Rng;
use kmirror_core::fetch::Aborted;
use kmirror_core::plan::{Abilities, Body, Magic, Rewriter, View, plan};
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{Stamp, restamp};

use super::read::{BatchRead, Content, RecordRead};

/// A plan for one set.
#[derive(Debug)]
pub(super) struct Mirrored {
    target: Abilities,
    stamp: Stamp,
    /// The pieces as they go to the wire, how many records each says it holds, and whether it was built again.
    pub(super) pieces: Vec<(Bytes, u32, bool)>,
    expected: Vec<RecordRead>,
}

impl Mirrored {
    /// Plans `set`, in which Java reads `source`, towards a target that comes of the seed.
    ///
    /// # Errors
    /// As text, if the set is refused, or not taken to its end.
    pub(super) fn of(seed: u64, set: &Bytes, source: &[BatchRead]) -> Result<Mirrored, String> {
        let rng = &mut Rng::with_seed(seed ^ 0x6d69_7272_6f72);
        let magic = if rng.bool() { Magic::V1 } else { Magic::V2 };
        let zstd = magic == Magic::V2 && rng.bool();
        let target = Abilities { magic, zstd, takes_unknown_ids: zstd };
        let codecs = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];
        let codec = rng.bool().then(|| codecs[rng.usize(..5)]);
        let batch_bytes_max = [0, 300, 5000, 1 << 20][rng.usize(..4)];
        let all: Vec<&RecordRead> = data(source).flat_map(|content| &content.records).collect();
        // The link begins in front of the set, or at one of its records.
        let cursor = if rng.u8(..4) > 0 || all.is_empty() { 0 } else { all[rng.usize(..all.len())].offset };
        let stamp = Stamp { producer_id: 4711, producer_epoch: 3, base_sequence: rng.i32(0..1 << 30) };
        let view = View { cursor, ..View::of(target) };
        let mut rewriter: Option<Rewriter> = None;
        let outcome = plan(set.clone(), Aborted::default(), &view, codec, batch_bytes_max, &mut rewriter);
        if let Some((offset, why)) = outcome.refused {
            return Err(format!("refused at {offset}: {why}"));
        }
        let end = source.iter().filter_map(|batch| batch.content.as_ref()).map(|content| content.last_offset + 1).max();
        if end.is_some_and(|end| end > outcome.cursor) {
            return Err(format!("the set ends at {end:?}, the cursor is {}", outcome.cursor));
        }
        let pieces = outcome.pieces.iter().map(|piece| {
            let bytes = match &piece.body {
                Body::Batch(batch) => [&restamp(batch, stamp)[..], &batch.payload()].concat().into(),
                Body::Set { bytes, .. } => bytes.clone(),
            };
            (bytes, piece.records, piece.rewritten)
        });
        let kept = all.into_iter().filter(|record| record.offset >= cursor);
        let expected = kept.map(|record| carried(record, magic)).collect();
        Ok(Mirrored { target, stamp, pieces: pieces.collect(), expected })
    }

    /// Compares what Java reads in the pieces with what it read in the source.
    ///
    /// # Errors
    /// As text.
    pub(super) fn check(&self, read: &[Vec<BatchRead>]) -> Result<(), String> {
        let mut records = Vec::new();
        for ((_, count, rewritten), batches) in self.pieces.iter().zip(read) {
            let contents: Option<Vec<&Content>> = batches.iter().map(|batch| batch.content.as_ref()).collect();
            let contents = contents.ok_or_else(|| "a wrong checksum in a piece".to_owned())?;
            let before = records.len();
            for (batch, content) in batches.iter().zip(&contents) {
                self.check_batch(batch.magic, content, *rewritten)?;
                records.extend(content.records.iter().map(|record| carried(record, self.target.magic)));
            }
            if records.len() - before != usize::try_from(*count).unwrap_or(usize::MAX) {
                return Err(format!("a piece of {count} records holds {}", records.len() - before));
            }
        }
        if records == self.expected {
            return Ok(());
        }
        let expected = &self.expected;
        Err(format!("the records of the target are not the source's\nsource {expected:?}\ntarget {records:?}"))
    }

    fn check_batch(&self, magic: i8, content: &Content, rewritten: bool) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{what}: magic {magic}, {content:?}"));
        let dense = (content.base_offset..).zip(&content.records).all(|(offset, record)| record.offset == offset);
        if content.records.iter().any(|record| !record.valid) {
            return wrong("a record's checksum is wrong");
        }
        match self.target.magic {
            Magic::V1 if magic != 1 => wrong("not magic 1"),
            // A wrapper, and what was built, is numbered from 0; a run of plain messages goes as it came.
            Magic::V1 if content.codec != 0 && (!dense || content.base_offset != 0) => wrong("gaps in a wrapper"),
            Magic::V1 if rewritten && content.timestamp_type != 0 => wrong("an append time was built"),
            Magic::V1 => Ok(()),
            Magic::V2 => {
                let last = content.count - 1;
                let stamped = (content.producer_id, content.producer_epoch, content.base_sequence)
                    == (self.stamp.producer_id, self.stamp.producer_epoch, self.stamp.base_sequence);
                let plain = !content.transactional && !content.control && content.delete_horizon == i64::MIN;
                let whole = (content.base_offset, content.last_offset) == (0, i64::from(last)) && dense;
                if magic == 2 && stamped && plain && whole && content.timestamp_type == 0 {
                    Ok(())
                } else {
                    wrong("not a batch as targets take it")
                }
            }
        }
    }
}

/// The batches that hold records, not markers.
fn data(batches: &[BatchRead]) -> impl Iterator<Item = &Content> {
    batches.iter().filter_map(|batch| batch.content.as_ref()).filter(|content| !content.control)
}

/// A record without what the target gives or has no place for: its offset, and in magic 1 headers.
fn carried(record: &RecordRead, magic: Magic) -> RecordRead {
    let headers = if magic == Magic::V1 { Vec::new() } else { record.headers.clone() };
    RecordRead { offset: 0, headers, ..record.clone() }
}
