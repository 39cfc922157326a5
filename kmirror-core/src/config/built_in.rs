//! MirrorMaker's `--message.handler` and `--message.handler.args`, as names of what is built in.
//!
//! ```text
//! identity                                     every record, as it is
//! filter    key=REGEX,header=NAME,...          only the records that meet all conditions
//! drop      key=REGEX,header=NAME,...          all records but those
//! rename    prefix=TEXT  or  from=REGEX,to=TEXT  other topic names
//! ```
//! Conditions: `key=REGEX`, `header=NAME`, `header=NAME=REGEX`, `since=TIME`, `until=TIME`, `tombstone`. A comma within a
//! value is written `\,`.

use std::sync::Arc;

use super::routing::Rename;
use crate::filter::{ConditionFilter, Conditions, RecordFilter, timestamp};

/// What a handler's name stands for.
#[derive(Debug)]
pub(super) enum BuiltIn {
    Identity,
    Filter(Arc<dyn RecordFilter>),
    Rename(Rename),
}

/// MirrorMaker's own, which copies records as they are.
const IDENTITIES: [&str; 3] = [
    "identity",
    "kafka.tools.MirrorMaker$defaultMirrorMakerMessageHandler",
    "kafka.tools.MirrorMaker.defaultMirrorMakerMessageHandler",
];

const NO_CLASSES: &str = "there is no JVM to load a class into; built in are identity, filter, drop and rename, and a program that \
                          embeds kmirror-core brings code of its own as a filter::RecordFilter";

/// Reads a handler and its arguments; an error is the rest of a sentence.
pub(super) fn built_in(class: &str, args: Option<&str>) -> Result<BuiltIn, String> {
    let args = arguments(args.unwrap_or_default());
    match class {
        "filter" => Ok(BuiltIn::Filter(Arc::new(ConditionFilter::keep(conditions(&args)?)))),
        "drop" => Ok(BuiltIn::Filter(Arc::new(ConditionFilter::drop(conditions(&args)?)))),
        "rename" => rename(&args).map(BuiltIn::Rename),
        _ if !IDENTITIES.contains(&class) => Err(NO_CLASSES.to_owned()),
        _ if args.is_empty() => Ok(BuiltIn::Identity),
        _ => Err("it takes no --message.handler.args: it copies records as they are".to_owned()),
    }
}

/// One more condition, by its name in arguments and files.
pub(super) fn condition(conditions: Conditions, name: &str, value: &str) -> Result<Conditions, String> {
    match name {
        "key" => conditions.key(value).map_err(|error| format!("key: {error}")),
        "header" => match value.split_once('=') {
            _ if value.is_empty() || value.starts_with('=') => Err("header: NAME or NAME=REGEX is expected".to_owned()),
            Some((name, pattern)) => {
                conditions.header_value(name, pattern).map_err(|error| format!("header {name}: {error}"))
            }
            None => Ok(conditions.header(value)),
        },
        "since" => time(name, value).map(|ms| conditions.since(ms)),
        "until" => time(name, value).map(|ms| conditions.until(ms)),
        "tombstone" => match value {
            "" | "true" => Ok(conditions.tombstone(true)),
            "false" => Ok(conditions.tombstone(false)),
            _ => Err(format!("tombstone: {value:?} is not true or false")),
        },
        _ => Err(format!(
            "{name:?} is no condition: key=REGEX, header=NAME, header=NAME=REGEX, since=TIME, until=TIME and tombstone are"
        )),
    }
}

fn time(name: &str, value: &str) -> Result<i64, String> {
    let expected = "a date such as 2026-01-31, a time such as 2026-01-31T08:30:00Z, or milliseconds since 1970";
    timestamp(value).ok_or_else(|| format!("{name}: {value:?} is not {expected}"))
}

fn conditions(args: &[(String, String)]) -> Result<Conditions, String> {
    let conditions =
        args.iter().try_fold(Conditions::default(), |conditions, (name, value)| condition(conditions, name, value))?;
    if conditions.is_empty() {
        return Err(
            "its conditions stand in --message.handler.args: key=REGEX, header=NAME, header=NAME=REGEX, since=TIME, \
                    until=TIME, tombstone, with commas between"
                .to_owned(),
        );
    }
    Ok(conditions)
}

fn rename(args: &[(String, String)]) -> Result<Rename, String> {
    let args: Vec<_> = args.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    match *args {
        [("prefix", prefix)] => Ok(Rename::Prefix(prefix.to_owned())),
        [("from", from), ("to", to)] | [("to", to), ("from", from)] => {
            Rename::pattern(from, to).map_err(|error| error.to_string())
        }
        _ => Err("its rule stands in --message.handler.args: prefix=TEXT, or from=REGEX,to=TEXT".to_owned()),
    }
}

