//! Whatever happens to a request on its way, on either side: in the end everything is there, in its order, and once.
//!
//! What happens here no real broker does on demand. Each fault is played alone, in the middle of a copy.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kmirror_testkit::Codec;
use kmirror_testkit::Release::{self, V0_10_1, V0_11, V2_0, V2_8, V4_4};
use kmirror_testkit::fault::{ApiKey, End, ErrorCode, Fault, Requests};
use kmirror_tests::Result;
use kmirror_tests::embedded::{Embedded, impatient, run_configured};
use kmirror_tests::failure::ensure;
use kmirror_tests::judge::Row;

use crate::at_once;

const TOPIC: &str = "t";
const PARTITIONS: u32 = 2;
const BATCHES: u32 = 25;
const ROWS: u32 = 4;

/// Old to new, new to old, and both to and from 0.10.
const PAIRS: [(Release, Release); 5] = [(V0_10_1, V4_4), (V4_4, V0_10_1), (V4_4, V0_11), (V2_0, V2_8), (V0_11, V2_0)];

/// Shorter than a request may take (a second), far shorter than one without an answer may still take effect (three: a machine
/// that stands still for a moment proves nothing), longer than a log of 0.10 has to stand still before it is believed
/// (300 ms, once it is found again).
const A_WHILE: Duration = Duration::from_millis(700);

/// What can happen to any request, with how often.
fn anywhere() -> Vec<(u64, Fault)> {
    use End::{Close, Reset};
    vec![
        (2, Fault::End(Close)),
        (2, Fault::End(Reset)),
        (2, Fault::DropAnswer(Close)),
        (2, Fault::DropAnswer(Reset)),
        (2, Fault::Cut { bytes: 3, end: Close }),
        (2, Fault::Cut { bytes: 40, end: Reset }),
        (1, Fault::Silence),
        (1, Fault::Swallow),
        (2, Fault::DelayAnswer(A_WHILE)),
        (2, Fault::DelayRequest(A_WHILE)),
        (2, Fault::Throttle(A_WHILE)),
        (2, Fault::Late { after: A_WHILE, end: Reset }),
        (1, Fault::Bytes { bytes: HTTP.into(), end: Some(Close) }),
        (1, Fault::Bytes { bytes: (&[0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff][..]).into(), end: None }),
    ]
}

const HTTP: &[u8] = b"HTTP/1.1 400 Bad Request\r\n\r\n";

/// Codes after which a producer tries again.
const WRITE_ERRORS: [ErrorCode; 8] = [
    ErrorCode::UNKNOWN_SERVER_ERROR,
    ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode::LEADER_NOT_AVAILABLE,
    ErrorCode::NOT_LEADER_OR_FOLLOWER,
    ErrorCode::REQUEST_TIMED_OUT,
    ErrorCode::NOT_ENOUGH_REPLICAS,
    ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER,
];

/// Codes after which a consumer tries again.
const READ_ERRORS: [ErrorCode; 6] = [
    ErrorCode::UNKNOWN_SERVER_ERROR,
    ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode::LEADER_NOT_AVAILABLE,
    ErrorCode::NOT_LEADER_OR_FOLLOWER,
    ErrorCode::REPLICA_NOT_AVAILABLE,
    ErrorCode::KAFKA_STORAGE_ERROR,
];

fn with_errors(codes: &[ErrorCode]) -> Vec<(u64, Fault)> {
    anywhere().into_iter().chain(codes.iter().map(|code| (2, Fault::Error(*code)))).collect()
}

fn filled(release: Release) -> Result<Embedded> {
    let source = Embedded::start(release)?;
    source.with(|cluster, _| cluster.create_topic(TOPIC, 2));
    for partition in 0..PARTITIONS {
        for batch in 0..BATCHES {
            let rows: Vec<Row> = (0..ROWS).map(|n| Row::number(batch * ROWS + n)).collect();
            source.append(TOPIC, partition, Codec::None, &rows)?;
        }
    }
    Ok(source)
}

