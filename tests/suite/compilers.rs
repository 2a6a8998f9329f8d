//! Emitted C is silent under every C and C++ compiler that is here, with OpenMP and without.
//!
//! Every example is emitted for one thread and for several (`--parallel`). Each file is read by itself by gcc, clang, g++ and
//! clang++ with and without `-fopenmp`: what nobody calls there is seen so. All of them in one translation unit are then
//! compiled with optimisation: what only an optimiser knows, as a marked loop that it leaves as it is (`-Wpass-failed`
//! of clang), is seen so. Every warning is an error. A compiler that is not here, or has no OpenMP, is named and left out.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use smoothc::driver::{Options, Session};
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
    let object = file.with_file_name(format!("{compiler}{}.o", flags.concat()));
    let mut command = Command::new(compiler);
    command.args(language).args(silent::WARNINGS).args(flags).arg("-o").arg(object).arg(file);
    tools::succeeds(&mut command).map(drop).map_err(|problem| format!("{compiler} {flags:?} {}: {problem}", file.display()))
}

/// The compilers that are here, with the flags under which each can be tried.
fn here(folder: &Path) -> Vec<(&'static str, &'static [&'static str], Vec<&'static str>)> {
    let file = folder.join("openmp.c");
    std::fs::write(&file, "#include <omp.h>\nint threads(void);\nint threads(void)\n{\n    return omp_get_max_threads();\n}\n")
        .expect("writes");
    let mut found = Vec::new();
    for (name, language) in COMPILERS {
        if !tools::exists(name) {
            tools::skipped(&format!("there is no {name} here"));
            continue;
        }
        let mut flags = vec![""];
        match run(name, language, &["-fopenmp", "-c"], &file) {
            Ok(()) => flags.push("-fopenmp"),
            Err(_) => tools::skipped(&format!("{name} has no OpenMP here")),
        }
        found.push((name, language, flags));
    }
    found
}

/// Every example as C, for one thread and for several, with names of its own.
fn emitted(folder: &Path) -> Vec<PathBuf> {
    let examples = cases::all();
    let wanted: Vec<_> = examples.iter().flat_map(|example| [false, true].map(|parallel| (example, parallel))).enumerate().collect();
    let files = Mutex::new(Vec::new());
    tools::each(&wanted, |(number, (example, parallel))| {
        let options = Options { parallel: *parallel, prefix: format!("p{number}_"), ..Options::default() };
        let mut session = Session::new(&example.path, &example.text, options);
        session.run_to("emit", &mut sources::open).map_err(|problems| sources::drawn(&problems, &session))?;
        let path = folder.join(format!("{}_{number}.c", example.name));
        std::fs::write(&path, &session.emitted().map_err(|_| "no C")?.source).map_err(|error| error.to_string())?;
        files.lock().expect("no panic").push(path);
        Ok(())
    });
    let mut files = files.into_inner().expect("no panic");
    files.sort();
    files
}

#[test]
fn every_example_is_silent_under_every_compiler() {
    let folder = tempfile::tempdir().expect("a folder");
    let compilers = here(folder.path());
    let files = emitted(folder.path());
    assert_eq!(files.len(), 2 * cases::all().len());
    let together = folder.path().join("together.c");
    let texts: Vec<String> = files.iter().map(|file| std::fs::read_to_string(file).expect("reads")).collect();
    std::fs::write(&together, texts.concat()).expect("writes");
    let lanes: Vec<&str> = Arithmetic::Fast.flags().into_iter().filter(|flag| *flag != "-std=c99").chain(["-c"]).collect();
    let mut jobs: Vec<(&str, &[&str], Vec<&str>, &Path)> = Vec::new();
    for (name, language, openmp) in &compilers {
        // gcc's optimiser has no more to say of C++ than of C; each takes its time
        let mut optimised = if *name == "clang" { vec![lanes.clone()] } else { Vec::new() };
        if *name != "g++" {
            optimised.extend(openmp.iter().skip(1).map(|flag| vec!["-O2", *flag, "-c"]));
        }
        jobs.extend(optimised.into_iter().map(|flags| (*name, *language, flags, together.as_path())));
        for flag in openmp {
            let flags: Vec<&str> = ["-fsyntax-only"].into_iter().chain([*flag].into_iter().filter(|flag| !flag.is_empty())).collect();
            jobs.extend(files.iter().map(|file| (*name, *language, flags.clone(), file.as_path())));
        }
    }
    tools::each(&jobs, |(name, language, flags, file)| run(name, language, flags, file));
}
