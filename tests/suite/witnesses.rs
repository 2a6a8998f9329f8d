//! Reverse mode against its witnesses: `eval --trace`, `eval --reverse dual-numbers`, forward mode, and the interpreter.
//!
//! `tests/suite/generator/witnesses.rs` runs every way of one call; here are the calls: `tests/reverse/*.smooth` at four sizes, every
//! case of every example, and generated programs with their derivatives (`SMOOTHC_CASES=n`, `SMOOTHC_SEED=n`). Traces of a few
//! programs are written out in full, beside the places where reverse mode goes wrong first: loops without a step, arrays without
//! an element, NaN in a branch that is not taken, ties.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use smoothc::driver::Options;
use smoothc::ir::eval::{self, Reverse, Value};
use smoothc::trace::Trace;

use crate::generator::program::Program;
use crate::generator::shrink::shrink;
use crate::generator::witnesses::{Forms, Held, check_program};
use crate::generator::words::arguments;
use crate::generator::{asked, grow};
use crate::support::cases::Wanted;
use crate::support::command::with_input;
use crate::support::{cases, engine, sources, tools};

/// A call in full: what an entry gives, what it gives by dual numbers, and the trace.
struct Traced {
    plain: Vec<f64>,
    dual: Vec<f64>,
    text: String,
}

fn traced(source: &str, entry: &str, words: &[&str]) -> Traced {
    smoothc::stack::with_large_stack(|| {
        let options = Options { keep_gradients: true, ..Options::default() };
        let session = engine::compile_with("program.smooth", source, options, "types").expect("a program");
        let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        let arguments = engine::arguments(&session, entry, &words).expect("arguments");
        let inputs = || arguments.values.iter().map(smoothc::cli::values::from_flat).collect::<Vec<Value>>();
        let plain = eval::eval(&session.program, entry, inputs()).expect("a value").value.doubles();
        let dual = eval::eval_by(&session.program, entry, inputs(), Reverse::DualNumbers).expect("a value").value.doubles();
        let record = eval::record(&session.program, entry, inputs()).expect("a record");
        Traced { plain, dual, text: Trace::of(&record).expect("a trace").text() }
    })
}

/// The trace of `let f … = body`, and its values where the derivative is finite.
fn trace_of(source: &str, entry: &str, words: &[&str]) -> String {
    let Traced { plain, dual, text } = traced(source, entry, words);
    let same = plain.len() == dual.len() && plain.iter().zip(&dual).all(|(a, b)| !a.is_finite() || engine::close(*a, *b, 1e-12, 1.0));
    assert!(same, "{source}: {plain:?} by columns, {dual:?} by dual numbers");
    text
}

/// What is held against the meaning, and what disagrees.
#[derive(Default)]
struct Findings {
    held: Held,
    said: Vec<String>,
}

impl Findings {
    fn check(&mut self, name: &str, forms: &Forms, entry: &str, words: &[String]) {
        let found = forms.check(entry, words, &mut self.held).unwrap_or_else(|failure| vec![failure]);
        self.said.extend(found.into_iter().map(|failure| format!("{name}: {}: {}", failure.kind, failure.detail)));
    }
}

fn hold(name: &str, source: &str) -> Held {
    let findings = Mutex::new(Findings::default());
    smoothc::stack::with_large_stack(|| {
        let mut findings = findings.lock().expect("no panic");
        let forms = Forms::of(name, source, &Options::default(), &|_, _| Err("no files".into()));
        let forms = forms.unwrap_or_else(|failure| panic!("{name}: {}: {}", failure.kind, failure.detail));
        for function in forms.typed.functions.values().filter(|function| function.is_entry) {
            for n in [3, 4, 1, 0] {
                findings.check(name, &forms, &function.name, &arguments(function, n));
            }
        }
    });
    let Findings { held, said } = findings.into_inner().expect("no panic");
    asked::say(&format!("{name}: {held:?}"));
    assert!(said.is_empty(), "{}", said.join("\n"));
    assert!(held.values > 40, "{name}: {held:?}");
    held
}

#[test]
fn chosen_derivatives_have_witnesses() {
    let held = hold("values.smooth", include_str!("../reverse/values.smooth"));
    assert!(held.adjoints > 100, "{held:?}");
    hold("updates.smooth", include_str!("../reverse/updates.smooth"));
    hold("costs.smooth", include_str!("../reverse/costs.smooth"));
}

