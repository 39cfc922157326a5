//! What is inspected: a file or standard input, as it is or as an answer to Fetch.

use std::fs;
use std::io::{self, Read as _};

use bytes::Bytes;
use kmirror_proto::messages::{AbortedTransaction, AnyResponse, FetchResponse};
use kmirror_proto::{ApiKey, ErrorCode, decode_response};

use crate::args::InspectArgs;
use crate::exit::Failure;

/// The records of one partition.
pub(super) struct Part {
    /// What an answer says about the partition; a file says nothing.
    pub(super) title: Option<String>,
    pub(super) records: Bytes,
    /// The aborted transactions that an answer names; a file has markers instead.
    pub(super) aborted: Option<Vec<AbortedTransaction>>,
}

/// Reads all of it.
pub(super) fn read(args: &InspectArgs) -> Result<Vec<Part>, Failure> {
    let name = args.file.display();
    let bytes = if args.file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(&args.file)
    };
    let bytes = Bytes::from(bytes.map_err(|error| Failure::failed(format!("{name}: {error}")))?);
    match args.fetch_response {
        None => Ok(vec![Part { title: None, records: bytes, aborted: None }]),
        Some(version) => {
            let failed = |error| Failure::failed(format!("{name}: no answer to Fetch v{version}: {error}"));
            answer(version, bytes).map(parts).map_err(failed)
        }
    }
}

fn answer(version: i16, mut bytes: Bytes) -> Result<FetchResponse, String> {
    let length = bytes.first_chunk().map(|length| u32::from_be_bytes(*length));
    if length.and_then(|length| usize::try_from(length).ok()) == bytes.len().checked_sub(4) {
        bytes = bytes.slice(4..);
    }
    match decode_response(ApiKey::FETCH, version, bytes) {
        Ok((_, AnyResponse::Fetch(answer))) => Ok(answer),
        Ok((_, other)) => Err(format!("it answers {}", other.key())),
        Err(error) => Err(error.to_string()),
    }
}

fn parts(answer: FetchResponse) -> Vec<Part> {
    let mut parts = Vec::new();
    if answer.error_code != ErrorCode::NONE {
        let title = format!("the whole answer: {}", answer.error_code);
        parts.push(Part { title: Some(title), records: Bytes::new(), aborted: None });
    }
    for topic in answer.topics {
        let name = if topic.name.is_empty() { hex(&topic.topic_id) } else { topic.name };
        for partition in topic.partitions {
            let (index, error) = (partition.partition_index, partition.error_code);
            let (high, stable) = (partition.high_watermark, partition.last_stable_offset);
            let title = format!("{name}-{index}: {error}, high watermark {high}, last stable offset {stable}");
            let aborted = Some(partition.aborted_transactions.unwrap_or_default());
            parts.push(Part { title: Some(title), records: partition.records.unwrap_or_default(), aborted });
        }
    }
    parts
}

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}
