//! The `kmirror` command: flags and files in, exit codes out. All decisions are the library's.
//!
//! ```text
//! args ─┬─ run ──── files → config::resolve → Mirror ── signals, progress, table
//!       └─ offsets ─ files → config::cluster → runtime::list_offsets ── topic:partition:offset
//! ```

mod args;
mod events;
mod exit;
mod files;
mod logging;
mod offsets;
mod progress;
mod run;
mod signals;
mod table;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    match cli.command {
        Command::Run(args) => {
            let bar = logging::start(cli.verbose, args.quiet, logging::Usual::Info);
            exit::report(run::run(&args, &bar))
        }
        Command::Offsets(args) => {
            logging::start(cli.verbose, false, logging::Usual::Errors);
            exit::report(offsets::offsets(&args))
        }
    }
}
