//! Text becomes a [`Config`] once; after that nothing is optional.

mod model;
pub use model::{ClusterConfig, Config, FetchConfig, Isolation, ProduceConfig, Side, StartPolicy, defaults};

pub mod topics;
pub use topics::TopicSelection;
