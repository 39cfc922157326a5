//! Where a link goes on: the target's log is asked, never memory.
//!
//! ```text
//!            ┌──────────── the end grew between two readings ◄───────────┐
//!            ▼                                                           │
//! Settle ─► Bounds ─► Read ─► (unguarded and unsettled: Settle) ─► ReadAgain ─► Found
//!   │          │        └── a record that is not ours, or no proof ────► Stop
//!   └ only where a request of unknown outcome may still take effect
//! ```
//! The only way to begin and the only way to go on after anything unexpected (rules P7-P14). It reads the
//! bounds of the target's log, proves the checkpoint by the batch that ends there, counts what was written since, and
//! keeps the last record for the comparison with the source.
//!
//! In a partition that other links write to, their batches are passed over, and what was written since is counted in
//! our sequences instead of offsets (rule P22).

mod found;
pub use found::{Found, Impossible, Next, Progress};

mod reading;

#[cfg(test)]
mod tests;

use std::time::Duration;

use kmirror_proto::error_code::ErrorCode;
use kmirror_proto::messages::AnyResponse;

use crate::client::{EARLIEST, LATEST, fetch_one, fetch_partition, list_offsets};
use crate::clock::{Now, Tick};
use crate::ledger::Checkpoint;
use crate::limits;
use crate::offset::{SourceOffset, TargetOffset};
use crate::plan::Fingerprint;
use crate::produce::{Producer, Proved, Sequence, Tenancy};

/// Finding one link's place on the target.
#[derive(Debug)]
pub struct Resume {
    topic: String,
    partition: i32,
    tenancy: Tenancy,
    checkpoint: Option<Checkpoint>,
    /// Where the source begins if there is no checkpoint.
    start: SourceOffset,
    /// The mirror's id, and the epoch in force as far as the ledger or this process knows.
    producer: Option<Producer>,
    /// Until when a request of unknown outcome may take effect; `None` if there is none.
    unsettled: Option<Tick>,
    step: Step,
    log_start: i64,
    end: i64,
    /// Up to where the log was read: the next record that we wrote has to lie there, or, where others write too, behind
    /// it. Its stamp follows.
    position: i64,
    epoch: i16,
    sequence: Sequence,
    /// In a shared partition: the end of our last batch, and our records behind the checkpoint.
    ours_end: i64,
    ours: u64,
    proved: bool,
    tail_expired: bool,
    tail: Option<Tail>,
    /// Answers in a row that brought nothing though the log goes on.
    barren: u32,
    /// Readings in a row in which the log ended before the checkpoint.
    short: u32,
    /// How much is asked for: more than usual only for a batch that did not fit.
    bytes: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Begin,
    Start,
    StartAsked,
    End,
    EndAsked,
    Read,
    ReadAsked,
    /// An answer brought nothing though the log goes on: asked again then.
    Rest(Tick),
    /// The log seems to end before the checkpoint: its bounds are asked again then.
    Short(Tick),
    Again(Tick),
    AgainAsked,
    Done,
}

#[derive(Clone, Copy, Debug)]
struct Tail {
    /// `None` where its codec is not read here: then the sequences alone prove it.
    fingerprint: Option<Fingerprint>,
    append_time: bool,
    timestamp_max: i64,
}

impl Resume {
    /// A link without a checkpoint begins at `start`. `producer` is `None` on targets without producer ids: those cannot
    /// be shared.
    /// `unsettled` says until when an unanswered request may still take effect.
    #[must_use]
    pub fn new(
        topic: &str,
        partition: i32,
        tenancy: Tenancy,
        checkpoint: Option<Checkpoint>,
        start: SourceOffset,
        producer: Option<Producer>,
        unsettled: Option<Tick>,
    ) -> Self {
        Self {
            topic: topic.to_owned(),
            partition,
            tenancy,
            checkpoint,
            start,
            producer,
            unsettled,
            step: Step::Begin,
            log_start: 0,
            end: 0,
            position: 0,
            epoch: 0,
            sequence: Sequence::ZERO,
            ours_end: 0,
            ours: 0,
            proved: false,
            tail_expired: false,
            tail: None,
            barren: 0,
            short: 0,
            bytes: limits::PROOF_FETCH_BYTES,
        }
    }

