//! What a rule may know of the place it is applied at: the loops, lets and conditions around it.
//!
//! In: the scopes that the engine enters. Out: answers to `0 <= i < n?`, `n > 0?`, `are these sizes equal?`,
//! `is this condition known?`, and the [`Uses`] of let-bound variables.
//!
//!     build(n, i. … v[i] …)     i < n is known inside; so is n > 0
//!
//! Limits: an unknown answer is "no"; equalities hold modulo 2^64, inequalities are used as they stand.

use crate::ir::{Expr, Prim, Program, Size, Status, Term, Type, Var};

use super::uses::Uses;

/// One thing that holds in the current scope.
#[derive(Clone, Debug)]
enum Fact {
    /// The condition has this value.
    Is(Expr, bool),
    /// The variable is bound to this value.
    Let(Var, Expr),
    /// A loop variable, in `0 … n-1`.
    Loop(Var, Size),
    /// A parameter.
    Bound(Var),
    /// The accumulator of a fold.
    Accumulator(Var),
}

/// A place in a scope stack, to go back to.
#[derive(Clone, Copy)]
pub struct Mark(usize);

/// The context of a term.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    facts: Vec<Fact>,
    /// What is known of let-bound variables' occurrences.
    pub uses: Uses,
    /// All functions, for calls.
    pub program: Program,
    /// The nodes of the function that is being rewritten, for the size budget.
    pub nodes: usize,
    /// Leave everything that may change rounding or the sign of a zero.
    pub strict_fp: bool,
}

impl Facts {
    pub fn new(program: Program, strict_fp: bool) -> Facts {
        Facts { program, strict_fp, ..Facts::default() }
    }

    pub fn mark(&self) -> Mark {
        Mark(self.facts.len())
    }

    pub fn back_to(&mut self, mark: Mark) {
        self.facts.truncate(mark.0);
    }

    /// The condition holds (or does not) from here on.
    pub fn assume(&mut self, cond: &Expr, value: bool) {
        match (cond.term(), value) {
            (Term::Prim(Prim::Not, args), _) => args.iter().for_each(|arg| self.assume(arg, !value)),
            (Term::Prim(Prim::And, args), true) | (Term::Prim(Prim::Or, args), false) => {
                args.iter().for_each(|arg| self.assume(arg, value));
            }
            (Term::Prim(Prim::Or, args), true) | (Term::Prim(Prim::And, args), false) => {
                if let [a, b] = args.as_slice() {
                    if self.decide(a) == Some(!value) {
                        return self.assume(b, value);
                    }
                    if self.decide(b) == Some(!value) {
                        return self.assume(a, value);
                    }
                }
                self.facts.push(Fact::Is(cond.clone(), value));
            }
            _ => self.facts.push(Fact::Is(cond.clone(), value)),
        }
    }

    pub fn enter_let(&mut self, var: &Var, value: &Expr) {
        self.facts.push(Fact::Let(var.clone(), value.clone()));
    }

    /// Inside the loop its variable is in range and the count is positive; so a disjunction may be decided.
    pub fn enter_loop(&mut self, i: &Var, n: &Expr) {
        let bound = Size::of_expr(n);
        self.facts.push(Fact::Loop(i.clone(), self.normal(&bound)));
        let pending: Vec<(Expr, bool)> = self.facts.iter().filter_map(Fact::disjunction).collect();
        for (cond, value) in pending {
            if let Term::Prim(_, args) = cond.term()
                && args.iter().any(|arg| self.decide(arg) == Some(!value))
            {
                self.assume(&cond, value);
            }
        }
    }

    pub fn enter(&mut self, var: &Var) {
        self.facts.push(Fact::Bound(var.clone()));
    }

    pub fn enter_accumulator(&mut self, var: &Var) {
        self.facts.push(Fact::Accumulator(var.clone()));
    }

    pub fn is_accumulator(&self, var: &Var) -> bool {
        self.facts.iter().any(|fact| matches!(fact, Fact::Accumulator(acc) if acc == var))
    }

    /// How deep a variable is bound, outermost first; `None` for one that is not bound around here.
    pub fn depth(&self, var: &Var) -> Option<usize> {
        self.facts.iter().position(|fact| fact.binds(var))
    }

