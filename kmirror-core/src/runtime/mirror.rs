//! A mirror as a whole: one thread for the worker, one per stream, and what goes between them.

use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread::available_parallelism;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Clock, Net, SocketOptions, Thread, spawn};
use crate::config::{Config, ConfigError, RawConfig, Resolved, Routing, RunOptions, TopicSelection, resolve};
use crate::filter::{Filters, RecordFilter};
use crate::mirror::shard::Shard;
use crate::mirror::worker::{MirrorError, Summary, Worker, WorkerCommand, WorkerReport};
use crate::mirror::{ShardCommand, ShardReport};
use crate::observe::{Event, Status};

/// One mirror, configured and not yet running.
#[derive(Debug)]
pub struct Mirror {
    config: Config,
    stop: StopHandle,
    selections: (UnboundedSender<TopicSelection>, UnboundedReceiver<TopicSelection>),
    events: UnboundedSender<Event>,
    heard: Option<UnboundedReceiver<Event>>,
    status: watch::Sender<Status>,
}

/// Changes which topics a running mirror copies, from anywhere.
#[derive(Clone, Debug)]
pub struct SelectionHandle(UnboundedSender<TopicSelection>);

/// Ends a running mirror from anywhere.
#[derive(Clone, Debug, Default)]
pub struct StopHandle {
    stop: CancellationToken,
    now: CancellationToken,
}

/// The events of one mirror, in order.
#[derive(Debug)]
pub struct EventStream(Option<UnboundedReceiver<Event>>);

/// Where a mirror stands, whenever asked.
#[derive(Clone, Debug)]
pub struct StatusReader(watch::Receiver<Status>);

/// Collects a mirror's settings; everything that is not said has its default ([`crate::config::defaults`]).
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct MirrorBuilder {
    name: Option<String>,
    source: Vec<(String, String)>,
    target: Vec<(String, String)>,
    topics: String,
    exclude: Option<String>,
    routing: Routing,
    filters: Vec<Arc<dyn RecordFilter>>,
    streams: Option<i64>,
    until_caught_up: bool,
}

impl Mirror {
    /// A mirror with this configuration.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let (events, heard) = unbounded_channel();
        Self {
            config,
            stop: StopHandle::default(),
            selections: unbounded_channel(),
            events,
            heard: Some(heard),
            status: watch::Sender::default(),
        }
    }

    /// A mirror with these settings, and defaults for the rest.
    pub fn builder() -> MirrorBuilder {
        MirrorBuilder::default()
    }

    /// Ends the mirror from anywhere.
    #[must_use]
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Changes which topics the mirror copies, while it runs.
    #[must_use]
    pub fn selection_handle(&self) -> SelectionHandle {
        SelectionHandle(self.selections.0.clone())
    }

    /// The mirror's events. There is one stream: a second call gives one that is over.
    #[must_use]
    pub fn events(&mut self) -> EventStream {
        EventStream(self.heard.take())
    }

    /// Where the mirror stands.
    #[must_use]
    pub fn status(&self) -> StatusReader {
        StatusReader(self.status.subscribe())
    }

    /// Runs the mirror until it has caught up (if configured), is stopped, or cannot go on. Works in any tokio runtime:
    /// the work is done in threads of its own. Dropped before its end it stops at once, as [`StopHandle::stop_now`] does.
    ///
    /// # Errors
    /// Why it could not go on, in one sentence.
    pub async fn run(self) -> Result<Summary, MirrorError> {
        let Self { config, stop, selections: (_selecting, mut selections), events, heard, status } = self;
        // Nobody listens: nothing is kept for them.
        drop(heard);
        let config = Arc::new(config);
        let mut threads = Threads::start(&config).map_err(|error| MirrorError::Runtime(error.to_string()))?;
        let (mut stopping, mut aborting) = (false, false);
        loop {
            let report = tokio::select! {
                report = poll_fn(|cx| threads.poll(cx)) => report,
                () = stop.now.cancelled(), if !aborting => {
                    aborting = true;
                    threads.abort();
                    continue;
                }
                () = stop.stop.cancelled(), if !stopping => {
                    stopping = true;
                    threads.tell_worker(WorkerCommand::Stop);
                    continue;
                }
                Some(selection) = selections.recv() => {
                    threads.tell_worker(WorkerCommand::Select(selection));
                    continue;
                }
            };
            match report {
                Said::Shard(shard, report) => threads.tell_worker(WorkerCommand::FromShard(shard, report)),
                Said::Worker(WorkerReport::ToShard(shard, command)) => threads.tell_shard(shard, command),
                Said::Worker(WorkerReport::Event(event)) => {
                    let _ = events.send(event);
                }
                Said::Worker(WorkerReport::Status(now)) => {
                    status.send_replace(now);
                }
                Said::Worker(WorkerReport::Finished(result)) => return result,
                Said::Panicked(name) => return Err(MirrorError::Runtime(format!("thread {name} panicked"))),
            }
        }
    }
}

