//! Leaders move and brokers come and go on both sides while a mirror copies: nothing is missing, nothing is there twice.

use kmirror_testkit::{Cluster, Codec, NodeId, Release};
use kmirror_tests::Result;
use kmirror_tests::embedded::{Embedded, mirror_of, run_beside};
use kmirror_tests::judge::Row;

const RECORDS: u32 = 20;
const ROUNDS: u32 = 30;

fn three(release: Release) -> Result<Embedded> {
    let cluster = Embedded::of(Cluster::builder(release).brokers(3).setting("default.replication.factor", "3"))?;
    cluster.with(|cluster, _| cluster.create_topic("moved", 2));
    Ok(cluster)
}

/// Each round writes to the source, and something happens to the brokers of both sides.
fn copied_while(from: Release, to: Release, happens: fn(&mut Cluster, u32)) -> Result {
    let (source, target) = (three(from)?, three(to)?);
    run_beside(mirror_of(&source, &target, "moved"), |handles| {
        for round in 0..ROUNDS {
            let records: Vec<Row> = (0..RECORDS).map(|n| Row::number(round * RECORDS + n)).collect();
            for partition in 0..2 {
                source.append("moved", partition, Codec::None, &records)?;
            }
            source.with(|cluster, _| happens(cluster, round));
            target.with(|cluster, _| happens(cluster, round + 1));
            let so_far = usize::try_from(round * RECORDS / 2).unwrap_or(0);
            target.wait_for("moved", 0, so_far)?;
        }
        for partition in 0..2 {
            target.wait_for("moved", partition, usize::try_from(ROUNDS * RECORDS).unwrap_or(0))?;
        }
        handles.stop.stop();
        Ok(())
    })?;
    for partition in 0..2 {
        let (expected, arrived) = (source.read("moved", partition)?, target.read("moved", partition)?);
        assert_eq!(arrived.len(), expected.len(), "{from} to {to}: moved-{partition}");
        assert!(arrived == expected, "{from} to {to}: moved-{partition} differs");
    }
    Ok(())
}

fn node(round: u32) -> NodeId {
    NodeId(i32::try_from(round % 3).unwrap_or(0))
}

/// Every broker takes its turn.
fn leaders_move(cluster: &mut Cluster, round: u32) {
    for partition in 0..2 {
        // All are in sync. Whoever leads already stays: that is no move, and no error.
        assert_eq!(cluster.move_leader("moved", partition, node(round)), Ok(()));
    }
}

/// One broker is down at a time.
fn brokers_restart(cluster: &mut Cluster, round: u32) {
    if round.is_multiple_of(2) {
        assert_eq!(cluster.stop_broker(node(round / 2)), Ok(()));
    } else {
        assert_eq!(cluster.start_broker(node(round / 2)), Ok(()));
    }
}

#[test]
fn leaders_move_on_2_4_and_3_9() -> Result {
    copied_while(Release::V2_4, Release::V3_9, leaders_move)
}

#[test]
fn leaders_move_on_0_10_1_and_2_0() -> Result {
    copied_while(Release::V0_10_1, Release::V2_0, leaders_move)
}

#[test]
fn brokers_restart_on_2_0_and_4_4() -> Result {
    copied_while(Release::V2_0, Release::V4_4, brokers_restart)
}
