//! `--derive revf:f` and `revr:f`, a reverse derivative in two entries that share what is kept.
//!
//! Held against `vjp` as the interpreter means it, by columns: the way back of what the way forward keeps, as written and after the
//! schedule `default`, on the functions below at four sizes and on generated programs (`SMOOTHC_CASES=n`, `SMOOTHC_SEED=n`); and, for
//! some, compiled C and Futhark. What is kept is part of the signature, so some signatures are written out.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use smoothc::cli::args;
use smoothc::cli::values::to_flat;
use smoothc::ir::Program;
use smoothc::ir::eval::Value;
use smoothc::stack::with_large_stack;
use smoothc::toolchain::futhark::compiler;

use crate::generator::derived::{compiled, run, values};
use crate::generator::engine::{derived_name, differentiable, direction, disagreement, json, tolerance};
use crate::generator::words::arguments;
use crate::generator::{asked, grow};
use crate::support::command::{text, with_input};
use crate::support::tools;

const PROGRAM: &str = concat!(
    include_str!("../reverse/halves.smooth"),
    // lengths that an Index parameter says
    "let lengthOfAll (n: Index) (v: Vector<n>) (x: Double) : Double = x * vectorSum v\n",
    "let lengthOfNothing (n: Index) (v: Vector<n>) (x: Double) : Double = x * x\n",
    // loops that data ends
    "let root (y: Double) : Double =\n  let a = exp (sin y)\n  let rec go (x: Double) : Double = if abs (x * x - a) < 1e-9 then x else go (0.5 * (x + a / x))\n  go a\n",
    "let decay (v: Vector<n>) =\n  let rec go (u: Vector<n>) : Vector<n> = if vectorSqNorm u < 0.5 then u else go (0.7 * u .* vectorMap v cos)\n  go v\n",
    "let turns (x: Double) (k: Array<Index, n>) : Double = ifold (fun s i -> ifold (fun t j -> sin (t + x)) s (k[i] % 4)) x n\n",
    // a stack with room for n + 1 calls, which the way back knows by what is kept
    "let fact (x: Double) (n: Index) : Double =\n  let rec go (y: Double) (m: Index) decreases m : Double = if m <= 0 then y else y * go (y + 1.0) (m - 1)\n  go x n\n",
    // counted to an equality, so that the count is a name for another size
    "let counted (x: Double) (k: Index) : Double =\n  let rec go (y: Double) (i: Index) : Double = if i = 0 then y else go (sin y) (i - 1)\n  go (x * x) k\n",
    "let countedFixed (x: Double) : Double =\n  let rec go (y: Double) (i: Index) : Double = if i = 0 then y else go (sin y) (i - 1)\n  go x 5\n",
    "let countedRows (v: Vector<n>) : Vector<n> =\n  let rec go (u: Vector<n>) (i: Index) : Vector<n> = if i = 0 then u else go (vectorMap u (fun y -> sin (y * v[i - 1]))) (i - 1)\n  go v n\n",
    "let lengthsOfTwo (n: Index) (m: Index) (v: Vector<n>) (w: Vector<m>) : Double = vectorSum v * double m + vectorSum w\n",
);

/// Both halves in one after the other against the derivative, where that and the value are there.
fn hold(typed: &Program, halves: &Program, names: [&str; 3], inputs: &[Value], cotangent: &Value) -> Result<bool, String> {
    let [vjp, revf, revr] = names;
    let Ok(expected) = run(typed, vjp, [inputs, std::slice::from_ref(cotangent)].concat()) else { return Ok(false) };
    let forward = run(halves, revf, inputs.to_vec())?;
    let Value::Tuple(parts) = &forward.value else { return Err(format!("{revf} gives {:?}", forward.value)) };
    let [_, kept] = &parts[..] else { return Err(format!("{revf} gives {:?}", forward.value)) };
    let found = run(halves, revr, vec![kept.clone(), cotangent.clone()])?;
    let tolerance = tolerance(&expected).max(tolerance(&forward)).max(tolerance(&found));
    match disagreement(&to_flat(&expected.value).columns, &to_flat(&found.value).columns, tolerance, false) {
        Some(detail) => Err(format!("{revr}: {detail}\n{inputs:?}\n{:?}", forward.value)),
        None => Ok(true),
    }
}

