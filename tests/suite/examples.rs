//! Every `examples/*.smooth` is a test: dropping a file there is all it takes.
//!
//! Its cases (see `support/cases.rs`) are run by the interpreter, as C under the schedules `none` and `default` under sanitizers
//! with buffers of exact size, and under `default` with the flags of `smoothc run`, and compared with each other and with
//! what the head comment says; derivatives are held against differences; and the stages are kept in `snapshots/examples`.
//! That compilers accept the C without a word is in `compilers.rs`. After a change that is meant to change the stages:
//!
//!     INSTA_UPDATE=always cargo test --test suite examples::
//!
//! `examples/evaluated/*.smooth` have values of recursive types: only the interpreter runs them, and emission says so.

use smoothc::driver::{Session, Target};
use smoothc::source::Span;
use smoothc::toolchain::call;
use smoothc::toolchain::compiler::Mode;

use crate::support::cases::{Case, Example, Wanted};
use crate::support::native::Call;
use crate::support::{cases, engine, native, snapshot, tools};

const SCHEDULES: [&str; 2] = ["none", "default"];

#[test]
fn every_example_has_cases_for_every_entry() {
    for example in evaluated() {
        let session = engine::compile(&example.path, &example.text, "none", "types").unwrap_or_else(|problem| panic!("{problem}"));
        for function in session.program.functions.values().filter(|function| function.is_entry) {
            let tried = example.cases.iter().any(|case| *case.entry == *function.name && matches!(case.wanted, Wanted::Value(_)));
            assert!(tried, "{}: no `run:` line for `{}`", example.path, function.name);
            assert!(function.doc.is_some(), "{}: `{}` has no documentation", example.path, function.name);
        }
    }
}

/// What the interpreter runs: all.
fn evaluated() -> impl Iterator<Item = Example> {
    compiled_examples().into_iter().chain(cases::evaluated())
}

/// What is emitted as C.
fn compiled_examples() -> Vec<Example> {
    cases::all().into_iter().chain(cases::with_a_stack()).collect()
}

#[test]
fn the_interpreter_gives_the_expected_values() {
    let examples: Vec<Example> = evaluated().collect();
    tools::each(&examples, |example| {
        let session = engine::compile(&example.path, &example.text, "none", "types")?;
        let wrong: Vec<String> = example.cases.iter().filter_map(|case| interpreted(&session, case).err()).collect();
        if wrong.is_empty() { Ok(()) } else { Err(format!("{}:\n{}", example.path, wrong.join("\n"))) }
    });
}

fn interpreted(session: &Session, case: &Case) -> Result<(), String> {
    let outcome = engine::arguments(session, &case.entry, &case.words)
        .and_then(|arguments| Ok((engine::interpret(session, &case.entry, &arguments.values)?, arguments)));
    match (&case.wanted, outcome) {
        (Wanted::Failure(wanted), Err(found)) if *wanted == found => Ok(()),
        (Wanted::Failure(_), Ok((known, _))) => Err(format!("{}: found {:?}", case.line, known.value.columns)),
        (_, Err(found)) => Err(format!("{}: fails with {found}", case.line)),
        (Wanted::Value(None), Ok(_)) => Ok(()),
        (Wanted::Value(Some(wanted)), Ok((known, _))) => {
            let is_recursive = session.entry(&case.entry).is_ok_and(|function| function.result.recursive().is_some());
            let is_wanted = match is_recursive {
                true => engine::is_printed(session, &case.entry, &known, wanted),
                false => engine::is_json(&known, &engine::plain(session, &case.entry, wanted)),
            };
            if is_wanted { Ok(()) } else { Err(format!("{}: found {:?}", case.line, known.value.columns)) }
        }
        (Wanted::Differences { of, parameter }, Ok((known, arguments))) => {
            let function = session.entry(of).map_err(|_| format!("{}: no entry `{of}`", case.line))?;
            let at = function.params.iter().position(|param| **param.name() == **parameter);
            let at = at.ok_or_else(|| format!("{}: `{of}` has no parameter `{parameter}`", case.line))?;
            let wanted = engine::differences(session, of, &arguments.values, at)?;
            let found = engine::doubles(&known.value);
            let agree = wanted.len() == found.len() && wanted.iter().zip(&found).all(|(a, b)| engine::close(*a, *b, 1e-7, known.largest));
            if agree { Ok(()) } else { Err(format!("{}: found {found:?}, differences {wanted:?}", case.line)) }
        }
    }
}

