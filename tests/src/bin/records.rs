//! Kafka's record classes against ours, for as long as one likes: `cargo run -p kmirror-tests --bin records --
//! --batches 100000 --seed 1`.
//!
//! A disagreement ends it with the seed and the bytes; `--batches 1 --seed <that seed>` has it again.
#![expect(clippy::print_stdout, reason = "a small tool for people")]

use kmirror_tests::differential::compare;
use kmirror_tests::wait::Stopwatch;
use kmirror_tests::{Failure, Result};

fn main() -> Result {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (mut batches, mut seed) = (100_000, 1);
    for pair in words.chunks(2) {
        let usage = || Failure::new("usage: records [--batches <number>] [--seed <number>]");
        let [name, value] = pair else { return Err(usage()) };
        let value = value.parse().map_err(|_| usage())?;
        match name.as_str() {
            "--batches" => batches = value,
            "--seed" => seed = value,
            _ => return Err(usage()),
        }
    }
    let clock = Stopwatch::start();
    let compared = compare(seed, batches, |done| {
        if done % 10_000 == 0 {
            println!("{done} of {batches}, {:.1} s", clock.elapsed().as_secs_f32());
        }
    })?;
    for (kind, sets) in &compared.sets {
        println!("{sets:8} {kind}");
    }
    for (mark, sets) in &compared.marks {
        println!("{sets:8} {mark}");
    }
    println!("{} records, {} damaged sets", compared.records, compared.damaged);
    println!("{} pieces forwarded, {} rewritten", compared.forwarded, compared.rewritten);
    println!("{batches} batches from seed {seed}, 0 disagreements, {:.1} s", clock.elapsed().as_secs_f32());
    Ok(())
}
