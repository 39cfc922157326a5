//! `fetch t/0@5 v4 max-wait=300 …`, with everything that stands in the answer; `read t@5`, with what is in the log.

use std::time::Duration;

use super::Partition;
use super::produce::topic_name;
use crate::conformance::entries;
use crate::conformance::run::{Answered, Run, Way};
use crate::conformance::schema::{self, Role};
use crate::conformance::value::Value;
use crate::conformance::words::{self, Given, Word, Words};
use crate::wait::Stopwatch;
use crate::{Failure, Result};

/// The newest version whose topics go by name.
const NEWEST_BY_NAME: i16 = 12;

/// From which part of `max_wait_ms` on an answer has waited for it: brokers are a little early now and then, machines late.
const WAITED_FROM: f64 = 0.8;

/// Enough for every topic of the suite.
const BYTES_MAX: i64 = 64 << 20;

/// Reads; the answer, partition by partition, entry by entry.
pub(super) fn fetch(run: &mut Run<'_>, way: &Way, mut words: Words) -> Result<Vec<String>> {
    let api = schema::api("Fetch")?;
    let version = super::version(run, &mut words, api, NEWEST_BY_NAME)?;
    let timed = words.flag("timed");
    let save = words.text("as")?;
    let max_wait_ms: i64 = words.number("max-wait")?.unwrap_or(0);
    let (body, version) = request(run, words, version, max_wait_ms)?;
    let clock = Stopwatch::start();
    let answered = run.ask(way, api, version, &body)?;
    let waited = clock.elapsed() >= Duration::from_millis(max_wait_ms.cast_unsigned()).mul_f64(WAITED_FROM);
    let mut lines = match answered {
        Answered::Value(value) => {
            let lines = show(run, &value);
            if let Some(name) = save {
                run.saved.insert(name, value);
            }
            lines
        }
        Answered::Line(line) => vec![line],
        Answered::Nothing => Vec::new(),
    };
    if timed {
        lines.insert(0, if waited { "after max-wait" } else { "at once" }.to_owned());
    }
    Ok(lines)
}

fn request(run: &mut Run<'_>, mut words: Words, version: i16, max_wait_ms: i64) -> Result<(Value, i16)> {
    let part_max: i64 = words.number("part-max")?.unwrap_or(BYTES_MAX);
    let leader_epoch: i64 = words.number("leader-epoch")?.unwrap_or(-1);
    let (session, epoch) = match words.text("session")? {
        Some(text) => {
            let (id, epoch) = text.split_once('/').ok_or_else(|| Failure::new("session=<id>/<epoch>"))?;
            (words::integer(id)?, words::integer(epoch)?)
        }
        None => (0, -1),
    };
    let forgotten = words.list("forget")?.unwrap_or_default();
    let forgotten: Vec<Partition> = forgotten.iter().map(|text| super::partition(run, text)).collect::<Result<_>>()?;
    let min_bytes = words.number("min-bytes")?.unwrap_or(0);
    let max_bytes = words.number("max-bytes")?.unwrap_or(BYTES_MAX);
    let isolation = words.number("isolation")?.unwrap_or(0);
    let id = words.text("topic-id")?.map(|text| words::hex(&text)).transpose()?;
    let mut partitions = Vec::new();
    while let Some(text) = words.plain() {
        partitions.push(super::partition(run, &text)?);
    }
    words.finish()?;
    let ids = version > NEWEST_BY_NAME && id.is_none();
    let mut topics = super::by_topic(run, &partitions, ids, ["topic", "partitions"], |partition| {
        Value::of(vec![
            ("partition", Value::Int(partition.index)),
            ("current_leader_epoch", Value::Int(leader_epoch)),
            ("fetch_offset", Value::Int(partition.offset)),
            ("partition_max_bytes", Value::Int(part_max)),
        ])
    })?;
    if let (Some(id), Value::List(topics)) = (id, &mut topics) {
        for topic in topics {
            if let Value::Struct(fields) = topic {
                fields.retain(|(name, _)| name != "topic_id");
                fields.push(("topic_id".to_owned(), Value::Bytes(id.clone())));
            }
        }
    }
    let forgotten =
        super::by_topic(run, &forgotten, ids, ["topic", "partitions"], |partition| Value::Int(partition.index))?;
    let body = Value::of(vec![
        ("max_wait_ms", Value::Int(max_wait_ms)),
        ("min_bytes", Value::Int(min_bytes)),
        ("max_bytes", Value::Int(max_bytes)),
        ("isolation_level", Value::Int(isolation)),
        ("session_id", Value::Int(session)),
        ("session_epoch", Value::Int(epoch)),
        ("topics", topics),
        ("forgotten_topics_data", forgotten),
    ]);
    Ok((body, version))
}

