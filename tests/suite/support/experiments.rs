//! The experiments of 001 Section 7: each program with the rules added group by group, and its C with intermediates on the heap.
//!
//! In: an experiment of [`EXPERIMENTS`]. Out: for each set of rules the cost, what the interpreter counts, and how many intermediate
//! arrays the C has; and that C with `malloc` and `free` for each of them. `benches/experiments/main.rs` adds times and writes
//! `docs/paper-experiments.md`; `tests/suite/docs.rs` holds that page against the program.
//!
//! `double *t = (double *)ws;`   →   `void *t_heap HEAP = malloc(…); double *t = (double *)t_heap;`, which is freed where its scope ends.

use smoothc::driver::Session;

use super::ablation::{Example, camera, compiled, nnmf, numbers, row};

/// A program of the paper.
pub struct Experiment {
    pub example: Example,
    /// At which it is timed.
    pub sizes: [usize; 3],
    /// What the paper finds.
    pub paper: &'static str,
}

/// Groups of rules that are left out, and how the paper calls what is there.
pub const STEPS: [(&str, &[&str]); 4] = [
    ("none", &["fusion", "normalisation", "motion"]),
    ("+ fusion", &["normalisation", "motion"]),
    ("+ normalisation", &["motion"]),
    ("+ code motion", &[]),
];

/// Rules without which the camera is measured again.
pub const UNROLLING: [(&str, &[&str]); 5] = [
    ("nothing", &[]),
    ("`build-unroll`", &["build-unroll"]),
    ("`build-unroll`, `fold-unroll`", &["build-unroll", "fold-unroll"]),
    ("all of normalisation", &["normalisation"]),
    ("all of normalisation, code motion", &["normalisation", "motion"]),
];

const MICRO: (&str, &str) = ("examples/micro.smooth", include_str!("../../../examples/micro.smooth"));
const NNMF: (&str, &str) = ("examples/nnmf.smooth", include_str!("../../../examples/nnmf.smooth"));
const CAMERA: (&str, &str) = ("examples/project.smooth", include_str!("../../../examples/project.smooth"));

const fn experiment(
    name: &'static str,
    (path, text): (&'static str, &'static str),
    entry: &'static str,
    arguments: fn(usize) -> Vec<String>,
    sizes: [usize; 3],
    paper: &'static str,
) -> Experiment {
    let variables = if path.len() == NNMF.0.len() { "m = n" } else { "n" };
    Experiment { example: Example { name, path, text, entry, arguments, counted: 30, timed: sizes[2], sizes: variables }, sizes, paper }
}

pub const EXPERIMENTS: [Experiment; 6] = [
    experiment(
        "The gradient of a dot product",
        MICRO,
        "dotGradient",
        two_vectors,
        [100, 1000, 10_000],
        "All optimisations together make forward mode as fast as Tapenade's reverse mode; without them, as in Tapenade's forward mode, there is a loop \
         too many. Destination passing makes it faster still.",
    ),
    experiment("The gradient of a maximum", MICRO, "maxGradient", one_vector, [100, 1000, 10_000], "As for the dot product."),
    experiment(
        "The Jacobian of a sum of vectors",
        MICRO,
        "addJacobian",
        two_vectors,
        [30, 100, 1000],
        "Forward and reverse mode cost about the same in all systems, as the Jacobian is square.",
    ),
    experiment(
        "The derivative of a vector times a number",
        MICRO,
        "smulDerivative",
        vector_and_number,
        [100, 1000, 100_000],
        "One column: systems with forward mode need one pass, those with reverse mode one for each row.",
    ),
    experiment(
        "Non-negative matrix factorization",
        NNMF,
        "gradientV",
        nnmf,
        [10, 50, 200],
        "Fusion gives about one order of magnitude, normalisation two to three and another asymptotic cost, destination passing a little. Then it is as fast \
         as Tapenade's reverse mode.",
    ),
    experiment(
        "Bundle adjustment: the Jacobian of the camera",
        CAMERA,
        "jacobianAll",
        camera,
        [10, 100, 1000],
        "Normalisation has a negligible effect, code motion makes it up to two times faster, destination passing another 10 %. Forward mode is faster than \
         reverse mode in all systems.",
    ),
];

