//! Other topics are wanted: the file is changed, and SIGHUP says so.

use super::{arrives, holds, write};
use crate::kafka::Kafka;
use crate::mirror_file::{MirrorFile, stop, until_said};
use crate::wait::Stopwatch;
use crate::{Result, measured};

/// From one pattern to another: what is wanted now is copied from its first record, what is no longer wanted stands still
/// where it was, what is wanted by both goes on. A file that is wrong changes nothing and is named.
pub fn another_pattern(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let (from, to) = (source.release().version, target.release().version);
    let mark = format!("selection-{from}-{to}");
    let [both, before, after] = ["both", "before", "after"].map(|name| format!("{mark}-{name}"));
    for topic in [&both, &before, &after] {
        source.create(topic, 2, &[])?;
        write(source, topic, 2, 0, 100)?;
    }
    let mut mirror = MirrorFile::between(source, target, &mark, &format!("{both}|{before}"));
    let mut running = mirror.start()?;
    let pid = running.pid();
    for topic in [&both, &before] {
        arrives(&mut running, target, "at the start", topic, &[100, 100], Stopwatch::start())?;
    }
    assert!(target.ends(&after)?.is_empty(), "nobody asked for {after}");

    mirror.topics("(");
    mirror.write()?;
    running.signal("HUP")?;
    until_said(&mut running, &["kmirror.toml", "("])?;
    write(source, &both, 2, 100, 50)?;
    arrives(&mut running, target, "after a file that is wrong", &both, &[150, 150], Stopwatch::start())?;

    mirror.topics(&format!("{both}|{after}"));
    mirror.write()?;
    let began = Stopwatch::start();
    running.signal("HUP")?;
    arrives(&mut running, target, "another pattern", &after, &[100, 100], began)?;
    until_said(&mut running, &[&before, "let go", "no longer wanted"])?;
    for topic in [&before, &both, &after] {
        write(source, topic, 2, 150, 50)?;
    }
    // Written after, and all through one connection: what was written before would be there by now.
    arrives(&mut running, target, "records beside it", &both, &[200, 200], Stopwatch::start())?;
    arrives(&mut running, target, "records of the new one", &after, &[150, 150], Stopwatch::start())?;
    assert_eq!(target.ends(&before)?, [Some(100), Some(100)], "what is no longer wanted stands still");
    assert_eq!(running.pid(), pid);

    let (_, report) = stop(running)?;
    assert_eq!((report.count(&both, "records"), report.count(&after, "records")), (400, 300));
    holds(target, &both, 2, 200)?;
    holds(target, &before, 2, 100)?;

    // Wanted again, by a run of its own: it goes on where it was.
    mirror.topics(&before);
    let (_, report) = mirror.run_until_caught_up()?;
    measured(&format!("{to}: {} records of {before} after it was wanted again", report.count(&before, "records")));
    assert_eq!(report.count(&before, "records"), 100);
    Ok(())
}
