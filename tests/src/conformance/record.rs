//! Writes answers into the case files, and leaves everything else in them as it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::release_set::{RELEASES, ReleaseSet};
use super::run::Answers;
use super::suite::{self, Case, Line, Step, Suite};
use crate::failure::Context as _;
use crate::{Result, cache};

/// Answers by case id, on one release.
pub type Recorded = BTreeMap<String, Answers>;

/// Takes what was answered on a release into the suite; a case that could not be run keeps what it had, and is named.
pub fn take(suite: &mut Suite, release: usize, recorded: &Recorded) -> Vec<String> {
    let mut failures = Vec::new();
    for case in &mut suite.cases {
        match recorded.get(&case.id) {
            None => {}
            Some(Err(failure)) => failures.push(format!("{} on {}: {failure}", case.id, RELEASES[release])),
            Some(Ok(answers)) => {
                for (step, lines) in case.steps.iter_mut().zip(answers) {
                    step.expected[release].clone_from(lines);
                }
            }
        }
    }
    failures
}

/// Writes the answers of all cases into their files.
pub fn write(suite: &Suite) -> Result {
    for file in suite.files() {
        let path = cache::workspace().join(file);
        let text = fs::read_to_string(&path).context(|| format!("reading {}", path.display()))?;
        let written = rewrite(file, &text, &suite.cases);
        if written != text {
            fs::write(&path, written).context(|| format!("writing {}", path.display()))?;
        }
    }
    Ok(())
}

fn rewrite(file: &Path, text: &str, cases: &[Case]) -> String {
    let steps: BTreeMap<usize, (&Case, &Step)> = cases
        .iter()
        .filter(|case| case.file == file)
        .flat_map(|case| case.steps.iter().map(move |step| (step.line, (case, step))))
        .collect();
    let mut out = String::new();
    let mut open: Option<(&Case, &Step)> = None;
    for (number, line) in std::iter::zip(1.., text.lines()) {
        match suite::line(line) {
            Line::Answer(..) => continue,
            Line::More(_) => {}
            Line::Text | Line::Case(_) | Line::Step(_) => {
                if let Some((case, step)) = open.take() {
                    out.push_str(&answers(case, step));
                }
                open = steps.get(&number).copied();
            }
        }
        out.push_str(line);
        out.push('\n');
    }
    if let Some((case, step)) = open {
        out.push_str(&answers(case, step));
    }
    out
}

/// The answers to a step: equal ones once, the oldest release first.
fn answers(case: &Case, step: &Step) -> String {
    let mut asked = ReleaseSet::default();
    let mut groups: Vec<(ReleaseSet, &[String])> = Vec::new();
    for (release, lines) in step.expected.iter().enumerate() {
        if !case.has(step, release) {
            continue;
        }
        asked.insert(release);
        match groups.iter_mut().find(|(_, known)| *known == lines.as_slice()) {
            Some((set, _)) => set.insert(release),
            None => {
                let mut set = ReleaseSet::default();
                set.insert(release);
                groups.push((set, lines));
            }
        }
    }
    groups.retain(|(_, lines)| !lines.is_empty());
    let names: Vec<String> = groups.iter().map(|(set, _)| set.name(&asked)).collect();
    let width = names.iter().map(String::len).max().unwrap_or(0);
    let mut out = String::new();
    for (name, (_, lines)) in names.iter().zip(&groups) {
        for (at, line) in lines.iter().enumerate() {
            let name = if at == 0 { name.as_str() } else { "" };
            out.push_str(format!("    {name:width$} | {line}").trim_end());
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
case a: one
  topic t
  produce t
      batch()
    all | old
# between

case b: two
  for 0.11.0.3..
  read t
";

    #[test]
    fn answers_are_written_under_their_steps() {
        let file = Path::new("a.cases");
        let mut suite = Suite { cases: suite::read(file, FILE).unwrap() };
        for release in 0..RELEASES.len() {
            let text = |text: &str| vec![text.to_owned()];
            let a = vec![Vec::new(), if release < 2 { text("2 CORRUPT") } else { text("base=0") }];
            let b = vec![if release == 2 { vec![] } else { vec!["x".to_owned(), "  y".to_owned()] }];
            let recorded = [("a".to_owned(), Ok(a)), ("b".to_owned(), Ok(b))].into_iter().collect();
            assert!(take(&mut suite, release, &recorded).is_empty());
        }
        let written = rewrite(file, FILE, &suite.cases);
        let expected = "\
case a: one
  topic t
  produce t
      batch()
    ..0.11.0.3 | 2 CORRUPT
    1.1.1..    | base=0
# between

case b: two
  for 0.11.0.3..
  read t
    0.11.0.3,2.0.0.. | x
                     |   y
";
        assert_eq!(written, expected);
        let again = Suite { cases: suite::read(file, &written).unwrap() };
        assert_eq!(rewrite(file, &written, &again.cases), written, "what is written reads as it was");
    }
}
