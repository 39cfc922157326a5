//! Somebody else's hand in a mirrored topic: the link says where, and stops; the others go on.

use std::time::Duration;

use kmirror_tests::brokers::{Cluster, shared};
use kmirror_tests::judge;
use kmirror_tests::kmirror::Running;
use kmirror_tests::wait::{self, Deadline};
use kmirror_tests::{Failure, Result};

use super::Mirror;

const WITHIN: Duration = Duration::from_secs(60);

/// `stop_timeout` and a little.
const STOP_WITHIN: Duration = Duration::from_secs(35);

/// A producer writes one record into partition 0 of the target while the mirror is idle.
fn a_foreign_record(target: &Cluster, words: &[&str]) -> Result {
    let source = shared("2.0.0")?;
    let topic = format!("intruders-foreign-{}", target.release().version);
    for cluster in [source, target] {
        judge::create(cluster, &topic, 2, &[])?;
    }
    judge::produce_counter(source, &topic, 2_000)?;
    let mirror = Mirror::between(source, target, &topic, &topic);
    let mut running = mirror.command()?.start()?;
    reaches(&mut running, target, &topic, |ends| ends == [Some(1_000), Some(1_000)])?;
    // Record 0 of a counter goes to partition 0.
    judge::produce_counter(target, &topic, 1)?;
    judge::produce_counter(source, &topic, 2_000)?;
    reaches(&mut running, target, &topic, |ends| ends[1] == Some(2_000))?;
    wait::until(Deadline::after(WITHIN), "the link to stop", || {
        Ok(running.stderr().contains("stopped").then_some(()))
    })?;
    // Only the answer to a write says that somebody else was there: what that write held is on the target. Nothing more.
    let stood = target.ends(&topic)?[0];
    judge::produce_counter(source, &topic, 2_000)?;
    reaches(&mut running, target, &topic, |ends| ends[1] == Some(3_000))?;
    assert_eq!(target.ends(&topic)?[0], stood, "the link stands still");
    running.signal("TERM")?;
    let finished = running.finish(STOP_WITHIN)?.expect_code(0)?;
    let link = format!("{topic}-0");
    finished.one_line_with(&[&[link.as_str(), "another producer", "1000"], words].concat())?;
    Ok(())
}

#[test]
fn a_foreign_record_stops_its_link_on_2_0() -> Result {
    a_foreign_record(shared("2.0.0/second")?, &["producer id -1"])
}

#[test]
fn a_foreign_record_stops_its_link_on_0_10_1() -> Result {
    a_foreign_record(shared("0.10.1.1")?, &["appended at offset 1001"])
}

/// Retention takes records before they were mirrored: the range is named exactly, nothing behind it is copied.
#[test]
fn records_that_are_gone_are_named_exactly() -> Result {
    let (source, target) = (shared("2.0.0")?, shared("2.0.0/second")?);
    let topic = "intruders-gone";
    for cluster in [source, target] {
        judge::create(cluster, topic, 2, &[])?;
    }
    judge::produce_counter(source, topic, 2_000)?;
    let mirror = Mirror::between(source, target, topic, topic);
    mirror.run_until_caught_up()?;
    judge::produce_counter(source, topic, 2_000)?;
    judge::delete_records(source, topic, 0, 1_500)?;
    let finished = mirror.command()?.arg("--until-caught-up").run(WITHIN)?.expect_code(1)?;
    finished.last_words(&["intruders-gone-0", "[1000, 1500)"])?;
    assert_eq!(target.ends(topic)?, [Some(1_000), Some(2_000)]);
    Ok(())
}

fn reaches(running: &mut Running, target: &Cluster, topic: &str, holds: impl Fn(&[Option<i64>]) -> bool) -> Result {
    let what = format!("{topic} to arrive");
    wait::until(Deadline::after(WITHIN), &what, || {
        if let Some(status) = running.status()? {
            return Err(Failure::new(format!("kmirror ended with {status}\n{}", running.output())));
        }
        Ok(holds(&target.ends(topic)?).then_some(()))
    })
}
