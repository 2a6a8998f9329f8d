//! The words of the command line, as docs/cli.md lists them.
//!
//! In: `run f.smooth dot [1,2] -1.5 -o out.npy`. Out: the command with its operands and options. A word that
//! begins with `-` and a digit, and `-Infinity`, is an argument: such words get a space in front before the
//! parser sees them, which JSON ignores. Wrong usage exits with status 2, by the parser's own message.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, Parser, Subcommand, value_parser};

pub use super::choices::{Color, MessageFormat, ModeName, RealName, ReverseName, Target};
use crate::emit::python::{IMPORTED, KEYWORDS};
use crate::types::{Derive, FixedSize};

/// Differentiates numerical array programs written in F-smooth and emits C.
#[derive(Parser)]
#[command(name = "smoothc", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub display: Display,
}

#[derive(Subcommand)]
pub enum Command {
    /// Emit C or Futhark, on standard output without -o; `-o x.c` also writes the header `x.h`
    Emit(EmitCommand),
    /// Type-check; print each declaration's inferred signature, sizes included
    Check(FileCommand),
    /// Run the reference interpreter on the program as written, or after --schedule
    Eval(EvalCommand),
    /// Optimise, emit, compile and run
    Run(RunCommand),
    /// Compile to a shared library (.so, .dylib, .dll), a static library (.a) or an object (.o)
    Build(BuildCommand),
    /// Hold the derivatives of an entry at a point against central differences; exit 4 where one is wrong
    Gradcheck(GradcheckCommand),
    /// Time the compiled entry: median with its interval, per element, and bytes per second of its inputs and outputs
    Bench(BenchCommand),
    /// Show how an entry was optimised: every phase with its rules and the cost; or the page of a diagnostic code, a rule or
    /// a function of the library
    Explain(ExplainCommand),
    /// Format source files; --check says which are not, with a diff, and exits with 1
    Fmt(FmtCommand),
    /// Apply a strategy to one expression and print the result on one line; exit 1 when it does not apply
    Rewrite(RewriteCommand),
    /// Speak the language server protocol with an editor, on standard input and output
    Lsp(LspCommand),
    /// Print a script that completes smoothc's words in a shell
    Completions(CompletionsCommand),
    /// Print the manual page of smoothc or of one command, in roff
    Man(ManCommand),
}

/// How messages look; may stand anywhere.
#[derive(Args, Clone)]
pub struct Display {
    /// How diagnostics are printed
    #[arg(long, global = true, value_enum, default_value_t = MessageFormat::Human, value_name = "FORMAT")]
    pub message_format: MessageFormat,
    /// No warnings
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// A program with warnings is at fault: exit status 1
    #[arg(long, global = true)]
    pub deny_warnings: bool,
    /// Colours in diagnostics
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
}

/// The file and the entry of `eval -e EXPR`: no word of a command line has this character.
pub const NONE: &str = "\0";

