//! Run-time errors: `check` as `assert`, with the status as the first word of what the message shows.
//!
//! In: a condition, the status that it guards, and what it guards. Out: an expression that fails with the condition
//! before it uses anything that the condition speaks of: an assertion whose value nobody uses would be dropped.
//!
//!     check length v = n else SHAPE in e   →   let v = assert (shape (v_n == n)) v in e

use std::collections::BTreeSet;

use super::context::{Emitter, Place};
use super::syntax::{Binding, Fut, Pattern};
use super::term::is_total;
use super::types::Shape;
use crate::ir::free::each_free_var;
use crate::ir::{Expr, Prim, Status, Term, Type, Var};

/// The helper that names a status in messages.
pub fn helper(status: Status) -> &'static str {
    match status {
        Status::Bounds => "bounds",
        Status::Shape => "shape",
        Status::Negative => "negative",
        Status::DivZero => "div_zero",
        Status::Range => "range",
        Status::Workspace => "workspace",
    }
}

/// What of a parameter has indices that a test is of.
pub struct Checked {
    /// The path to the component.
    pub path: Vec<usize>,
    /// Whether they are parts of its elements: Futhark keeps arrays of these apart, and forgets the test with the one that nobody reads.
    pub is_part: bool,
}

impl Emitter<'_> {
    pub fn check(&mut self, cond: &Expr, status: Status, body: &Expr) -> (Fut, Shape) {
        if status == Status::Negative && is_count_of(cond, body) {
            return self.exp(body);
        }
        let mut bindings = Vec::new();
        let (test, _) = self.operand(cond, &mut bindings);
        let guarded = self.guarded_vars(cond, body);
        if is_total(body) || !self.is_needed_here(body, &guarded) {
            let mut inner = Vec::new();
            let (value, shape) = self.scope(|this| {
                this.facts.assume(cond, true);
                this.operand(body, &mut inner)
            });
            // what cannot fail stands before the assertion, anything else behind it
            let value = if is_total(body) {
                bindings.append(&mut inner);
                value
            } else {
                Fut::let_in(inner, value)
            };
            return (Fut::let_in(bindings, Fut::assert(helper(status), test, value)), shape);
        }
        let before = self.facts.clone();
        let places: Vec<(Var, Option<Place>)> = guarded.iter().map(|var| (var.clone(), self.place(var).cloned())).collect();
        self.guard(test, status, &guarded, &mut bindings);
        self.facts.assume(cond, true);
        let (exp, shape) = self.exp(body);
        self.facts = before;
        for (var, place) in places {
            if let Some(place) = place {
                self.put(&var, place);
            }
        }
        (Fut::let_in(bindings, exp), shape)
    }

    /// Whether the assertion of one of these variables holds up the body. In a branch, a loop or a connective the compiler
    /// forgets it where the variable is only a length, and everywhere where the variable is not used: there the body's
    /// value is asserted.
    fn is_needed_here(&self, body: &Expr, vars: &[Var]) -> bool {
        self.depth == 0 && vars.iter().any(|var| needs(body, (var, &[]), false))
    }

    /// Binds variables anew, so that what uses them comes after the assertion.
    pub fn guard(&mut self, test: Fut, status: Status, vars: &[Var], bindings: &mut Vec<Binding>) {
        for var in vars {
            self.guard_part((var, &[]), test.clone(), status, bindings);
        }
    }

    /// The same for one component of a variable, by the path to it.
    pub fn guard_part(&mut self, (var, path): (&Var, &[usize]), test: Fut, status: Status, bindings: &mut Vec<Binding>) {
        let Some(mut whole) = self.place(var).cloned() else { return };
        let Some(Place::One(old, shape)) = whole.part_mut(path) else { return };
        let name = if let Fut::Atom(text) = old
            && !path.is_empty()
        {
            self.local_of(text, shape)
        } else {
            self.local_of(var.name(), shape)
        };
        let value = Fut::assert(helper(status), test, old.clone());
        bindings.push(Binding { pattern: Pattern::Name(name.clone()), value });
        *old = Fut::atom(name);
        self.put(var, whole);
    }

    /// The variables of the body that the condition speaks of; any one of the body where there is none.
    fn guarded_vars(&self, cond: &Expr, body: &Expr) -> Vec<Var> {
        let has_name = |var: &Var| matches!(self.place(var), Some(Place::One(Fut::Atom(_), _)));
        let (mut spoken, mut used) = (BTreeSet::new(), BTreeSet::new());
        each_free_var(cond, &mut |var| {
            spoken.insert(var.clone());
        });
        each_free_var(body, &mut |var| {
            if has_name(var) {
                used.insert(var.clone());
            }
        });
        let both: Vec<Var> = spoken.intersection(&used).cloned().collect();
        if both.is_empty() { used.into_iter().take(1).collect() } else { both }
    }

    /// A count that fails where it is negative.
    pub fn count(&mut self, n: &Expr, bindings: &mut Vec<Binding>) -> Fut {
        let known = self.is_count(n);
        let (count, _) = self.operand(n, bindings);
        if known { count } else { Fut::apply("count", vec![count]) }
    }

    /// The tests that the indices in a parameter are in range, as its type says, each with the component that it is of.
    pub fn declared_ranges(&mut self, param: &Var) -> Vec<(Checked, Fut)> {
        let mut found = Vec::new();
        if let Some(place) = self.place(param).cloned() {
            self.ranges_at(param.ty(), &place, &mut Vec::new(), &mut found);
        }
        found
    }

    fn ranges_at(&mut self, ty: &Type, place: &Place, path: &mut Vec<usize>, found: &mut Vec<(Checked, Fut)>) {
        match (ty, place) {
            (Type::Tuple(types), Place::Parts(parts)) => {
                for (at, (ty, part)) in types.iter().zip(parts).enumerate() {
                    path.push(at);
                    self.ranges_at(ty, part, path, found);
                    path.pop();
                }
            }
            (_, place) => {
                let is_part = place.shape().has_tuple();
                found.extend(self.ranges(ty, place.exp()).map(|test| (Checked { path: path.clone(), is_part }, test)));
            }
        }
    }

    /// The test that all indices in a value are in range; `None` where its type says nothing of them.
    fn ranges(&mut self, ty: &Type, value: Fut) -> Option<Fut> {
        match ty {
            Type::Index(bound) => {
                let bound = self.size_term(bound.as_ref()?)?;
                Some(self.range_test(value, &bound))
            }
            Type::Array(element, _) => self.all_elements(value, |this, item| this.ranges(element, item)),
            Type::Tuple(parts) => {
                let tests: Vec<Fut> =
                    parts.iter().enumerate().filter_map(|(at, part)| self.ranges(part, value.clone().project(at))).collect();
                tests.into_iter().reduce(|a, b| Fut::infix("&&", a, b))
            }
            Type::Double | Type::Bool | Type::Rec(_) => None,
        }
    }

    /// A test of every element of an array; `None` where there is none of an element.
    pub fn all_elements(&mut self, array: Fut, test: impl FnOnce(&mut Self, Fut) -> Option<Fut>) -> Option<Fut> {
        self.scope(|this| {
            let name = this.local("i");
            let test = test(this, Fut::atom(&name))?;
            Some(Fut::apply("all", vec![Fut::lambda(vec![Pattern::Name(name)], test), array]))
        })
    }

    /// The test that an Index is in range.
    pub fn range_test(&mut self, value: Fut, bound: &Expr) -> Fut {
        let (bound, _) = self.exp(bound);
        let low = Fut::infix("<=", Fut::Int(0), value.clone());
        Fut::infix("&&", low, Fut::infix(Prim::Lt.row().name, value, bound))
    }
}

