//! What a running mirror shows of itself, several of them together.
//!
//! | standard error is | it shows |
//! |---|---|
//! | a terminal | log lines, below them the live table ([`mod@frame`]), twice a second |
//! | a pipe or a file, a terminal too small, a process in the background | log lines, among them every ten seconds a [summary](crate::progress) |
//! | either, with `--json` | log lines as JSON objects; every ten seconds a [status](json) on standard output |
//! | either, with `--quiet` | warnings and errors |
//!
//! With `--log-dir` the log lines, summaries among them, go to a file instead; table, summary and status stay.

mod frame;
#[cfg(feature = "testkit")]
pub(crate) use frame::Line;
pub(crate) use frame::Tone;
use frame::{Picture, frame};

pub(crate) mod json;

mod output;
pub(crate) use output::Output;

mod rows;
use rows::{Meters, Pace, Row};

mod screen;
pub(crate) use screen::{paint, width_of_stdout};

mod words;
pub(crate) use words::{cell, plain, shorten};

use std::io::{self, Write as _};
use std::time::Duration;

use kmirror_core::clock::Tick;
use kmirror_core::observe::{Status, TopicState, TopicStatus};

use crate::logging::{SUMMARY, json_line, time};
use crate::progress::Progress;
use crate::table::{grouped, seconds};

/// How often a terminal's table is drawn.
const REDRAW: Duration = Duration::from_millis(500);

/// How often there is a summary or a status.
const SUMMARIZE: Duration = Duration::from_secs(10);

/// A mirror's name in the title.
const NAME_MAX: usize = 30;

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The table, or summaries.
    Text,
    /// Statuses.
    Json,
    /// Nothing.
    Quiet,
}

/// One mirror as it is now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// How it stands.
    pub(crate) status: Status,
    /// How it ended, if it has: well or with an error.
    pub(crate) ended: Option<Result<String, String>>,
}

/// The view of all mirrors of the process.
pub(crate) struct View {
    output: Output,
    mode: Mode,
    mirrors: Vec<(Meters, Progress)>,
    summarized: Tick,
}

impl View {
    /// A view of so many mirrors.
    pub(crate) fn new(output: &Output, mode: Mode, mirrors: usize) -> Self {
        let mirrors = (0..mirrors).map(|_| Default::default()).collect();
        Self { output: output.clone(), mode, mirrors, summarized: output.now() }
    }

    /// How often [`show`](Self::show) is wanted.
    pub(crate) fn interval(&self) -> Duration {
        if self.output.is_terminal() && self.mode == Mode::Text { REDRAW } else { SUMMARIZE }
    }

    /// Shows the mirrors, always the same number of them in the same order.
    pub(crate) fn show(&mut self, mirrors: &[Shown]) {
        let now = self.output.now();
        if self.mode != Mode::Quiet {
            for (shown, (meters, _)) in mirrors.iter().zip(&mut self.mirrors) {
                meters.look(now, &shown.status);
            }
        }
        let drawn = self.mode == Mode::Text && self.draw(mirrors);
        // A tick that comes early by a hair is the one that was meant.
        if now.since(self.summarized) + REDRAW / 2 >= SUMMARIZE {
            self.summarized = now;
            self.summarize(mirrors, drawn);
        }
    }

    /// Takes the table away.
    pub(crate) fn end(&self) {
        self.output.clear();
    }

    fn draw(&self, mirrors: &[Shown]) -> bool {
        let Some(size) = self.output.room() else {
            self.output.clear();
            return false;
        };
        // With a file there is little else to see, without one a third is for log lines.
        let height = if self.output.has_file() { size.height - 1 } else { size.height * 2 / 3 };
        let mut picture = self.picture(mirrors);
        // The last column stays free: some terminals begin a new row as soon as it is written.
        let lines = frame(&mut picture, size.width - 1, height);
        self.output.draw(lines);
        true
    }

    fn picture<'a>(&self, mirrors: &'a [Shown]) -> Picture<'a> {
        let several = mirrors.len() > 1;
        let running = || mirrors.iter().zip(&self.mirrors).filter(|(shown, _)| shown.ended.is_none());
        let mut rows: Vec<Row<'a>> = Vec::new();
        let (mut total, mut pace) = (TopicStatus::default(), Pace::default());
        for (shown, (meters, _)) in running() {
            let status = &shown.status;
            rows.extend(meters.rows(several.then_some(status.name.as_str()), status));
            let (one, its_pace) = (status.total(), meters.total(&status.total()));
            add(&mut total, &one);
            pace.records += its_pace.records;
            pace.bytes += its_pace.bytes;
            // All is done when the last one is, and nobody knows when that is if one does not know.
            pace.left = pace.left.or(Some(Duration::ZERO)).zip(its_pace.left).map(|(a, b)| a.max(b));
        }
        let ended = mirrors.iter().filter_map(|shown| {
            let name = cell(&shown.status.name);
            match shown.ended.as_ref()? {
                Ok(reason) => Some((Tone::Dim, format!("{name}: {}", cell(reason)))),
                Err(reason) => Some((Tone::Bad, format!("{name} failed: {}", cell(reason)))),
            }
        });
        let title = title(mirrors, &rows, &total);
        let lags = || rows.iter().filter(|row| row.status.state != TopicState::Gone).map(|row| row.status.lag);
        let lag_unknown = lags().any(|lag| lag.is_none());
        total.lag = Some(lags().flatten().fold(0, i64::saturating_add));
        Picture { title, rows, total, lag_unknown, pace, ended: ended.collect(), recent: self.output.recent() }
    }

    fn summarize(&mut self, mirrors: &[Shown], drawn: bool) {
        let several = mirrors.len() > 1;
        let now = time();
        for (shown, (meters, progress)) in mirrors.iter().zip(&mut self.mirrors) {
            let (name, has_file) = (shown.status.name.as_str(), self.output.has_file());
            if shown.ended.is_some() || self.mode == Mode::Quiet {
                continue;
            }
            if self.mode == Mode::Json {
                let status = json_line(&json::StatusLine::of(&now, &shown.status, meters));
                // A closed standard output is no reason to stop the work.
                let _ = io::stdout().write_all(status.as_bytes());
                if !has_file {
                    continue;
                }
            }
            let line = progress.line(&shown.status);
            if !drawn && has_file && self.mode == Mode::Text {
                let mirror = if several { format!("{}: ", plain(name)) } else { String::new() };
                self.output.print(&format!("{now}  INFO {mirror}{line}\n"));
            }
            if has_file || !drawn {
                tracing::info!(target: SUMMARY, mirror = several.then_some(name), "{line}");
            }
        }
    }
}