    /// The value of a let-bound variable.
    pub fn value(&self, var: &Var) -> Option<&Expr> {
        self.facts.iter().rev().find_map(|fact| match fact {
            Fact::Let(x, value) if x == var => Some(value),
            Fact::Let(..) | Fact::Is(..) | Fact::Loop(..) | Fact::Bound(_) | Fact::Accumulator(_) => None,
        })
    }

    /// The size with let-bound variables replaced and known equalities used: one form for equal sizes.
    pub fn normal(&self, size: &Size) -> Size {
        let mut size = size.clone();
        for fact in self.facts.iter().rev() {
            match fact {
                Fact::Let(x, value) if size.mentions(x) => {
                    if let Some(value) = Size::try_of_expr(value) {
                        size = size.replace(x, &value);
                    }
                }
                Fact::Is(cond, true) => {
                    if let Some((x, value)) = self.equation(cond) {
                        size = size.replace(&x, &value);
                    }
                }
                Fact::Let(..) | Fact::Is(..) | Fact::Loop(..) | Fact::Bound(_) | Fact::Accumulator(_) => {}
            }
        }
        size
    }

    /// `x = e` read as a definition of the variable bound further in.
    fn equation(&self, cond: &Expr) -> Option<(Var, Size)> {
        let Term::Prim(Prim::Eq, args) = cond.term() else { return None };
        let [a, b] = args.as_slice() else { return None };
        if !matches!(a.ty(), Type::Index(_)) {
            return None;
        }
        let (a, b) = (Size::try_of_expr(a)?, Size::try_of_expr(b)?);
        let rank = |size: &Size| size.as_var().map(|var| (self.depth(var), var.id()));
        match (rank(&a), rank(&b)) {
            (Some(x), Some(y)) if x < y => Some((b.as_var()?.clone(), a)),
            (Some(_), _) if !b.mentions(a.as_var()?) => Some((a.as_var()?.clone(), b)),
            (_, Some(_)) if !a.mentions(b.as_var()?) => Some((b.as_var()?.clone(), a)),
            (Some(_), _) | (_, Some(_)) | (None, None) => None,
        }
    }

    pub fn same_size(&self, a: &Size, b: &Size) -> bool {
        !a.has_unknown() && !b.has_unknown() && (a == b || self.normal(a) == self.normal(b))
    }

    /// In the branch of `i = k`: the variable bound further in, and the atom to put for it.
    pub fn equality(&self, cond: &Expr) -> Option<(Var, Expr)> {
        let Term::Prim(Prim::Eq, args) = cond.term() else { return None };
        let [a, b] = args.as_slice() else { return None };
        if !matches!(a.ty(), Type::Index(_)) {
            return None;
        }
        match (a.term(), b.term()) {
            (Term::Var(x), Term::Var(y)) if x == y => None,
            (Term::Var(x), Term::Var(y)) if (self.depth(x), x.id()) < (self.depth(y), y.id()) => Some((y.clone(), a.clone())),
            (Term::Var(x), Term::Var(_) | Term::Index(_)) => Some((x.clone(), b.clone())),
            (Term::Index(_), Term::Var(y)) => Some((y.clone(), a.clone())),
            _ => None,
        }
    }

    /// The innermost variable that is bound to the same value.
    pub fn bound_to(&self, value: &Expr) -> Option<Var> {
        self.facts.iter().rev().find_map(|fact| match fact {
            Fact::Let(x, known) if known.ty().same_shape(value.ty()) && same(known, value) => Some(x.clone()),
            Fact::Let(..) | Fact::Is(..) | Fact::Loop(..) | Fact::Bound(_) | Fact::Accumulator(_) => None,
        })
    }

