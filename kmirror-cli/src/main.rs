//! The `kmirror` command: flags and files in, exit codes out. All decisions are the library's.
//!
//! ```text
//! args ─┬─ run ──── files → config::resolve → Mirror ── signals, view, table
//!       ├─ plan ─── files → config::resolve → runtime::preview ── patterns, routes, what stands in the way
//!       ├─ config check ─ files → config::effective ── settings, origins, warnings
//!       ├─ offsets ─ files → config::cluster → runtime::list_offsets ── topic:partition:offset
//!       ├─ inspect ─ bytes of a log or an answer → plan::judge ── boxes, fields, records, verdicts
//!       ├─ demo ─── two embedded clusters → run → offsets, contents
//!       └─ broker ─ one embedded cluster
//! ```

mod args;
mod check;
mod date;
#[cfg(feature = "testkit")]
mod demo;
mod events;
mod exit;
mod files;
mod inspect;
mod logging;
mod offsets;
mod plan;
mod progress;
mod run;
#[cfg(feature = "testkit")]
mod served;
mod settings;
mod signals;
mod table;
mod view;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command, ConfigCommand};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    match cli.command {
        Command::Run(args) => exit::report(run::run(&args, cli.verbose)),
        Command::Plan(args) => {
            logging::start(cli.verbose);
            exit::report(plan::plan(&args))
        }
        Command::Config(ConfigCommand::Check(args)) => exit::report(check::check(&args)),
        Command::Offsets(args) => {
            logging::start(cli.verbose);
            exit::report(offsets::offsets(&args))
        }
        Command::Inspect(args) => exit::report(inspect::inspect(&args)),
        #[cfg(feature = "testkit")]
        Command::Demo(args) => exit::report(demo::demo(&args, cli.verbose)),
        #[cfg(feature = "testkit")]
        Command::Broker(args) => exit::report(served::broker(&args)),
    }
}