/// Copies a topic while something happens to requests of one side, and compares; how many requests were bitten.
fn copied_through(from: Release, to: Release, on: Side, requests: Requests, fault: Fault) -> Result<u64> {
    let (source, target) = (filled(from)?, Embedded::start(to)?);
    let bitten = match on {
        Side::Source => &source,
        Side::Target => &target,
    };
    let set = bitten.with(|cluster, _| cluster.intercept(requests, fault));
    let mut config = impatient(&source, &target, TOPIC)?;
    config.until_caught_up = true;
    run_configured(config, |_| Ok(()))?;
    let bitten = bitten.with(|cluster, _| cluster.lift(set));
    // What is still under way lands.
    target.pass(2 * A_WHILE);
    for partition in 0..PARTITIONS {
        let (expected, arrived) = (source.read(TOPIC, partition)?, target.read(TOPIC, partition)?);
        let counts = format!("{} records of {}", arrived.len(), expected.len());
        ensure(arrived == expected, || format!("{TOPIC}-{partition} differs: {counts}"))?;
    }
    Ok(bitten)
}

#[derive(Clone, Copy, Debug)]
enum Side {
    Source,
    Target,
}

/// Each fault alone, all of them at once.
fn each(side: Side, requests: impl Fn() -> Requests, faults: &[(u64, Fault)], pairs: &[(Release, Release)]) -> Result {
    let all = pairs.iter().flat_map(|pair| faults.iter().map(move |fault| (pair, fault)));
    at_once(all.map(|((from, to), (times, fault))| {
        let met = requests().times(*times);
        let copied = move || {
            let bitten = copied_through(*from, *to, side, met, fault.clone())?;
            ensure(bitten > 0, || "it did not bite".to_owned())
        };
        (format!("{fault:?}, {from} to {to}"), copied)
    }))
}

/// Every API that a mirror asks one side for.
fn asked(from: Release, to: Release, side: Side) -> Result<Vec<ApiKey>> {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let noted = Arc::clone(&seen);
    let note = Requests::any().when(move |request| {
        noted.lock().unwrap_or_else(PoisonError::into_inner).insert(request.key);
        false
    });
    copied_through(from, to, side, note, Fault::Silence)?;
    Ok(seen.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect())
}

/// The first requests of each API meet faults: connections, metadata, topics, places, the ledger, the group.
fn anything_meets_faults(side: Side, apis_min: usize) -> Result {
    use End::{Close, Reset};
    let faults = [
        Fault::End(Reset),
        Fault::DropAnswer(Close),
        Fault::Cut { bytes: 3, end: Close },
        Fault::Cut { bytes: 40, end: Reset },
        Fault::Swallow,
        Fault::Late { after: A_WHILE, end: Reset },
    ];
    let faults = faults.map(|fault| (1, fault));
    at_once([(V0_10_1, V4_4), (V4_4, V0_10_1)].map(|(from, to)| {
        let faults = &faults;
        let met = move || {
            let asked = asked(from, to, side)?;
            ensure(asked.len() >= apis_min, || format!("only {asked:?} were asked of the {side:?}"))?;
            at_once(asked.into_iter().map(|api| {
                let met = move || each(side, || Requests::of(api), faults, &[(from, to)]);
                (format!("{api:?} of the {side:?}"), met)
            }))
        };
        (format!("{from} to {to}"), met)
    }))
}

#[test]
fn anything_asked_of_the_source_meets_faults() -> Result {
    anything_meets_faults(Side::Source, 6)
}

#[test]
fn anything_asked_of_the_target_meets_faults() -> Result {
    anything_meets_faults(Side::Target, 6)
}

#[test]
fn writes_meet_faults() -> Result {
    let writes = || Requests::of(ApiKey::PRODUCE).about(TOPIC).after(3);
    each(Side::Target, writes, &with_errors(&WRITE_ERRORS), &PAIRS)
}

#[test]
fn first_writes_meet_faults() -> Result {
    let writes = || Requests::of(ApiKey::PRODUCE).about(TOPIC);
    each(Side::Target, writes, &with_errors(&WRITE_ERRORS), &PAIRS)
}

#[test]
fn reads_meet_faults() -> Result {
    let reads = || Requests::of(ApiKey::FETCH).about(TOPIC).after(3);
    each(Side::Source, reads, &with_errors(&READ_ERRORS), &PAIRS)
}
