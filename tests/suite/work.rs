//! What derivatives cost after optimisation, by counting what the interpreter does: never by a clock.
//!
//! Each `tests/derivatives/*.smooth` holds a derivative as a user would ask for it (`automatic`) and the best that we could
//! derive (`byHand`), with sizes to count at and a bound:
//!
//!     // sizes: n = 20; n = 40
//!     // bound: 6 n                       operations, comparisons, reads and writes together
//!     // bound: 3 by hand                 as a multiple of what `byHand` does
//!     // bound: none by hand              it is costlier here: only listed
//!
//! Both must agree in value. `docs/cost.md` lists the counts; after a change that is meant to change them:
//!
//!     UPDATE_DOCS=1 cargo test --test suite work::

use std::rc::Rc;

use smoothc::cli::values;
use smoothc::driver::{Options, Schedule, Session};
use smoothc::ir::Program;
use smoothc::ir::eval::{Array, Outcome, Shape, Value, eval};
use smoothc::mode::Mode;
use smoothc::stack::with_large_stack;

use crate::support::counting::{Sizes, arguments, example_arguments, names, root, size, total};
use crate::support::{counting, engine};

struct Case {
    name: String,
    what: String,
    text: String,
    sizes: Vec<Sizes>,
    bound: Bound,
}

enum Bound {
    /// A number times a product of sizes.
    Monomial(u64, Vec<String>),
    /// A multiple of what the derivation by hand does.
    ByHand(u64),
    None,
}

/// What one program does at each of a case's sizes.
struct Measured {
    automatic: Vec<u64>,
    forward: Vec<u64>,
    reverse: Vec<u64>,
    by_hand: Vec<u64>,
}

fn cases() -> Vec<Case> {
    names("tests/derivatives").iter().map(|name| case(name)).collect()
}

fn case(file: &str) -> Case {
    let text = std::fs::read_to_string(root().join("tests/derivatives").join(file)).expect("readable");
    let line = |start: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(start));
        found.unwrap_or_else(|| panic!("{file}: no line `{start}…`")).trim().to_string()
    };
    let sizes = counting::sizes_of(&text);
    assert!(sizes.len() > 1, "{file}: two sizes or more");
    let bound = line("// bound:");
    let bound = match bound.strip_suffix(" by hand") {
        Some("none") => Bound::None,
        Some(times) => Bound::ByHand(times.parse().expect("a number")),
        None => {
            let mut words = bound.split_whitespace();
            let factor = words.next().and_then(|word| word.parse().ok()).expect("a number");
            Bound::Monomial(factor, words.map(str::to_string).collect())
        }
    };
    let doc = text.lines().take_while(|line| !line.starts_with("let automatic")).filter_map(|line| line.strip_prefix("/// ")).last();
    Case { name: file.replace(".smooth", ""), what: doc.expect("documentation").to_string(), text, sizes, bound }
}

fn run(program: &Program, entry: &str, sizes: &Sizes) -> Outcome {
    let function = program.functions.get(entry).unwrap_or_else(|| panic!("no `{entry}`"));
    eval(program, entry, arguments(function, sizes)).unwrap_or_else(|error| panic!("`{entry}`: {}", error.message))
}

fn compiled(path: &str, text: &str, schedule: &str, mode: Mode) -> Session {
    let options = Options { schedule: Schedule::Named(schedule.into()), mode, ..Options::default() };
    engine::compile_with(path, text, options, "rewrite").unwrap_or_else(|problem| panic!("{problem}"))
}

fn measured(case: &Case) -> Measured {
    let path = format!("tests/derivatives/{}.smooth", case.name);
    let [plain, best, forward, reverse] =
        [("none", Mode::Auto), ("default", Mode::Auto), ("default", Mode::Forward), ("default", Mode::Reverse)]
            .map(|(schedule, mode)| compiled(&path, &case.text, schedule, mode));
    let mut measured = Measured { automatic: Vec::new(), forward: Vec::new(), reverse: Vec::new(), by_hand: Vec::new() };
    for sizes in &case.sizes {
        let automatic = run(&best.program, "automatic", sizes);
        // the derivation by hand may be worse for being optimised: the better of the two counts
        let hands = [run(&plain.program, "byHand", sizes), run(&best.program, "byHand", sizes)];
        let known = engine::Known { value: values::to_flat(&hands[0].value), largest: hands[0].trace.largest };
        let [forward, reverse] = [&forward, &reverse].map(|session| run(&session.program, "automatic", sizes));
        let automatics = [("automatic", &automatic), ("forward", &forward), ("reverse", &reverse)];
        for (name, found) in automatics.into_iter().chain([("byHand", &hands[1])]) {
            if let Some(problem) = engine::difference(&known, &values::to_flat(&found.value)) {
                panic!("{path}, {name} at {sizes:?}: {problem}");
            }
        }
        measured.automatic.push(total(automatic.trace.counts));
        measured.forward.push(total(forward.trace.counts));
        measured.reverse.push(total(reverse.trace.counts));
        measured.by_hand.push(hands.iter().map(|outcome| total(outcome.trace.counts)).min().expect("two"));
    }
    measured
}

