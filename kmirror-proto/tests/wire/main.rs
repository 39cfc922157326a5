//! The wire protocol, held against Kafka's definitions.
