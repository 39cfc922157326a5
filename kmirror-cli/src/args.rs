//! The command line. `run` has MirrorMaker 1's flags, `offsets` those of `GetOffsetShell`, both in every generation.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

/// Mirrors topics between Kafka clusters, byte for byte where formats agree.
#[derive(Debug, Parser)]
#[command(name = "kmirror", version, about, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Say more on standard error (RUST_LOG says how much in every detail).
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Copy topics between clusters, until stopped; takes one kmirror.toml, or MirrorMaker 1's flags and files.
    Run(Box<RunArgs>),
    /// Print what "run" would do with the same files and flags, and write nothing. Exit code 0 if everything would be
    /// mirrored, 1 if something stands in the way.
    Plan(Box<RunArgs>),
    /// Look at a configuration without running it.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print the offsets of topics as topic:partition:offset; takes GetOffsetShell's flags.
    Offsets(OffsetsArgs),
    /// Print what record batches hold: a segment of a broker's log, one batch, or an answer to Fetch; and what a mirror
    /// would do with each. Exit code 0, or 1 if anything is damaged.
    Inspect(InspectArgs),
    /// Show the main job on this machine alone: start two embedded Kafka clusters, load one, mirror it into the other and
    /// compare every record. Exit code 0 if all are equal.
    #[cfg(feature = "testkit")]
    Demo(DemoArgs),
    /// Run one embedded Kafka cluster of any release in memory, for trying things out.
    #[cfg(feature = "testkit")]
    Broker(BrokerArgs),
}

/// `kmirror config …`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the settings in force, where each comes from, Kafka's default, and every key that does nothing; takes the
    /// same files and flags as "kmirror run". Exit code 0, or 1 with everything that is wrong.
    Check(Box<RunArgs>),
}

/// `kafka-mirror-maker.sh` of 0.10 to 3.9, and what kmirror adds.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct RunArgs {
    /// One file for everything, with any number of mirrors (kmirror.example.toml explains it); instead of MirrorMaker's
    /// flags.
    #[arg(long, short, value_name = "FILE", conflicts_with_all = MIRRORMAKERS)]
    pub(crate) config: Option<PathBuf>,
    /// The consumer's properties file: how to read the source.
    #[arg(long = "consumer.config", value_name = "FILE", required_unless_present = "config")]
    pub(crate) consumer_config: Option<PathBuf>,
    /// The producer's properties file: how to write the target.
    #[arg(long = "producer.config", value_name = "FILE", required_unless_present = "config")]
    pub(crate) producer_config: Option<PathBuf>,
    /// Which topics: a regular expression that the whole name must match; a comma is "or".
    #[arg(long, value_name = "REGEX", required_unless_present_any = ["config", "include", "blacklist", "exclude"])]
    whitelist: Option<String>,
    /// The newer name of --whitelist, which wins over it.
    #[arg(long, value_name = "REGEX")]
    include: Option<String>,
    /// Which topics not: alone, every other topic is mirrored.
    #[arg(long, value_name = "REGEX")]
    blacklist: Option<String>,
    /// The newer name of --blacklist, which wins over it.
    #[arg(long, value_name = "REGEX")]
    exclude: Option<String>,
    /// How many threads [default: one per core, at most 4].
    #[arg(long = "num.streams", value_name = "N", allow_negative_numbers = true)]
    pub(crate) num_streams: Option<i64>,
    /// How often the source's group is told its offsets [default: 60000].
    #[arg(long = "offset.commit.interval.ms", value_name = "MS", allow_negative_numbers = true)]
    pub(crate) offset_commit_interval_ms: Option<i64>,
    /// Whether a record that the target refuses for good stops the mirror; else it is counted and left out [default: true].
    #[arg(long = "abort.on.send.failure", value_name = "true|false", value_parser = boolean)]
    pub(crate) abort_on_send_failure: Option<bool>,
    /// What becomes of each record: identity, filter, drop or rename.
    #[arg(long = "message.handler", value_name = "NAME")]
    pub(crate) message_handler: Option<String>,
    /// For filter and drop: key=REGEX,header=NAME,header=NAME=REGEX,since=TIME,until=TIME,tombstone; for rename: prefix=TEXT
    /// or from=REGEX,to=TEXT.
    #[arg(long = "message.handler.args", value_name = "NAME=VALUE,...")]
    pub(crate) message_handler_args: Option<String>,
    /// uReplicator's topicmapping.properties: a topic and its name on the target in each line.
    #[arg(long = "topic.mappings", value_name = "FILE")]
    pub(crate) topic_mappings: Option<PathBuf>,
    /// Accepted: there is no other consumer.
    #[arg(long = "new.consumer")]
    new_consumer: bool,
    /// Accepted with a warning: no group is joined on the source, so nothing is rebalanced.
    #[arg(long = "consumer.rebalance.listener", value_name = "CLASS")]
    consumer_rebalance_listener: Option<String>,
    /// Accepted with --consumer.rebalance.listener.
    #[arg(long = "rebalance.listener.args", value_name = "ARGS")]
    rebalance_listener_args: Option<String>,
    /// The mirror's name, by which its ledger on the target is found [default: group.id].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// End once everything is copied that the source has at the start.
    #[arg(long)]
    pub(crate) until_caught_up: bool,
    /// Say nothing but warnings and errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// One JSON object a line on standard output instead of the table.
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) json: bool,
    /// Log to a file for each day in this folder instead of to standard error.
    #[arg(long, value_name = "DIR")]
    pub(crate) log_dir: Option<PathBuf>,
    /// What log lines look like [default: text; with --json: json].
    #[arg(long, value_name = "text|json")]
    pub(crate) log_format: Option<LogForm>,
}

