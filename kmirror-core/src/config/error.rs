//! What can be wrong with flags and files, each as one sentence that names the place and the way out.

use std::fmt;

/// Where a property stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named on the command line.
    pub file: String,
    /// The line on which the property begins, counted from 1; 0 if it was not read from a file.
    pub line: usize,
    /// The property's key, as it stands there.
    pub key: String,
}

/// Flags or files that make no mirror.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A `\u` that four hexadecimal digits do not follow; Java refuses the whole file as well.
    #[error(
        "{file}:{line}: malformed \\u escape: four hexadecimal digits must follow (a plain backslash is written \\\\)"
    )]
    Escape {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
    },
    /// A value that its key cannot have.
    #[error("{place}: {value:?} is not a value of this key: {expected}")]
    Value {
        /// The property.
        place: Place,
        /// Its value.
        value: String,
        /// What is allowed.
        expected: String,
    },
    /// A file that is no TOML.
    #[error("{file}:{line}: {fault}")]
    Toml {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong there.
        fault: String,
    },
    /// A setting of a TOML file that cannot stand there so.
    #[error("{place}: {fault}")]
    Setting {
        /// The setting.
        place: Place,
        /// What is wrong with it, and the way out.
        fault: String,
    },
    /// A property that asks for what this release cannot do, and that must not be ignored.
    #[error("{place}: {what} not supported by this release: {advice}")]
    Unsupported {
        /// The property.
        place: Place,
        /// "TLS and SASL are".
        what: &'static str,
        /// The way out.
        advice: &'static str,
    },
    /// A property without which there is no cluster to talk to.
    #[error("{file}: {key} is missing: {advice}")]
    Missing {
        /// The file that should have it.
        file: String,
        /// The key.
        key: &'static str,
        /// The way out.
        advice: String,
    },
    /// Neither `--name` nor `group.id`.
    #[error("the mirror has no name: set group.id in {file}, or give --name (the ledger on the target is found by it)")]
    Nameless {
        /// The consumer's file.
        file: String,
    },
    /// A name that no topic can carry.
    #[error("{origin} {name:?} cannot name the mirror: {fault}; {advice}")]
    Name {
        /// `--name` or `group.id`.
        origin: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it.
        fault: String,
        /// The way out.
        advice: &'static str,
    },
    /// A flag with a value out of its range.
    #[error("{flag} {value}: {expected}")]
    Flag {
        /// The flag.
        flag: &'static str,
        /// Its value.
        value: String,
        /// What is allowed, or what is wrong with it.
        expected: String,
    },
    /// A topic pattern that cannot be used.
    #[error("topic pattern `{pattern}`: {fault}")]
    Pattern {
        /// The pattern as it was given.
        pattern: String,
        /// What is wrong with it.
        fault: PatternFault,
    },
    /// A replacement of a rename rule that cannot be used.
    #[error("replacement `{text}`: {fault}")]
    Replacement {
        /// The replacement as it was given.
        text: String,
        /// What is wrong with it.
        fault: String,
    },
}

impl ConfigError {
    /// The line that it is about, 0 if there is none.
    #[must_use]
    pub fn line(&self) -> usize {
        match self {
            Self::Escape { line, .. } | Self::Toml { line, .. } => *line,
            Self::Value { place, .. } | Self::Unsupported { place, .. } | Self::Setting { place, .. } => place.line,
            Self::Missing { .. }
            | Self::Nameless { .. }
            | Self::Name { .. }
            | Self::Flag { .. }
            | Self::Pattern { .. }
            | Self::Replacement { .. } => 0,
        }
    }
}

/// What is wrong with a topic pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternFault {
    /// Nothing is left once quotes and white space are gone.
    #[error("it is empty and would match no topic: name a topic, a list of topics, or \".*\" for all")]
    Empty,
    /// Something that Java's expressions have and kmirror's do not, or that both read differently.
    #[error("{construct} at character {position} is not supported: {advice}")]
    Construct {
        /// The construct with its text.
        construct: String,
        /// Where it begins in the pattern as it was given, in characters counted from 1.
        position: usize,
        /// The way out.
        advice: &'static str,
    },
    /// Not a regular expression.
    #[error("it is not a regular expression: {0}")]
    Syntax(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.key.escape_debug()),
            line => write!(f, "{}:{line}: {}", self.file, self.key.escape_debug()),
        }
    }
}
