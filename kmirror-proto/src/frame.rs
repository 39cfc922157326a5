//! Frames: what stands between two length prefixes on a connection.
//!
//! ```text
//! +-------+-----------------+-------+-----------------+
//! | i32 n | n bytes         | i32 n | n bytes         |  ...
//! +-------+-----------------+-------+-----------------+
//! ```
//!
//! Java: `org.apache.kafka.common.network.NetworkReceive`, `ByteBufferSend`.

use bytes::{Buf, Bytes, BytesMut};

use crate::error::{EncodeError, FrameError};
use crate::wire::Writer;

/// Every frame holds a correlation id at least.
const FRAME_BYTES_MIN: usize = 4;

const PREFIX_BYTES: usize = 4;

/// Room for a read while the length of the next frame is not known: many small answers in one read.
const READ_BYTES: usize = 64 * 1024;

/// With less room than this, a read is not worth its system call, and new room is made.
const READ_BYTES_MIN: usize = 4 * 1024;

/// A whole outgoing frame: length, header and body, as chunks for one vectored write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    chunks: Vec<Bytes>,
    len: usize,
}

impl Frame {
    /// The chunks in order; none is empty.
    #[must_use]
    pub fn chunks(&self) -> &[Bytes] {
        &self.chunks
    }

    /// The chunks in order, owned.
    #[must_use]
    pub fn into_chunks(self) -> Vec<Bytes> {
        self.chunks
    }

    /// Bytes of the whole frame, its length prefix included.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Always false: a frame has its length prefix.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Lets `write` write header and body, and puts their length in front.
    pub(crate) fn build(write: impl FnOnce(&mut Writer) -> Result<(), EncodeError>) -> Result<Self, EncodeError> {
        let mut w = Writer::new();
        w.put_i32(0);
        write(&mut w)?;
        let len = w.len();
        let length = len - PREFIX_BYTES;
        let prefix = i32::try_from(length).map_err(|_| EncodeError::TooLong { what: "frame", length })?;
        w.patch_first(prefix.to_be_bytes());
        Ok(Self { chunks: w.into_chunks(), len })
    }
}

/// Incoming bytes of one connection, cut into frames.
///
/// Read from the socket into [`space`](Self::space), then take frames with [`next_frame`](Self::next_frame) until it
/// has none. A frame is a slice of the buffer it was read into. After an error the stream has lost its step: every
/// further call answers the same.
#[derive(Debug)]
pub struct FrameBuffer {
    buffer: BytesMut,
    frame_bytes_max: usize,
}

impl FrameBuffer {
    /// A buffer for frames of up to `frame_bytes_max` bytes, the prefix not counted.
    #[must_use]
    pub fn new(frame_bytes_max: usize) -> Self {
        Self { buffer: BytesMut::new(), frame_bytes_max }
    }

    /// The buffer to append to, with room for the rest of the frame under way. The room is not zeroed.
    ///
    /// Once a frame has announced its length, its room is allocated in one piece, and some more for what follows it;
    /// after that its bytes are not moved again.
    pub fn space(&mut self) -> &mut BytesMut {
        let missing = self.missing().ok().flatten();
        let spare = self.buffer.capacity() - self.buffer.len();
        match missing {
            Some(missing) if spare < missing.max(1) => self.buffer.reserve(missing + READ_BYTES),
            None if spare < READ_BYTES_MIN => self.buffer.reserve(READ_BYTES),
            Some(_) | None => {}
        }
        &mut self.buffer
    }

    /// Bytes of the frame under way that are still to come; `None` while its length is not known. What a memory
    /// budget asks before it lets the rest of the frame be read.
    pub fn missing(&self) -> Result<Option<usize>, FrameError> {
        let length = self.frame_length()?;
        Ok(length.map(|length| (PREFIX_BYTES + length).saturating_sub(self.buffer.len())))
    }

    /// The next whole frame without its prefix; `None` until more bytes have come.
    pub fn next_frame(&mut self) -> Result<Option<Bytes>, FrameError> {
        let Some(length) = self.frame_length()? else {
            return Ok(None);
        };
        if self.buffer.len() - PREFIX_BYTES < length {
            return Ok(None);
        }
        self.buffer.advance(PREFIX_BYTES);
        Ok(Some(self.buffer.split_to(length).freeze()))
    }

    /// The length of the frame under way, checked; `None` until its prefix is whole.
    fn frame_length(&self) -> Result<Option<usize>, FrameError> {
        let Some(&prefix) = self.buffer.first_chunk::<PREFIX_BYTES>() else {
            return Ok(None);
        };
        match prefix {
            // 1.2 GB as a length.
            [b'H', b'T', b'T', b'P'] => return Err(FrameError::Http),
            // Alert or handshake record, then the protocol version 3.0 to 3.4: 352 MB or 369 MB as a length.
            [0x15 | 0x16, 0x03, 0..=4, _] => return Err(FrameError::Tls),
            _ => {}
        }
        let length = i32::from_be_bytes(prefix);
        match usize::try_from(length) {
            Ok(bytes) if bytes > self.frame_bytes_max => {
                Err(FrameError::TooLong { length, limit: self.frame_bytes_max })
            }
            Ok(bytes) if bytes >= FRAME_BYTES_MIN => Ok(Some(bytes)),
            Ok(_) | Err(_) => Err(FrameError::TooShort { length }),
        }
    }
}
