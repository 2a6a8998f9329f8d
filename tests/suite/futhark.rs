//! Emitted Futhark against the interpreter, through the real compiler.
//!
//! Every example, in the schedules `none` and `default`, is accepted without a warning, is laid out as the formatter lays it
//! out, and has the interpreter's values and errors, as written by `futhark c` and optimised by `futhark multicore`; its
//! derivatives by `futhark c` are those that Futhark itself takes of the emitted primal. So are generated programs, ten to a file:
//! sixty by default, `SMOOTHC_FUTHARK_PROGRAMS=n` for another number, `SMOOTHC_SEED=n` for others.
//!
//! The compiler is `FUTHARK` or `futhark` on the path; without one these tests say that they were skipped.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use serde::{Deserialize, Serialize};
use smoothc::driver::{Options, Schedule, Session, Target};
use smoothc::ir::{Type, Var};
use smoothc::real::Real;
use smoothc::toolchain::compiler::{Arithmetic, Mode};
use smoothc::toolchain::flat::{Column, Flat};
use smoothc::toolchain::futhark::BACKENDS;
use smoothc::toolchain::futhark::call::{self, Failure, Loaded};
use smoothc::toolchain::futhark::compiler::{self, Limits};
use smoothc::toolchain::futhark::shim::Interface;

use crate::generator::engine::{Counts, With, check_all};
use crate::generator::program::Program;
use crate::generator::shrink::shrink;
use crate::generator::{asked, grow};
use crate::support::cases::{Example, Wanted};
use crate::support::{apart, cases, engine, tools};

const LIMITS: Limits = Limits { seconds: 120, megabytes: 2048 };

/// Whether there is a compiler; says so once for each test when there is none.
fn compiler_is_there() -> bool {
    let there = compiler::is_there();
    assert!(there || std::env::var_os("FUTHARK").is_none(), "FUTHARK names no compiler that runs");
    if !there {
        tools::skipped("there is no Futhark compiler (FUTHARK, or `futhark` on the path)");
    }
    there
}

/// The backends that run here: those that need no device, and those whose device is here and adds up; says so once of the others.
/// OpenCL is not among them: by pocl, Futhark 0.25 gives other values for texts that are right by CUDA.
fn backends() -> &'static [&'static str] {
    static HERE: OnceLock<Vec<&str>> = OnceLock::new();
    HERE.get_or_init(|| {
        let text = "let total (v: Vector<n>) = vectorSum v";
        let runs = |backend: &&str| {
            let session = engine::compile_for(Target::Futhark, "total.smooth", text, "none", "emit").expect("is emitted");
            let arguments = engine::arguments(&session, "total", &["[1, 2, 4]".into()]).expect("fits");
            let loaded = load(source(&session), &session, backend, Vec::new());
            let found = loaded.map(|loaded| loaded.try_call(0, &arguments.values, &arguments.bindings));
            matches!(found, Ok(Ok(found)) if engine::doubles(&found) == [7.0])
        };
        let (here, missing): (Vec<&str>, Vec<&str>) = ["cuda", "hip"].into_iter().partition(runs);
        if !missing.is_empty() {
            tools::skipped(&format!("there is no device for {}", missing.join(", ")));
        }
        ["c", "multicore"].into_iter().chain(here).collect()
    })
}

/// Every schedule and every backend once, since the Futhark compiler takes its time: `default` by `c` is in the tests of derivatives, of
/// generated programs and of the command.
fn ways() -> impl Iterator<Item = (&'static str, &'static str)> {
    let with_rules = backends().iter().filter(|backend| **backend != "c");
    std::iter::once(("none", "c")).chain(with_rules.map(|backend| ("default", *backend)))
}

fn emitted(example: &Example, schedule: &str) -> Result<Session, String> {
    engine::compile_for(Target::Futhark, &example.path, &example.text, schedule, "emit")
}

fn source(session: &Session) -> &str {
    &session.emitted_futhark().expect("it was emitted").source
}

fn load(source: &str, session: &Session, backend: &str, more: Vec<Interface>) -> Result<Loaded, String> {
    let entries = &session.emitted_futhark().map_err(|_| "nothing was emitted")?.entries;
    let own = entries.iter().map(|(source, name)| Interface::new(name, &session.program.functions[source]));
    call::load(source, backend, Mode { quick: true, ..Mode::default() }, own.chain(more).collect(), LIMITS)
        .map_err(|problem| problem.message)
}

