//! The C compiler: found through the `cc` crate (the environment's `CC` and `AR` are respected), run on one
//! emitted file.
//!
//! In: C text and where the result goes. Out: a shared library, an object or a static library there, or a
//! diagnostic: E0903 when there is no compiler, with how to install one; E0902 when the compiler rejects the
//! text, which is a bug of smoothc. Flags are those of docs/cli.md, How C is compiled.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// What `run`, `build` and `bench` compile with.
const FLAGS: &[&str] = &["-std=c99", OPTIMISED, NATIVE, "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math"];

/// Whether results may differ in their last digits from the program as written: `--strict-fp` says that they may not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arithmetic {
    #[default]
    Fast,
    Strict,
}

impl Arithmetic {
    pub fn of(strict_fp: bool) -> Arithmetic {
        if strict_fp { Arithmetic::Strict } else { Arithmetic::Fast }
    }

    /// The compiler's flags, of docs/cli.md, How C is compiled.
    pub fn flags(self) -> Vec<&'static str> {
        let simd: &[&str] = match self {
            Arithmetic::Fast => &["-DSMOOTH_SIMD"],
            Arithmetic::Strict => &[],
        };
        FLAGS.iter().chain(simd).copied().chain([self.contraction()]).collect()
    }

    /// Whether `a * b + c` may round once.
    fn contraction(self) -> &'static str {
        match self {
            Arithmetic::Fast => "-ffp-contract=fast",
            Arithmetic::Strict => "-ffp-contract=off",
        }
    }
}

/// How emitted C is compiled: its arithmetic, and whether by OpenMP for loops that threads share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    pub arithmetic: Arithmetic,
    pub parallel: bool,
    /// Not for this machine's processor alone.
    pub portable: bool,
    /// Compiled in less time, for C that is called a few times: on second derivatives gcc's vectoriser takes most of it.
    pub quick: bool,
}

impl From<Arithmetic> for Mode {
    fn from(arithmetic: Arithmetic) -> Mode {
        Mode { arithmetic, ..Mode::default() }
    }
}

impl Mode {
    /// The compiler's flags, of docs/cli.md, How C is compiled.
    pub fn flags(self) -> Vec<&'static str> {
        let flags = self.arithmetic.flags().into_iter().chain(self.parallel.then_some(OPENMP));
        let flags = flags.filter(|flag| !self.portable || *flag != NATIVE);
        flags.map(|flag| if flag == OPTIMISED { self.level() } else { flag }).collect()
    }

    /// How much the compiler optimises. `-O1` has the lanes of the loops that smoothc marks, and no others.
    fn level(self) -> &'static str {
        if self.quick { "-O1" } else { OPTIMISED }
    }
}

const OPTIMISED: &str = "-O3";

const OPENMP: &str = "-fopenmp";
/// For the processor of this machine.
const NATIVE: &str = "-march=native";

/// What to make of a C file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Artifact {
    SharedLibrary,
    StaticLibrary,
    Object,
}

impl Artifact {
    /// The endings of what can be made on this system; the first is that of a shared library.
    pub const ENDINGS: &[&str] = if cfg!(windows) {
        &["dll", "a", "o"]
    } else if cfg!(target_os = "macos") {
        &["dylib", "so", "a", "o"]
    } else {
        &["so", "a", "o"]
    };

    /// By one of these endings.
    pub fn of_ending(ending: &str) -> Option<Artifact> {
        match ending {
            "a" => Some(Artifact::StaticLibrary),
            "o" => Some(Artifact::Object),
            other => Artifact::ENDINGS.contains(&other).then_some(Artifact::SharedLibrary),
        }
    }
}

/// Compiles C text to `output` with the flags for this mode.
pub fn compile(source: &str, artifact: Artifact, mode: impl Into<Mode>, output: &Path) -> Result<(), Diagnostic> {
    let mode: Mode = mode.into();
    let folder = tempfile::tempdir().map_err(|error| no_folder(&error))?;
    let file = folder.path().join("program.c");
    std::fs::write(&file, source).map_err(|error| no_folder(&error))?;
    let made = make(&Job { folder: folder.path(), file: &file, flags: &mode.flags(), libraries: &["-lm"] }, artifact, output);
    made.map_err(|problem| if mode.parallel && problem.code == "E0902" { without_openmp(folder.path(), problem) } else { problem })
}

