//! Records one by one: written as told, read back in full, compared without a hash between.

use std::collections::BTreeMap;
use std::fmt;

use super::WITHIN;
use super::program::{Client, Program};
use crate::brokers::Cluster;
use crate::failure::ensure;
use crate::wait::unix_ms;
use crate::{Failure, Result};

/// A record as a client gives or gets it. `None` is null, which is not empty.
#[derive(Clone, PartialEq, Eq)]
pub struct Row {
    /// Milliseconds since 1970.
    pub timestamp: i64,
    /// Its key.
    pub key: Option<Vec<u8>>,
    /// Its value; null: a tombstone.
    pub value: Option<Vec<u8>>,
    /// Its headers in their order.
    pub headers: Vec<(String, Option<Vec<u8>>)>,
}

/// A partition's rows in their order, each with its offset.
pub type Listing = BTreeMap<u32, Vec<(i64, Row)>>;

impl Row {
    /// A record without headers.
    pub fn new(timestamp: i64, key: Option<&str>, value: Option<&str>) -> Row {
        let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
        Row { timestamp, key: bytes(key), value: bytes(value), headers: Vec::new() }
    }

    /// A record without a key, an hour old: young enough for a broker to remember who wrote it. Its value is the number.
    pub fn number(number: u32) -> Row {
        let value = Some(number.to_be_bytes().to_vec());
        Row { value, ..Row::new(unix_ms() - 3_600_000, None, None) }
    }

    /// A record whose value has so many bytes, of a kind that no codec makes much smaller.
    pub fn sized(timestamp: i64, key: &str, bytes: usize) -> Row {
        let mut random = fastrand::Rng::with_seed(timestamp.unsigned_abs());
        let value = (0..bytes).map(|_| random.u8(..)).collect();
        Row { value: Some(value), ..Row::new(timestamp, Some(key), None) }
    }

    /// With one more header.
    pub fn header(mut self, name: &str, value: Option<&str>) -> Row {
        self.headers.push((name.to_owned(), value.map(|value| value.as_bytes().to_vec())));
        self
    }

    /// As a format without headers keeps it.
    pub fn without_headers(&self) -> Row {
        Row { headers: Vec::new(), ..self.clone() }
    }

    /// `timestamp key value [name=value]...`, the bytes in hexadecimal, `-` for null.
    pub fn text(&self) -> String {
        let mut text = format!("{} {} {}", self.timestamp, hex(self.key.as_deref()), hex(self.value.as_deref()));
        for (name, value) in &self.headers {
            text.push_str(&format!(" {}={}", hex(Some(name.as_bytes())), hex(value.as_deref())));
        }
        text
    }

    /// Reads what [`Row::text`] wrote.
    pub fn parse(text: &str) -> Option<Row> {
        let mut fields = text.split(' ');
        let timestamp = fields.next()?.parse().ok()?;
        let (key, value) = (unhex(fields.next()?)?, unhex(fields.next()?)?);
        let header = |field: &str| {
            let (name, value) = field.split_once('=')?;
            Some((String::from_utf8(unhex(name)??).ok()?, unhex(value)?))
        };
        let headers = fields.map(header).collect::<Option<Vec<_>>>()?;
        Some(Row { timestamp, key, value, headers })
    }
}

/// Short enough for a failure message, however large the value.
impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |bytes: &Option<Vec<u8>>| match bytes {
            None => "null".to_owned(),
            Some(bytes) if bytes.len() > 60 => format!("({} bytes)", bytes.len()),
            Some(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
        };
        write!(f, "timestamp {} key {} value {}", self.timestamp, show(&self.key), show(&self.value))?;
        self.headers.iter().try_for_each(|(name, value)| write!(f, " header {name:?}={}", show(value)))
    }
}

/// Writes rows to one partition, in their order, with one codec: one batch, unless `properties` for Kafka's producer (e.g.
/// `batch.size`, `linger.ms`) say otherwise.
pub fn write(
    cluster: &Cluster,
    (topic, partition): (&str, u32),
    codec: &str,
    rows: &[Row],
    properties: &[(&str, &str)],
) -> Result {
    let program = Program::on(cluster, "write").arg(topic).arg(partition);
    let mut program = program.properties(&[("compression.type", codec)]).properties(properties).arg("--");
    for row in rows {
        program = program.arg(row.text());
    }
    program.run(WITHIN).map(drop)
}