#[test]
fn halves_together_are_the_derivative() {
    with_large_stack(|| {
        let named: Vec<&str> = PROGRAM.lines().filter_map(|line| line.strip_prefix("let ")?.split(' ').next()).collect();
        let derives = |parameters: &str| {
            let of = |name: &&str| ["vjp", "revf", "revr"].map(|kind| format!("{kind}:{name}{parameters}"));
            named.iter().flat_map(of).collect::<Vec<_>>()
        };
        let mut held = 0;
        for (parameters, suffix) in [("", ""), (":*", "_all")] {
            let typed = compiled(PROGRAM, &[], &derives(parameters), "types", true).expect("a program");
            let optimised = compiled(PROGRAM, &[], &derives(parameters), "rewrite", true).expect("a program");
            for name in &named {
                let names = ["vjp", "revf", "revr"].map(|kind| format!("{name}_{kind}{suffix}"));
                let names = [&*names[0], &*names[1], &*names[2]];
                for n in [3, 4, 1, 0] {
                    let words = arguments(&typed.functions[*name], n);
                    // an index below a length of 0
                    if args::read(&typed.functions[*name], &words).is_err() {
                        continue;
                    }
                    let inputs = values(&typed.functions[*name], &words);
                    let Ok(value) = run(&typed, name, inputs.clone()) else { continue };
                    let words = [&words[..], &[direction(&json(&value.value))]].concat();
                    let cotangent = values(&typed.functions[names[0]], &words).pop().expect("a cotangent");
                    for halves in [&typed, &optimised] {
                        held +=
                            usize::from(hold(&typed, halves, names, &inputs, &cotangent).unwrap_or_else(|said| panic!("{name}: {said}")));
                    }
                }
            }
        }
        assert!(held > 12 * named.len(), "{held}");
    });
}

#[test]
fn generated_halves_together_are_the_derivative() {
    let seeds = asked::seeds(100);
    let count = seeds.len();
    let (held, refused, total) = (AtomicUsize::new(0), Mutex::new(Vec::new()), AtomicUsize::new(0));
    tools::each(&seeds, |seed| {
        let program = grow::program(*seed as u64, "f0", seed % 3 == 2);
        let Some((_, derived)) = differentiable(&program) else { return Ok(()) };
        let derives = ["vjp:", "revf:", "revr:"].map(|kind| derived.replacen("jvp:", kind, 1));
        let (text, entry) = (program.text(), program.entry().name.to_string());
        let compile = |stage| compiled(&text, std::slice::from_ref(&entry), &derives, stage, !program.wild);
        // what a stage refuses is for `tests/suite/properties.rs` to say
        let (typed, optimised) = match (compile("types"), compile("rewrite")) {
            (Ok(typed), Ok(optimised)) => (typed, optimised),
            (Err(said), _) | (_, Err(said)) => {
                refused.lock().expect("no panic").push(format!("seed {seed}: {said}"));
                return Ok(());
            }
        };
        let names = ["vjp", "revf", "revr"].map(|kind| derived_name(&typed, &entry, kind));
        let names = [&*names[0], &*names[1], &*names[2]];
        for words in &program.inputs {
            let inputs = values(&typed.functions[&*entry], words);
            let Ok(value) = run(&typed, &entry, inputs.clone()) else { continue };
            let words = [&words[..], &[direction(&json(&value.value))]].concat();
            let cotangent = values(&typed.functions[names[0]], &words).pop().expect("a cotangent");
            for halves in [&typed, &optimised] {
                total.fetch_add(1, Ordering::Relaxed);
                let done = hold(&typed, halves, names, &inputs, &cotangent).map_err(|said| format!("seed {seed}: {said}\n{text}"))?;
                held.fetch_add(usize::from(done), Ordering::Relaxed);
            }
        }
        Ok(())
    });
    let (held, refused) = (held.into_inner(), refused.into_inner().expect("no panic"));
    asked::say(&format!("{count} programs, {} refused: {held} of {} calls held", refused.len(), total.into_inner()));
    assert!(held > count && refused.len() * 50 <= count, "{held} held; {}", refused.join("\n"));
}

