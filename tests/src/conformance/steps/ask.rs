//! `ask Metadata v4 topics=[(name=t)]`: any request, its fields by name; the answer field by field.

use std::time::Duration;

use super::txn::NOT_READY;
use crate::conformance::run::{Answered, Run, Way};
use crate::conformance::schema::{self, Field, Kind, Role};
use crate::conformance::value::Value;
use crate::conformance::words::{self, Given, Words};
use crate::wait::{self, Deadline};
use crate::{Failure, Result};

/// A text that is shown whole has at most so many bytes.
const TEXT_BYTES_MAX: usize = 250;

/// For a coordinator to be ready.
const READY_WITHIN: Duration = Duration::from_secs(30);

/// Asks, again while a coordinator is not ready (unless `once`).
pub(super) fn ask(run: &mut Run<'_>, way: &Way, mut words: Words) -> Result<Vec<String>> {
    let name = words.plain().ok_or_else(|| Failure::new("ask <API> …"))?;
    let api = schema::api(&name)?;
    let version = super::version(run, &mut words, api, i16::MAX)?;
    let once = words.flag("once");
    let save = words.text("as")?;
    let without = words.list("without")?.unwrap_or_default();
    let texts = words.flag("texts");
    let mut fields = Vec::new();
    for (key, given) in words.pairs() {
        let field = field(&api.request, &key)?;
        fields.push((key, value(run, field, &given)?));
    }
    words.finish()?;
    let body = Value::Struct(fields);
    let mut last = None;
    let found = wait::until(Deadline::after(READY_WITHIN), "the coordinator", || {
        let answered = run.ask(way, api, version, &body)?;
        let wait = !once && matches!(&answered, Answered::Value(value) if not_ready(value));
        last = Some(answered);
        Ok((!wait).then_some(()))
    });
    Ok(match last {
        None => return found.map(|()| Vec::new()),
        Some(Answered::Value(value)) => {
            let lines = Show { run, without: &without, texts }.message(&api.response, &value);
            if let Some(name) = save {
                run.saved.insert(name, value);
            }
            lines
        }
        Some(Answered::Line(line)) => vec![line],
        Some(Answered::Nothing) => Vec::new(),
    })
}

/// An answer, field by field.
pub(super) fn show(run: &mut Run<'_>, fields: &[Field], value: &Value) -> Vec<String> {
    Show { run, without: &[], texts: false }.message(fields, value)
}

fn field<'a>(fields: &'a [Field], name: &str) -> Result<&'a Field> {
    fields.iter().find(|field| field.name == name).ok_or_else(|| Failure::new(format!("no field {name}")))
}

/// What a case gives for a field, as a value.
fn value(run: &mut Run<'_>, of: &Field, given: &Given) -> Result<Value> {
    if let (true, Given::List(items)) = (of.array, given) {
        return Ok(Value::List(items.iter().map(|item| one(run, of, item)).collect::<Result<_>>()?));
    }
    one(run, of, given)
}

fn one(run: &mut Run<'_>, of: &Field, given: &Given) -> Result<Value> {
    match (&of.kind, given) {
        (_, Given::Text(text)) if text == "null" => Ok(Value::Null),
        (Kind::Struct(fields), Given::Struct(pairs)) => {
            let mut values = Vec::new();
            for (key, given) in pairs {
                values.push((key.clone(), value(run, field(fields, key)?, given)?));
            }
            Ok(Value::Struct(values))
        }
        (Kind::Int(_), Given::Text(text)) if of.role == Role::Time => run.masks.time(text).map(Value::Int),
        (Kind::Int(_), Given::Text(text)) => {
            let number = match text.as_str() {
                "true" => 1,
                "false" => 0,
                text => words::integer(text)?,
            };
            run.masks.give(of.role, &number.to_string());
            Ok(Value::Int(number))
        }
        (Kind::Text, Given::Text(text)) if of.role == Role::Name => Ok(Value::Text(run.masks.outside(text))),
        (Kind::Text, Given::Text(text)) => {
            run.masks.give(of.role, text);
            Ok(Value::Text(repeated(text)?))
        }
        (Kind::Uuid, Given::Text(text)) => words::hex(text).map(Value::Bytes),
        (Kind::Bytes | Kind::Records, Given::Text(text)) => bytes(text).map(Value::Bytes),
        (kind, given) => Err(Failure::new(format!("{}: {given:?} is no {kind:?}", of.name))),
    }
}

/// `0x00ff`, or a text.
fn bytes(text: &str) -> Result<Vec<u8>> {
    match text.strip_prefix("0x") {
        Some(digits) => words::hex(digits),
        None => repeated(text).map(String::into_bytes),
    }
}

/// A text, or `900000*x` (so many times).
fn repeated(text: &str) -> Result<String> {
    match text.split_once('*') {
        Some((count, what)) => Ok(what.repeat(usize::try_from(words::integer(count)?).unwrap_or(0))),
        None => Ok(text.to_owned()),
    }
}

/// Whether any error in an answer says that its coordinator is not ready.
fn not_ready(value: &Value) -> bool {
    match value {
        Value::Struct(fields) => fields.iter().any(|(name, value)| {
            let code = if let Value::Int(code) = value { Some(code) } else { None };
            code.is_some_and(|code| name.ends_with("error_code") && NOT_READY.contains(code)) || not_ready(value)
        }),
        Value::List(items) => items.iter().any(not_ready),
        Value::Null | Value::Int(_) | Value::Text(_) | Value::Bytes(_) => false,
    }
}

