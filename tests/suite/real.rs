//! `--real f32`: emitted C and Futhark with floats compute what the interpreter does in doubles, to single precision.
//!
//! Every example runs under both schedules under sanitizers with buffers of exact size, and optimised in lanes. What is
//! emitted for one of the benchmarks is kept in `snapshots/real`.

use std::process::Command;

use smoothc::driver::{Options, Schedule, Session, Target};
use smoothc::real::Real;
use smoothc::toolchain::futhark::{self, compiler};

use crate::support::cases::Example;
use crate::support::engine::source;
use crate::support::native::Call;
use crate::support::{cases, engine, native, silent, snapshot, sources, tools};

/// What docs/language.md allows between engines, of the largest magnitude that the interpreter met.
const TOLERANCE: f64 = 1e-4;

fn compile(path: &str, text: &str, schedule: &str, target: Target, real: Real) -> Result<Session, String> {
    let schedule = Schedule::Named(schedule.into());
    let options = Options { schedule, target, real, header: "program.h".into(), ..Options::default() };
    let mut session = Session::new(path, text, options);
    match session.run_to("emit", &mut sources::open) {
        Ok(()) => Ok(session),
        Err(problems) => Err(sources::drawn(&problems, &session)),
    }
}

#[test]
fn floats_agree_with_the_interpreter() {
    let sanitizers = tools::has_sanitizers();
    if !sanitizers {
        tools::skipped(&format!("{} has no sanitizers here", tools::c_compiler()));
    }
    tools::each(&cases::all(), |example| {
        let known = engine::compile(&example.path, &example.text, "none", "types")?;
        for schedule in ["none", "default"] {
            let session = compile(&example.path, &example.text, schedule, Target::C, Real::F32)?;
            // lanes and stores past the caches are of what smoothc optimises
            agree(example, &known, &session, sanitizers, schedule == "default")
                .map_err(|problem| format!("{}, schedule {schedule}: {problem}", example.path))?;
        }
        Ok(())
    });
}

fn agree(example: &Example, known: &Session, session: &Session, sanitizers: bool, optimised: bool) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut tried = Vec::new();
    for case in &example.cases {
        // arguments that do not fit never reach an entry
        if let Ok(read) = engine::arguments(session, &case.entry, &case.words) {
            let inputs = engine::arguments(known, &case.entry, &case.words)?;
            tried.push((case, read, engine::interpret(known, &case.entry, &inputs.values)));
        }
    }
    let calls: Vec<Call> = tried.iter().map(|(case, read, _)| Call { entry: &case.entry, arguments: read }).collect();
    let text = native::program(session, &calls)?;
    let mut runs = Vec::new();
    if optimised || !sanitizers {
        runs.push(native::optimised(&text, session, &calls, folder.path())?);
        // as if no cache held a number
        let past = tempfile::tempdir().map_err(|error| error.to_string())?;
        runs.push(native::optimised(&format!("#define SMOOTH_CACHED_BYTES 0\n{text}"), session, &calls, past.path())?);
    }
    if sanitizers {
        runs.push(native::sanitized(&text, session, &calls, folder.path())?);
    }
    let mut wrong = Vec::new();
    for ((case, _, wanted), found) in runs.into_iter().flat_map(|run| tried.iter().zip(run)) {
        let problem = match (wanted, found) {
            (Ok(known), Ok(found)) => engine::difference_within(TOLERANCE, known, &found),
            (Err(wanted), Err(found)) if *wanted == engine::status_name(found) => None,
            (Ok(_), Err(found)) => Some(format!("fails with {}", engine::status_name(found))),
            (Err(wanted), found) => Some(format!("gives {found:?} and should fail with {wanted}")),
        };
        wrong.extend(problem.map(|problem| format!("{}: {problem}", case.line)));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

#[test]
fn floats_are_no_doubles_on_the_way() {
    tools::each(&cases::all(), |example| {
        for schedule in ["none", "default"] {
            let session = compile(&example.path, &example.text, schedule, Target::C, Real::F32)?;
            let code = source(&session).lines().skip_while(|line| !line.starts_with("size_t ")).filter(|line| line.starts_with("    "));
            let doubles: Vec<&str> =
                code.filter(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == "double")).collect();
            if !doubles.is_empty() {
                return Err(format!("{}, schedule {schedule}: doubles in\n{}", example.path, doubles.join("\n")));
            }
        }
        Ok(())
    });
}

/// Every primitive that has a spelling of its own in C, rooms of odd lengths next to one another, and tiles, also of rows that
/// indices choose.
const EVERYTHING: &str = "
let all (x: Double) (y: Double) : Double =
  min x y + max x y + abs x + sin x + cos x + tan x + asin (x / 9) + acos (x / 9) + atan x + sinh x + cosh x + tanh x + log x
  + exp x + sqrt x + atan2 x y + erf x + lgamma x + derivative lgamma x + log1p x + expm1 x + erfc x + asinh x
  + acosh (1 + x) + atanh (x / 9) + cbrt x + hypot x y + exp2 x + log2 x + log10 x + ceil y + round y + trunc y + sigmoid y + softplus y
  + sign y + floor y + x ** y + double (index y % 3)
