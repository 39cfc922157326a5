//! A whole mirror between two clusters in memory, in virtual time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kmirror_proto::ErrorCode;

use crate::clock::{Now, Tick};
use crate::config::{
    ClusterConfig, Coalesce, Config, FetchConfig, ProduceConfig, RouteConfig, Routing, Side, StartPolicy,
    TopicSelection,
};
use crate::machine::Machine;
use crate::mirror::shard::Shard;
use crate::mirror::worker::{MirrorError, Summary, Worker, WorkerCommand, WorkerReport};
use crate::mirror::{ShardCommand, ShardReport};
use crate::observe::{Event, LinkState, RouteEvent, Status, StopReason};
use crate::sample::T0;
use crate::sample::broker::{Broker, Release};
use crate::sample::network::Network;

pub(super) const MS: Duration = Duration::from_millis(1);
pub(super) const SECOND: Duration = Duration::from_secs(1);
pub(super) const MINUTE: Duration = Duration::from_secs(60);

/// The topic that is mirrored, in both clusters.
pub(super) const TOPIC: &str = "t";

/// One process: a worker and its shards.
struct Process {
    worker: Worker,
    shards: Vec<Shard>,
    /// The number of the worker in the network; those of the shards follow.
    owner: usize,
}

pub(super) struct World {
    pub(super) network: Network,
    pub(super) config: Config,
    pub(super) now: Now,
    process: Option<Process>,
    owners: usize,
    seed: u64,
    pub(super) events: Vec<Event>,
    pub(super) status: Status,
    pub(super) finished: Option<Result<Summary, MirrorError>>,
    /// How often a machine was woken by its own timeout.
    pub(super) wakes: usize,
    /// The most that was taken of a shard's memory budget.
    pub(super) memory_max: usize,
    /// The most requests of one link that were on their way at once.
    pub(super) in_flight_max: usize,
}

impl World {
    /// Two clusters with the topic `t` of one partition, and nobody between them.
    pub(super) fn new(source: Release, target: Release) -> Self {
        let mut network = Network::new(Broker::new(source, "source"), Broker::new(target, "target"));
        network.source.topic(TOPIC, 1);
        network.target.topic(TOPIC, 1);
        Self {
            network,
            config: config(),
            now: Now { tick: Tick::ZERO, unix_ms: T0 + 60_000 },
            process: None,
            owners: 0,
            seed: 1,
            events: Vec::new(),
            status: Status::default(),
            finished: None,
            wakes: 0,
            memory_max: 0,
            in_flight_max: 0,
        }
    }

    pub(super) fn start(&mut self) -> &mut Self {
        let config = Arc::new(self.config.clone());
        self.seed += 1;
        let shards = (0..config.streams).map(|number| Shard::new(config.clone(), self.seed * 1000 + number as u64));
        let shards: Vec<Shard> = shards.collect();
        let worker = Worker::new(config, shards.len(), self.seed);
        let owner = self.owners;
        self.owners += 1 + shards.len();
        self.process = Some(Process { worker, shards, owner });
        self.finished = None;
        self
    }

    /// Kill −9: nothing more is said, what was sent still takes effect.
    pub(super) fn kill(&mut self) -> &mut Self {
        let process = self.process.take().expect("a process");
        (process.owner..=process.owner + process.shards.len()).for_each(|owner| self.network.forget(owner));
        self
    }

    pub(super) fn stop(&mut self) -> &mut Self {
        self.command(WorkerCommand::Stop);
        self
    }

    /// SIGHUP: other topics are wanted.
    pub(super) fn select(&mut self, pattern: &str) -> &mut Self {
        self.command(WorkerCommand::Select(TopicSelection::pattern(pattern).unwrap()));
        self
    }

    fn command(&mut self, command: WorkerCommand) {
        let now = self.now;
        if let Some(process) = &mut self.process {
            process.worker.handle_command(now, command);
        }
        self.settle();
    }

    /// Lets `time` pass.
    pub(super) fn run(&mut self, time: Duration) -> &mut Self {
        let end = self.now.after(time);
        self.run_until(end, |_| false);
        self
    }

