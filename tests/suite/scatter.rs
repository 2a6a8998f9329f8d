//! Scatters: results that pick what they sum by an index that data gives are collected in one loop, and are what the interpreter
//! says, its refusals included.
//!
//! Each entry takes index arrays of m numbers, a vector and a matrix of n rows, and data of m rows, and runs with indices that repeat, are
//! negative, out of range and at the ends of Index, with nothing to pick from or to, and with numbers that overflow, under sanitizers.

use smoothc::cli::args::Arguments;
use smoothc::driver::{Options, Session};
use smoothc::mode::Mode;
use smoothc::real::Real;
use smoothc::toolchain::flat::Column;

use crate::support::agree::{self, Run};
use crate::support::engine::scheduled;
use crate::support::{engine, native, sources, tools};

/// A name, whether it is collected in one loop, the result's type, and the text.
const RESULTS: &[(&str, bool, &str, &str)] = &[
    ("histogram", true, "Vector<n>", "build (length c) (fun r -> ifold (fun s i -> if k[i] == r then s + y[i] else s) 0.0 (length k))"),
    ("counts", true, "Vector<n>", "build (length c) (fun r -> ifold (fun s i -> s + (if r == k[i] then 1.0 else 0.0)) 0.0 (length k))"),
    ("begun", true, "Vector<n>", "build (length c) (fun r -> ifold (fun s i -> if r == k[i] then s - y[i] else s) c[r] (length k))"),
    ("shifted", true, "Vector<n>", "build (length c) (fun r -> ifold (fun s i -> if r + 1 == k[i] then s + y[i] else s) 0.0 (length k))"),
    ("turned", true, "Vector<n>", "build (length c) (fun r -> ifold (fun s i -> if 3 - r == k[i] then s + y[i] else s) 0.0 (length k))"),
    ("unless", true, "Vector<n>", "build (length c) (fun r -> ifold (fun s i -> if k[i] != r then s else s + y[i]) 0.0 (length k))"),
    (
        "chain",
        true,
        "Vector<n>",
        "build (length c) (fun r -> ifold (fun s i -> if r == k[i] then s + y[i] else if r == l[i] then s - 2.0 else s) 0.0 (length k))",
    ),
    (
        "where",
        true,
        "Vector<n>",
        "build (length c) (fun r -> ifold (fun s i -> if r == k[i] && y[i] > 0.0 then s + y[i] * c[r] else s) 0.0 (length k))",
    ),
    (
        "either",
        false,
        "Vector<n>",
        "build (length c) (fun r -> ifold (fun s i -> if r == k[i] || r == l[i] then s + y[i] else s) 0.0 (length k))",
    ),
    ("some", true, "Vector<n>", "build (length c) (fun r -> ifold (fun s i -> if r < 2 && r == k[i] then s + y[i] else s) 0.0 (length k))"),
    ("most", false, "Vector<n>", "build (length c) (fun r -> ifold (fun s i -> if r == k[i] then max s y[i] else s) 0.0 (length k))"),
    ("elsewhere", true, "Vector<n>", "build (length c) (fun r -> ifold (fun s i -> if r == k[i] then s + c[l[i]] else s) 0.0 (length k))"),
    ("through", true, "Vector<n>", "build (length c) (fun r -> ifold (fun s i -> if r == k[l[i]] then s + y[i] else s) 0.0 (length k))"),
    (
        "divided",
        false,
        "Vector<n>",
        "build (length c) (fun r -> ifold (fun s i -> if r == k[i] / l[i] then s + c[k[i]] else s) 0.0 (length k))",
    ),
    (
        "finished",
        true,
        "Vector<n>",
        "build (length c) (fun r -> let t = c[r] in t - 0.5 * ifold (fun s i -> if r == k[i] then s + y[i] * t else s) 0.0 (length k))",
    ),
    (
        "beside",
        true,
        "Vector<n>",
        "build (length c) (fun r -> ifold (fun s i -> if r == k[i] then s + y[i] else s) 0.0 (length k) + ifold (fun s i -> if r == l[i] then s + c[k[i]] else s) 1.0 (length k) - c[r])",
    ),
    (
        "moved",
        true,
        "Vector<n>",
        "build (length c) (fun r -> let t = c[r + 1] in ifold (fun s i -> if r == k[i] then s + y[i] else s) 0.0 (length k) + t)",
    ),
    ("few", false, "Vector<3>", "build 3 (fun r -> ifold (fun s i -> if r == k[i] then s + y[i] else s) 0.0 (length k))"),
    ("literal", true, "Vector<7>", "build 7 (fun r -> ifold (fun s i -> if r == k[i] then s + y[i] else s) 0.0 (length k))"),
    (
        "next",
        false,
        "Vector<n>",
        "build (length c) (fun r -> ifold (fun s i -> if r == i + 1 then s + y[i] else if r == i then s - y[i] else s) 0.0 (length k))",
    ),
    (
        "lengths",
        true,
        "Matrix<n, d>",
        "gradient (fun p -> ifold (fun s i -> s + sqrt (1.0 + vectorSqNorm p[k[i]]) * y[i]) 0.0 (length k)) p",
    ),
    (
        "poses",
        true,
        "Vector<n>",
        "gradient (fun c -> ifold (fun s i -> let d = c[l[i]] - c[k[i]] in s + (cos c[k[i]] * d - y[i]) * (sin c[k[i]] * d - y[i])) 0.0 (length k)) c",
    ),
    (
        "distances",
        true,
        "Matrix<n, 2>",
        "gradient (fun u -> ifold (fun s i -> let a = u[k[i]][0] - u[l[i]][0] in let b = u[k[i]][1] - u[l[i]][1] in s + sqrt (1.0 + a * a + b * b)) 0.0 (length k)) (build (length c) (fun r -> [c[r], 2.0 * c[r]]))",
    ),
    ("pick", true, "Vector<n>", "gradient (fun c -> ifold (fun s i -> let e = c[k[i]] - y[i] in s + e * e) 0.0 (length k)) c"),
    (
        "spline",
        true,
        "Vector<n>",
        "gradient (fun c -> ifold (fun s i -> let e = 0.25 * c[k[i]] + 0.75 * c[k[i] + 1] - y[i] in s + e * e) 0.0 (length k)) c",
    ),
    (
        "products",
        true,
        "Vector<n>",
        "gradient (fun c -> ifold (fun s i -> let e = c[k[i]] * c[l[i]] - y[i] in s + e * e) 0.0 (length k)) c",
    ),
    (
        "ridge",
        true,
        "Vector<n>",
        "gradient (fun c -> ifold (fun s i -> let e = c[k[i]] - y[i] in s + e * e) 0.0 (length k) + 0.1 * vectorSum (build (length c) (fun i -> c[i] * c[i]))) c",
    ),
    (
        "dense",
        false,
        "Vector<n>",
        "gradient (fun c -> ifold (fun s i -> let e = c[k[i]] + vectorSum (build (length c) (fun j -> c[j] * y[i])) in s + e * e) 0.0 (length k)) c",
    ),
    (
        "descent",
        true,
        "Vector<n>",
        "ifold (fun c t -> let g = gradient (fun c -> ifold (fun s i -> let e = c[k[i]] - y[i] in s + e * e) 0.0 (length k)) c in build (length c) (fun r -> c[r] - 0.1 * g[r])) c 3",
    ),
    (
        "bags",
        false,
        "Vector<n>",
        "gradient (fun c -> ifold (fun s i -> let e = ifold (fun t j -> t + c[k[j]] * exp (y[i] * y[j])) 0.0 (length k) - y[i] in s + e * e) 0.0 (length k)) c",
    ),
    (
        "logistic",
        false,
        "Vector<n>",
        "gradient (fun c -> ifold (fun s i -> let e = ifold (fun t j -> t + c[l[j]] * cos (y[i] * y[j])) 0.0 (length k) in s + log (1.0 + exp (- y[i] * e))) 0.0 (length k)) c",
    ),
    (
        "rows",
        true,
        "Matrix<n, d>",
        "gradient (fun p -> ifold (fun s i -> s + vectorSum (build (length w) (fun j -> let e = p[k[i]][j] - q[i][j] in e * e))) 0.0 (length k)) p",
    ),
    ("cells", true, "Matrix<n, d>", "gradient (fun p -> ifold (fun s i -> let e = p[k[i]][l[i]] - y[i] in s + e * e) 0.0 (length k)) p"),
    (
        "table",
        true,
        "Matrix<n, n>",
        "build (length c) (fun r -> build (length c) (fun t -> ifold (fun s i -> if r == k[i] then (if t == l[i] then s + y[i] else s) else s) 0.0 (length k)))",
    ),
    (
        "columns",
        true,
        "Matrix<d, n>",
        "build (length w) (fun j -> build (length c) (fun r -> ifold (fun s i -> if r == k[i] then s + q[i][j] else s) 0.0 (length k)))",
    ),
    (
        "pairs",
        true,
        "Array<Double * Double, n>",
        "build (length c) (fun r -> (ifold (fun s i -> if r == k[i] then s + y[i] else s) 0.0 (length k), ifold (fun s i -> if r == l[i] then s + c[r] else s) 1.0 (length k)))",
    ),
    (
        "triples",
        true,
        "Matrix<n, 3>",
        "build (length c) (fun r -> [ifold (fun s i -> if r == k[i] then s + y[i] else s) 0.0 (length k), c[r], 2.0 * ifold (fun s i -> if r == k[i] then s + c[r] else s) 0.0 (length k)])",
    ),
    (
        "waiting",
        false,
        "Vector<n>",
        "build (length c) (fun r -> if c[r] > 0.0 then ifold (fun s i -> if c[l[i]] > 0.0 then (if r = k[i] then s + y[i] else s) else s) 0.0 (length k) else 1.0)",
    ),
    (
        "otherwise",
        false,
        "Vector<n>",
        "build (length c) (fun r -> ifold (fun s i -> if r = k[i] then s + 1.0 else (if c[l[i]] > 0.0 then (if r = k[i] + 1 then s + y[i] else s) else s)) 0.0 (length k))",
    ),
    (
        "inner",
        false,
        "Matrix<n, d>",
        "build (length c) (fun r -> build (length w) (fun a -> ifold (fun s i -> if w[0] > c[r] then (if r = k[i] then s + y[i] * w[a] else s) else s) 0.0 (length k)))",
    ),
    (
        "stored",
        true,
        "Vector<n>",
        "build (length c) (fun r -> let h = exp (sin c[r]) in ifold (fun s i -> if r = k[i] then s + y[i] * h else s) 0.0 (length k))",
    ),
    (
        "divided_before",
        false,
        "Vector<n>",
        "build (length c) (fun r -> double (1 / l[0]) + ifold (fun s i -> if r = k[i] then s + c[k[i] + 1] else s) 0.0 (length k))",
    ),
    (
        "normal",
        true,
        "Matrix<n, n>",
        "let J = jacobian (fun c -> build (length k) (fun i -> c[k[i]] * c[l[i]] - y[i])) c in matrixMul (matrixTranspose J) J",
    ),
    (
        "normal_step",
        true,
        "Matrix<n, n> * Vector<n>",
        "let f (c: Vector<n>) = build (length k) (fun i -> exp (0.25 * c[k[i]]) - y[i]) in let (J, e) = (jacobian f c, f c) in (matrixMul (matrixTranspose J) J, matrixVectorMul (matrixTranspose J) e)",
    ),
    (
        "normal_pairs",
        true,
        "Array<Array<Matrix<n, 2>, 2>, n>",
        "let J = jacobian (fun u -> build (length k) (fun i -> u[k[i]][0] * u[l[i]][1] * y[i])) (build (length c) (fun r -> [c[r], 2.0 * c[r]])) in build (length c) (fun r -> build 2 (fun a -> build (length c) (fun t -> build 2 (fun b -> ifold (fun s i -> s + J[i][r][a] * J[i][t][b]) 0.0 (length k)))))",
    ),
    (
        "normal_rows",
        true,
        "Matrix<n, d>",
        "let J = jacobian (fun p -> build (length k) (fun i -> vectorDot p[k[i]] q[i])) p in build (length c) (fun r -> build (length w) (fun a -> ifold (fun s i -> s + J[i][r][a] * J[i][r][a]) 0.0 (length k)))",
    ),
    (
        "nested",
        true,
        "Vector<n>",
        "build (length c) (fun r -> ifold (fun s i -> ifold (fun t j -> if r == k[j] then t + y[i] else t) s (length k)) 0.0 (length k))",
    ),
];

