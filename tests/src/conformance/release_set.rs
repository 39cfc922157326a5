//! The releases that the suite is about, and sets of them as the files name them.
//!
//! ```text
//! all    0.11.0.3    2.0.0..    ..1.1.1    0.11.0.3..2.0.0    0.10.1.1,3.9.1..
//! ```

use std::fmt;

use crate::{Failure, Result};

/// The releases, oldest first.
pub const RELEASES: [&str; 7] = ["0.10.1.1", "0.11.0.3", "1.1.1", "2.0.0", "2.8.2", "3.9.1", "4.4.0"];

/// The place of a release in [`RELEASES`].
pub fn index(version: &str) -> Result<usize> {
    RELEASES
        .iter()
        .position(|release| *release == version)
        .ok_or_else(|| Failure::new(format!("no release {version} in the suite; it knows {}", RELEASES.join(" "))))
}

/// Some of the releases.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReleaseSet([bool; RELEASES.len()]);

impl ReleaseSet {
    /// All of them.
    pub const ALL: ReleaseSet = ReleaseSet([true; RELEASES.len()]);

    /// Reads a set as the files name it.
    pub fn parse(text: &str) -> Result<ReleaseSet> {
        let mut set = ReleaseSet::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (first, last) = match part.split_once("..") {
                None if part == "all" => (0, RELEASES.len() - 1),
                None => (index(part)?, index(part)?),
                Some((first, last)) => (
                    if first.is_empty() { 0 } else { index(first)? },
                    if last.is_empty() { RELEASES.len() - 1 } else { index(last)? },
                ),
            };
            for release in first..=last {
                set.insert(release);
            }
        }
        Ok(set)
    }

    /// Adds the release with this index.
    pub fn insert(&mut self, release: usize) {
        if let Some(slot) = self.0.get_mut(release) {
            *slot = true;
        }
    }

    /// Whether the release with this index is in it.
    pub fn has(&self, release: usize) -> bool {
        self.0.get(release).copied().unwrap_or(false)
    }

    /// The name of this set among those that are in `of`: a set that holds all of `of` is `all`, and a range may run
    /// over releases that are not in `of`.
    pub fn name(&self, of: &ReleaseSet) -> String {
        let members: Vec<usize> = (0..RELEASES.len()).filter(|release| of.has(*release)).collect();
        if members.iter().all(|release| self.has(*release)) {
            return "all".to_owned();
        }
        let runs = members.chunk_by(|a, b| self.has(*a) == self.has(*b)).filter(|run| self.has(run[0]));
        let last_of_all = members.last();
        let names: Vec<String> = runs
            .map(|run| match (run, run.last()) {
                ([only], _) => RELEASES[*only].to_owned(),
                (_, last) if last == last_of_all => format!("{}..", RELEASES[run[0]]),
                (_, Some(last)) if run.first() == members.first() => format!("..{}", RELEASES[*last]),
                (_, Some(last)) => format!("{}..{}", RELEASES[run[0]], RELEASES[*last]),
                (_, None) => String::new(),
            })
            .collect();
        names.join(",")
    }
}

impl fmt::Display for ReleaseSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name(&ReleaseSet::ALL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_read_as_they_are_written() {
        for text in ["all", "0.11.0.3", "2.0.0..", "..1.1.1", "0.11.0.3..2.0.0", "0.10.1.1,3.9.1..", "0.10.1.1,1.1.1"] {
            assert_eq!(ReleaseSet::parse(text).map(|set| set.to_string()).ok().as_deref(), Some(text));
        }
        assert!(ReleaseSet::parse("2.0.1").is_err());
    }

    #[test]
    fn a_range_runs_over_releases_that_are_not_asked_about() {
        let of = ReleaseSet::parse("0.11.0.3,2.0.0,4.4.0").unwrap();
        let set = ReleaseSet::parse("0.11.0.3,2.0.0").unwrap();
        assert_eq!(set.name(&of), "..2.0.0");
        assert_eq!(of.name(&of), "all");
    }
}
