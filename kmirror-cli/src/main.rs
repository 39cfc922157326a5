//! The `kmirror` command.
fn main() {}
