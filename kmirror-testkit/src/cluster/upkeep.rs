//! What brokers do to topics in the background, at its time or at once on request; topics that go and grow.

use std::time::Duration;

use super::{Cluster, NoSuch};
use crate::limits::CLEANER_REST_MIN;

/// When the background work is due next, on the monotonic clock; none of it before the cluster has been told a time.
#[derive(Debug, Default)]
pub(crate) struct Upkeep {
    cleaning: Option<Duration>,
    retention: Option<Duration>,
}

impl Cluster {
    /// When [`keep_up`](Self::keep_up) has something to do.
    pub(super) fn upkeep_due(&self) -> Option<Duration> {
        let cleaning = self.upkeep.cleaning.filter(|_| self.cleans());
        [cleaning, self.upkeep.retention].into_iter().flatten().min()
    }

    /// Cleans and retains where it is time: the cleaner rests for `log.cleaner.backoff.ms` between its rounds, retention
    /// is looked after every `log.retention.check.interval.ms`.
    pub(super) fn keep_up(&mut self) {
        let now = self.now();
        let is_due = |due: Option<Duration>| due.is_none_or(|due| due <= now.elapsed);
        if is_due(self.upkeep.cleaning) {
            let rest = self.settings.cleaner_backoff.max(CLEANER_REST_MIN);
            let first = self.upkeep.cleaning.replace(now.after(rest)).is_none();
            if !first && self.cleans() {
                self.compact();
            }
        }
        if is_due(self.upkeep.retention) {
            let first = self.upkeep.retention.replace(now.after(self.settings.retention_check_interval)).is_none();
            if !first {
                self.retain();
            }
        }
    }

    /// Whether there is anything for the cleaner to look at.
    fn cleans(&self) -> bool {
        self.settings.cleaner
            && self.topics.iter().any(|(name, topic)| topic.settings.compact && !name.starts_with("__"))
    }

    /// Deletes a topic, with its records. Made again under the same name it is another topic, with another id
    /// (KIP-516).
    ///
    /// # Errors
    /// There is no such topic.
    pub fn delete_topic(&mut self, name: &str) -> Result<(), NoSuch> {
        self.remove_topic(name).ok_or_else(|| NoSuch::new("topic", &name))?;
        self.settle();
        Ok(())
    }

    /// Adds partitions to a topic, so that it has `total`, with as many replicas as its first one has.
    ///
    /// # Errors
    /// There is no such topic, or it has as many already.
    pub fn add_partitions(&mut self, name: &str, total: usize) -> Result<(), NoSuch> {
        let topic = self.topics.get(name).ok_or_else(|| NoSuch::new("topic", &name))?;
        let first = topic.partitions.len();
        let replicas = topic.partitions.first().map_or(1, |partition| partition.replicas.len());
        if total <= first {
            return Err(NoSuch::new("growth", &format!("{name} from {first} to {total} partitions")));
        }
        let assignment = self.assignment(first, total - first, replicas);
        self.grow_topic(name, &assignment);
        self.settle();
        Ok(())
    }

    /// Does at once what brokers do every `log.retention.check.interval.ms`: what is too old or too much goes.
    pub fn retain(&mut self) {
        let now = self.now();
        for topic in self.topics.values_mut() {
            for partition in &mut topic.partitions {
                let high_watermark = partition.high_watermark();
                partition.log.retain(now, &topic.settings, high_watermark);
            }
        }
        self.waits.change();
        self.settle();
    }

    /// Has the log cleaner look at all topics that are compacted, at once.
    pub fn compact(&mut self) {
        let now = self.now();
        for topic in self.topics.values_mut().filter(|topic| topic.settings.compact) {
            for partition in &mut topic.partitions {
                partition.log.compact(now, &topic.settings);
            }
        }
        self.waits.change();
        self.settle();
    }
}

#[cfg(test)]
mod tests {
    use kmirror_proto::messages::{MetadataRequest, MetadataRequestTopic, MetadataResponse};
    use kmirror_proto::records::Stamp;

    use super::*;
    use crate::asking::{Asking, batch};
    use crate::{NodeId, Release};

    fn with_records(release: Release) -> Asking {
        let mut client = Asking::of(release);
        client.cluster.create_topic("numbers", 1);
        client.produce(3, "numbers", 1, batch(3, Stamp::NONE));
        client
    }

