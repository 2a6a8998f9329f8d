//! Loops whose first and last iterations are done by themselves: emitted C gives what the interpreter does at sizes at which the
//! ends meet, and asks nothing in between.

use crate::support::{agree, engine, native, tools};

/// A name, whether no loop in lanes asks for its index, and the text.
const STENCILS: &[(&str, bool, &str)] = &[
    ("first", true, "build n (fun i -> if i = 0 then v[i] else v[i - 1] * v[i])"),
    ("last", true, "build n (fun i -> if i = n - 1 then 2.0 * v[i] else v[i] * v[i + 1])"),
    ("both", true, "build n (fun i -> if i = 0 then 1.0 elif i = n - 1 then v[i] else v[i - 1] + v[i + 1])"),
    ("apart", true, "build n (fun i -> (if i > 0 then v[i - 1] * v[i] else v[0]) - (if i < n - 1 then v[i + 1] else 0.5))"),
    ("two", true, "build n (fun i -> (if 2 <= i then v[i - 2] * v[i] else v[i]) - (if i + 2 < n then v[i + 2] else 0.5))"),
    ("twoOne", true, "build n (fun i -> (if 1 < i then v[i - 2] * v[i] else v[i]) - (if n - 1 > i then v[i + 1] else 0.5))"),
    ("never", true, "build n (fun i -> if i < n then v[i] * v[i] * v[i] else 0.0)"),
    ("but", true, "build n (fun i -> if not (i = 0) && i <> n - 1 then v[i - 1] + v[i + 1] else v[i] * 2.0)"),
    ("either", true, "build n (fun i -> if i = 0 || n - 1 <= i then v[i] * 2.0 else v[i - 1] + v[i + 1])"),
    (
        "sum",
        true,
        "build 1 (fun k -> ifold (fun s i -> s + (if i = 0 then 3.0 else v[i - 1]) * (if i < n - 1 then v[i + 1] else v[0])) 0.0 n)",
    ),
    ("middle", true, "build n (fun i -> if i < k then v[i] * v[i] else v[i] + 1.0)"),
    ("middleFrom", true, "build n (fun i -> if k <= i then v[i] * v[i] else v[i] + 1.0)"),
    ("middleBut", false, "build n (fun i -> if i = k then v[i] * v[i] else v[i] + 1.0)"),
    // `k + 1` might be no Index
    ("middleAfter", false, "build n (fun i -> if i <= k then v[i] * v[i] else v[i] + 1.0)"),
    ("behind", true, "build (n + m) (fun i -> if i < n then v[i] * v[i] else w[i - n])"),
    ("three", true, "build (n + m + 2) (fun i -> if i < n then v[i] * 2.0 elif i < n + m then w[i - n] else double (i - n - m))"),
    ("clamped", true, "build n (fun i -> v[max 0 (i - 1)] + 2.0 * v[i] + v[min (n - 1) (i + 1)])"),
    ("around", true, "build n (fun i -> v[i] * v[(i + 1) % n] - v[(i + n - 1) % n])"),
    ("aroundTwice", false, "build n (fun i -> v[i] * v[(i + i) % n] - v[(i + 2 * n) % n])"),
    ("circle", true, "gradient (fun x -> vectorSum (build n (fun i -> let d = x[(i + 1) % n] - x[i] * x[i] in d * d))) v"),
    (
        "circleIf",
        true,
        "gradient (fun x -> vectorSum (build n (fun i -> let d = x[if i = n - 1 then 0 else i + 1] - x[i] * x[i] in d * d))) v",
    ),
    ("ends", true, "gradient (fun x -> vectorSum (build n (fun i -> let d = x[max 0 (i - 1)] - x[i] * x[i] in d * d))) v"),
    ("shifted", false, "build n (fun i -> (if i < m then w[i] * v[i] else v[i]) + (if i < n - m then v[i + m] * v[i] else 1.0))"),
    (
        "moved",
        true,
        "gradient (fun x -> vectorSqNorm (build (n - m + 1) (fun i -> vectorSum (build m (fun j -> x[i + j] * w[j])) - 1.0))) v",
    ),
    ("spread", true, "gradient (fun x -> vectorSqNorm (build (n - m) (fun i -> x[i + m] * x[i] - 1.5))) v"),
    ("windows", true, "build n (fun i -> vectorSum (build (max 0 (min n (i + m) - max 0 (i - m))) (fun j -> v[max 0 (i - m) + j] * 1.5)))"),
    (
        "lower",
        true,
        "build 1 (fun q -> vectorSum (build n (fun r -> vectorSum (build n (fun c -> if c <= r then v[r] * v[c] else v[c])))))",
    ),
    ("third", false, "build n (fun i -> if i < 3 then v[i] * v[i] else v[i - 3] + 1.0)"),
    ("gradient", true, "gradient (fun x -> vectorSum (build (n - 1) (fun i -> let d = x[i + 1] - x[i] * x[i] in d * d + sin x[i]))) v"),
    (
        "picture",
        true,
        "build 1 (fun q -> vectorSum (build n (fun r -> let w = build n (fun c ->\n      (if 0 < r then v[r - 1] * v[c] else v[c]) + (if c < n - 1 then v[c + 1] else 1.0) * (if r < n - 1 then v[r + 1] else 2.0)) in vectorSum w)))",
    ),
];

