//! A connection to the broker under test: frames out, frames in, and what becomes of a request that gets no answer.
#![expect(clippy::disallowed_types, reason = "a plain blocking client of the brokers under test")]

use std::collections::VecDeque;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use super::schema::Api;
use super::value::{self, Value};
use crate::failure::Context as _;
use crate::wait::Deadline;
use crate::{Failure, Result};

/// For a connection on loopback to be made.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// What the client calls itself.
const CLIENT_ID: &str = "conformance";

/// What came of waiting for an answer.
#[derive(Debug)]
pub(super) enum Received {
    /// An answer, from its correlation id on.
    Frame(Vec<u8>),
    /// The broker closed the connection.
    Closed,
    /// Nothing within the time.
    Silence,
}

/// A request that is out.
#[derive(Debug)]
pub(super) struct Asked {
    /// Its API.
    pub api: &'static Api,
    /// Its version.
    pub version: i16,
    correlation: i32,
}

impl Asked {
    /// Reads the answer to this request.
    pub(super) fn read(&self, frame: &[u8]) -> Result<Value> {
        let compact = self.version >= self.api.flexible_from;
        let (correlation, mut body) = frame.split_at_checked(4).ok_or_else(|| Failure::new("no correlation id"))?;
        if correlation != self.correlation.to_be_bytes() {
            return Err(Failure::new(format!("correlation id {correlation:?} instead of {}", self.correlation)));
        }
        // ApiVersions alone has the short header at every version: whoever asks does not know yet.
        if compact && self.api.name != "ApiVersions" {
            body = match body.split_first() {
                Some((0, rest)) => rest,
                other => {
                    return Err(Failure::new(format!("no empty tag section in the header: {:?}", other.map(|o| o.0))));
                }
            };
        }
        value::decode(&self.api.response, body, self.version, compact)
    }
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    correlation: i32,
    asked: VecDeque<Asked>,
}

impl Connection {
    /// Connects.
    pub(super) fn to(address: &str) -> Result<Connection> {
        let socket = address.parse().map_err(|_| Failure::new(format!("not an address: {address}")))?;
        let stream =
            TcpStream::connect_timeout(&socket, CONNECT_WITHIN).context(|| format!("connecting to {address}"))?;
        stream.set_nodelay(true).context(|| format!("connecting to {address}"))?;
        Ok(Connection { stream, buffer: Vec::new(), correlation: 0, asked: VecDeque::new() })
    }

    /// Sends a request; `false` when the broker has closed the connection.
    pub(super) fn ask(&mut self, api: &'static Api, version: i16, body: &Value) -> Result<bool> {
        let compact = version >= api.flexible_from;
        self.correlation += 1;
        let mut frame = vec![0; 4];
        frame.extend(api.key.to_be_bytes());
        frame.extend(version.to_be_bytes());
        frame.extend(self.correlation.to_be_bytes());
        frame.extend(i16::try_from(CLIENT_ID.len()).unwrap_or(0).to_be_bytes());
        frame.extend(CLIENT_ID.as_bytes());
        if compact {
            frame.push(0);
        }
        value::encode(&api.request, body, version, compact, &mut frame)?;
        let length = i32::try_from(frame.len() - 4).map_err(|_| Failure::new("the request is too long"))?;
        frame[..4].copy_from_slice(&length.to_be_bytes());
        self.asked.push_back(Asked { api, version, correlation: self.correlation });
        Ok(self.send(&frame))
    }

    /// Sends bytes as they are; `false` when the broker has closed the connection.
    pub(super) fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// The oldest request without an answer.
    pub(super) fn oldest(&mut self) -> Option<Asked> {
        self.asked.pop_front()
    }

    /// Forgets the newest request: it wants no answer.
    pub(super) fn expect_no_answer(&mut self) {
        self.asked.pop_back();
    }

    /// Waits for the next frame.
    pub(super) fn receive(&mut self, within: Duration) -> Result<Received> {
        let deadline = Deadline::after(within);
        loop {
            if let Some(frame) = self.whole_frame() {
                return Ok(Received::Frame(frame));
            }
            let left = deadline.left();
            if left.is_zero() {
                return Ok(Received::Silence);
            }
            self.stream
                .set_read_timeout(Some(left.max(Duration::from_millis(1))))
                .context(|| "a timeout".to_owned())?;
            let mut chunk = [0; 16 * 1024];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(Received::Closed),
                Ok(count) => self.buffer.extend(&chunk[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Ok(Received::Closed),
            }
        }
    }

    fn whole_frame(&mut self) -> Option<Vec<u8>> {
        let length = i32::from_be_bytes(*self.buffer.first_chunk()?);
        let end = 4 + usize::try_from(length).ok()?;
        if self.buffer.len() < end {
            return None;
        }
        let rest = self.buffer.split_off(end);
        let frame = std::mem::replace(&mut self.buffer, rest);
        Some(frame[4..].to_vec())
    }
}
