//! Undo logs: the elements that a fold overwrites are saved in the forward pass and restored in the backward pass, so that states
//! are not stored whole.
//!
//! In: the updates of a component of a fold's state in a step ([`crate::ir::in_place`]). Out: the elements that they are about to
//! overwrite, as a log of the step, and the component with these elements restored.
//!
//!     fun s i -> update s i (f s)   log: s[i]                               back: update s i log
//!     fun s i -> ifold (fun s j -> update s [i, j] (f s j)) s i
//!                                   log: build n (fun j -> if j < i then s[i][j] else 0.0)
//!                                   back: ifold (fun s j -> update s [i, j] log[j]) s i
//!
//! Where a condition on the state decides whether a step changes anything, and that is more than an element, the log says whether it
//! did, and nothing is saved where it did not. An array that another one takes the place of is saved whole.
//!
//!     fun s i -> if c s then update s i (f s) else s
//!                                   log: (c s, if c s then s[i])            back: if log.0 then update s i log.1 else s
//!
//! All elements of a step's log are those before the step: the order in which they are restored does not matter, nor whether
//! the step reached the update. A log is rectangular: a loop whose count depends on
//! loops around it has room for the most iterations that it can have. An index that depends on the state is saved with its element.
//! A log is kept before the rest of its step. Where the update may not be reached, or the step may fail in another way before it, the
//! indices are terms that never fail ([`crate::ir::total`]), and what is out of range is not read.

use super::stored::{size_degree, zeros};
use crate::ad::pairs::one_or_tuple;
use crate::ir::free::mentions;
use crate::ir::in_place::{Around, Site, not_negative};
use crate::ir::prove::Facts;
use crate::ir::subst::{freshen, substitute};
use crate::ir::total::{all_within, named, total};
use crate::ir::{Atom, Change, Expr, Prim, Size, Term, Type, Var};

/// A log that can be kept: that of an update whose loops have a known room.
pub struct Log {
    /// The update as the backward pass undoes it.
    site: Site,
    /// As the forward pass keeps what it overwrites, before the rest of the step: where something else would fail first, or the update
    /// may not be reached, its terms never fail.
    kept: Site,
    /// Whether the terms of `kept` are such, and its indices may be out of range.
    is_guarded: bool,
    /// For each of what is around the update: for a loop whose count depends on a loop or may be negative, the room for its iterations.
    rooms: Vec<Option<Expr>>,
    /// The positions of the indices that the state gives.
    stored: Vec<usize>,
    /// The degree of a step's log in the sizes that are no literals.
    degree: usize,
    /// Whether it has as many elements as the array, up to a constant in each dimension.
    pub is_whole: bool,
}

impl Log {
    /// The log of an update of an array of this type, of the state `acc`: in the steps of a loop over a variable, of so many, or in code
    /// that runs once. `None` where it depends on the state how many elements there are.
    pub fn of(site: Site, array: &Type, acc: &Var, steps: Option<(&Var, &Expr)>) -> Option<Log> {
        has_blank(changed(array, &site)).then_some(())?;
        let site = worth_keeping(site, array, steps.is_some())?;
        let mut facts = Facts::default();
        facts.exists(acc.ty());
        let mut ranges: Vec<(Var, Size)> = Vec::new();
        if let Some((i, n)) = steps {
            facts.enter_loop(i, n);
            ranges.push((i.clone(), Size::try_of_expr(n)?));
        }
        let guarded = if site.is_conditional || site.is_late(array, &facts) { site.total(&facts) } else { None };
        let is_guarded = guarded.is_some();
        if site.is_conditional && !is_guarded {
            return None;
        }
        let kept = guarded.unwrap_or_else(|| site.clone());
        let mut rooms = Vec::new();
        let (mut inside, mut may_not_run) = (facts.clone(), is_guarded);
        for (own, kept) in site.around.iter().zip(&kept.around) {
            let (Around::Loop(j, count), Around::Loop(_, kept_count)) = (own, kept) else {
                rooms.push(None);
                may_not_run = true;
                continue;
            };
            if mentions(count, acc) {
                return None;
            }
            let size = Size::try_of_expr(count)?;
            let depends = ranges.iter().any(|(var, _)| size.mentions(var));
            let mut room = if depends { Loops { below: &ranges, facts: &inside }.most(&size)? } else { size };
            let mut length = room.to_expr()?;
            // a loop that does not run may have a negative count
            if may_not_run || depends {
                length = not_negative(length, &facts);
                room = Size::try_of_expr(&length)?;
            }
            rooms.push(if depends || Size::try_of_expr(kept_count).as_ref() != Some(&room) { Some(length) } else { None });
            ranges.push((j.clone(), room));
            inside.enter_loop(j, count);
        }
        let stored = (0..site.indices.len()).filter(|k| mentions(&site.indices[*k], acc)).collect();
        let degree = degree(&site, array);
        let counts: Vec<&Size> = ranges.iter().skip(usize::from(steps.is_some())).map(|(_, room)| room).collect();
        let is_length = |(count, length): (&&Size, Size)| count.sub(&length).as_constant().is_some();
        let is_whole = !counts.is_empty() && counts.len() == site.indices.len() && counts.iter().zip(array.dims()).all(is_length);
        let site = if site.is_conditional { kept.clone() } else { site };
        Some(Log { site, kept, is_guarded, rooms, stored, degree, is_whole })
    }

