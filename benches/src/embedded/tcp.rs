//! Through the TCP front: a client that writes in one thread and reads in another.
#![expect(clippy::disallowed_types, reason = "a client from outside")]

use std::fs;
use std::io::{IoSlice, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;

use bytes::{Bytes, BytesMut};
use kmirror_proto::Frame;
use kmirror_testkit::NodeId;
use kmirror_testkit::net::Server;
use kmirror_tests::failure::Context as _;
use kmirror_tests::{Failure, Result};

use super::{Load, Took, cluster, failed, spent};

/// Writes all of it, and reads it again. What comes is compared as it comes.
///
/// # Errors
/// What is read is not what was written.
pub fn over_tcp(load: &Load) -> Result<Took> {
    let server = Server::start(cluster()?).context(|| "starting the server".to_owned())?;
    let address = server.address(NodeId(0)).ok_or_else(|| Failure::new("the broker has no address"))?;
    let stream = TcpStream::connect(address).context(|| "connecting".to_owned())?;
    let batches = load.batches.len();

    let stat = serving_thread()?;

    let frames = (0..batches).map(|batch| load.produce(batch)).collect::<Result<Vec<_>>>()?;
    let (produce, ()) = spent(&stat, || exchange(&stream, &frames, |batch, answer| load.acknowledged(batch, answer)))?;
    let frames = (0..batches).map(Load::fetch).collect::<Result<Vec<_>>>()?;
    let (fetch, ()) = spent(&stat, || exchange(&stream, &frames, |batch, answer| load.fetched(batch, answer)))?;
    Ok(Took { produce, fetch })
}

/// The file that says what the server's thread has used.
fn serving_thread() -> Result<PathBuf> {
    let tasks = fs::read_dir("/proc/self/task").context(|| "listing threads".to_owned())?;
    for task in tasks {
        let folder = task.context(|| "listing threads".to_owned())?.path();
        let name = fs::read_to_string(folder.join("comm")).context(|| "reading a thread's name".to_owned())?;
        if name.trim_end() == "kafka" {
            return Ok(folder.join("stat"));
        }
    }
    Err(Failure::new("the server has no thread"))
}

/// Sends requests as fast as they are taken, and hands each answer over.
fn exchange(stream: &TcpStream, requests: &[Frame], mut answered: impl FnMut(usize, Bytes) -> Result) -> Result {
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| requests.iter().try_for_each(|request| write(stream, request)));
        let mut buffer = BytesMut::new();
        let read = (0..requests.len()).try_for_each(|n| answered(n, read(stream, &mut buffer)?));
        writing.join().map_err(|_| Failure::new("the writing thread panicked"))?.and(read)
    })
}

fn write(mut stream: &TcpStream, request: &Frame) -> Result {
    let mut slices: Vec<IoSlice<'_>> = request.chunks().iter().map(|chunk| IoSlice::new(chunk)).collect();
    let mut rest = slices.as_mut_slice();
    while !rest.is_empty() {
        let written = stream.write_vectored(rest).context(|| "writing a request".to_owned())?;
        IoSlice::advance_slices(&mut rest, written);
    }
    Ok(())
}

/// The next frame without its length. The buffer is used again once the frame is dropped.
fn read(mut stream: &TcpStream, buffer: &mut BytesMut) -> Result<Bytes> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).context(|| "reading a length".to_owned())?;
    let length = usize::try_from(i32::from_be_bytes(length)).map_err(failed("reading a length"))?;
    buffer.resize(length, 0);
    stream.read_exact(buffer).context(|| "reading an answer".to_owned())?;
    Ok(buffer.split().freeze())
}
