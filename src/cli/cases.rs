//! Sum types and `()` in JSON.
//!
//! In: an argument as it was read, or a result, with its type and the names inside. Out: the argument as the tuple that a value of a sum
//! type is behind `types`, which is read as any other; the text of a result. An array of a million numbers never comes here.
//!
//!     {"Box": [1, 2]}   ↔   [1, 0.0, [1, 2]]      "Empty"   ↔   [2, 0.0, [0.0, 0.0]]      null   ↔   []

use super::json::Json;
use super::trees;
use crate::ir::{Labels, Type};
use crate::toolchain::flat::{Flat, Shape, Step};

/// What is wrong with an argument, and where in it.
pub struct Problem {
    pub path: String,
    pub message: String,
    pub help: String,
}

/// Whether a value has a sum type or `()` in it.
pub fn are_in(ty: &Type, labels: &Labels) -> bool {
    has_sums(labels) || has_units(ty)
}

fn has_sums(labels: &Labels) -> bool {
    match labels {
        Labels::Sum(..) | Labels::Recursive(_) => true,
        Labels::None => false,
        Labels::Array(element) => has_sums(element),
        Labels::Tuple(parts) => parts.iter().any(has_sums),
        Labels::Record(_, fields) => fields.iter().any(|(_, field)| has_sums(field)),
        Labels::Named(_, inside) => has_sums(inside),
    }
}

fn has_units(ty: &Type) -> bool {
    match ty {
        Type::Double | Type::Index(_) | Type::Bool | Type::Rec(_) => false,
        Type::Array(element, _) => has_units(element),
        Type::Tuple(parts) => parts.is_empty() || parts.iter().any(has_units),
    }
}

/// The argument with tuples in the place of cases.
pub fn plain(json: &Json, ty: &Type, labels: &Labels) -> Result<Json, Problem> {
    part(json, ty, labels, "")
}

fn part(json: &Json, ty: &Type, labels: &Labels, path: &str) -> Result<Json, Problem> {
    if let Labels::Sum(name, cases, fields) = labels {
        return case(json, ty, (name, cases, fields), labels, path);
    }
    if let Some((field, inside)) = labels.sole() {
        let Json::Object(found) = json else { return part(json, ty, inside, path) };
        return Ok(Json::Object(
            found
                .iter()
                .map(|(name, value)| Ok((name.clone(), part(value, ty, inside, &format!("{path}.{field}"))?)))
                .collect::<Result<_, _>>()?,
        ));
    }
    Ok(match (json, ty) {
        (Json::Null, Type::Tuple(parts)) if parts.is_empty() => Json::Array(Vec::new()),
        (Json::Array(items), Type::Array(element, _)) => {
            let items = items.iter().enumerate().map(|(at, item)| part(item, element, labels.element(), &format!("{path}[{at}]")));
            Json::Array(items.collect::<Result<_, _>>()?)
        }
        (Json::Array(items), Type::Tuple(parts)) if items.len() == parts.len() => {
            let parts = items.iter().zip(parts.iter()).enumerate();
            Json::Array(parts.map(|(at, (item, ty))| part(item, ty, labels.part(at), &step(path, labels, at))).collect::<Result<_, _>>()?)
        }
        (Json::Object(found), Type::Tuple(parts)) => {
            let field = |(name, value): &(String, Json)| {
                let known = (0..parts.len()).find(|at| labels.field(*at).is_some_and(|field| **field == **name));
                match known.and_then(|at| Some((at, parts.get(at)?))) {
                    Some((at, ty)) => Ok((name.clone(), part(value, ty, labels.part(at), &step(path, labels, at))?)),
                    None => Ok((name.clone(), value.clone())),
                }
            };
            Json::Object(found.iter().map(field).collect::<Result<_, _>>()?)
        }
        _ => json.clone(),
    })
}

fn step(path: &str, labels: &Labels, at: usize) -> String {
    labels.field(at).map_or_else(|| format!("{path}[{at}]"), |field| format!("{path}.{field}"))
}

type Cases<'a> = (&'a str, &'a [(std::rc::Rc<str>, Option<usize>)], &'a [(std::rc::Rc<str>, Labels)]);

fn case(json: &Json, ty: &Type, (sum, cases, fields): Cases, labels: &Labels, path: &str) -> Result<Json, Problem> {
    let problem = |message: String, help: String| Err(Problem { path: path.to_string(), message, help });
    let written: Vec<String> =
        cases.iter().map(|(name, data)| if data.is_some() { format!("{{\"{name}\": …}}") } else { format!("\"{name}\"") }).collect();
    let help = format!("a value of `{sum}` is {}", written.join(", "));
    let (name, data) = match json {
        Json::Text(name) => (name, None),
        Json::Object(found) if found.len() == 1 => match found.first() {
            Some((name, data)) => (name, Some(data)),
            None => return problem(format!("expected a case of `{sum}`"), help),
        },
        Json::Number(..) | Json::Bool(_) | Json::Null | Json::Array(_) | Json::Absent | Json::Object(_) => {
            return problem(format!("expected a case of `{sum}`"), help);
        }
    };
    let Some((tag, (_, place))) = cases.iter().enumerate().find(|(_, (case, _))| **case == **name) else {
        return problem(format!("`{name}` is no case of `{sum}`"), help);
    };
    match (place, data) {
        (Some(_), None) => return problem(format!("the case `{name}` has data"), help),
        (None, Some(_)) => return problem(format!("the case `{name}` has no data"), help),
        (Some(_), Some(_)) | (None, None) => {}
    }
    let tag = Json::Number(tag as f64, Some(tag as i64));
    let Type::Tuple(types) = ty else { return Ok(tag) };
    let mut parts = vec![tag];
    for (at, ty) in types.iter().enumerate().take(fields.len()).skip(1) {
        parts.push(match data.filter(|_| *place == Some(at)) {
            Some(data) => part(data, ty, labels.part(at), &format!("{path}.{name}"))?,
            None => zero(ty),
        });
    }
    Ok(Json::Array(parts))
}

