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
    let timeouts = (timeout, cluster.settings.transaction_timeout_max);
    let given = cluster.transactions.init(call.now, transactional_id, timeouts, known);
    cluster.waits.change();
    given
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asking::Asking;
    use crate::{NodeId, Release};

    #[test]
    fn a_timeout_is_no_longer_than_the_setting_says() {
        let cluster = Cluster::builder(Release::V2_0).setting("transaction.max.timeout.ms", "1000").build().unwrap();
        let mut client = Asking::to(cluster, NodeId(0));
        client.cluster.make_internal_topic(Coordinates::Transaction);
        for (transaction_timeout_ms, code) in [(1000, 0), (1001, 50), (0, 50), (-1, 50)] {
            let transactional_id = Some("x".to_owned());
            let request =
                InitProducerIdRequest { transactional_id, transaction_timeout_ms, ..InitProducerIdRequest::default() };
            let answer: InitProducerIdResponse = client.ask(0, request);
            assert_eq!(answer.error_code.0, code, "{transaction_timeout_ms}");
        }
    }
}
