//! Partitions grouped for a request: each topic's name is written once.

/// Collects partitions; neighbours of one topic share its entry.
#[derive(Debug)]
pub(crate) struct ByTopic<P>(Vec<(String, Vec<P>)>);

impl<P> ByTopic<P> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds one partition. Those of a topic that come one behind the other are grouped.
    pub(crate) fn push(&mut self, topic: &str, partition: P) {
        match self.0.last_mut() {
            Some((name, partitions)) if name == topic => partitions.push(partition),
            Some(_) | None => self.0.push((topic.to_owned(), vec![partition])),
        }
    }

    /// The topics, each made by `topic` from its name and its partitions.
    pub(crate) fn into_topics<T>(self, mut topic: impl FnMut(String, Vec<P>) -> T) -> Vec<T> {
        self.0.into_iter().map(|(name, partitions)| topic(name, partitions)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_once_per_run_of_its_partitions() {
        let mut grouped = ByTopic::new();
        for (topic, partition) in [("a", 0), ("a", 1), ("b", 0), ("a", 2)] {
            grouped.push(topic, partition);
        }
        let topics = grouped.into_topics(|name, partitions| (name, partitions));
        let named = |name: &str, partitions: &[i32]| (name.to_owned(), partitions.to_vec());
        assert_eq!(topics, [named("a", &[0, 1]), named("b", &[0]), named("a", &[2])]);
    }
}
