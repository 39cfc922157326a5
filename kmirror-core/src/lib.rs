//! The engine.

pub mod clock;
pub mod config;
