//! The embedded broker as a rig: how much goes through Produce and then Fetch, in the process and over TCP.
//!
//! `cargo run --release -p kmirror-benches --bin embedded [--megabytes 512]`
//!
//! In the process one thread does everything. Over TCP the broker has its thread and the client has two. What is read
//! is compared with what was written, byte for byte but for the offset and the leader epoch.
#![expect(clippy::print_stdout, reason = "a tool for people")]

use std::time::Duration;

use kmirror_benches::embedded::{Load, Took, in_process, over_tcp};
use kmirror_benches::table;
use kmirror_proto::compress::Codec;
use kmirror_tests::failure::ensure;
use kmirror_tests::{Failure, Result};

fn main() -> Result {
    let megabytes = megabytes(std::env::args().skip(1))?;
    println!("embedded 2.0.0, {megabytes} MB in batches of 1 MB, records of 1 KB");
    println!("GB of record bytes in a second of the serving thread's CPU time, and on the clock");
    println!(
        "{:<6}  {:<10}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}",
        "codec", "way", "produce", "fetch", "both", "clock", "wire"
    );
    for (name, codec) in [("none", Codec::None), ("lz4", Codec::Lz4)] {
        let load = Load::build(codec, megabytes)?;
        let gigabytes = table::giga(load.record_bytes);
        let wire = 100.0 * table::giga(load.batch_bytes()) / gigabytes;
        for (way, run) in [("in process", in_process as fn(&Load) -> Result<_>), ("TCP", over_tcp)] {
            let Took { produce, fetch } = run(&load)?;
            let rate = |time: Duration| gigabytes / time.as_secs_f64();
            let (both, clock) = (rate(produce.cpu + fetch.cpu), rate(produce.wall + fetch.wall));
            let (produce, fetch) = (rate(produce.cpu), rate(fetch.cpu));
            println!("{name:<6}  {way:<10}  {produce:>8.2}  {fetch:>8.2}  {both:>8.2}  {clock:>8.2}  {wire:>6.0} %");
        }
    }
    Ok(())
}

fn megabytes(mut arguments: impl Iterator<Item = String>) -> Result<usize> {
    let mut megabytes = 512;
    while let Some(argument) = arguments.next() {
        if argument != "--megabytes" {
            return Err(Failure::new(format!("unknown argument {argument}; known: --megabytes")));
        }
        let value = arguments.next().ok_or_else(|| Failure::new("--megabytes takes a number"))?;
        megabytes = value.parse().map_err(|_| Failure::new(format!("not a number: {value}")))?;
    }
    ensure(megabytes > 0, || "nothing to measure".to_owned())?;
    Ok(megabytes)
}
