//! A source with transactions: what was committed arrives, in order; markers and what was aborted do not.

use kmirror_tests::Result;
use kmirror_tests::brokers::{Cluster, shared};
use kmirror_tests::judge::{self, PartitionDigest};

use kmirror_tests::mirror_maker::Mirror;

/// Mirrors with the consumer's `isolation`; what the target holds must be what a Java consumer with the same isolation is
/// given by the source. The run ends by itself, whatever the log ends in.
fn arrives(target: &Cluster, end: &str, codec: &str, isolation: &str) -> Result {
    let source = shared("2.0.0")?;
    let topic = format!("transactions-{}-{end}-{isolation}", target.release().version);
    for cluster in [source, target] {
        judge::create(cluster, &topic, 2, &[])?;
    }
    judge::produce_transactions(source, &topic, end, codec)?;
    Mirror::between(source, target, &topic, &topic).consumer("isolation.level", isolation).run_until_caught_up()?;

    let wanted = judge::dump_with(source, &topic, &[("isolation.level", isolation)])?;
    let arrived = judge::dump(target, &topic)?;
    for (partition, wanted) in &wanted {
        let arrived = &arrived[partition];
        let contents = |digest: &PartitionDigest| (digest.count, digest.sha256, digest.headers_sha256);
        assert_eq!(contents(arrived), contents(wanted), "{topic}-{partition}");
        assert!(wanted.last_offset + 1 > i64::try_from(wanted.count).unwrap_or(0), "{topic}: no marker, no test");
        // No marker and no aborted record: offsets without a hole.
        assert_eq!(arrived.last_offset + 1, i64::try_from(arrived.count).unwrap_or(-1), "{topic}-{partition}");
    }
    let all = judge::dump_with(source, &topic, &[("isolation.level", "read_uncommitted")])?;
    let differ = wanted.values().zip(all.values()).all(|(wanted, all)| wanted.count < all.count);
    assert_eq!(differ, isolation == "read_committed", "{topic}: what was aborted tells the two apart");
    Ok(())
}

#[test]
fn committed_records_arrive_on_2_0() -> Result {
    let target = shared("2.0.0/second")?;
    arrives(target, "abort", "gzip", "read_committed")?;
    // The copies are no transactions any more: a consumer that reads committed records is held up by nothing.
    let topic = format!("transactions-{}-abort-read_committed", target.release().version);
    let committed = judge::dump_with(target, &topic, &[("isolation.level", "read_committed")])?;
    assert_eq!(committed, judge::dump(target, &topic)?);
    Ok(())
}

#[test]
fn committed_records_arrive_on_0_10_1() -> Result {
    arrives(shared("0.10.1.1")?, "commit", "lz4", "read_committed")
}

#[test]
fn a_transaction_that_is_left_open_ends_the_run_before_it() -> Result {
    arrives(shared("2.0.0/second")?, "open", "none", "read_committed")
}

#[test]
fn uncommitted_records_arrive_where_they_are_asked_for() -> Result {
    arrives(shared("2.0.0/second")?, "abort", "none", "read_uncommitted")
}
