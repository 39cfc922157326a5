//! Logs in a folder, as Kafka keeps them: for its own tools, and to go on with.
//!
//! ```text
//! <folder>/
//!   <topic>-<partition>/
//!     00000000000000000000.log  .index  .timeindex     a segment
//!     leader-epoch-checkpoint                          from 0.11 on
//!     partition.metadata                               the topic's id, from 2.8 on
//!   log-start-offset-checkpoint                        "0", the number of lines, "topic partition offset" each
//!   cleaner-offset-checkpoint                          likewise: how far a log is compacted
//! ```
//!
//! `DumpLogSegments` of Kafka 4.4 reads these files. What a broker keeps beside them is not written: producers and
//! transactions are read from the log again ([`Folder::read`]), and settings are the caller's.
//!
//! Java: `LogManager`, `LogSegment`, `OffsetCheckpointFile`, `PartitionMetadataFile`.

mod error;
pub use error::DiskError;

mod checkpoint;

mod reading;
pub use reading::Cut;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use crate::log::{Log, Segment};
use crate::{Cluster, Release, uuid};
use checkpoint::Checkpoint;

/// A folder, and what of a cluster has been written to it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    written: BTreeMap<(String, usize), Written>,
}

/// What has been written of one partition.
#[derive(Clone, Debug)]
struct Written {
    topic_id: [u8; 16],
    rewrites: u64,
    /// By base offset, the bytes.
    segments: BTreeMap<i64, usize>,
}

impl Folder {
    /// A folder that nothing is known of. Nothing is created until something is written.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), written: BTreeMap::new() }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes what the cluster has and the folder does not: the first time everything, later what was appended since,
    /// and anew what was truncated or compacted. Folders of partitions that are gone are removed if this value wrote or
    /// read them. Nothing is synced to the disk.
    ///
    /// # Errors
    /// [`DiskError`] with the file and what was done to it.
    pub fn write(&mut self, cluster: &Cluster) -> Result<(), DiskError> {
        create_folder(&self.path)?;
        self.remove_gone(cluster)?;
        let (mut starts, mut cleaned) = (Checkpoint::default(), Checkpoint::default());
        for (name, topic) in &cluster.topics {
            for (number, partition) in topic.partitions.iter().enumerate() {
                self.write_partition(cluster.release, name, number, topic.id, &partition.log)?;
                let first = partition.log.segments().first().map_or(0, |segment| segment.base);
                if partition.log.start() > first {
                    starts.put(name, number, partition.log.start());
                }
                if partition.log.dirty_from() > 0 {
                    cleaned.put(name, number, partition.log.dirty_from());
                }
            }
        }
        write_file(&self.path.join(STARTS), starts.text().as_bytes())?;
        write_file(&self.path.join(CLEANED), cleaned.text().as_bytes())
    }

    fn write_partition(
        &mut self,
        release: Release,
        topic: &str,
        number: usize,
        topic_id: [u8; 16],
        log: &Log,
    ) -> Result<(), DiskError> {
        let folder = self.partition_folder(topic, number)?;
        let key = (topic.to_owned(), number);
        let mut written = self.written.remove(&key);
        if written.as_ref().is_none_or(|written| (written.topic_id, written.rewrites) != (topic_id, log.rewrites())) {
            empty_folder(&folder)?;
            written = None;
            if release >= Release::V2_8 {
                let text = format!("version: 0\ntopic_id: {}\n", uuid::text(topic_id));
                write_file(&folder.join(METADATA), text.as_bytes())?;
            }
        }
        let before = written.map(|written| written.segments).unwrap_or_default();
        let mut segments = BTreeMap::new();
        for segment in log.segments() {
            let bytes = before.get(&segment.base).copied();
            if bytes != Some(segment.bytes) {
                write_segment(&folder, segment, bytes.unwrap_or(0))?;
            }
            segments.insert(segment.base, segment.bytes);
        }
        for base in before.keys().filter(|base| !segments.contains_key(base)) {
            remove_segment(&folder, *base)?;
        }
        if let Some(text) = log.epochs_text() {
            write_file(&folder.join(EPOCHS), text.as_bytes())?;
        }
        self.written.insert(key, Written { topic_id, rewrites: log.rewrites(), segments });
        Ok(())
    }

