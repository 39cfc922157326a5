//! The few requests that the harness itself needs, byte by byte: is a broker there, and how far is a partition written.
//!
//! Written apart from the product's own protocol code on purpose: what judges it must not share its errors.
#![expect(clippy::disallowed_types, reason = "a plain blocking client of real brokers")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::failure::Context as _;
use crate::{Failure, Result};

/// For a connection on loopback to be made and each answer to arrive.
const WITHIN: Duration = Duration::from_secs(5);

/// A broker as Metadata names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broker {
    /// `node_id`.
    pub id: i32,
    /// `host:port`.
    pub address: String,
}

/// The brokers that the one at `address` knows (Metadata v1 about no topic).
pub fn brokers(address: &str) -> Result<Vec<Broker>> {
    let mut body = Body::default();
    body.i32(0);
    let answer = Connection::to(address)?.ask(3, 1, &body)?;
    read_brokers(&mut Answer::of(&answer))
}

/// The end offset of every partition of `topic`; `None` for one without a leader or whose leader does not answer. Empty for
/// a topic that is not there.
///
/// `modern` asks with ListOffsets v1, else with v0 (the only one on 0.10.0).
pub fn ends(bootstrap: &str, topic: &str, modern: bool) -> Result<Vec<Option<i64>>> {
    let mut tried = String::new();
    for address in bootstrap.split(',') {
        match metadata(address, topic) {
            Ok((brokers, leaders)) => {
                let mut ends = vec![None; leaders.len()];
                for broker in brokers {
                    let led: Vec<usize> =
                        (0..leaders.len()).filter(|partition| leaders[*partition] == broker.id).collect();
                    if led.is_empty() {
                        continue;
                    }
                    for (partition, end) in ends_led_by(&broker.address, topic, &led, modern).unwrap_or_default() {
                        if let Some(known) = ends.get_mut(partition) {
                            *known = Some(end);
                        }
                    }
                }
                return Ok(ends);
            }
            Err(failure) => tried = failure.to_string(),
        }
    }
    Err(Failure::new(tried))
}

/// The offset that `group` has committed for each of a topic's first `partitions`, -1 for none, from whichever broker
/// coordinates it (OffsetFetch v1).
pub fn committed(bootstrap: &str, (topic, partitions): (&str, i32), group: &str) -> Result<Vec<i64>> {
    let mut body = Body::default();
    body.string(group);
    body.i32(1);
    body.string(topic);
    body.i32(partitions);
    (0..partitions).for_each(|partition| body.i32(partition));
    for address in bootstrap.split(',') {
        let answer = Connection::to(address)?.ask(9, 1, &body)?;
        let mut answer = Answer::of(&answer);
        answer.i32()?; // topics
        answer.string()?;
        let mut offsets = vec![-1; usize::try_from(answer.i32()?).unwrap_or(0)];
        let mut refused = false;
        for _ in 0..offsets.len() {
            let partition = usize::try_from(answer.i32()?).unwrap_or(usize::MAX);
            let offset = answer.i64()?;
            answer.string()?; // metadata
            refused |= answer.i16()? != 0;
            if let Some(known) = offsets.get_mut(partition) {
                *known = offset;
            }
        }
        if !refused {
            return Ok(offsets);
        }
    }
    Err(Failure::new(format!("no broker of {bootstrap} coordinates the group {group}")))
}

/// ZooKeeper's answer to one of its four letter words.
pub fn four_letters(address: &str, word: &str) -> Result<String> {
    let mut connection = Connection::to(address)?;
    connection.stream.write_all(word.as_bytes()).context(|| format!("asking {address}"))?;
    let mut answer = String::new();
    connection.stream.read_to_string(&mut answer).context(|| format!("reading from {address}"))?;
    Ok(answer)
}

/// The brokers, and the leader of each partition of `topic` (-1: none). Asks for all topics: a broker that is asked for one
/// that it does not have would create it.
fn metadata(address: &str, topic: &str) -> Result<(Vec<Broker>, Vec<i32>)> {
    let mut body = Body::default();
    body.i32(-1);
    let answer = Connection::to(address)?.ask(3, 1, &body)?;
    let mut answer = Answer::of(&answer);
    let brokers = read_brokers(&mut answer)?;
    answer.i32()?; // controller
    let mut leaders = Vec::new();
    for _ in 0..answer.i32()? {
        answer.i16()?; // error
        let wanted = answer.string()? == topic;
        answer.take(1)?; // internal
        for _ in 0..answer.i32()? {
            answer.i16()?; // error
            let partition = usize::try_from(answer.i32()?).unwrap_or(0);
            let leader = answer.i32()?;
            if wanted && leaders.len() <= partition {
                leaders.resize(partition + 1, -1);
            }
            if wanted {
                leaders[partition] = leader;
            }
            for _ in 0..2 {
                let replicas = usize::try_from(answer.i32()?).unwrap_or(0);
                answer.take(4 * replicas)?;
            }
        }
    }
    Ok((brokers, leaders))
}

