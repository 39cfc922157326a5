//! Requests that take effect after their connection has ended: what a client calls unknown.

use std::time::Duration;

use kmirror_proto::RequestHeader;
use kmirror_proto::messages::AnyRequest;

use crate::cluster::{Call, Cluster};
use crate::{NodeId, api};

/// One of them.
#[derive(Debug)]
pub(crate) struct Late {
    pub(super) due: Duration,
    pub(super) node: NodeId,
    pub(super) header: RequestHeader,
    pub(super) request: AnyRequest,
}

impl Cluster {
    /// Applies those whose time has come. Nobody hears the answers. A broker that is down has lost them, one that is
    /// frozen has them when it is thawed.
    pub(crate) fn apply_late(&mut self) {
        let now = self.now();
        let mut at = 0;
        while let Some(late) = self.intercepts.late.get(at) {
            if late.due > now.elapsed || self.is_frozen(late.node) {
                at += 1;
                continue;
            }
            let Late { due: _, node, header, request } = self.intercepts.late.remove(at);
            if self.is_running(node) {
                let ticket = self.new_ticket();
                let call = Call { now, ticket, node, version: header.version, client_id: header.client_id };
                drop(api::answer(self, &call, request));
            }
        }
    }

    /// When the next of them is due.
    pub(crate) fn late_due(&self) -> Option<Duration> {
        let late = self.intercepts.late.iter().filter(|late| !self.is_frozen(late.node));
        late.map(|late| late.due).min()
    }
}
