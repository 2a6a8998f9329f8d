//! What a fold overwrites: kept on the way forward, and put back on the way back, so that states are not kept whole.
//!
//! In: the updates that change a component of a fold's state in a step ([`crate::ir::in_place`]). Out: the elements that
//! they are about to change, a log of the step's own size, and the component with these elements put back.
//!
//!     fun s i -> update s i (f s)   log: s[i]                               back: update s i log
//!     fun s i -> ifold (fun s j -> update s [i, j] (f s j)) s i
//!                                   log: build n (fun j -> if j < i then s[i][j] else 0.0)
//!                                   back: ifold (fun s j -> update s [i, j] log[j]) s i
//!
//! All elements of a step's log are what the component has before the step: it does not matter in which order they are
//! put back, nor whether the step reached the update. A log is rectangular: a loop whose count depends on
//! loops around it has room for the most iterations that it can have.

use crate::ir::free::mentions;
use crate::ir::in_place::Site;
use crate::ir::subst::{freshen, substitute};
use crate::ir::{Atom, Change, Expr, Prim, Size, Type, Var};

/// A log that can be kept: that of an update whose loops have a known room.
pub struct Log {
    site: Site,
    /// For each of the loops around the update, where its count depends on a loop, the room for its iterations.
    rooms: Vec<Option<Expr>>,
}

impl Log {
    /// The log of an update in the steps of a loop over `i` of so many steps; `None` where it depends on the state when and
    /// where the update is.
    pub fn of(site: Site, acc: &Var, i: &Var, n: &Expr) -> Option<Log> {
        if site.loops.iter().map(|(_, count)| count).chain(&site.indices).any(|term| mentions(term, acc)) {
            return None;
        }
        let mut ranges = vec![(i.clone(), Size::try_of_expr(n)?)];
        let mut rooms = Vec::new();
        for (j, count) in &site.loops {
            let size = Size::try_of_expr(count)?;
            let depends = ranges.iter().any(|(var, _)| size.mentions(var));
            let room = if depends { most(&size, &ranges)? } else { size };
            rooms.push(if depends { Some(room.to_expr()?) } else { None });
            ranges.push((j.clone(), room));
        }
        Some(Log { site, rooms })
    }

    /// The loops around the update, outermost first, with the room where it is not the count.
    fn loops(&self) -> impl DoubleEndedIterator<Item = (&Var, &Expr, Option<&Expr>)> + ExactSizeIterator {
        self.site.loops.iter().zip(&self.rooms).map(|((j, count), room)| (j, count, room.as_ref()))
    }

    /// What is about to be changed of `s`.
    pub fn taken(&self, s: &Expr) -> Expr {
        let item = self.site.indices.iter().fold(s.clone(), |s, index| Expr::get(s, index.clone()));
        let item = match self.in_range(s) {
            Some(in_range) => Expr::if_(in_range, item, self.nothing_below(s, self.rooms.len())),
            None => item,
        };
        let log = self.loops().enumerate().rev().fold(item, |item, (depth, (j, count, room))| match room {
            None => Expr::build_with(count.clone(), j.clone(), item),
            Some(room) => Expr::build(room.clone(), j.name(), |k| {
                let item = substitute(&item, &[(j.clone(), k.clone())]);
                let runs = Expr::prim(Prim::Lt, vec![k, count.clone()]);
                Expr::if_(runs, item, self.nothing_below(s, depth + 1))
            }),
        });
        freshen(&log)
    }

    /// A log in which nothing is yet.
    pub fn nothing(&self, s: &Expr) -> Expr {
        self.nothing_below(s, 0)
    }

    fn nothing_below(&self, s: &Expr, depth: usize) -> Expr {
        let changed = self.site.indices.iter().fold(s.ty(), |ty, _| ty.element().unwrap_or(&Type::Double));
        let nothing = blank(changed, s, self.site.indices.len());
        self.loops().skip(depth).rev().fold(nothing, |item, (_, count, room)| Expr::build(room.unwrap_or(count).clone(), "j", |_| item))
    }

    /// `s` with what was taken put back.
    pub fn put_back(&self, s: Expr, log: &Expr) -> Expr {
        freshen(&self.in_loops(&self.site.loops, s, log.clone()))
    }

    fn in_loops(&self, loops: &[(Var, Expr)], s: Expr, log: Expr) -> Expr {
        let Some(((j, count), rest)) = loops.split_first() else {
            let undone = Expr::update(Change::Replace, s.clone(), self.site.indices.clone(), log);
            return match self.in_range(&s) {
                Some(in_range) => Expr::if_(in_range, undone, s),
                None => undone,
            };
        };
        let acc = Var::fresh("s", s.ty().clone());
        let body = self.in_loops(rest, Expr::var(&acc), Expr::get(log, Expr::var(j)));
        Expr::fold_with(count.clone(), acc, j.clone(), body, s)
    }

    /// Whether the indices are in range, where the update may not be reached.
    fn in_range(&self, s: &Expr) -> Option<Expr> {
        if !self.site.is_conditional {
            return None;
        }
        let below = |(axis, index): (usize, &Expr)| {
            let not_negative = Expr::prim(Prim::Le, vec![Expr::index(0), index.clone()]);
            let below = Expr::prim(Prim::Lt, vec![index.clone(), Expr::dim(s.clone(), axis)]);
            Expr::prim(Prim::And, vec![not_negative, below])
        };
        self.site.indices.iter().enumerate().map(below).reduce(|a, b| Expr::prim(Prim::And, vec![a, b]))
    }
}

/// The most that a size can be where these variables are below these sizes: what is taken away is left out.
fn most(size: &Size, ranges: &[(Var, Size)]) -> Option<Size> {
    let mut most = Size::constant(0);
    for (monomial, coefficient) in size.terms().filter(|(_, coefficient)| *coefficient > 0) {
        let mut product = Size::constant(coefficient);
        for atom in monomial.iter() {
            let factor = match atom {
                Atom::Var(var) => ranges.iter().find(|(own, _)| own == var).map_or_else(|| Size::var(var), |(_, below)| below.clone()),
                Atom::Term(_) | Atom::Unknown(_) => return None,
            };
            product = product.mul(&factor);
        }
        most = most.add(&product);
    }
    Some(most)
}

/// Zeros of a type that is that of the elements of `s` at this depth.
fn blank(ty: &Type, s: &Expr, depth: usize) -> Expr {
    match ty {
        Type::Double => Expr::double(0.0),
        Type::Index(_) => Expr::index(0),
        Type::Bool => Expr::bool(false),
        Type::Array(element, _) => Expr::build(Expr::dim(s.clone(), depth), "j", |_| blank(element, s, depth + 1)),
        Type::Tuple(parts) => Expr::tuple(parts.iter().map(|part| blank(part, s, depth)).collect()),
    }
}
