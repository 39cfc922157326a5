//! Standard error: log lines, and below them the table, where it is a terminal.
//!
//! ```text
//! 12:00:01  INFO connected …     ◄── stays: the terminal's own scrollback
//! 12:00:07  WARN …
//! orders-mirror: 3 topics …      ◄── drawn again and again: up as many rows as it takes, each line over the old one
//! topic       copied   of …
//! ▁                              ◄── the cursor, always below
//! ```
//! The terminal is only ever written to: no alternate screen, no raw mode, no hidden cursor, no question to the terminal
//! (which a detached container would leave open). So there is nothing to restore, however the process ends; what is left
//! behind at worst is the last table. A process in the background does not draw over the shell that has the terminal.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write};
use std::time::Duration;

use kmirror_core::clock::Tick;

use super::frame::{Line, Tone};

/// A log line takes the table away and draws it again below, but not more often than this: else a thousand lines would
/// be a thousand tables. The next tick draws it anyway.
const REDRAW_MIN: Duration = Duration::from_millis(200);

/// A process that was not heard of for so long was suspended: the shell has written below the table since.
const SUSPENDED: Duration = Duration::from_secs(5);

/// Rows below which a table makes no sense.
const ROWS_MIN: usize = 8;

/// Columns below which a table makes no sense.
const COLUMNS_MIN: usize = 40;

/// How large a terminal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// Columns.
    pub(crate) width: usize,
    /// Rows.
    pub(crate) height: usize,
}

/// What is written to, and what of the table stands on it.
pub(crate) struct Screen {
    out: Box<dyn Write + Send>,
    terminal: bool,
    colours: bool,
    /// The table as last drawn or asked for, to draw it again below a log line.
    table: Vec<Line>,
    /// The widths of the lines that stand above the cursor.
    drawn: Vec<usize>,
    at: Tick,
}

impl Screen {
    /// Standard error.
    pub(crate) fn stderr() -> Self {
        let terminal = io::stderr().is_terminal();
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        Self {
            out: Box::new(io::stderr()),
            terminal: terminal && !dumb && cfg!(unix),
            colours: terminal && !dumb && !set("NO_COLOR"),
            table: Vec::new(),
            drawn: Vec::new(),
            at: Tick::ZERO,
        }
    }

    /// Whether a table can be drawn on it at all.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Whether lines may have colours.
    pub(crate) fn colours(&self) -> bool {
        self.colours
    }

    /// How large a table may be now; `None` where it is not this process's turn or there is no room.
    pub(crate) fn room(&self) -> Option<Size> {
        let size = self.size().filter(|_| self.terminal && in_foreground())?;
        (size.width >= COLUMNS_MIN && size.height >= ROWS_MIN).then_some(size)
    }

    fn size(&self) -> Option<Size> {
        if self.terminal { size().ok() } else { None }
    }

    /// Whether it was a terminal that has been closed since.
    pub(crate) fn is_gone(&self) -> bool {
        self.terminal && size().is_err()
    }

    /// Writes whole lines above the table.
    pub(crate) fn log(&mut self, now: Tick, text: &str) {
        let size = self.size();
        self.forget_if_suspended(now);
        let mut out = String::new();
        self.erase_into(&mut out, size);
        out.push_str(text);
        if !self.table.is_empty() && now.since(self.at) >= REDRAW_MIN {
            self.draw_into(&mut out);
            self.at = now;
        }
        self.write(&out);
    }

    /// Draws a table over the last one.
    pub(crate) fn draw(&mut self, now: Tick, table: Vec<Line>) {
        let size = self.size();
        self.forget_if_suspended(now);
        let mut out = String::new();
        let rows = self.rows(size);
        if rows > 0 {
            let _ = write!(out, "\x1b[{rows}A\r");
        }
        self.table = table;
        self.draw_into(&mut out);
        // What is left of a taller one.
        out.push_str("\x1b[J");
        self.at = now;
        self.write(&out);
    }

    /// Takes the table away, for good or until it is drawn again.
    pub(crate) fn clear(&mut self) {
        let mut out = String::new();
        let size = self.size();
        self.erase_into(&mut out, size);
        self.table.clear();
        self.write(&out);
    }

    fn forget_if_suspended(&mut self, now: Tick) {
        if now.since(self.at) >= SUSPENDED {
            self.drawn.clear();
        }
    }

    fn erase_into(&mut self, out: &mut String, size: Option<Size>) {
        let rows = self.rows(size);
        self.drawn.clear();
        if rows > 0 {
            let _ = write!(out, "\x1b[{rows}A\r\x1b[J");
        }
    }

    fn draw_into(&mut self, out: &mut String) {
        self.drawn.clear();
        for line in &self.table {
            out.push_str("\r\x1b[K");
            for (tone, text) in &line.0 {
                paint(out, *tone, text, self.colours);
            }
            out.push('\n');
            self.drawn.push(line.width());
        }
    }

    /// How many rows the drawn lines take now: in a terminal that has become narrower each has been broken into several.
    fn rows(&self, size: Option<Size>) -> usize {
        let Some(Size { width, height }) = size.filter(|size| size.width > 0) else { return self.drawn.len() };
        let rows: usize = self.drawn.iter().map(|line| line.div_ceil(width).max(1)).sum();
        // What has left the screen cannot be reached.
        rows.min(height.saturating_sub(1))
    }

    fn write(&mut self, text: &str) {
        // Whoever closes standard error does not want to be told; the work goes on.
        let _ = self.out.write_all(text.as_bytes());
        let _ = self.out.flush();
    }
}

/// A piece of text with its colour around it.
pub(crate) fn paint(out: &mut String, tone: Tone, text: &str, colours: bool) {
    let code = match tone {
        Tone::Plain => "",
        Tone::Bold => "1",
        Tone::Dim => "2",
        Tone::Good => "32",
        Tone::Warn => "33",
        Tone::Bad => "31",
    };
    if code.is_empty() || !colours {
        out.push_str(text);
    } else {
        let _ = write!(out, "\x1b[{code}m{text}\x1b[0m");
    }
}

/// How many columns standard output has, if it is a terminal.
pub(crate) fn width_of_stdout() -> Option<usize> {
    #[cfg(unix)]
    return rustix::termios::tcgetwinsize(io::stdout())
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|width| *width > 0);
    #[cfg(not(unix))]
    None
}

#[cfg(unix)]
fn size() -> io::Result<Size> {
    let size = rustix::termios::tcgetwinsize(io::stderr())?;
    Ok(Size { width: usize::from(size.ws_col), height: usize::from(size.ws_row) })
}

#[cfg(not(unix))]
fn size() -> io::Result<Size> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether keys go to this process. A terminal that is nobody's (a container's) counts as ours.
#[cfg(unix)]
fn in_foreground() -> bool {
    rustix::termios::tcgetpgrp(io::stderr()).map_or(true, |group| group == rustix::process::getpgrp())
}

#[cfg(not(unix))]
fn in_foreground() -> bool {
    false
}

#[cfg(test)]
mod tests;
