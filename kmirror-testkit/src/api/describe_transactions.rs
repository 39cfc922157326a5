//! DescribeTransactions: where transactions are (KIP-664).

use std::collections::BTreeMap;

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    DescribeTransactionsRequest, DescribeTransactionsResponse, DescribedTransaction, TransactionTopic,
};

use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Coordinates, Reply};
use crate::transactions::State;

/// Answered by the coordinator of each.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &DescribeTransactionsRequest) -> Reply {
    let transaction_states = request.transactional_ids.iter().map(|id| one(cluster, call, id)).collect();
    Reply::from(DescribeTransactionsResponse { transaction_states, ..DescribeTransactionsResponse::default() })
}

fn one(cluster: &Cluster, call: &Call, id: &str) -> DescribedTransaction {
    let refused = |error_code| DescribedTransaction {
        error_code,
        transactional_id: id.to_owned(),
        ..DescribedTransaction::default()
    };
    if !authorized(cluster, call, Operation::Describe, Resource::TransactionalId(id)) {
        return refused(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
    }
    if let Err(code) = cluster.coordinates(call, Coordinates::Transaction, id) {
        return refused(code);
    }
    let Some(known) = cluster.transactions.get(id) else {
        return refused(ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
    };
    let mut topics: BTreeMap<&str, Vec<i32>> = BTreeMap::new();
    for (topic, index) in &known.partitions {
        topics.entry(topic).or_default().push(*index);
    }
    let topics = topics.into_iter().map(|(topic, partitions)| TransactionTopic { topic: topic.to_owned(), partitions });
    let open = known.state == State::Ongoing;
    DescribedTransaction {
        error_code: ErrorCode::NONE,
        transactional_id: id.to_owned(),
        transaction_state: known.state.name().to_owned(),
        transaction_timeout_ms: i32::try_from(known.timeout.as_millis()).unwrap_or(i32::MAX),
        transaction_start_time_ms: if open { known.began.unix_ms } else { -1 },
        producer_id: known.identity.id,
        producer_epoch: known.identity.epoch,
        topics: topics.collect(),
    }
}
