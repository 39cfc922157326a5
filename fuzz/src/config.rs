//! Whatever stands in configuration files.

use kmirror_core::config::{RawConfig, Role, RunOptions, Surroundings, TopicPattern, file, resolve, survey};
use kmirror_core::filter::timestamp;

/// The text as properties of both clients, as TOML, as a pattern and as a time.
pub(crate) fn body(data: &[u8]) {
    if let Ok(raw) = RawConfig::parse("fuzz.properties", data) {
        properties(raw);
    }
    let surroundings = Surroundings {
        env: &|name| (name.len() % 2 == 0).then(|| name.to_lowercase()),
        read: &|_| Ok(b"bootstrap.servers=a:9092\n".to_vec()),
        cores: 2,
        until_caught_up: true,
    };
    if let Err(errors) = file::parse("kmirror.toml", data, &surroundings) {
        assert!(errors.iter().next().is_some(), "it says why");
        errors.iter().for_each(|error| assert!(!error.to_string().is_empty()));
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(pattern) = TopicPattern::parse(text) {
        let _ = pattern.matches("orders");
    }
    let _ = timestamp(text);
}

fn properties(raw: RawConfig) {
    for role in [Role::Consumer, Role::Producer, Role::Admin] {
        let _ = survey(role, &raw);
    }
    for entry in raw.entries() {
        let _ = raw.place(entry).to_string();
    }
    let options =
        RunOptions { consumer: raw.clone(), producer: raw, topics: "orders".to_owned(), ..RunOptions::default() };
    let _ = resolve(&options).map_err(|error| error.to_string());
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let properties =
        "bootstrap.servers=a:9092,[::1]:9093\ngroup.id = g\n! old\nauto.offset.reset:earliest\nx=\\u00e9\\\n  y\n";
    let toml = "[cluster.a]\nbootstrap.servers = \"a:9092\"\n[cluster.b]\nbootstrap.servers = \"${B}\"\n\
                [mirror.m]\nsource = \"a\"\ntarget = \"b\"\ntopics = \"orders,pay.*\"\n";
    let patterns = "(?i)orders|pay[a-z&&[^b]]{2,3}\\Q.\\E,^x$";
    let times = ["2026-01-31T08:30:00.250+02:00", "1769848215250"];
    let texts = [properties, toml, patterns, include_str!("../../kmirror.example.toml")];
    texts.into_iter().chain(times).map(|text| text.as_bytes().to_vec()).collect()
}
