//! `cargo bench --bench passes [-- NAME…]`: what gets worse without each rule, phase and pass over loops.
//!
//! In: the programs of `tests/derivatives` and `examples`. Each is optimised by `default` in both modes, and again without
//! each rule and each phase that applies to it, and lowered without each pass. Out: `docs/passes.md`; with a NAME, only the programs
//! whose path contains it, on standard output. Nothing is timed: all numbers are counts, the same on every machine.

#[path = "../../tests/suite/support/counting.rs"]
mod counting;
#[path = "../../tests/suite/support/sources.rs"]
mod sources;
#[path = "../../tests/suite/support/worth.rs"]
mod worth;
#[path = "../../tests/suite/support/worth_loops.rs"]
mod worth_loops;
#[allow(dead_code, reason = "tests/suite/docs.rs reads pages")]
#[path = "../../tests/suite/support/worth_page.rs"]
mod worth_page;

mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use page::{Changes, Row};
use smoothc::driver::Session;
use smoothc::mode::Mode;
use smoothc::stack::with_large_stack;
use worth::{LeftOut, MODES, Measured, Typed};
use worth_loops::{optional_passes, work};
use worth_page::Change;

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let mut files = worth::files();
    files.retain(|path| names.is_empty() || names.iter().any(|name| path.contains(name.as_str())));
    // long programs first, so that no thread is left with one at the end
    files.sort_by_key(|path| std::cmp::Reverse(std::fs::metadata(counting::root().join(path)).map_or(0, |data| data.len())));
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Changes::new()));
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = Instant::now();
                    let changes = with_large_stack(|| of_program(path));
                    eprintln!("{path}: {:.1} s", start.elapsed().as_secs_f64());
                    let mut all = all.lock().expect("no thread panics while it holds this");
                    for (place, change) in changes {
                        all.entry(place).or_default().push(change);
                    }
                }
            });
        }
    });
    let changes = all.into_inner().expect("all threads ended well");
    let text = page::page(&changes, files.len());
    if !names.is_empty() {
        println!("{text}");
        return ExitCode::SUCCESS;
    }
    match std::fs::write(counting::root().join("docs/passes.md"), text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write docs/passes.md: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Every count of a program that changes where something is left out, with the place of the page that it belongs to.
fn of_program(path: &str) -> Vec<((Row, usize), Change)> {
    let typed = Typed::read(path);
    let has_one_mode = typed.has_one_mode();
    let modes = if has_one_mode { &MODES[..1] } else { &MODES[..] };
    let mut changes = Vec::new();
    let of_mode: Vec<OfMode> = modes.iter().map(|(_, mode)| OfMode::measure(&typed, *mode)).collect();
    for (mode, (name, _)) in of_mode.iter().zip(modes) {
        let label = if has_one_mode { typed.short() } else { format!("{} ({name})", typed.short()) };
        for (left_out, without) in &mode.without {
            let nodes = without.as_ref().map(|without| without.nodes);
            let change = Change { label: label.clone(), with: mode.whole.nodes, without: nodes };
            changes.extend((nodes != Some(change.with)).then(|| ((Row::of(left_out), NODES), change)));
        }
        of_loops(&mode.session, &label, &mut changes);
    }
    let left_out: BTreeSet<&LeftOut> = of_mode.iter().flat_map(|mode| mode.without.keys()).collect();
    for left_out in left_out {
        for label in of_mode[0].whole.entries.keys() {
            // a program with one mode is in both columns
            let [(a, b), (c, d)] = [0, of_mode.len() - 1].map(|mode| of_mode[mode].counts(left_out, label));
            let cheaper = (a.min(c), b.into_iter().chain(d).min());
            for (column, (with, without)) in [(a, b), (c, d), cheaper].into_iter().enumerate() {
                let change = Change { label: label.clone(), with, without };
                changes.extend((without != Some(with)).then(|| ((Row::of(left_out), column), change)));
            }
        }
    }
    changes
}

/// The column of nodes, after those of counts.
const NODES: usize = 3;

/// A program in one mode.
struct OfMode {
    session: Session,
    whole: Measured,
    /// Without what applies to it; none where it is refused.
    without: BTreeMap<LeftOut, Option<Measured>>,
}

impl OfMode {
    fn measure(typed: &Typed, mode: Mode) -> OfMode {
        let whole = LeftOut::Nothing;
        let session = typed.compiled(worth::options(&whole, mode), "rewrite").unwrap_or_else(|problem| panic!("{problem}"));
        let without = typed.applied(mode).into_iter().map(|left_out| {
            let measured = typed.measured(&left_out, mode).ok();
            (left_out, measured)
        });
        let without = without.collect();
        OfMode { whole: typed.measured(&whole, mode).unwrap_or_else(|problem| panic!("{problem}")), session, without }
    }

    /// The operations of an entry, and those without something.
    fn counts(&self, left_out: &LeftOut, label: &str) -> (u64, Option<u64>) {
        let of = |measured: &Measured| measured.entries.get(label).copied();
        let with = of(&self.whole).expect("both modes have the same entries");
        // what does not apply changes nothing
        (with, self.without.get(left_out).map_or(Some(with), |without| without.as_ref().and_then(of)))
    }
}

/// What changes without each pass over loops.
fn of_loops(session: &Session, label: &str, changes: &mut Vec<((Row, usize), Change)>) {
    let whole = work(session, None).columns();
    for pass in optional_passes() {
        let without = work(session, Some(pass.name)).columns();
        for (column, (with, without)) in whole.into_iter().zip(without).enumerate().filter(|(_, (with, without))| with != without) {
            let change = Change { label: label.into(), with, without: Some(without) };
            changes.push(((Row::Pass(pass.name.into()), column), change));
        }
    }
}
