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
use crate::ir::{Expr, Prim, Status, Term, Var};

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
        self.depth == 0 && vars.iter().any(|var| needs(body, var, false))
    }

    /// Binds variables anew, so that what uses them comes after the assertion.
    pub fn guard(&mut self, test: Fut, status: Status, vars: &[Var], bindings: &mut Vec<Binding>) {
        for var in vars {
            let Some(Place::One(old, shape)) = self.place(var).cloned() else { continue };
            let name = self.local_of(var.name(), &shape);
            let value = Fut::assert(helper(status), test.clone(), old);
            bindings.push(Binding { pattern: Pattern::Name(name.clone()), value });
            self.put(var, Place::One(Fut::atom(name), shape));
        }
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

    /// The test that an Index, or every one in an array, is in range.
    pub fn range_test(&mut self, value: Fut, rank: usize, bound: &Expr) -> Fut {
        if rank == 0 {
            let (bound, _) = self.exp(bound);
            let low = Fut::infix("<=", Fut::Int(0), value.clone());
            return Fut::infix("&&", low, Fut::infix(Prim::Lt.row().name, value, bound));
        }
        let (name, inner) = self.scope(|this| {
            let name = this.local("i");
            (name.clone(), this.range_test(Fut::atom(name), rank - 1, bound))
        });
        Fut::apply("all", vec![Fut::lambda(vec![Pattern::Name(name)], inner), value])
    }
}

/// Whether the value of the term is found only by way of the variable's; `steps`: what each step of a loop needs counts.
pub fn needs(expr: &Expr, var: &Var, steps: bool) -> bool {
    let is_needed_by = |expr: &Expr, var: &Var| needs(expr, var, steps);
    let needs = |expr: &Expr| is_needed_by(expr, var);
    match expr.term() {
        Term::Var(other) => other == var,
        Term::If(cond, then, otherwise) => needs(cond) || needs(then) && needs(otherwise),
        Term::Prim(Prim::And | Prim::Or, args) => args.first().is_some_and(needs),
        Term::Let(x, value, body) => needs(body) || needs(value) && is_needed_by(body, x),
        Term::Build { n, body, .. } => needs(n) || steps && needs(body),
        Term::Fold { n, init, body, .. } => needs(n) || needs(init) || steps && needs(body),
        // it may not end, or not need its state
        Term::While { init, body, .. } => needs(init) || needs(body),
        Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Dim(..) | Term::Dual { .. } | Term::Vjp { .. } => false,
        Term::Prim(..) | Term::Get(..) | Term::Tuple(_) | Term::Proj(..) | Term::Array(_) => expr.term().children().any(needs),
        Term::Call(..) | Term::Check { .. } | Term::Update(..) | Term::Iso(..) => expr.term().children().any(needs),
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