#[test]
fn halves_are_entries_in_every_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("halves.smooth");
    std::fs::write(&path, PROGRAM).expect("written");
    let path = path.to_str().expect("UTF-8");
    let cases: &[(&str, &[&str], &str)] = &[
        ("product", &["[1, 2, 3, 4]"], "1"),
        ("layer", &["[[1, 2], [3, 4], [0, 1]]", "[0.5, -0.25]"], "[1, 2, 3]"),
        ("camera", &[r#"{"focal": 2, "centre": [1, 3]}"#, "[2, 5]"], "[1, 10]"),
        ("prefix", &["[1, 2, 3, 4]", "3"], "[1, 2, 3]"),
        ("half", &["[1, 2, 3, 4, 5]"], "2"),
        ("nested", &["[1, 2, 3]"], "[1, 0, 2]"),
        ("root", &["2"], "1"),
        ("decay", &["[1, -0.5, 2]"], "[1, 0, 2]"),
        ("turns", &["0.5", "[3, 0, 2]"], "1"),
        ("fact", &["1.5", "4"], "2"),
        ("fact", &["1.5", "0"], "2"),
    ];
    let targets: &[&[&str]] = if compiler::is_there() {
        &[&["eval"], &["run"], &["run", "--target", "futhark"]]
    } else {
        println!("no Futhark compiler: C only");
        &[&["eval"], &["run"]]
    };
    tools::each(cases, |(name, words, cotangent)| {
        let call = |target: &[&str], kind: &str, words: &[&str]| {
            let (derive, entry) = (format!("{kind}:{name}"), format!("{name}_{kind}"));
            let output = with_input(&[target, &["--derive", &derive, "--entry", &entry, path, &entry], words].concat(), b"");
            if output.status.success() { Ok(text(&output)) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
        };
        let wanted = call(&["eval"], "vjp", &[*words, &[*cotangent][..]].concat())?;
        for target in targets.iter().copied() {
            let both: serde_json::Value = serde_json::from_str(&call(target, "revf", words)?).expect("JSON");
            let found = call(target, "revr", &[&*both[1].to_string(), *cotangent])?;
            let numbers =
                |text: &str| text.split(|c: char| "[]{}, :\"".contains(c)).filter_map(|word| word.parse().ok()).collect::<Vec<f64>>();
            let (a, b) = (numbers(&wanted), numbers(&found));
            if a.len() != b.len() || a.iter().zip(&b).any(|(a, b)| (a - b).abs() > 1e-9 * a.abs().max(1.0)) {
                return Err(format!("{name} {target:?}: {found}, not {wanted}"));
            }
        }
        Ok(())
    });
}

#[test]
fn what_is_kept_is_in_the_signature() {
    let output = with_input(
        &["check", "-q", "--derive", "revf:product", "--derive", "revr:product", "--derive", "revf:camera", "--derive", "revf:points", "-"],
        PROGRAM.as_bytes(),
    );
    let printed = text(&output);
    for line in [
        // the elements and the states before the steps
        "let product_revf (v: Vector<n>) : Double * (Vector<n> * Vector<n>)",
        "let product_revr (kept: Vector<n> * Vector<n>) (d_out: Double) : Vector<n>",
        "let points_revf (v: Array<Double * Double, n>) : Double * Array<Double * Double, n>",
    ] {
        assert!(printed.lines().any(|printed| printed == line), "{line}\n{printed}{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(printed.contains("let camera_revf (c: Camera) (p: Vector<2>) : Vector<2> * "), "{printed}");
    // as for every other derivative
    let output = with_input(&["check", "--derive", "revf:count", "-"], b"let count (n: Index) = n + 1");
    assert!(String::from_utf8_lossy(&output.stderr).contains("error[E0504]"));
    let output = with_input(&["check", "--derive", "revr:f", "-"], b"let f (x: Double) = x\nlet f_revr (x: Double) = x");
    assert!(String::from_utf8_lossy(&output.stderr).contains("error[E0201]"));
    // lengths that contradict each other are refused where C and the interpreter would read out of bounds
    let output = with_input(&["eval", "-q", "--derive", "revr:half", "-", "half_revr", "[[1, 2, 3, 4], [1]]", "1"], PROGRAM.as_bytes());
    assert_eq!(String::from_utf8_lossy(&output.stderr).split(':').next(), Some("error[E0702]"));
}

/// The stack of the half that goes back is the one of the half that went forward, as deep as it is without more bytes.
#[test]
fn halves_of_recursion_fit_together() {
    let program = "let rec f (x: Double) (n: Index) : Double = if n <= 0 then x else x * f (0.99 * x) (n - 1)\n";
    with_large_stack(|| {
        let derives: Vec<String> = ["vjp:f", "revf:f", "revr:f"].map(String::from).to_vec();
        let typed = compiled(program, &[], &derives, "types", true).expect("a program");
        let inputs = [Value::Double(0.5), Value::Index(4)];
        let held = hold(&typed, &typed, ["f_vjp", "f_revf", "f_revr"], &inputs, &Value::Double(1.5));
        assert_eq!(held, Ok(true));
    });
}
