//! The wire protocol, held against Kafka's message definitions, against an independent implementation, and against
//! bytes that nobody should send.

mod samples;

mod frames;
mod hostile;
mod left_out;
mod oracle;
mod primitives;
mod round_trip;
mod vectors;