    /// The next thing to do. Ask again after every answer, and when a wait is over.
    pub fn next(&mut self, now: Now) -> Next {
        loop {
            match self.step {
                Step::Begin => {
                    // Without stamps nothing but time closes the door behind an old request (C14).
                    if self.producer.is_none()
                        && let Some(until) = self.unsettled.filter(|until| *until > now.tick)
                    {
                        return Next::Wait(until);
                    }
                    self.step = Step::Start;
                }
                Step::Start => {
                    self.step = Step::StartAsked;
                    return self.ask_offset(EARLIEST);
                }
                Step::End => {
                    self.step = Step::EndAsked;
                    return self.ask_offset(LATEST);
                }
                Step::Read => {
                    self.step = Step::ReadAsked;
                    return self.ask_records();
                }
                Step::Again(at) | Step::Rest(at) | Step::Short(at) if at > now.tick => return Next::Wait(at),
                Step::Rest(_) => self.step = Step::Read,
                Step::Short(_) => self.step = Step::Start,
                Step::Again(_) => {
                    self.step = Step::AgainAsked;
                    return self.ask_records();
                }
                Step::StartAsked | Step::EndAsked | Step::ReadAsked | Step::AgainAsked => return Next::Answer,
                Step::Done => match self.conclude(now) {
                    Some(next) => return next,
                    None => self.step = Step::Begin,
                },
            }
        }
    }

    /// Takes the leader's answer.
    ///
    /// # Errors
    /// If what it says makes going on impossible.
    pub fn handle_response(&mut self, now: Now, response: &AnyResponse) -> Result<Progress, Impossible> {
        match (self.step, response) {
            (Step::StartAsked | Step::EndAsked, AnyResponse::ListOffsets(response)) => {
                let listed = response.topics.first().and_then(|topic| topic.partitions.first());
                let Some(listed) = listed else { return Ok(self.later(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)) };
                if !listed.error_code.is_ok() {
                    return Ok(self.later(listed.error_code));
                }
                if self.step == Step::StartAsked {
                    self.log_start = listed.offset.max(0);
                    self.step = Step::End;
                } else {
                    self.end = listed.offset.max(0);
                    self.step = match self.place() {
                        Err(Impossible::Lost { .. }) if self.short < limits::SHORT_READINGS_MAX => {
                            self.short += 1;
                            Step::Short(now.after(limits::END_READ_AGAIN))
                        }
                        placed => placed.map(|()| Step::Read)?,
                    };
                }
                Ok(Progress::On)
            }
            (Step::ReadAsked | Step::AgainAsked, AnyResponse::Fetch(response)) => {
                let fetched = response.topics.first().and_then(|topic| topic.partitions.first());
                let Some(fetched) = fetched else { return Ok(self.later(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)) };
                if !fetched.error_code.is_ok() {
                    return Ok(self.later(fetched.error_code));
                }
                let again = self.step == Step::AgainAsked;
                let before = (self.position, self.proved, self.bytes);
                self.read(fetched.records.clone().unwrap_or_default())?;
                self.end = fetched.high_watermark.max(self.position);
                let moved = (self.position, self.proved, self.bytes) != before;
                self.barren = if moved || self.position == self.end { 0 } else { self.barren + 1 };
                if self.barren > BARREN_ANSWERS_MAX {
                    let text = format!("no records at offset {} though the log ends at {}", self.position, self.end);
                    return Err(Impossible::Unreadable(text));
                }
                self.step = if self.barren > 0 {
                    Step::Rest(now.after(limits::END_READ_AGAIN))
                } else if self.position < self.end || self.position > before.0 {
                    Step::Read
                } else if again || self.producer.is_some() || self.unsettled.is_none() {
                    Step::Done
                } else {
                    Step::Again(now.after(limits::END_READ_AGAIN))
                };
                Ok(Progress::On)
            }
            _ => Err(Impossible::Unreadable("an answer to another question".to_owned())),
        }
    }

    /// The leader moved, the connection broke, or the broker said "later": everything is read again.
    pub fn restart(&mut self) {
        self.step = Step::Begin;
        self.tail = None;
        self.proved = false;
        self.barren = 0;
    }

    fn later(&mut self, code: ErrorCode) -> Progress {
        self.restart();
        Progress::Later(code)
    }

    /// Decides where to read from, once the log's bounds are known.
    fn place(&mut self) -> Result<(), Impossible> {
        self.tail = None;
        self.tail_expired = false;
        let Some(checkpoint) = self.checkpoint else {
            self.position = self.end;
            self.proved = true;
            return Ok(());
        };
        let from = checkpoint.proved();
        self.epoch = from.epoch;
        self.sequence = from.sequence;
        self.ours_end = from.target_next.0;
        self.ours = 0;
        if self.end < from.target_next.0 {
            return Err(Impossible::Lost { end: TargetOffset(self.end), checkpoint: from.target_next });
        }
        self.position = from.target_next.0;
        self.proved = checkpoint.origin;
        let unproved_and_gone = !self.proved && self.log_start == from.target_next.0;
        if self.log_start > from.target_next.0 || unproved_and_gone {
            self.proved = true;
            self.tail_expired = true;
            self.position = self.log_start;
            if self.tenancy == Tenancy::Exclusive {
                let gone = u64::try_from(self.log_start - from.target_next.0).unwrap_or(0);
                self.sequence = from.sequence.plus(gone);
            }
        }
        Ok(())
    }

