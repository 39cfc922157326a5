//! Stories of `it`, and others, in which nothing is to do for a while: 30 s after a crash towards 0.10, until no request can
//! take effect any more; 15 s until a cluster counts as not there; 6 s until a log is believed to end too early; 5 s until a
//! topic counts as missing, or as gone. All of them wait at the same time.

use kmirror_testkit::Release::{V0_10_1, V1_0, V2_0, V2_4, V2_8, V3_9, V4_4};
use kmirror_tests::Result;
use kmirror_tests::embedded::Embedded;
use kmirror_tests::kafka::Kafka;
use kmirror_tests::stories::bad_input;
use kmirror_tests::stories::live::topics::topics_come_and_go;
use kmirror_tests::stories::plan::a_plan_is_what_a_run_does;
use kmirror_tests::stories::policies::creation::a_missing_topic_is_waited_for;

use crate::logs::{the_target_loses_records, the_target_s_topic_is_made_again};
use crate::policies::LOSSES;
use crate::{at_once, played};

#[test]
fn stories_that_wait() -> Result {
    type Story = fn() -> Result;
    let stories: [(&str, Story); 8] = [
        ("losses are refused", losses_are_refused),
        ("losses are dropped", losses_are_dropped),
        ("clusters that are none", clusters_that_are_none_are_named),
        ("topics come and go", || played(topics_come_and_go, &[(V0_10_1, V4_4), (V4_4, V2_4), (V2_8, V1_0)])),
        ("a missing topic", || {
            played(a_missing_topic_is_waited_for, &[(V4_4, V0_10_1), (V0_10_1, V4_4), (V2_0, V2_8)])
        }),
        ("a plan", || played(a_plan_is_what_a_run_does, &[(V0_10_1, V4_4), (V4_4, V0_10_1), (V2_0, V3_9)])),
        ("the target loses records", the_target_loses_records),
        ("the target's topic is made again", the_target_s_topic_is_made_again),
    ];
    at_once(stories.map(|(name, story)| (name.to_owned(), story)))
}

fn losses_are_refused() -> Result {
    at_once(LOSSES.map(|(loss, pairs)| {
        (format!("{loss:?}"), move || played(|source, target| loss.is_refused(source, target), pairs))
    }))
}

fn losses_are_dropped() -> Result {
    at_once(LOSSES.map(|(loss, pairs)| {
        (format!("{loss:?}"), move || played(|source, target| loss.is_dropped(source, target), pairs))
    }))
}

fn clusters_that_are_none_are_named() -> Result {
    type Story = fn(&dyn Kafka) -> Result;
    let stories: [(&str, Story); 3] = [
        ("no source", bad_input::an_unreachable_source_is_named),
        ("no target", bad_input::an_unreachable_target_is_named),
        ("a web server", bad_input::a_web_server_is_recognised),
    ];
    at_once(stories.map(|(name, story)| (name.to_owned(), move || story(&Embedded::start(V4_4)?))))
}
