//! Kafka's own record classes agree with ours about every format.

use kmirror_tests::Result;
use kmirror_tests::differential::compare;
use kmirror_tests::failure::ensure;

/// More are compared by hand: `cargo run -p kmirror-tests --bin records -- --batches 100000 --seed 7`.
const SETS: u64 = 20_000;

/// Five writers; markers are of magic 2 only, which has five codecs, and the older formats have four.
const KINDS: usize = 4 * (4 + 4 + 5) + 5;

#[test]
fn java_and_kmirror_read_the_same_in_every_set() -> Result {
    let compared = compare(1, SETS, |_| {})?;
    ensure(compared.sets.len() == KINDS, || format!("some kind was not generated: {:?}", compared.sets))?;
    let rare = |count: &u64| *count < 50;
    ensure(!compared.sets.values().any(rare), || format!("a kind is rare: {:?}", compared.sets))?;
    ensure(!compared.marks.values().any(rare), || format!("a mark is rare: {:?}", compared.marks))?;
    ensure(compared.damaged > 1000 && compared.forwarded > 1000 && compared.rewritten > 1000, || {
        format!("{compared:?}")
    })
}
