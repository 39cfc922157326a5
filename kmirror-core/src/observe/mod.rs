//! What the engine says about itself: events as they happen, and where each link stands.

mod event;
pub use event::{Event, Severity};

mod route_event;
pub use route_event::RouteEvent;

mod reason;
pub use reason::StopReason;
pub(crate) use reason::advice;

mod status;
pub use status::{Counters, LinkState, Status, TopicState, TopicStatus};
