//! `abort.on.send.failure` on real brokers.

use kmirror_tests::Result;
use kmirror_tests::stories::abort::{false_leaves_it_out, true_ends_the_mirror};

use crate::played;

#[test]
fn true_ends_the_mirror_on_3_9() -> Result {
    played(true_ends_the_mirror, "2.0.0", "3.9.1")
}

#[test]
fn true_ends_the_mirror_on_0_10_1() -> Result {
    played(true_ends_the_mirror, "2.0.0", "0.10.1.1")
}

#[test]
fn false_leaves_it_out_on_3_9() -> Result {
    played(false_leaves_it_out, "2.0.0", "3.9.1")
}

#[test]
fn false_leaves_it_out_on_0_10_1() -> Result {
    played(false_leaves_it_out, "2.0.0", "0.10.1.1")
}
