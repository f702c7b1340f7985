//! One target under libFuzzer: `tools/fuzz` builds and starts it, with the target's name in `FUZZ_TARGET`.
#![no_main]

use std::sync::LazyLock;

use verial_fuzz::{Target, find};

#[expect(clippy::disallowed_methods, reason = "all arguments are libFuzzer's")]
static TARGET: LazyLock<Option<Target>> = LazyLock::new(|| find(&std::env::var("FUZZ_TARGET").unwrap_or_default()));

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let target = TARGET.as_ref();
    assert!(target.is_some(), "FUZZ_TARGET names no target");
    if let Some(target) = target {
        (target.run)(bytes);
    }
});
