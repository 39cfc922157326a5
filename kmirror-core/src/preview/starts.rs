//! Where each link would start: as the worker decides it, by the ledger, the group, and `auto.offset.reset`.

use std::collections::BTreeMap;

use super::{LinkStart, StartBy};
use crate::config::StartPolicy;
use crate::ledger::{Checkpoint, Ledger};
use crate::observe::StopReason;
use crate::offset::SourceOffset;

/// What was found out about the source's logs and what is known of their links.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// By topic and partition: the first offset.
    pub(super) starts: BTreeMap<(String, i32), i64>,
    /// The offset behind the last one.
    pub(super) ends: BTreeMap<(String, i32), i64>,
    /// What the group has committed.
    pub(super) committed: BTreeMap<(String, i32), i64>,
    /// What the ledger says; empty if there is none.
    pub(super) ledger: Ledger,
}

impl Found {
    /// Where the link of this partition would start; `None` if the source's log was not found out about.
    pub(super) fn start(&self, policy: StartPolicy, key: &(String, i32)) -> Option<Result<LinkStart, StopReason>> {
        let (log_start, log_end) = (*self.starts.get(key)?, *self.ends.get(key)?);
        let partition = key.1;
        let at = |offset: i64, by| LinkStart { partition, offset, by, behind: log_end.saturating_sub(offset).max(0) };
        if let Some(checkpoint) = self.ledger.furthest(&key.0, partition) {
            return Some(is_there(&checkpoint, log_start, log_end).map(|offset| at(offset, StartBy::Ledger)));
        }
        let committed = self.committed.get(key).copied().filter(|offset| (log_start..=log_end).contains(offset));
        Some(match (committed, policy.in_run(self.ledger.is_new())) {
            (Some(committed), _) => Ok(at(committed, StartBy::Group)),
            (None, StartPolicy::Latest) => Ok(at(log_end, StartBy::Latest)),
            (None, StartPolicy::Earliest) => Ok(at(log_start, StartBy::Earliest)),
            (None, StartPolicy::None) => Err(StopReason::NoPosition),
        })
    }
}

fn is_there(checkpoint: &Checkpoint, log_start: i64, log_end: i64) -> Result<i64, StopReason> {
    let wanted = checkpoint.source_next();
    if wanted.0 < log_start {
        return Err(StopReason::SourceGone { wanted, log_start: SourceOffset(log_start) });
    }
    if wanted.0 > log_end {
        return Err(StopReason::SourceTruncated { wanted, log_end: SourceOffset(log_end) });
    }
    Ok(wanted.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::LedgerEntry;
    use crate::produce::Proved;

    fn found(committed: Option<i64>, mirrored: Option<i64>) -> Found {
        let key = ("t".to_owned(), 0);
        let mut found = Found::default();
        found.starts.insert(key.clone(), 10);
        found.ends.insert(key.clone(), 30);
        found.committed.extend(committed.map(|offset| (key, offset)));
        if let Some(offset) = mirrored {
            let proved = Proved { source_next: SourceOffset(offset), ..Proved::default() };
            let checkpoint = Checkpoint::new(&proved, None, -1, false, 0);
            let (worker, topic) = ("w".to_owned(), "t".to_owned());
            found.ledger.take(0, LedgerEntry::Checkpoint { worker, topic, partition: 0, checkpoint });
        }
        found
    }

    #[test]
    fn ledger_then_group_then_policy() {
        let of = |found: &Found, policy, partition| {
            found.start(policy, &("t".to_owned(), partition)).map(|start| start.map(|at| (at.offset, at.by, at.behind)))
        };
        let earliest = |found| of(&found, StartPolicy::Earliest, 0).unwrap();
        assert_eq!(earliest(found(Some(12), Some(15))), Ok((15, StartBy::Ledger, 15)));
        assert_eq!(earliest(found(Some(12), None)), Ok((12, StartBy::Group, 18)));
        assert_eq!(earliest(found(Some(5), None)), Ok((10, StartBy::Earliest, 20)), "out of range");
        assert_eq!(of(&found(None, None), StartPolicy::Latest, 0).unwrap(), Ok((30, StartBy::Latest, 0)));
        assert_eq!(of(&found(None, None), StartPolicy::None, 0).unwrap(), Err(StopReason::NoPosition));
        assert_eq!(of(&found(None, None), StartPolicy::None, 1), None, "nobody has told of its log");
        // report B41: a later run mirrors what is new from its first record on.
        let mut later = found(None, Some(15));
        later.starts.insert(("t".to_owned(), 1), 3);
        later.ends.insert(("t".to_owned(), 1), 4);
        assert_eq!(of(&later, StartPolicy::Latest, 1).unwrap(), Ok((3, StartBy::Earliest, 1)));
    }

    #[test]
    fn what_the_source_no_longer_has_stops_the_link() {
        let start = |mirrored| found(None, Some(mirrored)).start(StartPolicy::Earliest, &("t".to_owned(), 0)).unwrap();
        assert!(matches!(start(9), Err(StopReason::SourceGone { .. })), "report B24");
        assert!(matches!(start(31), Err(StopReason::SourceTruncated { .. })));
    }
}
