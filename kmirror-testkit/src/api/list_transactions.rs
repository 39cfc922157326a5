//! ListTransactions: the transactions that a broker coordinates, filtered (KIP-664, KIP-994).

use kmirror_proto::messages::{ListTransactionsRequest, ListTransactionsResponse, ListedTransaction};

use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Coordinates, Reply};
use crate::transactions::{State, Transaction};

const STATES: [&str; 6] = ["Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort"];

/// Those of this broker. A pattern of ids (v2) is taken as the whole id.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &ListTransactionsRequest) -> Reply {
    let visible = |id: &str| authorized(cluster, call, Operation::Describe, Resource::TransactionalId(id));
    let here = |id: &str| cluster.coordinator(Coordinates::Transaction, id) == Some(call.node) && visible(id);
    let listed =
        cluster.transactions.iter().filter(|(id, transaction)| here(id) && wanted(call, request, id, transaction));
    let transaction_states = listed.map(|(id, transaction)| ListedTransaction {
        transactional_id: id.to_owned(),
        producer_id: transaction.identity.id,
        transaction_state: transaction.state.name().to_owned(),
    });
    let unknown = request.state_filters.iter().filter(|state| !STATES.contains(&state.as_str())).cloned();
    Reply::from(ListTransactionsResponse {
        unknown_state_filters: unknown.collect(),
        transaction_states: transaction_states.collect(),
        ..ListTransactionsResponse::default()
    })
}

fn wanted(call: &Call, request: &ListTransactionsRequest, id: &str, transaction: &Transaction) -> bool {
    let states = &request.state_filters;
    let producers = &request.producer_id_filters;
    let open_ms = call.now.unix_ms - transaction.began.unix_ms;
    (states.is_empty() || states.iter().any(|state| state == transaction.state.name()))
        && (producers.is_empty() || producers.contains(&transaction.identity.id))
        && (request.duration_filter_ms < 0
            || (transaction.state == State::Ongoing && open_ms > request.duration_filter_ms))
        && request.transactional_id_pattern.as_ref().is_none_or(|pattern| pattern.is_empty() || pattern == id)
}