let rooms (v: Vector<n>) (k: Index) : Vector<n> =
  let n = length v
  let w = vectorMap v (fun x -> if x > 1.5 then sqrt x else x * 3)
  let b = build n (fun i -> index (v[i] * 2.0))
  let u = build n (fun i -> w[(i + b[i]) % n] + w[(i * k) % n])
  build n (fun i -> u[n - 1 - i] * w[(b[i] + k) % n])
let rows (v: Vector<n>) : Matrix<n, 9> = build (length v) (fun i -> build 9 (fun j -> sin (v[i] * double j) + cos v[i]))
let chosen (X: Matrix<m, 4>) (k: Array<Index<m>, n>) (v: Vector<n>) : Matrix<n, 9> =
  build (length v) (fun i ->
    let a = X[k[i]][1]
    let b = X[k[i]][3] * v[i]
    [a, b, a * b, a + b, a - b, a * a, b * b, a * a * b, sin a * b])
let lanes (v: Vector<n>) : Double = vectorSum (vectorMap v (fun x -> exp (sin x) + log (2.0 + cos x) + (1.5 + x * x) ** x))
";

#[test]
fn every_primitive_has_its_float() {
    let example = Example {
        name: "everything".into(),
        path: "everything.smooth".into(),
        text: EVERYTHING.into(),
        cases: cases::from_lines(&[
            "run: all 1.25 2.75",
            "run: all 0.5 -0.75",
            "run: rooms [1.25, 2.5, 0.75] 2",
            "run: rooms [1.25, 2.5, 0.75, 4, 7] 1",
            "run: rows [0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75, 3, 3.25, 3.5, 3.75, 4, 4.25, 4.5, 4.75]",
            "run: lanes [0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75, 3, 3.25, 3.5, 3.75, 4, 4.25, 4.5, 4.75]",
            "run: chosen [[1, 2, 3, 4], [0.5, 0.25, 1, 0.75]] [1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 1] [1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]",
            "run: chosen [[1, 2, 3, 4]] [0] [1.5]",
            "run: chosen [[1, 2, 3, 4]] [] []",
            "fails: rooms [1e30, 1, 1] 2 with RANGE",
        ]),
    };
    let known = engine::compile(&example.path, &example.text, "none", "types").unwrap_or_else(|problem| panic!("{problem}"));
    for schedule in ["none", "default"] {
        let session = compile(&example.path, &example.text, schedule, Target::C, Real::F32).unwrap_or_else(|problem| panic!("{problem}"));
        let source = source(&session);
        assert!(source.contains("float X_columns[48];"), "{source}");
        assert_eq!(agree(&example, &known, &session, tools::has_sanitizers(), true), Ok(()), "{schedule}");
        assert_eq!(silent::files(session.emitted().expect("C")), Ok(()), "{schedule}");
    }
}

#[test]
fn floats_are_shared_among_threads() {
    if !tools::has_sanitizers() {
        tools::skipped(&format!("{} has no sanitizers here", tools::c_compiler()));
        return;
    }
    let options = Options { real: Real::F32, parallel: true, ..Options::default() };
    let mut session = Session::new("everything.smooth", EVERYTHING, options);
    assert!(session.run_to("emit", &mut sources::open).is_ok());
    assert_eq!(silent::files(session.emitted().expect("C")), Ok(()));
    let numbers = |count: usize| format!("[{}]", (0..count).map(|i| (0.25 + i as f64 / 64.0).to_string()).collect::<Vec<_>>().join(","));
    let words = [("rows", vec![numbers(50)]), ("lanes", vec![numbers(50)]), ("rooms", vec![numbers(21), "1".to_string()])];
    let arguments: Vec<_> = words.iter().map(|(entry, words)| engine::arguments(&session, entry, words).expect("fits")).collect();
    let calls: Vec<Call> = words.iter().zip(&arguments).map(|((entry, _), arguments)| Call { entry, arguments }).collect();
    let text = native::program(&session, &calls).expect("C");
    let folder = tempfile::tempdir().expect("a folder");
    let runs = native::parallel(&text, &session, &calls, folder.path(), &[(1, false), (3, false), (3, true)], false);
    let runs = runs.unwrap_or_else(|problem| panic!("{problem}"));
    let written = engine::compile("everything.smooth", EVERYTHING, "none", "types").unwrap_or_else(|problem| panic!("{problem}"));
    for ((entry, words), outcomes) in words.iter().zip(0..).map(|(call, at)| (call, runs.iter().map(move |run| &run[at]))) {
        let inputs = engine::arguments(&written, entry, words).expect("fits");
        let known = engine::interpret(&written, entry, &inputs.values).expect("a value");
        for outcome in outcomes {
            let found = outcome.as_ref().unwrap_or_else(|status| panic!("{entry}: status {status}"));
            assert_eq!(engine::difference_within(TOLERANCE, &known, found), None, "{entry}");
        }
    }
}

