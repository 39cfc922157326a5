//! The bytes of a connection, in pieces of any size: frames, and their first fields.

use bytes::Bytes;
use kmirror_proto::{FrameBuffer, RequestHeader, decode_request, peek_correlation_id};

/// The first byte says how large the pieces are.
pub(crate) fn body(data: &[u8]) {
    let Some((&size, stream)) = data.split_first() else { return };
    let mut buffer = FrameBuffer::new(FRAME_BYTES_MAX);
    let mut taken = 0;
    for piece in stream.chunks(usize::from(size).max(1)) {
        buffer.space().extend_from_slice(piece);
        loop {
            match buffer.next_frame() {
                Ok(Some(frame)) => {
                    taken += 4 + frame.len();
                    one(&frame);
                }
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(buffer.next_frame().unwrap_err(), error, "a stream that has lost its step stays lost");
                    return;
                }
            }
        }
        // A length is believed up to the limit and not beyond.
        assert!(buffer.space().capacity() <= 2 * FRAME_BYTES_MAX + (1 << 20), "{}", buffer.space().capacity());
    }
    assert!(taken <= stream.len());
}

fn one(frame: &Bytes) {
    let _ = peek_correlation_id(frame);
    let Ok((header, request)) = decode_request(frame.clone()) else { return };
    assert_eq!((header.key, request.key()), (request.key(), header.key));
    let mut reader = kmirror_proto::Reader::new(frame.clone());
    assert_eq!(RequestHeader::decode(&mut reader).unwrap().correlation_id, header.correlation_id);
}

const FRAME_BYTES_MAX: usize = 1 << 16;

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let request = [0, 0, 0, 17, 0, 18, 0, 3, 0, 0, 0, 7, 0, 3, b'k', b'm', b'r', 0, 1, 1, 0];
    let frames = [&request[..], &request].concat();
    let with_size = |size: u8, stream: &[u8]| [&[size], stream].concat();
    vec![
        with_size(1, &frames),
        with_size(255, &frames),
        with_size(3, &[0, 0, 0, 0]),
        with_size(3, &[0x7f, 0xff, 0xff, 0xff, 1]),
        with_size(3, b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        with_size(3, &[0x15, 3, 1, 0, 2, 2, 80]),
    ]
}
