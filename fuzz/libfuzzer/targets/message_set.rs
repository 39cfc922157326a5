//! The target `message_set`, for libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| (kmirror_fuzz::target("message_set").body)(data));
