//! Gather to scatter: sums that each take the terms of their own index become one loop over the terms, which adds each to its element.
//!
//!     build n (fun r -> ifold (fun s i -> if r = k[i] then s + e else s) z m)
//!       →  ifold (fun a i -> let at = k[i] in if 0 <= at && at < n then accumulate a at e[at/r] else a) (build n (fun r -> z)) m
//!
//!     build n (fun r -> build d (fun c -> 2 * ifold (fun s i -> if r = k[i] then s + x[i][c] else s) 0 m))
//!       →  let sums = ifold (fun a i -> ifold (fun a c -> accumulate a [k[i], c] x[i][c]) a d) (build n (fun r -> build d (fun c -> 0))) m
//!          in build n (fun r -> build d (fun c -> 2 * sums[r][c]))
//!
//! So the derivative of `c[k[i]]`, or a product with a sparse Jacobian, costs as much as it has terms, not n times that. Each
//! sum adds the same numbers in the same order. A step may add several terms, in loops and where conditions hold; what depends on r
//! waits until it is known which r is meant, and is stored for each r where it takes long (`steps`). Limits: nests of at most
//! [`LARGEST`] nodes; all that moves may fail in one way alone; an index that is linear in those of the sum's loops is for `sum-one-hot`.

use rustc_hash::FxHashMap;

use crate::ir::free::{any_free_var, each_free_var, mentions};
use crate::ir::subst::freshen;
use crate::ir::{Expr, Prim, Size, Term, Type, Var};
use crate::rewrite::alike::replace;
use crate::rewrite::cost::Work;
use crate::rewrite::facts::{Facts, Failures};

use super::lambda::strict_operands;
use super::linear::has_loop;
use super::rules;

mod steps;

/// What is asked of all that moves,
const ALIKE: &str = "k, e, m and z fail in one way";

/// and of what waits until it is known which row is meant.
const WAITS: &str = "what waits for r is total";

/// A nest of more nodes is not looked at.
pub(super) const LARGEST: usize = 2000;

/// So many operations are as quick as to store and read what they give.
const LONG: u32 = 8;

rules! {
    "build-scatter" Loop Normalisation @ Build: "build n (fun r -> ifold (fun s i -> if r = k then s + e else s) z m) -> ifold (fun a i -> if 0 <= k && k < n then accumulate a k e[k/r] else a) (build n (fun r -> z)) m"
        if ["k, e, m and z fail in one way", "what waits for r is total"] => build_scatter;
}

fn build_scatter(expr: &Expr, facts: &Facts) -> Option<Expr> {
    if expr.has_updates() || expr.node_count() > LARGEST || !has_sum(expr) {
        return None;
    }
    let found = Finder::new(facts).find(expr, true)?;
    let sums = Var::fresh("sums", found.sums.ty().clone());
    let element = found.rows.iter().fold(Expr::var(&sums), |array, row| Expr::get(array, Expr::var(&row.var)));
    let rest = Expr::let_(sums, found.sums, replace(expr, &found.sum, &element));
    Some(freshen(&found.stored.into_iter().rev().fold(rest, |rest, (name, array)| Expr::let_(name, array, rest))))
}

/// The array `row` with what `step` adds to the accumulator `acc` of each element, where it is known which. `total`: the condition of
/// the law that nothing of that may fail.
pub(super) fn row_of(facts: &Facts, (n, i): (&Expr, &Var), acc: &Var, step: &Expr, row: Expr, total: &'static str) -> Option<Expr> {
    let mut finder = Finder { alike: None, total, ..Finder::new(facts) };
    let own = Row { var: i.clone(), n: n.clone(), is_there: false };
    finder.scope.rows.push(own.clone());
    finder.around.push(Around::Row(own));
    finder.scope.kept.push(acc.clone());
    finder.step(step, acc, row)
}

/// The index of a `build` around a sum, and its count.
#[derive(Clone)]
struct Row {
    var: Var,
    n: Expr,
    /// Whether there is one for certain, where those around are.
    is_there: bool,
}

