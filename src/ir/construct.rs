//! Constructors of terms: each computes the type of a node from its parts.
//!
//! In: the parts of a term. Out: the term, at no place in the source; [`Expr::at`] gives it one. Where a length leaves the scope of
//! what it mentions, it is written without that, or unknown.
//!
//!     build(n, i. x)   has type   Array<Double, n>

use std::rc::Rc;

use super::free::mentions;
use super::last_use::component;
use super::prim::Prim;
use super::program::Function;
use super::term::{Change, Expr, Iso, Name, Recursive, Size, Status, Term, Type, Updated, Var, Vjp};
use crate::source::Span;

impl Expr {
    pub fn var(var: &Var) -> Expr {
        with(Term::Var(var.clone()), var.ty().clone())
    }

    pub fn double(value: f64) -> Expr {
        with(Term::Double(value), Type::Double)
    }

    pub fn index(value: i64) -> Expr {
        with(Term::Index(value), Type::INDEX)
    }

    pub fn bool(value: bool) -> Expr {
        with(Term::Bool(value), Type::Bool)
    }

    /// Arguments must fit (`ir::check` says so otherwise; the node then has the first argument's type).
    pub fn prim(prim: Prim, args: Vec<Expr>) -> Expr {
        let ty = prim.result(args.iter().map(Expr::ty));
        let ty = ty.unwrap_or_else(|| args.first().map_or(Type::Double, |arg| arg.ty().clone()));
        with(Term::Prim(prim, args), ty)
    }

    /// The body's type with the variable replaced by its value, where a length mentions it.
    pub fn let_(var: Var, value: Expr, body: Expr) -> Expr {
        let ty = leave_scope(body.ty(), &var, &mut || Size::of_expr(&value));
        with(Term::Let(var, value, body), ty)
    }

    /// Binds `value` to a fresh variable unless it is atomic already.
    pub fn bind(name: impl Into<Name>, value: Expr, body: impl FnOnce(Expr) -> Expr) -> Expr {
        if value.is_atom() {
            return body(value);
        }
        let var = Var::named(name.into(), value.ty().clone());
        let body = body(Expr::var(&var));
        Expr::let_(var, value, body)
    }

    /// The type is the first branch's, with the sizes that both agree on and unknown ones elsewhere.
    pub fn if_(cond: Expr, then: Expr, otherwise: Expr) -> Expr {
        let ty = join(&cond, then.ty(), otherwise.ty());
        with(Term::If(cond, then, otherwise), ty)
    }

    /// `build(n, i. body(i))`.
    pub fn build(n: Expr, name: &str, body: impl FnOnce(Expr) -> Expr) -> Expr {
        let i = Var::fresh(name, Type::Index(Some(Size::of_expr(&n))));
        let body = body(Expr::var(&i));
        Expr::build_with(n, i, body)
    }

    pub fn build_with(n: Expr, i: Var, body: Expr) -> Expr {
        let size = if let Type::Index(Some(size)) = i.ty() { size.clone() } else { Size::of_expr(&n) };
        let element = leave_scope(body.ty(), &i, &mut Size::unknown);
        with(Term::Build { n, i, body }, Type::array(element, size))
    }

    /// The fold has the accumulator's type.
    pub fn fold_with(n: Expr, acc: Var, i: Var, body: Expr, init: Expr) -> Expr {
        let ty = acc.ty().clone();
        with(Term::Fold { n, acc, i, body, init }, ty)
    }

    /// The loop has the state's type.
    pub fn while_(state: Var, init: Expr, body: Expr) -> Expr {
        let ty = state.ty().clone();
        with(Term::While { state, init, body }, ty)
    }

    /// `ifold(n, acc. i. body(acc, i), init)`.
    pub fn fold(n: Expr, acc: impl Into<Name>, i: &str, init: Expr, body: impl FnOnce(Expr, Expr) -> Expr) -> Expr {
        let acc = Var::named(acc.into(), init.ty().clone());
        let i = Var::fresh(i, Type::Index(Some(Size::of_expr(&n))));
        let body = body(Expr::var(&acc), Expr::var(&i));
        Expr::fold_with(n, acc, i, body, init)
    }

    pub fn get(array: Expr, index: Expr) -> Expr {
        let ty = array.ty().element().cloned().unwrap_or(Type::Double);
        with(Term::Get(array, index), ty)
    }

    pub fn dim(array: Expr, axis: usize) -> Expr {
        with(Term::Dim(array, axis), Type::INDEX)
    }

    pub fn tuple(parts: Vec<Expr>) -> Expr {
        let ty = Type::tuple(parts.iter().map(|part| part.ty().clone()).collect());
        with(Term::Tuple(parts), ty)
    }

    pub fn proj(tuple: Expr, index: usize) -> Expr {
        let ty = match tuple.ty() {
            Type::Tuple(parts) => parts.get(index).cloned(),
            Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Rec(_) => None,
        };
        with(Term::Proj(tuple, index), ty.unwrap_or(Type::Double))
    }

    /// The component at the end of a path through tuples.
    pub fn component(value: Expr, path: &[usize]) -> Expr {
        path.iter().fold(value, |value, k| Expr::proj(value, *k))
    }

    /// A value of a recursive type from its unrolled form.
    pub fn roll(of: &Rc<Recursive>, value: Expr) -> Expr {
        with(Term::Iso(Iso::Roll, vec![value]), Type::Rec(of.clone()))
    }

    /// The unrolled form, whose lengths are the value's own; the value itself where it has none.
    pub fn unroll(value: Expr) -> Expr {
        let ty = match value.ty() {
            Type::Rec(of) => of.unrolled(),
            Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Tuple(_) => return value,
        };
        with(Term::Iso(Iso::Unroll, vec![value]), ty)
    }

