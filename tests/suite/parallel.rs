//! `--parallel`: loops that threads share compute what the interpreter does, on any number of threads, with the
//! workspace that they want or less, and fail as it does.
//!
//! Every loop is taken to be worth sharing here (`SMOOTH_WORTH`), and everything runs under sanitizers with buffers
//! of exact size. What is emitted for two of the benchmarks is kept in `snapshots/parallel`.

use std::process::Command;

use smoothc::driver::{Options, Schedule, Session};
use smoothc::real::Real;
use smoothc::toolchain::flat::{Column, Flat};

use crate::support::engine::source;
use crate::support::native::{Call, Outcome};
use crate::support::{cases, engine, native, snapshot, sources, tools};

/// Threads, and whether they have to do with the workspace of one.
const RUNS: [(usize, bool); 5] = [(1, false), (2, false), (3, false), (8, false), (3, true)];

fn compile(path: &str, text: &str, schedule: &str) -> Result<Session, String> {
    compile_for(Real::F64, path, text, schedule)
}

fn compile_for(real: Real, path: &str, text: &str, schedule: &str) -> Result<Session, String> {
    let schedule = Schedule::Named(schedule.into());
    let options = Options { schedule, real, parallel: true, header: "program.h".into(), ..Options::default() };
    let mut session = Session::new(path, text, options);
    match session.run_to("emit", &mut sources::open) {
        Ok(()) => Ok(session),
        Err(problems) => Err(sources::drawn(&problems, &session)),
    }
}

/// Whether sanitizers and OpenMP are here, together.
fn can_run() -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("empty.c");
    std::fs::write(&file, "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n").expect("writes");
    let mut command = Command::new(tools::c_compiler());
    command.args(["-fopenmp", "-fsanitize=address,undefined", "-o"]).arg(folder.path().join("empty")).arg(&file);
    let can = tools::succeeds(&mut command).is_ok();
    if !can {
        tools::skipped(&format!("{} has no OpenMP with sanitizers here", tools::c_compiler()));
    }
    can
}

#[test]
fn every_example_agrees_with_the_interpreter() {
    if !can_run() {
        return;
    }
    tools::each(&cases::all(), |example| {
        let known = engine::compile(&example.path, &example.text, "none", "types")?;
        for schedule in ["none", "default"] {
            let session = compile(&example.path, &example.text, schedule)?;
            let calls: Vec<(&str, &[String])> = example.cases.iter().map(|case| (&*case.entry, &*case.words)).collect();
            agree(&known, &session, &calls, false).map_err(|problem| format!("{}, schedule {schedule}: {problem}", example.path))?;
        }
        Ok(())
    });
}

/// All calls on all numbers of threads against the interpreter; gives the outcomes by run.
fn agree(known: &Session, session: &Session, calls: &[(&str, &[String])], optimised: bool) -> Result<Vec<Vec<Outcome>>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut wanted = Vec::new();
    let mut arguments = Vec::new();
    for (entry, words) in calls {
        // arguments that do not fit never reach an entry
        if let Ok(read) = engine::arguments(session, entry, words) {
            let inputs = engine::arguments(known, entry, words)?;
            wanted.push((entry, words, engine::interpret(known, entry, &inputs.values)));
            arguments.push((entry, read));
        }
    }
    let calls: Vec<Call> = arguments.iter().map(|(entry, read)| Call { entry, arguments: read }).collect();
    let text = native::program(session, &calls)?;
    let runs = native::parallel(&text, session, &calls, folder.path(), &RUNS, optimised)?;
    for ((threads, spared), outcomes) in RUNS.iter().zip(&runs) {
        for ((entry, words, wanted), found) in wanted.iter().zip(outcomes) {
            let problem = match (wanted, found) {
                (Ok(known), Ok(found)) => engine::difference(known, found),
                (Err(wanted), Err(found)) if *wanted == engine::status_name(*found) => None,
                (Err(wanted), Err(found)) => Some(format!("fails with {}, not {wanted}", engine::status_name(*found))),
                (Err(wanted), Ok(_)) => Some(format!("has a value, and should fail with {wanted}")),
                (Ok(_), Err(found)) => Some(format!("fails with {}", engine::status_name(*found))),
            };
            if let Some(problem) = problem {
                let words: Vec<String> = words.iter().map(|word| word.chars().take(60).collect()).collect();
                return Err(format!("{entry} {} on {threads} threads, spared {spared}: {problem}", words.join(" ")));
            }
        }
    }
    Ok(runs)
}