/// What to compile and how.
#[derive(Args)]
pub struct Source {
    /// The program; `-` is standard input
    pub file: PathBuf,
    /// Make only this declaration an entry (repeatable)
    #[arg(long, value_name = "NAME")]
    pub entry: Vec<String>,
    /// Add a derivative of a function as an entry: KIND is jvp, vjp, gradient, valueAndGradient, jacobian,
    /// sparse_jacobian (rows, columns and values), hessian, or revf and revr, the two halves of a vjp; `*` is for all parameters that are
    /// made of Doubles (repeatable)
    #[arg(long, value_name = "KIND:FUNCTION[:PARAMETER,…]", value_parser = Derive::parse)]
    pub derive: Vec<Derive>,
    /// How derivatives are computed: forward by columns, backwards in one sweep, or whichever costs less
    #[arg(long, value_enum, default_value_t = ModeName::Auto)]
    pub mode: ModeName,
    /// Reverse mode keeps K states of a loop, and those of one of its K parts, where it would keep all: in between it computes
    /// once more
    #[arg(long, value_name = "K", value_parser = value_parser!(u32).range(1..).try_map(NonZeroU32::try_from))]
    pub checkpoint: Option<NonZeroU32>,
    /// The optimisation schedule: none, paper, default, or a strategy file
    #[arg(long, value_name = "NAME|FILE")]
    pub schedule: Option<String>,
    /// Leave out a rule, a group of rules or a pass of `plan` or over loops (repeatable)
    #[arg(long, value_name = "NAME")]
    pub disable: Vec<String>,
    /// Round as the program is written: no rule or compiler flag that may change a result's last digits
    #[arg(long)]
    pub strict_fp: bool,
    /// Leave out the checks of bounds, shapes, ranges and counts inside emitted functions; what they would refuse is
    /// undefined then. Arguments and the workspace are still checked at entry, and that recursion has room
    #[arg(long)]
    pub unchecked: bool,
    /// Share loops among threads in emitted C, by OpenMP; the workspace then has a slice for each thread
    #[arg(long)]
    pub parallel: bool,
    /// Specialise the entries to this value of a size, which is no parameter then (repeatable)
    #[arg(long, value_name = "NAME=INT", value_parser = FixedSize::parse)]
    pub size: Vec<FixedSize>,
    /// What a Double is in emitted code: f64, or f32, whose vectors have twice the lanes; `eval` always computes in f64
    #[arg(long, value_enum, default_value_t = RealName::F64, value_name = "TYPE")]
    pub real: RealName,
    /// Print the program after this stage and stop
    #[arg(long, value_name = "STAGE", value_parser = crate::driver::stage_names())]
    pub dump: Option<String>,
    /// Print the time that each stage took to standard error
    #[arg(long)]
    pub time_passes: bool,
}

/// What is written.
#[derive(Args)]
pub struct Emission {
    /// The language that is emitted
    #[arg(long, value_enum, default_value_t = Target::C)]
    pub target: Target,
    /// What the Futhark compiler makes: c, the default, multicore, opencl, cuda or hip; with --target futhark
    #[arg(long, value_name = "NAME", value_parser = crate::toolchain::futhark::BACKENDS)]
    pub futhark_backend: Option<String>,
    /// Put before public names
    #[arg(long, value_name = "NAME", default_value = "", value_parser = identifier)]
    pub prefix: String,
}

impl Emission {
    /// What the Futhark compiler is asked to make.
    pub fn backend(&self) -> &str {
        self.futhark_backend.as_deref().unwrap_or("c")
    }
}

#[derive(Args)]
pub struct FileCommand {
    #[command(flatten)]
    pub source: Source,
}

#[derive(Args)]
pub struct FmtCommand {
    /// Source files, written anew where their text changes; `-` is standard input, to standard output
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Write nothing: print a diff of each file that is not formatted, and exit with 1
    #[arg(long)]
    pub check: bool,
}

#[derive(Args)]
pub struct EmitCommand {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub emission: Emission,
    #[command(flatten)]
    pub manifest: ManifestWord,
    /// Where the text goes
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Emit one header with all functions in it, `static inline`; `-o x.h`
    #[arg(long)]
    pub header_only: bool,
    /// Write a C++17 header too, beside the C: `-o x.c` also writes x.hpp, with views, exceptions or statuses, and a kept workspace
    #[arg(long)]
    pub cpp: bool,
    /// Write a rule for make, ninja and CMake that names the files that were read: `x.c x.h: model.smooth base.smooth`
    #[arg(long, value_name = "PATH", requires = "output", conflicts_with = "dump")]
    pub depfile: Option<PathBuf>,
    /// Write nothing; exit 1 and print a diff where the files on disk are not what would be written
    #[arg(long, requires = "output", conflicts_with = "dump")]
    pub check: bool,
}

/// What describes emitted C.
#[derive(Args)]
pub struct ManifestWord {
    /// Describe the entries of what is emitted in a JSON file: names, types, shapes, workspace
    #[arg(long, value_name = "PATH")]
    pub manifest: Option<PathBuf>,
}

/// How emitted code is compiled.
#[derive(Args)]
pub struct Compilation {
    /// Compile for any processor of this kind, without -march=native
    #[arg(long)]
    pub portable: bool,
}

/// An entry and what it is called with.
#[derive(Args)]
pub struct CallArgs {
    /// The entry to call, by its source name
    pub entry_name: String,
    /// JSON such as `1.5`, `[1, 2]`, `true`, or `@path` of a .json or .npy file
    #[arg(value_name = "ARG")]
    pub args: Vec<String>,
}

