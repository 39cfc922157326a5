//! One ledger entry as key and value bytes.

use kmirror_proto::records::crc32c;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::offset::{SourceOffset, TargetOffset};
use crate::plan::{Fingerprint, LeftOut};
use crate::produce::{Producer, Proved, Sequence};

/// The version of the value format that this release writes.
const VERSION: u32 = 1;

/// What one ledger record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerEntry {
    /// A worker proposes a producer id for the mirror; the first one of a slot in the log counts (rule P1).
    Id {
        /// What it is for.
        slot: Slot,
        /// The id.
        id: i64,
    },
    /// Where a source topic goes, and which topic it is: stored before the first record of it is written.
    Route {
        /// The source topic.
        topic: String,
        /// Where it goes.
        route: StoredRoute,
    },
    /// Records of a link that are left out for good: stored before anything behind them is written. The newest entry of a
    /// link counts; it has all of them above the link's last stored checkpoint.
    LeftOut {
        /// The source topic.
        topic: String,
        /// The source partition.
        partition: i32,
        /// Their source offsets.
        ranges: LeftOut,
    },
    /// How far a link is, says a worker.
    Checkpoint {
        /// Who says so.
        worker: String,
        /// The source topic.
        topic: String,
        /// The source partition.
        partition: i32,
        /// How far.
        checkpoint: Checkpoint,
    },
    /// A link's stamps are raised to an epoch; stored before its first use (rule P3).
    Epoch {
        /// The source topic.
        topic: String,
        /// The source partition.
        partition: i32,
        /// The epoch.
        epoch: i16,
    },
    /// Written by a newer release; kept as it is.
    Unknown,
}

/// A proved point of one link, and what proves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    #[serde(rename = "v")]
    pub(crate) version: u32,
    /// The source is mirrored up to here.
    pub(crate) source_next: i64,
    /// The target's log ended here.
    pub(crate) target_next: i64,
    /// Where the target keeps producer ids: who wrote, and the next sequence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) producing: Option<Producing>,
    /// The last record written, where it is told by content.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) fingerprint: Option<Fingerprint>,
    /// Nothing was written yet: what lies on the target before this point is not ours.
    #[serde(default)]
    pub origin: bool,
    /// The target leader's epoch at that time, −1 where unknown.
    #[serde(default = "unknown_epoch")]
    pub(crate) leader_epoch: i32,
    /// The target partition, where it is not the source's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target_partition: Option<i32>,
    /// Which records of the source are mirrored: the digest of filters and isolation; 0 for all committed ones.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub view: u64,
    /// Whether the writer had no request on its way and has left: nothing can come after it.
    #[serde(default)]
    pub drained: bool,
    /// When it was written, milliseconds since 1970.
    #[serde(default)]
    pub written_ms: i64,
}

/// What a producer id of the mirror is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    /// Every link that has its target partition alone.
    Exclusive,
    /// The links of one source partition whose target partition others write to as well: its number.
    Shared(i32),
}

/// Where a source topic goes, as the ledger has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRoute {
    /// Its name on the target.
    pub target: String,
    /// The source topic's id in hexadecimal digits, where its cluster has ids (2.8 and newer): another id under the same
    /// name is another topic.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topic_id: Option<String>,
}

impl StoredRoute {
    /// The route of a topic with this id, zeros where its cluster has none.
    #[must_use]
    pub fn new(target: &str, topic_id: [u8; 16]) -> Self {
        let digits = || topic_id.iter().map(|byte| format!("{byte:02x}")).collect();
        Self { target: target.to_owned(), topic_id: (topic_id != [0; 16]).then(digits) }
    }

    /// Whether both are of one topic, which only ids tell.
    #[must_use]
    pub fn is_same_topic(&self, other: &Self) -> Option<bool> {
        Some(self.topic_id.as_ref()? == other.topic_id.as_ref()?)
    }
}

/// The stamp part of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Producing {
    /// The mirror's producer id.
    pub id: i64,
    /// The epoch of the last record.
    pub epoch: i16,
    /// The sequence behind the last record in that epoch.
    pub sequence: i32,
}

/// A ledger record that cannot be what this release wrote.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LedgerError {
    /// The value does not match its checksum.
    #[error(
        "ledger entry {key:?}: its checksum does not match: the ledger topic was written by something else or is damaged"
    )]
    Damaged {
        /// The entry's key.
        key: String,
    },
    /// The value does not parse.
    #[error("ledger entry {key:?}: {why}")]
    Malformed {
        /// The entry's key.
        key: String,
        /// What is wrong.
        why: String,
    },
}

