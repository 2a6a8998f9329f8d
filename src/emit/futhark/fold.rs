//! Folds: a reduction where the step adds, multiplies or takes the larger of something that does not depend on the
//! state, a loop otherwise.
//!
//! In: a fold. Out: an expression with the same value, to the rounding of a sum in another order, that fails where the
//! fold does.
//!
//!     ifold (fun s i -> s + v[i] * w[i]) 0.0 n   →   f64.sum (map2 (*) v w)
//!     ifold (fun s i -> max s v[i]) v[0] n       →   fmax v[0] (reduce fmax (-f64.inf) v)
//!     ifold (fun s i -> s * x + v[i]) 0.0 n      →   loop s = 0.0 for i < n do s * x + v[i]

use super::context::Emitter;
use super::hoist::{Moved, unless_empty};
use super::syntax::{Fut, Loop, Pattern};
use super::term::typed_literals;
use super::types::Shape;
use crate::ir::free::mentions;
use crate::ir::subst::substitute;
use crate::ir::{Expr, Prim, Term, Type, Var};

impl Emitter<'_> {
    pub fn fold(&mut self, n: &Expr, acc: &Var, i: &Var, body: &Expr, init: &Expr) -> (Fut, Shape) {
        let body = without_aliases(body, acc);
        if let Some(step) = step(&body, acc).filter(|step| self.may_reorder(step.prim, acc.ty())) {
            return self.reduction(n, i, step, init);
        }
        if let Some(element) = sums(&body, acc).filter(|_| self.may_reorder(Prim::Add, acc.ty())) {
            return self.sums(n, i, element, init);
        }
        self.repeat(n, acc, i, &body, init)
    }

    /// A build of what the steps take, as its elements.
    fn steps(&mut self, n: &Expr, i: &Var, element: Expr) -> Fut {
        let build = Expr::build_with(n.clone(), i.clone(), element);
        self.exp(&build).0
    }

    fn reduction(&mut self, n: &Expr, i: &Var, step: Step, init: &Expr) -> (Fut, Shape) {
        let mut bindings = Vec::new();
        let on_index = matches!(step.element.ty(), Type::Index(_));
        let shape = if on_index { Shape::Index } else { Shape::Double };
        let neutral = is_neutral(step.prim, init);
        let start = if neutral { Fut::Int(0) } else { self.operand(init, &mut bindings).0 };
        let elements = self.steps(n, i, step.element).without_lets(&mut bindings);
        let ty = if on_index { "i64" } else { "f64" };
        let number = |value: &str| Fut::atom(if on_index { format!("{value}i64") } else { format!("{value}.0") });
        let exp = match step.prim {
            Prim::Mul => {
                let product = reduced(elements, number("1"), |all| Fut::apply(format!("{ty}.product"), vec![all]));
                if neutral { product } else { Fut::infix("*", start, product) }
            }
            Prim::Sub => {
                let sum = reduced(elements, number("0"), |all| Fut::apply(format!("{ty}.sum"), vec![all]));
                if neutral { Fut::Prefix('-', Box::new(sum)) } else { Fut::infix("-", start, sum) }
            }
            Prim::Min if on_index => {
                let least = reduced(elements, Fut::atom("i64.highest"), |all| Fut::apply("i64.minimum", vec![all]));
                Fut::apply("i64.min", vec![start, least])
            }
            Prim::Max if on_index => {
                let largest = reduced(elements, Fut::atom("i64.lowest"), |all| Fut::apply("i64.maximum", vec![all]));
                Fut::apply("i64.max", vec![start, largest])
            }
            Prim::Min | Prim::Max => {
                let (name, empty) = if step.prim == Prim::Min { ("fmin", "f64.inf") } else { ("fmax", "-f64.inf") };
                let extreme = |all| Fut::apply("reduce", vec![Fut::atom(name), Fut::atom(empty), all]);
                let extreme = reduced(elements, Fut::atom(empty), extreme);
                if neutral { extreme } else { Fut::apply(name, vec![start, extreme]) }
            }
            _ => {
                let sum = reduced(elements, number("0"), |all| Fut::apply(format!("{ty}.sum"), vec![all]));
                if neutral { sum } else { Fut::infix("+", start, sum) }
            }
        };
        (Fut::let_in(bindings, exp), shape)
    }

    /// Several sums in one go: a value with its tangents, as a rule.
    fn sums(&mut self, n: &Expr, i: &Var, element: Expr, init: &Expr) -> (Fut, Shape) {
        let mut bindings = Vec::new();
        let shape = self.shape(element.ty());
        let Shape::Tuple(shapes) = &shape else { return self.exp(init) };
        let starts: Vec<Fut> = match init.term() {
            Term::Tuple(inits) => inits.iter().map(|init| self.operand(init, &mut bindings).0).collect(),
            _ => {
                let start = self.operand(init, &mut bindings).0;
                (0..shapes.len()).map(|at| start.clone().project(at)).collect()
            }
        };
        let elements = self.steps(n, i, element).without_lets(&mut bindings);
        let (left, right, sum) = self.scope(|this| {
            let letters: Vec<String> = ('a'..='z').map(String::from).collect();
            let mut names = |from: usize| -> Vec<String> {
                (from..from + shapes.len()).map(|at| this.local(letters.get(at).map_or("z", |letter| letter))).collect()
            };
            let (a, b) = (names(0), names(shapes.len()));
            let sum = a.iter().zip(&b).map(|(a, b)| Fut::infix("+", Fut::atom(a), Fut::atom(b))).collect();
            let pattern = |names: Vec<String>| Pattern::Tuple(names.into_iter().map(Pattern::Name).collect());
            (pattern(a), pattern(b), Fut::Tuple(sum))
        });
        let function = Fut::lambda(vec![left, right], sum);
        // a reduction wants a neutral element
        let neutral = init_is_zero(init);
        let zero = |shape: &Shape| if *shape == Shape::Index { Fut::atom("0i64") } else { Fut::atom("0.0") };
        let zeros = Fut::Tuple(shapes.iter().map(zero).collect());
        let total = reduced(elements, zeros.clone(), |all| Fut::apply("reduce", vec![function, zeros, all]));
        if neutral {
            return (Fut::let_in(bindings, total), shape);
        }
        let var = Var::fresh("s", init.ty().clone());
        self.bind(&var, total, shape.clone(), &mut bindings);
        let total = self.place(&var).map_or(Fut::atom("s"), |place| place.exp());
        let ends = starts.into_iter().enumerate().map(|(at, start)| Fut::infix("+", start, total.clone().project(at)));
        let ends = Fut::Tuple(ends.collect());
        (Fut::let_in(bindings, ends), shape)
    }

    fn repeat(&mut self, n: &Expr, acc: &Var, i: &Var, body: &Expr, init: &Expr) -> (Fut, Shape) {
        let mut bindings = Vec::new();
        let (start, found) = self.operand(init, &mut bindings);
        let wanted = self.shape(acc.ty());
        let (start, mut shape) = self.settle(start, found, &wanted);
        let mut start = typed_literals(start);
        let may_fail = self.fails_without_steps(n, &[acc, i], body, Moved::Loops);
        if !shape.is_known() || may_fail && !matches!(start, Fut::Atom(_)) {
            // the lengths get names before the loop, which keeps them
            let var = acc.renewed(acc.ty().clone());
            self.bind(&var, start.clone(), shape.clone(), &mut bindings);
            if let Some(place) = self.place(&var) {
                (start, shape) = (place.exp(), place.shape());
            }
        }
        let count = self.count(n, &mut bindings);
        let mut origins = self.origins(init);
        origins.extend(self.origins(body));
        let repeat = self.scope(|this| {
            let pattern = with_types(this.declare(acc, &shape), &shape);
            this.comes_from(acc, origins);
            let name = this.index(i, n);
            let (exp, _) = this.inside(body, &shape);
            Loop { pattern, init: start.clone(), i: name, n: count.clone(), body: typed_literals(exp) }
        });
        let repeat = Fut::Loop(Box::new(repeat));
        let exp = if may_fail { unless_empty(count, repeat, start) } else { repeat };
        (Fut::let_in(bindings, exp), shape)
    }
}

