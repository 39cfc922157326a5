//! What a test measured, for whoever runs it with `--nocapture` or reads why it failed.

/// Prints one line about what was measured.
#[expect(clippy::print_stdout, reason = "the test harness keeps it until it is wanted")]
pub fn measured(text: &str) {
    println!("measured: {text}");
}