#[test]
fn examples_have_witnesses() {
    let total = Mutex::new(Held::default());
    tools::each(&cases::all(), |example| {
        let mut findings = Findings::default();
        let forms = Forms::of(&example.path, &example.text, &Options::default(), &sources::open);
        let forms = forms.map_err(|failure| format!("{}: {}: {}", example.path, failure.kind, failure.detail))?;
        for case in example.cases.iter().filter(|case| !matches!(case.wanted, Wanted::Failure(_))) {
            findings.check(&example.path, &forms, &case.entry, &case.words);
        }
        total.lock().expect("no panic").add(&findings.held);
        if findings.said.is_empty() { Ok(()) } else { Err(findings.said.join("\n")) }
    });
    let held = total.into_inner().expect("no panic");
    asked::say(&format!("examples: {held:?}"));
    assert!(held.values > 40 && held.adjoints > 3, "{held:?}");
}

/// Seeds of programs that jump where the ways may differ: no finding.
const JUMPS: [(usize, &str); 2] = [
    (3494, "`atan2` of two zeros asks for the sign of a derivative that is zero"),
    (4802, "a cotangent of -Infinity times no tangent is NaN by columns"),
];

#[test]
fn generated_programs_have_witnesses() {
    let setting = |name, default| asked::number(name).map_or(default, |number| number as usize);
    let (count, first) = (setting("SMOOTHC_CASES", 300), setting("SMOOTHC_SEED", 0));
    let seeds: Vec<usize> = (first..first + count).filter(|seed| JUMPS.iter().all(|(jumps, _)| jumps != seed)).collect();
    let total = Mutex::new(Held::default());
    let refused = AtomicUsize::new(0);
    tools::each(&seeds, |seed| {
        let program = grow::program(*seed as u64, "f0", seed % 3 == 2);
        let mut held = Held::default();
        // what a stage refuses is for `tests/suite/properties.rs` to say
        let failures = check_program(&program, &mut held).unwrap_or_else(|_| {
            refused.fetch_add(1, Ordering::Relaxed);
            Vec::new()
        });
        total.lock().expect("no panic").add(&held);
        let Some(first) = failures.into_iter().next() else { return Ok(()) };
        let mut smallest = first.clone();
        let mut fails = |candidate: &Program| {
            let found = check_program(candidate, &mut Held::default()).unwrap_or_default();
            let same = found.into_iter().find(|failure| failure.kind == first.kind);
            same.map(|failure| smallest = failure).is_some()
        };
        let small = shrink(program, setting("SMOOTHC_SHRINK", 400), &mut fails);
        Err(format!("seed {seed}: {}\n{}\n{}", smallest.kind, small.text(), smallest.detail))
    });
    let (held, refused) = (total.into_inner().expect("no panic"), refused.into_inner());
    asked::say(&format!("{count} programs, of which {refused} are refused: {held:?}"));
    assert!(held.values > count && held.adjoints > count / 4 && refused * 50 <= count.max(50), "{held:?}, {refused} refused");
}

const SAMPLE: &str = "let f (x: Double) (y: Double) = sin (x * y) + 2.0
let g (x: Double) (y: Double) = gradient (fun (a, b) -> f a b) (x, y)
let h (x: Double) (y: Double) = valueAndGradient (fun a -> f a y) x
let w (x: Double) (y: Double) = vjp (fun a -> f a y) x y
let r (x: Double) (y: Double) = rd (fun a -> f a y) x y
";

/// README.md's sample. The sum is the nearest double, which the page gives to a digit less.
#[test]
fn the_sample_is_printed_as_the_specification_has_it() {
    let forward = "x = 3.0
y = 0.5
t1 = x * y = 1.5
t2 = sin t1 = 0.9974949866040544
t3 = t2 + 2.0 = 2.9974949866040546
result t3
";
    assert_eq!(trace_of(SAMPLE, "f", &["3", "0.5"]), forward);
    let back = "adjoint
t3' = 1.0
t2' = t3' = 1.0
t1' = cos t1 * t2' = 0.0707372016677029
x' = t1' * y = 0.03536860083385145
";
    assert_eq!(trace_of(SAMPLE, "g", &["3", "0.5"]), format!("{forward}{back}y' = x * t1' = 0.2122116050031087\n"));
    assert_eq!(trace_of(SAMPLE, "h", &["3", "0.5"]), format!("{forward}{back}"));
    let w = trace_of(SAMPLE, "w", &["3", "0.5"]);
    assert!(w.starts_with(forward) && w.contains("\nt3' = y = 0.5\nt2' = t3' = 0.5\n"), "{w}");
    assert_eq!(trace_of(SAMPLE, "r", &["3", "0.5"]), w);
}