/// Entries with what is expected: how many loops threads share, and whether results are the same to the last bit.
const LOOPS: &[(&str, usize, bool, &str)] = &[
    ("scaled (v: Vector<n>)", 1, true, "vectorMap v (fun x -> exp x * sin x)"),
    ("pairs (v: Vector<n>)", 1, true, "build (length v) (fun i -> [v[i] * 2.0, sqrt (v[i] * v[i] + 1.0)])"),
    ("wide (v: Vector<n>)", 1, true, "vectorMap v (fun x -> let y = exp x in build 9 (fun j -> sin (y * double j) * x + y * x))"),
    ("outer (v: Vector<n>)", 1, true, "vectorOutProd v v"),
    ("joined (v: Vector<n>)", 2, true, "build (2 * length v) (fun i -> if i < length v then exp v[i] else sin v[i - length v])"),
    ("moved (v: Vector<n>) (k: Index)", 2, true, "build (length v) (fun i -> if i < k then exp v[i] else sin v[i])"),
    (
        "circle (v: Vector<n>)",
        1,
        true,
        "gradient (fun x -> vectorSum (build (length x) (fun i -> let d = x[(i + 1) % length x] - x[i] in d * d))) v",
    ),
    ("nested (v: Vector<n>)", 1, true, "build (length v) (fun i -> build (length v) (fun j -> ifold (fun s k -> s + v[k] * v[j]) v[i] 5))"),
    (
        "room (m: Matrix<r, c>)",
        1,
        true,
        "vectorMap m (fun row -> let t = vectorMap row exp in ifold (fun s j -> s * 0.5 + t[length t - 1 - j] * t[j]) 0 (length t))",
    ),
    (
        "bools (m: Matrix<r, c>)",
        1,
        true,
        "vectorMap m (fun row -> let t = vectorMap row (fun x -> x > 0.25) in ifold (fun s j -> if t[length t - 1 - j] then s + 1 else s * 2) 0 (length t))",
    ),
    // rows that are written, then added to
    (
        "diagonal (v: Vector<n>)",
        1,
        true,
        "build (length v) (fun i -> accumulate (build (length v) (fun j -> v[j])) i (ifold (fun s j -> s + sin (s * v[i])) 0.5 3000))",
    ),
    (
        "triangle (v: Vector<n>)",
        1,
        true,
        "build (length v) (fun i -> let t = build (i + 1) (fun j -> v[j] * 2) in ifold (fun s j -> s * 0.5 + t[i - j]) 0 (i + 1))",
    ),
    ("gather (v: Vector<n>) (k: Array<Index, m>)", 1, true, "vectorMap k (fun i -> v[i] + 1)"),
    ("quotients (v: Vector<n>) (k: Array<Index, m>)", 1, true, "vectorMap k (fun i -> v[i % 1000] * double (100 / (i + 1)))"),
    (
        "deep (v: Vector<n>) (k: Array<Index, m>)",
        1,
        true,
        "vectorMap k (fun i -> ifold (fun s j -> ifold (fun u l -> u + v[i + j * l]) s 2) 0 3)",
    ),
    ("total (v: Vector<n>)", 1, false, "vectorSum (vectorMap v (fun x -> x * x))"),
    (
        "several (v: Vector<n>)",
        1,
        false,
        "ifold (fun (s, p, m, c) i -> (s - v[i], p * (1 + v[i] * 0.001), max m v[i], min c (i * 7 % 5))) (1.5, 1.0, 0.25, 3) (length v)",
    ),
    ("inRange (v: Vector<n>) (k: Array<Index, m>)", 1, false, "ifold (fun s i -> s + v[k[i]]) 0 (length k)"),
    (
        "norms (m: Matrix<r, c>)",
        1,
        false,
        "ifold (fun s i -> let t = vectorMap m[i] exp in s + ifold (fun u j -> u * 0.5 + t[length t - 1 - j] * t[j]) 0 (length t)) 0 (length m)",
    ),
    ("steps (v: Vector<n>)", 2, true, "ifold (fun w k -> build (length v) (fun i -> w[length v - 1 - i] * 0.5 + exp v[i])) v (length v)"),
    ("branch (v: Vector<n>) (b: Bool)", 2, true, "if b then vectorMap v exp else vectorMap v log"),
    ("product (v: Vector<n>)", 1, false, "ifold (fun p i -> p * v[i]) 1.0 (length v)"),
    ("recurrence (v: Vector<n>)", 0, true, "ifold (fun s i -> s * 0.5 + v[i]) 0.0 (length v)"),
    ("sumAndLast (v: Vector<n>)", 0, true, "ifold (fun (s, t) i -> (s + v[i], s - t)) (0.0, 0.0) (length v)"),
    ("few (v: Vector<n>)", 0, true, "build 3 (fun i -> exp (double i))"),
    ("counted (v: Vector<n>) (k: Index)", 1, false, "ifold (fun s i -> s + v[i]) 0.0 k"),
    (
        "logistic (m: Matrix<r, c>)",
        1,
        false,
        "gradient (fun x -> vectorSum (vectorMap (matrixVectorMul m x) (fun z -> log (1.0 + exp z)))) m[0]",
    ),
    ("histogram (v: Vector<n>) (k: Array<Index, m>)", 1, false, "gradient (fun x -> vectorSum (vectorMap k (fun i -> sin x[i % 40]))) v"),
    (
        "fewKeys (v: Vector<n>) (k: Array<Index, m>)",
        1,
        false,
        "histogram (vectorMap k (fun i -> i % 3)) (vectorMap k (fun i -> sin v[i % 40])) 3",
    ),
    (
        "fewAndMany (v: Vector<n>) (k: Array<Index, m>)",
        1,
        false,
        "ifold (fun (a, b) i -> (accumulate a (k[i] % 3) (sin v[k[i] % 40]), accumulate b (k[i] % 40) (cos v[k[i] % 40]))) (vectorZeros 3, vectorZeros 40) (length k)",
    ),
    (
        "weighed (v: Vector<n>) (k: Array<Index, m>)",
        1,
        false,
        "let b = build (length k) (fun i -> vectorSum (vectorMap v (fun x -> exp (x * double i * 0.01)))) in gradient (fun d -> vectorSum (build (length k) (fun i -> b[i] * d[k[i] % 40] * d[k[i] % 40]))) v",
    ),
    ("quadratic (m: Matrix<r, c>)", 1, false, "gradient (fun x -> let y = matrixVectorMul m x in vectorDot y y + vectorSum y) m[0]"),
    // a sum over samples in the way back: a part has sums of its own and, behind them, room for what a sample needs
    (
        "hidden (m: Matrix<r, c>)",
        4,
        false,
        "gradient (fun (W, b) -> vectorSum (vectorMap m (fun x -> exp (vectorSum (vectorMap2 (matrixVectorMul W x) b (fun z b -> tanh (z + b))))))) (m, vectorMap m vectorSum)",
    ),
    (
        "reversed (v: Vector<n>)",
        2,
        true,
        "let a = vectorMap v exp in let b = vectorMap v sin in build (length v) (fun i -> a[i] * b[length v - 1 - i])",
    ),
    ("strided (v: Vector<n>) (k: Index)", 0, true, "ifold (fun s i -> s + v[k * i]) 0.0 k"),
];

