//! The transaction coordinator: producer ids, and what a transaction has touched until it ends.
//!
//! ```text
//!            AddPartitionsToTxn, AddOffsetsToTxn            EndTxn, InitProducerId, or its time is over
//!   Empty ─────────────────────────────────────► Ongoing ───────────────────────────────────────────► Ending
//!     ▲                                             ▲                                                   │
//!     │ InitProducerId: epoch + 1                   └───────────────── Ended ◄──────────────────────────┘
//!     └──────────────────────────────────────────────────────────────────┘     a marker in every partition
//! ```
//!
//! Markers are written at once where a partition has a leader, and the others as soon as they have one; until then
//! whoever asks is told 51 (CONCURRENT_TRANSACTIONS). KIP-98, KIP-360 (epochs and ids that a client brings back), KIP-890
//! (the epoch grows with each transaction). Java: `kafka.coordinator.transaction.TransactionCoordinator`,
//! `TransactionMetadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kmirror_proto::ErrorCode;

use crate::{Now, Release};

mod ending;

mod initial;
pub(crate) use initial::Known;

/// All transactional ids of a cluster, and the ids that it gives to producers.
#[derive(Debug)]
pub(crate) struct Transactions {
    next_producer_id: i64,
    /// Brokers of 3.9 and later answer the first question with 14, while they get a block of ids (measured).
    has_ids: bool,
    /// Up to 2.0 EndTxn refuses only an epoch that is too low (measured).
    only_lower_epochs_end: bool,
    by_id: BTreeMap<String, Transaction>,
}

/// A producer's id and epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) id: i64,
    pub(crate) epoch: i16,
}

/// Where a transaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The producer is known, and has not begun one.
    Empty,
    /// It has touched partitions.
    Ongoing,
    /// It is decided; not every partition has its marker yet.
    Ending { commits: bool },
    /// Every partition has it.
    Ended { commits: bool },
}

/// What is known of a transactional id.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    pub(crate) identity: Identity,
    pub(crate) timeout: Duration,
    pub(crate) state: State,
    /// What it has touched, or what has no marker yet.
    pub(crate) partitions: BTreeSet<(String, i32)>,
    /// When it began, on both clocks.
    pub(crate) began: Now,
    /// The identity that markers carry: that of the transaction, or the one that fenced it.
    marks_as: Identity,
}

/// No id: what an answer has that gives none.
pub(crate) const NOBODY: Identity = Identity { id: -1, epoch: -1 };

impl Transactions {
    pub(crate) fn new(release: Release) -> Self {
        Self {
            next_producer_id: 0,
            has_ids: release < Release::V3_9,
            only_lower_epochs_end: release < Release::V2_1,
            by_id: BTreeMap::new(),
        }
    }

    /// A producer id that nobody has yet.
    fn new_producer(&mut self) -> Identity {
        let id = self.next_producer_id;
        self.next_producer_id += 1;
        Identity { id, epoch: 0 }
    }

    /// A producer id for whoever asks.
    ///
    /// # Errors
    /// 14, once, on 3.9 and later.
    pub(crate) fn give_producer(&mut self) -> Result<Identity, ErrorCode> {
        if std::mem::replace(&mut self.has_ids, true) {
            Ok(self.new_producer())
        } else {
            Err(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS)
        }
    }

    /// All of them, by transactional id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Transaction)> {
        self.by_id.iter().map(|(id, transaction)| (id.as_str(), transaction))
    }

    /// What is known of a transactional id.
    pub(crate) fn get(&self, transactional_id: &str) -> Option<&Transaction> {
        self.by_id.get(transactional_id)
    }

    /// When a transaction has been open for too long.
    pub(crate) fn poll_timeout(&self) -> Option<Duration> {
        self.by_id.values().filter_map(Transaction::expires).min()
    }

    /// Adds partitions to a producer's transaction, which begins with the first.
    ///
    /// # Errors
    /// What [`check`](Self::check) refuses.
    pub(crate) fn add(
        &mut self,
        now: Now,
        (transactional_id, producer): (&str, Identity),
        version_fences: bool,
        partitions: impl IntoIterator<Item = (String, i32)>,
    ) -> Result<(), ErrorCode> {
        let transaction = self.check(transactional_id, producer, version_fences)?;
        if matches!(transaction.state, State::Ending { .. }) {
            return Err(ErrorCode::CONCURRENT_TRANSACTIONS);
        }
        if transaction.state != State::Ongoing {
            transaction.state = State::Ongoing;
            transaction.began = now;
            transaction.partitions.clear();
        }
        transaction.partitions.extend(partitions);
        Ok(())
    }

    /// Whether a producer may write to a partition as a part of its transaction (KIP-890, from 3.6 on): 49 for one that
    /// is not the transactional id's, `Ok(false)` if the transaction does not have the partition.
    pub(crate) fn has(
        &self,
        transactional_id: &str,
        producer: Identity,
        place: &(String, i32),
    ) -> Result<bool, ErrorCode> {
        let known = self.by_id.get(transactional_id).ok_or(ErrorCode::INVALID_PRODUCER_ID_MAPPING)?;
        if known.identity.id != producer.id {
            return Err(ErrorCode::INVALID_PRODUCER_ID_MAPPING);
        }
        if known.identity.epoch != producer.epoch {
            return Err(ErrorCode::INVALID_PRODUCER_EPOCH);
        }
        Ok(known.state == State::Ongoing && known.partitions.contains(place))
    }

    /// The transaction of a producer that says who it is.
    ///
    /// # Errors
    /// 49 if the id is not the transactional id's, 47 or from the versions of KIP-588 on 90 if its epoch is not the
    /// present one.
    fn check(
        &mut self,
        transactional_id: &str,
        producer: Identity,
        version_fences: bool,
    ) -> Result<&mut Transaction, ErrorCode> {
        let known = self.by_id.get_mut(transactional_id).ok_or(ErrorCode::INVALID_PRODUCER_ID_MAPPING)?;
        if known.identity.id != producer.id {
            return Err(ErrorCode::INVALID_PRODUCER_ID_MAPPING);
        }
        if known.identity.epoch != producer.epoch {
            return Err(fenced(version_fences));
        }
        Ok(known)
    }
}

impl Transaction {
    fn expires(&self) -> Option<Duration> {
        (self.state == State::Ongoing).then(|| self.began.after(self.timeout))
    }
}

impl State {
    /// As DescribeTransactions and ListTransactions name it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Ongoing => "Ongoing",
            Self::Ending { commits: true } => "PrepareCommit",
            Self::Ending { commits: false } => "PrepareAbort",
            Self::Ended { commits: true } => "CompleteCommit",
            Self::Ended { commits: false } => "CompleteAbort",
        }
    }
}

/// Another producer has taken over: 90 says so (KIP-588), older versions have only 47.
const fn fenced(version_fences: bool) -> ErrorCode {
    if version_fences { ErrorCode::PRODUCER_FENCED } else { ErrorCode::INVALID_PRODUCER_EPOCH }
}
