//! `eval --partial`, the partial meaning of paper 005: a table of points, and adequacy.
//!
//! Each row is an expression that has a value in the total meaning; undefined rows say so with E0707 and their place. Adequacy, on the
//! programs of `tests/reverse/values.smooth` and generated ones (`SMOOTHC_CASES=n`, `SMOOTHC_SEED=n`): where the partial meaning has a
//! value it is that of the total one to the last bit, and there the trace, dual numbers, forward and reverse mode agree.

use std::sync::Mutex;

use smoothc::driver::Options;
use smoothc::stack::with_large_stack;

use crate::generator::witnesses::{Forms, Held, partial_program};
use crate::generator::words::arguments;
use crate::generator::{asked, grow};
use crate::support::command::with_input;
use crate::support::tools;

fn evaluated(options: &[&str], expression: &str) -> (Option<i32>, String, String) {
    let output = with_input(&[&["eval", "-q"][..], options, &["-e", expression]].concat(), b"");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const SMOOTH: &[&str] = &[
    "derivative (fun x -> if x > 0.0 then x else 0.0) 1.0",
    "derivative (fun x -> if x > 0.0 then x else 0.0) -1.0",
    "gradient (fun v -> vectorMax v) [1.0, 3.0, 2.0]",
    "gradient (fun v -> vectorNorm v) [3.0, 4.0]",
    "gradient (fun v -> logSumExp v) [1.0, 2.0, 3.0]",
    // the pivot is larger than what it is compared with
    "gradient (fun A -> logDet A) [[1.0, 2.0], [3.0, 4.0]]",
    // a number is no tie with itself, nor are two operations with the same operands
    "derivative (fun x -> max x x) 1.0",
    "derivative (fun x -> if sin x + 1.0 < sin x + 1.0 then x else 2.0 * x) 1.0",
    // integer exponents make polynomials
    "derivative (fun x -> x ** 3.0) -2.0",
    "derivative (fun x -> x ** 2.0 + x ** double 0) 0.0",
    "derivative (fun x -> x ** 0.5) 2.0",
    "derivative trunc 0.5 + derivative trunc 0.0 + derivative floor 0.5",
    "atan2 0.0 1.0 + atan2 1.0 0.0 + atan2 -1.0 -1.0",
    "derivative (fun x -> ifold (fun s i -> s * x) 1.0 0) 0.0",
    // Index and Bool have no derivative: equal ones are no tie
    "if length [1.0] = 1 && true = true then double (max 2 2) else 1.0",
    // what is not taken is not computed
    "derivative (fun x -> if x < 1.0 then x else sqrt (x - 1.0)) 0.0",
];

const UNDEFINED: &[&str] = &[
    "derivative (fun x -> if x > 0.0 then x else 0.0) 0.0",
    "derivative (fun x -> if x = 0.0 then 0.0 else x) 0.0",
    "(fun x -> if x <> 1.0 then x else 1.0) 1.0",
    "max 1.0 1.0",
    "derivative (fun x -> min x 2.0) 2.0",
    "derivative (fun y -> (fun x -> max x y) 1.0) 1.0",
    // the inner point is another variable
    "derivative (fun x -> derivative (fun y -> max x y) x) 1.0",
    "gradient (fun v -> vectorMax v) [1.0, 3.0, 3.0]",
    "gradient (fun v -> vectorNorm v) [0.0, 0.0]",
    "derivative abs 0.0",
    "derivative sqrt 0.0",
    "derivative sign 0.0",
    "cbrt 0.0",
    "floor 2.0",
    "round 2.5",
    "trunc -3.0",
    "double (index 2.0)",
    "log 0.0",
    "asin 1.0",
    "acosh 1.0",
    "atanh -1.0",
    "log1p -1.0",
    "lgamma -2.0",
    "1.0 / 0.0",
    "hypot 0.0 0.0",
    "atan2 0.0 -1.0",
    "0.0 ** 0.5",
    "0.0 ** -1.0",
    "derivative (fun y -> (-2.0) ** y) 2.0",
    "clamp 1.0 1.0 2.0",
    "infinity - infinity + 1.0",
    "derivative (fun x -> let s = abs x in 3.0 * x) 0.0",
];

#[test]
fn points_are_smooth_or_undefined() {
    tools::each(SMOOTH, |row| {
        let (total, partial) = (evaluated(&[], row), evaluated(&["--partial"], row));
        if total.0 == Some(0) && total == partial { Ok(()) } else { Err(format!("{row}: {partial:?}, not {total:?}")) }
    });
    tools::each(UNDEFINED, |row| {
        let total = evaluated(&[], row);
        let found = [&["--partial"][..], &["--partial", "--reverse", "dual-numbers"]].map(|options| evaluated(options, row));
        let is_said = |(status, text, said): &(Option<i32>, String, String)| {
            *status == Some(1)
                && text.is_empty()
                && said.starts_with("error[E0707]: undefined: `")
                && (said.contains(" --> <expression>:") || said.contains(" --> linalg:"))
        };
        if total.0 == Some(0) && found.iter().all(is_said) { Ok(()) } else { Err(format!("{row}: {found:?} beside {total:?}")) }
    });
}

#[test]
fn the_place_is_that_of_the_operation() {
    let source = "let f (x: Double) (y: Double) =\n  let s = sin x\n  if s * y < x\n    then s\n    else y";
    let output = with_input(&["eval", "--partial", "-", "f", "0", "2"], source.as_bytes());
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(said.contains(" --> <stdin>:3:6\n") && said.contains("`<`") && said.contains("both are 0.0"), "{said}");
    // other errors stay what they are
    let output = with_input(&["eval", "--partial", "-", "f", "[1.0]"], b"let f (v: Vector<n>) = sqrt v[n]");
    assert!(String::from_utf8(output.stderr).expect("UTF-8").starts_with("error[E0701]"));
    assert_eq!(with_input(&["eval", "--partial", "--schedule", "none", "-", "f", "1"], b"let f (x: Double) = x").status.code(), Some(2));
}

#[test]
fn where_chosen_programs_are_defined_all_ways_agree() {
    let findings = Mutex::new((Held::default(), Vec::new()));
    with_large_stack(|| {
        let mut findings = findings.lock().expect("no panic");
        let (held, said) = &mut *findings;
        let forms =
            Forms::of("values.smooth", include_str!("../reverse/values.smooth"), &Options::default(), &|_, _| Err("no files".into()));
        let forms = forms.unwrap_or_else(|failure| panic!("{}: {}", failure.kind, failure.detail));
        for function in forms.typed.functions.values().filter(|function| function.is_entry) {
            for n in [3, 4, 1, 0] {
                let found = forms.partial(&function.name, &arguments(function, n), held).unwrap_or_else(|failure| vec![failure]);
                said.extend(found.into_iter().map(|failure| format!("{}: {}: {}", function.name, failure.kind, failure.detail)));
            }
        }
    });
    let (held, said) = findings.into_inner().expect("no panic");
    asked::say(&format!("{held:?}"));
    assert!(said.is_empty(), "{}", said.join("\n"));
    assert!(held.defined > 100 && held.undefined > 5, "{held:?}");
}

/// Also where the ways are known to jump (`tests/suite/witnesses.rs`): there the partial meaning has no value.
#[test]
fn where_generated_programs_are_defined_all_ways_agree() {
    let mut seeds = asked::seeds(300);
    let count = seeds.len();
    seeds.extend([3494, 4802]);
    let total = Mutex::new(Held::default());
    tools::each(&seeds, |seed| {
        let program = grow::program(*seed as u64, "f0", seed % 3 == 2);
        let mut held = Held::default();
        // what a stage refuses is for `tests/suite/properties.rs` to say
        let failures = partial_program(&program, &mut held).unwrap_or_default();
        total.lock().expect("no panic").add(&held);
        match failures.into_iter().next() {
            Some(first) => Err(format!("seed {seed}: {}\n{}\n{}", first.kind, program.text(), first.detail)),
            None => Ok(()),
        }
    });
    let held = total.into_inner().expect("no panic");
    asked::say(&format!("{count} programs: {held:?}"));
    assert!(held.defined > count && held.undefined > count / 10, "{held:?}");
}
