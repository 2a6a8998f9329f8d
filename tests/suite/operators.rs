//! Operators on arrays are the library's functions, to the byte of the C.
//!
//! Each row says one thing with operators and with functions. Both are compiled under several schedules, as they are and through a
//! gradient; what comes out differs in no byte behind the first line, which has a hash of the source.

use crate::support::engine;

const SAME: &[(&str, &str, &str)] = &[
    ("(v: Vector<n>) (w: Vector<n>)", "v + w", "vectorAdd v w"),
    ("(v: Vector<n>) (w: Vector<n>)", "v - w", "vectorSub v w"),
    ("(v: Vector<n>) (w: Vector<n>)", "v .* w", "vectorEMul v w"),
    ("(v: Vector<n>) (a: Double)", "a * v", "vectorSMul v a"),
    ("(v: Vector<n>) (a: Double)", "v * a", "vectorSMul v a"),
    ("(v: Vector)", "2 * v", "vectorSMul v 2.0"),
    ("(v: Matrix<n, m>) (w: Matrix<n, m>)", "v + w", "matrixAdd v w"),
    ("(v: Matrix<n, m>) (w: Matrix<n, m>)", "v - w", "matrixSub v w"),
    ("(v: Matrix<n, m>) (w: Matrix<n, m>)", "v .* w", "matrixEMul v w"),
    ("(v: Matrix) (a: Double)", "a * v", "matrixSMul v a"),
    ("(v: Matrix<n, m>) (w: Vector<m>)", "v * w", "matrixVectorMul v w"),
    ("(v: Matrix<n, k>) (w: Matrix<k, m>)", "v * w", "matrixMul v w"),
    (
        "(v: Matrix<n, n>) (w: Vector<n>) (a: Double)",
        "v * (w + a * w) - w",
        "vectorSub (matrixVectorMul v (vectorAdd w (vectorSMul w a))) w",
    ),
    ("(v: Matrix<n, n>)", "v * v * v + v", "matrixAdd (matrixMul (matrixMul v v) v) v"),
    ("(v: Matrix<n, m>)", "vectorMap v (fun row -> row * 2.0)", "vectorMap v (fun row -> vectorSMul row 2.0)"),
];

/// What no library function does, as it would be written with functions; the same when optimised.
const ALIKE: &[(&str, &str, &str)] = &[
    ("(v: Vector) (a: Double)", "v / a", "vectorMap v (fun x -> x / a)"),
    ("(v: Vector<n>) (w: Vector<n>)", "v ./ w", "vectorMap2 v w (/)"),
    ("(v: Vector)", "-v", "vectorMap v (fun x -> -x)"),
    ("(v: Matrix)", "-v / 2", "matrixMap v (fun row -> vectorMap row (fun x -> -x / 2.0))"),
];

/// The C of `f` and of its backward pass, without the first line.
fn emitted(params: &str, body: &str, schedule: &str) -> String {
    let names: Vec<&str> = params.split('(').filter_map(|part| part.split_once(": ")).map(|(name, _)| name).collect();
    let call = format!("f {}", names.join(" "));
    let text = format!("let f {params} = {body}\nlet g {params} = vjp (fun v -> {call}) v ({call})\n");
    let session = engine::compile("same.smooth", &text, schedule, "emit").unwrap_or_else(|problem| panic!("{body}: {problem}"));
    let c = &session.emitted().unwrap_or_else(|problem| panic!("{body}: {problem:?}")).source;
    c.split_once('\n').map_or(c.clone(), |(_, rest)| rest.to_string())
}

fn same(rows: &[(&str, &str, &str)], schedules: &[&str]) {
    for (params, operators, functions) in rows {
        for schedule in schedules {
            assert_eq!(emitted(params, operators, schedule), emitted(params, functions, schedule), "{operators}, schedule {schedule}");
        }
    }
}

#[test]
fn operators_are_the_functions_of_the_library() {
    same(SAME, &["none", "paper", "default"]);
    same(ALIKE, &["default"]);
}
