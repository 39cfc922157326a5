//! A preview for people, 80 columns wide.

use std::collections::BTreeMap;

use kmirror_core::preview::{OnTarget, PatternRole, Preview, RouteSeen, StartBy};

use crate::table::grouped;
use crate::view::plain;

/// ```text
/// mirror orders-mirror: source Jq…Q to target 8s…w
///
/// pattern         role     topics
/// orders.*        include       2
/// paymets.*       include       0  matches nothing
///
/// topic                     parts  target     path           to copy  start
/// orders                       32  create     restamped    1,000,000  earliest
/// orders.eu                     8  grow 4>8   rewritten          210  ledger
///   to eu.orders
/// ```
/// Below the table: what would be created, why batches are not simply passed on, what would be lost, what is worth
/// knowing, and what stands in the way.
pub(super) fn text(preview: &Preview, warnings: &[String]) -> String {
    let mut out = format!(
        "mirror {}: source {} to target {}\n\n",
        plain(&preview.mirror),
        plain(&preview.source),
        plain(&preview.target)
    );
    patterns(&mut out, preview);
    if !preview.routes.is_empty() {
        table(&mut out, &preview.routes);
    }
    created(&mut out, &preview.routes);
    rewritten(&mut out, &preview.routes);
    lost(&mut out, &preview.routes);
    notes(&mut out, preview, warnings);
    obstacles(&mut out, preview);
    out
}

fn patterns(out: &mut String, preview: &Preview) {
    let width = preview.patterns.iter().map(|seen| plain(&seen.pattern).chars().count()).max().unwrap_or(0);
    let width = width.clamp("pattern".len(), PATTERN_WIDTH);
    out.push_str(&format!("{:width$}  role     topics\n", "pattern"));
    for seen in &preview.patterns {
        let role = match seen.role {
            PatternRole::Include => "include",
            PatternRole::Exclude => "exclude",
            PatternRole::Rule => "route",
            PatternRole::Mapping => "mapping",
        };
        let pattern = beside(out, &seen.pattern, width);
        let nothing = if seen.topics == 0 { "  matches nothing" } else { "" };
        out.push_str(&format!("{pattern:width$}  {role:7}  {:>6}{nothing}\n", grouped(number(seen.topics))));
    }
    out.push('\n');
}

fn table(out: &mut String, routes: &[RouteSeen]) {
    let width = routes.iter().map(|route| plain(&route.topic).chars().count()).max().unwrap_or(0);
    let width = width.clamp("topic".len(), TOPIC_WIDTH);
    out.push_str(&format!("{:width$}  parts  target     path          to copy  start\n", "topic"));
    for route in routes {
        let topic = beside(out, &route.topic, width);
        let behind: i64 = route.starts.iter().map(|start| start.behind).sum();
        let line = format!(
            "{topic:width$}  {:>5}  {:9}  {:10}  {:>11}  {}",
            route.partitions,
            on_target(route),
            path(route),
            grouped(behind.max(0).unsigned_abs()),
            start(route)
        );
        out.push_str(line.trim_end());
        out.push('\n');
        if route.target != route.topic {
            out.push_str(&format!("  to {}\n", plain(&route.target)));
        }
    }
    out.push('\n');
}

/// A name that is too long for its column has a line of its own above it.
fn beside(out: &mut String, name: &str, width: usize) -> String {
    let name = plain(name);
    if name.chars().count() <= width {
        return name;
    }
    out.push_str(&name);
    out.push('\n');
    String::new()
}

fn on_target(route: &RouteSeen) -> String {
    match &route.on_target {
        OnTarget::Unknown if route.obstacles.is_empty() => "?".to_owned(),
        OnTarget::Unknown => "blocked".to_owned(),
        OnTarget::There { .. } => "there".to_owned(),
        OnTarget::Created { .. } => "create".to_owned(),
        OnTarget::Grown { from, to } => format!("grow {from}>{to}"),
    }
}

