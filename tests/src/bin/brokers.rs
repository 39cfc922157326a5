//! Starts brokers by hand: `cargo run -p kmirror-tests --bin brokers -- 2.0.0 0.10.1.1`.
//!
//! Prints one line for each release, `<version> <host:port> <data folder>`, and ends the brokers when its stdin closes
//! or it is ended (SIGTERM, Ctrl-C).
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a small tool for people")]

use std::io::{Read as _, Write as _};

use kmirror_tests::brokers::{Cluster, RELEASES};
use kmirror_tests::{Failure, Result};

fn main() -> Result {
    let versions: Vec<String> = std::env::args().skip(1).collect();
    if versions.is_empty() {
        let known: Vec<&str> = RELEASES.iter().map(|release| release.version).collect();
        return Err(Failure::new(format!("usage: brokers <version>...; known: {}", known.join(" "))));
    }
    let started: Vec<_> =
        versions.iter().cloned().map(|version| std::thread::spawn(move || Cluster::start(&version))).collect();
    let mut clusters = Vec::new();
    for (version, thread) in versions.iter().zip(started) {
        let cluster = thread.join().map_err(|_| Failure::new(format!("starting {version} panicked")))??;
        let folder = cluster.nodes().first().map(|node| node.log_dir().display().to_string()).unwrap_or_default();
        println!("{version} {} {folder}", cluster.bootstrap());
        clusters.push(cluster);
    }
    // Whoever reads these lines through a pipe wants them now.
    let _ = std::io::stdout().flush();
    let mut input = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut input);
    Ok(())
}
