//! Emitted C is silent under every C and C++ compiler that is here, with OpenMP and without, and keeps nothing of its own.
//!
//! Every example is emitted as it is written (`--schedule none`) and optimised, for one thread and for several
//! (`--parallel`), with doubles and with floats. Each file is read by itself by gcc and clang, and each header by one of
//! them: what nobody calls there, and what a header does not include, is seen so. All files of one kind in one translation
//! unit are then read as C++ and compiled with optimisation: what only an optimiser knows, as a marked loop that it leaves
//! as it is (`-Wpass-failed` of clang), is seen so. Every warning is an error. The objects of the first compiler have no
//! global variable and call nothing that allocates. A compiler that is not here, or has no OpenMP, is named and left out.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use smoothc::driver::{Options, Schedule, Session};
use smoothc::real::Real;
use smoothc::toolchain::compiler::Arithmetic;

use crate::support::{cases, silent, sources, tools};

/// Name, and the words that make it read a file as its language.
const COMPILERS: [(&str, &[&str]); 4] = [
    ("gcc", &["-std=c99", "-Wmissing-prototypes"]),
    ("clang", &["-std=c99", "-Wmissing-prototypes"]),
    ("g++", &["-x", "c++"]),
    ("clang++", &["-x", "c++"]),
];

fn run(compiler: &str, language: &[&str], flags: &[&str], file: &Path) -> Result<(), String> {
    let mut command = Command::new(compiler);
    command.args(language).args(silent::WARNINGS).args(flags).arg("-o").arg(object(compiler, flags, file)).arg(file);
    tools::succeeds(&mut command).map(drop).map_err(|problem| format!("{compiler} {flags:?} {}: {problem}", file.display()))
}

fn object(compiler: &str, flags: &[&str], file: &Path) -> PathBuf {
    file.with_extension(format!("{compiler}{}.o", flags.concat()))
}

struct Compiler {
    name: &'static str,
    language: &'static [&'static str],
    has_openmp: bool,
}

impl Compiler {
    fn is_of_c(&self) -> bool {
        !self.name.ends_with("++")
    }
}

/// The compilers that are here.
fn here(folder: &Path) -> Vec<Compiler> {
    let file = folder.join("openmp.c");
    std::fs::write(&file, "#include <omp.h>\nint threads(void);\nint threads(void)\n{\n    return omp_get_max_threads();\n}\n")
        .expect("writes");
    let mut found = Vec::new();
    for (name, language) in COMPILERS {
        if !tools::exists(name) {
            tools::skipped(&format!("there is no {name} here"));
            continue;
        }
        let has_openmp = run(name, language, &["-fopenmp", "-c"], &file).is_ok();
        if !has_openmp {
            tools::skipped(&format!("{name} has no OpenMP here"));
        }
        found.push(Compiler { name, language, has_openmp });
    }
    if !found.iter().any(Compiler::is_of_c) {
        found.insert(0, Compiler { name: "cc", language: COMPILERS[0].1, has_openmp: false });
    }
    found
}

/// Every example as C of one kind, with names of its own: the files, and all of them in one, with a header of all.
fn emitted(folder: &Path, kind: &str, options: &Options) -> (Vec<PathBuf>, PathBuf) {
    let examples = cases::all();
    let stacks = cases::with_a_stack();
    let wanted: Vec<_> = examples.iter().chain(&stacks).enumerate().collect();
    let files = Mutex::new(Vec::new());
    tools::each(&wanted, |(number, example)| {
        let named = |problem: String| format!("{} {kind}: {problem}", example.path);
        let name = format!("{}_{kind}", example.name);
        let options = Options { prefix: format!("p{number}_"), header: format!("{name}.h"), ..options.clone() };
        let mut session = Session::new(&example.path, &example.text, options);
        session.run_to("emit", &mut sources::open).map_err(|problems| named(sources::drawn(&problems, &session)))?;
        let path = folder.join(format!("{name}.c"));
        let written = session.emitted().map_err(|_| named("no C".into()))?;
        std::fs::write(&path, &written.source).map_err(|error| named(error.to_string()))?;
        std::fs::write(path.with_extension("h"), &written.header).map_err(|error| named(error.to_string()))?;
        files.lock().expect("no panic").push(path);
        Ok(())
    });
    let mut files = files.into_inner().expect("no panic");
    assert_eq!(files.len(), wanted.len());
    files.sort();
    let together = folder.join(format!("together_{kind}.c"));
    for ending in ["c", "h"] {
        let texts = files.iter().map(|file| std::fs::read_to_string(file.with_extension(ending)).expect("reads"));
        std::fs::write(together.with_extension(ending), texts.collect::<String>()).expect("writes");
    }
    (files, together)
}

