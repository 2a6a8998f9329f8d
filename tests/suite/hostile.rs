//! Programs, arguments and callers that mean harm: each has its expected value, status or diagnostic.
//!
//! Where a program has a value, the interpreter, C as written and optimised C under sanitizers with exact-size
//! memory must all give it; where it has none, all give a status. One C file serves a whole test.

use std::path::Path;
use std::process::{Command, Output};
use std::rc::Rc;
use std::time::{Duration, Instant};

use smoothc::cli::args;
use smoothc::cli::values::{from_flat, to_flat};
use smoothc::diagnostic::Diagnostics;
use smoothc::driver::{Options, Session};
use smoothc::ir::Status;
use smoothc::ir::eval::eval;
use smoothc::mode::Mode;
use smoothc::stack::with_large_stack;
use smoothc::toolchain::flat::{Column, Flat, Step};
use smoothc::types::Derive;

use crate::generator::native::{self, Answer, Call, SANITIZED};
use crate::support::command::with_input;
use crate::support::engine::scheduled;

/// What a call gives.
enum Wanted<'a> {
    /// The number of the result, flattened; Indexes and Bools as numbers.
    Numbers(&'a [f64]),
    Status(Status),
    /// Whatever the interpreter says.
    Same,
}
use Wanted::{Numbers, Same};

fn failure(status: Status) -> Wanted<'static> {
    Wanted::Status(status)
}

fn session(text: &str, stage: &str, options: Options) -> Result<Session, Diagnostics> {
    let mut session = Session::new("hostile.smooth", text, options);
    session.run_to(stage, &mut |_, _| Err("no files".into()))?;
    Ok(session)
}

/// The code of the first diagnostic, or `ok`, without optimisation.
fn code(text: &str) -> &'static str {
    session(text, "emit", scheduled("none")).map_or_else(|problems| problems.first().map_or("none", |problem| problem.code), |_| "ok")
}

fn numbers(value: &Flat) -> Vec<f64> {
    let mut numbers = Vec::new();
    let _ = value.walk::<()>(&mut |step| {
        match step {
            Step::Double(number) => numbers.push(number),
            Step::Index(number) => numbers.push(number as f64),
            Step::Bool(value) => numbers.push(f64::from(u8::from(value))),
            Step::Open | Step::Close | Step::Rolled(_) => {}
        }
        Ok(())
    });
    numbers
}

fn close(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-9 * a.abs().max(1.0)
}

fn same(a: &[Column], b: &[Column]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| match (a, b) {
            (Column::Double(a), Column::Double(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(*a, *b)),
            (a, b) => a == b || a.is_empty() && b.is_empty(),
        })
}

/// Calls of one source text: `(entry, arguments, what comes out)`, in every engine.
fn hold(text: &str, calls: &[(&str, &str, Wanted)]) {
    with_large_stack(|| {
        let mut wrong = Vec::new();
        let typed = session(text, "types", Options::default()).unwrap_or_else(|problems| panic!("{problems:#?}"));
        let mut cases = Vec::new();
        for (entry, words, wanted) in calls {
            let function = typed.entry(entry).unwrap_or_else(|problems| panic!("{problems:?}"));
            let words: Vec<String> = words.split(' ').filter(|word| !word.is_empty()).map(str::to_string).collect();
            let arguments = args::read(function, &words).unwrap_or_else(|problems| panic!("{entry} {words:?}: {problems:?}"));
            let meaning = eval(&typed.program, entry, arguments.values.iter().map(from_flat).collect());
            match (&meaning, wanted) {
                (Ok(outcome), Numbers(wanted)) => {
                    let found = numbers(&to_flat(&outcome.value));
                    if found.len() != wanted.len() || !found.iter().zip(*wanted).all(|(a, b)| close(*a, *b)) {
                        wrong.push(format!("eval {entry} {words:?} is {found:?}, expected {wanted:?}"));
                    }
                }
                (Err(error), Wanted::Status(status)) if error.status() == Some(*status) => {}
                (meaning, Wanted::Status(status)) => wrong.push(format!("eval {entry} {words:?}: expected {status:?}, found {meaning:?}")),
                (Err(error), Numbers(_)) => wrong.push(format!("eval {entry} {words:?}: {error:?}")),
                (_, Same) => {}
            }
            cases.push((format!("{entry} {words:?}"), entry, words, meaning));
        }
        let folder = tempfile::tempdir().expect("a folder");
        for schedule in ["none", "default"] {
            let emitted = session(text, "emit", scheduled(schedule)).unwrap_or_else(|problems| panic!("{schedule}: {problems:#?}"));
            let names: Vec<Rc<str>> =
                emitted.program.functions.values().filter(|function| function.is_entry).map(|function| function.name.clone()).collect();
            let interfaces: Vec<_> = names.iter().map(|name| emitted.interface(name).expect("was emitted")).collect();
            let source = &emitted.emitted().expect("was emitted").source;
            let warnings = native::compile(folder.path(), schedule, source, &interfaces, SANITIZED).unwrap_or_else(|said| panic!("{said}"));
            if !warnings.is_empty() {
                wrong.push(format!("{schedule}: {warnings}"));
            }
            let number = |entry: &str| names.iter().position(|name| **name == *entry).expect("an entry");
            let arguments: Vec<_> = cases
                .iter()
                .map(|(_, entry, words, _)| args::read(emitted.entry(entry).expect("an entry"), words).expect("were read before"))
                .collect();
            let calls: Vec<Call> =
                cases.iter().zip(&arguments).map(|((_, entry, _, _), arguments)| Call { entry: number(entry), arguments }).collect();
            let answers = native::run(folder.path(), schedule, &interfaces, &calls);
            for ((call, _, _, meaning), answer) in cases.iter().zip(answers) {
                let fine = match (meaning, &answer) {
                    (Ok(outcome), Answer::Columns(found)) => same(&to_flat(&outcome.value).columns, found),
                    (Err(_), Answer::Status(_)) => true,
                    // an error that no value needs may go
                    (Err(_), Answer::Columns(_)) => schedule != "none",
                    _ => false,
                };
                if !fine {
                    wrong.push(format!("C {schedule} {call}: {answer:?}, expected {:?}", meaning.as_ref().map(|outcome| &outcome.value)));
                }
            }
        }
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    });
}

