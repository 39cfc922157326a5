//! Where the value of a setting comes from.

use std::collections::BTreeMap;
use std::fmt;

use super::error::Place;
use super::keys::Role;
use super::resolve::RunOptions;
use super::settings::{KNOWN, KNOWN_OF_CLUSTER};
use super::values::Values;

/// Where the value of a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// A file.
    Place(Place),
    /// A flag.
    Flag(&'static str),
}

/// The settings that somebody set, by name; every other has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(BTreeMap<String, Origin>);

impl Origins {
    /// Where the setting of this name comes from.
    #[must_use]
    pub fn of(&self, setting: &str) -> Origin {
        self.0.get(setting).cloned().unwrap_or(Origin::Default)
    }

    /// Those of `others` win.
    pub(super) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    pub(super) fn set(&mut self, setting: impl Into<String>, origin: Origin) {
        self.0.insert(setting.into(), origin);
    }
}

/// `default`, `kmirror.toml:12` or `--num.streams`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Place(Place { file, line: 0, .. }) => f.write_str(file),
            Self::Place(Place { file, line, .. }) => write!(f, "{file}:{line}"),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

/// The settings that properties decided.
pub(super) fn of_properties(consumer: &Values<'_>, producer: &Values<'_>) -> Origins {
    let mut origins = Origins::default();
    let sides = [(Role::Consumer, "source", consumer), (Role::Producer, "target", producer)];
    for (role, side, values) in sides {
        let place = |key: &str| values.entry(key).map(|entry| Origin::Place(values.place(entry)));
        for known in KNOWN_OF_CLUSTER {
            if let Some(origin) = place(known.property) {
                origins.set(format!("{side}.{}", known.property), origin);
            }
        }
        for known in KNOWN {
            let property = known.property.filter(|(of, _)| *of == role);
            if let Some(origin) = property.and_then(|(_, key)| place(key)) {
                origins.set(known.name, origin);
            }
        }
    }
    origins
}

/// The settings that flags decided.
pub(super) fn of_flags(options: &RunOptions, origins: &mut Origins) {
    let excluded = options.exclude.is_some();
    let handled = options.message_handler.as_deref();
    let mapping = options.mapping.as_ref().map(|raw| {
        let place = Place { file: raw.file().to_owned(), line: 0, key: String::new() };
        ("topic_mappings", Origin::Place(place))
    });
    let flags = [
        (!options.topics.is_empty(), "topics", "--include or --whitelist"),
        (excluded, "exclude", "--exclude or --blacklist"),
        (handled.is_some_and(|class| matches!(class, "filter" | "drop")), "filters", "--message.handler"),
        (handled == Some("rename"), "rename", "--message.handler"),
        (options.streams.is_some(), "streams", "--num.streams"),
        (options.commit_interval_ms.is_some(), "commit_interval", "--offset.commit.interval.ms"),
        (options.abort_on_send_failure.is_some(), "abort_on_send_failure", "--abort.on.send.failure"),
        (options.until_caught_up, "until_caught_up", "--until-caught-up"),
    ];
    for (_, setting, flag) in flags.into_iter().filter(|(given, ..)| *given) {
        origins.set(setting, Origin::Flag(flag));
    }
    if options.abort_on_send_failure == Some(false) {
        for policy in ["on_headers", "on_too_large", "on_timestamp", "on_keyless", "on_refused"] {
            origins.set(policy, Origin::Flag("--abort.on.send.failure"));
        }
    }
    match (&options.name, origins.of("group")) {
        (Some(_), _) => origins.set("name", Origin::Flag("--name")),
        (None, group) => origins.set("name", group),
    }
    if let Some((setting, origin)) = mapping {
        origins.set(setting, origin);
    }
}
