//! InitProducerId: an id for an idempotent producer, or the next epoch of a transactional one. The rules stand in
//! [`transactions`](crate::transactions).

use std::time::Duration;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{InitProducerIdRequest, InitProducerIdResponse};

use crate::cluster::{Call, Cluster, Coordinates, Reply};
use crate::transactions::{Identity, Known, NOBODY};

/// Any broker gives ids; a transactional one comes from its coordinator.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &InitProducerIdRequest) -> Reply {
    let given = match &request.transactional_id {
        None => cluster.transactions.give_producer(),
        Some(id) => transactional(cluster, call, request, id),
    };
    let response = InitProducerIdResponse::default();
    Reply::from(match given {
        Ok(Identity { id, epoch }) => InitProducerIdResponse { producer_id: id, producer_epoch: epoch, ..response },
        Err(error_code) => {
            let Identity { id, epoch } = NOBODY;
            InitProducerIdResponse { error_code, producer_id: id, producer_epoch: epoch, ..response }
        }
    })
}

fn transactional(
    cluster: &mut Cluster,
    call: &Call,
    request: &InitProducerIdRequest,
    transactional_id: &str,
) -> Result<Identity, ErrorCode> {
    cluster.coordinates(call, Coordinates::Transaction, transactional_id)?;
    let timeout = Duration::from_millis(u64::try_from(request.transaction_timeout_ms).unwrap_or(0));
    let identity = Identity { id: request.producer_id, epoch: request.producer_epoch };
    let known = Known { identity, version_fences: call.version >= 4 };
    let given = cluster.transactions.init(call.now, transactional_id, timeout, known);
    cluster.waits.change();
    given
}