#[test]
fn accumulators_that_change_places() {
    let text = "
let swap (v: Vector<n>) (w: Vector<n>) (k: Index) = ifold (fun (a, b) i -> (b, a)) (v, w) k
let swap_add (v: Vector<n>) (w: Vector<n>) (k: Index) = ifold (fun (a, b) i -> (b, vectorAdd a b)) (v, w) k
let rotate (u: Vector<n>) (v: Vector<n>) (w: Vector<n>) (k: Index) = ifold (fun (a, b, c) i -> (b, c, a)) (u, v, w) k
let rotate_change (u: Vector<n>) (v: Vector<n>) (w: Vector<n>) (k: Index) =
  ifold (fun (a, b, c) i -> (b, vectorSMul c 2.0, vectorAdd a b)) (u, v, w) k
let rotate_sometimes (u: Vector<n>) (v: Vector<n>) (w: Vector<n>) (k: Index) =
  ifold (fun (a, b, c) i -> if i % 2 = 0 then (b, c, a) else (a, c, b)) (u, v, w) k
let same_twice (v: Vector<n>) (w: Vector<n>) (k: Index) = ifold (fun (a, b) i -> (b, b)) (v, w) k
let swap_once (v: Vector<n>) (w: Vector<n>) (k: Index) =
  ifold (fun (a, b) i -> if i = 1 then (b, a) else (vectorAdd a b, b)) (v, w) k
let fibonacci (x: Double) (y: Double) (k: Index) = ifold (fun (a, b) i -> (b, a + b)) (x, y) k
let pairs (v: Vector<n>) (w: Vector<n>) (k: Index) =
  ifold (fun a i -> build (length a) (fun j -> let (x, y) = a[length a - 1 - j] in (y, x + 1.0))) (vectorZip v w) k
let mixed (v: Vector<n>) (k: Index) = ifold (fun (a, s, b) i -> (b, s + vectorSum a, vectorMap a (fun x -> x + s))) (v, 0.5, v) k
";
    let (u, v, w) = ("[1,2,3]", "[4,5,6]", "[7,8,9]");
    let mut calls: Vec<(&str, String, Wanted)> = vec![
        ("swap", format!("{v} {w} 1"), Numbers(&[7., 8., 9., 4., 5., 6.])),
        ("swap", format!("{v} {w} 2"), Numbers(&[4., 5., 6., 7., 8., 9.])),
        ("rotate", format!("{u} {v} {w} 1"), Numbers(&[4., 5., 6., 7., 8., 9., 1., 2., 3.])),
        ("rotate", format!("{u} {v} {w} 2"), Numbers(&[7., 8., 9., 1., 2., 3., 4., 5., 6.])),
        ("rotate", format!("{u} {v} {w} 3"), Numbers(&[1., 2., 3., 4., 5., 6., 7., 8., 9.])),
        ("fibonacci", "1 1 10".into(), Numbers(&[89., 144.])),
    ];
    for k in -1..6 {
        for (u, v, w) in [(u, v, w), ("[]", "[]", "[]"), ("[1]", "[2]", "[3]"), ("[1,2]", "[3,4]", "[5,6]")] {
            for entry in ["swap", "swap_add", "same_twice", "swap_once", "pairs"] {
                calls.push((entry, format!("{v} {w} {k}"), Same));
            }
            for entry in ["rotate", "rotate_change", "rotate_sometimes"] {
                calls.push((entry, format!("{u} {v} {w} {k}"), Same));
            }
            calls.push(("mixed", format!("{v} {k}"), Same));
        }
    }
    let calls: Vec<(&str, &str, Wanted)> = calls.iter().map(|(entry, words, wanted)| (*entry, words.as_str(), copy(wanted))).collect();
    hold(text, &calls);
}

fn copy<'a>(wanted: &Wanted<'a>) -> Wanted<'a> {
    match wanted {
        Numbers(numbers) => Numbers(numbers),
        Wanted::Status(status) => Wanted::Status(*status),
        Same => Same,
    }
}

#[test]
fn accumulators_that_read_themselves() {
    let text = "
let identity (v: Vector<n>) (k: Index) = ifold (fun a i -> a) v k
let replaced (v: Vector<n>) (w: Vector<n>) (k: Index) = ifold (fun a i -> w) v k
let sometimes (v: Vector<n>) (k: Index) = ifold (fun a i -> if i % 2 = 0 then vectorSMul a 2.0 else a) v k
let otherwise (v: Vector<n>) (k: Index) = ifold (fun a i -> if i = 0 then a else build (length a) (fun j -> a[0] + a[j])) v k
let backwards (v: Vector<n>) (k: Index) = ifold (fun a i -> build (length a) (fun j -> a[length a - 1 - j] + double i)) v k
let sums (v: Vector<n>) (k: Index) = ifold (fun a i -> build (length a) (fun j -> vectorSum a + a[j])) v k
let prefix (v: Vector<n>) (k: Index) = ifold (fun a i -> build (length a) (fun j -> if j = 0 then a[0] else a[j - 1] + a[j])) v k
let nested (v: Vector<n>) (k: Index) =
  ifold (fun a i -> ifold (fun b j -> build (length b) (fun q -> b[(q + 1) % length b] + a[q])) a k) v k
let transposed (m: Matrix<n, n>) (k: Index) = ifold (fun a i -> matrixTranspose a) m k
let squared (m: Matrix<n, n>) (k: Index) = ifold (fun a i -> matrixMul a a) m k
let rows (m: Matrix<n, p>) (k: Index) = ifold (fun a i -> build (length a) (fun r -> if r = 0 then a[length a - 1] else a[r - 1])) m k
let in_build (m: Matrix<n, p>) (k: Index) =
  build (length m) (fun r -> ifold (fun a i -> build (length a) (fun j -> a[length a - 1 - j] * 2.0)) m[r] k)
let in_condition (v: Vector<n>) (k: Index) =
  ifold (fun a i -> if vectorSum a > 10.0 then a else vectorAdd a (ifold (fun b j -> vectorSMul b 0.5) a 2)) v k
let slope (v: Vector<n>) (k: Index) =
  gradient (fun x -> vectorSum (ifold (fun a i -> build (length a) (fun j -> a[length a - 1 - j] * a[j])) x k)) v
let slopes (v: Vector<n>) (k: Index) = jacobian (fun x -> ifold (fun (a, b) i -> (b, vectorEMul a b)) (x, x) k |> fst) v
"
    .replace(" |> fst", "")
    .replace("jacobian (fun x -> ifold", "jacobian (fun x -> fst (ifold")
    .replace("(x, x) k) v", "(x, x) k)) v");
    let mut calls: Vec<(&str, String)> = Vec::new();
    for k in 0..5 {
        for v in ["[]", "[2]", "[1,3]", "[1,2,0.5]"] {
            for entry in ["identity", "sometimes", "otherwise", "backwards", "sums", "prefix", "nested", "in_condition", "slope", "slopes"]
            {
                calls.push((entry, format!("{v} {k}")));
            }
            calls.push(("replaced", format!("{v} {v} {k}")));
        }
        for m in ["[]", "[[2]]", "[[1,3],[0,2]]", "[[1,2,0.5],[3,4,5],[0,1,0]]"] {
            for entry in ["transposed", "squared", "rows", "in_build"] {
                calls.push((entry, format!("{m} {k}")));
            }
        }
    }
    let mut calls: Vec<(&str, &str, Wanted)> = calls.iter().map(|(entry, words)| (*entry, words.as_str(), Same)).collect();
    calls.push(("backwards", "[1,2,3] 2", Numbers(&[2., 3., 4.])));
    calls.push(("identity", "[1,2] -1", failure(Status::Negative)));
    hold(&text, &calls);
}

