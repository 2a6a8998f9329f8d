//! Reverse mode: a `vjp` term becomes a forward and a backward pass over its body.
//!
//! In: a body without derivatives and a cotangent for its value. Out: the value, and the cotangent times the Jacobian. What
//! forward mode would compute is linear in the tangents; its transpose propagates cotangents from each operation to its operands, in
//! reverse order (003 Sections 2.3 and 3, `rev$f` of its Figure 6; Radul et al., You Only Linearize Once). [`sweep`] does both for
//! one scope and keeps its [`operations`], [`loops`] does loops, [`extrema`] maxima, [`branches`] branches, [`adjoint`] says where
//! adjoints are accumulated.
//!
//!     vjp(x = v, w = 1.0). ifold (fun s i -> s + x[i] * x[i]) 0.0 n
//!     →   ifold (fun xb i -> let xb1 = accumulate xb i (w * v[i]) in accumulate xb1 i (v[i] * w)) (build n (fun i -> 0.0)) n
//!
//! A scope's values are recomputed when the backward pass enters it (Schenck et al., AD for an Array Language with Nested
//! Parallelism): only the states of sequential loops are stored, and values of their steps that are expensive to recompute and no
//! larger ([`stored`]), in arrays with an element for each step, so that the size of every workspace room is known on entry. Calls
//! are inlined first; a body that grows too large is refused, and is for forward mode.

mod adjoint;
mod branches;
mod changed;
mod checkpoints;
mod collect;
mod extrema;
mod leaves;
mod levels;
mod loops;
mod operations;
mod settled;
mod states;
mod stored;
mod sweep;
mod undo;
mod updates;

use super::activity::Activity;
use super::block::{Block, Spares};
use super::functions::Functions;
use super::{Result, internal};
use crate::diagnostic::Diagnostic;
use crate::ir::ambient::with_all_set;
use crate::ir::subst::{inlined, try_map_children};
use crate::ir::term::Vjp;
use crate::ir::{Expr, Name, Prim, Size, Status, Term, Type};
use crate::source::Span;
use adjoint::Adjoint;
use sweep::Sweep;

/// A body of more nodes, with calls inlined, is refused.
const LARGEST: usize = 100_000;

/// The pair of the body's value and the derivative, of the type of the point.
pub fn vjp(functions: &mut Functions, vjp: &Vjp, spares: &Spares) -> Result<Expr> {
    // what an update overwrites is kept, whether it was set or not
    let body = with_all_set(&without_calls(vjp.body, functions, &mut 0)?);
    let mut out = Block::new(spares);
    out.spare(vjp.x, vjp.at.clone());
    functions.given_by_data.bind(vjp.x, vjp.at);
    let cotangent = out.bind(Name::placeholder("w"), vjp.cotangent.clone());
    let active = Activity::full(vjp.x.ty());
    let mut sweep = Sweep::new(functions);
    // known to be active before the body is looked at
    sweep.activate(vjp.x, &active);
    let (both, _) = sweep.scope(&body, false, |sweep| {
        let x = sweep.activate(vjp.x, &active);
        let (value, result) = sweep.forward(&body, &mut out)?;
        let value = out.bind("value", value);
        same_shape(&cotangent, &value, &mut out, vjp.body.span());
        sweep.seed(&result, value.ty(), &cotangent, &mut out);
        sweep.backward(&mut out)?;
        let derivative = collected(sweep, vjp.x.ty(), &x, &Expr::var(vjp.x), &mut out);
        Ok(Expr::tuple(vec![value, derivative]))
    })?;
    Ok(out.close(both))
}

/// The term with the bodies of all functions that it calls, in the place of the calls, and with the steps of loops that data ends
/// counted.
fn without_calls(expr: &Expr, functions: &Functions, nodes: &mut usize) -> Result<Expr> {
    *nodes += 1;
    if *nodes > LARGEST {
        let message = "unsupported: the function is too large for reverse mode with the functions that it calls written out";
        return Err(Diagnostic::error("E0604", expr.span(), message).help("use `--mode forward`, or `jvp`"));
    }
    let inner = try_map_children(expr, &mut |child| match checkpoints::is_counted(child) {
        // the count of one that is a fold already
        true => Ok(child.clone()),
        false => without_calls(child, functions, nodes),
    })?;
    if let Term::While { state, init, body } = inner.term() {
        return Ok(checkpoints::counted(state, init, body).at(expr.span()));
    }
    let Term::Call(name, args) = inner.term() else { return Ok(inner) };
    let Some(function) = functions.done.get(name) else {
        return Err(internal(expr.span(), format!("a call of `{name}` before its definition")));
    };
    without_calls(&inlined(function, args), functions, nodes)
}

/// Checks that a cotangent has the lengths of the value, where the types do not say so.
fn same_shape(cotangent: &Expr, value: &Expr, out: &mut Block, span: Span) {
    match value.ty() {
        Type::Array(..) => {
            for axis in 0..value.ty().dims().len() {
                let (a, b) = (Expr::dim(cotangent.clone(), axis), Expr::dim(value.clone(), axis));
                if Size::of_expr(&a) != Size::of_expr(&b) {
                    out.check(Expr::prim(Prim::Eq, vec![a, b]), Status::Shape, span);
                }
            }
        }
        Type::Tuple(parts) => (0..parts.len()).for_each(|k| {
            same_shape(&Expr::proj(cotangent.clone(), k), &Expr::proj(value.clone(), k), out, span);
        }),
        Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => {}
    }
}

/// The adjoints accumulated for the point, as a value of its type: an Index or Bool is the point's own.
fn collected(sweep: &mut Sweep, ty: &Type, adjoint: &Adjoint, at: &Expr, out: &mut Block) -> Expr {
    match (ty, adjoint) {
        (Type::Tuple(parts), _) => {
            let parts = parts.iter().enumerate();
            let parts = parts.map(|(k, ty)| collected(sweep, ty, &adjoint.part(k), &Expr::proj(at.clone(), k), out));
            Expr::tuple(parts.collect())
        }
        (_, Adjoint::None) => at.clone(),
        (_, Adjoint::Leaf(place)) => sweep.total(place.wire, out),
        // an array of tuples: its wires element by element
        (_, Adjoint::Parts(_)) => {
            let leaves: Vec<Expr> = adjoint.leaves().into_iter().map(|place| sweep.total(place.wire, out)).collect();
            together(ty, at, &[], &mut leaves.iter())
        }
    }
}

/// A value of type `ty` from its leaves, at these indices of each.
fn together(ty: &Type, at: &Expr, indices: &[Expr], leaves: &mut dyn Iterator<Item = &Expr>) -> Expr {
    match ty {
        Type::Double => match leaves.next() {
            Some(leaf) => indices.iter().fold(leaf.clone(), |leaf, index| Expr::get(leaf, index.clone())),
            None => Expr::double(0.0),
        },
        Type::Bool | Type::Index(_) | Type::Rec(_) => at.clone(),
        Type::Array(element, _) => Expr::build(Expr::dim(at.clone(), 0), "i", |i| {
            let indices: Vec<Expr> = indices.iter().cloned().chain([i.clone()]).collect();
            together(element, &Expr::get(at.clone(), i), &indices, leaves)
        }),
        Type::Tuple(parts) => {
            let parts = parts.iter().enumerate();
            Expr::tuple(parts.map(|(k, ty)| together(ty, &Expr::proj(at.clone(), k), indices, leaves)).collect())
        }
    }
}