/// Names and values; a name alone has an empty value.
fn arguments(text: &str) -> Vec<(String, String)> {
    let mut parts = vec![String::new()];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == ',' {
            parts.push(String::new());
            continue;
        }
        let Some(part) = parts.last_mut() else { continue };
        match (c, chars.as_str().chars().next()) {
            ('\\', Some(next)) => {
                // Any other backslash is the expression's own.
                if next != ',' {
                    part.push('\\');
                }
                part.push(next);
                chars.next();
            }
            _ => part.push(c),
        }
    }
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (name.trim().to_owned(), value.to_owned())
    };
    parts.iter().filter(|part| !part.trim().is_empty()).map(|part| pair(part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(class: &str, args: &str) -> String {
        match built_in(class, Some(args)) {
            Ok(BuiltIn::Filter(filter)) => format!("{filter:?}"),
            Ok(other) => panic!("{other:?}"),
            Err(error) => format!("error: {error}"),
        }
    }

    fn renamed(args: &str, topic: &str) -> String {
        match built_in("rename", Some(args)) {
            Ok(BuiltIn::Rename(rename)) => rename.apply(topic),
            Ok(other) => panic!("{other:?}"),
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn conditions_by_name() {
        assert_eq!(filter("filter", "key=^eu-"), r#"keep key="^eu-""#);
        assert_eq!(
            filter("drop", "tombstone, header=origin,header=h=a=b,since=1970-01-02"),
            r#"drop header="origin" header="h"="a=b" since=86400000 tombstone=true"#
        );
        assert_eq!(filter("drop", "until=1769848215250,tombstone=false"), "drop until=1769848215250 tombstone=false");
    }

    #[test]
    fn a_comma_in_a_value_is_escaped() {
        assert_eq!(filter("filter", r"key=^a{1\,3}$,tombstone"), r#"keep key="^a{1,3}$" tombstone=true"#);
        assert_eq!(filter("filter", r"key=\d\\,tombstone"), r#"keep key="\\d\\\\" tombstone=true"#);
        assert!(filter("filter", "key=a{1,3}").starts_with("error: key: `a{1`"), "unescaped, it ends the value");
    }

    #[test]
    fn names_for_topics() {
        assert_eq!(renamed("prefix=eu.", "orders"), "eu.orders");
        assert_eq!(renamed(r"from=eu\.(.*),to=$1.eu", "eu.orders"), "orders.eu");
        assert_eq!(renamed(r"to=$1_eu,from=eu\.(.*)", "eu.orders"), "orders_eu");
        assert_eq!(renamed(r"from=eu\.(.*),to=$1", "us.orders"), "us.orders");
    }

    #[test]
    fn mirrormakers_default_is_the_identity() {
        for class in IDENTITIES {
            assert!(matches!(built_in(class, None), Ok(BuiltIn::Identity)), "{class}");
        }
        assert!(built_in("identity", Some("key=a")).unwrap_err().contains("takes no --message.handler.args"));
    }

    #[test]
    fn what_is_wrong_is_said_with_the_way_out() {
        for (class, args, words) in [
            (
                "com.acme.Renamer",
                "",
                "there is no JVM to load a class into; built in are identity, filter, drop and rename",
            ),
            ("com.acme.Renamer", "", "filter::RecordFilter"),
            ("filter", "", "its conditions stand in --message.handler.args"),
            ("filter", "kye=a", "\"kye\" is no condition: key=REGEX"),
            ("filter", "key=(", "key: `(` is not a regular expression: unclosed group"),
            ("drop", "header=", "header: NAME or NAME=REGEX is expected"),
            ("drop", "header==a", "header: NAME or NAME=REGEX is expected"),
            ("drop", "header=a=(", "header a: `(` is not a regular expression"),
            ("drop", "since=yesterday", "since: \"yesterday\" is not a date such as 2026-01-31"),
            ("drop", "tombstone=maybe", "tombstone: \"maybe\" is not true or false"),
            ("rename", "", "prefix=TEXT, or from=REGEX,to=TEXT"),
            ("rename", "from=a", "prefix=TEXT, or from=REGEX,to=TEXT"),
            ("rename", "prefix=a,from=b,to=c", "prefix=TEXT, or from=REGEX,to=TEXT"),
            ("rename", "from=(a),to=$2", "there is no group 2"),
            ("rename", "from=a(?=b),to=c", "lookahead (?= at character 2"),
        ] {
            let error = built_in(class, Some(args)).unwrap_err();
            assert!(error.contains(words), "{class} {args}: {error}");
        }
    }
}