/// The ends of the partitions that one broker leads; those that it refuses are left out.
fn ends_led_by(address: &str, topic: &str, partitions: &[usize], modern: bool) -> Result<Vec<(usize, i64)>> {
    let mut body = Body::default();
    body.i32(-1); // replica
    body.i32(1);
    body.string(topic);
    body.i32(i32::try_from(partitions.len()).unwrap_or(i32::MAX));
    for partition in partitions {
        body.i32(i32::try_from(*partition).unwrap_or(-1));
        body.i64(-1); // latest
        if !modern {
            body.i32(1);
        }
    }
    let answer = Connection::to(address)?.ask(2, i16::from(modern), &body)?;
    let mut answer = Answer::of(&answer);
    answer.i32()?; // topics
    answer.string()?;
    let mut ends = Vec::new();
    for _ in 0..answer.i32()? {
        let partition = usize::try_from(answer.i32()?).unwrap_or(usize::MAX);
        let refused = answer.i16()? != 0;
        if modern {
            answer.i64()?; // timestamp
            let end = answer.i64()?;
            ends.extend((!refused).then_some((partition, end)));
        } else {
            for _ in 0..answer.i32()? {
                ends.push((partition, answer.i64()?));
            }
        }
    }
    Ok(ends)
}

fn read_brokers(answer: &mut Answer<'_>) -> Result<Vec<Broker>> {
    let mut brokers = Vec::new();
    for _ in 0..answer.i32()? {
        let id = answer.i32()?;
        let host = answer.string()?;
        let port = answer.i32()?;
        answer.string()?; // rack
        brokers.push(Broker { id, address: format!("{host}:{port}") });
    }
    Ok(brokers)
}

struct Connection {
    address: String,
    stream: TcpStream,
}

impl Connection {
    fn to(address: &str) -> Result<Connection> {
        let socket = address.parse().map_err(|_| Failure::new(format!("not an address: {address}")))?;
        let stream = TcpStream::connect_timeout(&socket, WITHIN).context(|| format!("connecting to {address}"))?;
        stream.set_read_timeout(Some(WITHIN)).context(|| format!("connecting to {address}"))?;
        Ok(Connection { address: address.to_owned(), stream })
    }

    /// Sends a request with header v1 and no client id; the body of the answer.
    fn ask(&mut self, api: i16, version: i16, body: &Body) -> Result<Vec<u8>> {
        let mut request = Body::default();
        request.i16(api);
        request.i16(version);
        request.i32(1); // correlation id
        request.i16(-1); // client id
        request.0.extend_from_slice(&body.0);
        let length = i32::try_from(request.0.len()).unwrap_or(i32::MAX);
        let mut frame = length.to_be_bytes().to_vec();
        frame.append(&mut request.0);
        self.stream.write_all(&frame).context(|| format!("asking {}", self.address))?;
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).context(|| format!("reading from {}", self.address))?;
        let length = usize::try_from(i32::from_be_bytes(length)).unwrap_or(0);
        let mut answer = vec![0; length.clamp(4, 64 << 20)];
        self.stream.read_exact(&mut answer).context(|| format!("reading from {}", self.address))?;
        Ok(answer.split_off(4))
    }
}

#[derive(Default)]
struct Body(Vec<u8>);

impl Body {
    fn i16(&mut self, value: i16) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    fn i32(&mut self, value: i32) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    fn i64(&mut self, value: i64) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    fn string(&mut self, value: &str) {
        self.i16(i16::try_from(value.len()).unwrap_or(i16::MAX));
        self.0.extend_from_slice(value.as_bytes());
    }
}

struct Answer<'a>(&'a [u8]);

impl<'a> Answer<'a> {
    fn of(bytes: &'a [u8]) -> Answer<'a> {
        Answer(bytes)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or_else(|| Failure::new("a broker's answer ends early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| Failure::new("a broker's answer ends early"))
    }

    fn i16(&mut self) -> Result<i16> {
        self.array().map(i16::from_be_bytes)
    }

    fn i32(&mut self) -> Result<i32> {
        self.array().map(i32::from_be_bytes)
    }

    fn i64(&mut self) -> Result<i64> {
        self.array().map(i64::from_be_bytes)
    }

    fn string(&mut self) -> Result<String> {
        let length = usize::try_from(self.i16()?).unwrap_or(0);
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }
}