/// The pattern with the types of its arrays: Futhark would let their lengths change from one step to the next.
fn with_types(pattern: Pattern, shape: &Shape) -> Pattern {
    match (pattern, shape) {
        (Pattern::Name(name), Shape::Array(..)) if shape.is_known() => Pattern::Sized { sizes: Vec::new(), name, ty: shape.text() },
        (Pattern::Tuple(parts), Shape::Tuple(shapes)) => {
            Pattern::Tuple(parts.into_iter().zip(shapes).map(|(part, shape)| with_types(part, shape)).collect())
        }
        (pattern, _) => pattern,
    }
}

/// A reduction of all elements; of none where these stand in a test that there are some.
fn reduced(elements: Fut, none: Fut, reduce: impl FnOnce(Fut) -> Fut) -> Fut {
    let Fut::If(some, all, _) = elements else { return reduce(elements) };
    let mut bindings = Vec::new();
    let all = all.without_lets(&mut bindings);
    Fut::if_(*some, Fut::let_in(bindings, reduce(all)), none)
}

/// What each step of a reduction takes.
struct Step {
    prim: Prim,
    element: Expr,
}

/// The step, where the body combines the state with something free of it; both are Doubles or both Indexes.
fn step(body: &Expr, acc: &Var) -> Option<Step> {
    if *acc.ty() != Type::Double && !matches!(acc.ty(), Type::Index(_)) {
        return None;
    }
    let is_acc = |expr: &Expr| matches!(expr.term(), Term::Var(var) if var == acc);
    match body.term() {
        Term::Prim(prim @ (Prim::Add | Prim::Mul | Prim::Min | Prim::Max), args) => match args.as_slice() {
            [a, b] if is_acc(a) && !mentions(b, acc) => Some(Step { prim: *prim, element: b.clone() }),
            [a, b] if is_acc(b) && !mentions(a, acc) => Some(Step { prim: *prim, element: a.clone() }),
            [a, b] if matches!(prim, Prim::Add | Prim::Mul) && !mentions(b, acc) => {
                let inner = step(a, acc).filter(|inner| inner.prim == *prim)?;
                Some(Step { prim: *prim, element: Expr::prim(*prim, vec![inner.element, b.clone()]) })
            }
            _ => None,
        },
        Term::Prim(Prim::Sub, args) => match args.as_slice() {
            [a, b] if is_acc(a) && !mentions(b, acc) => Some(Step { prim: Prim::Sub, element: b.clone() }),
            _ => None,
        },
        Term::Let(x, value, inner) if !mentions(value, acc) => {
            let Step { prim, element } = step(inner, acc)?;
            Some(Step { prim, element: Expr::let_(x.clone(), value.clone(), element) })
        }
        Term::If(cond, then, otherwise) if !mentions(cond, acc) => {
            let zero = || if *acc.ty() == Type::Double { Expr::double(0.0) } else { Expr::index(0) };
            let choose = |a: Expr, b: Expr| Step { prim: Prim::Add, element: Expr::if_(cond.clone(), a, b) };
            let adds = |expr: &Expr| step(expr, acc).filter(|step| step.prim == Prim::Add).map(|step| step.element);
            match (is_acc(then), is_acc(otherwise)) {
                (false, true) => Some(choose(adds(then)?, zero())),
                (true, false) => Some(choose(zero(), adds(otherwise)?)),
                (false, false) => Some(choose(adds(then)?, adds(otherwise)?)),
                (true, true) => None,
            }
        }
        _ => None,
    }
}