/// Writes rows to one partition of a topic as a transaction under an id, and commits or aborts it.
pub fn write_transaction(
    client: Client,
    (bootstrap, topic, partition): (&str, &str, u32),
    (id, commit): (&str, bool),
    codec: &str,
    rows: &[Row],
) -> Result {
    let program = Program::with(client, "write").arg(bootstrap).arg(topic).arg(partition);
    let end = if commit { "commit" } else { "abort" };
    let mut program =
        program.properties(&[("compression.type", codec), ("transactional.id", id), ("end", end)]).arg("--");
    for row in rows {
        program = program.arg(row.text());
    }
    program.run(WITHIN).map(drop)
}

/// Reads a topic whole, up to its ends as of now. Partitions without a record are left out.
pub fn list(cluster: &Cluster, topic: &str) -> Result<Listing> {
    let text = Program::on(cluster, "list").arg(topic).run(WITHIN)?;
    let mut listing = Listing::new();
    let parse = |line: &str| {
        let mut fields = line.splitn(3, ' ');
        let (partition, offset) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some((partition, (offset, Row::parse(fields.next()?)?)))
    };
    for line in text.lines() {
        let (partition, row) =
            parse(line).ok_or_else(|| Failure::new(format!("listing of {topic}: cannot read {line:?}")))?;
        listing.entry(partition).or_default().push(row);
    }
    Ok(listing)
}

/// Fails unless a partition holds exactly these rows at offsets without a gap from 0 on; names the first difference.
pub fn holds(listing: &Listing, (topic, partition): (&str, u32), want: &[Row]) -> Result {
    let have = listing.get(&partition).map_or(&[][..], Vec::as_slice);
    for (at, (row, (offset, found))) in want.iter().zip(have).enumerate() {
        ensure(row == found, || {
            format!("{topic}-{partition}: record {at} differs\nwanted {row:?}\nfound  {found:?} at offset {offset}")
        })?;
        ensure(usize::try_from(*offset) == Ok(at), || format!("{topic}-{partition}: record {at} is at {offset}"))?;
    }
    ensure(want.len() == have.len(), || {
        let from = want.len().min(have.len());
        let (missing, more) = (want.get(from), have.get(from));
        let (count, found) = (want.len(), have.len());
        format!(
            "{topic}-{partition}: {found} records instead of {count}; first missing {missing:?}, first more {more:?}"
        )
    })
}

fn hex(bytes: Option<&[u8]>) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let Some(bytes) = bytes else {
        return "-".to_owned();
    };
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)]);
        text.push(DIGITS[usize::from(byte & 15)]);
    }
    text
}

/// The outer `None` when this is no hexadecimal text.
fn unhex(text: &str) -> Option<Option<Vec<u8>>> {
    if text == "-" {
        return Some(None);
    }
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?);
    text.as_bytes().chunks(2).map(pair).collect::<Option<Vec<u8>>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_keeps_null_and_empty_apart() {
        let row = Row::new(5, None, Some("")).header("", None).header("ü", Some("")).header("ü", Some("x"));
        assert_eq!(row.text(), "5 -  =- c3bc= c3bc=78");
        assert_eq!(Row::parse(&row.text()), Some(row));
        assert_eq!(Row::parse("5 - 0g"), None);
    }

    #[test]
    fn a_difference_is_named() {
        let rows = [Row::new(1, Some("a"), Some("")), Row::new(2, Some("b"), None)];
        let listing = |rows: &[Row]| Listing::from([(0, (0..).zip(rows.iter().cloned()).collect())]);
        assert!(holds(&listing(&rows), ("t", 0), &rows).is_ok());
        let null = [Row::new(1, Some("a"), None), rows[1].clone()];
        let failure = holds(&listing(&null), ("t", 0), &rows).unwrap_err().to_string();
        assert!(failure.contains("t-0: record 0 differs") && failure.contains("value null"), "{failure}");
        let failure = holds(&listing(&rows[..1]), ("t", 0), &rows).unwrap_err().to_string();
        assert!(failure.contains("1 records instead of 2"), "{failure}");
        let gap = Listing::from([(0, vec![(0, rows[0].clone()), (2, rows[1].clone())])]);
        assert!(holds(&gap, ("t", 0), &rows).unwrap_err().to_string().contains("record 1 is at 2"));
        assert!(holds(&Listing::new(), ("t", 1), &[]).is_ok());
    }
}
