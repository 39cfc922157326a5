//! Topics and partitions that come while a mirror runs are copied from their first record, and once.

use kmirror_core::config::TopicSelection;
use kmirror_testkit::{Codec, Release};
use kmirror_tests::embedded::{Embedded, Owned, mirror_of, run_beside};
use kmirror_tests::{Failure, Result};

fn numbers(from: u32, count: u32) -> Vec<Owned> {
    (from..from + count).map(|n| Owned::value(&n.to_be_bytes())).collect()
}

fn followed(from: Release, to: Release) -> Result {
    let (source, target) = (Embedded::start(from)?, Embedded::start(to)?);
    source.with(|cluster, _| cluster.create_topic("first", 1));
    source.write("first", 0, Codec::None, &numbers(0, 10))?;
    let look_now = TopicSelection::pattern(".*").map_err(|error| Failure::new(error.to_string()))?;
    run_beside(mirror_of(&source, &target, ".*"), |handles| {
        target.wait_for("first", 0, 10)?;
        source.with(|cluster, _| cluster.create_topic("second", 2));
        source.write("second", 1, Codec::Gzip, &numbers(0, 7))?;
        handles.selection.set(look_now.clone());
        target.wait_for("second", 1, 7)?;
        source.write("first", 0, Codec::None, &numbers(10, 5))?;
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
    followed(Release::V2_0, Release::V4_4)
}

#[test]
fn from_0_10_1_to_2_8() -> Result {
    followed(Release::V0_10_1, Release::V2_8)
}

#[test]
fn from_4_4_to_1_0() -> Result {
    followed(Release::V4_4, Release::V1_0)
}
