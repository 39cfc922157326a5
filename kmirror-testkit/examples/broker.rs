//! One embedded cluster on its own, until standard input ends.
//!
//! ```text
//! broker <release> [port] [--brokers n] [--topic name:partitions]… [--setting key=value]…
//! ```
//! The first broker listens on the port, further ones on the next; without one each takes a free port. The first line
//! on standard output is what a client is given as `bootstrap.servers`.

#![expect(clippy::print_stdout, reason = "this is what the program is for")]

use std::error::Error;
use std::io::{Read, Write};

use kmirror_testkit::net::{ListenOn, Server};
use kmirror_testkit::{Cluster, Release};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let release: Release = arguments.next().ok_or("which release? e.g. 2.0.0")?.parse()?;
    let mut builder = Cluster::builder(release);
    let (mut listen_on, mut topics) = (ListenOn::default(), Vec::new());
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} takes a value"));
        match argument.as_str() {
            "--brokers" => builder = builder.brokers(value()?.parse()?),
            "--topic" => topics.push(value()?),
            "--setting" => {
                let line = value()?;
                let (name, value) = line.split_once('=').ok_or("--setting takes key=value")?;
                builder = builder.setting(name, value);
            }
            port => listen_on.port = port.parse().map_err(|_| format!("neither an option nor a port: {port}"))?,
        }
    }
    let mut cluster = builder.build()?;
    for topic in topics {
        let (name, partitions) = topic.split_once(':').unwrap_or((&topic, "1"));
        cluster.create_topic(name, partitions.parse()?);
    }
    let server = Server::start_on(cluster, &listen_on)?;
    println!("{}", server.bootstrap());
    std::io::stdout().flush()?;
    // Whoever started it closes the other end, or dies.
    while std::io::stdin().read(&mut [0; 1024])? > 0 {}
    Ok(())
}
