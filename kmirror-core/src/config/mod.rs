//! Text becomes a [`Config`] once; after that nothing is optional.
//!
//! ```text
//! consumer.properties ─┐                    ┌─ keys: what each key means
//!                      ├→ RawConfig ─ survey ┴→ one Warning for each key that does nothing
//! producer.properties ─┘      │
//! RunOptions (flags) ─────────┴─ resolve ──→ Config, every value decided
//! ```

pub mod error;
pub use error::{ConfigError, PatternFault, Place};

mod model;
pub use model::{ClusterConfig, Config, FetchConfig, Isolation, ProduceConfig, Side, StartPolicy, defaults};

mod pattern;
pub mod topics;
pub use topics::{TopicPattern, TopicSelection};

mod routing;
pub use routing::{
    Coalesce, DamagePolicy, LossPolicy, PartitionPolicy, Policies, Rename, Route, RouteConfig, RouteRule, Routing,
    TopicCreation,
};

pub mod properties;
pub use properties::{RawConfig, RawEntry};

pub mod keys;
pub use keys::Role;

mod units;
mod values;

mod built_in;
mod clients;
mod mapping;
mod cluster;
pub use cluster::{Warning, cluster, command_timeout, survey};

mod origin;
pub use origin::{Origin, Origins};

mod resolve;
pub use resolve::{Resolved, RunOptions, resolve};

pub mod file;
pub use file::{ConfigErrors, Surroundings};

mod changes;
pub use changes::{Change, changes};

mod settings;
pub use settings::{Setting, effective, is_secret};
