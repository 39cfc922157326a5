//! Stamps by arithmetic: the n-th record that a link writes under one epoch has sequence n (rule P2).

use kmirror_proto::records::Stamp;

/// A sequence number: 0 … 2^31 − 1, then 0 again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(i32);

/// Who writes: the mirror's one producer id and the link's epoch under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Producer {
    /// The producer id, agreed through the ledger.
    pub id: i64,
    /// The epoch; raised by one where a stamp has to change.
    pub epoch: i16,
}

const PERIOD: u64 = 1 << 31;

impl Sequence {
    /// The first one.
    pub const ZERO: Self = Self(0);

    /// From the wire; `None` if negative (no sequence).
    #[must_use]
    pub fn from_wire(value: i32) -> Option<Self> {
        (value >= 0).then_some(Self(value))
    }

    /// As it stands on the wire.
    #[must_use]
    pub fn to_wire(self) -> i32 {
        self.0
    }

    /// The sequence `records` further on.
    #[must_use]
    pub fn plus(self, records: u64) -> Self {
        let sum = (u64::from(self.0.unsigned_abs()) + records % PERIOD) % PERIOD;
        Self(i32::try_from(sum).unwrap_or(0))
    }

    /// The sequence `records` before this one.
    #[must_use]
    pub fn back(self, records: u64) -> Self {
        self.plus(PERIOD - records % PERIOD)
    }

    /// The sequence before this one.
    #[must_use]
    pub fn before(self) -> Self {
        self.back(1)
    }

    /// How many records lead from `earlier` to here, at most 2^31 − 1.
    #[must_use]
    pub fn minus(self, earlier: Self) -> u64 {
        (PERIOD + u64::from(self.0.unsigned_abs()) - u64::from(earlier.0.unsigned_abs())) % PERIOD
    }

    /// How many records fit before the wrap: a batch never straddles it.
    #[must_use]
    pub fn room(self) -> u32 {
        u32::try_from(PERIOD - u64::from(self.0.unsigned_abs())).unwrap_or(u32::MAX)
    }
}

impl Producer {
    /// The stamp of a batch that begins at `sequence`.
    #[must_use]
    pub fn stamp(self, sequence: Sequence) -> Stamp {
        Stamp { producer_id: self.id, producer_epoch: self.epoch, base_sequence: sequence.to_wire() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_sequence_is_followed_by_zero() {
        // Measured: 2147483647 is followed by 0 (measured).
        let last = Sequence::from_wire(i32::MAX).unwrap();
        assert_eq!(last.plus(1), Sequence::ZERO);
        assert_eq!(last.room(), 1);
        assert_eq!(Sequence::ZERO.before(), last);
        assert_eq!(Sequence::ZERO.minus(last), 1);
        assert_eq!(last.minus(Sequence::ZERO), (1 << 31) - 1);
    }

    #[test]
    fn sums_larger_than_a_period_keep_their_place() {
        assert_eq!(Sequence::ZERO.plus((1 << 31) + 5).to_wire(), 5);
        assert_eq!(Sequence::from_wire(-1), None);
        assert_eq!(Sequence::ZERO.room(), 1 << 31);
    }
}