/// What stands around a sum.
enum Around {
    Row(Row),
    Let(Var, Expr),
    /// A condition, what it is, and the element otherwise.
    If(Expr, bool, Expr),
    /// What is computed before or after it.
    Beside(Expr),
}

/// A sum that an element needs, and the array of those of all rows.
struct Found {
    sum: Expr,
    rows: Vec<Row>,
    /// What is stored for each row before.
    stored: Vec<(Var, Expr)>,
    sums: Expr,
}

/// A number of each row that is stored before the loop, in what stands around it.
struct Stored {
    name: Var,
    value: Expr,
    around: usize,
}

/// What may be asked where a part of a sum stands.
#[derive(Clone, Default)]
struct Scope {
    /// The rows of which it is not known which is meant.
    rows: Vec<Row>,
    /// What depends on them, and the conditions that do.
    lets: Vec<(Var, Expr)>,
    conds: Vec<(Expr, bool)>,
    /// The rows that each of these names depends on.
    depends: FxHashMap<Var, Vec<Var>>,
    /// What stays where it is: sums, and loops of a row.
    kept: Vec<Var>,
    /// The indices of the sums' loops.
    loops: Vec<Var>,
}

/// Finds sums that are scattered, and what each step adds to which row.
struct Finder<'a> {
    /// What the rule is told, which refusals are noted with.
    asked: &'a Facts,
    /// Outermost first.
    around: Vec<Around>,
    scope: Scope,
    /// Arrays of what takes long to compute again for each term.
    stored: Vec<Stored>,
    facts: Facts,
    /// How what moves may fail.
    failures: Failures,
    /// The condition that all which moves fails in one way; none where nothing of it may fail.
    alike: Option<&'static str>,
    /// The condition that a term cannot fail.
    total: &'static str,
}

