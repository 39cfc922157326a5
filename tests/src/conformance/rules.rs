//! The rules that the cases prove, by id, and which case proves which.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::suite::Suite;

/// The table of the rules: an id and a sentence a line.
const TABLE: &str = include_str!("../../conformance/rules.txt");

/// The rules by id, in the order of the table.
#[derive(Debug)]
pub struct Rules {
    rules: Vec<(String, String)>,
}

impl Rules {
    /// The rules of the table.
    pub fn load() -> Rules {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        let rules =
            lines.filter_map(|line| line.split_once(' ')).map(|(id, text)| (id.to_owned(), text.trim().to_owned()));
        Rules { rules: rules.collect() }
    }

    /// What is wrong with a suite: rules without a case, cases with rules that are not there or with none, ids that stand
    /// twice.
    pub fn complaints(&self, suite: &Suite) -> Vec<String> {
        let mut complaints = Vec::new();
        let mut seen = BTreeMap::new();
        for case in &suite.cases {
            if let Some(other) = seen.insert(&case.id, &case.file) {
                complaints.push(format!("{} stands in {} and in {}", case.id, other.display(), case.file.display()));
            }
            if case.rules.is_empty() {
                complaints.push(format!("{} proves no rule", case.id));
            }
            for rule in &case.rules {
                if !self.rules.iter().any(|(id, _)| id == rule) {
                    complaints.push(format!("{} proves {rule}, which is not in the table", case.id));
                }
            }
            if case.steps.iter().all(|step| step.expected.iter().all(Vec::is_empty)) {
                complaints.push(format!("{} expects nothing", case.id));
            }
        }
        let unproved = self.by_rule(suite).into_iter().filter(|(_, cases)| cases.is_empty());
        complaints.extend(unproved.map(|(rule, _)| format!("no case proves {rule}")));
        complaints
    }

    /// The rules with the ids of their cases, as text.
    pub fn list(&self, suite: &Suite) -> String {
        let mut out = String::new();
        for ((rule, cases), (_, text)) in self.by_rule(suite).into_iter().zip(&self.rules) {
            let _ = writeln!(out, "{rule}  {text}");
            for case in cases {
                let _ = writeln!(out, "    {case}");
            }
        }
        out
    }

    fn by_rule<'a>(&'a self, suite: &'a Suite) -> Vec<(&'a str, Vec<&'a str>)> {
        let cases = |rule: &String| {
            let proving = suite.cases.iter().filter(|case| case.rules.contains(rule));
            proving.map(|case| case.id.as_str()).collect()
        };
        self.rules.iter().map(|(rule, _)| (rule.as_str(), cases(rule))).collect()
    }
}