/// The flags that a configuration file has settings for.
const MIRRORMAKERS: [&str; 15] = [
    "consumer_config",
    "producer_config",
    "whitelist",
    "include",
    "blacklist",
    "exclude",
    "num_streams",
    "offset_commit_interval_ms",
    "abort_on_send_failure",
    "message_handler",
    "message_handler_args",
    "topic_mappings",
    "consumer_rebalance_listener",
    "rebalance_listener_args",
    "name",
];

/// `--log-format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogForm {
    /// For people.
    Text,
    /// For machines: one object a line.
    Json,
}

/// `GetOffsetShell` of 0.10 to 4.x.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct OffsetsArgs {
    /// The cluster's brokers, host:port with commas between.
    #[arg(long, value_name = "HOST:PORT,...", required_unless_present = "broker_list")]
    pub(crate) bootstrap_server: Option<String>,
    /// The older name of --bootstrap-server; with it a partition without an offset is printed as "topic:partition:".
    #[arg(long, value_name = "HOST:PORT,...")]
    pub(crate) broker_list: Option<String>,
    /// Which topics: a name or a regular expression that the whole name must match [default: all].
    #[arg(long, value_name = "REGEX")]
    pub(crate) topic: Option<String>,
    /// Which partitions: "topic:0,other.*:2-5,:7-" (upper ends do not count); not beside --topic or --partitions.
    #[arg(long, value_name = "PATTERNS", allow_hyphen_values = true)]
    pub(crate) topic_partitions: Option<String>,
    /// Which partitions of these topics [default: all].
    #[arg(long, value_name = "0,1,...", allow_hyphen_values = true)]
    pub(crate) partitions: Option<String>,
    /// -1 or latest, -2 or earliest, -3 or max-timestamp, -4 or earliest-local, or the first record since MS (1970).
    #[arg(long, value_name = "TIME", default_value = "latest", allow_hyphen_values = true)]
    pub(crate) time: String,
    /// Accepted: one offset is printed for each partition.
    #[arg(long, value_name = "N")]
    offsets: Option<i32>,
    /// Accepted: --command-config has request.timeout.ms and default.api.timeout.ms.
    #[arg(long, value_name = "MS")]
    max_wait_ms: Option<i32>,
    /// The properties file of the client that asks.
    #[arg(long, value_name = "FILE")]
    pub(crate) command_config: Option<PathBuf>,
    /// Leave internal topics out.
    #[arg(long, action = ArgAction::SetTrue)]
    pub(crate) exclude_internal_topics: bool,
}

/// `kmirror inspect`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct InspectArgs {
    /// A .log file of any release, or one batch or message as it goes over the wire; "-" is standard input.
    #[arg(value_name = "FILE|-")]
    pub(crate) file: PathBuf,
    /// The file is a broker's answer to this version of Fetch, with or without the four bytes of its length.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i16).range(0..))]
    pub(crate) fetch_response: Option<i16>,
    /// Say too what a mirror into a broker of this release would do with each, and why.
    #[arg(long, value_name = "RELEASE")]
    pub(crate) verdict: Option<String>,
    /// How many records of each are printed; "all" is all of them.
    #[arg(long, value_name = "N|all", default_value = "10", value_parser = count)]
    pub(crate) records: usize,
}

/// `--records`.
fn count(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        number => number.parse().map_err(|_| "a number, or all".to_owned()),
    }
}

