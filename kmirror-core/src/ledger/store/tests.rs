//! The store against a broker in memory.

use std::time::Duration;

use kmirror_proto::ApiKey;

use super::*;
use crate::config::{ClusterConfig, Side};
use crate::ledger::Checkpoint;
use crate::offset::{SourceOffset, TargetOffset};
use crate::produce::Proved;
use crate::sample::broker::{Broker, Release};
use crate::sample::network::Network;

const MS: Duration = Duration::from_millis(1);
const TOPIC: &str = "kmirror.m.ledger";

/// A store, its client, and the cluster.
struct Rig {
    store: Store,
    client: Client,
    owner: usize,
}

struct Scene {
    network: Network,
    rigs: Vec<Rig>,
    now: Now,
    told: Vec<(usize, StoreEvent)>,
}

impl Scene {
    fn new(release: Release) -> Self {
        let network = Network::new(Broker::new(release, "s"), Broker::new(release, "t"));
        Self { network, rigs: Vec::new(), now: Now::default(), told: Vec::new() }
    }

    fn with_store(mut self) -> Self {
        let config = ClusterConfig::new(vec![("t".to_owned(), 1)]);
        let owner = self.rigs.len();
        let client = Client::new(Side::Target, &config, 7 + owner as u64);
        self.rigs.push(Rig { store: Store::new("m", 30_000 * MS, 100 * MS), client, owner });
        self
    }

    /// Lets `time` pass.
    fn run(&mut self, time: Duration) {
        let end = self.now.after(time);
        let mut in_place = 0;
        loop {
            for index in 0..self.rigs.len() {
                self.settle(index);
            }
            let wakes = self.rigs.iter().filter_map(|rig| {
                let store = if rig.client.metadata().generation == 0 { None } else { rig.store.poll_timeout() };
                crate::clock::earliest(rig.client.poll_timeout(), store)
            });
            let next = self.network.next_at().into_iter().chain(wakes).min();
            let Some(next) = next.filter(|next| *next <= end) else { break };
            in_place = if next > self.now.tick { 0 } else { in_place + 1 };
            assert!(in_place < 100, "woken for nothing at {}", self.now.tick);
            self.now.tick = self.now.tick.max(next);
            if self.network.next_at().is_some_and(|at| at <= self.now.tick) {
                if let Some((owner, _, event)) = self.network.step(self.now) {
                    self.rigs[owner].client.handle_net(self.now, event);
                }
            } else {
                for rig in &mut self.rigs {
                    rig.client.handle_timeout(self.now);
                }
            }
        }
        self.now.tick = end;
    }

    fn settle(&mut self, index: usize) {
        let rig = &mut self.rigs[index];
        while let Some(reply) = rig.client.poll_reply() {
            assert!(rig.store.handle_reply(self.now, &mut rig.client, &reply));
        }
        rig.store.advance(self.now, &mut rig.client);
        while let Some(action) = rig.client.poll_net() {
            self.network.apply(self.now, rig.owner, Side::Target, action);
        }
        while rig.client.poll_event().is_some() {}
        self.told.extend(std::iter::from_fn(|| rig.store.poll_event()).map(|event| (index, event)));
    }

    fn broker(&mut self) -> &mut Broker {
        &mut self.network.target
    }

    fn events(&self) -> Vec<&StoreEvent> {
        self.told.iter().map(|(_, event)| event).collect()
    }

    fn stored(&self) -> Vec<&LedgerEntry> {
        let stored = self.told.iter().filter_map(|(_, event)| match event {
            StoreEvent::Stored(entries) => Some(entries),
            StoreEvent::Ready | StoreEvent::Identified(_) | StoreEvent::Delayed(_) | StoreEvent::Failed(_) => None,
        });
        stored.flatten().collect()
    }

    fn keys(&mut self) -> Vec<String> {
        self.broker().log(TOPIC, 0).records().into_iter().filter_map(|seen| seen.key).collect()
    }

    fn failure(&self) -> String {
        match self.told.last() {
            Some((_, StoreEvent::Failed(why))) => why.clone(),
            other => panic!("{other:?}"),
        }
    }
}

fn entry(partition: i32, source: i64) -> LedgerEntry {
    let proved = Proved { source_next: SourceOffset(source), target_next: TargetOffset(source), ..Proved::default() };
    let checkpoint = Checkpoint::new(&proved, None, -1, false, 0);
    LedgerEntry::Checkpoint { worker: "0".to_owned(), topic: "t".to_owned(), partition, checkpoint }
}