    /// The indices of the element that is changed, where each step changes one and neither the state nor a condition says which.
    pub fn indices(&self) -> Option<&Vec<Expr>> {
        (self.site.around.is_empty() && self.stored.is_empty() && !self.site.is_conditional).then_some(&self.site.indices)
    }

    /// How many dimensions of the component the indices of the element are in.
    pub fn depth(&self) -> usize {
        self.site.indices.len()
    }

    /// The degree of a step's log in the sizes that are no literals.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// A tape with what step `i` is about to change of `s`.
    pub fn keep(&self, s: &Expr, tape: Expr, i: &Expr) -> Expr {
        let (mut conditions, mut is_marked) = (Vec::new(), false);
        for around in &self.kept.around {
            match around {
                Around::If(cond) | Around::Taken(cond) => {
                    conditions.push(cond);
                    is_marked |= matches!(around, Around::Taken(_));
                }
                Around::Loop(..) => break,
            }
        }
        let taken = self.taken_below(s, conditions.len());
        let taken = if is_marked { marked(true, taken) } else { taken };
        let update = Expr::update(Change::Replace, tape.clone(), vec![i.clone()], taken);
        freshen(&conditions.into_iter().rev().fold(update, |update, cond| Expr::if_(cond.clone(), update, tape.clone())))
    }

    /// What is about to be changed of `s`.
    pub fn taken(&self, s: &Expr) -> Expr {
        freshen(&self.taken_below(s, 0))
    }

    fn taken_below(&self, s: &Expr, depth: usize) -> Expr {
        match (self.kept.around.get(depth), self.rooms.get(depth)) {
            (Some(Around::If(cond)), _) => Expr::if_(cond.clone(), self.taken_below(s, depth + 1), self.nothing_below(s, depth + 1)),
            (Some(Around::Taken(cond)), _) => {
                Expr::if_(cond.clone(), marked(true, self.taken_below(s, depth + 1)), self.nothing_below(s, depth))
            }
            (Some(Around::Loop(j, count)), room) => {
                let room = room.and_then(Option::as_ref);
                Expr::build(room.unwrap_or(count).clone(), j.name(), |k| {
                    let item = substitute(&self.taken_below(s, depth + 1), &[(j.clone(), k.clone())]);
                    if room.is_none() {
                        return item;
                    }
                    let runs = Expr::prim(Prim::Lt, vec![k, count.clone()]);
                    Expr::if_(runs, item, self.nothing_below(s, depth + 1))
                })
            }
            (None, _) => {
                let item = |indices: &[Expr]| {
                    let element = indices.iter().fold(s.clone(), |s, index| Expr::get(s, index.clone()));
                    one_or_tuple([element].into_iter().chain(self.stored.iter().map(|k| indices[*k].clone())).collect())
                };
                if !self.is_guarded {
                    return item(&self.kept.indices);
                }
                named(self.kept.indices.clone(), |indices| Expr::if_(all_within(indices, s), item(indices), self.nothing_below(s, depth)))
            }
        }
    }

    /// A log in which nothing is yet.
    pub fn nothing(&self, s: &Expr) -> Expr {
        self.nothing_below(s, 0)
    }

    fn nothing_below(&self, s: &Expr, depth: usize) -> Expr {
        match (self.kept.around.get(depth), self.rooms.get(depth)) {
            (Some(Around::If(_)), _) => self.nothing_below(s, depth + 1),
            (Some(Around::Taken(_)), _) => marked(false, self.nothing_below(s, depth + 1)),
            (Some(Around::Loop(_, count)), room) => {
                let room = room.and_then(Option::as_ref).unwrap_or(count);
                Expr::build(room.clone(), "j", |_| self.nothing_below(s, depth + 1))
            }
            (None, _) => {
                let nothing = blank(changed(s.ty(), &self.kept), s, self.kept.indices.len());
                // an update that is not reached must not be undone: no element is there
                let nowhere = if self.site.is_conditional { -1 } else { 0 };
                one_or_tuple([nothing].into_iter().chain(self.stored.iter().map(|_| Expr::index(nowhere))).collect())
            }
        }
    }