/// What is added to the components of a tuple, as one tuple, where the body does nothing else.
fn sums(body: &Expr, acc: &Var) -> Option<Expr> {
    match body.term() {
        Term::Tuple(parts) => {
            let is_scalar = |part: &Expr| *part.ty() == Type::Double || matches!(part.ty(), Type::Index(_));
            let added = |(at, part): (usize, &Expr)| match part.term() {
                Term::Prim(Prim::Add, args) if is_scalar(part) => match args.as_slice() {
                    [a, b] if is_part(a, acc, at) && !mentions(b, acc) => Some(b.clone()),
                    [a, b] if is_part(b, acc, at) && !mentions(a, acc) => Some(a.clone()),
                    _ => None,
                },
                _ => None,
            };
            Some(Expr::tuple(parts.iter().enumerate().map(added).collect::<Option<_>>()?))
        }
        Term::Let(x, value, inner) if !mentions(value, acc) => Some(Expr::let_(x.clone(), value.clone(), sums(inner, acc)?)),
        _ => None,
    }
}

fn is_part(expr: &Expr, acc: &Var, at: usize) -> bool {
    matches!(expr.term(), Term::Proj(tuple, part) if *part == at && matches!(tuple.term(), Term::Var(var) if var == acc))
}

/// `let a = acc.0 in e` as e with the component in it.
fn without_aliases(body: &Expr, acc: &Var) -> Expr {
    match body.term() {
        Term::Let(x, value, inner) => match value.term() {
            Term::Proj(tuple, _) if matches!(tuple.term(), Term::Var(var) if var == acc) => {
                without_aliases(&substitute(inner, &[(x.clone(), value.clone())]), acc)
            }
            _ => {
                let inner = without_aliases(inner, acc);
                Expr::let_(x.clone(), value.clone(), inner)
            }
        },
        _ => body.clone(),
    }
}

fn is_neutral(prim: Prim, init: &Expr) -> bool {
    match (prim, init.term()) {
        (Prim::Add | Prim::Sub, Term::Double(value)) => *value == 0.0,
        (Prim::Add | Prim::Sub, Term::Index(value)) => *value == 0,
        (Prim::Mul, Term::Double(value)) => *value == 1.0,
        (Prim::Mul, Term::Index(value)) => *value == 1,
        (Prim::Min, Term::Double(value)) => *value == f64::INFINITY,
        (Prim::Max, Term::Double(value)) => *value == f64::NEG_INFINITY,
        _ => false,
    }
}

fn init_is_zero(init: &Expr) -> bool {
    match init.term() {
        Term::Tuple(parts) => parts.iter().all(|part| is_neutral(Prim::Add, part)),
        _ => false,
    }
}
