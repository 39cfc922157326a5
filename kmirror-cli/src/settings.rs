//! Flags and files → the mirrors that they describe.

use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use kmirror_core::config::{Change, Resolved, Role, RunOptions, Surroundings, TopicSelection, changes, file, resolve};

use crate::args::RunArgs;
use crate::exit::Failure;
use crate::files::{bytes, properties};

/// Every mirror that the command line asks for: those of `--config`, or the one of MirrorMaker's flags. A failure names
/// everything that is wrong, a line each.
pub(crate) fn resolved(args: &RunArgs) -> Result<Vec<Resolved>, Failure> {
    match &args.config {
        Some(path) => of_file(path, args.until_caught_up),
        None => of_flags(args).map(|resolved| vec![resolved]),
    }
}

/// What a second reading changes, for mirrors that run.
#[derive(Debug, Default)]
pub(crate) struct Again {
    /// The mirrors that copy other topics from now on, and which.
    pub(crate) topics: Vec<(String, TopicSelection)>,
    /// What has to wait for the next start, one line each.
    pub(crate) warnings: Vec<String>,
}

/// Reads flags and files once more (SIGHUP), and compares them with `running`.
pub(crate) fn again(args: &RunArgs, running: &[Resolved]) -> Result<Again, Failure> {
    let mut again = Again::default();
    for change in changes(running, &resolved(args)?) {
        match change {
            Change::Topics { mirror, topics } => again.topics.push((mirror, topics)),
            Change::Setting { mirror, setting } => {
                again
                    .warnings
                    .push(format!("mirror {mirror}: {setting} is different now: it counts from the next start on"));
            }
            Change::Appeared(mirror) => {
                again.warnings.push(format!("mirror {mirror} is new: it runs from the next start on"));
            }
            Change::Vanished(mirror) => {
                again
                    .warnings
                    .push(format!("mirror {mirror} is gone from the configuration: it runs until the next start"));
            }
        }
    }
    Ok(again)
}

fn of_file(path: &Path, until_caught_up: bool) -> Result<Vec<Resolved>, Failure> {
    let name = path.display().to_string();
    let text = bytes(path).map_err(|error| Failure::usage(format!("--config {name}: cannot be read: {error}")))?;
    let surroundings = Surroundings {
        env: &|name| std::env::var(name).ok(),
        // Beside the file, wherever the command was started.
        read: &|name| bytes(&path.parent().unwrap_or(Path::new("")).join(name)),
        cores: cores(),
        until_caught_up,
    };
    file::parse(&name, &text, &surroundings).map_err(Failure::usage)
}

fn of_flags(args: &RunArgs) -> Result<Resolved, Failure> {
    let file = |flag: &str, path: Option<&PathBuf>| match path {
        Some(path) => properties(flag, path).map_err(Failure::usage),
        None => Err(Failure::usage(format!("{flag} is missing"))),
    };
    let mapping = args.topic_mappings.as_ref().map(|path| file("--topic.mappings", Some(path)));
    let options = RunOptions {
        consumer: file(Role::Consumer.flag(), args.consumer_config.as_ref())?,
        producer: file(Role::Producer.flag(), args.producer_config.as_ref())?,
        topics: args.topics().to_owned(),
        exclude: args.excluded().map(str::to_owned),
        mapping: mapping.transpose()?,
        message_handler: args.message_handler.clone(),
        message_handler_args: args.message_handler_args.clone(),
        rebalance_listener: args.has_rebalance_listener(),
        name: args.name.clone(),
        streams: args.num_streams,
        cores: cores(),
        commit_interval_ms: args.offset_commit_interval_ms,
        abort_on_send_failure: args.abort_on_send_failure,
        until_caught_up: args.until_caught_up,
        ..RunOptions::default()
    };
    resolve(&options).map_err(Failure::usage)
}

fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}
