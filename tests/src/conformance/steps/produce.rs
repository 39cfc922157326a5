//! `produce t/0 v3 acks=-1 batch(…) batch(…)`: the entries stand behind their partition.

use crate::conformance::entries;
use crate::conformance::run::{Answered, Run, Way};
use crate::conformance::schema::{self, Role};
use crate::conformance::value::Value;
use crate::conformance::words::{Word, Words};
use crate::{Failure, Result};

/// The newest version whose topics go by name.
const NEWEST_BY_NAME: i16 = 12;

/// For the broker to gather acknowledgements.
const TIMEOUT_MS: i64 = 1500;

/// Writes; the answer by partition.
pub(super) fn produce(run: &mut Run<'_>, way: &Way, mut words: Words) -> Result<Vec<String>> {
    let api = schema::api("Produce")?;
    let version = super::version(run, &mut words, api, NEWEST_BY_NAME)?;
    let acks: i64 = words.number("acks")?.unwrap_or(-1);
    let timeout_ms: i64 = words.number("timeout")?.unwrap_or(TIMEOUT_MS);
    let transactional_id = words.text("txid")?.map_or(Value::Null, |name| Value::Text(run.masks.outside(&name)));
    let null = words.flag("null");
    let empty = words.flag("empty");
    let mut partitions: Vec<(super::Partition, Vec<(String, Words)>)> = Vec::new();
    for word in words.rest() {
        match word {
            Word::Plain(text) => partitions.push((super::partition(run, &text)?, Vec::new())),
            Word::Call(name, inside) => match partitions.last_mut() {
                Some((_, calls)) => calls.push((name, Words::new(inside))),
                None => return Err(Failure::new("produce <topic> <entries>")),
            },
            Word::Pair(name, _) => return Err(Failure::new(format!("not understood: {name}"))),
        }
    }
    let mut records = Vec::new();
    for (_, calls) in &mut partitions {
        let built = entries::build(std::mem::take(calls), run.target.release > 0, &mut run.masks)?;
        run.sent.extend(built.sent);
        records.push(match built.bytes {
            _ if null => Value::Null,
            None if empty => Value::Bytes(Vec::new()),
            None => return Err(Failure::new("produce <topic> <entries>")),
            Some(bytes) => Value::Bytes(bytes),
        });
    }
    let named: Vec<super::Partition> = partitions
        .into_iter()
        .enumerate()
        // The offset is not sent: it finds the records again.
        .map(|(at, (partition, _))| super::Partition { offset: i64::try_from(at).unwrap_or(0), ..partition })
        .collect();
    let topics = super::by_topic(run, &named, version > NEWEST_BY_NAME, ["name", "partition_data"], |partition| {
        let records = usize::try_from(partition.offset).ok().and_then(|at| records.get(at));
        Value::of(vec![("index", Value::Int(partition.index)), ("records", records.cloned().unwrap_or(Value::Null))])
    })?;
    let body = Value::of(vec![
        ("transactional_id", transactional_id),
        ("acks", Value::Int(acks)),
        ("timeout_ms", Value::Int(timeout_ms)),
        ("topic_data", topics),
    ]);
    if acks == 0 {
        let later = Way { later: true, ..way.clone() };
        run.ask(&later, api, version, &body)?;
        run.connection(&way.connection)?.expect_no_answer();
        return Ok(Vec::new());
    }
    Ok(match run.ask(way, api, version, &body)? {
        Answered::Value(value) => show(run, &value),
        Answered::Line(line) => vec![line],
        Answered::Nothing => Vec::new(),
    })
}

/// An answer, a line for each partition. What is as it has to be (no append time, the log begins at 0) is left out.
pub(super) fn show(run: &mut Run<'_>, value: &Value) -> Vec<String> {
    let partitions = value
        .list("responses")
        .iter()
        .flat_map(|topic| topic.list("partition_responses").iter().map(move |partition| (topic, partition)));
    let partitions: Vec<(&Value, &Value)> = partitions.collect();
    let several = partitions.len() > 1;
    // Their order is that of a hash table of the broker.
    let mut lines = Vec::new();
    for (topic, partition) in partitions {
        let code = partition.int("error_code").unwrap_or(0);
        let base = partition.int("base_offset").unwrap_or(-1);
        let mut line = if code == 0 { format!("base={base}") } else { super::error(code) };
        if code != 0 && base != -1 {
            line.push_str(&format!(" base={base}"));
        }
        if let Some(time) = partition.int("log_append_time_ms").filter(|time| *time != -1) {
            line.push_str(&format!(" append={}", run.masks.show_time(time)));
        }
        let start = if code == 0 { 0 } else { -1 };
        if let Some(found) = partition.int("log_start_offset").filter(|found| *found != start) {
            line.push_str(&format!(" start={found}"));
        }
        let errors: Vec<String> = partition
            .list("record_errors")
            .iter()
            .map(|error| error.int("batch_index").map_or_else(String::new, |index| index.to_string()))
            .collect();
        if !errors.is_empty() {
            line.push_str(&format!(" records={}", errors.join(",")));
        }
        if matches!(partition.get("error_message"), Some(Value::Text(_))) {
            line.push_str(" +message");
        }
        if several {
            let name = topic_name(run, topic);
            line = format!("{name}/{}: {line}", partition.int("index").unwrap_or(-1));
        }
        lines.push(line);
    }
    lines.sort();
    if lines.is_empty() {
        lines.push("(no partitions)".to_owned());
    }
    if let Some(throttle) = value.int("throttle_time_ms").filter(|throttle| *throttle != 0) {
        lines.push(format!("throttle={throttle}"));
    }
    lines
}

/// A topic as the case calls it, or its id.
pub(super) fn topic_name(run: &mut Run<'_>, topic: &Value) -> String {
    match (topic.get("name").or(topic.get("topic")), topic.get("topic_id")) {
        (Some(Value::Text(name)), _) => run.masks.inside(name),
        (_, Some(id @ Value::Bytes(bytes))) => match run.topic_of(id) {
            Some(name) => run.masks.inside(&name),
            None => run.masks.id(Role::TopicId, &super::digits(bytes)),
        },
        _ => "?".to_owned(),
    }
}
