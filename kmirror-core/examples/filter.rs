//! Mirrors topics without the records that a filter of our own drops:
//!
//! ```text
//! cargo run -p kmirror-core --example filter -- old-kafka:9092 new-kafka:9092 'orders.*'
//! ```

#![expect(clippy::print_stdout, reason = "an example that talks to people")]

use kmirror_core::Mirror;
use kmirror_core::filter::{Decision, RecordFilter, Replacement};
use kmirror_core::plan::SourceRecord;

/// Drops records of test customers, and takes the password out of the others.
#[derive(Debug)]
struct Clean;

impl RecordFilter for Clean {
    fn decide(&self, _topic: &str, _partition: i32, record: &SourceRecord<'_>) -> Decision {
        if record.key.is_some_and(|key| key.starts_with(b"test-")) {
            return Decision::Drop;
        }
        let Some(value) = record.value.and_then(|value| std::str::from_utf8(value).ok()) else { return Decision::Keep };
        let Some((before, rest)) = value.split_once("password=") else { return Decision::Keep };
        let after = rest.find('&').and_then(|end| rest.get(end..)).unwrap_or_default();
        Decision::Replace(Replacement {
            key: record.key.map(|key| key.to_vec().into()),
            value: Some(format!("{before}password={after}").into_bytes().into()),
        })
    }

    /// Another number with every change of what `decide` decides.
    fn digest(&self) -> u64 {
        1
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [source, target, topics] = arguments.as_slice() else {
        return Err("three arguments: the source's brokers, the target's brokers, the topics".into());
    };
    let mirror = Mirror::builder()
        .name("example-filter")
        .source(source)
        .source_property("auto.offset.reset", "earliest")
        .target(target)
        .topics(topics)
        .filter(Clean)
        .until_caught_up(true)
        .build()?;
    let summary = mirror.run().await?;
    let counters = summary.status.total().counters;
    println!("{} records, {} filtered", counters.records, counters.filtered);
    Ok(())
}
