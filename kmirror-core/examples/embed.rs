//! Copies topics from one cluster to another: the whole engine in thirty lines.
//!
//! `cargo run -p kmirror-core --example embed -- SOURCE TARGET PATTERN NAME`, for instance
//! `… -- old-kafka:9092 new-kafka:9092 'orders.*' orders`

#![expect(clippy::print_stdout, reason = "an example that talks to people")]

use kmirror_core::Mirror;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [source, target, pattern, name] = arguments.as_slice() else {
        return Err("usage: embed SOURCE TARGET PATTERN NAME".into());
    };
    let mut mirror = Mirror::builder()
        .name(name)
        .source(source)
        .source_property("auto.offset.reset", "earliest")
        .target(target)
        .topics(pattern)
        .until_caught_up(true)
        .build()?;
    let mut events = mirror.events();
    // A clean stop from anywhere: `mirror.stop_handle().stop()`.
    let run = mirror.run();
    let listen = async {
        while let Some(event) = events.next().await {
            println!("{event}");
        }
    };
    let (summary, ()) = tokio::join!(run, listen);
    println!("{} records copied", summary?.status.total().counters.records);
    Ok(())
}
