//! What is written comes back, at every version of every message; what is cut short or too long does not.

use bytes::Bytes;
use kmirror_proto::{
    AnyRequest, ApiKey, DecodeError, EncodeError, Frame, decode_request, decode_response, encode_request,
    encode_response, peek_correlation_id,
};

use crate::samples::{SPOKEN, every_version, request, response};

/// The frame in one piece, without its length prefix, which is checked.
pub(crate) fn body(frame: &Frame) -> Bytes {
    let whole = frame.chunks().concat();
    assert_eq!(whole.len(), frame.len());
    let (prefix, body) = whole.split_first_chunk::<4>().expect("a frame has a length prefix");
    assert_eq!(usize::try_from(i32::from_be_bytes(*prefix)), Ok(body.len()));
    Bytes::copy_from_slice(body)
}

#[test]
fn spoken_versions_are_those_of_the_table() {
    for &(key, max, flexible_from) in SPOKEN {
        let sample = request(key, 0);
        assert_eq!(sample.key(), key);
        assert_eq!(sample.versions(), 0..=max, "{key}");
        for version in 0..=max {
            assert_eq!(sample.flexible(version), version >= flexible_from, "{key} v{version}");
        }
    }
}

#[test]
fn requests_come_back() {
    for (key, version) in every_version() {
        let sample = request(key, version);
        for client_id in [Some("kmirror"), None] {
            let frame = encode_request(0x0102_0304, client_id, version, &sample).expect("encodes");
            let (header, back) = decode_request(body(&frame)).expect("decodes");
            assert_eq!((header.key, header.version), (key, version));
            assert_eq!(header.correlation_id, 0x0102_0304);
            assert_eq!(header.client_id.as_deref(), client_id);
            assert_eq!(back, sample, "{key} v{version}");
        }
    }
}

#[test]
fn responses_come_back() {
    for (key, version) in every_version() {
        let sample = response(key, version);
        let frame = encode_response(-5, version, &sample).expect("encodes");
        let body = body(&frame);
        assert_eq!(peek_correlation_id(&body), Ok(-5));
        assert_eq!(decode_response(key, version, body), Ok((-5, sample)), "{key} v{version}");
    }
}

#[test]
fn a_message_cut_anywhere_is_an_error() {
    for (key, version) in every_version() {
        let request = body(&encode_request(1, Some("c"), version, &request(key, version)).expect("encodes"));
        for cut in 0..request.len() {
            assert!(decode_request(request.slice(..cut)).is_err(), "{key} v{version} request cut to {cut}");
        }
        let response = body(&encode_response(1, version, &response(key, version)).expect("encodes"));
        for cut in 0..response.len() {
            assert!(decode_response(key, version, response.slice(..cut)).is_err(), "{key} v{version} cut to {cut}");
        }
    }
}

#[test]
fn a_byte_too_many_is_an_error() {
    for (key, version) in every_version() {
        let mut request = body(&encode_request(1, None, version, &request(key, version)).expect("encodes")).to_vec();
        request.push(0);
        let error = decode_request(request.into()).expect_err("a byte too many");
        assert!(matches!(error, DecodeError::Trailing { bytes: 1, .. }), "{key} v{version}: {error}");

        let mut response = body(&encode_response(1, version, &response(key, version)).expect("encodes")).to_vec();
        response.push(0);
        let error = decode_response(key, version, response.into()).expect_err("a byte too many");
        assert!(matches!(error, DecodeError::Trailing { bytes: 1, .. }), "{key} v{version}: {error}");
    }
}

#[test]
fn versions_beyond_are_refused_both_ways() {
    for &(key, max, _) in SPOKEN {
        for version in [-1, max + 1, i16::MIN, i16::MAX] {
            let spoken = encode_request(1, None, version, &request(key, 0));
            assert_eq!(spoken, Err(EncodeError::UnsupportedVersion { key, version }));
            let spoken = encode_response(1, version, &response(key, 0));
            assert_eq!(spoken, Err(EncodeError::UnsupportedVersion { key, version }));
            let heard = decode_response(key, version, Bytes::from_static(&[0; 64]));
            assert_eq!(heard, Err(DecodeError::UnsupportedVersion { key, version }));
        }
    }
    let key = ApiKey(999);
    assert_eq!(decode_response(key, 0, Bytes::from_static(&[0; 4])), Err(DecodeError::UnknownApi { key }));
    let asked = Bytes::from_static(&[0x03, 0xe7, 0, 0, 0, 0, 0, 1, 0xff, 0xff]);
    assert_eq!(decode_request(asked), Err(DecodeError::UnknownApi { key }));
}

/// A mirror moves gigabytes: a copy of every payload on either side would halve its speed.
#[test]
fn payloads_are_shared_and_not_copied() {
    let AnyRequest::Produce(produce) = request(ApiKey::PRODUCE, 9) else { panic!("produce") };
    let payload = produce.topics[0].partitions[0].records.0[1].clone();
    let frame = encode_request(1, None, 9, &produce.into()).expect("encodes");
    assert!(frame.chunks().iter().any(|chunk| chunk.as_ptr() == payload.as_ptr() && chunk.len() == payload.len()));

    let sent = body(&encode_response(1, 12, &response(ApiKey::FETCH, 12)).expect("encodes"));
    let (_, kmirror_proto::AnyResponse::Fetch(fetched)) =
        decode_response(ApiKey::FETCH, 12, sent.clone()).expect("decodes")
    else {
        panic!("fetch")
    };
    let records = fetched.topics[0].partitions[0].records.clone().expect("records");
    assert!(sent.as_ptr_range().contains(&records.as_ptr()));
}
