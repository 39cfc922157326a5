//! The README says of every API that a release advertises whether it is served.

use std::collections::BTreeSet;

use kmirror_testkit::Release;

const README: &str = include_str!("../README.md");
/// Where requests are dealt out: an arm for each API that is served.
const DEALT_OUT: &str = include_str!("../src/api/mod.rs");

/// The words of a section: names of APIs among them.
fn words(heading: &str) -> BTreeSet<&'static str> {
    let (_, rest) = README.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = rest.split("\n## ").next().unwrap();
    section.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

#[test]
fn every_api_is_in_one_of_the_lists() {
    let (served, not) = (words("What is served"), words("What is not served"));
    for range in Release::ALL.into_iter().flat_map(Release::apis) {
        let number = range.api_key.0.to_string();
        let name = range.api_key.name().unwrap_or(&number);
        let is_served = DEALT_OUT.contains(&format!("AnyRequest::{name}("));
        assert_eq!((served.contains(name), not.contains(name)), (is_served, !is_served), "{name}");
    }
}

#[test]
fn every_release_is_named() {
    let named = |release: &Release| README.contains(&format!("`{}`", release.number()));
    assert!(Release::ALL.iter().all(named));
}
