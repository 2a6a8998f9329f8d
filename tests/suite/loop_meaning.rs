//! What passes over loops must not change: results, statuses, and that nothing is read that was not written.
//!
//! Generated programs and their derivatives, without a C compiler: the loop program that no optional pass has changed is held
//! against the interpreter; then each pass alone and each beginning of the table of passes is held against that. Loops with marks
//! for lanes run backwards, shared loops in parts; plain arithmetic must not overflow, and the workspace that is measured must do,
//! but not one byte less. `SMOOTHC_CASES=n` for another number of programs, `SMOOTHC_SEED=n` for others.

use std::panic::{AssertUnwindSafe, catch_unwind};

use smoothc::cli::args::{self, Arguments};
use smoothc::cli::values::{from_flat, to_flat};
use smoothc::driver::{Options, Schedule, Session};
use smoothc::ir::eval as core;
use smoothc::loops::eval::{self, Call, Cell, Given, Outcome, TOO_LONG, WORKSPACE};
use smoothc::loops::program::{LoopFunction, LoopProgram, Role};
use smoothc::loops::{self, LOOP_PASSES, Need};
use smoothc::stack::with_large_stack;
use smoothc::toolchain::flat::{Column, Flat};
use smoothc::toolchain::sizes::Bindings;

use crate::generator::engine::{derived_name, differentiable, direction};
use crate::generator::random::Random;
use crate::generator::{asked, grow};

/// Which passes are left out, and how that is called.
type Without = (String, Vec<String>);

fn optional() -> Vec<&'static str> {
    LOOP_PASSES.iter().filter(|pass| pass.need == Need::Optional).map(|pass| pass.name).collect()
}

/// Each pass alone, and each beginning of the table.
fn choices() -> Vec<Without> {
    let names = optional();
    let others =
        |keep: &dyn Fn(usize) -> bool| names.iter().enumerate().filter(|(at, _)| !keep(*at)).map(|(_, name)| name.to_string()).collect();
    let alone = (0..names.len()).map(|at| (format!("{} alone", names[at]), others(&|other| other == at)));
    let up_to = (1..names.len()).map(|at| (format!("all up to {}", names[at]), others(&|other| other <= at)));
    alone.chain(up_to).collect()
}

fn cells(column: &Column) -> Vec<Cell> {
    match column {
        Column::Double(items) => items.iter().copied().map(Cell::Double).collect(),
        Column::Index(items) => items.iter().copied().map(Cell::Index).collect(),
        Column::Bool(items) => items.iter().copied().map(Cell::Bool).collect(),
        Column::Rolled(_) => panic!("loop programs have no values of recursive types"),
    }
}

/// What C would pass for these arguments; `None` where a length is not known.
fn given(function: &LoopFunction, params: &[smoothc::ir::Var], arguments: &Arguments) -> Option<Vec<Given>> {
    let is_size = |var: &smoothc::ir::Var| function.size_names.iter().any(|(size, _)| size == var);
    let passed = params.iter().zip(&arguments.values).filter(|(param, _)| !is_size(param));
    let mut columns = passed.flat_map(|(_, value)| value.columns.iter());
    let mut given = Vec::new();
    for param in &function.params {
        given.push(match &param.role {
            Role::Size => {
                let (var, _) = function.size_names.iter().find(|(_, id)| *id == param.id)?;
                Given::Cell(Cell::Index(arguments.bindings.get(var)?))
            }
            Role::Scalar => Given::Cell(*cells(columns.next()?).first()?),
            Role::Array(_) => Given::Array(cells(columns.next()?)),
            Role::OutScalar => Given::Out(1),
            Role::OutArray(dims) => {
                let lengths = dims.iter().map(|size| usize::try_from(arguments.bindings.size(size)?.max(0)).ok());
                Given::Out(lengths.collect::<Option<Vec<_>>>()?.into_iter().product())
            }
        });
    }
    Some(given)
}

fn close(a: &Cell, b: &Cell, scale: f64) -> bool {
    match (a, b) {
        (Cell::Double(a), Cell::Double(b)) => a == b || !a.is_finite() || (a - b).abs() <= 1e-9 * scale.max(1.0),
        (a, b) => a == b,
    }
}

