//! The conformance suite by hand: `cargo run -p kmirror-tests --bin conformance -- <verb> …`.
//!
//! ```text
//! list                                      the rules, and the ids of the cases that prove each
//! record [<release>[=<host:port>]…] [-- <part of an id>…]
//!                                           starts the releases (all seven unless named; two at a time), or asks who
//!                                           listens there, and writes what is answered into the case files
//! run <release>[=<host:port>] [<part of an id>…]
//!                                           compares who listens there, or the embedded broker, and prints the differences
//! ```
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a small tool for people")]

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use kmirror_tests::brokers::Cluster;
use kmirror_tests::conformance::{
    Case, RELEASES, Recorded, Rules, Suite, Target, broker, check, embedded, run_all, take, write,
};
use kmirror_tests::embedded::Embedded;
use kmirror_tests::{Failure, Result};

/// A case that takes longer waits in vain for something.
const SLOW: Duration = Duration::from_secs(5);

fn main() -> Result {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (verb, words) = words.split_first().ok_or_else(usage)?;
    match verb.as_str() {
        "list" => {
            println!("{}", Rules::load().list(&Suite::load()?));
            Ok(())
        }
        "record" => record(words),
        "run" => compare(words),
        _ => Err(usage()),
    }
}

fn usage() -> Failure {
    Failure::new(
        "usage: conformance list | record [<release>[=<address>]…] [-- <id>…] | run <release>[=<address>] [<id>…]",
    )
}

fn compare(words: &[String]) -> Result {
    let (target, parts) = words.split_first().ok_or_else(usage)?;
    let (release, address) = target.split_once('=').unwrap_or((target, ""));
    let embedded = if address.is_empty() { Some(embedded(release)?) } else { None };
    let address = embedded.as_ref().map_or_else(|| address.to_owned(), Embedded::bootstrap);
    let target = Target::reach(release, &address)?;
    let began = Instant::now();
    let differences = check(&Suite::load()?, &target, &address, |case| wanted(case, parts));
    println!("{}", differences.join("\n"));
    println!("{} differences, {:.1} s", differences.len(), began.elapsed().as_secs_f32());
    if differences.is_empty() { Ok(()) } else { Err(Failure::new("not as recorded")) }
}

fn wanted(case: &Case, parts: &[String]) -> bool {
    parts.is_empty() || parts.iter().any(|part| case.id.contains(part.as_str()))
}

fn record(words: &[String]) -> Result {
    let mut halves = words.splitn(2, |word| word == "--");
    let releases = halves.next().unwrap_or_default().to_vec();
    let parts = halves.next().unwrap_or_default().to_vec();
    let releases = if releases.is_empty() { RELEASES.map(str::to_owned).to_vec() } else { releases };
    let mut suite = Suite::load()?;
    let mut failures = Vec::new();
    for pair in releases.chunks(2) {
        let recorded: Vec<(usize, Recorded)> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                pair.iter().map(|release| scope.spawn(|| record_one(&suite, release, &parts))).collect();
            let ended =
                threads.into_iter().map(|thread| thread.join().map_err(|_| Failure::new("a recorder panicked"))?);
            ended.collect::<Result<_>>()
        })?;
        for (release, recorded) in recorded {
            failures.extend(take(&mut suite, release, &recorded));
        }
    }
    write(&suite)?;
    println!("{}", failures.join("\n"));
    if failures.is_empty() { Ok(()) } else { Err(Failure::new(format!("{} cases could not be run", failures.len()))) }
}

fn record_one(suite: &Suite, release: &str, parts: &[String]) -> Result<(usize, Recorded)> {
    let (version, address) = release.split_once('=').unwrap_or((release, ""));
    let cluster = if address.is_empty() { Some(broker(version).start()?) } else { None };
    let address = cluster.as_ref().map_or_else(|| address.to_owned(), Cluster::bootstrap);
    let target = Target::reach(version, &address)?;
    let cases: Vec<&Case> =
        suite.cases.iter().filter(|case| case.releases.has(target.release) && wanted(case, parts)).collect();
    let recorded = Mutex::new(BTreeMap::new());
    let began = Instant::now();
    run_all(&target, &cases, |case, answers, took| {
        if took > SLOW {
            println!("{version}: {} took {:.1} s", case.id, took.as_secs_f32());
        }
        recorded.lock().unwrap_or_else(PoisonError::into_inner).insert(case.id.clone(), answers);
    });
    println!("{version}: {} cases, {:.1} s", cases.len(), began.elapsed().as_secs_f32());
    Ok((target.release, recorded.into_inner().unwrap_or_else(PoisonError::into_inner)))
}
