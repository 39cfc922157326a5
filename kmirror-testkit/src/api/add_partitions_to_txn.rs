//! AddPartitionsToTxn: what a transaction is about to write to. From v4 on of several transactions, asked by brokers
//! (KIP-890). The rules stand in [`transactions`](crate::transactions).

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    AddPartitionsToTxnRequest, AddPartitionsToTxnResponse, AddPartitionsToTxnResult, AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction, AddedPartition, AddedTopic,
};

use super::access;
use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Coordinates, Reply};
use crate::transactions::Identity;

/// The first version with error 90 (KIP-588).
const FENCES_FROM: i16 = 2;

/// All partitions of a transaction are added, or none.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &AddPartitionsToTxnRequest) -> Reply {
    let results = request.transactions.iter().map(|transaction| AddPartitionsToTxnResult {
        transactional_id: transaction.transactional_id.clone(),
        topics: one(cluster, call, transaction),
    });
    Reply::from(AddPartitionsToTxnResponse { results: results.collect(), ..AddPartitionsToTxnResponse::default() })
}

fn one(cluster: &mut Cluster, call: &Call, asked: &AddPartitionsToTxnTransaction) -> Vec<AddedTopic> {
    let transactional_id = Resource::TransactionalId(&asked.transactional_id);
    if !authorized(cluster, call, Operation::Write, transactional_id) {
        return with_codes(&asked.topics, |_, _| ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
    }
    let wrong = |topic: &str, index: i32| {
        let unknown = cluster.partition(topic, index).is_none().then_some(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
        access::topic(cluster, call, Operation::Write, topic).err().or(unknown)
    };
    if places(&asked.topics).any(|(topic, index)| wrong(&topic, index).is_some()) {
        let code = |name: &str, index: i32| wrong(name, index).unwrap_or(ErrorCode::OPERATION_NOT_ATTEMPTED);
        return with_codes(&asked.topics, code);
    }
    let added = add(cluster, call, asked).err().unwrap_or(ErrorCode::NONE);
    with_codes(&asked.topics, |_, _| added)
}

fn add(cluster: &mut Cluster, call: &Call, asked: &AddPartitionsToTxnTransaction) -> Result<(), ErrorCode> {
    let id = asked.transactional_id.as_str();
    cluster.coordinates(call, Coordinates::Transaction, id)?;
    let producer = Identity { id: asked.producer_id, epoch: asked.producer_epoch };
    if asked.verify_only {
        let has = |place| cluster.transactions.has(id, producer, &place);
        let all = places(&asked.topics).map(has).collect::<Result<Vec<bool>, _>>()?;
        return if all.contains(&false) { Err(ErrorCode::TRANSACTION_ABORTABLE) } else { Ok(()) };
    }
    cluster.transactions.add(call.now, (id, producer), call.version >= FENCES_FROM, places(&asked.topics))
}

fn places(topics: &[AddPartitionsToTxnTopic]) -> impl Iterator<Item = (String, i32)> {
    topics.iter().flat_map(|topic| topic.partitions.iter().map(|index| (topic.name.clone(), *index)))
}

fn with_codes(topics: &[AddPartitionsToTxnTopic], code: impl Fn(&str, i32) -> ErrorCode) -> Vec<AddedTopic> {
    let partition = |name: &str, index: i32| AddedPartition { partition_index: index, error_code: code(name, index) };
    let topic = |topic: &AddPartitionsToTxnTopic| AddedTopic {
        name: topic.name.clone(),
        partitions: topic.partitions.iter().map(|index| partition(&topic.name, *index)).collect(),
    };
    topics.iter().map(topic).collect()
}
