//! Updates and reverse mode on chosen programs: values through every engine, and what gradients cost.
//!
//! `tests/reverse/values.smooth`, `updates.smooth`, `steps.smooth` and `counts.smooth`: every entry is called with arguments of several
//! sizes, and what the interpreter says of it as written, where `vjp` has a meaning of its own, all say: forward and reverse,
//! interpreted and as C under sanitizers with a workspace of the exact size. `tests/reverse/costs.smooth`: pairs `f` and `f_gradient`,
//! counted at two sizes, larger than those of `tests/suite/law.rs` (docs/language.md, Cheap gradients). Random programs are in
//! `tests/suite/properties.rs`.

use std::num::NonZeroU32;

use smoothc::driver::{Options, Schedule, Session};
use smoothc::mode::Mode;
use smoothc::stack::with_large_stack;

use crate::generator::engine::{Counts, With, check_text};
use crate::generator::law::{count, doubles, total};
use crate::generator::words::{arguments, length};
use crate::generator::{asked, extrema, in_place};
use crate::support::tools;

fn session(source: &str) -> Session {
    let mut session = Session::new("program.smooth", source, Options::default());
    let done = session.run_to("types", &mut |_, _| Err("no files".into()));
    assert!(done.is_ok(), "{done:?}");
    session
}

/// Every entry at sizes 0 to 4, and each with every way to compute derivatives.
fn hold(source: &str) {
    tools::each(&[With::C, With::Checkpoints, With::Forward], |&with| {
        let session = session(source);
        let mut calls = Vec::new();
        for function in session.program.functions.values().filter(|function| function.is_entry) {
            calls.extend([3, 4, 1, 0].map(|n| (function.name.to_string(), arguments(function, n))));
        }
        assert!(calls.len() > 40, "{} calls", calls.len());
        let mut counts = Counts::default();
        let failures = check_text(source, &calls, with, &mut counts).unwrap_or_else(|failure| vec![failure]);
        assert!(counts.values * 2 > calls.len(), "{counts:?}");
        let said: Vec<String> = failures.iter().map(|failure| format!("{with:?}, {}: {}", failure.kind, failure.detail)).collect();
        if said.is_empty() { Ok(()) } else { Err(said.join("\n")) }
    });
}

#[test]
fn arrays_that_are_used_again_are_not_changed() {
    hold(include_str!("../reverse/updates.smooth"));
}

#[test]
fn loops_that_data_ends() {
    hold(include_str!("../reverse/steps.smooth"));
}

/// Loops of states whose lengths only data gives have room: each is at most a number.
#[test]
fn hessians_of_loops_that_data_ends_are_measured() {
    with_large_stack(|| {
        let names = ["shrunkHessian", "doneHessian", "doneJacobian"];
        for (schedule, name) in ["none", "paper", "default"].into_iter().flat_map(|schedule| names.map(|name| (schedule, name))) {
            let schedule = Schedule::Named(schedule.into());
            let options = Options { mode: Mode::Reverse, entries: vec![name.into()], schedule, ..Options::default() };
            let mut session = Session::new("steps.smooth", include_str!("../reverse/steps.smooth"), options);
            session.run_to("emit", &mut |_, _| Err("no files".into())).unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
        }
    });
}

#[test]
fn loops_whose_counts_data_gives() {
    hold(include_str!("../reverse/counts.smooth"));
}

/// A step keeps what it is about to overwrite before it computes anything: an index that has no value then says nothing.
#[test]
fn what_is_wrong_first_is_said() {
    with_large_stack(|| {
        let source = include_str!("../reverse/steps.smooth");
        let mut calls = Vec::new();
        for v in ["[0.5, 0.7, 0.9]", "[-1.0, 2.0, 1.0]", "[]"] {
            for m in ["0", "1", "2", "4", "9"] {
                calls.extend(["ringEnds", "neverBegun"].map(|entry| (entry.to_string(), vec![v.into(), m.into()])));
                for q in ["0", "7", "-1"] {
                    let words: Vec<String> = vec![v.into(), q.into(), m.into()];
                    calls.extend(["firstWrong", "firstWrongCount"].map(|entry| (entry.to_string(), words.clone())));
                }
            }
        }
        let mut counts = Counts::default();
        let failures = check_text(source, &calls, With::C, &mut counts).unwrap_or_else(|failure| vec![failure]);
        let said: Vec<String> = failures.iter().map(|failure| format!("{}: {}", failure.kind, failure.detail)).collect();
        assert!(said.is_empty(), "{}", said.join("\n"));
        assert!(counts.values > 40 && counts.errors > 40, "{counts:?}");
    });
}

