//! Records byte vectors from real brokers: what kmirror asks, what they answer, and what lies in their logs.
//!
//! The vectors stand in `kmirror-proto/tests/golden`, one file for each release, and are judged there. What is in them is
//! known from how they came about: the records were written by Kafka's own Java client, and the rest stands in
//! `requests`.

mod requests;
#[expect(clippy::disallowed_types, reason = "a plain blocking client of real brokers")]
mod connection;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use kmirror_proto::messages::ApiVersionsResponse;
use kmirror_proto::{AnyResponse, ApiKey, ErrorCode};

use crate::brokers::Cluster;
use crate::failure::{Context as _, ensure};
use crate::judge::{self, Row};
use crate::wait::{self, Deadline};
use crate::{Failure, Result, cache};

use connection::Connection;
use requests::ASKED;

/// The releases, oldest first.
pub const RELEASES: [&str; 7] = ["0.10.1.1", "0.11.0.3", "1.1.1", "2.0.0", "2.8.2", "3.9.1", "4.4.0"];

/// Where the vectors stand.
const FOLDER: &str = "kmirror-proto/tests/golden";

/// What was recorded of one release.
#[derive(Debug)]
pub struct Recorded {
    release: &'static str,
    exchanges: Vec<Exchange>,
    /// Name and bytes of the first segment of each topic.
    segments: Vec<(String, Vec<u8>)>,
}

#[derive(Debug)]
struct Exchange {
    api: ApiKey,
    version: i16,
    /// Whether it is the version at which a running mirror asks this release.
    picked: bool,
    request: Vec<u8>,
    response: Vec<u8>,
}

/// Starts a release and records it.
///
/// # Errors
/// If it does not start, or answers anything with an error.
pub fn record(release: &'static str) -> Result<Recorded> {
    let cluster = Cluster::of(release).property("auto.create.topics.enable", "false").start()?;
    judge::create(&cluster, requests::READ, 1, &[])?;
    judge::create(&cluster, requests::WRITTEN, 1, &[])?;
    let has_headers = cluster.release().has_headers();
    judge::write(&cluster, (requests::READ, 0), "none", &rows(has_headers), &[])?;
    let exchanges = exchanges(&cluster)?;
    let segments = segments(&cluster)?;
    Ok(Recorded { release, exchanges, segments })
}

/// Writes the files. An exchange is kept if a mirror would ask the release so, or if no older release showed its version.
///
/// # Errors
/// If a file cannot be written.
pub fn write(all: &[Recorded]) -> Result<usize> {
    let mut shown = BTreeSet::new();
    let mut count = 0;
    for recorded in all {
        let mut text = format!("# Apache Kafka {}. README.md says how this was recorded.\n", recorded.release);
        for Exchange { api, version, picked, request, response } in &recorded.exchanges {
            if !shown.insert((api.0, *version)) && !picked {
                continue;
            }
            let (api, request, response) = (api.name().unwrap_or("?"), hex(request), hex(response));
            let _ = writeln!(text, "{api} {version} request {request}\n{api} {version} response {response}");
            count += 2;
        }
        for (name, bytes) in &recorded.segments {
            let _ = writeln!(text, "segment {name} {}", hex(bytes));
            count += 1;
        }
        let path = cache::workspace().join(FOLDER).join(format!("{}.hex", recorded.release));
        std::fs::write(&path, text).context(|| format!("writing {}", path.display()))?;
    }
    Ok(count)
}

