//! What a mirror would do with an entry.

use kmirror_core::config::defaults;
use kmirror_core::fetch::Aborted;
use kmirror_core::plan::{Abilities, Magic, Outcome, Verdict, View, judge, plan};
use kmirror_proto::records::Entry;

use super::transactions::State;
use crate::exit::Failure;

/// The release that a mirror would write to.
pub(super) struct Target {
    name: String,
    abilities: Abilities,
}

impl Target {
    pub(super) fn of(release: &str) -> Result<Self, Failure> {
        let abilities = Abilities::of_release(release);
        let invalid = || Failure::usage(format!("--verdict {release}: a release of 0.10 or later, such as 2.8"));
        Ok(Self { name: release.to_owned(), abilities: abilities.ok_or_else(invalid)? })
    }

    /// Rows of names and values: the verdict, and what would be written.
    pub(super) fn verdict(&self, entry: &Entry, state: State) -> Vec<(String, String)> {
        if matches!(entry, Entry::Partial(_)) {
            // It is asked for again.
            return Vec::new();
        }
        let view = View::of(self.abilities);
        let verdict = judge(entry, state == State::Aborted, &view);
        let words = match verdict {
            Verdict::Forward => "forward: its bytes go as they are".to_owned(),
            Verdict::Restamp => "restamp: a new header, the payload as it is".to_owned(),
            Verdict::Rewrite(why) => format!("rewrite: {}", why.reason()),
            Verdict::Skip(why) => format!("skip: {}", why.reason()),
            Verdict::Refuse(why) => format!("refuse: {why}"),
        };
        let mut rows = vec![(format!("to {}", self.name), words)];
        if let Verdict::Rewrite(_) = verdict {
            rows.push((String::new(), written(entry, &view)));
        }
        rows
    }
}

/// What would be written in the entry's place.
fn written(entry: &Entry, view: &View<'_>) -> String {
    let records = match entry {
        Entry::Batch(batch) => batch.bytes().clone(),
        Entry::Message(message) => message.bytes().clone(),
        Entry::Partial(_) => return String::new(),
    };
    let outcome = plan(records, Aborted::default(), view, None, defaults::BATCH_BYTES_MAX, &mut None);
    if let Some((offset, why)) = &outcome.refused {
        return format!("stops at offset {offset}: {why}");
    }
    summary(&outcome, if view.target.magic == Magic::V1 { "set of messages" } else { "batch" })
}

fn summary(outcome: &Outcome, what: &str) -> String {
    let bytes: usize = outcome.pieces.iter().map(|piece| piece.body.len()).sum();
    let dropped: u32 = outcome.pieces.iter().map(|piece| piece.headers_dropped).sum();
    let lost = if dropped == 0 { String::new() } else { format!(", the headers of {dropped} records are dropped") };
    match outcome.pieces.len() {
        1 => format!("as one {what} of {bytes} bytes{lost}"),
        pieces => format!("{pieces} times a {what}, of {bytes} bytes together{lost}"),
    }
}
