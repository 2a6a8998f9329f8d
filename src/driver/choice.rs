//! The choice of the mode: the candidates of a derivative are optimised, and the cheapest is kept.
//!
//! In: a `vjp` whose inner derivatives are decided, and the functions before its own. Out: the way, and what each candidate
//! costs. Costs are polynomials in sizes (docs/language.md, How a form is computed): the total degree decides, then the coefficients with
//! all sizes set equal, highest degree first; ties go to forward. Of Jacobians of one degree, coefficients are compared only where they
//! are far apart.
//!
//!     gradient of a recurrence in h² weights   forward: 12 h⁴ t, reverse: 9 h² t   →   reverse
//!
//! A candidate is optimised by the schedule's phases up to `collapse`: later phases make loops shorter, not fewer. Where reverse
//! mode is far less as derived, none is; where it is of the degree of the function, forward mode of a large function is not. A candidate
//! that cannot be made is not considered.
//!
//! Rules may take a loop of the function away and not what became of it in a derivative. Where the best costs far more than the
//! optimised function, a third candidate is reverse mode of that:
//!
//!     gradient of |(v vᵀ) v|²   7 n   reverse: 30 n²   →   reverse of the optimised function: 17 n

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexMap;

use super::schedule::{disabled_rules, schedule};
use super::{Options, Session};
use crate::diagnostic::Diagnostics;
use crate::explain::Candidates;
use crate::explain::cost::{Cost, doubles, of_entry};
use crate::ir::ambient::settled;
use crate::ir::free::each_free_var;
use crate::ir::term::Vjp;
use crate::ir::{Expr, Function, Program, Size, Type, Var};
use crate::mode::{self, Choice, Mode, Way};
use crate::{ad, rewrite};

/// The last phase of a schedule that candidates go through.
const LAST_PHASE: &str = "collapse";

/// A Jacobian by rows that is so many times less is less in any case: later phases share what its columns have in common. A gradient that
/// is so many times more than the numbers of its point may do work for most of them that the optimised function does not do.
const CLEARLY: i64 = 4;

/// A gradient in reverse mode that is so many times less as `ad` makes it is less in any case; one that is so many times more than
/// the optimised function may have loops that the function has no longer.
const FAR: i64 = 8;

/// Candidates of fewer nodes are optimised in any case: it takes few milliseconds.
const SMALL: usize = 800;

/// A candidate of more nodes is not optimised: it is no textbook program, and would take long. What it costs as it is, is a
/// bound.
const LARGEST: usize = 20_000;

/// Each derivative in the way that costs less; `note` is told of the candidates.
pub fn cheapest(
    program: &Program,
    given: &Options,
    schedule: &rewrite::Schedule,
    note: &mut dyn FnMut(crate::explain::Candidates),
) -> Program {
    let options = rewrite::Options { strict_fp: given.strict_fp, disabled: disabled_rules(given), ..rewrite::Options::default() };
    mode::decide(program, &mut |form, name, before| {
        let setting = Setting { before, schedule, options: &options, differentiation: given.differentiation() };
        let (choice, candidates) = choose(form, name, &setting);
        note(candidates);
        choice
    })
}

/// A program whose last function has one derivative of its own, for reverse mode, and whose others are as `mode` decides.
pub fn decided(session: &Session, program: &Program, last: &str) -> Result<Program, Diagnostics> {
    let mut others = program.clone();
    let own = others.functions.shift_remove(last);
    let mut program = match session.options.mode {
        Mode::Auto => {
            let schedule = schedule(&super::Schedule::default(), &mut session.sources.clone())?;
            cheapest(&others, &session.options, &schedule, &mut |_| {})
        }
        Mode::Forward => mode::decide(&others, &mut |_, _, _| Way::Forward.into()),
        Mode::Reverse => mode::decide(&others, &mut |_, _, _| Way::Reverse.into()),
    };
    program.functions.extend(own.map(|function| (function.name.clone(), function)));
    Ok(program)
}

