//! What was answered beside what was to be answered.

use super::release_set::RELEASES;
use super::run::Answers;
use super::suite::Case;

/// The differences of one case on one release, as text; nothing when there is none.
pub fn differences(case: &Case, release: usize, on: &str, answers: &Answers) -> Vec<String> {
    let version = RELEASES.get(release).copied().unwrap_or("?");
    let head = format!("{} ({}) on {version} ({on})", case.id, case.rules.join(" "));
    let answers = match answers {
        Ok(answers) => answers,
        Err(failure) => return vec![format!("{head}: {failure}")],
    };
    let mut found = Vec::new();
    for (step, answered) in case.steps.iter().zip(answers) {
        let expected = &step.expected[release];
        if expected != answered {
            let mut text = format!("{head}\n  {}:{}: {}", case.file.display(), step.line, step.text);
            for line in difference(expected, answered) {
                text.push_str(&format!("\n    {line}"));
            }
            found.push(text);
        }
    }
    found
}

/// `-` lines that were expected, `+` lines that came; lines at both ends that agree are shown with a space.
fn difference(expected: &[String], answered: &[String]) -> Vec<String> {
    let same = expected.iter().zip(answered).take_while(|(a, b)| a == b).count();
    let (expected_rest, answered_rest) = (&expected[same..], &answered[same..]);
    let back = expected_rest.iter().rev().zip(answered_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let mark = |mark: char, lines: &[String]| lines.iter().map(|line| format!("{mark} {line}")).collect::<Vec<_>>();
    [
        mark(' ', &expected[..same]),
        mark('-', &expected_rest[..expected_rest.len() - back]),
        mark('+', &answered_rest[..answered_rest.len() - back]),
        mark(' ', &expected_rest[expected_rest.len() - back..]),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_marked() {
        let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(difference(&lines("a b c"), &lines("a x y c")), ["  a", "- b", "+ x", "+ y", "  c"]);
        assert_eq!(difference(&[], &lines("a")), ["+ a"]);
    }
}
