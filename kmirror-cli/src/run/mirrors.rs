//! Several running mirrors as one: whatever happens in any of them, with the number of the one it happened in.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use kmirror_core::config::{Config, TopicSelection};
use kmirror_core::mirror::worker::{MirrorError, Summary};
use kmirror_core::observe::Event;
use kmirror_core::{EventStream, Mirror, SelectionHandle, StatusReader, StopHandle};

use crate::events::EventLog;
use crate::view::Shown;

/// How a mirror ended.
pub(super) type Outcome = Result<Summary, MirrorError>;

/// Mirrors that work. Dropped, they end at once.
pub(super) struct Runs {
    runs: Vec<Option<Pin<Box<dyn Future<Output = Outcome>>>>>,
    /// Who is asked first, in turn: none can keep the others waiting.
    first: usize,
}

/// What mirrors say.
pub(super) struct Ears {
    ears: Vec<(EventStream, EventLog)>,
    first: usize,
}

/// What mirrors are told and asked.
pub(super) struct Handles(Vec<Handle>);

struct Handle {
    name: String,
    stop: StopHandle,
    selection: SelectionHandle,
    status: StatusReader,
    ended: Option<Result<String, String>>,
}

/// Starts mirrors with these configurations.
pub(super) fn start(configs: Vec<Config>) -> (Runs, Ears, Handles) {
    let several = configs.len() > 1;
    let (mut runs, mut ears, mut handles) = (Vec::new(), Vec::new(), Vec::new());
    for config in configs {
        let name = config.name.clone();
        let mut mirror = Mirror::new(config);
        ears.push((mirror.events(), EventLog::new(several.then(|| name.clone()))));
        handles.push(Handle {
            name,
            stop: mirror.stop_handle(),
            selection: mirror.selection_handle(),
            status: mirror.status(),
            ended: None,
        });
        let run: Pin<Box<dyn Future<Output = Outcome>>> = Box::pin(mirror.run());
        runs.push(Some(run));
    }
    (Runs { runs, first: 0 }, Ears { ears, first: 0 }, Handles(handles))
}

impl Runs {
    /// Whether all have ended.
    pub(super) fn is_over(&self) -> bool {
        self.runs.iter().all(Option::is_none)
    }

    /// The next one that ends; never, if all have.
    pub(super) async fn next_end(&mut self) -> (usize, Outcome) {
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<(usize, Outcome)> {
        self.first += 1;
        for number in in_turn(self.first, self.runs.len()) {
            let Some(run) = &mut self.runs[number] else { continue };
            if let Poll::Ready(outcome) = run.as_mut().poll(cx) {
                self.runs[number] = None;
                return Poll::Ready((number, outcome));
            }
        }
        Poll::Pending
    }
}

impl Ears {
    /// The next event is logged. Never, if nothing is said any more.
    pub(super) async fn listen(&mut self) {
        let (number, event) = poll_fn(|cx| self.poll(cx)).await;
        self.ears[number].1.log(&event);
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<(usize, Event)> {
        self.first += 1;
        for number in in_turn(self.first, self.ears.len()) {
            if let Poll::Ready(Some(event)) = pin!(self.ears[number].0.next()).poll(cx) {
                return Poll::Ready((number, event));
            }
        }
        Poll::Pending
    }

    /// What one said before its end and was not heard yet: the reason of a failure may be among it.
    pub(super) async fn listen_to_rest(&mut self, number: usize) {
        let (events, log) = &mut self.ears[number];
        loop {
            tokio::select! {
                biased;
                event = events.next() => match event {
                    Some(event) => log.log(&event),
                    None => return,
                },
                () = std::future::ready(()) => return,
            }
        }
    }
}

impl Handles {
    /// Asks all for a clean stop.
    pub(super) fn stop(&self) {
        self.0.iter().for_each(|handle| handle.stop.stop());
    }

    /// Every mirror copies these topics from now on, in the order in which they were started, and looks for them at once.
    pub(super) fn select<'a>(&self, topics: impl Iterator<Item = &'a TopicSelection>) {
        for (handle, topics) in self.0.iter().zip(topics) {
            handle.selection.set(topics.clone());
        }
    }

    /// A mirror has ended: the name under which that is said, if there are others.
    pub(super) fn ended(&mut self, number: usize, outcome: Result<String, String>) -> Option<&str> {
        let several = self.0.len() > 1;
        let handle = &mut self.0[number];
        handle.ended = Some(outcome);
        several.then_some(handle.name.as_str())
    }

    /// How they all stand.
    pub(super) fn shown(&self) -> Vec<Shown> {
        let shown = self.0.iter().map(|handle| {
            let mut status = handle.status.snapshot();
            status.name.clone_from(&handle.name);
            Shown { status, ended: handle.ended.clone() }
        });
        shown.collect()
    }
}

/// All numbers below `count`, another one first each time.
fn in_turn(first: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |step| (first + step) % count)
}
