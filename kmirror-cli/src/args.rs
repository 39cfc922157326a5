//! The command line. `run` has MirrorMaker 1's flags, `offsets` those of `GetOffsetShell`, both in every generation.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand};

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
    /// Copy topics from one cluster to another, until stopped; takes MirrorMaker 1's flags and files.
    Run(Box<RunArgs>),
    /// Print the offsets of topics as topic:partition:offset; takes GetOffsetShell's flags.
    Offsets(OffsetsArgs),
}

/// `kafka-mirror-maker.sh` of 0.10 to 3.9, and what kmirror adds.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct RunArgs {
    /// The consumer's properties file: how to read the source.
    #[arg(long = "consumer.config", value_name = "FILE")]
    pub(crate) consumer_config: PathBuf,
    /// The producer's properties file: how to write the target.
    #[arg(long = "producer.config", value_name = "FILE")]
    pub(crate) producer_config: PathBuf,
    /// Which topics: a regular expression that the whole name must match; a comma is "or".
    #[arg(long, value_name = "REGEX", required_unless_present_any = ["include", "blacklist"])]
    whitelist: Option<String>,
    /// The newer name of --whitelist, which wins over it.
    #[arg(long, value_name = "REGEX")]
    include: Option<String>,
    /// How many threads [default: one per core, at most 4].
    #[arg(long = "num.streams", value_name = "N", allow_negative_numbers = true)]
    pub(crate) num_streams: Option<i64>,
    /// How often the source's group is told its offsets [default: 60000].
    #[arg(long = "offset.commit.interval.ms", value_name = "MS", allow_negative_numbers = true)]
    pub(crate) offset_commit_interval_ms: Option<i64>,
    /// Whether a batch that the target refuses for good stops the mirror; else it is counted and left out [default: true].
    #[arg(long = "abort.on.send.failure", value_name = "true|false", value_parser = boolean)]
    pub(crate) abort_on_send_failure: Option<bool>,
    /// Accepted: there is no other consumer.
    #[arg(long = "new.consumer")]
    new_consumer: bool,
    /// The mirror's name, by which its ledger on the target is found [default: group.id].
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// End once everything is copied that the source has at the start.
    #[arg(long)]
    pub(crate) until_caught_up: bool,
    /// Say nothing but warnings and errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) later: LaterArgs,
}

/// MirrorMaker's flags that this release does not have: taken, so that they can be refused by name.
#[derive(Debug, Args)]
pub(crate) struct LaterArgs {
    #[arg(long, hide = true)]
    blacklist: Option<String>,
    #[arg(long = "message.handler", hide = true)]
    message_handler: Option<String>,
    #[arg(long = "message.handler.args", hide = true)]
    message_handler_args: Option<String>,
    #[arg(long = "consumer.rebalance.listener", hide = true)]
    consumer_rebalance_listener: Option<String>,
    #[arg(long = "rebalance.listener.args", hide = true)]
    rebalance_listener_args: Option<String>,
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

impl RunArgs {
    /// `--include`, else `--whitelist`, as MirrorMaker 3 does.
    pub(crate) fn topics(&self) -> &str {
        self.include.as_deref().or(self.whitelist.as_deref()).unwrap_or_default()
    }
}

impl LaterArgs {
    /// The first flag that this release does not have, and what to do instead.
    pub(crate) fn given(&self) -> Option<(&'static str, &'static str)> {
        const TOPICS: &str = "name the wanted topics with --whitelist";
        const RECORDS: &str = "records are copied as they are";
        const GROUP: &str = "no group is joined on the source, so nothing is rebalanced";
        let flags = [
            ("--blacklist", &self.blacklist, TOPICS),
            ("--message.handler", &self.message_handler, RECORDS),
            ("--message.handler.args", &self.message_handler_args, RECORDS),
            ("--consumer.rebalance.listener", &self.consumer_rebalance_listener, GROUP),
            ("--rebalance.listener.args", &self.rebalance_listener_args, GROUP),
        ];
        flags.into_iter().find(|(_, value, _)| value.is_some()).map(|(flag, _, advice)| (flag, advice))
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
        Cli::try_parse_from(words).map(|cli| match cli.command {
            Command::Run(args) => *args,
            Command::Offsets(_) => panic!("not run"),
        })
    }

    fn offsets(line: &str) -> Result<OffsetsArgs, clap::Error> {
        let words = ["kmirror", "offsets"].into_iter().chain(line.split_whitespace());
        Cli::try_parse_from(words).map(|cli| match cli.command {
            Command::Run(_) => panic!("not offsets"),
            Command::Offsets(args) => args,
        })
    }

    const FILES: &str = "--consumer.config c --producer.config p";

    #[test]
    fn every_mirrormaker_flag_in_both_forms() {
        let spaced = "--consumer.config c --producer.config p --num.streams 5 --whitelist a,b --offset.commit.interval.ms 1 \
                      --abort.on.send.failure false --new.consumer";
        let joined = "--consumer.config=c --producer.config=p --num.streams=5 --whitelist=a,b --offset.commit.interval.ms=1 \
                      --abort.on.send.failure=FALSE --new.consumer";
        for line in [spaced, joined] {
            let args = run(line).unwrap();
            assert_eq!(args.consumer_config, PathBuf::from("c"));
            assert_eq!(args.producer_config, PathBuf::from("p"));
            assert_eq!(args.topics(), "a,b");
            assert_eq!((args.num_streams, args.offset_commit_interval_ms), (Some(5), Some(1)));
            assert_eq!((args.abort_on_send_failure, args.new_consumer), (Some(false), true));
            assert_eq!(args.later.given(), None);
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
    fn include_wins_over_whitelist() {
        assert_eq!(run(&format!("{FILES} --whitelist a --include b")).unwrap().topics(), "b");
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
    fn flags_of_later_releases_are_known_by_name() {
        for flag in [
            "--blacklist",
            "--message.handler",
            "--message.handler.args",
            "--consumer.rebalance.listener",
            "--rebalance.listener.args",
        ] {
            let args = run(&format!("{FILES} --whitelist a {flag} x")).unwrap();
            assert_eq!(args.later.given().map(|(flag, _)| flag), Some(flag));
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
