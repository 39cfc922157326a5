//! What is written is what is read; what a disk did to it is found.

use bytes::Bytes;
use kmirror_proto::records::{BatchBuilder, HeadersSource, Stamp, crc32c};

use super::*;
use crate::Now;
use crate::asking::{Asking, batch};
use crate::log::Entry;
use crate::settings::TopicSettings;

/// What a log has: start, end, entries.
fn contents(cluster: &Cluster, topic: &str, partition: i32) -> (i64, i64, Vec<Bytes>) {
    let log = &cluster.partition(topic, partition).unwrap().log;
    (log.start(), log.end(), log.entries(0).map(|entry| entry.bytes.clone()).collect())
}

fn read(path: &Path, release: Release) -> (Cluster, Vec<Cut>) {
    let mut cluster = Cluster::builder(release).build().unwrap();
    let cuts = Folder::at(path).read(&mut cluster).unwrap();
    (cluster, cuts)
}

fn stamp(base_sequence: i32) -> Stamp {
    Stamp { producer_id: 7, producer_epoch: 0, base_sequence }
}

/// A cluster with two partitions; the first has three batches in two segments.
fn filled(release: Release) -> Asking {
    let mut client = Asking::of(release);
    client.cluster.create_topic("orders", 2);
    let small = TopicSettings { segment_bytes: 200, ..client.cluster.topics["orders"].settings.clone() };
    client.cluster.topics.get_mut("orders").unwrap().settings = small;
    for n in 0..3 {
        client.produce(3, "orders", -1, batch(4, stamp(4 * n)));
    }
    client
}

fn names(folder: &Path) -> Vec<String> {
    files(folder).unwrap().iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn a_cluster_goes_on_where_the_folder_ends() {
    let folder = tempfile::tempdir().unwrap();
    let client = filled(Release::V2_8);
    Folder::at(folder.path()).write(&client.cluster).unwrap();
    assert_eq!(names(folder.path()), [CLEANED, STARTS, "orders-0", "orders-1"]);
    let (first, second) = ("00000000000000000000", "00000000000000000008");
    let mut expected: Vec<String> = Vec::new();
    for base in [first, second] {
        expected.extend(["index", "log", "timeindex"].map(|ending| format!("{base}.{ending}")));
    }
    expected.extend([EPOCHS, METADATA].map(str::to_owned));
    assert_eq!(names(&folder.path().join("orders-0")), expected);

    let (cluster, cuts) = read(folder.path(), Release::V2_8);
    assert_eq!(cuts, []);
    for partition in [0, 1] {
        let before = contents(&client.cluster, "orders", partition);
        assert_eq!(contents(&cluster, "orders", partition), before);
    }
    assert_eq!(cluster.topics["orders"].id, client.cluster.topics["orders"].id);
    let mut client = Asking::to(cluster, crate::NodeId(0));
    let next = client.produce(3, "orders", -1, batch(4, stamp(12)));
    assert_eq!((next.error_code.0, next.base_offset), (0, 12));
    let repeated = client.produce(3, "orders", -1, batch(4, stamp(12)));
    assert_eq!(repeated.base_offset, 12, "who wrote what is known from the log");
}

#[test]
fn what_was_appended_is_appended_and_what_was_changed_is_written_anew() {
    let path = tempfile::tempdir().unwrap();
    let mut client = filled(Release::V2_0);
    let mut folder = Folder::at(path.path());
    let same = |client: &Asking| {
        let (cluster, cuts) = read(path.path(), Release::V2_0);
        assert_eq!(cuts, []);
        assert_eq!(contents(&cluster, "orders", 0), contents(&client.cluster, "orders", 0));
    };
    folder.write(&client.cluster).unwrap();
    client.produce(3, "orders", -1, batch(4, stamp(12)));
    folder.write(&client.cluster).unwrap();
    same(&client);
    let log = |client: &mut Asking, change: &dyn Fn(&mut Log)| {
        change(&mut client.cluster.partition_mut("orders", 0).unwrap().0.log);
    };
    log(&mut client, &|log| log.truncate(8));
    client.produce(3, "orders", -1, batch(3, Stamp::NONE));
    folder.write(&client.cluster).unwrap();
    same(&client);
    log(&mut client, &|log| log.delete_records(9));
    folder.write(&client.cluster).unwrap();
    same(&client);
    let all = TopicSettings { retention_bytes: 0, ..client.cluster.settings.topic.clone() };
    log(&mut client, &|log| log.retain(Now::default(), &all, 11));
    folder.write(&client.cluster).unwrap();
    same(&client);
    assert_eq!(client.cluster.offsets("orders", 0), Ok((11, 11)));

    // Another cluster goes on with the folder; a topic that it does not have any more is gone there too.
    let mut folder = Folder::at(path.path());
    let mut cluster = Cluster::builder(Release::V2_0).build().unwrap();
    folder.read(&mut cluster).unwrap();
    cluster.topics.remove("orders");
    fs::create_dir(path.path().join("somebody's-0")).unwrap();
    folder.write(&cluster).unwrap();
    assert_eq!(names(path.path()), [CLEANED, STARTS, "somebody's-0"]);
}

#[test]
fn a_compacted_log_stays_one() {
    let path = tempfile::tempdir().unwrap();
    let mut cluster = Cluster::builder(Release::V3_9).build().unwrap();
    cluster.create_topic("keyed", 1);
    let settings = TopicSettings {
        compact: true,
        segment_bytes: 100,
        min_cleanable_dirty_ratio: 0.0,
        ..cluster.settings.topic.clone()
    };
    let log = &mut cluster.partition_mut("keyed", 0).unwrap().0.log;
    for n in 0..4 {
        let mut builder = BatchBuilder::new(kmirror_proto::compress::Codec::None, None);
        for key in [b"a", b"b"] {
            let value = (n < 2).then_some(&b"v"[..]);
            builder.push(1000 + n, Some(key), value, HeadersSource::None).unwrap();
        }
        let mut bytes = builder.finish(Stamp::NONE).unwrap().to_vec();
        bytes[0..8].copy_from_slice(&log.end().to_be_bytes());
        log.append(Now::default(), &settings, 0, vec![Entry::read(Bytes::from(bytes)).unwrap()]).unwrap();
    }
    let mut folder = Folder::at(path.path());
    folder.write(&cluster).unwrap();
    cluster.partition_mut("keyed", 0).unwrap().0.log.compact(Now::default(), &settings);
    folder.write(&cluster).unwrap();
    let (again, cuts) = read(path.path(), Release::V3_9);
    assert_eq!((contents(&again, "keyed", 0), cuts), (contents(&cluster, "keyed", 0), vec![]));
    let dirty = |cluster: &Cluster| cluster.partition("keyed", 0).unwrap().log.dirty_from();
    assert_eq!((dirty(&again), dirty(&cluster)), (6, 6));
}

#[test]
fn a_flipped_byte_and_a_cut_tail_end_the_log() {
    let path = tempfile::tempdir().unwrap();
    let client = filled(Release::V2_0);
    let file = path.path().join("orders-0/00000000000000000000.log");
    let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
        Folder::at(path.path()).write(&client.cluster).unwrap();
        let mut bytes = fs::read(&file).unwrap();
        change(&mut bytes);
        fs::write(&file, bytes).unwrap();
        let (cluster, cuts) = read(path.path(), Release::V2_0);
        let offset = cluster.offsets("orders", 0).unwrap().1;
        assert!(cuts.iter().all(|cut| (cut.topic.as_str(), cut.partition, cut.offset) == ("orders", 0, offset)));
        (offset, cuts.len())
    };
    assert_eq!(damaged(&|_| {}), (12, 0));
    assert_eq!(damaged(&|bytes| bytes.extend([0; 100])), (12, 0), "preallocated");
    assert_eq!(damaged(&|bytes| bytes[30] ^= 1), (0, 1));
    assert_eq!(damaged(&|bytes| *bytes.last_mut().unwrap() ^= 1), (4, 1));
    assert_eq!(damaged(&|bytes| bytes.truncate(bytes.len() - 1)), (4, 1));
    assert_eq!(damaged(&|bytes| bytes.truncate(15)), (0, 1));
    // The second batch in the first one's place: its checksum is right, its offset is not that of what follows.
    let twice = |bytes: &mut Vec<u8>| bytes.extend(bytes.clone());
    assert_eq!(damaged(&twice), (8, 1));
}

