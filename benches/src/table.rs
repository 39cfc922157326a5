//! Results as a table for people.

use std::fmt::Write as _;
use std::time::Duration;

use crate::sample::Sample;

/// One measured run.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which pair, from 1.
    pub pair: u32,
    /// Which mirror.
    pub mirror: &'static str,
    /// What its process used until the target held everything.
    pub used: Sample,
    /// From its start until the target held everything.
    pub wall: Duration,
}

/// What was mirrored in each run.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Records.
    pub records: u64,
    /// Bytes of the source's segment files.
    pub log_bytes: u64,
}

/// A line for each run.
pub fn rows(rows: &[Row], load: Load) -> String {
    let mut text = format!(
        "{:>4}  {:<8}  {:>7}  {:>9}  {:>10}  {:>7}  {:>8}\n",
        "pair", "mirror", "CPU-s", "CPU-s/GB", "CPU-s/Mrec", "wall s", "RSS MiB"
    );
    for row in rows {
        let cpu = row.used.cpu.as_secs_f64();
        let _ = writeln!(
            text,
            "{:>4}  {:<8}  {:>7.2}  {:>9.2}  {:>10.2}  {:>7.2}  {:>8.0}",
            row.pair,
            row.mirror,
            cpu,
            cpu / giga(load.log_bytes),
            cpu / (giga(load.records) * 1000.0),
            row.wall.as_secs_f64(),
            giga(row.used.rss_bytes_max) * 1e9 / f64::from(1 << 20),
        );
    }
    text
}

/// How many times the CPU time of `subject` its rival took, pair by pair, then the median and the range.
pub fn ratios(rows: &[Row], subject: &str, rival: &str) -> String {
    let cpu = |pair, mirror| {
        let row = rows.iter().find(|row| row.pair == pair && row.mirror == mirror)?;
        Some(row.used.cpu.as_secs_f64())
    };
    let pairs = rows.iter().map(|row| row.pair).max().unwrap_or(0);
    let ratio = |pair| Some(cpu(pair, rival)? / cpu(pair, subject)?.max(0.01));
    let mut ratios: Vec<f64> = (1..=pairs).filter_map(ratio).collect();
    let listed: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.1}")).collect();
    ratios.sort_by(f64::total_cmp);
    match (ratios.first(), median(&ratios), ratios.last()) {
        (Some(least), Some(median), Some(most)) => format!(
            "{rival} takes so many times the CPU time of {subject}: {}; median {median:.1} ({least:.1} to {most:.1})\n",
            listed.join(" ")
        ),
        _ => "no pair to compare\n".to_owned(),
    }
}

/// Of sorted values; of an even number, the mean of the two in the middle.
fn median(sorted: &[f64]) -> Option<f64> {
    let upper = sorted.len() / 2;
    let above = sorted.get(upper)?;
    if sorted.len() % 2 == 1 {
        return Some(*above);
    }
    sorted.get(upper.checked_sub(1)?).map(|below| f64::midpoint(*below, *above))
}

/// In thousands of millions.
#[expect(clippy::cast_precision_loss, reason = "for people: three digits are shown")]
pub fn giga(count: u64) -> f64 {
    count as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(pair: u32, mirror: &'static str, cpu_ms: u64) -> Row {
        let used = Sample { cpu: Duration::from_millis(cpu_ms), rss_bytes_max: 64 << 20 };
        Row { pair, mirror, used, wall: Duration::from_secs(2) }
    }

    #[test]
    fn ratios_are_those_of_each_pair() {
        let rows = [row(1, "a", 20_000), row(1, "b", 1000), row(2, "a", 30_000), row(2, "b", 1000), row(3, "a", 1)];
        let text = ratios(&rows, "b", "a");
        assert!(text.contains("20.0 30.0; median 25.0 (20.0 to 30.0)"), "{text}");
        assert_eq!(ratios(&rows[4..], "b", "a"), "no pair to compare\n");
    }

    #[test]
    fn a_row_is_per_gigabyte_and_per_million_records() {
        let text = rows(&[row(1, "a", 20_000)], Load { records: 5_000_000, log_bytes: 500_000_000 });
        let words: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(words, ["1", "a", "20.00", "40.00", "4.00", "2.00", "64"]);
    }
}
