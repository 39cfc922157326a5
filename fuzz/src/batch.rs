//! Magic 2 batches: header, records, checksum, and what the raw path makes of them.

use bytes::Bytes;
use kmirror_proto::records::{ControlRecord, Entry, RawBatch, Records, Stamp, restamp, split};

use crate::DECOMPRESSED_BYTES_MAX;

pub(crate) fn body(data: &[u8]) {
    let mut left = data.len();
    for entry in split(Bytes::copy_from_slice(data)).map_while(Result::ok) {
        let Entry::Batch(batch) = entry else { continue };
        left = left.checked_sub(batch.bytes().len()).unwrap();
        header(&batch);
        records(&batch);
        stamped(&batch);
    }
}

fn header(batch: &RawBatch) {
    let header = &batch.header;
    assert_eq!(header.size(), batch.bytes().len());
    assert!(header.base_offset >= 0 && header.last_offset() >= header.base_offset && header.next_offset() > 0);
    assert!(header.records_count >= 0);
}

fn records(batch: &RawBatch) {
    let _ = ControlRecord::of(batch, DECOMPRESSED_BYTES_MAX);
    let Ok(records) = Records::of(batch, DECOMPRESSED_BYTES_MAX) else { return };
    assert!(records.payload().len() <= DECOMPRESSED_BYTES_MAX.max(batch.bytes().len()));
    let (mut count, mut bytes) = (0, 0);
    for record in &records {
        let Ok(record) = record else { return };
        count += 1;
        bytes += record.key.map_or(0, <[u8]>::len) + record.value.map_or(0, <[u8]>::len);
        let headers = record.headers.iter().count();
        assert_eq!(headers, record.headers.count());
    }
    assert_eq!(count, records.len());
    assert!(bytes <= records.payload().len(), "nothing is there twice");
}

/// A right checksum stays right, a wrong one wrong: damage is never laundered.
fn stamped(batch: &RawBatch) {
    let stamp = Stamp { producer_id: 0x0123_4567_89ab_cdef, producer_epoch: 7, base_sequence: 0x7fff_fffe };
    let new = [&restamp(batch, stamp)[..], &batch.payload()].concat();
    let new = RawBatch::from_bytes(new.into()).unwrap();
    assert_eq!(new.crc_ok(), batch.crc_ok());
    assert_eq!((new.header.producer_id, new.header.base_sequence), (stamp.producer_id, stamp.base_sequence));
    assert!(new.header.base_offset == 0 && !new.header.attributes.transactional());
    assert_eq!(new.header.records_count, batch.header.records_count);
}
