//! InitProducerId: a producer gets its id and epoch, and whoever had the transactional id before is fenced.

use std::collections::BTreeSet;
use std::time::Duration;

use kmirror_proto::ErrorCode;

use super::{Identity, NOBODY, State, Transaction, Transactions, fenced};
use crate::Now;

/// What a client says that it was (v3 and later, KIP-360).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// [`NOBODY`] if it was nobody.
    pub(crate) identity: Identity,
    /// Whether the version has error 90.
    pub(crate) version_fences: bool,
}

impl Transactions {
    /// The identity that a transactional id is used under from now on. An open transaction is aborted first: its caller
    /// gets 51 and asks again.
    ///
    /// # Errors
    /// 42 for an empty id, 50 for a timeout of none or above `timeout_max`; what the identity that was brought back is
    /// refused with (49, 47 or 90); 51 while a transaction ends; 14, once, on 3.9 and later.
    pub(crate) fn init(
        &mut self,
        now: Now,
        transactional_id: &str,
        (timeout, timeout_max): (Duration, Duration),
        known: Known,
    ) -> Result<Identity, ErrorCode> {
        if transactional_id.is_empty() {
            return Err(ErrorCode::INVALID_REQUEST);
        }
        if timeout.is_zero() || timeout > timeout_max {
            return Err(ErrorCode::INVALID_TRANSACTION_TIMEOUT);
        }
        let was = known.identity;
        let Some(transaction) = self.by_id.get_mut(transactional_id) else {
            if was != NOBODY {
                return Err(ErrorCode::INVALID_PRODUCER_ID_MAPPING);
            }
            let identity = self.give_producer()?;
            self.by_id.insert(transactional_id.to_owned(), Transaction::new(now, identity, timeout));
            return Ok(identity);
        };
        if was != NOBODY && was != transaction.identity {
            return Err(fenced(known.version_fences));
        }
        match transaction.state {
            State::Ending { .. } => Err(ErrorCode::CONCURRENT_TRANSACTIONS),
            State::Ongoing => {
                transaction.fence();
                Err(ErrorCode::CONCURRENT_TRANSACTIONS)
            }
            State::Empty | State::Ended { .. } => Ok(self.next_identity(now, transactional_id, timeout)),
        }
    }

    /// The next epoch, or with the last one a new id.
    fn next_identity(&mut self, now: Now, transactional_id: &str, timeout: Duration) -> Identity {
        let known = self.by_id.get(transactional_id).map(|transaction| transaction.identity);
        let identity = match known {
            // The last epoch is kept for fencing.
            Some(Identity { id, epoch }) if epoch < i16::MAX - 1 => Identity { id, epoch: epoch + 1 },
            Some(_) | None => self.new_producer(),
        };
        self.by_id.insert(transactional_id.to_owned(), Transaction::new(now, identity, timeout));
        identity
    }
}

impl Transaction {
    fn new(now: Now, identity: Identity, timeout: Duration) -> Self {
        Self { identity, timeout, state: State::Empty, partitions: BTreeSet::new(), began: now, marks_as: identity }
    }

    /// Aborts it under the next epoch, so that its producer can do no more.
    pub(super) fn fence(&mut self) {
        self.identity.epoch = self.identity.epoch.saturating_add(1);
        self.marks_as = self.identity;
        self.state = State::Ending { commits: false };
    }
}