fn entry((name, _, body): &(&str, bool, &str)) -> String {
    format!("let {name} (v: Vector<n>) (w: Vector<m>) (k: Index) : Vector =\n  let n = length v\n  let m = length w\n  {body}\n\n")
}

const LONG: [f64; 17] = [0.5, -1.0, 2.0, 0.25, 1.5, -0.5, 1.0, 3.0, -2.0, 0.75, 1.25, -1.5, 0.125, 2.5, -0.25, 1.75, 0.375];

fn lengths() -> impl Iterator<Item = usize> {
    (0..7).chain([17])
}

#[test]
fn stencils_agree_with_the_interpreter() {
    let text: String = STENCILS.iter().map(entry).collect();
    let known = engine::compile("peel.smooth", &text, "none", "types").unwrap_or_else(|problem| panic!("{problem}"));
    let run: agree::Run = if tools::has_sanitizers() { &native::sanitized } else { &native::optimised };
    for schedule in ["none", "default"] {
        let session = engine::compile("peel.smooth", &text, schedule, "emit").unwrap_or_else(|problem| panic!("{problem}"));
        let mut calls = Vec::new();
        for n in lengths() {
            let v: Vec<f64> = (0..n).map(|i| 0.375 * i as f64 - 0.75).collect();
            for (name, ..) in STENCILS {
                for (m, k) in [(n, "2"), (3, "0"), (4, "-1"), (2, "3")] {
                    let words = [format!("{v:?}"), format!("{:?}", &LONG[..m]), k.to_string()];
                    calls.push((*name, engine::arguments(&session, name, &words).unwrap_or_else(|problem| panic!("{name}: {problem}"))));
                }
            }
        }
        if let Err(difference) = agree::agree(run, &known, &session, &calls) {
            panic!("{schedule}: {difference}");
        }
    }
}

#[test]
fn between_the_ends_nothing_is_asked() {
    let text: String = STENCILS.iter().map(entry).collect();
    let session = engine::compile("peel.smooth", &text, "default", "emit").unwrap_or_else(|problem| panic!("{problem}"));
    let files = session.emitted().expect("C");
    let c = &files.source;
    for (name, is_free, _) in STENCILS {
        let function = c.split(&format!("smooth_status {name}(")).last().unwrap_or_default();
        let function = function.split("\n}\n").next().unwrap_or_default();
        let asks = |line: &str| line.contains('?') || line.trim_start().starts_with("if (");
        let (mut inner, mut free) = (Vec::new(), false);
        let mut lines = function.lines().peekable();
        while let Some(line) = lines.next() {
            if !line.trim_start().starts_with("for (") {
                continue;
            }
            let margin = line.len() - line.trim_start().len();
            let body: Vec<&str> = lines.clone().take_while(|line| line.len() - line.trim_start().len() > margin).collect();
            if !body.iter().any(|line| line.trim_start().starts_with("for (")) {
                inner.push(line);
                free |= !body.iter().any(|line| asks(line));
            }
        }
        assert_eq!(free, *is_free, "{name}: {inner:?} in\n{function}");
    }
}
