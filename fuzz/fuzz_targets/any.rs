//! A search that follows what code an input reaches, for the target that `QUIETUS_FUZZ_TARGET` names.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quietus_fuzz::{TARGETS, Target};
use std::sync::LazyLock;

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("QUIETUS_FUZZ_TARGET").expect("QUIETUS_FUZZ_TARGET names a target");
    TARGETS.into_iter().flatten().find(|target| target.name == name).expect("a target of this name")
});

fuzz_target!(|input: &[u8]| {
    (TARGET.run)(input);
});