#[test]
fn names_do_not_lead_elsewhere() {
    let path = tempfile::tempdir().unwrap();
    let mut cluster = Cluster::builder(Release::V2_0).build().unwrap();
    cluster.create_topic("../outside", 1);
    let error = Folder::at(path.path()).write(&cluster).unwrap_err().to_string();
    assert!(error.starts_with("creating ") && error.ends_with("../outside-0: not the name of a topic"), "{error}");
    let error = Folder::at(path.path().join("nowhere")).read(&mut cluster).unwrap_err().to_string();
    assert!(error.starts_with("listing ") && error.contains("nowhere"), "{error}");
}

/// A folder whose name ends in a number need not be one of a log.
#[test]
fn what_has_no_segment_is_no_log() {
    let path = tempfile::tempdir().unwrap();
    let backup = path.path().join("backup-20240101");
    fs::create_dir(&backup).unwrap();
    fs::write(backup.join("-1.log"), [0; 100]).unwrap();
    let (cluster, cuts) = read(path.path(), Release::V2_0);
    assert_eq!((cluster.topics.len(), cuts), (0, vec![]));
}

#[test]
fn indexes_say_where_entries_stand() {
    let path = tempfile::tempdir().unwrap();
    let mut client = Asking::of(Release::V2_0);
    client.cluster.create_topic("long", 1);
    let mut positions = Vec::new();
    for n in 0..300_i64 {
        positions.push(client.cluster.partition("long", 0).unwrap().log.bytes());
        let mut bytes = batch(1, Stamp::NONE).to_vec();
        bytes[27..43].copy_from_slice(&[(1000 + n).to_be_bytes(), (1000 + n).to_be_bytes()].concat());
        let crc = crc32c(&bytes[21..]);
        bytes[17..21].copy_from_slice(&crc.to_be_bytes());
        client.produce(3, "long", -1, Bytes::from(bytes));
    }
    Folder::at(path.path()).write(&client.cluster).unwrap();
    let file = |ending| fs::read(segment_file(&path.path().join("long-0"), 0, ending)).unwrap();
    let index: Vec<(i64, usize)> = file("index")
        .chunks(8)
        .map(|pair| {
            let number = |at: usize| i32::from_be_bytes(pair[at..at + 4].try_into().unwrap());
            (number(0).into(), usize::try_from(number(4)).unwrap())
        })
        .collect();
    assert!(index.len() >= 4 && index.iter().all(|(offset, at)| positions[usize::try_from(*offset).unwrap()] == *at));
    let times = file("timeindex");
    let last = times.chunks(12).next_back().unwrap();
    assert_eq!(times.len(), 12 * (index.len() + 1));
    assert_eq!(last, [&1299_i64.to_be_bytes()[..], &299_i32.to_be_bytes()].concat());
}
