//! Size arithmetic: the one home of lengths and their equality.
//!
//! A [`Size`] is a polynomial with 64-bit wrapping coefficients over atoms: Index variables, other total
//! Index terms (`n / 2`, `max n m`), and unknown sizes that depend on data. Equal polynomials are equal
//! sizes modulo 2^64: `n + n` and `2 * n` are one value of this type. Inequalities need bounds and live in
//! `prove`.

use std::cmp::Ordering;
use std::rc::Rc;

use super::prim::Prim;
use super::size_term::{component, height, is_part, normal, normal_fold};
use super::term::{Expr, Term};
use super::types::Type;
use super::var::{Var, fresh_id};

/// What a size polynomial is made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// An immutable Index variable: a size name, an Index parameter, a let-bound or loop index.
    Var(Var),
    /// Another total Index term over variables; equal when its text (with variable numbers) is.
    Term(Rc<SizeTerm>),
    /// A size that depends on data, known only at run time.
    Unknown(u32),
}

/// A total Index term that is no polynomial.
#[derive(Clone, Debug)]
pub struct SizeTerm {
    key: String,
    pub expr: Expr,
}

impl PartialEq for SizeTerm {
    fn eq(&self, other: &SizeTerm) -> bool {
        std::ptr::eq(self, other) || self.key == other.key
    }
}
impl Eq for SizeTerm {}
impl PartialOrd for SizeTerm {
    fn partial_cmp(&self, other: &SizeTerm) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for SizeTerm {
    fn cmp(&self, other: &SizeTerm) -> Ordering {
        if std::ptr::eq(self, other) { Ordering::Equal } else { self.key.cmp(&other.key) }
    }
}
impl std::hash::Hash for SizeTerm {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

/// A product of atoms, sorted; the empty product is 1. Shared: polynomials are added up far more often than products made.
pub type Monomial = Rc<[Atom]>;

thread_local! { static ONE: Monomial = Rc::new([]); }

/// More monomials than this make a product a term of its own instead of being multiplied out.
const MONOMIALS: usize = 32;

/// A product of more atoms than this, or an opaque term of more nodes, counts as unknown: along a chain of
/// lets that each use the one before twice, what is written out doubles with every let.
const DEGREE: usize = 32;
pub const NODES: usize = 1000;

/// A polynomial: its monomials in order, no zero coefficients.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Size {
    /// Shared: types are copied far more often than sizes are computed.
    terms: Rc<[(Monomial, i64)]>,
}

impl Size {
    pub fn constant(value: i64) -> Size {
        Size::monomial(ONE.with(Rc::clone), value)
    }

    pub fn var(var: &Var) -> Size {
        Size::atom(Atom::Var(var.clone()))
    }

    pub fn atom(atom: Atom) -> Size {
        Size::monomial(Rc::new([atom]), 1)
    }

    /// A size that nothing is known of, different from every other.
    pub fn unknown() -> Size {
        Size::atom(Atom::Unknown(fresh_id()))
    }

    fn monomial(monomial: Monomial, coefficient: i64) -> Size {
        if coefficient == 0 { Size::default() } else { Size { terms: Rc::new([(monomial, coefficient)]) } }
    }

    /// The monomials and their coefficients, in a fixed order.
    pub fn terms(&self) -> impl Iterator<Item = (&Monomial, i64)> {
        self.terms.iter().map(|(monomial, coefficient)| (monomial, *coefficient))
    }

    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.as_ref() {
            [] => Some(0),
            [(monomial, coefficient)] if monomial.is_empty() => Some(*coefficient),
            _ => None,
        }
    }

    /// The variable, when the size is just one.
    pub fn as_var(&self) -> Option<&Var> {
        match self.as_atom()? {
            Atom::Var(var) => Some(var),
            Atom::Term(_) | Atom::Unknown(_) => None,
        }
    }