    /// What was found; `None` if it has to be read once more after the settle time.
    fn conclude(&mut self, now: Now) -> Option<Next> {
        let Some(checkpoint) = self.checkpoint else {
            let from =
                Proved { source_next: self.start, target_next: TargetOffset(self.position), ..Proved::default() };
            return Some(Next::Found(Found {
                from,
                written: 0,
                target_next: from.target_next,
                stamp: (0, Sequence::ZERO),
                producer: self.producer,
                last: None,
                append_time: false,
                origin: true,
                guarded: self.producer.is_some(),
                tail_expired: false,
            }));
        };
        if !self.proved {
            return Some(Next::Impossible(Impossible::Unproved { checkpoint: checkpoint.target_next() }));
        }
        let from = checkpoint.proved();
        let (target_next, written) = match self.tenancy {
            Tenancy::Exclusive => {
                (self.position, u64::try_from(self.position.saturating_sub(from.target_next.0)).unwrap_or(0))
            }
            Tenancy::Shared => (self.ours_end, self.ours),
        };
        // Where the log still ends at the checkpoint, nothing can have been written behind it.
        if self.tenancy == Tenancy::Shared && self.tail_expired && self.tail.is_none() && self.position > target_next {
            return Some(Next::Impossible(self.uncounted()));
        }
        let untouched = checkpoint.origin && written == 0;
        let guarded =
            self.producer.is_some() && (untouched || self.tail.is_some_and(|tail| is_young(tail.timestamp_max, now)));
        if let Some(until) = self.unsettled
            && !guarded
        {
            if until > now.tick {
                self.restart();
                return Some(Next::Wait(until));
            }
            // The log was read after the settle time only if it was begun after it.
            self.unsettled = None;
            if self.producer.is_some() {
                self.restart();
                return None;
            }
        }
        Some(Next::Found(Found {
            from,
            written,
            target_next: TargetOffset(target_next),
            stamp: (self.epoch, self.sequence),
            producer: self.producer.map(|producer| Producer { epoch: producer.epoch.max(self.epoch), ..producer }),
            last: self.tail.filter(|_| written > 0).and_then(|tail| tail.fingerprint),
            append_time: self.tail.is_some_and(|tail| tail.append_time),
            origin: false,
            guarded,
            tail_expired: self.tail_expired,
        }))
    }

    fn uncounted(&self) -> Impossible {
        Impossible::Uncounted { checkpoint: TargetOffset(self.ours_end), log_start: self.log_start }
    }

    fn ask_offset(&self, timestamp: i64) -> Next {
        let request = list_offsets([(self.topic.as_str(), self.partition)], timestamp, 0);
        Next::Call { request: request.into(), version_min: 0 }
    }

    fn ask_records(&self) -> Next {
        let prove_from = if self.proved { self.position } else { self.position - 1 };
        let partition = fetch_partition(self.partition, prove_from.max(self.log_start), self.bytes);
        // Below v2 a broker of 0.10 answers in magic 0, without timestamps to compare.
        Next::Call { request: fetch_one(&self.topic, partition, 0, 0).into(), version_min: 2 }
    }
}

/// Whether a broker still remembers a producer whose newest record has this timestamp (rule P5).
#[must_use]
pub fn is_young(timestamp_ms: i64, now: Now) -> bool {
    timestamp_ms > horizon_ms(now)
}

/// A producer whose newest record is not younger than this may be forgotten, milliseconds since 1970.
#[must_use]
pub fn horizon_ms(now: Now) -> i64 {
    let horizon = i64::try_from(limits::GUARD_HORIZON.as_millis()).unwrap_or(i64::MAX);
    now.unix_ms.saturating_sub(horizon)
}

/// Until when a request that was sent at `sent` may still take effect.
#[must_use]
pub fn settled_at(sent: Tick, settle: Duration) -> Tick {
    sent.after(settle)
}

/// The high watermark of a new leader may lag behind for a moment; an answer is never empty for long.
const BARREN_ANSWERS_MAX: u32 = 20;
