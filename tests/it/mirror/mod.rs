//! `kmirror run` between real brokers, judged by Kafka's own Java client and by the brokers' segment files.

mod abort;
mod acceptance;
mod bad_input;
mod crash;
mod embed;
mod formats;
mod intruders;
mod leaders;
mod raw;
mod stop;
mod transactions;