#[test]
fn derivatives_are_the_same_in_every_way() {
    hold(include_str!("../reverse/values.smooth"));
}

/// docs/language.md, Cheap gradients: (4 + d) times the function's counts, the laws of its primitives, the Doubles of the point, a
/// constant. No primitive in the list has a law of more than three operations.
#[test]
fn a_gradient_costs_a_constant_times_its_function() {
    with_large_stack(|| {
        let source = include_str!("../reverse/costs.smooth");
        let mut session = session(source);
        let done = session.run_to("rewrite", &mut |_, _| Err("no files".into()));
        assert!(done.is_ok(), "{done:?}");
        let depths = source.lines().zip(source.lines().skip(1)).filter_map(|(line, next)| {
            let depth = line.strip_prefix("// depth ")?.parse::<u64>().ok()?;
            Some((next.strip_prefix("let ")?.split(' ').next()?.to_string(), depth))
        });
        let (mut beyond, mut worst) = (Vec::new(), (0.0, String::new()));
        let mut programs = 0;
        for (name, depth) in depths {
            programs += 1;
            let larger = [512, 64, 32][(depth as usize - 1).min(2)];
            let is_cheap = [8, larger].map(|n| {
                let function = &session.program.functions[&*name];
                let words = arguments(function, n);
                let counted = |entry: &str| count(&session.program, entry, &words).unwrap_or_else(|said| panic!("{entry}: {said}"));
                let own = counted(&name);
                let gradient = total(counted(&format!("{name}_gradient")));
                let point: u64 = function.params.iter().map(|param| doubles(param.ty(), &|size| length(size, n))).sum();
                let ratio = gradient.saturating_sub(point) as f64 / total(own).max(1) as f64;
                asked::say(&format!("{name}, n = {n}: {gradient} of {}, ratio {ratio:.2}", total(own)));
                if ratio > worst.0 {
                    worst = (ratio, format!("{name} at {n}"));
                }
                gradient <= (4 + depth) * total(own) + 3 * own.arithmetic + point + 100
            });
            if is_cheap != [true; 2] {
                beyond.push(name);
            }
        }
        assert!(programs > 15, "{programs}");
        asked::say(&format!("the worst ratio is {:.2}, of {}", worst.0, worst.1));
        assert!(beyond.is_empty(), "these cost more than the law allows: {beyond:?}");
    });
}

/// The backward pass of a maximum has the index of one step, and the workspace holds no states.
#[test]
fn a_maximum_keeps_one_index() {
    for source in ["vectorMax v", "ifold (fun m i -> min (v[i] * v[i]) m) 9.0 n", "logSumExp v"] {
        let source = format!("let f (v: Vector<n>) : Vector<n> = gradient (fun v -> {source}) v\n");
        let program = with_large_stack(|| {
            let mut session = Session::new("program.smooth", &source, Options { mode: Mode::Reverse, ..Options::default() });
            let done = session.run_to("rewrite", &mut |_, _| Err("no files".into()));
            assert!(done.is_ok(), "{done:?}");
            smoothc::ir::print::program(&session.program)
        });
        assert!(program.contains("-1) n") && !program.contains("update"), "{program}");
    }
}

/// Largest and smallest values of each other. `SMOOTHC_CASES=n` and `SMOOTHC_SEED=n` for more and for others.
#[test]
fn gradients_of_generated_extrema() {
    with_large_stack(|| {
        let (count, first) = (asked::number("SMOOTHC_CASES").unwrap_or(60), asked::number("SMOOTHC_SEED").unwrap_or(0));
        let mut found = Counts::default();
        for start in (first..first + count).step_by(30) {
            let seeds = start..(start + 30).min(first + count);
            let source: String = seeds.clone().map(extrema::entry).collect();
            let point = |n: usize| format!("{:?}", (0..n).map(|k| (1.7 * k as f64 + n as f64).sin()).collect::<Vec<_>>());
            let calls: Vec<(String, Vec<String>)> =
                seeds.flat_map(|seed| [4, 2, 1].map(|n| (format!("p{seed}"), vec![point(n)]))).collect();
            let with = if start == first { With::C } else { With::Interpreter };
            let failures = check_text(&source, &calls, with, &mut found).unwrap_or_else(|failure| vec![failure]);
            let said: Vec<String> = failures.iter().map(|failure| format!("{}: {}", failure.kind, failure.detail)).collect();
            assert!(said.is_empty(), "SMOOTHC_SEED={start} SMOOTHC_CASES=30, {with:?}\n{}", said.join("\n"));
        }
        asked::say(&format!("{count} programs: {found:?}"));
        assert!(found.values as u64 > 2 * count, "{found:?}");
    });
}

