//! `runtime/`, taken apart: an emitted file holds the helpers that it uses, and what those use.
//!
//! In: the text of the functions. Out: the helpers in the order of `runtime/`, each under a guard of its own,
//! so that two emitted files go into one translation unit.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::real::Real;

/// The status type, for the C file and the header.
pub const STATUS: &str = include_str!("../../runtime/status.h");
/// The macro for `restrict`, for the C file and the header.
pub const RESTRICT: &str = include_str!("../../runtime/restrict.h");

/// The macros before loops whose iterations may run at once, for the C file.
const LANES: &str = include_str!("../../runtime/lanes.h");
/// Vector functions for such loops, for the C file.
const VECTOR_MATH: &str = include_str!("../../runtime/vector_math.h");
/// The same for floats.
const VECTOR_MATH_F32: &str = include_str!("../../runtime/vector_math_f32.h");
/// The macro before functions whose loops write rows of a few columns, for the C file.
const NARROW: &str = include_str!("../../runtime/narrow.h");
/// The barrier in loops whose order a compiler must not change, for the C file.
const ORDER: &str = include_str!("../../runtime/order.h");
/// The macros before loops that threads share, for the C file.
const PARALLEL: &str = include_str!("../../runtime/parallel.h");

/// The parts of a C file that only some loops need.
pub fn loop_parts(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    if text.contains("SMOOTH_LANES") {
        parts.push(LANES.to_string());
        for (real, vector_math) in [(Real::F64, VECTOR_MATH), (Real::F32, VECTOR_MATH_F32)] {
            let calls = |name: &&str| text.contains(&format!("{}(", real.function(name)));
            if vector_functions().chain(CALLING_THEM).any(|name| calls(&name)) {
                parts.push(vector_math.to_string());
            }
        }
    }
    if text.contains("SMOOTH_NARROW") {
        parts.push(NARROW.to_string());
    }
    if text.contains("SMOOTH_KEEP_ORDER") {
        parts.push(ORDER.to_string());
    }
    if text.contains("smooth_threads") || text.contains("SMOOTH_PARALLEL") {
        parts.push(PARALLEL.to_string());
    }
    parts
}

/// The names of those that [`VECTOR_MATH`] declares.
fn vector_functions() -> impl Iterator<Item = &'static str> {
    let declared = VECTOR_MATH.lines().filter_map(|line| line.strip_prefix("__attribute__((simd(\"notinbranch\"), const)) double "));
    declared.filter_map(|line| line.split('(').next())
}

/// The helpers that call such functions, as lanes do where the helper is inlined.
const CALLING_THEM: [&str; 2] = ["smooth_sigmoid", "smooth_softplus"];

const FILES: [&str; 7] = [
    include_str!("../../runtime/index.h"),
    include_str!("../../runtime/size.h"),
    include_str!("../../runtime/real.h"),
    include_str!("../../runtime/real_f32.h"),
    include_str!("../../runtime/rows.h"),
    include_str!("../../runtime/rows_f32.h"),
    include_str!("../../runtime/threads.h"),
];

/// One helper with the comment that stands directly before it.
#[derive(Clone, Debug, Serialize)]
pub struct Helper {
    pub guard: String,
    pub text: String,
    #[serde(skip)]
    name: String,
}

/// The helpers that a text needs.
pub fn helpers(text: &str) -> Vec<Helper> {
    let all: Vec<Helper> = FILES.iter().flat_map(|file| split(file)).collect();
    let mut wanted: BTreeSet<String> = called(text);
    loop {
        let more: BTreeSet<String> =
            all.iter().filter(|helper| wanted.contains(&helper.name)).flat_map(|helper| called(&helper.text)).collect();
        let before = wanted.len();
        wanted.extend(more);
        if wanted.len() == before {
            break;
        }
    }
    all.into_iter().filter(|helper| wanted.contains(&helper.name)).collect()
}

/// Names of the form `smooth_…` in a text.
fn called(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("smooth_")).map(str::to_string).collect()
}

/// The functions of a file: each starts with `static inline` and ends with a `}` in the first column.
fn split(file: &str) -> Vec<Helper> {
    let mut helpers = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in file.lines() {
        if line.is_empty() {
            // a blank line ends a comment about the whole file
            lines.clear();
            continue;
        }
        lines.push(line);
        if line == "}" {
            let text = lines.join("\n");
            let head = lines.iter().find(|line| line.starts_with("static inline")).copied().unwrap_or_default();
            let name = called(head).into_iter().next().unwrap_or_default();
            helpers.push(Helper { guard: name.to_ascii_uppercase().replacen("SMOOTH_", "SMOOTH_HAS_", 1), text, name });
            lines.clear();
        }
    }
    helpers
}