fn is_trace(source: &str, entry: &str, words: &[&str], wanted: &str) {
    let lines = |text: &str| text.lines().map(|line| line.trim().to_string()).filter(|line| !line.is_empty()).collect::<Vec<_>>();
    assert_eq!(lines(&trace_of(source, entry, words)), lines(wanted), "{source}");
}

#[test]
fn sums_and_inputs_without_a_share() {
    let source = "let f (x: Double) (y: Double) = gradient (fun (a, b, c) -> a * a - sin a) (x, y, 1.0)";
    let wanted = "x = 2.0
        y = 5.0
        x_.2 = 1.0
        t1 = x * x = 4.0
        t2 = sin x = 0.9092974268256817
        t3 = t1 - t2 = 3.090702573174318
        result t3
        adjoint
        t3' = 1.0
        t2' = -t3' = -1.0
        t1' = t3' = 1.0
        x' = cos x * t2' + t1' * x + x * t1' = 4.416146836547142
        y' = 0.0
        x_.2' = 0.0";
    is_trace(source, "f", &["2", "5"], wanted);
}

#[test]
fn arrays_and_tuples_are_taken_apart() {
    let source = "let f (p: Double * Vector<n>) = vjp (fun (a, v) -> (vectorSMul v a, length v, a)) p ([2.0, 3.0], 7, 1.0)";
    let wanted = "p.0 = 2.0
        p.1[0] = 3.0
        p.1[1] = -4.0
        t1 = p.1[0] * p.0 = 6.0
        t2 = p.1[1] * p.0 = -8.0
        result ([t1, t2], 2, p.0)
        adjoint
        t2' = 3.0
        t1' = 2.0
        p.0' = 1.0 + p.1[1] * t2' + p.1[0] * t1' = -5.0
        p.1[0]' = t1' * p.0 = 4.0
        p.1[1]' = t2' * p.0 = 6.0";
    is_trace(source, "f", &["[2, [3, -4]]"], wanted);
}

/// What the function captures of its own point is constant, and what was computed before is a number.
#[test]
fn what_is_captured_is_constant() {
    let source = "let f (x: Double) (y: Double) = let c = x * y in gradient (fun a -> a * x * y + c) x";
    let wanted = "x = 3.0
        y = 2.0
        t1 = x * 3.0 = 9.0
        t2 = t1 * y = 18.0
        t3 = t2 + 6.0 = 24.0
        result t3
        adjoint
        t3' = 1.0
        t2' = t3' = 1.0
        t1' = t2' * y = 2.0
        x' = t1' * 3.0 = 6.0";
    is_trace(source, "f", &["3", "2"], wanted);
    is_trace(
        "let f (x: Double) = gradient (fun a -> a * x) (x + 1.0)",
        "f",
        &["3"],
        "x = 3.0\na = 4.0\nt1 = a * x = 12.0\nresult t1\nadjoint\nt1' = 1.0\na' = t1' * x = 3.0",
    );
}

#[test]
fn nothing_is_done_in_loops_without_a_step() {
    let sum = "let f (v: Vector<n>) = gradient (fun u -> ifold (fun s i -> s * u[i]) 2.0 (length u)) v";
    is_trace(sum, "f", &["[]"], "result 2.0\nadjoint");
    let source = "let f (x: Double) (k: Index) = valueAndGradient (fun a -> ifold (fun s i -> s * a) a k) x";
    is_trace(source, "f", &["3", "0"], "x = 3.0\nresult x\nadjoint\nx' = 1.0");
    let source = "let f (v: Vector<n>) = vjp (fun u -> vectorMap u sin) v v";
    is_trace(source, "f", &["[]"], "result []\nadjoint");
}

#[test]
fn a_branch_that_is_not_taken_leaves_no_trace() {
    let source = "let f (x: Double) = gradient (fun a -> if a > 0.0 then a * 2.0 else sqrt a * log a) x";
    is_trace(source, "f", &["3"], "x = 3.0\nt1 = x * 2.0 = 6.0\nresult t1\nadjoint\nt1' = 1.0\nx' = t1' * 2.0 = 2.0");
    assert_eq!(traced(source, "f", &["3"]).dual, [2.0]);
    // computed and not taken: its slope is infinite
    let source = "let f (x: Double) = gradient (fun a -> let s = sqrt a in if a > 0.0 then s else a) x";
    let Traced { plain, dual, text } = traced(source, "f", &["0"]);
    assert_eq!((plain, dual), (vec![1.0], vec![1.0]));
    assert!(text.ends_with("result x\nadjoint\nx' = 1.0\n"), "{text}");
    let source = "let f (x: Double) = gradient (fun a -> max a (0.0 / a)) x";
    let Traced { plain, dual, .. } = traced(source, "f", &["0"]);
    assert!(plain[0].is_nan() && dual[0].is_nan(), "{plain:?} {dual:?}");
}