/// Where two results differ; every element of a success is written.
fn difference(wanted: &[Vec<Cell>], found: &Outcome, scale: f64) -> Option<String> {
    for (at, (wanted, found)) in wanted.iter().zip(&found.results).enumerate() {
        if wanted.len() != found.len() {
            return Some(format!("result {at} has {} elements, not {}", found.len(), wanted.len()));
        }
        for (k, (wanted, found)) in wanted.iter().zip(found).enumerate() {
            match found {
                None => return Some(format!("element {k} of result {at} is not written")),
                Some(found) if !close(wanted, found, scale) => {
                    return Some(format!("element {k} of result {at} is {found:?}, not {wanted:?}"));
                }
                Some(_) => {}
            }
        }
    }
    None
}

/// How much was compared.
#[derive(Debug, Default)]
struct Counts {
    programs: usize,
    values: usize,
    statuses: usize,
    given_up: usize,
    unsupported: usize,
    refused: usize,
}

/// One call of an entry, with what the interpreter says of it.
struct Case {
    entry: String,
    given: Vec<Given>,
    words: Vec<String>,
    meaning: Result<Vec<Vec<Cell>>, i32>,
    scale: f64,
}

/// Lengths around those of lanes and of groups of rows.
const LENGTHS: [i64; 8] = [1, 4, 7, 8, 9, 16, 17, 19];

/// Arguments with large sizes; `None` where a length follows from none of them.
fn large(function: &smoothc::ir::Function, mut random: Random) -> Option<Arguments> {
    let mut bindings = Bindings::default();
    for size in &function.sizes {
        bindings.bind(size, *random.pick(&LENGTHS));
    }
    let mut values = Vec::new();
    for param in &function.params {
        let shape = bindings.shape(param.ty())?;
        let mut columns = Vec::new();
        for (column, length) in shape.columns()? {
            columns.push(match column {
                Column::Double(_) => Column::Double((0..length).map(|_| random.below(17) as f64 / 4.0 - 2.0).collect()),
                Column::Index(_) => Column::Index((0..length).map(|_| random.below(5) as i64).collect()),
                Column::Bool(_) => Column::Bool((0..length).map(|_| random.below(2) == 0).collect()),
                Column::Rolled(_) => return None,
            });
        }
        let value = Flat { shape, columns };
        bindings.observe(param, &value);
        values.push(value);
    }
    Some(Arguments { bindings, values })
}

/// A call of an entry by words, or with large arguments.
type Asked = (String, Option<Vec<String>>);

/// Cases of calls by words, or of large arguments.
fn cases(typed: &Session, session: &Session, calls: &[Asked], seed: u64) -> Vec<Case> {
    let mut cases = Vec::new();
    for (at, (entry, words)) in calls.iter().enumerate() {
        let (Some(function), Some(lowered)) =
            (session.program.functions.get(entry.as_str()), session.loops.functions.iter().find(|function| *function.name == *entry))
        else {
            continue;
        };
        let read = words.as_ref().map(|words| args::read(function, words).ok());
        let Some(arguments) = read.unwrap_or_else(|| large(function, Random::new(seed + at as u64))) else { continue };
        let Some(given) = given(lowered, &function.params, &arguments) else { continue };
        let values = || arguments.values.iter().map(from_flat).collect();
        // the magnitudes that are met without any law of real numbers
        let scale = core::eval(&typed.program, entry, values()).map_or(1.0, |outcome| outcome.trace.largest);
        let meaning = match core::eval(&session.program, entry, values()) {
            Ok(outcome) => Ok(to_flat(&outcome.value).columns.iter().map(cells).collect()),
            Err(error) => match error.status() {
                Some(status) => Err(status as i32),
                None => continue,
            },
        };
        let words = words.clone().unwrap_or_else(|| vec!["with large arguments".to_string()]);
        cases.push(Case { entry: entry.clone(), given, words, meaning, scale });
    }
    cases
}

