//! kmirror against MirrorMaker 1, from 2.0.0 to 0.10.1.1: `benches/compare mm1 [--pairs 3] [--records 5000000]`.
//!
//! Runs alternate between one source and a fresh target each; `--only <mirror>` leaves the other one out.
#![expect(clippy::print_stdout, reason = "a tool for people")]

use std::collections::BTreeMap;
use std::time::Duration;

use kmirror_benches::floor;
use kmirror_benches::rival::Rival;
use kmirror_benches::sample::Sample;
use kmirror_benches::table::{self, Load, Row};
use kmirror_tests::brokers::{Cluster, JvmProfile};
use kmirror_tests::failure::{Context as _, ensure};
use kmirror_tests::judge::{self, PartitionDigest};
use kmirror_tests::kmirror;
use kmirror_tests::wait::{self, Deadline, Stopwatch};
use kmirror_tests::{Failure, Result};

const TOPIC: &str = "compared";
const PARTITIONS: u32 = 8;
const RECORD_BYTES: u32 = 100;

/// For one run; MirrorMaker 1 takes some 20 s on such a machine.
const RUN_WITHIN: Duration = Duration::from_secs(600);

/// Each look asks the target's broker, which has better things to do.
const LOOK_EVERY: Duration = Duration::from_millis(50);

fn main() -> Result {
    let plan = Plan::from_args(std::env::args().skip(1))?;
    // Built now: a run that has to wait for a compiler is not measured, it is spoilt.
    kmirror::binary()?;
    let source = cluster("2.0.0")?;
    judge::create(&source, TOPIC, PARTITIONS, &[])?;
    judge::perf_fill(&source, TOPIC, plan.records, RECORD_BYTES)?;
    let want = judge::dump(&source, TOPIC)?;
    let load = Load { records: plan.records, log_bytes: log_bytes(&source)? };
    let gigabytes = table::giga(load.log_bytes);
    println!(
        "2.0.0 to 0.10.1.1, {} records of {RECORD_BYTES} B in {PARTITIONS} partitions, {gigabytes:.3} GB of source log",
        plan.records
    );

    let mut rows = Vec::new();
    for pair in 1..=plan.pairs {
        for rival in plan.mirrors.iter().copied() {
            let before = floor::probe()?;
            let row = measure(pair, rival, &source, &want)?;
            let after = floor::probe()?;
            println!("{}floor {before:.2} and {after:.2} CPU-s/GB", table::rows(std::slice::from_ref(&row), load));
            if before.max(after) > floor::VOID_ABOVE {
                println!("void: the machine was too busy (floor above {:.2})", floor::VOID_ABOVE);
            }
            rows.push(row);
        }
    }
    println!("\n{}", table::rows(&rows, load));
    println!("{}", table::ratios(&rows, Rival::Kmirror.name(), plan.rival.name()));
    Ok(())
}

/// One run into a fresh target, and the proof that everything arrived.
fn measure(pair: u32, rival: Rival, source: &Cluster, want: &BTreeMap<u32, PartitionDigest>) -> Result<Row> {
    let target = cluster("0.10.1.1")?;
    judge::create(&target, TOPIC, PARTITIONS, &[])?;
    let folder = tempfile::Builder::new().prefix("compare-").tempdir();
    let folder = folder.context(|| "creating a folder for the run".to_owned())?;
    let total: u64 = want.values().map(|digest| digest.count).sum();

    let watch = Stopwatch::start();
    let mut process = rival.start(source, &target, TOPIC, folder.path())?;
    let what = format!("{} to mirror {total} records", rival.name());
    let (used, wall) = wait::until_every(LOOK_EVERY, Deadline::after(RUN_WITHIN), &what, || {
        let written = written(&target);
        if let Some(status) = process.status()? {
            return Err(Failure::new(format!("{} ended with {status}\n{}", rival.name(), process.output())));
        }
        let sample = Sample::of(process.pid())?;
        Ok((written >= total).then(|| (sample, watch.elapsed())))
    })
    .map_err(|failure| Failure::new(format!("{failure}\n{}", process.output())))?;
    process.signal("TERM")?;
    process.wait(RUN_WITHIN)?;
    complaints(&process.stderr());

    verify(rival, want, &judge::dump(&target, TOPIC)?)?;
    Ok(Row { pair, mirror: rival.name(), used, wall })
}

