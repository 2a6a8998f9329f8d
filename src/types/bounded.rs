//! Total recursion over Indexes: calls that each make what `decreases` names smaller are a loop of at most as many steps as that is large.
//!
//! In: a function of Indexes and Bools that calls itself once on each way through its body, and gives that call's value, or a sum and
//! products with it. Out: its body with an `ifold` in the place of the calls, whose steps change nothing once the recursion has ended, so
//! that what it gives is a size; a check says that it has ended, which is wrong only where the measure did not become smaller.
//! Calls that count need no measure (`counted`).
//!
//!     gcd a b = if b = 0 then a else gcd b (a % b)       decreases b
//!       →   let s = ifold (fun (a, b) k -> if b = 0 then (a, b) else (b, a % b)) (a, b) (max b 0) in check s.1 = 0 in s.0
//!     levels n = if n <= 1 then 0 else 1 + levels (n / 2)       decreases n
//!       →   let s = ifold (fun (n, sum) k -> if n <= 1 then (n, sum) else (n / 2, sum + 1)) (n, 0) (max n 0) in … s.1

use std::collections::HashSet;

use super::counted::{on_the_way_back, without_lets};
use super::self_calls::{calls, calls_last, changed, named, without_calls};
use super::tail::looped;
use super::told::Told;
use crate::ir::free::occurrences;
use crate::ir::subst::{freshen, substitute};
use crate::ir::term::Status;
use crate::ir::{Expr, Function, Prim, Size, Term, Type, Var};

/// What a recursive function gives, as sizes, and whether it has to be called all the same since a check stands before it. `measure` is
/// what `decreases` names; where that bounds the calls, the function becomes the loop. `sizes` has what calls of other functions give as
/// sizes in the place of the calls.
pub(super) fn lengths(function: &mut Function, measure: Option<&str>, sizes: &dyn Fn(&Expr) -> Expr) -> (Told, bool) {
    let told = Function { body: sizes(&function.body), ..function.clone() };
    let counted = counted_lengths(&told);
    let measure = function.params.iter().find(|param| counted.is_nothing() && measure == Some(&**param.name()));
    let bounds = |function: &Function| measure.and_then(|measure| bounded(function, measure));
    match (bounds(function), bounds(&told)) {
        (Some(body), Some(told)) => {
            function.body = body;
            (Told::of(&told, &|_| None), true)
        }
        _ => (counted, false),
    }
}

/// What a function of Indexes gives, as a size that loops compute: where its calls count, the last thing that it does or not.
///
///     power n = if n <= 0 then 1 else 2 * power (n - 1)   →   ifold (fun r k -> 2 * r) 1 (n - min n 0)
fn counted_lengths(function: &Function) -> Told {
    let is_index = |ty: &Type| matches!(ty, Type::Index(_) | Type::Bool);
    if !function.params.iter().all(|param| is_index(param.ty())) {
        return Told::Nothing;
    }
    let body =
        if calls_last(&function.body, &HashSet::from([function.name.clone()])) { looped(function) } else { on_the_way_back(function) };
    body.map_or(Told::Nothing, |body| Told::of(&body, &|_| None))
}

/// The body as a loop. `measure` is the parameter that `decreases` names.
fn bounded(function: &Function, measure: &Var) -> Option<Expr> {
    let is_index = |ty: &Type| matches!(ty, Type::Index(_) | Type::Bool);
    if !is_index(&function.result) || !function.params.iter().all(|param| is_index(param.ty())) {
        return None;
    }
    let body = without_names(&function.body, function);
    let mut ways = Vec::new();
    each_way_on(&body, function, &mut ways)?;
    let args: Vec<&[Expr]> = ways.iter().map(|way| way.args.as_slice()).collect();
    let changed = changed(function, &args);
    let state = State {
        params: changed.iter().map(|at| function.params[*at].clone()).collect(),
        has_factor: ways.iter().any(|way| !matches!(way.factor.term(), Term::Index(1))),
        has_sum: ways.iter().any(|way| !matches!(way.sum.term(), Term::Index(0))),
    };
    let (acc, last) = (Var::fresh("s", state.ty()), Var::fresh("s", state.ty()));
    let step = body.map_tails(&|tail| match Linear::of(tail, function) {
        Some(way) => state.value(
            changed.iter().map(|at| way.args[*at].clone()).collect(),
            times(state.factor(&acc), way.factor),
            plus(state.sum(&acc), times(state.factor(&acc), way.sum)),
        ),
        None => state.value(state.params.iter().map(Expr::var).collect(), state.factor(&acc), state.sum(&acc)),
    });
    let is_over = body.map_tails(&|tail| Expr::bool(!calls(tail, &function.name)));
    let value = body.map_tails(&|tail| Linear::of(tail, function).map_or(tail.clone(), |way| Expr::call(function, way.args)));
    let value = plus(state.sum(&last), times(state.factor(&last), without_calls(&value, function)?));
    let steps = Expr::prim(Prim::Max, vec![Expr::var(measure), Expr::index(0)]);
    let k = Var::fresh("k", Type::Index(Some(Size::of_expr(&steps))));
    let first = state.value(state.params.iter().map(Expr::var).collect(), Expr::index(1), Expr::index(0));
    let fold = Expr::fold_with(steps, acc.clone(), k, named(&freshen(&step), &state.parts(&acc)), first).at(function.span);
    let checked = Expr::check(is_over, Status::Workspace, value);
    Some(Expr::let_(last.clone(), fold, named(&freshen(&checked), &state.parts(&last))))
}

