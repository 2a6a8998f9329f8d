//! How much workspace every entry of every example wants, beside the least that we can argue for: `docs/workspace.md`.
//!
//! The entries are those that the compiler emits; each one's `*_workspace` function is compiled and called at several
//! sizes. The least of an entry that wants any is in [`LEAST`]. After a change that is meant to change the page:
//!
//!     UPDATE_DOCS=1 cargo test --test suite workspace::

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use smoothc::stack::with_large_stack;

use crate::support::{cases, engine, tools};

const PAGE: &str = "docs/workspace.md";

/// Example, entry, the least number of bytes, why. Entries that want no workspace are not listed.
const LEAST: &[(&str, &str, &str, &str)] = &[
    ("tolerance", "fixedPoint", "8 n", "a state and the one after it; one of them could be the result"),
    ("tolerance", "response", "16 n", "a state and the one after it"),
    ("tolerance", "sensitivity", "16 n", "the states are kept, as many as there is room for"),
    (
        "shapes",
        "totalGradient",
        "0",
        "what each row of the `match` gives is stored and then chosen; the row that is taken could write the result",
    ),
    (
        "logistic_regression",
        "lossHessian",
        "0",
        "each row's factor is read for every row of the result; adding one row's products to all of the result would store none, and read and write the result once for each row of X",
    ),
    ("mlp", "predict", "8 h", "each output reads all hidden values; the results have another length"),
    ("mlp", "loss", "8 h", "each output reads all hidden values"),
    ("mlp", "gradientW1", "8 h + 8 m", "each residual reads all hidden values, and each row of the result all residuals"),
    (
        "mlp",
        "gradientB1",
        "8 h",
        "each residual reads all hidden values, and the result holds sums until the last residual is known; a residual is used up in its row",
    ),
    ("mlp", "gradientW2", "8 h", "each residual reads all hidden values; a residual is used up in its row of the result"),
    ("mlp", "gradientB2", "8 h", "each residual reads all hidden values; the residuals are the result"),
    ("mlp", "gradients", "8 h", "the hidden values are read until the last result is written; the residuals are a result"),
    ("nnmf", "gradientU", "0", "the reciprocals of v: without them there would be m * n divisions in the place of n"),
    ("operators", "power", "8 n n", "the product of two matrices reads all of both"),
    (
        "solvers",
        "orbit",
        "0",
        "each point can be read from the row of the result that it was written to; the matrix is stored by columns, so that its products need no sums across lanes",
    ),
    ("solvers", "solution", "8 n n", "elimination changes the matrix, which is the caller's"),
    ("solvers", "volume", "8 n n", "elimination changes the matrix, which is the caller's"),
    ("solvers", "likelihood", "8 n n", "each column of the factor reads the columns before it"),
    ("solvers", "cumulatedNorm", "0", "a running sum is used up when the next is known"),
    ("solvers", "cumulatedSlope", "0", "the running sums can stay where their cotangents go, in the result"),
    ("solvers", "keySpread", "8 m", "the total of a key is known when all are read"),
    ("solvers", "weightSlopes", "8 m", "the total of a key is known when all are read"),
    ("solvers", "powerSum", "0", "a power is used up when the next is known"),
    ("solvers", "powerSlopes", "0", "a power and its derivative are used up when the next are known"),
    ("solvers", "likelihoodSlopes", "8 n n", "the factor, whose cotangent can be the result"),
    ("solvers", "volumeSlopes", "8 n n", "the factors, whose cotangent can be the result"),
    ("solvers", "solutionNorm", "8 n n", "elimination changes the matrix, which is the caller's"),
    ("solvers", "solutionSlopes", "8 n n", "the factors, whose cotangent can be the result"),
];

/// An entry's workspace function.
struct Measure {
    example: String,
    entry: String,
    sizes: Vec<String>,
    flags: usize,
}

/// Sizes at which the page lists the bytes.
const LISTED: [i64; 2] = [10, 1000];