/// The data of another case.
fn zero(ty: &Type) -> Json {
    match ty {
        Type::Double | Type::Index(_) => Json::Number(0.0, Some(0)),
        Type::Rec(_) => Json::Absent,
        Type::Bool => Json::Bool(false),
        Type::Array(element, size) => {
            let length = size.as_constant().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
            Json::Array(vec![zero(element); length])
        }
        Type::Tuple(parts) => Json::Array(parts.iter().map(zero).collect()),
    }
}

/// A value as it is read: scalars, and lists of them.
enum Tree<'a> {
    Leaf(Step<'a>),
    List(Vec<Tree<'a>>),
}

/// The text of a value, `scalar` writing its numbers.
pub fn text(value: &Flat, labels: &Labels, scalar: &mut dyn FnMut(Step, &mut String)) -> String {
    let mut open: Vec<Vec<Tree<'_>>> = vec![Vec::new()];
    let done: Result<(), std::convert::Infallible> = value.walk(&mut |step| {
        let tree = match step {
            Step::Open => {
                open.push(Vec::new());
                return Ok(());
            }
            Step::Close => Tree::List(open.pop().unwrap_or_default()),
            Step::Double(_) | Step::Index(_) | Step::Bool(_) | Step::Rolled(_) => Tree::Leaf(step),
        };
        if let Some(list) = open.last_mut() {
            list.push(tree);
        }
        Ok(())
    });
    let Ok(()) = done;
    let mut out = String::new();
    if let Some(tree) = open.pop().and_then(|mut list| list.pop()) {
        write(&tree, &value.shape, labels, scalar, &mut out);
    }
    out
}

fn write(tree: &Tree, shape: &Shape, labels: &Labels, scalar: &mut dyn FnMut(Step, &mut String), out: &mut String) {
    if let Tree::Leaf(Step::Rolled(value)) = tree {
        return trees::write(value, labels, scalar, out);
    }
    if let Labels::Sum(_, cases, _) = labels {
        let (tag, parts): (&Tree, &[Tree]) = match tree {
            Tree::List(parts) => match parts.first() {
                Some(tag) => (tag, parts),
                None => return,
            },
            Tree::Leaf(_) => (tree, &[]),
        };
        let Tree::Leaf(Step::Index(tag)) = tag else { return };
        let Some((name, place)) = usize::try_from(*tag).ok().and_then(|tag| cases.get(tag)) else { return };
        let shapes: &[Shape] = if let Shape::Tuple(shapes) = shape { shapes } else { &[] };
        match place.and_then(|at| Some((at, parts.get(at)?, shapes.get(at)?))) {
            Some((at, data, shape)) => {
                out.push_str(&format!("{{\"{name}\": "));
                write(data, shape, labels.part(at), scalar, out);
                out.push('}');
            }
            None => out.push_str(&format!("\"{name}\"")),
        }
        return;
    }
    if let Some((field, inside)) = labels.sole() {
        out.push_str(&format!("{{\"{field}\": "));
        write(tree, shape, inside, scalar, out);
        out.push('}');
        return;
    }
    match (tree, shape) {
        (Tree::Leaf(step), _) => scalar(*step, out),
        (Tree::List(_), Shape::Tuple(parts)) if parts.is_empty() => out.push_str("null"),
        (Tree::List(items), Shape::Array(_, element)) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                write(item, element, labels.element(), scalar, out);
            }
            out.push(']');
        }
        (Tree::List(items), Shape::Tuple(parts)) => {
            let is_record = matches!(labels, Labels::Record(..));
            out.push(if is_record { '{' } else { '[' });
            for (at, (item, shape)) in items.iter().zip(parts).enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                if let Some(field) = labels.field(at) {
                    out.push_str(&format!("\"{field}\": "));
                }
                write(item, shape, labels.part(at), scalar, out);
            }
            out.push(if is_record { '}' } else { ']' });
        }
        (Tree::List(_), Shape::Double | Shape::Index | Shape::Bool | Shape::Rolled) => {}
    }
}

/// Whether a result is written by [`text`].
pub fn is_needed(value: &Flat, labels: &Labels) -> bool {
    fn has_units(shape: &Shape) -> bool {
        match shape {
            Shape::Double | Shape::Index | Shape::Bool | Shape::Rolled => false,
            Shape::Array(_, element) => has_units(element),
            Shape::Tuple(parts) => parts.is_empty() || parts.iter().any(has_units),
        }
    }
    has_sums(labels) || has_units(&value.shape)
}
