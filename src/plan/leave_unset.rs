//! Results of sum types: only the data of the case that the result is of are written.
//!
//! In: an entry, whose labels say where its result has sum types. Out: the same entry, with `unset` (`ir::ambient`) for the data of the
//! other cases, where the interpreter has zeros. A caller of C reads the tag first.
//!
//!     if c then (0, x, 0.0) else (1, 0.0, y)   →   if c then (0, x, unset) else (1, unset, y)      of Circle x | Square y
//!     s                                         →   (s.0, if s.0 = 0 then s.1 else unset, if s.0 = 1 then s.2 else unset)

use crate::ir::ambient::unset;
use crate::ir::last_use::component;
use crate::ir::subst::map_children;
use crate::ir::{Expr, Function, Labels, Prim, Term, Type, Var};

use super::Options;
use super::duplicate_tails::{ended, takes_tail};

/// The body with `unset` for the data of other cases in an entry's result; that of a function inside stays.
pub fn run(function: &Function, _: &Options) -> Expr {
    let labels = function.result_labels();
    if function.is_entry && labels.has_cases() { of_case(&function.body, labels, &Known::default()) } else { function.body.clone() }
}

/// What enclosing branches say of tags: the variable, the path to the component, a case, and whether the tag is that case.
#[derive(Clone, Debug, Default)]
struct Known(Vec<(Var, Vec<usize>, i64, bool)>);

impl Known {
    /// What is known in one branch of a condition, which holds there or does not.
    fn branch(&self, cond: &Expr, holds: bool) -> Known {
        let mut known = self.clone();
        if let Some((tag, case)) = tag_and_case(cond)
            && let Some((var, path)) = component(tag)
        {
            known.0.push((var.clone(), path, case, holds));
        }
        known
    }

    /// Whether a condition on a tag holds, where that is known.
    fn holds(&self, cond: &Expr) -> Option<bool> {
        let (tag, case) = tag_and_case(cond)?;
        if let Term::Index(is) = tag.term() {
            return Some(*is == case);
        }
        let (var, path) = component(tag)?;
        let mut said = self.0.iter().filter(|(of, at, ..)| of == var && *at == path);
        said.find_map(|(_, _, other, holds)| if *holds || *other == case { Some(*holds == (*other == case)) } else { None })
    }

    /// The term without the branches that are not taken.
    fn taken(&self, expr: &Expr) -> Expr {
        match expr.term() {
            _ if self.0.is_empty() => expr.clone(),
            Term::If(cond, a, b) => match self.holds(cond) {
                Some(holds) => self.taken(if holds { a } else { b }),
                None => map_children(expr, &mut |child| self.taken(child)),
            },
            _ => map_children(expr, &mut |child| self.taken(child)),
        }
    }
}

/// The tag and the number of the condition that a value is of a case.
fn tag_and_case(cond: &Expr) -> Option<(&Expr, i64)> {
    let Term::Prim(Prim::Eq, args) = cond.term() else { return None };
    match (args.as_slice(), args.get(1)?.term()) {
        ([tag, _], Term::Index(case)) => Some((tag, *case)),
        _ => None,
    }
}

/// The value with `unset` for the data of other cases.
fn of_case(expr: &Expr, labels: &Labels, known: &Known) -> Expr {
    if !labels.has_cases() {
        return known.taken(expr);
    }
    if let Some((_, inside)) = labels.sole() {
        return of_case(expr, inside, known);
    }
    let with = |term: Term| Expr::with_type(term, expr.ty().clone(), expr.span());
    match expr.term() {
        Term::Let(x, value, end) if takes_tail(value, x, end) => of_case(&ended(value, x, end), labels, known),
        Term::Let(x, value, body) => with(Term::Let(x.clone(), value.clone(), of_case(body, labels, known))),
        Term::Check { cond, status, body } => with(Term::Check { cond: cond.clone(), status: *status, body: of_case(body, labels, known) }),
        Term::If(cond, a, b) => {
            let branch = |value, holds| of_case(value, labels, &known.branch(cond, holds));
            with(Term::If(cond.clone(), branch(a, true), branch(b, false)))
        }
        Term::Build { n, i, body } => with(Term::Build { n: n.clone(), i: i.clone(), body: of_case(body, labels.element(), known) }),
        Term::Array(elements) => with(Term::Array(elements.iter().map(|element| of_case(element, labels.element(), known)).collect())),
        Term::Tuple(parts) => match (labels, parts.first()) {
            (Labels::Sum(..), Some(tag)) if !tag.is_atom() && component(tag).is_none() => {
                let named = Var::fresh("tag", tag.ty().clone());
                let parts = [Expr::var(&named)].into_iter().chain(parts.iter().skip(1).cloned()).collect();
                with(Term::Let(named, tag.clone(), of_case(&with(Term::Tuple(parts)), labels, known)))
            }
            _ => with(Term::Tuple(parts_of_case(parts, labels, known))),
        },
        Term::Var(_) => taken_apart(expr, labels, known),
        _ => {
            let whole = Var::fresh("result", expr.ty().clone());
            with(Term::Let(whole.clone(), expr.clone(), taken_apart(&Expr::var(&whole), labels, known)))
        }
    }
}

/// The components of a sum type's value, which its tag begins: those of other cases are unset.
fn parts_of_case(parts: &[Expr], labels: &Labels, known: &Known) -> Vec<Expr> {
    let of_part = |(at, part): (usize, &Expr)| {
        let inside = |known: &Known| of_case(part, labels.part(at), known);
        let (Some(case), Some(tag), Some(nothing)) = (labels.case_of(at), parts.first(), unset(part.ty())) else { return inside(known) };
        let is_case = Expr::prim(Prim::Eq, vec![tag.clone(), Expr::index(case as i64)]);
        match known.holds(&is_case) {
            Some(true) => inside(known),
            Some(false) => nothing,
            None => Expr::if_(is_case.clone(), inside(&known.branch(&is_case, true)), nothing),
        }
    };
    parts.iter().enumerate().map(of_part).collect()
}

/// The components, or the elements, of a value that has a name.
fn taken_apart(value: &Expr, labels: &Labels, known: &Known) -> Expr {
    match value.ty() {
        Type::Tuple(types) => {
            let parts: Vec<Expr> = (0..types.len()).map(|at| Expr::proj(value.clone(), at)).collect();
            of_case(&Expr::tuple(parts), labels, known)
        }
        Type::Array(..) => Expr::build(Expr::dim(value.clone(), 0), "i", |i| {
            let element = Expr::get(value.clone(), i);
            Expr::bind("element", element, |element| taken_apart(&element, labels.element(), known))
        }),
        Type::Double | Type::Bool | Type::Index(_) | Type::Rec(_) => value.clone(),
    }
}
