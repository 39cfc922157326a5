//! Every release to every release: a zoo of records in every codec of the source arrives as it was, and a second run
//! copies nothing.

use kmirror_testkit::{Codec, Release};
use kmirror_tests::embedded::{Embedded, Owned, mirror_of, run};
use kmirror_tests::failure::ensure;
use kmirror_tests::{Failure, Result};

/// Null, empty and full keys and values, repeated header names with null values, and a record of some size.
fn zoo() -> Vec<Owned> {
    let texts = [None, Some(Vec::new()), Some(b"text".to_vec()), Some(vec![0xff; 3000])];
    let pairs = texts.iter().flat_map(|key| texts.iter().map(move |value| (key.clone(), value.clone())));
    let headers = vec![(b"h".to_vec(), None), (b"h".to_vec(), Some(b"2".to_vec())), (Vec::new(), Some(Vec::new()))];
    let mut zoo = Vec::new();
    for (n, (key, value)) in (0..).zip(pairs) {
        let headers = if n % 3 == 0 { headers.clone() } else { Vec::new() };
        zoo.push(Owned { timestamp: 1_700_000_000_000 + n % 5 * 1000, key, value, headers });
    }
    zoo
}

fn codecs(release: Release) -> Vec<Codec> {
    let mut codecs = vec![Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4];
    if release >= Release::V2_1 {
        codecs.push(Codec::Zstd);
    }
    codecs
}

fn to_every_release(from: Release) -> Result {
    let source = Embedded::start(from)?;
    source.with(|cluster, _| cluster.create_topic("zoo", 2));
    for partition in 0..2 {
        for codec in codecs(from) {
            source.write("zoo", partition, codec, &zoo())?;
        }
    }
    for to in Release::ALL {
        let target = Embedded::start(to)?;
        if to == Release::V0_10_0 {
            // It has no API that creates a topic of two partitions.
            target.with(|cluster, _| cluster.create_topic("zoo", 2));
        }
        let mirror = || mirror_of(&source, &target, "zoo").until_caught_up(true);
        let copied = run(mirror()).map_err(|failure| Failure::new(format!("{from} to {to}: {failure}")))?;
        for partition in 0..2 {
            let mut expected = source.read("zoo", partition)?;
            if to < Release::V0_11 {
                expected.iter_mut().for_each(|record| record.headers.clear());
            }
            let arrived = target.read("zoo", partition)?;
            ensure(arrived == expected, || format!("{from} to {to}: zoo-{partition} differs"))?;
        }
        let records = u64::try_from(2 * codecs(from).len() * zoo().len()).unwrap_or(0);
        assert_eq!(copied.status.total().counters.records, records, "{from} to {to}");
        let again = run(mirror()).map_err(|failure| Failure::new(format!("{from} to {to} again: {failure}")))?;
        assert_eq!(again.status.total().counters.records, 0, "{from} to {to}: a second run copies nothing");
    }
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