/// A sum of nothing is 0, whatever its terms are divided by.
#[test]
fn averages_of_nothing() {
    let text = "
let mean (x: Vector<n>) : Double = vectorSum (vectorMap x (fun e -> e / double (length x)))
let weights (x: Vector<n>) : Double = vectorSum (vectorMap x (fun e -> 1.0 / double (length x)))
let variance (x: Vector<n>) : Double =
  let m = vectorSum x / double (length x)
  vectorSum (vectorMap x (fun e -> (e - m) * (e - m) / double (length x)))
let cosine (x: Vector<n>) (y: Vector<n>) : Double =
  let size = vectorNorm x
  vectorSum (vectorMap2 x y (fun a b -> a * b / size))
let softmaxDot (x: Vector<n>) (y: Vector<n>) : Double =
  let e = vectorMap x exp
  let z = vectorSum e
  vectorSum (vectorMap2 e y (fun a b -> a / z * b))
let entropy (x: Vector<n>) (p: Double) : Double = 1.0 + p - vectorSum (vectorMap x (fun e -> e * p * log (double (length x))))
let loss (X: Matrix<m, n>) (w: Vector<n>) : Double =
  vectorSum (vectorMap (matrixVectorMul X w) (fun d -> d * d / (2.0 * double (length X))))
let slopes (X: Matrix<m, n>) (w: Vector<n>) : Vector<n> = gradient (fun w -> loss X w) w
let curvature (X: Matrix<m, n>) (w: Vector<n>) = hessian (fun w -> loss X w) w
let rows (X: Matrix<m, n>) : Vector<m> = vectorMap X (fun row -> vectorSum (vectorMap row (fun e -> e / vectorSum row)))
let rowMeans (X: Matrix<m, n>) (s: Vector<m>) : Vector<m> =
  vectorMap2 X s (fun row t -> vectorSum (vectorMap row (fun e -> t * e / double (length row) - t)))
let whole (X: Matrix<m, n>) : Double =
  vectorSum (vectorMap X (fun row -> vectorSum (vectorMap row (fun e -> e / (double (length X) * double (matrixCols X))))))
let gram (X: Matrix<m, n>) (v: Vector<n>) : Vector<n> =
  vectorMap v (fun b -> vectorSum (vectorMap X (fun row -> b * vectorDot row v / double (length X))))
";
    let mut calls: Vec<(&str, &str, Wanted)> =
        vec![("mean", "[]", Numbers(&[0.])), ("weights", "[]", Numbers(&[0.])), ("weights", "[7,8]", Numbers(&[1.]))];
    for (entries, words) in [
        (&["mean", "weights", "variance"][..], &["[]", "[3]", "[0]", "[3,4,5]"][..]),
        (&["cosine", "softmaxDot"], &["[] []", "[2] [3]", "[1,2,-3] [4,0.5,6]"]),
        (&["entropy"], &["[] 2", "[1] 2", "[1,2] 3"]),
        (&["loss", "slopes", "curvature", "gram"], &["[] []", "[] [1,2]", "[[],[]] []", "[[3]] [2]", "[[1,2],[3,4],[5,7]] [0.5,-1]"]),
        (&["rows", "whole"], &["[]", "[[],[]]", "[[3]]", "[[1,2],[3,4],[5,7]]"]),
        (&["rowMeans"], &["[] []", "[[],[]] [1,2]", "[[1,2],[3,4]] [5,6]"]),
    ] {
        for entry in entries {
            calls.extend(words.iter().map(|words| (*entry, *words, Same)));
        }
    }
    hold(text, &calls);
}

#[test]
fn numbers_at_their_ends() {
    let max = "9223372036854775807";
    let min = "-9223372036854775808";
    let text = "
let over (a: Index) (b: Index) = (a / b, a % b)
let wrap (a: Index) (b: Index) = (a + b = 0, a - b = 0, a * b = 0, -a = a, abs a = a)
let at (v: Vector<n>) (k: Index) = v[k]
let next (v: Vector<n>) (k: Index) = v[k + 1]
let twice (v: Vector<n>) (k: Index) = v[k * 2]
let count (k: Index) = ifold (fun s i -> if s > 5 then s else s + 1) 0 (min k 10)
let filled (k: Index) = vectorSum (build k (fun i -> 1.0))
let to_index (x: Double) = index x
let guarded (x: Double) = if x > -1e18 && x < 1e18 then index x else 0
let special (x: Double) = (min x 1.0, max 1.0 x, sign x, abs x, floor x)
let quotient (x: Double) (y: Double) = x / y
let compare (x: Double) = (x = x, x <> x, x < 1.0, x >= 1.0, not (x < 1.0))
let shortcut (v: Vector<n>) (k: Index) = k >= 0 && k < length v && v[k] > 0.0
let either (v: Vector<n>) (k: Index) = k < 0 || k >= length v || v[k] > 0.0
let negative_zero (x: Double) = (1.0 / (x * 0.0), 1.0 / -(x - x), sign (-0.0))
";
    let range = || failure(Status::Range);
    let bounds = || failure(Status::Bounds);
    const NAN: f64 = f64::NAN;
    const INF: f64 = f64::INFINITY;
    let numbers: Vec<(&str, String, Wanted)> = vec![
        ("over", "7 -2".into(), Numbers(&[-3., 1.])),
        ("over", "-7 2".into(), Numbers(&[-3., -1.])),
        ("over", format!("{min} -1"), Numbers(&[i64::MIN as f64, 0.])),
        ("over", "1 0".into(), failure(Status::DivZero)),
        ("over", format!("{min} 0"), failure(Status::DivZero)),
        ("wrap", format!("{min} {min}"), Numbers(&[1., 1., 1., 1., 1.])),
        ("wrap", format!("{max} 1"), Numbers(&[0., 0., 0., 0., 1.])),
        ("at", format!("[1,2] {max}"), bounds()),
        ("at", format!("[1,2] {min}"), bounds()),
        ("at", "[] 0".into(), bounds()),
        ("next", format!("[1,2] {max}"), bounds()),
        ("next", "[1,2] -1".into(), Numbers(&[1.])),
        ("twice", format!("[1,2] {min}"), Numbers(&[1.])),
        ("twice", "[1,2] 4611686018427387904".into(), bounds()),
        ("count", max.into(), Numbers(&[6.])),
        ("count", min.into(), failure(Status::Negative)),
        ("filled", min.into(), failure(Status::Negative)),
        ("filled", "-1".into(), failure(Status::Negative)),
        ("filled", "0".into(), Numbers(&[0.])),
        ("to_index", "NaN".into(), range()),
        ("to_index", "Infinity".into(), range()),
        ("to_index", "-Infinity".into(), range()),
        ("to_index", "1e300".into(), range()),
        ("to_index", "9223372036854775808.0".into(), range()),
        ("to_index", "-9223372036854775808.0".into(), Numbers(&[i64::MIN as f64])),
        ("to_index", "-2.9".into(), Numbers(&[-2.])),
        ("guarded", "NaN".into(), Numbers(&[0.])),
        ("guarded", "1e300".into(), Numbers(&[0.])),
        ("special", "NaN".into(), Numbers(&[NAN, NAN, NAN, NAN, NAN])),
        ("special", "Infinity".into(), Numbers(&[1., INF, 1., INF, INF])),
        ("special", "-Infinity".into(), Numbers(&[-INF, 1., -1., INF, -INF])),
        ("quotient", "1 0".into(), Numbers(&[INF])),
        ("quotient", "0 0".into(), Numbers(&[NAN])),
        ("quotient", "-1 0".into(), Numbers(&[-INF])),
        ("compare", "NaN".into(), Numbers(&[0., 1., 0., 0., 1.])),
        ("shortcut", "[1,2] 5".into(), Numbers(&[0.])),
        ("shortcut", "[1,2] 1".into(), Numbers(&[1.])),
        ("either", "[] 0".into(), Numbers(&[1.])),
        ("either", "[-1] 0".into(), Numbers(&[0.])),
        ("negative_zero", "-1".into(), Same),
    ];
    let calls: Vec<(&str, &str, Wanted)> = numbers.iter().map(|(entry, words, wanted)| (*entry, words.as_str(), copy(wanted))).collect();
    hold(text, &calls);
}

