//! Why a test could not go on, as text that a person can act on.

use std::fmt;
use std::io;

/// The result of every step of the harness.
pub type Result<T = ()> = std::result::Result<T, Failure>;

/// A failed step: what was being done, and what came of it.
///
/// `Debug` prints the plain text, so that a test that returns it ends with readable lines.
pub struct Failure(String);

impl Failure {
    /// A failure that says `text`.
    pub fn new(text: impl Into<String>) -> Failure {
        Failure(text.into())
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

/// Says what was being done when an operation of the system failed.
pub trait Context<T> {
    /// The value, or `<what>: <error>`.
    fn context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Failure(format!("{}: {error}", what())))
    }
}

/// Fails with `text` unless `holds`.
pub fn ensure(holds: bool, text: impl FnOnce() -> String) -> Result {
    if holds { Ok(()) } else { Err(Failure(text())) }
}
