//! How many topics each pattern is about, so that a wrong character in one of them shows.

use std::collections::BTreeSet;

use super::{PatternRole, PatternSeen};
use crate::config::{Config, TopicPattern, TopicSelection};

/// Every pattern of a mirror's selection and routing, and how many of the source's `topics` each is about.
pub(super) fn patterns(config: &Config, topics: &BTreeSet<&str>) -> Vec<PatternSeen> {
    let selection = &config.topics;
    let mut seen = Vec::new();
    for (pattern, text) in parts(selection.include()) {
        let matches = |name: &&&str| match &pattern {
            Some(pattern) => pattern.matches(name),
            None => named(selection, name),
        };
        let topics = topics.iter().filter(matches).count();
        seen.push(PatternSeen { pattern: text, role: PatternRole::Include, topics });
    }
    for (pattern, text) in selection.exclude().into_iter().flat_map(parts) {
        let Some(pattern) = pattern else { continue };
        let topics = topics.iter().filter(|name| pattern.matches(name)).count();
        seen.push(PatternSeen { pattern: text, role: PatternRole::Exclude, topics });
    }
    let selected: Vec<&&str> = topics.iter().filter(|name| selection.matches(name)).collect();
    let rules = &config.routing.rules;
    for (number, rule) in rules.iter().enumerate() {
        let decides = |name: &&&&str| rules.iter().position(|rule| rule.topics.matches(name)) == Some(number);
        let topics = selected.iter().filter(decides).count();
        seen.push(PatternSeen { pattern: rule.topics.as_str().to_owned(), role: PatternRole::Rule, topics });
    }
    for topic in config.routing.mapping.keys() {
        let topics = usize::from(selected.iter().any(|name| **name == topic));
        seen.push(PatternSeen { pattern: topic.clone(), role: PatternRole::Mapping, topics });
    }
    seen
}

fn named(selection: &TopicSelection, name: &str) -> bool {
    selection.matches(name) || selection.passes_over(name)
}

/// The alternatives of a whitelist, each with its pattern. A list of patterns may not be one itself: then the selection
/// has to be asked.
fn parts(text: &str) -> Vec<(Option<TopicPattern>, String)> {
    let whole = || vec![(TopicPattern::parse(text).ok(), text.trim().to_owned())];
    // A flag such as (?i) holds for what stands behind it, and \Q…\E hides what would divide.
    if text.contains("(?") || text.contains("\\Q") {
        return whole();
    }
    let unquoted = text.trim().trim_matches(['"', '\'']);
    let parts: Option<Vec<_>> =
        alternatives(unquoted).into_iter().map(|part| Some((Some(TopicPattern::parse(&part).ok()?), part))).collect();
    parts.filter(|parts| parts.len() > 1).unwrap_or_else(whole)
}

/// Divides at commas and bars that stand in no group and no class.
fn alternatives(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut in_class, mut escaped) = (0_usize, false, false);
    for c in text.chars() {
        let divides = !escaped && !in_class && depth == 0 && matches!(c, ',' | '|');
        match c {
            _ if escaped => {}
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => depth = depth.saturating_sub(1),
            _ => {}
        }
        escaped = !escaped && c == '\\';
        if divides {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_taken_apart_and_a_group_is_not() {
        let of = |text: &str| parts(text).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(of("orders, payments.*|refunds"), ["orders", "payments.*", "refunds"]);
        assert_eq!(of("\"a,b\""), ["a", "b"]);
        for whole in ["orders", "(a|b)c", "x(?:a,b)", "(?i)a,b", r"\Qa|b\E", "[a|b]"] {
            assert_eq!(of(whole), [whole]);
        }
        assert_eq!(of(r"(a,b)c,d[,|]\,e"), ["(a,b)c", r"d[,|]\,e"]);
    }
}
