//! The target `conversion`, for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (kmirror_fuzz::target("conversion").body)(data));