const fn unknown_epoch() -> i32 {
    -1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_zero(view: &u64) -> bool {
    *view == 0
}

impl Checkpoint {
    /// The checkpoint of a proved point.
    #[must_use]
    pub fn new(proved: &Proved, producer: Option<Producer>, leader_epoch: i32, drained: bool, written_ms: i64) -> Self {
        Self {
            version: VERSION,
            source_next: proved.source_next.0,
            target_next: proved.target_next.0,
            producing: producer.map(|producer| Producing {
                id: producer.id,
                epoch: proved.epoch,
                sequence: proved.sequence.to_wire(),
            }),
            fingerprint: proved.fingerprint,
            origin: false,
            leader_epoch,
            target_partition: None,
            view: 0,
            drained,
            written_ms,
        }
    }

    /// The source is mirrored up to here.
    #[must_use]
    pub fn source_next(&self) -> SourceOffset {
        SourceOffset(self.source_next)
    }

    /// The target's log ended here.
    #[must_use]
    pub fn target_next(&self) -> TargetOffset {
        TargetOffset(self.target_next)
    }

    /// Who wrote, and the next sequence.
    #[must_use]
    pub fn producing(&self) -> Option<Producing> {
        self.producing
    }

    /// The last record written, if it is told by content.
    #[must_use]
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.fingerprint
    }

    /// The point itself.
    #[must_use]
    pub fn proved(&self) -> Proved {
        let sequence = self.producing.and_then(|producing| Sequence::from_wire(producing.sequence));
        Proved {
            source_next: self.source_next(),
            target_next: self.target_next(),
            epoch: self.producing.map_or(0, |producing| producing.epoch),
            sequence: sequence.unwrap_or_default(),
            fingerprint: self.fingerprint(),
        }
    }
}

impl LedgerEntry {
    /// The record's key.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::Id { slot: Slot::Exclusive, id } => format!("id/{id}"),
            Self::Id { slot: Slot::Shared(partition), id } => format!("shared-id/{partition}/{id}"),
            Self::Route { topic, .. } => format!("route/{topic}"),
            Self::LeftOut { topic, partition, .. } => format!("left-out/{partition}/{topic}"),
            Self::Epoch { topic, partition, epoch } => format!("epoch/{epoch}/{partition}/{topic}"),
            // The topic comes last: it may hold every character but the slash.
            Self::Checkpoint { worker, topic, partition, .. } => format!("checkpoint/{worker}/{partition}/{topic}"),
            Self::Unknown => String::new(),
        }
    }

    /// The record's value.
    #[must_use]
    pub fn value(&self) -> Vec<u8> {
        let json = match self {
            Self::Id { .. } | Self::Epoch { .. } | Self::Unknown => format!("{{\"v\":{VERSION}}}"),
            Self::Route { route, .. } => serde_json::to_string(route).unwrap_or_default(),
            Self::LeftOut { ranges, .. } => serde_json::to_string(ranges.ranges()).unwrap_or_default(),
            Self::Checkpoint { checkpoint, .. } => serde_json::to_string(checkpoint).unwrap_or_default(),
        };
        format!("{:08x} {json}", crc32c(json.as_bytes())).into_bytes()
    }

    /// Reads a record of the ledger topic.
    ///
    /// # Errors
    /// If the value is damaged, or is not what this release writes under such a key.
    pub fn parse(key: &[u8], value: &[u8]) -> Result<Self, LedgerError> {
        let key = String::from_utf8_lossy(key).into_owned();
        let malformed = |why: &str| LedgerError::Malformed { key: key.clone(), why: why.to_owned() };
        let (kind, rest) = key.split_once('/').unwrap_or((key.as_str(), ""));
        match kind {
            "id" => {
                checked(&key, value)?;
                let id = rest.parse().map_err(|_| malformed("its key names no producer id"))?;
                Ok(Self::Id { slot: Slot::Exclusive, id })
            }
            "shared-id" => {
                checked(&key, value)?;
                let parts = rest.split_once('/');
                let parsed = parts.and_then(|(partition, id)| Some((partition.parse().ok()?, id.parse().ok()?)));
                let (partition, id) =
                    parsed.ok_or_else(|| malformed("its key has not the form shared-id/<partition>/<producer id>"))?;
                Ok(Self::Id { slot: Slot::Shared(partition), id })
            }
            "route" => {
                let json = checked(&key, value)?;
                let route = serde_json::from_str(json).map_err(|error| malformed(&error.to_string()))?;
                Ok(Self::Route { topic: rest.to_owned(), route })
            }
            "left-out" => {
                let json = checked(&key, value)?;
                let parts = rest.split_once('/');
                let parsed = parts.and_then(|(partition, topic)| Some((partition.parse().ok()?, topic.to_owned())));
                let (partition, topic) =
                    parsed.ok_or_else(|| malformed("its key has not the form left-out/<partition>/<topic>"))?;
                let ranges: Vec<(i64, i64)> =
                    serde_json::from_str(json).map_err(|error| malformed(&error.to_string()))?;
                Ok(Self::LeftOut { topic, partition, ranges: ranges.into_iter().collect() })
            }
            "epoch" => {
                checked(&key, value)?;
                let mut parts = rest.splitn(3, '/');
                let (Some(epoch), Some(partition), Some(topic)) = (parts.next(), parts.next(), parts.next()) else {
                    return Err(malformed("its key has not the form epoch/<epoch>/<partition>/<topic>"));
                };
                let epoch = epoch.parse().map_err(|_| malformed("its key names no epoch"))?;
                let partition = partition.parse().map_err(|_| malformed("its key names no partition"))?;
                Ok(Self::Epoch { topic: topic.to_owned(), partition, epoch })
            }
            "checkpoint" => {
                let json = checked(&key, value)?;
                let mut parts = rest.splitn(3, '/');
                let (Some(worker), Some(partition), Some(topic)) = (parts.next(), parts.next(), parts.next()) else {
                    return Err(malformed("its key has not the form checkpoint/<worker>/<partition>/<topic>"));
                };
                let partition = partition.parse().map_err(|_| malformed("its key names no partition"))?;
                let checkpoint = serde_json::from_str(json).map_err(|error| malformed(&error.to_string()))?;
                Ok(Self::Checkpoint { worker: worker.to_owned(), topic: topic.to_owned(), partition, checkpoint })
            }
            _ => Ok(Self::Unknown),
        }
    }
}