    /// `s` with what was taken put back.
    pub fn put_back(&self, s: Expr, log: &Expr) -> Expr {
        freshen(&self.put_back_in(&self.site.around, s, log.clone()))
    }

    fn put_back_in(&self, around: &[Around], s: Expr, log: Expr) -> Expr {
        match around.split_first() {
            Some((Around::If(cond), rest)) => Expr::bind("s", s, |s| Expr::if_(cond.clone(), self.put_back_in(rest, s.clone(), log), s)),
            Some((Around::Taken(_), rest)) => Expr::bind("s", s, |s| {
                let undone = self.put_back_in(rest, s.clone(), Expr::proj(log.clone(), 1));
                Expr::if_(Expr::proj(log, 0), undone, s)
            }),
            Some((Around::Loop(j, count), rest)) => Expr::fold(count.clone(), "s", j.name(), s, |s, k| {
                let undone = self.put_back_in(rest, s, Expr::get(log, Expr::var(j)));
                substitute(&undone, &[(j.clone(), k)])
            }),
            None => {
                let mut indices = self.site.indices.clone();
                let part = |at: usize| if self.stored.is_empty() { log.clone() } else { Expr::proj(log.clone(), at) };
                for (at, k) in self.stored.iter().enumerate() {
                    indices[*k] = part(1 + at);
                }
                if indices.is_empty() {
                    return part(0);
                }
                let undo = |s: &Expr, indices: &[Expr]| Expr::update(Change::Replace, s.clone(), indices.to_vec(), part(0));
                if !self.site.is_conditional {
                    return undo(&s, &indices);
                }
                named(indices, |indices| Expr::bind("s", s, |s| Expr::if_(all_within(indices, &s), undo(&s, indices), s)))
            }
        }
    }
}

/// The type of what an update of an array of this type changes.
fn changed<'t>(array: &'t Type, site: &Site) -> &'t Type {
    site.indices.iter().fold(array, |ty, _| ty.element().unwrap_or(&Type::Double))
}

/// A log behind a condition that is kept with it.
fn marked(is_taken: bool, log: Expr) -> Expr {
    Expr::tuple(vec![Expr::bool(is_taken), log])
}

/// The update without its condition on the state where that saves little: an element is kept in any case. `None` where an array whose
/// place another one takes would be kept in each step.
fn worth_keeping(mut site: Site, array: &Type, is_step: bool) -> Option<Site> {
    let is_element = !site.around.iter().any(|around| matches!(around, Around::Loop(..))) && !changed(array, &site).has_array();
    let is_known = |around: &Around| match around {
        Around::Taken(cond) => is_step && !is_element && total(cond).is_some(),
        Around::Loop(..) | Around::If(_) => true,
    };
    site.around.retain(is_known);
    (!site.indices.is_empty() || is_step && !site.around.is_empty()).then_some(site)
}

/// The degree of what an update of an array of this type keeps.
fn degree(site: &Site, array: &Type) -> usize {
    let is_counted = |around: &&Around| match around {
        Around::If(_) | Around::Taken(_) => false,
        Around::Loop(_, count) => Size::of_expr(count).as_constant().is_none(),
    };
    let whole = if site.indices.is_empty() { size_degree(array) } else { 0 };
    site.around.iter().filter(is_counted).count() + whole
}

/// Loops around a place: their indices and how many iterations they have at most, with what is known there.
struct Loops<'a> {
    below: &'a [(Var, Size)],
    facts: &'a Facts,
}

