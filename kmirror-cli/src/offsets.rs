//! `kmirror offsets`: what `GetOffsetShell` prints, with its exit codes.
//!
//! Two generations of that tool differ where there is nothing to print. Up to 2.8 (`--broker-list`) a partition without
//! an offset is `topic:partition:`, and a topic or partition that does not exist is named. Since 3.0
//! (`--bootstrap-server`) the one is left out and the others match nothing. The flag decides.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::time::Duration;

use kmirror_core::config::{ClusterConfig, ConfigError, RawConfig, Role, TopicPattern, cluster, survey};
use kmirror_core::offsets::{ListTime, Listing, OffsetsError, OffsetsQuery, Partitions, Rule};
use kmirror_core::runtime::list_offsets;

use crate::args::OffsetsArgs;
use crate::exit::Failure;
use crate::files::properties;

/// Prints `topic:partition:offset`, sorted by topic and then by number.
pub(crate) fn offsets(args: &OffsetsArgs) -> Result<(), Failure> {
    let (cluster, timeout) = cluster_of(args)?;
    let rules = rules(args)?;
    let time = time(&args.time)?;
    let query = OffsetsQuery { rules, exclude_internal: args.exclude_internal_topics, time, timeout };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::failed(format!("the runtime cannot start: {error}")))?;
    let listing = match runtime.block_on(list_offsets(&cluster, query)) {
        Ok(listing) => listing,
        Err(OffsetsError::NothingMatches) => return Err(nothing_matches(args)),
        Err(error) => return Err(Failure::failed(format!("Error occurred: {error}"))),
    };
    complain(args, &listing);
    let mut out = String::new();
    for found in &listing.offsets {
        let (topic, partition) = (&found.topic, found.partition);
        match found.offset {
            Some(offset) => out.push_str(&format!("{topic}:{partition}:{offset}\n")),
            None if is_old(args) => out.push_str(&format!("{topic}:{partition}:\n")),
            None => {}
        }
    }
    let written = io::stdout().write_all(out.as_bytes());
    // `| head` closes the pipe when it has seen enough.
    written
        .or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(Failure::failed(error)) })
}

/// Whether the flags are those of the tool up to 2.8.
fn is_old(args: &OffsetsArgs) -> bool {
    args.bootstrap_server.is_none()
}

fn cluster_of(args: &OffsetsArgs) -> Result<(ClusterConfig, Duration), Failure> {
    let raw = match &args.command_config {
        Some(path) => properties(Role::Admin.flag(), path).map_err(Failure::failed)?,
        None => RawConfig::default(),
    };
    let failed = |error: ConfigError| Failure::failed(error);
    for warning in survey(Role::Admin, &raw).map_err(failed)? {
        tracing::warn!("{warning}");
    }
    let (flag, servers) = match (&args.bootstrap_server, &args.broker_list) {
        (Some(servers), _) => ("--bootstrap-server", servers),
        (None, Some(servers)) => ("--broker-list", servers),
        (None, None) => return Err(Failure::failed("--bootstrap-server is missing")),
    };
    let timeout = kmirror_core::config::command_timeout(&raw).map_err(failed)?;
    Ok((cluster(Role::Admin, &raw, Some((flag, servers))).map_err(failed)?, timeout))
}

fn rules(args: &OffsetsArgs) -> Result<Vec<Rule>, Failure> {
    let Some(patterns) = &args.topic_partitions else {
        let topics = pattern(args.topic.as_deref().unwrap_or(".*"))?;
        let partitions = match requested(args)? {
            None => Partitions::All,
            Some(partitions) => Partitions::These(partitions),
        };
        return Ok(vec![Rule { topics, partitions }]);
    };
    if args.topic.is_some() || args.partitions.is_some() {
        return Err(Failure::failed("Error occurred: --topic-partitions cannot be used with --topic or --partitions"));
    }
    patterns.split(',').map(rule).collect()
}

/// `topic`, `topic:3`, `topic:2-5`, `topic:2-`, `topic:-5`, `:3`: the upper end does not count.
fn rule(text: &str) -> Result<Rule, Failure> {
    let invalid = || Failure::failed(format!("Error occurred: Invalid rule specification: {text}"));
    let number = |digits: &str, default: i32| match digits {
        "" => Ok(default),
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().map_err(|_| invalid()),
        _ => Err(invalid()),
    };
    let (topic, partitions) = text.split_once(':').unwrap_or((text, ""));
    let partitions = match partitions.split_once('-') {
        Some((from, to)) => Partitions::Range(number(from, 0)?..number(to, i32::MAX)?),
        None if partitions.is_empty() => Partitions::All,
        None => Partitions::These(BTreeSet::from([number(partitions, 0)?])),
    };
    let topics = pattern(if topic.is_empty() { ".*" } else { topic })?;
    Ok(Rule { topics, partitions })
}