    /// Lets time pass until the mirror has ended, at most `time`.
    pub(super) fn end_within(&mut self, time: Duration) -> Result<Summary, MirrorError> {
        self.run_until(self.now.after(time), |world| world.finished.is_some());
        self.finished.clone().unwrap_or_else(|| panic!("has not ended: {:?}\n{:#?}", self.states(), self.events))
    }

    /// Lets time pass until `done`, at most `time`; whether it came to that.
    pub(super) fn reach(&mut self, time: Duration, done: impl Fn(&mut Self) -> bool) -> bool {
        self.run_until(self.now.after(time), done)
    }

    fn run_until(&mut self, end: Tick, done: impl Fn(&mut Self) -> bool) -> bool {
        let mut in_place = 0;
        loop {
            self.settle();
            if done(self) {
                return true;
            }
            let wake = self.process.as_ref().and_then(Process::poll_timeout);
            let Some(next) = self.network.next_at().into_iter().chain(wake).min().filter(|next| *next <= end) else {
                self.pass_to(end);
                return false;
            };
            in_place = if next > self.now.tick { 0 } else { in_place + 1 };
            assert!(in_place < 2_000, "nothing moves at {}: {:#?}", self.now.tick, self.states());
            self.pass_to(next.max(self.now.tick));
            if self.network.next_at().is_some_and(|at| at <= self.now.tick) {
                self.deliver();
            } else {
                self.wake();
            }
        }
    }

    fn pass_to(&mut self, tick: Tick) {
        let passed = tick.since(self.now.tick);
        // The wall clock is the other one plus a constant, whatever was rounded before.
        self.now.tick = tick;
        let since = i64::try_from(Duration::from_nanos(tick.0).as_millis()).unwrap();
        assert!(passed < 365 * 24 * 60 * MINUTE);
        self.now.unix_ms = T0 + 60_000 + since;
    }

    fn deliver(&mut self) {
        let Some((owner, side, event)) = self.network.step(self.now) else { return };
        let Some(process) = self.process.as_mut().filter(|process| process.owns(owner)) else { return };
        match owner - process.owner {
            0 => process.worker.handle_net(self.now, side, event),
            shard => process.shards[shard - 1].handle_net(self.now, side, event),
        }
    }

    fn wake(&mut self) {
        let now = self.now;
        let Some(process) = &mut self.process else { return };
        let due = |at: Option<Tick>| at.is_some_and(|at| at <= now.tick);
        if due(process.worker.poll_timeout()) {
            self.wakes += 1;
            process.worker.handle_timeout(now);
            assert_wake_lies_ahead(&process.worker, now);
        }
        for shard in process.shards.iter_mut().filter(|shard| due(shard.poll_timeout())) {
            self.wakes += 1;
            shard.handle_timeout(now);
            assert_wake_lies_ahead(shard, now);
        }
    }

    /// Carries out what the machines want and say until they want and say nothing more.
    fn settle(&mut self) {
        let Some(process) = &mut self.process else { return };
        let now = self.now;
        let mut said: VecDeque<Said> = VecDeque::new();
        loop {
            while let Some((side, action)) = process.worker.poll_net() {
                self.network.apply(now, process.owner, side, action);
            }
            said.extend(std::iter::from_fn(|| process.worker.poll_report()).map(Said::Worker));
            for (number, shard) in process.shards.iter_mut().enumerate() {
                while let Some((side, action)) = shard.poll_net() {
                    self.network.apply(now, process.owner + 1 + number, side, action);
                }
                said.extend(std::iter::from_fn(|| shard.poll_report()).map(|report| Said::Shard(number, report)));
                let (held, reserved, lanes) = shard.memory();
                assert_eq!(held, lanes, "the budget knows what the lanes hold");
                self.memory_max = self.memory_max.max(held + reserved);
                self.in_flight_max = self.in_flight_max.max(shard.in_flight());
            }
            match said.pop_front() {
                None => return,
                Some(Said::Shard(number, report)) => {
                    process.worker.handle_command(now, WorkerCommand::FromShard(number, report));
                }
                Some(Said::Worker(WorkerReport::ToShard(number, command))) => {
                    tell(&mut process.shards[number], now, command);
                }
                Some(Said::Worker(WorkerReport::Event(event))) => self.events.push(event),
                Some(Said::Worker(WorkerReport::Status(status))) => self.status = status,
                Some(Said::Worker(WorkerReport::Finished(result))) => self.finished = Some(result),
            }
        }
    }

