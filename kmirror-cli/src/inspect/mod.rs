//! `kmirror inspect`: what record batches hold, field by field, and what a mirror would do with them.
//!
//! ```text
//! FILE ── input ──► records of a partition ── split ──► entry ── fields ──► a box
//!                        └─ transactions: which were aborted       └─ verdict: plan::judge for one release
//! ```
//!
//! Nothing is trusted: it reads what a disk or a network has broken, and says where.

mod fields;

mod input;

mod record;

mod transactions;

mod verdict;

use std::io::{self, Write};

use bytes::Bytes;
use kmirror_proto::records::split;

use crate::args::InspectArgs;
use crate::exit::Failure;
use crate::table::grouped;
use transactions::Transactions;
use verdict::Target;

/// Prints every entry; a failure if one of them is damaged.
pub(crate) fn inspect(args: &InspectArgs) -> Result<(), Failure> {
    let target = args.verdict.as_deref().map(Target::of).transpose()?;
    let parts = input::read(args)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut printed = Ok(0);
    for part in &parts {
        if let Some(title) = &part.title {
            printed = printed.and_then(|sum| writeln!(out, "{title}\n").map(|()| sum));
        }
        let transactions = Transactions::of(part);
        let print = |sum| show(&mut out, &part.records, transactions, target.as_ref(), args.records).map(|n| sum + n);
        printed = printed.and_then(print);
    }
    let damaged = printed.and_then(|damaged| out.flush().map(|()| damaged));
    match damaged {
        Ok(0) => Ok(()),
        Ok(damaged) => Err(Failure::failed(format!("{}: {} damaged", args.file.display(), grouped(damaged)))),
        // `| head` closes the pipe when it has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::failed(error)),
    }
}

/// Prints one partition's records; returns how many entries are damaged.
fn show(
    out: &mut impl Write,
    records: &Bytes,
    mut transactions: Transactions,
    target: Option<&Target>,
    records_max: usize,
) -> io::Result<u64> {
    let (mut at, mut damaged) = (0, 0);
    for entry in split(records.clone()) {
        let rest = records.get(at..).unwrap_or_default();
        // A segment that is being written is as long as it will be; a crash can leave that behind.
        if rest.iter().all(|byte| *byte == 0) {
            return writeln!(out, "at byte {at}: {} bytes of zeros, kept free for more", rest.len()).map(|()| damaged);
        }
        let (bytes, fault) = match &entry {
            Ok(entry) => {
                let state = transactions.next(entry);
                let verdict = target.map(|target| target.verdict(entry, state)).unwrap_or_default();
                fields::show(out, at, entry, state, &verdict)?;
                let fault = record::show_all(out, entry, records_max)?;
                writeln!(out, "└")?;
                (entry.size(), fault || fields::is_damaged(entry))
            }
            Err(error) => {
                writeln!(out, "at byte {at}: {error}; {} bytes are left and not read", rest.len())?;
                (0, true)
            }
        };
        at += bytes;
        damaged += u64::from(fault);
    }
    Ok(damaged)
}
