//! Where each leader epoch begins in the log (KIP-101).
//!
//! Java: `LeaderEpochFileCache`.

use crate::Release;

/// The leader epochs of one partition, oldest first; epochs and offsets rise.
#[derive(Clone, Debug, Default)]
pub(crate) struct Epochs {
    begun: Vec<(i32, i64)>,
}

impl Epochs {
    /// The epoch begins here, unless it or a later one has begun already.
    pub(crate) fn begin(&mut self, epoch: i32, offset: i64) {
        if epoch < 0 || self.latest().is_some_and(|latest| latest >= epoch) {
            return;
        }
        self.begun.retain(|(_, start)| *start < offset);
        self.begun.push((epoch, offset));
    }

    /// The newest one.
    pub(crate) fn latest(&self) -> Option<i32> {
        self.begun.last().map(|(epoch, _)| *epoch)
    }

    /// All of them, with the offset at which each begins.
    pub(crate) fn all(&self) -> &[(i32, i64)] {
        &self.begun
    }

    /// The epoch under which the record at this offset was written.
    pub(crate) fn at(&self, offset: i64) -> Option<i32> {
        let after = self.begun.partition_point(|(_, start)| *start <= offset);
        self.begun.get(after.checked_sub(1)?).map(|(epoch, _)| *epoch)
    }

    /// OffsetForLeaderEpoch: the largest epoch up to the one that is asked for, and where it ends; (-1, -1) if nothing
    /// is known of it. Brokers up to 1.1 do not answer for epochs before their first one.
    pub(crate) fn end_of(&self, release: Release, asked: i32, log_end: i64) -> (i32, i64) {
        if asked < 0 {
            return UNKNOWN;
        }
        if self.latest() == Some(asked) {
            return (asked, log_end);
        }
        let after = self.begun.partition_point(|(epoch, _)| *epoch <= asked);
        let before = after.checked_sub(1).and_then(|at| self.begun.get(at));
        match (before, self.begun.get(after)) {
            (_, None) => UNKNOWN,
            (Some((epoch, _)), Some((_, end))) => (*epoch, *end),
            (None, Some((_, end))) if release >= Release::V2_0 => (asked, *end),
            (None, Some(_)) => UNKNOWN,
        }
    }

    /// The log ends here from now on.
    pub(crate) fn truncate(&mut self, end: i64) {
        self.begun.retain(|(_, start)| *start < end);
    }

    /// The log begins here from now on.
    pub(crate) fn start_moved(&mut self, start: i64) {
        let gone = self.begun.partition_point(|(_, begin)| *begin <= start).saturating_sub(1);
        self.begun.drain(..gone);
        if let Some((_, begin)) = self.begun.first_mut() {
            *begin = start.max(*begin);
        }
    }
}

/// What is answered where nothing is known.
const UNKNOWN: (i32, i64) = (-1, -1);

#[cfg(test)]
mod tests {
    use super::*;

    fn epochs() -> Epochs {
        let mut epochs = Epochs::default();
        for (epoch, offset) in [(1, 0), (3, 10), (3, 12), (2, 14), (4, 20)] {
            epochs.begin(epoch, offset);
        }
        epochs
    }

    #[test]
    fn an_epoch_ends_where_the_next_one_begins_and_the_last_at_the_log_end() {
        let of = |asked| epochs().end_of(Release::V2_0, asked, 25);
        assert_eq!([of(1), of(2), of(3), of(4), of(5), of(-1)], [(1, 10), (1, 10), (3, 20), (4, 25), UNKNOWN, UNKNOWN]);
        assert_eq!(of(0), (0, 0));
        assert_eq!(epochs().end_of(Release::V0_11, 0, 25), UNKNOWN);
        assert_eq!((epochs().at(9), epochs().at(10), epochs().at(30)), (Some(1), Some(3), Some(4)));
    }

    #[test]
    fn truncation_and_a_moved_start_take_epochs_along() {
        let mut cut = epochs();
        cut.truncate(10);
        assert_eq!(cut.all(), [(1, 0)]);
        let mut moved = epochs();
        moved.start_moved(12);
        assert_eq!(moved.all(), [(3, 12), (4, 20)]);
        // An epoch that wrote nothing gives way to the next one that begins at the same offset.
        moved.begin(5, 20);
        assert_eq!(moved.all(), [(3, 12), (5, 20)]);
    }
}
