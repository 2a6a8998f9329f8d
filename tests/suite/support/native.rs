//! Running many cases of one program as C: one file that includes the emitted one and calls its entries.
//!
//! In: a session with its C, and for each case the entry and its arguments. Out: for each case the result or the
//! status. Every buffer is a block of its own of exactly the size that the contract says, so that a sanitizer sees each
//! access outside; results are filled with a pattern first, so that an element that nobody wrote is seen; and where an
//! entry wants workspace, it is called once more with a byte less, which must be refused. With OpenMP what one thread
//! needs must be enough, and a byte less than that is refused.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use smoothc::cli::args::Arguments;
use smoothc::driver::Session;
use smoothc::ir::{Labels, Type};
use smoothc::real::Real;
use smoothc::toolchain::compiler::{self, Artifact};
use smoothc::toolchain::flat::{Column, Flat, Shape};
use smoothc::toolchain::shim::{Leaf, leaves};

use super::tools::LESS_SANITIZED;

/// An entry with its arguments.
pub struct Call<'a> {
    pub entry: &'a str,
    pub arguments: &'a Arguments,
}

/// What a call gave: a result, or a status that is not zero.
pub type Outcome = Result<Flat, i32>;

const HEAD: &str = "
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_OPENMP)
#include <omp.h>
static int threads = 1, spared = 0;
#define THREADS(count) omp_set_num_threads(count)
#else
#define THREADS(count) (void)0
#define threads 1
#define spared 1
#endif

static void *exactly(const void *from, size_t bytes)
{
    void *block = bytes == 0 ? NULL : malloc(bytes);
    if (bytes != 0 && from != NULL) memcpy(block, from, bytes);
    if (bytes != 0 && from == NULL) memset(block, 0x7f, bytes);
    return block;
}

