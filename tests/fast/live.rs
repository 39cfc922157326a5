//! Topics and partitions that come while a mirror runs are copied from their first record, and once.

use kmirror_core::config::TopicSelection;
use kmirror_testkit::Codec;
use kmirror_testkit::Release::{self, V0_10_1, V1_0, V2_0, V2_8, V4_4};
use kmirror_tests::embedded::{Embedded, mirror_of, run_beside};
use kmirror_tests::judge::Row;
use kmirror_tests::stories::live::selection::another_pattern;
use kmirror_tests::{Failure, Result};

use crate::plays;

fn numbers(from: u32, count: u32) -> Vec<Row> {
    (from..from + count).map(Row::number).collect()
}

fn followed(from: Release, to: Release) -> Result {
    let (source, target) = (Embedded::start(from)?, Embedded::start(to)?);
    source.with(|cluster, _| cluster.create_topic("first", 1));
    source.append("first", 0, Codec::None, &numbers(0, 10))?;
    let look_now = TopicSelection::pattern(".*").map_err(|error| Failure::new(error.to_string()))?;
    run_beside(mirror_of(&source, &target, ".*"), |handles| {
        target.wait_for("first", 0, 10)?;
        source.with(|cluster, _| cluster.create_topic("second", 2));
        source.append("second", 1, Codec::Gzip, &numbers(0, 7))?;
        handles.selection.set(look_now.clone());
        target.wait_for("second", 1, 7)?;
        source.append("first", 0, Codec::None, &numbers(10, 5))?;
        target.wait_for("first", 0, 15)?;
        handles.stop.stop();
        Ok(())
    })?;
    for (topic, partition) in [("first", 0), ("second", 0), ("second", 1)] {
        assert_eq!(
            target.read(topic, partition)?,
            source.read(topic, partition)?,
            "{from} to {to}: {topic}-{partition}"
        );
    }
    Ok(())
}

#[test]
fn from_2_0_to_4_4() -> Result {
    followed(V2_0, V4_4)
}

#[test]
fn from_0_10_1_to_2_8() -> Result {
    followed(V0_10_1, V2_8)
}

#[test]
fn from_4_4_to_1_0() -> Result {
    followed(V4_4, V1_0)
}

plays! {
    another_pattern_is_wanted: another_pattern, [(V4_4, V0_10_1), (V0_10_1, V4_4), (V2_0, V2_8)];
}
