//! kcat, as Debian packages it: librdkafka on the command line.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use kmirror_testkit::Release;
use kmirror_tests::failure::{Context as _, ensure};
use kmirror_tests::judge::Row;
use kmirror_tests::process::words;
use kmirror_tests::wait::{self, Deadline};
use kmirror_tests::{Failure, Result};
use serde_json::Value;

use super::client::{Abilities, Client, Isolation, Mode, Seen, Topic, Writing};
use super::command::{self, Member};
use super::story::on_each;

/// Between key and value, and behind each record of the input.
const KEY: char = '\t';

const WITHIN: Duration = Duration::from_secs(60);

/// kcat reads a pipe in blocks, and skips empty lines.
const BLOCK_BYTES: usize = 8192;

struct Kcat;

impl Client for Kcat {
    fn abilities(&self, release: Release) -> Abilities {
        // What is empty it writes as null, and `h=` as a header without a value.
        Abilities { chooses_timestamp: false, empties: false, null_headers: false, ..Abilities::all_of(release) }
    }

    fn write(&self, topic: Topic<'_>, writings: &[Writing]) -> Result {
        for (number, writing) in writings.iter().enumerate() {
            for (part, rows) in alike(&writing.rows).into_iter().enumerate() {
                write(topic, &format!("kcat-{number}-{part}"), writing, rows)?;
            }
        }
        Ok(())
    }

    fn read(&self, topic: Topic<'_>, isolation: Isolation, _count: usize) -> Result<Vec<Seen>> {
        let mut command = kcat(topic);
        command.extend(words(["-C", "-t", topic.name, "-o", "beginning", "-e", "-q", "-J"]));
        command.extend(words(["-X", &format!("isolation.level={}", isolation.name())]));
        command::lines(&command::finish("kcat -C", &command)?, parse)
    }

    fn join(&self, topic: Topic<'_>, group: &str) -> Result<Member> {
        let mut command = kcat(topic);
        command.extend(words([
            "-q",
            "-u",
            "-J",
            "-X",
            "heartbeat.interval.ms=300",
            "-X",
            "auto.offset.reset=earliest",
        ]));
        command.extend(words(["-G", group, topic.name]));
        Member::start("kcat -G", &command, parse)
    }
}

fn kcat(topic: Topic<'_>) -> Vec<OsString> {
    let mut command = words(["kcat", "-b", &topic.cluster.bootstrap()]);
    command.extend(words(["-X", "fetch.wait.max.ms=100"]));
    command
}

/// Runs of records that one kcat can write: of one partition, and with the same headers.
fn alike(rows: &[(u32, Row)]) -> Vec<&[(u32, Row)]> {
    rows.chunk_by(|(partition, row), (next, other)| partition == next && row.headers == other.headers).collect()
}

fn write(topic: Topic<'_>, id: &str, writing: &Writing, rows: &[(u32, Row)]) -> Result {
    let Some((partition, first)) = rows.first() else { return Ok(()) };
    let mut command = kcat(topic);
    command.extend(words(["-P", "-t", topic.name, "-p", &partition.to_string(), "-K", &KEY.to_string(), "-Z"]));
    command.extend(words(["-z", writing.codec, "-X", "linger.ms=50"]));
    for (name, value) in &first.headers {
        command.extend(words(["-H", &format!("{name}={}", text(value.as_deref()))]));
    }
    match writing.mode {
        Mode::Plain => {}
        Mode::Idempotent => command.extend(words(["-X", "enable.idempotence=true"])),
        Mode::Commit | Mode::Abort => command.extend(words(["-X", &format!("transactional.id={id}")])),
    }
    let folder = command::folder()?;
    let input = folder.path().join("input");
    let lines: String = rows
        .iter()
        .map(|(_, row)| format!("{}{KEY}{}\n", text(row.key.as_deref()), text(row.value.as_deref())))
        .collect();
    if writing.mode == Mode::Abort {
        return abort(topic, &command, &lines, (*partition, rows.len()), folder.path());
    }
    fs::write(&input, &lines).context(|| format!("writing {}", input.display()))?;
    command.push("-l".into());
    command.push(input.into());
    command::finish("kcat -P", &command).map(drop)
}

/// kcat commits where its input ends, and aborts if a signal came before.
fn abort(
    topic: Topic<'_>,
    command: &[OsString],
    lines: &str,
    (partition, count): (u32, usize),
    folder: &Path,
) -> Result {
    let pipe = folder.join("pipe");
    command::finish("mkfifo", &words([Path::new("mkfifo"), &pipe]))?;
    let written = || topic.cluster.read(topic.name, partition).map(|rows| rows.len());
    let before = written()?;
    let mut process = command::start("kcat -P", &command::with_input(&pipe, command), folder)?;
    let mut input = fs::File::options().write(true).open(&pipe).context(|| format!("opening {}", pipe.display()))?;
    let lines = format!("{lines}{}", "\n".repeat(BLOCK_BYTES));
    input.write_all(lines.as_bytes()).context(|| format!("writing to {}", pipe.display()))?;
    wait::until(Deadline::after(WITHIN), "a transaction to be written", || {
        if let Some(status) = process.status()? {
            return Err(Failure::new(format!("kcat ended with {status}\n{}", process.output())));
        }
        Ok((written()? >= before + count).then_some(()))
    })?;
    process.signal("INT")?;
    drop(input);
    process.wait(WITHIN)?;
    let said = process.stderr();
    ensure(said.contains("Aborting transaction"), || format!("kcat aborted nothing\n{}", process.output()))
}

fn text(bytes: Option<&[u8]>) -> String {
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}

/// `{"partition":0,"ts":1,"headers":["name","value"],"key":"k","payload":"v"}`, and more.
fn parse(line: &str) -> Option<Seen> {
    let said: Value = serde_json::from_str(line).ok()?;
    let bytes = |value: &Value| value.as_str().map(|text| text.as_bytes().to_vec());
    let partition = u32::try_from(said["partition"].as_u64()?).ok()?;
    let headers = said["headers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let headers = headers.chunks(2).map(|pair| Some((pair.first()?.as_str()?.to_owned(), bytes(pair.get(1)?))));
    let row = Row {
        timestamp: said["ts"].as_i64()?,
        key: bytes(&said["key"]),
        value: bytes(&said["payload"]),
        headers: headers.collect::<Option<_>>()?,
    };
    Some(Seen { partition: Some(partition), row })
}

on_each! { Ok::<_, Failure>(Kcat) }
