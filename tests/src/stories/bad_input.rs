//! What people get wrong: each ends with an exit code and one line that names what is meant.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use crate::Result;
use crate::kafka::Kafka;
use crate::kmirror::Finished;
use crate::mirror_maker::{Mirror, RUN_WITHIN};

/// Mistakes are seen at the start; a cluster that does not answer, within its time-outs.
const WITHIN: Duration = Duration::from_secs(120);

fn run(mirror: &Mirror) -> Result<Finished> {
    mirror.command()?.arg("--until-caught-up").run(WITHIN)
}

/// The source is not there.
pub fn an_unreachable_source_is_named(target: &dyn Kafka) -> Result {
    // Port 1 of loopback: refused at once, by the system.
    let mirror = Mirror::new("127.0.0.1:1", &target.bootstrap(), "unreachable", "any");
    run(&mirror)?.expect_code(1)?.last_words(&["source", "127.0.0.1:1"])
}

/// The target is not there.
pub fn an_unreachable_target_is_named(source: &dyn Kafka) -> Result {
    source.create("bad-unreachable", 1, &[])?;
    let mirror = Mirror::new(&source.bootstrap(), "127.0.0.1:1", "unreachable", "bad-unreachable");
    run(&mirror)?.expect_code(1)?.last_words(&["target", "127.0.0.1:1"])
}

/// The target is something else.
pub fn a_web_server_is_recognised(source: &dyn Kafka) -> Result {
    let address = web_server();
    let mirror = Mirror::new(&source.bootstrap(), &address, "web", "any");
    run(&mirror)?.expect_code(1)?.last_words(&["target", &address, "HTTP"])
}

/// A property that nobody knows changes nothing.
pub fn an_unknown_property_is_one_warning(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    for cluster in [source, target] {
        cluster.create("bad-property", 1, &[])?;
    }
    let mirror = Mirror::between(source, target, "bad-property", "bad-property").consumer("frobnicate.level", "3");
    run(&mirror)?.expect_code(0)?.one_line_with(&["frobnicate.level"]).map(drop)
}

/// Nothing is begun.
pub fn a_pattern_that_is_none_is_a_usage_error(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let mirror = Mirror::between(source, target, "bad-pattern", "orders-(");
    run(&mirror)?.expect_code(2)?.last_words(&["orders-("])
}

/// Every record would be copied behind itself, for ever.
pub fn one_cluster_on_both_sides_is_refused(source: &dyn Kafka) -> Result {
    source.create("bad-same", 1, &[])?;
    let mirror = Mirror::between(source, source, "bad-same", "bad-same");
    run(&mirror)?.expect_code(1)?.last_words(&["source", "target", "same cluster"])
}

/// Brokers of 0.10 add no partitions when they are asked.
pub fn fewer_partitions_at_the_target_are_named(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    source.create("bad-fewer", 3, &[])?;
    target.create("bad-fewer", 2, &[])?;
    source.write_counter("bad-fewer", 30)?;
    let mirror = Mirror::between(source, target, "bad-fewer", "bad-fewer");
    run(&mirror)?.expect_code(1)?.last_words(&["bad-fewer", "2 partitions"])
}

/// It is made as the source's is, not by the way, with one partition and the broker's defaults, as brokers do when they are
/// asked for a name that they do not have.
pub fn a_topic_that_the_target_does_not_have_is_made(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    source.create("bad-missing", 3, &[("cleanup.policy", "compact")])?;
    let mirror = Mirror::between(source, target, "bad-missing", "bad-missing");
    run(&mirror)?.expect_code(0)?.one_line_with(&["bad-missing", "created", "3 partitions"])?;
    let described = target.describe("bad-missing")?;
    assert_eq!((described.partitions, described.own["cleanup.policy"].as_str()), (3, "compact"));
    Ok(())
}

/// Two mirrors of one group would copy everything twice.
pub fn a_group_that_is_still_running_is_left_alone(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    for cluster in [source, target] {
        cluster.create("bad-live", 1, &[])?;
    }
    source.write_counter("bad-live", 10)?;
    let mirror = Mirror::between(source, target, "bad-live-group", "bad-live");
    let leave = source.join("bad-live", "bad-live-group")?;
    run(&mirror)?.expect_code(1)?.last_words(&["bad-live-group"])?;
    assert_eq!(target.ends("bad-live")?, [Some(0)], "nothing was copied beside the running group");

    // Once it has stopped, its group is taken over.
    leave()?;
    mirror.command()?.arg("--until-caught-up").run(RUN_WITHIN)?.expect_code(0)?;
    assert_eq!(target.ends("bad-live")?, [Some(10)]);
    Ok(())
}

/// Answers whatever it is sent as a web server would; ends with the test process.
#[expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "a real socket that is no broker")]
fn web_server() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut request = [0; 64];
            // Either may fail when the other side has hung up: that is its business.
            let _ = stream.read(&mut request);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    address
}