/// Shows what a run warned of: a number with a warning beside it is read otherwise.
fn complaints(stderr: &str) {
    const LINES_MAX: usize = 10;
    let warnings = stderr.lines().filter(|line| line.contains(" WARN ") || line.contains(" ERROR "));
    for line in warnings.take(LINES_MAX) {
        println!("{line}");
    }
}

/// A fast wrong mirror fails. One that keeps partitions has every record of each in its order; MirrorMaker 1 spreads
/// records without a key anew, so that only all of them together can be compared.
fn verify(rival: Rival, want: &BTreeMap<u32, PartitionDigest>, have: &BTreeMap<u32, PartitionDigest>) -> Result {
    let ordered = |digests: &BTreeMap<u32, PartitionDigest>| {
        digests.iter().map(|(partition, digest)| (*partition, digest.count, digest.sha256)).collect::<Vec<_>>()
    };
    let together = |digests: &BTreeMap<u32, PartitionDigest>| {
        let add =
            |sum: (u64, u64), digest: &PartitionDigest| (sum.0 + digest.count, sum.1.wrapping_add(digest.content_sum));
        digests.values().fold((0, 0), add)
    };
    let same = if rival.keeps_partitions() { ordered(want) == ordered(have) } else { together(want) == together(have) };
    ensure(same, || format!("{}: the target differs\nsource {want:#?}\ntarget {have:#?}", rival.name()))
}

fn written(target: &Cluster) -> u64 {
    let ends = target.ends(TOPIC).unwrap_or_default();
    ends.into_iter().flatten().filter_map(|end| u64::try_from(end).ok()).sum()
}

fn cluster(version: &str) -> Result<Cluster> {
    Cluster::of(version).jvm(JvmProfile::Server, 1024).start()
}

/// The size of the topic's segment files.
fn log_bytes(source: &Cluster) -> Result<u64> {
    let mut bytes = 0;
    for partition in 0..PARTITIONS {
        let node = source.nodes().first().ok_or_else(|| Failure::new("a cluster without brokers"))?;
        let folder = node.log_dir().join(format!("{TOPIC}-{partition}"));
        let what = || format!("listing {}", folder.display());
        for file in std::fs::read_dir(&folder).context(what)? {
            let file = file.context(what)?;
            if file.path().extension().is_some_and(|ending| ending == "log") {
                bytes += file.metadata().context(what)?.len();
            }
        }
    }
    Ok(bytes)
}

/// What the command line asks for.
struct Plan {
    rival: Rival,
    mirrors: Vec<Rival>,
    pairs: u32,
    records: u64,
}

impl Plan {
    fn from_args(mut args: impl Iterator<Item = String>) -> Result<Plan> {
        let usage = "usage: compare mm1 [--pairs 3] [--records 5000000] [--only mm1|kmirror]";
        let rival = Rival::named(&args.next().ok_or_else(|| Failure::new(usage))?)?;
        let mut plan = Plan { rival, mirrors: vec![rival, Rival::Kmirror], pairs: 3, records: 5_000_000 };
        while let Some(flag) = args.next() {
            let value = args.next().ok_or_else(|| Failure::new(usage))?;
            let number = || value.parse::<u32>().map_err(|_| Failure::new(format!("{flag} {value}: not a number")));
            match flag.as_str() {
                "--pairs" => plan.pairs = number()?,
                "--records" => plan.records = number()?.into(),
                "--only" => plan.mirrors = vec![Rival::named(&value)?],
                _ => return Err(Failure::new(usage)),
            }
        }
        Ok(plan)
    }
}
