//! Sums over the steps of a loop, in parallel: chunks of the steps have sums of their own, which are added up.
//!
//! In: a program. Out: the same, where a fold that only adds to its state, as reverse mode makes them of a sum over samples, is a
//! build of folds over every `chunks`-th step, each from zeros, and sums over these. A sum comes to another order, so not with
//! `--strict-fp`.
//!
//!     ifold (fun s i -> accumulate s 0 x[i] …) z n
//!       →   let parts = build chunks (fun q -> ifold (fun s k -> … x[q + k * chunks] …) zeros ((n - q + chunks - 1) / chunks)) in
//!           build h (fun j -> z[j] + ifold (fun t q -> t + parts[q][j]) 0.0 chunks)
//!
//! There are as many chunks as cost at most a thirty-second of what the steps add, at most [`CHUNKS`].

use std::collections::{BTreeSet, HashMap};

use super::associative::components;
use super::outline::{Parts, rewritten};
use crate::ir::free::any_free_var;
use crate::ir::subst::{freshen, instance, map_children};
use crate::ir::zero::zero;
use crate::ir::{Change, Expr, Prim, Program, Size, Term, Type, Updated, Var};

/// Enough for the threads of a GPU; a chunk has its own state in memory.
const CHUNKS: i64 = 4096;

/// How much cheaper the chunks' states are than what is added to them.
const SHARE: i64 = 32;

/// The program with its sums over steps in chunks.
pub fn chunk(program: &Program) -> Program {
    rewritten(program, |parts, body| parts.chunked(body))
}

impl Parts<'_> {
    fn chunked(&mut self, expr: &Expr) -> Expr {
        match expr.term() {
            // what is in it runs in parallel already
            Term::Build { .. } => expr.clone(),
            Term::Fold { n, acc, i, body, init } => {
                let init = self.chunked(init);
                self.in_chunks(n, acc, i, body, &init).unwrap_or_else(|| {
                    let body = self.chunked(body);
                    Expr::fold_with(n.clone(), acc.clone(), i.clone(), body, init).at(expr.span())
                })
            }
            _ => map_children(expr, &mut |child| self.chunked(child)),
        }
    }

    /// The fold as sums of its chunks' folds; `None` where a step does more than add to the state, or too little.
    fn in_chunks(&mut self, n: &Expr, acc: &Var, i: &Var, body: &Expr, init: &Expr) -> Option<Expr> {
        let types = components(acc.ty());
        // sums of numbers alone are reductions
        if !types.iter().all(is_of_doubles) || !types.iter().any(|ty| matches!(ty, Type::Array(..))) {
            return None;
        }
        if Size::of_expr(n).as_constant().is_some_and(|count| count < 2 * SHARE) {
            return None;
        }
        let state = if let Type::Tuple(parts) = acc.ty() { Sum::Tuple((0..parts.len()).map(Sum::whole).collect()) } else { Sum::whole(0) };
        let mut adds = Adds { sums: HashMap::from([(acc.clone(), state.clone())]), varying: BTreeSet::from([i.clone()]) };
        if adds.sum(body)? != state {
            return None;
        }
        let elements = types.iter().map(elements).fold(Size::default(), |all, one| all.add(&one));
        let added = adds.count(body).replace(i, &Size::of_expr(n));
        let mut is_known = true;
        added.each_var(&mut |var| is_known &= !binds(body, var));
        let chunks = chunks(n, &elements, &added).filter(|_| is_known)?;
        let zeros = zero(acc.ty())?;
        Some(Expr::bind("chunks", chunks, |chunks| {
            let sums = Expr::build(chunks.clone(), "q", |q| {
                let doc = format!("What every `chunks`-th step from step q on adds, in {}.", self.of.name);
                self.outline("sums", &doc, partial(n, acc, i, body, &chunks, q, &zeros))
            });
            Expr::bind("sums", sums, |sums| {
                if let Term::Tuple(starts) = init.term() {
                    let of = |(at, start): (usize, &Expr)| total(start, &chunks, &|q| Expr::proj(Expr::get(sums.clone(), q), at));
                    return Expr::tuple(starts.iter().enumerate().map(of).collect());
                }
                let Type::Tuple(types) = acc.ty() else { return total(init, &chunks, &|q| Expr::get(sums.clone(), q)) };
                Expr::bind("start", init.clone(), |start| {
                    let of = |at| total(&Expr::proj(start.clone(), at), &chunks, &|q| Expr::proj(Expr::get(sums.clone(), q), at));
                    Expr::tuple((0..types.len()).map(of).collect())
                })
            })
        }))
    }
}

/// Whether something in a term binds the variable.
fn binds(expr: &Expr, var: &Var) -> bool {
    expr.term().binders().any(|own| own == var) || expr.term().children().any(|child| binds(child, var))
}

