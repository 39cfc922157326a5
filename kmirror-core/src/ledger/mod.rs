//! What is proved written, at rest: one compacted topic on the target per mirror.
//!
//! ```text
//! kmirror.<name>.ledger, one partition
//!   key                                      value
//!   id/<producer id>                         {"v":1}                       never overwritten; the first one counts
//!   shared-id/<partition>/<producer id>      {"v":1}                       the same, per source partition
//!   route/<topic>                            {"target":…, "topic_id":…}    the newest one counts
//!   left-out/<partition>/<topic>             [[from,to],…]                 the newest one counts
//!   epoch/<epoch>/<partition>/<topic>        {"v":1}                       the highest one counts
//!   checkpoint/<worker>/<partition>/<topic>  {"v":1,"source_next":…, …}    the newest one counts
//! ```
//! A value is `<crc32c of the rest, hex> <JSON>`: readable by any console consumer, and damage is seen. An entry is
//! only ever a claim that the target's own log has to confirm ([`crate::rules`]).

mod entry;
pub use entry::{Checkpoint, LedgerEntry, LedgerError, Producing, Slot, StoredRoute};

mod state;
pub use state::Ledger;

mod store;
pub use store::{Store, StoreEvent, topic_name};