/// The first at a tie, as in forward mode; `abs` and `sign` at 0.
#[test]
fn ties_are_given_to_the_first() {
    for (prim, other) in [("max", 1.0), ("min", 9.0)] {
        let source = format!("let f (x: Double) (y: Double) = gradient (fun (a, b) -> {prim} a b + {prim} (2.0 * b) (2.0 * a)) (x, y)");
        assert_eq!(traced(&source, "f", &["4", "4"]).dual, [1.0, 2.0], "{prim}");
        let text = trace_of(&source, "f", &["4", "4"]);
        assert!(text.ends_with("x' = t1' = 1.0\ny' = 2.0 * t2' = 2.0\n"), "{text}");
        assert!(trace_of(&source, "f", &["4", &format!("{other:?}")]).contains("adjoint"));
    }
    let source = "let f (x: Double) = gradient (fun a -> abs a + sign a + a * floor a) x";
    let text = trace_of(source, "f", &["0"]);
    assert!(text.ends_with("x' = t5' * t4 + sign x * t1' = 0.0\n"), "{text}");
    let source = "let f (v: Vector<n>) = gradient (fun u -> vectorMax u * vectorMin u) v";
    trace_of(source, "f", &["[2, 2, 2]"]);
    trace_of(source, "f", &["[NaN, 2, 2]"]);
}

/// The outermost form decides: of a directional derivative everything is traced, tangents too.
#[test]
fn forward_forms_are_traced_as_they_are_done() {
    let source = "let f (x: Double) = derivative (fun a -> a * a) x";
    let wanted = "x = 3.0
        t1 = x * x = 9.0
        t2 = 1.0 * x = 3.0
        t3 = x * 1.0 = 3.0
        t4 = t2 + t3 = 6.0
        result t4";
    is_trace(source, "f", &["3"], wanted);
}

