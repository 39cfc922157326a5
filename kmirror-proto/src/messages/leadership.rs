//! What answers tell a client that asked the wrong broker: who leads now, and where that broker is (KIP-951).
//!
//! ```text
//! current leader   leader id, leader epoch            a tagged field of a partition
//! node endpoint    node, host, port, nullable rack    a tagged field of the answer
//! ```
//!
//! Java: `ProduceResponseData.LeaderIdAndEpoch`, `FetchResponseData.NodeEndpoint`.

use crate::error::{DecodeError, EncodeError};
use crate::wire::{Form, Reader, TaggedFields, Writer};

/// Who leads a partition now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaderIdAndEpoch {
    /// The leader, -1 when there is none or it is unknown.
    pub leader_id: i32,
    /// Its epoch, -1 when unknown.
    pub leader_epoch: i32,
}

/// Where a broker is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeEndpoint {
    /// Its id.
    pub node_id: i32,
    /// The host that it advertises.
    pub host: String,
    /// The port that it advertises, as sent: not checked to be one.
    pub port: i32,
    /// Its rack.
    pub rack: Option<String>,
}

impl Default for LeaderIdAndEpoch {
    fn default() -> Self {
        Self { leader_id: -1, leader_epoch: -1 }
    }
}

impl LeaderIdAndEpoch {
    pub(super) fn put(self, tag: u32, tagged: &mut TaggedFields) -> Result<(), EncodeError> {
        tagged.put(tag, |w| {
            w.put_i32(self.leader_id);
            w.put_i32(self.leader_epoch);
            w.put_no_tagged_fields(Form::Compact);
            Ok(())
        })
    }

    pub(super) fn decode(r: &mut Reader) -> Result<Self, DecodeError> {
        let leader = Self { leader_id: r.i32("current leader id")?, leader_epoch: r.i32("current leader epoch")? };
        r.skip_tagged_fields(Form::Compact, "current leader")?;
        Ok(leader)
    }
}

impl NodeEndpoint {
    /// Nothing when there are none.
    pub(super) fn put_all(endpoints: &[Self], tag: u32, tagged: &mut TaggedFields) -> Result<(), EncodeError> {
        if endpoints.is_empty() {
            return Ok(());
        }
        tagged.put(tag, |w| w.put_items(Form::Compact, endpoints, "node endpoints", |w, node| node.encode(w)))
    }

    pub(super) fn decode_all(r: &mut Reader) -> Result<Vec<Self>, DecodeError> {
        r.items(Form::Compact, 11, "node endpoints", |r| {
            let node = Self {
                node_id: r.i32("node id")?,
                host: r.string(Form::Compact, "node host")?,
                port: r.i32("node port")?,
                rack: r.nullable_string(Form::Compact, "node rack")?,
            };
            r.skip_tagged_fields(Form::Compact, "node endpoint")?;
            Ok(node)
        })
    }

    fn encode(&self, w: &mut Writer) -> Result<(), EncodeError> {
        w.put_i32(self.node_id);
        w.put_string(Form::Compact, &self.host, "node host")?;
        w.put_i32(self.port);
        w.put_nullable_string(Form::Compact, self.rack.as_deref(), "node rack")?;
        w.put_no_tagged_fields(Form::Compact);
        Ok(())
    }
}
