//! Stable names for what differs from run to run, and the names that belong to one case.
//!
//! Ids are named in the order in which they are met: `pid#1`, `session#1`. What the case itself sent is shown as it is.
//! A topic `t` of a case is called `<prefix>t` on the broker and `t` in the answers.

use std::collections::{BTreeMap, BTreeSet};

use super::schema::Role;
use super::words::integer;
use crate::{Failure, Result, wait};

/// A broker's own clock is this close to ours.
const CLOCK_MS: i64 = 10 * 60 * 1000;

/// Timestamps this far from now are taken for fixed ones.
const NEAR_MS: i64 = 400 * DAY_MS;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// The names of one case in one run.
#[derive(Debug)]
pub(super) struct Masks {
    prefix: String,
    /// `now`: ten seconds before the case began, so that no broker stamps anything with it.
    now_ms: i64,
    names: BTreeMap<(Role, String), String>,
    given: BTreeSet<(Role, String)>,
    times: BTreeSet<i64>,
}

impl Masks {
    /// The masks of a case whose topics and groups begin with `prefix` on the broker.
    pub(super) fn new(prefix: String) -> Masks {
        let now_ms = wait::unix_ms() / 1000 * 1000 - 10_000;
        Masks { prefix, now_ms, names: BTreeMap::new(), given: BTreeSet::new(), times: BTreeSet::new() }
    }

    /// The broker's name of what the case calls `name`; a name behind `!` is taken literally.
    pub(super) fn outside(&mut self, name: &str) -> String {
        match name.strip_prefix('!') {
            None if name.is_empty() => String::new(),
            None => format!("{}{name}", self.prefix),
            Some(literal) => {
                self.give(Role::Name, literal);
                literal.to_owned()
            }
        }
    }

    /// Whether a name on the broker is one of this case, or one that it gave literally.
    pub(super) fn is_ours(&self, name: &str) -> bool {
        name.starts_with(&self.prefix) || self.given.contains(&(Role::Name, name.to_owned()))
    }

    /// A text with the names of this case as the case calls them.
    pub(super) fn inside(&self, text: &str) -> String {
        text.replace(&self.prefix, "")
    }

    /// Takes note that the case itself sent this id.
    pub(super) fn give(&mut self, role: Role, id: &str) {
        // An id that an answer named first keeps that name.
        if !self.names.contains_key(&(role, id.to_owned())) {
            self.given.insert((role, id.to_owned()));
        }
    }

    /// How an id is shown. What means "none" (empty, 0, -1) is shown as it is.
    pub(super) fn id(&mut self, role: Role, id: &str) -> String {
        let word = match role {
            Role::Plain | Role::Time => return id.to_owned(),
            Role::Name => return self.inside(id),
            Role::TopicId => "topic",
            Role::Pid => "pid",
            Role::Member => "member",
            Role::Session => "session",
            Role::Cluster => "cluster",
            Role::Host => "host",
            Role::Port => "port",
        };
        let key = (role, id.to_owned());
        let negative = id.parse::<i64>().is_ok_and(|number| number < 0);
        let none = id.is_empty() || negative || (id.chars().all(|c| c == '0') && role != Role::Pid);
        if none || self.given.contains(&key) {
            return id.to_owned();
        }
        let count = self.names.keys().filter(|(known, _)| *known == role).count();
        self.names.entry(key).or_insert_with(|| format!("{word}#{}", count + 1)).clone()
    }

    /// A timestamp as a case writes it: `1600000000000`, `now`, `now-10d`, `now+2h`. It is shown like that from then on.
    pub(super) fn time(&mut self, text: &str) -> Result<i64> {
        let time = match text.strip_prefix("now") {
            None => integer(text)?,
            Some("") => self.now_ms,
            Some(offset) => {
                let number = offset.trim_end_matches(char::is_alphabetic);
                let unit_ms = match &offset[number.len()..] {
                    "" => 1,
                    "s" => 1000,
                    "m" => 60_000,
                    "h" => HOUR_MS,
                    "d" => DAY_MS,
                    other => return Err(Failure::new(format!("no unit of time: {other}"))),
                };
                self.now_ms + unit_ms * integer(number.trim_start_matches('+'))?
            }
        };
        self.sent_time(time);
        Ok(time)
    }

