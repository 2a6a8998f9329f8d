//! What a fold changes in place: the components of its state that each step leaves where they are, and where it writes.
//!
//! In: a fold's body, its accumulator and the path to a component. Out: whether the component after the step is the
//! component before it with elements changed, and the indices of all updates that change it.
//!
//!     fun (L, s) i -> (ifold (fun L j -> update L [i, j] (f j)) L i, s + 1.0)
//!     component 0: for j below i at [i, j]; component 1 does not stay

use std::collections::HashSet;

use super::free::any_free_var;
use super::prim::Prim;
use super::subst::substitute;
use super::term::{Expr, Term, Updated};
use super::types::Type;
use super::var::Var;

/// An update of a component: for each iteration of the loops around it, outermost first, at these indices.
#[derive(Clone, Debug)]
pub struct Site {
    pub loops: Vec<(Var, Expr)>,
    pub indices: Vec<Expr>,
    /// Whether it may not be reached: then its indices may be out of range.
    pub is_conditional: bool,
}

/// Where the value of a term lies, if that is where the accumulator is.
#[derive(Clone, PartialEq)]
enum Origin {
    Elsewhere,
    /// This component of the accumulator, changed or not.
    Component(Vec<usize>),
    Parts(Vec<Origin>),
}

impl Origin {
    fn part(&self, k: usize) -> Origin {
        match self {
            Origin::Elsewhere => Origin::Elsewhere,
            Origin::Component(path) => Origin::Component(path.iter().copied().chain([k]).collect()),
            Origin::Parts(parts) => parts.get(k).cloned().unwrap_or(Origin::Elsewhere),
        }
    }
}

/// Whether each step leaves a component of the accumulator where it is: unchanged, or with elements changed in place.
pub fn stays(body: &Expr, acc: &Var, path: &[usize]) -> bool {
    let mut walk = Walk::from(acc);
    let origin = walk.origin(body);
    path.iter().fold(origin, |origin, k| origin.part(*k)) == Origin::Component(path.to_vec())
}

/// The updates that change a component in a step, by what is known before the step begins: the accumulator, what the body
/// takes from outside, and the loops around the update. `None` where the component does not stay, or an update is at an
/// index that only the step computes.
pub fn sites(body: &Expr, acc: &Var, path: &[usize]) -> Option<Vec<Site>> {
    let mut walk = Walk::from(acc);
    let origin = walk.origin(body);
    if path.iter().fold(origin, |origin, k| origin.part(*k)) != Origin::Component(path.to_vec()) {
        return None;
    }
    let sites: Vec<Site> = walk.sites.into_iter().filter(|(own, _)| own == path).map(|(_, site)| site).collect();
    let inside = walk.inside;
    let is_known = |site: &Site| {
        let loops: HashSet<&Var> = site.loops.iter().map(|(j, _)| j).collect();
        let mut terms = site.loops.iter().map(|(_, m)| m).chain(&site.indices);
        terms.all(|term| !term.has_updates() && !any_free_var(term, &mut |var| inside.contains(var) && !loops.contains(var)))
            && (!site.is_conditional || site.loops.iter().map(|(_, m)| m).chain(&site.indices).all(is_plain))
    };
    sites.iter().all(is_known).then_some(sites)
}

/// Whether a term is computed without reading and dividing: it cannot fail.
fn is_plain(expr: &Expr) -> bool {
    match expr.term() {
        Term::Var(_) | Term::Index(_) => true,
        Term::Dim(array, _) => matches!(array.term(), Term::Var(_) | Term::Proj(..)),
        Term::Prim(Prim::Add | Prim::Sub | Prim::Mul | Prim::Neg, args) => args.iter().all(is_plain),
        _ => false,
    }
}

/// The way through a body.
struct Walk {
    known: Vec<(Var, Origin)>,
    /// What the body computes once, written by what it takes from outside.
    lets: Vec<(Var, Expr)>,
    loops: Vec<(Var, Expr)>,
    is_conditional: bool,
    /// What the body binds, but the names in `lets`.
    inside: HashSet<Var>,
    sites: Vec<(Vec<usize>, Site)>,
}

