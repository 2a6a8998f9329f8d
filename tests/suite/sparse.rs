//! `--derive sparse_jacobian:f`: rows, columns and values, put together, are the Jacobian.
//!
//! Held against `jacobian` as the interpreter means it, on `tests/jacobians/sparse.smooth` at five sizes and on generated programs
//! (`SMOOTHC_CASES=n`, `SMOOTHC_SEED=n`): as written, after the schedule `default`, and, for some, as C and Futhark. How many numbers
//! there are, and what they cost, is counted; C for two of them is kept in `snapshots/sparse`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use smoothc::cli::args;
use smoothc::ir::Program;
use smoothc::ir::eval::Value;
use smoothc::stack::with_large_stack;
use smoothc::toolchain::futhark::compiler;

use crate::generator::derived::{compiled, run, values};
use crate::generator::engine::{derived_name, differentiable};
use crate::generator::words::arguments;
use crate::generator::{asked, grow};
use crate::support::command::{text, with_input};
use crate::support::{snapshot, tools};

const PROGRAM: &str = include_str!("../jacobians/sparse.smooth");

/// The numbers of a value, outermost index first.
fn doubles(value: &Value, found: &mut Vec<f64>) {
    match value {
        Value::Double(number) => found.push(*number),
        Value::Index(number) => found.push(*number as f64),
        Value::Bool(_) => {}
        Value::Tuple(parts) => parts.iter().for_each(|part| doubles(part, found)),
        Value::Array(array) => array.items.iter().for_each(|item| doubles(item, found)),
        Value::Rolled(_) => {}
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    let mut found = Vec::new();
    doubles(value, &mut found);
    found
}

/// Rows, columns and values put together, as a matrix of so many columns.
fn dense(entries: &Value, rows: usize, columns: usize) -> Result<Vec<f64>, String> {
    let Value::Tuple(parts) = entries else { return Err(format!("{entries:?}")) };
    let [at_rows, at_columns, values] = parts.iter().map(numbers).collect::<Vec<_>>().try_into().map_err(|_| "three arrays")?;
    if at_rows.len() != values.len() || at_columns.len() != values.len() || !at_rows.is_sorted() {
        return Err(format!("lengths or order: {entries:?}"));
    }
    let mut matrix = vec![0.0; rows * columns];
    for ((row, column), value) in at_rows.iter().zip(&at_columns).zip(&values) {
        let (row, column) = (*row as usize, *column as usize);
        // where the point is empty, there is no column for what is not read
        if columns == 0 && *value == 0.0 {
            continue;
        }
        if row >= rows || column >= columns {
            return Err(format!("{row}, {column} is outside of {rows} x {columns}"));
        }
        matrix[row * columns + column] += value;
    }
    Ok(matrix)
}

fn agree(expected: &[f64], found: &[f64]) -> Result<(), String> {
    let scale = expected.iter().filter(|number| number.is_finite()).fold(1.0_f64, |scale, number| scale.max(number.abs()));
    let differs = |(a, b): &(&f64, &f64)| !(a == b || a.is_nan() || b.is_nan() || (*a - *b).abs() <= 1e-9 * scale);
    match expected.iter().zip(found).find(differs) {
        _ if expected.len() != found.len() => Err(format!("{} numbers, not {}", found.len(), expected.len())),
        Some((a, b)) => Err(format!("{b}, not {a}: {found:?}, not {expected:?}")),
        None => Ok(()),
    }
}

/// The sparse Jacobian of `name` against its Jacobian; whether the function has a value there.
fn hold(typed: &Program, program: &Program, names: [&str; 3], inputs: &[Value], point: usize) -> Result<bool, String> {
    let [name, jacobian, sparse] = names;
    let found = run(program, sparse, inputs.to_vec());
    let (Ok(value), Ok(expected)) = (run(typed, name, inputs.to_vec()), run(typed, jacobian, inputs.to_vec())) else {
        return Ok(false);
    };
    let (rows, columns) = (numbers(&value.value).len(), numbers(&inputs[point]).len());
    agree(&numbers(&expected.value), &dense(&found?.value, rows, columns)?).map_err(|said| format!("{sparse}: {said}\n{inputs:?}"))?;
    Ok(true)
}

#[test]
fn entries_put_together_are_the_jacobian() {
    with_large_stack(|| {
        let named: Vec<&str> =
            PROGRAM.lines().filter_map(|line| line.strip_prefix("let ")?.split(' ').next()).filter(|name| *name != "rec").collect();
        let derives: Vec<String> =
            named.iter().flat_map(|name| ["jacobian", "sparse_jacobian"].map(|kind| format!("{kind}:{name}"))).collect();
        let typed = compiled(PROGRAM, &[], &derives, "types", true).expect("a program");
        let optimised = compiled(PROGRAM, &[], &derives, "rewrite", true).expect("a program");
        let mut held = 0;
        for name in &named {
            let names = ["jacobian", "sparse_jacobian"].map(|kind| format!("{name}_{kind}"));
            let names = [*name, &*names[0], &*names[1]];
            for n in [5, 4, 2, 1, 0] {
                let function = &typed.functions[*name];
                let words = arguments(function, n);
                // an index below a length of 0
                if args::read(function, &words).is_err() {
                    continue;
                }
                let point = function.params.iter().position(|param| param.ty().is_made_of_doubles()).expect("a point");
                let inputs = values(function, &words);
                for program in [&typed, &optimised] {
                    held += usize::from(hold(&typed, program, names, &inputs, point).unwrap_or_else(|said| panic!("{name}, {n}: {said}")));
                }
            }
        }
        assert!(held > 7 * named.len(), "{held}");
    });
}

#[test]
fn generated_entries_put_together_are_the_jacobian() {
    let seeds = asked::seeds(100);
    let count = seeds.len();
    let (held, refused, total) = (AtomicUsize::new(0), Mutex::new(Vec::new()), AtomicUsize::new(0));
    tools::each(&seeds, |seed| {
        let program = grow::program(*seed as u64, "f0", seed % 3 == 2);
        let Some((point, derived)) = differentiable(&program) else { return Ok(()) };
        let derives = ["jacobian:", "sparse_jacobian:"].map(|kind| derived.replacen("jvp:", kind, 1));
        let (text, entry) = (program.text(), program.entry().name.to_string());
        let compile = |stage| compiled(&text, std::slice::from_ref(&entry), &derives, stage, !program.wild);
        // what a stage refuses is for `tests/suite/properties.rs` to say
        let (typed, optimised) = match (compile("types"), compile("rewrite")) {
            (Ok(typed), Ok(optimised)) => (typed, optimised),
            (Err(said), _) | (_, Err(said)) => {
                refused.lock().expect("no panic").push(format!("seed {seed}: {said}\n{text}"));
                return Ok(());
            }
        };
        let names = ["jacobian", "sparse_jacobian"].map(|kind| derived_name(&typed, &entry, kind));
        let names = [&*entry, &*names[0], &*names[1]];
        for words in &program.inputs {
            let inputs = values(&typed.functions[&*entry], words);
            for found in [&typed, &optimised] {
                total.fetch_add(1, Ordering::Relaxed);
                let done = hold(&typed, found, names, &inputs, point).map_err(|said| format!("seed {seed}: {said}\n{text}"))?;
                held.fetch_add(usize::from(done), Ordering::Relaxed);
            }
        }
        Ok(())
    });
    let (held, refused) = (held.into_inner(), refused.into_inner().expect("no panic"));
    asked::say(&format!("{count} programs, {} refused: {held} of {} calls held", refused.len(), total.into_inner()));
    assert!(!refused.iter().any(|said| said.contains("E0901")), "{}", refused.join("\n"));
    assert!(held > count && refused.len() * 20 <= count, "{held} held; {}", refused.join("\n"));
}

#[test]
fn numbers_and_cost_grow_as_rows_do() {
    with_large_stack(|| {
        for (name, each) in
            [("stencil", 3), ("ends", 4), ("elementwise", 1), ("convolved", 3), ("chained", 2), ("links", 4), ("coordinates", 3)]
        {
            let program = compiled(PROGRAM, &[], &[format!("sparse_jacobian:{name}")], "rewrite", true).expect("a program");
            let entry = format!("{name}_sparse_jacobian");
            let of = |n: usize| {
                let function = &program.functions[&*entry];
                let outcome = run(&program, &entry, values(function, &arguments(function, n))).expect("a value");
                let counts = outcome.trace.counts;
                let total = counts.arithmetic + counts.comparisons + counts.reads + counts.writes;
                (numbers(&outcome.value).len() as u64 / 3, total)
            };
            let [first, second, third] = [20, 40, 80].map(of);
            assert_eq!(second.0 - first.0, 20 * each, "{name}");
            assert_eq!(third.1 - second.1, 2 * (second.1 - first.1), "{name}: {first:?}, {second:?}, {third:?}");
        }
    });
}

#[test]
fn what_has_no_places_is_refused() {
    let said = |derive: &str, source: &str| {
        let output = with_input(&["check", "-q", "--derive", derive, "-"], source.as_bytes());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let by_data = said("sparse_jacobian:f", "let f (x: Vector<n>) = build (index (abs x[0])) (fun i -> x[i])");
    assert!(by_data.starts_with("error[E0601]"), "{by_data}");
    let of_indices = said("sparse_jacobian:f", "let f (x: Vector<n>) = build n (fun i -> i)");
    assert!(of_indices.starts_with("error[E0501]"), "{of_indices}");
    let twice = said("sparse_jacobian:f", "let f (x: Vector<n>) = x\nlet f_sparse_jacobian (x: Double) = x");
    assert!(twice.starts_with("error[E0201]"), "{twice}");
}

#[test]
fn several_parameters_are_behind_each_other() {
    let source = "let f (a: Vector<2>) (k: Index) (b: Vector<2>) (c: Double) = [a[0] * b[1], c * b[0], a[1]]";
    for (derive, entry, wanted) in [
        ("sparse_jacobian:f:*", "f_sparse_jacobian_all", "[[0, 0, 1, 1, 2], [0, 3, 4, 2, 1], [4.0, 1.0, 3.0, 5.0, 1.0]]"),
        ("sparse_jacobian:f:c,a", "f_sparse_jacobian_c_a", "[[0, 1, 2], [1, 0, 2], [4.0, 3.0, 1.0]]"),
        ("sparse_jacobian:f:b", "f_sparse_jacobian_b", "[[0, 1], [1, 0], [1.0, 5.0]]"),
    ] {
        let output = with_input(&["eval", "-q", "--derive", derive, "-", entry, "[1, 2]", "0", "[3, 4]", "5"], source.as_bytes());
        assert_eq!(text(&output), wanted, "{derive}{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn emitted_c_is_what_one_would_write() {
    let bundles = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/bundle_adjustment.smooth");
    let bundles = std::fs::read_to_string(bundles).expect("an example");
    for (file, source, derive, entry) in [
        ("stencil", PROGRAM, "sparse_jacobian:stencil", "stencil_sparse_jacobian"),
        ("ends", PROGRAM, "sparse_jacobian:ends", "ends_sparse_jacobian"),
        ("unequal", PROGRAM, "sparse_jacobian:unequal", "unequal_sparse_jacobian"),
        ("bundle_adjustment", &bundles, "sparse_jacobian:residuals:cameras,points", "residuals_sparse_jacobian_cameras_points"),
    ] {
        let output = with_input(&["emit", "-q", "--derive", derive, "--entry", entry, "-o", "-", "-"], source.as_bytes());
        let printed = text(&output);
        let begin = printed.find("/* The rows").unwrap_or_else(|| panic!("{derive}: {printed}{}", String::from_utf8_lossy(&output.stderr)));
        snapshot::holds("sparse", file, &printed[begin..]);
    }
}

#[test]
fn every_target_has_the_same_entries() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("functions.smooth");
    std::fs::write(&path, PROGRAM).expect("written");
    let path = path.to_str().expect("UTF-8");
    let cases: &[(&str, &[&str], &str)] = &[
        ("stencil", &["[0, 1, 0]"], "[[0, 0, 0], [0, 1, 2], [1.0, 0.0, 1.0]]"),
        ("elementwise", &["[0, 0]"], "[[0, 1], [0, 1], [1.0, 1.0]]"),
        ("elementwise", &["[]"], "[[], [], []]"),
        ("gathered", &["[1, 2, 3]", "[2, 0]"], "[[0, 0, 1, 2, 2, 3], [2, 0, 2, 0, 1, 0], [1.0, 3.0, 6.0, 2.0, 1.0, 2.0]]"),
        ("together", &["[1, 2]"], "[[0, 1, 2, 2], [0, 1, 0, 1], [2.0, 4.0, 2.0, 1.0]]"),
        ("numbers", &["2", "3"], "[[0, 1], [0, 0], [3.0, 1.0]]"),
        ("constant", &["[1]"], "[[], [], []]"),
    ];
    let targets: &[&[&str]] = if compiler::is_there() {
        &[&["eval"], &["run"], &["run", "--target", "futhark"]]
    } else {
        println!("no Futhark compiler: C only");
        &[&["eval"], &["run"]]
    };
    tools::each(cases, |(name, words, wanted)| {
        for target in targets.iter().copied() {
            let (derive, entry) = (format!("sparse_jacobian:{name}"), format!("{name}_sparse_jacobian"));
            let output = with_input(&[target, &["--derive", &derive, "--entry", &entry, path, &entry], words].concat(), b"");
            if text(&output) != *wanted {
                return Err(format!("{name} {target:?}: {}{}", text(&output), String::from_utf8_lossy(&output.stderr)));
            }
        }
        Ok(())
    });
}
