//! Messages that come of the samples by chance: their bytes are changed here and there, and what still is a message is
//! compared as the samples are.

use std::fmt::Debug;

use kmirror_proto::{ApiKey, decode_request, decode_response, encode_request, encode_response};

use super::{judge_request, judge_response};
use crate::round_trip::body;
use crate::samples::{every_version, request, response};

/// Changes that are tried for each message and version.
const TRIES: u32 = 3000;

/// What is compared at least, of each half: most changes of a number or a text give a message.
const COMPARED_MIN: u32 = 150_000;

#[test]
fn generated_requests_are_the_same_bytes() {
    let mut compared = 0;
    let mut chance = Chance(1);
    for (key, version) in every_version() {
        let sample = request(key, version);
        let bytes = body(&encode_request(77, Some("kmirror"), version, &sample).expect("encodes"));
        // Key, version, correlation id, client id; the byte of no tags.
        let header = 2 + 2 + 4 + 2 + "kmirror".len() + usize::from(sample.flexible(version));
        for _ in 0..TRIES {
            let Ok((_, ours)) = decode_request(chance.changed(&bytes, header).into()) else { continue };
            if is_itself(&ours) && judge_request(key, version, &ours) {
                compared += 1;
            }
        }
    }
    assert!(compared > COMPARED_MIN, "{compared}");
}

#[test]
fn generated_responses_are_the_same_bytes() {
    let mut compared = 0;
    let mut chance = Chance(2);
    for (key, version) in every_version() {
        let sample = response(key, version);
        let bytes = body(&encode_response(77, version, &sample).expect("encodes"));
        let compact = request(key, version).flexible(version) && key != ApiKey::API_VERSIONS;
        let header = 4 + usize::from(compact);
        for _ in 0..TRIES {
            let changed = chance.changed(&bytes, header);
            let Ok((_, ours)) = decode_response(key, version, changed.into()) else { continue };
            if is_itself(&ours) && judge_response(key, version, &ours) {
                compared += 1;
            }
        }
    }
    assert!(compared > COMPARED_MIN, "{compared}");
}

/// A quota that is not a number is not equal to itself.
fn is_itself(message: &impl Debug) -> bool {
    !format!("{message:?}").contains("NaN")
}

/// Numbers from a seed; the same for ever.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }

    fn byte(&mut self) -> u8 {
        let any = self.below(256).to_le_bytes()[0];
        [any, any, any, any, 0, 1, 0x7f, 0x80, 0xff][self.below(9)]
    }

    /// The message with one to three changes behind its header.
    fn changed(&mut self, bytes: &[u8], header: usize) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(3) {
            let room = bytes.len().saturating_sub(header);
            if room == 0 {
                return bytes;
            }
            let at = header + self.below(room);
            match self.below(6) {
                0..=2 => bytes[at] = self.byte(),
                // A number of several bytes, or a part of a text, from elsewhere.
                3 => {
                    let len = (1 + self.below(16)).min(bytes.len() - at);
                    let from = header + self.below(bytes.len() - len - header + 1);
                    bytes.copy_within(from..from + len, at);
                }
                // A text or an array that is longer, or shorter, than it was: its length stands in front.
                4 => {
                    let len = 1 + self.below(3);
                    let more: Vec<u8> = (0..len).map(|_| b'a' + self.byte() % 26).collect();
                    bytes[at] = bytes[at].wrapping_add(len.to_le_bytes()[0]);
                    bytes.splice(at + 1..at + 1, more);
                }
                _ => {
                    let len = (1 + self.below(60)).min(bytes.len() - at - 1);
                    let part = bytes[at + 1..at + 1 + len].to_vec();
                    if self.below(2) == 0 {
                        bytes[at] = bytes[at].wrapping_add(1);
                        bytes.splice(at + 1..at + 1, part);
                    } else {
                        bytes[at] = bytes[at].wrapping_sub(1);
                        bytes.drain(at + 1..at + 1 + len);
                    }
                }
            }
        }
        bytes
    }
}
