//! Applying linear maps (003 Figure 4): a map and what it is applied to, as a core term.
//!
//! In: a map S ⊸ T and a term of type S. Out: a term of type T, with binders of its own. Vectors are Doubles, arrays and tuples of
//! such; an Index or Bool among them is 0 or false and stays so.
//!
//!     (S(y) ⋈ S(x)) ⊙ d   →   y * d.0 + x * d.1
//!     ℋ(build n (fun i -> S(v[i]))) ⊙ d   →   ifold (fun s i -> s + v[i] * d[i]) 0.0 n

use super::map::{Folding, Form, Map};
use super::transpose::transposed;
use crate::diagnostic::Diagnostic;
use crate::ir::subst::freshen;
use crate::ir::zero::zero;
use crate::ir::{Expr, Prim, Type, Var};
use crate::source::Span;

type Result<T> = std::result::Result<T, Diagnostic>;

/// m ⊙ d.
pub fn forward(map: &Map, tangent: &Expr) -> Result<Expr> {
    Ok(freshen(&apply(map, tangent)?))
}

/// w ⊙ᴿ m = mᵀ ⊙ w.
pub fn backward(map: &Map, cotangent: &Expr) -> Result<Expr> {
    forward(&transposed(map), cotangent)
}

fn apply(map: &Map, x: &Expr) -> Result<Expr> {
    Ok(match map.form() {
        Form::Zero => none(map.to())?,
        Form::One => x.clone(),
        Form::Scale(k) => Expr::prim(Prim::Mul, vec![k.clone(), x.clone()]),
        Form::Compose(after, before) => named("d", apply(before, x)?, |d| apply(after, &d))?,
        Form::Sum(maps) => named("d", x.clone(), |d| total(map.to(), maps.iter().map(|map| apply(map, &d))))?,
        Form::VCat(maps) => named("d", x.clone(), |d| Ok(Expr::tuple(maps.iter().map(|map| apply(map, &d)).collect::<Result<_>>()?)))?,
        Form::HCat(maps) => {
            named("d", x.clone(), |d| total(map.to(), maps.iter().enumerate().map(|(k, map)| apply(map, &Expr::proj(d.clone(), k)))))?
        }
        Form::VBuild(n, i, body) => named("d", x.clone(), |d| Ok(Expr::build_with(n.clone(), i.clone(), apply(body, &d)?)))?,
        Form::HBuild(n, i, body) => named("d", x.clone(), |d| summed(n, i, body.to(), apply(body, &Expr::get(d.clone(), Expr::var(i)))?))?,
        Form::SumBuild(n, i, body) => named("d", x.clone(), |d| summed(n, i, body.to(), apply(body, &d)?))?,
        Form::VList(maps) => named("d", x.clone(), |d| {
            let items = maps.iter().map(|map| apply(map, &d)).collect::<Result<_>>()?;
            Ok(Expr::array(map.to().element().cloned().unwrap_or(Type::Double), items))
        })?,
        Form::HList(maps) => named("d", x.clone(), |d| {
            let item = |k: usize| Expr::get(d.clone(), Expr::index(k as i64));
            total(map.to(), maps.iter().enumerate().map(|(k, map)| apply(map, &item(k))))
        })?,
        Form::At(index) => Expr::get(x.clone(), index.clone()),
        Form::Hot(index) => named("d", x.clone(), |d| {
            let (length, none) = (length(map.to())?, none(map.from())?);
            let is_here = |j: Expr| Expr::prim(Prim::Eq, vec![j, index.clone()]);
            Ok(Expr::build(length, "j", |j| Expr::if_(is_here(j), d, none)))
        })?,
        Form::If(cond, then, otherwise) => named("d", x.clone(), |d| Ok(Expr::if_(cond.clone(), apply(then, &d)?, apply(otherwise, &d)?)))?,
        Form::Let(var, value, body) => named("d", x.clone(), |d| Ok(Expr::let_(var.clone(), value.clone(), apply(body, &d)?)))?,
        Form::Check(cond, status, span, body) => Expr::check(cond.clone(), *status, apply(body, x)?).at(*span),
        Form::Fold(fold) => fold_forward(fold, x)?,
        Form::FoldBack(fold) => fold_backward(fold, x)?,
    })
}

/// `FFold` of 003 Figure 14: the state and its tangent, side by side.
fn fold_forward(fold: &Folding, x: &Expr) -> Result<Expr> {
    named("d", x.clone(), |d| {
        let start = Expr::tuple(vec![fold.init.clone(), apply(&fold.start, &d)?]);
        let pair = Var::fresh("state", Type::tuple(vec![fold.acc.ty().clone(), fold.start.to().clone()]));
        let (state, tangent) = (Expr::proj(Expr::var(&pair), 0), Expr::proj(Expr::var(&pair), 1));
        let step = apply(&fold.step, &Expr::tuple(vec![d, tangent]))?;
        let body = Expr::let_(fold.acc.clone(), state, Expr::tuple(vec![fold.body.clone(), step]));
        Ok(Expr::proj(Expr::fold_with(fold.n.clone(), pair, fold.i.clone(), body, start), 1))
    })
}

