//! kafka-protocol as a second opinion on magic 2: it reads what we build, we read what it builds.
//!
//! Its headers are a map, so the records here have no name twice.

use bytes::{Bytes, BytesMut};
use kafka_protocol::indexmap::IndexMap;
use kafka_protocol::protocol::StrBytes;
use kafka_protocol::records::{
    Compression, Record, RecordBatchDecoder, RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};
use kmirror_proto::compress::{Codec, compress, decompress};
use kmirror_proto::records::Stamp;

use super::story::{BYTES_MAX, Told, batch, story, told};

const STAMP: Stamp = Stamp { producer_id: 4711, producer_epoch: 3, base_sequence: 99 };

fn tale() -> Vec<Told> {
    let mut tale = story(2, 0);
    tale[0].headers.remove(0);
    tale
}

fn theirs(told: &Told) -> Record {
    let name = |name: &[u8]| StrBytes::from_string(String::from_utf8(name.to_vec()).unwrap());
    let headers: IndexMap<_, _> =
        told.headers.iter().map(|(key, value)| (name(key), value.clone().map(Bytes::from))).collect();
    Record {
        transactional: false,
        control: false,
        delete_horizon: false,
        partition_leader_epoch: -1,
        producer_id: STAMP.producer_id,
        producer_epoch: STAMP.producer_epoch,
        timestamp_type: TimestampType::Creation,
        offset: told.offset,
        sequence: STAMP.base_sequence + i32::try_from(told.offset).unwrap(),
        timestamp: told.timestamp,
        key: told.key.clone().map(Bytes::from),
        value: told.value.clone().map(Bytes::from),
        headers,
    }
}

fn codec_of(compression: Compression) -> Codec {
    Codec::from_id(compression as u8).unwrap()
}

#[test]
fn it_reads_what_we_build() {
    for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let mut ours = batch(codec, &tale(), STAMP);
        let inflate = |packed: &mut Bytes, compression| Ok(decompress(codec_of(compression), packed, BYTES_MAX)?);
        let set = RecordBatchDecoder::decode_with_custom_compression(&mut ours, Some(inflate)).unwrap();
        assert_eq!(codec_of(set.compression), codec);
        assert_eq!(set.records, tale().iter().map(theirs).collect::<Vec<_>>(), "{codec}");
        assert!(ours.is_empty());
    }
}

#[test]
fn we_read_what_it_builds() {
    let records: Vec<_> = tale().iter().map(theirs).collect();
    let codecs = [
        (Compression::None, Codec::None),
        (Compression::Gzip, Codec::Gzip),
        (Compression::Snappy, Codec::Snappy),
        (Compression::Lz4, Codec::Lz4),
        (Compression::Zstd, Codec::Zstd),
    ];
    for (compression, codec) in codecs {
        let deflate = |plain: &mut BytesMut, out: &mut BytesMut, compression| {
            let mut packed = Vec::new();
            compress(codec_of(compression), plain, &mut packed)?;
            out.extend_from_slice(&packed);
            Ok(())
        };
        let options = RecordEncodeOptions { version: 2, compression };
        let mut buffer = BytesMut::new();
        RecordBatchEncoder::encode_with_custom_compression(&mut buffer, records.iter(), &options, Some(deflate))
            .unwrap();
        assert_eq!(told(buffer.freeze()), tale(), "{codec}");
    }
}