fn entry((name, _, result, body): &(&str, bool, &str, &str)) -> String {
    format!(
        "let {name} (k: Array<Index, m>) (l: Array<Index, m>) (c: Vector<n>) (y: Vector<m>) (p: Matrix<n, d>) (q: Matrix<m, d>) (w: Vector<d>) : {result} =\n  {body}\n\n"
    )
}

fn text() -> String {
    RESULTS.iter().map(entry).collect()
}

fn compile(text: &str, options: Options) -> Session {
    // reverse mode has no such sums
    let options = Options { mode: Mode::Forward, header: "program.h".into(), ..options };
    let mut session = Session::new("scatter.smooth", text, options);
    session.run_to("emit", &mut sources::open).unwrap_or_else(|problems| panic!("{}", sources::drawn(&problems, &session)));
    session
}

/// Index arrays: repeated, beside the ends, and at the ends of Index.
const INDICES: &[(&[i64], &[i64])] = &[
    (&[0, 2, 2, 1, 0], &[1, 1, 0, 2, 2]),
    (&[3, 0, 3, 3], &[0, 1, 2, 3]),
    (&[1, 4, 0], &[0, 0, 0]),
    (&[1, 0, -1], &[2, 5, 1]),
    (&[0], &[-1]),
    (&[i64::MAX, 1], &[1, i64::MIN]),
    (&[i64::MIN, i64::MAX], &[-1, 1]),
    (&[], &[]),
];