/// A call, and where its result goes.
#[derive(Args)]
pub struct CallWords {
    #[command(flatten)]
    pub call: CallArgs,
    /// Save the result: `.npy` for an array or a number, `.json` for anything
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
#[command(override_usage = "smoothc eval [OPTIONS] FILE ENTRY [ARG]...\n       smoothc eval [OPTIONS] -e EXPR [FILE]")]
pub struct EvalCommand {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub call: CallWords,
    /// Evaluate an expression in place of an entry, with the declarations of FILE if one is named
    #[arg(short, long, value_name = "EXPR", allow_hyphen_values = true, conflicts_with_all = ["entry", "derive"])]
    pub expression: Option<String>,
    /// Print a second line with the numbers of operations, comparisons, reads and writes
    #[arg(long)]
    pub count: bool,
    /// Print the operations on Doubles after the result, one a line; of a gradient, vjp, rd or valueAndGradient those of the
    /// function, then the adjoints in the backward pass
    #[arg(long, conflicts_with = "count")]
    pub trace: bool,
    /// Evaluate gradient, vjp and valueAndGradient in this way: dual-numbers is one pass forward with a tape and one back
    #[arg(long, value_enum, value_name = "WAY", conflicts_with = "schedule")]
    pub reverse: Option<ReverseName>,
    /// Refuse points where the program is not smooth, as paper 005 does: comparisons, min and max of equal Doubles, abs and sqrt
    /// at 0 are undefined there
    #[arg(long, conflicts_with = "schedule")]
    pub partial: bool,
}

#[derive(Args)]
pub struct RunCommand {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub emission: Emission,
    #[command(flatten)]
    pub compilation: Compilation,
    #[command(flatten)]
    pub call: CallWords,
}

#[derive(Args)]
pub struct GradcheckCommand {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub compilation: Compilation,
    #[command(flatten)]
    pub call: CallArgs,
}

#[derive(Args)]
pub struct BenchCommand {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub compilation: Compilation,
    #[command(flatten)]
    pub call: CallArgs,
    /// Time a C function with the entry's C signature beside it, in turns
    #[arg(long, value_name = "FILE.c:FUNCTION", value_parser = super::bench::against::parse)]
    pub against: Option<String>,
    /// Print one JSON object, times in seconds
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct LspCommand {
    /// What the server does anyway; some editors ask for it
    #[arg(long)]
    pub stdio: bool,
}

#[derive(Args)]
pub struct CompletionsCommand {
    /// The shell
    pub shell: clap_complete::Shell,
}

#[derive(Args)]
pub struct ManCommand {
    /// The command whose page is wanted
    #[arg(value_name = "COMMAND")]
    pub subcommand: Option<String>,
}

#[derive(Args)]
pub struct BuildCommand {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub emission: Emission,
    #[command(flatten)]
    pub compilation: Compilation,
    #[command(flatten)]
    pub manifest: ManifestWord,
    /// Write a C++17 header too, beside the C one: `-o x.so` also writes x.hpp
    #[arg(long)]
    pub cpp: bool,
    /// Where the library or object goes; its ending says what it is
    #[arg(short, long, value_name = "PATH", required_unless_present = "python", conflicts_with = "python")]
    pub output: Option<PathBuf>,
    /// Make a Python package in this folder, whose name is the package's: it needs NumPy, and no compiler; with --target futhark around a
    /// library of Futhark
    #[arg(long, value_name = "DIR", value_parser = package)]
    pub python: Option<PathBuf>,
}

#[derive(Args)]
#[command(
    override_usage = "smoothc explain [OPTIONS] FILE ENTRY\n       smoothc explain --dual-numbers [OPTIONS] FILE ENTRY [ARG]...\n       smoothc explain CODE|RULE|rules|FUNCTION|library"
)]
pub struct ExplainCommand {
    #[command(flatten)]
    pub source: Source,
    /// The entry whose derivation is shown; without it FILE is a code such as E0101, a rule, `rules`, a
    /// function of the library, or `library`
    pub entry_name: Option<String>,
    /// Print each step, and every rule that almost fired
    #[arg(long)]
    pub all: bool,
    /// Write one self-contained page instead
    #[arg(long, value_name = "PATH")]
    pub html: Option<PathBuf>,
    /// Show instead how dual numbers with backpropagators become a tape, stage by stage (paper 004), on the function that the entry
    /// is or differentiates
    #[arg(long, conflicts_with_all = ["all", "html", "schedule"])]
    pub dual_numbers: bool,
    /// Count what each stage takes to go back, at these arguments
    #[arg(long, requires = "dual_numbers")]
    pub count: bool,
    /// The arguments to count at: JSON, or `@path` of a .json or .npy file
    #[arg(value_name = "ARG", requires = "dual_numbers")]
    pub args: Vec<String>,
}

