//! What a step does, and how its answer is shown. The verbs are explained in `tests/conformance/README.md`.

mod ask;
mod fetch;
mod offsets;
mod produce;
mod raw;
mod topic;
mod txn;

use std::collections::BTreeSet;
use std::time::Duration;

use super::run::{ANSWER_WITHIN, Answered, Run, Way};
use super::schema::{self, Api};
use super::value::Value;
use super::words::{self, Words, words};
use crate::wait::{self, Deadline};
use crate::{Failure, Result};

/// How often a step is repeated that waits for its answer to change.
const AGAIN_AFTER: Duration = Duration::from_millis(50);

/// What does not change for so long is not being worked on: twice the pause of a cleaner.
const STEADY_FOR: Duration = Duration::from_millis(600);

/// For an answer to become what a step waits for.
const BECOMES_WITHIN: Duration = Duration::from_secs(30);

/// Does a step; the lines of its answer.
pub(super) fn perform(run: &mut Run<'_>, text: &str) -> Result<Vec<String>> {
    if let Some((head, rest)) = prefix(text, "each(") {
        return each(run, head, rest);
    }
    if let Some((head, rest)) = prefix(text, "until(") {
        return until(run, head, rest).map(|(lines, _)| lines);
    }
    if let Some((head, rest)) = prefix(text, "wait(") {
        return until(run, head, rest).map(|(lines, became)| if became { Vec::new() } else { lines });
    }
    if let Some((head, rest)) = prefix(text, "either(") {
        return either(run, head, rest);
    }
    let text = words::replace(text, |name| saved(run, name));
    let (connection, text) = match text.split_once(": ") {
        Some((name, rest)) if name.chars().all(char::is_alphanumeric) => (name.to_owned(), rest.to_owned()),
        _ => ("main".to_owned(), text),
    };
    let (verb, rest) = text.split_once(' ').unwrap_or((&text, ""));
    let mut words = Words::new(words(rest)?);
    let within = words.number("within")?.map_or(ANSWER_WITHIN, Duration::from_millis);
    let way = Way { connection, within, later: words.flag("later") };
    match verb {
        "topic" => topic::topic(run, &way, words),
        "group" => txn::group(run, &way, words),
        "pid" => txn::pid(run, &way, words),
        "add" => txn::add(run, &way, words),
        "end" => txn::end(run, &way, words),
        "produce" => produce::produce(run, &way, words),
        "fetch" => fetch::fetch(run, &way, words),
        "read" => fetch::read(run, &way, words),
        "offsets" => offsets::offsets(run, &way, words),
        "ask" => ask::ask(run, &way, words),
        "versions" => raw::versions(run, &way, words),
        "frame" => raw::frame(run, &way, words),
        "bytes" => raw::bytes(run, &way, words),
        "collect" => collect(run, &way, words),
        "close" => {
            run.close(&way.connection);
            words.finish().map(|()| Vec::new())
        }
        other => Err(Failure::new(format!("no step is called {other}"))),
    }
}

/// `name(head) rest`, when the text begins so.
fn prefix<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let inside = text.strip_prefix(name)?;
    inside.split_once(") ").map(|(head, rest)| (head, rest.trim_start()))
}

/// `each(v=Produce:0..3) …` does the rest once for each of the versions that the broker offers, `each(x=a,b) …` once for
/// each word. Equal answers in a row are shown once, behind what they are the answers to.
fn each(run: &mut Run<'_>, head: &str, rest: &str) -> Result<Vec<String>> {
    let (name, of) = head.split_once('=').ok_or_else(|| Failure::new("each(name=…)"))?;
    let (values, versions) = values(run, of)?;
    let open = versions == Versions::ToNewest;
    let mut groups: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for value in values {
        let text = words::replace(rest, |known| (known == name).then(|| value.clone()));
        let lines = named_alike(perform(run, &text)?, rest, name, &value);
        match groups.last_mut() {
            Some((values, known)) if *known == lines => values.push(value),
            _ => groups.push((vec![value], lines)),
        }
    }
    let count = groups.len();
    let mut shown = Vec::new();
    for (index, (values, lines)) in groups.into_iter().enumerate().filter(|(_, (_, lines))| !lines.is_empty()) {
        let (first, last) = (values.first().cloned().unwrap_or_default(), values.last().cloned().unwrap_or_default());
        let whole = open && index + 1 == count;
        let of = match (whole, index) {
            (true, 0) => "all".to_owned(),
            (true, _) => format!("{first}.."),
            (false, _) if values.len() == 1 => first,
            (false, _) if versions == Versions::None => values.join(","),
            (false, _) => format!("{first}..{last}"),
        };
        let mut lines = lines.into_iter();
        shown.push(format!("{of}: {}", lines.next().unwrap_or_default()).trim_end().to_owned());
        shown.extend(lines.map(|line| format!("  {line}")));
    }
    Ok(shown)
}