/// The text of an entry, from its signature on.
fn body<'a>(source: &'a str, name: &str) -> &'a str {
    let start = source.find(&format!("smooth_status {name}(")).map_or(0, |at| at + 1);
    let rest = source.get(start..).unwrap_or_default();
    let start = rest.find(&format!("smooth_status {name}(")).unwrap_or(0);
    let rest = rest.get(start..).unwrap_or_default();
    rest.get(..rest.find("\n}\n").map_or(rest.len(), |end| end + 3)).unwrap_or_default()
}

fn words(entry: &str) -> Vec<Vec<String>> {
    let vector = |n: usize| format!("{:?}", (0..n).map(|k| (k * k % 23) as f64 / 23.0 + 0.1).collect::<Vec<_>>());
    let matrix = |r: usize, c: usize| {
        let rows: Vec<String> =
            (0..r).map(|i| format!("{:?}", (0..c).map(|j| ((i * 7 + j * j) % 11) as f64 / 9.0).collect::<Vec<_>>())).collect();
        format!("[{}]", rows.join(", "))
    };
    let keys = |n: usize, wrong: &[(usize, i64)]| {
        let mut keys: Vec<i64> = (0..n as i64).map(|k| k * 5 % 13).collect();
        wrong.iter().for_each(|(at, key)| keys[*at] = *key);
        format!("{keys:?}")
    };
    let one = |words: &[String]| words.to_vec();
    if entry.contains("Matrix") {
        return [(0, 3), (1, 4), (2, 1), (17, 5), (3, 0)].iter().map(|(r, c)| one(&[matrix(*r, *c)])).collect();
    }
    if entry.contains("Array<Index") {
        // BOUNDS before DIV_ZERO, and the other way round, in one part and in two
        let wrong: [&[(usize, i64)]; 7] =
            [&[], &[(0, 77)], &[(39, -2)], &[(20, 99)], &[(7, 999), (30, -1)], &[(7, -1), (30, 999)], &[(3, -1), (4, 999)]];
        let mut all: Vec<Vec<String>> = wrong.iter().map(|wrong| one(&[vector(40), keys(40, wrong)])).collect();
        all.push(one(&[vector(0), "[]".into()]));
        all.push(one(&[vector(13), "[4]".into()]));
        return all;
    }
    let last: Vec<String> = if entry.contains("Bool") {
        vec!["false".into()]
    } else if entry.contains("k: Index") {
        vec!["1".into()]
    } else {
        Vec::new()
    };
    [1, 2, 37, 100]
        .iter()
        .map(|n| [vec![vector(*n)], last.clone()].concat())
        .chain((entry.contains("(v: Vector<n>)") && last.is_empty()).then(|| vec![vector(0)]))
        .collect()
}

