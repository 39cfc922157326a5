//! Any records, any codec: what is built is read back, and conversion between the magics loses only headers.

use kmirror_proto::compress::Codec;
use kmirror_proto::records::{Entry, MessageFormat, MessageSetBuilder, Stamp, split, wrapper_shape};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::story::{BYTES_MAX, Told, batch, message_set, set_by, told};

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
        let set = message_set(MessageFormat::V1, codec, &tale);
        for told in &mut tale {
            told.headers.clear();
        }
        prop_assert_eq!(told(set), tale);
    }

    #[test]
    fn a_message_set_of_either_magic_keeps_its_offsets_and_their_gaps(
        tale in tales(), old: bool, codec in codecs(), base in 0..1_i64 << 40, gaps in vec(1..1000_i64, 40),
    ) {
        let format = if old { MessageFormat::V0 } else { MessageFormat::V1 };
        let mut offset = base;
        let tale: Vec<_> = tale.into_iter().zip(&gaps).map(|(mut told, gap)| {
            offset += gap;
            told.offset = offset;
            told.timestamp = if old { -1 } else { told.timestamp };
            told.headers.clear();
            told
        }).collect();
        let mut builder = MessageSetBuilder::new(format, codec);
        let set = set_by(&mut builder, &tale);
        prop_assert_eq!(&told(set.clone()), &tale);
        // The builder once more gives the same.
        prop_assert_eq!(set_by(&mut builder, &tale), set.clone());
        let Some(Ok(Entry::Message(first))) = split(set).next() else { panic!("no message") };
        let shape = wrapper_shape(&first, BYTES_MAX).unwrap();
        prop_assert!(!old || !shape.is_kept());
        if codec != Codec::None {
            let span = tale[tale.len() - 1].offset - tale[0].offset;
            prop_assert_eq!((shape.records, shape.last_relative_offset), (tale.len(), span));
            prop_assert_eq!(shape.dense, span + 1 == i64::try_from(tale.len()).unwrap());
        }
    }
}
