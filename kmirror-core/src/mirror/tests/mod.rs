//! The mirror's machines between clusters in memory: what is copied, what happens to it in trouble, how it ends.

mod damage;
mod ending;
mod faults;
mod joining;
mod living;
mod seeds;
mod starting;
mod steady;
mod world;

use std::sync::Arc;

use kmirror_proto::compress::Codec;

use crate::config::{LossPolicy, Policies, RouteConfig};
use crate::sample::broker::Release;
use crate::sample::{Batch, message, wrapper};
use world::{TOPIC, World};

/// A source of 3.9 with `batches` batches of `records` each, and a target of `target`.
fn stamped(target: Release, batches: i64, records: i32) -> World {
    let mut world = World::new(Release::V3_9, target);
    fill(&mut world, 0, batches, records);
    world
}

/// Appends batches to the source.
fn fill(world: &mut World, partition: usize, batches: i64, records: i32) {
    let log = world.network.source.log(TOPIC, partition);
    for _ in 0..batches {
        log.put(Batch::new(log.end, records).bytes());
    }
}

/// `abort.on.send.failure=false`: what the target cannot take is left out.
fn drop_what_is_refused(world: &mut World) {
    let drop = LossPolicy::Drop;
    let policies = Policies { headers: drop, too_large: drop, timestamps: drop, keyless: drop, refused: drop };
    route(world, |route| route.policies = policies);
    world.config.produce.abort_on_send_failure = false;
}

/// Changes what holds for every topic.
fn route(world: &mut World, change: impl FnOnce(&mut RouteConfig)) {
    change(Arc::make_mut(&mut world.config.routing.config));
}

/// A source of 0.10 with plain messages and wrappers in turn, and a target of `target`.
fn legacy(target: Release, wrappers: i64) -> World {
    let mut world = World::new(Release::V0_10_2, target);
    let log = world.network.source.log(TOPIC, 0);
    for _ in 0..wrappers {
        log.put(message(log.end));
        log.put(wrapper(Codec::Gzip, &[log.end, log.end + 1, log.end + 2]));
    }
    world
}

/// Records that are two days old: a broker keeps nothing of their producer over a restart (EXACTNESS.md F1).
fn old(target: Release) -> World {
    let mut world = stamped(target, 0, 0);
    let log = world.network.source.log(TOPIC, 0);
    for _ in 0..20 {
        let mut batch = Batch::new(log.end, 3);
        batch.t0 -= 2 * 86_400_000;
        log.put(batch.bytes());
    }
    world
}
