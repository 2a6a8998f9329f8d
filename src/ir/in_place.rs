//! Components of a fold's state that every step updates in place, and the indices that it writes.
//!
//! In: a fold's body, its accumulator and the path to a component. Out: whether the component after the step is the
//! component before it with elements changed, and the indices of all updates that change it.
//!
//!     fun (L, s) i -> (ifold (fun L j -> update L [i, j] (f j)) L i, s + 1.0)
//!     component 0: for j below i at [i, j]; component 1 does not stay

use std::collections::{BTreeSet, HashSet};

use super::free::{any_free_var, mentions};
use super::prim::Prim;
use super::prove::Facts;
use super::subst::substitute;
use super::term::{Expr, Size, Status, Term, Type, Updated, Var};
use super::total::total;

/// An update of a component: in the loops and behind the conditions around it, outermost first, at these indices; at none where it
/// puts another array in the component's place. All of them are written by what is known before the step.
#[derive(Clone, Debug)]
pub struct Site {
    pub around: Vec<Around>,
    pub indices: Vec<Expr>,
    /// Whether it may not be reached for a reason that is not in `around`: then its indices may be out of range.
    pub is_conditional: bool,
    /// What the step computes before it is reached.
    pub before: Vec<Expr>,
}

/// What stands around an update.
#[derive(Clone, Debug)]
pub enum Around {
    /// A loop over a variable, with its count.
    Loop(Var, Expr),
    /// A condition that is computed without reading and dividing, and not of the state.
    If(Expr),
    /// One that may read the state before the step, outside of loops: the backward pass cannot evaluate it again.
    Taken(Expr),
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

/// What a step of a fold does with the components of its accumulator.
pub struct Changes {
    result: Origin,
    sites: Vec<(Vec<usize>, Site)>,
    /// What the step binds and a site may not be written by.
    inside: HashSet<Var>,
}

/// Whether each step leaves a component of the accumulator where it is: unchanged, or with elements changed in place.
pub fn stays(body: &Expr, acc: &Var, path: &[usize]) -> bool {
    path.iter().fold(after(body, acc), |origin, k| origin.part(*k)) == Origin::Component(path.to_vec())
}

/// Where the accumulator lies after a step with this body.
fn after(body: &Expr, acc: &Var) -> Origin {
    Walk::from(acc, false).origin(body)
}

impl Changes {
    /// Those of a step with this body.
    pub fn of(body: &Expr, acc: &Var) -> Changes {
        let mut walk = Walk::from(acc, true);
        let result = walk.origin(body);
        Changes { result, sites: walk.sites, inside: walk.inside }
    }

    /// The component before the step that a component after it is, unchanged or with elements changed in place.
    pub fn source(&self, path: &[usize]) -> Option<Vec<usize>> {
        match path.iter().fold(self.result.clone(), |origin, k| origin.part(*k)) {
            Origin::Component(source) => Some(source),
            Origin::Elsewhere | Origin::Parts(_) => None,
        }
    }

    /// The updates of a component. `None` where one is at an index that only the step computes.
    pub fn sites(&self, path: &[usize]) -> Option<Vec<Site>> {
        let sites = self.sites.iter().filter(|(own, _)| own == path).map(|(_, site)| site);
        let is_known = |site: &Site| site.terms().all(|term| !term.has_updates() && is_outside(term, &self.inside, &site.around));
        sites.map(|site| is_known(site).then(|| site.clone())).collect()
    }
}

impl Site {
    /// Counts, conditions and indices.
    fn terms(&self) -> impl Iterator<Item = &Expr> {
        let around = self.around.iter().map(|around| match around {
            Around::Loop(_, term) | Around::If(term) | Around::Taken(term) => term,
        });
        around.chain(&self.indices)
    }

