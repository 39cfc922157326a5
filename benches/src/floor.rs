//! The floor probe: what it costs on this machine, this minute, just to read and write the bytes.
//!
//! A plain blocking relay over loopback with a buffer of 1 MiB; only the relay's thread is counted. Where it costs more
//! than [`VOID_ABOVE`], the machine is too busy for the run beside it to count.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "a probe is sockets and threads")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread::{self, JoinHandle};

use kmirror_tests::failure::Context as _;
use kmirror_tests::{Failure, Result};

use crate::sample;
use crate::table::giga;

/// In CPU-seconds per GB.
pub const VOID_ABOVE: f64 = 0.40;

/// Long enough for a clock of 10 ms, short against the runs beside it.
const BYTES: u64 = 4_000_000_000;

const BUFFER: usize = 1 << 20;

/// CPU-seconds per GB of one relay.
pub fn probe() -> Result<f64> {
    let (source, mut relay_in) = pair()?;
    let (mut relay_out, sink) = pair()?;
    let writer = thread::spawn(move || write_all(source));
    let reader = thread::spawn(move || read_all(sink));
    let relay = thread::spawn(move || {
        copy(&mut relay_in, &mut relay_out)?;
        sample::cpu_time(Path::new("/proc/thread-self/stat"))
    });
    let cpu = join(relay)?;
    join(writer)?;
    let arrived = join(reader)?;
    if arrived != BYTES {
        return Err(Failure::new(format!("floor probe: {arrived} of {BYTES} bytes arrived")));
    }
    Ok(cpu.as_secs_f64() / giga(BYTES))
}

fn copy(from: &mut TcpStream, to: &mut TcpStream) -> Result {
    let mut buffer = vec![0; BUFFER];
    loop {
        let count = from.read(&mut buffer).context(|| "floor probe: reading".to_owned())?;
        let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else { return Ok(()) };
        to.write_all(bytes).context(|| "floor probe: writing".to_owned())?;
    }
}

fn write_all(mut to: TcpStream) -> Result {
    let buffer = vec![0x5a; BUFFER];
    let mut left = BYTES;
    while left > 0 {
        let count = usize::try_from(left).unwrap_or(BUFFER).min(BUFFER);
        to.write_all(&buffer[..count]).context(|| "floor probe: writing".to_owned())?;
        left -= count as u64;
    }
    Ok(())
}

fn read_all(mut from: TcpStream) -> Result<u64> {
    let mut buffer = vec![0; BUFFER];
    let mut total = 0;
    loop {
        match from.read(&mut buffer).context(|| "floor probe: reading".to_owned())? {
            0 => return Ok(total),
            count => total += count as u64,
        }
    }
}

fn pair() -> Result<(TcpStream, TcpStream)> {
    let what = || "floor probe: connecting".to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").context(what)?;
    let near = TcpStream::connect(listener.local_addr().context(what)?).context(what)?;
    let (far, _) = listener.accept().context(what)?;
    Ok((near, far))
}

fn join<T>(thread: JoinHandle<Result<T>>) -> Result<T> {
    thread.join().map_err(|_| Failure::new("floor probe: a thread panicked"))?
}