/// The fold over every `chunks`-th step from step q on.
fn partial(n: &Expr, acc: &Var, i: &Var, body: &Expr, chunks: &Expr, q: Expr, zeros: &Expr) -> Expr {
    let left = Expr::prim(Prim::Sub, vec![Expr::prim(Prim::Add, vec![n.clone(), chunks.clone()]), Expr::index(1)]);
    let count = Expr::prim(Prim::Div, vec![Expr::prim(Prim::Sub, vec![left, q.clone()]), chunks.clone()]);
    Expr::bind("count", count, |count| {
        let state = acc.renewed(acc.ty().clone());
        let k = Var::fresh("k", Type::Index(Some(Size::of_expr(&count))));
        let step = Expr::prim(Prim::Add, vec![q, Expr::prim(Prim::Mul, vec![Expr::var(&k), chunks.clone()])]);
        let body = instance(body, &[(acc.clone(), Expr::var(&state))]);
        let body = Expr::let_(i.clone(), step, body);
        Expr::fold_with(count, state, k, body, freshen(zeros))
    })
}

/// A component of the state: its start, unless that is zeros, and what the chunks have of it.
fn total(start: &Expr, chunks: &Expr, part: &dyn Fn(Expr) -> Expr) -> Expr {
    let sum = |part: &dyn Fn(Expr) -> Expr| {
        Expr::fold(chunks.clone(), "s", "q", Expr::double(0.0), |s, q| Expr::prim(Prim::Add, vec![s, part(q)]))
    };
    if is_zeros(start) {
        return each_element(start.ty(), start, part, &|_, part| sum(part));
    }
    Expr::bind("start", start.clone(), |start| {
        each_element(start.ty(), &start, part, &|start, part| Expr::prim(Prim::Add, vec![start.clone(), sum(part)]))
    })
}

/// What makes an element of the start's and of those of the parts.
type Make<'a> = &'a dyn Fn(&Expr, &dyn Fn(Expr) -> Expr) -> Expr;

/// Arrays of the type, with an element made of those of the start and of the parts.
fn each_element(ty: &Type, start: &Expr, part: &dyn Fn(Expr) -> Expr, make: Make) -> Expr {
    let Type::Array(element, size) = ty else { return make(start, part) };
    let n = size.to_expr().unwrap_or_else(|| Expr::dim(start.clone(), 0));
    Expr::build(n, "j", |j| each_element(element, &Expr::get(start.clone(), j.clone()), &|q| Expr::get(part(q), j.clone()), make))
}

fn is_zeros(expr: &Expr) -> bool {
    match expr.term() {
        Term::Double(value) => *value == 0.0,
        Term::Build { body, .. } => is_zeros(body),
        _ => false,
    }
}

/// How many chunks there are: `n / 32` where a step adds to each element of the state.
fn chunks(n: &Expr, elements: &Size, added: &Size) -> Option<Expr> {
    if *added == Size::default() {
        return None;
    }
    let is_dense = added.sub(elements).terms().all(|(_, factor)| factor >= 0);
    let cheap = if is_dense {
        Expr::prim(Prim::Div, vec![n.clone(), Expr::index(SHARE)])
    } else {
        let work = Expr::prim(Prim::Mul, vec![n.clone(), added.to_expr()?]);
        // at least 1
        let share = elements.mul(&Size::constant(SHARE)).add(&Size::constant(1));
        Expr::prim(Prim::Div, vec![work, share.to_expr()?])
    };
    let most = Expr::prim(Prim::Min, vec![Expr::index(CHUNKS), cheap]);
    Some(Expr::prim(Prim::Max, vec![Expr::index(1), most]))
}

fn is_of_doubles(ty: &Type) -> bool {
    match ty {
        Type::Double => true,
        Type::Array(element, size) => is_of_doubles(element) && !size.has_unknown(),
        Type::Bool | Type::Index(_) | Type::Tuple(_) | Type::Rec(_) => false,
    }
}

fn elements(ty: &Type) -> Size {
    ty.dims().iter().fold(Size::constant(1), |product, dim| product.mul(dim))
}

/// What a term of the step is made of the state.
#[derive(Clone, Debug, PartialEq)]
enum Sum {
    /// Nothing.
    Free,
    /// The element at these indices of a component, with something free of the state added.
    Of {
        component: usize,
        indices: Vec<Var>,
    },
    Tuple(Vec<Sum>),
}

impl Sum {
    fn whole(component: usize) -> Sum {
        Sum::Of { component, indices: Vec::new() }
    }
}

