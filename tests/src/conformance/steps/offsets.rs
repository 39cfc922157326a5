//! `offsets t/0 v1 -1 -2 1600000100001`: ListOffsets, one request for each time.

use crate::conformance::run::{Answered, Run, Way};
use crate::conformance::schema;
use crate::conformance::value::Value;
use crate::conformance::words::Words;
use crate::{Failure, Result};

/// Asks for each time in turn.
pub(super) fn offsets(run: &mut Run<'_>, way: &Way, mut words: Words) -> Result<Vec<String>> {
    let api = schema::api("ListOffsets")?;
    let version = super::version(run, &mut words, api, i16::MAX)?;
    let isolation: i64 = words.number("isolation")?.unwrap_or(0);
    let count: i64 = words.number("max-num")?.unwrap_or(10);
    let leader_epoch: i64 = words.number("leader-epoch")?.unwrap_or(-1);
    let at = words.plain().ok_or_else(|| Failure::new("offsets <topic> <times>"))?;
    let partition = super::partition(run, &at)?;
    let mut lines = Vec::new();
    while let Some(text) = words.plain() {
        let time = run.masks.time(&text)?;
        let one = Value::of(vec![
            ("partition_index", Value::Int(partition.index)),
            ("current_leader_epoch", Value::Int(leader_epoch)),
            ("timestamp", Value::Int(time)),
            ("max_num_offsets", Value::Int(count)),
        ]);
        let topic = Value::of(vec![("name", Value::text(&partition.topic)), ("partitions", Value::List(vec![one]))]);
        let body = Value::of(vec![
            ("replica_id", Value::Int(-1)),
            ("isolation_level", Value::Int(isolation)),
            ("topics", Value::List(vec![topic])),
            ("timeout_ms", Value::Int(1500)),
        ]);
        let answer = match run.ask(way, api, version, &body)? {
            Answered::Value(value) => show(run, &value),
            Answered::Line(line) => line,
            Answered::Nothing => continue,
        };
        lines.push(format!("{text} -> {answer}"));
    }
    words.finish()?;
    Ok(lines)
}

/// `offset 4 time 1600000100001 epoch 0`, or the offsets of version 0 in brackets.
fn show(run: &mut Run<'_>, value: &Value) -> String {
    let Some(partition) = value.at("topics.0.partitions.0") else { return "(no partitions)".to_owned() };
    let mut parts = Vec::new();
    if let Some(code) = partition.int("error_code").filter(|code| *code != 0) {
        parts.push(super::error(code));
    }
    if let Some(Value::List(offsets)) = partition.get("old_style_offsets") {
        let offsets =
            offsets.iter().filter_map(|offset| if let Value::Int(offset) = offset { Some(offset) } else { None });
        parts.push(format!("[{}]", offsets.map(i64::to_string).collect::<Vec<_>>().join(" ")));
    }
    if let (Some(offset), Some(time)) = (partition.int("offset"), partition.int("timestamp")) {
        parts.push(format!("offset {offset} time {}", run.masks.show_time(time)));
    }
    if let Some(epoch) = partition.int("leader_epoch") {
        parts.push(format!("epoch {epoch}"));
    }
    parts.join(" ")
}
