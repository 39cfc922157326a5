//! Seeds, past crashers, and each of them damaged in a thousand ways, through every target; the same ones each time.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use kmirror_fuzz::{TARGETS, Target};

fn replay(name: &str) {
    let target = kmirror_fuzz::target(name);
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty());
    let crashers = crashers(&target);
    for bytes in seeds.iter().chain(&crashers) {
        run(&target, bytes);
    }
    let mut random = fastrand::Rng::with_seed(0x6b6d_6972);
    for _ in 0..DAMAGED {
        let all = seeds.len() + crashers.len();
        let at = random.usize(..all);
        let bytes = seeds.get(at).unwrap_or_else(|| &crashers[at - seeds.len()]);
        run(&target, &damaged(bytes, &mut random));
    }
}

fn run(target: &Target, bytes: &[u8]) {
    let _shown = Shown(bytes);
    (target.body)(bytes);
}

/// The input of a run that panics, to be kept as a crasher.
struct Shown<'a>(&'a [u8]);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let hex: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
            let _ = writeln!(std::io::stderr(), "the input: {hex}");
        }
    }
}

/// Inputs that once broke a promise.
fn crashers(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crashers").join(target.name);
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// A few bytes changed, cut, doubled, or one field blown up.
fn damaged(bytes: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.usize(..3) {
        if bytes.is_empty() {
            break;
        }
        let at = random.usize(..bytes.len());
        match random.u8(..6) {
            0 => bytes[at] ^= 1 << random.u8(..8),
            1 => bytes[at] = random.u8(..),
            2 => bytes.truncate(at),
            3 => bytes.extend_from_within(at..),
            4 => {
                let extreme = [0x7f_ff_ff_ff_u32, u32::MAX, 0, 0x8000_0000][random.usize(..4)].to_be_bytes();
                let end = bytes.len().min(at + 4);
                bytes[at..end].copy_from_slice(&extreme[..end - at]);
            }
            _ => drop(bytes.splice(at..at, std::iter::repeat_n(random.u8(..), random.usize(..9)))),
        }
    }
    bytes
}

/// How many damaged inputs each target gets.
const DAMAGED: usize = 20_000;

#[test]
fn every_target_has_its_test() {
    let here = include_str!("replay.rs");
    for target in TARGETS {
        assert!(here.contains(&format!("replay(\"{}\")", target.name)), "{}", target.name);
    }
}

#[test]
fn frame() {
    replay("frame");
}

#[test]
fn responses() {
    replay("responses");
}

#[test]
fn batch() {
    replay("batch");
}

#[test]
fn message_set() {
    replay("message_set");
}

#[test]
fn codecs() {
    replay("codecs");
}

#[test]
fn judge() {
    replay("judge");
}

#[test]
fn conversion() {
    replay("conversion");
}

#[test]
fn config() {
    replay("config");
}
