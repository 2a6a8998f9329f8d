//! The one prover of facts about sizes and indices.
//!
//! In: what is known at a place — declared sizes, loop ranges, guards, `Index<s>` types — and a question
//! such as `0 ≤ e < n?`. Out: whether it is proved; `false` means "not known", and the check stays.
//!
//! Index wraps, so a polynomial's value is its integer value modulo 2^64. Equalities are used modulo 2^64.
//! For an inequality both sides must be *exact*: a lone variable or literal, or a polynomial whose monomials
//! and partial sums known bounds keep inside ±2^62, so that machine and integers agree; then it is a fact
//! about integers, and the proof is free to rearrange. A bare Index is bounded by nothing: `i < i + 1` is
//! not provable, but it is for a loop's `i`.
//!
//!     under loop i of n, loop j of m:   i * m + j < n * m   ⇐   m * (n-1-i) ≥ 0 and m-1-j ≥ 0

mod chain;
mod fact;
mod model;
mod range;
mod search;
mod selected;

use std::rc::Rc;

use chain::Chain;
use fact::{Bound, Fact};
use model::Models;
use range::{Range, TYPES};
use rpds::RedBlackTreeMap;
use search::Search;

use crate::ir::last_use::component;
use crate::ir::prim::Prim;
use crate::ir::program::Function;
use crate::ir::term::{Atom, Expr, Monomial, Size, Term, Type, Var};

/// No array in memory has more elements of eight bytes: entry rejects those of more than PTRDIFF_MAX bytes.
const LENGTH: i128 = (1 << 60) - 1;
/// Coefficients beyond this end a proof, so that none overflows.
const COEFFICIENT: i64 = 1 << 30;
/// How often ranges are tightened when a fact is added, each time by the facts about what changed.
const ROUNDS: u32 = 3;

/// What is known at one place of a program. Cloned where a scope is entered.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Ranges of atoms and of whole products, in integers.
    ranges: RedBlackTreeMap<Monomial, Range>,
    /// Polynomials that are ≥ 0 as integers.
    nonnegative: Chain<Fact>,
    /// Polynomials that are not 0.
    nonzero: Chain<Size>,
    /// What atoms equal modulo 2^64; each right side is free of the atoms before it.
    equal: Chain<(Atom, Size)>,
    /// Against which goals are tried first.
    models: Models,
}

impl Facts {
    /// The sizes of a function and the lengths in its parameters' types.
    pub fn for_function(function: &Function) -> Facts {
        let mut facts = Facts::default();
        for size in &function.sizes {
            facts.restrict(Rc::new([Atom::Var(size.clone())]), (0, LENGTH));
        }
        for param in &function.params {
            facts.exists(param.ty());
        }
        facts.multiples(&function.result);
        let all = facts.nonnegative.in_order().into_iter().cloned().collect();
        facts.tighten(all);
        facts
    }

    /// Where arrays of this type exist: their lengths and their element counts are bounded.
    pub fn exists(&mut self, ty: &Type) {
        match ty {
            Type::Array(element, length) => {
                self.exists(element);
                if let Some(atom) = length.as_atom() {
                    self.restrict(Rc::new([atom.clone()]), (0, LENGTH));
                } else if self.is_exact(length) {
                    self.know(length.clone());
                }
                let product = ty.dims().iter().fold(Size::constant(1), |product, dim| product.mul(dim));
                if holds_wide_scalars(ty)
                    && let [(monomial, 1)] = product.terms().collect::<Vec<_>>().as_slice()
                    && monomial.len() > 1
                {
                    self.restrict((*monomial).clone(), (0, LENGTH));
                }
            }
            Type::Tuple(parts) => parts.iter().for_each(|part| self.exists(part)),
            Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => {}
        }
    }

    /// That an array of this type will be in memory: a length of `3 * n` leaves n a third.
    fn multiples(&mut self, ty: &Type) {
        match ty {
            Type::Tuple(parts) => parts.iter().for_each(|part| self.multiples(part)),
            Type::Array(_, length) if holds_wide_scalars(ty) => {
                let is_part = |(monomial, coefficient): (&Monomial, i64)| match &monomial[..] {
                    [] => coefficient >= 0,
                    [atom] => coefficient > 0 && self.atom_range(atom, TYPES).0 >= 0,
                    _ => false,
                };
                if length.terms().all(is_part) {
                    let shares = length.terms().filter(|(monomial, _)| !monomial.is_empty());
                    let shares: Vec<_> =
                        shares.map(|(monomial, coefficient)| (monomial.clone(), (0, LENGTH / i128::from(coefficient)))).collect();
                    shares.into_iter().for_each(|(monomial, range)| self.restrict(monomial, range));
                }
            }
            Type::Array(..) | Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => {}
        }
    }