/// An answer with every field.
pub(super) fn show(run: &mut Run<'_>, value: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let code = value.int("error_code").unwrap_or(0);
    let session = value.int("session_id").unwrap_or(0);
    if code != 0 || session != 0 {
        let session = run.masks.id(Role::Session, &session.to_string());
        let error = if code == 0 { String::new() } else { format!("{} ", super::error(code)) };
        lines.push(format!("{error}session={session}"));
    }
    if let Some(throttle) = value.int("throttle_time_ms").filter(|throttle| *throttle != 0) {
        lines.push(format!("throttle={throttle}"));
    }
    let topics = value.list("responses");
    for topic in topics {
        let name = topic_name(run, topic);
        for partition in topic.list("partitions") {
            lines.extend(show_partition(run, &name, partition));
        }
    }
    if topics.is_empty() {
        lines.push("(no partitions)".to_owned());
    }
    lines
}

/// What is as it has to be is left out: the last stable offset is the end, the log begins at 0, nothing was asked about aborted
/// transactions; with an error all of them are -1.
fn show_partition(run: &mut Run<'_>, name: &str, partition: &Value) -> Vec<String> {
    let index = partition.int("partition_index").unwrap_or(-1);
    let code = partition.int("error_code").unwrap_or(0);
    let end = partition.int("high_watermark").unwrap_or(-1);
    let mut line = format!("{name}/{index}:");
    if code != 0 {
        line.push_str(&format!(" {}", super::error(code)));
    }
    if code == 0 || end != -1 {
        line.push_str(&format!(" hwm={end}"));
    }
    let (stable, start) = if code == 0 { (end, 0) } else { (-1, -1) };
    for (field, shown, expected) in [("last_stable_offset", "lso", stable), ("log_start_offset", "start", start)] {
        if let Some(number) = partition.int(field).filter(|number| *number != expected) {
            line.push_str(&format!(" {shown}={number}"));
        }
    }
    if let Some(Value::List(aborted)) = partition.get("aborted_transactions") {
        let aborted = aborted.iter().map(|one| {
            let pid = run.masks.id(Role::Pid, &one.int("producer_id").unwrap_or(-1).to_string());
            format!("{pid}@{}", one.int("first_offset").unwrap_or(-1))
        });
        line.push_str(&format!(" aborted=[{}]", aborted.collect::<Vec<_>>().join(" ")));
    }
    if let Some(replica) = partition.int("preferred_read_replica").filter(|replica| *replica != -1) {
        line.push_str(&format!(" preferred={replica}"));
    }
    for tagged in ["diverging_epoch", "current_leader", "snapshot_id"] {
        if let Some(value) = partition.get(tagged) {
            line.push_str(&format!(" {tagged}={value:?}"));
        }
    }
    let Some(Value::Bytes(bytes)) = partition.get("records") else {
        return vec![format!("{line} records=null")];
    };
    let shown = entries::show(bytes, &run.sent, &mut run.masks);
    let size = if shown.compressed { "~".to_owned() } else { bytes.len().to_string() };
    line.push_str(&format!(" bytes={size}"));
    if shown.tail > 0 {
        line.push_str(&format!(" tail={}", if shown.compressed { "~".to_owned() } else { shown.tail.to_string() }));
    }
    let mut lines = vec![line];
    lines.extend(shown.lines.into_iter().map(|line| format!("  {line}")));
    lines
}

/// Reads with the newest version, and shows where the log ends and what is in it; `whole` goes on to its end, over all its
/// segments, `committed` sees what readers of committed records see.
pub(crate) fn read(run: &mut Run<'_>, way: &Way, mut words: Words) -> Result<Vec<String>> {
    let api = schema::api("Fetch")?;
    let version = run.target.newest(api)?.min(NEWEST_BY_NAME);
    let whole = words.flag("whole");
    let isolation = if words.flag("committed") { "1" } else { "0" };
    let at = words.plain().ok_or_else(|| Failure::new("read <topic>"))?;
    words.finish()?;
    let mut partition = super::partition(run, &at)?;
    let mut lines: Vec<String> = Vec::new();
    loop {
        let name = format!("!{}", partition.topic);
        let words = vec![
            Word::Plain(format!("{name}/{}@{}", partition.index, partition.offset)),
            Word::Pair("isolation".to_owned(), Given::Text(isolation.to_owned())),
        ];
        let (body, version) = request(run, Words::new(words), version, 0)?;
        let value = match run.ask(way, api, version, &body)? {
            Answered::Value(value) => value,
            Answered::Line(line) => return Ok(vec![line]),
            Answered::Nothing => return Ok(Vec::new()),
        };
        let Some(answer) = value.at("responses.0.partitions.0") else { return Ok(vec!["(no partitions)".to_owned()]) };
        if let Some(code) = answer.int("error_code").filter(|code| *code != 0) {
            lines.push(super::error(code));
            return Ok(lines);
        }
        if lines.is_empty() {
            lines.push(format!("end={}", answer.int("high_watermark").unwrap_or(-1)));
        }
        let Some(Value::Bytes(bytes)) = answer.get("records") else { return Ok(lines) };
        let shown = entries::show(bytes, &run.sent, &mut run.masks);
        lines.extend(shown.lines);
        if shown.tail > 0 {
            lines.push(format!("tail of {} bytes", shown.tail));
        }
        match shown.next {
            Some(next) if whole => partition.offset = next,
            _ => return Ok(lines),
        }
    }
}