fn pattern(text: &str) -> Result<TopicPattern, Failure> {
    TopicPattern::parse(text).map_err(|error| Failure::failed(format!("Error occurred: {error}")))
}

/// `--partitions`; empty is none, as Java has it.
fn requested(args: &OffsetsArgs) -> Result<Option<BTreeSet<i32>>, Failure> {
    let Some(text) = args.partitions.as_deref().filter(|text| !text.is_empty()) else { return Ok(None) };
    let partitions: Result<BTreeSet<i32>, _> = text.split(',').map(str::parse).collect();
    let message = "Error occurred: --partitions expects a comma separated list of numeric partition ids, but received";
    partitions.map(Some).map_err(|_| Failure::failed(format!("{message}: {text}")))
}

fn time(text: &str) -> Result<ListTime, Failure> {
    let ms = match text {
        "latest" => -1,
        "earliest" => -2,
        "max-timestamp" => -3,
        "earliest-local" => -4,
        "latest-tiered" => -5,
        "earliest-pending-upload" => -6,
        other => other.parse().unwrap_or(i64::MIN),
    };
    match ms {
        -1 => Ok(ListTime::Latest),
        -2 => Ok(ListTime::Earliest),
        -3 => Ok(ListTime::MaxTimestamp),
        -4 => Ok(ListTime::EarliestLocal),
        -5 | -6 => Err(Failure::failed(format!("Error occurred: --time {text} is not supported by this release"))),
        0.. => Ok(ListTime::Since(ms)),
        _ => Err(Failure::failed(format!(
            "Error occurred: Malformed time argument {text}. Please use -1 or latest / -2 or earliest / -3 or \
             max-timestamp / -4 or earliest-local, or a specified long format timestamp"
        ))),
    }
}

fn nothing_matches(args: &OffsetsArgs) -> Failure {
    match (&args.topic, &args.partitions) {
        (Some(topic), None) if is_old(args) => Failure::failed(format!("Topic {topic} does not exist")),
        (Some(topic), Some(partitions)) if is_old(args) => {
            Failure::failed(format!("Topic {topic} does not have any of the requested partitions {partitions}"))
        }
        _ => Failure::failed("Error occurred: Could not match any topic-partitions with the specified filters"),
    }
}

/// What could not be had goes to standard error, and the command succeeds with the rest, as Java's.
fn complain(args: &OffsetsArgs, listing: &Listing) {
    let mut err = io::stderr();
    if is_old(args)
        && let Ok(Some(requested)) = requested(args)
    {
        let has = |partition| listing.offsets.iter().any(|found| found.partition == partition);
        let skipped = |partition| listing.skipped.iter().any(|skipped| skipped.partition == partition);
        for partition in requested.into_iter().filter(|&partition| !has(partition) && !skipped(partition)) {
            let _ = writeln!(err, "Error: partition {partition} does not exist");
        }
    }
    for skipped in &listing.skipped {
        let (topic, partition, reason) = (&skipped.topic, skipped.partition, &skipped.reason);
        let _ = writeln!(err, "Skip getting offsets for topic-partition {topic}-{partition} due to error: {reason}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partitions_of(text: &str) -> Vec<(bool, bool, Partitions)> {
        let rules: Result<Vec<Rule>, _> = text.split(',').map(rule).collect();
        let see = |rule: Rule| (rule.topics.matches("t1"), rule.topics.matches("t2"), rule.partitions);
        rules.unwrap().into_iter().map(see).collect()
    }

    #[test]
    fn topic_partition_patterns() {
        let these = |partition| Partitions::These(BTreeSet::from([partition]));
        assert_eq!(
            partitions_of("t1,t2:1,t.:0-3,t.*:5-,:-3,"),
            [
                (true, false, Partitions::All),
                (false, true, these(1)),
                (true, true, Partitions::Range(0..3)),
                (true, true, Partitions::Range(5..i32::MAX)),
                (true, true, Partitions::Range(0..3)),
                (true, true, Partitions::All),
            ]
        );
        for bad in ["t:x", "t:1:2", "t:1-2-3", "t:+1", "t:99999999999", "t:-x"] {
            assert!(rule(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_by_name_and_number() {
        for (text, expected) in [
            ("latest", ListTime::Latest),
            ("-1", ListTime::Latest),
            ("earliest", ListTime::Earliest),
            ("-2", ListTime::Earliest),
            ("-3", ListTime::MaxTimestamp),
            ("max-timestamp", ListTime::MaxTimestamp),
            ("-4", ListTime::EarliestLocal),
            ("0", ListTime::Since(0)),
            ("1700000000000", ListTime::Since(1_700_000_000_000)),
        ] {
            assert_eq!(time(text).unwrap(), expected, "{text}");
        }
        for bad in ["", "now", "-7", "1.5", "99999999999999999999", "-5", "latest-tiered"] {
            assert!(time(bad).is_err(), "{bad}");
        }
    }
}