/// What is wrong when C with OpenMP does not compile: a compiler without it has another diagnostic.
fn without_openmp(folder: &Path, problem: Diagnostic) -> Diagnostic {
    let file = folder.join("openmp.c");
    let text = "#include <omp.h>\n\nint threads(void);\n\nint threads(void)\n{\n    return omp_get_max_threads();\n}\n";
    let job = Job { folder, file: &file, flags: &[OPENMP], libraries: &[] };
    let library = folder.join(format!("openmp{}", std::env::consts::DLL_SUFFIX));
    let works = std::fs::write(&file, text).is_ok() && make(&job, Artifact::SharedLibrary, &library).is_ok();
    if works {
        return problem;
    }
    let help = if cfg!(target_os = "macos") {
        "install a gcc (`brew install gcc`) and set CC to it, or leave out --parallel"
    } else {
        "install gcc (`apt install gcc`, `dnf install gcc`) or clang with libomp, set CC to it, or leave out --parallel"
    };
    let program = builder(folder).try_get_compiler().map(|tool| tool.path().display().to_string()).unwrap_or_default();
    let message = format!("a C compiler with OpenMP is needed for --parallel, and `{program}` has none");
    Diagnostic::error("E0903", Span::NONE, message).help(help)
}

/// Compiles C that another compiler wrote, in its own dialect, with the libraries that it needs.
pub fn compile_generated(
    folder: &Path,
    file: &Path,
    artifact: Artifact,
    mode: Mode,
    output: &Path,
    libraries: &[&str],
) -> Result<(), Diagnostic> {
    // `-O1` is for the lanes of marked loops, and this C has none
    let level = if mode.quick { "-O0" } else { OPTIMISED };
    let mut flags = vec![level, "-fno-math-errno", "-w", mode.arithmetic.contraction()];
    flags.extend((!mode.portable).then_some(NATIVE));
    make(&Job { folder, file, flags: &flags, libraries }, artifact, output)
}

/// One C file and how it is compiled.
struct Job<'a> {
    folder: &'a Path,
    file: &'a Path,
    flags: &'a [&'a str],
    libraries: &'a [&'a str],
}

fn make(job: &Job, artifact: Artifact, output: &Path) -> Result<(), Diagnostic> {
    // an absolute path never looks like an option
    let output = std::path::absolute(output).unwrap_or_else(|_| output.to_path_buf());
    match artifact {
        Artifact::SharedLibrary => compile_file(job, &["-shared"], &output),
        Artifact::Object => compile_file(job, &["-c"], &output),
        Artifact::StaticLibrary => {
            let stem = output.file_stem().map_or_else(|| "program".into(), |stem| stem.to_string_lossy().into_owned());
            let object = job.folder.join(format!("{stem}.o"));
            compile_file(job, &["-c"], &object)?;
            archive(job.folder, &object, &output)
        }
    }
}

fn compile_file(job: &Job, mode: &[&str], output: &Path) -> Result<(), Diagnostic> {
    let tool = builder(job.folder).try_get_compiler().map_err(|_| missing("a C compiler", "cc"))?;
    let mut command = tool.to_command();
    command.args(job.flags).arg("-fPIC").args(mode).arg("-o").arg(output).arg(job.file);
    if mode.contains(&"-shared") {
        // an entry that libc also has, as `step`, is still called by its own library
        if cfg!(target_os = "linux") {
            command.arg("-Wl,-Bsymbolic");
            // OpenMP's threads outlive the calls: the library, and OpenMP with it, stays loaded
            if job.flags.contains(&OPENMP) {
                command.arg("-Wl,-z,nodelete");
            }
        }
        // the name that a program keeps of the library: not where it was compiled
        if cfg!(target_os = "macos") {
            let name = output.file_name().unwrap_or_default().to_string_lossy();
            command.arg(format!("-Wl,-install_name,@rpath/{name}"));
        }
        command.args(job.libraries);
    }
    run(command, "C compiler", output)
}

