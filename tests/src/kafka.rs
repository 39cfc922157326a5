//! A cluster on which a [story](crate::stories) is played: real brokers, written and read by the Java client, or embedded
//! ones.

use crate::brokers::{Cluster, Release};
use crate::judge::{self, Description, Listing, Row};
use crate::{Failure, Result};

/// What a story needs of a cluster.
///
/// What a release has no request for happens all the same, as its own tools would do it.
pub trait Kafka: Sync {
    /// Its release.
    fn release(&self) -> &'static Release;

    /// `bootstrap.servers`.
    fn bootstrap(&self) -> String;

    /// What the table of a mirror that reads from here says beside what the story says.
    fn pace(&self) -> &'static [&'static str];

    /// Creates a topic with one replica and these settings; it has leaders when this returns.
    fn create(&self, topic: &str, partitions: u32, settings: &[(&str, &str)]) -> Result;

    /// Raises the number of a topic's partitions.
    fn add_partitions(&self, topic: &str, partitions: u32) -> Result;

    /// Deletes a topic.
    fn delete(&self, topic: &str) -> Result;

    /// Deletes what lies before `offset`, as retention does.
    fn delete_records(&self, topic: &str, partition: u32, offset: i64) -> Result;

    /// A topic's partitions, replicas and settings.
    fn describe(&self, topic: &str) -> Result<Description>;

    /// The end offset of every partition, `None` for one without a leader; empty for a topic that is not there.
    fn ends(&self, topic: &str) -> Result<Vec<Option<i64>>>;

    /// Writes rows to one partition as one batch.
    fn write(&self, at: (&str, u32), codec: &str, rows: &[Row]) -> Result;

    /// Writes rows to one partition in batches of about thirty.
    fn write_many(&self, at: (&str, u32), rows: &[Row]) -> Result;

    /// Writes so many records without keys, the i-th of them being i as eight bytes, to partition i mod P.
    fn write_counter(&self, topic: &str, records: u64) -> Result;

    /// Has writes to the topic take their time, so that a mirror can be killed on the way; what is returned ends that.
    fn slow_down(&self, topic: &str) -> Go<'_>;

    /// Every record of a topic.
    fn list(&self, topic: &str) -> Result<Listing>;

    /// Joins a group with a consumer of the topic; what is returned has it leave.
    fn join(&self, topic: &str, group: &str) -> Result<Leave<'_>>;
}

/// Has a member leave its group.
pub type Leave<'a> = Box<dyn FnOnce() -> Result + 'a>;

/// Ends what holds a cluster up.
pub type Go<'a> = Box<dyn FnOnce() + 'a>;

/// Fails unless each of the topic's partitions holds exactly these rows.
pub fn holds(cluster: &dyn Kafka, topic: &str, rows: &[Vec<Row>]) -> Result {
    let listing = cluster.list(topic)?;
    (0..).zip(rows).try_for_each(|(partition, rows)| judge::holds(&listing, (topic, partition), rows))
}

/// Fails unless two clusters hold the same records of a topic, and some.
pub fn hold_the_same(source: &dyn Kafka, target: &dyn Kafka, topic: &str) -> Result {
    let (written, arrived) = (source.list(topic)?, target.list(topic)?);
    if written.is_empty() {
        return Err(Failure::new(format!("{topic}: nothing was written, nothing is compared")));
    }
    for (partition, rows) in &written {
        let rows: Vec<Row> = rows.iter().map(|(_, row)| row.clone()).collect();
        judge::holds(&arrived, (topic, *partition), &rows)?;
    }
    Ok(())
}

impl Kafka for Cluster {
    fn release(&self) -> &'static Release {
        Cluster::release(self)
    }

    fn bootstrap(&self) -> String {
        Cluster::bootstrap(self)
    }

    /// As users have it.
    fn pace(&self) -> &'static [&'static str] {
        &[]
    }

    fn create(&self, topic: &str, partitions: u32, settings: &[(&str, &str)]) -> Result {
        judge::create(self, topic, partitions, settings)
    }

    fn add_partitions(&self, topic: &str, partitions: u32) -> Result {
        judge::add_partitions(self, topic, partitions)
    }

    fn delete(&self, topic: &str) -> Result {
        judge::delete(self, topic)
    }

    fn delete_records(&self, topic: &str, partition: u32, offset: i64) -> Result {
        judge::delete_records(self, topic, partition, offset)
    }

    fn describe(&self, topic: &str) -> Result<Description> {
        judge::describe(self, topic)
    }

    fn ends(&self, topic: &str) -> Result<Vec<Option<i64>>> {
        Cluster::ends(self, topic)
    }

    fn write(&self, at: (&str, u32), codec: &str, rows: &[Row]) -> Result {
        judge::write(self, at, codec, rows, &[])
    }

    fn write_many(&self, at: (&str, u32), rows: &[Row]) -> Result {
        judge::write(self, at, "none", rows, &[("batch.size", "2000"), ("linger.ms", "5")])
    }

    fn write_counter(&self, topic: &str, records: u64) -> Result {
        judge::produce_counter(self, topic, records)
    }

    /// It is slow enough.
    fn slow_down(&self, _topic: &str) -> Go<'_> {
        Box::new(|| ())
    }

    fn list(&self, topic: &str) -> Result<Listing> {
        judge::list(self, topic)
    }

    fn join(&self, topic: &str, group: &str) -> Result<Leave<'_>> {
        let member = judge::live_member(self, topic, group)?;
        Ok(Box::new(move || member.leave()))
    }
}