impl StopHandle {
    /// Stops cleanly: nothing more is fetched, what is on its way is written, the ledger and the group are told.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Stops at once. The next start finds out from the target's log what was written.
    pub fn stop_now(&self) {
        self.now.cancel();
    }
}

impl SelectionHandle {
    /// These topics are mirrored from now on. Both clusters are looked at at once, also where nothing changes: what came or
    /// went since they were last looked at is seen now. Topics that are no longer named are let go; those that are named for the
    /// first time are mirrored from their first record on.
    pub fn set(&self, selection: TopicSelection) {
        // A mirror that has ended selects no more.
        let _ = self.0.send(selection);
    }
}

impl EventStream {
    /// The next event; `None` when the mirror has ended.
    pub async fn next(&mut self) -> Option<Event> {
        match &mut self.0 {
            Some(events) => events.recv().await,
            None => None,
        }
    }
}

impl StatusReader {
    /// Where the mirror stands now.
    #[must_use]
    pub fn snapshot(&self) -> Status {
        self.0.borrow().clone()
    }
}

impl MirrorBuilder {
    /// The mirror's name: its ledger on the target is found by it. By default the source's `group.id`.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// The source's brokers, as in `bootstrap.servers`.
    pub fn source(self, bootstrap: impl Into<String>) -> Self {
        self.source_property("bootstrap.servers", bootstrap)
    }

    /// The target's brokers, as in `bootstrap.servers`.
    pub fn target(self, bootstrap: impl Into<String>) -> Self {
        self.target_property("bootstrap.servers", bootstrap)
    }

    /// Any of a Kafka consumer's properties, for the source: `group.id`, `isolation.level`, … Without `auto.offset.reset` a
    /// mirror that runs for the first time starts at the earliest records, unlike a consumer.
    pub fn source_property(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.source.push((key.into(), value.into()));
        self
    }

    /// Any of a Kafka producer's properties, for the target.
    pub fn target_property(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.target.push((key.into(), value.into()));
        self
    }

    /// Which topics: a regular expression that matches the whole name, or a list of names, as MirrorMaker's whitelist.
    pub fn topics(self, pattern: impl Into<String>) -> Self {
        Self { topics: pattern.into(), ..self }
    }

    /// Which of them are left out after all: a pattern as that of [`topics`](Self::topics).
    pub fn exclude(self, pattern: impl Into<String>) -> Self {
        Self { exclude: Some(pattern.into()), ..self }
    }

    /// Where the topics go and what holds on the way: names, policies, how target topics are created.
    pub fn routing(self, routing: Routing) -> Self {
        Self { routing, ..self }
    }

    /// Asks `filter` about each record of every route that has no filters of its own, behind those that were given before.
    pub fn filter(mut self, filter: impl RecordFilter + 'static) -> Self {
        self.filters.push(Arc::new(filter));
        self
    }

    /// How many threads copy; by default one per core, four at most.
    pub fn streams(self, streams: u16) -> Self {
        Self { streams: Some(i64::from(streams)), ..self }
    }

    /// Whether to end once every link has reached the source's end as of the start.
    pub fn until_caught_up(self, until_caught_up: bool) -> Self {
        Self { until_caught_up, ..self }
    }

