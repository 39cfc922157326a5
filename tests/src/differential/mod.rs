//! Kafka's own record classes as the judge of ours: generated record sets of every magic and codec.
//!
//! ```text
//! seed ─► Spec ─► Java writes ─► bytes ─┬─► Java reads ─► what is in them ┐
//!            └──► we write   ─► bytes ─┘└─► we read    ─► what is in them ┴─ equal?
//!                                   └─► plan towards a target ─► pieces ─► Java reads ─► the source's records?
//! ```
//!
//! One set in eight is damaged first: then both sides have to say that the checksum is wrong.
//!
//! Not comparable: a wrapper of magic 1 under offset 0 with inner offsets above it, which some producers send and no log
//! holds (Java's consumer counts from 0, we refuse it), and the frames that `frames` leaves out.

mod build;
mod frames;
mod jvm;
mod mirror;
mod read;
mod spec;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bytes::Bytes;
use fastrand::Rng;
use kmirror_proto::compress::Decompressor;

use crate::{Failure, Result};

use jvm::{Answer, Jvm};
use mirror::Mirrored;
use read::{BatchRead, Content, RecordRead, codec_name, described, read};
use spec::Spec;

/// What was compared.
#[derive(Debug, Default)]
pub struct Compared {
    /// How many sets of each kind: writer, magic and codec.
    pub sets: BTreeMap<String, u64>,
    /// How many of them have something special about them.
    pub marks: BTreeMap<&'static str, u64>,
    /// Records that both sides read.
    pub records: u64,
    /// Sets whose damage both sides saw.
    pub damaged: u64,
    /// Pieces that went through a plan as they came.
    pub forwarded: u64,
    /// Pieces that a plan built again.
    pub rewritten: u64,
}

/// Compares `count` sets, those of the seeds from `seed` on; `each` is told how many are done.
///
/// # Errors
/// With the seed and the bytes of the first set that the two sides disagree about.
pub fn compare(seed: u64, count: u64, mut each: impl FnMut(u64)) -> Result<Compared> {
    let mut jvm = Jvm::start()?;
    let mut decompressor = Decompressor::new();
    let mut compared = Compared::default();
    let mut done = 0;
    while done < count {
        let size = CHUNK.min(count - done);
        let seeds: Vec<u64> = (0..size).map(|index| seed.wrapping_add(done + index)).collect();
        chunk(&seeds, &mut jvm, &mut decompressor, &mut compared)?;
        done += size;
        each(done);
    }
    Ok(compared)
}

/// Sets in one exchange with the JVM.
const CHUNK: u64 = 200;

/// One generated set with its bytes.
struct Case {
    seed: u64,
    spec: Spec,
    set: Bytes,
    /// What Java reads in it.
    java: Vec<BatchRead>,
    damaged: bool,
}

fn chunk(seeds: &[u64], jvm: &mut Jvm, decompressor: &mut Decompressor, compared: &mut Compared) -> Result {
    let cases = cases(seeds, jvm)?;
    let mut planned = Vec::new();
    for case in &cases {
        let ours = read(&case.set, decompressor).map_err(|error| case.disagrees(&format!("we refuse it: {error}")))?;
        if ours != case.java {
            return Err(case.disagrees(&difference(&ours, &case.java)));
        }
        count(case, compared);
        if !case.damaged {
            let mirrored = Mirrored::of(case.seed, &case.set, &case.java).map_err(|why| case.disagrees(&why))?;
            planned.push((case, mirrored));
        }
    }
    let questions = planned.iter().flat_map(|(_, mirrored)| &mirrored.pieces).map(|(bytes, ..)| reading(bytes));
    let mut answers = jvm.ask(&questions.collect::<Vec<_>>())?.into_iter();
    for (case, mirrored) in &planned {
        let read = answers.by_ref().take(mirrored.pieces.len());
        let read: Vec<_> = read.map(|answer| said(answer, |why| case.disagrees(why))).collect::<Result<_>>()?;
        mirrored.check(&read).map_err(|why| {
            let pieces: String =
                mirrored.pieces.iter().fold(String::new(), |text, (bytes, ..)| text + "\n" + &hex(bytes));
            case.disagrees(&format!("{why}\npieces{pieces}"))
        })?;
        let rewritten = mirrored.pieces.iter().filter(|(.., rewritten)| *rewritten).count();
        compared.rewritten += u64::try_from(rewritten).unwrap_or(0);
        compared.forwarded += u64::try_from(mirrored.pieces.len() - rewritten).unwrap_or(0);
    }
    Ok(())
}