#[test]
fn shapes_that_contradict() {
    let text = "
let callee (v: Vector<n>) (w: Vector<m>) = vectorAdd v w
let declared (v: Vector<n>) (w: Vector<m>) : Vector<n> = vectorSMul w 2.0
let annotated (v: Vector<n>) (w: Vector<m>) = let r : Vector<n> = w in vectorSum r
let literal (v: Vector<n>) (w: Vector<m>) = [v, w]
let step (v: Vector<n>) (w: Vector<m>) = ifold (fun a i -> w) v 2
let no_step (v: Vector<n>) (w: Vector<m>) = ifold (fun a i -> w) v 0
let branch (v: Vector<n>) (w: Vector<m>) (b: Bool) = vectorAdd v (if b then w else v)
let product (a: Matrix<n, k>) (b: Matrix<m, p>) = matrixMul a b
let three (v: Vector<n>) = vectorCross v v
let in_loop (m: Matrix<n, k>) (v: Vector<p>) = build (length m) (fun i -> vectorDot m[i] v)
let tuple_step (v: Vector<n>) (w: Vector<m>) = ifold (fun (a, b) i -> (b, a)) (v, w) 2
let _local (v: Vector<n>) (w: Vector<n>) : Double = v[0] * w[0]
let helper (v: Vector<n>) (w: Vector<m>) = _local v w
let _below (i: Index<n>) (v: Vector<n>) = v[i]
let below (i: Index) (v: Vector<n>) = _below i v
let length_of (v: Vector<n>) (k: Index) = vectorAdd v (vectorZeros k)
let negative (v: Vector<n>) = vectorSum (vectorSlice v 3 1)
let squares (v: Vector<n>) (k: Index) (r: Vector<k>) = vectorSum r
";
    let shape = || failure(Status::Shape);
    hold(
        text,
        &[
            ("callee", "[1,2] [3]", shape()),
            ("callee", "[1] [3]", Numbers(&[4.])),
            ("callee", "[] []", Numbers(&[])),
            ("declared", "[1,2] [3]", shape()),
            ("annotated", "[1,2] [3]", shape()),
            ("literal", "[1,2] [3]", shape()),
            ("literal", "[1] [3]", Numbers(&[1., 3.])),
            ("step", "[1,2] [3]", shape()),
            ("step", "[1,2] [3,4]", Numbers(&[3., 4.])),
            ("no_step", "[1,2] [3]", Numbers(&[1., 2.])),
            ("branch", "[1,2] [3] true", shape()),
            ("branch", "[1,2] [3] false", Same),
            ("product", "[[1,2]] [[1]]", shape()),
            ("product", "[[1,2]] [[1],[2]]", Numbers(&[5.])),
            ("three", "[1,2]", shape()),
            ("three", "[1,2,3]", Numbers(&[0., 0., 0.])),
            ("in_loop", "[[1,2]] [3]", shape()),
            ("in_loop", "[] [3]", Same),
            ("tuple_step", "[1,2] [3]", shape()),
            ("helper", "[1,2] [3]", shape()),
            ("helper", "[] []", failure(Status::Bounds)),
            ("below", "2 [1,2]", failure(Status::Range)),
            ("below", "-1 [1,2]", failure(Status::Range)),
            ("below", "1 [1,2]", Numbers(&[2.])),
            ("length_of", "[1,2] 3", shape()),
            ("length_of", "[1,2] -3", Same),
            ("negative", "[1,2]", failure(Status::Negative)),
            ("squares", "[] 2 [1,2]", Numbers(&[3.])),
        ],
    );
    for (text, wanted) in [
        ("let f (v: Vector<2>) (w: Vector<3>) = vectorAdd v w", "E0401"),
        ("let f (v: Vector<n>) = vectorAdd v (build (length v + 1) (fun i -> 0.0))", "E0401"),
        ("let f (v: Vector<n>) : Vector<n> = build (length v + 1) (fun i -> 0.0)", "E0401"),
    ] {
        assert_eq!(with_large_stack(|| code(text)), wanted, "{text}");
    }
}

#[test]
fn derivatives_that_confuse() {
    let text = "
let perturbation (x: Double) = derivative (fun x -> x * derivative (fun y -> x + y) 1.0) x
let perturbed (x: Double) = derivative (fun a -> a * derivative (fun b -> a * b * b) a) x
let third (x: Double) = derivative (fun a -> derivative (fun b -> derivative (fun c -> c ** 4.0) b) a) x
let fourth (x: Double) =
  let f y = derivative (fun c -> sin c) y
  let g y = derivative f y
  let h y = derivative g y
  derivative h x
let constant (x: Double) = let y = x * x in deriv (y * x) x
let captured (x: Double) = let f z = x * z in deriv (f x) x
let without (x: Double) (y: Double) = deriv (y * y) x
let shadowed (x: Double) = let x = x * x in let x = x + 1.0 in derivative (fun x -> let x = x * x in x * x) x
let nested_closures (x: Double) =
  let f a = (let g b = (let h c = a * b * c in h (b + x)) in g (a + x))
  derivative f x
let hessian_gradient (v: Vector<n>) = hessian (fun x -> vectorSum (gradient (fun y -> vectorSum (vectorEMul y (vectorEMul y (vectorEMul y y)))) x)) v
let jacobian_gradient (v: Vector<n>) = jacobian (fun x -> gradient (fun y -> y[0] * y[1] * y[1]) x) v
let ties (x: Double) = (derivative abs x, derivative (fun a -> max a 0.0) x, derivative (fun a -> max 0.0 a) x, derivative (fun a -> min a 0.0) x)
let steps (x: Double) = (derivative sign x, derivative floor x, derivative (fun a -> double (index a)) x)
let powers (x: Double) = (derivative (fun a -> a ** 2.0) x, derivative (fun a -> a ** 0.0) x, derivative (fun a -> 2.0 ** a) x)
let both (x: Double) = derivative (fun a -> a ** a) x
let untaken (x: Double) = derivative (fun a -> if a > 0.0 then sqrt a else 0.0) x
let untaken_norm (v: Vector<n>) = gradient (fun w -> if vectorSqNorm w > 0.0 then vectorNorm w else 0.0) v
let through_index (x: Double) (v: Vector<n>) = derivative (fun a -> v[index a] * a) x
let through_fold (x: Double) (k: Index) = derivative (fun a -> ifold (fun s i -> s * a + double i) 1.0 k) x
let through_tuple (x: Double) = jvp (fun a -> (a * a, [a, 1.0])) x 1.0
let branches (x: Double) = derivative (fun a -> if a < 1.0 then a elif a < 2.0 then a * a else a * a * a) x
let tangent_of_none (v: Vector<n>) = jacobian (fun w -> [1.0, 2.0]) v
let empty_point (v: Vector<0>) = (gradient vectorSum v, jacobian (fun w -> [vectorSum w]) v, hessian vectorSqNorm v)
let swapped (x: Double) (k: Index) = derivative (fun a -> fst (ifold (fun (p, q) i -> (q, p * a)) (1.0, a) k)) x
let condition (x: Double) = derivative (fun a -> if derivative (fun b -> b * b * a) a > 3.0 then a * a else a) x
";
    hold(
        text,
        &[
            ("perturbation", "5", Numbers(&[1.])),
            ("perturbed", "2", Numbers(&[24.])),
            ("third", "2", Numbers(&[48.])),
            ("fourth", "1", Numbers(&[1f64.sin()])),
            ("constant", "3", Numbers(&[27., 9.])),
            ("captured", "3", Numbers(&[9., 3.])),
            ("without", "3 2", Numbers(&[4., 0.])),
            ("shadowed", "2", Numbers(&[500.])),
            ("nested_closures", "1", Numbers(&[11.])),
            ("hessian_gradient", "[1,2]", Numbers(&[24., 0., 0., 48.])),
            ("hessian_gradient", "[]", Numbers(&[])),
            ("jacobian_gradient", "[1,2]", Numbers(&[0., 4., 4., 2.])),
            ("ties", "0", Numbers(&[0., 1., 0., 1.])),
            ("ties", "-1", Numbers(&[-1., 0., 0., 1.])),
            ("steps", "1.5", Numbers(&[0., 0., 0.])),
            ("powers", "0", Numbers(&[0., 0., 2f64.ln()])),
            ("powers", "-2", Numbers(&[-4., 0., 0.25 * 2f64.ln()])),
            ("both", "1", Numbers(&[1.])),
            ("untaken", "0", Numbers(&[0.])),
            ("untaken", "-1", Numbers(&[0.])),
            ("untaken", "4", Numbers(&[0.25])),
            ("untaken_norm", "[0,0]", Numbers(&[0., 0.])),
            ("untaken_norm", "[3,4]", Numbers(&[0.6, 0.8])),
            ("through_index", "1.5 [2,3]", Numbers(&[3.])),
            ("through_index", "2.5 [2,3]", failure(Status::Bounds)),
            ("through_fold", "2 3", Same),
            ("through_fold", "2 0", Numbers(&[0.])),
            ("through_tuple", "3", Numbers(&[6., 1., 0.])),
            ("branches", "0.5", Numbers(&[1.])),
            ("branches", "1.5", Numbers(&[3.])),
            ("branches", "2", Numbers(&[12.])),
            ("tangent_of_none", "[1,2,3]", Numbers(&[0., 0., 0., 0., 0., 0.])),
            ("empty_point", "[]", Same),
            ("swapped", "3 0", Numbers(&[0.])),
            ("swapped", "3 1", Numbers(&[1.])),
            ("swapped", "3 4", Numbers(&[6.])),
            ("swapped", "3 5", Numbers(&[27.])),
            ("condition", "1", Numbers(&[1.])),
            ("condition", "2", Numbers(&[4.])),
        ],
    );
}

