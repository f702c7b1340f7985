//! Any bytes are read or refused, written back as they were, validated and answered.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hl7v2::fuzz_parse(bytes));