impl Measure {
    /// Every choice of sizes of 0 and 1, then those to list, then some that tell other polynomials apart.
    fn points(&self) -> Vec<Vec<i64>> {
        let count = self.sizes.len();
        let corners = (0..1usize << count).map(|set| (0..count).map(|k| i64::from(set >> k & 1 == 1)).collect());
        let listed = LISTED.iter().map(|size| vec![*size; count]);
        let others = (1..4).map(|turn| (0..count as i64).map(|k| 3 + (7 * k + 5 * turn) % 11).collect());
        corners.chain(listed).chain(others).collect()
    }

    fn call(&self, point: &[i64]) -> String {
        let args = point.iter().map(i64::to_string).chain((0..self.flags).map(|_| "false".to_string()));
        format!("{}_workspace({})", self.entry, args.collect::<Vec<_>>().join(", "))
    }
}

/// The measures that a header declares.
fn measures(example: &str, header: &str) -> Vec<Measure> {
    let mut found = Vec::new();
    for line in header.lines() {
        let Some((entry, params)) = line.strip_prefix("size_t ").and_then(|line| line.split_once("_workspace(")) else { continue };
        let params: Vec<&str> = params.trim_end_matches(");").split(", ").filter(|param| *param != "void").collect();
        let size = |param: &&str| param.strip_prefix("int64_t ").map(str::to_string);
        let sizes: Vec<String> = params.iter().filter_map(size).collect();
        found.push(Measure { example: example.to_string(), entry: entry.to_string(), flags: params.len() - sizes.len(), sizes });
    }
    found
}

/// What the measures of one example return.
fn bytes(measures: &[Measure], source: &str) -> Vec<Vec<u64>> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = format!("{source}\n#include <stdio.h>\nint main(void)\n{{\n");
    for measure in measures {
        for point in measure.points() {
            let _ = writeln!(text, "    printf(\"%zu\\n\", {});", measure.call(&point));
        }
    }
    text.push_str("    return 0;\n}\n");
    let (file, program) = (folder.path().join("sizes.c"), folder.path().join("sizes"));
    std::fs::write(&file, text).expect("writes");
    let mut compile = Command::new(tools::c_compiler());
    tools::succeeds(compile.args(["-std=c99", "-o"]).arg(&program).arg(&file).arg("-lm")).unwrap_or_else(|problem| panic!("{problem}"));
    let printed = tools::succeeds(&mut Command::new(&program)).unwrap_or_else(|problem| panic!("{problem}"));
    let mut numbers = printed.lines().map(|line| line.parse().expect("a number"));
    measures.iter().map(|measure| numbers.by_ref().take(measure.points().len()).collect()).collect()
}

/// A sum of products of different sizes: a factor and which sizes, for each.
type Polynomial = Vec<(i64, Vec<String>)>;

fn value(polynomial: &Polynomial, sizes: &[String], point: &[i64]) -> i64 {
    let of = |name: &String| sizes.iter().position(|size| size == name).map_or(0, |k| point[k]);
    polynomial.iter().map(|(factor, names)| factor * names.iter().map(of).product::<i64>()).sum()
}

fn polynomial(text: &str) -> Polynomial {
    let monomial = |text: &str| {
        let mut words = text.split_whitespace();
        let factor = words.next().and_then(|word| word.parse().ok()).expect("a factor");
        (factor, words.map(str::to_string).collect())
    };
    text.split('+').map(monomial).collect()
}

fn shown(polynomial: &Polynomial) -> String {
    let monomial = |(factor, names): &(i64, Vec<String>)| [vec![factor.to_string()], names.clone()].concat().join(" ");
    if polynomial.is_empty() { "0".into() } else { polynomial.iter().map(monomial).collect::<Vec<_>>().join(" + ") }
}

