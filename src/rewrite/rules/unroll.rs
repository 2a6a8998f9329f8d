//! Small arrays as scalars: a `build` of a few elements is written out, an array that is only indexed by
//! literals becomes a tuple.
//!
//!     build 3 (fun i -> v[i] * s)                →  [v[0] * s, v[1] * s, v[2] * s]
//!     let p = [a, b, c] in p[0] * p[2] + p[0]    →  let p = (a, b, c) in p.0 * p.2 + p.0
//!
//! Literal indices then simplify the elements: one-hot tangents of a camera's eleven parameters become the few that are not
//! zero. An array that a loop indexes stays an array. An accumulator of a few elements becomes scalars:
//!
//!     ifold (fun s i -> [s[0] * c, s[1] + v[i]]) [x, y] n   →   let s = ifold (fun s i -> (s.0 * c, s.1 + v[i])) (x, y) n in [s.0, s.1]

use crate::ir::free::mentions;
use crate::ir::subst::{instance, map_children};
use crate::ir::{Expr, Prim, Size, Term, Type, Var};
use crate::rewrite::cost::element_is_sparse;
use crate::rewrite::facts::Facts;

use super::rules;

rules! {
    "build-unroll" Loop Normalisation @ Build: "build 2 f -> [f 0, f 1]" if ["few elements and a small f"] => build_unroll;
    "array-to-tuple" Tuple @ Let: "let x = [a, b] in c -> let x = (a, b) in c[x.k/x[k]]" if ["x is only indexed by literals"] => array_to_tuple;
    "fold-to-tuple"  Tuple @ Fold: "ifold f [a, b] n -> let s = ifold f (a, b) n in [s.0, s.1]" if ["s is only indexed by literals"] => fold_to_tuple;
}

/// A build of at most this many elements is written out,
const FEW: i64 = 4;
/// or of this many, where its index simplifies half of them,
pub(super) const SEVERAL: i64 = 16;
/// or one where all of them have at most so many nodes,
const FEW_NODES: usize = 150;
/// unless a nest of such has more elements than this,
const ELEMENTS: i64 = 1024;
/// or all of them have more nodes than this.
const UNROLLED_NODES: usize = 12_000;
/// The nodes of a `build` that becomes the accumulator of a loop.
const SCALAR_NODES: usize = 400;
/// Nothing is written out in a function that has grown to more nodes than this.
const FUNCTION_NODES: usize = 40_000;

fn build_unroll(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Build { n, i, body } = expr.term() else { return None };
    let Term::Index(count) = n.term() else { return None };
    let nodes = body.node_count().saturating_mul(usize::try_from(*count).ok()?);
    if *count < 1 {
        return None;
    }
    let small = *count <= FEW || *count <= SEVERAL && looks_at(body, i, *count, nodes <= FEW_NODES, facts);
    let elements = expr.ty().dims().iter().map_while(Size::as_constant).fold(1, i64::saturating_mul);
    let small = small && elements.saturating_mul(facts.nest(FEW)) <= ELEMENTS;
    let is_small = small && nodes <= UNROLLED_NODES && facts.nodes + nodes <= FUNCTION_NODES;
    facts.require("few elements and a small f", is_small, n)?;
    let Type::Array(element, _) = expr.ty() else { return None };
    let items = (0..*count).map(|k| instance(body, &[(i.clone(), Expr::index(k))])).collect();
    Some(Expr::array(element.as_ref().clone(), items))
}

/// Whether knowing this index simplifies half of the elements or more, or any where the text is short.
fn looks_at(expr: &Expr, i: &Var, count: i64, short: bool, facts: &Facts) -> bool {
    let all = 1u32.checked_shl(u32::try_from(count).unwrap_or(u32::MAX)).unwrap_or(0).wrapping_sub(1);
    let simplified = (decided(expr, i, facts) & all).count_ones();
    2 * simplified >= all.count_ones() || short && simplified > 0
}