#[test]
fn names_never_meet() {
    let source = "let f (t1: Double) (t1': Double) = gradient (fun (a, b) -> a * b) (t1, t1')";
    let wanted = "t1 = 2.0
        t1' = 3.0
        t_1 = t1 * t1' = 6.0
        result t_1
        adjoint
        t_1'' = 1.0
        t1'' = t_1'' * t1' = 3.0
        t1''' = t1 * t_1'' = 2.0";
    is_trace(source, "f", &["2", "3"], wanted);
}

/// Derivatives in derivatives, of both kinds and in both orders.
#[test]
fn dual_numbers_nest() {
    let cubes = "ifold (fun s i -> s + u[i] * u[i] * u[(i + 1) % length u]) 0.0 (length u)";
    for form in [
        format!("gradient (fun v -> vectorSum (gradient (fun u -> {cubes}) v)) z"),
        format!("gradient (fun v -> vectorSqNorm (vjp (fun u -> gradient (fun u -> {cubes}) u) v v)) z"),
        format!("jvp (fun v -> gradient (fun u -> {cubes}) v) z z"),
        format!("gradient (fun v -> jvp (fun u -> {cubes}) v v) z"),
        format!("vjp (fun v -> jvp (fun w -> gradient (fun u -> {cubes}) w) v z) z z"),
        format!("jacobian (fun v -> gradient (fun u -> {cubes} * vectorSum v) v) z"),
        "gradient (fun v -> derivative (fun x -> gradient (fun y -> y ** 3.0 * x * vectorSum v) x) 2.0) z".into(),
    ] {
        let source = format!("let f (z: Vector<n>) = {form}");
        let Traced { plain, dual, .. } = traced(&source, "f", &["[1.5, -0.5, 2.0]"]);
        let same = plain.len() == dual.len() && plain.iter().zip(&dual).all(|(a, b)| engine::close(*a, *b, 1e-12, 1e3));
        assert!(same && plain.iter().any(|number| *number != 0.0), "{form}: {plain:?} and {dual:?}");
    }
}

/// A tape has as many places as operations, whatever the number of Doubles in the point.
#[test]
fn dual_numbers_take_a_pass_there_and_one_back() {
    let source = "let f (v: Vector<n>) = gradient (fun u -> ifold (fun s i -> s + sin u[i] * u[i]) 0.0 (length u)) v";
    let arithmetic = |n: usize| {
        smoothc::stack::with_large_stack(|| {
            let session = engine::compile("program.smooth", source, "none", "types").expect("a program");
            let inputs = vec![Value::vector(&vec![0.5; n])];
            eval::eval_by(&session.program, "f", inputs, Reverse::DualNumbers).expect("a value").trace.counts.arithmetic
        })
    };
    assert_eq!(arithmetic(40) - arithmetic(20), 2 * (arithmetic(20) - arithmetic(10)));
}

fn smoothc(args: &[&str], source: &str) -> (i32, String, String) {
    let output = with_input(args, source.as_bytes());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
}

#[test]
fn the_command_prints_the_result_then_the_trace() {
    let (status, text, said) = smoothc(&["eval", "--trace", "-", "f", "3", "0.5"], SAMPLE);
    assert_eq!((status, &*said), (0, ""));
    assert_eq!(text, format!("2.9974949866040546\n{}", trace_of(SAMPLE, "f", &["3", "0.5"])));
    let one = smoothc(&["eval", "--trace", "--derive", "gradient:f:y", "-", "f_gradient_y", "3", "0.5"], SAMPLE);
    assert!(one.1.starts_with("0.2122116050031087\nx = 3.0\n") && one.1.ends_with("\ny' = x * t1' = 0.2122116050031087\n"), "{}", one.1);
    // after a schedule no form is left
    let (status, text, _) = smoothc(&["eval", "--trace", "--schedule", "default", "-", "g", "3", "0.5"], SAMPLE);
    assert!(status == 0 && text.contains("\nresult (") && !text.contains("adjoint"), "{text}");
    for entry in ["f", "g", "h", "w", "r"] {
        let words = ["-", entry, "3", "0.5"];
        let plain = smoothc(&[&["eval"][..], &words].concat(), SAMPLE);
        assert_eq!(plain, smoothc(&[&["eval", "--reverse", "dual-numbers"][..], &words].concat(), SAMPLE), "{entry}");
    }
}

#[test]
fn inputs_are_called_as_in_the_source() {
    let source = "type One = { only: Double }\ntype Camera = { focal: Double; centre: Vector<2>; one: One }\n\
                  type Shape = | Circle of Double | Box of Double * Double\n\
                  let f (c: Camera) (s: Shape) : Double = match s with | Circle r -> r | Box (a, b) -> a * b * c.one.only";
    let camera = r#"{"focal": 2, "centre": [3, 4], "one": {"only": 5}}"#;
    let (_, text, said) = smoothc(&["eval", "--trace", "-q", "-", "f", camera, r#"{"Box": [6, 7]}"#], source);
    let inputs = "c.focal = 2.0\nc.centre[0] = 3.0\nc.centre[1] = 4.0\nc.one.only = 5.0\ns.box.0 = 6.0\ns.box.1 = 7.0\n";
    assert_eq!(
        (&*text, &*said),
        (&*format!("210.0\n{inputs}t1 = s.box.0 * s.box.1 = 42.0\nt2 = t1 * c.one.only = 210.0\nresult t2\n"), "")
    );
}

#[test]
fn wrong_usage_and_errors_stay_what_they_are() {
    for options in [&["--trace", "--count"][..], &["--reverse", "dual-numbers", "--schedule", "none"], &["--reverse", "columns"]] {
        assert_eq!(smoothc(&[&["eval"][..], options, &["-", "f", "1", "2"]].concat(), SAMPLE).0, 2, "{options:?}");
    }
    let source = "let f (v: Vector<n>) = gradient (fun u -> u[length u] * u[0]) v\nlet g (v: Vector<n>) = vjp (fun u -> u) v [1.0]";
    for options in [&[][..], &["--trace"], &["--reverse", "dual-numbers"]] {
        for (entry, code) in [("f", "E0701"), ("g", "E0702")] {
            let (status, text, said) = smoothc(&[&["eval"][..], options, &["-", entry, "[1, 2]"]].concat(), source);
            assert_eq!((status, &*text), (1, ""), "{options:?} {entry}");
            assert!(said.starts_with(&format!("error[{code}]")), "{options:?} {entry}: {said}");
        }
    }
    let long = "let f (x: Double) = ifold (fun s i -> s + x) 0.0 1100000";
    let (status, _, said) = smoothc(&["eval", "--trace", "-", "f", "1"], long);
    assert!(status == 1 && said.starts_with("error[E0706]: more than 1048576 operations"), "{said}");
}