/// A loop that data ends runs in parts, in its backward pass too: each step costs the same, however long the array of which it
/// changes an element that a division, data or the state gives.
#[test]
fn a_loop_that_data_ends_costs_a_constant_times_its_function() {
    with_large_stack(|| {
        let step = |at: &str| format!("update v ({at}) (v[{at}] * 0.5 + 0.1)) k (s + sin v[{at}]) (i + 1)");
        for at in ["i % n", "min i (n - 1)", "k[i]", "index (3.0 * abs v[i]) % n", "if s > 2.0 then k[i] else i / 2"] {
            let source = format!(
                "let rec f (v: Vector<n>) (k: Array<Index, n>) (s: Double) (i: Index) : Double =\n  \
                 if s > 100000.0 || i >= n then s + v[0] else f ({}\n\
                 let g (v: Vector<n>) (k: Array<Index, n>) = gradient (fun v -> f v k 0.0 0) v\n",
                step(at)
            );
            let mut session = Session::new("program.smooth", &source, Options { mode: Mode::Reverse, ..Options::default() });
            let done = session.run_to("rewrite", &mut |_, _| Err("no files".into()));
            assert!(done.is_ok(), "{done:?}");
            for n in [100_usize, 800] {
                let v = format!("{:?}", (0..n).map(|i| 0.3 + 0.001 * (i * 7 % n) as f64).collect::<Vec<_>>());
                let words = [v, format!("{:?}", (0..n).map(|i| (i * i + 3 * i) % n).collect::<Vec<_>>())];
                let counted = |entry: &str, words: &[String]| total(count(&session.program, entry, words).expect("counts"));
                let own = counted("f", &[&words[..], &["0.0".into(), "0".into()]].concat());
                let gradient = counted("g", &words);
                asked::say(&format!("{at}, n = {n}: {gradient} of {own}, ratio {:.1}", gradient as f64 / own as f64));
                assert!(gradient < 12 * own, "{at}, n = {n}: {gradient} of {own}");
            }
        }
    });
}

/// The backward pass needs the matrix-vector product of each step, and reads it. The gradient in the vector adds one product to each
/// step; a second one would recompute the step's own.
#[test]
fn what_is_expensive_in_a_step_is_computed_once() {
    with_large_stack(|| {
        let source = "let f (W: Matrix<n, n>) (x: Vector<n>) (k: Index) : Double =\n  \
             vectorSum (ifold (fun s i -> let u = W * s in u .* u) x k)\n\
             let g (W: Matrix<n, n>) (x: Vector<n>) (k: Index) = gradient (fun x -> f W x k) x\n";
        let mut session = session(source);
        let done = session.run_to("rewrite", &mut |_, _| Err("no files".into()));
        assert!(done.is_ok(), "{done:?}");
        let n = 32;
        let row = format!("[{}]", vec!["0.01"; n].join(", "));
        let words = [format!("[{}]", vec![row.as_str(); n].join(", ")), row.clone(), "10".to_string()];
        let arithmetic = |entry: &str| count(&session.program, entry, &words).expect("counts").arithmetic as f64;
        let ratio = arithmetic("g") / arithmetic("f");
        assert!((1.5..2.5).contains(&ratio), "{ratio}");
    });
}

/// Loops that read and write one array in triangles, from both ends and under older names. In p339 a loop inside writes what a later
/// step reads, at indices below that step's. `SMOOTHC_CASES=n` and `SMOOTHC_SEED=n` for more
/// and for others.
#[test]
fn gradients_of_generated_loops_in_place() {
    with_large_stack(|| {
        let (count, first) = (asked::number("SMOOTHC_CASES").unwrap_or(60), asked::number("SMOOTHC_SEED").unwrap_or(300));
        let (mut found, mut logged) = (Counts::default(), 0);
        for start in (first..first + count).step_by(30) {
            let seeds = start..(start + 30).min(first + count);
            let source: String = seeds.clone().map(in_place::entry).collect();
            let point = |n: usize| format!("{:?}", (0..n).map(|k| (1.7 * k as f64 + n as f64).sin()).collect::<Vec<_>>());
            let calls: Vec<(String, Vec<String>)> =
                seeds.flat_map(|seed| [5, 3, 1, 0].map(|n| (format!("p{seed}"), vec![point(n)]))).collect();
            let with = if start == first { With::C } else { With::Interpreter };
            let failures = check_text(&source, &calls, with, &mut found).unwrap_or_else(|failure| vec![failure]);
            let said: Vec<String> = failures.iter().map(|failure| format!("{}: {}", failure.kind, failure.detail)).collect();
            assert!(said.is_empty(), "SMOOTHC_SEED={start} SMOOTHC_CASES=30, {with:?}\n{}", said.join("\n"));
            let mut session = Session::new("program.smooth", &source, Options { mode: Mode::Reverse, ..Options::default() });
            let done = session.run_to("ad", &mut |_, _| Err("no files".into()));
            assert!(done.is_ok(), "{done:?}");
            logged += session.print("ad").split("\nlet p").filter(|entry| entry.contains("_tape")).count() as u64;
        }
        asked::say(&format!("{count} programs, {logged} with logs: {found:?}"));
        assert!(found.values as u64 > 3 * count && logged * 20 < count * 19, "{logged}, {found:?}");
    });
}

