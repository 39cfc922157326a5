//! A cluster's logs as a folder has them.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use bytes::Bytes;

use super::checkpoint::Checkpoint;
use super::{CLEANED, DiskError, EPOCHS, Folder, METADATA, STARTS, Written, files};
use crate::log::{Log, Stored, StoredSegment};
use crate::{Cluster, uuid};

/// A log that was not whole: it was cut off at this offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Which topic.
    pub topic: String,
    /// Which partition of it.
    pub partition: usize,
    /// The log's end now.
    pub offset: i64,
}

impl Folder {
    /// Reads all logs into the cluster, as a broker does that was not stopped in order: entries that are not whole or
    /// fail their checksum are cut off, and of each producer the last batch is known. Topics that the cluster does not
    /// have are created with its default settings; of those that it has the logs are replaced. What was cut is told,
    /// and is written anew by the next [`Folder::write`].
    ///
    /// # Errors
    /// [`DiskError`] with the file and what was done to it.
    pub fn read(&mut self, cluster: &mut Cluster) -> Result<Vec<Cut>, DiskError> {
        let starts = Checkpoint::of_text(&text(&self.path.join(STARTS))?.unwrap_or_default());
        let cleaned = Checkpoint::of_text(&text(&self.path.join(CLEANED))?.unwrap_or_default());
        let mut cuts = Vec::new();
        for folder in files(&self.path)? {
            let Some((topic, partition)) = named(&folder) else { continue };
            let segments = segments(&folder)?;
            if segments.is_empty() {
                // Somebody else's: a broker's has a segment at least, and a number in a name says nothing.
                continue;
            }
            let stored = Stored {
                segments,
                start: starts.get(&topic, partition).unwrap_or(0),
                dirty_from: cleaned.get(&topic, partition).unwrap_or(0),
                epochs: text(&folder.join(EPOCHS))?,
            };
            let (log, cut) = Log::of_files(cluster.release, stored);
            let metadata = text(&folder.join(METADATA))?;
            let id = metadata.as_deref().and_then(|text| uuid::parse(text.trim_end().rsplit_once(' ')?.1));
            let id = cluster.put_log(&topic, partition, id, log);
            match cut {
                Some(offset) => cuts.push(Cut { topic, partition, offset }),
                None => self.note(cluster, topic, partition, id),
            }
        }
        Ok(cuts)
    }

    /// What was read is what would be written.
    fn note(&mut self, cluster: &Cluster, topic: String, partition: usize, topic_id: [u8; 16]) {
        let Some(found) = cluster.topics.get(&topic).and_then(|topic| topic.partitions.get(partition)) else { return };
        let segments = found.log.segments().iter().map(|segment| (segment.base, segment.bytes)).collect();
        let written = Written { topic_id, rewrites: found.log.rewrites(), segments };
        self.written.insert((topic, partition), written);
    }
}

impl Cluster {
    /// Puts a log in the place of a partition's, which is created if it is not there. Gives the topic's id.
    fn put_log(&mut self, name: &str, number: usize, id: Option<[u8; 16]>, log: Log) -> [u8; 16] {
        if !self.topics.contains_key(name) {
            self.create_topic(name, 0);
        }
        let spread = self.assignment(0, number + 1, self.settings.replication_factor);
        let has = self.topics.get(name).map_or(0, |topic| topic.partitions.len());
        self.grow_topic(name, spread.get(has..).unwrap_or_default());
        let Some(topic) = self.topics.get_mut(name) else { return [0; 16] };
        topic.id = id.unwrap_or(topic.id);
        if let Some(partition) = topic.partitions.get_mut(number) {
            partition.leader_epoch = partition.leader_epoch.max(log.latest_epoch().unwrap_or(0));
            partition.log = log;
            partition.replicate();
        }
        topic.id
    }
}

/// Topic and partition of a folder that is one of a log.
fn named(folder: &Path) -> Option<(String, usize)> {
    let name = folder.file_name()?.to_str()?;
    let (topic, partition) = name.rsplit_once('-')?;
    let partition = partition.parse().ok().filter(|_| folder.is_dir() && !topic.is_empty())?;
    Some((topic.to_owned(), partition))
}

fn segments(folder: &Path) -> Result<Vec<StoredSegment>, DiskError> {
    let mut segments = Vec::new();
    for path in files(folder)? {
        let is_log = path.extension().is_some_and(|ending| ending == "log");
        let base = path.file_stem().and_then(|base| base.to_str()).and_then(|base| base.parse().ok());
        let (true, Some(base @ 0..)) = (is_log, base) else { continue };
        let modified = fs::metadata(&path).and_then(|metadata| metadata.modified());
        let modified = modified.map_err(DiskError::at("looking at", &path))?;
        let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        let bytes = Bytes::from(fs::read(&path).map_err(DiskError::at("reading", &path))?);
        segments.push(StoredSegment { base, bytes, modified_ms: i64::try_from(since.as_millis()).unwrap_or(0) });
    }
    segments.sort_by_key(|segment| segment.base);
    Ok(segments)
}

/// The text of a file, if it is there.
fn text(path: &Path) -> Result<Option<String>, DiskError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(DiskError::at("reading", path)(error)),
    }
}
