//! How often a thread has asked for memory: a measure of work that no clock and no other test changes.
//!
//! In: nothing. Out: the number of requests of this thread so far. The allocator of the whole crate counts them.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

pub fn made() -> usize {
    MADE.get()
}

thread_local! { static MADE: Cell<usize> = const { Cell::new(0) } }

/// The system's allocator, which counts what a thread asks of it.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every request goes to the system's allocator as it is
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MADE.set(MADE.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        MADE.set(MADE.get() + 1);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        MADE.set(MADE.get() + 1);
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(block, layout) }
    }
}
