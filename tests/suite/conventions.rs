//! The table of `docs/conventions.md`: each row, a function at a singular point, holds in every engine and mode.
//!
//! A row gives an entry `row_k`, its value and gradient. All of them together are one program, so that one compilation runs all
//! rows: the interpreter as written and after schedules, dual numbers on a tape, C forward, in reverse, with and without
//! `--strict-fp`, Futhark where it is installed. The trace goes row by row.

use serde_json::Value;
use smoothc::toolchain::futhark::compiler;

use crate::support::command::with_input;
use crate::support::tools;

struct Row {
    expression: String,
    /// Names and values.
    point: Vec<(String, String)>,
    value: f64,
    derivative: Vec<f64>,
    /// Components that are not finite are the interpreter's alone.
    dagger: bool,
}

/// `[NaN, -1]` or `0.5`.
fn numbers(text: &str) -> Vec<f64> {
    let number = |word: &str| word.trim().replace("Infinity", "inf").parse().unwrap_or_else(|_| panic!("no number: {word}"));
    text.trim_matches(['[', ']']).split(',').map(number).collect()
}

fn rows() -> Vec<Row> {
    let page = include_str!("../../docs/conventions.md").split("\n## ").next().unwrap_or_default();
    let lines = page.lines().filter(|line| line.starts_with("| `"));
    let rows = lines.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(|cell| cell.trim()).collect();
        let [expression, point, value, derivative, note] = cells[..] else { panic!("five cells: {line}") };
        let assignments = point.split('`').filter(|part| part.contains(" = "));
        let point = assignments.filter_map(|part| part.split_once(" = ")).map(|(name, value)| (name.to_string(), value.to_string()));
        Row {
            expression: expression.trim_matches('`').to_string(),
            point: point.collect(),
            value: numbers(value)[0],
            derivative: numbers(derivative),
            dagger: note.starts_with('†'),
        }
    });
    rows.collect()
}

/// An entry for each row, and `all`, which calls them; the arguments of `all`.
fn program(rows: &[Row]) -> (String, Vec<String>) {
    let (mut text, mut params, mut calls, mut words) = (String::new(), String::new(), Vec::new(), Vec::new());
    for (k, row) in rows.iter().enumerate() {
        let names: Vec<&str> = row.point.iter().map(|(name, _)| &**name).collect();
        let point = if let [only] = names[..] { only.to_string() } else { format!("({})", names.join(", ")) };
        let mut own = String::new();
        for (name, value) in &row.point {
            let ty = if value.starts_with('[') { "Vector<2>" } else { "Double" };
            own += &format!(" ({name}: {ty})");
            params += &format!(" ({name}_{k}: {ty})");
            words.push(value.clone());
        }
        text += &format!("let row_{k}{own} = valueAndGradient (fun {point} -> {}) {point}\n", row.expression);
        let arguments: Vec<String> = names.iter().map(|name| format!("{name}_{k}")).collect();
        calls.push(format!("row_{k} {}", arguments.join(" ")));
    }
    text += &format!("let all{params} =\n  ({})\n", calls.join(", "));
    (text, words)
}

