//! Rules about any text: its length, what is unfinished, what it gives away.

/// Above this many lines a file is refused whatever it holds.
const LINES_HARD: usize = 800;

/// Above this many lines a file has to be on the list.
const LINES_SOFT: usize = 500;

/// A file over 800 lines; one over 500 that is not in `allowed`.
pub fn file_length(path: &str, text: &str, allowed: &[&str]) -> Vec<String> {
    let lines = text.lines().count();
    if lines > LINES_HARD {
        vec![format!("{path}: {lines} lines, {LINES_HARD} at most: split it by what it does")]
    } else if lines > LINES_SOFT && !allowed.contains(&path) {
        vec![format!("{path}: {lines} lines, {LINES_SOFT} without a reason: split it by what it does")]
    } else {
        Vec::new()
    }
}

/// Marks of unfinished work. (Put together here, so that this file may be searched too.)
pub fn unfinished(path: &str, text: &str) -> Vec<String> {
    let marks = [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["XX", "X"].concat()];
    find(path, text, |line| {
        let mark = marks.iter().find(|mark| words(line).any(|word| word == mark.as_str()))?;
        Some(format!("{mark}: do it, or file it"))
    })
}

/// Hosts of package registries, and folders of one machine: neither is anybody else's.
pub fn leaks(path: &str, text: &str) -> Vec<String> {
    let hosts = [
        ["index.crates", ".io"],
        ["static.crates", ".io"],
        ["repo.maven", ".apache.org"],
        ["repo1.maven", ".org"],
        ["registry.npmjs", ".org"],
        ["files.pythonhosted", ".org"],
        ["pypi", ".org"],
        ["proxy.golang", ".org"],
        ["deb.debian", ".org"],
    ];
    let hosts = hosts.map(|halves| halves.concat());
    let folders = ["home", "root", "work", "Users"].map(|name| format!("/{name}/"));
    find(path, text, |line| {
        if let Some(host) = hosts.iter().find(|host| line.contains(host.as_str())) {
            return Some(format!("{host}: a registry is the user's choice, not ours"));
        }
        let folder = folders.iter().find(|folder| absolute(line, folder))?;
        Some(format!("{folder}…: a folder of one machine"))
    })
}

/// Whether a line holds a path that begins with this folder (not one that goes through it).
fn absolute(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~*>/}$)".contains(c))
    })
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
}

fn find(path: &str, text: &str, complain: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let lines = text.lines().enumerate();
    lines.filter_map(|(index, line)| Some(format!("{path}:{}: {}", index + 1, complain(line)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_refused() {
        let lines = |count| "line\n".repeat(count);
        assert!(file_length("a.rs", &lines(500), &[]).is_empty());
        assert!(file_length("a.rs", &lines(501), &[])[0].contains("501 lines"));
        assert!(file_length("a.rs", &lines(501), &["a.rs"]).is_empty());
        assert_eq!(file_length("a.rs", &lines(801), &["a.rs"]).len(), 1);
    }

    #[test]
    fn unfinished_work_is_refused() {
        let text = format!("fine\n// {}{}: later\n", "TO", "DO");
        assert!(unfinished("a.rs", &text)[0].starts_with("a.rs:2: "));
        assert!(unfinished("a.rs", "a METHODOLOGY, an XXXL shirt").is_empty(), "only whole words");
    }

    #[test]
    fn hosts_and_folders_of_one_machine_are_refused() {
        let host = format!("<url>https://{}{}/maven2</url>", "repo1.maven", ".org");
        assert_eq!(leaks("pom.xml", &host).len(), 1);
        for folder in ["home", "root", "work", "Users"] {
            let absolute = format!("cd /{folder}/someone");
            assert_eq!(leaks("a.md", &absolute).len(), 1, "{absolute}");
            let through = format!("see target/{folder}/x and ~/{folder}/y");
            assert!(leaks("a.md", &through).is_empty(), "{through}");
        }
    }
}
