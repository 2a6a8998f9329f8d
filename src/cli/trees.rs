//! Values of recursive types as JSON.
//!
//! In: a value as the interpreter has it, and the names in it. Out: its text, which `args` reads. A list may be as deep as it is long, so
//! what is left to be written is kept in a stack of its own.
//!
//!     Node (Leaf 1.0, Leaf 2.0)   →   {"Node": [{"Leaf": 1.0}, {"Leaf": 2.0}]}

use crate::ir::Labels;
use crate::ir::eval::Value;
use crate::toolchain::flat::Step;

/// What is to be written.
enum Part {
    Text(String),
    Value(Value, Labels),
}

/// Writes a value, `scalar` its numbers.
pub fn write(value: &Value, labels: &Labels, scalar: &mut dyn FnMut(Step, &mut String), out: &mut String) {
    let mut left = vec![Part::Value(value.clone(), labels.clone())];
    while let Some(part) = left.pop() {
        match part {
            Part::Text(text) => out.push_str(&text),
            Part::Value(value, labels) => {
                let mut parts = parts(&value, &labels, scalar, out);
                parts.reverse();
                left.append(&mut parts);
            }
        }
    }
}

/// The parts of a value in their order; a scalar is written at once.
fn parts(value: &Value, labels: &Labels, scalar: &mut dyn FnMut(Step, &mut String), out: &mut String) -> Vec<Part> {
    let text = |text: &str| Part::Text(text.to_string());
    if let (Value::Rolled(rolled), Labels::Recursive(of)) = (value, labels) {
        return rolled.unrolled().map(|value| Part::Value(value.clone(), of.labels())).into_iter().collect();
    }
    if let Labels::Sum(_, cases, _) = labels {
        let (tag, parts): (&Value, &[Value]) = match value {
            Value::Tuple(parts) => (parts.first().unwrap_or(value), parts),
            Value::Double(_) | Value::Index(_) | Value::Bool(_) | Value::Array(_) | Value::Rolled(_) => (value, &[]),
        };
        let case = tag.as_index().and_then(|tag| cases.get(usize::try_from(tag).ok()?));
        return match case.map(|(name, place)| (name, place.and_then(|at| Some((at, parts.get(at)?))))) {
            Some((name, Some((at, data)))) => {
                vec![Part::Text(format!("{{\"{name}\": ")), Part::Value(data.clone(), labels.part(at).clone()), text("}")]
            }
            Some((name, None)) => vec![Part::Text(format!("\"{name}\""))],
            None => Vec::new(),
        };
    }
    if let Some((field, inside)) = labels.sole() {
        return vec![Part::Text(format!("{{\"{field}\": ")), Part::Value(value.clone(), inside.clone()), text("}")];
    }
    let (items, is_array) = match value {
        Value::Double(number) => return written(Step::Double(*number), scalar, out),
        Value::Index(number) => return written(Step::Index(*number), scalar, out),
        Value::Bool(value) => return written(Step::Bool(*value), scalar, out),
        Value::Tuple(parts) if parts.is_empty() => return vec![text("null")],
        Value::Tuple(parts) => (parts.as_slice(), false),
        Value::Array(array) => (array.items.as_slice(), true),
        Value::Rolled(_) => return Vec::new(),
    };
    let is_record = matches!(labels, Labels::Record(..));
    let mut parts = vec![text(if is_record { "{" } else { "[" })];
    for (at, item) in items.iter().enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        let name = labels.field(at).filter(|_| !is_array).map_or(String::new(), |field| format!("\"{field}\": "));
        parts.push(Part::Text(format!("{comma}{name}")));
        parts.push(Part::Value(item.clone(), if is_array { labels.element() } else { labels.part(at) }.clone()));
    }
    parts.push(text(if is_record { "}" } else { "]" }));
    parts
}

fn written(step: Step, scalar: &mut dyn FnMut(Step, &mut String), out: &mut String) -> Vec<Part> {
    scalar(step, out);
    Vec::new()
}
