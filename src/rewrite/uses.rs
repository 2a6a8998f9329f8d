//! Occurrence analysis: how often and where each variable occurs, which `let` rules ask before they move a value.
//!
//! In: a term. Out: for every variable a [`Use`]: occurrences, whether one is inside a loop (or a `dual`)
//! that the binder is outside of, how many only measure or index it, divide by it or multiply it by a literal.
//!
//!     let t = build(n, i. a) in build(n, j. t[j] + length t)     t: 2 occurrences, 1 fused, 1 measured
//!
//! An occurrence `t[j]` is fused when the loops between the binder of `t` and it are exactly loops whose
//! variables it is indexed by: then replacing it by the element computes each element at most once.
//! Limits: branches of one `if` count as two occurrences.

use rustc_hash::FxHashMap;

use crate::ir::{Expr, Prim, Term, Var};

/// The occurrences of one variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    pub count: u32,
    /// Some occurrence is in a loop or `dual` that its binder is outside of.
    pub repeated: bool,
    /// Occurrences `length x`.
    pub measured: u32,
    /// Occurrences `x[i]`.
    pub indexed: u32,
    /// Those of them whose index is a literal.
    pub literal: u32,
    /// Those of them that are not repeated by a loop.
    pub straight: u32,
    /// Those of them that read each element at most once.
    pub fused: u32,
    /// Those of the others that a fold's own index reads.
    pub summed: u32,
    /// The number of leading indices that the fused ones need for it.
    pub levels: usize,
    /// Divisions by it or by a component of it.
    pub divisions: u32,
    /// Those of them whose dividend is 1.
    pub reciprocals: u32,
    /// Occurrences of it or of a component in a product with a literal factor.
    pub scaled: u32,
}

impl Use {
    /// For a variable whose occurrences are unknown.
    pub const MANY: Use = Use {
        count: u32::MAX,
        repeated: true,
        measured: 0,
        indexed: 0,
        literal: 0,
        straight: 0,
        fused: 0,
        summed: 0,
        levels: 0,
        divisions: u32::MAX,
        reciprocals: u32::MAX,
        scaled: u32::MAX,
    };

    /// Only `x[i]` and `length x`.
    pub fn is_virtual(&self) -> bool {
        self.count == self.measured.saturating_add(self.indexed)
    }
}

/// The occurrences of all variables of a term.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    table: FxHashMap<Var, Use>,
}

impl Uses {
    pub fn of(expr: &Expr) -> Uses {
        let mut walk = Walk { uses: Uses::default(), depth: FxHashMap::default(), loops: Vec::new(), is_factor: false };
        walk.expr(expr);
        walk.uses
    }

    /// The occurrences of a variable; one that is not in the table may occur anywhere.
    pub fn get(&self, var: &Var) -> Use {
        self.table.get(var).copied().unwrap_or(Use::MANY)
    }

    /// Whether the variable was bound in the term without an occurrence, or occurs in it.
    pub fn knows(&self, var: &Var) -> bool {
        self.table.contains_key(var)
    }

    /// A term with these free variables was copied: their counts are no longer valid.
    pub fn copied(&mut self, expr: &Expr) {
        if let Term::Var(var) = expr.term() {
            self.table.insert(var.clone(), Use::MANY);
        }
        expr.term().each_child(&mut |child| self.copied(child));
    }

    /// A variable has a new binder in the place of its own.
    pub fn moved(&mut self, from: &Var, to: &Var) {
        self.table.insert(to.clone(), self.get(from));
    }

    /// A variable was substituted for another.
    pub fn renamed(&mut self, from: &Var, to: &Var) {
        let (from, to_use) = (self.get(from), self.get(to));
        let merged = Use {
            count: from.count.saturating_add(to_use.count),
            repeated: true,
            measured: from.measured.saturating_add(to_use.measured),
            indexed: from.indexed.saturating_add(to_use.indexed),
            literal: from.literal.saturating_add(to_use.literal),
            straight: 0,
            fused: 0,
            summed: 0,
            levels: 0,
            divisions: from.divisions.saturating_add(to_use.divisions),
            reciprocals: from.reciprocals.saturating_add(to_use.reciprocals),
            scaled: from.scaled.saturating_add(to_use.scaled),
        };
        self.table.insert(to.clone(), merged);
    }
}

struct Loop {
    var: Var,
    is_fold: bool,
}

struct Walk {
    uses: Uses,
    /// The number of loops around each binder.
    depth: FxHashMap<Var, usize>,
    /// The variables of the loops around this place; `None` for a `dual`.
    loops: Vec<Option<Loop>>,
    /// Whether the next term is an operand of a product whose factors are counted.
    is_factor: bool,
}

impl Walk {
    fn bind(&mut self, var: &Var) {
        self.depth.insert(var.clone(), self.loops.len());
        self.entry(var);
    }

    fn entry(&mut self, var: &Var) -> &mut Use {
        self.uses.table.entry(var.clone()).or_default()
    }

    fn occurrence(&mut self, var: &Var) -> (&mut Use, &[Option<Loop>]) {
        let outside = self.depth.get(var).copied().unwrap_or(0);
        let between = self.loops.get(outside..).unwrap_or(&[]);
        let entry = self.uses.table.entry(var.clone()).or_default();
        entry.count = entry.count.saturating_add(1);
        entry.repeated |= !between.is_empty();
        (entry, between)
    }

    fn within(&mut self, around: Option<Loop>, body: &Expr) {
        self.loops.push(around);
        self.expr(body);
        self.loops.pop();
    }