    /// Whether `0 <= index < n`.
    pub fn in_range(&self, index: &Expr, n: &Size) -> bool {
        let Some(at) = Size::try_of_expr(index) else { return false };
        if let (Some(at), Some(n)) = (at.as_constant(), self.normal(n).as_constant()) {
            return 0 <= at && at < n;
        }
        if let Type::Index(Some(bound)) = index.ty()
            && self.same_size(bound, n)
        {
            return true;
        }
        let (at, n) = (self.normal(&at), self.normal(n));
        let below = |i: &Size, bound: &Size| self.normal(i) == at && self.normal(bound) == n;
        let by_loop = self.facts.iter().any(|fact| match fact {
            Fact::Loop(i, bound) => below(&Size::var(i), bound),
            Fact::Bound(i) => matches!(i.ty(), Type::Index(Some(bound)) if below(&Size::var(i), bound)),
            Fact::Is(..) | Fact::Let(..) | Fact::Accumulator(_) => false,
        });
        let by_condition = || self.facts.iter().any(|fact| fact.less().is_some_and(|(i, bound)| below(&i, &bound)));
        by_loop || self.known_non_negative(&at) && by_condition()
    }

    /// Whether the size is at least 0 whenever this place is reached.
    pub fn non_negative(&self, n: &Size) -> bool {
        self.known_non_negative(&self.normal(n))
    }

    /// Whether the size is at least 1 whenever this place is reached.
    pub fn positive(&self, n: &Size) -> bool {
        self.known_positive(&self.normal(n))
    }

    fn known_non_negative(&self, n: &Size) -> bool {
        if let Some(value) = n.as_constant() {
            return value >= 0;
        }
        self.known_positive(n)
            || self.hypotheses().any(|(low, strict)| !strict && self.normal(&low) == *n)
            || n.as_var().is_some_and(|var| matches!(var.ty(), Type::Index(Some(_))) || self.is_length(var))
    }

    fn known_positive(&self, n: &Size) -> bool {
        if let Some(value) = n.as_constant() {
            return value > 0;
        }
        self.hypotheses().any(|(low, strict)| strict && self.normal(&low) == *n)
            || self.facts.iter().any(|fact| matches!(fact, Fact::Loop(_, bound) if self.normal(bound) == *n))
    }

    /// A variable that is the length of a variable bound around here.
    fn is_length(&self, size: &Var) -> bool {
        self.facts.iter().any(|fact| match fact {
            Fact::Bound(var) | Fact::Accumulator(var) => {
                let mut found = false;
                each_length(var.ty(), &mut |length| found |= length.as_var() == Some(size));
                found
            }
            Fact::Is(..) | Fact::Let(..) | Fact::Loop(..) => false,
        })
    }