/// The body with what its lets bind in the place of their names, calls too where they stand once.
fn without_names(expr: &Expr, function: &Function) -> Expr {
    let expr = without_lets(expr, function);
    match expr.term() {
        Term::Let(x, value, body) if occurrences(body, x) == 1 => without_names(&substitute(body, &[(x.clone(), value.clone())]), function),
        Term::If(cond, a, b) => Expr::if_(cond.clone(), without_names(a, function), without_names(b, function)).at(expr.span()),
        _ => expr,
    }
}

/// What a function that calls itself gives, as `factor * f args + sum`.
struct Linear {
    factor: Expr,
    args: Vec<Expr>,
    sum: Expr,
}

impl Linear {
    /// `None` where the term calls the function more than once or not, or gives something else of its value. Index arithmetic wraps, so
    /// that sums and products may be taken in any order.
    fn of(expr: &Expr, function: &Function) -> Option<Linear> {
        let of = |expr: &Expr| Linear::of(expr, function);
        let is_free = |expr: &Expr| !calls(expr, &function.name);
        match expr.term() {
            Term::Call(name, args) if *name == function.name && args.iter().all(is_free) => {
                Some(Linear { factor: Expr::index(1), args: args.clone(), sum: Expr::index(0) })
            }
            Term::Prim(Prim::Add, args) => match args.as_slice() {
                [a, b] if is_free(a) => of(b).map(|way| Linear { sum: plus(a.clone(), way.sum), ..way }),
                [a, b] if is_free(b) => of(a).map(|way| Linear { sum: plus(way.sum, b.clone()), ..way }),
                _ => None,
            },
            Term::Prim(Prim::Sub, args) => match args.as_slice() {
                [a, b] if is_free(b) => of(a).map(|way| Linear { sum: Expr::prim(Prim::Sub, vec![way.sum, b.clone()]), ..way }),
                [a, b] if is_free(a) => of(b).map(|way| Linear {
                    factor: Expr::prim(Prim::Neg, vec![way.factor]),
                    sum: Expr::prim(Prim::Sub, vec![a.clone(), way.sum]),
                    ..way
                }),
                _ => None,
            },
            Term::Prim(Prim::Mul, args) => match args.as_slice() {
                [a, b] if is_free(a) => of(b).map(|way| way.scaled(a)),
                [a, b] if is_free(b) => of(a).map(|way| way.scaled(b)),
                _ => None,
            },
            _ => None,
        }
    }

    fn scaled(self, by: &Expr) -> Linear {
        Linear { factor: times(by.clone(), self.factor), sum: times(by.clone(), self.sum), ..self }
    }
}

/// The ways through the body that end in a call; `None` where one is not linear in it, or something may fail.
fn each_way_on(expr: &Expr, function: &Function, ways: &mut Vec<Linear>) -> Option<()> {
    match expr.term() {
        Term::If(cond, a, b) if !calls(cond, &function.name) => {
            each_way_on(a, function, ways)?;
            each_way_on(b, function, ways)
        }
        _ if calls(expr, &function.name) => {
            ways.push(Linear::of(expr, function)?);
            Some(())
        }
        Term::Let(..) | Term::Check { .. } => None,
        _ => Some(()),
    }
}

/// The state of the loop: the parameters that calls change, and what the rest is multiplied by and added to, where there is such.
struct State {
    params: Vec<Var>,
    has_factor: bool,
    has_sum: bool,
}

impl State {
    fn types(&self) -> Vec<Type> {
        let beside = usize::from(self.has_factor) + usize::from(self.has_sum);
        self.params.iter().map(|param| param.ty().clone()).chain(vec![Type::INDEX; beside]).collect()
    }

    fn ty(&self) -> Type {
        match self.types().as_slice() {
            [one] => one.clone(),
            types => Type::tuple(types.to_vec()),
        }
    }

    fn value(&self, params: Vec<Expr>, factor: Expr, sum: Expr) -> Expr {
        let mut parts = params;
        parts.extend(self.has_factor.then_some(factor));
        parts.extend(self.has_sum.then_some(sum));
        if let [one] = parts.as_slice() { one.clone() } else { Expr::tuple(parts) }
    }

    fn part(&self, state: &Var, k: usize) -> Expr {
        if self.types().len() == 1 { Expr::var(state) } else { Expr::proj(Expr::var(state), k) }
    }

    fn parts(&self, state: &Var) -> Vec<(Var, Expr)> {
        self.params.iter().enumerate().map(|(k, param)| (param.clone(), self.part(state, k))).collect()
    }

    fn factor(&self, state: &Var) -> Expr {
        if self.has_factor { self.part(state, self.params.len()) } else { Expr::index(1) }
    }

    fn sum(&self, state: &Var) -> Expr {
        if self.has_sum { self.part(state, self.types().len() - 1) } else { Expr::index(0) }
    }
}

fn times(a: Expr, b: Expr) -> Expr {
    match (a.term(), b.term()) {
        (Term::Index(1), _) => b,
        (_, Term::Index(1)) => a,
        (Term::Index(0), _) => a,
        (_, Term::Index(0)) => b,
        _ => Expr::prim(Prim::Mul, vec![a, b]),
    }
}

fn plus(a: Expr, b: Expr) -> Expr {
    match (a.term(), b.term()) {
        (Term::Index(0), _) => b,
        (_, Term::Index(0)) => a,
        _ => Expr::prim(Prim::Add, vec![a, b]),
    }
}
