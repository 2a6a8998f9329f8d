//! What an argument is before its type is looked at: JSON, or an array of NumPy.
//!
//! In: a word, `[[1, 2], [3, 4]]` or `@data.npy`. Out: an [`Input`], or a diagnostic that names the argument; [`Node`]s are the values
//! in it, of both kinds alike.

use std::path::Path;

use super::cases;
use super::json::{self, Json};
use super::npy::{self, Npy};
use crate::diagnostic::Diagnostic;
use crate::ir::{Labels, Var};
use crate::source::Span;
use crate::toolchain::flat::Column;

/// One argument's number, from 1, and its parameter.
pub struct Place<'a> {
    pub number: usize,
    pub param: &'a Var,
    pub labels: &'a Labels,
    pub span: Span,
}

impl Place<'_> {
    pub fn error(&self, code: &'static str, message: impl std::fmt::Display) -> Diagnostic {
        Diagnostic::error(code, self.span, format!("argument {} (`{}`): {message}", self.number, self.param.name()))
    }
}

/// What was read, before any type is looked at.
pub enum Input {
    Json(Json),
    Npy(Npy),
}

pub fn input(word: &str, place: &Place) -> Result<Input, Diagnostic> {
    let Some(path) = word.strip_prefix('@') else {
        return json::parse(word).map(Input::Json).map_err(|problem| {
            place
                .error("E0802", located(word, &problem))
                .help("an argument is JSON such as `1.5` or `[1, 2]`, or `@path` of a .json or .npy file")
        });
    };
    let cannot_read = |error: std::io::Error| {
        place.error("E0804", format_args!("cannot read `{path}`: {}", super::files::reason_at(Path::new(path), &error)))
    };
    match Path::new(path).extension().and_then(|ending| ending.to_str()) {
        Some("json") => {
            let bytes = std::fs::read(path).map_err(cannot_read)?;
            let text = std::str::from_utf8(&bytes).map_err(|_| place.error("E0804", format_args!("`{path}` is not UTF-8")))?;
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            json::parse(text)
                .map(Input::Json)
                .map_err(|problem| place.error("E0802", format_args!("`{path}`: {}", located(text, &problem))))
        }
        Some("npy") => {
            let bytes = std::fs::read(path).map_err(cannot_read)?;
            npy::read(&bytes).map(Input::Npy).map_err(|problem| place.error("E0803", format_args!("cannot use `{path}`: {problem}")))
        }
        _ => Err(place.error("E0804", format_args!("`{path}` is neither a .json nor a .npy file"))),
    }
}

/// The argument with tuples in the place of cases and of `()`.
pub fn plain(input: Input, place: &Place) -> Result<Input, Diagnostic> {
    let ty = place.param.ty();
    match input {
        Input::Json(json) if cases::are_in(ty, place.labels) => cases::plain(&json, ty, place.labels).map(Input::Json).map_err(|problem| {
            let at = if problem.path.is_empty() { String::new() } else { format!(" at {}", problem.path) };
            place.error("E0805", format_args!("{}{at}", problem.message)).help(problem.help)
        }),
        Input::Json(_) | Input::Npy(_) => Ok(input),
    }
}

/// "expected a digit at column 3", with the line where there are several.
fn located(text: &str, problem: &json::Problem) -> String {
    let before = &text.as_bytes()[..problem.offset.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    if text.contains('\n') {
        format!("{} at line {line}, column {column}", problem.message)
    } else {
        format!("{} at column {column}", problem.message)
    }
}

/// One value inside an argument.
#[derive(Clone, Copy)]
pub enum Node<'a> {
    Json(&'a Json),
    /// The part of an array behind `axis` indices, which begins at element `at`.
    Npy {
        array: &'a Npy,
        axis: usize,
        at: usize,
    },
}

pub enum Scalar {
    Number(f64, Option<i64>),
    Bool(bool),
}

impl Input {
    pub fn node(&self) -> Node<'_> {
        match self {
            Input::Json(json) => Node::Json(json),
            Input::Npy(array) => Node::Npy { array, axis: 0, at: 0 },
        }
    }
}

impl<'a> Node<'a> {
    /// The number of elements, for an array.
    pub fn length(self) -> Option<usize> {
        match self {
            Node::Json(Json::Array(items)) => Some(items.len()),
            Node::Json(Json::Number(..) | Json::Bool(_) | Json::Text(_) | Json::Null | Json::Absent | Json::Object(_)) => None,
            Node::Npy { array, axis, .. } => array.dims.get(axis).copied(),
        }
    }

    pub fn element(self, index: usize) -> Option<Node<'a>> {
        match self {
            Node::Json(Json::Array(items)) => items.get(index).map(Node::Json),
            Node::Json(Json::Number(..) | Json::Bool(_) | Json::Text(_) | Json::Null | Json::Absent | Json::Object(_)) => None,
            Node::Npy { array, axis, at } => {
                let length = *array.dims.get(axis)?;
                (index < length).then_some(Node::Npy { array, axis: axis + 1, at: at * length + index })
            }
        }
    }

    pub fn is_object(self) -> bool {
        matches!(self, Node::Json(Json::Object(_)))
    }

    /// A component of a tuple, by its name where it has one.
    pub fn part(self, labels: &Labels, at: usize) -> Option<Node<'a>> {
        match (self, labels.field(at)) {
            (Node::Json(Json::Object(fields)), Some(name)) => {
                fields.iter().find(|(other, _)| **other == **name).map(|(_, value)| Node::Json(value))
            }
            _ => self.element(at),
        }
    }

    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Node::Json(Json::Number(value, exact)) => Some(Scalar::Number(*value, *exact)),
            Node::Json(Json::Bool(value)) => Some(Scalar::Bool(*value)),
            Node::Json(Json::Array(_) | Json::Text(_) | Json::Null | Json::Absent | Json::Object(_)) => None,
            Node::Npy { array, axis, at } if axis == array.dims.len() => match &array.column {
                Column::Double(items) => items.get(at).map(|value| Scalar::Number(*value, None)),
                Column::Index(items) => items.get(at).map(|value| Scalar::Number(*value as f64, Some(*value))),
                Column::Bool(items) => items.get(at).map(|value| Scalar::Bool(*value)),
                Column::Rolled(_) => None,
            },
            Node::Npy { .. } => None,
        }
    }

    pub fn describe(self) -> String {
        if let Node::Json(Json::Object(fields)) = self {
            let names: Vec<String> = fields.iter().map(|field| format!("`{}`", field.0)).collect();
            return format!("an object of {}", if names.is_empty() { "nothing".to_string() } else { names.join(", ") });
        }
        match self {
            Node::Json(Json::Text(text)) => return format!("\"{}\"", text.chars().take(20).collect::<String>()),
            Node::Json(Json::Null) => return "null".into(),
            Node::Json(_) | Node::Npy { .. } => {}
        }
        match (self.length(), self.scalar()) {
            (Some(length), _) => format!("an array of {length}"),
            (None, Some(Scalar::Number(value, exact))) => exact.map_or_else(|| format!("{value:?}"), |value| value.to_string()),
            (None, Some(Scalar::Bool(value))) => value.to_string(),
            (None, None) => "nothing".into(),
        }
    }
}
