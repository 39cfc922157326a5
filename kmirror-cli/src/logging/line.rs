//! One thing that is said, as a line of text or as a JSON object.
//!
//! ```text
//! 2026-10-01T12:00:00.123456Z  WARN west: source broker 1 (a:9092): cannot be talked to: refused
//! {"time":"2026-10-01T12:00:00.123456Z","level":"WARN","mirror":"west","message":"source broker 1 …"}
//! ```
//! The mirror is named where several run in one process. Nothing that a cluster sends can end a line or reach a terminal
//! as a command.

use std::fmt::{self, Write as _};

use serde::Serialize;
use tracing::field::{Field, Visit};
use tracing::{Event, Level};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};

use crate::view::{Tone, paint, plain};

/// What was said.
#[derive(Debug)]
pub(crate) struct Said {
    /// How much it matters.
    pub(crate) level: Level,
    /// By which part of the program.
    pub(crate) target: &'static str,
    /// About which mirror, where there are several.
    pub(crate) mirror: Option<String>,
    /// The sentence, fit for a terminal.
    pub(crate) message: String,
}

impl Said {
    /// What a tracing event says.
    pub(crate) fn of(event: &Event<'_>) -> Self {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let meta = event.metadata();
        let mirror = fields.mirror.map(|name| plain(&name));
        Self { level: *meta.level(), target: meta.target(), mirror, message: plain(&fields.message) }
    }

    /// How its level looks.
    pub(crate) fn tone(&self) -> Tone {
        match self.level {
            Level::ERROR => Tone::Bad,
            Level::WARN => Tone::Warn,
            Level::INFO => Tone::Good,
            Level::DEBUG | Level::TRACE => Tone::Dim,
        }
    }

    /// The sentence, with the mirror before it.
    pub(crate) fn sentence(&self) -> String {
        match &self.mirror {
            Some(mirror) => format!("{mirror}: {}", self.message),
            None => self.message.clone(),
        }
    }

    /// A line of text, with its end.
    pub(crate) fn text(&self, time: &str, target: bool, colours: bool) -> String {
        let mut line = String::new();
        paint(&mut line, Tone::Dim, time, colours);
        line.push(' ');
        paint(&mut line, self.tone(), &format!("{:>5}", self.level.as_str()), colours);
        line.push(' ');
        if target {
            paint(&mut line, Tone::Dim, &format!("{}: ", self.target), colours);
        }
        line.push_str(&self.sentence());
        line.push('\n');
        line
    }

    /// A JSON object, with the end of its line.
    pub(crate) fn json(&self, time: &str) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            time: &'a str,
            level: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            mirror: Option<&'a str>,
            message: &'a str,
        }
        let (mirror, message) = (self.mirror.as_deref(), self.message.as_str());
        json_line(&Line { time, level: self.level.as_str(), mirror, message })
    }
}

/// A value as one line of JSON, with its end.
pub(crate) fn json_line(value: &impl Serialize) -> String {
    // Strings and numbers under names: there is nothing that JSON cannot say.
    let json = serde_json::to_string(value).unwrap_or_default();
    let mut line = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        // JSON leaves these as they are, a terminal does not; they stand in strings only.
        if matches!(c, '\u{7f}'..='\u{9f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            let _ = write!(line, "\\u{:04x}", u32::from(c));
        } else {
            line.push(c);
        }
    }
    line.push('\n');
    line
}

/// Now, as in every line: `2026-10-01T12:00:00.123456Z`.
pub(crate) fn time() -> String {
    let mut time = String::new();
    // A string takes everything.
    let _ = SystemTime.format_time(&mut Writer::new(&mut time));
    time
}

#[derive(Default)]
struct Fields {
    mirror: Option<String>,
    message: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "mirror" => self.mirror = Some(value.to_owned()),
            _ => self.record_debug(field, &format_args!("{value}")),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let written = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            // Lines of libraries, with RUST_LOG.
            name => write!(self.message, " {name}={value:?}"),
        };
        // A string takes everything.
        let _ = written;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: &str = "2026-10-01T12:00:00.123456Z";

    fn said(mirror: Option<&str>, message: &str) -> Said {
        Said { level: Level::WARN, target: "kmirror", mirror: mirror.map(str::to_owned), message: plain(message) }
    }

    #[test]
    fn a_line_of_text() {
        let one = said(None, "gone");
        assert_eq!(one.text(TIME, false, false), "2026-10-01T12:00:00.123456Z  WARN gone\n");
        let several = said(Some("west"), "gone");
        assert_eq!(several.text(TIME, true, false), "2026-10-01T12:00:00.123456Z  WARN kmirror: west: gone\n");
        assert!(one.text(TIME, false, true).contains("\u{1b}[33m WARN\u{1b}[0m gone"), "the level has a colour");
    }

    #[test]
    fn a_json_object() {
        assert_eq!(
            said(Some("west"), "topic \"a\": gone").json(TIME),
            "{\"time\":\"2026-10-01T12:00:00.123456Z\",\"level\":\"WARN\",\"mirror\":\"west\",\
             \"message\":\"topic \\\"a\\\": gone\"}\n"
        );
        assert!(!said(None, "gone").json(TIME).contains("mirror"));
    }

    #[test]
    fn one_line_whatever_a_cluster_sends() {
        let evil = said(None, "topic a\n2026-10-01 ERROR all is lost\u{1b}]0;title\u{7}\u{9b}31m");
        for line in [evil.text(TIME, false, false), evil.json(TIME)] {
            assert_eq!(line.lines().count(), 1, "{line}");
            assert!(line.trim_end().chars().all(|c| !c.is_control()), "{line:?}");
        }
    }

    #[test]
    fn json_names_what_a_terminal_would_obey() {
        let line = json_line(&"a\u{9b}31m\u{202e}\u{1b}ü");
        assert_eq!(line, "\"a\\u009b31m\\u202e\\u001bü\"\n");
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), "a\u{9b}31m\u{202e}\u{1b}ü");
    }

    #[test]
    fn the_time_is_to_the_microsecond() {
        let time = time();
        assert!(time.len() == TIME.len() && time.ends_with('Z'), "{time}");
    }
}
