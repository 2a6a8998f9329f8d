//! Where a function's size names get their values: from the shapes of its arguments.
//!
//!     f (k: Index) (a: Matrix<n, m>)   →   m is at parameter 1, one element down

use super::number::V;
use super::shape::Shape;
use super::value::Value;
use crate::ir::program::Function;
use crate::ir::term::{Type, Var};

/// A size name's place: the parameter, and the way down its shape; `None` where no parameter's type has it.
pub struct SizeSource {
    pub place: Option<(usize, Vec<Step>)>,
}

#[derive(Clone, Copy)]
pub enum Step {
    Element,
    Part(usize),
}

/// The first place in the parameters' types where the size stands alone as a length.
pub fn place_of(function: &Function, size: &Var) -> Option<(usize, Vec<Step>)> {
    function.params.iter().enumerate().find_map(|(k, param)| Some((k, way_down(param.ty(), size)?)))
}

fn way_down(ty: &Type, size: &Var) -> Option<Vec<Step>> {
    let below = |step: Step, rest: Option<Vec<Step>>| Some(std::iter::once(step).chain(rest?).collect());
    match ty {
        Type::Array(_, length) if length.as_var() == Some(size) => Some(Vec::new()),
        Type::Array(element, _) => below(Step::Element, way_down(element, size)),
        Type::Tuple(parts) => parts.iter().enumerate().find_map(|(k, part)| below(Step::Part(k), way_down(part, size))),
        Type::Double | Type::Index(_) | Type::Bool | Type::Rec(_) => None,
    }
}

/// The length that a size name stands for.
pub fn length_at(args: &[V], place: Option<&(usize, Vec<Step>)>) -> i64 {
    let Some((param, steps)) = place else { return 0 };
    let mut shape = args.get(*param).map(Value::shape);
    for step in steps {
        shape = match (step, shape) {
            (Step::Element, Some(Shape::Array(element, _))) => Some((*element).clone()),
            (Step::Part(k), Some(Shape::Tuple(parts))) => parts.get(*k).cloned(),
            (Step::Element | Step::Part(_), _) => None,
        };
    }
    match shape {
        Some(Shape::Array(_, length)) => length as i64,
        _ => 0,
    }
}
