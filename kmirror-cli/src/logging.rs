//! Log lines on standard error, above the progress line where there is one.

use std::io::{self, IsTerminal as _, Write};

use indicatif::ProgressBar;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

/// How much a command says of its own accord.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Usual {
    /// The course of things.
    Info,
    /// Errors only: what matters is on standard output.
    Errors,
}

/// Starts logging: RUST_LOG decides, else `--verbose`, `--quiet`, or what the command does usually. Returns the line
/// that [`crate::progress`] draws on; it is hidden where standard error is no terminal.
pub(crate) fn start(verbose: bool, quiet: bool, usual: Usual) -> ProgressBar {
    let level = match (verbose, quiet, usual) {
        (true, _, _) => LevelFilter::DEBUG,
        (false, true, _) => LevelFilter::WARN,
        (false, false, Usual::Info) => LevelFilter::INFO,
        (false, false, Usual::Errors) => LevelFilter::ERROR,
    };
    let filter = match std::env::var("RUST_LOG") {
        Ok(spec) if !spec.is_empty() => EnvFilter::builder().with_default_directive(level.into()).parse_lossy(spec),
        _ => EnvFilter::default().add_directive(level.into()),
    };
    let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::no_length() };
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(colours)
        .with_target(verbose)
        .with_writer(AboveBar { bar: bar.clone() })
        .init();
    bar
}

/// Standard error; the progress line is taken away while a line is written.
struct AboveBar {
    bar: ProgressBar,
}

/// One log line.
struct Line {
    bar: ProgressBar,
}

impl<'a> MakeWriter<'a> for AboveBar {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line { bar: self.bar.clone() }
    }
}

impl Write for Line {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.bar.suspend(|| io::stderr().write(text))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
