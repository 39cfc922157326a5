//! What happens to the logs themselves while a mirror copies: they lose their beginning or their end, or are made again.

use kmirror_core::mirror::worker::Summary;
use kmirror_core::observe::Event;
use kmirror_testkit::Release::{self, V0_10_1, V0_11, V2_0, V2_4, V2_8, V3_9, V4_4};
use kmirror_testkit::fault::{ApiKey, Fault, Requests};
use kmirror_testkit::{Cluster, Codec, NoSuch, NodeId};
use kmirror_tests::embedded::{Embedded, Handles, WITHIN, impatient, run_configured};
use kmirror_tests::failure::ensure;
use kmirror_tests::judge::Row;
use kmirror_tests::kafka::Kafka as _;
use kmirror_tests::wait::{self, Deadline};
use kmirror_tests::{Failure, Result};

use crate::at_once;

const TOPIC: &str = "t";

fn append(source: &Embedded, from: u32, batches: u32) -> Result {
    (0..batches).try_for_each(|batch| {
        let rows: Vec<Row> = (0..5).map(|n| Row::number(from + batch * 5 + n)).collect();
        source.append(TOPIC, 0, Codec::None, &rows)
    })
}

/// Runs a mirror of the topic until `beside` has ended, and stops it in order.
fn mirrored(source: &Embedded, target: &Embedded, beside: impl FnOnce(&Handles) -> Result + Send) -> Result<Summary> {
    let beside = |handles: Handles| {
        beside(&handles)?;
        handles.stop.stop();
        Ok(())
    };
    run_configured(impatient(source, target, TOPIC)?, beside).map(|(summary, ())| summary)
}

fn stopped(handles: &Handles) -> Result {
    handles.heard.until("the link to stop", |event| matches!(event, Event::Stopped { .. }))
}

/// Fails unless the run ended with its only link not mirrored, and says why with these words.
fn said(ended: Result<Summary>, words: &str) -> Result {
    match ended {
        Ok(_) => Err(Failure::new("nothing stopped")),
        Err(failure) => {
            let text = failure.to_string();
            ensure(text.contains("could not be mirrored") && text.contains(words), || {
                format!("nothing about {words:?}: {text}")
            })
        }
    }
}

fn with_each(pairs: &[(Release, Release)], test: fn(Release, Release) -> Result) -> Result {
    at_once(pairs.iter().map(|(from, to)| (format!("{from} to {to}"), move || test(*from, *to))))
}

/// The source's retention is faster than the mirror, which has to wait for the target: what was read is written, the range
/// that is gone is named to the digit, nothing behind it is copied.
#[test]
fn retention_overtakes_a_mirror() -> Result {
    with_each(&[(V0_10_1, V4_4), (V4_4, V0_10_1), (V2_0, V0_11)], |from, to| {
        let (source, target) = (Embedded::start(from)?, Embedded::start(to)?);
        source.create(TOPIC, 1, &[("retention.ms", "1000")])?;
        target.create(TOPIC, 1, &[])?;
        append(&source, 0, 200)?;
        let written = source.read(TOPIC, 0)?;
        let writes = Requests::of(ApiKey::PRODUCE).about(TOPIC);
        let hold = target.with(|cluster, _| cluster.intercept(writes, Fault::Hold));
        let ended = mirrored(&source, &target, |handles| {
            wait::until(Deadline::after(WITHIN), "a write to be held", || {
                Ok((target.with(|cluster, _| cluster.bitten(hold)) > 0).then_some(()))
            })?;
            source.with(|cluster, _| cluster.retain());
            target.with(|cluster, _| cluster.lift(hold));
            stopped(handles)
        });
        let arrived = target.read(TOPIC, 0)?;
        said(ended, &format!("records [{}, {}) are gone", arrived.len(), written.len()))?;
        ensure(arrived == written[..arrived.len()], || "what had been read differs".to_owned())
    })
}

/// Somebody deletes records of the target, under the mirror and between two runs, all of them at last: it goes on where
/// it was.
#[test]
fn records_of_the_target_are_deleted() -> Result {
    with_each(&[(V0_10_1, V4_4), (V4_4, V0_10_1), (V2_0, V0_11), (V0_11, V2_8)], |from, to| {
        let (source, target) = (Embedded::start(from)?, Embedded::start(to)?);
        source.create(TOPIC, 1, &[])?;
        append(&source, 0, 20)?;
        mirrored(&source, &target, |_| {
            target.wait_for(TOPIC, 0, 100)?;
            target.delete_records(TOPIC, 0, 60)?;
            append(&source, 100, 20)?;
            target.wait_for(TOPIC, 0, 140)?;
            target.delete_records(TOPIC, 0, 200)
        })?;
        append(&source, 200, 20)?;
        mirrored(&source, &target, |_| target.wait_for(TOPIC, 0, 100))?;
        let all = source.read(TOPIC, 0)?;
        ensure(target.read(TOPIC, 0)? == all[200..], || "what came last differs".to_owned())
    })
}