#[test]
fn loops_are_shared_where_they_may_be() {
    if !can_run() {
        return;
    }
    tools::each(LOOPS, |(head, shared, exact, text)| {
        let name = head.split(' ').next().unwrap_or_default();
        let text = format!("let {head} = {text}");
        let known = engine::compile("loops.smooth", &text, "none", "types")?;
        let session = compile("loops.smooth", &text, "default")?;
        let c = body(source(&session), name);
        let count = c.matches("SMOOTH_PARALLEL").count();
        if count != *shared {
            return Err(format!("{name}: {count} loops are shared, not {shared}: {c}"));
        }
        let all = words(head);
        let calls: Vec<(&str, &[String])> = all.iter().map(|words| (name, &**words)).collect();
        for optimised in [false, true] {
            let runs = agree(&known, &session, &calls, optimised)?;
            if *exact && runs.iter().any(|run| !same(run, &runs[0])) {
                return Err(format!("{name}: the number of threads changes the result, optimised {optimised}: {c}"));
            }
        }
        Ok(())
    });
}

/// A part's sums of odd numbers of floats, and Indexes behind them, which need eight bytes each.
const ODD_SUMS: &str = "
let odd (v: Vector<n>) (a: Vector<p>) (b: Vector<q>) : Vector<p> * Vector<q> =
  ifold (fun (s, t) i ->
    let o = build p (fun j -> (i * 7 + j * 3) % p) in
    let r = ifold (fun o j -> update o (j % p) (o[(j + 1) % p] + o[j % p])) o (i % 4) in
    (build p (fun j -> s[j] + v[i] * double r[j]), build q (fun j -> t[j] + v[i] * double (r[j % p] + j)))) (a, b) n
";

