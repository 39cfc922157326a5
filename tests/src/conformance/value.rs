//! The values of messages: written and read by the layouts of [`schema`](super::schema).

use super::schema::{Field, Kind};
use crate::{Failure, Result};

/// A value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Null, where a string, bytes or an array may be that.
    Null,
    /// A number or a boolean.
    Int(i64),
    /// A string.
    Text(String),
    /// Bytes, a uuid, records.
    Bytes(Vec<u8>),
    /// An array.
    List(Vec<Value>),
    /// Fields by name, in the order of the message.
    Struct(Vec<(String, Value)>),
}

impl Value {
    /// A structure.
    pub(super) fn of(fields: Vec<(&str, Value)>) -> Value {
        Value::Struct(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// A string.
    pub(super) fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    /// The field `name` of a structure.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Struct(fields) => fields.iter().find(|(known, _)| known == name).map(|(_, value)| value),
            Value::Null | Value::Int(_) | Value::Text(_) | Value::Bytes(_) | Value::List(_) => None,
        }
    }

    /// The number of the field `name`.
    pub(super) fn int(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Value::Int(number) => Some(*number),
            Value::Null | Value::Text(_) | Value::Bytes(_) | Value::List(_) | Value::Struct(_) => None,
        }
    }

    /// The elements of the array `name`; none when it is not there.
    pub(super) fn list(&self, name: &str) -> &[Value] {
        match self.get(name) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    /// What stands at a path of field names and indices, `members.0.member_id`.
    pub(super) fn at(&self, path: &str) -> Option<&Value> {
        path.split('.').filter(|part| !part.is_empty()).try_fold(self, |value, part| {
            if let Value::List(items) = value { items.get(part.parse::<usize>().ok()?) } else { value.get(part) }
        })
    }
}

/// Writes a message; fields that `value` does not have get their default.
pub(super) fn encode(fields: &[Field], value: &Value, version: i16, compact: bool, out: &mut Vec<u8>) -> Result {
    for field in fields.iter().filter(|field| field.tag.is_none() && field.is_in(version)) {
        let given = value.get(&field.name).cloned().map_or_else(|| default(field, version), Ok)?;
        encode_field(field, &given, version, compact, out)
            .map_err(|failure| Failure::new(format!("{}: {failure}", field.name)))?;
    }
    if compact {
        let tagged: Vec<(u32, &Field, &Value)> = fields
            .iter()
            .filter(|field| field.is_in(version))
            .filter_map(|field| Some((field.tag?, field, value.get(&field.name)?)))
            .collect();
        uvarint(tagged.len() as u64, out);
        for (tag, field, given) in tagged {
            let mut bytes = Vec::new();
            encode_field(field, given, version, compact, &mut bytes)?;
            uvarint(u64::from(tag), out);
            uvarint(bytes.len() as u64, out);
            out.append(&mut bytes);
        }
    }
    Ok(())
}

fn default(field: &Field, version: i16) -> Result<Value> {
    let given = field.default.as_deref();
    if given == Some("null") {
        return Ok(Value::Null);
    }
    if field.array {
        return Ok(Value::List(Vec::new()));
    }
    Ok(match &field.kind {
        Kind::Int(_) => Value::Int(match given {
            None => 0,
            Some("true") => 1,
            Some("max") => i64::MAX,
            Some(text) => super::words::integer(text)?,
        }),
        Kind::Text => Value::Text(String::new()),
        Kind::Uuid => Value::Bytes(vec![0; 16]),
        Kind::Bytes | Kind::Records => Value::Bytes(Vec::new()),
        Kind::Struct(fields) => Value::Struct(
            fields
                .iter()
                .filter(|field| field.is_in(version))
                .map(|field| Ok((field.name.clone(), default(field, version)?)))
                .collect::<Result<_>>()?,
        ),
    })
}