    /// What stands in the data of another case.
    pub fn absent(of: &Rc<Recursive>) -> Expr {
        with(Term::Iso(Iso::Absent, Vec::new()), Type::Rec(of.clone()))
    }

    pub fn array(element: Type, items: Vec<Expr>) -> Expr {
        let size = Size::constant(items.len() as i64);
        with(Term::Array(items), Type::array(element, size))
    }

    /// A call with the type that the function's result has for these arguments.
    pub fn call(function: &Function, args: Vec<Expr>) -> Expr {
        let ty = function.result_for(&args);
        with(Term::Call(function.name.clone(), args), ty)
    }

    pub fn check(cond: Expr, status: Status, body: Expr) -> Expr {
        let ty = body.ty().clone();
        with(Term::Check { cond, status, body }, ty)
    }

    pub fn dual(x: Var, at: Expr, tangent: Expr, body: Expr) -> Expr {
        let ty = body.ty().dual();
        with(Term::Dual { x, at, tangent, body }, ty)
    }

    /// `array` with the element at `indices`, one at least, changed by `value`. A row that is itself with an element changed
    /// is that element changed: `update a i (update a[i] j x)` has both indices.
    pub fn update(change: Change, array: Expr, indices: Vec<Expr>, value: Expr) -> Expr {
        if change == Change::Replace
            && let Some(changed) = in_row(&value, &array, &indices)
        {
            return changed;
        }
        let ty = Updated { array: &array, indices: &indices, value: &value }.ty();
        let parts = std::iter::once(array).chain(indices).chain([value]).collect();
        with(Term::Update(change, parts), ty)
    }

    pub fn vjp(x: Var, at: Expr, cotangent: Expr, body: Expr) -> Expr {
        let ty = Vjp { x: &x, at: &at, cotangent: &cotangent, body: &body }.ty();
        with(Term::Vjp { x, at, cotangent, body }, ty)
    }
}

fn with(term: Term, ty: Type) -> Expr {
    Expr::with_type(term, ty, Span::NONE)
}

/// The array with the changes of a row made in its place, where a value is the row with these changes: `update (update A[k] i x) j y` of
/// `A` at k is `update (update A [k, i] x) [k, j] y`. A later change that reads the array as it was would keep a copy of it.
fn in_row(value: &Expr, array: &Expr, indices: &[Expr]) -> Option<Expr> {
    let Term::Update(change, parts) = value.term() else { return None };
    let row = Updated::of(parts)?;
    let before = if is_element(row.array, array, indices) {
        array.clone()
    } else {
        let is_read = row.indices.iter().chain([row.value]).any(|term| mentions_part(term, array));
        in_row(row.array, array, indices).filter(|_| !is_read)?
    };
    let indices = indices.iter().chain(row.indices).cloned().collect();
    Some(Expr::update(*change, before, indices, row.value.clone()))
}

/// Whether a term reads an array, or something that may have it inside: a variable, or a component of one.
fn mentions_part(expr: &Expr, array: &Expr) -> bool {
    match (component(expr), component(array)) {
        (Some((own, path)), Some((var, whole))) => own == var && path.iter().zip(&whole).all(|(a, b)| a == b),
        (None, Some((var, _))) => mentions(expr, var) && expr.term().children().any(|child| mentions_part(child, array)),
        (_, None) => true,
    }
}

/// Whether a term is what an array has at these indices.
fn is_element(expr: &Expr, array: &Expr, indices: &[Expr]) -> bool {
    match (indices.split_last(), expr.term()) {
        (Some((last, outer)), Term::Get(inner, index)) => is_equal(index, last) && is_element(inner, array, outer),
        (Some(_), _) => false,
        (None, _) => is_equal(expr, array),
    }
}

/// Whether two terms of names, numbers and operations are written alike.
fn is_equal(a: &Expr, b: &Expr) -> bool {
    match (a.term(), b.term()) {
        (Term::Var(a), Term::Var(b)) => a == b,
        (Term::Index(a), Term::Index(b)) => a == b,
        (Term::Proj(a, j), Term::Proj(b, k)) => j == k && is_equal(a, b),
        (Term::Prim(a, xs), Term::Prim(b, ys)) => a == b && xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| is_equal(x, y)),
        _ => false,
    }
}

/// A type outside the scope of `var`: its lengths with `var` replaced, index bounds that mention it dropped.
fn leave_scope(ty: &Type, var: &Var, value: &mut dyn FnMut() -> Size) -> Type {
    if !matches!(var.ty(), Type::Index(_) | Type::Bool) {
        return ty.clone();
    }
    let mut known: Option<Size> = None;
    ty.map_sizes(&mut |size| {
        if !size.mentions(var) {
            return size.clone();
        }
        size.replace(var, known.get_or_insert_with(&mut *value))
    })
}

/// The type of what a condition chooses between; a length is unknown where the branches differ in it and the condition is not of sizes.
fn join(cond: &Expr, a: &Type, b: &Type) -> Type {
    match (a, b) {
        (Type::Array(x, n), Type::Array(y, m)) => Type::array(join(cond, x, y), Size::chosen(cond, n, m).unwrap_or_else(Size::unknown)),
        (Type::Tuple(xs), Type::Tuple(ys)) => Type::tuple(xs.iter().zip(ys.iter()).map(|(x, y)| join(cond, x, y)).collect()),
        (Type::Index(x), Type::Index(y)) => Type::Index(if x == y { x.clone() } else { None }),
        _ => a.clone(),
    }
}