/// The polynomial that has these values at the corners, if it has those at the other points as well.
fn fitted(measure: &Measure, values: &[u64]) -> Option<Polynomial> {
    let count = measure.sizes.len();
    let mut found: Polynomial = Vec::new();
    for (set, point) in measure.points().iter().enumerate().take(1 << count) {
        let factor = values[set] as i64 - value(&found, &measure.sizes, point);
        let names = (0..count).filter(|k| set >> k & 1 == 1).map(|k| measure.sizes[k].clone());
        found.extend((factor != 0).then(|| (factor, names.collect())));
    }
    let fits = measure.points().iter().zip(values).all(|(point, bytes)| value(&found, &measure.sizes, point) == *bytes as i64);
    fits.then_some(found)
}

/// `8000` as `8,000`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn page() -> String {
    let mut some = String::new();
    let mut none = String::new();
    let mut listed = Vec::new();
    for example in cases::all() {
        let session = engine::compile(&example.path, &example.text, "default", "emit").unwrap_or_else(|problem| panic!("{problem}"));
        let files = session.files.as_ref().expect("C");
        let name = Path::new(&example.path).file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let measures = measures(&name, &files.header);
        assert!(!measures.is_empty(), "{name}: no entries");
        let mut without: Vec<String> = Vec::new();
        for (measure, values) in measures.iter().zip(bytes(&measures, &files.source)) {
            if values.iter().all(|bytes| *bytes == 0) {
                without.push(format!("`{}`", measure.entry));
                continue;
            }
            some.push_str(&row(measure, &values));
            listed.push((measure.example.clone(), measure.entry.clone()));
        }
        if !without.is_empty() {
            let _ = writeln!(none, "| {name} | {} |", without.join(", "));
        }
    }
    for (example, entry, ..) in LEAST {
        assert!(listed.contains(&(example.to_string(), entry.to_string())), "{example}, {entry}: it wants no workspace any more");
    }
    let [few, many] = LISTED.map(|size| grouped(size as u64));
    format!(
        "# Workspace\n\nAn emitted function allocates nothing: what it stores that is no result is in the workspace that its caller gives it. Its `*_workspace` \
         function says\nhow many bytes. Here is what it says for every entry of every example, beside the least that we can argue for: no more work, in \
         the same order of\nsize. `tests/suite/workspace.rs` calls the functions and writes this page.\n\n\
         An array of at most 16 elements that has a literal length is a local one. With `--parallel`, each thread has a slice of its own, and arrays are \
         stored\nwhere that lets threads share the loop that computes them.\n\n\
         ## Entries with workspace\n\n\
         | example | entry | bytes | at {few} | at {many} | least | why |\n| --- | --- | --- | ---: | ---: | --- | --- |\n{some}\n\
         `at {few}` is where each size is {few}.\n\n## Entries without\n\n| example | entries |\n| --- | --- |\n{none}"
    )
}

fn row(measure: &Measure, values: &[u64]) -> String {
    let at = format!("{}, {}", measure.example, measure.entry);
    let known = LEAST.iter().find(|(example, entry, ..)| *example == measure.example && *entry == measure.entry);
    let Some((_, _, least, why)) = known else { panic!("{at}: what is the least of {values:?}?") };
    let least = polynomial(least);
    for (point, bytes) in measure.points().iter().zip(values) {
        let least = value(&least, &measure.sizes, point);
        assert!(least <= *bytes as i64, "{at}: {bytes} bytes at {point:?} are less than the least, {least}");
    }
    let formula = fitted(measure, values).map_or("no polynomial".into(), |polynomial| shown(&polynomial));
    let corners = 1 << measure.sizes.len();
    let [few, many] = [corners, corners + 1].map(|k| grouped(values[k]));
    let least = if least.iter().all(|(factor, _)| *factor == 0) { "0".into() } else { shown(&least) };
    format!("| {} | `{}` | {formula} | {few} | {many} | {least} | {why} |\n", measure.example, measure.entry)
}

#[test]
fn the_page_of_workspaces_is_true() {
    let wanted = with_large_stack(page);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &wanted).expect("the page is writable");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "{PAGE} is not current: UPDATE_DOCS=1 cargo test --test suite workspace::\n\n{wanted}");
}