    /// The counts of the loops around it that depend on none of them.
    pub fn fixed_counts(&self) -> impl Iterator<Item = &Expr> {
        let is_fixed = |count: &Expr| !self.around.iter().any(|around| matches!(around, Around::Loop(i, _) if mentions(count, i)));
        self.around.iter().filter_map(move |around| match around {
            Around::Loop(_, count) => is_fixed(count).then_some(count),
            Around::If(_) | Around::Taken(_) => None,
        })
    }

    /// The same site with total terms: they have values also where the update is not reached.
    pub fn total(&self, facts: &Facts) -> Option<Site> {
        let around = |around: &Around| {
            Some(match around {
                Around::Loop(i, count) => Around::Loop(i.clone(), not_negative(total(count)?, facts)),
                Around::If(cond) => Around::If(total(cond)?),
                Around::Taken(cond) => Around::Taken(total(cond)?),
            })
        };
        let around = self.around.iter().map(around).collect::<Option<_>>()?;
        let indices = self.indices.iter().map(total).collect::<Option<_>>()?;
        Some(Site { around, indices, ..self.clone() })
    }

    /// Whether the step may fail in another way before it is reached than the update of an array of this type at its indices does.
    pub fn is_late(&self, array: &Type, facts: &Facts) -> bool {
        let mut facts = facts.clone();
        for around in &self.around {
            match around {
                Around::Loop(i, count) => facts.enter_loop(i, count),
                Around::If(cond) | Around::Taken(cond) => facts.assume(cond, true),
            }
        }
        let mut own: BTreeSet<Status> = self.terms().flat_map(|term| failures(term, &facts, &|_| true)).collect();
        if !self.indices.iter().zip(array.dims()).all(|(index, length)| facts.index_is_safe(index, &length)) {
            own.insert(Status::Bounds);
        }
        let differs = |before: Status| own.iter().any(|own| *own != before);
        !own.is_empty() && self.before.iter().any(|term| !failures(term, &facts, &differs).is_empty())
    }
}

/// A count that is not below zero, the same where this one is not.
pub fn not_negative(count: Expr, facts: &Facts) -> Expr {
    let is_known = facts.nonnegative(&facts.size_of(&count));
    if is_known { count } else { Expr::prim(Prim::Max, vec![count, Expr::index(0)]) }
}

/// In which of the ways that are asked for a term may fail, as far as these facts do not say that it does not.
fn failures(expr: &Expr, facts: &Facts, is_asked: &dyn Fn(Status) -> bool) -> BTreeSet<Status> {
    const ANY: [Status; 6] = [Status::Bounds, Status::Shape, Status::Negative, Status::DivZero, Status::Range, Status::Workspace];
    let unless = |status, is_safe: &dyn Fn() -> bool| (is_asked(status) && !is_safe()).then_some(status);
    let mut inside = facts.clone();
    let own = match expr.term() {
        Term::Get(array, index) => unless(Status::Bounds, &|| facts.get_is_safe(array, index)),
        Term::Update(..) => unless(Status::Bounds, &|| false),
        Term::Build { n, i, .. } | Term::Fold { n, i, .. } => {
            inside.enter_loop(i, n);
            unless(Status::Negative, &|| facts.nonnegative(&facts.size_of(n)))
        }
        Term::Prim(Prim::Div | Prim::Rem, args) if matches!(expr.ty(), Type::Index(_)) => {
            unless(Status::DivZero, &|| args.last().is_some_and(|by| facts.is_nonzero(&facts.size_of(by))))
        }
        Term::Let(var, value, _) => {
            inside.define(var, value);
            None
        }
        Term::Prim(Prim::ToIndex, _) => unless(Status::Range, &|| false),
        Term::Check { status, .. } => unless(*status, &|| false),
        Term::Array(_) => unless(Status::Shape, &|| false),
        Term::Call(..) => return ANY.into_iter().filter(|status| is_asked(*status)).collect(),
        Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Prim(..) | Term::If(..) => None,
        Term::While { .. } | Term::Dim(..) | Term::Tuple(_) | Term::Proj(..) | Term::Iso(..) | Term::Dual { .. } | Term::Vjp { .. } => None,
    };
    own.into_iter().chain(expr.term().children().flat_map(|child| failures(child, &inside, is_asked))).collect()
}

/// Whether a term mentions nothing that a step binds but the loops around it.
fn is_outside(term: &Expr, inside: &HashSet<Var>, around: &[Around]) -> bool {
    let is_loop = |var: &Var| around.iter().any(|around| matches!(around, Around::Loop(own, _) if own == var));
    !any_free_var(term, &mut |var| inside.contains(var) && !is_loop(var))
}

/// Whether a term is computed without reading and dividing: it cannot fail.
fn is_plain(expr: &Expr) -> bool {
    match expr.term() {
        Term::Var(_) | Term::Index(_) | Term::Double(_) => true,
        Term::Dim(array, _) => matches!(array.term(), Term::Var(_) | Term::Proj(..)),
        Term::Bool(_) => true,
        Term::Proj(tuple, _) => is_plain(tuple),
        Term::Prim(Prim::Add | Prim::Sub | Prim::Mul | Prim::Neg, args) => args.iter().all(is_plain),
        Term::Prim(Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge | Prim::Eq | Prim::Ne | Prim::And | Prim::Or | Prim::Not, args) => {
            args.iter().all(is_plain)
        }
        _ => false,
    }
}

/// A condition of more nodes is not evaluated once more before the step: the update counts as conditional.
const SHORT: usize = 40;

/// The way through a body.
struct Walk {
    acc: Var,
    known: Vec<(Var, Origin)>,
    /// Indexes and Bools that the body computes once, written by what it takes from outside.
    lets: Vec<(Var, Expr)>,
    /// What else it computes once without updates, written so too.
    values: Vec<(Var, Expr)>,
    around: Vec<Around>,
    is_conditional: bool,
    /// What comes before.
    before: Vec<Expr>,
    /// Whether updates are wanted: otherwise only where values lie.
    has_sites: bool,
    /// What the body binds, but the names in `lets` and `values`.
    inside: HashSet<Var>,
    sites: Vec<(Vec<usize>, Site)>,
}

impl Walk {
    fn from(acc: &Var, has_sites: bool) -> Walk {
        Walk {
            acc: acc.clone(),
            has_sites,
            known: vec![(acc.clone(), Origin::Component(Vec::new()))],
            lets: Vec::new(),
            values: Vec::new(),
            around: Vec::new(),
            is_conditional: false,
            before: Vec::new(),
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
                if self.has_sites {
                    self.before.push(value.clone());
                    match var.ty() {
                        Type::Index(_) | Type::Bool => self.lets.push((var.clone(), substitute(value, &self.lets))),
                        _ if !value.has_updates() => self.values.push((var.clone(), substitute(value, &self.lets))),
                        Type::Double | Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => drop(self.inside.insert(var.clone())),
                    }
                }
                self.known.push((var.clone(), origin));
                let body = self.origin(body);
                self.known.pop();
                body
            }
            Term::Check { cond, status, body } => {
                if self.has_sites {
                    self.before.push(Expr::check(cond.clone(), *status, Expr::bool(true)));
                }
                self.origin(body)
            }
            Term::If(_, a, b) if !self.has_sites => {
                let origins = (self.origin(a), self.origin(b));
                self.joined(expr.ty(), origins, None)
            }
            Term::If(cond, a, b) => {
                self.before.push(cond.clone());
                let cond = self.known(cond);
                let otherwise = Expr::prim(Prim::Not, vec![cond.clone()]);
                let origins = (self.branch(&cond, a), self.branch(&otherwise, b));
                self.joined(expr.ty(), origins, Some((&cond, &otherwise)))
            }
            Term::Update(_, parts) => {
                let Some(Updated { array, indices, value }) = Updated::of(parts) else { return Origin::Elsewhere };
                let origin = self.origin(array);
                if !self.has_sites {
                    return origin;
                }
                self.before.push(value.clone());
                if let Origin::Component(path) = &origin {
                    let indices = indices.iter().map(|index| self.known(index)).collect();
                    let (around, is_conditional, before) = (self.around.clone(), self.is_conditional, self.before.clone());
                    let site = Site { around, indices, is_conditional, before };
                    self.sites.push((path.clone(), site));
                }
                origin
            }
            Term::Fold { n, acc, i, body, init } if body.has_updates() => {
                let init = self.origin(init);
                let kept = kept(init, acc.ty(), after(body, acc), &mut Vec::new());
                if !self.has_sites {
                    return kept;
                }
                self.before.push(n.clone());
                self.around.push(Around::Loop(i.clone(), self.known(n)));
                self.inside.extend([acc.clone(), i.clone()]);
                self.known.push((acc.clone(), kept.clone()));
                self.origin(body);
                self.known.pop();
                self.around.pop();
                kept
            }
            Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Prim(..) | Term::Build { .. } | Term::Fold { .. } => Origin::Elsewhere,
            Term::While { .. } | Term::Iso(..) => Origin::Elsewhere,
            Term::Get(..) | Term::Dim(..) | Term::Array(_) | Term::Call(..) | Term::Dual { .. } | Term::Vjp { .. } => Origin::Elsewhere,
        }
    }
}