/// The JSON of a value whose checksum matches.
fn checked<'a>(key: &str, value: &'a [u8]) -> Result<&'a str, LedgerError> {
    let damaged = || LedgerError::Damaged { key: key.to_owned() };
    let text = std::str::from_utf8(value).map_err(|_| damaged())?;
    let (crc, json) = text.split_once(' ').ok_or_else(damaged)?;
    let crc = u32::from_str_radix(crc, 16).map_err(|_| damaged())?;
    if crc == crc32c(json.as_bytes()) { Ok(json) } else { Err(damaged()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> LedgerEntry {
        let proved = Proved {
            source_next: SourceOffset(12),
            target_next: TargetOffset(7),
            epoch: 0,
            sequence: Sequence::from_wire(7).unwrap(),
            fingerprint: Some(Fingerprint { content: u64::MAX, timestamp: -1 }),
        };
        LedgerEntry::Checkpoint {
            worker: "a".to_owned(),
            topic: "orders.eu".to_owned(),
            partition: 3,
            checkpoint: Checkpoint::new(&proved, Some(Producer { id: 9, epoch: 1 }), 4, true, 1_700_000_000_000),
        }
    }

    #[test]
    fn an_entry_reads_back_as_it_was_written() {
        let (topic, partition) = ("orders.eu".to_owned(), 3);
        let route = StoredRoute { target: "eu.orders".to_owned(), topic_id: Some("0a".repeat(16)) };
        for entry in [
            checkpoint(),
            LedgerEntry::Id { slot: Slot::Exclusive, id: 41 },
            LedgerEntry::Id { slot: Slot::Shared(7), id: 42 },
            LedgerEntry::Epoch { topic: topic.clone(), partition, epoch: 2 },
            LedgerEntry::Route { topic: topic.clone(), route },
            LedgerEntry::LeftOut { topic, partition, ranges: [(3, 4), (7, 9)].into_iter().collect() },
        ] {
            assert_eq!(LedgerEntry::parse(entry.key().as_bytes(), &entry.value()), Ok(entry));
        }
        assert_eq!(checkpoint().key(), "checkpoint/a/3/orders.eu");
    }

    #[test]
    fn a_flipped_byte_is_seen() {
        let entry = checkpoint();
        let mut value = entry.value();
        let last = value.len() - 3;
        value[last] ^= 1;
        assert!(matches!(LedgerEntry::parse(entry.key().as_bytes(), &value), Err(LedgerError::Damaged { .. })));
    }

    #[test]
    fn an_entry_of_a_newer_release_is_not_an_error() {
        assert_eq!(LedgerEntry::parse(b"topics/7", b"whatever"), Ok(LedgerEntry::Unknown));
    }

    #[test]
    fn fields_of_a_newer_release_are_passed_over() {
        let json = r#"{"v":2,"source_next":5,"target_next":6,"colour":"blue"}"#;
        let value = format!("{:08x} {json}", crc32c(json.as_bytes()));
        let read = LedgerEntry::parse(b"checkpoint/w/0/t", value.as_bytes()).unwrap();
        let LedgerEntry::Checkpoint { checkpoint, .. } = read else { panic!("{read:?}") };
        assert_eq!((checkpoint.source_next().0, checkpoint.target_next().0, checkpoint.drained), (5, 6, false));
    }
}