/// The path of all batches of the sample that carry records, or that there are several.
fn path(route: &RouteSeen) -> &'static str {
    let mut paths: Vec<&'static str> =
        route.sample.paths.iter().map(|seen| seen.path).filter(|path| *path != "skipped").collect();
    paths.dedup();
    match paths.as_slice() {
        [] if route.starts.iter().all(|start| start.behind == 0) => "-",
        [] => "?",
        [path] => path,
        [first, rest @ ..] if rest.iter().all(|path| path == first) => first,
        [..] => "mixed",
    }
}

/// What decides where the links start, if it is one thing for all.
fn start(route: &RouteSeen) -> &'static str {
    let mut by: Vec<StartBy> = route.starts.iter().map(|start| start.by).collect();
    by.sort_unstable();
    by.dedup();
    match by.as_slice() {
        [] => "",
        [StartBy::Ledger] => "ledger",
        [StartBy::Group] => "group",
        [StartBy::Earliest] => "earliest",
        [StartBy::Latest] => "latest",
        [..] => "mixed",
    }
}

/// Topics that would be created alike, together.
fn created(out: &mut String, routes: &[RouteSeen]) {
    let mut alike: Vec<(&OnTarget, Vec<&str>)> = Vec::new();
    for route in routes {
        if !matches!(route.on_target, OnTarget::Created { .. }) {
            continue;
        }
        match alike.iter_mut().find(|(made, _)| is_alike(made, &route.on_target)) {
            Some((_, topics)) => topics.push(&route.target),
            None => alike.push((&route.on_target, vec![&route.target])),
        }
    }
    for (made, topics) in alike {
        let OnTarget::Created { partitions, replication_factor, settings, not_set } = made else { continue };
        let how = if *partitions == 0 {
            "created by the broker as it is configured".to_owned()
        } else {
            format!("created with replication factor {replication_factor}")
        };
        section(out, &how, &topics);
        let set: Vec<String> = settings.iter().map(|(name, value)| plain(&format!("{name}={value}"))).collect();
        if !set.is_empty() {
            wrapped(out, "    ", &set.join(" "));
        }
        let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (name, why) in not_set {
            by_reason.entry(why).or_default().push(plain(name));
        }
        for (why, names) in by_reason {
            wrapped(out, "    ", &format!("not set: {}: {}", names.join(", "), plain(why)));
        }
        out.push('\n');
    }
}

/// All but the number of partitions, which stands in the table.
fn is_alike(a: &OnTarget, b: &OnTarget) -> bool {
    match (a, b) {
        (
            OnTarget::Created { partitions, replication_factor, settings, not_set },
            OnTarget::Created { partitions: others, replication_factor: factor, settings: set, not_set: unset },
        ) => (*partitions == 0) == (*others == 0) && (replication_factor, settings, not_set) == (factor, set, unset),
        (_, _) => false,
    }
}

fn rewritten(out: &mut String, routes: &[RouteSeen]) {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for route in routes {
        for seen in route.sample.paths.iter().filter(|seen| seen.path == "rewritten") {
            by_reason.entry(seen.why.unwrap_or_default()).or_default().push(&route.topic);
        }
    }
    for (why, topics) in &by_reason {
        section(out, &format!("rewritten, because {why}"), topics);
    }
    let filtered: Vec<&str> =
        routes.iter().filter(|route| route.sample.filtered > 0).map(|route| route.topic.as_str()).collect();
    if !filtered.is_empty() {
        section(out, "filters drop records of the sample", &filtered);
    }
    if !by_reason.is_empty() || !filtered.is_empty() {
        out.push('\n');
    }
}

