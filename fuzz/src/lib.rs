//! What is done to hostile bytes.
//!
//! ```text
//! seeds (built here) ─┐
//! crashers/TARGET/ ───┼──► body(bytes): no panic, no abort, and what it says holds
//! libFuzzer ──────────┘
//! ```
//!
//! Each target is a function that takes any bytes and panics where a promise is broken: so the fuzzer
//! (`fuzz/libfuzzer`, nightly) and the replay (`cargo test -p kmirror-fuzz`, stable) do the very same.
#![expect(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, reason = "a broken promise has to end the run")]

mod batch;
mod codecs;
mod config;
mod conversion;
mod frame;
mod judge;
mod message_set;
mod responses;
mod seeds;

/// One kind of bytes, and what is done to them.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, that of its folders too.
    pub name: &'static str,
    /// Takes any bytes; panics where a promise is broken.
    pub body: fn(&[u8]),
    /// Bytes that get far.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: [Target; 8] = [
    Target { name: "frame", body: frame::body, seeds: frame::seeds },
    Target { name: "responses", body: responses::body, seeds: responses::seeds },
    Target { name: "batch", body: batch::body, seeds: seeds::batches },
    Target { name: "message_set", body: message_set::body, seeds: seeds::message_sets },
    Target { name: "codecs", body: codecs::body, seeds: codecs::seeds },
    Target { name: "judge", body: judge::body, seeds: judge::seeds },
    Target { name: "conversion", body: conversion::body, seeds: conversion::seeds },
    Target { name: "config", body: config::body, seeds: config::seeds },
];

/// The target of that name.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn target(name: &str) -> Target {
    TARGETS.into_iter().find(|target| target.name == name).unwrap()
}

/// The most that anything is decompressed to here, bytes.
const DECOMPRESSED_BYTES_MAX: usize = 1 << 20;
