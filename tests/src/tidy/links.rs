//! Links in Markdown lead to files that are there.

/// Links of `text` that lead to no file. `there` says whether a path from the root exists.
pub fn links(path: &str, text: &str, there: impl Fn(&str) -> bool) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut complaints = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for target in targets(line) {
            let file = target.split('#').next().unwrap_or(target);
            let elsewhere = target.contains("://") || target.starts_with("mailto:");
            if elsewhere || file.is_empty() {
                continue;
            }
            let found = resolve(folder, file).is_some_and(|resolved| there(&resolved));
            if !found {
                complaints.push(format!("{path}:{}: {target} leads nowhere", index + 1));
            }
        }
    }
    complaints
}

/// What stands between `](` and `)`, and behind `[name]: `.
fn targets(line: &str) -> Vec<&str> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let mut targets: Vec<&str> = inline.filter_map(|target| target.split_whitespace().next()).collect();
    if line.starts_with('[')
        && let Some((_, target)) = line.split_once("]: ")
    {
        targets.extend(target.split_whitespace().next());
    }
    targets
}

/// A path from the root without `.` and `..`; `None` when it leads out of the tree.
fn resolve(folder: &str, file: &str) -> Option<String> {
    let from_root = file.strip_prefix('/');
    let mut parts: Vec<&str> = Vec::new();
    let folder = if from_root.is_some() { "" } else { folder };
    for part in folder.split('/').chain(from_root.unwrap_or(file).split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_nowhere_are_named() {
        let there = |path: &str| ["README.md", "docs/a.md"].contains(&path);
        let fine = "[a](docs/a.md#part), [b](https://example.org/x.md), [c](#here)\n[r]: ./README.md\n";
        assert!(links("README.md", fine, there).is_empty());
        assert!(links("docs/a.md", "[up](../README.md) [side](a.md)", there).is_empty());
        let broken = "one\n[x](docs/b.md) and [y](../../etc/passwd)\n[r]: gone.md\n";
        let complaints = links("README.md", broken, there);
        assert_eq!(complaints.len(), 3);
        assert!(complaints[0].starts_with("README.md:2: docs/b.md"));
        let code = "```\nfields[i](gone)\n```\n";
        assert!(links("README.md", code, there).is_empty(), "code is not prose");
    }
}
