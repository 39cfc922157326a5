//! Independent Kafka clients against the embedded brokers, over TCP.
//!
//! Each client goes through the same [stories](story) on each release that it supports: what it writes lies in the log as it
//! was told to write it, what lies there it reads, its groups share and hand over partitions, and its transactions end.
//! A client that cannot be installed fails its tests.

mod client;
mod story;

mod command;
mod program;
mod python;

mod confluent;
mod console;
mod franz_go;
mod kafka_python;
mod kcat;
