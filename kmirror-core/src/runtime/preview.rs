//! What a mirror would do, from the first connection to the last answer.

use tokio::sync::mpsc::unbounded_channel;

use super::{Clock, Net, drive};
use crate::config::Config;
use crate::mirror::worker::MirrorError;
use crate::preview::{DryRun, Preview};

/// Finds out what a mirror would do, and changes nothing. Needs a tokio runtime with I/O and time; ends within two minutes.
///
/// # Errors
///
/// [`MirrorError::Unreachable`] if a cluster does not answer. Everything else that would stand in a mirror's way is in the
/// [`Preview`].
pub async fn preview(config: Config) -> Result<Preview, MirrorError> {
    let net = Net::new((&config.source).into(), (&config.target).into());
    let (_nobody, commands) = unbounded_channel();
    let (reports, _unheard) = unbounded_channel();
    let machine = DryRun::new(config, fastrand::u64(..));
    drive(machine, net, Clock::start(), commands, reports).await.into_outcome()
}
