//! Topics, partitions and wishes that change while a mirror runs, on real brokers.

use kmirror_tests::Result;
use kmirror_tests::stories::live::selection::another_pattern;
use kmirror_tests::stories::live::topics::topics_come_and_go;

use crate::played;

#[test]
fn another_pattern_by_sighup_on_3_9() -> Result {
    played(another_pattern, "2.0.0", "3.9.1")
}

#[test]
fn another_pattern_by_sighup_on_0_10_1() -> Result {
    played(another_pattern, "2.0.0", "0.10.1.1")
}

#[test]
fn topics_come_and_go_from_2_0_to_4_4() -> Result {
    played(topics_come_and_go, "2.0.0", "4.4.0")
}

#[test]
fn topics_come_and_go_from_0_10_1_to_2_0() -> Result {
    played(topics_come_and_go, "0.10.1.1", "2.0.0")
}

#[test]
fn topics_come_and_go_from_4_4_to_1_0() -> Result {
    played(topics_come_and_go, "4.4.0", "1.0.2")
}
