//! What a value's Indexes and Bools are as sizes, also inside tuples.
//!
//! In: a term, and what is known of its variables. Out: for each Index and Bool in it the size that it is, where total Index operations
//! compute it from what is in scope, so that a length may be taken from a tuple as from a variable.
//!
//!     let (q, y) = half n x in build q (fun i -> y)   →   q is n / 2

use crate::ir::{Atom, Expr, Prim, Size, Term, Type, Var};

/// See the module's head.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    Nothing,
    Size(Size),
    Parts(Vec<Told>),
}

impl Told {
    pub fn size(&self) -> Option<&Size> {
        match self {
            Told::Size(size) => Some(size),
            Told::Nothing | Told::Parts(_) => None,
        }
    }

    pub fn of_size(size: Size) -> Told {
        if size.has_unknown() { Told::Nothing } else { Told::Size(size) }
    }

    fn part(self, k: usize) -> Told {
        match self {
            Told::Parts(parts) => parts.into_iter().nth(k).unwrap_or(Told::Nothing),
            Told::Nothing | Told::Size(_) => Told::Nothing,
        }
    }

    pub fn is_nothing(&self) -> bool {
        match self {
            Told::Nothing => true,
            Told::Size(_) => false,
            Told::Parts(parts) => parts.iter().all(Told::is_nothing),
        }
    }

    /// The same seen from elsewhere; what has no size there is not told.
    pub fn map(&self, f: &mut dyn FnMut(&Size) -> Size) -> Told {
        match self {
            Told::Nothing => Told::Nothing,
            Told::Size(size) => Told::of_size(f(size)),
            Told::Parts(parts) => Told::Parts(parts.iter().map(|part| part.map(f)).collect()),
        }
    }

    /// What is told of a term over variables of which `known` says what is known.
    pub fn of(expr: &Expr, known: &dyn Fn(&Var) -> Option<Told>) -> Told {
        let of = |expr: &Expr| Told::of(expr, known);
        if !has_index(expr.ty()) {
            return Told::Nothing;
        }
        match expr.term() {
            Term::Var(var) if known(var).is_some() => known(var).unwrap_or(Told::Nothing),
            Term::Tuple(parts) => Told::Parts(parts.iter().map(of).collect()),
            Term::Proj(tuple, k) if !matches!(tuple.term(), Term::Fold { .. }) => of(tuple).part(*k),
            Term::Check { body, .. } => of(body),
            Term::Let(x, value, body) => {
                let value = of(value);
                let told = Told::of(body, &|var| if var == x { Some(value.clone()) } else { known(var) });
                told.map(&mut |size| if size.mentions(x) { Size::unknown() } else { size.clone() })
            }
            Term::If(cond, a, b) => chosen(&of(cond), of(a), of(b)),
            Term::Fold { .. } if matches!(expr.ty(), Type::Tuple(_)) => {
                Told::Parts((0..parts(expr.ty())).map(|k| of(&Expr::proj(expr.clone(), k))).collect())
            }
            // of parts of tuples
            Term::Prim(prim, args) if Size::try_of_expr(expr).is_none() => {
                let args = args.iter().map(|arg| term(of(arg).size()?, arg.ty())).collect::<Option<_>>();
                let size = args.and_then(|args| Size::try_of_expr(&Expr::prim(*prim, args)));
                size.map_or(Told::Nothing, Told::of_size)
            }
            _ if matches!(expr.ty(), Type::Index(_) | Type::Bool) => Size::try_of_expr(expr).map_or(Told::Nothing, |size| {
                Told::of_size(size.substitute(&mut |atom| match atom {
                    Atom::Var(var) => known(var)?.size().cloned(),
                    Atom::Term(_) | Atom::Unknown(_) => None,
                }))
            }),
            _ => Told::Nothing,
        }
    }
}

fn parts(ty: &Type) -> usize {
    match ty {
        Type::Tuple(parts) => parts.len(),
        Type::Double | Type::Bool | Type::Index(_) | Type::Array(..) | Type::Rec(_) => 0,
    }
}

fn has_index(ty: &Type) -> bool {
    match ty {
        Type::Index(_) | Type::Bool => true,
        Type::Tuple(parts) => parts.iter().any(has_index),
        Type::Double | Type::Array(..) | Type::Rec(_) => false,
    }
}

fn chosen(cond: &Told, a: Told, b: Told) -> Told {
    match (a, b) {
        (a, b) if a == b => a,
        (Told::Parts(a), Told::Parts(b)) => Told::Parts(a.into_iter().zip(b).map(|(a, b)| chosen(cond, a, b)).collect()),
        (Told::Size(a), Told::Size(b)) => {
            let choice = || Some(Expr::if_(term(cond.size()?, &Type::Bool)?, a.to_expr()?, b.to_expr()?));
            choice().and_then(|choice| Size::try_of_expr(&choice)).map_or(Told::Nothing, Told::of_size)
        }
        _ => Told::Nothing,
    }
}

/// The Index or Bool that a size is.
fn term(size: &Size, ty: &Type) -> Option<Expr> {
    let expr = size.to_expr()?;
    let is_number = *ty == Type::Bool && *expr.ty() != Type::Bool;
    Some(if is_number { Expr::prim(Prim::Ne, vec![expr, Expr::index(0)]) } else { expr })
}
