//! Running entries in the interpreter, in the test's own process, and comparing values.
//!
//! In: a compiled program and words of a command line. Out: values as flat columns with the largest magnitude met on the way,
//! or what went wrong: `E0806` for arguments that do not fit, `BOUNDS` for a status.

use smoothc::cli::cases;
use smoothc::cli::json::{self, Json};
use smoothc::cli::{args, print, values};
use smoothc::diagnostic::Diagnostics;
use smoothc::driver::{Options, Schedule, Session, Target};
use smoothc::ir::{Status, eval};
use smoothc::real::Real;
use smoothc::toolchain::flat::{Column, Flat, Step};

use super::sources;

/// A result with the largest magnitude that the interpreter met.
pub struct Known {
    pub value: Flat,
    pub largest: f64,
}

/// The session after a stage; the diagnostics drawn when it fails.
pub fn compile(path: &str, text: &str, schedule: &str, stage: &str) -> Result<Session, String> {
    compile_for(Target::C, path, text, schedule, stage)
}

/// The same for a target.
pub fn compile_for(target: Target, path: &str, text: &str, schedule: &str, stage: &str) -> Result<Session, String> {
    compile_with(
        path,
        text,
        Options { schedule: Schedule::Named(schedule.into()), header: "program.h".into(), target, ..Options::default() },
        stage,
    )
}

/// The same with any options.
pub fn compile_with(path: &str, text: &str, options: Options, stage: &str) -> Result<Session, String> {
    let mut session = Session::new(path, text, options);
    match session.run_to(stage, &mut sources::open) {
        Ok(()) => Ok(session),
        Err(problems) => Err(sources::drawn(&problems, &session)),
    }
}

/// The arguments that words on a command line mean; otherwise the code of the first diagnostic.
pub fn arguments(session: &Session, entry: &str, words: &[String]) -> Result<args::Arguments, String> {
    let code = |problems: Diagnostics| problems.first().map_or("no code", |problem| problem.code).to_string();
    args::read(session.entry(entry).map_err(code)?, words).map_err(code)
}

/// Whether a result is arrays without elements and nothing else.
pub fn has_no_elements(result: &Flat) -> bool {
    result.columns.iter().all(|column| match column {
        Column::Double(items) => items.is_empty(),
        Column::Index(items) => items.is_empty(),
        Column::Bool(items) => items.is_empty(),
        Column::Rolled(items) => items.is_empty(),
    })
}

/// What the interpreter makes of an entry.
pub fn interpret(session: &Session, entry: &str, arguments: &[Flat]) -> Result<Known, String> {
    let inputs = arguments.iter().map(values::from_flat).collect();
    match eval::eval(&session.program, entry, inputs) {
        Ok(outcome) => Ok(Known { value: values::to_flat(&outcome.value), largest: outcome.trace.largest }),
        Err(error) => Err(error.status().map_or_else(|| error.message.clone(), |status| status_name(status as i32))),
    }
}

/// `BOUNDS` for 1.
pub fn status_name(status: i32) -> String {
    let known = [Status::Bounds, Status::Shape, Status::Negative, Status::DivZero, Status::Range, Status::Workspace];
    let names = ["BOUNDS", "SHAPE", "NEGATIVE", "DIV_ZERO", "RANGE", "WORKSPACE"];
    match known.iter().position(|known| *known as i32 == status) {
        Some(at) => names[at].into(),
        None => format!("status {status}"),
    }
}

/// Whether two numbers agree to rounding, where `largest` was met on the way.
pub fn close(a: f64, b: f64, tolerance: f64, largest: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * largest.max(1.0)
}

/// The first place where a result differs from the interpreter's; `None` when they agree.
pub fn difference(known: &Known, found: &Flat) -> Option<String> {
    difference_within(1e-9, known, found)
}

/// The same with another tolerance.
pub fn difference_within(tolerance: f64, known: &Known, found: &Flat) -> Option<String> {
    if known.value.shape != found.shape {
        return Some(format!("its shape is {:?}, not {:?}", found.shape, known.value.shape));
    }
    for (known_column, column) in known.value.columns.iter().zip(&found.columns) {
        match (known_column, column) {
            (Column::Double(a), Column::Double(b)) => {
                // where the interpreter gives inf or NaN, optimised code may give a value
                let wrong = a.iter().zip(b).position(|(a, b)| a.is_finite() && !close(*a, *b, tolerance, known.largest));
                if let Some(at) = wrong {
                    return Some(format!("element {at} is {:?}, not {:?}", b[at], a[at]));
                }
                if a.len() != b.len() {
                    return Some(format!("{} elements, not {}", b.len(), a.len()));
                }
            }
            (a, b) if a == b => {}
            (a, b) => return Some(format!("{b:?}, not {a:?}")),
        }
    }
    None
}