fn lost(out: &mut String, routes: &[RouteSeen]) {
    let before = out.len();
    for route in routes {
        for loss in route.sample.losses.iter().filter(|loss| !loss.stops) {
            let (partition, offset) = loss.first;
            let what = if loss.policy == "on_headers" { "lose their headers" } else { "are dropped" };
            let text = format!(
                "{}: {} of {} records in the sample {what} ({} = \"drop\"); the first, partition {partition}, offset {offset}: {}",
                plain(&route.topic),
                grouped(loss.records),
                grouped(route.sample.records + route.sample.filtered + dropped(route)),
                loss.policy,
                plain(&loss.why)
            );
            wrapped(out, "", &text);
        }
    }
    if out.len() > before {
        out.push('\n');
    }
}

/// Records that are not among those that would be written.
fn dropped(route: &RouteSeen) -> u64 {
    route.sample.losses.iter().filter(|loss| loss.policy != "on_headers").map(|loss| loss.records).sum()
}

fn notes(out: &mut String, preview: &Preview, warnings: &[String]) {
    let before = out.len();
    if !preview.passed_over.is_empty() {
        let names: Vec<&str> = preview.passed_over.iter().map(String::as_str).collect();
        section(out, "internal, never mirrored", &names);
    }
    for warning in warnings {
        wrapped(out, "", &format!("warning: {}", plain(warning)));
    }
    for note in &preview.notes {
        wrapped(out, "", &format!("note: {}", plain(note)));
    }
    if out.len() > before {
        out.push('\n');
    }
}

fn obstacles(out: &mut String, preview: &Preview) {
    let of_routes = preview.routes.iter().flat_map(|route| route.obstacles.iter().map(move |text| (Some(route), text)));
    let all: Vec<(Option<&RouteSeen>, &String)> =
        preview.obstacles.iter().map(|text| (None, text)).chain(of_routes).collect();
    if all.is_empty() {
        let partitions: usize = preview.routes.iter().map(|route| route.partitions).sum();
        let (topics, partitions) = (grouped(number(preview.routes.len())), grouped(number(partitions)));
        out.push_str(&format!("nothing stands in the way of {topics} topics with {partitions} partitions\n"));
        return;
    }
    out.push_str(&format!("in the way ({}):\n", grouped(number(all.len()))));
    for (route, text) in all.iter().take(OBSTACLES_MAX) {
        let topic = route.map(|route| format!("{}: ", plain(&route.topic))).unwrap_or_default();
        wrapped(out, "  ", &format!("{topic}{}", plain(text)));
    }
    if all.len() > OBSTACLES_MAX {
        out.push_str(&format!("  and {} more (--json has all)\n", grouped(number(all.len() - OBSTACLES_MAX))));
    }
}

/// A line about some topics, of which a few are named.
fn section(out: &mut String, what: &str, topics: &[&str]) {
    let shown: Vec<String> = topics.iter().take(NAMES_MAX).map(|name| plain(name)).collect();
    let more = topics.len().saturating_sub(NAMES_MAX);
    let more = if more > 0 { format!(" and {} more", grouped(number(more))) } else { String::new() };
    wrapped(out, "", &format!("{what}: {}{more}", shown.join(", ")));
}

