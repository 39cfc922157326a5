//! Where a link reads, and how much it asks for.

use crate::config::FetchConfig;
use crate::offset::SourceOffset;

/// The read side of a link.
#[derive(Clone, Debug)]
pub struct Cursor {
    /// The next offset that is wanted.
    pub next: SourceOffset,
    /// How many bytes are asked for. Grows past the configured size only for a batch that does not fit: brokers cut
    /// an answer of Fetch v0-v2 at exactly this size (fact F5).
    bytes: usize,
    configured: usize,
    bytes_max: usize,
}

impl Cursor {
    /// A cursor at `next`; a batch larger than `frame_bytes_max` can never be read.
    #[must_use]
    pub fn new(next: SourceOffset, config: &FetchConfig, frame_bytes_max: usize) -> Self {
        Self {
            next,
            bytes: config.partition_bytes_max,
            configured: config.partition_bytes_max,
            bytes_max: frame_bytes_max,
        }
    }

    /// How many bytes of the partition to ask for.
    #[must_use]
    pub fn bytes(&self) -> i32 {
        i32::try_from(self.bytes).unwrap_or(i32::MAX)
    }

    /// Moves on; the next request asks for the configured size again.
    pub fn move_to(&mut self, next: SourceOffset) {
        self.next = next;
        self.bytes = self.configured;
    }

    /// The answer held less than one batch. Asks for the size that the batch's own prefix names, else for twice as
    /// much; `false` if that is more than a frame may hold.
    #[must_use]
    pub fn grow(&mut self, need: Option<usize>) -> bool {
        let wanted = need.unwrap_or(0).max(self.bytes.saturating_mul(2));
        let possible = self.bytes < self.bytes_max && need.is_none_or(|need| need <= self.bytes_max);
        self.bytes = wanted.min(self.bytes_max);
        possible
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor() -> Cursor {
        let config = FetchConfig { partition_bytes_max: 1_000, ..FetchConfig::default() };
        Cursor::new(SourceOffset(5), &config, 6_000)
    }

    #[test]
    fn a_batch_that_does_not_fit_is_asked_for_with_its_own_size_and_then_no_more_than_usual() {
        // BUGS.md B23: the size stands in the stump.
        let mut cursor = cursor();
        assert!(cursor.grow(Some(4_500)));
        assert_eq!(cursor.bytes(), 4_500);
        cursor.move_to(SourceOffset(6));
        assert_eq!((cursor.next, cursor.bytes()), (SourceOffset(6), 1_000));
    }

    #[test]
    fn a_stump_that_does_not_say_its_size_doubles_up_to_the_frame() {
        let mut cursor = cursor();
        let sizes: Vec<_> = std::iter::from_fn(|| cursor.grow(None).then(|| cursor.bytes())).collect();
        assert_eq!(sizes, [2_000, 4_000, 6_000], "and then it can never be read");
    }

    #[test]
    fn a_batch_larger_than_a_frame_can_never_be_read() {
        assert!(!cursor().grow(Some(6_001)));
        assert!(cursor().grow(Some(6_000)));
    }
}
