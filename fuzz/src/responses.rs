//! Answers (and requests) of every API and version: what decodes encodes again, and decodes to the same.

use bytes::Bytes;
use kmirror_proto::{ApiKey, decode_request, decode_response, encode_request, encode_response};

/// API key, version (two bytes), then the body of an answer, or of a request where the first bit of the key is set.
pub(crate) fn body(data: &[u8]) {
    let Some((head, rest)) = data.split_first_chunk::<2>() else { return };
    let (key, version) = (ApiKey(i16::from(head[0] & 0x7f)), i16::from(head[1]));
    if head[0] & 0x80 == 0 { answer(key, version, rest) } else { request(key, version, rest) }
}

fn answer(key: ApiKey, version: i16, rest: &[u8]) {
    let Ok((id, first)) = decode_response(key, version, Bytes::copy_from_slice(rest)) else { return };
    assert_eq!(first.key(), key);
    // Not everything that decodes can be said again, such as an answer to another version (KIP-511).
    let Ok(frame) = encode_response(id, version, &first) else { return };
    let again = Bytes::from(frame.chunks().concat()).slice(4..);
    match decode_response(key, version, again) {
        Ok((again_id, second)) => assert_eq!((again_id, format!("{second:?}")), (id, format!("{first:?}"))),
        Err(error) => panic!("{key} v{version}: what was encoded does not decode: {error}"),
    }
}

fn request(key: ApiKey, version: i16, rest: &[u8]) {
    let frame = [&key.0.to_be_bytes()[..], &version.to_be_bytes(), rest].concat();
    let Ok((header, first)) = decode_request(frame.into()) else { return };
    let Ok(frame) = encode_request(header.correlation_id, header.client_id.as_deref(), version, &first) else { return };
    let again = Bytes::from(frame.chunks().concat()).slice(4..);
    match decode_request(again) {
        Ok((_, second)) => assert_eq!(format!("{second:?}"), format!("{first:?}")),
        Err(error) => panic!("{key} v{version}: what was encoded does not decode: {error}"),
    }
}

/// Of every API and version the shortest answer that there is: zeros.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for key in 0..=81_u8 {
        for version in 0..=18_u8 {
            for zeros in [8, 24, 64] {
                let body = vec![0; zeros];
                if decode_response(ApiKey(key.into()), version.into(), body.clone().into()).is_ok() {
                    seeds.push([&[key, version], &body[..]].concat());
                }
                let frame = [&[0, key, 0, version], &body[..]].concat();
                if decode_request(frame.into()).is_ok() {
                    seeds.push([&[key | 0x80, version], &body[..]].concat());
                }
            }
        }
    }
    seeds
}
