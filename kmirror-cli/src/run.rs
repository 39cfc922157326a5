//! `kmirror run`: one mirror from start to stop.

use std::io::{self, Write as _};
use std::pin::pin;
use std::thread::available_parallelism;

use indicatif::ProgressBar;
use kmirror_core::config::{Config, Resolved, Role, RunOptions, resolve};
use kmirror_core::observe::Status;
use kmirror_core::{EventStream, Mirror};

use crate::args::RunArgs;
use crate::events::EventLog;
use crate::exit::Failure;
use crate::files::properties;
use crate::progress::Progress;
use crate::signals::Signals;
use crate::table::table;

/// Runs a mirror until it is done, stopped or broken.
pub(crate) fn run(args: &RunArgs, bar: &ProgressBar) -> Result<(), Failure> {
    let Resolved { config, warnings } = resolved(args)?;
    for warning in &warnings {
        tracing::warn!("{warning}");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::failed(format!("the runtime cannot start: {error}")))?;
    runtime.block_on(mirror(config, bar, args.quiet))
}

fn resolved(args: &RunArgs) -> Result<Resolved, Failure> {
    if let Some((flag, advice)) = args.later.given() {
        return Err(Failure::usage(format!("{flag} is not supported by this release: {advice}")));
    }
    let options = RunOptions {
        consumer: properties(Role::Consumer.flag(), &args.consumer_config).map_err(Failure::usage)?,
        producer: properties(Role::Producer.flag(), &args.producer_config).map_err(Failure::usage)?,
        topics: args.topics().to_owned(),
        name: args.name.clone(),
        streams: args.num_streams,
        cores: available_parallelism().map_or(1, usize::from),
        commit_interval_ms: args.offset_commit_interval_ms,
        abort_on_send_failure: args.abort_on_send_failure,
        until_caught_up: args.until_caught_up,
        ..RunOptions::default()
    };
    resolve(&options).map_err(Failure::usage)
}

async fn mirror(config: Config, bar: &ProgressBar, quiet: bool) -> Result<(), Failure> {
    let listening = Signals::listen();
    let mut signals = listening.map_err(|error| Failure::failed(format!("signals cannot be taken over: {error}")))?;
    let mut mirror = Mirror::new(config);
    let stop = mirror.stop_handle();
    let status = mirror.status();
    let mut events = mirror.events();
    let mut log = EventLog::default();
    let mut progress = Progress::new(bar);
    let mut ticks = tokio::time::interval(progress.interval());
    ticks.reset();
    let mut run = pin!(mirror.run());
    let mut stopping = false;
    let outcome = loop {
        tokio::select! {
            outcome = &mut run => break outcome,
            Some(event) = events.next() => log.log(&event),
            _ = ticks.tick() => progress.show(&status.snapshot()),
            signal = signals.next() => {
                if stopping {
                    progress.clear();
                    tracing::warn!("{} again: ending at once", signal.name());
                    std::process::exit(signal.exit_code());
                }
                stopping = true;
                tracing::info!("{}: stopping (once more ends at once)", signal.name());
                stop.stop();
            }
        }
    };
    log_rest(&mut log, &mut events).await;
    progress.clear();
    if !quiet {
        show(&status.snapshot());
    }
    let summary = outcome.map_err(Failure::failed)?;
    tracing::info!("{}", summary.reason);
    Ok(())
}

/// What was said before the end and not yet taken: the reason of a failure may be among it.
async fn log_rest(log: &mut EventLog, events: &mut EventStream) {
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

fn show(status: &Status) {
    if !status.topics.is_empty() {
        // A closed standard output is no reason to fail what is done.
        let _ = io::stdout().write_all(table(status).as_bytes());
    }
}
