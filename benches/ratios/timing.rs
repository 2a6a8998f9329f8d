//! Timing in turns, so that whatever else the machine does meets both sides alike.
//!
//! In: two functions on one case. Out: [`Times`], one sample of each side and of a copy loop for each of [`PAIRS`] rounds. A
//! sample is as many calls as fill [`SAMPLE`]. The clock is this thread's processor time where there is one, which does not
//! run while others have the core. Who goes first changes from round to round.

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
    pub copy: Vec<f64>,
}

/// The samples of all rounds, after a warm-up.
pub fn in_turns(case: &mut Case, emitted: &Compiled, hand: &Compiled, copy: &Copy, moved: usize) -> Times {
    let (from, to) = (Block::new(moved / 2), Block::new(moved / 2));
    let mut run = |side: usize| match side {
        0 => drop(case.call(emitted)),
        1 => drop(case.call(hand)),
        // SAFETY: both blocks have this many bytes, and they do not overlap.
        _ => unsafe { (copy.function)(from.start.cast(), to.start.cast(), moved / 16) },
    };
    let counts = [0, 1, 2].map(|side| calls_for_a_sample(&mut || run(side)));
    let mut samples = [const { Vec::new() }; 3];
    for round in 0..PAIRS {
        let order = if round % 2 == 0 { [0, 1, 2] } else { [2, 1, 0] };
        for side in order {
            // a first call that is not timed brings the side's data near
            run(side);
            samples[side].push(time(&mut || run(side), counts[side]) / counts[side] as f64);
        }
    }
    let [emitted, hand, copy] = samples;
    Times { emitted, hand, copy }
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

/// The copy loop that says what this machine's memory can do, compiled with the same flags.
pub struct Copy {
    function: unsafe extern "C" fn(*const f64, *mut f64, usize),
    _library: Library,
    _folder: tempfile::TempDir,
}

impl Copy {
    pub fn load() -> Result<Copy, String> {
        let source = "#include <stddef.h>\n\
            void bench_copy(const double *restrict from, double *restrict to, size_t count)\n{\n    \
            for (size_t i = 0; i < count; ++i) {\n        to[i] = from[i];\n    }\n}\n";
        let folder = tempfile::tempdir().map_err(|problem| problem.to_string())?;
        let path = folder.path().join(format!("copy{}", std::env::consts::DLL_SUFFIX));
        compiler::compile(source, Artifact::SharedLibrary, &path).map_err(|problem| problem.message)?;
        // SAFETY: the library was just made from this text, and the function has this type.
        let (library, function) = unsafe {
            let library = Library::new(&path).map_err(|problem| problem.to_string())?;
            let function = *library.get(b"bench_copy").map_err(|problem| problem.to_string())?;
            (library, function)
        };
        Ok(Copy { function, _library: library, _folder: folder })
    }
}

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
