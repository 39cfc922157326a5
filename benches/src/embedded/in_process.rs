//! Through the cluster as a value: one thread, no socket.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::Frame;
use kmirror_testkit::{NodeId, Now, Output};
use kmirror_tests::{Failure, Result};

use super::{Load, Took, cluster, in_one_piece, spent};

const NOW: Now = Now { elapsed: Duration::ZERO, unix_ms: 1_700_000_000_000 };

/// Writes all of it, and reads it twice: once as fast as it goes, once to compare.
///
/// # Errors
/// What is read is not what was written.
pub fn in_process(load: &Load) -> Result<Took> {
    let mut cluster = cluster()?;
    let connection = cluster.connect(NOW, NodeId(0)).ok_or_else(|| Failure::new("the broker is down"))?;
    let mut ask = |request: Bytes| {
        cluster.receive(NOW, connection, request);
        match cluster.poll_output() {
            Some(Output::Frame(_, frame)) => Ok(frame),
            other => Err(Failure::new(format!("no answer: {other:?}"))),
        }
    };
    let stat = Path::new("/proc/thread-self/stat");
    let batches = 0..load.batches.len();
    let requests = batches.clone().map(|batch| Ok(in_one_piece(&load.produce(batch)?))).collect::<Result<Vec<_>>>()?;
    let (produce, acknowledged) = spent(stat, || requests.into_iter().map(&mut ask).collect::<Result<Vec<Frame>>>())?;

    let requests = batches.map(|batch| Ok(in_one_piece(&Load::fetch(batch)?))).collect::<Result<Vec<_>>>()?;
    let (fetch, ()) = spent(stat, || requests.iter().cloned().try_for_each(|request| ask(request).map(drop)))?;

    for (batch, (acknowledged, request)) in acknowledged.iter().zip(requests).enumerate() {
        load.acknowledged(batch, in_one_piece(acknowledged))?;
        load.fetched(batch, in_one_piece(&ask(request)?))?;
    }
    Ok(Took { produce, fetch })
}
