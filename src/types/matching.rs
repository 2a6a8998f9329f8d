//! `match`: the row that a value comes to.
//!
//! In: the value and its rows. Out: its type; a chain of `if`s over tags and literals, in the order of the rows, where the last row
//! needs no test. What `exhaustive` finds is said here: a case that no row takes is an error, a row that no value comes to a warning.
//!
//!     match s with | Circle r -> r | Box (a, b) -> a * b   →   if s.0 = 0 then let r = s.1 in r else let a = s.2.0 in …

use super::canonical::has_unknown;
use super::deferred::Rows;
use super::elaborate::{Elaborator, Result};
use super::exhaustive::{self, Head, Pat, Steps};
use super::infer::{Infer, Scope};
use super::lengths::{disagree, in_sums, leaves, part};
use super::record::component;
use super::scope::Scope as Names;
use super::ty::{Record, Ty};
use crate::diagnostic::Diagnostic;
use crate::ir::{Atom, Expr, Prim, Size, Term, Type};
use crate::source::Span;
use crate::syntax::ast::{self, Pattern, PatternKind, Row};

impl Infer<'_> {
    pub(super) fn matching(&mut self, value: &ast::Expr, rows: &[Row], span: Span, scope: &Scope) -> Ty {
        let found = self.expr(value, scope).ty;
        self.no_function(value.span, &found, "taken apart by a `match`");
        let mut first: Option<(Ty, Span)> = None;
        for row in rows {
            self.no_repeats(std::slice::from_ref(&row.pattern));
            let outside = std::mem::replace(&mut self.in_row, true);
            let inside = self.bind(&row.pattern, &found, None, scope);
            self.in_row = outside;
            let ty = self.expr(&row.body, &inside).ty;
            match &first {
                None => {
                    self.no_function(row.body.span, &ty, "chosen by a `match`");
                    first = Some((ty, row.body.span));
                }
                Some((wanted, place)) => {
                    if let Err(mismatch) = self.holes.unify(wanted, &ty) {
                        let label = (*place, format!("this row is {}", self.text(wanted)));
                        let wanted = wanted.clone();
                        self.mismatch(row.body.span, &wanted, &ty, mismatch, "all rows must have one type", Some(label));
                    }
                }
            }
        }
        self.rows.push(Rows { span: value.span, patterns: rows.iter().map(|row| row.pattern.clone()).collect() });
        let result = first.map_or_else(|| self.fresh_type(), |(ty, _)| ty);
        self.chooses(span, &result);
        result
    }

    /// Notes the type of an `if` or a `match`, for the lengths in its sums.
    pub(super) fn chooses(&mut self, span: Span, ty: &Ty) {
        if self.records.iter().any(|record| record.is_sum() && !record.sizes.is_empty()) {
            self.notes.choices.insert(span, ty.clone());
        }
    }

    /// Says which cases are missing and which rows are never reached.
    pub(super) fn check_rows(&mut self) {
        for rows in std::mem::take(&mut self.rows) {
            let patterns: Option<Vec<Pat>> = rows.patterns.iter().map(|pattern| self.pat(pattern)).collect();
            let Some(patterns) = patterns else { continue };
            let mut steps = Steps::default();
            match exhaustive::missing(&patterns, &mut steps) {
                Ok(None) => {}
                Ok(Some(missing)) => {
                    let help = "add a row for it, or `| _ -> …` for all that is left";
                    self.report(Diagnostic::error("E0313", rows.span, format!("no row takes `{missing}`")).help(help));
                }
                Err(exhaustive::TooMany) => {
                    let message = "the patterns of this `match` are too many to be compared";
                    self.report(Diagnostic::error("E0109", rows.span, message).help("match one part of the value after the other"));
                }
            }
            for at in exhaustive::unreachable(&patterns) {
                let Some(pattern) = rows.patterns.get(at) else { continue };
                self.notes.unreachable.insert(pattern.span);
                let help = "the rows above take every value that it matches: remove it, or move it up";
                self.report(Diagnostic::warning("W0314", pattern.span, "this row is never reached").help(help));
            }
        }
    }

    /// What a pattern matches; `None` where something in it is unknown.
    fn pat(&self, pattern: &Pattern) -> Option<Pat> {
        let all = |parts: &[Pattern]| parts.iter().map(|part| self.pat(part)).collect::<Option<Vec<Pat>>>();
        Some(match &pattern.kind {
            PatternKind::Var(_) | PatternKind::Wildcard => Pat::Any,
            PatternKind::Typed(inner, _) => self.pat(inner)?,
            PatternKind::Tuple(parts) => Pat::Of(Head::Tuple(parts.len()), all(parts)?),
            PatternKind::Int(value) => Pat::Of(Head::Int(*value), Vec::new()),
            PatternKind::Bool(value) => Pat::Of(Head::Bool(*value), Vec::new()),
            PatternKind::Case(_, data) => {
                let (sum, case) = self.notes.cases.get(&pattern.span)?.clone();
                let data = data.iter().map(|data| self.pat(data)).collect::<Option<Vec<Pat>>>()?;
                let wanted = usize::from(sum.cases.get(case)?.data.is_some());
                (data.len() == wanted).then_some(Pat::Of(Head::Case(sum, case), data))?
            }
            PatternKind::Record(fields) => {
                let record = self.notes.records.get(&pattern.span)?.clone();
                let mut parts: Vec<Pat> = record.fields.iter().map(|_| Pat::Any).collect();
                for (name, part) in fields {
                    *parts.get_mut(record.place(&name.text)?)? = self.pat(part)?;
                }
                Pat::Of(Head::Record(record), parts)
            }
        })
    }
}

