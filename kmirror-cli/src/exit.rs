//! Exit codes: 0 clean, 1 failure, 2 usage; `offsets` has Java's, where usage is 1 too.

use std::fmt::{self, Display};
use std::io::{self, Write as _};
use std::process::ExitCode;

/// Why a command ends without success: one sentence for standard error, and the code.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    /// The command was understood and did not succeed: 1.
    pub(crate) fn failed(message: impl Display) -> Self {
        Self { message: message.to_string(), code: 1 }
    }

    /// The same, where it was said already.
    pub(crate) fn said() -> Self {
        Self { message: String::new(), code: 1 }
    }

    /// The same, from a command that was to find just this out: 1.
    pub(crate) fn found(self) -> Self {
        Self { code: 1, ..self }
    }

    /// Flags or files make no sense: 2.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self { message: message.to_string(), code: 2 }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Says why on standard error.
pub(crate) fn report(outcome: Result<(), Failure>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { message, code }) => {
            if !message.is_empty() {
                // Nobody is left to be told where standard error is closed.
                let _ = writeln!(io::stderr(), "{message}");
            }
            ExitCode::from(code)
        }
    }
}

/// A command line that was not understood; help and version are no failure.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if !error.use_stderr() {
        return ExitCode::SUCCESS;
    }
    let offsets = std::env::args_os().nth(1).is_some_and(|command| command == "offsets");
    ExitCode::from(if offsets { 1 } else { 2 })
}
