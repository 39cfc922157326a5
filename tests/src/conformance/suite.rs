//! The case files: what is done step by step, and what each release answers.
//!
//! ```text
//! case R2-base: a base offset other than 0 is refused
//!   rules R2
//!   for 0.11.0.3..
//!   topic t
//!   produce t batch(base=1000)
//!     0.11.0.3..2.0.0 | 2 CORRUPT_MESSAGE
//!     2.8.2..         | 87 INVALID_RECORD
//! ```
//!
//! The lines with a bar are the answers to the step above them. A file keeps its other lines when answers are recorded.

use std::path::{Path, PathBuf};
use std::{fs, iter};

use super::release_set::{RELEASES, ReleaseSet};
use crate::failure::Context as _;
use crate::{Failure, Result, cache};

/// All cases.
#[derive(Debug, Default)]
pub struct Suite {
    /// The cases, file by file.
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Debug)]
pub struct Case {
    /// Its id, unique in the suite.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// The rules that it proves.
    pub rules: Vec<String>,
    /// The releases that it is for.
    pub releases: ReleaseSet,
    /// Whether no other case may run beside it: what it asks for, a broker answers for several at once.
    pub alone: bool,
    /// Its steps.
    pub steps: Vec<Step>,
    /// The file, from the root of the workspace.
    pub file: PathBuf,
}

/// One step.
#[derive(Debug, Default)]
pub struct Step {
    /// What is done.
    pub text: String,
    /// The releases for which it is done.
    pub releases: ReleaseSet,
    /// Its first line in the file, from 1.
    pub line: usize,
    /// By release: the lines of the answer.
    pub expected: [Vec<String>; RELEASES.len()],
}

/// The folder of the case files, from the root of the workspace.
const FOLDER: &str = "tests/conformance";

impl Suite {
    /// Reads all case files.
    pub fn load() -> Result<Suite> {
        let folder = cache::workspace().join(FOLDER);
        let entries = fs::read_dir(&folder).context(|| format!("reading {}", folder.display()))?;
        let mut files: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|ending| ending == "cases"))
            .collect();
        files.sort();
        let mut suite = Suite::default();
        for file in files {
            let text = fs::read_to_string(&file).context(|| format!("reading {}", file.display()))?;
            let name = Path::new(FOLDER).join(file.file_name().unwrap_or_default());
            suite.cases.extend(read(&name, &text)?);
        }
        Ok(suite)
    }

    /// The files that have cases.
    pub fn files(&self) -> Vec<&Path> {
        let mut files: Vec<&Path> = self.cases.iter().map(|case| case.file.as_path()).collect();
        files.dedup();
        files
    }
}

