//! Long chains where each let uses the one before twice: what is written out for one of them doubles with
//! every let, so no pass may write it out.
//!
//! In: functions that call the one before; chains of 40 and 80 lets of each form. Out: C whose length grows with the chain.

use smoothc::driver::{Options, Session};
use smoothc::stack::with_large_stack;

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
