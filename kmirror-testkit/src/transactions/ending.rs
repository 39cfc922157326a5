//! EndTxn, and what follows from it: markers in the partitions, offsets in the groups.

use kmirror_proto::ErrorCode;

use super::{Identity, State, Transactions};
use crate::Now;
use crate::cluster::Cluster;
use crate::log::Marker;

/// What coordinators write into markers; no coordinator of this cluster ever moves.
const COORDINATOR_EPOCH: i32 = 0;

impl Transactions {
    /// Decides a transaction; [`Cluster::mark_transactions`] carries it out. `grows` is KIP-890's: the producer goes on
    /// under the next epoch, which is returned.
    ///
    /// # Errors
    /// What [`check`](Self::check) refuses; 48 for a transaction that was not begun, or was decided otherwise; 51 while its
    /// markers are being written.
    pub(crate) fn end(
        &mut self,
        transactional_id: &str,
        producer: Identity,
        version_fences: bool,
        commits: bool,
        grows: bool,
    ) -> Result<Identity, ErrorCode> {
        let known = self.by_id.get(transactional_id).map(|known| known.identity);
        let above = known.is_some_and(|known| known.id == producer.id && known.epoch < producer.epoch);
        let checked = if above && self.only_lower_epochs_end { known.unwrap_or(producer) } else { producer };
        let transaction = self.check(transactional_id, checked, version_fences)?;
        match transaction.state {
            State::Ongoing => {}
            State::Ending { commits: decided } if decided == commits => return Err(ErrorCode::CONCURRENT_TRANSACTIONS),
            State::Ended { commits: decided } if decided == commits => return Ok(transaction.identity),
            State::Empty | State::Ending { .. } | State::Ended { .. } => return Err(ErrorCode::INVALID_TXN_STATE),
        }
        if grows {
            transaction.identity.epoch = transaction.identity.epoch.saturating_add(1);
        }
        transaction.marks_as = transaction.identity;
        transaction.state = State::Ending { commits };
        Ok(transaction.identity)
    }

    /// Aborts what has been open for too long.
    pub(crate) fn advance(&mut self, now: Now) {
        for transaction in self.by_id.values_mut() {
            // As a client that asks for the id again would do.
            if transaction.expires().is_some_and(|expires| expires <= now.elapsed) {
                transaction.fence();
            }
        }
    }
}

impl Cluster {
    /// Writes the markers that are due where there is a leader; a transaction that has all of them is over.
    pub(crate) fn mark_transactions(&mut self) {
        let is_ending = |state| matches!(state, State::Ending { .. });
        let ending = self.transactions.by_id.iter().filter(|(_, transaction)| is_ending(transaction.state));
        let ids: Vec<String> = ending.map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.mark(&id);
        }
    }

    fn mark(&mut self, transactional_id: &str) {
        let now = self.now();
        let Some(transaction) = self.transactions.by_id.get(transactional_id) else { return };
        let State::Ending { commits } = transaction.state else { return };
        let marks_as = transaction.marks_as;
        let mut left = transaction.partitions.clone();
        left.retain(|(topic, index)| {
            let Some((partition, settings)) = self.partition_mut(topic, *index) else { return false };
            if partition.leader.is_none() {
                return true;
            }
            let marker = Marker {
                producer_id: marks_as.id,
                producer_epoch: marks_as.epoch,
                coordinator_epoch: COORDINATOR_EPOCH,
                commit: commits,
            };
            partition.log.append_marker(now, settings, partition.leader_epoch, marker);
            partition.replicate();
            false
        });
        self.waits.change();
        let over = left.is_empty();
        if over {
            self.groups.end_transaction(marks_as.id, commits);
        }
        if let Some(transaction) = self.transactions.by_id.get_mut(transactional_id) {
            transaction.partitions = left;
            if over {
                transaction.state = State::Ended { commits };
            }
        }
    }
}
