//! A mirror that ends in the middle, in whatever way, goes on without a record missing or one too many.

use kmirror_testkit::{Codec, Release};
use kmirror_tests::Result;
use kmirror_tests::embedded::{Embedded, mirror_of, run, run_beside};
use kmirror_tests::judge::Row;
use kmirror_tests::kafka::Kafka as _;

const BATCHES: u32 = 200;
const PER_BATCH: u32 = 25;

/// Many small batches, so that there is a middle.
fn filled(release: Release) -> Result<Embedded> {
    let source = Embedded::start(release)?;
    source.with(|cluster, _| cluster.create_topic("many", 3));
    for partition in 0..3 {
        for batch in 0..BATCHES {
            let records: Vec<Row> = (0..PER_BATCH).map(|n| Row::number(batch * PER_BATCH + n)).collect();
            source.append("many", partition, Codec::None, &records)?;
        }
    }
    Ok(source)
}

/// `end` ends the mirror once the target has something, over and over until it ends by itself.
fn stopped_again_and_again(from: Release, to: Release, end: fn(&kmirror_core::StopHandle)) -> Result {
    let (source, target) = (filled(from)?, Embedded::start(to)?);
    target.with(|cluster, _| cluster.create_topic("many", 3));
    // A few batches in each answer.
    let mirror = || mirror_of(&source, &target, "many").source_property("max.partition.fetch.bytes", "4000");
    let go = target.slow_down("many");
    for _ in 0..3 {
        // More than was there: it is at work.
        let some = (target.read("many", 0)?.len() + 200).min(source.read("many", 0)?.len());
        run_beside(mirror().until_caught_up(true), |handles| {
            target.wait_for("many", 0, some)?;
            end(&handles.stop);
            Ok(())
        })?;
    }
    assert!(target.read("many", 0)?.len() < source.read("many", 0)?.len(), "there was no middle to be stopped in");
    go();
    run(mirror().until_caught_up(true))?;
    for partition in 0..3 {
        let (expected, arrived) = (source.read("many", partition)?, target.read("many", partition)?);
        assert_eq!(arrived.len(), expected.len(), "{from} to {to}: many-{partition}");
        assert!(arrived == expected, "{from} to {to}: many-{partition} differs");
    }
    Ok(())
}

#[test]
fn stopped_cleanly() -> Result {
    stopped_again_and_again(Release::V2_0, Release::V3_9, kmirror_core::StopHandle::stop)
}

#[test]
fn stopped_cleanly_towards_0_10() -> Result {
    stopped_again_and_again(Release::V2_0, Release::V0_10_1, kmirror_core::StopHandle::stop)
}

#[test]
fn stopped_at_once_from_2_0_to_2_0() -> Result {
    stopped_again_and_again(Release::V2_0, Release::V2_0, kmirror_core::StopHandle::stop_now)
}

#[test]
fn stopped_at_once_from_0_10_to_4_4() -> Result {
    stopped_again_and_again(Release::V0_10_1, Release::V4_4, kmirror_core::StopHandle::stop_now)
}

#[test]
fn stopped_at_once_from_4_4_to_0_11() -> Result {
    stopped_again_and_again(Release::V4_4, Release::V0_11, kmirror_core::StopHandle::stop_now)
}