fn calls(session: &Session) -> Vec<(&'static str, Arguments)> {
    let numbers = |count: usize, from: f64| (0..count).map(|i| from * (i as f64 - 1.5)).collect::<Vec<f64>>();
    let matrix = |rows: usize, columns: usize, from: f64| (0..rows).map(|i| numbers(columns, from + i as f64)).collect::<Vec<_>>();
    let mut calls = Vec::new();
    for (at, (k, l)) in INDICES.iter().enumerate() {
        let sizes = [(4, 2, 0.5), (0, 1, 1.0), (3, 3, -1.25), (5, 0, 0.75), (1, 1, 1e200)];
        for (n, d, scale) in [sizes[0], sizes[1 + at % 4], sizes[1 + (at + 1) % 4]] {
            let m = k.len();
            let mut y = numbers(m, scale);
            if n == 3 {
                y.iter_mut().for_each(|y| *y *= 0.0);
            }
            let words = [
                format!("{k:?}"),
                format!("{l:?}"),
                format!("{:?}", numbers(n, scale)),
                format!("{y:?}"),
                format!("{:?}", matrix(n, d, 0.5)),
                format!("{:?}", matrix(m, d, -0.25)),
                format!("{:?}", numbers(d, 1.0)),
            ];
            for (name, ..) in RESULTS {
                // arrays without rows do not say how many columns they have
                if let Ok(arguments) = engine::arguments(session, name, &words) {
                    calls.push((*name, arguments));
                }
            }
        }
    }
    calls
}

