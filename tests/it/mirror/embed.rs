//! The engine as a library: the example that people copy from works.

use std::process::Command;

use kmirror_tests::brokers::shared;
use kmirror_tests::judge::{self, Topic};
use kmirror_tests::{Failure, Result};

#[test]
fn the_example_copies_a_topic() -> Result {
    let (source, target) = (shared("2.0.0")?, shared("2.0.0/second")?);
    let topic = "embedded";
    for cluster in [source, target] {
        judge::create(cluster, topic, 2, &[])?;
    }
    judge::produce_counter(source, topic, 1_000)?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = Command::new(cargo)
        .args(["run", "--quiet", "--locked", "-p", "kmirror-core", "--example", "embed", "--"])
        .args([&source.bootstrap(), &target.bootstrap(), topic, topic])
        .output()
        .map_err(|error| Failure::new(format!("cargo run --example embed: {error}")))?;
    let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{said}");
    assert!(said.contains("1000 records copied"), "{said}");
    judge::compare(Topic { cluster: source, name: topic }, Topic { cluster: target, name: topic })
}
