//! Records: what a batch's or a message's key, value and headers are, by default and as a case gives them.

use crate::conformance::value::{Input, uvarint};
use crate::conformance::words::Words;
use crate::{Failure, Result};

/// A key or value that is shown whole has at most so many bytes.
const SHOWN_BYTES_MAX: usize = 24;

/// A record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// Its offset: in a batch behind the base offset.
    pub offset: i64,
    /// Its timestamp: in a batch behind the first one.
    pub timestamp: i64,
    /// Its attributes byte.
    pub attributes: u8,
    /// Its key.
    pub key: Option<Vec<u8>>,
    /// Its value.
    pub value: Option<Vec<u8>>,
    /// Its headers.
    pub headers: Vec<(String, Option<Vec<u8>>)>,
}

/// Takes `n keys values value-bytes headers record-attrs` and the two lists of offsets and timestamps from the words of an
/// entry. By default three records, `k0=value-0` to `k2=value-2`, at 0, 1, 2.
pub(super) fn given(words: &mut Words, offsets: &str, timestamps: &str) -> Result<Vec<Record>> {
    let offsets = numbers(words, offsets)?;
    let timestamps = numbers(words, timestamps)?;
    let (keys, values) = (words.list("keys")?, words.list("values")?);
    let value_bytes: Option<usize> = words.number("value-bytes")?;
    let attributes = words.number("record-attrs")?.unwrap_or(0);
    let headers = words.list("headers")?.unwrap_or_default();
    let headers: Vec<(String, Option<Vec<u8>>)> = headers
        .iter()
        .map(|header| header.split_once(':').map(|(name, value)| (name.to_owned(), bytes(value))))
        .collect::<Option<_>>()
        .ok_or_else(|| Failure::new("headers=name:value,…"))?;
    let lists = [offsets.as_ref().map(Vec::len), timestamps.as_ref().map(Vec::len), keys.as_ref().map(Vec::len)];
    let count = words.number("n")?.or(lists.into_iter().flatten().next()).unwrap_or(3);
    let at = |list: &Option<Vec<i64>>, n: usize| {
        let given = list.as_ref().and_then(|list| list.get(n).copied());
        given.unwrap_or_else(|| i64::try_from(n).unwrap_or(0))
    };
    let text = |list: &Option<Vec<String>>, n: usize, default: String| match list.as_ref().and_then(|list| list.get(n))
    {
        Some(text) => bytes(text),
        None => Some(default.into_bytes()),
    };
    let records = (0..count).map(|n| Record {
        offset: at(&offsets, n),
        timestamp: at(&timestamps, n),
        attributes,
        key: text(&keys, n, format!("k{n}")),
        value: match value_bytes {
            Some(length) => Some(vec![b'x'; length]),
            None => text(&values, n, format!("value-{n}")),
        },
        headers: headers.clone(),
    });
    Ok(records.collect())
}

fn numbers(words: &mut Words, key: &str) -> Result<Option<Vec<i64>>> {
    let Some(list) = words.list(key)? else { return Ok(None) };
    list.iter().map(|text| crate::conformance::words::integer(text)).collect::<Result<_>>().map(Some)
}

/// A key or value as a case gives it.
fn bytes(text: &str) -> Option<Vec<u8>> {
    (text != "null").then(|| text.as_bytes().to_vec())
}

impl Record {
    /// Writes it as in a batch. `fat` writes the length of the record in five bytes, whatever it is.
    pub(super) fn write(&self, fat: bool, out: &mut Vec<u8>) {
        let mut body = vec![self.attributes];
        varint(self.timestamp, &mut body);
        varint(self.offset, &mut body);
        nullable(self.key.as_deref(), &mut body);
        nullable(self.value.as_deref(), &mut body);
        varint(length(self.headers.len()), &mut body);
        for (name, value) in &self.headers {
            nullable(Some(name.as_bytes()), &mut body);
            nullable(value.as_deref(), &mut body);
        }
        if fat {
            let zigzag = body.len() as u64 * 2;
            out.extend((0..4).map(|group| (zigzag >> (7 * group) & 0x7f) as u8 | 0x80));
            out.push(0);
        } else {
            varint(length(body.len()), out);
        }
        out.append(&mut body);
    }

    /// Reads one as it stands in a batch.
    pub(super) fn read(input: &mut Input<'_>) -> Result<Record> {
        let length = usize::try_from(input.varint()?).map_err(|_| Failure::new("a record of negative length"))?;
        let mut body = Input(input.take(length)?);
        let mut record = Record { attributes: body.take(1)?[0], ..Record::default() };
        record.timestamp = body.varint()?;
        record.offset = body.varint()?;
        record.key = read_nullable(&mut body)?;
        record.value = read_nullable(&mut body)?;
        for _ in 0..body.varint()? {
            let name = read_nullable(&mut body)?.unwrap_or_default();
            record.headers.push((String::from_utf8_lossy(&name).into_owned(), read_nullable(&mut body)?));
        }
        if body.0.is_empty() { Ok(record) } else { Err(Failure::new("a record with bytes left over")) }
    }

    /// `k0=value-0`, and what is not ordinary.
    pub(super) fn show(&self) -> String {
        let mut text = format!("{}={}", show_bytes(self.key.as_deref()), show_bytes(self.value.as_deref()));
        for (name, value) in &self.headers {
            text.push_str(&format!(" {name}:{}", show_bytes(value.as_deref())));
        }
        if self.attributes != 0 {
            text.push_str(&format!(" attrs=0x{:02x}", self.attributes));
        }
        text
    }
}

fn show_bytes(bytes: Option<&[u8]>) -> String {
    match bytes {
        None => "null".to_owned(),
        Some(bytes) if bytes.len() > SHOWN_BYTES_MAX => format!("{}B~{:08x}", bytes.len(), crc32c::crc32c(bytes)),
        Some(bytes) if bytes.iter().all(u8::is_ascii_graphic) => String::from_utf8_lossy(bytes).into_owned(),
        Some(bytes) => format!("0x{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    }
}

fn nullable(bytes: Option<&[u8]>, out: &mut Vec<u8>) {
    match bytes {
        None => varint(-1, out),
        Some(bytes) => {
            varint(length(bytes.len()), out);
            out.extend(bytes);
        }
    }
}

fn read_nullable(input: &mut Input<'_>) -> Result<Option<Vec<u8>>> {
    let Ok(length) = usize::try_from(input.varint()?) else { return Ok(None) };
    input.take(length).map(|bytes| Some(bytes.to_vec()))
}

fn varint(value: i64, out: &mut Vec<u8>) {
    uvarint(((value << 1) ^ (value >> 63)).cast_unsigned(), out);
}

fn length(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::words::words;

    #[test]
    fn records_come_back() {
        let line = "keys=a,null values=null,b ts-deltas=0,-5 headers=h:v,i:null record-attrs=5";
        let mut words = Words::new(words(line).unwrap());
        let records = given(&mut words, "deltas", "ts-deltas").unwrap();
        assert_eq!(records.len(), 2);
        for fat in [false, true] {
            let mut bytes = Vec::new();
            records.iter().for_each(|record| record.write(fat, &mut bytes));
            let mut input = Input(&bytes);
            assert_eq!([Record::read(&mut input).unwrap(), Record::read(&mut input).unwrap()], records[..]);
            assert!(input.0.is_empty());
        }
        assert_eq!(records[1].show(), "null=b h:v i:null attrs=0x05");
    }
}