    fn expr(&mut self, expr: &Expr) {
        let is_factor = std::mem::take(&mut self.is_factor);
        match expr.term() {
            Term::Var(var) => {
                self.occurrence(var);
            }
            Term::Prim(prim @ (Prim::Mul | Prim::Div), args) => {
                if !is_factor && factors(expr).any(is_literal) {
                    factors(expr).filter_map(named).for_each(|var| self.entry(var).scaled += 1);
                }
                for (at, arg) in args.iter().enumerate() {
                    self.is_factor = at == 0 || *prim == Prim::Mul;
                    self.expr(arg);
                }
                if let (Prim::Div, [a, b]) = (prim, args.as_slice())
                    && let Some(var) = named(b)
                {
                    let entry = self.entry(var);
                    entry.divisions += 1;
                    entry.reciprocals += u32::from(matches!(a.term(), Term::Double(1.0)));
                }
            }
            Term::Get(..) => self.get(expr),
            Term::Dim(array, _) => {
                if let Term::Var(var) = array.term() {
                    self.occurrence(var).0.measured += 1;
                } else {
                    self.expr(array);
                }
            }
            Term::Let(var, value, body) => {
                self.expr(value);
                self.bind(var);
                self.expr(body);
            }
            Term::Build { n, i, body } => {
                self.expr(n);
                self.bind(i);
                self.bound_in_loop(&[i]);
                self.within(Some(Loop { var: i.clone(), is_fold: false }), body);
            }
            Term::Fold { n, acc, i, body, init } => {
                self.expr(init);
                self.expr(n);
                self.bind(acc);
                self.bind(i);
                self.bound_in_loop(&[acc, i]);
                self.within(Some(Loop { var: i.clone(), is_fold: true }), body);
            }
            Term::While { state, init, body } => {
                self.expr(init);
                self.bind(state);
                self.bound_in_loop(&[state]);
                self.within(None, body);
            }
            Term::Dual { x, at, tangent, body } => {
                self.expr(at);
                self.expr(tangent);
                self.bind(x);
                self.within(None, body);
            }
            Term::Vjp { x, at, cotangent, body } => {
                self.expr(at);
                self.expr(cotangent);
                self.bind(x);
                self.within(None, body);
            }
            Term::Double(_) | Term::Index(_) | Term::Bool(_) => {}
            Term::Update(_, parts) | Term::Iso(_, parts) => parts.iter().for_each(|part| self.expr(part)),
            Term::Prim(..) | Term::If(..) | Term::Tuple(_) | Term::Proj(..) | Term::Array(_) | Term::Call(..) | Term::Check { .. } => {
                expr.term().each_child(&mut |child| self.expr(child));
            }
        }
    }

    /// Loop variables are bound inside their loop.
    fn bound_in_loop(&mut self, vars: &[&Var]) {
        for var in vars {
            self.depth.insert((*var).clone(), self.loops.len() + 1);
        }
    }

    /// `x[i][j]…`: fused when every loop between is over one of the indices.
    fn get(&mut self, expr: &Expr) {
        let mut indices = Vec::new();
        let mut head = expr;
        while let Term::Get(array, index) = head.term() {
            indices.push(index);
            head = array;
        }
        for index in indices.iter().rev() {
            self.expr(index);
        }
        let Term::Var(var) = head.term() else { return self.expr(head) };
        let (entry, between) = self.occurrence(var);
        // the position, from the first index, of the one that is this loop's variable
        let position = |wanted: &Var| indices.iter().rev().position(|index| matches!(index.term(), Term::Var(i) if i == wanted));
        let positions: Option<Vec<usize>> = between.iter().map(|around| position(&around.as_ref()?.var)).collect();
        let is_summed = between.iter().flatten().any(|around| around.is_fold && position(&around.var).is_some());
        entry.indexed += 1;
        entry.straight += u32::from(between.is_empty());
        entry.literal += u32::from(indices.last().is_some_and(|index| matches!(index.term(), Term::Index(_))));
        if let Some(positions) = positions {
            entry.fused += 1;
            entry.levels = positions.into_iter().map(|at| at + 1).fold(entry.levels.max(1), usize::max);
        } else {
            entry.summed += u32::from(is_summed);
        }
    }
}

/// The factors of a product of products, those of a dividend included.
fn factors(expr: &Expr) -> impl Iterator<Item = &Expr> {
    let mut left = vec![expr];
    std::iter::from_fn(move || {
        loop {
            let expr = left.pop()?;
            match expr.term() {
                Term::Prim(Prim::Mul, args) => left.extend(args),
                Term::Prim(Prim::Div, args) => left.extend(args.first()),
                _ => return Some(expr),
            }
        }
    })
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr.term(), Term::Double(_))
}

/// The variable that a term is, or is a component of.
fn named(expr: &Expr) -> Option<&Var> {
    match expr.term() {
        Term::Var(var) => Some(var),
        Term::Proj(tuple, _) => named(tuple),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Type;

    #[test]
    fn divisions_and_literal_factors_are_counted_once() {
        let (x, z) = (Var::fresh("x", Type::Double), Var::fresh("z", Type::Double));
        let of = |prim, a: &Expr, b: &Expr| Expr::prim(prim, vec![a.clone(), b.clone()]);
        let (a, b) = (Expr::var(&x), Expr::var(&z));
        let quotients = of(Prim::Add, &of(Prim::Div, &Expr::double(1.0), &b), &of(Prim::Div, &a, &b));
        // 2 * (x * z) / z
        let product = of(Prim::Div, &of(Prim::Mul, &Expr::double(2.0), &of(Prim::Mul, &a, &b)), &b);
        let uses = Uses::of(&of(Prim::Add, &quotients, &product));
        let counted = |var| (uses.get(var).count, uses.get(var).divisions, uses.get(var).reciprocals, uses.get(var).scaled);
        assert_eq!((counted(&x), counted(&z)), ((2, 0, 0, 1), (4, 3, 1, 1)));
    }
}