/// `RFold` of 003 Figure 15, from the last step to the first; the state before a step is computed anew.
fn fold_backward(fold: &Folding, cotangent: &Expr) -> Result<Expr> {
    let (domain, state) = (fold.start.from(), fold.start.to());
    let none = none(domain)?;
    let pair = Var::fresh("back", Type::tuple(vec![state.clone(), domain.clone()]));
    let t = Var::fresh("t", fold.i.ty().clone());
    let one_less = Expr::prim(Prim::Sub, vec![fold.n.clone(), Expr::index(1)]);
    let i = Expr::prim(Prim::Sub, vec![one_less, Expr::var(&t)]);
    let before =
        Expr::fold_with(Expr::var(&fold.i), fold.acc.clone(), fold.i.renewed(fold.i.ty().clone()), fold.body.clone(), fold.init.clone());
    // the fold before counts with a variable of its own
    let before = with_index(before, fold);
    let shares = apply(&transposed(&fold.step), &Expr::proj(Expr::var(&pair), 0))?;
    let step = named("shares", shares, |shares| {
        let sum = add(domain, &Expr::proj(Expr::var(&pair), 1), &Expr::proj(shares.clone(), 0))?;
        Ok(Expr::tuple(vec![Expr::proj(shares, 1), sum]))
    })?;
    let body = Expr::let_(fold.i.clone(), i, Expr::let_(fold.acc.clone(), before, step));
    let start = Expr::tuple(vec![cotangent.clone(), none]);
    named("back", Expr::fold_with(fold.n.clone(), pair, t, body, start), |back| {
        let first = apply(&transposed(&fold.start), &Expr::proj(back.clone(), 0))?;
        add(domain, &Expr::proj(back, 1), &first)
    })
}

/// The fold of the first steps, whose body has the index by the fold's own name.
fn with_index(before: Expr, fold: &Folding) -> Expr {
    let crate::ir::Term::Fold { n, acc, i, body, init } = before.term() else { return before };
    let body = crate::ir::subst::instance(body, &[(fold.i.clone(), Expr::var(i))]);
    Expr::fold_with(n.clone(), acc.clone(), i.clone(), body, init.clone())
}

/// A name for a term that is used more than once.
fn named(name: &str, value: Expr, f: impl FnOnce(Expr) -> Result<Expr>) -> Result<Expr> {
    if value.is_atom() {
        return f(value);
    }
    let var = Var::fresh(name, value.ty().clone());
    let body = f(Expr::var(&var))?;
    Ok(Expr::let_(var, value, body))
}

fn length(ty: &Type) -> Result<Expr> {
    ty.dims().first().and_then(|size| size.to_expr()).ok_or_else(of_no_known_size)
}

/// The zero of a vector space.
fn none(space: &Type) -> Result<Expr> {
    zero(space).ok_or_else(of_no_known_size)
}

fn of_no_known_size() -> Diagnostic {
    Diagnostic::error("E0601", Span::NONE, "unsupported: size depends on data").help("linear maps have zeros of known sizes")
}

/// a + b.
fn add(ty: &Type, a: &Expr, b: &Expr) -> Result<Expr> {
    Ok(match ty {
        Type::Double => Expr::prim(Prim::Add, vec![a.clone(), b.clone()]),
        Type::Index(_) | Type::Bool | Type::Rec(_) => a.clone(),
        Type::Tuple(parts) => named("a", a.clone(), |a| {
            named("b", b.clone(), |b| {
                let part = |(k, ty): (usize, &Type)| add(ty, &Expr::proj(a.clone(), k), &Expr::proj(b.clone(), k));
                Ok(Expr::tuple(parts.iter().enumerate().map(part).collect::<Result<_>>()?))
            })
        })?,
        Type::Array(element, _) => named("a", a.clone(), |a| {
            named("b", b.clone(), |b| {
                let j = Var::fresh("j", Type::INDEX);
                let at = |array: &Expr| Expr::get(array.clone(), Expr::var(&j));
                let sum = add(element, &at(&a), &at(&b))?;
                Ok(Expr::build_with(Expr::dim(a.clone(), 0), j, sum))
            })
        })?,
    })
}

fn total(ty: &Type, terms: impl Iterator<Item = Result<Expr>>) -> Result<Expr> {
    let mut sum = None;
    for term in terms {
        let term = term?;
        sum = Some(match sum {
            Some(sum) => add(ty, &sum, &term)?,
            None => term,
        });
    }
    sum.map_or_else(|| none(ty), Ok)
}

/// The sum of a term for all i.
fn summed(n: &Expr, i: &Var, ty: &Type, term: Expr) -> Result<Expr> {
    let sum = Var::fresh("s", ty.clone());
    let body = add(ty, &Expr::var(&sum), &term)?;
    Ok(Expr::fold_with(n.clone(), sum, i.clone(), body, none(ty)?))
}
