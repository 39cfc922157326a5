//! The target `config`, for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (kmirror_fuzz::target("config").body)(data));