/// What candidates are made and optimised with.
struct Setting<'a> {
    /// The functions before the form's own, decided.
    before: &'a Program,
    schedule: &'a rewrite::Schedule,
    options: &'a rewrite::Options,
    differentiation: ad::Options,
}

/// Compares the ways to compute a `vjp`, in a function of this name.
fn choose(form: &Expr, name: &Rc<str>, setting: &Setting) -> (Choice, Candidates) {
    let is_jacobian = Vjp::of(form).is_some_and(|vjp| vjp.wants_rows());
    let candidate = |way| Candidate::of(form, setting, way);
    let (forward, reverse) = (candidate(Way::Forward), candidate(Way::Reverse));
    let compared = |costs: [Option<Cost>; 3], kept, reason| {
        let [forward, reverse, collapsed] = costs;
        Candidates { function: name.clone(), span: form.span(), forward, reverse, collapsed, kept, reason }
    };
    if let (Some(forward), Some(reverse)) = (&forward, &reverse)
        && !is_jacobian
        && forward.program.node_count() > SMALL
        && is_clear(&forward.cost, &reverse.cost)
    {
        let [forward, reverse] = [forward, reverse].map(|candidate| Some(Cost { is_bound: true, ..candidate.cost.clone() }));
        let reason = "of the same degree with far smaller coefficients, as derived";
        return (Way::Reverse.into(), compared([forward, reverse, None], "reverse", reason));
    }
    let cost = |candidate: Option<Candidate>| Some(candidate?.optimised(setting, Some(LAST_PHASE))?.cost);
    let reverse = cost(reverse);
    let forward = match (forward, &reverse) {
        (Some(forward), Some(reverse)) if is_spared(&forward, reverse, form, setting) => Some(Cost { is_bound: true, ..forward.cost }),
        (forward, _) => cost(forward),
    };
    let (way, reason) = match (&forward, &reverse) {
        (Some(forward), Some(reverse)) if degree(forward) == degree(reverse) && (is_jacobian || !comparable(forward, reverse)) => {
            if comparable(forward, reverse) && compare(&times(CLEARLY, reverse), forward) == Ordering::Less {
                (Way::Reverse, "of the same degree with clearly smaller coefficients")
            } else {
                (Way::Forward, "since both are of one degree and not far apart")
            }
        }
        (Some(forward), Some(reverse)) => match compare(reverse, forward) {
            Ordering::Less if degree(reverse) < degree(forward) => (Way::Reverse, "of lower degree"),
            Ordering::Less => (Way::Reverse, "of the same degree with smaller coefficients"),
            Ordering::Equal => (Way::Forward, "since both cost the same"),
            Ordering::Greater if degree(forward) < degree(reverse) => (Way::Forward, "of lower degree"),
            Ordering::Greater => (Way::Forward, "of the same degree with smaller coefficients"),
        },
        (None, Some(_)) => (Way::Reverse, "the only one"),
        (_, None) => (Way::Forward, "the only one"),
    };
    let (kept, least) = match way {
        Way::Forward => ("forward", &forward),
        Way::Reverse => ("reverse", &reverse),
    };
    match least.as_ref().and_then(|least| of_optimised(form, setting, way, least)) {
        Some((instead, cost)) => {
            let reason = "of the optimised function, of which the loops are fewer";
            let choice = Choice { way: Way::Reverse, instead: Some(instead) };
            (choice, compared([forward, reverse, Some(cost)], "reverse", reason))
        }
        None => (way.into(), compared([forward, reverse, None], kept, reason)),
    }
}

