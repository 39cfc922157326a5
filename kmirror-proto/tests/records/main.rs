//! Record formats against what Java writes, against an independent crate, and against hostile bytes.

mod hostile;
mod java;
mod oracle;
mod round_trip;
mod story;
