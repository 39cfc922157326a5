//! `kmirror plan` between real brokers: it tells what `run` then does, and writes nothing.

use kmirror_tests::Result;
use kmirror_tests::brokers::shared_pair;
use kmirror_tests::judge;
use kmirror_tests::kmirror::{Finished, Kmirror};

use super::zoo::RETENTION_MS;
use crate::mirror_file::{MirrorFile, RUN_WITHIN};

fn planned(mirror: &MirrorFile, code: i32) -> Result<Finished> {
    let plan = Kmirror::new("plan").arg("-c").arg(mirror.write()?.into_os_string());
    plan.run(RUN_WITHIN)?.expect_code(code)
}

fn a_plan_is_what_a_run_does(to: &str) -> Result {
    let (source, target) = shared_pair("2.0.0", to)?;
    let topic = format!("planned-{to}");
    let name = topic.replace('.', "_");
    judge::create(source, &topic, 3, &[("retention.ms", RETENTION_MS)])?;
    let written = judge::write_zoo(source, &topic, 3)?;
    let mirror = MirrorFile::between(source, target, &name, &topic);
    let plan = planned(&mirror, 0)?.stdout;
    let line = plan.lines().rfind(|line| line.starts_with(&format!("{topic} "))).unwrap_or_default();
    assert!(line.contains("create") && line.contains("earliest"), "{plan}");
    assert!(plan.contains(&format!("retention.ms={RETENTION_MS}")), "{plan}");
    if target.release().has_headers() {
        assert!(!line.contains("rewritten"), "{plan}");
    } else {
        assert!(line.contains("rewritten") && plan.contains("headers"), "{plan}");
    }
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
    judge::create(source, &missing, 1, &[])?;
    let mirror = MirrorFile::between(source, target, &name, &format!("{topic}.*")).line("create = false");
    let plan = planned(&mirror, 1)?;
    assert!(plan.stdout.contains(&format!("no topic {missing}")), "{}", plan.stdout);
    Ok(())
}

#[test]
fn towards_3_9() -> Result {
    a_plan_is_what_a_run_does("3.9.1")
}

#[test]
fn towards_0_10_1() -> Result {
    a_plan_is_what_a_run_does("0.10.1.1")
}