#[test]
fn signatures_of_every_kind() {
    let parameters: Vec<String> = (0..60).map(|k| format!("(p{k}: {})", ["Double", "Index", "Bool"][k % 3])).collect();
    let sum: Vec<String> = (0..60).filter(|k| k % 3 == 0).map(|k| format!("p{k}")).collect();
    let words: Vec<String> = (0..60).map(|k| ["2.5", "3", "true"][k % 3].to_string()).collect();
    let text = format!(
        "
let many {} = ({}, p1 + p58, p2 && p59)
let unused (x: Double) (v: Vector<n>) (m: Matrix<k, l>) (b: Bool) = 1.0
let number = 42.0
let vector = [1.0, 2.0]
let table = build 2 (fun i -> build 3 (fun j -> i * j))
let itself (v: Vector<n>) = v
let itself_matrix (m: Matrix<n, k>) = m
let itself_number (x: Double) = x
let itself_bool (b: Bool) = b
let twice_itself (v: Vector<n>) = (v, v)
let part (p: Double * Vector<n>) = snd p
let pairs (v: Vector<n>) = (build (length v) (fun i -> (v[i], i, v[i] > 0.0)), [v, v])
let deep (v: Vector<n>) = build (length v) (fun i -> (build 2 (fun j -> (v[i], j)), [i, i]))
let tuple_parameters (p: Array<Double * (Index * Bool), n>) (q: (Double * Double) * Index) = (vectorMap p fst, p, q)
let cells (c: Array<Array<Double * Vector<3>, m>, n>) = c
let row (m: Matrix<n, k>) (i: Index) = m[i]
let empty = build 0 (fun i -> 1.0)
let four (a: Array<Array<Array<Vector<n>, m>, k>, l>) = a[0][0]
",
        parameters.join(" "),
        sum.join(" + "),
    );
    hold(
        &text,
        &[
            ("many", &words.join(" "), Numbers(&[50., 6., 1.])),
            ("unused", "1 [] [[],[]] false", Numbers(&[1.])),
            ("number", "", Numbers(&[42.])),
            ("vector", "", Numbers(&[1., 2.])),
            ("table", "", Numbers(&[0., 0., 0., 0., 1., 2.])),
            ("itself", "[1,2]", Numbers(&[1., 2.])),
            ("itself", "[]", Numbers(&[])),
            ("itself_matrix", "[[1],[2]]", Numbers(&[1., 2.])),
            ("itself_matrix", "[]", Numbers(&[])),
            ("itself_matrix", "[[],[]]", Numbers(&[])),
            ("itself_number", "NaN", Numbers(&[f64::NAN])),
            ("itself_bool", "true", Numbers(&[1.])),
            ("twice_itself", "[1]", Numbers(&[1., 1.])),
            ("part", "[1,[2,3]]", Numbers(&[2., 3.])),
            ("pairs", "[1,-2]", Numbers(&[1., 0., 1., -2., 1., 0., 1., -2., 1., -2.])),
            ("pairs", "[]", Numbers(&[])),
            ("deep", "[7]", Numbers(&[7., 0., 7., 1., 0., 0.])),
            ("tuple_parameters", "[[1,[2,true]]] [[3,4],5]", Numbers(&[1., 1., 2., 1., 3., 4., 5.])),
            ("tuple_parameters", "[] [[3,4],5]", Numbers(&[3., 4., 5.])),
            ("cells", "[[[1,[2,3,4]]]]", Numbers(&[1., 2., 3., 4.])),
            ("cells", "[]", Numbers(&[])),
            ("row", "[[1,2],[3,4]] 1", Numbers(&[3., 4.])),
            ("row", "[[1,2],[3,4]] 2", failure(Status::Bounds)),
            ("row", "[] 0", failure(Status::Bounds)),
            ("empty", "", Numbers(&[])),
            ("four", "[[[[1,2]]]]", Numbers(&[1., 2.])),
            ("four", "[]", failure(Status::Bounds)),
        ],
    );
}

#[test]
fn names_that_c_has_taken() {
    let names = "ints doubles arrays bytes int long double_ for while class template new delete_ this namespace operator_ restrict inline bool main exit malloc free
        memcpy printf exp10 j0 y0 y1 jn pow gamma isnan signbit NULL size_t int64_t smooth_status SMOOTH_OK SMOOTH_RESTRICT out workspace
        workspace_bytes out_0 x' x_prime f_workspace f smooth_add _Bool_ errno stdin linux unix I M_PI INFINITY abort_ near far asm register
        auto static_ volatile const_ switch default goto return_ void char_ struct union_ enum typedef sizeof signed";
    let mut text = String::new();
    let mut calls = Vec::new();
    for (k, name) in names.split_whitespace().filter(|name| !name.starts_with('_')).enumerate() {
        let shadow = ["out", "int", "workspace", "n", "k", "smooth_mul", "main", "x'", "x_prime"][k % 9];
        text.push_str(&format!(
            "let {name} ({shadow}: Double) (v: Vector<{name}>) (i: Index) = let out_1 = {shadow} + v[i] in build 1 (fun i -> out_1)\n"
        ));
        calls.push((name, "1 [2] 0", Numbers(&[3.])));
    }
    hold(&text, &calls);
    // as C++ too, where there is a compiler
    with_large_stack(|| {
        let emitted = session(&text, "emit", Options::default()).unwrap_or_else(|problems| panic!("{problems:#?}"));
        let folder = tempfile::tempdir().expect("a folder");
        let files = emitted.emitted().expect("was emitted");
        let flags = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wdouble-promotion -Wvla -Werror -fsyntax-only";
        for (compiler, file, text) in
            [("gcc", "n.c", &files.source), ("g++", "n.cpp", &files.source), ("gcc", "h.c", &files.header), ("g++", "h.cpp", &files.header)]
        {
            std::fs::write(folder.path().join(file), text).expect("writes");
            match Command::new(compiler).args(flags.split(' ')).arg(folder.path().join(file)).output() {
                Ok(done) => assert!(done.status.success(), "{compiler}: {}", String::from_utf8_lossy(&done.stderr)),
                Err(_) => println!("no {compiler}: left out"),
            }
        }
    });
}

