//! AddOffsetsToTxn: the offsets of a group become a part of a transaction: the group's partition of
//! `__consumer_offsets` gets a marker as well.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{AddOffsetsToTxnRequest, AddOffsetsToTxnResponse};

use crate::cluster::{Call, Cluster, Coordinates, Reply};
use crate::transactions::Identity;

/// The first version with error 90 (KIP-588).
const FENCES_FROM: i16 = 2;

/// Answered by the transaction's coordinator.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &AddOffsetsToTxnRequest) -> Reply {
    let error_code = add(cluster, call, request).err().unwrap_or(ErrorCode::NONE);
    Reply::from(AddOffsetsToTxnResponse { error_code, ..AddOffsetsToTxnResponse::default() })
}

fn add(cluster: &mut Cluster, call: &Call, request: &AddOffsetsToTxnRequest) -> Result<(), ErrorCode> {
    let id = request.transactional_id.as_str();
    cluster.coordinates(call, Coordinates::Transaction, id)?;
    let producer = Identity { id: request.producer_id, epoch: request.producer_epoch };
    cluster.make_internal_topic(Coordinates::Group);
    let place = cluster.coordinated_by(Coordinates::Group, &request.group_id);
    cluster.transactions.add(call.now, (id, producer), call.version >= FENCES_FROM, place)
}
