//! Any records, any codec: what is built is read back, and conversion between the magics loses only headers.

use kmirror_proto::compress::Codec;
use kmirror_proto::records::Stamp;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::story::{Told, batch, message_set, told};

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![vec(any::<u8>(), 0..300), (any::<u8>(), 0..3000_usize).prop_map(|(byte, len)| vec![byte; len])]
}

fn tales() -> impl Strategy<Value = Vec<Told>> {
    let headers = vec((vec(any::<u8>(), 0..20), option::of(vec(any::<u8>(), 0..200))), 0..4);
    let record = (any::<i64>(), option::of(bytes()), option::of(bytes()), headers);
    vec(record, 1..40).prop_map(|records| {
        let told = (0..).zip(records).map(|(offset, (timestamp, key, value, headers))| Told {
            offset,
            timestamp,
            key,
            value,
            headers,
        });
        told.collect()
    })
}

/// The codecs of both formats.
fn codecs() -> impl Strategy<Value = Codec> {
    prop_oneof![Just(Codec::None), Just(Codec::Gzip), Just(Codec::Snappy), Just(Codec::Lz4)]
}

proptest! {
    #[test]
    fn a_batch_is_read_back(
        tale in tales(), codec in prop_oneof![4 => codecs(), 1 => Just(Codec::Zstd)], producer_id: i64, producer_epoch: i16, base_sequence: i32,
    ) {
        let stamp = Stamp { producer_id, producer_epoch, base_sequence };
        prop_assert_eq!(told(batch(codec, &tale, stamp)), tale);
    }

    #[test]
    fn a_message_set_is_read_back_without_headers(mut tale in tales(), codec in codecs()) {
        let set = message_set(codec, &tale);
        for told in &mut tale {
            told.headers.clear();
        }
        prop_assert_eq!(told(set), tale);
    }
}
