//! Any records from any format into any: keys, values and order stay. And bytes that are no records.

use kmirror_proto::records::MessageFormat::{V0, V1};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::super::{Form, Headers, Packing, down, rewrite};
use super::*;

fn records() -> impl Strategy<Value = Vec<Told>> {
    let part = || option::of(vec(any::<u8>(), 0..60));
    let headers = vec((vec(any::<u8>(), 0..5), part()), 0..3);
    let record = (-1..2 * THEN, part(), part(), headers);
    vec(record.prop_map(|(timestamp, key, value, headers)| Told { timestamp, key, value, headers }), 1..12)
}

/// A format, and a codec that it has.
fn forms() -> impl Strategy<Value = (i8, Codec)> {
    (0..3_i8, 0..5_u8).prop_map(|(magic, codec)| {
        let codec = Codec::from_id(codec).unwrap();
        (magic, if magic < 2 && codec == Codec::Zstd { Codec::Lz4 } else { codec })
    })
}

fn built((magic, codec): (i8, Codec), base: i64, records: &[Told]) -> Vec<Entry> {
    match MessageFormat::from_magic(magic) {
        Some(format) => set(format, codec, base, records),
        None => vec![batch(codec, base, records)],
    }
}

/// What is left of a record in these formats.
fn left(told: &Told, magics: &[i8]) -> Told {
    let mut left = told.clone();
    if magics.contains(&0) {
        left.timestamp = -1;
    }
    if magics.iter().any(|magic| *magic < 2) {
        left.headers.clear();
    }
    left
}

proptest! {
    #[test]
    fn rewriting_keeps_the_records(
        parts in vec((forms(), records()), 1..4), to in forms(), base in 0..1_i64 << 40, append_time in option::of(Just(NOW)),
    ) {
        let mut opened = Vec::new();
        let mut expected = Vec::new();
        for (form, records) in &parts {
            let entries = built(*form, 0, records);
            for entry in &entries {
                opened.push(match entry.magic {
                    2 => Opened::batch(&RawBatch::from_bytes(entry.bytes.clone()).unwrap()).unwrap(),
                    _ => Opened::sent(&RawMessage::from_bytes(entry.bytes.clone()).unwrap()).unwrap(),
                });
            }
            expected.extend(records.iter().map(|told| left(told, &[form.0, to.0])));
        }
        if append_time.is_some() && to.0 > 0 {
            expected.iter_mut().for_each(|told| told.timestamp = NOW);
        }
        let form = Form { append_time, ..Form::of(to.0, to.1, base) };
        let stored = rewrite(&opened, &form);
        if to.0 < 2 && parts.iter().any(|(form, records)| form.0 == 2 && records.iter().any(|told| !told.headers.is_empty())) {
            prop_assert!(stored.is_err());
            return Ok(());
        }
        let stored = stored.unwrap();
        prop_assert!(to.0 < 2 && to.1 == Codec::None || stored.len() == 1);
        prop_assert!(stored.iter().all(|entry| (entry.magic, entry.codec) == to));
        prop_assert_eq!(read(&stored), (base..).zip(expected).collect::<Vec<_>>());
    }

    #[test]
    fn building_down_keeps_offsets_and_records(
        parts in vec((forms(), records()), 1..4), old: bool, together: bool, from in 0..40_i64,
    ) {
        let format = if old { V0 } else { V1 };
        let packing = if together { Packing::Together } else { Packing::Apart };
        let (mut log, mut expected, mut end) = (Vec::new(), Vec::new(), 0);
        for (form, records) in &parts {
            // A log of 0.10 holds no magic 2.
            let magic = if together { form.0.min(1) } else { form.0 };
            let codec = if form.1 == Codec::Zstd { Codec::Gzip } else { form.1 };
            log.extend(built((magic, codec), end, records));
            for told in records {
                let skipped = !together && codec == Codec::None && magic > format.magic() && end < from;
                if !skipped {
                    expected.push((end, left(told, &[magic, magic.min(format.magic())])));
                }
                end += 1;
            }
        }
        let down = down(&log, format, from, packing, Headers::Dropped).unwrap();
        let entries = rewrite::entries(down.records.clone()).unwrap();
        if !together {
            prop_assert!(entries.iter().all(|entry| entry.magic <= format.magic()));
        }
        for bytes in [0, 1, down.records.len(), down.records.len() + 1, down.records.len() + 100] {
            let filled = down.filled(bytes);
            prop_assert!(filled.len() >= bytes && filled.len() <= bytes.max(down.records.len()));
            let whole = filled.len().min(down.records.len());
            prop_assert_eq!(&filled[..whole], &down.records[..whole]);
        }
        if together {
            expected.iter_mut().for_each(|(_, told)| *told = left(told, &[format.magic()]));
        }
        prop_assert_eq!(read(&entries), expected);
    }

    #[test]
    fn damaged_entries_are_errors_or_records_and_never_a_panic(
        form in forms(), records in records(), changes in vec((12..10_000_usize, any::<u8>()), 1..5),
    ) {
        let mut bytes = built(form, 5, &records).remove(0).bytes.to_vec();
        for (at, byte) in changes {
            let at = 12 + (at - 12) % (bytes.len() - 12);
            bytes[at] = byte;
        }
        let bytes = Bytes::from(bytes);
        if let Ok(entry) = Entry::read(bytes.clone()) {
            for packing in [Packing::Together, Packing::Apart] {
                let _ = down(std::slice::from_ref(&entry), V0, 0, packing, Headers::Dropped);
            }
        }
        let opened = RawMessage::from_bytes(bytes.clone()).map(|message| Opened::sent(&message));
        let opened = opened.or_else(|_| RawBatch::from_bytes(bytes).map(|batch| Opened::batch(&batch)));
        if let Ok(Ok(opened)) = opened {
            for magic in 0..3 {
                let _ = rewrite(std::slice::from_ref(&opened), &Form::of(magic, Codec::None, 0));
            }
        }
    }
}
