//! Expressions of the loop program, made and judged.
//!
//! In: expressions and primitives. Out: negations, arithmetic of Indexes, and the kind of what a primitive gives.
//!
//!     !(i < n && p)   →   i >= n || !p

use crate::ir::Prim;

use super::program::*;

/// Literal lengths make up to so many bytes a factor, which no machine's `size_t` overflows.
const MANY_BYTES: u32 = 1 << 24;

/// The kind of a primitive's result for operands of a kind.
pub fn result_elem(prim: Prim, elem: Elem) -> Elem {
    match prim {
        Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge | Prim::And | Prim::Or | Prim::Not => Elem::Bool,
        Prim::ToDouble | Prim::Polygamma => Elem::Double,
        Prim::ToIndex => Elem::Index,
        _ => elem,
    }
}

/// Whether Index arithmetic of this kind can leave the range of 64 bits, or divide by zero.
pub fn may_wrap(prim: Prim) -> bool {
    matches!(prim, Prim::Add | Prim::Sub | Prim::Mul | Prim::Neg | Prim::Div | Prim::Rem)
}

/// A primitive on two Indexes whose result is known to be one.
pub fn index(prim: Prim, a: Value, b: Value) -> Value {
    Value::Prim { prim, elem: Elem::Index, plain: true, args: vec![a, b] }
}

/// As [`index`], with what literals give.
pub fn folded(prim: Prim, a: Value, b: Value) -> Value {
    match (prim, &a, &b) {
        (Prim::Mul, Value::Index(a), Value::Index(b)) => Value::Index(a * b),
        (Prim::Div, Value::Index(a), Value::Index(b)) if *b != 0 => Value::Index(a / b),
        (Prim::Rem, Value::Index(a), Value::Index(b)) if *b != 0 => Value::Index(a % b),
        (Prim::Add, Value::Index(a), Value::Index(b)) => Value::Index(a + b),
        (Prim::Add, Value::Index(0), _) => b,
        _ => index(prim, a, b),
    }
}

/// The product of lengths and subscripts, which cannot overflow, with what 0, 1 and literals give.
pub fn product(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Index(0), _) | (_, Value::Index(0)) => Value::Index(0),
        (Value::Index(1), x) | (x, Value::Index(1)) => x,
        (Value::Index(a), Value::Index(b)) => Value::Index(a.wrapping_mul(b)),
        (a, b) => index(Prim::Mul, a, b),
    }
}

/// The bytes of an array of these lengths; the literal ones are one factor, unless they are very long.
pub fn bytes(elem: Elem, lengths: &[Value]) -> Value {
    let mut elements: u32 = 1;
    let mut others = Vec::new();
    for length in lengths {
        let literal = if let Value::Index(length) = length { u32::try_from((*length).max(0)).ok() } else { None };
        match literal.and_then(|length| elements.checked_mul(length)).filter(|product| *product <= MANY_BYTES / 8) {
            Some(0) => return Value::Index(0),
            Some(product) => elements = product,
            None => others.push(length.clone()),
        }
    }
    others.into_iter().fold(Value::SizeOf(elem, elements), |product, length| Value::Helper("smooth_times", vec![product, length]))
}

/// The sum of two numbers of bytes; the literal ones are one.
pub fn more_bytes(total: Value, more: Value) -> Value {
    let together = |a: &Value| match (a, &more) {
        (Value::SizeOf(elem, a), Value::SizeOf(other, b)) if elem == other && a + b <= MANY_BYTES / 8 => Some(Value::SizeOf(*elem, a + b)),
        _ => None,
    };
    match total {
        Value::Index(0) => more,
        Value::Helper("smooth_plus", mut parts) if parts.last().is_some_and(|last| together(last).is_some()) => {
            let last = parts.pop().and_then(|last| together(&last));
            parts.extend(last);
            Value::Helper("smooth_plus", parts)
        }
        total => together(&total).unwrap_or_else(|| Value::Helper("smooth_plus", vec![total, more])),
    }
}

/// The negation, pushed inwards where that is exact.
pub fn negate(value: Value) -> Value {
    let not = |value| Value::Prim { prim: Prim::Not, elem: Elem::Bool, plain: true, args: vec![value] };
    match value {
        Value::Bool(value) => Value::Bool(!value),
        Value::Prim { prim, elem, plain, args } => {
            let flipped = match prim {
                Prim::Eq => Some(Prim::Ne),
                Prim::Ne => Some(Prim::Eq),
                Prim::Lt if elem == Elem::Index => Some(Prim::Ge),
                Prim::Le if elem == Elem::Index => Some(Prim::Gt),
                Prim::Gt if elem == Elem::Index => Some(Prim::Le),
                Prim::Ge if elem == Elem::Index => Some(Prim::Lt),
                _ => None,
            };
            match (prim, flipped) {
                (_, Some(prim)) => Value::Prim { prim, elem, plain, args },
                (Prim::Not, None) if args.len() == 1 => args.into_iter().next().unwrap_or(Value::Bool(true)),
                (Prim::And, None) => Value::Prim { prim: Prim::Or, elem, plain, args: args.into_iter().map(negate).collect() },
                (Prim::Or, None) => Value::Prim { prim: Prim::And, elem, plain, args: args.into_iter().map(negate).collect() },
                _ => not(Value::Prim { prim, elem, plain, args }),
            }
        }
        other => not(other),
    }
}

/// Whether a primitive is a function of one operand that takes long, and that vector libraries have.
pub fn has_vector_form(prim: Prim) -> bool {
    matches!(
        prim,
        Prim::Sin | Prim::Cos | Prim::Tan | Prim::Asin | Prim::Acos | Prim::Atan | Prim::Sinh | Prim::Cosh | Prim::Tanh | Prim::Log
    ) || matches!(
        prim,
        Prim::Exp | Prim::Erf | Prim::Log1p | Prim::Expm1 | Prim::Erfc | Prim::Asinh | Prim::Acosh | Prim::Atanh | Prim::Cbrt
    ) || matches!(prim, Prim::Exp2 | Prim::Log2 | Prim::Log10 | Prim::Sigmoid | Prim::Softplus)
}
