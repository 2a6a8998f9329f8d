//! smoothc as a library: programs to C, and in a Rust build script to functions of Rust.
//!
//! In: the path of a program, and options. Out: the emitted texts ([`Compiler::emit`]); in a build script ([`build`], [`Compiler::build`])
//! the C compiled by the `cc` crate and linked, and `$OUT_DIR/STEM.rs` with a safe function for each entry. Files that were read are named
//! to Cargo. What is wrong with a program is an [`Error`] that prints as the command does. All of it runs on a thread with a large stack.
//!
//! ```text
//! smoothc::build("circle.smooth");                                   in build.rs
//! mod circle { include!(concat!(env!("OUT_DIR"), "/circle.rs")); }   in src/main.rs
//! ```

use std::fmt;
use std::path::{Path, PathBuf};

use crate::cli::{files::Reads, render};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::driver::{Options, Schedule, Session};
use crate::emit::{cpp, rust};
use crate::mode::Mode;
use crate::real::Real;
use crate::source::{SourceMap, Span, normal};
use crate::stack::with_large_stack;
use crate::types::{Derive, FixedSize};

/// Why there is no output: diagnostics, drawn as the command draws them.
#[derive(Clone, Debug)]
pub struct Error {
    text: String,
    /// The diagnostics themselves; their places are in the files of the compilation.
    pub diagnostics: Diagnostics,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.trim_end())
    }
}

impl std::error::Error for Error {}

impl Error {
    fn new(diagnostics: Diagnostics, sources: &SourceMap) -> Error {
        let text = diagnostics.iter().map(|problem| render::human(problem, sources, false)).collect();
        Error { text, diagnostics }
    }

    fn of(problem: Diagnostic) -> Error {
        Error::new(vec![problem], &SourceMap::default())
    }
}

/// What a program was made into.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The C file.
    pub c: String,
    /// Its header, called `STEM.h`.
    pub header: String,
    /// The C++ header over it, called `STEM.hpp`.
    pub cpp: String,
    /// Functions of Rust, to include in a module.
    pub rust: String,
    /// What the C offers, in JSON.
    pub manifest: String,
    /// The files that were read.
    pub reads: Vec<PathBuf>,
    /// Warnings, drawn as the command draws them.
    pub warnings: String,
}

/// Options, and what compiles with them.
#[derive(Clone, Debug, Default)]
pub struct Compiler {
    options: Options,
    native: bool,
    problems: Diagnostics,
}