fn ready(release: Release) -> Scene {
    let mut scene = Scene::new(release).with_store();
    scene.run(5_000 * MS);
    assert_eq!(scene.events(), [&StoreEvent::Ready]);
    scene
}

#[test]
fn a_topic_that_is_not_there_is_created() {
    for release in [Release::V0_10_2, Release::V2_0, Release::V3_9] {
        let mut scene = ready(release);
        assert_eq!(scene.broker().times_asked(ApiKey::CREATE_TOPICS), 1);
        assert_eq!(scene.rigs[0].store.ledger().id(Slot::Exclusive).is_some(), release >= Release::V2_0);
    }
}

#[test]
fn on_0_10_0_asking_for_its_name_creates_it() {
    let mut scene = ready(Release::V0_10_0);
    assert_eq!(scene.broker().topics[TOPIC].len(), 1);
    assert_eq!(scene.rigs[0].store.ledger().id(Slot::Exclusive), None);
}

#[test]
fn a_0_10_0_that_creates_nothing_by_itself_is_named() {
    let mut scene = Scene::new(Release::V0_10_0).with_store();
    scene.broker().auto_create = false;
    scene.run(120_000 * MS);
    assert!(scene.failure().contains("auto.create.topics.enable"), "{}", scene.failure());
    assert!(scene.broker().times_asked(ApiKey::METADATA) < 150, "not in a hurry");
}

#[test]
fn a_topic_that_is_there_is_read_and_its_id_taken() {
    let first = ready(Release::V3_9);
    let id = first.rigs[0].store.ledger().id(Slot::Exclusive);
    let mut second = first.with_store();
    second.run(5_000 * MS);
    assert_eq!(second.rigs[1].store.ledger().id(Slot::Exclusive), id);
    assert_eq!(second.keys().len(), 1, "no second proposal");
}

#[test]
fn two_that_begin_at_once_agree_on_the_first_id() {
    // trace C1, rule P1.
    let mut scene = Scene::new(Release::V2_0).with_store().with_store();
    scene.broker().topic(TOPIC, 1);
    scene.run(5_000 * MS);
    let proposed = scene.keys();
    assert_eq!(proposed.len(), 2, "both had read an empty ledger");
    let ids: Vec<_> =
        scene.rigs.iter().map(|rig| format!("id/{}", rig.store.ledger().id(Slot::Exclusive).unwrap())).collect();
    assert_eq!(ids, [proposed[0].clone(), proposed[0].clone()]);
}

#[test]
fn each_slot_has_an_id_of_its_own_and_all_stores_agree_on_it() {
    let mut scene = ready(Release::V3_9).with_store();
    scene.run(5_000 * MS);
    for rig in &mut scene.rigs {
        rig.store.want_id(Slot::Shared(3));
        rig.store.want_id(Slot::Shared(4));
        rig.store.put(entry(0, 5));
    }
    scene.run(5_000 * MS);
    let ids = |rig: usize| {
        [Slot::Exclusive, Slot::Shared(3), Slot::Shared(4)].map(|slot| scene.rigs[rig].store.ledger().id(slot))
    };
    assert_eq!(ids(0), ids(1));
    assert_eq!(ids(0).iter().flatten().collect::<BTreeSet<_>>().len(), 3);
    let identified = [3, 4].map(|partition| StoreEvent::Identified(Slot::Shared(partition)));
    assert!(identified.iter().all(|event| scene.events().contains(&event)));
    assert!(scene.rigs.iter().all(|rig| rig.store.is_idle()), "the entry that waited is stored as well");
}

#[test]
fn what_was_stored_is_read_by_the_next_one() {
    for release in [Release::V0_10_2, Release::V3_9] {
        let mut first = ready(release);
        for source in [10, 20] {
            first.rigs[0].store.put(entry(3, source));
            first.run(100 * MS);
        }
        assert_eq!(first.stored(), [&entry(3, 10), &entry(3, 20)]);
        let mut second = first.with_store();
        second.run(5_000 * MS);
        let furthest = second.rigs[1].store.ledger().furthest("t", 3);
        assert_eq!(furthest.map(|checkpoint| checkpoint.source_next()), Some(SourceOffset(20)));
    }
}

#[test]
fn an_entry_that_waits_is_replaced_by_a_newer_one() {
    let mut scene = ready(Release::V3_9);
    let store = &mut scene.rigs[0].store;
    for source in 0..1000 {
        store.put(entry(0, source));
        store.put(entry(1, source));
    }
    assert!(!store.is_idle());
    scene.run(100 * MS);
    assert_eq!(scene.stored(), [&entry(0, 999), &entry(1, 999)]);
    assert!(scene.rigs[0].store.is_idle());
}