/// The form with its function optimised, and the cost of reverse mode of that. `None` unless the candidate that is kept so far, of this
/// way and cost, costs far more than the optimised function, and more than this; the two are compared after the whole schedule, whose
/// later phases may take loops of the kept one away as well.
fn of_optimised(form: &Expr, setting: &Setting, way: Way, cost: &Cost) -> Option<(Expr, Cost)> {
    let vjp = Vjp::of(form).filter(|vjp| !vjp.wants_rows())?;
    if !is_less(&times(CLEARLY, &least(&vjp)), cost) {
        return None;
    }
    // it stays in the program, so what only emitted code decides is left in it
    let value = Candidate::made(vjp.body, setting)?.optimised(setting, None)?;
    let body = &value.program.functions.get(Candidate::NAME)?.body;
    let mut is_known = true;
    body.each_call(&mut |name| is_known &= setting.before.functions.contains_key(name));
    if !is_known || !is_less(&times(FAR, &value.cost), cost) {
        return None;
    }
    let instead = Expr::vjp(vjp.x.clone(), vjp.at.clone(), vjp.cotangent.clone(), body.clone()).at(form.span());
    let whole = |form, way| Some(Candidate::of(form, setting, way)?.optimised(setting, None)?.cost);
    let (kept, found) = (whole(form, way)?, whole(&instead, Way::Reverse)?);
    is_less(&found, &kept).then_some((instead, found))
}

/// Whether a cost is less: of lower degree, or of the same with smaller coefficients, where these say so.
fn is_less(a: &Cost, b: &Cost) -> bool {
    degree(a) < degree(b) || comparable(a, b) && compare(a, b) == Ordering::Less
}

/// Whether reverse mode is that much less that no optimisation makes up for it. Rules take columns apart that are one-hot, which
/// lowers the degree of loops over them; where a loop over columns is as long as a literal says, both candidates have one
/// degree already, and what rules gain is a small factor.
fn is_clear(forward: &Cost, reverse: &Cost) -> bool {
    degree(forward) == degree(reverse) && is_less(&times(FAR, reverse), forward)
}

/// Whether forward mode of a large gradient is left as derived, since to optimise it takes long: reverse mode has the degree of the
/// optimised function, and forward mode cannot have a lower one.
fn is_spared(forward: &Candidate, reverse: &Cost, form: &Expr, setting: &Setting) -> bool {
    let Some(vjp) = Vjp::of(form).filter(|vjp| !vjp.wants_rows()) else { return false };
    if forward.program.node_count() <= SMALL || degree(&forward.cost) <= degree(reverse) {
        return false;
    }
    let value = Candidate::made(vjp.body, setting).and_then(|value| value.optimised(setting, Some(LAST_PHASE)));
    value.is_some_and(|value| degree(reverse) <= degree(&value.cost).max(degree(&least(&vjp))))
}

/// What any way costs at least: a number for each Double of the point.
fn least(vjp: &Vjp) -> Cost {
    Cost { writes: doubles(vjp.at.ty()), ..Cost::default() }
}

/// One way to compute a derivative, or the value, as `ad` makes it.
struct Candidate {
    program: Program,
    cost: Cost,
}

impl Candidate {
    /// Its entry.
    const NAME: &str = "(candidate)";

    /// The derivative alone: the value is the same in every way. `None` where it cannot be made.
    fn of(form: &Expr, setting: &Setting, way: Way) -> Option<Candidate> {
        // what only emitted code decides is no work
        Candidate::made(&mode::derivative(&settled(form), way), setting)
    }

    /// The value of a term.
    fn made(value: &Expr, setting: &Setting) -> Option<Candidate> {
        let mut called = Vec::new();
        value.each_call(&mut |name| called.push(name.clone()));
        let needed = setting.before.reachable(called);
        let of_form = setting.before.functions.iter().filter(|(name, _)| needed.contains(*name));
        let mut functions: IndexMap<Rc<str>, Function> =
            of_form.map(|(name, function)| (name.clone(), Function { is_entry: false, ..function.clone() })).collect();
        functions.insert(Candidate::NAME.into(), closed(value, Candidate::NAME));
        // states that are computed again cost a factor, whatever the program
        let program = ad::differentiate(&Program { functions }, ad::Options { keeps: ad::Keeps::All, ..setting.differentiation }).ok()?;
        Some(Candidate { cost: of_entry(&program, Candidate::NAME), program })
    }