#[derive(Args)]
pub struct RewriteCommand {
    /// A strategy such as `topdown mul-one`, the text of a strategy file, or the path of one
    pub strategy: String,
    /// An expression such as `x * 1.0`
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    pub expression: String,
    /// Leave out a rule or a group of rules (repeatable)
    #[arg(long, value_name = "RULE")]
    pub disable: Vec<String>,
}

/// The folder of a Python package, which is imported by the folder's name.
fn package(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name.is_empty() || identifier(name).is_err() || KEYWORDS.contains(&name) {
        return Err("the name of a package has letters, digits and `_`, begins with no digit, and is no word of Python".into());
    }
    // inside another package it has that one's name before its own
    let is_inside = path.parent().is_some_and(|folder| folder.join("__init__.py").exists());
    match IMPORTED.split(' ').any(|known| known == name) && !is_inside {
        true => Err(format!("a package of this name would stand in the place of the `{name}` that it needs itself: choose another")),
        false => Ok(path),
    }
}

/// The start of a C name.
fn identifier(text: &str) -> Result<String, String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match text.starts_with(|c: char| c.is_ascii_digit()) || !text.chars().all(legal) {
        true => Err("a C name has letters, digits and `_`, and begins with no digit".into()),
        false => Ok(text.to_string()),
    }
}

/// Puts a space before words that are negative numbers, so that they are no options.
pub fn protect_numbers(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut only_operands = false;
    words
        .map(|word| {
            only_operands |= word == "--";
            let is_number = word.to_str().is_some_and(|text| {
                text == "-Infinity"
                    || text
                        .strip_prefix('-')
                        .is_some_and(|rest| rest.trim_start_matches('.').starts_with(|first: char| first.is_ascii_digit()))
            });
            if !is_number || only_operands {
                return word;
            }
            let mut protected = OsString::from(" ");
            protected.push(word);
            protected
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(protect_numbers(words.split(' ').map(OsString::from)))
    }

    #[test]
    fn the_parser_is_well_formed() {
        crate::cli::command().debug_assert();
    }

    #[test]
    fn negative_numbers_are_arguments_and_options_go_anywhere() {
        for words in [
            "smoothc run f.smooth e 1 -2.5 -Infinity -o j.npy",
            "smoothc run -o j.npy f.smooth e 1 -2.5 -Infinity",
            "smoothc -q run f.smooth --schedule none e 1 -2.5 -o j.npy -Infinity --color never",
            "smoothc run f.smooth -o j.npy e -- 1 -2.5 -Infinity",
        ] {
            let Ok(Cli { command: Command::Run(run), .. }) = parse(words) else { panic!("{words}") };
            let args: Vec<&str> = run.call.call.args.iter().map(|arg| arg.trim()).collect();
            assert_eq!(args, ["1", "-2.5", "-Infinity"], "{words}");
            assert_eq!(run.call.output, Some(PathBuf::from("j.npy")));
        }
        let Ok(Cli { command: Command::Run(run), .. }) = parse("smoothc run f.smooth e -.5 +5") else { panic!("a point first") };
        assert_eq!(run.call.call.args.iter().map(|arg| arg.trim()).collect::<Vec<_>>(), ["-.5", "+5"]);
        for words in
            ["smoothc run f.smooth e -x", "smoothc", "smoothc frob", "smoothc build f.smooth", "smoothc emit f.smooth --target java"]
        {
            assert!(parse(words).is_err(), "{words}");
        }
    }
}
