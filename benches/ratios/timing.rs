//! Timing in turns, so that whatever else the machine does meets both sides alike.
//!
//! In: two functions on one case. Out: [`Times`], one sample of each side and of the memory's own loops ([`Memory`]) for each of
//! [`PAIRS`] rounds. A
//! sample is as many calls as fill [`SAMPLE`]. The clock is this thread's processor time where there is one, which does not
//! run while others have the core.

use std::time::Duration;

use libloading::Library;
use smoothc::toolchain::compiler::{self, Artifact};

use crate::compiled::{Block, Case, Compiled};

/// Rounds, each a sample of every side.
pub const PAIRS: usize = 31;

/// How long a sample lasts at least.
const SAMPLE: Duration = Duration::from_millis(6);

/// Seconds for a call, one sample a round.
pub struct Times {
    pub emitted: Vec<f64>,
    pub hand: Vec<f64>,
    /// A loop that copies: it reads and writes half of the bytes each.
    pub copy: Vec<f64>,
    /// A loop that writes as many bytes, for results that need next to nothing read.
    pub fill: Option<Vec<f64>>,
}

/// The samples of all rounds, after a warm-up.
pub fn in_turns(case: &mut Case, emitted: &Compiled, hand: &Compiled, memory: &Memory, read: usize, written: usize) -> Times {
    let moved = read + written;
    let fills = read < written / 16;
    let (from, to) = (Block::new(moved / 2), Block::new(moved));
    let mut run = |side: usize| match side {
        0 => drop(case.call(emitted)),
        1 => drop(case.call(hand)),
        // SAFETY: both blocks have at least this many bytes, and they do not overlap.
        2 => unsafe { (memory.copy)(from.start.cast(), to.start.cast(), moved / 16) },
        // SAFETY: as above.
        _ => unsafe { (memory.fill)(to.start.cast(), moved / 8) },
    };
    let sides = if fills { 4 } else { 3 };
    let counts: Vec<usize> = (0..sides).map(|side| calls_for_a_sample(&mut || run(side))).collect();
    let mut samples = vec![Vec::new(); sides];
    for round in 0..PAIRS {
        // what ran before leaves its traces in the caches: the two sides take turns in following it and each other
        for turn in 0..sides {
            let side = if turn < 2 { (turn + round) % 2 } else { turn };
            // a first call that is not timed brings the side's data near
            run(side);
            samples[side].push(time(&mut || run(side), counts[side]) / counts[side] as f64);
        }
    }
    let fill = if fills { samples.pop() } else { None };
    let [emitted, hand, copy] = [0, 1, 2].map(|side| std::mem::take(&mut samples[side]));
    Times { emitted, hand, copy, fill }
}

fn calls_for_a_sample(run: &mut dyn FnMut()) -> usize {
    let mut count = 1;
    loop {
        let seconds = time(run, count);
        if seconds >= SAMPLE.as_secs_f64() / 2.0 {
            return ((count as f64 * SAMPLE.as_secs_f64() / seconds).ceil() as usize).max(1);
        }
        count *= 2;
    }
}

fn time(run: &mut dyn FnMut(), count: usize) -> f64 {
    let start = now();
    for _ in 0..count {
        run();
    }
    now() - start
}

#[cfg(target_os = "linux")]
fn now() -> f64 {
    #[repr(C)]
    struct Timespec {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    }
    const THREAD_CPUTIME: i32 = 3;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the clock exists on Linux, and `time` is written to.
    unsafe { clock_gettime(THREAD_CPUTIME, &mut time) };
    time.seconds as f64 + time.nanoseconds as f64 * 1e-9
}

#[cfg(not(target_os = "linux"))]
fn now() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}

/// Keeps this process on the core that it is on, where that can be asked for.
pub fn stay_on_one_core() {
    #[cfg(target_os = "linux")]
    {
        unsafe extern "C" {
            fn sched_getcpu() -> i32;
            fn sched_setaffinity(process: i32, bytes: usize, mask: *const u64) -> i32;
        }
        // SAFETY: the mask has the length that is given; a refusal changes nothing.
        unsafe {
            let core = sched_getcpu();
            if (0..64).contains(&core) {
                sched_setaffinity(0, size_of::<u64>(), &(1u64 << core));
            }
        }
    }
}

/// The loops that say what this machine's memory can do, compiled with the same flags.
pub struct Memory {
    copy: unsafe extern "C" fn(*const f64, *mut f64, usize),
    fill: unsafe extern "C" fn(*mut f64, usize),
    _library: Library,
    _folder: tempfile::TempDir,
}

impl Memory {
    pub fn load() -> Result<Memory, String> {
        let folder = tempfile::tempdir().map_err(|problem| problem.to_string())?;
        let path = folder.path().join(format!("memory{}", std::env::consts::DLL_SUFFIX));
        compiler::compile(MEMORY, Artifact::SharedLibrary, compiler::Arithmetic::Fast, &path).map_err(|problem| problem.message)?;
        // SAFETY: the library was just made from this text, and the functions have these types.
        let (library, copy, fill) = unsafe {
            let library = Library::new(&path).map_err(|problem| problem.to_string())?;
            let copy = *library.get(b"bench_copy").map_err(|problem| problem.to_string())?;
            let fill = *library.get(b"bench_fill").map_err(|problem| problem.to_string())?;
            (library, copy, fill)
        };
        Ok(Memory { copy, fill, _library: library, _folder: folder })
    }
}

const MEMORY: &str = "\
#include <stddef.h>

void bench_copy(const double *restrict from, double *restrict to, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        to[i] = from[i];
    }
}

void bench_fill(double *to, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        to[i] = 1.0;
    }
}
";

/// The middle of the values, and the interval that holds the true median with a probability of 95 % whatever the distribution
/// (from the order statistics: `values` are independent draws, and a draw is below the median with probability 1/2).
pub fn median(values: impl Iterator<Item = f64>) -> (f64, [f64; 2]) {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let count = values.len();
    let middle = (values[(count - 1) / 2] + values[count / 2]) / 2.0;
    let mut rank = 0;
    // the probability of at most `rank` draws below the median, and of exactly that many
    let mut exactly = 0.5f64.powi(count as i32);
    let mut at_most = exactly;
    while rank + 1 < count / 2 {
        exactly *= (count - rank) as f64 / (rank + 1) as f64;
        if at_most + exactly > 0.025 {
            break;
        }
        at_most += exactly;
        rank += 1;
    }
    (middle, [values[rank], values[count - 1 - rank]])
}