/// The elements, as bits, that this index simplifies: it is equal to a literal or not, on one side of it, or picks from an array
/// that is written out. What is compared with something else is no simpler for it.
fn decided(expr: &Expr, i: &Var, facts: &Facts) -> u32 {
    let is_index = |expr: &Expr| matches!(expr.term(), Term::Var(var) if var == i);
    let written_out = |array: &Expr| match array.term() {
        Term::Var(var) => facts.value(var).is_some_and(|value| matches!(value.term(), Term::Array(_))),
        term => matches!(term, Term::Array(_)),
    };
    let here = match expr.term() {
        Term::Prim(prim @ (Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge), args) if args.iter().any(is_index) => {
            match args.iter().find_map(|arg| if let Term::Index(k) = arg.term() { Some(*k) } else { None }) {
                Some(k) if matches!(prim, Prim::Eq | Prim::Ne) => u32::try_from(k).ok().and_then(|k| 1u32.checked_shl(k)).unwrap_or(0),
                Some(_) => u32::MAX,
                None => 0,
            }
        }
        Term::Get(array, index) if is_index(index) && written_out(array) => u32::MAX,
        _ => 0,
    };
    expr.term().children().fold(here, |bits, child| if bits == u32::MAX { bits } else { bits | decided(child, i, facts) })
}

fn array_to_tuple(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Let(x, value, body) = expr.term() else { return None };
    if let Term::Array(rows) = value.term()
        && facts.grants("x is only indexed by literals", rows.first()?.ty().has_array() && only_rows(body, x))
    {
        let tuple = Expr::tuple(rows.clone());
        let rows = x.renewed(tuple.ty().clone());
        return Some(Expr::let_(rows.clone(), tuple, with_rows(body, x, &rows)));
    }
    if let Some(columns) = columns_to_tuples(x, value, body, facts) {
        return Some(columns);
    }
    if !value.ty().has_array() || !facts.grants("x is only indexed by literals", only_leaves(body, x)) {
        return None;
    }
    let value = as_tuples(value)?;
    let tuple = x.renewed(value.ty().clone());
    Some(Expr::let_(tuple.clone(), value, with_projections(body, x, &tuple)))
}

/// An array whose elements are a few arrays each, as the columns of a Jacobian in points of two numbers: of tuples of them.
///
///     let x = build n (fun i -> [a, b]) in c   →   let x = build n (fun i -> (a, b)) in c[x[i].k/x[i][k]]
fn columns_to_tuples(x: &Var, value: &Expr, body: &Expr, facts: &Facts) -> Option<Expr> {
    let (mut loops, mut element) = (Vec::new(), value);
    while let Term::Build { n, i, body } = element.term() {
        loops.push((n, i));
        element = body;
    }
    let built = |element: Expr| loops.iter().rev().fold(element, |element, (n, i)| Expr::build_with((*n).clone(), (*i).clone(), element));
    let is_column = |part: &Expr| part.ty().has_array() || element_is_sparse(&built(with_tail(element, part)));
    let Term::Array(parts) = tail(element).term() else { return None };
    if loops.is_empty() || !(2..=SEVERAL).contains(&(parts.len() as i64)) || !parts.iter().all(is_column) {
        return None;
    }
    let tuples = built(with_tail(element, &Expr::tuple(parts.clone())));
    let name = x.renewed(tuples.ty().clone());
    let body = with_components(body, x, loops.len(), (&name, parts.len()));
    facts.grants("x is only indexed by literals", !mentions(&body, x)).then(|| Expr::let_(name, tuples, body))
}

/// What the lets and checks of an element end in.
fn tail(element: &Expr) -> &Expr {
    match element.term() {
        Term::Let(_, _, body) | Term::Check { body, .. } => tail(body),
        _ => element,
    }
}

/// An element that ends in something else.
fn with_tail(element: &Expr, end: &Expr) -> Expr {
    match element.term() {
        Term::Let(x, value, body) => Expr::let_(x.clone(), value.clone(), with_tail(body, end)),
        Term::Check { cond, status, body } => Expr::check(cond.clone(), *status, with_tail(body, end)),
        _ => end.clone(),
    }
}

/// The term with components in the place of literal indices after so many others.
fn with_components(expr: &Expr, x: &Var, depth: usize, (tuples, count): (&Var, usize)) -> Expr {
    if let Term::Get(element, at) = expr.term()
        && let Term::Index(k) = at.term()
        && let Ok(k) = usize::try_from(*k)
        && k < count
    {
        let (mut indices, mut head) = (Vec::new(), element);
        while let Term::Get(array, index) = head.term() {
            indices.push(index);
            head = array;
        }
        if indices.len() == depth && matches!(head.term(), Term::Var(var) if var == x) {
            let indices = indices.into_iter().rev().map(|index| with_components(index, x, depth, (tuples, count)));
            return Expr::proj(indices.fold(Expr::var(tuples), Expr::get), k);
        }
    }
    map_children(expr, &mut |child| with_components(child, x, depth, (tuples, count)))
}