/// A state of which no element is overwritten after the backward pass's reads of it is read as the last step left it; the others have
/// logs of what is overwritten.
#[test]
fn states_that_are_final_where_they_are_read_have_no_log() {
    with_large_stack(|| {
        let logged = ["s3", "s4", "s5", "s6", "s9", "s11", "s12", "s13", "s14", "s16", "s21", "s22", "s24", "s25"];
        // of these, exponentials
        let stored = ["s23", "s27"];
        for k in 1..=27 {
            let entry = format!("s{k}");
            let options = Options { entries: vec![entry.clone()], mode: Mode::Reverse, ..Options::default() };
            let mut session = Session::new("program.smooth", include_str!("../reverse/values.smooth"), options);
            let done = session.run_to("ad", &mut |_, _| Err("no files".into()));
            assert!(done.is_ok(), "{done:?}");
            let text = session.print("ad");
            assert_eq!(text.contains("_tape"), [&logged[..], &stored].concat().contains(&entry.as_str()), "{entry}\n{text}");
        }
    });
}

/// What a function such as `exp` gives each element of a step is stored where its derivative needs no other function: it is called in the
/// forward pass alone. A checkpointed loop stores states alone.
#[test]
fn values_of_functions_that_take_long_are_stored() {
    with_large_stack(|| {
        let source = "let f (w: Vector<n>) (x: Vector<n>) (k: Index) : Double =\n  \
             vectorSum (ifold (fun s i ->\n    \
               let gate = vectorMap2 s w (fun a b -> sigmoid (a * b))\n    \
               let turn = vectorMap2 s w (fun a b -> cos (a + b))\n    \
               build n (fun j -> gate[j] * turn[j] + s[j] * exp (-gate[j]))) x k)\n\
             let g (w: Vector<n>) (x: Vector<n>) (k: Index) = gradient (fun w -> f w x k) w\n";
        let calls = |checkpoint: Option<NonZeroU32>| {
            let options = Options { entries: vec!["g".into()], mode: Mode::Reverse, checkpoint, ..Options::default() };
            let mut session = Session::new("program.smooth", source, options);
            let done = session.run_to("emit", &mut |_, _| Err("no files".into()));
            assert!(done.is_ok(), "{done:?}");
            let c = session.files.as_ref().map_or("", |files| &files.source);
            let body = c.split("g_workspace(int64_t n, int64_t k)\n").nth(1).unwrap_or_default();
            ["smooth_sigmoid(", "smooth_cos(", "smooth_sin("].map(|name| body.matches(name).count())
        };
        assert_eq!(calls(None), [1, 2, 1]);
        assert!(calls(NonZeroU32::new(4))[0] > 1);
    });
}

/// The gradient does not need the total of the exponentials in the forward pass: it is not computed there to be stored, beside the
/// exponentials that the backward pass needs itself.
#[test]
fn what_the_forward_pass_does_not_need_is_not_stored() {
    with_large_stack(|| {
        let source = "let f (w: Vector<n>) (x: Vector<n>) (k: Index) : Double =\n  \
             snd (ifold (fun (s, total) i ->\n    \
               let t = vectorMap2 s w (fun a b -> tanh (a * b))\n    \
               (t, total + log (vectorSum (vectorMap t exp) + 2.0))) (x, 0.0) k)\n\
             let g (w: Vector<n>) (x: Vector<n>) (k: Index) = gradient (fun w -> f w x k) w\n";
        let options = Options { entries: vec!["g".into()], ..Options::default() };
        let mut session = Session::new("program.smooth", source, options);
        let done = session.run_to("emit", &mut |_, _| Err("no files".into()));
        assert!(done.is_ok(), "{done:?}");
        let c = session.files.as_ref().map_or("", |files| &files.source);
        assert_eq!(c.matches("= exp(").count(), 1, "{c}");
    });
}
