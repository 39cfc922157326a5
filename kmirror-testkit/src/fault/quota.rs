//! Quotas: how many bytes a second a client may produce and fetch at each broker (KIP-13), and how a broker slows down
//! one that is over it (KIP-219).
//!
//! ```text
//!  11 windows of a second, the last one open             over the quota by a share x of it
//!  | 3 | 0 | 7 | … | 2 |  sum ÷ elapsed (10 s at least)  ──►  throttled for x · elapsed
//! ```
//!
//! Below 2.0 the answer is kept back for as long. From 2.0 on it comes at once, says so, and the connection is not read
//! meanwhile; an answer to Fetch is emptied then and not counted. Java: `kafka.server.ClientQuotaManager`,
//! `org.apache.kafka.common.metrics.stats.Rate`.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use kmirror_proto::ApiKey;
use kmirror_proto::messages::{AnyRequest, AnyResponse, FetchResponse};

use super::Fate;
use crate::cluster::{Call, Cluster, InFlight};
use crate::quotas::{CONSUMER_RATE, Kind, PRODUCER_RATE, QuotaTable, Whom};
use crate::{NodeId, Now, Release};

/// What a client may do at each broker; `None` is as much as it likes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quota {
    /// `producer_byte_rate`: bytes of its Produce requests in a second.
    pub produce_bytes_per_second: Option<f64>,
    /// `consumer_byte_rate`: bytes of the records that it fetches in a second.
    pub fetch_bytes_per_second: Option<f64>,
}

impl Cluster {
    /// Sets what clients that give themselves this name may do; [`Quota::default`] takes it back. Rates are measured
    /// for each broker, as Kafka does it.
    pub fn set_quota(&mut self, client_id: &str, quota: Quota) {
        let whom = Whom::from([(Kind::ClientId, Some(client_id.to_owned()))]);
        self.quotas.table.set(&whom, PRODUCER_RATE, quota.produce_bytes_per_second);
        self.quotas.table.set(&whom, CONSUMER_RATE, quota.fetch_bytes_per_second);
    }

    /// The request, with as many bytes as the quota could ever let through (KAFKA-9677, which the releases before 2.8
    /// do not have: there a fetch may be emptied for ever).
    pub(crate) fn within_quota(&self, call: &Call, mut request: AnyRequest) -> AnyRequest {
        if let AnyRequest::Fetch(fetch) = &mut request
            && self.release >= Release::V2_8
            && let Some(bound) = self.quotas.bound(ApiKey::FETCH, call.client_id.as_deref())
        {
            let window = bound * FULL_WINDOWS_MIN.as_secs_f64();
            if window < f64::from(fetch.max_bytes) {
                fetch.max_bytes = whole(window);
            }
        }
        request
    }
}

/// What is set, and what was measured.
#[derive(Debug)]
pub(crate) struct Quotas {
    release: Release,
    pub(crate) table: QuotaTable,
    rates: BTreeMap<(NodeId, ApiKey, String), Rate>,
}

impl Quotas {
    pub(crate) fn new(release: Release) -> Self {
        Self { release, table: QuotaTable::default(), rates: BTreeMap::new() }
    }

    /// An answer goes out: counts it, says in it how long its client is throttled, and gives that back.
    pub(crate) fn answered(
        &mut self,
        now: Now,
        node: NodeId,
        flight: &InFlight,
        response: &mut AnyResponse,
    ) -> Duration {
        let mut throttled = if let AnyResponse::Fetch(fetch) = response {
            let bytes = fetched_bytes(fetch);
            let throttled = self.count(now, node, flight, bytes);
            if !throttled.is_zero() && self.release >= Release::V2_0 {
                self.uncount(node, flight, bytes);
                fetch.topics = Vec::new();
            }
            throttled
        } else {
            self.unanswered(now, node, flight)
        };
        if let Fate::Throttled(time) = flight.fate {
            throttled = throttled.max(time);
        }
        if !throttled.is_zero() {
            response.set_throttle_time_ms(i32::try_from(throttled.as_millis()).unwrap_or(i32::MAX));
        }
        throttled
    }

    /// No answer goes out: counts the request, and gives back how long its client is throttled.
    pub(crate) fn unanswered(&mut self, now: Now, node: NodeId, flight: &InFlight) -> Duration {
        if flight.key == ApiKey::PRODUCE { self.count(now, node, flight, flight.bytes) } else { Duration::ZERO }
    }

    fn bound(&self, key: ApiKey, client_id: Option<&str>) -> Option<f64> {
        let rate = if key == ApiKey::PRODUCE { PRODUCER_RATE } else { CONSUMER_RATE };
        self.table.of_client(rate, client_id.unwrap_or(""))
    }

    fn count(&mut self, now: Now, node: NodeId, flight: &InFlight, bytes: usize) -> Duration {
        let Some(bound) = self.bound(flight.key, flight.client_id.as_deref()) else { return Duration::ZERO };
        let rate = self.rates.entry((node, flight.key, flight.client_id.clone().unwrap_or_default())).or_default();
        rate.count(now.elapsed, bytes);
        rate.over(now.elapsed, bound)
    }

