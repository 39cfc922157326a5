//! The layouts of the messages, as tables of text in `tests/conformance/messages`.
//!
//! ```text
//! api 2 ListOffsets v0-11 flexible=6
//! request
//!   topics []                          an array of structures, whose fields stand deeper
//!     name string is:topic             what its values are to a case: mapped, masked
//!     partitions []
//!       current_leader_epoch i32 v4+ =-1      only in these versions; what stands there when nothing is given
//! response
//!   throttle_time_ms i32 v2+
//! ```
//!
//! A field of the tagged section has `tag<N>`. The layouts are those of Kafka's message definitions, of all versions
//! that any release since 0.10.1 offers. They are written apart from the product's own protocol code on purpose: what
//! judges it must not share its errors.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::{Failure, Result};

const TABLES: [&str; 4] = [
    include_str!("../../conformance/messages/records.txt"),
    include_str!("../../conformance/messages/topics.txt"),
    include_str!("../../conformance/messages/groups.txt"),
    include_str!("../../conformance/messages/transactions.txt"),
];

/// An API: its key, versions, and the fields of its two messages.
#[derive(Debug)]
pub struct Api {
    /// The API key.
    pub key: i16,
    /// Its name.
    pub name: String,
    /// The versions that the table describes, first and last.
    pub versions: (i16, i16),
    /// The first compact version.
    pub flexible_from: i16,
    /// The fields of the request.
    pub request: Vec<Field>,
    /// The fields of the answer.
    pub response: Vec<Field>,
}

/// One field of a message.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What one value of it is.
    pub kind: Kind,
    /// Whether it is an array of them.
    pub array: bool,
    /// The versions that have it, first and last.
    pub versions: (i16, i16),
    /// Its tag, where it is in the tagged section.
    pub tag: Option<u32>,
    /// What stands there when nothing is given: a number, or `null`.
    pub default: Option<String>,
    /// What its values are to a case.
    pub role: Role,
}

impl Field {
    /// Whether a version has it.
    pub fn is_in(&self, version: i16) -> bool {
        (self.versions.0..=self.versions.1).contains(&version)
    }
}

/// What a field holds.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A signed integer of so many bytes; booleans are those of one byte.
    Int(usize),
    /// A string, or null.
    Text,
    /// 16 bytes.
    Uuid,
    /// Bytes, or null.
    Bytes,
    /// Record batches, or null: as bytes, with a length of 32 bits where the message is not compact.
    Records,
    /// A structure.
    Struct(Vec<Field>),
}

/// What the values of a field are to a case: some differ from run to run, some belong to the case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Nothing special.
    Plain,
    /// The name of a topic, group or transaction: each case has names of its own.
    Name,
    /// A topic's id.
    TopicId,
    /// A producer id.
    Pid,
    /// A member id.
    Member,
    /// A fetch session.
    Session,
    /// The cluster's id.
    Cluster,
    /// A host.
    Host,
    /// A port.
    Port,
    /// A timestamp.
    Time,
}

/// All APIs by name.
pub(super) fn apis() -> Result<&'static BTreeMap<String, Api>> {
    static APIS: OnceLock<std::result::Result<BTreeMap<String, Api>, String>> = OnceLock::new();
    let apis = APIS.get_or_init(|| {
        let mut apis = BTreeMap::new();
        for table in TABLES {
            read(table, &mut apis).map_err(|failure| failure.to_string())?;
        }
        Ok(apis)
    });
    apis.as_ref().map_err(|text| Failure::new(text.clone()))
}

/// The API with this name.
pub(super) fn api(name: &str) -> Result<&'static Api> {
    apis()?.get(name).ok_or_else(|| Failure::new(format!("no API {name} in tests/conformance/messages")))
}

fn read(table: &str, apis: &mut BTreeMap<String, Api>) -> Result {
    let lines: Vec<(usize, &str)> = table
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|line| (line.len() - line.trim_start().len(), line.trim()))
        .collect();
    let mut rest = lines.as_slice();
    while let Some(((_, head), after)) = rest.split_first() {
        let (request, after) = side(after, "request")?;
        let (response, after) = side(after, "response")?;
        let api = read_head(head, request, response).ok_or_else(|| Failure::new(format!("not an API: {head}")))?;
        apis.insert(api.name.clone(), api);
        rest = after;
    }
    Ok(())
}

