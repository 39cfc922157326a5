//! Embedded clusters as stages for stories.

use std::time::Duration;

use kmirror_testkit::Codec;
use kmirror_testkit::fault::{ApiKey, Fault, Requests};

use super::{Embedded, index};
use crate::brokers::{self, Release};
use crate::judge::{Description, Listing, Row};
use crate::kafka::{Go, Kafka, Leave};
use crate::wait::unix_ms;
use crate::{Failure, Result};

/// Of a topic that was slowed down: each connection does some fifty in a second.
const WRITE_TAKES: Duration = Duration::from_millis(20);

/// Rows in a batch of [`Kafka::write_many`].
const BATCH_ROWS: usize = 30;

impl Kafka for Embedded {
    fn release(&self) -> &'static Release {
        let number = self.release.number();
        brokers::release(number).unwrap_or_else(|failure| panic!("both tables have the same releases: {failure}"))
    }

    fn bootstrap(&self) -> String {
        Embedded::bootstrap(self)
    }

    /// Nothing here is as slow as a real broker: looks at both clusters follow each other as closely.
    fn pace(&self) -> &'static [&'static str] {
        &["refresh_interval = \"200ms\""]
    }

    fn create(&self, topic: &str, partitions: u32, settings: &[(&str, &str)]) -> Result {
        let count = count(partitions);
        let created = self.with(|cluster, _| cluster.create_topic_with(topic, count, settings));
        created.map_err(|error| self.failed(&format!("creating {topic}"), &error))
    }

    fn add_partitions(&self, topic: &str, partitions: u32) -> Result {
        let added = self.with(|cluster, _| cluster.add_partitions(topic, count(partitions)));
        added.map_err(|error| self.failed(&format!("partitions for {topic}"), &error))
    }

    fn delete(&self, topic: &str) -> Result {
        let deleted = self.with(|cluster, _| cluster.delete_topic(topic));
        deleted.map_err(|error| self.failed(&format!("deleting {topic}"), &error))
    }

    fn delete_records(&self, topic: &str, partition: u32, offset: i64) -> Result {
        let deleted = self.with(|cluster, _| cluster.delete_records(topic, index(partition), offset));
        deleted.map_err(|error| self.failed(&format!("deleting records of {topic}"), &error))
    }

    fn describe(&self, topic: &str) -> Result<Description> {
        let (partitions, replicas, own) = self.with(|cluster, _| {
            let partitions = (0..).take_while(|partition| cluster.offsets(topic, *partition).is_ok()).count();
            (partitions, cluster.in_sync(topic, 0).map_or(0, |nodes| nodes.len()), cluster.topic_settings(topic))
        });
        let own = own.map_err(|error| self.failed(&format!("describing {topic}"), &error))?;
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (partitions, replication) = (number(partitions), number(replicas));
        Ok(Description { partitions, replication, own, ..Description::default() })
    }

    fn ends(&self, topic: &str) -> Result<Vec<Option<i64>>> {
        Ok(self.with(|cluster, _| {
            let ends = (0..).map_while(|partition| Some((partition, cluster.offsets(topic, partition).ok()?.1)));
            let led = |partition| matches!(cluster.leader(topic, partition), Ok(Some(_)));
            ends.map(|(partition, end)| led(partition).then_some(end)).collect()
        }))
    }

    fn write(&self, (topic, partition): (&str, u32), codec: &str, rows: &[Row]) -> Result {
        self.append(topic, partition, codec_of(codec)?, rows)
    }

    fn write_many(&self, (topic, partition): (&str, u32), rows: &[Row]) -> Result {
        rows.chunks(BATCH_ROWS).try_for_each(|batch| self.append(topic, partition, Codec::None, batch))
    }

    fn write_counter(&self, topic: &str, records: u64) -> Result {
        let (partitions, timestamp) = (Kafka::ends(self, topic)?.len(), unix_ms());
        let row = |i: u64| Row { value: Some(i.to_be_bytes().to_vec()), ..Row::new(timestamp, None, None) };
        for partition in 0..partitions {
            let first = u64::try_from(partition).unwrap_or(0);
            let rows: Vec<Row> = (first..records).step_by(partitions).map(row).collect();
            self.append(topic, u32::try_from(partition).unwrap_or(0), Codec::None, &rows)?;
        }
        Ok(())
    }

    fn slow_down(&self, topic: &str) -> Go<'_> {
        let writes = Requests::of(ApiKey::PRODUCE).about(topic);
        let slow = self.with(|cluster, _| cluster.intercept(writes, Fault::DelayAnswer(WRITE_TAKES)));
        Box::new(move || {
            self.with(|cluster, _| cluster.lift(slow));
        })
    }

    fn list(&self, topic: &str) -> Result<Listing> {
        let mut listing = Listing::new();
        for partition in 0..self.describe(topic)?.partitions {
            let rows = self.read_with_offsets(topic, partition)?;
            if !rows.is_empty() {
                listing.insert(partition, rows);
            }
        }
        Ok(listing)
    }

    fn join(&self, topic: &str, group: &str) -> Result<Leave<'_>> {
        let mut client = self.client()?;
        let member = client.join(topic, group)?;
        let group = group.to_owned();
        Ok(Box::new(move || client.leave(&group, &member)))
    }
}

fn count(partitions: u32) -> usize {
    usize::try_from(partitions).unwrap_or(usize::MAX)
}

/// The codec that Kafka's producer knows by this name.
fn codec_of(name: &str) -> Result<Codec> {
    match name {
        "none" => Ok(Codec::None),
        "gzip" => Ok(Codec::Gzip),
        "snappy" => Ok(Codec::Snappy),
        "lz4" => Ok(Codec::Lz4),
        "zstd" => Ok(Codec::Zstd),
        other => Err(Failure::new(format!("no codec {other}"))),
    }
}