/// A result that was written down, with tuples in the place of cases.
pub fn plain(session: &Session, entry: &str, wanted: &Json) -> Json {
    let function = session.entry(entry).ok();
    let plain = function.and_then(|function| cases::plain(wanted, &function.result, function.result_labels()).ok());
    plain.unwrap_or_else(|| wanted.clone())
}

/// Whether a value is the one that was written down.
pub fn is_json(known: &Known, wanted: &Json) -> bool {
    let mut steps = Vec::new();
    flatten(wanted, &mut steps);
    let mut rest = steps.iter();
    let done: Result<(), ()> = known.value.walk(&mut |found| {
        let agree = match (found, rest.next()) {
            (Step::Open, Some(Item::Open)) | (Step::Close, Some(Item::Close)) => true,
            (Step::Double(a), Some(Item::Number(b, _))) => close(a, *b, 1e-9, known.largest),
            (Step::Index(a), Some(Item::Number(_, b))) => Some(a) == *b,
            (Step::Bool(a), Some(Item::Bool(b))) => a == *b,
            // `is_printed` compares those
            (Step::Open | Step::Close | Step::Double(_) | Step::Index(_) | Step::Bool(_) | Step::Rolled(_), _) => false,
        };
        if agree { Ok(()) } else { Err(()) }
    });
    done.is_ok() && rest.next().is_none()
}

/// The same of a value of a recursive type: whether it is printed so.
pub fn is_printed(session: &Session, entry: &str, known: &Known, wanted: &Json) -> bool {
    let mut text = Vec::new();
    let labels = session.entry(entry).map(|function| function.result_labels().clone()).unwrap_or_default();
    let written = print::write(&known.value, &labels, Real::F64, &mut text);
    let found = String::from_utf8(text).ok().and_then(|text| json::parse(&text).ok());
    written.is_ok() && found.is_some_and(|found| is_like(&found, wanted, known.largest))
}

fn is_like(found: &Json, wanted: &Json, largest: f64) -> bool {
    match (found, wanted) {
        (Json::Number(a, _), Json::Number(b, _)) => close(*a, *b, 1e-9, largest),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_like(a, b, largest)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((name, a), (other, b))| name == other && is_like(a, b, largest))
        }
        (found, wanted) => found == wanted,
    }
}

enum Item {
    Open,
    Close,
    Number(f64, Option<i64>),
    Bool(bool),
}

fn flatten(value: &Json, steps: &mut Vec<Item>) {
    match value {
        Json::Number(number, exact) => steps.push(Item::Number(*number, *exact)),
        Json::Bool(value) => steps.push(Item::Bool(*value)),
        // `plain` leaves none
        Json::Text(_) | Json::Null | Json::Absent => {}
        Json::Array(items) => {
            steps.push(Item::Open);
            items.iter().for_each(|item| flatten(item, steps));
            steps.push(Item::Close);
        }
        // a record is a tuple, one of a single field that field
        Json::Object(fields) => match fields.as_slice() {
            [(_, only)] => flatten(only, steps),
            _ => flatten(&Json::Array(fields.iter().map(|field| field.1.clone()).collect()), steps),
        },
    }
}

/// All Doubles of a value, column by column.
pub fn doubles(value: &Flat) -> Vec<f64> {
    let columns = value.columns.iter().map(|column| match column {
        Column::Double(items) => items.clone(),
        Column::Index(_) | Column::Bool(_) => Vec::new(),
        Column::Rolled(items) => items.iter().flat_map(eval::Value::doubles).collect(),
    });
    columns.flatten().collect()
}

/// Central differences of an entry in the elements of one argument, of fourth order: for each element of the result,
/// its derivative in each element of the argument.
pub fn differences(session: &Session, entry: &str, arguments: &[Flat], at: usize) -> Result<Vec<f64>, String> {
    let Some([Column::Double(point)]) = arguments.get(at).map(|argument| &*argument.columns) else {
        return Err("differences are taken in a Double or an array of Doubles".into());
    };
    let mut columns = Vec::new();
    for (i, x) in point.iter().enumerate() {
        let h = 1e-3 * x.abs().max(1.0);
        let mut sums: Vec<f64> = Vec::new();
        for (steps, weight) in [(-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)] {
            let mut moved = arguments.to_vec();
            if let [Column::Double(items)] = &mut *moved[at].columns {
                items[i] = x + steps * h;
            }
            let values = doubles(&interpret(session, entry, &moved)?.value);
            sums.resize(values.len(), 0.0);
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += weight * value;
            }
        }
        columns.push(sums.into_iter().map(|sum| sum / (12.0 * h)).collect::<Vec<_>>());
    }
    let rows = columns.first().map_or(0, Vec::len);
    Ok((0..rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect())
}

pub fn scheduled(schedule: &str) -> Options {
    Options { schedule: Schedule::Named(schedule.into()), ..Options::default() }
}

/// The text that was emitted.
pub fn source(session: &Session) -> &str {
    session.files.as_ref().map_or("", |files| &files.source)
}
