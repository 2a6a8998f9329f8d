//! How much faster `--parallel` makes the derivatives that compute rather than move memory.
//!
//! In: a workload and a number of threads. Out: [`Speedup`]: the time on the clock of emitted C, one thread / so many, in turns
//! in this process, where both results are first held against each other. Beside it is what the machine
//! allows: as many threads as there are, each with a copy of the inputs, call the sequential function at once; the best that
//! sharing could reach is how many times more calls end than on one thread. Before the process is kept on one core.

use std::fmt::Write;
use std::sync::Barrier;
use std::time::Instant;

use smoothc::real::Real;
use smoothc::toolchain::compiler::{Arithmetic, Mode};

use crate::compiled::{Case, Compiled, Program, TOLERANCE, largest_difference};
use crate::report::seconds;
use crate::timing::{PAIRS, median};
use crate::workloads::Workload;

/// The goal on two cores.
pub const GOAL: f64 = 1.7;

/// The workloads that are measured.
pub const NAMES: [&str; 3] = ["quaternion rotation", "camera Jacobian", "bundle adjustment"];

/// The seconds that a sample takes at least.
const SAMPLE: f64 = 6e-3;

/// One workload at one size; a sample each round.
pub struct Speedup {
    pub name: &'static str,
    pub size: String,
    pub threads: usize,
    pub alone: Vec<f64>,
    pub shared: Vec<f64>,
    /// The time of a call while every thread makes its own.
    pub crowded: Vec<f64>,
}

impl Speedup {
    /// The median, and the interval that holds it.
    pub fn ratio(&self) -> (f64, [f64; 2]) {
        median(self.alone.iter().zip(&self.shared).map(|(alone, shared)| alone / shared))
    }

    /// What the machine allows.
    pub fn ceiling(&self) -> f64 {
        median(self.alone.iter().zip(&self.crowded).map(|(alone, crowded)| self.threads as f64 * alone / crowded)).0
    }

    pub fn line(&self) -> String {
        let (ratio, [low, high]) = self.ratio();
        let (name, size, threads, ceiling) = (self.name, &self.size, self.threads, self.ceiling());
        format!("{name:<26} {size:>13}  {threads} threads  speed-up {ratio:>5.2} [{low:.2}, {high:.2}]  the machine allows {ceiling:.2}")
    }
}

/// All sizes of one workload.
pub fn measure(workload: &Workload, threads: usize) -> Result<Vec<Speedup>, String> {
    let program = Program::emit(workload, false, Real::F64)?;
    let alone = Compiled::load(&program.source, &program.interface, Arithmetic::Fast)?;
    let program = Program::emit(workload, true, Real::F64)?;
    let shared = Compiled::load(&program.source, &program.interface, Mode { parallel: true, ..Mode::default() })?;
    let mut rows = Vec::new();
    for &size in workload.sizes {
        let mut case = Case::new((workload.inputs)(size), [&alone, &shared]);
        let difference = largest_difference(&case.result(&alone)?, &case.result(&shared)?);
        if difference > TOLERANCE {
            return Err(format!("the results differ by {difference:.1e} at {size:?}"));
        }
        let count = calls(&mut case, &alone);
        let mut row = Speedup {
            name: workload.name,
            size: (workload.label)(size),
            threads,
            alone: Vec::new(),
            shared: Vec::new(),
            crowded: crowded(workload, size, &alone, threads, count),
        };
        for _ in 0..PAIRS {
            row.alone.push(time(&mut case, &alone, count));
            row.shared.push(time(&mut case, &shared, count));
        }
        println!("{}", row.line());
        rows.push(row);
    }
    Ok(rows)
}

/// How many calls fill a sample.
pub fn calls(case: &mut Case, function: &Compiled) -> usize {
    let mut count = 1;
    while time(case, function, count) * count as f64 <= SAMPLE {
        count *= 2;
    }
    count
}

/// Seconds for a call.
pub fn time(case: &mut Case, function: &Compiled, count: usize) -> f64 {
    // a first call brings the data near, and threads out of their sleep
    case.call(function);
    let start = Instant::now();
    for _ in 0..count {
        case.call(function);
    }
    start.elapsed().as_secs_f64() / count as f64
}

/// The time of a call while every thread makes as many, each on memory of its own.
fn crowded(workload: &Workload, size: &[usize], function: &Compiled, threads: usize, count: usize) -> Vec<f64> {
    let barrier = Barrier::new(threads + 1);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut case = Case::new((workload.inputs)(size), [function, function]);
                case.call(function);
                for _ in 0..PAIRS {
                    barrier.wait();
                    for _ in 0..count {
                        case.call(function);
                    }
                    barrier.wait();
                }
            });
        }
        let round = |_| {
            barrier.wait();
            let start = Instant::now();
            barrier.wait();
            start.elapsed().as_secs_f64() / count as f64
        };
        (0..PAIRS).map(round).collect()
    })
}

/// How many threads OpenMP has by default: as many as at the first call, before the process stays on one core.
pub fn threads() -> usize {
    static COUNT: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, |count| count.get()))
}

/// What else the machine does, where it says so.
pub fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').nth(1)?.parse().ok()
}

pub const HEADING: &str = "\n## Threads\n";

/// The page with this section at its end, in the place of the one that it has.
pub fn with_section(page: &str, rows: &[Speedup]) -> String {
    let mut text = page.split(HEADING).next().unwrap_or_default().to_string();
    let load = load().map_or(String::new(), |load| {
        format!(" The load of the machine over the last five minutes was {load:.1}, of which the measurement itself is about one.")
    });
    let threads = threads();
    let _ = write!(
        text,
        "{HEADING}\nMade by `cargo bench --bench ratios -- speed-up`, or with the rest. What `--parallel` is worth for the derivatives that compute\n\
         more than they move, on {threads} threads: emitted C without it / with it, on the clock, {PAIRS} rounds in turns in one process. The goal is\n\
         {GOAL} on two cores. What the machine allows is measured by calling the sequential function from all threads at once, each on\n\
         memory of its own: so much more work gets done than by one. Calls of a few microseconds stay below the goal: threads start and\n\
         join in about one of them.{load}\n\n\
         | workload | size | speed-up | 95 % | one thread | {threads} threads | the machine allows |\n| --- | --: | --: | --- | --: | --: | --: |\n"
    );
    for row in rows {
        let (ratio, [low, high]) = row.ratio();
        let (alone, shared) = (seconds(&row.alone), seconds(&row.shared));
        let _ = writeln!(
            text,
            "| {} | {} | {ratio:.2} | {low:.2} … {high:.2} | {alone} | {shared} | {:.2} |",
            row.name,
            row.size,
            row.ceiling()
        );
    }
    text
}
