//! `--against FILE.c:FUNCTION`: a function in C by hand, compiled and called as the entry is.
//!
//! In: the words, and the entry's interface. Out: the function, loaded; it has the entry's C signature, a status included. A
//! `FUNCTION_workspace` beside it is asked for the workspace; without one it gets none. The file is included where it lies,
//! so that its own `#include`s are found.

use std::path::Path;

use super::super::files;
use crate::diagnostic::Diagnostic;
use crate::ir::eval::Value;
use crate::source::Span;
use crate::toolchain::call::{self, Loaded};
use crate::toolchain::compiler::Mode;
use crate::toolchain::flat::{Column, Flat};
use crate::toolchain::shim::Interface;

/// `FILE.c:FUNCTION`, for the parser of options.
pub fn parse(text: &str) -> Result<String, String> {
    let (file, function) = split(text).ok_or("FILE.c:FUNCTION is missing its `:`")?;
    let is_name = !function.starts_with(|first: char| first.is_ascii_digit())
        && !function.is_empty()
        && function.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    match (is_name, file.ends_with(".c")) {
        (true, true) => Ok(text.to_string()),
        (false, _) => Err(format!("`{function}` is no name of a C function")),
        (true, false) => Err("the file before the `:` does not end in .c".into()),
    }
}

fn split(text: &str) -> Option<(&str, &str)> {
    text.rsplit_once(':')
}

/// Compiles the file and loads the function.
pub fn load(words: &str, interface: Interface, mode: Mode, span: Span) -> Result<Loaded, Diagnostic> {
    let (file, function) = split(words).unwrap_or((words, ""));
    let path = Path::new(file);
    let text = std::fs::read(path).map_err(|error| {
        let message = format!("cannot read `{file}`: {}", files::reason_at(path, &error));
        Diagnostic::error("E0001", Span::NONE, message).help("name a C file, as in --against hand.c:dot")
    })?;
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).display().to_string();
    if path.contains(['"', '\\', '\n']) {
        let problem = Diagnostic::error("E0821", Span::NONE, format!("`{file}` has a name that C cannot include"));
        return Err(problem.help("rename it"));
    }
    let measure = format!("{function}_workspace");
    let has_measure = String::from_utf8_lossy(&text).contains(&measure);
    let none = "smooth_no_workspace";
    let interface = Interface { name: function.into(), workspace: if has_measure { measure } else { none.into() }, ..interface };
    let source = format!(
        "#pragma GCC diagnostic error \"-Wimplicit-function-declaration\"\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include \"{path}\"\n#define {none}(...) ((size_t)0)\n"
    );
    call::load(&source, mode, interface, span).map_err(|problem| match problem.code {
        "E0902" | "E0904" => {
            Diagnostic::error("E0821", Span::NONE, format!("`{words}` cannot be called as the entry is: {}", problem.message))
                .help("the function takes and gives what the entry does in emitted C: `smoothc emit` prints the prototype")
        }
        _ => problem,
    })
}

/// The first pair of numbers that differ by more than rounding.
pub fn difference(own: &Flat, other: &Flat) -> Option<String> {
    let largest = own.columns.iter().flat_map(numbers).fold(1.0, |most: f64, x| if x.is_finite() { most.max(x.abs()) } else { most });
    let pairs = own.columns.iter().flat_map(numbers).zip(other.columns.iter().flat_map(numbers));
    let agree = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-6 * largest;
    pairs.into_iter().find(|(a, b)| !agree(*a, *b)).map(|(a, b)| format!("{a:?} and {b:?}"))
}

fn numbers(column: &Column) -> Vec<f64> {
    match column {
        Column::Double(items) => items.clone(),
        Column::Index(items) => items.iter().map(|item| *item as f64).collect(),
        Column::Bool(items) => items.iter().map(|item| f64::from(u8::from(*item))).collect(),
        Column::Rolled(items) => items.iter().flat_map(Value::doubles).collect(),
    }
}
