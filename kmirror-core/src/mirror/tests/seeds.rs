//! Trouble at random: whatever happens, in the end both sides hold the same, once, in order.

use proptest::prelude::*;

use super::world::{MINUTE, MS, SECOND, TOPIC, World};
use super::{legacy, old, route, stamped};
use crate::config::{Coalesce, Side};
use crate::sample::broker::{Fault, Release};
use crate::sample::{Batch, T0, records_of};
use kmirror_proto::ErrorCode;

/// What happens next.
#[derive(Clone, Debug)]
enum Act {
    /// These faults meet the next writes.
    Faults(Vec<Option<Fault>>),
    Run(u16),
    Fill(u8),
    Kill,
    Stop,
    CutSource,
    CutTarget,
    /// The target's broker restarts, and remembers no producer whose records are old (fact E1).
    Forget,
}

fn fault() -> impl Strategy<Value = Option<Fault>> {
    let code = prop_oneof![
        Just(ErrorCode::NOT_LEADER_OR_FOLLOWER),
        Just(ErrorCode::NOT_ENOUGH_REPLICAS),
        Just(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER),
        Just(ErrorCode::UNKNOWN_SERVER_ERROR),
    ];
    prop_oneof![
        3 => Just(None),
        2 => Just(Some(Fault::AckLost)),
        2 => Just(Some(Fault::Reset)),
        2 => code.prop_map(|code| Some(Fault::Refuse(code))),
        1 => Just(Some(Fault::AppendAndSay(ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND))),
        1 => (1..25_u64).prop_map(|seconds| Some(Fault::AppendLate(u32::try_from(seconds).unwrap() * SECOND))),
        // Longer than the settle time would break the assumption behind rule P7.
        1 => (1..28_u64).prop_map(|seconds| Some(Fault::Slow(u32::try_from(seconds).unwrap() * SECOND))),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => prop::collection::vec(fault(), 1..6).prop_map(Act::Faults),
        4 => (1..4_000_u16).prop_map(Act::Run),
        2 => (1..20_u8).prop_map(Act::Fill),
        1 => Just(Act::Kill),
        1 => Just(Act::Stop),
        1 => Just(Act::CutSource),
        1 => Just(Act::CutTarget),
    ]
}

fn play(world: &mut World, acts: &[Act]) {
    world.config.fetch.partition_bytes_max = 700;
    world.start();
    for act in acts {
        match act {
            Act::Faults(faults) => world.network.target.faults.extend(faults.iter().cloned()),
            Act::Run(ms) => drop(world.run(u32::from(*ms) * MS)),
            Act::Fill(batches) => more(world, i64::from(*batches)),
            Act::Kill => drop(world.kill().start()),
            Act::Stop => {
                let ended = world.stop().end_within(40 * SECOND);
                assert!(ended.is_ok(), "{ended:?}");
                world.start();
            }
            Act::CutSource => drop(world.cut(Side::Source)),
            Act::CutTarget => drop(world.cut(Side::Target)),
            Act::Forget => {
                world.network.target.log(TOPIC, 0).forget_producers();
                world.cut(Side::Target);
            }
        }
    }
    // All faults heal.
    world.network.target.faults.clear();
    assert!(
        world.reach(10 * MINUTE, |world| world.network.target.log(TOPIC, 0).end
            >= world.network.source.log(TOPIC, 0).end)
    );
    world.run(2 * MINUTE).assert_mirrored();
    assert!(world.stops().is_empty(), "{:#?}", world.events);
    let ended = world.stop().end_within(MINUTE).unwrap();
    assert!(ended.drained);
}

fn more(world: &mut World, batches: i64) {
    if world.network.source.release == Release::V0_10_2 {
        let log = world.network.source.log(TOPIC, 0);
        (0..batches).for_each(|_| log.put(crate::sample::message(log.end)));
    } else {
        let log = world.network.source.log(TOPIC, 0);
        let age = log.entries.first().map_or(0, |first| T0 - records_of(first.clone())[0].timestamp);
        for _ in 0..batches {
            let mut batch = Batch::new(log.end, 2);
            batch.t0 -= age;
            log.put(batch.bytes());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_repeated_or_swapped_on_3_9(acts in prop::collection::vec(act(), 1..14)) {
        play(&mut stamped(Release::V3_9, 20, 3), &acts);
    }

    #[test]
    fn nothing_is_lost_repeated_or_swapped_on_2_0(acts in prop::collection::vec(act(), 1..14)) {
        play(&mut stamped(Release::V2_0, 20, 3), &acts);
    }

    #[test]
    fn nothing_is_lost_repeated_or_swapped_where_batches_are_joined(
        acts in prop::collection::vec(act(), 1..14),
        from_0_10 in any::<bool>(),
        newer in any::<bool>(),
    ) {
        let target = if newer { Release::V3_9 } else { Release::V2_0 };
        let mut world = if from_0_10 { legacy(target, 20) } else { stamped(target, 40, 3) };
        route(&mut world, |route| route.coalesce = Coalesce::Auto);
        play(&mut world, &acts);
    }

    #[test]
    fn nothing_is_lost_repeated_or_swapped_on_0_10(acts in prop::collection::vec(act(), 1..14)) {
        play(&mut legacy(Release::V0_10_2, 10), &acts);
    }

    #[test]
    fn nothing_is_lost_repeated_or_swapped_between_formats(acts in prop::collection::vec(act(), 1..14), up in any::<bool>()) {
        let mut world = if up { legacy(Release::V3_9, 10) } else { stamped(Release::V0_10_2, 20, 3) };
        play(&mut world, &acts);
    }

    #[test]
    fn nothing_is_lost_repeated_or_swapped_of_old_records(
        acts in prop::collection::vec(prop_oneof![4 => act(), 1 => Just(Act::Forget)], 1..14),
        newer in any::<bool>(),
    ) {
        play(&mut old(if newer { Release::V3_9 } else { Release::V2_0 }), &acts);
    }
}