fn exchanges(cluster: &Cluster) -> Result<Vec<Exchange>> {
    let mut connection = Connection::to(&cluster.bootstrap())?;
    let (_, _, answer) = connection.ask(0, &requests::of(ApiKey::API_VERSIONS, 0, 0)?)?;
    let AnyResponse::ApiVersions(ranges) = answer else { return Err(Failure::new("not an answer to ApiVersions")) };
    let mut exchanges = Vec::new();
    for (api, newest) in ASKED {
        let Some((first, last)) = spoken(&ranges, api, newest) else { continue };
        for version in first..=last {
            let sent = i64::from(version - first);
            let what = format!("{api} v{version} of {}", cluster.release().version);
            let deadline = Deadline::after(std::time::Duration::from_secs(30));
            let (request, response) = wait::until(deadline, &what, || {
                let asked = requests::of(api, version, sent)?;
                let (request, response, answer) = connection.ask(version, &asked)?;
                let errors = requests::errors(&answer);
                if errors.iter().any(|error| NOT_YET.contains(error)) {
                    return Ok(None);
                }
                // 0.11.0.3 cannot convert these records for an older client, which a mirror is not there.
                let converts = api == ApiKey::FETCH && version < 4 && errors.contains(&ErrorCode::UNKNOWN_SERVER_ERROR);
                ensure(converts || errors.iter().all(|error| error.is_ok()), || format!("{what}: {answer:?}"))?;
                Ok(Some((request, response)))
            })?;
            exchanges.push(Exchange { api, version, picked: version == last, request, response });
        }
    }
    Ok(exchanges)
}

/// What a coordinator answers that is not in office yet.
const NOT_YET: [ErrorCode; 3] =
    [ErrorCode::COORDINATOR_NOT_AVAILABLE, ErrorCode::NOT_COORDINATOR, ErrorCode::COORDINATOR_LOAD_IN_PROGRESS];

/// The versions that both know, as far as a running mirror goes. A 4.x lists Produce below v3, and does not serve it.
fn spoken(ranges: &ApiVersionsResponse, api: ApiKey, newest: i16) -> Option<(i16, i16)> {
    let of = |api: ApiKey| ranges.api_keys.iter().find(|range| range.api_key == api);
    let range = of(api)?;
    let modern = of(ApiKey::FETCH).is_some_and(|fetch| fetch.min_version >= 4);
    let first = if modern && api == ApiKey::PRODUCE { range.min_version.max(3) } else { range.min_version };
    let last = range.max_version.min(newest);
    (first <= last).then_some((first, last))
}

/// Topics of each format and codec that the release stores, with the same records, and their logs.
fn segments(cluster: &Cluster) -> Result<Vec<(String, Vec<u8>)>> {
    let release = cluster.release();
    let native = if release.at_least(0, 11) { 2 } else { 1 };
    // From 3.0 on no topic is kept in an older format.
    let older = if release.at_least(3, 0) { native } else { 0 };
    let mut segments = Vec::new();
    for magic in older..=native {
        for codec in judge::codecs(release).iter().filter(|codec| magic == 2 || **codec != "zstd") {
            for appended in [false, true] {
                if appended && magic != native {
                    continue;
                }
                let name = format!("magic{magic}-{codec}{}", if appended { "-appended" } else { "" });
                let mut settings = Vec::new();
                if magic != native {
                    settings.push(("message.format.version", ["0.9.0", "0.10.0"][magic]));
                }
                if appended {
                    settings.push(("message.timestamp.type", "LogAppendTime"));
                }
                judge::create(cluster, &name, 1, &settings)?;
                // What is stored in an older format knows no producer ids.
                judge::write(cluster, (&name, 0), codec, &rows(magic == 2), &[("enable.idempotence", "false")])?;
                let bytes = segment(cluster, &name)?;
                segments.push((name, bytes));
            }
        }
    }
    Ok(segments)
}

fn segment(cluster: &Cluster, topic: &str) -> Result<Vec<u8>> {
    let node = cluster.nodes().first().ok_or_else(|| Failure::new("a cluster without a broker"))?;
    let path = node.log_dir().join(format!("{topic}-0")).join("00000000000000000000.log");
    std::fs::read(Path::new(&path)).context(|| format!("reading {}", path.display()))
}

/// What is written; `kmirror-proto/tests/golden/main.rs` has the same.
fn rows(headers: bool) -> Vec<Row> {
    const T: i64 = 1_600_000_000_000;
    let long = "0123456789".repeat(20);
    let first = Row::new(T, Some("key"), Some("value"));
    vec![
        if headers { first.header("trace", Some("1")).header("trace", None).header("", Some("")) } else { first },
        Row::new(T + 5, None, Some("null key")),
        Row::new(T - 1000, Some("tombstone"), None),
        Row::new(T + 1, Some(""), Some("")),
        Row::new(T + 2, Some("long"), Some(&long)),
    ]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
