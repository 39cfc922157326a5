//! The target `frame`, for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (kmirror_fuzz::target("frame").body)(data));
