//! Offsets of partitions in a text file.
//!
//! ```text
//! 0
//! 2
//! orders 0 1200
//! orders 1 1187
//! ```
//!
//! Java: `OffsetCheckpointFile`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// One offset for each partition that has one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Checkpoint {
    offsets: BTreeMap<(String, usize), i64>,
}

impl Checkpoint {
    pub(super) fn put(&mut self, topic: &str, partition: usize, offset: i64) {
        self.offsets.insert((topic.to_owned(), partition), offset);
    }

    pub(super) fn get(&self, topic: &str, partition: usize) -> Option<i64> {
        self.offsets.get(&(topic.to_owned(), partition)).copied()
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!("0\n{}\n", self.offsets.len());
        for ((topic, partition), offset) in &self.offsets {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{topic} {partition} {offset}");
        }
        text
    }

    /// Reads the lines that are ones: a broker does without what is not, and goes by the log.
    pub(super) fn of_text(text: &str) -> Self {
        let mut checkpoint = Self::default();
        for line in text.lines().skip(2) {
            if let [topic, partition, offset] = line.split(' ').collect::<Vec<_>>()[..]
                && let (Ok(partition), Ok(offset)) = (partition.parse(), offset.parse())
            {
                checkpoint.put(topic, partition, offset);
            }
        }
        checkpoint
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_no_line_is_not() {
        let mut checkpoint = Checkpoint::default();
        checkpoint.put("orders", 1, 1187);
        checkpoint.put("orders", 0, 1200);
        assert_eq!(checkpoint.text(), "0\n2\norders 0 1200\norders 1 1187\n");
        assert_eq!(Checkpoint::of_text(&checkpoint.text()), checkpoint);
        assert_eq!(Checkpoint::of_text("0\n2\norders 0 x\norders 1 5 6\n"), Checkpoint::default());
        assert_eq!(checkpoint.get("orders", 2), None);
    }
}