/// `kmirror demo`.
#[cfg(feature = "testkit")]
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The release of the source.
    #[arg(long, value_name = "RELEASE", default_value = "2.0.0")]
    pub(crate) source_version: String,
    /// The release of the target.
    #[arg(long, value_name = "RELEASE", default_value = "0.10.1")]
    pub(crate) target_version: String,
    /// How many records are mirrored.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) records: u64,
    /// Over how many partitions.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) partitions: u16,
    /// Bytes of a record's value.
    #[arg(long, value_name = "BYTES", default_value_t = 8, value_parser = clap::value_parser!(u32).range(8..=900_000))]
    pub(crate) record_size: u32,
    /// How the source's batches are compressed.
    #[arg(long, value_name = "CODEC", default_value = "none")]
    pub(crate) codec: DemoCodec,
    /// Keep both clusters up afterwards, until Ctrl-C.
    #[arg(long)]
    pub(crate) serve: bool,
}

/// `--codec`.
#[cfg(feature = "testkit")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DemoCodec {
    None,
    Gzip,
    Snappy,
    Lz4,
    /// From 2.1 on.
    Zstd,
}

/// `kmirror broker`.
#[cfg(feature = "testkit")]
#[derive(Debug, Args)]
pub(crate) struct BrokerArgs {
    /// Which release it is: 0.10.0 to 4.4.
    #[arg(long, value_name = "RELEASE", default_value = "4.4")]
    pub(crate) profile: String,
    /// Where the first broker listens; further ones on the next ports, with port 0 on free ones.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9092")]
    pub(crate) listen: String,
    /// How many brokers.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) brokers: u16,
    /// A topic that is there from the start; any number of times.
    #[arg(long, value_name = "NAME[:PARTITIONS]")]
    pub(crate) topic: Vec<String>,
    /// A line of server.properties; any number of times.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) setting: Vec<String>,
}

impl RunArgs {
    /// `--include`, else `--whitelist`, as MirrorMaker 3 does.
    pub(crate) fn topics(&self) -> &str {
        self.include.as_deref().or(self.whitelist.as_deref()).unwrap_or_default()
    }

    /// `--exclude`, else `--blacklist`.
    pub(crate) fn excluded(&self) -> Option<&str> {
        self.exclude.as_deref().or(self.blacklist.as_deref())
    }

    /// Whether there is anything that a rebalance would call.
    pub(crate) fn has_rebalance_listener(&self) -> bool {
        self.consumer_rebalance_listener.is_some() || self.rebalance_listener_args.is_some()
    }
}

