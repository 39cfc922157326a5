//! DescribeLogDirs: how large what a broker keeps is (KIP-113). There is one folder, named as the settings name it.
//!
//! Measured on 1.0 to 4.4: 2.8 and 3.0 name every topic that they keep, with no partitions unless they were asked for.
//! The size of the disk is none. Java: `kafka.server.ReplicaManager.describeLogDirs`.

use kmirror_proto::ErrorCode;
use kmirror_proto::messages::{
    DescribeLogDirsRequest, DescribeLogDirsResponse, DescribedLogDir, DescribedLogDirPartition, DescribedLogDirTopic,
};

use crate::Release;
use crate::acls::{Operation, Resource, authorized};
use crate::cluster::{Call, Cluster, Reply, Topic};

/// Bytes that fit into the one folder, so far as clients are told.
const DISK_BYTES: i64 = 1 << 40;

/// Describes the folder of the broker that is asked.
pub(crate) fn answer(cluster: &Cluster, call: &Call, request: &DescribeLogDirsRequest) -> Reply {
    if !authorized(cluster, call, Operation::Describe, Resource::Cluster) {
        let error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
        return Reply::from(DescribeLogDirsResponse { error_code, ..DescribeLogDirsResponse::default() });
    }
    let settings = &cluster.settings;
    let log_dir = settings.value("log.dirs").or_else(|| settings.value("log.dir")).unwrap_or_default();
    let names_all = matches!(cluster.release, Release::V2_8 | Release::V3_0);
    let topics = cluster.topics.iter().filter_map(|(name, topic)| {
        let partitions = kept(call, topic, |index| is_asked(request, name, index));
        let here = names_all && !kept(call, topic, |_| true).is_empty();
        (here || !partitions.is_empty()).then(|| DescribedLogDirTopic { name: name.clone(), partitions })
    });
    let used = cluster.topics.values().flat_map(|topic| kept(call, topic, |_| true));
    let used: i64 = used.map(|partition| partition.partition_size).sum();
    let folder = DescribedLogDir {
        log_dir: log_dir.to_owned(),
        topics: topics.collect(),
        total_bytes: DISK_BYTES,
        usable_bytes: DISK_BYTES - used,
        ..DescribedLogDir::default()
    };
    Reply::from(DescribeLogDirsResponse { results: vec![folder], ..DescribeLogDirsResponse::default() })
}

fn is_asked(request: &DescribeLogDirsRequest, name: &str, index: i32) -> bool {
    let of = |topics: &Vec<_>| {
        topics.iter().any(|topic: &kmirror_proto::messages::DescribeLogDirsTopic| {
            topic.name == name && topic.partitions.contains(&index)
        })
    };
    request.topics.as_ref().is_none_or(of)
}

/// The wanted partitions of a topic that the broker has a replica of.
fn kept(call: &Call, topic: &Topic, wanted: impl Fn(i32) -> bool) -> Vec<DescribedLogDirPartition> {
    let here = (0..).zip(&topic.partitions).filter(|(index, _)| wanted(*index)).filter_map(|(index, partition)| {
        let replica = partition.replicas.iter().find(|replica| replica.node == call.node)?;
        Some(DescribedLogDirPartition {
            partition_index: index,
            partition_size: i64::try_from(partition.log.bytes()).unwrap_or(i64::MAX),
            offset_lag: (partition.high_watermark() - replica.end).max(0),
            is_future_key: false,
        })
    });
    here.collect()
}

#[cfg(test)]
mod tests {
    use kmirror_proto::messages::DescribeLogDirsTopic;
    use kmirror_proto::records::Stamp;

    use super::*;
    use crate::asking::{Asking, batch};

    /// Topics `a` and `b` with two partitions each, a batch in `a-0`; partition 0 of `a` is asked for.
    fn ask(release: Release, version: i16) -> DescribedLogDir {
        let mut client = Asking::of(release);
        client.cluster.create_topic("a", 2);
        client.cluster.create_topic("b", 2);
        client.produce(3, "a", 1, batch(3, Stamp::NONE));
        let topics = Some(vec![DescribeLogDirsTopic { name: "a".to_owned(), partitions: vec![0, 9] }]);
        let answer: DescribeLogDirsResponse = client.ask(version, DescribeLogDirsRequest { topics });
        answer.results[0].clone()
    }

    #[test]
    fn partitions_have_sizes() {
        for (release, version) in [(Release::V1_0, 0), (Release::V2_4, 1), (Release::V3_9, 4), (Release::V4_4, 5)] {
            let folder = ask(release, version);
            assert_eq!((folder.log_dir.as_str(), folder.topics.len()), ("/tmp/kafka-logs", 1), "{release}");
            let partitions = &folder.topics[0].partitions;
            let size = i64::try_from(batch(3, Stamp::NONE).len()).unwrap();
            assert_eq!((partitions.len(), partitions[0].partition_size), (1, size), "{release}");
        }
    }

    #[test]
    fn some_releases_name_what_was_not_asked_for() {
        for release in [Release::V2_8, Release::V3_0] {
            let topics = ask(release, 2).topics;
            let counts: Vec<_> = topics.iter().map(|topic| (topic.name.as_str(), topic.partitions.len())).collect();
            assert_eq!(counts, [("a", 1), ("b", 0)], "{release}");
        }
    }
}