/// Compiles a program in a build script, with the options that the command has by default; ends the build script with the diagnostics where
/// it cannot.
pub fn build(path: impl AsRef<Path>) {
    if let Err(error) = Compiler::new().build(path) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

impl Compiler {
    pub fn new() -> Compiler {
        Compiler::default()
    }

    /// `--derive`: a derivative as an entry, such as `gradient:loss`.
    pub fn derive(mut self, what: &str) -> Compiler {
        match Derive::parse(what) {
            Ok(derive) => self.options.derive.push(derive),
            Err(why) => self.problems.push(wrong_option("derive", what, &why)),
        }
        self
    }

    /// `--entry`: only this declaration, and others that are named so, are entries.
    pub fn entry(mut self, name: &str) -> Compiler {
        self.options.entries.push(name.to_string());
        self
    }

    /// `--size`: a size that is a literal.
    pub fn size(mut self, name: &str, value: u32) -> Compiler {
        match FixedSize::parse(&format!("{name}={value}")) {
            Ok(size) => self.options.sizes.push(size),
            Err(why) => self.problems.push(wrong_option("size", name, &why)),
        }
        self
    }

    /// `--real f32`: numbers are floats.
    pub fn single_precision(mut self) -> Compiler {
        self.options.real = Real::F32;
        self
    }

    /// `--schedule`: one that is built in, or a strategy file.
    pub fn schedule(mut self, schedule: Schedule) -> Compiler {
        self.options.schedule = schedule;
        self
    }

    /// `--mode`: how derivatives are computed.
    pub fn mode(mut self, mode: Mode) -> Compiler {
        self.options.mode = mode;
        self
    }

    /// `--prefix`: before public C names.
    pub fn prefix(mut self, prefix: &str) -> Compiler {
        self.options.prefix = prefix.to_string();
        self
    }

    /// `--strict-fp`: rounding as in the program as written.
    pub fn strict_fp(mut self) -> Compiler {
        self.options.strict_fp = true;
        self
    }

    /// `--unchecked`: no run-time checks but those at entry.
    pub fn unchecked(mut self) -> Compiler {
        self.options.unchecked = true;
        self
    }

    /// In a build script: for this machine's processor only, `-march=native`.
    pub fn native(mut self) -> Compiler {
        self.native = true;
        self
    }

    /// Emits a program.
    pub fn emit(&self, path: impl AsRef<Path>) -> Result<Emitted, Error> {
        if !self.problems.is_empty() {
            return Err(Error::new(self.problems.clone(), &SourceMap::default()));
        }
        let (path, options) = (path.as_ref(), self.options.clone());
        with_large_stack(|| emit(path, options))
    }

    /// In a build script: emits a program, compiles and links its C, and writes its files into `OUT_DIR`.
    pub fn build(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let missing = |name: &str| {
            Error::of(
                Diagnostic::error("E0902", Span::NONE, format!("`{name}` is not set"))
                    .help("`build` is for a Cargo build script; `Compiler::emit` gives the texts anywhere"),
            )
        };
        let folder = std::env::var_os("OUT_DIR").map(PathBuf::from).ok_or_else(|| missing("OUT_DIR"))?;
        println!("cargo:rerun-if-changed={}", path.display());
        let emitted = self.clone().of_this_package(path).emit(path)?;
        for read in &emitted.reads {
            println!("cargo:rerun-if-changed={}", read.display());
        }
        for line in emitted.warnings.lines() {
            println!("cargo:warning={line}");
        }
        let stem = stem(path);
        let file = |ending: &str| folder.join(format!("{stem}.{ending}"));
        for (ending, text) in [("c", &emitted.c), ("h", &emitted.header), ("hpp", &emitted.cpp), ("rs", &emitted.rust)] {
            let path = file(ending);
            std::fs::write(&path, text).map_err(|error| Error::of(crate::cli::files::cannot_write(&path, &error)))?;
        }
        let mut cc = cc::Build::new();
        cc.file(file("c")).opt_level(3).warnings(false);
        for flag in ["-std=c99", "-fno-math-errno", "-fno-trapping-math"] {
            cc.flag_if_supported(flag);
        }
        match self.options.strict_fp {
            true => cc.flag_if_supported("-ffp-contract=off"),
            false => cc.flag_if_supported("-fopenmp-simd").flag_if_supported("-ffp-contract=fast").define("SMOOTH_SIMD", None),
        };
        if self.native {
            cc.flag_if_supported("-march=native");
        }
        cc.try_compile(&format!("smooth_{stem}")).map_err(|error| {
            Error::of(
                Diagnostic::error("E0902", Span::NONE, format!("the C compiler failed: {error}"))
                    .help("check what CC is and does; `smoothc emit` writes the same C"),
            )
        })?;
        if std::env::var("CARGO_CFG_UNIX").is_ok() {
            println!("cargo:rustc-link-lib=m");
        }
        Ok(())
    }
}

impl Compiler {
    /// Names of C that no other program in the same executable has, where none were asked for: linkers take the first of two functions of
    /// one name, and say nothing.
    fn of_this_package(mut self, path: &Path) -> Compiler {
        if self.options.prefix.is_empty() {
            let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
            self.options.prefix = format!("{}_", identifier(&format!("{package}_{}", stem(path))));
        }
        self
    }
}

fn wrong_option(option: &str, what: &str, why: &str) -> Diagnostic {
    Diagnostic::error("E0205", Span::NONE, format!("`{option}` of `{what}`: {why}")).help("docs/builds.md lists the options")
}

/// A file's name without its ending, as a name of C.
fn stem(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if stem.is_empty() { "program".to_string() } else { identifier(&stem) }
}

fn identifier(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn emit(path: &Path, mut options: Options) -> Result<Emitted, Error> {
    let stem = stem(path);
    options.header = format!("{stem}.h");
    let mut reads = Reads::default();
    let text = reads.source(path).map_err(Error::of)?;
    let mut session = Session::new(&normal(path).display().to_string(), &text, options);
    let done = session.run_to("emit", &mut |path, from| {
        let folder = Path::new(from).parent().unwrap_or(Path::new(""));
        let path = normal(&folder.join(path));
        let text = reads.opened(&path).map_err(|problem| problem.message)?;
        Ok((path.display().to_string(), text))
    });
    done.map_err(|problems| Error::new(problems, &session.sources))?;
    let fail = |problems| Error::new(problems, &session.sources);
    let files = session.emitted().map_err(fail)?;
    Ok(Emitted {
        c: files.source.clone(),
        header: files.header.clone(),
        cpp: cpp::header(files, &session.program, &format!("{stem}.hpp"), &format!("{stem}.h")).map_err(Error::of)?,
        rust: rust::module(files),
        manifest: session.manifest().map_err(fail)?,
        reads: reads.paths().to_vec(),
        warnings: session.warnings.iter().map(|problem| render::human(problem, &session.sources, false)).collect(),
    })
}