fn run() -> Run<'static> {
    if tools::has_sanitizers() { &native::sanitized } else { &native::optimised }
}

#[test]
fn scatters_agree_with_the_interpreter() {
    let known = engine::compile("scatter.smooth", &text(), "none", "types").unwrap_or_else(|problem| panic!("{problem}"));
    for schedule in ["none", "default"] {
        let session = compile(&text(), scheduled(schedule));
        let calls = calls(&session);
        assert!(calls.len() > RESULTS.len() * INDICES.len() * 2, "{} calls", calls.len());
        agree::agree(run(), &known, &session, &calls).unwrap_or_else(|problem| panic!("schedule {schedule}: {problem}"));
    }
}

#[test]
fn scatters_are_exact_where_rounding_is_as_written() {
    let known = engine::compile("scatter.smooth", &text(), "none", "types").unwrap_or_else(|problem| panic!("{problem}"));
    let session = compile(&text(), Options { strict_fp: true, ..scheduled("default") });
    let calls = calls(&session);
    let given: Vec<native::Call> = calls.iter().map(|(entry, arguments)| native::Call { entry, arguments }).collect();
    let c = native::program(&session, &given).expect("C");
    let folder = tempfile::tempdir().expect("a folder");
    let outcomes = run()(&c, &session, &given, folder.path()).unwrap_or_else(|problem| panic!("{problem}"));
    for ((entry, arguments), outcome) in calls.iter().zip(outcomes) {
        let bits = |column: &Column| match column {
            // which NaN it is is nobody's business
            Column::Double(items) => items.iter().map(|x| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }).collect::<Vec<u64>>(),
            Column::Index(_) | Column::Bool(_) | Column::Rolled(_) => Vec::new(),
        };
        match (engine::interpret(&known, entry, &arguments.values), outcome) {
            (Ok(known), Ok(found)) => {
                let all = |columns: &[Column]| columns.iter().map(bits).collect::<Vec<_>>();
                assert_eq!(all(&known.value.columns), all(&found.columns), "{entry} {:?}", arguments.values);
            }
            (Err(wanted), Err(status)) => assert_eq!(wanted, engine::status_name(status), "{entry} {:?}", arguments.values),
            // along no direction forward mode does not ask what is wrong with the function
            (Err(_), Ok(found)) if engine::has_no_elements(&found) => {}
            (known, found) => panic!("{entry} {:?}: {:?} and {found:?}", arguments.values, known.map(|known| known.value)),
        }
    }
}

