//! Somebody else's hand in a mirrored topic: the link says where, and stops; the others go on.

use std::time::Duration;

use crate::kafka::Kafka;
use crate::kmirror::Running;
use crate::mirror_maker::Mirror;
use crate::wait::{self, Deadline};
use crate::{Failure, Result};

const WITHIN: Duration = Duration::from_secs(60);

/// `stop_timeout` and a little.
const STOP_WITHIN: Duration = Duration::from_secs(35);

/// A producer writes one record into partition 0 of the target while the mirror is idle.
pub fn a_foreign_record_stops_its_link(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let topic = format!("intruders-foreign-{}", target.release().version);
    for cluster in [source, target] {
        cluster.create(&topic, 2, &[])?;
    }
    source.write_counter(&topic, 2_000)?;
    let mirror = Mirror::between(source, target, &topic, &topic);
    let mut running = mirror.command()?.start()?;
    reaches(&mut running, target, &topic, |ends| ends == [Some(1_000), Some(1_000)])?;
    // Record 0 of a counter goes to partition 0.
    target.write_counter(&topic, 1)?;
    source.write_counter(&topic, 2_000)?;
    reaches(&mut running, target, &topic, |ends| ends[1] == Some(2_000))?;
    wait::until(Deadline::after(WITHIN), "the link to stop", || {
        Ok(running.stderr().contains("stopped").then_some(()))
    })?;
    // Only the answer to a write says that somebody else was there: what that write held is on the target. Nothing more.
    let stood = target.ends(&topic)?[0];
    source.write_counter(&topic, 2_000)?;
    reaches(&mut running, target, &topic, |ends| ends[1] == Some(3_000))?;
    assert_eq!(target.ends(&topic)?[0], stood, "the link stands still");
    running.signal("TERM")?;
    let finished = running.finish(STOP_WITHIN)?.expect_code(0)?;
    let link = format!("{topic}-0");
    // Stamps tell whose record it is; on 0.10 only the offset of the answer is not the expected one.
    let seen = if target.release().at_least(0, 11) { "producer id -1" } else { "appended at offset 1001" };
    finished.one_line_with(&[&link, "another producer", "1000", seen])?;
    Ok(())
}

/// Retention takes records before they were mirrored: the range is named exactly, nothing behind it is copied.
pub fn records_that_are_gone_are_named_exactly(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let topic = "intruders-gone";
    for cluster in [source, target] {
        cluster.create(topic, 2, &[])?;
    }
    source.write_counter(topic, 2_000)?;
    let mirror = Mirror::between(source, target, topic, topic);
    mirror.run_until_caught_up()?;
    source.write_counter(topic, 2_000)?;
    source.delete_records(topic, 0, 1_500)?;
    let finished = mirror.command()?.arg("--until-caught-up").run(WITHIN)?.expect_code(1)?;
    finished.last_words(&["intruders-gone-0", "[1000, 1500)"])?;
    assert_eq!(target.ends(topic)?, [Some(1_000), Some(2_000)]);
    Ok(())
}

fn reaches(running: &mut Running, target: &dyn Kafka, topic: &str, holds: impl Fn(&[Option<i64>]) -> bool) -> Result {
    let what = format!("{topic} to arrive");
    wait::until(Deadline::after(WITHIN), &what, || {
        if let Some(status) = running.status()? {
            return Err(Failure::new(format!("kmirror ended with {status}\n{}", running.output())));
        }
        Ok(holds(&target.ends(topic)?).then_some(()))
    })
}
