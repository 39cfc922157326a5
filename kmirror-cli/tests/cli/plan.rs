//! `kmirror plan`: what a run would do, with exit code 0 if nothing stands in its way.

use kmirror_testkit::Release;

use super::broker::{Broker, Topics};
use super::{Done, Files, kmirror_with};

const SOURCE: Topics = &[("orders", &[(0, 0), (0, 0)]), ("payments", &[(3, 3)]), ("__consumer_offsets", &[(0, 0)])];

/// Into a release that has everything.
fn plan(target: Topics, more: &[&str]) -> Done {
    plan_into(&Broker::start(target), more)
}

fn plan_into(target: &Broker, more: &[&str]) -> Done {
    let servers = |broker: &Broker| format!("bootstrap.servers={}\n", broker.address());
    let source = Broker::start(SOURCE);
    let consumer = servers(&source) + "auto.offset.reset=earliest\n";
    let files = Files::new(&[("c", &consumer), ("p", &servers(target))]);
    let (consumer, producer) = (files.path("c"), files.path("p"));
    let args =
        ["plan", "--consumer.config", consumer.to_str().unwrap(), "--producer.config", producer.to_str().unwrap()];
    kmirror_with(&[&args[..], &["--name", "m"], more].concat())
}

/// Without the line breaks.
fn unwrapped(done: &Done) -> String {
    done.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_each_pattern_matches_and_where_it_goes() {
    let done =
        plan(&[("orders", &[(0, 0), (0, 0)]), ("payments", &[(0, 0)])], &["--whitelist", "orders,payments,gone"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for line in [
        "gone      include       0  matches nothing\n",
        "orders        2  there      -                     0  earliest\n",
        "nothing stands in the way of 2 topics with 3 partitions\n",
    ] {
        assert!(done.out.contains(line), "{line}{}", done.out);
    }
}

#[test]
fn what_stands_in_the_way_is_exit_code_1() {
    // Partitions can be added over the wire since 1.0.
    let old = Broker::of(Release::V0_11, &[("orders", &[(0, 0)])]);
    let done = plan_into(&old, &["--whitelist", "orders"]);
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""), "{done:?}");
    assert!(unwrapped(&done).contains("--alter --topic orders --partitions 2"), "{}", done.out);
    let done = plan(&[], &["--whitelist", "order"]);
    assert_eq!(done.code, Some(1));
    assert!(unwrapped(&done).contains("no topic of the source matches order:"), "{}", done.out);
}

#[test]
fn a_tool_reads_one_object_for_each_mirror() {
    let done = plan(&[], &["--whitelist", ".*", "--json"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let [line] = done.out.lines().collect::<Vec<_>>()[..] else { panic!("{}", done.out) };
    for part in
        ["{\"clear\":true,", "\"mirror\":\"m\"", "\"topic\":\"orders\"", "\"passed_over\":[\"__consumer_offsets\"]"]
    {
        assert!(line.contains(part), "{part}: {line}");
    }
}

#[test]
fn flags_that_make_no_sense_are_a_usage_error() {
    assert_eq!(kmirror_with(&["plan", "--whitelist", "a"]).code, Some(2));
}