/// Scala's `toBoolean`: case does not count.
fn boolean(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err("true or false".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    fn run(line: &str) -> Result<RunArgs, clap::Error> {
        let words = ["kmirror", "run"].into_iter().chain(line.split_whitespace());
        Cli::try_parse_from(words).map(|cli| {
            let Command::Run(args) = cli.command else { panic!("not run") };
            *args
        })
    }

    fn offsets(line: &str) -> Result<OffsetsArgs, clap::Error> {
        let words = ["kmirror", "offsets"].into_iter().chain(line.split_whitespace());
        Cli::try_parse_from(words).map(|cli| {
            let Command::Offsets(args) = cli.command else { panic!("not offsets") };
            args
        })
    }

    const FILES: &str = "--consumer.config c --producer.config p";

    #[test]
    fn every_mirrormaker_flag_in_both_forms() {
        let spaced = "--consumer.config c --producer.config p --num.streams 5 --whitelist a,b --offset.commit.interval.ms 1 \
                      --abort.on.send.failure false --new.consumer --blacklist c --message.handler drop \
                      --message.handler.args key=a,tombstone --topic.mappings m --consumer.rebalance.listener a.B \
                      --rebalance.listener.args d";
        let joined = "--consumer.config=c --producer.config=p --num.streams=5 --whitelist=a,b --offset.commit.interval.ms=1 \
                      --abort.on.send.failure=FALSE --new.consumer --blacklist=c --message.handler=drop \
                      --message.handler.args=key=a,tombstone --topic.mappings=m --consumer.rebalance.listener=a.B \
                      --rebalance.listener.args=d";
        for line in [spaced, joined] {
            let args = run(line).unwrap();
            assert_eq!(args.consumer_config, Some(PathBuf::from("c")));
            assert_eq!(args.producer_config, Some(PathBuf::from("p")));
            assert_eq!(args.topics(), "a,b");
            assert_eq!((args.num_streams, args.offset_commit_interval_ms), (Some(5), Some(1)));
            assert_eq!((args.abort_on_send_failure, args.new_consumer), (Some(false), true));
            assert_eq!((args.excluded(), args.has_rebalance_listener()), (Some("c"), true));
            assert_eq!(args.message_handler.as_deref(), Some("drop"));
            assert_eq!(args.message_handler_args.as_deref(), Some("key=a,tombstone"));
            assert_eq!(args.topic_mappings, Some(PathBuf::from("m")));
        }
    }

    #[test]
    fn kmirrors_own_flags() {
        let args = run(&format!("{FILES} --include a --name n --until-caught-up --quiet")).unwrap();
        assert_eq!((args.topics(), args.name.as_deref()), ("a", Some("n")));
        assert!(args.until_caught_up && args.quiet);
        assert_eq!((args.num_streams, args.offset_commit_interval_ms, args.abort_on_send_failure), (None, None, None));
    }

    #[test]
    fn the_newer_names_win() {
        assert_eq!(run(&format!("{FILES} --whitelist a --include b")).unwrap().topics(), "b");
        let args = run(&format!("{FILES} --blacklist a --exclude b")).unwrap();
        assert_eq!((args.topics(), args.excluded()), ("", Some("b")));
    }

    #[test]
    fn a_configuration_file_stands_for_all_of_mirrormakers_flags() {
        let args = run("-c kmirror.toml --until-caught-up --json --log-dir logs --log-format text").unwrap();
        assert_eq!((args.config, args.log_dir), (Some(PathBuf::from("kmirror.toml")), Some(PathBuf::from("logs"))));
        assert_eq!((args.json, args.log_format), (true, Some(LogForm::Text)));
        for flag in MIRRORMAKERS {
            let command = Cli::command();
            let known = command.find_subcommand("run").unwrap();
            let long = known.get_arguments().find(|arg| arg.get_id() == flag).and_then(clap::Arg::get_long).unwrap();
            let value = match flag {
                "num_streams" | "offset_commit_interval_ms" => "1",
                "abort_on_send_failure" => "true",
                _ => "x",
            };
            let error = run(&format!("-c kmirror.toml --{long} {value}")).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains("cannot be used with"), "{error}");
        }
        assert!(run(&format!("{FILES} --whitelist a --quiet --json")).is_err());
    }

    #[test]
    fn what_is_missing_or_wrong_is_a_usage_error() {
        for line in [
            "",
            "--whitelist a",
            "--consumer.config c --whitelist a",
            FILES,
            "--consumer.config c --producer.config p --whitelist a --num.streams x",
            "--consumer.config c --producer.config p --whitelist a --abort.on.send.failure maybe",
            "--consumer.config c --producer.config p --whitelist a --whitelist b",
            "--consumer.config c --producer.config p --whitelist a --frobnicate",
            "--consumer.config c --producer.config p --whitelist a stray",
        ] {
            assert_eq!(run(line).unwrap_err().exit_code(), 2, "{line:?}");
        }
    }

    #[test]
    fn offsets_of_both_generations() {
        let old = "--broker-list a:1,b:2 --topic t --partitions 0,1,2 --time -2 --offsets 1 --max-wait-ms 1000";
        let args = offsets(old).unwrap();
        assert_eq!((args.broker_list.as_deref(), args.bootstrap_server), (Some("a:1,b:2"), None));
        assert_eq!((args.topic.as_deref(), args.partitions.as_deref()), (Some("t"), Some("0,1,2")));
        assert_eq!((args.time.as_str(), args.offsets, args.max_wait_ms), ("-2", Some(1), Some(1000)));

        let new =
            "--bootstrap-server=a:1 --topic-partitions=t:0,:-3 --time=-3 --command-config=f --exclude-internal-topics";
        let args = offsets(new).unwrap();
        assert_eq!((args.bootstrap_server.as_deref(), args.broker_list), (Some("a:1"), None));
        assert_eq!((args.topic_partitions.as_deref(), args.time.as_str()), (Some("t:0,:-3"), "-3"));
        assert_eq!(args.command_config, Some(PathBuf::from("f")));
        assert!(args.exclude_internal_topics);

        let args = offsets("--bootstrap-server a:1").unwrap();
        assert_eq!((args.time.as_str(), args.exclude_internal_topics), ("latest", false));
        assert_eq!(offsets("--bootstrap-server a:1 --time -1").unwrap().time, "-1");
        assert_eq!(offsets("--bootstrap-server a:1 --time 1700000000000").unwrap().time, "1700000000000");
        assert!(offsets("--topic t").is_err(), "no cluster");
    }

    #[test]
    fn verbose_stands_anywhere() {
        let cli = Cli::try_parse_from(["kmirror", "offsets", "--broker-list", "a:1", "--verbose"]).unwrap();
        assert!(cli.verbose);
        assert!(Cli::try_parse_from(["kmirror", "-v", "offsets", "--broker-list", "a:1"]).unwrap().verbose);
    }
}
