//! `kmirror plan`: what `kmirror run` would do with the same files and flags. Nothing is written anywhere.

mod text;

use std::io::{self, Write as _};

use kmirror_core::preview::Preview;
use kmirror_core::runtime::preview;
use serde::Serialize;

use crate::args::RunArgs;
use crate::exit::Failure;
use crate::logging::json_line;
use crate::settings::resolved;
use crate::view::plain;

/// One mirror, for tools.
#[derive(Debug, Serialize)]
struct Line<'a> {
    /// Whether nothing stands in its way.
    clear: bool,
    #[serde(flatten)]
    preview: &'a Preview,
    /// What of the configuration does nothing.
    warnings: &'a [String],
}

/// One mirror that could not be looked at.
#[derive(Debug, Serialize)]
struct Failed<'a> {
    clear: bool,
    mirror: &'a str,
    error: &'a str,
}

/// Prints what each mirror would do. Fails if anything would stand in the way of one.
pub(crate) fn plan(args: &RunArgs) -> Result<(), Failure> {
    let mirrors = resolved(args)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::failed(format!("the runtime cannot start: {error}")))?;
    let mut clear = true;
    for (number, mirror) in mirrors.into_iter().enumerate() {
        let name = mirror.config.name.clone();
        let warnings: Vec<String> = mirror.warnings.iter().map(ToString::to_string).collect();
        let text = match runtime.block_on(preview(mirror.config)) {
            Ok(found) => {
                clear &= found.is_clear();
                if args.json {
                    json_line(&Line { clear: found.is_clear(), preview: &found, warnings: &warnings })
                } else {
                    text::text(&found, &warnings)
                }
            }
            Err(error) => {
                clear = false;
                let error = error.to_string();
                if args.json {
                    json_line(&Failed { clear: false, mirror: &name, error: &error })
                } else {
                    format!("mirror {}: {}\n", plain(&name), plain(&error))
                }
            }
        };
        let between = if number > 0 && !args.json { "\n" } else { "" };
        let text = format!("{between}{text}");
        let written = io::stdout().write_all(text.as_bytes());
        // `| head` closes the pipe when it has seen enough; the exit code still says how it stands.
        if let Err(error) = written
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            return Err(Failure::failed(format!("standard output: {error}")));
        }
    }
    if clear { Ok(()) } else { Err(Failure::said()) }
}
