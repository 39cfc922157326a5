//! What is said while a command runs: `tracing`'s events as lines, to standard error or, with `--log-dir`, to a file for
//! each day.

mod daily;
pub(crate) use daily::DailyFile;

mod line;
pub(crate) use line::{Said, json_line, time};

use std::path::PathBuf;

use tracing::Subscriber;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, registry};

use crate::args::LogForm;
use crate::view::Output;

/// The target of lines that repeat what the table shows.
pub(crate) const SUMMARY: &str = "kmirror::summary";

/// How a command logs.
#[derive(Clone, Debug)]
pub(crate) struct Logging {
    /// `--verbose`.
    pub(crate) verbose: bool,
    /// `--quiet`: nothing but warnings and errors.
    pub(crate) quiet: bool,
    /// `--log-dir`: a file for each day in there, instead of standard error.
    pub(crate) folder: Option<PathBuf>,
    /// `--log-format`, which `--json` sets to JSON where it is not given.
    pub(crate) form: LogForm,
}

/// Starts logging to standard error, as a command does whose results go to standard output: RUST_LOG decides how much,
/// else `--verbose`, else errors only.
pub(crate) fn start(verbose: bool) {
    let level = if verbose { LevelFilter::DEBUG } else { LevelFilter::ERROR };
    // Without a folder there is nothing that could not be opened.
    if let Ok(output) = Output::open(None) {
        listen(level, Lines { output, form: LogForm::Text, targets: verbose });
    }
}

/// Starts logging as a command that runs for long does. RUST_LOG decides how much, else `--verbose` or `--quiet`.
///
/// # Errors
/// If the folder or the file in it cannot be written, in one sentence.
pub(crate) fn open(logging: &Logging) -> Result<Output, String> {
    let level = match (logging.verbose, logging.quiet) {
        (true, _) => LevelFilter::DEBUG,
        (false, true) => LevelFilter::WARN,
        (false, false) => LevelFilter::INFO,
    };
    let output = Output::open(logging.folder.as_deref())?;
    listen(level, Lines { output: output.clone(), form: logging.form, targets: logging.verbose });
    let usual = std::panic::take_hook();
    let screen = output.clone();
    std::panic::set_hook(Box::new(move |panic| {
        screen.clear_if_free();
        usual(panic);
    }));
    Ok(output)
}

fn listen(level: LevelFilter, lines: Lines) {
    let filter = match std::env::var("RUST_LOG") {
        Ok(spec) if !spec.is_empty() => EnvFilter::builder().with_default_directive(level.into()).parse_lossy(spec),
        _ => EnvFilter::default().add_directive(level.into()),
    };
    registry().with(filter).with(lines).init();
}

/// Makes lines.
struct Lines {
    output: Output,
    form: LogForm,
    targets: bool,
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let said = Said::of(event);
        let line = match self.form {
            LogForm::Text => said.text(&time(), self.targets, self.output.colours()),
            LogForm::Json => said.json(&time()),
        };
        self.output.say(&said, &line, said.target != SUMMARY);
    }
}