    /// The mirror.
    ///
    /// # Errors
    /// If a setting is missing or cannot be used.
    pub fn build(mut self) -> Result<Mirror, ConfigError> {
        const START: &str = "auto.offset.reset";
        if !self.source.iter().any(|(key, _)| key == START) {
            // As in kmirror.toml: whoever builds a mirror wants what is there. A consumer's default would leave all of it out.
            self.source.push((START.to_owned(), "earliest".to_owned()));
        }
        let options = RunOptions {
            consumer: RawConfig::of("source", self.source),
            producer: RawConfig::of("target", self.target),
            topics: self.topics,
            exclude: self.exclude,
            routing: self.routing,
            filters: Filters::new(self.filters),
            name: self.name,
            streams: self.streams,
            cores: available_parallelism().map_or(1, NonZeroUsize::get),
            until_caught_up: self.until_caught_up,
            ..RunOptions::default()
        };
        let Resolved { config, warnings, .. } = resolve(&options)?;
        let mirror = Mirror::new(config);
        for warning in warnings {
            let _ = mirror.events.send(Event::Setting(warning));
        }
        Ok(mirror)
    }
}

/// What a thread said.
enum Said {
    Worker(WorkerReport),
    Shard(usize, ShardReport),
    Panicked(String),
}

/// The worker's thread and those of its shards.
struct Threads {
    worker: Thread<Worker>,
    /// `None` once it has ended.
    shards: Vec<Option<Thread<Shard>>>,
}

impl Threads {
    fn start(config: &Arc<Config>) -> std::io::Result<Self> {
        let clock = Clock::start();
        // Jitter differs from process to process, so that mirrors do not knock at the same moment.
        let seed = fastrand::u64(..);
        let streams = config.streams.max(1);
        let mut shards = Vec::with_capacity(streams);
        for number in 0..streams {
            let offset = u64::try_from(number).unwrap_or(0).wrapping_add(1).wrapping_mul(1_000_003);
            let shard = Shard::new(config.clone(), seed.wrapping_add(offset));
            shards.push(Some(spawn(&format!("kmirror-{number}"), shard, net(config), clock)?));
        }
        let worker = Worker::new(config.clone(), streams, seed);
        let worker = spawn("kmirror-worker", worker, net(config), clock)?;
        Ok(Self { worker, shards })
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Said> {
        if let Poll::Ready(report) = self.worker.reports.poll_recv(cx) {
            let said = report.map_or_else(|| Said::Panicked("kmirror-worker".to_owned()), Said::Worker);
            return Poll::Ready(said);
        }
        for (number, shard) in self.shards.iter_mut().enumerate() {
            let Some(running) = shard else { continue };
            match running.reports.poll_recv(cx) {
                Poll::Ready(Some(report)) => return Poll::Ready(Said::Shard(number, report)),
                Poll::Ready(None) => {
                    let ended = shard.take().map(|ended| ended.thread.join());
                    if ended.is_some_and(|ended| ended.is_err()) {
                        return Poll::Ready(Said::Panicked(format!("kmirror-{number}")));
                    }
                }
                Poll::Pending => {}
            }
        }
        Poll::Pending
    }

    fn tell_worker(&self, command: WorkerCommand) {
        // A thread that has ended needs no more commands.
        let _ = self.worker.commands.send(command);
    }

    fn tell_shard(&self, shard: usize, command: ShardCommand) {
        if let Some(Some(shard)) = self.shards.get(shard) {
            let _ = shard.commands.send(command);
        }
    }

    fn abort(&self) {
        for shard in 0..self.shards.len() {
            self.tell_shard(shard, ShardCommand::Abort);
        }
        self.tell_worker(WorkerCommand::Abort);
    }
}

/// Whoever drops a running mirror wants it to end: without this its threads would go on to copy, and a next mirror of the
/// same name would write beside them.
impl Drop for Threads {
    fn drop(&mut self) {
        self.abort();
    }
}

fn net(config: &Config) -> Net {
    Net::new(SocketOptions::from(&config.source), SocketOptions::from(&config.target))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    /// A run that is given up (a time-out around it, a `select!`) leaves no thread behind that goes on to copy.
    #[tokio::test]
    async fn a_mirror_that_is_dropped_ends_its_threads() {
        let mirror =
            Mirror::builder().name("m").source("127.0.0.1:1").target("127.0.0.1:1").topics("t").build().unwrap();
        // Every machine holds the configuration as long as its thread lives.
        let config = Arc::new(mirror.config);
        let alive = Arc::downgrade(&config);
        let threads = Threads::start(&config).unwrap();
        drop(config);
        assert!(alive.upgrade().is_some());
        drop(threads);
        let ended = async {
            while alive.strong_count() > 0 {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(20), ended).await.expect("every thread has ended");
    }
}
