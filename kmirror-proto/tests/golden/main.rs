//! Bytes of real brokers of seven releases (README.md): read as what is known of them, and written again to the same bytes.

mod answers;
mod segments;

use bytes::Bytes;

/// The files, with how many APIs each release has.
const RELEASES: [(&str, &str, usize); 7] = [
    ("0.10.1.1", include_str!("0.10.1.1.hex"), 21),
    ("0.11.0.3", include_str!("0.11.0.3.hex"), 34),
    ("1.1.1", include_str!("1.1.1.hex"), 43),
    ("2.0.0", include_str!("2.0.0.hex"), 43),
    ("2.8.2", include_str!("2.8.2.hex"), 56),
    ("3.9.1", include_str!("3.9.1.hex"), 62),
    ("4.4.0", include_str!("4.4.0.hex"), 77),
];

/// One line of a file: its words, and the bytes.
struct Vector {
    release: &'static str,
    apis: usize,
    words: Vec<&'static str>,
    bytes: Bytes,
}

fn vectors() -> impl Iterator<Item = Vector> {
    RELEASES.into_iter().flat_map(|(release, text, apis)| {
        text.lines().filter(|line| !line.starts_with('#')).map(move |line| {
            let mut words: Vec<_> = line.split(' ').collect();
            let bytes = unhex(words.pop().unwrap());
            Vector { release, apis, words, bytes }
        })
    })
}

fn unhex(digits: &str) -> Bytes {
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// A record as Java's client was told to write it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    timestamp: i64,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

/// What is in every topic that is read: `tests/src/golden/mod.rs` has the same.
fn rows(headers: bool) -> Vec<Row> {
    const T: i64 = 1_600_000_000_000;
    let row = |timestamp: i64, key: Option<&str>, value: Option<&str>| Row {
        timestamp,
        key: key.map(Vec::from),
        value: value.map(Vec::from),
        headers: Vec::new(),
    };
    let long = "0123456789".repeat(20);
    let mut rows = vec![
        row(T, Some("key"), Some("value")),
        row(T + 5, None, Some("null key")),
        row(T - 1000, Some("tombstone"), None),
        row(T + 1, Some(""), Some("")),
        row(T + 2, Some("long"), Some(&long)),
    ];
    if headers {
        let trace = |value: Option<&str>| (b"trace".to_vec(), value.map(Vec::from));
        rows[0].headers = vec![trace(Some("1")), trace(None), (Vec::new(), Some(Vec::new()))];
    }
    rows
}

#[test]
fn there_are_vectors_of_every_kind() {
    let all: Vec<_> = vectors().collect();
    let messages = all.iter().filter(|vector| vector.words.len() == 3).count();
    assert!(messages >= 200 && all.len() - messages >= 60, "{messages} of {}", all.len());
    for (release, ..) in RELEASES {
        let of = |word: &str| all.iter().filter(|it| it.release == release && it.words[0] == word).count();
        for api in ["ApiVersions", "Metadata", "Fetch", "Produce", "ListOffsets", "FindCoordinator", "OffsetFetch"] {
            assert!(of(api) >= 2, "{release} {api}");
        }
        assert!(of("segment") >= 8, "{release}");
    }
}