/// The source's topic is deleted and made again between two looks, and is shorter: its id says so (KIP-516). Nothing is
/// appended to the former one's copy.
#[test]
fn the_source_s_topic_is_made_again() -> Result {
    with_each(&[(V2_8, V4_4), (V4_4, V0_10_1), (V3_9, V2_0)], |from, to| {
        let (source, target) = (Embedded::start(from)?, Embedded::start(to)?);
        source.create(TOPIC, 1, &[])?;
        append(&source, 0, 20)?;
        let former = source.read(TOPIC, 0)?;
        let seen = "the source's topic was deleted and created again; the former one was mirrored up to offset 100";
        let ended = mirrored(&source, &target, |handles| {
            target.wait_for(TOPIC, 0, 100)?;
            source.with(|cluster, _| made_again(cluster)).map_err(|error| Failure::new(error.to_string()))?;
            append(&source, 1000, 10)?;
            handles.heard.until("the mirror to see that it is another topic", |event| event.to_string().contains(seen))
        });
        said(ended, seen)?;
        ensure(target.read(TOPIC, 0)? == former, || "something was appended to the former one".to_owned())
    })
}

fn made_again(cluster: &mut Cluster) -> std::result::Result<(), NoSuch> {
    cluster.delete_topic(TOPIC)?;
    cluster.create_topic(TOPIC, 1);
    Ok(())
}

/// The target loses the end of its log by an unclean election: the link says up to where, and stands still. (Played in
/// [`crate::after_a_wait`].)
pub(crate) fn the_target_loses_records() -> Result {
    with_each(&[(V0_10_1, V4_4), (V4_4, V0_10_1), (V2_0, V2_4)], |from, to| {
        let (before, arrived) = after_a_loss(from, to, |cluster| cluster.elect_unclean(TOPIC, 0, NodeId(1)))?;
        ensure(arrived == before[..100], || format!("{} records are there", arrived.len()))
    })
}

/// The target's topic is deleted and made again. What was on its way then may be in the new one; that is seen in the
/// answer, and nothing follows. (Played in [`crate::after_a_wait`].)
pub(crate) fn the_target_s_topic_is_made_again() -> Result {
    with_each(&[(V0_10_1, V4_4), (V4_4, V0_10_1), (V2_0, V2_4)], |from, to| {
        let (before, arrived) = after_a_loss(from, to, made_again)?;
        ensure(before[200..].starts_with(&arrived), || format!("{} records are there", arrived.len()))
    })
}

/// Copies 200 records, of which the followers have 100, and more after something has happened to the target. The link says
/// where the target's log ends then and that it was longer. What the source and the target hold.
fn after_a_loss(
    from: Release,
    to: Release,
    happens: fn(&mut Cluster) -> std::result::Result<(), NoSuch>,
) -> Result<(Vec<Row>, Vec<Row>)> {
    let source = Embedded::start(from)?;
    let three = Cluster::builder(to).brokers(3).setting("default.replication.factor", "3");
    let target = Embedded::of(three.setting("replica.lag.time.max.ms", "500"))?;
    source.create(TOPIC, 1, &[])?;
    target.with(|cluster, _| cluster.create_topic(TOPIC, 1));
    append(&source, 0, 20)?;
    let ended = mirrored(&source, &target, |handles| {
        target.wait_for(TOPIC, 0, 100)?;
        let stalled = target
            .with(|cluster, _| [1, 2].into_iter().try_for_each(|node| cluster.stall_follower(TOPIC, 0, NodeId(node))));
        stalled.map_err(|error| Failure::new(error.to_string()))?;
        append(&source, 100, 20)?;
        in_sync_alone(&target)?;
        target.with(|cluster, _| happens(cluster)).map_err(|error| Failure::new(error.to_string()))?;
        append(&source, 200, 20)?;
        stopped(handles)
    });
    let arrived = target.read(TOPIC, 0)?;
    let end = arrived.len();
    said(ended, &format!("the target's log ends at offset {end}, the ledger says that it was written up to 200"))?;
    Ok((source.read(TOPIC, 0)?, arrived))
}

/// Waits until the leader has all 200 records and no follower any more: they are acknowledged now.
fn in_sync_alone(target: &Embedded) -> Result {
    target.wait_for(TOPIC, 0, 200)?;
    wait::until(Deadline::after(WITHIN), "the followers to be out of sync", || {
        let in_sync = target.with(|cluster, _| cluster.in_sync(TOPIC, 0));
        Ok(in_sync.is_ok_and(|nodes| nodes == [NodeId(0)]).then_some(()))
    })
}