/// An error may go with a value that nobody needs, which lowering does not compute: the passes then keep that there is none.
fn without_error(program: &LoopProgram, case: &mut Case) {
    if case.meaning.is_err()
        && let Ok(Outcome { status: 0, results, .. }) = eval::call(program, &case.entry, &case.given, Call { threads: 1, short: 0 })
        && let Some(results) = results.into_iter().map(|result| result.into_iter().collect()).collect()
    {
        case.meaning = Ok(results);
    }
}

/// What is wrong with a program after some passes, if anything.
fn check(program: &LoopProgram, case: &Case, threads: i64, counts: &mut Counts) -> Result<(), String> {
    let at = |problem: String| format!("{} {}, {threads} threads: {problem}", case.entry, case.words.join(" "));
    let outcome = match eval::call(program, &case.entry, &case.given, Call { threads, short: 0 }) {
        Ok(outcome) => outcome,
        Err(problem) if problem == TOO_LONG => {
            counts.given_up += 1;
            return Ok(());
        }
        Err(problem) => return Err(at(problem)),
    };
    match &case.meaning {
        Err(status) if outcome.status == *status => counts.statuses += 1,
        Ok(wanted) if outcome.status == 0 => match difference(wanted, &outcome, case.scale) {
            None => counts.values += 1,
            Some(difference) => return Err(at(difference)),
        },
        meaning => return Err(at(format!("status {}, not {:?}", outcome.status, meaning.as_ref().err().unwrap_or(&0)))),
    }
    if outcome.measured > 0 && outcome.status == 0 && threads == 1 {
        let short = eval::call(program, &case.entry, &case.given, Call { threads, short: 1 }).map_err(at)?;
        if short.status != WORKSPACE {
            return Err(at(format!("status {} with one byte less than {}", short.status, outcome.measured)));
        }
    }
    Ok(())
}

/// A generated program and its derivative.
fn generated(seed: u64, counts: &mut Counts) -> Result<(), String> {
    let program = grow::with_extremes(seed, &format!("f{seed}"), false);
    let derivative = differentiable(&program);
    let derive: Vec<_> = derivative.iter().map(|(_, text)| smoothc::types::Derive::parse(text).expect("a derivative")).collect();
    let schedule = if seed.is_multiple_of(3) { "none" } else { "default" };
    let options = Options { schedule: Schedule::Named(schedule.into()), derive, parallel: seed % 2 == 1, ..Options::default() };
    let entry = program.entry().name.to_string();
    let calls = |typed: &Session| {
        let mut calls = Vec::new();
        for words in &program.inputs {
            calls.push((entry.clone(), Some(words.clone())));
            if let Some((at, _)) = &derivative {
                let mut words = words.clone();
                words.push(direction(&words[*at]));
                calls.push((derived_name(&typed.program, &entry, "jvp"), Some(words)));
            }
        }
        calls
    };
    held(&program.text(), options, &calls, seed, counts)
}

/// A program through all choices of passes, with calls of its entries.
fn held(text: &str, options: Options, calls: &dyn Fn(&Session) -> Vec<Asked>, seed: u64, counts: &mut Counts) -> Result<(), String> {
    let parallel = options.parallel;
    let algebra = matches!(&options.schedule, Schedule::Named(name) if name == "default");
    let mut typed = Session::new("program.smooth", text, options.clone());
    let mut session = Session::new("program.smooth", text, options);
    let said =
        |problems: smoothc::diagnostic::Diagnostics| problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join("; ");
    if typed.run_to("types", &mut |_, _| Err(String::new())).is_err() {
        // a literal index that is out of bounds is an error before anything runs
        counts.refused += 1;
        return Ok(());
    }
    if let Err(problems) = session.run_to("lower", &mut |_, _| Err(String::new())) {
        counts.unsupported += usize::from(problems.iter().all(|problem| problem.code == "E0601"));
        return if problems.iter().all(|problem| problem.code == "E0601") { Ok(()) } else { Err(said(problems)) };
    }
    let mut cases = cases(&typed, &session, &calls(&typed), seed);
    counts.programs += 1;
    let none = ("no pass".to_string(), optional().iter().map(|name| name.to_string()).collect());
    for (name, disabled) in std::iter::once(none).chain(choices()) {
        let options = loops::Options { algebra, parallel, eager: seed % 5 == 4, disabled, ..loops::Options::default() };
        let made = match loops::optimise(session.loops.clone(), &options) {
            Ok(made) => made,
            Err(problems) if problems.iter().all(|problem| problem.code == "E0601") => {
                counts.unsupported += 1;
                return Ok(());
            }
            Err(problems) => return Err(format!("{name}: {}", said(problems))),
        };
        if name == "no pass" {
            cases.iter_mut().for_each(|case| without_error(&made, case));
        }
        for case in &cases {
            for threads in if parallel { 1..=3 } else { 1..=1 } {
                check(&made, case, threads, counts).map_err(|problem| {
                    let printed = loops::print::program(&made);
                    format!("{name}: {problem}\n{text}\n{printed}")
                })?;
            }
        }
    }
    Ok(())
}

