//! `kmirror plan`: it tells what `run` then does, and writes nothing.

use super::zoo::RETENTION_MS;
use crate::Result;
use crate::judge;
use crate::kafka::Kafka;
use crate::kmirror::{Finished, Kmirror};
use crate::mirror_file::{MirrorFile, RUN_WITHIN};

fn planned(mirror: &MirrorFile, code: i32) -> Result<Finished> {
    let plan = Kmirror::new("plan").arg("-c").arg(mirror.write()?.into_os_string());
    plan.run(RUN_WITHIN)?.expect_code(code)
}

/// Before a run, after it, and where something stands in the way.
pub fn a_plan_is_what_a_run_does(source: &dyn Kafka, target: &dyn Kafka) -> Result {
    let topic = format!("planned-{}", target.release().version);
    let name = topic.replace('.', "_");
    source.create(&topic, 3, &[("retention.ms", RETENTION_MS)])?;
    let written = judge::write_zoo(source, &topic, 3)?;
    let mirror = MirrorFile::between(source, target, &name, &topic);
    let plan = planned(&mirror, 0)?.stdout;
    let line = plan.lines().rfind(|line| line.starts_with(&format!("{topic} "))).unwrap_or_default();
    assert!(line.contains("create") && line.contains("earliest"), "{plan}");
    // 0.10 does not tell what its topics have, and keeps no headers.
    let (from, to) = (source.release().has_headers(), target.release().has_headers());
    assert_eq!(plan.contains(&format!("retention.ms={RETENTION_MS}")), from, "{plan}");
    assert_eq!(line.contains("rewritten"), from != to, "{plan}");
    assert_eq!(plan.contains("headers"), from && !to, "{plan}");
    for absent in [topic.clone(), format!("kmirror.{name}.ledger")] {
        assert!(target.ends(&absent)?.is_empty(), "{absent} was made");
    }

    let (_, report) = mirror.run_until_caught_up()?;
    assert_eq!(report.count(&topic, "records"), written.iter().map(Vec::len).sum::<usize>() as u64);
    let plan = planned(&mirror, 0)?.stdout;
    let line = plan.lines().rfind(|line| line.starts_with(&format!("{topic} "))).unwrap_or_default();
    assert!(line.contains("there") && line.contains("ledger"), "{plan}");

    // What stands in the way is named, and tells by the exit code.
    let missing = format!("{topic}-missing");
    source.create(&missing, 1, &[])?;
    let mirror = MirrorFile::between(source, target, &name, &format!("{topic}.*")).line("create = false");
    let plan = planned(&mirror, 1)?;
    assert!(plan.stdout.contains(&format!("no topic {missing}")), "{}", plan.stdout);
    Ok(())
}