    /// What the links do, by shard.
    pub(super) fn states(&self) -> Vec<Vec<LinkState>> {
        self.process.iter().flat_map(|process| &process.shards).map(Shard::states).collect()
    }

    /// Whether every shard has ended.
    pub(super) fn shards_ended(&self) -> bool {
        self.process.iter().flat_map(|process| &process.shards).all(Machine::is_finished)
    }

    /// The values on both sides of the topic's first partition.
    pub(super) fn values(&mut self) -> (Vec<String>, Vec<String>) {
        (self.network.source.log(TOPIC, 0).values(), self.network.target.log(TOPIC, 0).values())
    }

    #[track_caller]
    pub(super) fn assert_mirrored(&mut self) {
        let (source, target) = self.values();
        assert_eq!(source, target, "{:#?}", self.events);
    }

    /// Why links were stopped.
    pub(super) fn stops(&self) -> Vec<&StopReason> {
        let reason = |event: &'_ Event| matches!(event, Event::Stopped { .. });
        self.events
            .iter()
            .filter(|event| reason(event))
            .map(|event| match event {
                Event::Stopped { reason, .. } => reason,
                other => panic!("{other}"),
            })
            .collect()
    }

    /// What stood in the way of routes so far, as text.
    pub(super) fn blocked(&self) -> Vec<String> {
        let blocked = self.events.iter().filter(|event| matches!(event, Event::Route(RouteEvent::Blocked { .. })));
        blocked.map(ToString::to_string).collect()
    }

    /// The links' doubts so far, as text.
    pub(super) fn doubts(&self) -> Vec<String> {
        let doubts = self.events.iter().filter(|event| matches!(event, Event::Doubt { .. }));
        doubts.map(ToString::to_string).collect()
    }

    /// How many records were found on the target beyond a checkpoint.
    pub(super) fn counted(&self) -> u64 {
        let counts =
            self.events.iter().map(|event| if let Event::Resumed { counted, .. } = event { *counted } else { 0 });
        counts.sum()
    }

    pub(super) fn cut(&mut self, side: Side) -> &mut Self {
        self.network.cut(self.now, side);
        self
    }

    pub(super) fn refuse_next(&mut self, code: ErrorCode) {
        self.network.target.faults.push_back(Some(crate::sample::broker::Fault::Refuse(code)));
    }
}

enum Said {
    Worker(WorkerReport),
    Shard(usize, ShardReport),
}

impl Process {
    fn owns(&self, owner: usize) -> bool {
        (self.owner..=self.owner + self.shards.len()).contains(&owner)
    }

    fn poll_timeout(&self) -> Option<Tick> {
        let shards = self.shards.iter().filter_map(Machine::poll_timeout);
        shards.chain(self.worker.poll_timeout()).min()
    }
}

/// A machine that is woken and then wants to be woken at once again would keep a core busy for nothing.
fn assert_wake_lies_ahead<M: Machine>(machine: &M, now: Now) {
    if let Some(at) = machine.poll_timeout() {
        assert!(at > now.tick, "woken at {}, wants to be woken at {at}", now.tick);
    }
}

fn tell(shard: &mut Shard, now: Now, command: ShardCommand) {
    shard.handle_command(now, command);
}

fn config() -> Config {
    let cluster = |host: &str| ClusterConfig::new(vec![(host.to_owned(), 1)]);
    Config {
        name: "m".to_owned(),
        group: None,
        source: cluster("source"),
        target: cluster("target"),
        topics: TopicSelection::pattern("t.*").unwrap(),
        // Batch by batch, so that it is known what each request holds.
        routing: Routing {
            config: Arc::new(RouteConfig { coalesce: Coalesce::Off, ..RouteConfig::default() }),
            ..Routing::default()
        },
        refresh_interval: crate::config::defaults::REFRESH_INTERVAL,
        start: StartPolicy::Earliest,
        fetch: FetchConfig::default(),
        produce: ProduceConfig::default(),
        streams: 1,
        commit_interval: MINUTE,
        checkpoint_interval: SECOND,
        memory_bytes_max: 256 << 20,
        until_caught_up: false,
        stop_timeout: 30 * SECOND,
    }
}