impl Finder<'_> {
    fn new(facts: &Facts) -> Finder<'_> {
        let (around, scope, stored, failures) = (Vec::new(), Scope::default(), Vec::new(), Failures::default());
        Finder { asked: facts, around, scope, stored, facts: facts.clone(), failures, alike: Some(ALIKE), total: WAITS }
    }

    /// The first sum that elements always need and that is scattered; `is_nest`: nothing but arrays, tuples and lets is around.
    fn find(&mut self, expr: &Expr, is_nest: bool) -> Option<Found> {
        match expr.term() {
            Term::Build { n, i, body } if is_nest && !self.varies(n) => {
                let is_there = Size::try_of_expr(n).is_some_and(|n| self.facts.positive(&n));
                let row = Row { var: i.clone(), n: n.clone(), is_there };
                self.scope.rows.push(row.clone());
                self.around.push(Around::Row(row));
                self.find(body, true)
            }
            Term::Let(x, value, body) => {
                let in_value = self.inside(|this| {
                    this.around.push(Around::Beside(body.clone()));
                    this.find(value, false)
                });
                in_value.or_else(|| {
                    if !self.is_total(value) {
                        self.scope.kept.push(x.clone());
                    } else if x.ty() == &Type::Double && takes_long(value) {
                        let lengths = self.rows().filter_map(|row| bound_of(&row.var)).collect::<Vec<_>>();
                        let ty = lengths.into_iter().rev().fold(Type::Double, Type::array);
                        let name = x.renewed(ty);
                        let element = self.element_of(&name);
                        self.put_off(x, element);
                        self.stored.push(Stored { name, value: value.clone(), around: self.around.len() });
                    } else if has_loop(value) {
                        self.scope.kept.push(x.clone());
                    } else {
                        self.put_off(x, value.clone());
                    }
                    self.facts.enter_let(x, value);
                    self.around.push(Around::Let(x.clone(), value.clone()));
                    self.find(body, is_nest)
                })
            }
            Term::Fold { init, .. } if expr.ty() == &Type::Double && expr.has_conditions() => {
                self.inside(|this| this.sum(expr)).or_else(|| self.inside(|this| this.find(init, false)))
            }
            Term::If(cond, then, otherwise) if expr.ty() == &Type::Double && self.varies(cond) => {
                self.waits(cond)?;
                [(then, true, otherwise), (otherwise, false, then)].into_iter().find_map(|(branch, truth, other)| {
                    self.inside(|this| {
                        this.scope.conds.push((cond.clone(), truth));
                        this.around.push(Around::If(cond.clone(), truth, other.clone()));
                        // the other branch is what such an element begins with
                        let found = this.find(branch, false)?;
                        found.sum.is_same(branch).then(|| Found { sum: expr.clone(), ..found })
                    })
                })
            }
            Term::Prim(..) | Term::Tuple(_) | Term::Array(_) => {
                let is_strict = strict_operands(expr);
                let parts = expr.term().children().enumerate().filter(|(at, _)| is_strict(*at));
                let is_nest = is_nest && !matches!(expr.term(), Term::Prim(..));
                let parts: Vec<&Expr> = parts.map(|(_, part)| part).collect();
                parts.iter().enumerate().find_map(|(at, part)| {
                    self.inside(|this| {
                        let others = parts.iter().enumerate().filter(|(other, _)| *other != at);
                        this.around.extend(others.map(|(_, other)| Around::Beside((*other).clone())));
                        this.find(part, is_nest)
                    })
                })
            }
            _ => None,
        }
    }

    /// A sum that is scattered.
    fn sum(&mut self, expr: &Expr) -> Option<Found> {
        let Term::Fold { n, acc, i, body, init } = expr.term() else { return None };
        let rows: Vec<Row> = self.rows().cloned().collect();
        let first = self.over_rows(init.clone(), self.around.len());
        let state = Var::fresh("sums", first.ty().clone());
        self.failures = Failures::default();
        let step = self.repeated(n, acc, i, body, Expr::var(&state))?;
        let count = if self.failures.is_empty() { n.clone() } else { Self::where_rows(&rows, n) };
        let parts = self.around.iter().filter_map(|around| match around {
            Around::Let(_, part) | Around::If(_, _, part) | Around::Beside(part) => Some(part.clone()),
            Around::Row(_) => None,
        });
        let parts: Vec<Expr> = parts.chain([init.clone()]).collect();
        parts.iter().for_each(|part| self.may_fail(part));
        self.asked.require(ALIKE, self.failures.are_alike(), init)?;
        let sums = Expr::fold_with(count, state, i.clone(), step, first);
        let needed = self.stored.iter().filter(|stored| mentions(&sums, &stored.name));
        let stored = needed.map(|stored| (stored.name.clone(), self.over_rows(stored.value.clone(), stored.around))).collect();
        Some(Found { sum: expr.clone(), rows, stored, sums })
    }

    /// The array with this element in each row, in the first so many that stand around.
    fn over_rows(&self, element: Expr, around: usize) -> Expr {
        self.around.iter().take(around).rev().fold(element, |element, around| match around {
            Around::Row(row) => Expr::build_with(row.n.clone(), row.var.clone(), element),
            Around::Let(x, value) => Expr::let_(x.clone(), value.clone(), element),
            Around::If(cond, true, other) => Expr::if_(cond.clone(), element, other.clone()),
            Around::If(cond, false, other) => Expr::if_(cond.clone(), other.clone(), element),
            Around::Beside(_) => element,
        })
    }

    /// The element of such an array for the row.
    fn element_of(&self, array: &Var) -> Expr {
        self.rows().fold(Expr::var(array), |array, row| Expr::get(array, Expr::var(&row.var)))
    }

    /// The rows around, outermost first.
    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.around.iter().filter_map(|around| match around {
            Around::Row(row) => Some(row),
            Around::Let(..) | Around::If(..) | Around::Beside(_) => None,
        })
    }

    /// Runs `f` in a scope inside.
    fn inside<T>(&mut self, f: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (around, stored, scope, mark) = (self.around.len(), self.stored.len(), self.scope.clone(), self.facts.mark());
        let result = f(self);
        self.around.truncate(around);
        self.stored.truncate(stored);
        self.facts.back_to(mark);
        self.scope = scope;
        result
    }

    /// Whether a term depends on which row is meant.
    fn varies(&self, expr: &Expr) -> bool {
        let Scope { rows, lets, .. } = &self.scope;
        any_free_var(expr, &mut |var| rows.iter().any(|row| row.var == *var) || lets.iter().any(|(name, _)| name == var))
    }

    /// The number of terms, of which there are none where there are no rows.
    fn where_rows(rows: &[Row], n: &Expr) -> Expr {
        let there = rows.iter().filter(|row| !row.is_there).map(|row| Expr::prim(Prim::Lt, vec![Expr::index(0), row.n.clone()]));
        match there.reduce(|a, b| Expr::prim(Prim::And, vec![a, b])) {
            Some(there) => Expr::if_(there, n.clone(), Expr::index(0)),
            None => n.clone(),
        }
    }

    /// Whether a term asks for nothing that stays where it is.
    fn moves(&mut self, expr: &Expr) -> Option<()> {
        (!any_free_var(expr, &mut |var| self.scope.kept.contains(var))).then_some(())?;
        self.may_fail(expr);
        match self.alike {
            Some(alike) => self.asked.require(alike, self.failures.are_alike(), expr),
            None => self.asked.require(self.total, self.failures.is_empty(), expr),
        }
    }

    /// The same of a term that is computed only once it is known which row is meant.
    fn waits(&mut self, expr: &Expr) -> Option<()> {
        self.moves(expr)?;
        let is_total = self.is_total(expr);
        self.asked.require(self.total, is_total, expr)
    }

    /// Whether a term cannot fail, where there are the rows that it depends on.
    fn is_total(&mut self, expr: &Expr) -> bool {
        let mark = self.facts.mark();
        self.needs(expr).iter().for_each(|row| self.facts.enter_loop(&row.var, &row.n));
        let is_total = self.facts.is_total(expr);
        self.facts.back_to(mark);
        is_total
    }

    /// Whether a term may be computed where conditions that wait would leave it out: it cannot fail, and has no loop.
    fn is_asked_for(&mut self, expr: &Expr) -> Option<()> {
        if self.scope.conds.is_empty() {
            return Some(());
        }
        self.waits(expr)?;
        (!has_loop(expr)).then_some(())
    }

    /// The rows of which it is not known which is meant, and that a term depends on.
    fn needs(&self, expr: &Expr) -> Vec<Row> {
        let Scope { rows, depends, .. } = &self.scope;
        let mut needed: Vec<Var> = Vec::new();
        each_free_var(expr, &mut |var| {
            needed.push(var.clone());
            needed.extend(depends.get(var).into_iter().flatten().cloned());
        });
        rows.iter().filter(|row| needed.contains(&row.var)).cloned().collect()
    }

    /// Puts a name off until it is known which row is meant.
    fn put_off(&mut self, x: &Var, value: Expr) {
        let rows = self.needs(&value).into_iter().map(|row| row.var).collect();
        self.scope.depends.insert(x.clone(), rows);
        self.scope.lets.push((x.clone(), value));
    }

    /// Notes how a term may fail.
    fn may_fail(&mut self, expr: &Expr) {
        if !self.is_total(expr) {
            self.failures.add(expr, &self.facts);
        }
    }
}

/// The length that an index is below.
fn bound_of(index: &Var) -> Option<Size> {
    match index.ty() {
        Type::Index(bound) => bound.clone(),
        Type::Double | Type::Bool | Type::Array(..) | Type::Tuple(_) | Type::Rec(_) => None,
    }
}

/// Whether there is a sum of Doubles with a condition.
fn has_sum(expr: &Expr) -> bool {
    expr.has_conditions() && (matches!(expr.term(), Term::Fold { .. }) && expr.ty() == &Type::Double || expr.term().children().any(has_sum))
}

/// Whether a number is read more quickly than computed.
fn takes_long(expr: &Expr) -> bool {
    let work = Work::of(expr);
    work.loops > 0 || work.functions > 0 || work.operations > LONG
}
