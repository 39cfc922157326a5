//! Mirrors between embedded clusters, in this process.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kmirror_core::config::{Config, RawConfig, RunOptions, resolve};
use kmirror_core::mirror::worker::Summary;
use kmirror_core::observe::Event;
use kmirror_core::runtime::MirrorBuilder;
use kmirror_core::{Mirror, SelectionHandle, StopHandle};

use super::{Embedded, WITHIN};
use crate::wait::{self, Deadline};
use crate::{Failure, Result};

/// A mirror between two of them, named after its topics.
pub fn mirror_of(source: &Embedded, target: &Embedded, topics: &str) -> MirrorBuilder {
    let mirror = Mirror::builder().name("embedded").source(source.bootstrap()).target(target.bootstrap());
    let mirror = mirror.source_property("retry.backoff.ms", "5").target_property("retry.backoff.ms", "5");
    mirror.source_property("fetch.max.wait.ms", "20").topics(topics).streams(1)
}

/// A mirror that waits for nothing for long: it looks at both clusters every 100 ms; a request or a connection without an
/// answer is given up after a second, and taken to have no effect any more three seconds after it was sent (30 s for users).
/// Small fetches: what it copies goes in many requests.
pub fn impatient(source: &Embedded, target: &Embedded, topics: &str) -> Result<Config> {
    let properties = |bootstrap: String, more: &[(&str, &str)]| {
        let own = [
            ("bootstrap.servers", bootstrap.as_str()),
            ("retry.backoff.ms", "5"),
            ("request.timeout.ms", "1000"),
            ("socket.connection.setup.timeout.ms", "1000"),
        ];
        let all = own.iter().chain(more).map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        RawConfig::of("embedded", all.collect::<Vec<_>>())
    };
    let consumer = [
        ("group.id", "embedded"),
        ("auto.offset.reset", "earliest"),
        ("fetch.max.wait.ms", "20"),
        ("max.partition.fetch.bytes", "500"),
    ];
    let options = RunOptions {
        consumer: properties(source.bootstrap(), &consumer),
        producer: properties(target.bootstrap(), &[]),
        topics: topics.to_owned(),
        name: Some("embedded".to_owned()),
        streams: Some(1),
        ..RunOptions::default()
    };
    let mut config = resolve(&options).map_err(|error| Failure::new(error.to_string()))?.config;
    config.produce.settle = Duration::from_secs(3);
    config.refresh_interval = Duration::from_millis(100);
    Ok(config)
}

/// What a running mirror can be told, and what it has said.
#[derive(Clone)]
pub struct Handles {
    /// To stop.
    pub stop: StopHandle,
    /// Which topics; it also looks at both clusters then.
    pub selection: SelectionHandle,
    /// Its events up to now.
    pub heard: Heard,
}

/// What a mirror has said.
#[derive(Clone, Debug, Default)]
pub struct Heard(Arc<Mutex<Vec<Event>>>);

impl Heard {
    /// Waits until it has said such a thing.
    pub fn until(&self, what: &str, is_it: impl Fn(&Event) -> bool) -> Result {
        let said = || self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().any(&is_it);
        wait::until(Deadline::after(WITHIN), what, || Ok(said().then_some(())))
    }

    fn note(&self, event: Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }
}

impl std::fmt::Display for Heard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().try_for_each(|event| writeln!(f, "{event}"))
    }
}

/// Runs a mirror to its end, on this thread.
pub fn run(mirror: MirrorBuilder) -> Result<Summary> {
    run_beside(mirror, |_| Ok(())).map(|(summary, ())| summary)
}

/// Runs a mirror, and beside it on a thread of its own what a test does to it; that has the last word on a failure.
pub fn run_beside<R: Send>(
    mirror: MirrorBuilder,
    beside: impl FnOnce(Handles) -> Result<R> + Send,
) -> Result<(Summary, R)> {
    run_mirror(mirror.build().map_err(|error| Failure::new(error.to_string()))?, beside)
}

/// [`run_beside`] for a mirror with this configuration.
pub fn run_configured<R: Send>(
    config: Config,
    beside: impl FnOnce(Handles) -> Result<R> + Send,
) -> Result<(Summary, R)> {
    run_mirror(Mirror::new(config), beside)
}

fn run_mirror<R: Send>(mut mirror: Mirror, beside: impl FnOnce(Handles) -> Result<R> + Send) -> Result<(Summary, R)> {
    let heard = Heard::default();
    let handles = Handles { stop: mirror.stop_handle(), selection: mirror.selection_handle(), heard: heard.clone() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(error.to_string()))?;
    std::thread::scope(|scope| {
        let does = scope.spawn(|| {
            let result = beside(handles.clone());
            if result.is_err() {
                handles.stop.stop_now();
            }
            result
        });
        let mut events = mirror.events();
        let listen = async {
            while let Some(event) = events.next().await {
                heard.note(event);
            }
        };
        let run = async { tokio::time::timeout(WITHIN, mirror.run()).await };
        let (summary, ()) = runtime.block_on(async { tokio::join!(run, listen) });
        let result = does.join().map_err(|_| Failure::new("the thread beside the mirror panicked"))?;
        let result = result.map_err(|failure| Failure::new(format!("{failure}\n{heard}")))?;
        let summary = summary.map_err(|_| Failure::new(format!("it did not end within {WITHIN:?}\n{heard}")))?;
        Ok((summary.map_err(|error| Failure::new(format!("{error}\n{heard}")))?, result))
    })
}
