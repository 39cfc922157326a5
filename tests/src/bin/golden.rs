//! Records the byte vectors of `kmirror-proto/tests/golden` anew: `cargo run -p kmirror-tests --bin golden`.
//!
//! Starts every release of the list, one after the other.
#![expect(clippy::print_stdout, reason = "a small tool for people")]

use kmirror_tests::Result;
use kmirror_tests::golden::{RELEASES, record, write};

fn main() -> Result {
    let mut all = Vec::new();
    for release in RELEASES {
        println!("recording {release}");
        all.push(record(release)?);
    }
    println!("{} vectors", write(&all)?);
    Ok(())
}