/// Lines with the names that end in the value (`t3`, where the step says `t$v`) as the step has them, so that equal answers are
/// seen to be equal.
fn named_alike(lines: Vec<String>, step: &str, name: &str, value: &str) -> Vec<String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mark = format!("${name}");
    let stems: BTreeSet<&str> = step
        .match_indices(&mark)
        .filter_map(|(at, _)| step[..at].rsplit(|c| !is_name(c)).next())
        .filter(|stem| !stem.is_empty() && *stem != "v")
        .collect();
    let alike = |line: String| {
        stems.iter().fold(line, |line, stem| {
            let words = line.split_inclusive(|c| !is_name(c)).map(|word| {
                let known = word.strip_prefix(stem).and_then(|rest| rest.strip_prefix(value));
                known
                    .filter(|rest| !rest.starts_with(is_name))
                    .map_or(word.to_owned(), |rest| format!("{stem}{mark}{rest}"))
            });
            words.collect()
        })
    };
    lines.into_iter().map(alike).collect()
}

/// Whether an `each` runs over versions, and up to which.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Versions {
    None,
    ToGiven,
    ToNewest,
}

/// What an `each` runs over.
fn values(run: &Run<'_>, of: &str) -> Result<(Vec<String>, Versions)> {
    let (name, range) = of.split_once(':').unwrap_or((of, ".."));
    let Some(api) = schema::apis()?.get(name) else {
        return Ok((of.split(',').map(str::to_owned).collect(), Versions::None));
    };
    let Some((offered_first, offered_last)) = run.target.versions.get(&i64::from(api.key)).copied() else {
        return Ok((Vec::new(), Versions::ToNewest));
    };
    let (first, last) = range.split_once("..").ok_or_else(|| Failure::new("each(v=Fetch:0..3)"))?;
    let newest = offered_last.min(i64::from(api.versions.1));
    let first = if first.is_empty() { offered_first } else { words::integer(first)?.max(offered_first) };
    let end = if last.is_empty() { newest } else { words::integer(last)?.min(newest) };
    let versions = if last.is_empty() { Versions::ToNewest } else { Versions::ToGiven };
    Ok(((first..=end).map(|version| version.to_string()).collect(), versions))
}

/// `until("text") …` repeats the rest until its answer contains the text, `until(not "text") …` until it does not; with
/// `steady` in front until it also stays the same for a while. The last answer is the answer. `wait("text") …` does the same
/// and shows nothing. Gives the last answer, and whether it became what it was to be.
fn until(run: &mut Run<'_>, head: &str, rest: &str) -> Result<(Vec<String>, bool)> {
    let (steady, head) = head.strip_prefix("steady ").map_or((false, head), |head| (true, head));
    let (wanted, text) = head.strip_prefix("not ").map_or((true, head), |text| (false, text));
    let text = text.trim_matches('"');
    let deadline = Deadline::after(BECOMES_WITHIN);
    let mut last = Vec::new();
    let pause = if steady { STEADY_FOR } else { AGAIN_AFTER };
    let became = wait::until_every(pause, deadline, text, || {
        let before = std::mem::replace(&mut last, perform(run, rest)?);
        let became = last.iter().any(|line| line.contains(text)) == wanted;
        Ok((became && (!steady || before == last)).then_some(()))
    });
    match became {
        Err(failure) if last.is_empty() => Err(failure),
        became => Ok((last, became.is_ok())),
    }
}

/// `either("a" "b") …`: which of these the answer is, is a race in the broker. It begins with one of them.
fn either(run: &mut Run<'_>, head: &str, rest: &str) -> Result<Vec<String>> {
    let texts: Vec<&str> = head.split('"').filter(|text| !text.trim().is_empty()).collect();
    let lines = perform(run, rest)?;
    let known = lines.len() == 1 && texts.iter().any(|text| lines[0].starts_with(text));
    Ok(if known { vec![texts.join(" or ")] } else { lines })
}

