//! Long programs. Chains where each let uses the one before twice: what is written out for one of them doubles with every
//! let, so no pass may write it out. And long expressions: no pass may look at all of one for each of its parts.
//!
//! In: functions that call the one before; chains of 40 and 80 lets of each form; expressions of 60 and 120 parts, with their
//! derivatives. Out: C whose length grows with the chain, from work that grows with the expression.

use smoothc::driver::{Options, Session};
use smoothc::stack::with_large_stack;

use crate::support::allocations;

/// A program around a chain: what stands before it, its first value, a step from `@`, and the end, where `@` is
/// the last name.
const CHAINS: [(&str, &str, &str, &str); 20] = [
    ("let f (a: Double) (b: Double) =", "a", "@ * @ + sin @", "@"),
    ("let f (a: Double) (b: Double) =", "a", "(let y = @ * @ in y + @)", "@"),
    ("let f (a: Double) (b: Double) =", "a", "if @ > b then @ * 2.0 else @ - 1.0", "@"),
    ("let f (a: Double) (b: Double) =", "a", "if (let y = @ * @ in y + @ > b) then @ else @ + b", "@"),
    ("let f (a: Double) (b: Double) =", "a", "max @ (b * @)", "@"),
    ("let f (a: Double) (b: Double) =", "a", "(@ * b) / (@ * a) + @", "@"),
    ("let f (a: Double) (b: Double) =", "(a, a)", "(fst @ * snd @, fst @ + snd @)", "fst @"),
    ("let f (a: Double) (b: Double) =", "a > b", "(@ && a > 2.0) || (@ && b > 3.0)", "if @ then a else b"),
    ("let f (v: Vector<n>) = build (length v) (fun i ->", "v[i]", "@ * @ + sin @", "@)"),
    ("let f (v: Vector<n>) = ifold (fun s i ->", "v[i] + s", "@ * @ + 1.0 / @", "@) 0.0 (length v)"),
    ("let f (v: Vector<n>) =", "v", "build (length v) (fun i -> @[i] + @[length v - 1 - i])", "@"),
    ("let f (v: Vector<n>) =", "0.0", "ifold (fun s i -> s + v[i] * @) @ (length v)", "@"),
    (
        "let f (M: Matrix<m, n>) (v: Vector<n>) = build (length M) (fun i -> build (length v) (fun j ->",
        "M[i][j] + v[j]",
        "@ * @ + sin @",
        "M[i][j] / @))",
    ),
    (
        "let f (M: Matrix<m, n>) (v: Vector<n>) = build (length M) (fun i -> build (length v) (fun j ->",
        "v[j] + 1.0",
        "@ * @ + sin @",
        "M[i][j] / @))",
    ),
    ("let f (v: Vector<n>) (k: Index) =", "k", "@ * @", "if 0 <= @ && @ < length v then v[@] else 0.0"),
    ("let f (v: Vector<n>) (k: Index) =", "k", "@ * @ + @", "if 0 <= @ && @ < length v then v[@] else 0.0"),
    ("let f (v: Vector<n>) (k: Index) =", "k", "(let y = @ * @ in y + @)", "if 0 <= @ && @ < length v then v[@] else 0.0"),
    ("let f (v: Vector<n>) (k: Index) =", "k", "max @ (@ / 2 + 1)", "if 0 <= @ && @ < length v then v[@] else 0.0"),
    ("let f (v: Vector<n>) (k: Index) =", "k", "if @ > 3 then @ - 1 else @ + 1", "if 0 <= @ && @ < length v then v[@] else 0.0"),
    ("let f (v: Vector<n>) =", "v", "(let y = vectorAdd @ @ in vectorMap y (fun e -> e * @[0]))", "@"),
];

fn program(chain: &(&str, &str, &str, &str), lets: usize) -> String {
    let (head, first, step, last) = chain;
    let mut text = format!("{head}\n  let x0 = {first}\n");
    for at in 0..lets {
        text.push_str(&format!("  let x{} = {}\n", at + 1, step.replace('@', &format!("x{at}"))));
    }
    text + &format!("  {}\n", last.replace('@', &format!("x{lets}")))
}

fn compiled(text: &str) -> Session {
    let mut session = Session::new("chain.smooth", text, Options::default());
    let ran = session.run_to("emit", &mut |_, _| Err("no files".into()));
    assert!(ran.is_ok(), "{ran:?}\n{text}");
    session
}

#[test]
fn what_is_written_grows_with_the_chain() {
    with_large_stack(|| {
        for chain in &CHAINS {
            let length = |lets| compiled(&program(chain, lets)).emitted().expect("C").source.len();
            let (short, long) = (length(40), length(80));
            assert!(long < 5 * short / 2, "{chain:?}: {short} bytes, then {long}");
        }
    });
}

