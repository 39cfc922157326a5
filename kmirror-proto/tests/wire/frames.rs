//! Bytes of a connection, cut into frames; and what is no frame at all.

use bytes::BufMut;
use kmirror_proto::{FrameBuffer, FrameError};

const LIMIT: usize = 1 << 20;

fn fed(bytes: &[u8]) -> FrameBuffer {
    let mut buffer = FrameBuffer::new(LIMIT);
    buffer.space().put_slice(bytes);
    buffer
}

#[test]
fn a_frame_may_come_byte_by_byte() {
    let mut buffer = FrameBuffer::new(LIMIT);
    let bytes = [0, 0, 0, 5, b'h', b'e', b'l', b'l', b'o', 0, 0, 0, 4, 1, 2, 3, 4];
    let mut frames = Vec::new();
    for (position, byte) in bytes.into_iter().enumerate() {
        buffer.space().put_u8(byte);
        while let Some(frame) = buffer.next_frame().expect("frames") {
            frames.push((position, frame));
        }
    }
    let expected: [(usize, &[u8]); 2] = [(8, b"hello"), (16, &[1, 2, 3, 4])];
    assert_eq!(frames.iter().map(|(at, frame)| (*at, &frame[..])).collect::<Vec<_>>(), expected);
}

#[test]
fn several_frames_may_come_at_once() {
    let mut buffer = fed(&[0, 0, 0, 4, 1, 1, 1, 1, 0, 0, 0, 5, 2, 2, 2, 2, 2, 0, 0, 0, 4, 3]);
    assert_eq!(buffer.next_frame().expect("first").as_deref(), Some(&[1, 1, 1, 1][..]));
    assert_eq!(buffer.next_frame().expect("second").as_deref(), Some(&[2, 2, 2, 2, 2][..]));
    assert_eq!(buffer.next_frame().expect("third"), None);
    assert_eq!(buffer.missing(), Ok(Some(3)));
    buffer.space().put_slice(&[3, 3, 3]);
    assert_eq!(buffer.next_frame().expect("third").as_deref(), Some(&[3, 3, 3, 3][..]));
    assert_eq!(buffer.missing(), Ok(None));
}

/// A fetch answer of a megabyte comes in many reads. Its room is there from the moment its length is known, and its
/// bytes stay where they are: growing step by step would copy it again and again.
#[test]
fn a_large_frame_is_allocated_once() {
    let mut buffer = fed(&(1u32 << 20).to_be_bytes());
    let space = buffer.space();
    assert!(space.capacity() - space.len() >= LIMIT);
    let place = space.as_ptr();
    for _ in 0..1024 {
        let space = buffer.space();
        space.put_slice(&[7; 1024]);
        assert_eq!(space.as_ptr(), place);
    }
    let frame = buffer.next_frame().expect("frame").expect("whole");
    assert_eq!(frame.len(), LIMIT);
    assert_eq!(frame.as_ptr(), place.wrapping_add(4));
}

/// A length is believed only up to the limit; until the frame's bytes come, nothing but its room is taken.
#[test]
fn lengths_that_no_frame_has_are_refused() {
    for (prefix, error) in [
        (-1, FrameError::TooShort { length: -1 }),
        (i32::MIN, FrameError::TooShort { length: i32::MIN }),
        (0, FrameError::TooShort { length: 0 }),
        (3, FrameError::TooShort { length: 3 }),
        (0x7fff_ffff, FrameError::TooLong { length: 0x7fff_ffff, limit: LIMIT }),
        ((1 << 20) + 1, FrameError::TooLong { length: (1 << 20) + 1, limit: LIMIT }),
    ] {
        let mut buffer = fed(&i32::to_be_bytes(prefix));
        assert_eq!(buffer.next_frame(), Err(error.clone()));
        assert_eq!(buffer.next_frame(), Err(error.clone()), "the stream stays broken");
        assert_eq!(buffer.missing(), Err(error));
        assert!(buffer.space().capacity() < LIMIT, "nothing is allocated for it");
    }
    assert_eq!(fed(&[0, 0, 0, 4]).next_frame(), Ok(None), "a correlation id alone is a frame");
    assert_eq!(fed(&[0x7f, 0xff, 0xff]).next_frame(), Ok(None), "three bytes are no prefix yet");
}

/// A wrong port or a wrong security.protocol is the commonest mistake of all; "frame of 1.2 GB" helps nobody.
#[test]
fn other_protocols_are_called_by_their_name() {
    assert_eq!(fed(b"HTTP/1.1 400 Bad Request\r\n").next_frame(), Err(FrameError::Http));
    let alert = [0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46];
    let handshake = [0x16, 0x03, 0x03, 0x00, 0x31];
    for record in [&alert[..], &handshake[..]] {
        assert_eq!(fed(record).next_frame(), Err(FrameError::Tls));
        let mut roomy = FrameBuffer::new(usize::MAX);
        roomy.space().put_slice(record);
        assert_eq!(roomy.next_frame(), Err(FrameError::Tls), "352 MB are within this limit, and no frame all the same");
    }
    assert!(FrameError::Tls.to_string().contains("TLS"));
    assert!(FrameError::Http.to_string().contains("HTTP"));
}