impl Walk {
    /// A term of the step, written by what the step takes from outside, as far as it can be: with the values that it needs around it,
    /// where it is not a size.
    fn known(&self, term: &Expr) -> Expr {
        let term = substitute(term, &self.lets);
        let needed = self.values.iter().rev().fold(term.clone(), |term, (var, value)| {
            if mentions(&term, var) { Expr::let_(var.clone(), value.clone(), term) } else { term }
        });
        let is_index = matches!(term.ty(), Type::Index(_)) && !needed.is_same(&term);
        let size = if is_index { Size::try_of_expr(&needed).and_then(|size| size.to_expr()) } else { None };
        size.unwrap_or(needed)
    }

    /// A branch that is taken where a condition holds.
    fn branch(&mut self, cond: &Expr, branch: &Expr) -> Origin {
        if !branch.has_updates() {
            return self.origin(branch);
        }
        let around = self.around_branch(cond);
        let is_said = matches!(around, Some(Around::If(_)));
        let (count, outer) = (self.around.len(), self.is_conditional);
        self.around.extend(around);
        self.is_conditional |= !is_said;
        let origin = self.origin(branch);
        self.around.truncate(count);
        self.is_conditional = outer;
        origin
    }

    /// What a condition is around its branch; `None` where it is not known before the step.
    fn around_branch(&self, cond: &Expr) -> Option<Around> {
        is_outside(cond, &self.inside, &self.around).then_some(())?;
        if is_plain(cond) && !mentions(cond, &self.acc) {
            return Some(Around::If(cond.clone()));
        }
        (!self.is_in_loop() && !self.is_conditional && cond.node_count() <= SHORT).then(|| Around::Taken(cond.clone()))
    }