type Lines<'a> = &'a [(usize, &'a str)];

fn side<'a>(lines: Lines<'a>, name: &str) -> Result<(Vec<Field>, Lines<'a>)> {
    match lines.split_first() {
        Some(((0, text), rest)) if *text == name => fields(rest, 2),
        other => Err(Failure::new(format!("{name} was expected, not {other:?}"))),
    }
}

fn read_head(head: &str, request: Vec<Field>, response: Vec<Field>) -> Option<Api> {
    let mut words = head.strip_prefix("api ")?.split(' ');
    let key = words.next()?.parse().ok()?;
    let name = words.next()?.to_owned();
    let versions = versions(words.next()?.strip_prefix('v')?)?;
    let flexible_from = match words.next() {
        Some(word) => word.strip_prefix("flexible=")?.parse().ok()?,
        None => i16::MAX,
    };
    Some(Api { key, name, versions, flexible_from, request, response })
}

/// The fields that stand `depth` deep, and the lines behind them.
fn fields(mut lines: Lines<'_>, depth: usize) -> Result<(Vec<Field>, Lines<'_>)> {
    let mut read = Vec::new();
    while let Some(((_, line), rest)) = lines.split_first().filter(|((at, _), _)| *at == depth) {
        let (children, rest) = fields(rest, depth + 2)?;
        read.push(field(line, children).ok_or_else(|| Failure::new(format!("not a field: {line}")))?);
        lines = rest;
    }
    Ok((read, lines))
}

fn field(line: &str, children: Vec<Field>) -> Option<Field> {
    let mut words = line.split(' ');
    let name = words.next()?.to_owned();
    let kind = words.next()?;
    let (array, kind) = kind.strip_prefix("[]").map_or((false, kind), |kind| (true, kind));
    let kind = match kind {
        "" | "{}" => Kind::Struct(children),
        "bool" | "i8" => Kind::Int(1),
        "i16" => Kind::Int(2),
        "i32" => Kind::Int(4),
        "i64" => Kind::Int(8),
        "string" => Kind::Text,
        "uuid" => Kind::Uuid,
        "bytes" => Kind::Bytes,
        "records" => Kind::Records,
        _ => return None,
    };
    let versions_all = (0, i16::MAX);
    let mut field = Field { name, kind, array, versions: versions_all, tag: None, default: None, role: Role::Plain };
    for word in words {
        if let Some(default) = word.strip_prefix('=') {
            field.default = Some(default.to_owned());
        } else if let Some(text) = word.strip_prefix("tag") {
            field.tag = Some(text.parse().ok()?);
        } else if let Some(text) = word.strip_prefix('v') {
            field.versions = versions(text)?;
        } else {
            field.role = role(word.strip_prefix("is:")?)?;
        }
    }
    Some(field)
}

fn role(text: &str) -> Option<Role> {
    Some(match text {
        "topic" | "group" | "txid" => Role::Name,
        "topicid" => Role::TopicId,
        "pid" => Role::Pid,
        "member" => Role::Member,
        "session" => Role::Session,
        "cluster" => Role::Cluster,
        "host" => Role::Host,
        "port" => Role::Port,
        "time" => Role::Time,
        _ => return None,
    })
}

/// `4`, `4+`, `0-3`.
fn versions(text: &str) -> Option<(i16, i16)> {
    if let Some(first) = text.strip_suffix('+') {
        return Some((first.parse().ok()?, i16::MAX));
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.parse().ok()?, last.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_read() {
        let fetch = api("Fetch").unwrap();
        assert_eq!((fetch.key, fetch.versions, fetch.flexible_from), (1, (0, 18), 12));
        let names: Vec<&str> =
            fetch.request.iter().filter(|field| field.is_in(3)).map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["replica_id", "max_wait_ms", "min_bytes", "max_bytes", "topics"]);
        assert!(apis().unwrap().len() > 30);
    }
}
