//! `cargo bench --bench experiments`: the experiments of 001 Section 7, into `docs/paper-experiments.md`.
//!
//! In: the programs of `tests/suite/support/experiments.rs`. Each is compiled with the groups of rules that the paper adds one after the
//! other, with an allocation for each intermediate array, then as smoothc emits it, in one workspace, and in reverse mode; the best of
//! many calls counts. Both ways of memory must give the same bits. Out: the page. With a NAME as an argument only experiments whose title
//! contains it, on standard output.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use smoothc::cli::args;
use smoothc::driver::{Options, Session};
use smoothc::mode::Mode;
use smoothc::source::Span;
use smoothc::stack::with_large_stack;
use smoothc::toolchain::call::{self, Loaded};
use smoothc::toolchain::compiler::Arithmetic;
use smoothc::toolchain::flat::Flat;

#[allow(dead_code, reason = "examples/ablation.rs has more tables")]
#[path = "../../tests/suite/support/ablation.rs"]
mod ablation;
#[path = "../../tests/suite/support/experiments.rs"]
mod experiments;
#[path = "../ratios/machine.rs"]
mod machine;

use ablation::Example;
use experiments::{EXPERIMENTS, Experiment, STEPS, UNROLLING, cells, emitted, on_the_heap};

const HEAD: &str = include_str!("head.md");

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let wanted = |experiment: &&Experiment| names.is_empty() || names.iter().any(|name| experiment.example.name.contains(name.as_str()));
    let page = with_large_stack(|| {
        let mut page = HEAD.replace("MACHINE", &machine::described());
        for experiment in EXPERIMENTS.iter().filter(wanted) {
            eprintln!("{}", experiment.example.name);
            page += &section(experiment);
        }
        page
    });
    if !names.is_empty() {
        println!("{page}");
        return ExitCode::SUCCESS;
    }
    match std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/paper-experiments.md"), page) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write docs/paper-experiments.md: {error}");
            ExitCode::FAILURE
        }
    }
}

fn section(experiment: &Experiment) -> String {
    let Experiment { example, sizes, paper } = experiment;
    let variables = example.sizes;
    let mut text = format!("\n## {}\n\n`{}` of `{}`. The paper: {paper}\n\n", example.name, example.entry, example.path);
    let columns: String = sizes.iter().map(|size| format!("{variables} = {size} | ")).collect();
    let _ = writeln!(text, "| rules | cost | counted, {variables} = {} | arrays | {columns}gain |", example.counted);
    text += "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    let mut before = None;
    for (step, left_out) in STEPS {
        let session = emitted(example, left_out);
        let times = times(experiment, &session, &on_the_heap(&session.emitted().expect("C").source).0);
        text += &format!("{} {}\n", cells(example, step, left_out), shown(&times, &mut before));
    }
    let session = emitted(example, &[]);
    same_bits(example, &session);
    let text_of = |session: &Session| session.emitted().expect("C").source.clone();
    let placed = times(experiment, &session, &text_of(&session));
    text += &format!("| + destination passing | | | | {}\n", shown(&placed, &mut before));
    let reverse = in_reverse(example);
    let swept = times(experiment, &reverse, &text_of(&reverse));
    text += &format!("| reverse mode, all of them | | | | {}\n", shown(&swept, &mut None));
    if example.entry == "jacobianAll" {
        text += &unrolling(experiment);
    }
    text
}

/// Where the camera gets what the paper does not find.
fn unrolling(experiment: &Experiment) -> String {
    let example = &experiment.example;
    let mut text = format!(
        "\nWhat of normalisation it is here, each with all other rules and destination passing:\n\n| left out | cost | counted, n = {} | arrays | n = {} |\n\
         | --- | --- | ---: | ---: | ---: |\n",
        example.counted, example.timed
    );
    for (name, left_out) in UNROLLING {
        let session = emitted(example, left_out);
        let time = time(example, example.timed, &session, &session.emitted().expect("C").source);
        text += &format!("{} {} |\n", cells(example, name, left_out), duration(time));
    }
    text + include_str!("camera.md")
}

/// The last cells of a row: the times, and how many times faster the largest size is than in the row before.
fn shown(times: &[Duration], before: &mut Option<Duration>) -> String {
    let cells: String = times.iter().map(|time| format!("{} | ", duration(*time))).collect();
    let last = *times.last().expect("three sizes");
    let gain = before.map(|before| format!("×{:.1}", before.as_secs_f64() / last.as_secs_f64())).unwrap_or_default();
    *before = Some(last);
    format!("{cells}{gain} |")
}

fn duration(time: Duration) -> String {
    match time.as_secs_f64() * 1e6 {
        micro if micro < 1.0 => format!("{:.0} ns", micro * 1e3),
        micro if micro < 1000.0 => format!("{micro:.1} µs"),
        micro => format!("{:.1} ms", micro / 1e3),
    }
}

fn times(experiment: &Experiment, session: &Session, c: &str) -> Vec<Duration> {
    experiment.sizes.iter().map(|size| time(&experiment.example, *size, session, c)).collect()
}

fn in_reverse(example: &Example) -> Session {
    let options = Options { mode: Mode::Reverse, only: Some(example.entry.into()), ..Options::default() };
    let mut session = Session::new(example.path, example.text, options);
    session.run_to("emit", &mut |path, _| Err(format!("{path} is not needed"))).unwrap_or_else(|problems| panic!("{problems:?}"));
    session
}

fn loaded(example: &Example, session: &Session, c: &str) -> Loaded {
    let interface = session.interface(example.entry).expect("an interface");
    call::load(c, Arithmetic::Fast, interface, Span::NONE).expect("a C compiler")
}

fn called(example: &Example, size: usize, session: &Session, c: &str) -> Flat {
    let arguments = args::read(session.entry(example.entry).expect("an entry"), &(example.arguments)(size)).expect("arguments");
    loaded(example, session, c).call(&arguments.values, &arguments.bindings).expect("a value")
}

fn same_bits(example: &Example, session: &Session) {
    let c = &session.emitted().expect("C").source;
    let found = [c, &on_the_heap(c).0].map(|c| format!("{:?}", called(example, 30, session, c)));
    assert_eq!(found[0], found[1], "{}: memory changes numbers", example.name);
}

/// The best of many calls, without what surrounds them.
fn time(example: &Example, size: usize, session: &Session, c: &str) -> Duration {
    let function = session.entry(example.entry).expect("an entry");
    let arguments = args::read(function, &(example.arguments)(size)).expect("arguments");
    let loaded = loaded(example, session, c);
    let mut prepared = loaded.prepare(&arguments.values, &arguments.bindings).expect("memory");
    let (begin, mut best) = (Instant::now(), Duration::MAX);
    // a clock has a resolution: short calls are measured together
    let mut calls = 1;
    while begin.elapsed() < Duration::from_millis(200) || best == Duration::MAX {
        let start = Instant::now();
        for _ in 0..calls {
            prepared.call().expect("a value");
        }
        let took = start.elapsed();
        if took < Duration::from_micros(10) {
            calls *= 2;
        } else {
            best = best.min(took / calls);
        }
    }
    best
}