impl<'a> Elaborator<'a> {
    pub(super) fn matching(&mut self, value: &'a ast::Expr, rows: &'a [Row], span: Span, scope: &Names<'a>) -> Result<Expr> {
        let value = self.expr(value, scope)?;
        let value = self.atoms(value);
        let rows: Vec<&Row> = rows.iter().filter(|row| !self.infer.notes.unreachable.contains(&row.pattern.span)).collect();
        let Some((last, tested)) = rows.split_last() else { return self.function_as_value(span) };
        if tested.is_empty() {
            let scope = self.bind(&last.pattern, value, scope)?;
            return self.expr(&last.body, &scope);
        }
        let mut ty: Option<Type> = None;
        let mut bodies = Vec::new();
        let of_cases = self.local.of_cases.len();
        // a row without data of a case decides the lengths, if there is one; those of the other rows are compared with them
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|at| rows.get(*at).is_some_and(|row| has_data(&row.pattern)));
        for at in order {
            let Some(row) = rows.get(at) else { continue };
            let body = self.in_branch(|this| {
                let inside = this.bind(&row.pattern, value.clone(), scope)?;
                let body = this.expr(&row.body, &inside)?;
                match &ty {
                    None => Ok(body),
                    Some(ty) => this.branch(body, ty, (span, row.body.span), scope, "all rows of a `match` have one shape"),
                }
            })?;
            self.local.of_cases.truncate(of_cases);
            ty.get_or_insert_with(|| body.ty().without_bounds());
            bodies.push((at, body));
        }
        bodies.sort_by_key(|(at, _)| *at);
        let bodies = bodies.into_iter().map(|(_, body)| body).collect();
        let bodies = self.shared_lengths(bodies, &rows, &value, span, scope)?;
        let mut bodies = bodies.into_iter().rev();
        let Some(mut result) = bodies.next() else { return self.function_as_value(span) };
        for (row, body) in tested.iter().rev().zip(bodies) {
            let mut tests = Vec::new();
            self.tests(&row.pattern, &value, &mut tests);
            let condition = tests.into_iter().reduce(|a, b| Expr::prim(Prim::And, vec![a, b])).unwrap_or(Expr::bool(true));
            result = self.choose(condition, body, result, span, scope);
        }
        Ok(result)
    }

    /// The bodies with one type, where the lengths in their sums are the same for all that each row knows: in the row of a case the arrays
    /// of the other cases are empty, so `match d with Points v -> Points (2.0 * v) | other -> other` has the lengths of d.
    fn shared_lengths(&mut self, bodies: Vec<Expr>, rows: &[&Row], value: &Expr, span: Span, scope: &Names<'a>) -> Result<Vec<Expr>> {
        // with shared lengths the data of other cases are not empty
        let Some(template) = self.choice(span, scope).filter(|_| !self.shares_lengths) else { return Ok(bodies) };
        let empty: Vec<Vec<Atom>> = (0..rows.len()).map(|at| self.empty_in(rows.get(..=at).unwrap_or_default(), value)).collect();
        let own: Vec<Vec<Size>> = bodies.iter().map(|body| sum_lengths(&template, body.ty())).collect();
        let known = |row: usize, size: &Size| {
            size.substitute(&mut |atom| empty.get(row).is_some_and(|empty| empty.contains(atom)).then(|| Size::constant(0)))
        };
        let count = own.first().map_or(0, Vec::len);
        let shared = (0..count).map(|at| {
            let of = |row: usize| own.get(row).and_then(|own| own.get(at));
            let is_empty = |row: usize, size: &Size| known(row, size).as_constant() == Some(0);
            let agree = |row: usize, own: &Size, size: &Size| own == size || is_empty(row, own) && is_empty(row, size);
            let fits = |size: &&Size| (0..own.len()).all(|row| of(row).is_some_and(|own| agree(row, own, size)));
            (0..own.len()).filter_map(of).filter(|size| !size.has_unknown()).find(fits).cloned()
        });
        let shared: Vec<Option<Size>> = shared.collect();
        let mut fitted = Vec::new();
        for body in bodies {
            let mut next = shared.iter();
            let ty = body.ty().without_bounds();
            let wanted = in_sums(&template, &ty, &ty, &mut |own, _| next.next().cloned().flatten().unwrap_or_else(|| own.clone()));
            fitted.push(if wanted == ty { body } else { self.in_branch(|this| Ok(this.with_lengths(body, &wanted)))? });
        }
        Ok(fitted)
    }

    /// The lengths in the value that are 0 in the last of these rows: those of cases that it or the rows above exclude.
    fn empty_in(&self, rows: &[&Row], value: &Expr) -> Vec<Atom> {
        let mut found = Vec::new();
        let Some((last, above)) = rows.split_last() else { return found };
        self.excluded(&last.pattern, value, &mut found);
        for row in above {
            if let (PatternKind::Case(_, data), Some((sum, case))) = (&row.pattern.kind, self.case_at(row.pattern.span))
                && data.as_ref().is_none_or(|data| matches!(data.kind, PatternKind::Var(_) | PatternKind::Wildcard))
            {
                lengths_of(&sum, value, |other| other == case, &mut found);
            }
        }
        found
    }

    fn excluded(&self, pattern: &Pattern, value: &Expr, found: &mut Vec<Atom>) {
        match &pattern.kind {
            PatternKind::Case(_, data) => {
                let Some((sum, case)) = self.case_at(pattern.span) else { return };
                lengths_of(&sum, value, |other| other != case, found);
                if let (Some(data), Some(of_case)) = (data, sum.cases.get(case).and_then(|case| case.data.as_ref())) {
                    self.excluded(data, &component(&sum, value.clone(), of_case.part), found);
                }
            }
            PatternKind::Tuple(parts) => {
                parts.iter().enumerate().for_each(|(at, inner)| self.excluded(inner, &part(value, at), found));
            }
            PatternKind::Typed(inner, _) => self.excluded(inner, value, found),
            PatternKind::Var(_) | PatternKind::Wildcard | PatternKind::Record(_) | PatternKind::Int(_) | PatternKind::Bool(_) => {}
        }
    }

    /// A value that may be written several times: a tuple by the names of its components.
    fn atoms(&mut self, value: Expr) -> Expr {
        if let Term::Tuple(parts) = value.term() {
            let span = value.span();
            Expr::tuple(parts.iter().map(|part| self.atoms(part.clone())).collect()).at(span)
        } else {
            self.name("s", value)
        }
    }

    /// What is true where a pattern matches.
    fn tests(&self, pattern: &Pattern, value: &Expr, tests: &mut Vec<Expr>) {
        match &pattern.kind {
            PatternKind::Var(_) | PatternKind::Wildcard => {}
            PatternKind::Typed(inner, _) => self.tests(inner, value, tests),
            PatternKind::Tuple(parts) => {
                parts.iter().enumerate().for_each(|(at, inner)| self.tests(inner, &part(value, at), tests));
            }
            PatternKind::Record(fields) => {
                let Some(record) = self.infer.notes.records.get(&pattern.span) else { return };
                for (name, part) in fields {
                    let at = record.place(&name.text).unwrap_or_default();
                    self.tests(part, &component(record, value.clone(), at), tests);
                }
            }
            PatternKind::Case(_, data) => {
                let Some((sum, case)) = self.case_at(pattern.span) else { return };
                if sum.cases.len() > 1 {
                    let tag = component(&sum, value.clone(), 0);
                    tests.push(Expr::prim(Prim::Eq, vec![tag, Expr::index(case as i64)]));
                }
                if let (Some(data), Some(found)) = (data, sum.cases.get(case).and_then(|case| case.data.as_ref())) {
                    self.tests(data, &component(&sum, value.clone(), found.part), tests);
                }
            }
            PatternKind::Int(literal) => tests.push(Expr::prim(Prim::Eq, vec![value.clone(), Expr::index(*literal)])),
            PatternKind::Bool(true) => tests.push(value.clone()),
            PatternKind::Bool(false) => tests.push(Expr::prim(Prim::Not, vec![value.clone()])),
        }
    }

    /// A branch with the shape of the first one; a sum in it keeps the lengths of its own case. `places`: the choice's, the branch's.
    pub(super) fn branch(&mut self, value: Expr, first: &Type, places: (Span, Span), scope: &Names<'a>, why: &str) -> Result<Expr> {
        let wanted = match self.choice(places.0, scope) {
            Some(template) => in_sums(&template, first, value.ty(), &mut |_, have| have.clone()),
            None => first.clone(),
        };
        let have = value.ty().clone();
        let value = self.coerce(value, &wanted, places.1, why)?;
        let bounded = value.ty().with_bounds_of(&have);
        Ok(Expr::with_type(value.term().clone(), bounded, value.span()))
    }

    /// `if` of two branches of one shape.
    pub(super) fn choose(&mut self, condition: Expr, then: Expr, otherwise: Expr, span: Span, scope: &Names<'a>) -> Expr {
        let template = self.choice(span, scope);
        let (then, otherwise) = match &template {
            // sizes that choose the branch also say which data are empty; but all calls of a recursive function give one length
            Some(template)
                if self.shares_lengths
                    && then.ty() != otherwise.ty()
                    && (self.local.is_recursive || Size::try_of_expr(&condition).is_none()) =>
            {
                self.with_lengths_of_each_other(template, then, otherwise)
            }
            _ => (then, otherwise),
        };
        let exact = match template {
            _ if then.ty() == otherwise.ty() => then.ty().clone(),
            Some(template) => {
                let (a, b) = (then.ty().without_bounds(), otherwise.ty().without_bounds());
                let ty = in_sums(&template, &a, &b, &mut |a, b| Size::chosen(&condition, a, b).unwrap_or_else(Size::unknown));
                if has_unknown(&ty) && disagree(&[leaves(&then), leaves(&otherwise)].concat(), &ty) {
                    self.local.of_data.choices.push(span);
                }
                ty
            }
            None => then.ty().clone(),
        };
        let joined = Expr::if_(condition, then, otherwise);
        Expr::with_type(joined.term().clone(), exact.with_bounds_of(joined.ty()), span)
    }

    /// The type of a choice, where there are sums with arrays.
    pub(super) fn choice(&self, span: Span, scope: &Names<'a>) -> Option<Ty> {
        self.infer.notes.choices.get(&span).map(|ty| self.concrete(ty, scope))
    }
}

/// The lengths in the data of some cases of a value.
fn lengths_of(sum: &Record, value: &Expr, which: impl Fn(usize) -> bool, found: &mut Vec<Atom>) {
    for (_, case) in sum.cases.iter().enumerate().filter(|(at, _)| which(*at)) {
        let Some(data) = &case.data else { continue };
        component(sum, value.clone(), data.part).ty().each_length(&mut |size| found.extend(size.as_atom().cloned()));
    }
}

/// The lengths in the sums of a type.
fn sum_lengths(template: &Ty, ty: &Type) -> Vec<Size> {
    let mut found = Vec::new();
    in_sums(template, ty, ty, &mut |size, _| {
        found.push(size.clone());
        size.clone()
    });
    found
}

/// Whether a pattern names something in the data of a case.
fn has_data(pattern: &Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Case(_, data) => data.as_ref().is_some_and(|data| !matches!(data.kind, PatternKind::Wildcard)),
        PatternKind::Tuple(parts) => parts.iter().any(has_data),
        PatternKind::Typed(inner, _) => has_data(inner),
        PatternKind::Var(_) | PatternKind::Wildcard | PatternKind::Record(_) | PatternKind::Int(_) | PatternKind::Bool(_) => false,
    }
}
