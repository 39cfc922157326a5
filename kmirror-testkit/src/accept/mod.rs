//! What a broker does with the records of one partition before they are appended.

use bytes::{Bytes, BytesMut};
use kmirror_proto::ErrorCode;
use kmirror_proto::messages::RecordError;

use crate::log::Entry;
use crate::settings::TopicSettings;
use crate::{Now, Release};

pub(crate) struct Offered<'a> {
    pub(crate) release: Release,
    pub(crate) version: i16,
    pub(crate) settings: &'a TopicSettings,
    pub(crate) now: Now,
    pub(crate) records: Option<Bytes>,
    pub(crate) next_offset: i64,
    pub(crate) leader_epoch: i32,
    pub(crate) transactional_id: Option<&'a str>,
}

#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) entries: Vec<Entry>,
    pub(crate) append_time_ms: i64,
}

#[derive(Debug)]
pub(crate) enum Refusal {
    Code { code: ErrorCode, message: Option<String>, record_errors: Vec<RecordError> },
    Disconnect,
    Silence,
}

pub(crate) fn accept(offered: &Offered<'_>) -> Result<Accepted, Refusal> {
    let _ = (offered.release, offered.version, offered.settings, offered.now, offered.transactional_id);
    let mut bytes = BytesMut::from(offered.records.as_deref().ok_or(Refusal::Silence)?);
    if let Some((offset, rest)) = bytes.split_first_chunk_mut::<8>() {
        *offset = offered.next_offset.to_be_bytes();
        if let Some(epoch) = rest.get_mut(4..8) {
            epoch.copy_from_slice(&offered.leader_epoch.to_be_bytes());
        }
    }
    match Entry::read(bytes.freeze()) {
        Ok(entry) => Ok(Accepted { entries: vec![entry], append_time_ms: -1 }),
        Err(_) if offered.next_offset < 0 => Err(Refusal::Disconnect),
        Err(_) => Err(Refusal::Code { code: ErrorCode::CORRUPT_MESSAGE, message: None, record_errors: Vec::new() }),
    }
}
