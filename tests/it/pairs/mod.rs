//! Any pair of releases: a zoo of records arrives as it was, minus what the target's format has no place for, counted.

mod dry;
mod settings;
mod zoo;