fn archive(folder: &Path, object: &Path, output: &Path) -> Result<(), Diagnostic> {
    // `ar` adds to a library that is there already
    match std::fs::remove_file(output) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => {
            let problem = Diagnostic::error("E0011", Span::NONE, format!("cannot write `{}`: {error}", output.display()));
            return Err(problem.help("check that it is no folder and that you may write there"));
        }
    }
    let mut command = builder(folder).try_get_archiver().map_err(|_| missing("an archiver", "ar"))?;
    command.arg("crs").arg(output).arg(object);
    run(command, "archiver", output)
}

/// `cc` set up as it wants to be outside a build script.
fn builder(folder: &Path) -> cc::Build {
    let os = std::env::consts::OS;
    let arch = std::env::consts::ARCH;
    let host = match os {
        "macos" => format!("{arch}-apple-darwin"),
        "windows" => format!("{arch}-pc-windows-gnu"),
        "linux" => format!("{arch}-unknown-linux-gnu"),
        os => format!("{arch}-unknown-{os}"),
    };
    let mut build = cc::Build::new();
    build
        .target(&host)
        .host(&host)
        .opt_level(3)
        .out_dir(folder)
        .cargo_metadata(false)
        .cargo_warnings(false)
        .cargo_debug(false)
        .inherit_rustflags(false)
        .no_default_flags(true);
    build
}

fn run(mut command: Command, what: &str, output: &Path) -> Result<(), Diagnostic> {
    let program = PathBuf::from(command.get_program());
    // what it says is read here: in English
    let done = command.env("LC_ALL", "C").output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => missing(&format!("the {what}"), &program.display().to_string()),
        _ => Diagnostic::error("E0903", Span::NONE, format!("cannot run the {what} `{}`: {error}", program.display())),
    })?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    if let Some(folder) = output.parent().filter(|folder| !folder.is_dir()) {
        let message = format!("cannot write `{}`: there is no folder `{}`", output.display(), folder.display());
        return Err(Diagnostic::error("E0011", Span::NONE, message).help("make the folder, or name another"));
    }
    if output.is_dir() || said.contains("cannot open output file") {
        let problem = Diagnostic::error("E0011", Span::NONE, format!("cannot write `{}`", output.display()));
        return Err(problem.help("check that it is no folder and that you may write there"));
    }
    let said: Vec<&str> = said.lines().take(8).collect();
    let message = format!("the {what} `{}` failed:\n{}", program.display(), said.join("\n"));
    Err(Diagnostic::error("E0902", Span::NONE, message).help("this is a bug in smoothc, unless CC or CFLAGS are set: please report it"))
}

fn missing(what: &str, program: &str) -> Diagnostic {
    let help = if cfg!(target_os = "macos") {
        "install the command line tools with `xcode-select --install`, or set CC to a C compiler"
    } else {
        "install gcc (`apt install gcc`, `dnf install gcc`) or set CC to a C compiler"
    };
    Diagnostic::error("E0903", Span::NONE, format!("{what} is needed, and `{program}` was not found")).help(help)
}

fn no_folder(error: &io::Error) -> Diagnostic {
    Diagnostic::error("E0011", Span::NONE, format!("cannot write to a temporary folder: {error}"))
        .help("set TMPDIR to a folder that you may write to")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_artifact_is_made() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["f.so", "f.a", "f.o", "-f.o"] {
            let path = folder.path().join(name);
            let artifact = Artifact::of_ending(name.rsplit('.').next().unwrap_or_default()).expect("a known ending");
            compile("int f(void) { return 1; }\n", artifact, Arithmetic::Fast, &path).expect("compiles");
            assert!(path.is_file(), "{name}");
        }
        assert_eq!(Artifact::of_ending("txt"), None);
        assert!(Artifact::ENDINGS.iter().all(|ending| Artifact::of_ending(ending).is_some()));
        let problem = compile("int f(", Artifact::Object, Arithmetic::Fast, &folder.path().join("x.o")).expect_err("no C");
        assert_eq!(problem.code, "E0902");
        let problem = compile("int f(void) { return 1; }\n", Artifact::Object, Arithmetic::Fast, &folder.path().join("no/x.o"))
            .expect_err("no folder");
        assert_eq!(problem.code, "E0011");
    }
}
