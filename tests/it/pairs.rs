//! From one release to another: contents, settings, and what is told beforehand.

use kmirror_tests::Result;
use kmirror_tests::stories::plan::a_plan_is_what_a_run_does;
use kmirror_tests::stories::settings;
use kmirror_tests::stories::zoo::the_zoo_arrives;

use crate::played;

#[test]
fn the_zoo_from_0_10_0_to_0_10_1() -> Result {
    played(the_zoo_arrives, "0.10.0.1", "0.10.1.1")
}

#[test]
fn the_zoo_from_0_10_1_to_2_0() -> Result {
    played(the_zoo_arrives, "0.10.1.1", "2.0.0")
}

#[test]
fn the_zoo_from_1_1_to_0_10_2() -> Result {
    played(the_zoo_arrives, "1.1.1", "0.10.2.2")
}

#[test]
fn the_zoo_from_2_0_to_4_4() -> Result {
    played(the_zoo_arrives, "2.0.0", "4.4.0")
}

#[test]
fn the_zoo_from_3_9_to_0_10_1() -> Result {
    played(the_zoo_arrives, "3.9.1", "0.10.1.1")
}

#[test]
fn the_zoo_from_4_4_to_2_0() -> Result {
    played(the_zoo_arrives, "4.4.0", "2.0.0")
}

#[test]
fn the_zoo_from_0_11_to_3_9() -> Result {
    played(the_zoo_arrives, "0.11.0.3", "3.9.1")
}

#[test]
fn the_zoo_from_2_8_to_1_0() -> Result {
    played(the_zoo_arrives, "2.8.2", "1.0.2")
}

#[test]
fn a_plan_towards_3_9_is_what_a_run_does() -> Result {
    played(a_plan_is_what_a_run_does, "2.0.0", "3.9.1")
}

#[test]
fn a_plan_towards_0_10_1_is_what_a_run_does() -> Result {
    played(a_plan_is_what_a_run_does, "2.0.0", "0.10.1.1")
}

#[test]
fn the_source_tells_settings_from_0_11_on() -> Result {
    for (from, to) in [("0.11.0.3", "3.9.1"), ("2.0.0", "4.4.0"), ("4.4.0", "2.0.0"), ("2.0.0", "0.10.1.1")] {
        played(settings::the_source_tells_them, from, to)?;
    }
    Ok(())
}

#[test]
fn the_file_tells_settings_for_0_10() -> Result {
    played(settings::the_file_tells_them, "0.10.1.1", "2.0.0")
}

#[test]
fn the_file_wins_over_the_source() -> Result {
    played(settings::the_file_wins, "2.0.0", "3.9.1")
}

#[test]
fn the_broker_makes_the_topic_on_0_10_0() -> Result {
    played(settings::the_broker_makes_it, "2.0.0", "0.10.0.1")
}