    /// Sizes known to be at least 0 (or, second, at least 1) from conditions.
    fn hypotheses(&self) -> impl Iterator<Item = (Size, bool)> + '_ {
        self.facts.iter().filter_map(|fact| {
            let Fact::Is(cond, value) = fact else { return None };
            let Term::Prim(prim, args) = cond.term() else { return None };
            let [a, b] = args.as_slice() else { return None };
            let (small, large, strict) = match (prim, value) {
                (Prim::Lt, true) => (a, b, true),
                (Prim::Le, true) => (a, b, false),
                (Prim::Gt, true) => (b, a, true),
                (Prim::Ge, true) => (b, a, false),
                (Prim::Lt, false) => (b, a, false),
                (Prim::Le, false) => (b, a, true),
                (Prim::Gt, false) => (a, b, false),
                (Prim::Ge, false) => (a, b, true),
                _ => return None,
            };
            if !matches!(a.ty(), Type::Index(_)) {
                return None;
            }
            let (small, large) = (Size::try_of_expr(small)?, Size::try_of_expr(large)?);
            // a difference may wrap: only a bound against 0 says something of one side
            (small.as_constant() == Some(0)).then_some((large, strict))
        })
    }

    /// The value of a condition, where the surroundings fix it.
    pub fn decide(&self, cond: &Expr) -> Option<bool> {
        if let Term::Bool(value) = cond.term() {
            return Some(*value);
        }
        let known = self.facts.iter().find_map(|fact| match fact {
            Fact::Is(known, value) if same(known, cond) => Some(*value),
            Fact::Is(..) | Fact::Let(..) | Fact::Loop(..) | Fact::Bound(_) | Fact::Accumulator(_) => None,
        });
        if known.is_some() {
            return known;
        }
        let Term::Prim(prim, args) = cond.term() else { return None };
        let [a, b] = args.as_slice() else {
            return match (prim, args.as_slice()) {
                (Prim::Not, [a]) => self.decide(a).map(|value| !value),
                _ => None,
            };
        };
        match prim {
            Prim::And => match (self.decide(a), self.decide(b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                (None | Some(true), None) | (None, Some(true)) => None,
            },
            Prim::Or => match (self.decide(a), self.decide(b)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                (None | Some(false), None) | (None, Some(false)) => None,
            },
            _ if !matches!(a.ty(), Type::Index(_)) => None,
            _ => {
                let (a_size, b_size) = (Size::try_of_expr(a)?, Size::try_of_expr(b)?);
                self.compare(*prim, a, &a_size, b, &b_size)
            }
        }
    }

    fn compare(&self, prim: Prim, a: &Expr, a_size: &Size, b: &Expr, b_size: &Size) -> Option<bool> {
        let same = self.same_size(a_size, b_size);
        let difference = self.normal(a_size).sub(&self.normal(b_size)).as_constant();
        let below =
            |x: &Expr, x_size: &Size, y_size: &Size| self.in_range(x, y_size) || x_size.as_constant() == Some(0) && self.positive(y_size);
        let below_or_same = |x: &Expr, x_size: &Size, y_size: &Size| {
            same || below(x, x_size, y_size) || x_size.as_constant() == Some(0) && self.non_negative(y_size)
        };
        let constants = || Some((self.normal(a_size).as_constant()?, self.normal(b_size).as_constant()?));
        match prim {
            Prim::Eq if same => Some(true),
            Prim::Ne if same => Some(false),
            Prim::Eq if difference.is_some() => Some(false),
            Prim::Ne if difference.is_some() => Some(true),
            Prim::Eq if below(a, a_size, b_size) || below(b, b_size, a_size) => Some(false),
            Prim::Ne if below(a, a_size, b_size) || below(b, b_size, a_size) => Some(true),
            Prim::Lt if below(a, a_size, b_size) => Some(true),
            Prim::Gt if below(b, b_size, a_size) => Some(true),
            Prim::Le if below_or_same(a, a_size, b_size) => Some(true),
            Prim::Ge if below_or_same(b, b_size, a_size) => Some(true),
            Prim::Lt if below_or_same(b, b_size, a_size) => Some(false),
            Prim::Gt if below_or_same(a, a_size, b_size) => Some(false),
            Prim::Le if below(b, b_size, a_size) => Some(false),
            Prim::Ge if below(a, a_size, b_size) => Some(false),
            Prim::Lt => constants().map(|(a, b)| a < b),
            Prim::Le => constants().map(|(a, b)| a <= b),
            Prim::Gt => constants().map(|(a, b)| a > b),
            Prim::Ge => constants().map(|(a, b)| a >= b),
            _ => None,
        }
    }

    /// Whether evaluating the term cannot fail here.
    pub fn is_total(&self, expr: &Expr) -> bool {
        let mut total = match expr.term() {
            Term::Get(array, index) => array.ty().dims().first().is_some_and(|n| self.in_range(index, n)),
            Term::Prim(Prim::Div | Prim::Rem, args) if matches!(expr.ty(), Type::Index(_)) => {
                matches!(args.get(1).map(Expr::term), Some(Term::Index(value)) if *value != 0)
            }
            Term::Prim(Prim::ToIndex, _) | Term::Call(..) | Term::Check { .. } | Term::Dual { .. } => false,
            Term::Build { n, .. } | Term::Fold { n, .. } => Size::try_of_expr(n).is_some_and(|n| self.non_negative(&n)),
            Term::Array(items) => items.len() < 2 || items.iter().all(|item| item.ty().dims().is_empty()),
            Term::Var(_)
            | Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Prim(..)
            | Term::Let(..)
            | Term::If(..)
            | Term::Dim(..)
            | Term::Tuple(_)
            | Term::Proj(..) => true,
        };
        if matches!(expr.term(), Term::Build { body, .. } if !body.ty().dims().is_empty())
            || matches!(expr.term(), Term::Fold { acc, .. } if has_array(acc.ty()))
        {
            return false;
        }
        expr.term().each_child(&mut |child| total = total && self.is_total(child));
        total
    }
}