    fn is_in_loop(&self) -> bool {
        self.around.iter().any(|around| matches!(around, Around::Loop(..)))
    }

    /// What two branches both leave where it is. With the conditions of the branches an array stays, too, where one of them puts another
    /// in its place: that is a site.
    fn joined(&mut self, ty: &Type, origins: (Origin, Origin), conditions: Option<(&Expr, &Expr)>) -> Origin {
        match (ty, origins, conditions) {
            (_, (a, b), _) if a == b => a,
            (Type::Tuple(types), (a, b), _) => {
                let part = |(k, ty)| self.joined(ty, (a.part(k), b.part(k)), conditions);
                Origin::Parts(types.iter().enumerate().map(part).collect())
            }
            (Type::Array(..), (Origin::Elsewhere, own @ Origin::Component(_)), Some((cond, _))) => self.replaced(cond, own),
            (Type::Array(..), (own @ Origin::Component(_), Origin::Elsewhere), Some((_, cond))) => self.replaced(cond, own),
            _ => Origin::Elsewhere,
        }
    }

    /// An array in whose place a branch puts another one.
    fn replaced(&mut self, cond: &Expr, own: Origin) -> Origin {
        let Origin::Component(path) = &own else { return Origin::Elsewhere };
        let Some(condition) = self.around_branch(cond).filter(|_| !self.is_in_loop()) else { return Origin::Elsewhere };
        let is_conditional = self.is_conditional || matches!(condition, Around::Taken(_));
        let around = self.around.iter().cloned().chain([condition]).collect();
        let site = Site { around, indices: Vec::new(), is_conditional, before: self.before.clone() };
        self.sites.push((path.clone(), site));
        own
    }
}