/// What the columns of a row have in common is added up once a row.
#[test]
fn rows_share_what_they_have_in_common() {
    let text = "let products (A: Matrix<n, m>) (w: Vector<m>) (c: Array<Index<n>, k>) : Matrix<n, m> =
  gradient (fun z -> vectorSum (build (length c) (fun i -> sin (vectorDot z[c[i]] w * w[0])))) A

let squares (A: Matrix<n, m>) (B: Matrix<k, m>) (c: Array<Index<n>, k>) : Matrix<n, m> =
  gradient (fun z -> vectorSum (build (length c) (fun i -> vectorDot z[c[i]] B[i] ** 2.0))) A
";
    let known = engine::compile("rows.smooth", text, "none", "types").unwrap_or_else(|problem| panic!("{problem}"));
    for unchecked in [false, true] {
        let session = compile(text, Options { unchecked, ..scheduled("default") });
        // blocks of rows are a loop more
        let without_blocks = compile(text, Options { unchecked, disabled: vec!["strip_mine".into()], ..scheduled("default") });
        let source = &without_blocks.files.as_ref().expect("C").source;
        for entry in ["products", "squares"] {
            let body =
                source.split(&format!("smooth_status {entry}(")).last().and_then(|rest| rest.split("\n}\n").next()).unwrap_or_default();
            let depth = |line: &str| (line.len() - line.trim_start().len()) / 4;
            let deepest = body.lines().filter(|line| line.trim_start().starts_with("for (")).map(depth).max();
            assert_eq!(deepest, Some(2), "{entry}: {body}");
        }
        let mut calls = Vec::new();
        for (n, m, k) in [(2, 3, 4), (3, 0, 2), (1, 1, 1), (2, 2, 0), (0, 2, 0), (4, 1, 3)] {
            let matrix = |rows: usize, scale: f64| {
                let row = |r: usize| (0..m).map(|c| scale * (r * m + c) as f64 - 0.75).collect::<Vec<f64>>();
                format!("{:?}", (0..rows).map(row).collect::<Vec<_>>())
            };
            let chosen = format!("{:?}", (0..k).map(|i| (i * i + 1) % n.max(1)).collect::<Vec<_>>());
            let vector = format!("{:?}", (0..m).map(|c| 0.5 - c as f64).collect::<Vec<f64>>());
            let words = [("products", [matrix(n, 0.25), vector, chosen.clone()]), ("squares", [matrix(n, 0.25), matrix(k, 0.5), chosen])];
            for (entry, words) in words {
                // of no rows the number of columns is not known
                if let Ok(arguments) = engine::arguments(&session, entry, &words) {
                    calls.push((entry, arguments));
                }
            }
        }
        assert!(calls.len() > 8, "{} calls", calls.len());
        agree::agree(run(), &known, &session, &calls).unwrap_or_else(|problem| panic!("unchecked {unchecked}: {problem}"));
    }
}