impl Walk {
    fn from(acc: &Var) -> Walk {
        Walk {
            known: vec![(acc.clone(), Origin::Component(Vec::new()))],
            lets: Vec::new(),
            loops: Vec::new(),
            is_conditional: false,
            inside: HashSet::new(),
            sites: Vec::new(),
        }
    }

    fn origin(&mut self, expr: &Expr) -> Origin {
        match expr.term() {
            Term::Var(var) => {
                let known = self.known.iter().rev().find(|(other, _)| other == var);
                known.map_or(Origin::Elsewhere, |(_, origin)| origin.clone())
            }
            Term::Proj(tuple, k) => self.origin(tuple).part(*k),
            Term::Tuple(parts) => Origin::Parts(parts.iter().map(|part| self.origin(part)).collect()),
            Term::Let(var, value, body) => {
                let origin = self.origin(value);
                match var.ty() {
                    Type::Index(_) => self.lets.push((var.clone(), substitute(value, &self.lets))),
                    _ => drop(self.inside.insert(var.clone())),
                }
                self.known.push((var.clone(), origin));
                let body = self.origin(body);
                self.known.pop();
                body
            }
            Term::Check { body, .. } => self.origin(body),
            Term::If(_, a, b) => {
                let outer = std::mem::replace(&mut self.is_conditional, true);
                let (a, b) = (self.origin(a), self.origin(b));
                self.is_conditional = outer;
                both(a, b)
            }
            Term::Update(_, parts) => {
                let Some(Updated { array, indices, .. }) = Updated::of(parts) else { return Origin::Elsewhere };
                let origin = self.origin(array);
                if let Origin::Component(path) = &origin {
                    let indices = indices.iter().map(|index| substitute(index, &self.lets)).collect();
                    let site = Site { loops: self.loops.clone(), indices, is_conditional: self.is_conditional };
                    self.sites.push((path.clone(), site));
                }
                origin
            }
            Term::Fold { n, acc, i, body, init } if body.has_updates() => {
                let init = self.origin(init);
                let kept = kept(init, acc.ty(), body, acc, &mut Vec::new());
                self.loops.push((i.clone(), substitute(n, &self.lets)));
                self.inside.extend([acc.clone(), i.clone()]);
                self.known.push((acc.clone(), kept.clone()));
                self.origin(body);
                self.known.pop();
                self.loops.pop();
                kept
            }
            Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Prim(..) | Term::Build { .. } | Term::Fold { .. } => Origin::Elsewhere,
            Term::Get(..) | Term::Dim(..) | Term::Array(_) | Term::Call(..) | Term::Dual { .. } | Term::Vjp { .. } => Origin::Elsewhere,
        }
    }
}

/// What both branches leave where it is.
fn both(a: Origin, b: Origin) -> Origin {
    match (a, b) {
        (a, b) if a == b => a,
        (Origin::Parts(a), Origin::Parts(b)) => Origin::Parts(a.into_iter().zip(b).map(|(a, b)| both(a, b)).collect()),
        (Origin::Parts(parts), whole @ Origin::Component(_)) | (whole @ Origin::Component(_), Origin::Parts(parts)) => {
            Origin::Parts(parts.into_iter().enumerate().map(|(k, part)| both(part, whole.part(k))).collect())
        }
        _ => Origin::Elsewhere,
    }
}

/// What an inner fold leaves where its first value is.
fn kept(init: Origin, ty: &Type, body: &Expr, acc: &Var, path: &mut Vec<usize>) -> Origin {
    match ty {
        Type::Tuple(types) => {
            let mut parts = Vec::new();
            for (k, ty) in types.iter().enumerate() {
                path.push(k);
                parts.push(kept(init.part(k), ty, body, acc, path));
                path.pop();
            }
            Origin::Parts(parts)
        }
        Type::Array(..) if stays(body, acc, path) => init,
        Type::Array(..) | Type::Double | Type::Bool | Type::Index(_) => Origin::Elsewhere,
    }
}
