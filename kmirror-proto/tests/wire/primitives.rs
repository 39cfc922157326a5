//! The types that messages are made of.

use bytes::Bytes;
use kmirror_proto::{DecodeError, EncodeError, Form, Reader, TaggedFields, Writer};

fn reader(bytes: &'static [u8]) -> Reader {
    Reader::new(Bytes::from_static(bytes))
}

fn written(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut w = Writer::new();
    write(&mut w);
    let length = w.len();
    let bytes = w.into_chunks().concat();
    assert_eq!(bytes.len(), length);
    bytes
}

#[test]
fn fixed_sizes_are_big_endian() {
    let bytes = written(|w| {
        w.put_i8(-2);
        w.put_i16(-3);
        w.put_u16(0xfffe);
        w.put_i32(0x0102_0304);
        w.put_u32(0xffff_fffe);
        w.put_i64(i64::MIN);
        w.put_f64(0.5);
        w.put_bool(true);
    });
    let mut r = Reader::new(bytes.into());
    assert_eq!(r.i8("a"), Ok(-2));
    assert_eq!(r.i16("b"), Ok(-3));
    assert_eq!(r.u16("c"), Ok(0xfffe));
    assert_eq!(r.array("d"), Ok([1, 2, 3, 4]));
    assert_eq!(r.u32("e"), Ok(0xffff_fffe));
    assert_eq!(r.i64("f"), Ok(i64::MIN));
    assert_eq!(r.f64("g"), Ok(0.5));
    assert_eq!(r.bool("h"), Ok(true));
    assert_eq!(r.i8("i"), Err(DecodeError::Truncated { what: "i", needed: 1, remaining: 0 }));
    assert_eq!(r.finish("all"), Ok(()));
    assert_eq!(reader(&[2]).bool("any byte but 0 is true"), Ok(true));
    assert_eq!(reader(&[0, 0]).finish("x"), Err(DecodeError::Trailing { what: "x", bytes: 2 }));
}

#[test]
fn strings_have_two_forms_and_a_null() {
    for (form, expected) in
        [(Form::Classic, &[0, 2, b'o', b'k', 0xff, 0xff, 0, 0][..]), (Form::Compact, &[3, b'o', b'k', 0, 1][..])]
    {
        let bytes = written(|w| {
            w.put_string(form, "ok", "s").expect("short");
            w.put_nullable_string(form, None, "s").expect("null");
            w.put_string(form, "", "s").expect("empty");
        });
        assert_eq!(bytes, expected);
        let mut r = Reader::new(bytes.into());
        assert_eq!(r.string(form, "s").as_deref(), Ok("ok"));
        assert_eq!(r.nullable_string(form, "s"), Ok(None));
        assert_eq!(r.string(form, "s").as_deref(), Ok(""));
    }
    assert_eq!(reader(&[0xff, 0xff]).string(Form::Classic, "s"), Err(DecodeError::Null { what: "s" }));
    assert_eq!(reader(&[0]).string(Form::Compact, "s"), Err(DecodeError::Null { what: "s" }));
    let below = DecodeError::NegativeLength { what: "s", length: -2 };
    assert_eq!(reader(&[0xff, 0xfe]).nullable_string(Form::Classic, "s"), Err(below));
    let past = DecodeError::Truncated { what: "s", needed: 0x7fff, remaining: 1 };
    assert_eq!(reader(&[0x7f, 0xff, b'x']).string(Form::Classic, "s"), Err(past));
    assert_eq!(reader(&[0, 1, 0xff]).string(Form::Classic, "s"), Err(DecodeError::NotUtf8 { what: "s" }));
}

#[test]
fn strings_beyond_32767_bytes_are_refused() {
    let long = "x".repeat(32_768);
    for form in [Form::Classic, Form::Compact] {
        let mut w = Writer::new();
        assert_eq!(w.put_string(form, &long, "s"), Err(EncodeError::TooLong { what: "s", length: 32_768 }));
        assert_eq!(w.put_string(form, &long[1..], "s"), Ok(()));
    }
}

/// kafka-protocol-rs #152, kafka-go #1439, sarama #3543: each allocated what a peer announced.
#[test]
fn counts_are_held_against_the_bytes_that_are_left() {
    let count = |bytes: &'static [u8], form| reader(bytes).items(form, 4, "a", |r| r.i32("item"));
    assert_eq!(count(&[0, 0, 0, 1, 0, 0, 0, 9], Form::Classic), Ok(vec![9]));
    assert_eq!(count(&[2, 0, 0, 0, 9], Form::Compact), Ok(vec![9]));
    let huge = DecodeError::Count { what: "a", count: 0x7fff_ffff, remaining: 4 };
    assert_eq!(count(&[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0], Form::Classic), Err(huge));
    let huge = DecodeError::Count { what: "a", count: 0xffff_fffe, remaining: 0 };
    assert_eq!(count(&[0xff, 0xff, 0xff, 0xff, 0x0f], Form::Compact), Err(huge));
    let one_more = DecodeError::Count { what: "a", count: 2, remaining: 7 };
    assert_eq!(count(&[0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0], Form::Classic), Err(one_more));
    assert_eq!(count(&[0xff, 0xff, 0xff, 0xff], Form::Classic), Err(DecodeError::Null { what: "a" }));
    assert_eq!(count(&[0], Form::Compact), Err(DecodeError::Null { what: "a" }));
    let below = DecodeError::NegativeLength { what: "a", length: -2 };
    assert_eq!(count(&[0xff, 0xff, 0xff, 0xfe], Form::Classic), Err(below));
}

