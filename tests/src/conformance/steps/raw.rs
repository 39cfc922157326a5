//! Bytes as they are: `frame 0012…` with its length in front, `bytes 7fffffff` without; `versions`, the whole list.

use crate::conformance::connection::Received;
use crate::conformance::run::{Answered, Run, Way};
use crate::conformance::schema;
use crate::conformance::value::Value;
use crate::conformance::words::{Words, hex};
use crate::{Failure, Result};

/// Entries of a version list that stand on one line.
const VERSIONS_A_LINE: usize = 8;

/// `frame <digits>`: a request that is written out; the answer in digits from its correlation id on, `first=12` of them.
pub(super) fn frame(run: &mut Run<'_>, way: &Way, words: Words) -> Result<Vec<String>> {
    send(run, way, words, true)
}

/// `bytes <digits>`: the same without a length in front.
pub(super) fn bytes(run: &mut Run<'_>, way: &Way, words: Words) -> Result<Vec<String>> {
    send(run, way, words, false)
}

fn send(run: &mut Run<'_>, way: &Way, mut words: Words, framed: bool) -> Result<Vec<String>> {
    let first = words.number("first")?.unwrap_or(usize::MAX);
    let size = words.flag("size");
    let mut body = Vec::new();
    while let Some(digits) = words.plain() {
        body.extend(hex(&digits)?);
    }
    words.finish()?;
    let mut out = Vec::new();
    if framed {
        let length = i32::try_from(body.len()).map_err(|_| Failure::new("too long"))?;
        out.extend(length.to_be_bytes());
    }
    out.extend(body);
    let connection = run.connection(&way.connection)?;
    let received = if connection.send(&out) { connection.receive(way.within)? } else { Received::Closed };
    Ok(vec![match received {
        Received::Frame(frame) => {
            let shown = super::digits(&frame[..first.min(frame.len())]);
            if size { format!("{} bytes: {shown}", frame.len()) } else { shown }
        }
        Received::Closed => {
            run.close(&way.connection);
            "disconnect".to_owned()
        }
        Received::Silence => format!("no answer within {} ms", way.within.as_millis()),
    }])
}

/// What ApiVersions lists, `key:first-last`.
pub(super) fn versions(run: &mut Run<'_>, way: &Way, mut words: Words) -> Result<Vec<String>> {
    let api = schema::api("ApiVersions")?;
    let version = super::version(run, &mut words, api, 0)?;
    let first = words.number("first")?.unwrap_or(usize::MAX);
    words.finish()?;
    let value = match run.ask(way, api, version, &Value::Struct(Vec::new()))? {
        Answered::Value(value) => value,
        Answered::Line(line) => return Ok(vec![line]),
        Answered::Nothing => return Ok(Vec::new()),
    };
    let number = |one: &Value, field| one.int(field).unwrap_or(-1);
    let mut listed: Vec<(i64, i64, i64)> = value
        .list("api_keys")
        .iter()
        .map(|one| (number(one, "api_key"), number(one, "min_version"), number(one, "max_version")))
        .collect();
    listed.sort_unstable();
    let listed: Vec<String> = listed.iter().map(|(key, first, last)| format!("{key}:{first}-{last}")).collect();
    let mut lines = vec![format!("error={} {} APIs", value.int("error_code").unwrap_or(-1), listed.len())];
    lines.extend(listed.chunks(VERSIONS_A_LINE).map(|chunk| chunk.join(" ")).take(first));
    Ok(lines)
}