#[test]
fn the_compiler_accepts_every_example_without_a_warning() {
    if !compiler_is_there() {
        return;
    }
    let formats = Command::new(compiler::command_name()).args(["fmt", "--help"]).output().is_ok_and(|output| output.status.success());
    tools::each(&cases::all(), |example| {
        for schedule in ["none", "default"] {
            let session = emitted(example, schedule)?;
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            let named = |problem: String| format!("{}, schedule {schedule}: {problem}", example.path);
            let said =
                compiler::run(source(&session), &["check", "--Werror"], folder.path(), LIMITS).map_err(|problem| named(problem.message))?;
            if !said.is_empty() {
                return Err(named(said));
            }
            if formats {
                compiler::run(source(&session), &["fmt"], folder.path(), LIMITS).map_err(|problem| named(problem.message))?;
                let kept = std::fs::read_to_string(folder.path().join("program.fut")).map_err(|error| error.to_string())?;
                let differs = source(&session).lines().zip(kept.lines()).find(|(ours, theirs)| ours != theirs);
                if kept != source(&session) {
                    return Err(named(format!("the formatter writes it otherwise: {differs:?}")));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn every_example_agrees_with_the_interpreter() {
    if !compiler_is_there() {
        return;
    }
    tools::each(&cases::all(), |example| {
        let known = engine::compile(&example.path, &example.text, "none", "types")?;
        for (schedule, backend) in ways() {
            let named = |problem: String| format!("{}, schedule {schedule}, {backend}: {problem}", example.path);
            let session = emitted(example, schedule)?;
            let loaded = load(source(&session), &session, backend, Vec::new()).map_err(named)?;
            for case in &example.cases {
                // arguments that do not fit never reach an entry
                let Ok(arguments) = engine::arguments(&session, &case.entry, &case.words) else { continue };
                let inputs = engine::arguments(&known, &case.entry, &case.words)?;
                let wanted = engine::interpret(&known, &case.entry, &inputs.values);
                let found = loaded.try_call(number(&session, &case.entry), &arguments.values, &arguments.bindings);
                let problem = match (wanted, found) {
                    (Ok(known), Ok(found)) => engine::difference(&known, &found),
                    (Err(wanted), Err(Failure::Status(found))) if wanted == engine::status_name(found as i32) => None,
                    (Err(wanted), Err(found)) => Some(format!("fails with {found:?}, not {wanted}")),
                    (Err(wanted), Ok(_)) => Some(format!("has a value, and should fail with {wanted}")),
                    (Ok(_), Err(found)) => Some(format!("fails with {found:?}")),
                };
                if let Some(problem) = problem {
                    return Err(named(format!("{}: {problem}", case.line)));
                }
            }
        }
        Ok(())
    });
}

/// The place of an entry in the file.
fn number(session: &Session, entry: &str) -> usize {
    let entries = &session.emitted_futhark().expect("it was emitted").entries;
    entries.iter().position(|(source, _)| **source == *entry).expect("an entry")
}

#[test]
fn derivatives_are_those_that_futhark_takes_of_the_primal() {
    if !compiler_is_there() {
        return;
    }
    tools::each(&cases::all(), |example| {
        let session = emitted(example, "default")?;
        let mut text = source(&session).to_string();
        let (mut more, mut compared) = (Vec::new(), Vec::new());
        for case in &example.cases {
            let Wanted::Differences { of, parameter } = &case.wanted else { continue };
            let function = session.entry(of).map_err(|_| "no entry")?;
            let at = function.params.iter().position(|param| **param.name() == **parameter).ok_or("no parameter")?;
            let forward = format!("forward_{}", compared.len());
            let tangent = Var::fresh("tangent", function.params[at].ty().clone());
            text.push_str(&own_derivative(&text, of, at, &forward, "jvp"));
            let params = function.params.iter().cloned().chain([tangent]).collect();
            more.push(Interface { name: forward, params, result: function.result.clone(), real: Real::F64 });
            // Futhark takes no vjp of a loop that data ends
            let has_reverse = function.result == Type::Double && !source(&session).contains(" while ");
            if has_reverse {
                let reverse = format!("reverse_{}", compared.len());
                text.push_str(&own_derivative(&text, of, at, &reverse, "vjp"));
                more.push(Interface {
                    name: reverse,
                    params: function.params.clone(),
                    result: function.params[at].ty().clone(),
                    real: Real::F64,
                });
            }
            compared.push((case, at, has_reverse));
        }
        if compared.is_empty() {
            return Ok(());
        }
        let named = |problem: String| format!("{}: {problem}", example.path);
        let loaded = load(&text, &session, "c", more).map_err(named)?;
        let mut next = session.emitted_futhark().map_err(|_| "nothing was emitted")?.entries.len();
        let known = engine::compile(&example.path, &example.text, "none", "types")?;
        for (case, at, has_reverse) in compared {
            let inputs = engine::arguments(&known, &case.entry, &case.words)?;
            let largest = engine::interpret(&known, &case.entry, &inputs.values)?.largest;
            let arguments = engine::arguments(&session, &case.entry, &case.words)?;
            let ours = loaded.try_call(number(&session, &case.entry), &arguments.values, &arguments.bindings);
            let ours = engine::doubles(&ours.map_err(|failure| named(format!("{failure:?}")))?);
            // sizes of the primal have its own names
            let Wanted::Differences { of, .. } = &case.wanted else { continue };
            let arguments = engine::arguments(&session, of, &case.words)?;
            let theirs =
                own_values(&loaded, next, &arguments.values, at, &arguments.bindings).map_err(|failure| named(format!("{failure:?}")))?;
            next += 1;
            let mut all = vec![("jvp", theirs)];
            if has_reverse {
                let found = loaded.try_call(next, &arguments.values, &arguments.bindings);
                all.push(("vjp", engine::doubles(&found.map_err(|failure| named(format!("{failure:?}")))?)));
                next += 1;
            }
            for (how, theirs) in all {
                let agree = ours.len() == theirs.len() && ours.iter().zip(&theirs).all(|(a, b)| engine::close(*a, *b, 1e-9, largest));
                if !agree {
                    return Err(named(format!("{}: {ours:?}, and by {how} {theirs:?}", case.line)));
                }
            }
        }
        Ok(())
    });
}

/// An entry that takes Futhark's own derivative of an emitted one in a parameter.
fn own_derivative(text: &str, of: &str, at: usize, name: &str, how: &str) -> String {
    let start = text.find(&format!("entry {of} ")).expect("the primal is emitted");
    let head = &text[start + "entry ".len() + of.len()..];
    let head: String = head[..head.find(" =\n").expect("a head")].split_whitespace().collect::<Vec<_>>().join(" ");
    let (params, result) = head.rsplit_once(" : ").expect("a result");
    let names: Vec<&str> = params.split('(').skip(1).map(|param| param.split(':').next().expect("a name")).collect();
    let types: Vec<&str> =
        params.split('(').skip(1).map(|param| param.split(": ").nth(1).expect("a type").trim_end_matches([')', ' '])).collect();
    let mut passed: Vec<&str> = names.clone();
    passed[at] = "point";
    let function = format!("(\\point -> {of} {})", passed.join(" "));
    match how {
        "jvp" => format!("\nentry {name}{params} (tangent: {}) : {result} =\n  jvp {function} {} tangent\n", types[at], names[at]),
        _ => format!("\nentry {name}{params} : {} =\n  vjp {function} {} 1.0\n", types[at], names[at]),
    }
}

/// The derivatives of each element of the result in each element of the parameter, by one tangent at a time.
fn own_values(
    loaded: &Loaded,
    entry: usize,
    arguments: &[Flat],
    at: usize,
    bindings: &smoothc::toolchain::sizes::Bindings,
) -> Result<Vec<f64>, Failure> {
    let count = arguments[at].columns[0].len();
    let mut columns = Vec::new();
    for i in 0..count {
        let hot = Column::Double((0..count).map(|j| if i == j { 1.0 } else { 0.0 }).collect());
        let tangent = Flat { shape: arguments[at].shape.clone(), columns: vec![hot] };
        let arguments: Vec<Flat> = arguments.iter().cloned().chain([tangent]).collect();
        columns.push(engine::doubles(&loaded.try_call(entry, &arguments, bindings)?));
    }
    let rows = columns.first().map_or(0, Vec::len);
    Ok((0..rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect())
}

/// What Futhark moves out of loops or folds in another way than it computes.
const MOVED_AND_FOLDED: &str = "
let quotients (k: Index) (w: Vector<n>) = vectorMap w (fun x -> x * double (7 / k))
let firsts (v: Vector<m>) (w: Vector<n>) = build (length w) (fun i -> w[i] * v[0])
let total (v: Vector<m>) (w: Vector<n>) = ifold (fun s i -> s + w[i] * v[0]) 1.0 (length w)
let corners (v: Vector<m>) (k: Index) = build k (fun i -> vectorSum (build 3 (fun j -> v[j + 5])))
let tails (v: Vector<m>) (k: Index) = ifold (fun t i -> build 3 (fun j -> v[j + 5])) (build 3 (fun j -> 0.0)) k
let hots (v: Vector<n>) (u: Vector<m>) =
  ifold (fun t i -> vectorSlice (vectorHot (length t + 1) (length u)) 1 (length t)) (build (length v) (fun i -> 0.0)) (length u % 4)
let heads (M: Matrix<n, m>) = vectorSum (build (length M) (fun i -> vectorMax M[i]))
let column (M: Matrix<n, m>) (j: Index) = (build (length M) (fun i -> M[i][j]), ifold (fun s i -> s * M[i][j] + 1.0) 2.0 (length M))
let parts (n: Index) (k: Index) = (build n (fun i -> i / k), build n (fun i -> build n (fun j -> i % k + j)))
let part (n: Index) (k: Index) = ifold (fun s i -> 2 * s + i % k) 1 n
let twice (M: Matrix<n, m>) = matrixMap M (fun r -> vectorMap r (fun x -> sin x))
let remainder (k: Index) (v: Vector<n>) = vectorHot (length v) ((k % k) * k)
let power (y: Double) (v: Vector<n>) = vectorSum (vectorMap v (fun x -> 0.0)) ** y
let replaced (v: Vector<n>) (y: Double) = build n (fun i -> vectorSum (update v 0 (y * v[i])))
let added (v: Vector<n>) (u: Vector<m>) (k: Index) = ifold (fun s i -> s + vectorSum (accumulate u k v[i])) 0.5 n
";

#[test]
fn what_no_step_needs_does_not_fail() {
    if !compiler_is_there() {
        return;
    }
    let calls: [(&str, &[&str]); 27] = [
        ("heads", &["[]"]),
        ("heads", &["[[]]"]),
        ("heads", &["[[1, 2]]"]),
        ("column", &["[]", "3"]),
        ("column", &["[[1, 2]]", "1"]),
        ("parts", &["0", "0"]),
        ("parts", &["3", "2"]),
        ("part", &["0", "0"]),
        // Futhark's scheduler left a task behind, and closing the library waited for it
        ("twice", &["[]"]),
        ("twice", &["[[], []]"]),
        ("quotients", &["0", "[]"]),
        ("quotients", &["0", "[1]"]),
        ("quotients", &["2", "[1]"]),
        ("firsts", &["[]", "[]"]),
        ("firsts", &["[]", "[1]"]),
        ("total", &["[]", "[]"]),
        ("corners", &["[]", "0"]),
        ("tails", &["[]", "0"]),
        ("hots", &["[-1.25, 0, 0.75]", "[-2, -0.25, -1.5, 3]"]),
        ("remainder", &["4", "[1, 2]"]),
        ("power", &["0", "[1, 2]"]),
        ("power", &["2", "[1, 2]"]),
        ("replaced", &["[]", "0.5"]),
        ("replaced", &["[1, 2]", "0.5"]),
        ("added", &["[]", "[1, 2]", "9"]),
        ("added", &["[1]", "[1, 2]", "1"]),
        ("added", &["[1]", "[1, 2]", "9"]),
    ];
    as_interpreted(MOVED_AND_FOLDED, &calls);
}

/// Checks of sizes and counts in places that are reached only sometimes.
const CHECKED_IN_BRANCHES: &str = "
let dots (v: Vector<n>) (w: Vector<m>) (b: Bool) = if b then vectorDot v w else 1.0
let sums (v: Vector<n>) (w: Vector<m>) (b: Bool) = if b then vectorAdd v w else v
let both (v: Vector<n>) (w: Vector<m>) (b: Bool) = b && vectorDot v w > 0.0
let steps (v: Vector<n>) (w: Vector<m>) (b: Bool) = ifold (fun s i -> if b then s + vectorDot v w else s) 0.0 3
let elements (v: Vector<n>) (w: Vector<m>) (b: Bool) = build 3 (fun i -> if i = 1 && b then vectorDot v w else double i)
let nested (v: Vector<n>) (w: Vector<m>) (b: Bool) = if b then (if length v > 1 then vectorDot v w else 2.0) else 1.0
let lengths (v: Vector<n>) (w: Vector<m>) (b: Bool) =
  if b then ifold (fun s i -> s + w[i]) 0.0 (length (vectorAdd v w)) else 0.0
let whole (v: Vector<n>) (w: Vector<m>) (b: Bool) = let s = vectorAdd v w in if b then vectorSum s else 0.0
let counts (v: Vector<n>) (k: Index) (b: Bool) = ifold (fun s i -> if b then s + v[i] else s) 0.0 k
let position (v: Vector<n>) (i: Index<n>) (b: Bool) = if b then v[i] else 0.0
";

#[test]
fn what_is_needed_fails_wherever_it_stands() {
    if !compiler_is_there() {
        return;
    }
    let mut calls: Vec<(&str, &[&str])> = Vec::new();
    for entry in ["dots", "sums", "both", "steps", "elements", "nested", "lengths", "whole"] {
        calls.push((entry, &["[1]", "[2, 3]", "true"]));
        calls.push((entry, &["[1, 2]", "[3]", "true"]));
        calls.push((entry, &["[1, 2]", "[3]", "false"]));
        calls.push((entry, &["[1, 2]", "[3, 4]", "true"]));
    }
    for words in [&["[1]", "-1", "false"], &["[1]", "-1", "true"], &["[1]", "1", "true"], &["[1]", "0", "false"]] {
        calls.push(("counts", words));
    }
    calls.push(("position", &["[1]", "0", "false"]));
    as_interpreted(CHECKED_IN_BRANCHES, &calls);
}

/// Indices of records, and tags, are checked at an entry in whatever part of an argument they are.
#[test]
fn indices_inside_of_arguments_are_checked() {
    if !compiler_is_there() {
        return;
    }
    let text = "\
type Pick<n> = { at: Index<n>; row: Vector<n> }
type Shape = | Circle of Double | Box of Double * Double
let picked (p: Pick<n>) = if p.row[0] > 1.0 then p.row[p.at] else 0.0
let unread (p: Pick<n>) = p.row[0]
let area (s: Shape) = match s with Circle r -> r * r | Box (a, b) -> a * b
let areas (s: Array<Shape, n>) = length s
let others (p: Array<Index<2> * Double, n>) = build n (fun i -> snd p[i])
";
    let calls = [
        ("picked", r#"{"at": 0, "row": [2, 3]}"#),
        ("unread", r#"{"at": 0, "row": [1, 3]}"#),
        ("area", r#"{"Circle": 2}"#),
        ("areas", r#"[{"Circle": 2}, {"Circle": 2}]"#),
        ("others", "[[0, 1.5], [1, 2.5]]"),
    ];
    smoothc::stack::with_large_stack(|| {
        for (schedule, backend) in ways() {
            let session = engine::compile_for(Target::Futhark, "program.smooth", text, schedule, "emit").expect("is emitted");
            let loaded = load(source(&session), &session, backend, Vec::new()).unwrap_or_else(|problem| panic!("{problem}"));
            for ((entry, valid), last) in calls.iter().flat_map(|call| [-1, 0, 1, 2].map(|last| (call, last))) {
                let mut arguments = engine::arguments(&session, entry, &[valid.to_string()]).expect("fits");
                match arguments.values[0].columns.first_mut() {
                    Some(Column::Index(indices)) => *indices.last_mut().expect("an index") = last,
                    other => panic!("{entry}: {other:?}"),
                }
                match (loaded.try_call(number(&session, entry), &arguments.values, &arguments.bindings), (0..2).contains(&last)) {
                    (Ok(_), true) => {}
                    (Err(Failure::Status(found)), false) => {
                        assert_eq!(engine::status_name(found as i32), "RANGE", "{entry} {last} {schedule} {backend}")
                    }
                    (found, _) => panic!("{entry} {last} {schedule} {backend}: {:?}", found.map(|_| ())),
                }
            }
        }
    });
}

/// Names that Futhark has, tuples wherever they may stand, empty arrays, long functions, nested derivatives.
#[test]
fn odd_programs_agree_with_the_interpreter() {
    if !compiler_is_there() {
        return;
    }
    let text = include_str!("support/odd.smooth");
    let calls = text.lines().filter_map(|line| line.strip_prefix("// > ")).map(|call| call.split(' ').collect::<Vec<_>>());
    let calls: Vec<Vec<&str>> = calls.collect();
    let calls: Vec<(&str, &[&str])> = calls.iter().filter_map(|call| call.split_first().map(|(entry, words)| (*entry, words))).collect();
    as_interpreted(text, &calls);
}

/// What Futhark's compiler stops at with an error of its own unless it is written in another way.
const MINDED: &str = "
let _rows (M: Matrix<m, n>) (w: Vector<n>) (N: Matrix<m, n>) =
  (build (length M) (fun i -> vectorDot M[i] w), build (length M) (fun i -> vectorDot N[i] w))
let longer (v: Vector<n>) (x: Double) =
  let (a, b) =
    if x > 1.0 then
      let p = build (length v + 1) (fun i -> x)
      (p, build (length v + 1) (fun i -> 0.0))
    else _rows (build (length v + 1) (fun i -> v)) v (build (length v + 1) (fun i -> v))
  vectorSum a + vectorSum b
";

#[test]
fn what_the_compiler_minds_is_written_otherwise() {
    if !compiler_is_there() {
        return;
    }
    as_interpreted(MINDED, &[("longer", &["[1, 2]", "0"]), ("longer", &["[]", "2"])]);
}

/// Folds by operations that are associative, and some that look so.
const ASSOCIATIVE: &str = "
let every (v: Vector<n>) (b: Bool) = ifold (fun c i -> c && v[i] > 0.0) b (length v)
let some (v: Vector<n>) (b: Bool) = ifold (fun c i -> v[i] > 1.0 || c) b (length v)
let beyond (v: Vector<n>) (b: Bool) = ifold (fun c i -> c && v[i + 1] > 0.0) b (length v)
let first (v: Vector<n>) (b: Bool) = ifold (fun c i -> v[i + 1] > 0.0 && c) b (length v)
let guarded (v: Vector<n>) (b: Bool) = ifold (fun c i -> c && (i + 1 < length v && v[i + 1] > 0.0)) b (length v)
let parity (v: Vector<n>) (b: Bool) = ifold (fun c i -> c <> (v[i] > 1.0)) b (length v)
let same (v: Vector<n>) (b: Bool) = ifold (fun c i -> (v[i] > 1.0) = c) b (length v)
let mixed (v: Vector<n>) (b: Bool) =
  ifold (fun (s, p, lo, hi, c, d, e) i -> (s + v[i], v[i] * p, min lo v[i], max hi v[i], c && v[i] > 0.0, v[i] > 1.0 || d, e = b)) (1.0, 2.0, 10.0, -10.0, true, b, b) (length v)
let counted (v: Vector<n>) (b: Bool) =
  ifold (fun (s, k, m) i -> if v[i] > 0.0 && b then (s - v[i], k + 1, min m i) elif b then (s - 1.0, k, m) else (s, k, m)) (0.5, length v, 3) (length v)
let chosen (v: Vector<n>) (b: Bool) = ifold (fun c i -> if v[i] > 0.0 then c && v[i] < 2.0 else c && b) true (length v)
let kept (v: Vector<n>) (b: Bool) = ifold (fun m i -> if v[i] > 1.0 then max m v[i] else m) (0.0 / 0.0) (length v)
let least (v: Vector<n>) (b: Bool) = ifold (fun m i -> min (min m (index v[i])) i) 9223372036854775807 (length v)
";

#[test]
fn reductions_agree_with_folds() {
    if !compiler_is_there() {
        return;
    }
    let mut calls: Vec<(&str, &[&str])> = Vec::new();
    let entries = ["every", "some", "beyond", "first", "guarded", "parity", "same", "mixed", "counted", "chosen", "kept", "least"];
    for entry in entries {
        for words in [&["[]", "true"], &["[]", "false"], &["[1]", "true"], &["[2]", "false"], &["[-1]", "true"]] {
            calls.push((entry, words));
        }
        calls.push((entry, &["[0.5, 1.5, -2, 3, 4]", "true"]));
        calls.push((entry, &["[3, 2, 1.5, 0.25]", "true"]));
        calls.push((entry, &["[3, 2, 1.5]", "false"]));
    }
    as_interpreted(ASSOCIATIVE, &calls);
}

/// Lengths that loops over Indexes compute: of results, of elements, of nothing, and as numbers.
const LENGTHS: &str = "
let powers (n: Index) (k: Index) (x: Double) = build (ifold (fun s i -> 2 * s + i) 1 n) (fun i -> x * double i)
let grid (n: Index) (k: Index) (x: Double) = (build k (fun i -> build (ifold (fun s i -> 3 * s) 1 n) (fun j -> x)), ifold (fun s i -> 3 * s) 1 n)
let rec _double (n: Index) (m: Index) : Index = if n <= 0 then m else _double (n - 1) (2 * m)
let rec _triple (n: Index) : Index = if n = 0 then 1 else 3 * _triple (n - 1)
let table (n: Index) (k: Index) (x: Double) = (build (_double k 1) (fun i -> build (_triple n) (fun j -> x + double (i * j))), _triple n)
let rows (n: Index) (k: Index) (x: Double) =
  vectorSum (build k (fun i -> let v = build (ifold (fun s j -> s + j) i n) (fun j -> x) in vectorSum (build (length v) (fun j -> v[length v - 1 - j] * v[j]))))
let rec _fib (n: Index) : Index = if n < 2 then n else _fib (n - 1) + _fib (n - 2)
let states (n: Index) (k: Index) (x: Double) =
  let (a, b) = ifold (fun (a, b) i -> (b + k, a + b)) (0, 1) n
  let (m, y) = ifold (fun (m, y) i -> (2 * m, sin y)) (1, x) k
  let v = build (a + b + m) (fun i -> y + double i)
  build b (fun i -> build (_fib k) (fun j -> v[i] + v[a + b + m - 1 - j]))
let gridSlope (n: Index) (k: Index) (x: Double) = jacobian (fun x -> fst (grid n k x)) x
";

#[test]
fn lengths_that_loops_compute_are_known() {
    if !compiler_is_there() {
        return;
    }
    let mut calls: Vec<(&str, &[&str])> = Vec::new();
    for entry in ["powers", "grid", "table", "rows", "states", "gridSlope"] {
        for words in [&["0", "0", "0.5"], &["3", "0", "0.5"], &["2", "3", "0.5"], &["-1", "2", "0.5"], &["-1", "0", "0.5"]] {
            calls.push((entry, words));
        }
    }
    as_interpreted(LENGTHS, &calls);
}

/// Sums over steps that go in chunks, or collect at places: arrays and numbers, in loops, beside what is no sum.
const SUMS: &str = "
let _loss (W: Matrix<h, d>) (v: Vector<h>) (b: Double) (x: Matrix<n, d>) : Double =
  vectorSum (build n (fun i -> let z = vectorDot v (vectorMap (matrixVectorMul W x[i]) tanh) in log (1.0 + exp z) + b * z))
let slopes (W: Matrix<h, d>) (v: Vector<h>) (b: Double) (x: Matrix<n, d>) =
  gradient (fun (W, v, b) -> _loss W v b x) (W, v, b)
let steps (W: Matrix<h, d>) (v: Vector<h>) (b: Double) (x: Matrix<n, d>) =
  ifold (fun p i -> let (V, w, c) = gradient (fun (W, v, b) -> _loss W v b x) p in
    (build h (fun j -> build d (fun k -> 0.9 * V[j][k])), build h (fun j -> w[j] - 1.0), c / 2.0)) (W, v, b) 2
let columns (W: Matrix<h, d>) (v: Vector<h>) (b: Double) (x: Matrix<n, d>) =
  ifold (fun s i -> build d (fun j -> s[j] + b * x[i][j])) (build d (fun j -> double j)) n
let pairs (W: Matrix<h, d>) (v: Vector<h>) (b: Double) (x: Matrix<n, d>) =
  ifold (fun (s, t) i -> let y = vectorSum x[i] in
    (ifold (fun s j -> accumulate s j (build d (fun k -> y - double (i * k)))) s h, accumulate (accumulate t 0 y) 1 (b * y))) (W, [b, 1.0]) n
let rows (W: Matrix<h, d>) (v: Vector<h>) (b: Double) (x: Matrix<n, d>) =
  ifold (fun s i -> if x[i][0] > b then accumulate s 0 x[i] else s) W n
let places (W: Matrix<h, d>) (v: Vector<h>) (b: Double) (x: Matrix<n, d>) =
  let total = ifold (fun s i -> let k = index (abs x[i][0]) in accumulate s (k % 7) (x[i][0] * b)) (build 5 (fun j -> v[0])) n
  (total, ifold (fun s i -> accumulate s i total[i % 5]) total 5, v)
let kept (W: Matrix<h, d>) (v: Vector<h>) (b: Double) (x: Matrix<n, d>) =
  let u = ifold (fun (s, t) i -> (accumulate s (i % 2) b, accumulate t (i % 2) s[0])) (v, v) n
  let w = ifold (fun s i -> accumulate (accumulate s (i % 2) (fst u)[0]) 0 v[0]) v n
  (w, u, v)
";

#[test]
fn sums_over_steps_are_the_interpreters() {
    if !compiler_is_there() {
        return;
    }
    let number = |k: usize| ((k * 37 % 101) as f64 - 50.0) / 16.0;
    let matrix = |rows: usize, columns: usize| {
        let row = |i: usize| (0..columns).map(|j| number(i * columns + j).to_string()).collect::<Vec<_>>().join(", ");
        format!("[{}]", (0..rows).map(|i| format!("[{}]", row(i))).collect::<Vec<_>>().join(", "))
    };
    let mut words: Vec<[String; 4]> = Vec::new();
    for n in [0, 1, 31, 64, 100, 333] {
        words.push([matrix(2, 3), "[0.5, -0.25]".to_string(), "0.75".to_string(), matrix(n, 3)]);
    }
    words.push([matrix(0, 3), "[]".to_string(), "0.75".to_string(), matrix(70, 3)]);
    let words: Vec<Vec<&str>> = words.iter().map(|words| words.iter().map(String::as_str).collect()).collect();
    let mut calls: Vec<(&str, &[&str])> = Vec::new();
    for entry in ["slopes", "steps", "columns", "pairs", "rows", "places", "kept"] {
        calls.extend(words.iter().map(|words| (entry, words.as_slice())));
    }
    as_interpreted(SUMS, &calls);
}

/// Steps that add to several elements at indices from data: a gradient, JᵀJ with Jᵀr, and histograms of two dimensions.
const SCATTERS: &str = "let products (c: Vector<n>) (k: Array<Index<n>, m>) (l: Array<Index<n>, m>) (y: Vector<m>) : Vector<n> =
  gradient (fun c -> ifold (fun s i -> let e = c[k[i]] * c[l[i]] - y[i] in s + e * e) 0.0 (length k)) c

let normal (c: Vector<n>) (k: Array<Index<n>, m>) (l: Array<Index<n>, m>) (y: Vector<m>) : Matrix<n, n> * Vector<n> =
  let f (c: Vector<n>) = build m (fun i -> y[i] * (c[k[i]] - c[l[i]]))
  let J = jacobian f c
  (matrixMul (matrixTranspose J) J, matrixVectorMul (matrixTranspose J) (f c))

let twice (c: Vector<n>) (k: Array<Index<n>, m>) (l: Array<Index<n>, m>) (y: Vector<m>) : Vector<n> * Vector<n> =
  let once (s: Vector<n> * Vector<n>) (k: Array<Index<n>, m>) (l: Array<Index<n>, m>) = ifold (fun (a, b) i -> (accumulate (accumulate a k[i] y[i]) l[i] 0.5, accumulate b l[i] (y[i] * c[k[i]]))) s m
  once (once (c, c) k l) l k

let table (c: Vector<n>) (k: Array<Index<n>, m>) (l: Array<Index<n>, m>) (y: Vector<m>) : Matrix<n, n> =
  build n (fun r -> build n (fun t -> ifold (fun s i -> if r == k[i] then (if t == l[i] then s + y[i] * c[t] else s) else s) 1.0 m))
";

#[test]
fn scatters_are_parallel_and_the_interpreters() {
    let session = engine::compile_for(Target::Futhark, "program.smooth", SCATTERS, "default", "emit").expect("is emitted");
    assert!(!source(&session).contains("loop "), "{}", source(&session));
    if !compiler_is_there() {
        return;
    }
    let words: [[&str; 4]; 4] = [
        ["[0.5, -1.5, 2]", "[0, 2, 2, 1, 0]", "[1, 1, 0, 2, 2]", "[1, 0.25, -2, 4, 0.5]"],
        ["[0.5]", "[0, 0]", "[0, 0]", "[1, 3]"],
        ["[3, 4]", "[]", "[]", "[]"],
        ["[]", "[]", "[]", "[]"],
    ];
    let calls: Vec<(&str, &[&str])> =
        ["products", "normal", "twice", "table"].iter().flat_map(|entry| words.iter().map(|words| (*entry, words.as_slice()))).collect();
    as_interpreted(SCATTERS, &calls);
}

/// Scatters at indices that the program computes, and as many as data says.
const COMPUTED_PLACES: &str = "
let spread (v: Vector<n>) (k: Index) (x: Double) = ifold (fun a i -> accumulate a (i * k) x) v n
let tallies (v: Vector<n>) (k: Index) = histogram (build n (fun i -> i * k)) v n
let steps (v: Vector<n>) (x: Double) = ifold (fun a i -> accumulate a i x) v (index x)
";

#[test]
fn indices_that_scatters_compute_are_checked() {
    if !compiler_is_there() {
        return;
    }
    let calls: [(&str, &[&str]); 8] = [
        ("spread", &["[1, 3]", "1", "0.5"]),
        ("spread", &["[1, 3]", "2", "0.5"]),
        ("spread", &["[]", "2", "0.5"]),
        ("tallies", &["[1, 3]", "1"]),
        ("tallies", &["[1, 3]", "2"]),
        ("steps", &["[1, 3]", "2"]),
        ("steps", &["[1, 3]", "3"]),
        ("steps", &["[1, 3]", "-1"]),
    ];
    as_interpreted(COMPUTED_PLACES, &calls);
}

/// Where a step of reverse mode copied an array, a gradient took time in the product of the lengths.
#[test]
fn gradients_copy_nothing_in_their_loops() {
    for file in ["mlp", "mixture", "rnn", "heat", "arm", "bodies", "maximum"] {
        let path = format!("{}/benches/{file}.smooth", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("reads");
        let session = engine::compile_for(Target::Futhark, "bench.smooth", &text, "default", "emit").expect("is emitted");
        assert!(!source(&session).contains("copy"), "{file}:\n{}", source(&session));
    }
}

/// Compares calls of a program's entries with the interpreter, values and errors, through the backends on which Futhark moves things.
fn as_interpreted(text: &str, calls: &[(&str, &[&str])]) {
    smoothc::stack::with_large_stack(|| {
        let known = engine::compile("program.smooth", text, "none", "types").unwrap_or_else(|problem| panic!("{problem}"));
        for (schedule, backend) in ways() {
            let session = engine::compile_for(Target::Futhark, "program.smooth", text, schedule, "emit").expect("is emitted");
            let loaded = match load(source(&session), &session, backend, Vec::new()) {
                Ok(loaded) => loaded,
                Err(problem) if problem.contains("Internal compiler error") && !matches!(backend, "c" | "multicore") => {
                    tools::skipped(&format!("by {backend}, {schedule}: the Futhark compiler stops with an internal error"));
                    continue;
                }
                Err(problem) => panic!("{problem}"),
            };
            for (entry, words) in calls {
                let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
                let inputs = engine::arguments(&known, entry, &words).expect("fits");
                let arguments = engine::arguments(&session, entry, &words).expect("fits");
                let wanted = engine::interpret(&known, entry, &inputs.values);
                // errors, too, leave the library as it was for the next call
                let found = loaded.try_call(number(&session, entry), &arguments.values, &arguments.bindings);
                match (wanted, found) {
                    (Ok(wanted), Ok(found)) => {
                        assert_eq!(engine::difference(&wanted, &found), None, "{entry} {words:?} {schedule} {backend}")
                    }
                    (Err(wanted), Err(Failure::Status(found))) => {
                        assert_eq!(wanted, engine::status_name(found as i32), "{entry} {words:?} {schedule} {backend}")
                    }
                    (Err(_), Ok(found)) if engine::has_no_elements(&found) => {}
                    (wanted, found) => panic!("{entry} {words:?} {schedule} {backend}: {:?}, not {:?}", found, wanted.map(|_| ())),
                }
            }
        }
    });
}

/// Programs of seeds in a row, through one backend: what a process of its own compares, since compiled code may crash.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Batch {
    seed: u64,
    count: u64,
    wild: bool,
    backend: String,
}

/// What was compared, and for each failure the program's number, its kind and what went wrong.
type Report = (Counts, Vec<(usize, String, String)>);

const BATCH: u64 = 10;
const BATCH_SETTING: &str = "SMOOTHC_FUTHARK_BATCH";

impl Batch {
    fn programs(&self) -> Vec<Program> {
        (0..self.count).map(|k| grow::program(self.seed + k, &format!("f{k}"), self.wild)).collect()
    }

    /// In this process.
    fn compare(&self) -> Report {
        let mut counts = Counts::default();
        let backend = BACKENDS.iter().find(|backend| **backend == self.backend).expect("a backend");
        let with = With::Futhark(backend);
        let failures = smoothc::stack::with_large_stack(|| check_all(&self.programs(), with, &mut counts));
        (counts, failures.into_iter().map(|(at, failure)| (at, failure.kind, failure.detail)).collect())
    }

    /// In a process of its own; what it said where it crashed.
    fn compare_apart(&self) -> Result<Report, String> {
        let mut command = apart::command(module_path!(), "generated_programs_agree_with_the_interpreter");
        let setting = serde_json::to_string(self).expect("is written");
        let output = command.env(BATCH_SETTING, setting).output().expect("runs");
        let said = String::from_utf8_lossy(&output.stdout);
        let report = said.lines().find_map(|line| serde_json::from_str(line.split_once("report: ")?.1).ok());
        report.ok_or_else(|| format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
    }

    /// In a process of its own, and where that crashes each program alone.
    fn failures(&self, counts: &mut Counts) -> Vec<(u64, String, String)> {
        match self.compare_apart() {
            Ok((found, failures)) => {
                counts.add(&found);
                failures.into_iter().map(|(at, kind, detail)| (self.seed + at as u64, kind, detail)).collect()
            }
            Err(said) if self.count == 1 => vec![(self.seed, "crash".to_string(), said)],
            Err(said) => {
                let alone = (0..self.count).map(|k| Batch { seed: self.seed + k, count: 1, ..self.clone() });
                let found: Vec<_> = alone.flat_map(|batch| batch.failures(counts)).collect();
                let together = || vec![(self.seed, "crash".to_string(), format!("{said}, but of no program alone"))];
                if found.is_empty() { together() } else { found }
            }
        }
    }
}

#[test]
fn generated_programs_agree_with_the_interpreter() {
    if let Ok(batch) = std::env::var(BATCH_SETTING) {
        let batch: Batch = serde_json::from_str(&batch).expect("a batch");
        println!("report: {}", serde_json::to_string(&batch.compare()).expect("is written"));
        return;
    }
    if !compiler_is_there() {
        return;
    }
    let setting = |name: &str, default: u64| asked::number(name).unwrap_or(default);
    let (count, first) = (setting("SMOOTHC_FUTHARK_PROGRAMS", 60), setting("SMOOTHC_SEED", 0));
    asked::say(&format!("{count} programs through Futhark: SMOOTHC_SEED={first}"));
    let total = Mutex::new(Counts::default());
    let failing: Mutex<BTreeMap<String, Vec<(u64, Program)>>> = Mutex::new(BTreeMap::new());
    let batches: Vec<u64> = (0..count.div_ceil(BATCH)).collect();
    tools::each(&batches, |number| {
        let (seed, left) = (first + number * BATCH, count - number * BATCH);
        // by the seed, so that a part of a range is what it is in the whole
        let wild = seed / BATCH % 3 == 2;
        // `multicore` and a device have every fourth batch each
        let backend = backends().get(4 - (seed / BATCH % 4) as usize).unwrap_or(&"c").to_string();
        let batch = Batch { seed, count: BATCH.min(left), wild, backend };
        let mut counts = Counts::default();
        let failures = batch.failures(&mut counts);
        total.lock().expect("no panic").add(&counts);
        for (seed, kind, detail) in failures {
            // in case that a smaller one crashes
            eprintln!("seed {seed}: {kind}: {detail}");
            let program = grow::program(seed, "f", wild);
            failing.lock().expect("no panic").entry(kind).or_default().push((seed, program));
        }
        Ok(())
    });
    let total = total.into_inner().expect("no panic");
    println!("{count} programs: {total:?}");
    let mut text = String::new();
    for (kind, programs) in failing.into_inner().expect("no panic") {
        let with = if kind.starts_with("futhark") { With::Futhark("c") } else { With::Interpreter };
        let of_kind = |program: &Program| {
            let found = check_all(std::slice::from_ref(program), with, &mut Counts::default());
            found.into_iter().find(|(_, failure)| failure.kind == kind).map(|(_, failure)| failure.detail)
        };
        let smallest = programs.iter().map(|(_, program)| program).min_by_key(|program| program.size()).expect("one at least");
        // what crashes would take this process along
        let (small, detail) = if kind.starts_with("crash") {
            (smallest.clone(), format!("inputs {:?}", smallest.inputs))
        } else {
            smoothc::stack::with_large_stack(|| {
                let steps = setting("SMOOTHC_SHRINK", 30) as usize;
                let small = shrink(smallest.clone(), steps, &mut |candidate| of_kind(candidate).is_some());
                let detail = of_kind(&small).unwrap_or_default();
                (small, detail)
            })
        };
        let seeds: Vec<u64> = programs.iter().map(|(seed, _)| *seed).collect();
        text.push_str(&format!("── {kind}: seeds {seeds:?}\n{}\n{detail}\n", small.text()));
    }
    assert!(text.is_empty(), "\n{count} programs from SMOOTHC_SEED={first}\n{text}");
    // what no result needs need not fail; how often that is varies from range to range
    assert!(total.vanished * 3 <= total.errors.max(30), "too many errors are gone: {total:?}");
}

#[test]
fn the_command_runs_and_builds_futhark() {
    if !compiler_is_there() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let command = |words: &[&str]| {
        let root = env!("CARGO_MANIFEST_DIR");
        let mut command = Command::new(env!("CARGO_BIN_EXE_smoothc"));
        let output = command.args(words).current_dir(root).output().expect("runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (status, out, said) = command(&["run", "--target", "futhark", "examples/tour.smooth", "sideways", "[1, [2, true]]"]);
    assert_eq!((status, out.as_str()), (Some(0), "[2.0, true, 1.0]\n"), "{said}");
    let (status, _, said) = command(&["run", "--target", "futhark", "examples/tour.smooth", "clock", "[1, 2, 3]", "3"]);
    assert_eq!(status, Some(1));
    assert!(said.starts_with("error[E0701]: "), "{said}");
    for name in ["sum.so", "sum.a", "sum.o"] {
        let path = folder.path().join(name);
        let (status, _, said) = command(&["build", "--target", "futhark", "examples/vector_sum.smooth", "-o", &path.to_string_lossy()]);
        assert_eq!(status, Some(0), "{said}");
        assert!(path.is_file() && std::fs::read_to_string(path.with_extension("h")).expect("a header").contains("futhark_entry_total"));
    }
}

#[test]
fn rounding_as_written_reaches_the_c_compiler() {
    if !compiler_is_there() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("product.smooth");
    std::fs::write(&path, "let f (x: Double) (y: Double) (z: Double) = x * y - z\n").expect("writes");
    let run = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_smoothc"));
        command.args(["run", "--target", "futhark"]).args(options).arg(&path);
        // x * y is 1 + 2^-29 + 2^-60, and z that without its last bit
        let output =
            command.args(["f", "1.000000000931322574615478515625", "1.000000000931322574615478515625", "1.00000000186264514923095703125"]);
        let output = output.output().expect("runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_string()
    };
    assert_eq!(run(&["--strict-fp"]), "0.0");
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("fma") {
        assert_eq!(run(&[]).parse(), Ok(2.0_f64.powi(-60)));
    }
}

/// What Futhark's own simplifier knows to be zero, and what it would make of that.
const ZEROS: &str = "
let quotient (x: Double) = 0.0 / x
let bound (x: Double) = let z = sin 0.0 in (z / x, [z / x, 2.0 * z / x])
let elements (x: Double) = build 2 (fun i -> vectorSum (vectorZeros 3) / x + (vectorZeros 2)[i] / x)
let sum (x: Double) = (1.0 / (x + 0.0), 1.0 / (0.0 + x), 1.0 / (x - 0.0), 1.0 / (0.0 - x), 1.0 / (1.0 * x))
let product (x: Double) = (0.0 * x, x * 0.0, x - x, x / x)
let loops (x: Double) = ifold (fun s i -> s / x) 0.0 3
let _over (x: Double) (y: Double) = x / y
let called (x: Double) = (_over 0.0 x, _over 1.0 x)
let compared (x: Double) = if 0.0 / x = 0.0 then 1.0 else 2.0
let powers (x: Double) = (x ** 0.0, 0.0 ** x, 1.0 ** x, x ** 1.0)
let _after (i: Index) : Index = i + 2
let placed (x: Double) = update [x, 1.0, 2.0] (_after (length [x]) % 3) 0.5
";

#[test]
fn strict_arithmetic_is_the_interpreters_bit_for_bit() {
    if !compiler_is_there() {
        return;
    }
    smoothc::stack::with_large_stack(|| {
        let known = engine::compile("program.smooth", ZEROS, "none", "types").unwrap_or_else(|problem| panic!("{problem}"));
        for (schedule, backend) in ways() {
            let options =
                Options { schedule: Schedule::Named(schedule.into()), target: Target::Futhark, strict_fp: true, ..Options::default() };
            let mut session = Session::new("program.smooth", ZEROS, options);
            session.run_to("emit", &mut |_, _| Err("no files".into())).expect("is emitted");
            let entries = &session.emitted_futhark().expect("it was emitted").entries;
            let own = entries.iter().map(|(source, name)| Interface::new(name, &session.program.functions[source])).collect();
            let loaded = call::load(source(&session), backend, Arithmetic::Strict, own, LIMITS)
                .unwrap_or_else(|problem| panic!("{}", problem.message));
            for (entry, _) in entries {
                for word in ["0", "-0.0", "2.5", "-3", "1e400", "-1e400", "1e-320", "0.1"] {
                    let words = [word.to_string()];
                    let inputs = engine::arguments(&known, entry, &words).expect("fits");
                    let arguments = engine::arguments(&session, entry, &words).expect("fits");
                    let wanted = engine::interpret(&known, entry, &inputs.values).expect("a value");
                    let found = loaded.try_call(number(&session, entry), &arguments.values, &arguments.bindings).expect("a value");
                    let bits =
                        |values: &[f64]| values.iter().map(|value| if value.is_nan() { 1 } else { value.to_bits() }).collect::<Vec<_>>();
                    let (wanted, found) = (engine::doubles(&wanted.value), engine::doubles(&found));
                    assert_eq!(bits(&wanted), bits(&found), "{entry} {word} {schedule} {backend}: {found:?}, not {wanted:?}");
                }
            }
        }
    });
}

#[test]
fn long_functions_compile_within_the_limits() {
    if !compiler_is_there() {
        return;
    }
    let mut source = String::from("let chain (x: Double) : Double =\n");
    for k in 0..400 {
        let before = if k == 0 { "x".to_string() } else { format!("y{}", k - 1) };
        source.push_str(&format!("  let y{k} = sin {before} * 0.5 + {k}.0\n"));
    }
    source.push_str("  y399 + y3\n");
    smoothc::stack::with_large_stack(|| {
        let known = engine::compile("chain.smooth", &source, "none", "types").unwrap_or_else(|problem| panic!("{problem}"));
        for schedule in ["none", "default"] {
            let session = engine::compile_for(Target::Futhark, "chain.smooth", &source, schedule, "emit").expect("is emitted");
            let loaded = load(self::source(&session), &session, "c", Vec::new()).unwrap_or_else(|problem| panic!("{problem}"));
            let arguments = engine::arguments(&session, "chain", &["0.3".into()]).expect("fits");
            let inputs = engine::arguments(&known, "chain", &["0.3".into()]).expect("fits");
            let wanted = engine::interpret(&known, "chain", &inputs.values).expect("a value");
            let found = loaded.try_call(0, &arguments.values, &arguments.bindings).expect("a value");
            assert_eq!(engine::difference(&wanted, &found), None, "{schedule}");
        }
    });
}

/// Lengths that take many operations: types have their names, which end with the step, the branch or the element that computes them.
const LONG_LENGTHS: &str = "
let rows (v: Vector<n>) (k: Index) : Double =
  let m = build 4 (fun i -> let p = (min k 100 + 9) / 10 in build p (fun j -> v[0] + double (i * j)))
  vectorSum m[2]
let twice (v: Vector<n>) (k: Index) : Double =
  let p = (min k 100 + 9) / 10
  let a = build p (fun i -> double i * v[0])
  let q = (min k 100 + 9) / 10
  vectorSum (build q (fun i -> a[i] * 2.0))
let choose (v: Vector<n>) (k: Index) : Double =
  let p = max 1 (min k 100 / 3)
  let a = if k > 3 then build p (fun i -> double i * v[0]) else build p (fun i -> v[0])
  vectorSum (ifold (fun (s: Vector<m>) t -> build m (fun i -> s[i] * 2.0)) a 3)
let nested (v: Vector<n>) (k: Index) : Double =
  ifold (fun s t -> let p = (min (k + t) 100 + 9) / 10 in s + vectorSum (build p (fun i -> v[0] + s))) 0.0 3
let _sum (k: Index) (x: Double) : Double = let p = (min k 100 + 9) / 10 in vectorSum (build p (fun i -> x * double i))
let many (v: Vector<n>) (k: Index) : Double = vectorSum (build n (fun i -> _sum (k + i) v[i]))
";

#[test]
fn long_lengths_have_names() {
    if !compiler_is_there() {
        return;
    }
    let arguments = ["0", "1", "7", "25", "1000"].map(|k| ["[1.5, 2]", k]);
    let entries = ["rows", "twice", "choose", "nested", "many"];
    let calls: Vec<(&str, &[&str])> = entries.iter().flat_map(|entry| arguments.iter().map(|given| (*entry, given.as_slice()))).collect();
    as_interpreted(LONG_LENGTHS, &calls);
}
