//! Room for recursion: runs a computation on a thread with a large stack.
//!
//! In: any computation. Out: its result; a panic inside goes on in the caller.
//! The stages of the compiler recurse over terms as deep as the limits of `syntax` allow (see there),
//! which an ordinary 8 MiB stack does not hold in a debug build. The memory is reserved, not used.
//! Example: `with_large_stack(|| syntax::parse(&text, 0))`.

use std::panic::resume_unwind;
use std::thread;

/// Tried in turn, for machines that limit address space.
const SIZES: [usize; 3] = [1 << 30, 1 << 28, 1 << 26];

/// The result of `f`, computed on a thread with a large stack, or right here when no thread can be had.
pub fn with_large_stack<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    let mut work = Some(f);
    let mut result = None;
    for size in SIZES {
        let (work, result) = (&mut work, &mut result);
        let done = thread::scope(|scope| {
            let body = || *result = work.take().map(|f| f());
            match thread::Builder::new().stack_size(size).spawn_scoped(scope, body) {
                Ok(handle) => {
                    if let Err(panic) = handle.join() {
                        resume_unwind(panic);
                    }
                    true
                }
                Err(_) => false,
            }
        });
        if done {
            break;
        }
    }
    match (result, work) {
        (Some(value), _) => value,
        (None, Some(f)) => f(),
        (None, None) => unreachable!("the work was taken, so it gave a result or panicked"),
    }
}
