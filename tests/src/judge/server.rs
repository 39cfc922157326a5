//! Warm JVMs that run the judge's commands: one for each of Kafka's clients, started on first use, ended with this process.
//!
//! A JVM takes a second to start and to load the client; a command in a warm one, milliseconds.
//!
//! ```text
//! asked     [i32 number of words] then each [i32 length][bytes]
//! answered  [i32 0: done, 1: failed] then text up to the end of the stream
//! ```
#![expect(clippy::disallowed_types, reason = "a plain blocking client of the judge")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::OnceLock;
use std::time::Duration;

use super::program::Client;
use crate::failure::Context as _;
use crate::process::{Guarded, Reaper, tail, words};
use crate::wait::{self, Deadline};
use crate::{Failure, Result};

/// A JVM that waits for commands.
pub(super) struct Server {
    process: Guarded,
    port: u16,
    _reaper: Reaper,
}

/// The warm JVM with this client.
pub(super) fn warm(client: Client) -> Result<&'static Server> {
    type Slot = OnceLock<std::result::Result<Server, String>>;
    static OLD: Slot = OnceLock::new();
    static NEW: Slot = OnceLock::new();
    let slot = match client {
        Client::Old => &OLD,
        Client::New => &NEW,
    };
    let server = slot.get_or_init(|| Server::start(client).map_err(|failure| failure.to_string()));
    server.as_ref().map_err(|text| Failure::new(text.clone()))
}

impl Server {
    fn start(client: Client) -> Result<Server> {
        const HEAP_MIB: u32 = 768;
        let folder = tempfile::tempdir().context(|| "creating a folder for the judge's output".to_owned())?.keep();
        let reaper = Reaper::of(&folder)?;
        let mut command = client.java(HEAP_MIB)?;
        command.extend(words(["serve"]));
        let what = format!("the judge with Kafka's client {}", client.version());
        let mut process = Guarded::spawn(&what, &command, &folder.join("stdout"), &folder.join("stderr"))?;
        let port = wait::until(Deadline::after(Duration::from_secs(60)), &format!("{what} to listen"), || {
            if let Some(status) = process.status()? {
                return Err(Failure::new(format!("{what} ended with {status}\n{}", process.output())));
            }
            let said = process.stdout();
            let port = said.strip_prefix("serving ").and_then(|rest| rest.split_once(' '));
            Ok(port.and_then(|(port, _)| port.parse().ok()))
        })?;
        Ok(Server { process, port, _reaper: reaper })
    }

    /// Runs a command; what it said, or why it failed.
    pub(super) fn ask(&self, command: &[String], within: Duration) -> Result<String> {
        let (status, text) = self
            .exchange(command, within)
            .map_err(|failure| Failure::new(format!("{failure}\n{}", self.process.output())))?;
        if status == 0 { Ok(text) } else { Err(Failure::new(format!("failed\n{}", tail(&text)))) }
    }

    fn exchange(&self, command: &[String], within: Duration) -> Result<(i32, String)> {
        let mut stream =
            TcpStream::connect(("127.0.0.1", self.port)).context(|| "connecting to the judge".to_owned())?;
        stream.set_read_timeout(Some(within)).context(|| "setting a time limit".to_owned())?;
        let mut request = Vec::new();
        push_length(&mut request, command.len());
        for word in command {
            push_length(&mut request, word.len());
            request.extend_from_slice(word.as_bytes());
        }
        stream.write_all(&request).context(|| "asking the judge".to_owned())?;
        let mut status = [0; 4];
        stream.read_exact(&mut status).context(|| "waiting for the judge".to_owned())?;
        let mut said = Vec::new();
        stream.read_to_end(&mut said).context(|| "listening to the judge".to_owned())?;
        Ok((i32::from_be_bytes(status), String::from_utf8_lossy(&said).into_owned()))
    }
}

fn push_length(request: &mut Vec<u8>, length: usize) {
    request.extend_from_slice(&i32::try_from(length).unwrap_or(i32::MAX).to_be_bytes());
}