/// Finds sums; of variables that stand for one it knows which.
struct Adds {
    sums: HashMap<Var, Sum>,
    /// What differs from step to step.
    varying: BTreeSet<Var>,
}

impl Adds {
    /// What a term is; `None` where it reads the state in another way than to add to it.
    fn sum(&mut self, expr: &Expr) -> Option<Sum> {
        if !any_free_var(expr, &mut |var| self.sums.contains_key(var)) {
            return Some(Sum::Free);
        }
        match expr.term() {
            Term::Var(var) => self.sums.get(var).cloned(),
            Term::Let(x, value, body) => {
                let sum = self.sum(value)?;
                self.learn(x, sum);
                if self.varies(value) {
                    self.varying.insert(x.clone());
                }
                self.sum(body)
            }
            Term::Fold { n, acc, body, init, .. } => {
                let sum = self.sum(init)?;
                self.learn(acc, sum.clone());
                (self.sum(n)? == Sum::Free && self.sum(body)? == sum).then_some(sum)
            }
            Term::Build { n, i, body } => match (self.sum(n)?, self.sum(body)?) {
                (Sum::Free, Sum::Of { component, mut indices }) => {
                    let last = indices.pop()?;
                    (last == *i && !indices.contains(i)).then_some(Sum::Of { component, indices })
                }
                (Sum::Free, Sum::Free) => Some(Sum::Free),
                _ => None,
            },
            term => {
                let parts: Vec<Sum> = term.children().map(|part| self.sum(part)).collect::<Option<_>>()?;
                // each step has places of its own, or data says where
                if let (Term::Update(_, updated), Some(Sum::Of { .. })) = (term, parts.first())
                    && Updated::of(updated)?.indices.iter().any(|index| self.varies(index))
                {
                    return None;
                }
                combined(expr, parts)
            }
        }
    }

    fn varies(&self, expr: &Expr) -> bool {
        any_free_var(expr, &mut |var| self.varying.contains(var))
    }

    fn learn(&mut self, var: &Var, sum: Sum) {
        if sum != Sum::Free {
            self.sums.insert(var.clone(), sum);
        }
    }

    /// How many elements a step adds to at most, as far as sizes say; of a term that [`Adds::sum`] has classified.
    fn count(&self, expr: &Expr) -> Size {
        if !any_free_var(expr, &mut |var| self.sums.contains_key(var)) {
            return Size::default();
        }
        let repeated = |n: &Expr, i: &Var, body: &Expr| {
            let n = Size::of_expr(n);
            let count = n.mul(&self.count(body).replace(i, &n));
            if count.has_unknown() { Size::default() } else { count }
        };
        match expr.term() {
            Term::Build { n, i, body } => repeated(n, i, body),
            Term::Fold { n, i, body, init, .. } => self.count(init).add(&repeated(n, i, body)),
            Term::Update(_, parts) => {
                let array = parts.first().map_or(Size::default(), |array| self.count(array));
                parts.last().map_or(Size::default(), |value| elements(value.ty())).add(&array)
            }
            Term::Prim(..) => expr.term().children().fold(Size::constant(1), |all, part| all.add(&self.count(part))),
            _ => expr.term().children().fold(Size::default(), |all, part| all.add(&self.count(part))),
        }
    }
}

/// What a term without binders is, whose subterms are these.
fn combined(expr: &Expr, parts: Vec<Sum>) -> Option<Sum> {
    if let Term::Tuple(_) = expr.term() {
        return Some(Sum::Tuple(parts));
    }
    if parts.iter().all(|part| *part == Sum::Free) {
        return Some(Sum::Free);
    }
    match (expr.term(), parts.as_slice()) {
        (Term::If(..), [Sum::Free, then, otherwise]) => (then == otherwise).then(|| then.clone()),
        (Term::Check { .. }, [Sum::Free, body]) => Some(body.clone()),
        (Term::Proj(_, at), [Sum::Tuple(parts)]) => parts.get(*at).cloned(),
        (Term::Get(_, index), [Sum::Of { component, indices }, Sum::Free]) => {
            let Term::Var(i) = index.term() else { return None };
            Some(Sum::Of { component: *component, indices: [indices.as_slice(), std::slice::from_ref(i)].concat() })
        }
        (Term::Update(Change::Add, _), [array, others @ ..]) if others.iter().all(|part| *part == Sum::Free) => Some(array.clone()),
        (Term::Prim(Prim::Add | Prim::Sub, _), [sum @ Sum::Of { .. }, Sum::Free]) if *expr.ty() == Type::Double => Some(sum.clone()),
        (Term::Prim(Prim::Add, _), [Sum::Free, sum @ Sum::Of { .. }]) if *expr.ty() == Type::Double => Some(sum.clone()),
        _ => None,
    }
}
