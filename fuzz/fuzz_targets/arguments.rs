//! libFuzzer's bytes as arguments.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(wrong) = smoothc_fuzz::arguments::check(bytes) {
        panic!("{wrong}");
    }
});