static void print_double(FILE *file, const double *items, size_t count)
{
    for (size_t i = 0; i < count; i++) fprintf(file, \" %a\", items[i]);
    fprintf(file, \"\\n\");
}

static void print_float(FILE *file, const float *items, size_t count)
{
    for (size_t i = 0; i < count; i++) fprintf(file, \" %a\", (double)items[i]);
    fprintf(file, \"\\n\");
}

static void print_int64_t(FILE *file, const int64_t *items, size_t count)
{
    for (size_t i = 0; i < count; i++) fprintf(file, \" %lld\", (long long)items[i]);
    fprintf(file, \"\\n\");
}

static void print_bool(FILE *file, const void *items, size_t count)
{
    for (size_t i = 0; i < count; i++) fprintf(file, \" %d\", ((const unsigned char *)items)[i]);
    fprintf(file, \"\\n\");
}
";

/// The emitted C with all calls; `smooth_cases(path)` writes what they gave to a file, `main` is the same.
pub fn program(session: &Session, calls: &[Call]) -> Result<String, String> {
    let source = &session.emitted().map_err(|_| "nothing was emitted")?.source;
    let mut text = format!("{source}{HEAD}");
    for (number, call) in calls.iter().enumerate() {
        one(&mut text, session, number, call)?;
    }
    text.push_str("\nint smooth_cases(const char *path)\n{\n    FILE *file = fopen(path, \"w\");\n    if (file == NULL) return 1;\n");
    for number in 0..calls.len() {
        writeln!(text, "    case_{number}(file);").expect("memory");
    }
    text.push_str(
        "    return fclose(file);\n}\n\nint main(int count, char **words)\n{\n#if defined(_OPENMP)\n    \
         threads = count > 2 ? atoi(words[2]) : 1;\n    spared = count > 3;\n#endif\n    return count >= 2 ? smooth_cases(words[1]) : 1;\n}\n",
    );
    Ok(text)
}

fn one(text: &mut String, session: &Session, number: usize, call: &Call) -> Result<(), String> {
    let interface = session.interface(call.entry).map_err(|_| format!("no interface of {}", call.entry))?;
    let mut passed = Vec::new();
    for size in &interface.sizes {
        let value = call.arguments.bindings.get(size).ok_or("a size has no value")?;
        passed.push(integer(value));
    }
    let mut measured = passed.clone();
    let (mut body, mut blocks) = (String::new(), Vec::new());
    for (at, parameter) in interface.passed() {
        for (leaf, column) in leaves(parameter.ty(), interface.real).into_iter().zip(&call.arguments.values[at].columns) {
            match leaf {
                Leaf::Array(kind) => {
                    let name = format!("in_{}", blocks.len());
                    let items = literals(column, interface.real);
                    if items.is_empty() {
                        writeln!(body, "    {kind} *{name} = NULL;").expect("memory");
                    } else {
                        writeln!(body, "    static const {kind} {name}_items[] = {{{}}};", items.join(", ")).expect("memory");
                        writeln!(body, "    {kind} *{name} = ({kind} *)exactly({name}_items, sizeof {name}_items);").expect("memory");
                    }
                    passed.push(name.clone());
                    blocks.push(name);
                }
                Leaf::Double => passed.extend(literals(column, interface.real)),
                Leaf::Index | Leaf::Bool => {
                    passed.extend(literals(column, interface.real));
                    measured.extend(literals(column, interface.real));
                }
            }
        }
    }
    let shape = result_shape(session, call)?;
    let lengths: Vec<usize> = shape.columns().ok_or("too large")?.into_iter().map(|(_, length)| length).collect();
    let mut prints = String::new();
    for (at, (leaf, length)) in leaves(&interface.result, interface.real).into_iter().zip(lengths).enumerate() {
        let (kind, name) = (c_type(leaf, interface.real), format!("out_{at}"));
        writeln!(body, "    {kind} *{name} = ({kind} *)exactly(NULL, {length} * sizeof({kind}));").expect("memory");
        writeln!(prints, "        print_{kind}(file, {name}, {length});").expect("memory");
        passed.push(name.clone());
        blocks.push(name);
    }
    passed.push("workspace".into());
    blocks.push("workspace".into());
    let (entry, measure) = (&interface.name, &interface.workspace);
    let (passed, measured) = (passed.join(", "), measured.join(", "));
    let frees: String = blocks.iter().map(|name| format!("    free({name});\n")).collect();
    write!(
        text,
        "\nstatic void case_{number}(FILE *file)\n{{\n{body}    THREADS(1);\n    size_t least = {measure}({measured});\n    THREADS(threads);\n    \
         size_t bytes = spared ? least : {measure}({measured});\n    if (bytes < least) abort();\n    \
         void *workspace = bytes == SIZE_MAX ? NULL : exactly(NULL, bytes);\n    \
         int status = (int){entry}({passed}, bytes);\n    fprintf(file, \"%d\\n\", status);\n    if (status == 0) {{\n{prints}    }}\n    \
         if (status == 0 && least != 0) {{\n        bytes = least - 1;\n        \
         workspace = realloc(workspace, bytes);\n        \
         if ({entry}({passed}, bytes) != SMOOTH_WORKSPACE) abort();\n    }}\n{frees}}}\n"
    )
    .expect("memory");
    Ok(())
}

fn result_shape(session: &Session, call: &Call) -> Result<Shape, String> {
    let function = session.entry(call.entry).map_err(|_| "no entry")?;
    call.arguments.bindings.shape(&function.result).ok_or_else(|| "the result's size is not known".into())
}

fn c_type(leaf: Leaf, real: Real) -> &'static str {
    match leaf {
        Leaf::Double => real.c(),
        Leaf::Index => "int64_t",
        Leaf::Bool => "bool",
        Leaf::Array(kind) => kind,
    }
}

fn literals(column: &Column, real: Real) -> Vec<String> {
    match column {
        Column::Double(items) => items.iter().map(|item| real.literal(*item)).collect(),
        Column::Index(items) => items.iter().map(|item| integer(*item)).collect(),
        Column::Bool(items) => items.iter().map(bool::to_string).collect(),
        Column::Rolled(_) => panic!("C has no values of recursive types"),
    }
}

fn integer(value: i64) -> String {
    if value == i64::MIN { "INT64_MIN".into() } else { format!("INT64_C({value})") }
}

/// The flags of `run`, `build` and `bench`, but that what smoothc does not mark is optimised in less time.
pub const QUICK: compiler::Mode = compiler::Mode { arithmetic: compiler::Arithmetic::Fast, parallel: false, portable: false, quick: true };

/// Runs the calls in lanes, in this process.
pub fn optimised(text: &str, session: &Session, calls: &[Call], folder: &Path) -> Result<Vec<Outcome>, String> {
    compiled(text, session, calls, folder, QUICK)
}

/// Runs the calls with the flags of a mode, in this process.
pub fn compiled(text: &str, session: &Session, calls: &[Call], folder: &Path, mode: compiler::Mode) -> Result<Vec<Outcome>, String> {
    let (library, output) = (folder.join(format!("cases{}", std::env::consts::DLL_SUFFIX)), folder.join("optimised.txt"));
    compiler::compile(text, Artifact::SharedLibrary, mode, &library).map_err(|problem| problem.message)?;
    // SAFETY: the library is the one just made, which has no initialisers, and the function has this type.
    let status = unsafe {
        let library = libloading::Library::new(&library).map_err(|error| error.to_string())?;
        let run =
            library.get::<unsafe extern "C" fn(*const std::ffi::c_char) -> i32>(b"smooth_cases").map_err(|error| error.to_string())?;
        let path = std::ffi::CString::new(output.to_string_lossy().as_bytes()).map_err(|error| error.to_string())?;
        run(path.as_ptr())
    };
    if status == 0 { outcomes(&output, session, calls) } else { Err("cannot write results".into()) }
}

/// Runs the calls under the address and undefined-behaviour sanitizers, as a process of its own.
pub fn sanitized(text: &str, session: &Session, calls: &[Call], folder: &Path) -> Result<Vec<Outcome>, String> {
    let (file, binary, output) = (folder.join("cases.c"), folder.join("cases"), folder.join("sanitized.txt"));
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let mut command = Command::new(super::tools::c_compiler());
    command.args(["-std=c99", "-g1", "-O0", "-fsanitize=address,undefined", LESS_SANITIZED, "-fno-sanitize-recover=all", "-o"]);
    super::tools::succeeds(command.arg(&binary).arg(&file).arg("-lm"))?;
    super::tools::succeeds(Command::new(&binary).arg(&output))?;
    outcomes(&output, session, calls)
}

/// Runs the calls with OpenMP, where every loop is worth sharing: on so many threads, with the workspace that they want
/// or with what one of them needs. In lanes, or under the sanitizers.
pub fn parallel(
    text: &str,
    session: &Session,
    calls: &[Call],
    folder: &Path,
    runs: &[(usize, bool)],
    optimised: bool,
) -> Result<Vec<Vec<Outcome>>, String> {
    let (file, binary, output) = (folder.join("parallel.c"), folder.join("parallel"), folder.join("parallel.txt"));
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let mut command = Command::new(super::tools::c_compiler());
    if optimised {
        command.args(compiler::Mode { parallel: true, ..QUICK }.flags());
    } else {
        command.args(["-std=c99", "-g1", "-O0", "-fopenmp", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    }
    super::tools::succeeds(command.args(["-DSMOOTH_WORTH=1e-3", "-o"]).arg(&binary).arg(&file).arg("-lm"))?;
    let mut all = Vec::new();
    for (threads, spared) in runs {
        let mut command = Command::new(&binary);
        command.arg(&output).arg(threads.to_string()).args(spared.then_some("spared"));
        super::tools::succeeds(&mut command)?;
        all.push(outcomes(&output, session, calls)?);
    }
    Ok(all)
}

fn outcomes(path: &Path, session: &Session, calls: &[Call]) -> Result<Vec<Outcome>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut lines = text.lines();
    let mut outcomes = Vec::new();
    for call in calls {
        let status: i32 = lines.next().and_then(|line| line.parse().ok()).ok_or("no status")?;
        outcomes.push(if status == 0 {
            let shape = result_shape(session, call)?;
            let function = session.entry(call.entry).map_err(|_| "no entry")?;
            let kinds = kinds(&function.result, session.options.real);
            let lines: Vec<&str> = kinds.iter().map(|_| lines.next().unwrap_or_default()).collect();
            let mut columns: Vec<Column> = kinds.iter().zip(&lines).map(|(kind, line)| column(kind, line)).collect();
            let written: Vec<Vec<bool>> = kinds.iter().zip(&lines).map(|(kind, line)| written(kind, line)).collect();
            clear_other_cases(&shape, function.result_labels(), &mut columns, &written, &[true])
                .map_err(|problem| format!("{}: {problem}", call.entry))?;
            Ok(Flat { shape, columns })
        } else {
            Err(status)
        });
    }
    Ok(outcomes)
}

fn kinds(ty: &Type, real: Real) -> Vec<&'static str> {
    leaves(ty, real).into_iter().map(|leaf| c_type(leaf, real)).collect()
}

fn column(kind: &str, line: &str) -> Column {
    let words = line.split_whitespace();
    match kind {
        "double" | "float" => Column::Double(words.map(hexadecimal).collect()),
        "int64_t" => Column::Index(words.map(|word| word.parse().expect("an integer")).collect()),
        _ => Column::Bool(words.map(|word| word == "1").collect()),
    }
}

/// Which elements are no longer the pattern that results are filled with.
fn written(kind: &str, line: &str) -> Vec<bool> {
    let pattern = match kind {
        "double" => "0x1.f7f7f7f7f7f7fp+1016",
        "float" => "0x1.fefefep+127",
        "int64_t" => "9187201950435737471",
        _ => "127",
    };
    line.split_whitespace().map(|word| word != pattern).collect()
}

/// Zeros, as the interpreter has them, in the place of the data of other cases, which nobody may have written; `wanted` says of which of
/// the values the data are wanted at all.
fn clear_other_cases(shape: &Shape, labels: &Labels, columns: &mut [Column], written: &[Vec<bool>], wanted: &[bool]) -> Result<(), String> {
    if let Some((_, inside)) = labels.sole() {
        return clear_other_cases(shape, inside, columns, written, wanted);
    }
    match (shape, columns) {
        (Shape::Array(length, element), columns) => {
            let wanted: Vec<bool> = wanted.iter().flat_map(|wanted| std::iter::repeat_n(*wanted, *length)).collect();
            clear_other_cases(element, labels.element(), columns, written, &wanted)
        }
        (Shape::Tuple(parts), columns) => {
            let tags = match columns.first() {
                Some(Column::Index(tags)) => tags.clone(),
                _ => Vec::new(),
            };
            let mut at = 0;
            for (k, part) in parts.iter().enumerate() {
                let end = at + part.leaves();
                let of_part: Vec<bool> = match labels.case_of(k) {
                    Some(case) => wanted.iter().zip(&tags).map(|(wanted, tag)| *wanted && *tag == case as i64).collect(),
                    None => wanted.to_vec(),
                };
                clear_other_cases(part, labels.part(k), &mut columns[at..end], &written[at..end], &of_part)?;
                at = end;
            }
            Ok(())
        }
        (Shape::Double | Shape::Index | Shape::Bool | Shape::Rolled, [column]) => {
            for at in (0..wanted.len()).filter(|at| !wanted[*at]) {
                if written[0][at] {
                    return Err(format!("the datum {at} of another case was written: {column:?}"));
                }
                match column {
                    Column::Double(items) => items[at] = 0.0,
                    Column::Index(items) => items[at] = 0,
                    Column::Bool(items) => items[at] = false,
                    Column::Rolled(_) => panic!("C has no values of recursive types"),
                }
            }
            Ok(())
        }
        (Shape::Double | Shape::Index | Shape::Bool | Shape::Rolled, columns) => panic!("a scalar has one column, not {}", columns.len()),
    }
}

/// What `%a` prints: `-0x1.8p+1`, `inf`, `-nan`.
fn hexadecimal(word: &str) -> f64 {
    let (sign, word) = word.strip_prefix('-').map_or((1.0, word), |rest| (-1.0, rest));
    let magnitude = match word.strip_prefix("0x") {
        None => word.parse().expect("inf or nan"),
        Some(digits) => {
            let (digits, exponent) = digits.split_once('p').expect("an exponent");
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            let mantissa = u64::from_str_radix(&format!("{whole}{fraction}"), 16).expect("digits") as f64;
            let exponent = exponent.parse::<i32>().expect("an integer") - 4 * fraction.len() as i32;
            // in two steps, so that a subnormal number keeps its last digits
            mantissa * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
        }
    };
    sign * magnitude
}
