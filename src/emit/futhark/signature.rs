//! What a caller of a function must know, and the lengths of its result in a call.
//!
//! In: a signature, and arguments with their shapes. Out: what the function's names of sizes are there, and shapes in those words.
//!
//!     f (x: [n]f64): [n]f64   called with   y: [3]f64   →   n is 3, the result is a [3]f64

use super::layout;
use super::syntax::Fut;
use super::types::Shape;

/// What a caller of a function must know; lengths are in the function's own names.
#[derive(Clone, Debug)]
pub struct Signature {
    pub name: String,
    /// Names of sizes and of Index parameters, the latter with their position.
    pub sizes: Vec<(String, Option<usize>)>,
    pub params: Vec<Shape>,
    pub result: Shape,
    /// Whether a call may end in a run-time error.
    pub can_fail: bool,
    /// Which parameters a call uses up, and which leaves of the result share no memory with the arguments.
    pub used_up: Vec<bool>,
    pub own: Vec<bool>,
}

/// What the function's size names are in a call.
pub fn lengths(signature: &Signature, args: &[(Fut, Shape)]) -> Vec<(String, Option<String>)> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    for (name, param) in &signature.sizes {
        let text = match param {
            Some(at) => args.get(*at).filter(|(exp, _)| matches!(exp, Fut::Atom(_) | Fut::Int(_))).and_then(|(exp, _)| layout::flat(exp)),
            None => signature.params.iter().zip(args).find_map(|(param, (_, arg))| match_length(name, param, arg)),
        };
        found.push((name.clone(), text));
    }
    found
}

fn match_length(name: &str, param: &Shape, arg: &Shape) -> Option<String> {
    match (param, arg) {
        (Shape::Array(p, length), Shape::Array(a, found)) => {
            if length.as_deref() == Some(name) {
                return found.clone();
            }
            match_length(name, p, a)
        }
        (Shape::Tuple(p), Shape::Tuple(a)) => p.iter().zip(a).find_map(|(p, a)| match_length(name, p, a)),
        _ => None,
    }
}

/// The shape in a call: numbers stay, names are replaced, and Futhark's form of anything else is not guessed.
pub fn with_lengths(shape: &Shape, lengths: &[(String, Option<String>)]) -> Shape {
    match shape {
        Shape::Array(element, length) => {
            let length = length.as_ref().and_then(|text| match lengths.iter().find(|(name, _)| name == text) {
                Some((_, found)) => found.clone(),
                None => text.parse::<i64>().is_ok().then(|| text.clone()),
            });
            Shape::array(with_lengths(element, lengths), length)
        }
        Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(|part| with_lengths(part, lengths)).collect()),
        Shape::Double | Shape::Index | Shape::Bool => shape.clone(),
    }
}