/// Runs a C main after the emitted file; gives what it prints.
fn c_main(folder: &Path, text: &str, main: &str) -> String {
    c_main_of(folder, text, Options::default(), main)
}

fn c_main_of(folder: &Path, text: &str, options: Options, main: &str) -> String {
    let emitted = with_large_stack(|| {
        let emitted = session(text, "emit", options).unwrap_or_else(|problems| panic!("{problems:#?}"));
        emitted.emitted().expect("was emitted").source.clone()
    });
    let path = folder.join("main.c");
    std::fs::write(&path, format!("{emitted}\n#include <stdio.h>\n#include <stdlib.h>\nint main(void)\n{{\n{main}\nreturn 0;\n}}\n"))
        .expect("writes");
    let done = Command::new("cc").args(SANITIZED).arg("-o").arg(folder.join("main")).arg(&path).arg("-lm").output().expect("runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let done = Command::new(folder.join("main")).output().expect("runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn callers_that_lie_about_sizes() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "
let total (m: Matrix<n, k>) = matrixSum m
let product (a: Matrix<n, k>) (b: Matrix<k, m>) = matrixMul (matrixMul a b) (matrixTranspose b)
let fill (k: Index) = build k (fun i -> 1.0)
let square (k: Index) = build k (fun i -> build k (fun j -> 1.0))
let inner (k: Index) = vectorSum (ifold (fun a i -> vectorAdd a a) (build (k * k) (fun i -> 1.0)) 2)
let indices (v: Vector<n>) (i: Array<Index<n>, k>) = build (length i) (fun j -> v[i[j]])
let links (points: Matrix<n + 1, 2>) (d: Vector<n>) = matrixSum points - vectorSum d
";
    let main = "
    int64_t sizes[] = {INT64_MAX, INT64_C(1) << 60, INT64_C(1) << 32, INT64_C(1) << 61, INT64_MIN, -1};
    for (int k = 0; k < 6; k++) {
        int64_t s = sizes[k];
        double out = 0;
        int ok = total(s, s, NULL, &out, NULL, 0) == 0 || product(s, s, s, NULL, NULL, NULL, NULL, 0) == 0
            || (k != 2 && fill(s, NULL, NULL, 0) == 0) || square(s, NULL, NULL, 0) == 0
            || (k != 2 && links(s, NULL, NULL, &out, NULL, 0) == 0);
        inner(s, &out, NULL, 0); /* k * k wraps, to 0 or 1 */
        printf(\"%d\", ok);
    }
    printf(\" %d\", product_workspace(INT64_MAX, INT64_MAX, INT64_MAX) == SIZE_MAX || product_workspace(INT64_MAX, INT64_MAX, INT64_MAX) == 0);
    double zero = 0;
    printf(\" %d %d\", total(0, 5, NULL, &zero, NULL, 0), total(5, 0, NULL, &zero, NULL, 0));
    printf(\" %d\", product(0, 0, 0, NULL, NULL, NULL, NULL, 0));
    double v[2] = {1, 2}, w[3];
    int64_t good[3] = {0, 1, 0}, bad[3] = {0, 2, 0}, low[3] = {0, 1, -1};
    printf(\" %d%d%d\", indices(2, 3, v, good, w, NULL, 0), indices(2, 3, v, bad, w, NULL, 0), indices(2, 3, v, low, w, NULL, 0));
    printf(\" %d\", indices(0, 0, NULL, NULL, NULL, NULL, 0));
    ";
    assert_eq!(c_main(folder.path(), text, main), "000000 1 0 0 0 055 0");
}

/// What C leaves in a result for other cases may be NaN or NULL where the result is a cotangent next.
#[test]
fn cotangents_have_nothing_in_other_cases() {
    let text = "
type S = A of Double | B of Double
type T = C of Double | D of Double * Double | E of Vector<2>
let rec tail (n: Index) (s: S) (x: Double) : S = if n = 0 then s else tail (n - 1) (match s with A r -> A (x * r) | B b -> B (x * b)) x
let rec deep (n: Index) (s: S) (x: Double) decreases n : S = if n = 0 then s else match deep (n - 1) s x with A r -> A (x * r) | B b -> B (x * b)
let each (s: T) : T = match s with C r -> C (r * r) | D (a, b) -> D (a * b, b) | E v -> E (2.0 * v)
";
    let main = "
    int64_t t; double nan = 0.0 / 0.0, a, b, c, m[2];
    static char room[1 << 20];
    int s = tail_vjp(2, 0, 1.5, nan, 2.0, 0, 1.0, nan, &t, &a, &b, room, sizeof room);
    printf(\"%d %g\", s, a);
    s = deep_vjp(2, 0, 1.5, nan, 2.0, 0, 1.0, nan, &t, &a, &b, room, sizeof room);
    printf(\" %d %g\", s, a);
    s = each_vjp(0, 1.5, nan, nan, NULL, 0, 1.0, nan, nan, NULL, &t, &a, &b, &c, m, room, sizeof room);
    printf(\" %d %g\", s, a);
    s = each_jvp(0, 1.5, nan, nan, NULL, 0, 1.0, nan, nan, NULL, &t, &a, &b, &c, m, room, sizeof room);
    printf(\" %d %g\", s, a);
    ";
    let derive = ["vjp:tail", "vjp:deep", "vjp:each", "jvp:each"].map(|text| Derive::parse(text).expect("a derivative"));
    let folder = tempfile::tempdir().expect("a folder");
    for mode in [Mode::Auto, Mode::Forward, Mode::Reverse] {
        let options = Options { derive: derive.to_vec(), mode, ..Options::default() };
        assert_eq!(c_main_of(folder.path(), text, options, main), "0 4 0 4 0 3 0 3", "{mode:?}");
    }
}

/// The array of a case that the value is not of is NULL, whatever its length is declared as.
#[test]
fn callers_that_give_no_array_for_another_case() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "
type V = | A of Vector<2> | B of Double
type P = { v: V; w: Double }
let next (x: V) : V = match x with A v -> A (2.0 * v) | B y -> B (0.5 * y)
let first (x: V) : Double = match x with A v -> v[0] | B y -> y
let folded (k: Index) (x: V) : Double = first (ifold (fun s i -> next s) x k)
let rec tail (k: Index) (x: V) : Double = if k <= 0 then first x else tail (k - 1) (next x)
let rec stack (k: Index) (x: V) : Double = if k <= 0 then first x else 1.0 + stack (k - 1) (next x)
let rec ping (k: Index) (x: V) : Double = if k <= 0 then first x else pong (k - 1) x
and pong (k: Index) (x: V) : Double = if k <= 0 then 3.0 * first x else ping (k - 1) (next x)
let both (k: Index) (x: V) : Double = tail k x + stack k x
let rec held (k: Index) (p: P) : Double = if k <= 0 then p.w * first p.v else held (k - 1) { v = next p.v; w = p.w + 1.0 }
let sensitivity (k: Index) (x: V) : Double = match gradient (fun y -> tail k y) x with A v -> v[0] | B y -> y
";
    let main = "
    double out = 0;
    #define CALL(f, ...) do { \\
        size_t bytes = f##_workspace(3, 1); \\
        void *workspace = bytes ? malloc(bytes) : NULL; \\
        int status = f(3, 1, NULL, 8.0, __VA_ARGS__ &out, workspace, bytes); \\
        printf(\"%d %g, \", status, out); \\
        free(workspace); \\
    } while (0)
    CALL(folded,); CALL(tail,); CALL(stack,); CALL(ping,); CALL(pong,); CALL(both,); CALL(held, 1.0,); CALL(sensitivity,);
    ";
    assert_eq!(c_main(folder.path(), text, main), "0 1, 0 1, 0 4, 0 12, 0 2, 0 5, 0 4, 0 0.125, ");
}

#[test]
fn workspace_that_is_too_small() {
    let folder = tempfile::tempdir().expect("a folder");
    // a step that must not overwrite what it reads needs a buffer of its own
    let text =
        "let f (v: Vector<n>) (k: Index) = vectorSum (ifold (fun a i -> build (length a) (fun j -> a[length a - 1 - j] + a[0])) v k)\n";
    let main = "
    double v[3] = {1, 2, 3}, out = 0;
    size_t bytes = f_workspace(3, 4);
    char *exact = malloc(bytes);
    printf(\"%d %d %d %d %d\", bytes > 0, f(3, v, 4, &out, NULL, 0), f(3, v, 4, &out, exact, bytes - 1), f(3, v, 4, &out, exact, 0), f(3, v, 4, &out, exact, bytes));
    printf(\" %g\", out);
    free(exact);
    size_t one = f_workspace(0, 4);
    printf(\" %d\", one == 0 ? f(0, NULL, 4, &out, NULL, 0) : 0);
    ";
    assert_eq!(c_main(folder.path(), text, main), "1 6 6 6 0 81 0");
}

#[test]
fn deep_programs() {
    let deep = |open: &str, middle: &str, close: &str, n: usize| format!("{}{middle}{}", open.repeat(n), close.repeat(n));
    let head = "let f (x: Double) (k: Index) (b: Bool) (v: Vector<n>) (w: Array<Index, n>) = ";
    let mut texts: Vec<(String, &str)> = Vec::new();
    for (open, middle, close, wanted) in [
        ("(", "x", ")", "ok"),
        ("sin (", "x", ")", "ok"),
        ("-(", "x", ")", "ok"),
        ("x + (", "x", ")", "ok"),
        ("if b then x else (", "x", ")", "ok"),
        ("if (if b then b else ", "b", ") then x else x", "any"),
        ("if b then x elif k = 1 then x else ", "x", "", "ok"),
        ("let y = x in ", "y", "", "ok"),
        ("let x = (", "x", ") in x", "ok"),
        ("let g y = (", "x", ") in g x", "ok"),
        ("let (a, c) = (x, ", "x", ") in a", "ok"),
        ("fst (", "x", ", x)", "ok"),
        ("(x, ", "x", ")", "ok"),
        ("(fun y -> ", "x", ") x", "any"),
        ("double w[index (", "x", ")]", "ok"),
        ("v[w[k + index (", "x", ")]]", "ok"),
        ("vectorSum (build k (fun i -> ", "x", "))", "ok"),
        ("ifold (fun s i -> s + (", "x", ")) x k", "ok"),
        ("x ** (", "x", ")", "ok"),
        ("x * ", "x", "", "ok"),
        ("x ** ", "x", "", "ok"),
        ("[", "x", "]", "any"),
        ("build k (fun i -> ", "x", ")", "any"),
        ("(* ", "", " *) ", "any"),
        ("((", "x", "", "any"),
        ("[", "x", "", "any"),
        ("if b then ", "x", "", "any"),
        ("let y = ", "x", "", "any"),
        ("fun y -> ", "x", "", "any"),
        ("not (", "b", ")", "ok"),
        ("b && (", "b", ")", "ok"),
    ] {
        // loops within loops are optimised one by one, and nobody nests five hundred
        let loops = open.contains("fun i") || open.contains("fun s");
        texts.push((format!("{head}{}", deep(open, middle, close, if loops { 40 } else { 500 })), wanted));
    }
    let lets: String = (0..1000).map(|k| format!("  let x{} = x{k} + 1.0\n", k + 1)).collect();
    texts.push((format!("let f (x0: Double) =\n{lets}  x1000"), "ok"));
    texts.push((format!("let f (x: Double) = x{}", " + x".repeat(2000)), "ok"));
    texts.push((format!("let f (x: {}Double{}) = 1.0", "Array<".repeat(500), ">".repeat(500)), "any"));
    texts.push((format!("let f (x: {}Double{}) = 1.0", "(".repeat(500), ")".repeat(500)), "any"));
    texts.push((format!("let f (x: Vector<{}n{}>) = 1.0", "(".repeat(500), ")".repeat(500)), "any"));
    with_large_stack(|| {
        for (text, wanted) in &texts {
            let start = Instant::now();
            let found = code(text);
            let shown: String = text.chars().skip(90).take(40).collect();
            assert!(start.elapsed() < Duration::from_secs(20), "{shown}: {:?}", start.elapsed());
            assert!(found != "E0901", "{shown}: internal error");
            assert!(*wanted == "any" || found == *wanted, "{shown}: {found}");
        }
    });
}

#[test]
fn derivatives_stay_small() {
    with_large_stack(|| {
        // a product of 200 factors, each a let that the next one uses
        let mut text = "let f (x: Double) =\n  let y0 = x\n".to_string();
        (1..200).for_each(|k| text.push_str(&format!("  let y{k} = y{} * sin x\n", k - 1)));
        text.push_str("  y199\nlet g (x: Double) = derivative f x\nlet h (x: Double) = derivative g x\n");
        text.push_str("let p (v: Vector<200>) = gradient (fun x ->\n  let y0 = x[0]\n");
        (1..200).for_each(|k| text.push_str(&format!("  let y{k} = y{} * x[{k}]\n", k - 1)));
        text.push_str("  y199) v\n");
        let nodes = |session: &Session, name: &str| session.program.functions[name].body.node_count();
        let start = Instant::now();
        let done = session(&text, "ad", Options::default()).unwrap_or_else(|problems| panic!("{problems:#?}"));
        let total: usize = done.program.functions.values().map(|function| function.body.node_count()).sum();
        assert!(nodes(&done, "p") < 20_000, "{}", nodes(&done, "p"));
        assert!(total < 20_000, "{total}");
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        // thirty functions that each call the one before twice
        let mut text = "let f0 (x: Double) = x * x\n".to_string();
        (1..30).for_each(|k| text.push_str(&format!("let f{k} (x: Double) = f{} x + f{} (0.5 * x)\n", k - 1, k - 1)));
        text.push_str("let g (x: Double) = derivative f29 x\nlet h (v: Vector<n>) = gradient (fun w -> f29 (vectorSum w)) v\n");
        text.push_str("let second (x: Double) = derivative (fun y -> derivative f29 y) x\n");
        for schedule in ["none", "default"] {
            let start = Instant::now();
            let done = session(&text, "emit", scheduled(schedule)).unwrap_or_else(|problems| panic!("{problems:#?}"));
            assert!(start.elapsed() < Duration::from_secs(20), "{schedule}: {:?}", start.elapsed());
            assert!(done.emitted().expect("C").source.len() < 1_000_000);
        }
    });
    hold(
        "let f0 (x: Double) = x * x
let f1 x = f0 x + f0 (0.5 * x)
let f2 x = f1 x + f1 (0.5 * x)
let g (x: Double) = derivative f2 x
let second (x: Double) = derivative (fun y -> derivative f2 y) x
let h (v: Vector<n>) = gradient (fun w -> f2 (vectorSum w)) v
",
        &[("g", "2", Numbers(&[6.25])), ("second", "2", Numbers(&[3.125])), ("h", "[1,1]", Numbers(&[6.25, 6.25]))],
    );
}

/// The exit status and the first diagnostic's code.
fn outcome(output: &Output) -> (i32, String) {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = text.split("error[").nth(1).and_then(|rest| rest.split(']').next()).unwrap_or("").to_string();
    (output.status.code().unwrap_or(-1), code)
}

#[test]
fn files_of_nothing_and_of_garbage() {
    assert_eq!(outcome(&with_input(&["check", "-"], b"")).0, 0);
    assert_eq!(outcome(&with_input(&["check", "-"], b"\n// nothing\n(* here *)\n")).0, 0);
    assert_eq!(outcome(&with_input(&["check", "-"], b"let _hidden x = x + 1.0\nlet map f = f 1.0\n")).0, 0);
    assert_eq!(outcome(&with_input(&["emit", "--target", "c", "-"], b"")).0, 1);
    assert_eq!(outcome(&with_input(&["emit", "--target", "c", "-"], b"let _hidden (x: Double) = x\n")).0, 1);
    assert_eq!(outcome(&with_input(&["check", "-"], b"let f (x: Double) = \xff\xfe\n")), (1, "E0002".into()));
    let mut seed = 1u64;
    let mut noise = |bytes: usize, alphabet: &[u8]| -> Vec<u8> {
        (0..bytes)
            .map(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                alphabet[(seed >> 33) as usize % alphabet.len()]
            })
            .collect()
    };
    let printable: Vec<u8> = (32..127).chain([b'\n']).collect();
    let megabytes = 10 << 20;
    for garbage in [
        noise(megabytes, &printable),
        noise(megabytes, b"()[]{}"),
        noise(megabytes, b"let in\n"),
        noise(megabytes, b"fun x -> if then\n ("),
        vec![b'('; megabytes],
        vec![b'a'; megabytes],
        vec![b'9'; megabytes],
        vec![0; megabytes],
        b"let f = 1 + \n".repeat(megabytes / 13),
        b"(*".repeat(megabytes / 2),
    ] {
        let start = Instant::now();
        let output = with_input(&["check", "-"], &garbage);
        let (status, code) = outcome(&output);
        let shown = String::from_utf8_lossy(&garbage[..20]).into_owned();
        assert_eq!(status, 1, "{shown:?}: {code}");
        assert!(code.starts_with("E0") && !code.starts_with("E09"), "{shown:?}: {code}");
        // what grows with the square of ten megabytes takes hours
        assert!(start.elapsed() < Duration::from_secs(300), "{shown:?}: {:?}", start.elapsed());
        assert!(output.stderr.len() < 1 << 20, "{shown:?}: {} bytes of messages", output.stderr.len());
    }
}

#[test]
fn arguments_of_every_kind() {
    let program = b"let f (v: Vector<n>) (x: Double) = vectorSum v + x\nlet k (i: Index) (b: Bool) = i\nlet p (a: Vector<n>) (b: Vector<n>) = vectorDot a b\n";
    let deep = "[".repeat(100_000);
    let deep_closed = format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000));
    for command in ["eval", "run"] {
        for (words, status, printed) in [
            (&["f", "[1, 2]", "NaN"][..], 0, "NaN"),
            (&["f", "[1, 2]", "Infinity"], 0, "Infinity"),
            (&["f", "[1, -Infinity]", "1"], 0, "-Infinity"),
            (&["f", "[]", "-1e400"], 0, "-Infinity"),
            (&["f", "[]", "-0.0"], 0, ""),
            (&["f", "[1, [2]]", "1"], 1, ""),
            (&["f", "[[1]]", "1"], 1, ""),
            (&["f", "[1, true]", "1"], 1, ""),
            (&["f", "[1", "1"], 1, ""),
            (&["f", "", "1"], 1, ""),
            (&["f", "nan", "1"], 1, ""),
            (&["f", "[1] [2]", "1"], 1, ""),
            (&["f", "{}", "1"], 1, ""),
            (&["f", "\"x\"", "1"], 1, ""),
            (&["f", &deep, "1"], 1, ""),
            (&["f", &deep_closed, "1"], 1, ""),
            (&["f", "[1]"], 1, ""),
            (&["f", "[1]", "1", "2"], 1, ""),
            (&["g", "[1]", "1"], 1, ""),
            (&["k", "9223372036854775807", "true"], 0, "9223372036854775807"),
            (&["k", "-9223372036854775808", "false"], 0, "-9223372036854775808"),
            (&["k", "9223372036854775808", "true"], 1, ""),
            (&["k", "1.5", "true"], 1, ""),
            (&["k", "NaN", "true"], 1, ""),
            (&["k", "1", "0"], 1, ""),
            (&["p", "[1, 2]", "[1]"], 1, ""),
            (&["f", "@/nowhere.npy", "1"], 1, ""),
        ] {
            let mut all = vec![command, "-"];
            all.extend(words);
            let output = with_input(&all, program);
            let (found, code) = outcome(&output);
            let shown: Vec<String> = words.iter().map(|word| word.chars().take(20).collect()).collect();
            assert_eq!(
                found,
                status,
                "{command} {shown:?}: {code} {}",
                String::from_utf8_lossy(&output.stderr).chars().take(500).collect::<String>()
            );
            assert!(!code.starts_with("E09"), "{command} {shown:?}: {code}");
            if !printed.is_empty() {
                assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), printed, "{command} {shown:?}");
            }
        }
    }
}

#[test]
fn a_million_elements() {
    let folder = tempfile::tempdir().expect("a folder");
    let values: Vec<String> = (0..1_000_000).map(|k| (k % 7).to_string()).collect();
    let data = folder.path().join("v.json");
    std::fs::write(&data, format!("[{}]", values.join(","))).expect("writes");
    let program = b"let f (v: Vector<n>) = (vectorSum v, vectorSum (gradient (fun w -> w[0] * w[1]) (vectorSlice v 0 1)), vectorMax (ifold (fun a i -> vectorSMul a 0.5) v 3))\n";
    let start = Instant::now();
    let output = with_input(&["run", "-", "f", &format!("@{}", data.display())], program);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let sum: usize = (0..1_000_000).map(|k| k % 7).sum();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), format!("[{sum}.0, 1.0, 0.75]"));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// What random programs found, each small.
#[test]
fn programs_that_once_went_wrong() {
    hold(
        "let later_size (M: Matrix<n, m>) =
  let q = length M[0]
  derivative (fun y -> vectorSum (build (matrixCols M) (fun i -> let g (x: Double) = x * double (min i q) in g y))) 2.0
",
        &[("later_size", "[[1,2],[2,3]]", Numbers(&[1.]))],
    );
}