/// What a line of a case file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Empty, or a comment.
    Text,
    /// `case <id>: <title>`.
    Case(&'a str),
    /// The beginning of a step, or `rules`, `for` or `alone`.
    Step(&'a str),
    /// More of the step above.
    More(&'a str),
    /// An answer: its releases (none: those of the line above) and one line.
    Answer(&'a str, &'a str),
}

/// What a line of a case file is.
pub(super) fn line(text: &str) -> Line<'_> {
    let depth = text.len() - text.trim_start().len();
    let trimmed = text.trim();
    match depth {
        _ if trimmed.is_empty() || trimmed.starts_with('#') => Line::Text,
        0 => Line::Case(trimmed),
        2 => Line::Step(trimmed),
        _ if trimmed.starts_with('|') => Line::Answer("", trimmed.strip_prefix("| ").unwrap_or(&trimmed[1..])),
        4 => match trimmed.split_once('|') {
            Some((releases, answer)) => Line::Answer(releases.trim(), answer.strip_prefix(' ').unwrap_or(answer)),
            None => Line::More(trimmed),
        },
        _ => Line::More(trimmed),
    }
}

/// Reads the cases of one file.
pub(super) fn read(file: &Path, text: &str) -> Result<Vec<Case>> {
    let mut cases: Vec<Case> = Vec::new();
    let mut answered = ReleaseSet::default();
    for (number, text) in iter::zip(1.., text.lines()) {
        read_line(line(text), number, file, &mut cases, &mut answered)
            .map_err(|failure| Failure::new(format!("{}:{number}: {failure}", file.display())))?;
    }
    Ok(cases)
}

fn read_line(line: Line<'_>, number: usize, file: &Path, cases: &mut Vec<Case>, answered: &mut ReleaseSet) -> Result {
    if let Line::Case(head) = line {
        let (id, title) = head
            .strip_prefix("case ")
            .and_then(|head| head.split_once(": "))
            .ok_or_else(|| Failure::new("case <id>: <title>"))?;
        let (id, title, file) = (id.to_owned(), title.to_owned(), file.to_owned());
        let (rules, steps) = (Vec::new(), Vec::new());
        cases.push(Case { id, title, rules, releases: ReleaseSet::ALL, alone: false, steps, file });
        return Ok(());
    }
    if line == Line::Text {
        return Ok(());
    }
    let case = cases.last_mut().ok_or_else(|| Failure::new("no case has begun"))?;
    let missing = || Failure::new("no step has begun");
    match line {
        Line::Text | Line::Case(_) => {}
        Line::Step(text) => match text.split_once(' ') {
            Some(("rules", rules)) => case.rules.extend(rules.split_whitespace().map(str::to_owned)),
            Some(("for", set)) => case.releases = ReleaseSet::parse(set)?,
            None if text == "alone" => case.alone = true,
            _ => {
                let (releases, text) = match text.strip_prefix('@').and_then(|text| text.split_once(' ')) {
                    Some((set, text)) => (ReleaseSet::parse(set)?, text),
                    None => (ReleaseSet::ALL, text),
                };
                case.steps.push(Step { text: text.to_owned(), releases, line: number, ..Step::default() });
            }
        },
        Line::More(text) => {
            let step = case.steps.last_mut().ok_or_else(missing)?;
            step.text.push(' ');
            step.text.push_str(text);
        }
        Line::Answer(set, text) => {
            if !set.is_empty() {
                *answered = ReleaseSet::parse(set)?;
            }
            let step = case.steps.last_mut().ok_or_else(missing)?;
            for (release, expected) in step.expected.iter_mut().enumerate() {
                if answered.has(release) && case.releases.has(release) && step.releases.has(release) {
                    expected.push(text.to_owned());
                }
            }
        }
    }
    Ok(())
}

impl Case {
    /// Whether it and this step of it are for the release with this index.
    pub fn has(&self, step: &Step, release: usize) -> bool {
        self.releases.has(release) && step.releases.has(release)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# About bases.

case R2-base: other than 0
  rules R2 R18
  for 0.11.0.3..
  topic t
  produce t
      batch(base=1000)
    ..2.0.0 | 2 CORRUPT_MESSAGE
            | more
    2.8.2..         | 87 INVALID_RECORD
  @4.4.0 read t
    all | end=0
";

    #[test]
    fn a_file_is_read() {
        let cases = read(Path::new("a.cases"), FILE).unwrap();
        let case = &cases[0];
        assert_eq!((case.id.as_str(), case.title.as_str()), ("R2-base", "other than 0"));
        assert_eq!(case.rules, ["R2", "R18"]);
        assert_eq!(case.steps.len(), 3);
        assert_eq!((case.steps[1].text.as_str(), case.steps[1].line), ("produce t batch(base=1000)", 7));
        assert!(case.steps[1].expected[0].is_empty(), "not a release of the case");
        assert_eq!(case.steps[1].expected[1], ["2 CORRUPT_MESSAGE", "more"]);
        assert_eq!(case.steps[1].expected[6], ["87 INVALID_RECORD"]);
        assert_eq!(case.steps[2].expected[6], ["end=0"]);
        assert!(case.steps[2].expected[5].is_empty());
    }

    #[test]
    fn a_step_outside_a_case_is_named_by_its_line() {
        let failure = read(Path::new("a.cases"), "\n  topic t\n").unwrap_err();
        assert!(failure.to_string().starts_with("a.cases:2: "));
    }
}