#[test]
fn derivatives_cost_what_they_should() {
    with_large_stack(|| {
        let mut wrong = Vec::new();
        for case in cases() {
            let measured = measured(&case);
            for (at, sizes) in case.sizes.iter().enumerate() {
                let allowed = match &case.bound {
                    Bound::Monomial(factor, names) => names.iter().fold(*factor, |product, name| product * size(name, sizes)),
                    Bound::ByHand(times) => (times * measured.by_hand[at]).max(1),
                    Bound::None => u64::MAX,
                };
                if measured.automatic[at] > allowed {
                    wrong.push(format!("{} at {sizes:?}: {} of {allowed}", case.name, measured.automatic[at]));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

/// By how much the work grows from one size to the other, as a power of how much all sizes grow.
fn growth(counts: &[u64], sizes: &[Sizes]) -> f64 {
    let (Some(first), Some(last)) = (counts.first(), counts.last()) else { return 0.0 };
    let scale = |sizes: &Sizes| sizes.iter().map(|(_, value)| *value as f64).product::<f64>().powf(1.0 / sizes.len() as f64);
    (*last as f64 / (*first).max(1) as f64).ln() / (scale(&sizes[sizes.len() - 1]) / scale(&sizes[0])).ln()
}

fn table(cases: &[(Case, Measured)]) -> String {
    let mut table = String::from(
        "| derivative | sizes | forward | reverse | by hand | growth | by hand |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (case, measured) in cases {
        let list = |counts: &[u64]| counts.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let at = |sizes: &Sizes| sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ");
        let sizes = case.sizes.iter().map(at).collect::<Vec<_>>().join("; ");
        let power = |counts: &[u64]| {
            if counts.iter().all(|count| *count == 0) { "0".into() } else { format!("{:.1}", growth(counts, &case.sizes)) }
        };
        let what = case.what.trim_end_matches('.');
        let (a, b) = (&measured.automatic, &measured.by_hand);
        let kept = |counts: &Vec<u64>| if counts == a { format!("**{}**", list(counts)) } else { list(counts) };
        let is_third = ![&measured.forward, &measured.reverse].contains(&a);
        let third = if is_third { format!("; **{}**", list(a)) } else { String::new() };
        table.push_str(&format!(
            "| {what} (`{}`) | {sizes} | {} | {}{third} | {} | {} | {} |\n",
            case.name,
            kept(&measured.forward),
            kept(&measured.reverse),
            list(b),
            power(a),
            power(b)
        ));
    }
    table
}

const INTRODUCTION: &str = "\
# What derivatives cost

Forward mode computes one derivative for each element of a gradient, and the rules take most of that apart again: what does
not depend on the element moves out of its loop, sums over a one-hot vector become single terms, constant factors leave
sums. Reverse mode goes through the function once and once back, and costs a constant times the function by construction.
smoothc makes both of each gradient and keeps [the cheaper one](modes.md) (`--mode auto`): first by the degree of its cost in the sizes, then
by the coefficients. Where the rules take a loop of the function away, but not what became of it in the derivative, reverse mode of the optimised
function is a third. `smoothc explain` prints the costs.

Counts are operations on Doubles, comparisons, array reads and array writes of the optimised program together, as `smoothc eval
--count --schedule default` prints them with `--mode forward` and `--mode reverse`, beside those of a derivation by hand; the kept one
is bold; where it is reverse mode of the optimised function, it stands after that of the function as written. Growth is the power
of the size that the counts grow with. Where no form has a choice (a Jacobian), both are the same.
A derivative's file is in `tests/derivatives`, by the name in brackets. `cargo test --test suite work::` checks every number.

## As cheap as by hand, but for a constant

";

const COSTLIER: &str = "
## Costlier than by hand

Here the work grows faster than that of the derivation by hand. No gradient is among them.

";

fn document() -> String {
    let measured: Vec<(Case, Measured)> = cases().into_iter().map(|case| (measured(&case), case)).map(|(m, c)| (c, m)).collect();
    let costlier =
        |(case, m): &(Case, Measured)| growth(&m.automatic, &case.sizes) > growth(&m.by_hand, &case.sizes) + 0.4 && m.automatic > m.by_hand;
    let (above, below): (Vec<_>, Vec<_>) = measured.into_iter().partition(|row| !costlier(row));
    for (case, _) in &below {
        assert!(matches!(case.bound, Bound::None), "{} is costlier than by hand", case.name);
    }
    format!("{INTRODUCTION}{}{COSTLIER}{}", table(&above), table(&below))
}

#[test]
fn the_table_of_costs_is_true() {
    with_large_stack(|| {
        let path = root().join("docs/cost.md");
        let found = document();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::create_dir_all(root().join("docs")).expect("writable");
            std::fs::write(&path, &found).expect("writable");
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(written == found, "docs/cost.md is not what `UPDATE_DOCS=1 cargo test --test suite work::` writes");
    });
}

#[test]
fn no_example_does_more_work_for_being_optimised() {
    with_large_stack(|| {
        let (mut wrong, mut compared) = (Vec::new(), 0);
        let folders = ["examples", "examples/papers", "tests/derivatives"];
        let files = folders.iter().flat_map(|folder| names(folder).into_iter().map(move |name| format!("{folder}/{name}")));
        for path in files {
            let text = std::fs::read_to_string(root().join(&path)).expect("readable");
            // the reciprocal of what a loop divides by is one operation more, and quicker: quotients count as much as products;
            // states are stored for arrays longer than these, and rows that are cleared are longer
            let disabled = ["reciprocal-loop", "build-scan", "fold-transpose", "build-band"].map(String::from).to_vec();
            let options = Options { disabled, ..Options::default() };
            let (plain, best) = (compiled(&path, &text, "none", Mode::Auto), engine::compile_with(&path, &text, options, "rewrite"));
            let best = best.unwrap_or_else(|problem| panic!("{problem}"));
            for function in plain.program.functions.values().filter(|function| function.is_entry) {
                for length in [2, 3, 7] {
                    let Some(arguments) = example_arguments(function, length) else { continue };
                    let Ok(before) = eval(&plain.program, &function.name, arguments.clone()) else { continue };
                    let after = eval(&best.program, &function.name, arguments).expect("a value as before");
                    compared += 1;
                    let (before, after) = (total(before.trace.counts), total(after.trace.counts));
                    if after > before {
                        wrong.push(format!("{path}, {} at {length}: {before} became {after}", function.name));
                    }
                }
            }
        }
        assert!(compared > 200, "only {compared} comparisons");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

/// Functions that each call the one before twice, of scalars and of vectors, with a derivative of the last.
fn chain(functions: usize, arrays: bool) -> String {
    let mut text = String::new();
    if arrays {
        text.push_str("let _f0 (v: Vector<n>) : Vector<n> = vectorMap v (fun x -> sin x)\n");
        for k in 1..=functions {
            let before = k - 1;
            text.push_str(&format!(
                "let _f{k} (v: Vector<n>) : Vector<n> = vectorAdd (_f{before} (vectorSMul v 0.5)) (_f{before} (vectorEMul v v))\n"
            ));
        }
        text.push_str(&format!("/// The last.\nlet last (v: Vector<n>) : Vector<n> = _f{functions} v\n"));
    } else {
        text.push_str("let _f0 (x: Double) : Double = sin x\n");
        for k in 1..=functions {
            let before = k - 1;
            text.push_str(&format!("let _f{k} (x: Double) : Double = _f{before} (x * 0.5) * _f{before} (x + 1.0)\n"));
        }
        text.push_str(&format!("/// Its derivative.\nlet last (x: Double) : Double = derivative _f{functions} x\n"));
    }
    text
}

#[test]
fn inlining_keeps_programs_linear() {
    with_large_stack(|| {
        for arrays in [false, true] {
            let lines = |functions: usize| {
                let session = engine::compile("chain.smooth", &chain(functions, arrays), "default", "emit")
                    .unwrap_or_else(|problem| panic!("{problem}"));
                session.emitted().unwrap_or_else(|_| panic!("C")).source.lines().count()
            };
            let (short, long) = (lines(15), lines(30));
            assert!(long < 2 * short + 600 && long < 4_000, "{short} lines for 15 functions, {long} for 30");
            // calls that stay are calls: the same value
            let text = chain(6, arrays);
            let (plain, best) =
                (compiled("chain.smooth", &text, "none", Mode::Auto), compiled("chain.smooth", &text, "default", Mode::Auto));
            let arguments = || {
                if arrays {
                    vec![Value::Array(Rc::new(Array { element: Shape::Double, items: vec![Value::Double(0.3), Value::Double(0.8)] }))]
                } else {
                    vec![Value::Double(0.3)]
                }
            };
            let run = |session: &Session| eval(&session.program, "last", arguments()).expect("a value");
            let (before, after) = (run(&plain), run(&best));
            let known = engine::Known { value: values::to_flat(&before.value), largest: before.trace.largest };
            assert_eq!(engine::difference(&known, &values::to_flat(&after.value)), None);
            assert!(total(after.trace.counts) <= total(before.trace.counts));
        }
    });
}
