//! `kmirror demo`: the main job, before your eyes, on a machine with nothing but this binary.
//!
//! Two embedded clusters are started, the first is filled, and `kmirror run` mirrors it into the second: the very
//! command, with the two files that MirrorMaker 1 takes. Then the ends of both sides are asked for over the wire, and
//! every record is compared.

mod compare;

mod load;

mod offsets;

mod sides;

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Parser as _;
use kmirror_core::runtime::Clock;

use crate::args::{Cli, Command, DemoArgs};
use crate::exit::Failure;
use crate::served::wait_for_signal;
use crate::table::{grouped, seconds};
use crate::view::Output;
use sides::Sides;

/// The topic of the original acceptance test.
const TOPIC: &str = "test-mirror";

/// Runs it. Anything that is not equal in the end is a failure.
pub(crate) fn demo(args: &DemoArgs, verbose: bool) -> Result<(), Failure> {
    let sides = Sides::start(args)?;
    let (source, target) = (&sides.source, &sides.target);
    say(&format!(
        "an embedded Kafka {} at {}, an embedded Kafka {} at {}",
        source.release,
        source.bootstrap(),
        target.release,
        target.bootstrap()
    ))?;
    let partitions = args.partitions;
    say(&format!("loading {} records into {partitions} partitions of {TOPIC}", grouped(args.records)))?;
    let screen = Output::open(None).map_err(Failure::failed)?;
    load::load(source, args, &screen)?;

    let files = Files::write(source.bootstrap(), target.bootstrap())?;
    let line = files.command();
    say(&line.join(" "))?;
    let cli = Cli::try_parse_from(&line).map_err(|error| Failure::failed(error.to_string()))?;
    let Command::Run(run) = cli.command else { return Err(Failure::failed("the demo runs another command")) };
    let began = (Clock::start(), cpu_seconds());
    crate::run::run(&run, verbose)?;
    let (took, cpu) = (began.0.now().tick, began.1.zip(cpu_seconds()).map(|(before, after)| after - before));

    say("where both logs begin and end")?;
    offsets::show(&sides, args)?;
    let equal = compare::compare(source, target, args)?;
    say(&format!("{} records compared: values, timestamps and order are equal", grouped(equal)))?;
    let took = took.since(kmirror_core::clock::Tick::ZERO);
    let cpu = cpu.map(|cpu| format!(", {cpu:.1} s of CPU, both clusters included")).unwrap_or_default();
    say(&format!("mirrored in {}{cpu}", seconds(took)))?;
    if args.serve {
        say(&format!("both clusters stay up until Ctrl-C: {} and {}", source.bootstrap(), target.bootstrap()))?;
        wait_for_signal()?;
    }
    Ok(())
}

/// The two properties files, in a folder that goes with them.
struct Files {
    folder: PathBuf,
}

impl Files {
    fn write(source: &str, target: &str) -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("kmirror-demo-{}", std::process::id()));
        let failed = |error: io::Error| Failure::failed(format!("{}: {error}", folder.display()));
        fs::create_dir_all(&folder).map_err(failed)?;
        let files = Self { folder: folder.clone() };
        let consumer = format!("bootstrap.servers={source}\ngroup.id={TOPIC}\nauto.offset.reset=earliest\n");
        fs::write(files.consumer(), consumer).map_err(failed)?;
        fs::write(files.producer(), format!("bootstrap.servers={target}\n")).map_err(failed)?;
        Ok(files)
    }

    fn consumer(&self) -> PathBuf {
        self.folder.join("consumer.properties")
    }

    fn producer(&self) -> PathBuf {
        self.folder.join("producer.properties")
    }

    /// The command that mirrors, word by word.
    fn command(&self) -> Vec<String> {
        let (consumer, producer) = (self.consumer().display().to_string(), self.producer().display().to_string());
        let files = ["--consumer.config", &consumer, "--producer.config", &producer];
        let rest = ["--num.streams", "5", "--whitelist", TOPIC, "--until-caught-up"];
        ["kmirror", "run"].into_iter().chain(files).chain(rest).map(str::to_owned).collect()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // What cannot be removed lies where the system removes it some day.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The CPU time of this process so far; `None` where the system does not tell.
fn cpu_seconds() -> Option<f64> {
    #[cfg(unix)]
    {
        let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        #[expect(clippy::cast_precision_loss, reason = "a second is a second")]
        let seconds = spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9;
        Some(seconds)
    }
    #[cfg(not(unix))]
    None
}

/// A line of the story, on standard output.
fn say(what: &str) -> Result<(), Failure> {
    writeln!(io::stdout(), "== {what}").map_err(Failure::failed)
}