/// The length of an array type that has elements of its own to name.
fn few(size: &Size) -> Option<usize> {
    let count = size.as_constant().filter(|count| (2..=SEVERAL).contains(count))?;
    usize::try_from(count).ok()
}

/// The term with its small arrays as tuples, where it ends in ones that are written out or stored already.
fn as_tuples(expr: &Expr) -> Option<Expr> {
    if !expr.ty().has_array() {
        return Some(expr.clone());
    }
    match expr.term() {
        Term::Array(items) if (2..=SEVERAL).contains(&(items.len() as i64)) => {
            Some(Expr::tuple(items.iter().map(component).collect::<Option<_>>()?))
        }
        Term::Tuple(parts) => Some(Expr::tuple(parts.iter().map(component).collect::<Option<_>>()?)),
        Term::Let(x, a, b) => Some(Expr::let_(x.clone(), a.clone(), as_tuples(b)?)),
        Term::Check { cond, status, body } => Some(Expr::check(cond.clone(), *status, as_tuples(body)?)),
        Term::If(c, a, b) => {
            let (a, b) = (as_tuples(a)?, as_tuples(b)?);
            a.ty().same_shape(b.ty()).then(|| Expr::if_(c.clone(), a, b))
        }
        Term::Fold { n, acc, i, body, init } => {
            if !only_leaves(body, acc) {
                return None;
            }
            let init = as_tuples(init)?;
            let state = acc.renewed(init.ty().clone());
            let body = as_tuples(&with_projections(body, acc, &state))?;
            body.ty().same_shape(init.ty()).then(|| Expr::fold_with(n.clone(), state, i.clone(), body, init))
        }
        Term::Var(_)
        | Term::Double(_)
        | Term::Index(_)
        | Term::Bool(_)
        | Term::Prim(..)
        | Term::Build { .. }
        | Term::While { .. }
        | Term::Get(..)
        | Term::Dim(..)
        | Term::Array(_)
        | Term::Proj(..)
        | Term::Call(..)
        | Term::Iso(..)
        | Term::Update(..)
        | Term::Vjp { .. }
        | Term::Dual { .. } => None,
    }
}

/// A part of what becomes a tuple: one that exists is taken apart too.
fn component(expr: &Expr) -> Option<Expr> {
    as_tuples(expr).or_else(|| scalars(expr, None).filter(|_| is_stored(expr) && has_few(expr.ty())))
}

/// A loop over arrays of a few numbers as a loop over tuples of them; other components of the accumulator stay as they are, and
/// so do arrays that are updated where a variable says.
fn fold_to_tuple(expr: &Expr, facts: &Facts) -> Option<Expr> {
    let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
    if !has_few(acc.ty()) {
        return None;
    }
    let stay = stays(body, acc)?;
    let init = state_scalars(init, None, &stay)?;
    let state = acc.renewed(init.ty().clone());
    let body = state_scalars(body, Some((acc, &state)), &stay).filter(|body| body.ty().same_shape(init.ty()))?;
    let body = with_places(&body, acc, &state);
    facts.require("s is only indexed by literals", !mentions(&body, acc), expr)?;
    let done = acc.renewed(init.ty().clone());
    let result = match acc.ty() {
        Type::Tuple(parts) => Expr::tuple(
            (parts.iter().zip(&stay).enumerate())
                .map(|(k, (part, stays))| {
                    let component = Expr::proj(Expr::var(&done), k);
                    if *stays { Some(component) } else { as_arrays(part, &component) }
                })
                .collect::<Option<_>>()?,
        ),
        ty => as_arrays(ty, &Expr::var(&done))?,
    };
    Some(Expr::let_(done, Expr::fold_with(n.clone(), state, i.clone(), body, init), result))
}

/// Which components of a loop's state stay arrays: a step says nothing of their elements. `None` where that is all of it.
fn stays(body: &Expr, acc: &Var) -> Option<Vec<bool>> {
    let Type::Tuple(parts) = acc.ty() else { return Some(Vec::new()) };
    let stay: Vec<bool> = (parts.iter().enumerate()).map(|(k, part)| has_few(part) && is_updated(body, k)).collect();
    let mut few = parts.iter().zip(&stay).filter(|(part, _)| has_few(part));
    few.any(|(_, stays)| !stays).then_some(stay)
}