/// Words, at most 80 columns wide; what does not fit goes on below, indented.
fn wrapped(out: &mut String, indent: &str, text: &str) {
    let mut line = indent.to_owned();
    let mut is_empty = true;
    for word in text.split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out.push_str(&line);
            out.push('\n');
            line = format!("{indent}  ");
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    out.push_str(&line);
    out.push('\n');
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

const WIDTH: usize = 80;

/// What leaves room for the other columns.
const TOPIC_WIDTH: usize = 23;

const PATTERN_WIDTH: usize = 40;

/// Names of topics in one line about them.
const NAMES_MAX: usize = 12;

/// Obstacles that are printed: ten thousand topics may have the same one.
const OBSTACLES_MAX: usize = 50;

#[cfg(test)]
mod tests {
    use kmirror_core::preview::{LinkStart, LossSeen, PathSeen, PatternSeen, Sample};

    use super::*;

    fn route(topic: &str, target: &str, on_target: OnTarget) -> RouteSeen {
        let start = LinkStart { partition: 0, offset: 0, by: StartBy::Earliest, behind: 1_000_000 };
        let path = PathSeen { path: "restamped", why: None, batches: 4 };
        RouteSeen {
            topic: topic.to_owned(),
            target: target.to_owned(),
            partitions: 32,
            on_target,
            obstacles: Vec::new(),
            starts: vec![start],
            sample: Sample { batches: 4, records: 20, paths: vec![path], ..Sample::default() },
        }
    }

    fn created() -> OnTarget {
        let settings = [("cleanup.policy", "compact"), ("retention.ms", "604800000"), ("compression.type", "producer")];
        OnTarget::Created {
            partitions: 32,
            replication_factor: 3,
            settings: settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            not_set: [("flush.ms".to_owned(), "the target does not know it".to_owned())].into(),
        }
    }

    fn preview(routes: Vec<RouteSeen>) -> Preview {
        let pattern =
            |pattern: &str, topics| PatternSeen { pattern: pattern.to_owned(), role: PatternRole::Include, topics };
        Preview {
            mirror: "m".to_owned(),
            source: "a:9092".to_owned(),
            target: "b:9092".to_owned(),
            patterns: vec![pattern("orders.*", 2), pattern("paymets.*", 0)],
            routes,
            ..Preview::default()
        }
    }

    #[test]
    fn a_mirror_that_nothing_stands_in_the_way_of() {
        let routes = vec![route("orders", "orders", created()), route("orders.eu", "eu.orders", created())];
        assert_eq!(
            text(&preview(routes), &[]),
            "mirror m: source a:9092 to target b:9092\n\
             \n\
             pattern    role     topics\n\
             orders.*   include       2\n\
             paymets.*  include       0  matches nothing\n\
             \n\
             topic      parts  target     path          to copy  start\n\
             orders        32  create     restamped     1,000,000  earliest\n\
             orders.eu     32  create     restamped     1,000,000  earliest\n\
             \x20 to eu.orders\n\
             \n\
             created with replication factor 3: orders, eu.orders\n\
             \x20   cleanup.policy=compact compression.type=producer retention.ms=604800000\n\
             \x20   not set: flush.ms: the target does not know it\n\
             \n\
             nothing stands in the way of 2 topics with 64 partitions\n"
        );
    }

    #[test]
    fn what_is_lost_rewritten_and_in_the_way_is_said() {
        let mut one = route("orders", "orders", OnTarget::Grown { from: 4, to: 32 });
        one.sample.paths.push(PathSeen { path: "rewritten", why: Some("compaction left gaps"), batches: 1 });
        let why = "it has headers, which brokers older than 0.11 do not keep".to_owned();
        one.sample.losses.push(LossSeen { policy: "on_headers", stops: false, records: 3, first: (1, 7), why });
        one.obstacles.push("the target\u{1b}[2J is in the way".to_owned());
        let text = text(&preview(vec![one]), &["max.poll.records does nothing".to_owned()]);
        assert!(text.contains("grow 4>32") && text.contains("mixed"), "{text}");
        assert!(text.contains("rewritten, because compaction left gaps: orders"), "{text}");
        assert!(text.contains("3 of 20 records in the sample lose their headers"), "{text}");
        assert!(text.contains("warning: max.poll.records does nothing\n"), "{text}");
        assert!(text.contains("in the way (1):\n  orders: the target\\u{1b}[2J is in the way\n"), "{text}");
    }

    #[test]
    fn nothing_is_wider_than_80_columns_but_a_name() {
        let long = "x".repeat(60);
        let mut one = route(&long, "orders", created());
        one.partitions = 99_999;
        one.starts = [StartBy::Ledger, StartBy::Group, StartBy::Earliest]
            .map(|by| LinkStart { partition: 0, offset: 0, by, behind: 3_000_000_000 })
            .into();
        one.obstacles.push("word ".repeat(100));
        let text = text(&preview(vec![one, route("orders", "orders", OnTarget::There { partitions: 32 })]), &[]);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(text.contains(&format!("\n{long}\n")), "{text}");
    }
}
