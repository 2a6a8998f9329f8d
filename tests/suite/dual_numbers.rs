//! `explain FILE ENTRY --dual-numbers`: the stages of paper 004 from dual numbers with backpropagators to a tape.
//!
//! Each stage gives the derivative that the trace gives, on the programs of `tests/reverse/values.smooth` and on generated ones; and costs
//! what the paper states, by counts at two sizes or more: exponential in the depth of sharing until linear factoring, then the input's
//! size times the operations, then a logarithm, then linear.

use std::sync::atomic::{AtomicUsize, Ordering};

use smoothc::cli::args;
use smoothc::cli::values::from_flat;
use smoothc::driver::{Options, Session};
use smoothc::ir::eval::{self, Record, Value};
use smoothc::stack::with_large_stack;
use smoothc::trace::Trace;
use smoothc::trace::stages::{Stage, Straight};
use smoothc::types::Derive;

use crate::generator::engine::{derived_name, differentiable, direction, json};
use crate::generator::grow;
use crate::generator::words::arguments;
use crate::support::command::with_input;
use crate::support::counting::total;
use crate::support::tools;

fn session(source: &str, derive: &[String]) -> Option<Session> {
    let derive = derive.iter().map(|text| Derive::parse(text).expect("a derivative")).collect();
    let options = Options { derive, keep_gradients: true, ..Options::default() };
    let mut session = Session::new("program.smooth", source, options);
    session.run_to("types", &mut |_, _| Err("no files".into())).ok().map(|()| session)
}

fn record(session: &Session, entry: &str, words: &[String]) -> Option<Record> {
    let inputs: Vec<Value> = args::read(&session.program.functions[entry], words).ok()?.values.iter().map(from_flat).collect();
    eval::eval(&session.program, entry, inputs.clone()).ok()?;
    eval::record(&session.program, entry, inputs).ok()
}

/// Every stage against the adjoints of the trace; how many stages were run.
fn hold(record: &Record) -> Result<usize, String> {
    let trace = Trace::of(record).map_err(|problem| problem.message)?;
    let Some(adjoint) = trace.adjoint.filter(|adjoint| adjoint.values.iter().all(|value| value.is_finite())) else { return Ok(0) };
    let straight = Straight::of(record).map_err(|problem| problem.message)?;
    let scale = record.entries.iter().map(|entry| entry.value().abs()).filter(|value| value.is_finite()).fold(1.0, f64::max);
    let mut held = 0;
    for stage in Stage::ALL {
        // the first two may take too long
        let Some((found, _)) = straight.back(stage) else { continue };
        held += 1;
        let wanted = &adjoint.values;
        let largest = wanted.iter().fold(scale, |largest, value| largest.max(value.abs()));
        // an infinite slope times a cotangent of 0
        let agree = |a: f64, b: f64| (a - b).abs() <= 1e-9 * largest || !b.is_finite();
        if found.len() != wanted.len() || wanted.iter().zip(&found).any(|(a, b)| !agree(*a, *b)) {
            return Err(format!("{stage:?}: {found:?}, not {wanted:?}\n{}", trace.lines.join("\n")));
        }
    }
    Ok(held)
}

#[test]
fn every_stage_gives_the_derivative() {
    with_large_stack(|| {
        let session = session(include_str!("../reverse/values.smooth"), &[]).expect("a program");
        let mut held = 0;
        for function in session.program.functions.values().filter(|function| function.is_entry) {
            for n in [3, 1, 0] {
                let Some(record) = record(&session, &function.name, &arguments(function, n)) else { continue };
                held += hold(&record).unwrap_or_else(|said| panic!("{}: {said}", function.name));
            }
        }
        assert!(held > 600, "{held}");
    });
    let held = AtomicUsize::new(0);
    tools::each(&(0..150).collect::<Vec<u64>>(), |seed| {
        let program = grow::program(*seed, "f0", false);
        let Some((_, derived)) = differentiable(&program) else { return Ok(()) };
        let Some(session) = session(&program.text(), &[derived.replacen("jvp:", "vjp:", 1)]) else { return Ok(()) };
        let name = derived_name(&session.program, &program.entry().name, "vjp");
        for words in &program.inputs {
            let values = args::read(&session.program.functions[&*program.entry().name], words).expect("arguments");
            let inputs = values.values.iter().map(from_flat).collect();
            let Ok(outcome) = eval::eval(&session.program, &program.entry().name, inputs) else { continue };
            let words = [&words[..], &[direction(&json(&outcome.value))]].concat();
            let Some(record) = record(&session, &name, &words) else { continue };
            held.fetch_add(hold(&record).map_err(|said| format!("seed {seed}: {said}\n{}", program.text()))?, Ordering::Relaxed);
        }
        Ok(())
    });
    assert!(held.into_inner() > 300);
}

/// What a stage takes to go back, for each of these words; `None` for too long.
fn costs(source: &str, words: impl Fn(usize) -> Vec<String> + Sync, sizes: &[usize], stage: Stage) -> Vec<Option<u64>> {
    with_large_stack(|| {
        let session = session(source, &[]).expect("a program");
        let cost = |n: &usize| {
            let record = record(&session, "f", &words(*n)).expect("a record");
            Straight::of(&record).expect("laws").back(stage).map(|(_, counts)| total(counts))
        };
        sizes.iter().map(cost).collect()
    })
}

/// Each number is used twice, as in 004 Figure 2.
const SHARED: &str = "let f (x: Double) (n: Index) = ifold (fun s i -> s + s) x n";
const DOT: &str = "let f (v: Vector<n>) = vectorDot v v";

