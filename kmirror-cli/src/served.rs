//! `kmirror broker`: one embedded cluster on its own, until it is told to end.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Write as _};

use kmirror_core::topics::names;
use kmirror_testkit::net::{ListenOn, Server};
use kmirror_testkit::{Cluster, Release};

use crate::args::BrokerArgs;
use crate::exit::Failure;
use crate::signals::{Signal, Signals};

/// Starts it, prints where it listens, and waits for SIGINT or SIGTERM.
pub(crate) fn broker(args: &BrokerArgs) -> Result<(), Failure> {
    let release: Release = args.profile.parse().map_err(|error| Failure::usage(format!("--profile: {error}")))?;
    // Each is another cluster, and has an id of its own.
    let seed = RandomState::new().build_hasher().finish();
    let mut builder = Cluster::builder(release).brokers(args.brokers).seed(seed);
    for line in &args.setting {
        let invalid = || Failure::usage(format!("--setting {line}: a line of server.properties, name=value"));
        let (name, value) = line.split_once('=').ok_or_else(invalid)?;
        builder = builder.setting(name.trim(), value.trim());
    }
    let mut cluster = builder.build().map_err(|error| Failure::usage(format!("--setting: {error}")))?;
    for topic in &args.topic {
        let (name, partitions) = topic_of(topic)?;
        cluster.create_topic(name, partitions.into());
    }
    let listen: ListenOn = args.listen.parse().map_err(|error| Failure::usage(format!("--listen: {error}")))?;
    let server = Server::start_on(cluster, &listen);
    let server = server.map_err(|error| Failure::failed(format!("--listen {listen}: {error}")))?;
    writeln!(io::stdout(), "{}", server.bootstrap()).map_err(Failure::failed)?;
    wait_for_signal()
}

/// A topic's name and how many partitions it has.
fn topic_of(text: &str) -> Result<(&str, u16), Failure> {
    let (name, partitions) = text.split_once(':').unwrap_or((text, "1"));
    if let Some(fault) = names::fault(name) {
        return Err(Failure::usage(format!("--topic {text}: {name:?} cannot be a topic's name: {fault}")));
    }
    let partitions = partitions.parse().ok().filter(|partitions| *partitions > 0);
    let invalid = || Failure::usage(format!("--topic {text}: a name, or name:partitions with 1 to 65535 of them"));
    Ok((name, partitions.ok_or_else(invalid)?))
}

/// Comes back with SIGINT or SIGTERM, or when the terminal is closed.
pub(crate) fn wait_for_signal() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::failed(format!("the runtime cannot start: {error}")))?;
    runtime.block_on(async {
        let listening = Signals::listen();
        let mut signals =
            listening.map_err(|error| Failure::failed(format!("signals cannot be taken over: {error}")))?;
        match signals.next().await {
            Signal::Interrupt | Signal::Terminate | Signal::Hangup => Ok(()),
        }
    })
}
