//! Every release to every release: a zoo of records in every codec of the source arrives as it was, and a second run
//! copies nothing. And some stories of `it`, on embedded clusters of more releases.

use kmirror_testkit::Release::{self, V0_10_0, V0_10_1, V0_11, V1_1, V2_0, V2_1, V3_9, V4_4};
use kmirror_tests::Result;
use kmirror_tests::embedded::{Embedded, mirror_of, run};
use kmirror_tests::failure::ensure;
use kmirror_tests::judge::{Row, write_zoo};
use kmirror_tests::stories::settings;
use kmirror_tests::stories::zoo::the_zoo_arrives;

use crate::{at_once, plays};

const PARTITIONS: u32 = 2;

fn to_every_release(from: Release) -> Result {
    let source = Embedded::start(from)?;
    source.with(|cluster, _| cluster.create_topic("zoo", 2));
    let written = write_zoo(&source, "zoo", PARTITIONS)?;
    let (source, written) = (&source, &written);
    at_once(Release::ALL.map(|to| (format!("{from} to {to}"), move || arrives(source, to, written))))
}

fn arrives(source: &Embedded, to: Release, written: &[Vec<Row>]) -> Result {
    let target = Embedded::start(to)?;
    if to == V0_10_0 {
        // It has no API that creates a topic of two partitions.
        target.with(|cluster, _| cluster.create_topic("zoo", 2));
    }
    let mirror = || mirror_of(source, &target, "zoo").until_caught_up(true);
    let copied = run(mirror())?;
    for (partition, rows) in (0..).zip(written) {
        let kept = |row: &Row| if to < V0_11 { row.without_headers() } else { row.clone() };
        let expected: Vec<Row> = rows.iter().map(kept).collect();
        ensure(target.read("zoo", partition)? == expected, || format!("zoo-{partition} differs"))?;
    }
    let records = u64::try_from(written.iter().map(Vec::len).sum::<usize>()).unwrap_or(0);
    assert_eq!(copied.status.total().counters.records, records);
    assert_eq!(run(mirror())?.status.total().counters.records, 0, "a second run copies nothing");
    Ok(())
}

macro_rules! from_each {
    ($($name:ident $release:ident,)*) => {
        $(
            #[test]
            fn $name() -> Result {
                to_every_release(Release::$release)
            }
        )*
    };
}

from_each! {
    from_0_10_0 V0_10_0,
    from_0_10_1 V0_10_1,
    from_0_10_2 V0_10_2,
    from_0_11 V0_11,
    from_1_0 V1_0,
    from_1_1 V1_1,
    from_2_0 V2_0,
    from_2_1 V2_1,
    from_2_4 V2_4,
    from_2_8 V2_8,
    from_3_0 V3_0,
    from_3_9 V3_9,
    from_4_4 V4_4,
}

plays! {
    the_zoo: the_zoo_arrives, [(V0_10_0, V4_4), (V0_10_1, V4_4), (V4_4, V0_10_1), (V2_1, V0_11)];
    settings_of_the_source: settings::the_source_tells_them, [(V0_11, V4_4), (V4_4, V0_10_1), (V3_9, V1_1)];
    settings_of_the_file: settings::the_file_tells_them, [(V0_10_1, V4_4), (V0_10_0, V2_0)];
    settings_of_both: settings::the_file_wins, [(V4_4, V2_0), (V0_11, V4_4)];
    settings_that_0_10_0_does_not_take: settings::the_broker_makes_it, [(V4_4, V0_10_0), (V0_11, V0_10_0)];
}
