//! libFuzzer's bytes as typed programs: each in the interpreter, and one in ten as C, twenty to a file.
//!
//! What is wrong with C is not the last input's fault: the bytes of every program of the batch are written to
//! `artifacts/programs/batch-…`, from which a regression is made.

#![no_main]

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use smoothc_fuzz::programs;

const ONE_IN: usize = 10;
const BATCH: usize = 20;

/// Programs that wait for the C compiler, tame and wild ones apart.
static WAITING: [Mutex<Vec<Vec<u8>>>; 2] = [Mutex::new(Vec::new()), Mutex::new(Vec::new())];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(wrong) = programs::check(bytes) {
        panic!("{wrong}");
    }
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    if !SEEN.fetch_add(1, Ordering::Relaxed).is_multiple_of(ONE_IN) {
        return;
    }
    let wild = programs::is_wild(bytes.first().copied().unwrap_or(0));
    let Ok(mut waiting) = WAITING[usize::from(wild)].lock() else { return };
    waiting.push(bytes.to_vec());
    if waiting.len() == BATCH {
        let batch = std::mem::take(&mut *waiting);
        let inputs: Vec<&[u8]> = batch.iter().map(Vec::as_slice).collect();
        if let Err(wrong) = programs::check_compiled(&inputs) {
            panic!("{wrong}\nkept as {}", keep(&batch));
        }
    }
});

/// The folder that the inputs were written to.
fn keep(batch: &[Vec<u8>]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("artifacts/programs/batch-{}", std::process::id()));
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| batch.iter().enumerate().try_for_each(|(at, bytes)| std::fs::write(folder.join(format!("{at:02}")), bytes)));
    written.map_or_else(|error| format!("nothing: {error}"), |()| folder.display().to_string())
}