/// What an inner fold leaves where its first value is, which after a step lies where `after` says.
fn kept(init: Origin, ty: &Type, after: Origin, path: &mut Vec<usize>) -> Origin {
    match ty {
        Type::Tuple(types) => {
            let mut parts = Vec::new();
            for (k, ty) in types.iter().enumerate() {
                path.push(k);
                parts.push(kept(init.part(k), ty, after.part(k), path));
                path.pop();
            }
            Origin::Parts(parts)
        }
        Type::Array(..) if after == Origin::Component(path.clone()) => init,
        Type::Array(..) | Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => Origin::Elsewhere,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Change;

    /// Each fold is walked a fixed number of times by each around it: forty of them end.
    #[test]
    fn folds_in_folds_stay_where_they_are() {
        let vector = Type::array(Type::Double, Size::constant(2));
        let state = Type::tuple(vec![vector.clone(), vector]);
        let acc = Var::fresh("s", state);
        let mut body = Expr::tuple(vec![
            Expr::update(Change::Replace, Expr::proj(Expr::var(&acc), 0), vec![Expr::index(0)], Expr::double(1.0)),
            Expr::proj(Expr::var(&acc), 0),
        ]);
        let mut inner = acc;
        for _ in 0..40 {
            let outer = inner.renewed(inner.ty().clone());
            body = Expr::fold_with(Expr::index(3), inner, Var::fresh("i", Type::INDEX), body, Expr::var(&outer));
            inner = outer;
        }
        assert!(stays(&body, &inner, &[0]));
        assert!(!stays(&body, &inner, &[1]));
        assert_eq!(Changes::of(&body, &inner).sites(&[0]).map(|sites| sites[0].around.len()), Some(40));
    }

    /// `if s[0] > 0.5 then s else (build, or update)`: the condition is kept with both kinds of change; in what only asks where values
    /// lie, an array that is replaced does not stay.
    #[test]
    fn conditions_on_the_state_are_around_what_they_change() {
        let s = Var::fresh("s", Type::array(Type::Double, Size::constant(2)));
        let cond = Expr::prim(Prim::Gt, vec![Expr::get(Expr::var(&s), Expr::index(0)), Expr::double(0.5)]);
        let choice = |other: Expr| Expr::if_(cond.clone(), Expr::var(&s), other);
        let replaced = choice(Expr::build(Expr::index(2), "i", |_| Expr::double(1.0)));
        let updated = choice(Expr::update(Change::Replace, Expr::var(&s), vec![Expr::index(1)], Expr::double(1.0)));
        assert!(!stays(&replaced, &s, &[]) && stays(&updated, &s, &[]));
        for (body, depth) in [(replaced, 0), (updated, 1)] {
            let changes = Changes::of(&body, &s);
            assert_eq!(changes.source(&[]), Some(Vec::new()));
            let sites = changes.sites(&[]).expect("known indices");
            let [Site { around, indices, is_conditional: true, .. }] = sites.as_slice() else { panic!("{} sites", sites.len()) };
            assert!(matches!(around.as_slice(), [Around::Taken(_)]) && indices.len() == depth);
        }
    }
}
