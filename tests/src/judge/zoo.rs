//! The zoo: one of everything that a record can be, over several batches and codecs.

use super::rows::Row;
use crate::Result;
use crate::brokers::Release;
use crate::kafka::Kafka;

/// How often each codec comes round in a partition: batches of one codec between those of others.
const ROUNDS: u32 = 2;

/// 2020, each record a second later than the one before it unless it says otherwise: never the time of writing, and old
/// enough for every target.
const FIRST_TIMESTAMP: i64 = 1_600_000_000_000;

/// The codecs that a release can store.
pub fn codecs(release: &Release) -> &'static [&'static str] {
    const ALL: [&str; 5] = ["none", "gzip", "lz4", "snappy", "zstd"];
    if release.at_least(2, 1) { &ALL } else { &ALL[..4] }
}

/// Writes a zoo into every partition of a topic; what each holds then. Headers only where the release has them.
pub fn write_zoo(cluster: &dyn Kafka, topic: &str, partitions: u32) -> Result<Vec<Vec<Row>>> {
    let release = cluster.release();
    let mut written = Vec::new();
    for partition in 0..partitions {
        let mut rows = Vec::new();
        for round in 0..ROUNDS {
            for codec in codecs(release) {
                let mark = format!("{topic}-{partition} {codec} {round}");
                let batch = batch(&mark, rows.len(), release.has_headers());
                cluster.write((topic, partition), codec, &batch)?;
                rows.extend(batch);
            }
        }
        written.push(rows);
    }
    Ok(written)
}

/// One batch; `mark` makes its records unlike those of any other, `at` is the place of its first.
fn batch(mark: &str, at: usize, headers: bool) -> Vec<Row> {
    let cargo = format!("{mark} {}", "lorem ipsum dolor sit amet ".repeat(60));
    let (long, unicode) = (cargo.as_str(), format!("{mark} Größe значение 値 🦀\u{0}\u{301}"));
    let name = format!("ключ {mark} 🔑");
    let mut rows = vec![
        Row::new(0, Some(mark), Some("value")),
        Row::new(0, None, Some(mark)),
        Row::new(0, Some(mark), None),
        Row::new(0, None, None),
        Row::new(0, Some(""), Some("")),
        Row::new(0, Some(""), None),
        Row::new(0, None, Some("")),
        Row::new(0, Some(&name), Some(&unicode)),
        Row::new(0, Some("long"), Some(long)),
        Row::sized(i64::try_from(at).unwrap_or(0), "noise", 3000),
    ];
    if headers {
        let plain = || Row::new(0, Some(mark), Some("with headers"));
        rows.extend([
            plain()
                .header("trace", Some("1"))
                .header("trace", Some("2"))
                .header("other", None)
                .header("trace", Some("1")),
            plain().header("", Some("no name")).header("empty", Some("")).header("null", None),
            plain().header("größe 🦀", Some("値")),
            (0..100).fold(plain(), |row, n| row.header(&format!("h{n}"), Some("v"))),
            Row::new(0, None, None).header("on a record of nothing", Some("")),
        ]);
    }
    for (n, row) in (at..).zip(&mut rows) {
        row.timestamp = FIRST_TIMESTAMP + 1000 * i64::try_from(n).unwrap_or(0);
    }
    // Out of order, as old as can be, and twice the same.
    rows[1].timestamp = 0;
    rows[2].timestamp -= 86_400_000;
    rows[5].timestamp = rows[4].timestamp;
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_animal_is_there() {
        let rows = batch("mark", 7, true);
        let has = |animal: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| animal(row)).count();
        let empty = |bytes: &Option<Vec<u8>>| bytes.as_ref().is_some_and(Vec::is_empty);
        assert!(has(&|row| row.key.is_none() && row.value.is_some()) > 0, "null keys");
        assert!(has(&|row| row.key.is_some() && row.value.is_none()) > 0, "tombstones");
        assert!(has(&|row| row.key.is_none() && row.value.is_none()) > 0, "nothing at all");
        assert!(has(&|row| empty(&row.key)) > 0 && has(&|row| empty(&row.value)) > 0, "empty strings");
        assert!(has(&|row| row.headers.iter().filter(|(name, _)| name == "trace").count() > 1) > 0, "duplicates");
        assert!(has(&|row| row.headers.iter().any(|(_, value)| value.is_none())) > 0, "headers without a value");
        assert!(has(&|row| row.headers.iter().any(|(name, _)| name.is_empty())) > 0, "headers without a name");
        assert!(batch("mark", 7, false).iter().all(|row| row.headers.is_empty()));
    }
}