fn output(command: &[&str], entry: &str, text: &str, words: &[String]) -> String {
    let mut args = vec![command[0], "-q"];
    args.extend(&command[1..]);
    args.extend(["-", entry]);
    args.extend(words.iter().map(String::as_str));
    let output = with_input(&args, text.as_bytes());
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn leaves(value: &Value, into: &mut Vec<f64>) {
    match value {
        Value::Array(parts) => parts.iter().for_each(|part| leaves(part, into)),
        Value::Number(number) => into.extend(number.as_f64()),
        Value::String(word) => into.extend(numbers(word)),
        Value::Null | Value::Bool(_) | Value::Object(_) => panic!("no number: {value}"),
    }
}

/// Value, then derivative, of each row; JSON has no NaN and no infinity.
fn results(printed: &str) -> Vec<Vec<f64>> {
    let quoted = printed.replace("-Infinity", "\"-inf\"").replace("Infinity", "\"inf\"").replace("NaN", "\"NaN\"");
    let value: Value = serde_json::from_str(&quoted).expect("JSON");
    let rows = value.as_array().expect("a tuple").iter();
    rows.map(|row| {
        let mut numbers = Vec::new();
        leaves(row, &mut numbers);
        numbers
    })
    .collect()
}

fn agrees(wanted: f64, found: f64, dagger: bool) -> bool {
    let same = wanted == found || wanted.is_nan() && found.is_nan() || (wanted - found).abs() <= 1e-12 * wanted.abs();
    same || dagger && !wanted.is_finite()
}

/// Holds an engine's results against the table; the interpreter's, `exactly`, also where there is a †.
fn hold(name: &str, rows: &[Row], found: &[Vec<f64>], exactly: bool) {
    assert_eq!(rows.len(), found.len(), "{name}");
    let mut wrong = String::new();
    for (row, found) in rows.iter().zip(found) {
        let wanted: Vec<f64> = [row.value].iter().chain(&row.derivative).copied().collect();
        let dagger = row.dagger && !exactly;
        let same = wanted.len() == found.len() && wanted.iter().zip(found).all(|(wanted, found)| agrees(*wanted, *found, dagger));
        if !same {
            wrong += &format!("{name}: `{}` at {:?}: the table says {wanted:?}, it gives {found:?}\n", row.expression, row.point);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_interpreter_gives_what_the_table_says() {
    let rows = rows();
    assert!(rows.len() > 40, "{} rows", rows.len());
    let (text, words) = program(&rows);
    hold("eval", &rows, &results(&output(&["eval"], "all", &text, &words)), true);
    for more in [
        &["eval", "--reverse", "dual-numbers"][..],
        &["eval", "--schedule", "default", "--mode", "forward"],
        &["eval", "--schedule", "default", "--mode", "reverse"],
        &["eval", "--schedule", "paper"],
    ] {
        hold(&more.join(" "), &rows, &results(&output(more, "all", &text, &words)), false);
    }
}

#[test]
fn emitted_c_gives_what_the_table_says() {
    let rows = rows();
    let (text, words) = program(&rows);
    for more in [
        &["run", "--mode", "forward"][..],
        &["run", "--mode", "reverse"],
        &["run"],
        &["run", "--strict-fp"],
        &["run", "--schedule", "none"],
    ] {
        hold(&more.join(" "), &rows, &results(&output(more, "all", &text, &words)), false);
    }
}

#[test]
fn emitted_futhark_gives_what_the_table_says() {
    if !compiler::is_there() {
        tools::skipped("there is no Futhark compiler (FUTHARK, or `futhark` on the path)");
        return;
    }
    let rows = rows();
    let (text, words) = program(&rows);
    for mode in ["forward", "reverse"] {
        let command = ["run", "--target", "futhark", "--mode", mode];
        hold(&command.join(" "), &rows, &results(&output(&command, "all", &text, &words)), false);
    }
}

#[test]
fn the_trace_goes_back_as_the_table_says() {
    let rows = rows();
    let (text, _) = program(&rows);
    let mut found = Vec::new();
    for (k, row) in rows.iter().enumerate() {
        let words: Vec<String> = row.point.iter().map(|(_, value)| value.clone()).collect();
        let printed = output(&["eval", "--trace"], &format!("row_{k}"), &text, &words);
        let (_, back) = printed.split_once("\nadjoint\n").unwrap_or_else(|| panic!("no adjoint: {printed}"));
        // the last lines of the way back are those of the inputs, in their order
        let lines: Vec<&str> = back.lines().collect();
        let inputs = lines.get(lines.len().saturating_sub(row.derivative.len())..).unwrap_or_default();
        let derivative = inputs.iter().flat_map(|line| numbers(line.rsplit(" = ").next().unwrap_or_default()));
        found.push([row.value].into_iter().chain(derivative).collect());
    }
    hold("eval --trace", &rows, &found, false);
}
