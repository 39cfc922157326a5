//! Events as log lines. A broker that stays away is said at its 1st, 2nd, 4th, 8th … failure, not at each of them.

use std::collections::BTreeMap;

use kmirror_core::config::Side;
use kmirror_core::observe::{Event, Severity};

/// Which brokers are away, and how many attempts have failed since.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    /// The mirror's name, where there are several.
    mirror: Option<String>,
    away: BTreeMap<(Side, String), u64>,
}

impl EventLog {
    /// The log of one mirror, which is named in each line where there are several.
    pub(crate) fn new(mirror: Option<String>) -> Self {
        Self { mirror, away: BTreeMap::new() }
    }

    /// Logs an event at its severity.
    pub(crate) fn log(&mut self, event: &Event) {
        let (severity, suffix) = self.weigh(event);
        let mirror = self.mirror.as_deref();
        match severity {
            Severity::Debug => tracing::debug!(mirror, "{event}{suffix}"),
            Severity::Info => tracing::info!(mirror, "{event}{suffix}"),
            Severity::Warn => tracing::warn!(mirror, "{event}{suffix}"),
            Severity::Error => tracing::error!(mirror, "{event}{suffix}"),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "whatever else happens is said as it is")]
    fn weigh(&mut self, event: &Event) -> (Severity, String) {
        match event {
            Event::Connected { side, broker } => {
                self.away.remove(&(*side, broker.clone()));
            }
            Event::Disconnected { side, broker, .. } => {
                let times = self.away.entry((*side, broker.clone())).or_default();
                *times += 1;
                let suffix = if *times > 1 { format!(" ({times} times)") } else { String::new() };
                return (if times.is_power_of_two() { event.level() } else { Severity::Debug }, suffix);
            }
            _ => {}
        }
        (event.level(), String::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broker_that_stays_away_is_said_less_and_less_often() {
        let broker = "source broker 1 (a:9092)".to_owned();
        let gone = Event::Disconnected { side: Side::Source, broker: broker.clone(), reason: "refused".to_owned() };
        let other = Event::Disconnected { side: Side::Source, broker: "b".to_owned(), reason: "refused".to_owned() };
        let mut log = EventLog::default();
        let said: Vec<u64> = (1..=20).filter(|_| log.weigh(&gone).0 == Severity::Warn).collect();
        assert_eq!(said, [1, 2, 4, 8, 16]);
        assert_eq!(log.weigh(&gone), (Severity::Debug, " (21 times)".to_owned()));
        assert_eq!(log.weigh(&other), (Severity::Warn, String::new()), "each broker for itself");

        log.weigh(&Event::Connected { side: Side::Source, broker });
        assert_eq!(log.weigh(&gone), (Severity::Warn, String::new()), "it was back in between");
    }
}
