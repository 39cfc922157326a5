//! EndTxn: a transaction is committed or aborted. From v5 on its producer goes on under the next epoch (KIP-890).

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{EndTxnRequest, EndTxnResponse};

use crate::cluster::{Call, Cluster, Coordinates, Reply};
use crate::transactions::{Identity, NOBODY};

/// The first version with error 90 (KIP-588).
const FENCES_FROM: i16 = 2;

/// The first version that raises the epoch.
const GROWS_FROM: i16 = 5;

/// Answered by the transaction's coordinator; the markers are written before the next request is served.
pub(crate) fn answer(cluster: &mut Cluster, call: &Call, request: &EndTxnRequest) -> Reply {
    let (identity, error_code) = match end(cluster, call, request) {
        Ok(identity) if call.version >= GROWS_FROM => (identity, ErrorCode::NONE),
        Ok(_) => (NOBODY, ErrorCode::NONE),
        Err(code) => (NOBODY, code),
    };
    let Identity { id: producer_id, epoch: producer_epoch } = identity;
    Reply::from(EndTxnResponse { error_code, producer_id, producer_epoch, ..EndTxnResponse::default() })
}

fn end(cluster: &mut Cluster, call: &Call, request: &EndTxnRequest) -> Result<Identity, ErrorCode> {
    let id = request.transactional_id.as_str();
    cluster.coordinates(call, Coordinates::Transaction, id)?;
    let producer = Identity { id: request.producer_id, epoch: request.producer_epoch };
    let (fences, grows) = (call.version >= FENCES_FROM, call.version >= GROWS_FROM);
    let identity = cluster.transactions.end(id, producer, fences, request.committed, grows)?;
    cluster.mark_transactions();
    Ok(identity)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kmirror_proto::messages::{
        AddPartitionsToTxnRequest, AddPartitionsToTxnResponse, AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction,
        AnyRequest, FetchPartition, FetchRequest, FetchResponse, FetchTopic, HeartbeatRequest, InitProducerIdRequest,
        InitProducerIdResponse,
    };
    use kmirror_proto::records::Stamp;

    use super::*;
    use crate::Release;
    use crate::asking::{Asking, batch, transactional};

    /// A client of a cluster with the topic `t` and the producer of the transactional id `x`.
    struct Producer {
        client: Asking,
        release: Release,
        identity: Identity,
        sequence: i32,
    }

    impl Producer {
        fn of(release: Release) -> Self {
            let mut client = Asking::of(release);
            client.cluster.create_topic("t", 1);
            client.cluster.make_internal_topic(Coordinates::Transaction);
            let mut producer = Self { client, release, identity: NOBODY, sequence: 0 };
            if release >= Release::V3_9 {
                assert_eq!(producer.init(), 14, "the first question is asked twice (measured)");
            }
            assert_eq!(producer.init(), 0);
            producer
        }

        fn init(&mut self) -> i16 {
            let request = InitProducerIdRequest {
                transactional_id: Some("x".to_owned()),
                transaction_timeout_ms: 60_000,
                ..InitProducerIdRequest::default()
            };
            let answer: InitProducerIdResponse = self.client.ask(0, request);
            self.identity = Identity { id: answer.producer_id, epoch: answer.producer_epoch };
            self.sequence = 0;
            answer.error_code.0
        }

        fn add(&mut self) -> i16 {
            let topic = AddPartitionsToTxnTopic { name: "t".to_owned(), partitions: vec![0] };
            let transaction = AddPartitionsToTxnTransaction {
                transactional_id: "x".to_owned(),
                producer_id: self.identity.id,
                producer_epoch: self.identity.epoch,
                topics: vec![topic],
                ..AddPartitionsToTxnTransaction::default()
            };
            let request = AddPartitionsToTxnRequest { transactions: vec![transaction] };
            let answer: AddPartitionsToTxnResponse = self.client.ask(0, request);
            answer.results[0].topics[0].partitions[0].error_code.0
        }

        fn write(&mut self, version: i16, records: u8) -> i16 {
            let Identity { id, epoch } = self.identity;
            let stamp = Stamp { producer_id: id, producer_epoch: epoch, base_sequence: self.sequence };
            let answer = self.client.produce_as(version, "t", -1, transactional(&batch(records, stamp)), Some("x"));
            if answer.error_code == ErrorCode::NONE {
                self.sequence += i32::from(records);
            }
            answer.error_code.0
        }

        fn end(&mut self, version: i16, committed: bool) -> EndTxnResponse {
            let request = EndTxnRequest {
                transactional_id: "x".to_owned(),
                producer_id: self.identity.id,
                producer_epoch: self.identity.epoch,
                committed,
            };
            self.client.ask(version, request)
        }

        /// Last stable offset, high watermark, and the aborted transactions that a read_committed fetch is told.
        fn seen(&mut self) -> (i64, i64, Vec<(i64, i64)>) {
            let asked = FetchPartition { partition_max_bytes: 1 << 20, ..FetchPartition::default() };
            let topic = FetchTopic { name: "t".to_owned(), partitions: vec![asked], ..FetchTopic::default() };
            let request = FetchRequest { topics: vec![topic], isolation_level: 1, ..FetchRequest::default() };
            let answer: FetchResponse = self.client.ask(4, request);
            let partition = &answer.topics[0].partitions[0];
            let aborted = partition.aborted_transactions.iter().flatten();
            let aborted = aborted.map(|of| (of.producer_id, of.first_offset)).collect();
            let (last_stable, _) = (self.client.cluster.partition("t", 0).unwrap().last_stable(), self.release);
            (last_stable, partition.high_watermark, aborted)
        }
    }

    /// Until a transaction ends nothing of it is stable; a marker ends it, and takes an offset.
    #[test]
    fn a_transaction_is_committed_and_the_next_one_aborted() {
        for release in [Release::V0_11, Release::V2_0, Release::V2_8, Release::V3_9, Release::V4_4] {
            let mut producer = Producer::of(release);
            assert_eq!((producer.add(), producer.write(3, 3)), (0, 0), "{release}");
            assert_eq!(producer.seen(), (0, 3, vec![]), "{release}");
            assert_eq!(producer.end(0, true).error_code.0, 0, "{release}");
            assert_eq!(producer.seen(), (4, 4, vec![]), "{release}");
            assert_eq!((producer.add(), producer.write(3, 2)), (0, 0), "{release}");
            assert_eq!(producer.end(0, false).error_code.0, 0, "{release}");
            assert_eq!(producer.seen(), (7, 7, vec![(producer.identity.id, 4)]), "{release}");
        }
    }

    /// Whoever asks for the id while a transaction is open aborts it (51: ask again), and fences who had it.
    #[test]
    fn a_second_producer_fences_the_first() {
        let mut producer = Producer::of(Release::V2_0);
        assert_eq!((producer.add(), producer.write(3, 3)), (0, 0));
        let first = producer.identity;
        assert_eq!(producer.init(), 51);
        assert_eq!(producer.seen().0, 4, "the marker is there");
        assert_eq!(producer.init(), 0);
        assert_eq!(producer.identity, Identity { id: first.id, epoch: 2 });
        producer.identity = first;
        assert_eq!(producer.add(), 47);
        assert_eq!(producer.end(0, true).error_code.0, 47);
    }

    #[test]
    fn a_transaction_that_is_open_for_too_long_is_aborted() {
        let mut producer = Producer::of(Release::V2_0);
        assert_eq!((producer.add(), producer.write(3, 3)), (0, 0));
        let unheard = AnyRequest::from(HeartbeatRequest::default());
        producer.client.wait(Duration::from_millis(59_999), 0, &unheard);
        assert_eq!(producer.seen().0, 0);
        producer.client.wait(Duration::from_millis(1), 0, &unheard);
        assert_eq!(producer.seen().0, 4);
        assert_eq!(producer.end(0, true).error_code.0, 47);
    }

    /// R6: what the release does with a batch of a transaction that does not have the partition.
    #[test]
    fn a_partition_that_was_not_added() {
        for (release, version, code) in [
            (Release::V0_11, 3, 0),
            (Release::V2_0, 6, 0),
            (Release::V3_0, 9, 0),
            (Release::V3_9, 3, 48),
            (Release::V3_9, 11, 120),
            (Release::V4_4, 11, 120),
            (Release::V4_4, 12, 0),
        ] {
            let mut producer = Producer::of(release);
            assert_eq!(producer.write(version, 1), code, "{release} v{version}");
        }
        let mut foreign = Producer::of(Release::V3_9);
        foreign.identity.id = 77;
        assert_eq!(foreign.write(11, 1), 49);
    }

    /// KIP-890: EndTxn v5 gives the next epoch.
    #[test]
    fn from_v5_on_the_epoch_grows() {
        let mut producer = Producer::of(Release::V4_4);
        assert_eq!(producer.write(12, 1), 0);
        let answer = producer.end(5, true);
        assert_eq!((answer.producer_id, answer.producer_epoch), (producer.identity.id, producer.identity.epoch + 1));
    }
}
