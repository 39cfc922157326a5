//! A list of offsets, from the first connection to the last answer.

use tokio::sync::mpsc::unbounded_channel;

use super::{Clock, Net, drive};
use crate::config::ClusterConfig;
use crate::offsets::{Listing, Offsets, OffsetsError, OffsetsQuery};

/// Lists offsets. Needs a tokio runtime with I/O and time; ends within the query's timeout.
///
/// # Errors
///
/// [`OffsetsError`]: no such partition, no cluster, or a time that its brokers do not know. Single partitions that have
/// no answer are no error, but [skipped](Listing::skipped).
pub async fn list_offsets(cluster: &ClusterConfig, query: OffsetsQuery) -> Result<Listing, OffsetsError> {
    let net = Net::new(cluster.into(), cluster.into());
    let (_nobody, commands) = unbounded_channel();
    let (reports, _unheard) = unbounded_channel();
    let machine = Offsets::new(cluster, query, fastrand::u64(..));
    drive(machine, net, Clock::start(), commands, reports).await.into_outcome()
}
