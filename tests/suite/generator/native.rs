//! Many emitted entries in one executable, called with exact-size memory.
//!
//! In: emitted C with its entries' interfaces, and calls. Out: for each call a status and the result's columns,
//! or what the sanitizers said. `harness.c` is the other side of the pipe.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use smoothc::cli::args::Arguments;
use smoothc::toolchain::flat::Column;
use smoothc::toolchain::shim::{Interface, Leaf, leaves};

use crate::support::tools::LESS_SANITIZED;

pub const SANITIZED: &[&str] = &["-O0", "-g1", "-fsanitize=address,undefined", LESS_SANITIZED, "-fno-sanitize-recover=all"];
/// Every loop is worth sharing.
pub const THREADS: &[&str] =
    &["-O0", "-g1", "-fopenmp", "-DSMOOTH_WORTH=1e-3", "-fsanitize=address,undefined", LESS_SANITIZED, "-fno-sanitize-recover=all"];
pub const PLAIN: &[&str] = &["-O2"];

/// The other side of one call.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Columns(Vec<Column>),
    /// A status of the entry.
    Status(i64),
    /// The workspace does not fit, or less workspace than asked for was no error.
    Workspace(String),
    /// The process ended: what it said.
    Crash(String),
}

/// One call: the entry's number and what to pass.
pub struct Call<'a> {
    pub entry: usize,
    pub arguments: &'a Arguments,
}

/// Compiles; gives the warnings, of which there should be none.
pub fn compile(folder: &Path, name: &str, source: &str, interfaces: &[Interface], flags: &[&str]) -> Result<String, String> {
    let mut text = source.to_string();
    let mut table = String::new();
    for (k, interface) in interfaces.iter().enumerate() {
        // shims have outside linkage so that no warning asks for a prototype
        let shim = interface.shim(&format!("entry_call_{k}"), &format!("entry_workspace_{k}"));
        text.push_str(&shim.replace("\nint entry", "\nstatic int entry").replace("\nsize_t entry", "\nstatic size_t entry"));
        table.push_str(&format!("    {{ entry_call_{k}, entry_workspace_{k} }},\n"));
    }
    text.push_str(
        "\nstatic const struct {\n    int (*call)(const int64_t *, const double *, void *const *, void *, size_t);\n    \
         size_t (*workspace)(const int64_t *);\n} harness_table[] = {\n",
    );
    text.push_str(&table);
    text.push_str("};\n\n");
    text.push_str(include_str!("harness.c"));
    let path = folder.join(format!("{name}.c"));
    std::fs::write(&path, text).map_err(|error| error.to_string())?;
    let done = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()))
        .args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wvla"])
        .args(flags)
        .arg("-o")
        .arg(folder.join(name))
        .arg(&path)
        .arg("-lm")
        .output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if done.status.success() { Ok(said) } else { Err(said) }
}

/// Makes all calls; a crash costs one call, not those after it.
pub fn run(folder: &Path, name: &str, interfaces: &[Interface], calls: &[Call]) -> Vec<Answer> {
    let mut answers = Vec::new();
    while answers.len() < calls.len() {
        let rest = &calls[answers.len()..];
        let mut input = Vec::new();
        put(&mut input, rest.len() as i64);
        let mut outputs = Vec::new();
        for call in rest {
            outputs.push(encode(call, &interfaces[call.entry], &mut input));
        }
        let mut child = Command::new(folder.join(name))
            .env("ASAN_OPTIONS", "allocator_may_return_null=1:detect_leaks=0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program was just compiled");
        let mut stdin = child.stdin.take().expect("a pipe");
        // a crash closes the pipe
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let done = child.wait_with_output().expect("ends");
        writer.join().expect("writes");
        let mut bytes = done.stdout.as_slice();
        for columns in outputs {
            match decode(columns, &mut bytes) {
                Some(answer) => answers.push(answer),
                None => {
                    let said = String::from_utf8_lossy(&done.stderr).into_owned();
                    answers.push(Answer::Crash(format!("{} {}", done.status, said.lines().take(12).collect::<Vec<_>>().join("\n"))));
                    break;
                }
            }
        }
    }
    answers
}

