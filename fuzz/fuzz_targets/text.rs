//! libFuzzer's bytes as the text of a program.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(wrong) = smoothc_fuzz::text::check(bytes) {
        panic!("{wrong}\nof the text\n{}", String::from_utf8_lossy(bytes));
    }
});