    fn id(client: &mut Asking) -> [u8; 16] {
        let topic = MetadataRequestTopic { name: Some("numbers".to_owned()), ..MetadataRequestTopic::default() };
        let answer: MetadataResponse =
            client.ask(10, MetadataRequest { topics: Some(vec![topic]), ..MetadataRequest::default() });
        answer.topics[0].topic_id
    }

    #[test]
    fn a_topic_that_is_made_again_is_another_one() {
        let mut client = with_records(Release::V3_9);
        let before = id(&mut client);
        client.cluster.delete_topic("numbers").unwrap();
        assert!(client.cluster.offsets("numbers", 0).is_err());
        assert!(client.cluster.delete_topic("numbers").is_err());
        client.cluster.create_topic("numbers", 1);
        assert_eq!(client.cluster.offsets("numbers", 0), Ok((0, 0)));
        assert_ne!(id(&mut client), before);
    }

    #[test]
    fn partitions_are_added_and_never_taken_away() {
        let cluster = Cluster::builder(Release::V2_0).brokers(2).setting("default.replication.factor", "2");
        let mut cluster = cluster.build().unwrap();
        cluster.create_topic("numbers", 1);
        cluster.add_partitions("numbers", 3).unwrap();
        let leaders = [0, 1, 2].map(|partition| cluster.leader("numbers", partition).unwrap());
        assert_eq!(leaders, [0, 1, 0].map(|node| Some(NodeId(node))), "round robin goes on");
        assert_eq!(cluster.in_sync("numbers", 2).unwrap().len(), 2, "with as many replicas");
        let said = |refused: Result<(), NoSuch>| refused.unwrap_err().to_string();
        assert_eq!(said(cluster.add_partitions("numbers", 3)), "no such growth: numbers from 3 to 3 partitions");
        assert_eq!(said(cluster.add_partitions("letters", 2)), "no such topic: letters");
    }

    /// The records' own time counts: they are of 2023.
    #[test]
    fn what_is_too_old_goes_when_it_is_looked_at() {
        let mut client = with_records(Release::V2_0);
        client.cluster.retain();
        assert_eq!(client.cluster.offsets("numbers", 0), Ok((0, 3)), "not a week old");
        client.now = client.now.later(Duration::from_secs(8 * 86_400));
        client.cluster.advance(client.now);
        assert_eq!(client.cluster.offsets("numbers", 0), Ok((0, 3)), "nobody has looked");
        client.cluster.retain();
        assert_eq!(client.cluster.offsets("numbers", 0), Ok((3, 3)));
    }

    /// Only topics that say so are compacted; of the one key the last record stays.
    #[test]
    fn the_cleaner_comes_when_it_is_called() {
        let mut client = with_records(Release::V2_0);
        let keyed = || {
            let mut builder = kmirror_proto::records::BatchBuilder::new(kmirror_proto::compress::Codec::None, None);
            let headers = kmirror_proto::records::HeadersSource::None;
            builder.push(1_700_000_000_000, Some(b"key"), Some(b"value"), headers).unwrap();
            builder.finish(Stamp::NONE).unwrap()
        };
        client.cluster.create_topic("keyed", 1);
        let settings = &mut client.cluster.topics.get_mut("keyed").unwrap().settings;
        (settings.compact, settings.delete, settings.segment_bytes) = (true, false, 100);
        for _ in 0..5 {
            client.produce(3, "keyed", 1, keyed());
        }
        let count = |client: &Asking, topic: &str| client.cluster.partition(topic, 0).unwrap().log.entries(0).count();
        assert_eq!(count(&client, "keyed"), 5);
        client.cluster.compact();
        assert_eq!((count(&client, "keyed"), count(&client, "numbers")), (2, 1), "and the active segment");
        assert_eq!(client.cluster.offsets("keyed", 0), Ok((0, 5)));
    }

    /// Else whoever comes back at `poll_timeout` comes back for ever.
    #[test]
    fn a_cleaner_without_rest_lets_time_pass() {
        let mut cluster = Cluster::builder(Release::V2_0).setting("log.cleaner.backoff.ms", "0").build().unwrap();
        cluster.create_topic_with("keyed", 1, &[("cleanup.policy", "compact")]).unwrap();
        let now = crate::Now { elapsed: Duration::from_secs(1), unix_ms: 1_700_000_000_000 };
        cluster.advance(now);
        assert_eq!(cluster.poll_timeout(), Some(Duration::from_millis(1001)));
    }
}