#[test]
fn a_failed_write_is_written_again() {
    for code in [ErrorCode::NOT_LEADER_OR_FOLLOWER, ErrorCode::NOT_ENOUGH_REPLICAS, ErrorCode::UNKNOWN_SERVER_ERROR] {
        let mut scene = ready(Release::V2_0);
        scene.broker().ledger_refusals.extend([code, code]);
        scene.rigs[0].store.put(entry(0, 5));
        scene.run(5_000 * MS);
        assert_eq!(scene.stored(), [&entry(0, 5)], "{code}");
        assert!(scene.events().iter().any(|event| matches!(event, StoreEvent::Delayed(_))), "and said after the first");
    }
}

#[test]
fn what_is_newer_takes_the_place_of_what_failed() {
    let mut scene = ready(Release::V2_0);
    scene.broker().ledger_refusals.push_back(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    scene.rigs[0].store.put(entry(0, 5));
    scene.rigs[0].store.put(entry(1, 5));
    scene.settle(0);
    scene.rigs[0].store.put(entry(0, 6));
    scene.run(5_000 * MS);
    let mut stored = scene.stored();
    stored.sort_by_key(|entry| entry.key());
    assert_eq!(stored, [&entry(0, 6), &entry(1, 5)]);
}

#[test]
fn a_connection_that_ends_at_any_question_is_no_end() {
    for key in [ApiKey::CREATE_TOPICS, ApiKey::LIST_OFFSETS, ApiKey::FETCH, ApiKey::INIT_PRODUCER_ID, ApiKey::PRODUCE] {
        let mut scene = Scene::new(Release::V3_9).with_store();
        scene.broker().hangs_up_on = Some(key);
        scene.run(10_000 * MS);
        assert!(scene.events().contains(&&StoreEvent::Ready), "{key}: {:?}", scene.events());
    }
}

#[test]
fn a_topic_without_a_leader_is_waited_for_and_then_given_up() {
    let mut scene = Scene::new(Release::V3_9).with_store();
    scene.broker().topic(TOPIC, 1).leaderless = true;
    scene.run(10_000 * MS);
    assert!(scene.events().iter().all(|event| matches!(event, StoreEvent::Delayed(_))), "{:?}", scene.events());
    assert!(scene.broker().times_asked(ApiKey::CREATE_TOPICS) < 20, "not in a hurry");
    scene.run(120_000 * MS);
    assert_eq!(scene.failure(), format!("{TOPIC} has no leader"));
}

#[test]
fn a_leader_that_comes_back_is_enough() {
    let mut scene = Scene::new(Release::V3_9).with_store();
    scene.broker().topic(TOPIC, 1).leaderless = true;
    scene.run(5_000 * MS);
    scene.broker().leaderless = false;
    scene.run(5_000 * MS);
    assert_eq!(scene.events().last(), Some(&&StoreEvent::Ready));
}

#[test]
fn a_refusal_for_good_names_topic_and_reason() {
    let mut scene = Scene::new(Release::V3_9).with_store();
    scene.broker().create_says = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    scene.run(5_000 * MS);
    let text = scene.failure();
    assert!(text.contains(TOPIC) && text.contains("cannot be created"), "{text}");
    let mut scene = ready(Release::V3_9);
    scene.broker().ledger_refusals.push_back(ErrorCode::TOPIC_AUTHORIZATION_FAILED);
    scene.rigs[0].store.put(entry(0, 5));
    scene.run(5_000 * MS);
    assert!(scene.failure().contains(TOPIC), "{}", scene.failure());
}

#[test]
fn somebody_elses_records_are_not_read_as_ours() {
    let mut scene = Scene::new(Release::V3_9).with_store();
    scene.broker().topic(TOPIC, 1).log(TOPIC, 0).put(crate::sample::Batch::new(0, 1).bytes());
    scene.run(5_000 * MS);
    // The keys are none that this release knows: passed over, as those of a newer one.
    assert_eq!(scene.events(), [&StoreEvent::Ready]);
    assert_eq!(scene.rigs[0].store.ledger().unknown(), 1);
    let mut scene = Scene::new(Release::V3_9).with_store();
    let damaged = crate::sample::record(0, b"id/5", b"00000000 {}");
    scene.broker().topic(TOPIC, 1).log(TOPIC, 0).put(damaged);
    scene.run(5_000 * MS);
    assert!(scene.failure().contains("checksum"), "{}", scene.failure());
}