/// Whether the value of the term is found only by way of the variable's, or of its component at a path; `steps`: what each step of a
/// loop needs counts.
pub fn needs(expr: &Expr, (var, path): (&Var, &[usize]), steps: bool) -> bool {
    let needs_part = |expr: &Expr| needs(expr, (var, path), steps);
    match expr.term() {
        Term::Var(other) => other == var && path.is_empty(),
        Term::Proj(tuple, _) => is_part(expr, var, path) || needs_part(tuple),
        Term::If(cond, then, otherwise) => needs_part(cond) || needs_part(then) && needs_part(otherwise),
        Term::Prim(Prim::And | Prim::Or, args) => args.first().is_some_and(needs_part),
        Term::Let(x, value, body) => needs_part(body) || needs_part(value) && needs(body, (x, &[]), steps),
        Term::Build { n, body, .. } => needs_part(n) || steps && needs_part(body),
        Term::Fold { n, init, body, .. } => needs_part(n) || needs_part(init) || steps && needs_part(body),
        // it may not end, or not need its state
        Term::While { init, body, .. } => needs_part(init) || needs_part(body),
        Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Dim(..) | Term::Dual { .. } | Term::Vjp { .. } => false,
        Term::Prim(..) | Term::Get(..) | Term::Tuple(_) | Term::Array(_) => expr.term().children().any(needs_part),
        Term::Call(..) | Term::Check { .. } | Term::Update(..) | Term::Iso(..) => expr.term().children().any(needs_part),
    }
}

/// Whether the term is the component of the variable at the path.
fn is_part(expr: &Expr, var: &Var, path: &[usize]) -> bool {
    match (expr.term(), path.split_last()) {
        (Term::Proj(tuple, at), Some((last, before))) => at == last && is_part(tuple, var, before),
        (Term::Var(other), None) => other == var,
        _ => false,
    }
}

/// Whether the condition is that the body's own count is not negative, which the body asserts itself.
fn is_count_of(cond: &Expr, body: &Expr) -> bool {
    match (cond.term(), body.term()) {
        (Term::Prim(Prim::Le, args), Term::Build { n, .. } | Term::Fold { n, .. }) => {
            let same = |a: &Expr| matches!((a.term(), n.term()), (Term::Var(x), Term::Var(y)) if x == y);
            matches!(args.as_slice(), [low, high] if matches!(low.term(), Term::Index(0)) && same(high))
        }
        _ => false,
    }
}