#[test]
fn what_is_only_evaluated_is_not_emitted() {
    for example in cases::evaluated() {
        for target in [Target::C, Target::Futhark] {
            let problem = engine::compile_for(target, &example.path, &example.text, "default", "emit").err();
            assert!(problem.is_some_and(|problem| problem.contains("E0607")), "{}", example.path);
        }
    }
}

#[test]
fn compiled_code_agrees_with_the_interpreter() {
    let sanitizers = tools::has_sanitizers();
    if !sanitizers {
        tools::skipped(&format!("{} has no sanitizers here", tools::c_compiler()));
    }
    tools::each(&compiled_examples(), |example| {
        let known = engine::compile(&example.path, &example.text, "none", "types")?;
        for schedule in SCHEDULES {
            let session = engine::compile(&example.path, &example.text, schedule, "emit")?;
            // what the C compiler does with lanes it does with what smoothc optimises
            compiled(example, &known, &session, sanitizers, schedule == "default")
                .map_err(|problem| format!("{}, schedule {schedule}: {problem}", example.path))?;
        }
        Ok(())
    });
}

/// All cases of an example as C, under sanitizers and optimised, against the interpreter on the program as written.
fn compiled(example: &Example, known: &Session, session: &Session, sanitizers: bool, optimised: bool) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut arguments = Vec::new();
    for case in &example.cases {
        // arguments that do not fit never reach an entry
        if let Ok(read) = engine::arguments(session, &case.entry, &case.words) {
            let inputs = engine::arguments(known, &case.entry, &case.words)?;
            arguments.push((case, read, engine::interpret(known, &case.entry, &inputs.values)));
        }
    }
    let calls: Vec<Call> = arguments.iter().map(|(case, read, _)| Call { entry: &case.entry, arguments: read }).collect();
    let text = native::program(session, &calls)?;
    let mut runs = Vec::new();
    if sanitizers {
        runs.push(("under sanitizers", native::sanitized(&text, session, &calls, folder.path())?));
    }
    if optimised || !sanitizers {
        runs.push(("as `run` compiles it", native::compiled(&text, session, &calls, folder.path(), Mode::default())?));
    }
    for (how, outcomes) in runs {
        for ((case, _, wanted), found) in arguments.iter().zip(outcomes) {
            let problem = match (wanted, found) {
                (Ok(known), Ok(found)) => engine::difference(known, &found),
                (Err(wanted), Err(found)) if *wanted == engine::status_name(found) => None,
                (Err(wanted), Err(found)) => Some(format!("fails with {}, not {wanted}", engine::status_name(found))),
                (Err(wanted), Ok(_)) => Some(format!("has a value, and should fail with {wanted}")),
                (Ok(_), Err(found)) => Some(format!("fails with {}", engine::status_name(found))),
            };
            if let Some(problem) = problem {
                return Err(format!("{}: {how}: {problem}", case.line));
            }
        }
    }
    Ok(())
}

#[test]
fn run_calls_an_entry_of_every_example() {
    tools::each(&cases::all(), |example| {
        let session = engine::compile(&example.path, &example.text, "default", "emit")?;
        let case = example.cases.iter().find(|case| matches!(case.wanted, Wanted::Value(Some(_)))).ok_or("no case")?;
        let arguments = engine::arguments(&session, &case.entry, &case.words)?;
        let interface = session.interface(&case.entry).map_err(|_| "no interface")?;
        let source = &session.emitted().map_err(|_| "no C")?.source;
        let loaded = call::load(source, native::QUICK, interface, Span::NONE).map_err(|problem| problem.message)?;
        let found = loaded.call(&arguments.values, &arguments.bindings).map_err(|problem| problem.message)?;
        let known = engine::Known { value: found, largest: 1e3 };
        match &case.wanted {
            Wanted::Value(Some(wanted)) if !engine::is_json(&known, &engine::plain(&session, &case.entry, wanted)) => {
                Err(format!("{}: found {:?}", case.line, known.value.columns))
            }
            Wanted::Value(_) | Wanted::Failure(_) | Wanted::Differences { .. } => Ok(()),
        }
    });
}

#[test]
fn the_stages_are_as_in_the_snapshots() {
    smoothc::stack::with_large_stack(|| {
        for example in cases::all() {
            for (target, stage, ending) in
                [(Target::C, "types", "types"), (Target::C, "ad", "ad"), (Target::C, "emit", "c"), (Target::Futhark, "emit", "fut")]
            {
                let session = engine::compile_for(target, &example.path, &example.text, "default", stage);
                let session = session.unwrap_or_else(|problem| panic!("{problem}"));
                snapshot::holds("examples", &format!("{}.{ending}", example.name), &session.print(stage));
            }
        }
    });
}