#[test]
fn passes_keep_results_and_statuses() {
    let count = asked::number("SMOOTHC_CASES").unwrap_or(60);
    let first = asked::number("SMOOTHC_SEED").unwrap_or(0);
    asked::say(&format!("{count} programs: SMOOTHC_SEED={first}"));
    with_large_stack(|| {
        let mut counts = Counts::default();
        let mut failures = Vec::new();
        for seed in first..first + count {
            let result = catch_unwind(AssertUnwindSafe(|| generated(seed, &mut counts))).unwrap_or_else(|_| Err("a panic".into()));
            if let Err(problem) = result {
                failures.push(format!("seed {seed}: {problem}"));
            }
        }
        println!("{counts:?}");
        failures.sort_by_key(String::len);
        assert!(
            failures.is_empty(),
            "{} of {count} programs; {}",
            failures.len(),
            failures.iter().take(3).cloned().collect::<Vec<_>>().join("\n")
        );
        assert!((counts.refused + counts.unsupported) * 20 <= counts.programs.max(20), "too many programs are refused: {counts:?}");
        assert!(counts.values > 100 * counts.programs / 10 && counts.given_up * 20 < counts.values, "little was compared: {counts:?}");
    });
}

/// Ends, checks, windows, functions of sums, rows in lanes, tiles, sine, branches, sums at an index, rooms and calls.
const PROGRAM: &str = "
let ends (v: Vector<n>) (k: Index) : Vector =
  build (length v) (fun i -> (if i = 0 then v[i] else v[i - 1]) + v[k] * (if i < length v - 1 then v[i + 1] else 2.0))
let layer (a: Matrix<m, n>) (v: Vector<n>) : Vector = build m (fun i -> tanh (vectorDot a[i] v))
let times (a: Matrix<m, n>) (v: Vector<n>) : Vector = matrixVectorMul a v
let window (v: Vector<n>) (w: Vector<m>) : Vector =
  build (length v - length w + 1) (fun i -> vectorSum (build (length w) (fun j -> v[i + j] * w[j])))
let turns (c: Vector<m>) (x: Vector<n>) : Double =
  vectorSum (build n (fun i -> ifold (fun s j -> sin s * x[i] + 0.5 * s * c[j] - exp c[j]) x[i] m))
let sinc (v: Vector<n>) : Vector = build (length v) (fun i -> if v[i] = 0.0 then 1.0 else sin v[i] / v[i])
let powers (v: Vector<n>) (w: Vector<n>) : Matrix =
  build n (fun i -> let p = v[i] * w[i] in let q = v[i] + w[i] in
    [p; p * q; p * p; p * p * q; q * q * p; q * q * q; p * q + q; p + q * q; p * p * p; q * p * q + p])
let spread (k: Array<Index, n>) (v: Vector<n>) : Vector = gradient (fun c -> vectorSum (build n (fun i -> v[i] * c[abs k[i] % 5]))) (vectorFill 5 1.0)
let scaled (v: Vector<n>) (a: Double) : Vector = let t = build n (fun i -> exp (v[i] * a)) in build n (fun i -> t[i] / vectorSum t)
let norms (a: Matrix<m, n>) : Vector = build m (fun i -> vectorNorm (scaled a[i] 0.5))
let kept (v: Vector<n>) (a: Double) : Double = ifold (fun s i -> if v[i] > a then s + v[i] else s) 0.0 n
let steps (v: Vector<n>) (k: Index) : Vector = ifold (fun u i -> build (length v) (fun j -> u[j] * 0.5 + v[j])) v (abs k)
";

