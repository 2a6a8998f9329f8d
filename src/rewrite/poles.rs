//! Factors that a loop's count can make infinite: `c` in `ifold (fun s i -> s + c * v[i]) 0 n`, which does nothing at
//! n = 0, where `c * 0` would be NaN.
//!
//! In: the factor and the count. Out: whether the factor divides by something, or takes a logarithm, a root or a power of
//! something, that depends on the count: on the size itself, on an array with that size, on a let with such a value.
//!
//!     c = 1.0 / double n                       yes: the mean of nothing
//!     c = 1.0 / z in let z = vectorSum x …     yes where x has n elements
//!     c = 1.0 / p of a parameter p             no: p = 0 is a pole at every n
//!
//! Limits: the body of a loop over n is not examined, for it is not evaluated at n = 0.

use rustc_hash::FxHashSet;

use crate::ir::free::each_free_var;
use crate::ir::{Expr, Prim, Term, Type, Var};

use super::facts::Facts;

/// Which terms a loop's count can make infinite.
pub struct Poles<'a> {
    facts: &'a Facts,
    /// The variables that the count is computed from.
    sizes: FxHashSet<Var>,
}

impl<'a> Poles<'a> {
    pub fn of(count: &Expr, facts: &'a Facts) -> Poles<'a> {
        let mut poles = Poles { facts, sizes: FxHashSet::default() };
        each_free_var(count, &mut |x| poles.insert(x));
        poles
    }

    /// Whether the power of a term can be infinite or NaN only because the count is 0.
    pub fn has(&self, (factor, power): &(Expr, i32)) -> bool {
        !self.sizes.is_empty() && ((*power < 0 && self.depends(factor)) || self.below(factor))
    }

    fn insert(&mut self, x: &Var) {
        if self.sizes.insert(x.clone())
            && let Some(value) = self.facts.value(x)
        {
            each_free_var(value, &mut |y| self.insert(y));
        }
    }

    fn depends(&self, expr: &Expr) -> bool {
        self.any_var(expr, &mut |x| self.sizes.contains(x) || self.has_such_a_size(x.ty()))
    }

    fn has_such_a_size(&self, ty: &Type) -> bool {
        let mut found = false;
        ty.each_size(&mut |size| size.each_var(&mut |x| found |= self.sizes.contains(x)));
        found
    }

    /// Whether this holds of a variable of the term, or of the lets that it stands for.
    fn any_var(&self, expr: &Expr, holds: &mut dyn FnMut(&Var) -> bool) -> bool {
        let (mut open, mut seen) = (Vec::new(), FxHashSet::default());
        each_free_var(expr, &mut |x| open.push(x.clone()));
        while let Some(x) = open.pop() {
            if !seen.insert(x.clone()) {
                continue;
            }
            if holds(&x) {
                return true;
            }
            if let Some(value) = self.facts.value(&x) {
                each_free_var(value, &mut |y| open.push(y.clone()));
            }
        }
        false
    }

    /// Whether a pole is somewhere in the term, or in the lets that it stands for.
    fn below(&self, expr: &Expr) -> bool {
        self.is_within(expr) || self.any_var(expr, &mut |x| self.facts.value(x).is_some_and(|value| self.is_within(value)))
    }

    fn is_within(&self, expr: &Expr) -> bool {
        if let Term::Prim(prim, args) = expr.term()
            && expr.ty() == &Type::Double
            && infinite_in(*prim, args).iter().any(|arg| self.depends(arg))
        {
            return true;
        }
        if let Term::Build { n, .. } | Term::Fold { n, .. } = expr.term()
            && self.depends(n)
        {
            return false;
        }
        let mut found = false;
        expr.term().each_child(&mut |child| found = found || self.is_within(child));
        found
    }
}

/// The operands in which a primitive of finite numbers may be infinite or NaN.
fn infinite_in(prim: Prim, args: &[Expr]) -> &[Expr] {
    match prim {
        Prim::Div => &args[1..],
        Prim::Log
        | Prim::Log1p
        | Prim::Log2
        | Prim::Log10
        | Prim::Sqrt
        | Prim::Pow
        | Prim::Lgamma
        | Prim::Polygamma
        | Prim::Asin
        | Prim::Acos
        | Prim::Acosh
        | Prim::Atanh => args,
        Prim::Add
        | Prim::Sub
        | Prim::Mul
        | Prim::Rem
        | Prim::Neg
        | Prim::Min
        | Prim::Max
        | Prim::Abs
        | Prim::Sin
        | Prim::Cos
        | Prim::Tan
        | Prim::Atan
        | Prim::Atan2
        | Prim::Sinh
        | Prim::Cosh
        | Prim::Tanh
        | Prim::Asinh
        | Prim::Exp
        | Prim::Exp2
        | Prim::Expm1
        | Prim::Erf
        | Prim::Erfc
        | Prim::Cbrt
        | Prim::Hypot
        | Prim::Sigmoid
        | Prim::Softplus
        | Prim::Sign
        | Prim::Floor
        | Prim::Ceil
        | Prim::Round
        | Prim::Trunc
        | Prim::Lt
        | Prim::Le
        | Prim::Gt
        | Prim::Ge
        | Prim::Eq
        | Prim::Ne
        | Prim::And
        | Prim::Or
        | Prim::Not
        | Prim::ToDouble
        | Prim::ToIndex => &[],
    }
}