/// A thousand functions that each call the one before: not every body can hold all before it.
#[test]
fn functions_that_call_the_one_before() {
    let mut text = "let f0 (x: Double) (y: Double) = x * y + sin x\n".to_string();
    for at in 1..1000 {
        text.push_str(&format!("let f{at} (x: Double) (y: Double) = sin (f{} (x + {at}.0) y) * y\n", at - 1));
    }
    text.push_str("let g (x: Double) = derivative (fun y -> f999 x y) 0.5\n");
    with_large_stack(|| {
        let session = compiled(&text);
        assert!(session.program.node_count() < 100_000, "{} nodes", session.program.node_count());
    });
}

/// Long expressions: what stands before, a part with `#` for its number, what joins the parts, and what stands behind.
const LONG: [(&str, &str, &str, &str); 10] = [
    ("let f (v: Vector<n>) =\n  ", "v[#]", " + ", ""),
    ("let f (v: Vector<n>) =\n  ", "v[#] * v[# + 1]", " + ", ""),
    ("let f (v: Vector<n>) =\n  ", "sin v[#]", " + ", ""),
    ("let f (v: Vector<n>) =\n  ", "(v[#] + #.5)", " * ", ""),
    ("let f (v: Vector<n>) =\n  if ", "v[#] > #.5", " && ", " then v[0] else 0.0"),
    ("let f (v: Vector<n>) =\n  if ", "v[#] > #.5", " || ", " then v[0] else 0.0"),
    ("let f (v: Vector<n>) =\n  ", "if v[#] > 0.5 then v[#] * 2.0 else\n  ", "", "v[0]"),
    ("let f (v: Vector<2>) =\n  ", "if sin (v[0] * #.5) > v[1] then cos (v[0] * #.5) * sin (v[0] * #.5) else\n  ", "", "v[0] * v[1]"),
    ("let f (v: Vector<n>) =\n", "  let y# = v[#] * v[# + 1]\n", "", "  y0 + y1"),
    ("let f (v: Vector<n>) =\n  let y = vectorSum v\n", "  let y = y * vectorDot v (vectorMap v (fun e -> e * y + #.5))\n", "", "  y"),
];

/// What compiling the expression and its gradient takes from the allocator: as deterministic as the compiler.
fn work(form: &(&str, &str, &str, &str), parts: usize) -> usize {
    let (before, part, between, behind) = form;
    let parts: Vec<String> = (0..parts).map(|at| part.replace('#', &at.to_string())).collect();
    let text = format!("{before}{}{behind}\nlet g (v: Vector<n>) = gradient f v\n", parts.join(between));
    let before = allocations::made();
    compiled(&text);
    allocations::made() - before
}

/// An expression of twice the length takes about twice the work, and so does its derivative.
#[test]
fn long_expressions() {
    with_large_stack(|| {
        for form in &LONG {
            let (short, long) = (work(form, 60), work(form, 120));
            assert!(long < 16 * short / 5, "{form:?}: {short} allocations, then {long}");
        }
    });
}

/// Forms of which some passes once looked at all for each part only where there are hundreds: more names than a list of free
/// variables held, more terms than a loop may be unrolled with, a check in front of each operand.
const LONGER: [(&str, &str, &str, &str); 4] = [
    ("let f (v: Vector<2>) =\n  let x = v[0]\n  let y = v[1]\n  ", "sin (#.25 * x * y)", " + ", ""),
    ("let f (v: Vector<n>) =\n  ", "sin (#.5 * v[0])", " + ", ""),
    ("let f (v: Vector<n>) =\n  ", "v[#] * v[# + 1]", " + ", ""),
    ("let f (v: Vector<n>) =\n  ", "v[#] / (v[# + 1] + #.5)", " - ", ""),
];

#[test]
fn longer_expressions() {
    with_large_stack(|| {
        for form in &LONGER {
            let (short, long) = (work(form, 300), work(form, 600));
            assert!(long < 16 * short / 5, "{form:?}: {short} allocations, then {long}");
        }
    });
}

/// A sum of so many terms with three parameters each, and its gradient over data: each of the parameters has a sum of its own
/// with the whole model in it, so twice the terms are four times the text, and no more than that in work.
#[test]
fn models_of_many_terms() {
    let model = |terms: usize, params: &str| {
        let term = |k: usize| format!("p[{}] * exp (-p[{}] * x) * cos (p[{}] * x)", 3 * k, 3 * k + 1, 3 * k + 2);
        let sum: Vec<String> = (0..terms).map(term).collect();
        format!(
            "let model (p: {params}) (x: Double) = {}\n\
             let g (p: {params}) (xs: Vector<n>) (ys: Vector<n>) =\n  \
             gradient (fun q -> ifold (fun s i -> s + (ys[i] - model q xs[i]) ** 2.0) 0.0 (length ys)) p\n",
            sum.join(" + ")
        )
    };
    let work = |text: &str| {
        let before = allocations::made();
        compiled(text);
        allocations::made() - before
    };
    with_large_stack(|| {
        let of_literal_size = |terms: usize| work(&model(terms, &format!("Vector<{}>", 3 * terms)));
        for form in [&of_literal_size as &dyn Fn(usize) -> usize, &|terms| work(&model(terms, "Vector"))] {
            let (short, long) = (form(8), form(16));
            assert!(long < 6 * short, "{short} allocations, then {long}");
        }
    });
}
