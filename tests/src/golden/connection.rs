//! A connection that keeps the bytes of what is asked and answered.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::{AnyRequest, AnyResponse, decode_response, encode_request};

use crate::failure::Context as _;
use crate::{Failure, Result};

/// Longer than any broker takes for an answer here.
const WITHIN: Duration = Duration::from_secs(20);

/// An open connection.
#[derive(Debug)]
pub(super) struct Connection(TcpStream);

impl Connection {
    pub(super) fn to(address: &str) -> Result<Connection> {
        let stream = TcpStream::connect(address).context(|| format!("connecting to {address}"))?;
        stream.set_read_timeout(Some(WITHIN)).context(|| "setting a time limit".to_owned())?;
        Ok(Connection(stream))
    }

    /// Asks; request and answer as bytes without their length in front, and the answer read.
    pub(super) fn ask(&mut self, version: i16, request: &AnyRequest) -> Result<(Vec<u8>, Vec<u8>, AnyResponse)> {
        let what = || format!("{} v{version}", request.key());
        let frame = encode_request(CORRELATION, Some("golden"), version, request);
        let frame = frame.map_err(|error| Failure::new(format!("{}: {error}", what())))?.chunks().concat();
        self.0.write_all(&frame).context(what)?;
        let mut length = [0; 4];
        self.0.read_exact(&mut length).context(what)?;
        let mut answer = vec![0; usize::try_from(u32::from_be_bytes(length)).unwrap_or(0)];
        self.0.read_exact(&mut answer).context(what)?;
        let read = decode_response(request.key(), version, Bytes::from(answer.clone()));
        let (_, response) = read.map_err(|error| Failure::new(format!("{}: {error}", what())))?;
        Ok((frame[4..].to_vec(), answer, response))
    }
}

/// The same in every request: the connection has one out at a time.
const CORRELATION: i32 = 7;
