//! Client quotas: how much whom is given (KIP-13, KIP-546), as AlterClientQuotas set it.
//!
//! ```text
//! (user, client id)  (user, any client)  (user)  (any user, client id)  (any user, any client)  (any user)
//! (client id)  (any client)                                        the first that has the key counts
//! ```
//!
//! Java: `kafka.server.ClientQuotaManager`, `org.apache.kafka.common.quota.ClientQuotaEntity`.

use std::collections::BTreeMap;

/// The user that every client of a plaintext listener is.
const USER: &str = "ANONYMOUS";

/// Bytes of Produce requests in a second.
pub(crate) const PRODUCER_RATE: &str = "producer_byte_rate";

/// Bytes of fetched records in a second.
pub(crate) const CONSUMER_RATE: &str = "consumer_byte_rate";

/// Whom a quota is for: a name for a kind, `None` for every name that has no quota of its own.
pub(crate) type Whom = BTreeMap<Kind, Option<String>>;

/// What a quota may be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    User,
    ClientId,
    Ip,
}

/// All that were set; `fault` measures by them.
#[derive(Debug, Default)]
pub(crate) struct QuotaTable {
    table: BTreeMap<Whom, BTreeMap<String, f64>>,
}

impl Kind {
    /// By its name on the wire.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::User, Self::ClientId, Self::Ip].into_iter().find(|kind| kind.name() == name)
    }

    /// Its name on the wire.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::ClientId => "client-id",
            Self::Ip => "ip",
        }
    }
}

impl QuotaTable {
    /// What a client may use of something: bytes a second of [`PRODUCER_RATE`] and [`CONSUMER_RATE`], percent of
    /// a thread of `request_percentage`.
    pub(crate) fn of_client(&self, key: &str, client_id: &str) -> Option<f64> {
        let user = || Some(Some(USER.to_owned()));
        let client = || Some(Some(client_id.to_owned()));
        let (any, no) = (|| Some(None), || None);
        let order = [
            (user(), client()),
            (user(), any()),
            (user(), no()),
            (any(), client()),
            (any(), any()),
            (any(), no()),
            (no(), client()),
            (no(), any()),
        ];
        let whom = |(user, client): (Option<Option<String>>, Option<Option<String>>)| -> Whom {
            let user = user.map(|name| (Kind::User, name));
            user.into_iter().chain(client.map(|name| (Kind::ClientId, name))).collect()
        };
        order.into_iter().find_map(|entry| self.table.get(&whom(entry))?.get(key).copied())
    }

    /// Sets one, or takes it away.
    pub(crate) fn set(&mut self, whom: &Whom, key: &str, value: Option<f64>) {
        let values = self.table.entry(whom.clone()).or_default();
        match value {
            Some(value) => {
                values.insert(key.to_owned(), value);
            }
            None => {
                values.remove(key);
            }
        }
        self.table.retain(|_, values| !values.is_empty());
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Whom, &BTreeMap<String, f64>)> {
        self.table.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = PRODUCER_RATE;

    #[test]
    fn the_closest_quota_counts() {
        let mut quotas = QuotaTable::default();
        let mut set = |whom: &[(Kind, Option<&str>)], value| {
            let whom = whom.iter().map(|(kind, name)| (*kind, name.map(str::to_owned))).collect();
            quotas.set(&whom, KEY, Some(value));
            quotas.of_client(KEY, "me")
        };
        assert_eq!(set(&[(Kind::ClientId, None)], 1.0), Some(1.0));
        assert_eq!(set(&[(Kind::ClientId, Some("other"))], 2.0), Some(1.0));
        assert_eq!(set(&[(Kind::ClientId, Some("me"))], 3.0), Some(3.0));
        assert_eq!(set(&[(Kind::User, None)], 4.0), Some(4.0));
        assert_eq!(set(&[(Kind::User, Some("ANONYMOUS"))], 5.0), Some(5.0));
        assert_eq!(set(&[(Kind::User, Some("ANONYMOUS")), (Kind::ClientId, Some("me"))], 6.0), Some(6.0));
        assert_eq!(quotas.of_client(CONSUMER_RATE, "me"), None);
    }

    #[test]
    fn what_is_taken_away_is_gone() {
        let mut quotas = QuotaTable::default();
        let whom = Whom::from([(Kind::ClientId, None)]);
        quotas.set(&whom, KEY, Some(1.0));
        quotas.set(&whom, KEY, None);
        assert_eq!((quotas.of_client(KEY, "me"), quotas.iter().count()), (None, 0));
    }
}