/// What `$name` and `$name.path` stand for.
fn saved(run: &Run<'_>, name: &str) -> Option<String> {
    let (name, path) = name.split_once('.').unwrap_or((name, ""));
    match run.saved.get(name)?.at(path)? {
        Value::Int(number) => Some(number.to_string()),
        Value::Text(text) => Some(format!("\"{text}\"")),
        Value::Bytes(bytes) => Some(digits(bytes)),
        value @ Value::Struct(_) => value.int("producer_id").map(|number| number.to_string()),
        Value::Null | Value::List(_) => None,
    }
}

/// Bytes as hexadecimal digits.
pub(super) fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The version of a step: its word `v3`, or else the newest one that the broker has, but none above `newest_max`.
fn version(run: &Run<'_>, words: &mut Words, api: &Api, newest_max: i16) -> Result<i16> {
    let is_version = |text: &str| text.strip_prefix('v').is_some_and(|digits| digits.parse::<i16>().is_ok());
    match words.plain_if(is_version) {
        Some(text) => text[1..].parse().map_err(|_| Failure::new(format!("not a version: {text}"))),
        None => Ok(run.target.newest(api)?.min(newest_max)),
    }
}

/// A partition as a step names it: `t`, `t/3`, `t/3@15`.
#[derive(Clone, Debug)]
struct Partition {
    /// The topic's name on the broker.
    topic: String,
    /// The index.
    index: i64,
    /// The offset, 0 unless given.
    offset: i64,
}

fn partition(run: &mut Run<'_>, text: &str) -> Result<Partition> {
    let (text, offset) = text.split_once('@').unwrap_or((text, "0"));
    let (topic, index) = text.rsplit_once('/').unwrap_or((text, "0"));
    let topic = run.masks.outside(topic);
    Ok(Partition { topic, index: words::integer(index)?, offset: words::integer(offset)? })
}

/// The partitions of a request by topic, in the order in which they are first named, each made by `of`.
fn by_topic(
    run: &mut Run<'_>,
    partitions: &[Partition],
    ids: bool,
    names: [&str; 2],
    of: impl Fn(&Partition) -> Value,
) -> Result<Value> {
    let mut topics: Vec<(String, Vec<Value>)> = Vec::new();
    for partition in partitions {
        match topics.iter_mut().find(|(topic, _)| *topic == partition.topic) {
            Some((_, values)) => values.push(of(partition)),
            None => topics.push((partition.topic.clone(), vec![of(partition)])),
        }
    }
    let mut list = Vec::new();
    for (topic, values) in topics {
        let id = if ids { run.topic_id(&topic)? } else { Value::Bytes(vec![0; 16]) };
        list.push(Value::of(vec![(names[0], Value::Text(topic)), ("topic_id", id), (names[1], Value::List(values))]));
    }
    Ok(Value::List(list))
}

/// An error as the answers show it: `3 UNKNOWN_TOPIC_OR_PARTITION`.
fn error(code: i64) -> String {
    let name = i16::try_from(code).ok().and_then(|code| kmirror_proto::ErrorCode(code).name());
    name.map_or_else(|| code.to_string(), |name| format!("{code} {name}"))
}

/// Collects answers to requests that were sent with `later`, in order.
fn collect(run: &mut Run<'_>, way: &Way, mut words: Words) -> Result<Vec<String>> {
    let count = words.number("n")?.unwrap_or(1);
    let save = words.text("as")?;
    words.finish()?;
    let mut lines = Vec::new();
    for _ in 0..count {
        let (asked, answered) = run.answer(way)?;
        match (answered, asked) {
            (Answered::Value(value), Some(asked)) => {
                lines.extend(match asked.api.name.as_str() {
                    "Produce" => produce::show(run, &value),
                    "Fetch" => fetch::show(run, &value),
                    _ => ask::show(run, &asked.api.response, &value),
                });
                if let Some(name) = &save {
                    run.saved.insert(name.clone(), value);
                }
            }
            (Answered::Line(line), _) => lines.push(line),
            (Answered::Value(_) | Answered::Nothing, _) => {}
        }
    }
    Ok(lines)
}