    /// Inside a loop: 0 ≤ i < n, so n ≥ 1.
    pub fn enter_loop(&mut self, i: &Var, n: &Expr) {
        let (i, n) = (Size::var(i), self.size_of(n));
        self.assume_less(&Size::constant(-1), &i);
        self.assume_less(&i, &n);
        self.assume_less(&Size::constant(0), &n);
    }

    /// Inside the body of `let var = value`.
    pub fn define(&mut self, var: &Var, value: &Expr) {
        if matches!(var.ty(), Type::Index(_)) {
            let (name, value) = (Size::var(var), self.size_of(value));
            self.assume_at_most(&name, &value);
            self.assume_at_most(&value, &name);
            // the name is written by what it names, not one of that by the name
            let value = self.reduce(&value);
            if !value.mentions(var) {
                self.equal.push((Atom::Var(var.clone()), value));
            }
        }
        self.define_selected(&Expr::var(var), value);
    }

    /// Where a condition is known to be true or false.
    pub fn assume(&mut self, cond: &Expr, truth: bool) {
        let Term::Prim(prim, args) = cond.term() else { return };
        match (prim, args.as_slice()) {
            (Prim::Not, [a]) => self.assume(a, !truth),
            (Prim::And, [a, b]) if truth => {
                self.assume(a, true);
                self.assume(b, true);
            }
            (Prim::Or, [a, b]) if !truth => {
                self.assume(a, false);
                self.assume(b, false);
            }
            (_, [a, b]) if matches!(a.ty(), Type::Index(_)) && matches!(b.ty(), Type::Index(_)) => {
                let (a, b) = (self.size_of(a), self.size_of(b));
                if matches!((prim, truth), (Prim::Eq, false) | (Prim::Ne, true)) {
                    self.nonzero.push(a.sub(&b));
                }
                match (prim, truth) {
                    (Prim::Eq, true) | (Prim::Ne, false) => self.assume_equal(&a, &b),
                    // different, and at most the other: less
                    (Prim::Eq, false) | (Prim::Ne, true) if self.at_most(&a, &b) => self.assume_less(&a, &b),
                    (Prim::Eq, false) | (Prim::Ne, true) if self.at_most(&b, &a) => self.assume_less(&b, &a),
                    (Prim::Lt, true) | (Prim::Ge, false) => self.assume_less(&a, &b),
                    (Prim::Gt, true) | (Prim::Le, false) => self.assume_less(&b, &a),
                    (Prim::Le, true) | (Prim::Gt, false) => self.assume_at_most(&a, &b),
                    (Prim::Ge, true) | (Prim::Lt, false) => self.assume_at_most(&b, &a),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Whether two sizes are one value.
    pub fn equal(&self, a: &Size, b: &Size) -> bool {
        self.reduce(&a.sub(b)).as_constant() == Some(0)
    }

    /// Whether the size's value is ≥ 0.
    pub fn nonnegative(&self, size: &Size) -> bool {
        self.at_most(&Size::constant(0), size)
    }

    /// Whether the size's value is ≥ 1.
    pub fn positive(&self, size: &Size) -> bool {
        self.at_most(&Size::constant(1), size)
    }

    /// Whether the size's value is known not to be 0, so that one may divide by it.
    pub fn is_nonzero(&self, size: &Size) -> bool {
        let is_other = |known: &Size| self.equal(known, size) || self.equal(&known.neg(), size);
        size.as_constant().is_some_and(|value| value != 0) || self.nonzero.iter().any(is_other) || self.positive(size)
    }

    /// Whether 0 ≤ index < n.
    pub fn in_range(&self, index: &Size, n: &Size) -> bool {
        self.nonnegative(index) && self.less(index, n)
    }

    /// Whether a ≤ b.
    pub fn at_most(&self, a: &Size, b: &Size) -> bool {
        self.less_by(0, a, b)
    }

    /// Whether a < b.
    pub fn less(&self, a: &Size, b: &Size) -> bool {
        self.less_by(1, a, b)
    }

    /// Whether `array[index]` is within bounds.
    pub fn get_is_safe(&self, array: &Expr, index: &Expr) -> bool {
        matches!(array.ty(), Type::Array(_, length) if self.index_is_safe(index, length))
    }

    /// Whether an index is within the bounds of an array of this length.
    pub fn index_is_safe(&self, index: &Expr, length: &Size) -> bool {
        if let Type::Index(Some(bound)) = index.ty()
            && (self.equal(bound, length) || self.at_most(bound, length))
        {
            return true;
        }
        self.in_range(&self.size_of(index), length)
    }

    /// The polynomial of an Index term; parts that are none are named by a variable of their type.
    pub fn size_of(&self, expr: &Expr) -> Size {
        let of = |expr: &Expr| self.size_of(expr);
        match expr.term() {
            Term::Prim(Prim::Add, args) if args.len() == 2 => of(&args[0]).add(&of(&args[1])),
            Term::Prim(Prim::Sub, args) if args.len() == 2 => of(&args[0]).sub(&of(&args[1])),
            Term::Prim(Prim::Mul, args) if args.len() == 2 => of(&args[0]).mul(&of(&args[1])),
            Term::Prim(Prim::Neg, args) if args.len() == 1 => of(&args[0]).neg(),
            // total here, though not everywhere
            Term::Prim(Prim::Rem, args) if args.len() == 2 && args[1].is_atom() && self.positive(&of(&args[1])) => {
                Size::opaque(expr.clone()).unwrap_or_else(|| Size::var(&Var::fresh("part", expr.ty().clone())))
            }
            Term::Prim(prim @ (Prim::Min | Prim::Max), args) if Size::try_of_expr(expr).is_none() => {
                let args = args.iter().map(|arg| of(arg).to_expr()).collect::<Option<_>>();
                let named = args.and_then(|args| Size::opaque(Expr::prim(*prim, args)));
                named.unwrap_or_else(|| Size::var(&Var::fresh("part", expr.ty().clone())))
            }
            // a bounded one is a variable of its type, whose bound says more than the name
            Term::Proj(..) if *expr.ty() == Type::INDEX && component(expr).is_some() => {
                Size::opaque(expr.clone()).unwrap_or_else(|| Size::var(&Var::fresh("part", expr.ty().clone())))
            }
            _ => Size::try_of_expr(expr).unwrap_or_else(|| Size::var(&Var::fresh("part", expr.ty().clone()))),
        }
    }

    fn assume_less(&mut self, a: &Size, b: &Size) {
        if self.is_exact(a) && self.is_exact(b) {
            self.know(b.sub(a).sub(&Size::constant(1)));
        }
        // a < max b c is a < c where b ≤ a, as in a loop over max 0 c
        if let Some(Atom::Term(term)) = b.as_atom()
            && let Term::Prim(Prim::Max, args) = term.expr.term()
            && let [x, y] = args.as_slice()
        {
            let (x, y) = (self.size_of(x), self.size_of(y));
            for (low, high) in [(&x, &y), (&y, &x)] {
                if self.at_most(low, a) {
                    self.assume_less(a, high);
                }
            }
        }
    }

    fn assume_at_most(&mut self, a: &Size, b: &Size) {
        if self.is_exact(a) && self.is_exact(b) {
            self.know(b.sub(a));
        }
    }

    fn assume_equal(&mut self, a: &Size, b: &Size) {
        self.assume_at_most(a, b);
        self.assume_at_most(b, a);
        let difference = self.reduce(&a.sub(b));
        let alone = |atom: &Atom| difference.terms().filter(|(m, _)| m.contains(atom)).count() == 1 && !inside_opaque(&difference, atom);
        let solvable = difference.terms().find_map(|(monomial, coefficient)| match monomial.as_ref() {
            [atom] if coefficient.unsigned_abs() == 1 && alone(atom) => Some((atom.clone(), coefficient)),
            _ => None,
        });
        if let Some((atom, coefficient)) = solvable {
            // c * atom + rest = 0 with c = ±1
            let lone = Size::atom(atom.clone());
            let value = if coefficient == 1 { lone.sub(&difference) } else { lone.add(&difference) };
            self.equal.push((atom, value));
        }
    }

    /// The size with every known equality used.
    fn reduce(&self, size: &Size) -> Size {
        if self.equal.is_empty() {
            return size.clone();
        }
        self.equal.in_order().into_iter().fold(size.clone(), |size, (atom, value)| {
            let has_it = match atom {
                Atom::Var(var) => size.mentions(var),
                Atom::Term(_) | Atom::Unknown(_) => size.terms().any(|(monomial, _)| monomial.contains(atom)),
            };
            if has_it { size.substitute(&mut |other| (other == atom).then(|| value.clone())) } else { size }
        })
    }

    /// Takes note that a polynomial is ≥ 0 in integers, and of the ranges that follow. Of bounds of one product the
    /// nearest is kept.
    fn know(&mut self, fact: Size) {
        let bound = Bound::of(&fact);
        if fact.as_constant().is_some() || self.nonnegative.iter().any(|known| known.size == fact || known.is_as_near_as(&bound)) {
            return;
        }
        let mut about = Vec::new();
        self.collect_vars(&fact, TYPES, &mut about);
        let fact = Fact { size: fact, about: about.into(), bound };
        self.nonnegative.replace(fact.clone(), |known| fact.is_as_near_as(&known.bound));
        self.recheck_models(&fact.size);
        self.tighten(vec![fact]);
    }

    /// Narrows the ranges that follow from these facts, then from those about what became narrower.
    fn tighten(&mut self, mut facts: Vec<Fact>) {
        for round in 0..ROUNDS {
            if round > 0 && facts.is_empty() {
                return;
            }
            let tighter: Vec<(Monomial, Range)> = facts.iter().flat_map(|fact| self.ranges_from(&fact.size)).collect();
            let mut changed = Vec::new();
            for (monomial, range) in tighter {
                monomial.iter().for_each(|atom| self.collect_vars(&Size::atom(atom.clone()), 0, &mut changed));
                self.restrict(monomial, range);
            }
            let is_touched = |fact: &&Fact| changed.iter().any(|var| fact.about.contains(var));
            facts = self.nonnegative.in_order().into_iter().filter(is_touched).cloned().collect();
        }
    }

    /// The numbers of the variables of a polynomial, and of those in their types.
    fn collect_vars(&self, size: &Size, follow: u32, found: &mut Vec<u32>) {
        for atom in size.atoms() {
            if let Atom::Unknown(number) = atom {
                found.push(*number);
            }
        }
        let mut vars = Vec::new();
        size.each_var(&mut |var| vars.push(var.clone()));
        for var in vars {
            if found.contains(&var.id()) {
                continue;
            }
            found.push(var.id());
            if let Type::Index(Some(bound)) = var.ty()
                && follow > 0
            {
                self.collect_vars(bound, follow - 1, found);
            }
        }
    }

    /// What ±m + rest ≥ 0 says of m beyond what is known, for each m of the fact.
    fn ranges_from(&self, fact: &Size) -> Vec<(Monomial, Range)> {
        let mut tighter = Vec::new();
        for (monomial, coefficient) in fact.terms() {
            if monomial.is_empty() || coefficient.unsigned_abs() != 1 {
                continue;
            }
            let Some((_, top)) = self.sum_range(fact, Some(monomial)) else { continue };
            let known = self.product_range(monomial, TYPES).unwrap_or((i128::MIN, i128::MAX));
            let range = if coefficient == 1 { (top.saturating_neg(), i128::MAX) } else { (i128::MIN, top) };
            if range.0 > known.0 || range.1 < known.1 {
                tighter.push((monomial.clone(), range));
            }
        }
        tighter
    }

    /// Whether a + gap ≤ b.
    fn less_by(&self, gap: i64, a: &Size, b: &Size) -> bool {
        let holds = |a: &Size, b: &Size| {
            let exact = self.is_exact(a) && self.is_exact(b) && small(a) && small(b);
            exact && self.integer_nonnegative(&b.sub(a).sub(&Size::constant(gap)))
        };
        if let (Some(a), Some(b)) = (a.as_constant(), b.as_constant()) {
            return i128::from(a) + i128::from(gap) <= i128::from(b);
        }
        holds(a, b)
            || !self.equal.is_empty() && holds(&self.reduce(a), &self.reduce(b))
            || self.less_in_cases(gap, &self.reduce(a), &self.reduce(b))
    }

    /// The same where a is a larger, or b a smaller, of two, or one of them a choice: for each of both.
    fn less_in_cases(&self, gap: i64, a: &Size, b: &Size) -> bool {
        if let Some(cases) = self.cases(a, Prim::Max) {
            return cases.iter().all(|(facts, a)| facts.as_ref().unwrap_or(self).less_by(gap, a, b));
        }
        let Some(cases) = self.cases(b, Prim::Min) else { return false };
        cases.iter().all(|(facts, b)| facts.as_ref().unwrap_or(self).less_by(gap, a, b))
    }

    /// What a size may be, for a choice with what is then known.
    fn cases(&self, size: &Size, prim: Prim) -> Option<Vec<(Option<Facts>, Size)>> {
        let lone = |(monomial, coefficient): (&Monomial, i64)| match (&monomial[..], coefficient) {
            ([atom @ Atom::Term(term)], 1) => match term.expr.term() {
                Term::Prim(own, args) if *own == prim => Some((atom.clone(), None, args.clone())),
                Term::If(cond, a, b) => Some((atom.clone(), Some(cond.clone()), vec![a.clone(), b.clone()])),
                _ => None,
            },
            _ => None,
        };
        let (atom, cond, args) = size.terms().find_map(lone)?;
        let value = |arg: &Expr| size.substitute(&mut |other| (*other == atom).then(|| self.size_of(arg)));
        let known = |truth: bool| {
            cond.as_ref().map(|cond| {
                let mut facts = self.clone();
                facts.assume(cond, truth);
                facts
            })
        };
        Some(args.iter().zip([true, false]).map(|(arg, truth)| (known(truth), value(arg))).collect())
    }

    /// Whether the integer polynomial is ≥ 0: by ranges, or after facts that are ≥ 0 are taken from it.
    fn integer_nonnegative(&self, goal: &Size) -> bool {
        if self.is_refuted(goal) {
            return false;
        }
        let known: Vec<Size> = self.nonnegative.in_order().into_iter().map(|fact| fact.size.clone()).collect();
        let (mut facts, mut seen) = (known.clone(), Vec::new());
        for size in std::iter::once(goal).chain(&known) {
            self.atom_facts(size, TYPES, &mut facts, &mut seen);
        }
        Search::new(self, &facts).proves(goal)
    }

    /// What the atoms of a size say of themselves: bound - 1 - v ≥ 0 for each variable v of type `Index<bound>`, and how
    /// the result of an operation stands to its operands.
    fn atom_facts(&self, size: &Size, follow: u32, facts: &mut Vec<Size>, seen: &mut Vec<Atom>) {
        for atom in size.atoms() {
            if follow == 0 || matches!(atom, Atom::Unknown(_)) || seen.contains(atom) {
                continue;
            }
            seen.push(atom.clone());
            let said = match atom {
                Atom::Var(var) => match var.ty() {
                    Type::Index(Some(bound)) if self.is_exact(bound) => vec![bound.sub(&Size::var(var)).sub(&Size::constant(1))],
                    Type::Index(Some(bound)) => {
                        self.atom_facts(bound, follow - 1, facts, seen);
                        continue;
                    }
                    Type::Index(None) | Type::Double | Type::Bool | Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => continue,
                },
                Atom::Term(term) => self.operation_facts(&term.expr, &Size::atom(atom.clone())),
                Atom::Unknown(_) => continue,
            };
            for fact in said {
                if !facts.contains(&fact) {
                    facts.push(fact.clone());
                }
                self.atom_facts(&fact, follow - 1, facts, seen);
            }
        }
    }
}

fn small(size: &Size) -> bool {
    size.terms().all(|(_, coefficient)| (-COEFFICIENT..=COEFFICIENT).contains(&coefficient))
}

fn inside_opaque(size: &Size, atom: &Atom) -> bool {
    let Atom::Var(var) = atom else { return false };
    let opaque = |other: &Atom| matches!(other, Atom::Term(_)) && Size::atom(other.clone()).mentions(var);
    size.terms().any(|(monomial, _)| monomial.iter().any(opaque))
}

/// Whether each innermost element takes eight bytes or more.
fn holds_wide_scalars(ty: &Type) -> bool {
    match ty {
        Type::Array(element, _) => holds_wide_scalars(element),
        Type::Double | Type::Index(_) => true,
        Type::Tuple(parts) => parts.iter().any(|part| matches!(part, Type::Double | Type::Index(_))),
        Type::Bool | Type::Rec(_) => false,
    }
}

#[cfg(test)]
mod tests;
