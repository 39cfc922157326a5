//! The table as it is seen, at 80 and 200 columns, with all states, many topics, long and hostile names.

use kmirror_core::observe::Counters;

use super::*;

/// A terminal's last column stays free.
const NARROW: usize = 79;
const FULL: usize = 199;

const GONE: &str = "orders-eu-3: the source begins at offset 120 but 100 was to be read next: records [100, 120) are gone, by \
                    retention or deletion, before they were mirrored";
const MISSING: &str = "the target has no topic clicks: create it there with 12 partitions";

fn topic(state: TopicState, records: u64, lag: Option<i64>) -> TopicStatus {
    let counters = Counters { records, bytes: records * 80, ..Counters::default() };
    TopicStatus { state, counters, links: 8, lag, ..TopicStatus::default() }
}

fn pace(records: f64, left: Option<u64>) -> Pace {
    Pace { records, bytes: records * 250.0, left: left.map(Duration::from_secs) }
}

fn row<'a>(topic: &'a str, status: &'a TopicStatus, pace: Pace) -> Row<'a> {
    Row { mirror: None, topic, status, pace }
}

fn picture(rows: Vec<Row<'_>>) -> Picture<'_> {
    let mut total = topic(TopicState::Running, 0, Some(0));
    let mut all = Pace::default();
    for row in &rows {
        total.counters.add(&row.status.counters);
        total.lag = Some(total.lag.unwrap_or(0) + row.status.lag.unwrap_or(0));
        all.records += row.pace.records;
        all.bytes += row.pace.bytes;
    }
    let title = "orders-mirror, 2 min 05 s: 7 topics (1 stopped, 1 blocked), 40/56 links caught up".to_owned();
    let lag_unknown = rows.iter().any(|row| row.status.lag.is_none());
    Picture { title, rows, total, lag_unknown, pace: all, ended: Vec::new(), recent: Vec::new() }
}

fn recent(seconds: u64, tone: Tone, text: &str) -> Recent {
    Recent { age: Duration::from_secs(seconds), tone, text: text.to_owned() }
}

fn drawn(picture: &mut Picture<'_>, width: usize, height: usize) -> String {
    let lines = frame(picture, width, height);
    assert!(lines.len() <= height, "{} lines of {height}", lines.len());
    let mut text = String::new();
    for line in lines {
        assert!(line.width() <= width, "{} columns of {width}: {line:?}", line.width());
        let whole: String = line.0.into_iter().map(|(_, text)| text).collect();
        text.push_str(whole.trim_end());
        text.push('\n');
    }
    text
}

/// Seven topics, one of them in each state.
fn seven() -> [(&'static str, TopicStatus, Pace); 7] {
    let renamed = TopicStatus { target: "west.payments".to_owned(), ..topic(TopicState::Running, 3_210_987, Some(0)) };
    let stopped = topic(TopicState::Stopped, 100, Some(12_345));
    let blocked = topic(TopicState::Blocked, 0, None);
    [
        ("orders", topic(TopicState::Running, 1_234_567, Some(1_165_433)), pace(52_301.4, Some(23))),
        ("payments", renamed, pace(0.0, Some(0))),
        ("orders-eu", TopicStatus { reason: Some(GONE.to_owned()), ..stopped }, pace(0.0, None)),
        ("clicks", TopicStatus { reason: Some(MISSING.to_owned()), ..blocked }, pace(0.0, None)),
        ("audit", topic(TopicState::Preparing, 0, None), pace(0.0, None)),
        ("sessions", topic(TopicState::Running, 98_765_432_100, Some(2_000_000_000)), pace(151_234.0, Some(13_230))),
        ("inventory-changes-of-all-warehouses-v2", topic(TopicState::Running, 42, Some(7)), pace(0.4, None)),
    ]
}

fn all_states(width: usize, height: usize) -> String {
    let seven = seven();
    let rows = seven.iter().map(|(name, status, pace)| row(name, status, *pace));
    let mut picture = picture(rows.collect());
    picture.recent = vec![
        recent(3_700, Tone::Warn, "source broker 1 (a:9092): cannot be talked to: refused"),
        recent(75, Tone::Bad, "orders-eu-3: stopped: the source begins at offset 120 but 100 was to be read next"),
        recent(4, Tone::Plain, "source broker 1 (a:9092): connected"),
    ];
    drawn(&mut picture, width, height)
}

#[test]
fn at_80_columns() {
    assert_eq!(
        format!("\n{}", all_states(NARROW, 24)),
        "
orders-mirror, 2 min 05 s: 7 topics (1 stopped, 1 blocked), 40/56 links caught…
topic                 copied      of   rec/s    MB/s     lag    left  state
orders-eu                100  12,445       0       0  12,345       -  stopped
  └ orders-eu-3: the source begins at offset 120 but 100 was to be read next: …
clicks                     0       ?       0       0       ?       -  blocked
  └ the target has no topic clicks: create it there with 12 partitions
sessions               98.7G    100G    151k    37.8   2.00G   3h40m  running
orders                 1.23M   2.40M  52,301    13.1   1.16M     23s  running
inventory-…houses-v2      42      49       0       0       7       -  running
payments → west…ents   3.21M   3.21M       0       0       0      0s  running
audit                      0       ?       0       0       ?       -  preparing
all 7 topics           98.7G   >100G    203k    50.9  >2.00G       -
 1h01m ago  source broker 1 (a:9092): cannot be talked to: refused
 1m15s ago  orders-eu-3: stopped: the source begins at offset 120 but 100 was …
    4s ago  source broker 1 (a:9092): connected
"
    );
}

#[test]
fn at_200_columns() {
    assert_eq!(
        format!("\n{}", all_states(FULL, 24)),
        "
orders-mirror, 2 min 05 s: 7 topics (1 stopped, 1 blocked), 40/56 links caught up
topic                                           copied                of  records/s    MB/s             lag    left  state      reason
orders-eu                                          100            12,445          0       0          12,345       -  stopped    orders-eu-3: the source begins at offset 120 but 100 was to be read ne…
clicks                                               0                 ?          0       0               ?       -  blocked    the target has no topic clicks: create it there with 12 partitions
sessions                                98,765,432,100   100,765,432,100    151,234    37.8   2,000,000,000   3h40m  running
orders                                       1,234,567         2,400,000     52,301    13.1       1,165,433     23s  running
inventory-changes-of-all-warehouses-v2              42                49          0       0               7       -  running
payments → west.payments                     3,210,987         3,210,987          0       0               0      0s  running
audit                                                0                 ?          0       0               ?       -  preparing
all 7 topics                            98,769,877,796  >100,771,055,581    203,536    50.9  >2,001,177,785       -
 1h01m ago  source broker 1 (a:9092): cannot be talked to: refused
 1m15s ago  orders-eu-3: stopped: the source begins at offset 120 but 100 was to be read next
    4s ago  source broker 1 (a:9092): connected
"
    );
}

#[test]
fn columns_go_one_after_the_other() {
    let heads = |width: usize| {
        let text = all_states(width, 24);
        text.lines().nth(1).unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(heads(200), "topic copied of records/s MB/s lag left state reason");
    assert_eq!(heads(120), "topic copied of records/s MB/s lag left state");
    assert_eq!(heads(79), "topic copied of rec/s MB/s lag left state");
    assert_eq!(heads(68), "topic copied of rec/s lag left state");
    assert_eq!(heads(60), "topic copied rec/s lag left state");
    assert_eq!(heads(52), "topic copied rec/s lag state");
    assert_eq!(heads(46), "topic copied lag state");
    assert_eq!(heads(36), "topic lag state");
}

/// Every width and height in which there is a table: nothing is wider or higher than asked for (which `drawn` checks).
#[test]
fn it_fits_everywhere() {
    for width in 39..210 {
        for height in 5..30 {
            all_states(width, height);
        }
    }
}

#[test]
fn three_thousand_topics_show_those_that_need_somebody() {
    let names: Vec<String> = (0..3_000).map(|number| format!("topic-{number:04}")).collect();
    let statuses: Vec<TopicStatus> = (0..3_000_i64)
        .map(|number| match number {
            1_234 => TopicStatus { reason: Some(MISSING.to_owned()), ..topic(TopicState::Blocked, 0, None) },
            number => topic(TopicState::Running, 1_000, Some(number * 7_919 % 3_000)),
        })
        .collect();
    let rows = names.iter().zip(&statuses).map(|(name, status)| row(name, status, pace(10.0, Some(60))));
    let mut picture = picture(rows.collect());
    picture.title = "m, 1.0 s: 3,000 topics".to_owned();
    assert_eq!(
        format!("\n{}", drawn(&mut picture, NARROW, 9)),
        "
m, 1.0 s: 3,000 topics
topic                 copied      of   rec/s    MB/s     lag    left  state
topic-1234                 0       ?      10       0       ?   1m00s  blocked
  └ the target has no topic clicks: create it there with 12 partitions
topic-1321             1,000   3,999      10       0   2,999   1m00s  running
topic-2642             1,000   3,998      10       0   2,998   1m00s  running
topic-0963             1,000   3,997      10       0   2,997   1m00s  running
… 2,996 more topics
all 3,000 topics       2.99M  >7.49M  30,000    7.50  >4.49M       -
"
    );
}

#[test]
fn one_topic_needs_no_sum_and_no_topic_no_heads() {
    let status = topic(TopicState::Running, 1, Some(1));
    let one = drawn(&mut picture(vec![row("orders", &status, pace(1.0, Some(1)))]), NARROW, 24);
    assert!(one.lines().count() == 3 && !one.contains("all"), "{one}");
    let none = drawn(&mut picture(Vec::new()), NARROW, 24);
    assert_eq!(none.lines().count(), 1, "{none}");
}

#[test]
fn several_mirrors_are_told_apart_and_those_that_ended_are_named() {
    let status = topic(TopicState::Running, 1, Some(1));
    let (east, west) = (row("orders", &status, Pace::default()), row("orders", &status, Pace::default()));
    let rows = vec![Row { mirror: Some("west-of-the-mississippi"), ..west }, Row { mirror: Some("east"), ..east }];
    let mut picture = picture(rows);
    let failed = |number: usize| (Tone::Bad, format!("mirror-{number} failed: no broker answers"));
    picture.ended = (0..5).map(failed).collect();
    let text = drawn(&mut picture, NARROW, 24);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1], "mirror-0 failed: no broker answers");
    assert_eq!(lines[4], "… 2 more mirrors have ended");
    assert!(lines[5].starts_with("mirror        topic "), "{text}");
    assert!(lines[6].starts_with("east          orders "), "{text}");
    assert!(lines[7].starts_with("west-o…sippi  orders "), "{text}");
}

/// Names and reasons that a hostile cluster could send: nothing of them reaches the terminal as a command.
#[test]
fn hostile_names_are_spelled_out() {
    let status = TopicStatus {
        target: "\u{202e}x\u{9b}2J".to_owned(),
        reason: Some("the source says \u{1b}]52;c;aGk=\u{7}\r\n".to_owned()),
        ..topic(TopicState::Stopped, 1, Some(1))
    };
    let mut picture = picture(vec![row("a\u{1b}[2J\u{1b}[H\nall is well", &status, Pace::default())]);
    picture.recent = vec![recent(1, Tone::Warn, "topic \u{1b}[31m is gone\u{8}\u{8}")];
    for width in [NARROW, FULL] {
        for line in frame(&mut picture, width, 24) {
            for (_, text) in line.0 {
                assert!(text.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{text:?}");
            }
        }
    }
    assert!(drawn(&mut picture, FULL, 24).contains("\na\\u{1b}[2J"));
}