    /// The atom, when the size is just one.
    pub fn as_atom(&self) -> Option<&Atom> {
        let [(monomial, 1)] = self.terms.as_ref() else { return None };
        match monomial.as_ref() {
            [atom] => Some(atom),
            _ => None,
        }
    }

    pub fn add(&self, other: &Size) -> Size {
        self.plus(1, other)
    }

    pub fn neg(&self) -> Size {
        self.scaled(-1)
    }

    pub fn sub(&self, other: &Size) -> Size {
        self.plus(-1, other)
    }

    /// With so many times another size added.
    pub fn plus(&self, factor: i64, other: &Size) -> Size {
        if other.terms.is_empty() {
            return self.clone();
        }
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        terms.extend(self.terms_plus(factor, other).map(|(monomial, coefficient)| (monomial.clone(), coefficient)));
        Size { terms: terms.into() }
    }

    /// The [terms](Size::terms) that it has with so many times another size added.
    pub fn terms_plus<'a>(&'a self, factor: i64, other: &'a Size) -> impl Iterator<Item = (&'a Monomial, i64)> {
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        let merged = std::iter::from_fn(move || {
            let order = match (left.peek(), right.peek()) {
                (Some((a, _)), Some((b, _))) => a.cmp(b),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return None,
            };
            let own = if order.is_le() { left.next() } else { None };
            let added = if order.is_ge() { right.next() } else { None };
            let (monomial, _) = own.or(added)?;
            let coefficient = |term: Option<&(Monomial, i64)>| term.map_or(0, |(_, coefficient)| *coefficient);
            Some((monomial, coefficient(own).wrapping_add(coefficient(added).wrapping_mul(factor))))
        });
        merged.filter(|(_, coefficient)| *coefficient != 0)
    }

    /// Times a number.
    fn scaled(&self, factor: i64) -> Size {
        if factor == 1 {
            return self.clone();
        }
        let scaled = |(monomial, coefficient): &(Monomial, i64)| (monomial.clone(), coefficient.wrapping_mul(factor));
        Size { terms: self.terms.iter().map(scaled).filter(|(_, coefficient)| *coefficient != 0).collect() }
    }

    /// The size that is this one when taken so many times, where all coefficients are multiples.
    pub fn divided(&self, factor: i64) -> Option<Size> {
        let quotient = |(monomial, coefficient): &(Monomial, i64)| {
            (coefficient.checked_rem(factor)? == 0).then_some((monomial.clone(), coefficient.checked_div(factor)?))
        };
        Some(Size { terms: self.terms.iter().map(quotient).collect::<Option<_>>()? })
    }

    pub fn mul(&self, other: &Size) -> Size {
        if self.degree() + other.degree() > DEGREE {
            return Size::unknown();
        }
        if self.terms.len() * other.terms.len() > MONOMIALS {
            let product = self.to_expr().zip(other.to_expr()).map(|(a, b)| Expr::prim(Prim::Mul, vec![a, b]));
            return product.and_then(Size::opaque).unwrap_or_else(Size::unknown);
        }
        match (self.as_constant(), other.as_constant()) {
            (_, Some(factor)) => return self.scaled(factor),
            (Some(factor), None) => return other.scaled(factor),
            (None, None) => {}
        }
        let products = self.terms.iter().flat_map(|(a, x)| {
            other.terms.iter().map(move |(b, y)| {
                let mut product: Vec<Atom> = a.iter().chain(b.iter()).cloned().collect();
                product.sort();
                (Monomial::from(product), x.wrapping_mul(*y))
            })
        });
        let mut products: Vec<(Monomial, i64)> = products.collect();
        products.sort_by(|(a, _), (b, _)| a.cmp(b));
        products.dedup_by(|(next, y), (monomial, x)| {
            let same = next == monomial;
            if same {
                *x = x.wrapping_add(*y);
            }
            same
        });
        products.retain(|(_, coefficient)| *coefficient != 0);
        Size { terms: products.into() }
    }

    fn degree(&self) -> usize {
        self.terms.iter().map(|(monomial, _)| monomial.len()).max().unwrap_or(0)
    }

    /// The atoms of its monomials, one after the other.
    pub fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.terms.iter().flat_map(|(monomial, _)| monomial.iter())
    }

    /// The numbers of the unknown sizes that this is made of.
    pub fn unknowns(&self) -> impl Iterator<Item = u32> {
        self.atoms().filter_map(|atom| match atom {
            Atom::Unknown(id) => Some(*id),
            Atom::Var(_) | Atom::Term(_) => None,
        })
    }

    /// Every atom, also those inside opaque terms' variables.
    pub fn each_var(&self, f: &mut dyn FnMut(&Var)) {
        for atom in self.atoms() {
            match atom {
                Atom::Var(var) => f(var),
                Atom::Term(term) => each_free_var(&term.expr, f),
                Atom::Unknown(_) => {}
            }
        }
    }

    pub fn mentions(&self, var: &Var) -> bool {
        let mut found = false;
        self.each_var(&mut |other| found |= other == var);
        found
    }

    /// Whether it is a polynomial of names and numbers alone, which costs next to nothing.
    pub fn is_of_names(&self) -> bool {
        self.atoms().all(|atom| matches!(atom, Atom::Var(_)))
    }

    /// Whether some part depends on data.
    pub fn has_unknown(&self) -> bool {
        self.atoms().any(|atom| matches!(atom, Atom::Unknown(_)))
    }

    /// Whether some part is computed by a loop.
    pub fn has_fold(&self) -> bool {
        self.atoms().any(|atom| matches!(atom, Atom::Term(term) if height(&term.expr) > 0))
    }

    /// Replaces atoms: `f` gives the new size of one, or `None` to keep it. Opaque terms are rebuilt from
    /// their variables.
    pub fn substitute(&self, f: &mut dyn FnMut(&Atom) -> Option<Size>) -> Size {
        let mut result = Size::default();
        for (monomial, coefficient) in self.terms.as_ref() {
            let mut product = Size::constant(*coefficient);
            for atom in monomial.iter() {
                let value = match (f(atom), atom) {
                    (Some(size), _) => size,
                    (None, Atom::Term(term)) => substitute_term(&term.expr, f),
                    (None, Atom::Var(_) | Atom::Unknown(_)) => Size::atom(atom.clone()),
                };
                product = product.mul(&value);
            }
            result = result.add(&product);
        }
        result
    }

    /// Replaces one variable.
    pub fn replace(&self, var: &Var, value: &Size) -> Size {
        if !self.mentions(var) {
            return self.clone();
        }
        self.substitute(&mut |atom| match atom {
            Atom::Var(other) if other == var => Some(value.clone()),
            Atom::Var(_) | Atom::Term(_) | Atom::Unknown(_) => None,
        })
    }

    /// The size of an Index term: a polynomial where it is one, an opaque atom where the term is total and
    /// made of variables and Index operations only, and otherwise unknown.
    pub fn of_expr(expr: &Expr) -> Size {
        Size::try_of_expr(expr).unwrap_or_else(Size::unknown)
    }

    /// As [`Size::of_expr`], `None` where the value depends on data, may fail or is too large.
    pub fn try_of_expr(expr: &Expr) -> Option<Size> {
        if !matches!(expr.ty(), Type::Index(_) | Type::Bool) {
            return None;
        }
        match expr.term() {
            Term::Var(var) => Some(Size::var(var)),
            Term::Index(value) => Some(Size::constant(*value)),
            Term::Bool(_) => Size::opaque(expr.clone()),
            _ => expr.size(|| Size::of_term(expr)),
        }
    }

    /// As [`Size::try_of_expr`], worked out.
    fn of_term(expr: &Expr) -> Option<Size> {
        match expr.term() {
            Term::Dim(array, axis) => array.ty().dims().get(*axis).cloned(),
            Term::Prim(prim, args) => match (prim, args.as_slice()) {
                (Prim::Add, [a, b]) => Some(Size::try_of_expr(a)?.add(&Size::try_of_expr(b)?)),
                (Prim::Sub, [a, b]) => Some(Size::try_of_expr(a)?.sub(&Size::try_of_expr(b)?)),
                (Prim::Mul, [a, b]) => Some(Size::try_of_expr(a)?.mul(&Size::try_of_expr(b)?)),
                (Prim::Neg, [a]) => Some(Size::try_of_expr(a)?.neg()),
                _ => opaque_of_expr(expr),
            },
            Term::If(..) => match normal(expr)? {
                normal if matches!(normal.term(), Term::If(..)) => Size::opaque(normal),
                branch => Size::try_of_expr(&branch),
            },
            Term::Fold { .. } => Size::opaque(normal_fold(expr, 0)?),
            Term::Proj(tuple, k) => match component(tuple, *k)? {
                part if is_part(&part) => opaque_of_expr(&part),
                part => Size::try_of_expr(&part),
            },
            Term::Let(var, value, body) => {
                let body = Size::try_of_expr(body)?;
                if !body.mentions(var) {
                    return Some(body);
                }
                Some(body.replace(var, &Size::try_of_expr(value)?))
            }
            _ => None,
        }
    }

    /// `max n 0`, which is a length where n is negative, too: [`Self::is_as_long`] says that an array of n elements has it.
    pub fn or_zero(&self) -> Size {
        let larger = |n| Size::of_expr(&Expr::prim(Prim::Max, vec![n, Expr::index(0)]));
        match self.as_constant() {
            Some(value) => Size::constant(value.max(0)),
            None => self.to_expr().map_or_else(Size::unknown, larger),
        }
    }

    /// Whether an array of this length is of the other: the same, or `max n 0` for n. Not the other way round: an array of no elements
    /// has the length `max n 0` where n is -1.
    pub fn is_as_long(&self, other: &Size) -> bool {
        let Some(Atom::Term(term)) = other.as_atom().filter(|_| self != other) else { return self == other };
        let Term::Prim(Prim::Max, args) = term.expr.term() else { return false };
        matches!(args.as_slice(), [n, zero] if matches!(zero.term(), Term::Index(0)) && Size::try_of_expr(n).as_ref() == Some(self))
    }

    /// The length of an array that a condition on sizes chooses from two of these lengths: `if k > 0 then n else m`. If the condition is
    /// `n = 3` and the lengths are 3 and n, it is n.
    pub fn chosen(cond: &Expr, n: &Size, m: &Size) -> Option<Size> {
        let known = |x: &Expr, k: &Expr| match (x.term(), Size::try_of_expr(k)) {
            (Term::Var(x), Some(k)) => m.mentions(x) && m.replace(x, &k) == *n,
            _ => false,
        };
        let equal = |sides: &[Expr]| matches!(sides, [a, b] if known(a, b) || known(b, a));
        let is_equal = || matches!(cond.term(), Term::Prim(Prim::Eq, sides) if equal(sides));
        match n.is_as_long(m) || is_equal() {
            true => Some(m.clone()),
            false if m.is_as_long(n) => Some(n.clone()),
            false => Size::try_of_expr(&Expr::if_(cond.clone(), n.to_expr()?, m.to_expr()?)),
        }
    }

    /// A term as one atom; `None` for one that is too large to be compared as text.
    pub fn opaque(expr: Expr) -> Option<Size> {
        if expr.node_count() > NODES {
            return None;
        }
        let key = super::print::key(&expr);
        Some(Size::atom(Atom::Term(Rc::new(SizeTerm { key, expr }))))
    }

    /// The Index term that computes the size; `None` when a part is unknown.
    pub fn to_expr(&self) -> Option<Expr> {
        let expr = self.to_own_expr()?;
        Some(if height(&expr) > 0 { super::subst::freshen(&expr) } else { expr })
    }

    /// As [`Size::to_expr`], where folds bind the variables of sizes.
    pub fn to_own_expr(&self) -> Option<Expr> {
        let mut sum: Option<Expr> = None;
        // positive terms first, so that `n - 1` does not become `-1 + n`
        let (plus, minus): (Vec<_>, Vec<_>) = self.terms.iter().rev().partition(|(_, c)| *c > 0 || *c == i64::MIN);
        for (monomial, coefficient) in plus.into_iter().chain(minus) {
            let negative = *coefficient < 0 && *coefficient != i64::MIN && sum.is_some();
            let factor = if negative { -*coefficient } else { *coefficient };
            let mut product = (factor != 1 || monomial.is_empty()).then(|| Expr::index(factor));
            for atom in monomial.iter() {
                let atom = match atom {
                    Atom::Var(var) => Expr::var(var),
                    Atom::Term(term) => term.expr.clone(),
                    Atom::Unknown(_) => return None,
                };
                product = Some(match product {
                    None => atom,
                    Some(product) => Expr::prim(Prim::Mul, vec![product, atom]),
                });
            }
            let product = product?;
            sum = Some(match sum {
                None => product,
                Some(sum) => Expr::prim(if negative { Prim::Sub } else { Prim::Add }, vec![sum, product]),
            });
        }
        Some(sum.unwrap_or_else(|| Expr::index(0)))
    }
}

