//! Primitives: operators and functions, and what Futhark means by them otherwise than we do.
//!
//! In: a primitive and its operands. Out: an expression. Division on Index truncates (`//`, `%%`), and goes through a
//! helper where the divisor may be -1, which would trap. The compiler folds `k %% k` to 1, `0.0 ** y` and `0.0 / y` to 0.0
//! and, which strict arithmetic sees where y is -0.0, `y + 0.0` to y, so these have helpers too where the operands may come
//! to that. It takes two equal names for equal numbers, NaN or
//! not, so comparisons that hold of equal numbers have a test for NaN where the operands may be one value.
//!
//!     x <> x   →   f64.isnan x        s >= v[i]   →   ge s v[i], or s >= v[i] where both cannot be one number

use super::context::Emitter;
use super::syntax::{Binding, Fut};
use super::term::typed_literals;
use super::types::Shape;
use crate::ir::prim::Spelling;
use crate::ir::{Expr, Prim, Size, Term, Type};

impl Emitter<'_> {
    pub fn prim(&mut self, prim: Prim, args: &[Expr]) -> (Fut, Shape) {
        let shape = match prim.result(args.iter().map(Expr::ty)) {
            Some(Type::Bool) => Shape::Bool,
            Some(Type::Index(_)) => Shape::Index,
            Some(Type::Double | Type::Array(..) | Type::Tuple(_) | Type::Rec(_)) | None => Shape::Double,
        };
        let mut bindings = Vec::new();
        let exp = match (prim, args) {
            (Prim::And | Prim::Or, [a, b]) => self.connective(prim, a, b, &mut bindings),
            (Prim::Eq | Prim::Ne | Prim::Le | Prim::Ge, [a, b]) if *a.ty() == Type::Double => self.comparison(prim, a, b, &mut bindings),
            _ => self.plain(prim, args, &mut bindings),
        };
        (Fut::let_in(bindings, exp), shape)
    }

    fn plain(&mut self, prim: Prim, args: &[Expr], bindings: &mut Vec<Binding>) -> Fut {
        let row = prim.row();
        let on_index = !args.is_empty() && args.iter().all(|arg| matches!(arg.ty(), Type::Index(_)));
        let mut operands: Vec<Fut> = args.iter().map(|arg| self.operand(arg, bindings).0).collect();
        // of two literals one must say what they are
        if operands.iter().all(|operand| matches!(operand, Fut::Int(_)))
            && let Some(first) = operands.first_mut()
        {
            *first = typed_literals(first.clone());
        }
        let spelling = match (prim, row.futhark_index) {
            (Prim::Div, Some(_)) if on_index && self.divides_safely(args) => Spelling::Infix("//"),
            (Prim::Rem, Some(_)) if on_index && self.is_plain_rem(args) => row.futhark,
            (_, Some(special)) if on_index => special,
            (Prim::Pow, _) if !is_plain_power(args) => Spelling::Call("power"),
            (Prim::Div, _) if args.first().is_some_and(|dividend| self.may_be_known_zero(dividend, self.strict_fp)) => {
                Spelling::Call("ratio")
            }
            (Prim::Add, _) if self.strict_fp && !on_index && args.iter().any(|arg| self.may_be_known_zero(arg, false)) => {
                Spelling::Call("plus")
            }
            (_, Some(_) | None) => row.futhark,
        };
        match (spelling, operands.as_mut_slice()) {
            // what the length -k is as a polynomial
            (Spelling::Infix("*"), [Fut::Int(-1), b]) => Fut::Prefix('-', Box::new(b.clone())),
            (Spelling::Infix(op), [a, b]) => Fut::infix(op, a.clone(), b.clone()),
            (Spelling::Prefix(op), [a]) => Fut::Prefix(op.chars().next().unwrap_or('-'), Box::new(a.clone())),
            (Spelling::Infix(name) | Spelling::Prefix(name) | Spelling::Call(name), _) => Fut::apply(name, operands),
        }
    }

    /// Whether the quotient needs no thought: the divisor is neither 0 by accident nor -1, or nothing can overflow.
    fn divides_safely(&self, args: &[Expr]) -> bool {
        let [a, b] = args else { return false };
        match self.facts.size_of(b).as_constant() {
            Some(divisor) => divisor != -1,
            None => self.facts.positive(&self.facts.size_of(b)) || self.facts.nonnegative(&self.facts.size_of(a)),
        }
    }

    /// Whether the remainder needs no thought: the divisor is a number other than -1, so it is not the dividend itself.
    fn is_plain_rem(&self, args: &[Expr]) -> bool {
        let [_, b] = args else { return false };
        self.facts.size_of(b).as_constant().is_some_and(|divisor| divisor != -1)
    }

    /// `&&` and `||`: the right side is evaluated only where it is needed.
    fn connective(&mut self, prim: Prim, a: &Expr, b: &Expr, bindings: &mut Vec<Binding>) -> Fut {
        // the law of min and max: where x is NaN both sides say the same
        let left = match (prim, a.term(), b.term()) {
            (Prim::Or, Term::Prim(order @ (Prim::Le | Prim::Ge | Prim::Eq), pair), Term::Prim(Prim::Ne, same))
                if *same[0].ty() == Type::Double && is_self(same) && same_variable(&pair[0], &same[0]) =>
            {
                self.plain(*order, pair, bindings)
            }
            _ => self.operand(a, bindings).0,
        };
        let right = self.scope(|this| {
            this.facts.assume(a, prim == Prim::And);
            this.exp(b).0
        });
        Fut::infix(if prim == Prim::And { "&&" } else { "||" }, left, right)
    }

    /// Comparisons of Doubles that hold of equal numbers.
    fn comparison(&mut self, prim: Prim, a: &Expr, b: &Expr, bindings: &mut Vec<Binding>) -> Fut {
        if same_variable(a, b) {
            let is_nan = Fut::apply("f64.isnan", vec![self.operand(a, bindings).0]);
            return if prim == Prim::Ne { is_nan } else { Fut::Prefix('!', Box::new(is_nan)) };
        }
        let literal = |expr: &Expr| matches!(expr.term(), Term::Double(_));
        if literal(a) || literal(b) || self.origins(a) != self.origins(b) {
            return self.plain(prim, &[a.clone(), b.clone()], bindings);
        }
        let name = match prim {
            Prim::Ne => "ne",
            Prim::Le => "le",
            Prim::Ge => "ge",
            _ => "eq",
        };
        let operands = vec![self.operand(a, bindings).0, self.operand(b, bindings).0];
        Fut::apply(name, operands)
    }

    /// Whether an Index is known to be at least 0.
    pub fn is_count(&self, n: &Expr) -> bool {
        let known = self.facts.nonnegative(&self.facts.size_of(n));
        known || Size::try_of_expr(n).and_then(|size| size.as_constant()).is_some_and(|count| count >= 0)
    }
}

/// Whether a power is right where the compiler knows that its base is 0.
fn is_plain_power(args: &[Expr]) -> bool {
    let [base, exponent] = args else { return false };
    let number = |expr: &Expr| if let Term::Double(value) = expr.term() { Some(*value) } else { None };
    number(base).is_some_and(|base| base != 0.0) || number(exponent).is_some_and(|exponent| exponent > 0.0)
}

fn is_self(pair: &[Expr]) -> bool {
    matches!(pair, [a, b] if same_variable(a, b))
}

/// Whether both are one variable, or one component of it.
fn same_variable(a: &Expr, b: &Expr) -> bool {
    match (a.term(), b.term()) {
        (Term::Var(x), Term::Var(y)) => x == y,
        (Term::Proj(x, i), Term::Proj(y, j)) => i == j && same_variable(x, y),
        _ => false,
    }
}
