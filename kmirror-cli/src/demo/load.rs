//! The records of the acceptance test: record i has i as eight bytes, no key, and goes to partition i modulo their number.

use kmirror_testkit::{Codec, Record};

use super::TOPIC;
use super::sides::Side;
use crate::args::{DemoArgs, DemoCodec};
use crate::exit::Failure;
use crate::table::grouped;
use crate::view::{Line, Output, Tone};

/// So many records become one batch.
const BATCH_RECORDS: u64 = 1000;

/// So many bytes of values do at most.
const BATCH_BYTES_MAX: usize = 500_000;

/// Writes them all, showing how far it is.
pub(super) fn load(source: &Side, args: &DemoArgs, screen: &Output) -> Result<(), Failure> {
    let codec = args.codec.into();
    let partitions = u64::from(args.partitions);
    let size = usize::try_from(args.record_size).unwrap_or(usize::MAX);
    let fitting = u64::try_from((BATCH_BYTES_MAX / size.max(1)).max(1)).unwrap_or(1);
    let per_batch = BATCH_RECORDS.min(fitting);
    let (mut loaded, mut value) = (0, Vec::new());
    for partition in 0..partitions {
        // Record `at * partitions + partition` is the partition's `at`-th.
        let count = (args.records + partitions - 1 - partition) / partitions;
        let mut at = 0;
        while at < count {
            let until = count.min(at + per_batch);
            value.clear();
            (at..until).for_each(|at| push_value(&mut value, at * partitions + partition, size));
            write(source, i32::try_from(partition).unwrap_or(i32::MAX), codec, &value, size)?;
            loaded += until - at;
            at = until;
            show(screen, loaded, args.records);
        }
    }
    screen.clear();
    Ok(())
}

impl From<DemoCodec> for Codec {
    fn from(codec: DemoCodec) -> Self {
        match codec {
            DemoCodec::None => Self::None,
            DemoCodec::Gzip => Self::Gzip,
            DemoCodec::Snappy => Self::Snappy,
            DemoCodec::Lz4 => Self::Lz4,
            DemoCodec::Zstd => Self::Zstd,
        }
    }
}

/// The number, and as much behind it as is missing to the size.
fn push_value(values: &mut Vec<u8>, number: u64, size: usize) {
    let end = values.len() + size;
    values.extend_from_slice(&number.to_be_bytes());
    let filler = (0_u8..26).map(|n| b'a' + n).cycle().skip(usize::try_from(number % 26).unwrap_or(0));
    values.extend(filler.take(size.saturating_sub(8)));
    values.truncate(end);
}

fn write(source: &Side, partition: i32, codec: Codec, values: &[u8], size: usize) -> Result<(), Failure> {
    let written = source.server.with(|cluster, now| {
        let records = values.chunks(size).map(|value| Record::of(now.unix_ms, value));
        cluster.write(now, TOPIC, partition, codec, records)
    });
    let failed = |error| Failure::failed(format!("loading {TOPIC}-{partition} of Kafka {}: {error}", source.release));
    written.map(|_| ()).map_err(failed)
}

/// A bar, on a terminal.
fn show(screen: &Output, loaded: u64, records: u64) {
    const BAR: u64 = 40;
    if screen.room().is_none() {
        return;
    }
    let full = usize::try_from(BAR * loaded / records.max(1)).unwrap_or(0);
    let bar = format!("{:·<40}", "█".repeat(full));
    let text = format!("{bar} {} of {}", grouped(loaded), grouped(records));
    screen.draw(vec![Line(vec![(Tone::Plain, text)])]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_the_number_first() {
        let mut values = Vec::new();
        push_value(&mut values, 0x0102, 8);
        push_value(&mut values, 1, 11);
        assert_eq!(values, [&[0, 0, 0, 0, 0, 0, 1, 2][..], &[0, 0, 0, 0, 0, 0, 0, 1], b"bcd"].concat());
    }
}