fn each_free_var(expr: &Expr, f: &mut dyn FnMut(&Var)) {
    match expr.term() {
        Term::Var(var) if var.is_of_size() => {}
        Term::Var(var) => f(var),
        _ => expr.term().each_child(&mut |child| each_free_var(child, f)),
    }
}

/// An opaque size from a term of total Index and Bool operations over variables.
fn opaque_of_expr(expr: &Expr) -> Option<Size> {
    Size::opaque(normal(expr)?)
}

fn substitute_term(expr: &Expr, f: &mut dyn FnMut(&Atom) -> Option<Size>) -> Size {
    fn go(expr: &Expr, f: &mut dyn FnMut(&Atom) -> Option<Size>) -> Option<Expr> {
        match expr.term() {
            Term::Var(var) if var.is_of_size() => Some(expr.clone()),
            Term::Var(var) => match f(&Atom::Var(var.clone())) {
                Some(size) => size.to_expr(),
                None => Some(expr.clone()),
            },
            Term::Prim(prim, args) => Some(Expr::prim(*prim, args.iter().map(|arg| go(arg, f)).collect::<Option<_>>()?)),
            Term::If(c, a, b) => Some(Expr::if_(go(c, f)?, go(a, f)?, go(b, f)?)),
            Term::Fold { n, acc, i, body, init } => Some(Expr::fold_with(go(n, f)?, acc.clone(), i.clone(), go(body, f)?, go(init, f)?)),
            Term::Proj(tuple, k) => Some(Expr::proj(go(tuple, f)?, *k)),
            Term::Tuple(parts) => Some(Expr::tuple(parts.iter().map(|part| go(part, f)).collect::<Option<_>>()?)),
            Term::Double(_)
            | Term::Index(_)
            | Term::Bool(_)
            | Term::Let(..)
            | Term::Build { .. }
            | Term::While { .. }
            | Term::Get(..)
            | Term::Dim(..)
            | Term::Array(_)
            | Term::Call(..)
            | Term::Update(..)
            | Term::Iso(..)
            | Term::Check { .. }
            | Term::Dual { .. }
            | Term::Vjp { .. } => Some(expr.clone()),
        }
    }
    go(expr, f).map_or_else(Size::unknown, |expr| Size::of_expr(&expr))
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.to_expr() {
            Some(expr) => write!(f, "{}", super::print::size_text(&expr)),
            None => write!(f, "?"),
        }
    }
}

#[cfg(test)]
#[path = "size_tests.rs"]
mod tests;