/// Whether a field is as it has to be: then it is not shown, and versions that have it are like those that do not.
fn is_ordinary(name: &str, value: &Value) -> bool {
    match (name, value) {
        ("throttle_time_ms" | "is_internal" | "leader_epoch", Value::Int(number)) => *number == 0,
        (
            "topic_authorized_operations" | "cluster_authorized_operations" | "authorized_operations",
            Value::Int(number),
        ) => *number == i64::from(i32::MIN),
        ("offline_replicas", Value::List(items)) => items.is_empty(),
        ("topic_id", Value::Bytes(id)) => id.iter().any(|byte| *byte != 0),
        _ => false,
    }
}

struct Show<'a, 'b> {
    run: &'a mut Run<'b>,
    without: &'a [String],
    texts: bool,
}

impl Show<'_, '_> {
    fn message(&mut self, fields: &[Field], value: &Value) -> Vec<String> {
        let mut lines = self.structure(fields, value);
        if lines.first().is_some_and(String::is_empty) {
            lines.remove(0);
        }
        let lines: Vec<String> =
            lines.into_iter().map(|line| line.strip_prefix("  ").unwrap_or(&line).to_owned()).collect();
        if lines.is_empty() { vec!["(empty)".to_owned()] } else { lines }
    }

    /// A line of the simple fields, then a block for each element of each array of structures.
    fn structure(&mut self, fields: &[Field], value: &Value) -> Vec<String> {
        let Value::Struct(values) = value else { return vec![format!("{value:?}")] };
        let (mut head, mut blocks) = (Vec::new(), Vec::new());
        for (name, value) in values {
            if self.without.contains(name) || is_ordinary(name, value) {
                continue;
            }
            let Some(field) = fields.iter().find(|field| field.name == *name) else {
                head.push(format!("{name}={value:?}"));
                continue;
            };
            match (&field.kind, value) {
                (Kind::Struct(inner), Value::List(items)) => {
                    let items = self.ours(items);
                    if items.is_empty() {
                        head.push(format!("{name}=[]"));
                    }
                    for item in items {
                        blocks.extend(self.block(name, inner, &item));
                    }
                }
                (Kind::Struct(inner), Value::Struct(_)) => blocks.extend(self.block(name, inner, value)),
                _ => head.extend(self.simple(field, value)),
            }
        }
        let mut lines = vec![head.join(" ")];
        lines.extend(blocks);
        lines
    }

    fn block(&mut self, name: &str, fields: &[Field], value: &Value) -> Vec<String> {
        let mut lines = self.structure(fields, value).into_iter();
        let first = format!("  {name}: {}", lines.next().unwrap_or_default());
        std::iter::once(first.trim_end().to_owned()).chain(lines.map(|line| format!("  {line}"))).collect()
    }

    /// The elements that are about this case, in an order that no broker's memory decides.
    fn ours(&self, items: &[Value]) -> Vec<Value> {
        let name = |item: &Value| match item.get("name").or(item.get("topic")).or(item.get("group_id")) {
            Some(Value::Text(name)) => Some(name.clone()),
            _ => None,
        };
        let is_config = |item: &Value| item.get("partitions").is_none() && item.get("value").is_some();
        let mut items: Vec<Value> = items
            .iter()
            .filter(|item| is_config(item) || name(item).is_none_or(|name| self.run.masks.is_ours(&name)))
            .cloned()
            .collect();
        items.sort_by_key(|item| {
            let metadata = match item.get("metadata").or(item.get("member_metadata")) {
                Some(Value::Bytes(bytes)) => bytes.clone(),
                _ => Vec::new(),
            };
            let index = item.int("partition_index").or(item.int("partition")).or(item.int("producer_id"));
            (name(item), metadata, index)
        });
        items
    }

    fn simple(&mut self, field: &Field, value: &Value) -> Option<String> {
        let name = field.name.as_str();
        if name.ends_with("error_code") {
            let shown = if name == "error_code" { "error" } else { name };
            let code = if let Value::Int(code) = value { *code } else { 0 };
            return Some(format!("{shown}={}", if code == 0 { "0".to_owned() } else { super::error(code) }));
        }
        if name == "error_message" && !self.texts {
            return (*value != Value::Null).then(|| "+message".to_owned());
        }
        Some(format!("{name}={}", self.shown(field, value)))
    }

    fn shown(&mut self, field: &Field, value: &Value) -> String {
        match value {
            Value::Null => "null".to_owned(),
            Value::Int(number) if field.role == Role::Time => self.run.masks.show_time(*number),
            Value::Int(number) => self.run.masks.id(field.role, &number.to_string()),
            Value::Text(text) => {
                let text = self.run.masks.inside(text);
                if text.len() > TEXT_BYTES_MAX {
                    return format!("{}B~{:08x}", text.len(), crc32c::crc32c(text.as_bytes()));
                }
                let text = if field.role == Role::Name { text } else { self.run.masks.id(field.role, &text) };
                if text.is_empty() || text.contains(' ') { format!("\"{text}\"") } else { text }
            }
            Value::Bytes(bytes) if matches!(field.kind, Kind::Uuid) => {
                self.run.masks.id(field.role, &super::digits(bytes))
            }
            Value::Bytes(bytes) if bytes.len() > 32 => format!("{}B~{:08x}", bytes.len(), crc32c::crc32c(bytes)),
            Value::Bytes(bytes) if bytes.iter().all(u8::is_ascii_graphic) => {
                format!("'{}'", String::from_utf8_lossy(bytes))
            }
            Value::Bytes(bytes) => format!("0x{}", super::digits(bytes)),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(|item| self.shown(field, item)).collect();
                format!("[{}]", items.join(" "))
            }
            Value::Struct(_) => format!("{value:?}"),
        }
    }
}
