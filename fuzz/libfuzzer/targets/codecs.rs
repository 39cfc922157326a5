//! The target `codecs`, for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (kmirror_fuzz::target("codecs").body)(data));
