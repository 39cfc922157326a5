//! Topics and partitions that come and go.

use super::{arrives, holds, rows, write};
use crate::kafka::Kafka;
use crate::mirror_file::{MirrorFile, stop, until_said};
use crate::wait::Stopwatch;
use crate::{Result, measured};

/// One run from beginning to end: a topic is created, partitions are added while they are written to, a topic is deleted.
/// The mirror was started to copy only what is new (`latest`): what comes later is copied from its first record all the
/// same (report B41).
pub fn topics_come_and_go(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let (from, to) = (source.release().version, target.release().version);
    let mark = format!("live-{from}-{to}");
    let [stays, comes, goes] = ["stays", "comes", "goes"].map(|name| format!("{mark}-{name}"));
    for topic in [&stays, &goes] {
        source.create(topic, 2, &[])?;
    }
    let mirror = MirrorFile::between(source, target, &mark, &format!("{}-.*", mark.replace('.', "\\.")));
    let mirror = mirror.line("start = \"latest\"");
    let mut running = mirror.command()?.arg("--verbose").start()?;
    for link in [&stays, &goes].into_iter().flat_map(|topic| [format!("{topic}-0:"), format!("{topic}-1:")]) {
        until_said(&mut running, &[&link, "begins at source offset 0"])?;
    }
    write(source, &stays, 2, 0, 50)?;
    write(source, &goes, 2, 0, 50)?;
    let began = Stopwatch::start();
    arrives(&mut running, target, "records", &stays, &[50, 50], began)?;
    arrives(&mut running, target, "records", &goes, &[50, 50], began)?;

    let began = Stopwatch::start();
    source.create(&comes, 3, &[("retention.ms", "3155760000000")])?;
    write(source, &comes, 3, 0, 100)?;
    arrives(&mut running, target, "a topic created", &comes, &[100, 100, 100], began)?;

    let began = Stopwatch::start();
    source.add_partitions(&stays, 4)?;
    write(source, &stays, 2, 50, 50)?;
    for partition in 2..4 {
        source.write((&stays, partition), "none", &rows(&stays, partition, 0, 100))?;
    }
    arrives(&mut running, target, "partitions added", &stays, &[100, 100, 100, 100], began)?;

    let began = Stopwatch::start();
    source.delete(&goes)?;
    until_said(&mut running, &[&goes, "let go", "gone from the source"])?;
    measured(&format!("{to}: a topic deleted: let go after {:?}", began.elapsed()));
    assert!(began.elapsed() <= super::SEEN_WITHIN, "let go after {:?}", began.elapsed());
    write(source, &stays, 4, 100, 50)?;
    arrives(&mut running, target, "records beside it", &stays, &[150, 150, 150, 150], Stopwatch::start())?;

    let (finished, report) = stop(running)?;
    finished.one_line_with(&[&goes, "let go"])?;
    assert_eq!(report.count(&stays, "records"), 600);
    assert_eq!(report.count(&comes, "records"), 300);
    holds(target, &stays, 4, 150)?;
    holds(target, &comes, 3, 100)?;
    holds(target, &goes, 2, 50)?;
    assert_eq!(target.describe(&comes)?.partitions, 3);
    Ok(())
}