#[test]
fn floats_and_doubles_go_into_one_translation_unit() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = String::new();
    for (real, prefix) in [(Real::F32, "single_"), (Real::F64, "double_"), (Real::F32, "once_more_")] {
        let options = Options { real, prefix: prefix.into(), ..Options::default() };
        let mut session = Session::new("everything.smooth", EVERYTHING, options);
        assert!(session.run_to("emit", &mut sources::open).is_ok());
        text += source(&session);
    }
    let path = folder.path().join("all.c");
    std::fs::write(&path, text).expect("writes");
    for flags in [&["-std=c99"][..], &["-x", "c++"]] {
        let mut command = Command::new(tools::c_compiler());
        command.args(flags).args(silent::WARNINGS).args(["-DSMOOTH_SIMD", "-fopenmp-simd", "-O1", "-c", "-o"]);
        let done = tools::succeeds(command.arg(folder.path().join("all.o")).arg(&path));
        assert!(done.is_ok(), "{done:?}");
    }
}

#[test]
fn the_bytes_of_the_workspace_are_those_of_floats() {
    let text = "let f (v: Vector<n>) : Vector<n> = let n = length v in let w = build n (fun i -> sin v[i]) in build n (fun i -> w[n - 1 - i] * w[i])";
    let measure = |real| {
        let session = compile("f.smooth", text, "none", Target::C, real).unwrap_or_else(|problem| panic!("{problem}"));
        source(&session).lines().find(|line| line.contains("smooth_times(sizeof") && line.contains("return")).map(str::to_string)
    };
    assert_eq!(measure(Real::F64).as_deref(), Some("    return smooth_times(sizeof(double), n);"));
    assert_eq!(measure(Real::F32).as_deref(), Some("    return smooth_roundf(smooth_times(sizeof(float), n));"));
}

#[test]
fn futhark_in_single_precision_agrees_with_the_interpreter() {
    if !compiler::is_there() {
        tools::skipped("there is no Futhark compiler (FUTHARK, or `futhark` on the path)");
        return;
    }
    tools::each(&cases::all(), |example| {
        let known = engine::compile(&example.path, &example.text, "none", "types")?;
        let session = compile(&example.path, &example.text, "default", Target::Futhark, Real::F32)?;
        let file = session.emitted_futhark().map_err(|_| "nothing was emitted")?;
        let named = |problem: String| format!("{}: {problem}", example.path);
        let interfaces: Result<Vec<_>, _> = file.entries.iter().map(|(name, _)| session.futhark_interface(name)).collect();
        let interfaces = interfaces.map_err(|_| "no interface")?;
        let loaded = futhark::call::load(&file.source, "c", native::QUICK, interfaces, compiler::Limits::default());
        let loaded = loaded.map_err(|problem| named(problem.message))?;
        for case in &example.cases {
            let Ok(arguments) = engine::arguments(&session, &case.entry, &case.words) else { continue };
            let inputs = engine::arguments(&known, &case.entry, &case.words)?;
            let entry = file.entries.iter().position(|(name, _)| **name == *case.entry).ok_or("no entry")?;
            let found = loaded.try_call(entry, &arguments.values, &arguments.bindings);
            let problem = match (engine::interpret(&known, &case.entry, &inputs.values), found) {
                (Ok(known), Ok(found)) => engine::difference_within(TOLERANCE, &known, &found),
                (Err(_), Err(_)) => None,
                (Ok(_), Err(found)) => Some(format!("fails with {found:?}")),
                (Err(wanted), Ok(_)) => Some(format!("has a value, and should fail with {wanted}")),
            };
            if let Some(problem) = problem {
                return Err(named(format!("{}: {problem}", case.line)));
            }
        }
        Ok(())
    });
}

#[test]
fn floats_are_as_in_the_snapshots() {
    let quaternion = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/quaternion.smooth")).expect("UTF-8");
    let small =
        "/// The gradient of a sum of squares.\nlet f (v: Vector<n>) : Vector<n> = gradient (fun x -> vectorDot x x * 0.1 + sin x[0]) v\n";
    smoothc::stack::with_large_stack(|| {
        for (name, text, target, ending) in [("quaternion", &*quaternion, Target::C, "c"), ("squares", small, Target::Futhark, "fut")] {
            let session =
                compile(&format!("{name}.smooth"), text, "default", target, Real::F32).unwrap_or_else(|problem| panic!("{problem}"));
            snapshot::holds("real", &format!("{name}.{ending}"), &session.print("emit"));
        }
    });
}
