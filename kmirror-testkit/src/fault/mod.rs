//! Faults on request: which requests are met by what, and quotas.
//!
//! ```text
//! Cluster::intercept(Requests::of(ApiKey::PRODUCE).about("orders").times(1), Fault::DropAnswer(End::Reset))
//!                    └ which: all that is said has to hold                     └ what: once, and in virtual time
//! ```
//!
//! A request is met by the first intercept that wants it, in the order in which they were set; the others do not count
//! it. What a fault keeps back is part of [`Cluster::poll_timeout`] and happens in [`Cluster::advance`].
//!
//! What is done to a whole broker or partition is not here but with the cluster: [`Cluster::freeze_broker`],
//! [`Cluster::stop_broker`], [`Cluster::stall_follower`] and the methods beside them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::messages::AnyResponse;
/// The names of APIs and errors.
pub use kmirror_proto::{ApiKey, ErrorCode};

use crate::cluster::Cluster;

mod requests;
pub use requests::{Requests, Seen};

mod intercepts;
pub use intercepts::InterceptId;
pub(crate) use intercepts::Intercepts;

mod meeting;

mod late;

mod refusal;
pub(crate) use refusal::of as refusal;

mod quota;
pub use quota::Quota;
pub(crate) use quota::Quotas;

#[cfg(test)]
mod tests;

/// What happens to a request.
///
/// *Applied* means that the request has its effect, as without the fault.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Not applied: answered with this code in every place that the API has for one. Where it has none (and where no
    /// answer is due, as to Produce with acks 0) the broker closes the connection.
    Error(ErrorCode),
    /// Applied at once; the answer goes out so much later. The connection's next request waits for it.
    DelayAnswer(Duration),
    /// Applied so much later, and answered then. The connection's next request waits for it.
    DelayRequest(Duration),
    /// Neither it nor anything behind it on its connection is taken up before the intercept is
    /// [lifted](Cluster::lift). What was sent until then is applied even if its client has closed the connection.
    Hold,
    /// Applied; the connection ends in the place of the answer.
    DropAnswer(End),
    /// The connection ends at once; the request is applied so much later, if its broker runs then. What stands behind
    /// it on the connection is lost. A client that connects again is faster than its own request.
    Late {
        /// How much later.
        after: Duration,
        /// How the connection ends.
        end: End,
    },
    /// Applied; of the answer only the first bytes go out, then the connection ends.
    Cut {
        /// How many, the four bytes of the length counted.
        bytes: usize,
        /// How the connection ends.
        end: End,
    },
    /// Not applied; the connection ends.
    End(End),
    /// Not applied; these bytes go out in the place of the whole answer, its length and correlation id too.
    Bytes {
        /// What goes out.
        bytes: Bytes,
        /// How the connection ends behind them; `None`: it goes on.
        end: Option<End>,
    },
    /// Not applied and never answered, nor is anything behind it on its connection.
    Silence,
    /// Applied and never answered; nothing behind it on its connection is applied.
    Swallow,
    /// Applied, and the answer changed before it goes out. See [`Fault::alter`].
    Alter(Alteration),
    /// Applied; the answer says that the client is throttled for so long. Brokers since 2.0 send it at once and take up
    /// nothing from the connection meanwhile, older ones keep it back for as long (KIP-219).
    Throttle(Duration),
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// In order, after what was written before.
    Close,
    /// By a reset.
    Reset,
}

/// A change of an answer.
#[derive(Clone)]
pub struct Alteration(Arc<dyn Fn(&mut AnyResponse) + Send + Sync>);

impl Fault {
    /// Applied, and the answer changed before it goes out.
    ///
    /// ```
    /// use kmirror_testkit::fault::{ApiKey, Fault, Requests};
    /// use kmirror_testkit::proto::messages::AnyResponse;
    /// use kmirror_testkit::{Cluster, Release};
    ///
    /// let mut cluster = Cluster::builder(Release::V3_9).build()?;
    /// let no_brokers = Fault::alter(|answer| {
    ///     if let AnyResponse::Metadata(metadata) = answer {
    ///         metadata.brokers.clear();
    ///     }
    /// });
    /// cluster.intercept(Requests::of(ApiKey::METADATA), no_brokers);
    /// # Ok::<(), kmirror_testkit::SettingError>(())
    /// ```
    pub fn alter(change: impl Fn(&mut AnyResponse) + Send + Sync + 'static) -> Self {
        Self::Alter(Alteration(Arc::new(change)))
    }
}

impl Alteration {
    pub(crate) fn apply(&self, response: &mut AnyResponse) {
        (self.0)(response);
    }
}

impl fmt::Debug for Alteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Alteration")
    }
}

/// What becomes of the answer to a request that is taken up.
#[derive(Clone, Debug)]
pub(crate) enum Fate {
    Sent,
    Delayed(Duration),
    Dropped(End),
    Cut {
        bytes: usize,
        end: End,
    },
    /// There is none, and the connection waits for it for ever.
    Silenced,
    Altered(Alteration),
    Throttled(Duration),
}

impl Cluster {
    /// Has the requests that are meant met by a fault, until it is [lifted](Self::lift) or has bitten as often as they
    /// say.
    pub fn intercept(&mut self, requests: Requests, fault: Fault) -> InterceptId {
        self.intercepts.add(requests, fault)
    }

    /// How many requests an intercept has bitten; of one that is lifted nothing is known.
    #[must_use]
    pub fn bitten(&self, intercept: InterceptId) -> u64 {
        self.intercepts.bitten(intercept)
    }

    /// Ends an intercept, and gives back how many requests it has bitten. What it [held](Fault::Hold) is taken up;
    /// what it has delayed stays so.
    pub fn lift(&mut self, intercept: InterceptId) -> u64 {
        let bitten = self.intercepts.remove(intercept);
        let held = self.connections.iter().filter(|(_, connection)| connection.held_by == Some(intercept));
        let held: Vec<_> = held.map(|(id, _)| *id).collect();
        for id in held {
            if let Some(connection) = self.connections.get_mut(&id) {
                connection.held_by = None;
            }
            self.serve(id);
        }
        self.settle();
        bitten
    }
}