    /// Takes note that the case itself sent this timestamp.
    pub(super) fn sent_time(&mut self, time: i64) {
        self.times.insert(time);
    }

    /// How a timestamp is shown: a fixed one as it is, one of the case as `now+2h+1`, one of the broker's clock as `now~`,
    /// one that the broker computed from its clock as `now+24h~`.
    pub(super) fn show_time(&self, time: i64) -> String {
        let offset = time.saturating_sub(self.now_ms);
        if offset.saturating_abs() > NEAR_MS {
            return time.to_string();
        }
        if self.times.contains(&time) {
            let hours = (offset + HOUR_MS / 2).div_euclid(HOUR_MS);
            let rest = offset - hours * HOUR_MS;
            let hours = match hours {
                0 => String::new(),
                hours if hours % 24 == 0 => format!("{:+}d", hours / 24),
                hours => format!("{hours:+}h"),
            };
            return match rest {
                0 => format!("now{hours}"),
                rest if rest % 60_000 == 0 => format!("now{hours}{:+}m", rest / 60_000),
                rest => format!("now{hours}{rest:+}"),
            };
        }
        if offset.abs() < CLOCK_MS {
            return "now~".to_owned();
        }
        format!("now{:+}m~", (offset + CLOCK_MS / 2).div_euclid(CLOCK_MS) * (CLOCK_MS / 60_000))
    }

    /// How the timestamp `delta` behind `first` is shown: relative where the case or nobody's clock set `first`.
    pub(super) fn show_delta(&self, first: i64, delta: i64) -> String {
        if self.show_time(first).ends_with('~') {
            format!("@{}", self.show_time(first.saturating_add(delta)))
        } else {
            format!("{delta:+}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_named_as_they_are_met() {
        let mut masks = Masks::new("p-".to_owned());
        masks.give(Role::Pid, "987");
        assert_eq!(masks.id(Role::Pid, "4000"), "pid#1");
        assert_eq!(masks.id(Role::Session, "4000"), "session#1");
        assert_eq!(masks.id(Role::Pid, "0"), "pid#2");
        assert_eq!(masks.id(Role::Pid, "4000"), "pid#1");
        assert_eq!(masks.id(Role::Pid, "-1"), "-1");
        assert_eq!(masks.id(Role::Cluster, "-gAyfZ_6T6qMY1L8gvn4Vg"), "cluster#1");
        assert_eq!(masks.id(Role::Session, "0"), "0");
        assert_eq!(masks.id(Role::Pid, "987"), "987");
        assert_eq!(masks.outside("t"), "p-t");
        assert_eq!(masks.outside("!__consumer_offsets"), "__consumer_offsets");
        assert_eq!(masks.inside("Topic 'p-t' already exists."), "Topic 't' already exists.");
    }

    #[test]
    fn times_are_shown_by_who_set_them() {
        let mut masks = Masks::new(String::new());
        let now = masks.time("now").unwrap();
        for (text, shown) in
            [("now+2h", "now+2h"), ("now-10d", "now-10d"), ("now+50m", "now+1h-10m"), ("now+1", "now+1")]
        {
            let time = masks.time(text).unwrap();
            assert_eq!(masks.show_time(time), shown);
        }
        assert_eq!(masks.show_time(now + 11_000), "now~");
        assert_eq!(masks.show_time(now + DAY_MS + 11_000), "now+1440m~");
        assert_eq!(masks.show_time(1_600_000_000_000), "1600000000000");
        assert_eq!(masks.show_time(-1), "-1");
        assert_eq!(masks.show_time(i64::MIN), i64::MIN.to_string());
    }
}