/// Has the sets written, by Java or by us, damages some, and has Java read them.
fn cases(seeds: &[u64], jvm: &mut Jvm) -> Result<Vec<Case>> {
    let specs: Vec<(u64, Spec)> = seeds.iter().map(|&seed| (seed, Spec::of(seed))).collect();
    let javas = specs.iter().filter(|(_, spec)| spec.writer.is_java()).map(|(_, spec)| spec.question());
    let mut written = jvm.ask(&javas.collect::<Vec<_>>())?.into_iter();
    let mut cases = Vec::new();
    let mut intents = Vec::new();
    for (seed, spec) in specs {
        let mut case = Case { seed, spec, set: Bytes::new(), java: Vec::new(), damaged: false };
        let intent = if case.spec.writer.is_java() {
            let answer = written.next().ok_or_else(|| Failure::new("an answer is missing"))?;
            case.set = answer.map_err(|why| case.disagrees(&format!("Java does not write it: {why}")))?;
            None
        } else {
            let (set, intent) = build::built(&case.spec)?;
            case.set = set;
            Some(intent)
        };
        damage(&mut case);
        cases.push(case);
        intents.push(intent);
    }
    let answers = jvm.ask(&cases.iter().map(|case| reading(&case.set)).collect::<Vec<_>>())?;
    for ((case, intent), answer) in cases.iter_mut().zip(intents).zip(answers) {
        case.java = said(answer, |why| case.disagrees(why))?;
        let contents = case.java.iter().filter_map(|batch| batch.content.as_ref());
        let read: Vec<_> = contents.flat_map(|content| &content.records).collect();
        if !case.damaged && intent.is_some_and(|intent| !intent.iter().eq(read.iter().copied())) {
            return Err(case.disagrees(&format!("Java does not read what we meant: {:?}", case.java)));
        }
    }
    Ok(cases)
}

/// Flips a bit of one set in eight, in its last entry: anywhere that the checksum covers or stands, but in the magic.
fn damage(case: &mut Case) {
    let rng = &mut Rng::with_seed(case.seed ^ 0x6461_6d61_6765);
    if rng.u8(..8) > 0 || case.set.is_empty() {
        return;
    }
    let mut bytes = case.set.to_vec();
    let mut last = 0;
    while let Some(length) = bytes.get(last + 8..last + 12) {
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]);
        let next = last + 12 + usize::try_from(length).unwrap_or(0);
        if next >= bytes.len() {
            break;
        }
        last = next;
    }
    let begin = if bytes[last + 16] == 2 { 17 } else { 12 };
    let at = last + rng.usize(begin..bytes.len() - last);
    if at == last + 16 {
        return;
    }
    bytes[at] ^= 1 << rng.u8(..8);
    case.set = bytes.into();
    case.damaged = true;
}

fn count(case: &Case, compared: &mut Compared) {
    let contents = || case.java.iter().filter_map(|batch| batch.content.as_ref());
    compared.records += contents().map(|content| u64::try_from(content.records.len()).unwrap_or(0)).sum::<u64>();
    compared.damaged += u64::from(case.damaged);
    let Spec { writer, magic, codec, .. } = &case.spec;
    *compared.sets.entry(format!("{writer:?} {magic} {}", codec_name(codec.id()))).or_default() += 1;
    let records = || contents().flat_map(|content| &content.records);
    let gap = |content: &Content| {
        let held = content.last_offset - content.base_offset + 1;
        i64::try_from(content.records.len()).is_ok_and(|records| records < held)
    };
    let wide = |record: &RecordRead| record.headers.iter().any(|(name, _)| std::str::from_utf8(name).is_err());
    for (mark, found) in [
        ("converted by a broker", case.spec.convert_to.is_some()),
        ("compacted", case.spec.kept.is_some()),
        ("emptied by compaction", contents().any(|content| content.count == 0)),
        ("with gaps", contents().any(gap)),
        ("with a delete horizon", contents().any(|content| content.delete_horizon != i64::MIN)),
        ("with an append time", contents().any(|content| content.timestamp_type == 1)),
        ("of a transaction", contents().any(|content| content.transactional && !content.control)),
        ("before 1970", records().any(|record| record.timestamp < -1)),
        ("with header names that are no text", records().any(wide)),
        ("with more than 64 KiB", case.set.len() > 1 << 16),
    ] {
        *compared.marks.entry(mark).or_default() += u64::from(found);
    }
}

fn reading(set: &Bytes) -> Vec<u8> {
    [&[0], &set[..]].concat()
}

fn said(answer: Answer, disagrees: impl Fn(&str) -> Failure) -> Result<Vec<BatchRead>> {
    let mut answer = answer.map_err(|why| disagrees(&format!("Java refuses it: {why}")))?;
    described(&mut answer).map_err(|error| Failure::new(format!("an answer of the judge: {error}")))
}

impl Case {
    fn disagrees(&self, why: &str) -> Failure {
        let spec = Spec { records: Vec::new(), ..self.spec.clone() };
        let damaged = if self.damaged { ", damaged" } else { "" };
        let set = hex(&self.set);
        Failure::new(format!("seed {}{damaged}: {why}\nof {spec:?}\nset {set}", self.seed))
    }
}

/// The first batch in which they differ.
fn difference(ours: &[BatchRead], java: &[BatchRead]) -> String {
    let at = ours.iter().zip(java).take_while(|(ours, java)| ours == java).count();
    format!("batch {at} differs\nours {:?}\nJava {:?}", ours.get(at), java.get(at))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