#[test]
fn varints_of_too_many_bytes_are_refused() {
    assert_eq!(reader(&[0xac, 0x02]).uvarint("v"), Ok(300));
    assert_eq!(reader(&[0xff, 0xff, 0xff, 0xff, 0x0f]).varint("v"), Ok(i32::MIN));
    assert_eq!(reader(&[0x03]).varlong("v"), Ok(-2));
    let out_of_range = DecodeError::Varint { what: "v" };
    assert_eq!(reader(&[0xff, 0xff, 0xff, 0xff, 0xff, 0x01]).uvarint("v"), Err(out_of_range.clone()));
    assert_eq!(reader(&[0xff, 0xff, 0xff, 0xff, 0x10]).varint("v"), Err(out_of_range.clone()));
    assert_eq!(reader(&[0xff; 11]).varlong("v"), Err(out_of_range));
    let unterminated = DecodeError::Truncated { what: "v", needed: 3, remaining: 2 };
    assert_eq!(reader(&[0x80, 0x80]).uvarint("v"), Err(unterminated));
    for value in [i64::MIN, -1, 0, 1, i64::MAX] {
        assert_eq!(Reader::new(written(|w| w.put_varlong(value)).into()).varlong("v"), Ok(value));
    }
    for value in [i32::MIN, -1, 0, 1, i32::MAX] {
        assert_eq!(Reader::new(written(|w| w.put_varint(value)).into()).varint("v"), Ok(value));
    }
}

/// Tags come from brokers newer than we are: they are skipped, whatever they hold, but not beyond the frame.
#[test]
fn tagged_fields_are_skipped_within_bounds() {
    let skip = |bytes: &'static [u8]| {
        let mut r = reader(bytes);
        r.skip_tagged_fields(Form::Compact, "t").map(|()| r.remaining())
    };
    assert_eq!(skip(&[0, 0xaa]), Ok(1));
    assert_eq!(skip(&[2, 0, 1, 0xff, 0x85, 0x01, 0, 0xaa]), Ok(1), "tag 0 with a byte, tag 133 with none");
    assert_eq!(skip(&[2, 5, 0, 3, 0]), Ok(0), "in any order");
    assert_eq!(skip(&[2, 3, 0, 3, 0]), Err(DecodeError::DuplicateTag { what: "t", tag: 3 }));
    let past = DecodeError::Truncated { what: "t", needed: 9, remaining: 1 };
    assert_eq!(skip(&[1, 0, 9, 0xff]), Err(past));
    let huge = DecodeError::Count { what: "t", count: 0xffff_ffff, remaining: 2 };
    assert_eq!(skip(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0]), Err(huge));
    assert_eq!(reader(&[1]).skip_tagged_fields(Form::Classic, "t"), Ok(()), "the classic form has none");
}

/// A field that is set stands behind its tag and size; a reader takes its bytes to their end, no further and no less.
#[test]
fn tagged_fields_are_written_behind_their_sizes() {
    let fields = || {
        let mut fields = TaggedFields::new();
        for (tag, value) in [(0, 7), (133, 8)] {
            let put = |w: &mut Writer| {
                w.put_i16(value);
                Ok(())
            };
            fields.put(tag, put).expect("a tag above the last one");
        }
        fields
    };
    let bytes = written(|w| w.put_tagged_fields(Form::Compact, fields(), "t").expect("it fits"));
    assert_eq!(bytes, [2, 0, 2, 0, 7, 0x85, 0x01, 2, 0, 8]);
    assert_eq!(written(|w| w.put_tagged_fields(Form::Compact, TaggedFields::new(), "t").expect("it fits")), [0]);
    assert!(written(|w| w.put_tagged_fields(Form::Classic, fields(), "t").expect("none")).is_empty());

    let mut found = Vec::new();
    let take = |tag, field| {
        found.push((tag, Reader::whole(field, "t", |r| r.i16("t"))?));
        Ok(())
    };
    Reader::new(bytes.into()).tagged_fields(Form::Compact, "t", take).expect("they are read");
    assert_eq!(found, [(0, 7), (133, 8)]);
    let longer = Reader::whole(Bytes::from_static(&[0, 7, 9]), "t", |r| r.i16("t"));
    assert_eq!(longer, Err(DecodeError::Trailing { what: "t", bytes: 1 }));
    let shorter = Reader::whole(Bytes::from_static(&[0]), "t", |r| r.i16("t"));
    assert_eq!(shorter, Err(DecodeError::Truncated { what: "t", needed: 2, remaining: 1 }));
}

/// A payload is one more entry of the vectored write; a batch header is not worth one.
#[test]
fn large_runs_are_spliced_and_small_ones_copied() {
    let header = Bytes::from(vec![1; 61]);
    let payload = Bytes::from(vec![2; 5000]);
    let mut w = Writer::new();
    w.put_i16(7);
    w.put_shared(header);
    w.put_shared(payload.clone());
    w.put_shared(payload.clone());
    w.put_i8(9);
    assert_eq!(w.len(), 2 + 61 + 5000 + 5000 + 1);
    let chunks = w.into_chunks();
    assert_eq!(chunks.iter().map(Bytes::len).collect::<Vec<_>>(), [63, 5000, 5000, 1]);
    assert_eq!(chunks[1].as_ptr(), payload.as_ptr());
    assert_eq!(chunks[2].as_ptr(), payload.as_ptr());
}
