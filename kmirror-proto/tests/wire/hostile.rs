//! Bytes that nobody should send. No decoder panics on them, and none takes more memory than their number allows.
//!
//! kafka-protocol 0.18 aborts the process on the four bytes `7f ff ff ff` in the place of an array's length.

use bytes::Bytes;
use kmirror_proto::messages::{DeletableTopic, FetchableTopic};
use kmirror_proto::{
    AnyRequest, AnyResponse, ApiKey, DecodeError, decode_request, decode_response, encode_request, encode_response,
};
use proptest::prelude::*;

use crate::round_trip::body;
use crate::samples::{every_version, request, response};

#[test]
fn an_announced_array_of_two_billion_is_an_error_and_no_allocation() {
    let answer = Bytes::from_static(&[0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff]);
    let refused = DecodeError::Count { what: "brokers", count: 0x7fff_ffff, remaining: 0 };
    assert_eq!(decode_response(ApiKey::METADATA, 1, answer), Err(refused));
}

/// The densest answer there is: a count that just fits, of the smallest elements. An element is larger in memory than
/// on the wire, by a factor that is bounded and known.
#[test]
fn the_densest_answer_takes_a_small_multiple_of_its_bytes() {
    // Fetch v12: correlation id, no tags, throttle, error, session, then topics of an empty name, no partitions, no
    // tags, and no tags at the end.
    let mut bytes = vec![0u8; 4 + 1 + 4 + 2 + 4];
    bytes.extend_from_slice(&MILLION);
    bytes.extend((0..1 << 20).flat_map(|_| [1, 1, 0]));
    bytes.push(0);
    let size = bytes.len();
    let Ok((_, AnyResponse::Fetch(fetched))) = decode_response(ApiKey::FETCH, 12, bytes.clone().into()) else {
        panic!("a valid answer")
    };
    assert_eq!(fetched.topics.len(), 1 << 20);
    assert!(fetched.topics.capacity() * size_of::<FetchableTopic>() <= 22 * size);

    // One element more than there is room for: refused as a whole, before the first is read.
    bytes[15] += 1;
    bytes.pop();
    let refused = decode_response(ApiKey::FETCH, 12, bytes.into());
    assert!(matches!(refused, Err(DecodeError::Count { what: "topics", .. })), "{refused:?}");
}

/// The densest request: names alone, each of them empty and one byte long.
#[test]
fn the_densest_request_takes_a_small_multiple_of_its_bytes() {
    // DeleteTopics v5: header (client id null, no tags), names, timeout, no tags.
    let mut bytes = vec![0, 20, 0, 5, 0, 0, 0, 1, 0xff, 0xff, 0];
    bytes.extend_from_slice(&MILLION);
    bytes.resize(bytes.len() + (1 << 20), 1);
    bytes.extend_from_slice(&[0; 5]);
    let size = bytes.len();
    let Ok((_, AnyRequest::DeleteTopics(asked))) = decode_request(bytes.clone().into()) else {
        panic!("a valid request")
    };
    assert_eq!(asked.topics.len(), 1 << 20);
    assert!(asked.topics.capacity() * size_of::<DeletableTopic>() <= 40 * size);

    let cut = decode_request(Bytes::from(bytes).slice(..size - 6));
    assert!(matches!(cut, Err(DecodeError::Count { what: "topics", .. })), "{cut:?}");
}

/// A compact count of 2^20: one more, seven bits a byte.
const MILLION: [u8; 3] = [0x81, 0x80, 0x40];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        let bytes = Bytes::from(bytes);
        for (key, version) in every_version() {
            let _ = decode_response(key, version, bytes.clone());
            let mut asked = [key.0.to_be_bytes(), version.to_be_bytes()].concat();
            asked.extend_from_slice(&bytes);
            let _ = decode_request(asked.into());
        }
    }

    /// Mostly valid: small numbers, so that counts and lengths are believed and the bytes behind them are read.
    #[test]
    fn small_numbers_never_panic(bytes in prop::collection::vec(prop_oneof![4 => Just(0u8), 3 => 1u8..4, 1 => any::<u8>()], 0..512)) {
        let bytes = Bytes::from(bytes);
        for (key, version) in every_version() {
            let _ = decode_response(key, version, bytes.clone());
            let mut asked = [key.0.to_be_bytes(), version.to_be_bytes()].concat();
            asked.extend_from_slice(&bytes);
            let _ = decode_request(asked.into());
        }
    }

    /// One byte of a valid message changed. What still decodes also encodes, and to a message of the same value.
    #[test]
    fn a_changed_byte_never_panics(place in any::<prop::sample::Index>(), value in any::<u8>()) {
        for (key, version) in every_version() {
            let mut answer = body(&encode_response(1, version, &response(key, version)).unwrap()).to_vec();
            let at = place.index(answer.len());
            answer[at] = value;
            if let Ok((id, decoded)) = decode_response(key, version, answer.into())
                && let Ok(frame) = encode_response(id, version, &decoded)
            {
                prop_assert_eq!(decode_response(key, version, body(&frame)), Ok((id, decoded)));
            }
            let mut asked = body(&encode_request(1, None, version, &request(key, version)).unwrap()).to_vec();
            let at = place.index(asked.len());
            asked[at] = value;
            if let Ok((header, decoded)) = decode_request(asked.into())
                && let Ok(frame) = encode_request(header.correlation_id, None, header.version, &decoded)
            {
                prop_assert_eq!(decode_request(body(&frame)).unwrap().1, decoded);
            }
        }
    }
}