/// Chains of products with matrices, in a loop over samples.
const NETWORK: &str = "
let layer (a: Matrix<m, n>) (v: Vector<n>) : Vector<m> = build m (fun i -> tanh (vectorDot a[i] v))
let outputs (a: Matrix<m, n>) (b: Matrix<m, m>) (x: Matrix<p, n>) : Matrix = build p (fun i -> layer b (layer a x[i]))
let perceptron (a: Matrix<m, n>) (b: Matrix<m, m>) (x: Matrix<p, n>) : Double =
  vectorSum (build p (fun i -> logSumExp (layer b (layer a x[i]))))
let perceptronSlopes (a: Matrix<m, n>) (b: Matrix<m, m>) (x: Matrix<p, n>) : Double * (Matrix<m, n> * Matrix<m, m>) =
  valueAndGradient (fun (a, b) -> perceptron a b x) (a, b)
";

/// Rows that a loop changes in place: each reads a row of another place, beside what all rows read, has as many numbers as the state
/// says, or adds to an element that it reads.
fn rows() -> String {
    let mut text = String::new();
    let places = ["i", "0", "m - 1 - i", "i / 2"];
    for (p, place) in places.iter().enumerate() {
        for (r, read) in places.iter().enumerate() {
            text += &format!(
                "let sums_{p}_{r} (a: Matrix<m, n>) (w: Vector<n>) : Matrix =\n  ifold (fun a i -> update a ({place}) (update a[{place}] (n - 1) \
                 (ifold (fun s k -> s + a[{read}][k] * w[k]) 0.5 n))) a m\n\
                 let adds_{p}_{r} (a: Matrix<m, n>) (b: Matrix<m, n>) : Matrix =\n  ifold (fun a i -> ifold (fun a k -> \
                 update a ({place}) (accumulate a[{place}] k (b[i][k] * a[{read}][k] * 0.25))) a n) a m\n"
            );
        }
    }
    text + "let longer (a: Matrix<m, 9>) (w: Vector<9>) (v: Vector<m>) : Vector * Index =\n  ifold (fun (t, c) i -> \
            (update t i (ifold (fun s k -> s + a[i][k] * w[k]) 0.0 (c % 5 + 4)), c + 1)) (v, 0) m\n\
            let squares (a: Matrix<m, n>) (w: Vector<n>) : Double = ifold (fun s i -> let t = vectorDot a[i] w in s * 0.5 + t * t) 0.0 m\n\
            let below (a: Matrix<n, n>) : Matrix = ifold (fun a j -> ifold (fun a r -> let i = j + 1 + r in update a i (update a[i] j \
            (ifold (fun s k -> s - a[i][k] * a[j][k] * 0.25) a[i][j] j))) a (n - j - 1)) a n\n"
}

#[test]
fn passes_keep_results_of_what_they_look_for() {
    with_large_stack(|| {
        let mut counts = Counts::default();
        let rows = rows();
        // the network's seed has passes apply wherever they may: `strip_mine` in blocks of two iterations
        let runs = [
            (PROGRAM, "default", false, 7),
            (PROGRAM, "none", false, 7),
            (PROGRAM, "default", true, 7),
            (NETWORK, "default", false, 9),
            (&rows, "default", false, 11),
        ];
        for (program, schedule, parallel, seed) in runs {
            let options = Options { schedule: Schedule::Named(schedule.into()), parallel, ..Options::default() };
            let calls = |typed: &Session| {
                let names = typed.program.functions.values().filter(|function| function.is_entry).map(|function| function.name.to_string());
                names.flat_map(|name| std::iter::repeat_n((name, None), 3)).collect()
            };
            held(program, options, &calls, seed, &mut counts).unwrap_or_else(|problem| panic!("{schedule}, {parallel}: {problem}"));
        }
        println!("{counts:?}");
        assert!(
            counts.values > 1000 && counts.statuses > 20 && counts.refused + counts.unsupported == 0,
            "little was compared: {counts:?}"
        );
    });
}