fn shared(sizes: &[usize], stage: Stage) -> Vec<Option<u64>> {
    costs(SHARED, |n| vec!["1.5".into(), n.to_string()], sizes, stage)
}

fn dot(sizes: &[usize], stage: Stage) -> Vec<u64> {
    let vector = |n: usize| vec![format!("{:?}", vec![0.5; n])];
    costs(DOT, vector, sizes, stage).into_iter().map(|cost| cost.expect("not too long")).collect()
}

#[test]
fn sharing_is_exponential_until_calls_are_factored() {
    for stage in [Stage::Backpropagators, Stage::Staging] {
        let found = shared(&[10, 11, 12, 40], stage);
        let [Some(a), Some(b), Some(c), None] = found[..] else { panic!("{stage:?}: {found:?}") };
        assert!(b as f64 / a as f64 > 1.9 && c as f64 / b as f64 > 1.9, "{stage:?}: {found:?}");
    }
    for stage in [Stage::Factoring, Stage::Cayley, Stage::Arrays, Stage::Tape] {
        let found = shared(&[100, 200, 400], stage);
        let [Some(a), Some(b), Some(c)] = found[..] else { panic!("{stage:?}: {found:?}") };
        assert_eq!(c - b, 2 * (b - a), "{stage:?}: {found:?}");
    }
}

#[test]
fn the_input_counts_once_when_nothing_is_added_up() {
    // (T + I) I: four times at twice the size
    let [a, b] = dot(&[200, 400], Stage::Factoring)[..] else { panic!("two sizes") };
    assert!((3.8..4.2).contains(&(b as f64 / a as f64)), "{a} {b}");
    // (T + I) log (T + I): a constant and a logarithm for each element
    let each: Vec<f64> = dot(&[100, 1000, 10000], Stage::Cayley).iter().zip([1e2, 1e3, 1e4]).map(|(cost, n)| *cost as f64 / n).collect();
    let (first, second) = (each[1] - each[0], each[2] - each[1]);
    assert!(first > 1.0 && (first - second).abs() < 0.2 * first, "{each:?}");
    for stage in [Stage::Arrays, Stage::Tape] {
        let [a, b, c] = dot(&[1000, 2000, 4000], stage)[..] else { panic!("three sizes") };
        assert_eq!(c - b, 2 * (b - a), "{stage:?}");
    }
}

/// The loop of Figure 12 leaves out the number 0: the first Double of the input.
#[test]
fn the_first_input_has_its_share() {
    let session = session("let f (v: Vector<n>) = gradient vectorSqNorm v", &[]).expect("a program");
    let record = record(&session, "f", &["[3, 4]".into()]).expect("a record");
    let straight = Straight::of(&record).expect("laws");
    for stage in Stage::ALL {
        assert_eq!(straight.back(stage).expect("not too long").0, [6.0, 8.0], "{stage:?}");
    }
}

fn explained(args: &[&str], source: &str) -> (i32, String, String) {
    let output = with_input(&[&["explain"][..], args].concat(), source.as_bytes());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
}

#[test]
fn the_command_prints_each_stage() {
    let source = "let f (x: Double) (y: Double) = sin (x * y) + 2.0\nlet g (x: Double) = gradient (fun x -> x * x) x";
    let (status, page, said) = explained(&["--dual-numbers", "-", "f"], source);
    assert_eq!((status, &*said), (0, ""));
    for wanted in [
        "1. dual numbers with backpropagators (004 Fig. 6, D1)",
        "6. a tape (004 Sec. 8.2, 8.3)",
        "let (t1, t1') = (x * y, fun z -> x' (z * y) + y' (x * z)) in",
        "let (t2, t2') = (sin t1, (new, fun z -> SCall t1' (cos t1 * z))) in",
        "let (t1, t1') = (x * y, push [(x', y), (y', x)]) in",
    ] {
        assert!(page.contains(wanted), "{wanted}\n{page}");
    }
    assert!(!page.contains("back: {"), "{page}");
    let (_, page, _) = explained(&["--dual-numbers", "--count", "-", "g", "3"], source);
    assert_eq!(page.matches("   back: {\"arithmetic\": ").count(), 6, "{page}");
    assert!(page.contains("let (t1, t1') = (x * x, push [(x', x), (x', x)]) in") && !page.contains("the function itself"), "{page}");
    // names of the program and of the stages never meet
    let (_, page, _) = explained(&["--dual-numbers", "-", "f"], "let f (z: Double) (t1: Double) = z * t1");
    assert!(page.contains("let (t1, t1') = (z_1 * t1_1, fun z -> z_1' (z * t1_1) + t1_1' (z_1 * z)) in"), "{page}");
    // every form of term has a text
    let tour = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/tour.smooth")).expect("the tour");
    let entries = with_input(&["check", "-"], tour.as_bytes());
    for entry in String::from_utf8_lossy(&entries.stdout).lines().filter(|line| !line.contains("// no entry")) {
        let name = entry.split(' ').nth(1).expect("a name");
        let (status, _, said) = explained(&["--dual-numbers", "-q", "-", name], &tour);
        assert!(status == 0 || said.contains("error[E0810]"), "{name}: {said}");
    }
    assert_eq!(explained(&["-", "f", "1"], source).0, 2);
    assert_eq!(explained(&["--dual-numbers", "--all", "-", "f"], source).0, 2);
    assert!(explained(&["--dual-numbers", "-", "f", "1"], source).2.starts_with("error[E0801]"));
    // a chain as deep as a trace is long
    let deep = "let f (x: Double) = ifold (fun s i -> s * x) 1.0 500000";
    let (status, page, _) = explained(&["--dual-numbers", "-", "f", "1"], deep);
    assert!(status == 0 && page.matches("   back: ").count() == 6, "{page}");
}
