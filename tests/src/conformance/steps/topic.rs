//! `topic t partitions=2 cleanup.policy=compact`: a topic to work with.

use std::time::Duration;

use crate::conformance::run::{Answered, Run, Way};
use crate::conformance::schema;
use crate::conformance::value::Value;
use crate::conformance::words::Words;
use crate::wait::{self, Deadline};
use crate::{Failure, Result};

/// For the leaders of a new topic.
const LED_WITHIN: Duration = Duration::from_secs(20);

/// What a broker answers that has only just begun, or that does not lead the partition yet.
const NOT_YET: [i64; 7] = [3, 5, 6, 7, 8, 9, 15];

/// Creates a topic and waits until all its partitions are led. A refusal is the answer, and the end of the case.
pub(super) fn topic(run: &mut Run<'_>, way: &Way, mut words: Words) -> Result<Vec<String>> {
    let name = words.plain().ok_or_else(|| Failure::new("topic <name> …"))?;
    let partitions: i64 = words.number("partitions")?.unwrap_or(1);
    let replicas: i64 = words.number("replicas")?.unwrap_or(1);
    let outside = run.masks.outside(&name);
    let mut configs = Vec::new();
    for (key, given) in words.pairs() {
        configs.push(Value::of(vec![("name", Value::Text(key)), ("value", Value::text(given.text()?))]));
    }
    words.finish()?;
    let topic = Value::of(vec![
        ("name", Value::Text(outside.clone())),
        ("num_partitions", Value::Int(partitions)),
        ("replication_factor", Value::Int(replicas)),
        ("configs", Value::List(configs)),
    ]);
    let body = Value::of(vec![("topics", Value::List(vec![topic])), ("timeout_ms", Value::Int(10_000))]);
    let create = schema::api("CreateTopics")?;
    let version = run.target.newest(create)?.min(4);
    let code = wait::until(Deadline::after(LED_WITHIN), "a broker that creates topics", || {
        let Answered::Value(answer) = run.ask(way, create, version, &body)? else {
            return Err(Failure::new("CreateTopics has no answer"));
        };
        let code = answer.at("topics.0").and_then(|topic| topic.int("error_code"));
        Ok(code.filter(|code| ![38, 41].contains(code) || replicas > 1).filter(|code| !NOT_YET.contains(code)))
    })?;
    if code != 0 {
        run.ended = true;
        return Ok(vec![format!("{name}: {}", super::error(code))]);
    }
    led(run, way, &outside, partitions)?;
    Ok(Vec::new())
}

/// Waits until the broker answers about the end of each partition.
fn led(run: &mut Run<'_>, way: &Way, topic: &str, partitions: i64) -> Result {
    let list = schema::api("ListOffsets")?;
    let partitions = (0..partitions)
        .map(|index| Value::of(vec![("partition_index", Value::Int(index)), ("timestamp", Value::Int(-1))]));
    let topics = Value::of(vec![("name", Value::text(topic)), ("partitions", Value::List(partitions.collect()))]);
    let body = Value::of(vec![("replica_id", Value::Int(-1)), ("topics", Value::List(vec![topics]))]);
    wait::until(Deadline::after(LED_WITHIN), "the leaders of a new topic", || {
        let Answered::Value(answer) = run.ask(way, list, 1, &body)? else {
            return Err(Failure::new("ListOffsets has no answer"));
        };
        let listed = answer.at("topics.0").map(|topic| topic.list("partitions")).unwrap_or_default();
        let led = !listed.is_empty() && listed.iter().all(|partition| partition.int("error_code") == Some(0));
        Ok(led.then_some(()))
    })
}