impl Loops<'_> {
    /// The most that a size can be in any of their iterations; `None` where that is not seen.
    ///
    ///     for k < n: min w (n - 1 - k)   →   min w (n - 1)
    fn most(&self, size: &Size) -> Option<Size> {
        let mut most = Size::constant(0);
        for (monomial, coefficient) in size.terms() {
            let product = monomial.iter().fold(Size::constant(1), |product, atom| product.mul(&Size::atom(atom.clone())));
            if !self.vary(&product) {
                most = most.plus(coefficient, &product);
            } else if coefficient > 0 {
                most = most.plus(coefficient, &self.most_of_product(&monomial.iter().collect::<Vec<_>>())?);
            } else if !self.facts.nonnegative(&product) {
                // what is taken away may be less than nothing
                return None;
            }
        }
        Some(most)
    }

    fn most_of_product(&self, atoms: &[&Atom]) -> Option<Size> {
        let is_natural = |atom: &Atom| self.facts.nonnegative(&Size::atom(atom.clone()));
        (atoms.len() == 1 || atoms.iter().all(|atom| is_natural(atom))).then_some(())?;
        atoms.iter().try_fold(Size::constant(1), |product, atom| Some(product.mul(&self.most_of_atom(atom)?)))
    }

    fn most_of_atom(&self, atom: &Atom) -> Option<Size> {
        match atom {
            Atom::Var(var) => {
                Some(self.below.iter().find(|(own, _)| own == var).map_or_else(|| Size::var(var), |(_, below)| below.clone()))
            }
            Atom::Term(term) => self.most_of_term(&term.expr),
            Atom::Unknown(_) => None,
        }
    }

    fn most_of_term(&self, expr: &Expr) -> Option<Size> {
        let of = |expr: &Expr| self.most(&Size::try_of_expr(expr)?);
        let prim = |prim, a: &Size, b: &Size| Size::try_of_expr(&Expr::prim(prim, vec![a.to_expr()?, b.to_expr()?]));
        match expr.term() {
            Term::Prim(Prim::Min, args) => match (of(&args[0]), of(&args[1])) {
                (Some(a), Some(b)) => prim(Prim::Min, &a, &b),
                (a, b) => a.or(b),
            },
            Term::Prim(Prim::Max, args) => prim(Prim::Max, &of(&args[0])?, &of(&args[1])?),
            Term::If(_, a, b) => prim(Prim::Max, &of(a)?, &of(b)?),
            Term::Prim(own @ (Prim::Rem | Prim::Div), args) => match (own, args[1].term()) {
                (Prim::Rem, Term::Index(by)) if *by > 0 => Some(Size::constant(by - 1)),
                (Prim::Div, Term::Index(by)) if *by > 0 => prim(Prim::Div, &of(&args[0])?, &Size::constant(*by)),
                _ => None,
            },
            _ => None,
        }
    }

    fn vary(&self, size: &Size) -> bool {
        size.has_unknown() || self.below.iter().any(|(var, _)| size.mentions(var))
    }
}

/// Zeros of a type that is that of the elements of `s` at this depth.
fn blank(ty: &Type, s: &Expr, depth: usize) -> Expr {
    if let Type::Array(element, _) = ty {
        Expr::build(Expr::dim(s.clone(), depth), "j", |_| blank(element, s, depth + 1))
    } else {
        zeros(ty).unwrap_or_else(|| Expr::double(0.0))
    }
}

/// Whether [`blank`] knows all lengths: those of arrays in tuples are said by their types alone.
fn has_blank(ty: &Type) -> bool {
    if let Type::Array(element, _) = ty { has_blank(element) } else { zeros(ty).is_some() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In `for k < n`: what is added is at its most, what is taken away at its least; `None` where that may be less than nothing.
    #[test]
    fn the_most_of_a_count() {
        let [n, w, k, m] = ["n", "w", "k", "m"].map(|name| Var::fresh(name, Type::INDEX));
        let mut facts = Facts::default();
        facts.exists(&Type::array(Type::array(Type::Double, Size::var(&n)), Size::var(&w)));
        facts.enter_loop(&k, &Expr::var(&n));
        let below = [(k.clone(), Size::var(&n))];
        let most = |count: Expr| Loops { below: &below, facts: &facts }.most(&Size::of_expr(&count)).map(|size| size.to_string());
        let two = |prim, a: Expr, b: Expr| Expr::prim(prim, vec![a, b]);
        let rest = || two(Prim::Sub, two(Prim::Sub, Expr::var(&n), Expr::index(1)), Expr::var(&k));
        assert_eq!(most(rest()), Some("n - 1".to_string()));
        let least = most(two(Prim::Min, Expr::var(&w), rest())).expect("a bound");
        assert!(least.contains("min") && least.contains('w') && least.contains("n - 1"), "{least}");
        assert_eq!(most(two(Prim::Rem, Expr::var(&k), Expr::index(3))), Some("2".to_string()));
        assert_eq!(most(two(Prim::Sub, Expr::var(&k), Expr::var(&m))), Some("n - m".to_string()));
        let product = two(Prim::Mul, Expr::var(&m), Expr::var(&k));
        assert_eq!(most(two(Prim::Sub, Expr::var(&n), product.clone())), None, "m may be negative");
        assert_eq!(most(product), None, "m may be negative");
    }
}