    fn uncount(&mut self, node: NodeId, flight: &InFlight, bytes: usize) {
        let client_id = flight.client_id.clone().unwrap_or_default();
        if let Some(rate) = self.rates.get_mut(&(node, flight.key, client_id)) {
            rate.uncount(bytes);
        }
    }
}

fn fetched_bytes(fetch: &FetchResponse) -> usize {
    let partitions = fetch.topics.iter().flat_map(|topic| &topic.partitions);
    partitions.map(|partition| partition.records.as_ref().map_or(0, bytes::Bytes::len)).sum()
}

/// `quota.window.size.seconds`.
const WINDOW: Duration = Duration::from_secs(1);

/// `quota.window.num`: ten whole ones, and the one that is open.
const WINDOWS: usize = 11;

/// What is measured over less than this is taken to be spread over it.
const FULL_WINDOWS_MIN: Duration = Duration::from_secs(10);

/// Bytes by the beginning of their window.
#[derive(Debug, Default)]
struct Rate {
    windows: VecDeque<(Duration, f64)>,
}

impl Rate {
    fn count(&mut self, now: Duration, bytes: usize) {
        let over = |(since, _): &(Duration, f64)| now.saturating_sub(*since) >= WINDOW;
        if self.windows.back().is_none_or(over) {
            self.windows.push_back((now, 0.0));
        }
        if self.windows.len() > WINDOWS {
            self.windows.pop_front();
        }
        self.add(as_f64(bytes));
    }

    fn uncount(&mut self, bytes: usize) {
        self.add(-as_f64(bytes));
    }

    fn add(&mut self, bytes: f64) {
        if let Some((_, counted)) = self.windows.back_mut() {
            *counted += bytes;
        }
    }

    /// How long to wait until the rate is `bound` again; zero while it is not over it.
    fn over(&mut self, now: Duration, bound: f64) -> Duration {
        let forgotten = WINDOW * u32::try_from(WINDOWS).unwrap_or(u32::MAX);
        self.windows.retain(|(since, _)| now.saturating_sub(*since) < forgotten);
        let bytes: f64 = self.windows.iter().map(|(_, bytes)| bytes).sum();
        let since = self.windows.front().map_or(now, |(since, _)| *since);
        let elapsed = now.saturating_sub(since);
        // Windows that are not over yet count as if they were (`Rate.windowSize`).
        let open = Duration::from_secs(FULL_WINDOWS_MIN.as_secs().saturating_sub(elapsed.as_secs()));
        let elapsed = elapsed + open;
        // Nothing is not more than nothing: 0 / 0 is no number.
        let share = (bytes / elapsed.as_secs_f64() - bound) / bound;
        if share.is_nan() || share <= 0.0 {
            return Duration::ZERO;
        }
        let time = Duration::try_from_secs_f64(share * elapsed.as_secs_f64()).unwrap_or(Duration::MAX);
        // Kafka rounds to milliseconds; what rounds to none is none.
        let ms = time.saturating_add(Duration::from_micros(500)).as_millis();
        Duration::from_millis(u64::try_from(ms).unwrap_or(u64::MAX))
    }
}

/// Bytes of a request or an answer: far below 2^52.
#[expect(clippy::cast_precision_loss, reason = "what fits into memory is exact")]
fn as_f64(bytes: usize) -> f64 {
    bytes as f64
}

/// A number of bytes that is known to be less than an `i32`.
#[expect(clippy::cast_possible_truncation, reason = "it is less than an i32, and a part of a byte is none")]
fn whole(bytes: f64) -> i32 {
    bytes as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// A burst is spread over the ten windows that have not been yet.
    #[test]
    fn a_burst_is_throttled_by_its_excess() {
        let mut rate = Rate::default();
        rate.count(Duration::ZERO, 10_000);
        assert_eq!(rate.over(Duration::ZERO, 1000.0), Duration::ZERO, "as much as ten seconds allow");
        rate.count(Duration::ZERO, 5000);
        assert_eq!(rate.over(Duration::ZERO, 1000.0), 5 * SECOND);
        assert_eq!(rate.over(5 * SECOND, 1000.0), 5 * SECOND, "windows yet to come count until they have been");
        assert_eq!(rate.over(11 * SECOND, 1000.0), Duration::ZERO, "forgotten");
    }

    #[test]
    fn a_steady_client_at_its_quota_is_not_throttled() {
        let mut rate = Rate::default();
        for n in 0..60 {
            rate.count(n * SECOND, 1000);
            assert_eq!(rate.over(n * SECOND, 1100.0), Duration::ZERO, "second {n}");
        }
        rate.count(60 * SECOND, 20_000);
        assert!(rate.over(60 * SECOND, 1100.0) > 10 * SECOND);
    }
}