fn two_vectors(n: usize) -> Vec<String> {
    vec![numbers(n, |i| 0.5 + (i % 7) as f64), numbers(n, |i| 1.0 + (i % 5) as f64)]
}

fn one_vector(n: usize) -> Vec<String> {
    vec![numbers(n, |i| ((i * 7919) % 104_729) as f64)]
}

fn vector_and_number(n: usize) -> Vec<String> {
    vec![numbers(n, |i| 0.5 + (i % 7) as f64), "3.0".into()]
}

/// The program without these groups or rules, as C.
pub fn emitted(example: &Example, left_out: &[&str]) -> Session {
    compiled(example, &owned(left_out), "emit")
}

fn owned(left_out: &[&str]) -> Vec<String> {
    left_out.iter().map(|name| name.to_string()).collect()
}

/// The first cells of a row of the page: they are the same on every machine.
pub fn cells(example: &Example, step: &str, left_out: &[&str]) -> String {
    let session = emitted(example, left_out);
    let arrays = on_the_heap(&session.emitted().expect("C").source).1;
    let measured = row(example, owned(left_out));
    format!("| {step} | {} | {} | {arrays} |", measured.cost, measured.counted)
}

const HEAP: &str = "#include <stdlib.h>\n\nstatic void heap_free(void *held)\n{\n    free(*(void **)held);\n}\n\
                    #define HEAP __attribute__((cleanup(heap_free)))\n\n";

/// The C with memory of its own for each intermediate array, and how many there are.
pub fn on_the_heap(c: &str) -> (String, usize) {
    let mut text = HEAP.to_string();
    let (mut count, mut lines) = (0, c.lines().peekable());
    while let Some(line) = lines.next() {
        let indent = &line[..line.len() - line.trim_start().len()];
        let Some(declared) = declared(line.trim()) else {
            text += &format!("{line}\n");
            continue;
        };
        let (element, name) = (declared.element, declared.name);
        let mut grown = String::new();
        let bytes = match declared.place {
            Place::Local { length } => format!("sizeof({element}) * (size_t)({length})"),
            Place::Room { from } => {
                let growth = format!("{from} += ");
                while grown.is_empty() && lines.peek().is_some_and(|next| next.trim().starts_with(&growth))
                    || !grown.is_empty() && !grown.ends_with(';')
                {
                    grown += lines.next().expect("a statement ends").trim();
                }
                // the last room of a scope: what is left is what it takes, where no other scope takes more
                let left = || format!("(size_t)((char *)workspace + workspace_bytes - (char *){from})");
                grown.strip_prefix(&growth).and_then(|rest| rest.strip_suffix(';')).map_or_else(left, str::to_string)
            }
        };
        text += &format!("{indent}void *{name}_heap HEAP = malloc({bytes});\n{indent}{element} *{name} = ({element} *){name}_heap;\n");
        if !grown.is_empty() {
            text += &format!("{indent}{grown}\n");
        }
        count += 1;
    }
    (text, count)
}

/// A statement that makes an intermediate array.
struct Declared<'a> {
    element: &'a str,
    name: &'a str,
    place: Place<'a>,
}

/// Where the emitted C has it.
enum Place<'a> {
    Local { length: &'a str },
    Room { from: &'a str },
}

/// `double t[3];` or `double *t = (double *)ws;`
fn declared(statement: &str) -> Option<Declared<'_>> {
    let (element, rest) = statement.strip_suffix(';')?.split_once(' ')?;
    if !["double", "int64_t", "bool"].contains(&element) {
        return None;
    }
    if let Some(pointer) = rest.strip_prefix('*') {
        let (name, value) = pointer.split_once(" = ")?;
        let from = value.strip_prefix(&format!("({element} *)"))?;
        return (from == "workspace" || from.starts_with("ws")).then_some(Declared { element, name, place: Place::Room { from } });
    }
    let (name, length) = rest.strip_suffix(']')?.split_once('[')?;
    // the lanes of a number are no array of the program, nor is a tile of eight rows
    (!name.contains(' ') && !["16", "32"].contains(&length) && !length.contains('[')).then_some(Declared {
        element,
        name,
        place: Place::Local { length },
    })
}