#[test]
fn every_example_is_silent_under_every_compiler() {
    silent_and_self_contained(Real::F64, &[("none", false), ("default", false), ("default", true)]);
}

#[test]
fn every_example_with_floats_is_silent_under_every_compiler() {
    silent_and_self_contained(Real::F32, &[("none", false), ("default", false)]);
}

/// Emits and compiles every kind: its schedule, and whether it is for several threads.
fn silent_and_self_contained(real: Real, kinds: &[(&str, bool)]) {
    let folder = tempfile::tempdir().expect("a folder");
    let compilers = here(folder.path());
    let lanes: Vec<&str> = Arithmetic::Fast.flags().into_iter().filter(|flag| *flag != "-std=c99").chain(["-c"]).collect();
    let mut jobs: Vec<(&Compiler, Vec<&str>, PathBuf)> = Vec::new();
    let mut objects = Vec::new();
    for (schedule, parallel) in kinds {
        let kind = if *parallel { "parallel" } else { schedule };
        let options = Options { schedule: Schedule::Named((*schedule).into()), real, parallel: *parallel, ..Options::default() };
        let (files, together) = emitted(folder.path(), kind, &options);
        for compiler in &compilers {
            let has_openmp = compiler.has_openmp && *schedule == "default";
            // where a kind has no threads, OpenMP only marks lanes, which `lanes` has too
            let has_threads = has_openmp && (*parallel || real == Real::F32);
            let (plain, with_openmp) = (vec!["-O2", "-c"], vec!["-O2", "-fopenmp", "-c"]);
            let optimised = match (compiler.name, real) {
                // gcc's optimiser has no more to say of C++ than of C
                ("g++", _) => Vec::new(),
                // of floats, whose loops are those of doubles, each optimiser reads the form with most lanes
                ("clang", Real::F32) => vec![lanes.clone()],
                ("clang++", Real::F32) => Vec::new(),
                (_, Real::F32) => vec![if has_threads { with_openmp } else { plain }],
                // clang's has no more to say of C++ but with OpenMP
                ("clang", Real::F64) => [lanes.clone()].into_iter().chain(has_threads.then_some(with_openmp)).collect(),
                ("clang++", Real::F64) => has_threads.then_some(with_openmp).into_iter().collect(),
                (_, Real::F64) => [plain].into_iter().chain(has_threads.then_some(with_openmp)).collect(),
            };
            // clang gives its last warning before code generation, which is more than half of its time
            let is_first = compilers.first().is_some_and(|first| first.name == compiler.name);
            let only_optimises = compiler.name.starts_with("clang") && !is_first;
            if !only_optimises {
                objects.extend(optimised.iter().map(|flags| object(compiler.name, flags, &together)));
            }
            jobs.extend(optimised.into_iter().map(|mut flags| {
                flags.extend(only_optimises.then_some("-emit-llvm"));
                (compiler, flags, together.clone())
            }));
            let read: &[PathBuf] = if compiler.is_of_c() { &files } else { std::slice::from_ref(&together) };
            let mut ways = vec![vec!["-fsyntax-only"]];
            if has_openmp {
                ways.push(vec!["-fsyntax-only", "-fopenmp"]);
            }
            jobs.extend(ways.iter().flat_map(|flags| read.iter().map(move |file| (compiler, flags.clone(), file.clone()))));
            jobs.push((compiler, vec!["-fsyntax-only"], together.with_extension("h")));
        }
        if let Some(compiler) = compilers.first() {
            jobs.extend(files.iter().map(|file| (compiler, vec!["-fsyntax-only"], file.with_extension("h"))));
        }
    }
    tools::each(&jobs, |(compiler, flags, file)| {
        // a header alone is no C file, unless it is said
        let is_header = file.extension().is_some_and(|ending| ending == "h");
        let language: Vec<&str> = is_header.then_some(["-x", "c"]).into_iter().flatten().chain(compiler.language.iter().copied()).collect();
        run(compiler.name, &language, flags, file)
    });
    assert!(!objects.is_empty());
    objects.iter().for_each(|object| silent::no_data_and_no_allocation(object).unwrap_or_else(|problem| panic!("{problem}")));
}