fn encode_field(field: &Field, value: &Value, version: i16, compact: bool, out: &mut Vec<u8>) -> Result {
    if !field.array {
        return encode_one(&field.kind, value, version, compact, out);
    }
    match value {
        Value::Null if compact => out.push(0),
        Value::Null => out.extend((-1_i32).to_be_bytes()),
        Value::List(items) => {
            if compact {
                uvarint(items.len() as u64 + 1, out);
            } else {
                out.extend(length(items.len())?.to_be_bytes());
            }
            for item in items {
                encode_one(&field.kind, item, version, compact, out)?;
            }
        }
        Value::Int(_) | Value::Text(_) | Value::Bytes(_) | Value::Struct(_) => {
            return Err(Failure::new(format!("an array was expected, not {value:?}")));
        }
    }
    Ok(())
}

fn encode_one(kind: &Kind, value: &Value, version: i16, compact: bool, out: &mut Vec<u8>) -> Result {
    match (kind, value) {
        (Kind::Int(bytes), Value::Int(number)) => out.extend(&number.to_be_bytes()[8 - bytes..]),
        (Kind::Text | Kind::Bytes | Kind::Records, Value::Null) if compact => out.push(0),
        (Kind::Text, Value::Null) => out.extend((-1_i16).to_be_bytes()),
        (Kind::Bytes | Kind::Records, Value::Null) => out.extend((-1_i32).to_be_bytes()),
        (Kind::Text, Value::Text(text)) if compact => {
            uvarint(text.len() as u64 + 1, out);
            out.extend(text.as_bytes());
        }
        (Kind::Text, Value::Text(text)) => {
            let length = i16::try_from(text.len()).map_err(|_| Failure::new("a string is too long"))?;
            out.extend(length.to_be_bytes());
            out.extend(text.as_bytes());
        }
        (Kind::Bytes | Kind::Records, Value::Bytes(bytes)) if compact => {
            uvarint(bytes.len() as u64 + 1, out);
            out.extend(bytes);
        }
        (Kind::Bytes | Kind::Records, Value::Bytes(bytes)) => {
            out.extend(length(bytes.len())?.to_be_bytes());
            out.extend(bytes);
        }
        (Kind::Uuid, Value::Bytes(bytes)) if bytes.len() == 16 => out.extend(bytes),
        (Kind::Struct(fields), Value::Struct(_)) => encode(fields, value, version, compact, out)?,
        (kind, value) => return Err(Failure::new(format!("{value:?} is no {kind:?}"))),
    }
    Ok(())
}

fn length(length: usize) -> Result<i32> {
    i32::try_from(length).map_err(|_| Failure::new("too long"))
}

/// Writes an unsigned number in groups of seven bits.
pub(super) fn uvarint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

/// Reads a message to its end; what is left over is in the error.
pub(super) fn decode(fields: &[Field], bytes: &[u8], version: i16, compact: bool) -> Result<Value> {
    let mut input = Input(bytes);
    let value = input.structure(fields, version, compact)?;
    if input.0.is_empty() { Ok(value) } else { Err(Failure::new(format!("{} bytes left over", input.0.len()))) }
}

