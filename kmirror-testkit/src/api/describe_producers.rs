//! DescribeProducers: which producers a partition remembers, and whose transaction is open (KIP-664).

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    DescribeProducersRequest, DescribeProducersResponse, DescribedProducersPartition, DescribedProducersTopic,
    ProducerState,
};

use super::access;
use crate::Release;
use crate::acls::Operation;
use crate::cluster::{Call, Cluster, Reply};
use crate::log::ActiveProducer;

/// Answered by each partition's leader.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &DescribeProducersRequest) -> Reply {
    let topics = request.topics.iter().map(|topic| DescribedProducersTopic {
        name: topic.name.clone(),
        partitions: topic.partition_indexes.iter().map(|index| one(cluster, call, &topic.name, *index)).collect(),
    });
    Reply::from(DescribeProducersResponse { topics: topics.collect(), ..DescribeProducersResponse::default() })
}

fn one(cluster: &Cluster, call: &Call, topic: &str, index: i32) -> DescribedProducersPartition {
    let empty = DescribedProducersPartition { partition_index: index, ..DescribedProducersPartition::default() };
    if let Err(error_code) = access::topic(cluster, call, Operation::Read, topic) {
        let error_message = Some("Topic authorization failed.".to_owned());
        return DescribedProducersPartition { error_code, error_message, ..empty };
    }
    let Some(partition) = cluster.partition(topic, index) else {
        return DescribedProducersPartition {
            error_code: ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
            error_message: (cluster.release >= Release::V3_9).then(|| NOT_HERE.to_owned()),
            ..empty
        };
    };
    if let Err(error_code) = partition.may_ask(call.node, -1) {
        return DescribedProducersPartition { error_code, ..empty };
    }
    let active_producers = partition.log.producers().into_iter().map(state).collect();
    DescribedProducersPartition { active_producers, ..empty }
}

/// `Errors.UNKNOWN_TOPIC_OR_PARTITION`'s message: 3.9 and later say it, 2.8 does not (measured).
const NOT_HERE: &str = "This server does not host this topic-partition.";

fn state(producer: ActiveProducer) -> ProducerState {
    ProducerState {
        producer_id: producer.producer_id,
        producer_epoch: producer.producer_epoch,
        last_sequence: producer.last_sequence,
        last_timestamp: producer.last_timestamp,
        coordinator_epoch: producer.coordinator_epoch,
        current_txn_start_offset: producer.current_transaction_start,
    }
}