    fn remove_gone(&mut self, cluster: &Cluster) -> Result<(), DiskError> {
        let there =
            |topic: &str, number: usize| cluster.topics.get(topic).is_some_and(|topic| number < topic.partitions.len());
        let gone: Vec<_> = self.written.keys().filter(|(topic, number)| !there(topic, *number)).cloned().collect();
        for (topic, number) in gone {
            let folder = self.partition_folder(&topic, number)?;
            fs::remove_dir_all(&folder).map_err(DiskError::at("removing", &folder))?;
            self.written.remove(&(topic, number));
        }
        Ok(())
    }

    /// A name that Kafka would not take for a topic must not lead anywhere else.
    fn partition_folder(&self, topic: &str, number: usize) -> Result<PathBuf, DiskError> {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let folder = self.path.join(format!("{topic}-{number}"));
        if topic.is_empty() || !topic.chars().all(legal) {
            return Err(DiskError::illegal_name(&folder));
        }
        Ok(folder)
    }
}

/// Appends what lies behind the first `before` bytes, and writes the indexes.
fn write_segment(folder: &Path, segment: &Segment, before: usize) -> Result<(), DiskError> {
    let path = segment_file(folder, segment.base, "log");
    let mut open = fs::File::options();
    let open = if before == 0 { open.write(true).create(true).truncate(true) } else { open.append(true) };
    let file = open.open(&path).map_err(DiskError::at("opening", &path))?;
    let mut out = std::io::BufWriter::new(&file);
    let mut position = 0;
    for entry in &segment.entries {
        if position >= before {
            std::io::Write::write_all(&mut out, &entry.bytes).map_err(DiskError::at("writing", &path))?;
        }
        position += entry.size();
    }
    std::io::Write::flush(&mut out).map_err(DiskError::at("writing", &path))?;
    drop(out);
    // Retention goes by it where records have no timestamps.
    let modified = UNIX_EPOCH + Duration::from_millis(u64::try_from(segment.modified_ms).unwrap_or(0));
    file.set_modified(modified).map_err(DiskError::at("setting the time of", &path))?;
    write_file(&segment_file(folder, segment.base, "index"), &segment.offset_index_file())?;
    write_file(&segment_file(folder, segment.base, "timeindex"), &segment.time_index_file())
}

fn remove_segment(folder: &Path, base: i64) -> Result<(), DiskError> {
    for ending in ["log", "index", "timeindex"] {
        let path = segment_file(folder, base, ending);
        fs::remove_file(&path).map_err(DiskError::at("removing", &path))?;
    }
    Ok(())
}

/// The folder, without the files of a log.
fn empty_folder(folder: &Path) -> Result<(), DiskError> {
    create_folder(folder)?;
    for path in files(folder)? {
        let ending = path.extension().and_then(|ending| ending.to_str());
        if ending.is_some_and(|ending| LOG_FILES.contains(&ending)) {
            fs::remove_file(&path).map_err(DiskError::at("removing", &path))?;
        }
    }
    Ok(())
}

fn create_folder(folder: &Path) -> Result<(), DiskError> {
    fs::create_dir_all(folder).map_err(DiskError::at("creating", folder))
}

/// What is in a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, DiskError> {
    let read = |entry: std::io::Result<fs::DirEntry>| entry.map(|entry| entry.path());
    let listed = fs::read_dir(folder).and_then(|entries| entries.map(read).collect::<Result<Vec<_>, _>>());
    let mut paths = listed.map_err(DiskError::at("listing", folder))?;
    paths.sort();
    Ok(paths)
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    fs::write(path, bytes).map_err(DiskError::at("writing", path))
}

fn segment_file(folder: &Path, base: i64, ending: &str) -> PathBuf {
    folder.join(format!("{base:020}.{ending}"))
}

/// The files of a log that a broker names after offsets.
const LOG_FILES: [&str; 5] = ["log", "index", "timeindex", "snapshot", "txnindex"];
const EPOCHS: &str = "leader-epoch-checkpoint";
const METADATA: &str = "partition.metadata";
const STARTS: &str = "log-start-offset-checkpoint";
const CLEANED: &str = "cleaner-offset-checkpoint";

#[cfg(test)]
mod tests;
