//! Where everything goes that is said while a command runs: the log's file if there is one, else standard error, which
//! may have a table below it. One lock: a line and the table never mix.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kmirror_core::clock::{Now, Tick};
use kmirror_core::runtime::Clock;

use super::frame::{Line, Recent, Tone};
use super::screen::{Screen, Size};
use crate::logging::{DailyFile, Said, time};

/// How many things that happened are kept for the table.
const RECENT_MAX: usize = 8;

/// The program's voice; copies are the same.
#[derive(Clone)]
pub(crate) struct Output {
    clock: Clock,
    /// As asked once: it does not change.
    colours: bool,
    terminal: bool,
    has_file: bool,
    sink: Arc<Mutex<Sink>>,
}

struct Sink {
    screen: Screen,
    file: Option<LogFile>,
    recent: VecDeque<(Tick, Tone, String)>,
}

struct LogFile {
    folder: PathBuf,
    file: DailyFile,
    /// Whether the last line could not be written: it is said once.
    broken: bool,
}

impl Output {
    /// Standard error, and a file for each day in this folder.
    pub(crate) fn open(folder: Option<&Path>) -> Result<Self, String> {
        let clock = Clock::start();
        let file = match folder {
            None => None,
            Some(folder) => {
                let file = DailyFile::open(folder, clock.now().unix_ms);
                let file = file.map_err(|error| format!("--log-dir {}: {error}", folder.display()))?;
                Some(LogFile { folder: folder.to_owned(), file, broken: false })
            }
        };
        let screen = Screen::stderr();
        Ok(Self {
            clock,
            colours: screen.colours() && file.is_none(),
            terminal: screen.is_terminal(),
            has_file: file.is_some(),
            sink: Arc::new(Mutex::new(Sink { screen, file, recent: VecDeque::new() })),
        })
    }

    /// Whether log lines may have colours.
    pub(crate) fn colours(&self) -> bool {
        self.colours
    }

    /// Whether a table can ever be drawn.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Whether log lines go to a file.
    pub(crate) fn has_file(&self) -> bool {
        self.has_file
    }

    /// The clock that everything here is timed by.
    pub(crate) fn now(&self) -> Tick {
        self.clock.now().tick
    }

    /// A log line, with its end. Above a table what is remembered there is what scrolls away too soon, or, with a file,
    /// is not seen at all.
    pub(crate) fn say(&self, said: &Said, line: &str, remember: bool) {
        let now = self.clock.now();
        let mut sink = self.lock();
        let seen_anyway = said.tone() == Tone::Good && sink.file.is_none();
        if remember && !seen_anyway && said.tone() != Tone::Dim {
            let tone = if said.tone() == Tone::Good { Tone::Plain } else { said.tone() };
            sink.recent.push_back((now.tick, tone, said.sentence()));
            if sink.recent.len() > RECENT_MAX {
                sink.recent.pop_front();
            }
        }
        sink.write(now, line);
    }

    /// A line for standard error alone, with its end.
    pub(crate) fn print(&self, line: &str) {
        let now = self.now();
        self.lock().screen.log(now, line);
    }

    /// How large a table may be now, if there may be one.
    pub(crate) fn room(&self) -> Option<Size> {
        self.lock().screen.room()
    }

    /// Draws a table.
    pub(crate) fn draw(&self, table: Vec<Line>) {
        let now = self.now();
        self.lock().screen.draw(now, table);
    }

    /// Takes the table away.
    pub(crate) fn clear(&self) {
        self.lock().screen.clear();
    }

    /// The same from within a panic, which may have happened while the lock was held.
    pub(crate) fn clear_if_free(&self) {
        if let Ok(mut sink) = self.sink.try_lock() {
            sink.screen.clear();
        }
    }

    /// Whether the terminal has been closed.
    pub(crate) fn is_gone(&self) -> bool {
        self.lock().screen.is_gone()
    }

    /// What happened lately, the latest last.
    pub(crate) fn recent(&self) -> Vec<Recent> {
        let now = self.now();
        let sink = self.lock();
        let recent = sink.recent.iter();
        recent.map(|(at, tone, text)| Recent { age: now.since(*at), tone: *tone, text: text.clone() }).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Sink> {
        // What is behind the lock is fit for use whenever a thread panics: at worst a table is missing.
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink {
    fn write(&mut self, now: Now, line: &str) {
        let Some(log) = &mut self.file else { return self.screen.log(now.tick, line) };
        let broken = log.file.write(now.unix_ms, line).err();
        let was_broken = std::mem::replace(&mut log.broken, broken.is_some());
        if let Some(error) = broken.filter(|_| !was_broken) {
            let warning = format!("{}  WARN --log-dir {}: {error}\n", time(), log.folder.display());
            self.recent.push_back((now.tick, Tone::Warn, format!("--log-dir: {error}")));
            self.screen.log(now.tick, &warning);
        }
    }
}