/// Whether component k of a step's result is an array with updates.
fn is_updated(step: &Expr, k: usize) -> bool {
    match step.term() {
        Term::Tuple(parts) => matches!(parts[k].term(), Term::Update(..)),
        Term::Let(_, _, body) | Term::Check { body, .. } => is_updated(body, k),
        Term::If(_, a, b) => is_updated(a, k) || is_updated(b, k),
        _ => false,
    }
}

/// A state or what a step makes of it, with its arrays of a few numbers as tuples but for components that stay.
fn state_scalars(expr: &Expr, acc: Option<(&Var, &Var)>, stay: &[bool]) -> Option<Expr> {
    if !stay.contains(&true) {
        return scalars(expr, acc);
    }
    match expr.term() {
        Term::Tuple(parts) => Some(Expr::tuple(
            (parts.iter().zip(stay))
                .map(|(part, stays)| if *stays { Some(part.clone()) } else { scalars(part, acc) })
                .collect::<Option<_>>()?,
        )),
        Term::Let(x, a, b) => Some(Expr::let_(x.clone(), a.clone(), state_scalars(b, acc, stay)?)),
        Term::Check { cond, status, body } => Some(Expr::check(cond.clone(), *status, state_scalars(body, acc, stay)?)),
        Term::If(c, a, b) => {
            let (a, b) = (state_scalars(a, acc, stay)?, state_scalars(b, acc, stay)?);
            a.ty().same_shape(b.ty()).then(|| Expr::if_(c.clone(), a, b))
        }
        _ => None,
    }
}

/// Whether a type is or has as a component an array of a few numbers.
pub(super) fn has_few(ty: &Type) -> bool {
    match ty {
        Type::Array(..) => numbers(ty).is_some_and(|count| count <= SEVERAL),
        Type::Tuple(parts) => parts.iter().any(has_few),
        Type::Double | Type::Index(_) | Type::Bool | Type::Rec(_) => false,
    }
}

/// How many numbers are in an array of literal lengths, each at least 2; `None` for another type.
fn numbers(ty: &Type) -> Option<i64> {
    match ty {
        Type::Array(element, size) => numbers(element)?.checked_mul(i64::try_from(few(size)?).ok()?),
        Type::Double | Type::Index(_) | Type::Bool => Some(1),
        Type::Tuple(_) | Type::Rec(_) => None,
    }
}

/// A term with its arrays of a few numbers as tuples: those that are written out, or a `build`, existing ones or the
/// accumulator, element by element.
fn scalars(expr: &Expr, acc: Option<(&Var, &Var)>) -> Option<Expr> {
    if !has_few(expr.ty()) {
        return Some(expr.clone());
    }
    if let Some(place) = acc.and_then(|(acc, state)| place(expr, acc, state)) {
        return Some(place);
    }
    let all = |items: &[Expr]| Some(Expr::tuple(items.iter().map(|item| scalars(item, acc)).collect::<Option<_>>()?));
    let count = expr.ty().dims().first().and_then(few).unwrap_or(0);
    match expr.term() {
        Term::Array(items) | Term::Tuple(items) => all(items),
        Term::Build { i, body, .. } if body.node_count() * count <= SCALAR_NODES => {
            all(&(0..count).map(|k| instance(body, &[(i.clone(), Expr::index(k as i64))])).collect::<Vec<_>>())
        }
        Term::Var(_) | Term::Get(..) | Term::Proj(..) if is_stored(expr) => {
            all(&(0..count).map(|k| Expr::get(expr.clone(), Expr::index(k as i64))).collect::<Vec<_>>())
        }
        Term::Let(x, a, b) => Some(Expr::let_(x.clone(), a.clone(), scalars(b, acc)?)),
        Term::Check { cond, status, body } => Some(Expr::check(cond.clone(), *status, scalars(body, acc)?)),
        Term::If(c, a, b) => {
            let (a, b) = (scalars(a, acc)?, scalars(b, acc)?);
            a.ty().same_shape(b.ty()).then(|| Expr::if_(c.clone(), a, b))
        }
        _ => None,
    }
}

/// Whether a term reads an array that exists.
fn is_stored(expr: &Expr) -> bool {
    match expr.term() {
        Term::Var(var) => matches!(var.ty(), Type::Array(..)),
        Term::Get(array, index) => index.is_atom() && is_stored(array),
        _ => false,
    }
}

