//! Target logs as values, and what a resume makes of them.

mod messages;
mod shared;
mod stamped;

use std::time::Duration;

use bytes::Bytes;
use kmirror_proto::messages::{
    AnyRequest, FetchResponse, FetchableTopic, FetchedPartition, ListOffsetsResponse, ListedOffset, ListedTopic,
};
use kmirror_proto::records::{Entry, split};

use super::*;
use crate::plan::{decode, next_offset};
use crate::sample::T0;

const MS: Duration = Duration::from_millis(1);
const MIRROR: Producer = Producer { id: 9, epoch: 0 };

/// A target partition.
#[derive(Clone, Default)]
struct Target {
    start: i64,
    log: Vec<Bytes>,
    /// The high watermark, where it is not the log's end.
    end: Option<i64>,
    /// Answers with exactly so many bytes, as Fetch v2 does.
    cuts_at: Option<usize>,
}

impl Target {
    fn of(log: Vec<Bytes>) -> Self {
        Self { log, ..Self::default() }
    }

    fn end(&self) -> i64 {
        let last = self.log.last().and_then(|bytes| next_offset(&entry(bytes)));
        self.end.unwrap_or_else(|| last.unwrap_or(self.start))
    }

    fn answer(&self, request: &AnyRequest) -> AnyResponse {
        match request {
            AnyRequest::ListOffsets(list) => {
                let asked = &list.topics[0].partitions[0];
                let offset = if asked.timestamp == EARLIEST { self.start } else { self.end() };
                listed(ErrorCode::NONE, offset)
            }
            AnyRequest::Fetch(fetch) => {
                let asked = &fetch.topics[0].partitions[0];
                let wanted = |bytes: &&Bytes| next_offset(&entry(bytes)).is_some_and(|next| next > asked.fetch_offset);
                let mut records = self.log.iter().filter(wanted).flatten().copied().collect::<Vec<u8>>();
                if self.cuts_at.is_some() {
                    records.truncate(usize::try_from(asked.partition_max_bytes).unwrap());
                }
                fetched(ErrorCode::NONE, self.end(), records.into())
            }
            other => panic!("{}", other.key()),
        }
    }
}

fn entry(bytes: &Bytes) -> Entry {
    split(bytes.clone()).next().unwrap().unwrap()
}

fn listed(error_code: ErrorCode, offset: i64) -> AnyResponse {
    let listed = ListedOffset { error_code, offset, ..ListedOffset::default() };
    let topics = vec![ListedTopic { name: "t".to_owned(), partitions: vec![listed] }];
    ListOffsetsResponse { topics, ..ListOffsetsResponse::default() }.into()
}

fn fetched(error_code: ErrorCode, high_watermark: i64, records: Bytes) -> AnyResponse {
    let fetched = FetchedPartition {
        partition_index: 0,
        error_code,
        high_watermark,
        last_stable_offset: high_watermark,
        log_start_offset: 0,
        records: Some(records),
        ..FetchedPartition::default()
    };
    let topics = vec![FetchableTopic { name: "t".to_owned(), partitions: vec![fetched], ..FetchableTopic::default() }];
    FetchResponse { topics, ..FetchResponse::default() }.into()
}

/// A moment shortly after the sample records were written.
fn now() -> Now {
    Now { tick: Tick(1_000_000_000), unix_ms: T0 + 60_000 }
}

/// A checkpoint of the mirror at `source` and `target`, at sequence `sequence`.
fn checkpoint(source: i64, target: i64, sequence: i32) -> Checkpoint {
    let proved = Proved {
        source_next: SourceOffset(source),
        target_next: TargetOffset(target),
        epoch: 0,
        sequence: Sequence::from_wire(sequence).unwrap(),
        fingerprint: None,
    };
    Checkpoint::new(&proved, Some(MIRROR), -1, false, 0)
}

fn origin(source: i64, target: i64) -> Checkpoint {
    Checkpoint { origin: true, ..checkpoint(source, target, 0) }
}

fn resume(checkpoint: Option<Checkpoint>, unsettled: Option<Tick>) -> Resume {
    Resume::new("t", 0, Tenancy::Exclusive, checkpoint, SourceOffset(7), Some(MIRROR), unsettled)
}

/// How a resume went: what it asked and waited for, and where that led.
struct Course {
    outcome: Result<Found, Impossible>,
    waits: Vec<Duration>,
    fetches: usize,
    ended: Now,
}

fn run(resume: Resume, target: &Target) -> Course {
    run_with(resume, now(), |_, _| target.clone())
}

/// Lets a resume run its course against a target that may change: `target` is told how often it was asked, and when.
fn run_with(mut resume: Resume, mut now: Now, target: impl Fn(usize, Now) -> Target) -> Course {
    let (mut waits, mut fetches, mut asked) = (Vec::new(), 0, 0);
    loop {
        assert!(asked < 200, "asks for ever");
        let outcome = match resume.next(now) {
            Next::Call { request, .. } => {
                fetches += usize::from(matches!(request, AnyRequest::Fetch(_)));
                let answer = target(asked, now).answer(&request);
                asked += 1;
                assert!(matches!(resume.next(now), Next::Answer), "one question at a time");
                match resume.handle_response(now, &answer) {
                    Ok(progress) => {
                        assert_eq!(progress, Progress::On);
                        continue;
                    }
                    Err(why) => Err(why),
                }
            }
            Next::Wait(until) => {
                assert!(until > now.tick, "a wait lies ahead");
                waits.push(until.since(now.tick));
                now.tick = until;
                continue;
            }
            Next::Answer => panic!("nothing was asked"),
            Next::Found(found) => Ok(found),
            Next::Impossible(why) => Err(why),
        };
        return Course { outcome, waits, fetches, ended: now };
    }
}
