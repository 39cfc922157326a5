//! `kmirror run`: any number of mirrors, from start to stop.
//!
//! Each mirror has threads of its own; here they are started, listened to and stopped, on one thread. One that fails is
//! said at once and named at the end, the others go on.

mod mirrors;

use std::io::{self, Write as _};

use kmirror_core::config::Resolved;

use crate::args::{LogForm, RunArgs};
use crate::exit::Failure;
use crate::logging::{Logging, json_line, open};
use crate::settings::{Again, again, resolved};
use crate::signals::{Signal, Signals};
use crate::table::table;
use crate::view::json::Report;
use crate::view::{Mode, Output, Shown, View, plain, width_of_stdout};
use mirrors::Handles;

/// Runs the mirrors until they are done, stopped or broken.
pub(crate) fn run(args: &RunArgs, verbose: bool) -> Result<(), Failure> {
    let configured = resolved(args)?;
    let mode = match (args.quiet, args.json) {
        (true, _) => Mode::Quiet,
        (false, true) => Mode::Json,
        (false, false) => Mode::Text,
    };
    let usual = if args.json { LogForm::Json } else { LogForm::Text };
    let form = args.log_format.unwrap_or(usual);
    let output = open(&Logging { verbose, quiet: args.quiet, folder: args.log_dir.clone(), form });
    let output = output.map_err(Failure::failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::failed(format!("the runtime cannot start: {error}")))?;
    let ended = runtime.block_on(mirrors(args, configured, &output, mode))?;
    report(&ended, mode);
    failure(&ended, mode)
}

/// Runs mirrors to their ends, and says how each of them stood then.
async fn mirrors(
    args: &RunArgs,
    mut configured: Vec<Resolved>,
    output: &Output,
    mode: Mode,
) -> Result<Vec<Shown>, Failure> {
    let listening = Signals::listen();
    let mut signals = listening.map_err(|error| Failure::failed(format!("signals cannot be taken over: {error}")))?;
    for warning in configured.iter().flat_map(|resolved| &resolved.warnings) {
        tracing::warn!("{warning}");
    }
    let mut view = View::new(output, mode, configured.len());
    let configs = configured.iter().map(|resolved| resolved.config.clone());
    let (mut runs, mut ears, mut handles) = mirrors::start(configs.collect());
    let mut ticks = tokio::time::interval(view.interval());
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    ticks.reset();
    let mut stopping = false;
    while !runs.is_over() {
        tokio::select! {
            (number, outcome) = runs.next_end() => {
                ears.listen_to_rest(number).await;
                let outcome = outcome.map(|summary| summary.reason.to_string()).map_err(|error| plain(&error.to_string()));
                let alone = output.has_file() || mode == Mode::Json;
                match (handles.ended(number, outcome.clone()), outcome) {
                    (Some(mirror), Ok(reason)) => tracing::info!(mirror, "{reason}"),
                    (Some(mirror), Err(reason)) => tracing::error!(mirror, "failed: {reason}"),
                    // Said by whoever reports the end of the command, except to files and tools.
                    (None, Err(reason)) if alone => tracing::error!("{reason}"),
                    (None, _) => {}
                }
            }
            () = ears.listen() => {}
            _ = ticks.tick() => view.show(&handles.shown()),
            signal = signals.next() => {
                let ends = signal != Signal::Hangup || output.is_gone();
                if !ends {
                    select_again(args, &mut configured, &handles);
                } else if !stopping {
                    stopping = true;
                    tracing::info!("{}: stopping (once more ends at once)", signal.name());
                    handles.stop();
                } else if signal != Signal::Hangup {
                    view.end();
                    tracing::warn!("{} again: ending at once", signal.name());
                    std::process::exit(signal.exit_code());
                }
            }
        }
    }
    view.end();
    Ok(handles.shown())
}

/// SIGHUP: every mirror that runs looks at once for the topics that are selected now. What else has changed counts from
/// the next start on.
fn select_again(args: &RunArgs, configured: &mut [Resolved], handles: &Handles) {
    let Again { topics, warnings } = match again(args, configured) {
        Ok(again) => again,
        Err(failure) => {
            tracing::error!("SIGHUP: the configuration cannot be used, so nothing changes: {failure}");
            return;
        }
    };
    tracing::info!("SIGHUP: the configuration was read again, both clusters are looked at");
    for warning in warnings {
        tracing::warn!("SIGHUP: {warning}");
    }
    for (name, topics) in topics {
        for resolved in configured.iter_mut().filter(|resolved| resolved.config.name == name) {
            resolved.config.topics = topics.clone();
        }
    }
    handles.select(configured.iter().map(|resolved| &resolved.config.topics));
}

/// The last word on standard output.
fn report(mirrors: &[Shown], mode: Mode) {
    let mut text = String::new();
    if mode == Mode::Json {
        text = json_line(&Report::of(mirrors));
    } else if mode == Mode::Text {
        for shown in mirrors.iter().filter(|shown| !shown.status.topics.is_empty()) {
            if mirrors.len() > 1 {
                text.push_str(&format!("mirror {}\n", plain(&shown.status.name)));
            }
            text.push_str(&table(&shown.status, width_of_stdout()));
        }
    }
    // A closed standard output is no reason to fail what is done.
    let _ = io::stdout().write_all(text.as_bytes());
}

/// Whether any of them failed, and why.
fn failure(mirrors: &[Shown], mode: Mode) -> Result<(), Failure> {
    let failed: Vec<(&str, &str)> = mirrors
        .iter()
        .filter_map(|shown| Some((shown.status.name.as_str(), shown.ended.as_ref()?.as_ref().err()?.as_str())))
        .collect();
    match (failed.as_slice(), mirrors) {
        ([], [one]) => {
            if let Some(Ok(reason)) = &one.ended {
                tracing::info!("{reason}");
            }
            Ok(())
        }
        ([], _) => Ok(()),
        // A tool has read it as a line of the log.
        _ if mode == Mode::Json => Err(Failure::said()),
        ([(_, reason)], [_]) => Err(Failure::failed(reason)),
        (failed, mirrors) => {
            let each: Vec<String> = failed.iter().map(|(name, reason)| format!("{}: {reason}", plain(name))).collect();
            let counts = format!("{} of {} mirrors failed", failed.len(), mirrors.len());
            Err(Failure::failed(format!("{counts}: {}", each.join("; "))))
        }
    }
}
