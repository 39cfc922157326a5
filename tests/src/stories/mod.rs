//! Stories of mirrors: each is told once, and played between real brokers (`it`) and between embedded ones (`fast`).

pub mod abort;
pub mod bad_input;
pub mod intruders;
pub mod live;
pub mod plan;
pub mod policies;
pub mod settings;
pub mod zoo;