#[test]
fn indexes_behind_sums_of_floats_are_aligned() {
    if !can_run() {
        return;
    }
    smoothc::stack::with_large_stack(|| {
        let known = engine::compile("odd.smooth", ODD_SUMS, "none", "types").unwrap_or_else(|problem| panic!("{problem}"));
        let session = compile_for(Real::F32, "odd.smooth", ODD_SUMS, "default").unwrap_or_else(|problem| panic!("{problem}"));
        assert!(source(&session).contains("SMOOTH_PARALLEL_IN_ORDER(parts)"), "{}", source(&session));
        // sums of such numbers are exact, also as floats
        let numbers = |n: usize| format!("{:?}", (0..n).map(|k| (k % 5) as f64 / 4.0).collect::<Vec<_>>());
        let words: Vec<Vec<String>> =
            [(3, 5), (5, 3), (1, 1), (4, 7)].iter().map(|(p, q)| vec![numbers(200), numbers(*p), numbers(*q)]).collect();
        let calls: Vec<(&str, &[String])> = words.iter().map(|words| ("odd", &**words)).collect();
        agree(&known, &session, &calls, false).unwrap_or_else(|problem| panic!("{problem}"));
    });
}

/// Whether outcomes are the same to the last bit.
fn same(a: &[Outcome], b: &[Outcome]) -> bool {
    let bits = |flat: &Flat| -> Vec<Vec<u64>> {
        let of = |column: &Column| match column {
            Column::Double(items) => items.iter().map(|item| item.to_bits()).collect(),
            Column::Index(items) => items.iter().map(|item| *item as u64).collect(),
            Column::Bool(items) => items.iter().map(|item| u64::from(*item)).collect(),
            Column::Rolled(_) => panic!("C has no values of recursive types"),
        };
        flat.columns.iter().map(of).collect()
    };
    let outcome = |outcome: &Outcome| outcome.as_ref().map(bits).map_err(|status| *status);
    a.iter().map(outcome).eq(b.iter().map(outcome))
}

/// Between what one thread needs (an array of three numbers for each of thirty-two lanes) and what eight want, each number of bytes
/// does, in a block of exactly that size; up to 56 bytes go to where a cache line begins.
#[test]
fn fewer_bytes_are_fewer_threads() {
    if !can_run() {
        return;
    }
    let text = "let rows (m: Matrix<r, c>) : Vector<r> =\n  \
                vectorMap m (fun row -> let t = vectorMap row exp in ifold (fun s j -> s * 0.5 + t[length t - 1 - j]) 0 (length t))";
    let source = smoothc::stack::with_large_stack(|| compile("rows.smooth", text, "default").map(|session| source(&session).to_string()));
    let source = source.expect("compiles");
    let main = "
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    enum { R = 190, C = 3, SLICE = 32 * C * 8 + 56 };
    double m[R * C], wanted[R], out[R];
    for (int k = 0; k < R * C; k++) m[k] = (double)(k % 7) / 7.0;
    omp_set_num_threads(1);
    const size_t least = rows_workspace(R, C);
    if (least != SLICE) return 1;
    omp_set_num_threads(8);
    const size_t most = rows_workspace(R, C);
    if (most != 8 * ((SLICE + 63) / 64 * 64)) return 2;
    for (size_t bytes = 0; bytes <= most + 64; bytes++) {
        void *workspace = bytes == 0 ? NULL : malloc(bytes);
        memset(out, 0, sizeof out);
        const smooth_status status = rows(R, C, m, out, workspace, bytes);
        free(workspace);
        if (bytes < least) {
            if (status != SMOOTH_WORKSPACE) return 3;
            continue;
        }
        if (status != SMOOTH_OK) return 4;
        if (bytes == least) memcpy(wanted, out, sizeof out);
        if (memcmp(wanted, out, sizeof out) != 0) return 5;
    }
    /* more threads than were measured for, and a call from within a parallel region */
    omp_set_num_threads(16);
    void *workspace = malloc(most);
    if (rows(R, C, m, out, workspace, most) != SMOOTH_OK || memcmp(wanted, out, sizeof out) != 0) return 6;
    int wrong = 0;
#pragma omp parallel for num_threads(3) reduction(+ : wrong)
    for (int k = 0; k < 6; k++) {
        double *own = malloc(sizeof out);
        void *room = malloc(most);
        wrong += rows(R, C, m, own, room, most) != SMOOTH_OK || memcmp(wanted, own, sizeof out) != 0;
        free(room);
        free(own);
    }
    free(workspace);
    return wrong == 0 ? 0 : 7;
}
";
    let folder = tempfile::tempdir().expect("a folder");
    let (file, binary) = (folder.path().join("rows.c"), folder.path().join("rows"));
    std::fs::write(&file, format!("{source}{main}")).expect("writes");
    let mut command = Command::new(tools::c_compiler());
    command.args([
        "-std=c99",
        "-g1",
        "-O0",
        "-fopenmp",
        "-DSMOOTH_WORTH=1e-3",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ]);
    tools::succeeds(command.arg("-o").arg(&binary).arg(&file).arg("-lm")).expect("compiles");
    tools::succeeds(&mut Command::new(&binary)).unwrap_or_else(|problem| panic!("{problem}\n{source}"));
}