#[test]
fn one_loop_over_the_indices_is_left() {
    let mut wrong = Vec::new();
    for row @ (name, collects, ..) in RESULTS {
        let session = compile(&entry(row), scheduled("default"));
        let source = &session.files.as_ref().expect("C").source;
        let (_, body) = source.rsplit_once("void *workspace, size_t workspace_bytes)").expect("a body");
        // what is collected is added to memory, at a place that no loop counts; a lane's sum is its own
        let adds = body.lines().any(|line| !line.contains("lane] ") && (line.contains("] += ") || line.contains("] -= ")));
        if adds != *collects {
            wrong.push(format!("{name}:{body}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn floats_and_threads_agree() {
    let small =
        |(_, arguments): &(&str, Arguments)| arguments.values.iter().all(|value| engine::doubles(value).iter().all(|x| x.abs() < 1e9));
    tools::each(&[(Real::F32, false, 1e-4), (Real::F64, true, 1e-9)], |&(real, parallel, tolerance)| {
        let known = engine::compile("scatter.smooth", &text(), "none", "types")?;
        let session = compile(&text(), Options { real, parallel, ..scheduled("default") });
        let calls: Vec<_> = calls(&session).into_iter().filter(small).collect();
        let given: Vec<native::Call> = calls.iter().map(|(entry, arguments)| native::Call { entry, arguments }).collect();
        let c = native::program(&session, &given)?;
        let folder = tempfile::tempdir().expect("a folder");
        let outcomes = native::optimised(&c, &session, &given, folder.path())?;
        compare(&known, &calls, outcomes, tolerance);
        Ok(())
    });
}

fn compare(known: &Session, calls: &[(&str, Arguments)], outcomes: Vec<native::Outcome>, tolerance: f64) {
    for ((entry, arguments), outcome) in calls.iter().zip(outcomes) {
        match (engine::interpret(known, entry, &arguments.values), outcome) {
            (Ok(known), Ok(found)) => {
                let difference = engine::difference_within(tolerance, &known, &found);
                assert!(difference.is_none(), "{entry} {:?}: {difference:?}", arguments.values);
            }
            (Err(wanted), Err(status)) => assert_eq!(wanted, engine::status_name(status), "{entry} {:?}", arguments.values),
            // along no direction forward mode does not ask what is wrong with the function
            (Err(_), Ok(found)) if engine::has_no_elements(&found) => {}
            (known, found) => panic!("{entry} {:?}: {:?} and {found:?}", arguments.values, known.map(|known| known.value)),
        }
    }
}