/// The component of the tuple that a path of projections and literal indices means, which starts from the accumulator.
fn place(expr: &Expr, acc: &Var, state: &Var) -> Option<Expr> {
    match expr.term() {
        Term::Var(var) => (var == acc).then(|| Expr::var(state)),
        Term::Proj(inner, k) => Some(Expr::proj(place(inner, acc, state)?, *k)),
        Term::Get(inner, index) => {
            let tuple = place(inner, acc, state)?;
            let (Type::Tuple(parts), Term::Index(k)) = (tuple.ty(), index.term()) else { return None };
            let k = usize::try_from(*k).ok().filter(|k| *k < parts.len())?;
            Some(Expr::proj(tuple, k))
        }
        _ => None,
    }
}

/// The term with components of the tuple in the place of what they were.
fn with_places(expr: &Expr, acc: &Var, state: &Var) -> Expr {
    if !mentions(expr, acc) {
        return expr.clone();
    }
    match place(expr, acc, state) {
        Some(place) if place.ty() == expr.ty() => place,
        _ => map_children(expr, &mut |child| with_places(child, acc, state)),
    }
}

/// A value of a type, of which a tuple has the numbers.
fn as_arrays(ty: &Type, tuple: &Expr) -> Option<Expr> {
    match ty {
        _ if !has_few(ty) => Some(tuple.clone()),
        Type::Array(element, size) => {
            let items = (0..few(size)?).map(|k| as_arrays(element, &Expr::proj(tuple.clone(), k)));
            Some(Expr::array(element.as_ref().clone(), items.collect::<Option<_>>()?))
        }
        Type::Tuple(parts) => {
            let parts = parts.iter().enumerate().map(|(k, part)| as_arrays(part, &Expr::proj(tuple.clone(), k)));
            Some(Expr::tuple(parts.collect::<Option<_>>()?))
        }
        Type::Double | Type::Index(_) | Type::Bool | Type::Rec(_) => None,
    }
}

/// The variable that a path of projections and literal indices starts from, with the components on the way.
fn path<'a>(expr: &'a Expr, steps: &mut Vec<usize>) -> Option<&'a Var> {
    let (inner, step) = match expr.term() {
        Term::Var(var) => return Some(var),
        Term::Proj(inner, k) => (inner, *k),
        Term::Get(inner, index) => match index.term() {
            Term::Index(k) => {
                let k = usize::try_from(*k).ok()?;
                (inner, inner.ty().dims().first().and_then(few).filter(|count| k < *count).map(|_| k)?)
            }
            _ => return None,
        },
        _ => return None,
    };
    let var = path(inner, steps)?;
    steps.push(step);
    Some(var)
}

/// Whether x occurs only in paths to components that hold no array.
fn only_leaves(expr: &Expr, x: &Var) -> bool {
    if !mentions(expr, x) {
        return true;
    }
    if let Term::Proj(..) | Term::Get(..) | Term::Var(_) = expr.term()
        && path(expr, &mut Vec::new()) == Some(x)
    {
        return !expr.ty().has_array();
    }
    expr.term().children().all(|child| only_leaves(child, x))
}

fn with_projections(expr: &Expr, x: &Var, tuple: &Var) -> Expr {
    if !mentions(expr, x) {
        return expr.clone();
    }
    if let Term::Proj(..) | Term::Get(..) = expr.term() {
        let mut steps = Vec::new();
        if path(expr, &mut steps) == Some(x) {
            return steps.into_iter().fold(Expr::var(tuple), Expr::proj);
        }
    }
    map_children(expr, &mut |child| with_projections(child, x, tuple))
}

/// Whether x occurs only where a literal indexes it, whatever is then done with the row.
fn only_rows(expr: &Expr, x: &Var) -> bool {
    match expr.term() {
        _ if !mentions(expr, x) => true,
        Term::Get(array, index) if is_var(array, x) => matches!(index.term(), Term::Index(_)),
        Term::Var(_) => false,
        _ => expr.term().children().all(|child| only_rows(child, x)),
    }
}

fn with_rows(expr: &Expr, x: &Var, rows: &Var) -> Expr {
    match expr.term() {
        _ if !mentions(expr, x) => expr.clone(),
        Term::Get(array, index) if is_var(array, x) => match index.term() {
            Term::Index(k) => Expr::proj(Expr::var(rows), *k as usize),
            _ => expr.clone(),
        },
        _ => map_children(expr, &mut |child| with_rows(child, x, rows)),
    }
}

fn is_var(expr: &Expr, x: &Var) -> bool {
    matches!(expr.term(), Term::Var(var) if var == x)
}