/// What stands above the table.
fn title(mirrors: &[Shown], rows: &[Row<'_>], total: &TopicStatus) -> String {
    let elapsed = mirrors.iter().map(|shown| shown.status.elapsed).max().unwrap_or_default();
    let who = match mirrors {
        [one] => shorten(&cell(&one.status.name), NAME_MAX),
        several => format!("{} mirrors", several.len()),
    };
    if rows.is_empty() {
        return format!("{who}, {}: waiting for both clusters", seconds(elapsed));
    }
    let in_state = |state| rows.iter().filter(|row| row.status.state == state).count();
    let states: Vec<String> =
        [(TopicState::Stopped, "stopped"), (TopicState::Blocked, "blocked"), (TopicState::Preparing, "preparing")]
            .into_iter()
            .map(|(state, word)| (in_state(state), word))
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
    let states = if states.is_empty() { String::new() } else { format!(" ({})", states.join(", ")) };
    let dropped = match total.counters.dropped {
        0 => String::new(),
        dropped => format!(", {} DROPPED", grouped(dropped)),
    };
    let topics = if rows.len() == 1 { "1 topic".to_owned() } else { format!("{} topics", rows.len()) };
    let (done, links) = (total.links_caught_up, total.links);
    format!("{who}, {}: {topics}{states}{dropped}, {done}/{links} links caught up", seconds(elapsed))
}

fn add(total: &mut TopicStatus, one: &TopicStatus) {
    total.counters.add(&one.counters);
    total.links += one.links;
    total.links_caught_up += one.links_caught_up;
    total.links_stopped += one.links_stopped;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mirror(name: &str, topics: &[(&str, TopicState, Option<i64>)]) -> Shown {
        let topic = |&(name, state, lag): &(&str, TopicState, Option<i64>)| {
            (name.to_owned(), TopicStatus { state, lag, links: 4, links_caught_up: 1, ..TopicStatus::default() })
        };
        let (topics, elapsed) = (topics.iter().map(topic).collect(), Duration::from_secs(125));
        Shown { status: Status { name: name.to_owned(), topics, elapsed }, ended: None }
    }

    fn picture(mirrors: &[Shown]) -> (String, Option<i64>, bool, usize, Vec<(Tone, String)>) {
        let view = View::new(&Output::open(None).unwrap(), Mode::Text, mirrors.len());
        let Picture { title, rows, total, lag_unknown, ended, .. } = view.picture(mirrors);
        (title, total.lag, lag_unknown, rows.len(), ended)
    }

    #[test]
    fn the_title_says_what_needs_somebody() {
        use TopicState::{Blocked, Gone, Preparing, Running, Stopped};
        let title = |topics| picture(&[mirror("orders", topics)]).0;
        assert_eq!(title(&[]), "orders, 2 min 05 s: waiting for both clusters");
        assert_eq!(title(&[("a", Running, None)]), "orders, 2 min 05 s: 1 topic, 1/4 links caught up");
        assert_eq!(
            title(&[("a", Running, None), ("b", Stopped, None), ("c", Blocked, None), ("d", Preparing, None)]),
            "orders, 2 min 05 s: 4 topics (1 stopped, 1 blocked, 1 preparing), 4/16 links caught up"
        );
        let mut dropped = mirror("orders", &[("a", Running, None), ("b", Gone, None)]);
        dropped.status.topics.get_mut("a").unwrap().counters.dropped = 1_234;
        assert_eq!(picture(&[dropped]).0, "orders, 2 min 05 s: 2 topics, 1,234 DROPPED, 2/8 links caught up");
    }

    #[test]
    fn the_sum_is_that_of_mirrors_that_run() {
        use TopicState::{Gone, Running};
        let east = mirror("east", &[("a", Running, Some(5)), ("b", Gone, None)]);
        let west = mirror("west", &[("a", Running, Some(7))]);
        let (title, lag, unknown, rows, ended) = picture(&[east.clone(), west.clone()]);
        assert_eq!(title, "2 mirrors, 2 min 05 s: 3 topics, 3/12 links caught up");
        assert_eq!((lag, unknown, rows, ended), (Some(12), false, 3, Vec::new()), "what is gone has no lag");

        let failed = Shown { ended: Some(Err("no broker \u{1b}answers".to_owned())), ..west };
        let (_, lag, _, rows, ended) = picture(&[east, failed]);
        assert_eq!((lag, rows), (Some(5), 2));
        assert_eq!(ended, [(Tone::Bad, "west failed: no broker \\u{1b}answers".to_owned())]);
    }

    #[test]
    fn one_unknown_lag_makes_the_sum_a_lower_bound() {
        use TopicState::{Preparing, Running};
        let (_, lag, unknown, ..) = picture(&[mirror("m", &[("a", Running, Some(5)), ("b", Preparing, None)])]);
        assert_eq!((lag, unknown), (Some(5), true));
    }
}
