//! Messages and wrappers of magic 0 and 1, nested however deep.

use bytes::Bytes;
use kmirror_proto::records::{Entry, RawMessage, messages, rewrap, split, wrapper_shape};

use crate::DECOMPRESSED_BYTES_MAX;

pub(crate) fn body(data: &[u8]) {
    for entry in split(Bytes::copy_from_slice(data)).map_while(Result::ok) {
        let Entry::Message(message) = entry else { continue };
        fields(&message);
        inside(&message);
        let (offset, rest) = rewrap(&message, 7);
        let new = RawMessage::from_bytes([&offset[..], &rest].concat().into()).unwrap();
        assert_eq!((new.offset, new.crc_ok(), new.timestamp), (7, message.crc_ok(), message.timestamp));
    }
}

fn fields(message: &RawMessage) {
    let len = message.bytes().len();
    assert!(message.offset >= 0 && message.next_offset() > message.offset.saturating_sub(1));
    assert!(message.key().map_or(0, <[u8]>::len) + message.value().map_or(0, <[u8]>::len) < len);
    assert!(message.magic == 1 || message.timestamp == -1);
}

fn inside(message: &RawMessage) {
    let shape = wrapper_shape(message, DECOMPRESSED_BYTES_MAX);
    let Ok(messages) = messages(message, DECOMPRESSED_BYTES_MAX) else { return };
    let mut count = 0;
    for found in &messages {
        let Ok(found) = found else { return };
        count += 1;
        assert!(found.offset <= message.offset || message.magic == 0, "{} in {}", found.offset, message.offset);
    }
    if let Ok(shape) = shape {
        assert_eq!(shape.records, count);
    }
}