impl Fact {
    fn binds(&self, var: &Var) -> bool {
        match self {
            Fact::Let(x, _) | Fact::Loop(x, _) | Fact::Bound(x) | Fact::Accumulator(x) => x == var,
            Fact::Is(..) => false,
        }
    }

    /// `a < b`, where the fact says so.
    fn less(&self) -> Option<(Size, Size)> {
        let Fact::Is(cond, value) = self else { return None };
        let Term::Prim(prim, args) = cond.term() else { return None };
        let [a, b] = args.as_slice() else { return None };
        let (small, large) = match (prim, value) {
            (Prim::Lt, true) | (Prim::Ge, false) => (a, b),
            (Prim::Gt, true) | (Prim::Le, false) => (b, a),
            _ => return None,
        };
        Some((Size::try_of_expr(small)?, Size::try_of_expr(large)?))
    }

    fn disjunction(&self) -> Option<(Expr, bool)> {
        let Fact::Is(cond, value) = self else { return None };
        match (cond.term(), value) {
            (Term::Prim(Prim::Or, _), true) | (Term::Prim(Prim::And, _), false) => Some((cond.clone(), *value)),
            _ => None,
        }
    }
}

/// Whether some value of the type holds an array.
pub fn has_array(ty: &Type) -> bool {
    match ty {
        Type::Array(..) => true,
        Type::Tuple(parts) => parts.iter().any(has_array),
        Type::Double | Type::Bool | Type::Index(_) => false,
    }
}

/// Every length of an array in the type: each is at least 0 in a value of it.
fn each_length(ty: &Type, f: &mut dyn FnMut(&Size)) {
    match ty {
        Type::Array(element, size) => {
            f(size);
            each_length(element, f);
        }
        Type::Tuple(parts) => parts.iter().for_each(|part| each_length(part, f)),
        Type::Double | Type::Bool | Type::Index(_) => {}
    }
}

/// Equality of terms up to the names of what they bind.
pub fn same(a: &Expr, b: &Expr) -> bool {
    same_with(a, b, &mut Vec::new())
}

fn same_with(a: &Expr, b: &Expr, bound: &mut Vec<(Var, Var)>) -> bool {
    if a.is_same(b) && bound.is_empty() {
        return true;
    }
    let heads = match (a.term(), b.term()) {
        (Term::Var(x), Term::Var(y)) => match bound.iter().rev().find(|(p, q)| p == x || q == y) {
            Some((p, q)) => p == x && q == y,
            None => x == y,
        },
        (Term::Double(x), Term::Double(y)) => x.to_bits() == y.to_bits(),
        (Term::Index(x), Term::Index(y)) => x == y,
        (Term::Bool(x), Term::Bool(y)) => x == y,
        (Term::Prim(p, _), Term::Prim(q, _)) => p == q,
        (Term::Dim(_, i), Term::Dim(_, j)) | (Term::Proj(_, i), Term::Proj(_, j)) => i == j,
        (Term::Call(f, _), Term::Call(g, _)) => f == g,
        (Term::Check { status: s, .. }, Term::Check { status: t, .. }) => status_same(*s, *t),
        (Term::Array(_), Term::Array(_)) => a.ty() == b.ty(),
        (x, y) => std::mem::discriminant(x) == std::mem::discriminant(y),
    };
    let (xs, ys) = (children(a), children(b));
    if !heads || xs.len() != ys.len() {
        return false;
    }
    // the body comes last; the binders scope over it alone
    let last = xs.len().saturating_sub(1);
    xs.iter().zip(&ys).enumerate().all(|(at, (x, y))| {
        let mark = bound.len();
        if at == last {
            let pairs = a.term().binders().into_iter().cloned().zip(b.term().binders().into_iter().cloned());
            bound.extend(pairs);
        }
        let same = same_with(x, y, bound);
        bound.truncate(mark);
        same
    })
}

fn status_same(a: Status, b: Status) -> bool {
    a == b
}

fn children(expr: &Expr) -> Vec<Expr> {
    let mut children = Vec::new();
    expr.term().each_child(&mut |child| children.push(child.clone()));
    children
}