    /// The candidate optimised; `None` where that takes too many steps.
    fn optimised(self, setting: &Setting, last_phase: Option<&'static str>) -> Option<Candidate> {
        if self.program.node_count() > LARGEST {
            return Some(Candidate { cost: Cost { is_bound: true, ..self.cost }, ..self });
        }
        let options = rewrite::Options { record: false, last_phase, ..setting.options.clone() };
        let program = rewrite::optimise(&self.program, setting.schedule, &options).ok()?.program;
        Some(Candidate { cost: of_entry(&program, Candidate::NAME), program })
    }
}

/// A term as a function of its own: what it mentions are its parameters.
fn closed(body: &Expr, name: &str) -> Function {
    let mut params: Vec<Var> = Vec::new();
    each_free_var(body, &mut |var| params.extend((!var.is_ambient()).then(|| var.clone())));
    let mut sizes: Vec<Var> = Vec::new();
    let mut note = |ty: &Type| {
        ty.each_size(&mut |size| {
            size.each_var(&mut |var| sizes.extend((!params.contains(var) && !sizes.contains(var)).then(|| var.clone())))
        });
    };
    params.iter().for_each(|param| note(param.ty()));
    note(body.ty());
    Function { span: body.span(), ..Function::entry(name, sizes, params, body.clone()) }
}

/// By total degree, then by the coefficients with all sizes equal.
fn compare(a: &Cost, b: &Cost) -> Ordering {
    degree(a).cmp(&degree(b)).then_with(|| coefficients(&a.total()).iter().rev().cmp(coefficients(&b.total()).iter().rev()))
}

fn times(factor: i64, cost: &Cost) -> Cost {
    Cost { arithmetic: cost.total().mul(&Size::constant(factor)), ..Cost::default() }
}

/// Whether coefficients say what is less.
fn comparable(a: &Cost, b: &Cost) -> bool {
    adds_up(a) && adds_up(b)
}

/// Whether nothing is taken away from something of the highest degree.
fn adds_up(cost: &Cost) -> bool {
    let degree = degree(cost);
    cost.total().terms().all(|(monomial, coefficient)| coefficient >= 0 || Some(monomial.len()) != degree)
}

fn degree(cost: &Cost) -> Option<usize> {
    cost.total().terms().map(|(monomial, _)| monomial.len()).max()
}

/// The sum of the coefficients of each degree that has any.
fn coefficients(cost: &Size) -> BTreeMap<usize, i64> {
    let mut sums: BTreeMap<usize, i64> = BTreeMap::new();
    for (monomial, coefficient) in cost.terms() {
        let sum = sums.entry(monomial.len()).or_default();
        *sum = sum.saturating_add(coefficient);
    }
    sums.retain(|_, sum| *sum != 0);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(total: Size) -> Cost {
        Cost { arithmetic: total, ..Cost::default() }
    }

    #[test]
    fn the_degree_decides_then_the_coefficients() {
        let n = Size::var(&Var::fresh("n", Type::INDEX));
        let m = Size::var(&Var::fresh("m", Type::INDEX));
        let scaled = |k: i64, size: &Size| size.mul(&Size::constant(k));
        let square = cost(n.mul(&m));
        assert_eq!(compare(&cost(scaled(100, &n)), &square), Ordering::Less);
        assert_eq!(compare(&cost(scaled(2, &n).add(&scaled(3, &m))), &cost(scaled(6, &n))), Ordering::Less);
        assert_eq!(compare(&cost(scaled(2, &n)), &cost(scaled(2, &m))), Ordering::Equal);
        assert_eq!(compare(&cost(n.add(&Size::constant(1))), &cost(n.clone())), Ordering::Greater);
    }
}
