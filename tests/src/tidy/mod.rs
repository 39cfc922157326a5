//! The tidy rules of the tree, each a function from text to complaints, so that each can be shown to complain.
//!
//! A complaint names the file and the line, and what to do. `it/tidy.rs` applies the rules to the files that git tracks.

mod code;
mod links;
mod manifest;
mod text;
mod tree;
mod wire;

pub use code::{glossary, module_doc};
pub use links::links;
pub use manifest::{dependencies, locked};
pub use text::{file_length, leaks, unfinished};
pub use tree::Tree;
pub use wire::message_header;