fn put(bytes: &mut Vec<u8>, value: i64) {
    bytes.extend(value.to_le_bytes());
}

fn column_bytes(column: &Column) -> Vec<u8> {
    match column {
        Column::Double(items) => items.iter().flat_map(|item| item.to_le_bytes()).collect(),
        Column::Index(items) => items.iter().flat_map(|item| item.to_le_bytes()).collect(),
        Column::Bool(items) => items.iter().map(|item| u8::from(*item)).collect(),
        Column::Rolled(_) => panic!("C has no values of recursive types"),
    }
}

/// Appends a call; gives the columns of its result, empty, with their lengths.
fn encode(call: &Call, interface: &Interface, bytes: &mut Vec<u8>) -> Vec<(Column, usize)> {
    let bindings = &call.arguments.bindings;
    let mut ints: Vec<i64> = interface.sizes.iter().map(|size| bindings.get(size).unwrap_or(0)).collect();
    let (mut doubles, mut arrays) = (Vec::new(), Vec::new());
    for (at, param) in interface.passed() {
        for (leaf, column) in leaves(param.ty(), Default::default()).into_iter().zip(&call.arguments.values[at].columns) {
            match (leaf, column) {
                (Leaf::Array(_), column) => arrays.push(column_bytes(column)),
                (_, Column::Double(items)) => doubles.extend(items),
                (_, Column::Index(items)) => ints.extend(items),
                (_, Column::Bool(items)) => ints.extend(items.iter().map(|item| i64::from(*item))),
                (_, Column::Rolled(_)) => panic!("C has no values of recursive types"),
            }
        }
    }
    let columns = bindings.shape(&interface.result).and_then(|shape| shape.columns()).unwrap_or_default();
    put(bytes, call.entry as i64);
    put(bytes, ints.len() as i64);
    ints.iter().for_each(|value| put(bytes, *value));
    put(bytes, doubles.len() as i64);
    doubles.iter().for_each(|value: &f64| put(bytes, value.to_bits() as i64));
    put(bytes, arrays.len() as i64);
    put(bytes, columns.len() as i64);
    for array in arrays {
        put(bytes, array.len() as i64);
        bytes.extend(array);
    }
    for (column, length) in &columns {
        put(bytes, (column.element_bytes() * length) as i64);
    }
    columns
}

fn decode(columns: Vec<(Column, usize)>, bytes: &mut &[u8]) -> Option<Answer> {
    let number = |bytes: &mut &[u8]| {
        let (head, rest) = bytes.split_first_chunk::<8>()?;
        *bytes = rest;
        Some(i64::from_le_bytes(*head))
    };
    let (status, short) = (number(bytes)?, number(bytes)?);
    let mut filled = Vec::new();
    for (column, length) in columns {
        filled.push(match column {
            Column::Double(_) => {
                Column::Double((0..length).map(|_| number(bytes).map(|bits| f64::from_bits(bits as u64))).collect::<Option<_>>()?)
            }
            Column::Index(_) => Column::Index((0..length).map(|_| number(bytes)).collect::<Option<_>>()?),
            Column::Bool(_) => {
                let (head, rest) = bytes.split_at_checked(length)?;
                *bytes = rest;
                Column::Bool(head.iter().map(|byte| *byte != 0).collect())
            }
            Column::Rolled(_) => return None,
        });
    }
    Some(match (status, short) {
        (0, 6) => Answer::Columns(filled),
        (0, short) => Answer::Workspace(format!("one byte less than its workspace gave status {short}")),
        (100, _) => Answer::Workspace("the workspace does not fit".into()),
        (status, _) => Answer::Status(status),
    })
}
