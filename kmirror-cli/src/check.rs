//! `kmirror config check`: what is in force, where it comes from, and what does nothing.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use kmirror_core::config::{Resolved, Setting, effective};

use crate::args::RunArgs;
use crate::exit::Failure;
use crate::settings::resolved;
use crate::view::plain;

/// Prints the settings of every mirror, and every warning that a start would give.
pub(crate) fn check(args: &RunArgs) -> Result<(), Failure> {
    let mirrors = resolved(args).map_err(Failure::found)?;
    let mut text = String::new();
    for mirror in &mirrors {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "mirror {}\n", mirror.config.name);
        text.push_str(&table(mirror));
        text.push('\n');
    }
    let warnings: Vec<_> = mirrors.iter().flat_map(|mirror| &mirror.warnings).collect();
    for warning in &warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    io::stdout().write_all(text.as_bytes()).map_err(|error| Failure::failed(format!("standard output: {error}")))
}

/// ```text
/// setting           value   from               Kafka's default
/// streams           4       default            1 (MirrorMaker)
/// refresh_interval  5s      kmirror.toml:12    5min (MirrorMaker), 10min (MirrorMaker 2)
/// ```
fn table(mirror: &Resolved) -> String {
    let head = ["setting", "value", "from", "Kafka's default"].map(str::to_owned);
    let row = |setting: Setting| {
        let Setting { name, value, origin, kafka } = setting;
        [name, value, origin.to_string(), kafka.unwrap_or_default().to_owned()].map(|cell| plain(&cell))
    };
    let rows: Vec<[String; 4]> = [head].into_iter().chain(effective(mirror).into_iter().map(row)).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        // One long list of topics does not push everything else out of sight.
        cells.max().unwrap_or_default().min(WIDTH_MAX)
    };
    let widths = [width(0), width(1), width(2)];
    let mut text = String::new();
    for [name, value, origin, kafka] in &rows {
        let line = format!(
            "{name:name_width$}  {value:value_width$}  {origin:origin_width$}  {kafka}",
            name_width = widths[0],
            value_width = widths[1],
            origin_width = widths[2]
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

const WIDTH_MAX: usize = 40;