#[test]
fn rounding_as_written_shares_no_sums() {
    let text = "let f (v: Vector<n>) = (vectorMap v exp, vectorSum v, ifold (fun m i -> max m v[i]) 0.0 (length v))";
    let options = Options { strict_fp: true, parallel: true, ..Options::default() };
    let source = smoothc::stack::with_large_stack(|| {
        let mut session = Session::new("f.smooth", text, options.clone());
        session.run_to("emit", &mut sources::open).expect("compiles");
        source(&session).to_string()
    });
    let text = body(&source, "f");
    // the sum and the maximum run in one loop
    assert!(!text.contains("SMOOTH_LANES_SUM") && !text.contains("double part_"), "{text}");
    assert_eq!(text.matches("SMOOTH_PARALLEL(parts)").count(), 1, "{text}");
}

#[test]
fn a_compiler_without_openmp_is_status_3() {
    if cfg!(not(unix)) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (cc, file) = (folder.path().join("plain-cc"), folder.path().join("f.smooth"));
    let script =
        "#!/bin/sh\nfor word in \"$@\"; do\n  if [ \"$word\" = -fopenmp ]; then echo unsupported >&2; exit 1; fi\ndone\nexec cc \"$@\"\n";
    std::fs::write(&cc, script).expect("writes");
    std::fs::write(&file, "let f (v: Vector<n>) = vectorMap v exp").expect("writes");
    let made = Command::new("chmod").arg("+x").arg(&cc).status();
    assert!(made.is_ok_and(|status| status.success()));
    for (options, status) in [(&["--parallel"][..], 3), (&[], 0)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_smoothc"));
        let output = command.arg("run").args(options).arg(&file).args(["f", "[0]"]).env("CC", &cc).output().expect("runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert_eq!(said.contains("E0903") && said.contains("plain-cc` has none"), status == 3, "{said}");
    }
}

#[test]
fn shared_loops_read_as_in_the_snapshots() {
    let read = |name: &str| std::fs::read_to_string(format!("{}/benches/{name}.smooth", env!("CARGO_MANIFEST_DIR"))).expect("UTF-8");
    let product = "let product (a: Matrix<r, c>) (b: Matrix<c, k>) : Matrix<r, k> = matrixMul a b\n\
                   let _room (t: Vector<c>) = ifold (fun s j -> s * 0.5 + t[length t - 1 - j]) 0 (length t)\n\
                   let smoothed (m: Matrix<r, c>) (keys: Array<Index, k>) : Double =\n  \
                   ifold (fun s i -> s + _room (vectorMap m[keys[i]] exp)) 0 (length keys)\n"
        .to_string();
    smoothc::stack::with_large_stack(|| {
        for (name, text, entries) in
            [("camera", read("camera"), &["cameraJacobian"][..]), ("product", product.clone(), &["product", "smoothed"])]
        {
            let session = compile(&format!("{name}.smooth"), &text, "default").unwrap_or_else(|problem| panic!("{problem}"));
            let source = source(&session);
            let texts: Vec<&str> = entries.iter().map(|entry| body(source, entry)).collect();
            let measures = source.split("\n\n").filter(|part| part.contains("_slice(") && part.contains("size_t smoothed_"));
            let is_part =
                |text: &&str| entries.iter().any(|entry| text.contains("SMOOTH_PART static ") && text.contains(&format!(" {entry}_part")));
            let parts = source.split("\n\n").filter(is_part);
            let text = measures.chain(parts).chain(texts).collect::<Vec<_>>().join("\n\n");
            snapshot::holds("parallel", name, &text);
        }
    });
}
