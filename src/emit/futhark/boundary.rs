//! The boundary of an entry point: only scalars, arrays of scalars, and one tuple of these as a result.
//!
//! In: a parameter or result that holds tuples. Out: its components as parameters and results of their own, put
//! together before the body and taken apart after it.
//!
//!     p: [n](f64, f64)   →   parameters p_0 and p_1, then  let p = zip p_0 p_1
//!     r: [n](f64, f64)   →   (map (.0) r, map (.1) r)

use super::context::{Emitter, Place};
use super::syntax::{Binding, Fut, Pattern};
use super::types::Shape;
use crate::ir::{Labels, Var};

/// `zip` to `zip5`.
const ZIPPED: usize = 5;

/// The parameters that stand for one, which gets its place.
pub fn parameters(
    emitter: &mut Emitter,
    param: &Var,
    (shape, labels): (&Shape, &Labels),
    bindings: &mut Vec<Binding>,
) -> Vec<(Pattern, Shape)> {
    if !shape.has_tuple() && *labels == Labels::None {
        return vec![(emitter.declare(param, shape), shape.clone())];
    }
    let mut made = Vec::new();
    let place = components(emitter, (param.name(), labels), shape, &mut made, bindings);
    emitter.put(param, place);
    made
}

fn components(
    emitter: &mut Emitter,
    (name, labels): (&str, &Labels),
    shape: &Shape,
    made: &mut Vec<(Pattern, Shape)>,
    bindings: &mut Vec<Binding>,
) -> Place {
    let (name, labels) = labels.within(name);
    let name = name.as_str();
    match shape {
        Shape::Tuple(parts) => {
            let parts = parts.iter().enumerate();
            let names = |at| (labels.name(name, at), labels.part(at));
            Place::Parts(
                parts
                    .map(|(at, part)| (names(at), part))
                    .map(|((name, labels), part)| components(emitter, (&name, labels), part, made, bindings))
                    .collect(),
            )
        }
        Shape::Array(..) if shape.has_tuple() => {
            let mut names = Vec::new();
            leaf_names(shape, name, labels, &mut names);
            let leaves: Vec<Fut> = shape
                .leaves()
                .into_iter()
                .enumerate()
                .map(|(at, leaf)| {
                    let numbered = format!("{name}_{at}");
                    let text =
                        emitter.local_of(if *labels == Labels::None { &numbered } else { names.get(at).unwrap_or(&numbered) }, &leaf);
                    made.push((Pattern::Name(text.clone()), leaf));
                    Fut::atom(text)
                })
                .collect();
            let value = joined(emitter, shape, &leaves);
            let text = emitter.local_of(name, shape);
            bindings.push(Binding { pattern: Pattern::Name(text.clone()), value });
            Place::One(Fut::atom(text), shape.clone())
        }
        Shape::Double | Shape::Index | Shape::Bool | Shape::Array(..) => {
            let mut names = Vec::new();
            leaf_names(shape, name, labels, &mut names);
            let text = emitter.local_of(names.first().map_or(name, |name| name), shape);
            made.push((Pattern::Name(text.clone()), shape.clone()));
            Place::One(Fut::atom(text), shape.clone())
        }
    }
}

/// The names of the leaves of records, as in C.
pub(super) fn leaf_names(shape: &Shape, name: &str, labels: &Labels, names: &mut Vec<String>) {
    let (name, labels) = labels.within(name);
    let name = name.as_str();
    match shape {
        Shape::Array(element, _) => leaf_names(element, name, labels.element(), names),
        Shape::Tuple(parts) => {
            for (at, part) in parts.iter().enumerate() {
                leaf_names(part, &labels.name(name, at), labels.part(at), names);
            }
        }
        Shape::Double | Shape::Index | Shape::Bool => names.push(name.to_string()),
    }
}

/// An array of tuples from one array for each scalar component.
fn joined(emitter: &mut Emitter, shape: &Shape, leaves: &[Fut]) -> Fut {
    match shape {
        Shape::Tuple(parts) => {
            let mut rest = leaves;
            let mut joined_parts = Vec::new();
            for part in parts {
                let (mine, others) = rest.split_at(part.leaves().len().min(rest.len()));
                joined_parts.push(joined(emitter, part, mine));
                rest = others;
            }
            Fut::Tuple(joined_parts)
        }
        Shape::Array(element, length) if element.has_tuple() => {
            if let Shape::Tuple(parts) = &**element
                && parts.len() <= ZIPPED
                && parts.iter().all(|part| !part.has_tuple())
            {
                let name = if parts.len() == 2 { "zip".to_string() } else { format!("zip{}", parts.len()) };
                return Fut::apply(name, leaves.to_vec());
            }
            let (i, value) = emitter.scope(|emitter| {
                let i = emitter.local("i");
                let elements: Vec<Fut> = leaves.iter().map(|leaf| leaf.clone().index(Fut::atom(&i))).collect();
                let value = joined(emitter, element, &elements);
                (i, value)
            });
            let count = match length {
                Some(text) => Fut::atom(text),
                None => Fut::apply("length", leaves.iter().take(1).cloned().collect()),
            };
            Fut::apply("tabulate", vec![count, Fut::lambda(vec![Pattern::Name(i)], value)])
        }
        Shape::Double | Shape::Index | Shape::Bool | Shape::Array(..) => leaves.first().cloned().unwrap_or(Fut::atom("()")),
    }
}

/// The body of an entry with its result taken apart.
pub fn result(emitter: &mut Emitter, body: Fut, shape: &Shape) -> Fut {
    let is_flat = if let Shape::Tuple(parts) = shape { !parts.iter().any(Shape::has_tuple) } else { !shape.has_tuple() };
    if is_flat {
        return body;
    }
    let mut bindings = Vec::new();
    let value = body.without_lets(&mut bindings);
    let value = named(emitter, value, shape, &mut bindings);
    let leaves = (0..shape.leaves().len()).map(|leaf| picked(emitter, value.clone(), shape, leaf)).collect();
    Fut::let_in(bindings, Fut::Tuple(leaves))
}

/// The value with names for its arrays of tuples.
fn named(emitter: &mut Emitter, value: Fut, shape: &Shape, bindings: &mut Vec<Binding>) -> Fut {
    match (value, shape) {
        (Fut::Tuple(values), Shape::Tuple(shapes)) => {
            Fut::Tuple(values.into_iter().zip(shapes).map(|(value, shape)| named(emitter, value, shape, bindings)).collect())
        }
        (value @ Fut::Atom(_), _) => value,
        (value, shape) if shape.has_tuple() => {
            let name = emitter.local_of("result", shape);
            bindings.push(Binding { pattern: Pattern::Name(name.clone()), value });
            Fut::atom(name)
        }
        (value, _) => value,
    }
}

/// One leaf of a value.
fn picked(emitter: &mut Emitter, value: Fut, shape: &Shape, leaf: usize) -> Fut {
    match shape {
        Shape::Tuple(parts) => {
            let mut rest = leaf;
            for (at, part) in parts.iter().enumerate() {
                let count = part.leaves().len();
                if rest < count {
                    return picked(emitter, value.project(at), part, rest);
                }
                rest -= count;
            }
            value
        }
        Shape::Array(element, _) if element.has_tuple() => {
            let (name, inner) = emitter.scope(|emitter| {
                let name = emitter.local_of("x", element);
                let inner = picked(emitter, Fut::atom(&name), element, leaf);
                (name, inner)
            });
            Fut::apply("map", vec![Fut::lambda(vec![Pattern::Name(name)], inner), value])
        }
        Shape::Double | Shape::Index | Shape::Bool | Shape::Array(..) => value,
    }
}