/// Bytes that are read from the front.
pub(super) struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let cut = self.0.split_at_checked(count);
        let (taken, rest) = cut.ok_or_else(|| Failure::new(format!("{count} bytes wanted, {} left", self.0.len())))?;
        self.0 = rest;
        Ok(taken)
    }

    /// A signed number of so many bytes.
    pub(super) fn int(&mut self, bytes: usize) -> Result<i64> {
        let taken = self.take(bytes)?;
        let start = if taken.first().is_some_and(|first| *first >= 0x80) { -1 } else { 0 };
        Ok(taken.iter().fold(start, |number, byte| (number << 8) | i64::from(*byte)))
    }

    /// An unsigned number in groups of seven bits.
    pub(super) fn uvarint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Failure::new("a number without an end"))
    }

    /// A signed number in zigzag.
    pub(super) fn varint(&mut self) -> Result<i64> {
        let value = self.uvarint()?;
        Ok((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
    }

    fn structure(&mut self, fields: &[Field], version: i16, compact: bool) -> Result<Value> {
        let mut read = Vec::new();
        for field in fields.iter().filter(|field| field.tag.is_none() && field.is_in(version)) {
            let value = self
                .field(field, version, compact)
                .map_err(|failure| Failure::new(format!("{}: {failure}", field.name)))?;
            read.push((field.name.clone(), value));
        }
        if compact {
            for _ in 0..self.uvarint()? {
                let tag = self.uvarint()?;
                let size = self.size()?;
                let mut bytes = Input(self.take(size)?);
                let known = fields.iter().find(|field| field.tag.map(u64::from) == Some(tag) && field.is_in(version));
                match known {
                    Some(field) => read.push((field.name.clone(), bytes.field(field, version, compact)?)),
                    None => read.push((format!("tag{tag}"), Value::Bytes(bytes.0.to_vec()))),
                }
            }
        }
        Ok(Value::Struct(read))
    }

    fn field(&mut self, field: &Field, version: i16, compact: bool) -> Result<Value> {
        if !field.array {
            return self.one(&field.kind, version, compact);
        }
        let Some(count) = self.length(4, compact)? else { return Ok(Value::Null) };
        let items = (0..count).map(|_| self.one(&field.kind, version, compact));
        Ok(Value::List(items.collect::<Result<_>>()?))
    }

    fn one(&mut self, kind: &Kind, version: i16, compact: bool) -> Result<Value> {
        match kind {
            Kind::Int(bytes) => self.int(*bytes).map(Value::Int),
            Kind::Uuid => Ok(Value::Bytes(self.take(16)?.to_vec())),
            Kind::Struct(fields) => self.structure(fields, version, compact),
            Kind::Text => {
                let Some(length) = self.length(2, compact)? else { return Ok(Value::Null) };
                Ok(Value::Text(String::from_utf8_lossy(self.take(length)?).into_owned()))
            }
            Kind::Bytes | Kind::Records => {
                let Some(length) = self.length(4, compact)? else { return Ok(Value::Null) };
                Ok(Value::Bytes(self.take(length)?.to_vec()))
            }
        }
    }

    /// A length of so many bytes, or a compact one; `None` for null.
    fn length(&mut self, bytes: usize, compact: bool) -> Result<Option<usize>> {
        if compact { Ok(self.size()?.checked_sub(1)) } else { Ok(usize::try_from(self.int(bytes)?).ok()) }
    }

    fn size(&mut self) -> Result<usize> {
        usize::try_from(self.uvarint()?).map_err(|_| Failure::new("too long"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::schema::apis;

    /// Every message in all its versions is written with its defaults and read back, classic and compact.
    #[test]
    fn what_is_written_is_read() {
        for api in apis().unwrap().values() {
            for version in api.versions.0..=api.versions.1 {
                let compact = version >= api.flexible_from;
                for fields in [&api.request, &api.response] {
                    let mut bytes = Vec::new();
                    encode(fields, &Value::Struct(Vec::new()), version, compact, &mut bytes).unwrap();
                    let value = decode(fields, &bytes, version, compact).unwrap();
                    let mut again = Vec::new();
                    encode(fields, &value, version, compact, &mut again).unwrap();
                    assert_eq!(bytes, again, "{} v{version}", api.name);
                }
            }
        }
    }

    #[test]
    fn numbers_of_every_size() {
        assert_eq!(Input(&[0xff, 0xfe]).int(2).unwrap(), -2);
        assert_eq!(Input(&[0x80, 0x01]).uvarint().unwrap(), 128);
        assert_eq!(Input(&[3]).varint().unwrap(), -2);
        assert!(Input(&[0x80]).uvarint().is_err());
    }
}
