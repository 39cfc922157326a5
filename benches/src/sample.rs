//! What a process has used so far, as the kernel counts it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use kmirror_tests::failure::Context as _;
use kmirror_tests::{Failure, Result, process};

/// The use of a process up to some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// User and system time of all its threads, those that have ended included.
    pub cpu: Duration,
    /// The largest resident set that it ever had, in bytes.
    pub rss_bytes_max: u64,
}

impl Sample {
    /// Reads `/proc/<pid>/stat` and `status`.
    pub fn of(pid: u32) -> Result<Sample> {
        let cpu = cpu_time(&Path::new("/proc").join(pid.to_string()).join("stat"))?;
        let path = format!("/proc/{pid}/status");
        let status = fs::read_to_string(&path).context(|| format!("reading {path}"))?;
        Ok(Sample { cpu, rss_bytes_max: rss_bytes_max(&status).unwrap_or(0) })
    }
}

/// User and system time in a `stat` file of a process or a thread.
pub fn cpu_time(path: &Path) -> Result<Duration> {
    let stat = fs::read_to_string(path).context(|| format!("reading {}", path.display()))?;
    let ticks = cpu_ticks(&stat).ok_or_else(|| Failure::new(format!("{}: cannot read {stat:?}", path.display())))?;
    Ok(Duration::from_millis(ticks * 1000 / ticks_per_second()?))
}

/// Fields 14 and 15, `utime` and `stime`. The second field is a name in brackets and may hold anything.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ').skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(user + system)
}

fn rss_bytes_max(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

fn ticks_per_second() -> Result<u64> {
    let text = process::run("asking for the kernel's clock tick", Command::new("getconf").arg("CLK_TCK"))?;
    text.trim().parse().map_err(|_| Failure::new(format!("getconf CLK_TCK printed {text:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_process_may_hold_anything() {
        let stat = "77 (a) b) R 1 77 77 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 5 0 1000 1 1 1";
        assert_eq!(cpu_ticks(stat), Some(300));
        assert_eq!(cpu_ticks("77 (cut) R 1"), None);
    }

    #[test]
    fn the_largest_resident_set_is_read() {
        assert_eq!(rss_bytes_max("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n"), Some(2 << 20));
        assert_eq!(rss_bytes_max("Name:\tx\n"), None);
    }

    #[test]
    fn this_process_has_used_something() {
        let sample = Sample::of(std::process::id()).unwrap();
        assert!(sample.rss_bytes_max > 100_000, "{sample:?}");
    }
}
