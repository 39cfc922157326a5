//! Records built in one format and codec, built again in another: all that both can hold is the same.

use kmirror_core::plan::decode;
use kmirror_proto::compress::Codec;
use kmirror_proto::records::{BatchBuilder, HeadersSource, MessageFormat, MessageSetBuilder, Stamp, split};

use crate::judge;

/// A record as the bytes describe it.
#[derive(Clone, Debug, PartialEq)]
struct Described {
    timestamp: i64,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

/// The first byte chooses format and codec; the rest describes records: each field is a length (0 is null) and its bytes.
pub(crate) fn body(data: &[u8]) {
    let Some((&head, mut rest)) = data.split_first() else { return };
    let Ok(codec) = Codec::from_id(head & 7) else { return };
    let mut records = Vec::new();
    while let Some(record) = described(&mut rest) {
        records.push(record);
    }
    if records.is_empty() {
        return;
    }
    let source = match head >> 3 & 3 {
        0 | 3 => in_batch(codec, &records),
        format => {
            let format = if format == 1 { MessageFormat::V1 } else { MessageFormat::V0 };
            records.iter_mut().for_each(|record| record.headers.clear());
            if format == MessageFormat::V0 {
                records.iter_mut().for_each(|record| record.timestamp = -1);
            }
            if codec == Codec::Zstd {
                return;
            }
            in_set(format, codec, &records)
        }
    };
    assert_eq!(read(&source), records, "what was built is read");
    // Towards magic 2 and towards magic 1.
    for target in [0_u8, 1] {
        let mut wanted = records.clone();
        if target == 1 {
            wanted.iter_mut().for_each(|record| record.headers.clear());
        }
        assert_eq!(read(&judge::written(target, &source)), wanted, "to {target}");
    }
}

fn described(rest: &mut &[u8]) -> Option<Described> {
    let (&[timestamp, headers], tail) = rest.split_first_chunk::<2>()?;
    *rest = tail;
    let mut record = Described {
        timestamp: 1_700_000_000_000 + i64::from(timestamp) * 1000,
        key: field(rest),
        value: field(rest),
        headers: Vec::new(),
    };
    for _ in 0..headers & 3 {
        let (name, value) = (field(rest), field(rest));
        record.headers.push((name.unwrap_or_default(), value));
    }
    Some(record)
}

fn field(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let (&len, tail) = rest.split_first()?;
    let len = usize::from(len).checked_sub(1)?.min(tail.len());
    let (field, tail) = tail.split_at(len);
    *rest = tail;
    Some(field.to_vec())
}

fn in_batch(codec: Codec, records: &[Described]) -> Vec<u8> {
    let mut builder = BatchBuilder::new(codec, None);
    for record in records {
        let headers: Vec<(&[u8], Option<&[u8]>)> =
            record.headers.iter().map(|(name, value)| (&name[..], value.as_deref())).collect();
        let (key, value) = (record.key.as_deref(), record.value.as_deref());
        builder.push(record.timestamp, key, value, HeadersSource::List(&headers)).unwrap();
    }
    builder.finish(Stamp::NONE).unwrap().to_vec()
}

fn in_set(format: MessageFormat, codec: Codec, records: &[Described]) -> Vec<u8> {
    let mut builder = MessageSetBuilder::new(format, codec);
    for record in records {
        builder.push(record.timestamp, record.key.as_deref(), record.value.as_deref()).unwrap();
    }
    builder.finish().unwrap().to_vec()
}

fn read(log: &[u8]) -> Vec<Described> {
    let mut all = Vec::new();
    for entry in split(log.to_vec().into()) {
        let read = decode(&entry.unwrap(), |record| {
            all.push(Described {
                timestamp: record.timestamp,
                key: record.key.map(<[u8]>::to_vec),
                value: record.value.map(<[u8]>::to_vec),
                headers: record
                    .headers
                    .iter()
                    .map(|(name, value)| (name.to_vec(), value.map(<[u8]>::to_vec)))
                    .collect(),
            });
            std::ops::ControlFlow::Continue(())
        });
        read.unwrap();
    }
    all
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let records = [1, 2, 4, b'k', b'e', b'y', 2, b'v', 2, b'a', 2, b'1', 2, b'a', 0, 9, 0, 0, 1, 7, 1, 1, 0, 0];
    (0..32).map(|head| [&[head], &records[..]].concat()).collect()
}
