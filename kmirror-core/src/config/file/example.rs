//! `kmirror.example.toml` says what is so: it is read, all of it, and its defaults are the real ones.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::config::effective;

const EXAMPLE: &str = include_str!("../../../../kmirror.example.toml");

/// The part behind which settings are a route's.
const ROUTES: &str = "# ---- Routes";

/// One setting of the example.
#[derive(Debug)]
struct Shown {
    /// Its name among those in force.
    name: String,
    /// What the text above it calls the default, and Kafka's.
    default: Option<String>,
    kafka: Option<String>,
}

fn read(text: &str) -> Vec<Resolved> {
    let env = |_: &str| None;
    let read = |_: &str| Ok(b"orders.a eu.a\n".to_vec());
    let surroundings = Surroundings { env: &env, read: &read, cores: 64, until_caught_up: false };
    parse("kmirror.example.toml", text.as_bytes(), &surroundings).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The example with the settings switched on for which `on` holds.
fn switched(on: impl Fn(&str) -> bool) -> String {
    let switch = |line: &str| match line.strip_prefix('#') {
        Some(setting) if is_setting(setting) && on(setting) => setting.to_owned(),
        Some(_) | None => line.to_owned(),
    };
    EXAMPLE.lines().map(switch).collect::<Vec<_>>().join("\n")
}

fn is_setting(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase() || c == '[')
}

/// The settings above the routes, with the text in front of each.
fn shown() -> Vec<Shown> {
    let mut shown = Vec::new();
    let (mut table, mut default, mut kafka) = ("", None, None);
    for line in EXAMPLE.lines().take_while(|line| !line.starts_with(ROUTES)) {
        if let Some(text) = line.strip_prefix("# Default: ") {
            let (ours, theirs) = text.split_once(" · Kafka: ").map_or((text, None), |(one, other)| (one, Some(other)));
            (default, kafka) = (Some(ours.to_owned()), theirs.map(str::to_owned));
        } else if line.starts_with('[') {
            table = line;
        } else if line.is_empty() {
            (default, kafka) = (None, None);
        }
        let setting = line.strip_prefix('#').filter(|text| is_setting(text)).unwrap_or(line);
        let Some((name, _)) = setting.split_once(" = ").filter(|_| is_setting(setting)) else { continue };
        let name = if table.starts_with("[cluster") { format!("source.{name}") } else { name.to_owned() };
        shown.push(Shown { name, default: default.clone(), kafka: kafka.clone() });
    }
    shown
}

#[test]
fn the_example_runs_as_it_stands() {
    let mirrors = read(EXAMPLE);
    assert_eq!(mirrors.len(), 1);
    assert!(mirrors[0].warnings.is_empty(), "{:?}", mirrors[0].warnings);
    assert_eq!(mirrors[0].config.target.bootstrap, [("new-kafka".to_owned(), 9092)]);
}

#[test]
fn each_of_its_settings_can_be_switched_on() {
    let mirrors = read(&switched(|_| true));
    assert!(mirrors[0].warnings.is_empty(), "{:?}", mirrors[0].warnings);
    let routing = &mirrors[0].config.routing;
    assert_eq!((routing.rules.len(), routing.mapping.len()), (1, 1));
    let set: BTreeSet<String> = effective(&mirrors[0])
        .into_iter()
        .filter(|setting| setting.origin != crate::config::Origin::Default)
        .map(|setting| setting.name)
        .collect();
    for shown in shown().iter().filter(|shown| !shown.name.contains("consumer.") && !shown.name.contains("producer.")) {
        let below = format!("{}.", shown.name);
        let found = set.contains(&shown.name) || set.iter().any(|name| name.starts_with(&below));
        assert!(
            found || matches!(shown.name.as_str(), "source" | "target"),
            "{} is shown and has no effect",
            shown.name
        );
    }
}

#[test]
fn it_has_every_setting() {
    let shown: BTreeSet<String> = shown().into_iter().map(|shown| shown.name).collect();
    for setting in effective(&read(EXAMPLE)[0]) {
        // The mirror's name is its table's, the end of the run a flag; both clusters have the same keys.
        let elsewhere = matches!(setting.name.as_str(), "name" | "until_caught_up");
        let name = setting.name.replace("target.", "source.");
        assert!(elsewhere || shown.contains(&name), "{name} is missing in kmirror.example.toml");
    }
}

#[test]
fn its_defaults_are_the_real_ones() {
    let bare = effective(&read(EXAMPLE)[0]);
    let bare: BTreeMap<&str, _> = bare.iter().map(|setting| (setting.name.as_str(), setting)).collect();
    let mut compared = 0;
    for Shown { name, default, kafka } in shown() {
        let (Some(default), Some(real)) = (default, bare.get(name.as_str())) else { continue };
        compared += 1;
        let expected = if name == "streams" { "one for each core, at most 4" } else { real.value.as_str() };
        assert_eq!(default, expected, "{name}");
        assert_eq!(kafka.as_deref(), real.kafka, "{name}");
    }
    assert!(compared > 35, "only {compared} defaults are told");
    // Switched on, they change nothing.
    let none: Vec<String> =
        shown().into_iter().filter(|shown| shown.default.as_deref() == Some("none")).map(|shown| shown.name).collect();
    let has_default = |line: &str| {
        let name = line.split(" = ").next().unwrap_or_default();
        let of_route = line.starts_with('[') || ROUTE_LINES.contains(&line);
        !of_route && !none.iter().any(|none| none == name)
    };
    let switched = effective(&read(&switched(has_default))[0]);
    for setting in switched {
        assert_eq!(bare.get(setting.name.as_str()).map(|bare| &bare.value), Some(&setting.value), "{}", setting.name);
    }
}

/// The settings of the example's route.
const ROUTE_LINES: [&str; 4] = [
    "topics = \"payments\"",
    "partitions = \"stop\"",
    "on_too_large = \"drop\"",
    "settings = { \"cleanup.policy\" = \"compact\" }",
];
