//! `group g`, `pid p txid=x`, `add p t/0`, `end p commit`: coordinators, producer ids and transactions.

use std::time::Duration;

use crate::conformance::run::{Answered, Run, Way};
use crate::conformance::schema::{self, Api, Role};
use crate::conformance::value::Value;
use crate::conformance::words::Words;
use crate::wait::{self, Deadline};
use crate::{Failure, Result};

/// For a coordinator to load, and for a transaction to end.
const READY_WITHIN: Duration = Duration::from_secs(30);

/// The coordinator is loading, is elsewhere, or still ends the transaction before.
pub(super) const NOT_READY: [i64; 4] = [14, 15, 16, 51];

/// The last version of these APIs whose transactions are the broker's first kind.
const VERSION_MAX: i16 = 3;

/// Takes a producer id and keeps it under a name; says nothing when it gets one.
pub(super) fn pid(run: &mut Run<'_>, way: &Way, mut words: Words) -> Result<Vec<String>> {
    let api = schema::api("InitProducerId")?;
    let version = super::version(run, &mut words, api, 1)?;
    let name = words.plain().ok_or_else(|| Failure::new("pid <name>"))?;
    let txid = words.text("txid")?;
    let timeout_ms: i64 = words.number("timeout")?.unwrap_or(60_000);
    words.finish()?;
    let transactional_id = txid.as_ref().map_or(Value::Null, |name| Value::Text(run.masks.outside(name)));
    if txid.is_some() {
        coordinator(run, way, &transactional_id)?;
    }
    let body = Value::of(vec![
        ("transactional_id", transactional_id.clone()),
        ("transaction_timeout_ms", Value::Int(timeout_ms)),
    ]);
    let answer = ready(run, way, api, version, &body, |answer| answer.int("error_code"))?;
    let Value::Struct(mut fields) = answer else { return Err(Failure::new("InitProducerId has no answer")) };
    fields.push(("transactional_id".to_owned(), transactional_id));
    let saved = Value::Struct(fields);
    let code = saved.int("error_code").unwrap_or(0);
    run.masks.id(Role::Pid, &saved.int("producer_id").unwrap_or(-1).to_string());
    run.saved.insert(name, saved);
    Ok(if code == 0 { Vec::new() } else { vec![super::error(code)] })
}

/// `group g`: waits for the coordinator of a group.
pub(crate) fn group(run: &mut Run<'_>, way: &Way, mut words: Words) -> Result<Vec<String>> {
    let name = words.plain().ok_or_else(|| Failure::new("group <name>"))?;
    words.finish()?;
    let key = Value::Text(run.masks.outside(&name));
    let api = schema::api("FindCoordinator")?;
    let body = Value::of(vec![("key", key)]);
    ready(run, way, api, 0, &body, |answer| answer.int("error_code")).map(|_| Vec::new())
}

/// Waits for the coordinator of a transactional id: its topic is made when it is first asked for.
fn coordinator(run: &mut Run<'_>, way: &Way, key: &Value) -> Result {
    let api = schema::api("FindCoordinator")?;
    let body = Value::of(vec![("key", key.clone()), ("key_type", Value::Int(1))]);
    ready(run, way, api, 1, &body, |answer| answer.int("error_code")).map(drop)
}

/// `add p t/0 u/1`: partitions become part of a transaction.
pub(super) fn add(run: &mut Run<'_>, way: &Way, mut words: Words) -> Result<Vec<String>> {
    let api = schema::api("AddPartitionsToTxn")?;
    let version = super::version(run, &mut words, api, VERSION_MAX)?;
    let mut fields = producer(run, &mut words, "v3_and_below_")?;
    let mut partitions = Vec::new();
    while let Some(text) = words.plain() {
        partitions.push(super::partition(run, &text)?);
    }
    words.finish()?;
    let topics =
        super::by_topic(run, &partitions, false, ["name", "partitions"], |partition| Value::Int(partition.index))?;
    fields.push(("v3_and_below_topics", topics));
    let first = |answer: &Value| {
        answer.at("results_by_topic_v3_and_below.0.results_by_partition.0")?.int("partition_error_code")
    };
    let answer = ready(run, way, api, version, &Value::of(fields), first)?;
    let codes =
        answer.list("results_by_topic_v3_and_below").iter().flat_map(|topic| topic.list("results_by_partition"));
    let codes = codes.filter_map(|one| one.int("partition_error_code")).filter(|code| *code != 0);
    Ok(codes.map(super::error).collect())
}

/// `end p commit`, `end p abort`.
pub(super) fn end(run: &mut Run<'_>, way: &Way, mut words: Words) -> Result<Vec<String>> {
    let api = schema::api("EndTxn")?;
    let version = super::version(run, &mut words, api, VERSION_MAX)?;
    let mut fields = producer(run, &mut words, "")?;
    let how = words.plain().unwrap_or_default();
    words.finish()?;
    fields.push(("committed", Value::Int(i64::from(how == "commit"))));
    let answer = ready(run, way, api, version, &Value::of(fields), |answer| answer.int("error_code"))?;
    let code = answer.int("error_code").unwrap_or(0);
    Ok(if code == 0 { Vec::new() } else { vec![super::error(code)] })
}

/// The fields that say which producer it is.
fn producer(run: &Run<'_>, words: &mut Words, prefix: &str) -> Result<Vec<(&'static str, Value)>> {
    let name = words.plain().ok_or_else(|| Failure::new("the name of a producer id"))?;
    let saved = run.saved.get(&name).ok_or_else(|| Failure::new(format!("no producer id {name}")))?;
    let take = |field| saved.get(field).cloned().unwrap_or(Value::Null);
    let names = match prefix {
        "" => ["transactional_id", "producer_id", "producer_epoch"],
        _ => ["v3_and_below_transactional_id", "v3_and_below_producer_id", "v3_and_below_producer_epoch"],
    };
    let epoch: Option<i64> = words.number("epoch")?;
    Ok(vec![
        (names[0], take("transactional_id")),
        (names[1], take("producer_id")),
        (names[2], epoch.map_or_else(|| take("producer_epoch"), Value::Int)),
    ])
}

/// Asks until the coordinator is ready.
fn ready(
    run: &mut Run<'_>,
    way: &Way,
    api: &'static Api,
    version: i16,
    body: &Value,
    code: impl Fn(&Value) -> Option<i64>,
) -> Result<Value> {
    wait::until(Deadline::after(READY_WITHIN), "the coordinator", || match run.ask(way, api, version, body)? {
        Answered::Value(value) => {
            let ready = !code(&value).is_some_and(|code| NOT_READY.contains(&code));
            Ok(ready.then_some(value))
        }
        Answered::Nothing | Answered::Line(_) => Err(Failure::new(format!("{} has no answer", api.name))),
    })
}
