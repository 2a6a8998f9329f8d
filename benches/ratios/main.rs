//! `cargo bench --bench ratios [-- NAME…]`: emitted C against C written by hand for the same derivative.
//!
//! In: `benches/*.smooth`, with the hand-written functions of the same names and signatures in `benches/*.c`. Both are compiled
//! with the flags of `smoothc run` and loaded into this process; their results are compared first; then they are timed in turns,
//! on the same inputs, outputs and workspace, beside a copy loop that moves as many bytes as the derivative must. Out: one line
//! a row on standard output, and without a NAME also `docs/benchmarks.md` and `docs/benchmarks.svg`. A NAME selects the
//! workloads whose name contains it; `speed-up` measures only what `--parallel` is worth, on as many threads as there are cores,
//! and writes that into the page that is there; `single` measures
//! only what `--real f32` is worth. The exit status is 1 when results differ by more than [`TOLERANCE`] or something fails.

mod compiled;
mod inputs;
mod machine;
mod plot;
mod report;
mod singles;
mod speedup;
mod timing;
mod workloads;

use std::path::Path;
use std::process::ExitCode;

use compiled::{Case, Compiled, Program, TOLERANCE, largest_difference};
use report::{Row, Sizes};
use smoothc::real::Real;
use smoothc::toolchain::compiler::Arithmetic;
use workloads::{WORKLOADS, Workload};

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wanted = |workload: &&Workload| names.is_empty() || names.iter().any(|name| workload.name.contains(name.as_str()));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md");
    let only_speedups = names.iter().any(|name| name == "speed-up");
    let mut speedups = Vec::new();
    if names.is_empty() || only_speedups {
        let shared = |workload: &&Workload| speedup::NAMES.contains(&workload.name);
        for workload in WORKLOADS.iter().filter(shared) {
            let measured = smoothc::stack::with_large_stack(|| speedup::measure(workload, speedup::threads()));
            match measured {
                Ok(rows) => speedups.extend(rows),
                Err(problem) => {
                    eprintln!("{}: {problem}", workload.name);
                    return ExitCode::FAILURE;
                }
            }
        }
        if only_speedups {
            let text = std::fs::read_to_string(&page).unwrap_or_default();
            return exit(std::fs::write(&page, speedup::with_section(&text, &speedups)));
        }
    }
    timing::stay_on_one_core();
    let only_singles = names.iter().any(|name| name == "single");
    let mut singles = Vec::new();
    if names.is_empty() || only_singles {
        for workload in WORKLOADS {
            match smoothc::stack::with_large_stack(|| singles::measure(workload)) {
                Ok(rows) => singles.extend(rows),
                Err(problem) => {
                    eprintln!("{}: {problem}", workload.name);
                    return ExitCode::FAILURE;
                }
            }
        }
        if only_singles {
            let text = std::fs::read_to_string(&page).unwrap_or_default();
            return exit(std::fs::write(&page, singles::with_section(&text, &singles)));
        }
    }
    let mut rows = Vec::new();
    let mut sizes = Vec::new();
    for workload in WORKLOADS.iter().filter(wanted) {
        if let Err(problem) = smoothc::stack::with_large_stack(|| measure(workload, &mut rows, &mut sizes)) {
            eprintln!("{}: {problem}", workload.name);
            return ExitCode::FAILURE;
        }
    }
    if !names.is_empty() {
        return ExitCode::SUCCESS;
    }
    let text = speedup::with_section(&singles::with_section(&report::page(&rows, &sizes), &singles), &speedups);
    exit(std::fs::write(&page, text).and_then(|()| std::fs::write(page.with_extension("svg"), plot::svg(&rows))))
}

fn exit(written: std::io::Result<()>) -> ExitCode {
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("cannot write to docs/: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// All sizes of one workload.
fn measure(workload: &Workload, rows: &mut Vec<Row>, sizes: &mut Vec<Sizes>) -> Result<(), String> {
    let program = Program::emit(workload, false, Real::F64)?;
    let emitted = Compiled::load(&program.source, &program.interface, Arithmetic::Fast)?;
    let hand = Compiled::load(&workloads::hand_written(workload)?, &program.interface, Arithmetic::Fast)?;
    let memory = timing::Memory::load()?;
    sizes.push(Sizes {
        name: workload.name,
        lines: program.source.lines().count(),
        object: emitted.object_bytes,
        smoothc: program.time,
        compiler: emitted.time,
    });
    for &size in workload.sizes {
        let inputs = (workload.inputs)(size);
        let (read, written) = (inputs.read, inputs.written());
        let mut case = Case::new(inputs, [&emitted, &hand]);
        let results = [case.result(&emitted)?, case.result(&hand)?];
        let difference = largest_difference(&results[0], &results[1]);
        if difference > TOLERANCE {
            return Err(format!("the results differ by {difference:.1e} at {size:?}"));
        }
        let times = timing::in_turns(&mut case, &emitted, &hand, &memory, read, written);
        let row =
            Row { name: workload.name, size: (workload.label)(size), limit: workload.limit, moved: read + written, difference, times };
        println!("{}", row.line());
        rows.push(row);
    }
    Ok(())
}
