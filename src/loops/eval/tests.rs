//! What the evaluator gives, and what it refuses.

use super::*;
use crate::loops::parse;

const N: i64 = 3;

/// `f` of `n = 3`, `v = [1, 2, 3]` and as many results, with these statements.
fn run(body: &str, threads: i64, short: u64) -> Evaluated<Outcome> {
    let (body, measures) = body.split_once("---\n").unwrap_or((body, ""));
    let text = format!("entry f(n: size, v: f64[n], out out: f64[n]) {{\n{body}}}\n{measures}");
    let program = parse::program(&text).expect("is a program");
    let v = (1..=N).map(|k| Cell::Double(k as f64)).collect();
    call(&program, "f", &[Given::Cell(Cell::Index(N)), Given::Array(v), Given::Out(N as usize)], Call { threads, short })
}

fn numbers(outcome: &Outcome) -> Vec<Option<f64>> {
    outcome.results[0].iter().map(|cell| cell.and_then(|cell| cell.double().ok())).collect()
}

#[test]
fn statements_have_their_effects() {
    let doubled = run("for i < n {\nout[i] = v[i] * 2.0\n}\n", 1, 0).expect("runs");
    assert_eq!((doubled.status, numbers(&doubled)), (0, vec![Some(2.0), Some(4.0), Some(6.0)]));
    let one = run("out[1] = v[0] + v[2]\n", 1, 0).expect("runs");
    assert_eq!(numbers(&one), [None, Some(4.0), None]);
    let failed = run("fail BOUNDS if n > 2\nout[0] = 1.0\n", 1, 0).expect("runs");
    assert_eq!((failed.status, numbers(&failed)), (1, vec![None; 3]));
    // what decides is looked at first
    let guarded = run("out[0] = n > 5 && v[n] > 0.0 ? v[n] : 1.0\n", 1, 0).expect("runs");
    assert_eq!(numbers(&guarded)[0], Some(1.0));
}

#[test]
fn marked_loops_run_backwards_and_tiles_have_all_lanes() {
    let last = run("var s: f64 = 0.0\nfor i < n lanes {\ns = v[i]\n}\nout[0] = s\n", 1, 0).expect("runs");
    assert_eq!(numbers(&last)[0], Some(1.0));
    let tiles = "for i < n tiles of lane {\npanel v_rows rows of &v[i] apart 1 wide 1\ntile out[i] columns [i]\nout[i] = v_rows[lane]\n}\n";
    assert_eq!(numbers(&run(tiles, 1, 0).expect("runs")), [Some(1.0), Some(2.0), Some(3.0)]);
}

#[test]
fn parts_collect_totals_and_take_along_what_they_say() {
    let share = |captured: &str| {
        format!(
            "var s: f64 = 10.0\nshare i < n work 1.0 {{\ncaptures {captured}\ntotal s of part {{\nvar part: f64 = 0.0\ns = s + part\n}}\n\
             for i < n {{\ns = s + v[i]\n}}\n}}\nout[0] = s\n"
        )
    };
    for threads in 1..=4 {
        assert_eq!(numbers(&run(&share("v alone"), threads, 0).expect("runs"))[0], Some(16.0));
    }
    assert!(run(&share("n alone"), 2, 0).expect_err("v is needed").contains("`v` has no value"));
}

#[test]
fn workspace_is_measured_and_lent() {
    let room = "fail WORKSPACE unless room for workspace f(n)\nroom t: f64[n]\nt[0] = 1.0\nout[0] = t[0]\n---\n\
                workspace f(n: index) {\nreturn smooth_times(sizeof(f64), n)\n}\n";
    let enough = run(room, 1, 0).expect("runs");
    assert_eq!((enough.status, enough.measured, enough.used), (0, 24, 24));
    assert_eq!(run(room, 1, 1).expect("runs").status, WORKSPACE);
    let less = room.replace(", n)", ", n - 1)");
    assert!(run(&less, 1, 0).expect_err("is too little").contains("24 bytes of workspace are taken of 16"));
}

/// What emitted C must never do.
#[test]
fn defects_are_found() {
    for (body, problem) in [
        ("out[0] = v[n]\n", "`v`: element 3 of an array of 3 elements"),
        ("out[n] = 1.0\n", "`out`: element 3 of an array of 3 elements is written"),
        ("out[0] = out[1]\n", "`out`: element 1 is read and was not written"),
        ("local t: f64[2]\nout[0] = t[1]\n", "`t`: element 1 is read and was not written"),
        ("var s: f64\nout[0] = s\n", "`s` has no value"),
        ("out[0] = double(n * 9223372036854775807)\n", "plain arithmetic overflows: 3 * 9223372036854775807"),
        ("out[0] = double(n /~ (n - 3))\n", "3 / 0"),
        ("out[0] = double(index(1e300))\n", "is no index"),
        ("out[0] = true\n", "is no double"),
        ("for i < 100000000 {\n}\n", TOO_LONG),
        (
            "point var p: &mut f64 = &out\nscope {\nlocal var t: f64[2]\nt[0] = 1.0\nrotate p, t\n}\nout[0] = *p\n",
            "an array is used after its block has ended",
        ),
        ("call g(n)\n", "there is no function `g`"),
    ] {
        // literal counts are sizes by themselves
        let found = run(body, 1, 0).expect_err(problem);
        assert!(found.contains(problem), "{found}: not {problem}");
    }
    let wraps = run("out[0] = double(n *~ 9223372036854775807)\n", 1, 0).expect("runs");
    assert_eq!(wraps.status, 0);
}
