//! Every rule by itself: on random terms that it applies to, the result has the same value and fails only
//! where the original did.
//!
//! A law makes its own instances; a rule that is a function needs a line in [`instances::instance`], and the walk over
//! the table fails without one. `conditions` leaves out each side condition once. `SMOOTHC_CASES=3000` is a long run,
//! with so many instances of each rule, `SMOOTHC_SEED=n` begins at another seed, and `SMOOTHC_RULE=name` tries one rule.

use crate::ir::eval::{Value, eval};
use crate::ir::{Expr, Prim, Program, Type, Var};
use crate::rewrite::derivation::Log;
use crate::rewrite::engine::{Budget, RuleSets};
use crate::rewrite::facts::Facts;
use crate::rewrite::generate::{Generator, cases};
use crate::rewrite::interpret::Interpreter;
use crate::rewrite::mutation::Mutation;
use crate::rewrite::rule::{Apply, Rule};
use crate::rewrite::strategy::{Combinator, Strategy};
use crate::stack::with_large_stack;

use instances::instance;

mod conditions;
mod harm;
mod instances;
mod shapes;
mod witnesses;

/// How many terms each rule must rewrite, and at most how many are tried for that.
const FIRED: usize = 60;
const TRIED: u64 = 5000;

/// The random terms that a rule is tried on.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The seed of the first; the others follow it.
    first: u64,
    /// How many the rule must rewrite.
    wanted: usize,
    /// At most how many are made for that.
    tried: u64,
}

impl Run {
    /// As many as the environment asks for.
    fn asked(wanted: usize) -> Run {
        let (wanted, first) = cases(wanted as u64);
        Run { first, wanted: wanted.max(1) as usize, tried: TRIED.max(100 * wanted) }
    }

    fn seeds(self) -> impl Iterator<Item = u64> {
        (0..self.tried).map(move |k| self.first.wrapping_add(k))
    }
}

#[test]
fn every_law_parses() {
    for rule in super::all() {
        if let Apply::Law(law) = &rule.apply {
            assert!(!law.is_empty(), "{}: {}", rule.name, law_error(rule));
        }
    }
}

fn law_error(rule: &Rule) -> String {
    crate::rewrite::law::Law::parse(rule.law, 0, 0).err().map(|error| error.message).unwrap_or_default()
}

#[test]
fn rule_names_are_unique() {
    let mut names: Vec<_> = super::all().map(|rule| rule.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn every_rule_keeps_values_and_adds_no_error() {
    with_large_stack(|| {
        let (run, only) = (Run::asked(FIRED), std::env::var("SMOOTHC_RULE").ok());
        let rules: Vec<_> = super::all().filter(|rule| only.as_deref().is_none_or(|only| only == rule.name)).collect();
        assert!(!rules.is_empty(), "there is no rule {only:?}");
        let failures: Vec<String> = rules.into_iter().filter_map(|rule| check_rule(rule, &Mutation::default(), run)).collect();
        assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    });
}

/// What is wrong with the rule, if anything.
fn check_rule(rule: &'static Rule, mutation: &Mutation, run: Run) -> Option<String> {
    let mut fired = 0;
    for seed in run.seeds() {
        let mut generator = Generator::new(seed.wrapping_add(1));
        let Some(body) = in_context(&mut generator, rule) else { return Some(format!("{} has no instances to be tested on", rule.name)) };
        let before = generator.program(body.clone());
        // a law over both number types may have been given both
        if crate::ir::check::check(&before).is_err() {
            continue;
        }
        let Some(after) = apply_once(rule, &before, &body, mutation) else { continue };
        let after = generator.program(after);
        if let Err(problem) = crate::ir::check::check(&after) {
            return Some(format!("{} at seed {seed}: {problem}\nbefore {}after  {}", rule.name, print(&before), print(&after)));
        }
        for _ in 0..6 {
            let arguments = generator.arguments();
            if let Some(difference) = compare(&before, &after, "f", &arguments) {
                return Some(format!(
                    "{} at seed {seed}: {difference}\nbefore {}after  {}for {arguments:?}",
                    rule.name,
                    print(&before),
                    print(&after)
                ));
            }
        }
        fired += 1;
        if fired == run.wanted {
            return None;
        }
    }
    Some(format!("{} fired only {fired} times in {} terms", rule.name, run.tried))
}

/// What a rule leaves of a power stands beside what it takes out, and what it multiplies out stands in each part: every one of
/// them binds variables of its own.
#[test]
fn what_is_written_twice_binds_its_own_variables() {
    let mut g = Generator::new(1);
    let op = |prim: Prim, a: &Expr, b: Expr| Expr::prim(prim, vec![a.clone(), b]);
    let times = |a: &Expr, b: Expr| op(Prim::Mul, a, b);
    let one = |prim: Prim, a: Expr| Expr::prim(prim, vec![a]);
    let (x, y, n, m) = (g.param("x"), g.param("y"), g.size(0), g.size(1));
    // a factor that binds a variable, new ones each time
    let square = |of: &Expr| {
        let t = Var::fresh("t", Type::Double);
        Expr::let_(t.clone(), one(Prim::Exp, of.clone()), times(&Expr::var(&t), Expr::var(&t)))
    };
    let squared = times(&times(&square(&x), square(&x)), y.clone());
    let simple = times(&square(&x), one(Prim::Sin, x.clone()));
    // two products of sums, of which neither may stay; what is multiplied out shares more of one factor than of the others
    let sum = {
        let (v, w, u) = (g.param("v"), g.param("w"), g.param("u"));
        g.build(n, |g| {
            let j = Expr::var(g.innermost());
            let (a, b) = (Expr::get(v, j.clone()), Expr::get(w, j));
            Expr::fold(m, "s", "i", Expr::double(0.0), |s, i| {
                let u = Expr::get(u, i);
                let linear = |f: Prim, g: Prim| op(Prim::Add, &times(&a, one(f, u.clone())), times(&b, one(g, u.clone())));
                let step = op(Prim::Add, &s, times(&linear(Prim::Exp, Prim::Tanh), square(&a)));
                let step = op(Prim::Add, &step, times(&linear(Prim::Sin, Prim::Cos), square(&b)));
                op(Prim::Add, &step, times(&times(&a, y.clone()), u))
            })
        })
    };
    for (name, body) in [
        ("factor", op(Prim::Add, &squared, simple.clone())),
        ("if-factor", Expr::if_(g.param("c"), squared.clone(), simple.clone())),
        ("sum-linear", sum),
    ] {
        let before = g.program(body.clone());
        assert_eq!(crate::ir::check::check(&before), Ok(()), "{name}");
        let rule = super::named(name).expect("a rule");
        let after = apply_once(rule, &before, &body, &Mutation::default());
        let after = g.program(after.unwrap_or_else(|| panic!("{name} does not apply to {}", print(&before))));
        assert_eq!(crate::ir::check::check(&after), Ok(()), "{name}: {}", print(&after));
    }
}

/// `sum-linear` does not ask for 0 < n. A sum without terms is then c * 0, and that is another value only where c is inf or
/// NaN: of such factors group `algebra` promises nothing.
#[test]
fn a_sum_without_terms_changes_only_by_a_factor_that_is_not_finite() {
    let rule = super::named("sum-linear").expect("a rule");
    let (mut fired, mut changed) = (0, 0);
    for seed in 0..TRIED {
        let mut g = Generator::new(seed + 1);
        let (x, y) = (g.double(1), g.double(1));
        let by = [Expr::prim(Prim::Log, vec![y.clone()]), Expr::prim(Prim::Exp, vec![y.clone()]), y][g.below(3)].clone();
        let factor = Expr::prim([Prim::Div, Prim::Mul][g.below(2)], vec![x, by]);
        let (n, init, other) = (g.count(), g.double(0), g.double(1));
        let body = Expr::fold(n, "s", "i", init, |s, i| {
            let step = Expr::prim(Prim::Add, vec![Expr::prim(Prim::ToDouble, vec![i]), other]);
            let term = Expr::prim(Prim::Mul, vec![crate::ir::subst::freshen(&factor), step]);
            Expr::prim(Prim::Add, vec![s, term])
        });
        let before = g.program(body.clone());
        let Some(after) = apply_once(rule, &before, &body, &Mutation::default()) else { continue };
        let (after, alone) = (g.program(after), g.program(factor));
        fired += 1;
        for _ in 0..6 {
            let arguments = g.arguments();
            let Some(difference) = compare(&before, &after, "f", &arguments) else { continue };
            let is_finite = match eval(&alone, "f", arguments.clone()).map(|outcome| outcome.value) {
                Ok(Value::Double(factor)) => factor.is_finite(),
                Ok(_) | Err(_) => true,
            };
            assert!(!is_finite, "seed {seed}: {difference}\n{}{}for {arguments:?}", print(&before), print(&after));
            changed += 1;
        }
    }
    assert!(fired > 1000 && changed > 0, "{fired} sums, {changed} other values");
}

fn print(program: &Program) -> String {
    program.functions.get("f").map(crate::ir::print::function).unwrap_or_default()
}

fn apply_once(rule: &'static Rule, program: &Program, body: &Expr, mutation: &Mutation) -> Option<Expr> {
    let mut facts = Facts::new(program.clone(), false);
    facts.mutation = mutation.clone();
    let function = program.functions.get("f")?;
    facts.enter_function(function);
    let mut budget = Budget { step_limit: 1000, ..Budget::for_nodes(0) };
    let mut log = Log::new(false);
    let strategy = Strategy::With(Combinator::Topdown, Strategy::Rule(rule).into());
    Interpreter { facts: &mut facts, budget: &mut budget, log: &mut log, rule_sets: &mut RuleSets::default(), enabled: &|_| true }
        .apply(&strategy, body)
        .ok()?
}

fn compare(before: &Program, after: &Program, name: &str, arguments: &[Value]) -> Option<String> {
    let Ok(expected) = eval(before, name, arguments.to_vec()) else { return None };
    match eval(after, name, arguments.to_vec()) {
        Ok(found) if close(&expected.value, &found.value, expected.trace.largest.max(1.0)) => None,
        Ok(found) => Some(format!("{:?} became {:?}", expected.value, found.value)),
        Err(error) => Some(format!("a new error: {}", error.message)),
    }
}

pub fn close(a: &Value, b: &Value, scale: f64) -> bool {
    match (a, b) {
        (Value::Double(x), Value::Double(y)) => !x.is_finite() || x == y || (x - y).abs() <= 1e-9 * scale,
        (Value::Tuple(xs), Value::Tuple(ys)) => xs.iter().zip(ys.iter()).all(|(x, y)| close(x, y, scale)),
        (Value::Array(xs), Value::Array(ys)) => {
            xs.items.len() == ys.items.len() && xs.items.iter().zip(&ys.items).all(|(x, y)| close(x, y, scale))
        }
        (Value::Index(x), Value::Index(y)) => x == y,
        (Value::Bool(x), Value::Bool(y)) => x == y,
        _ => false,
    }
}

/// An instance of the rule's left side, by itself or below a loop, a condition or a let.
fn in_context(g: &mut Generator, rule: &Rule) -> Option<Expr> {
    let make = |g: &mut Generator| match &rule.apply {
        Apply::Law(law) => law.instance(g),
        Apply::Function(_) => instance(g, rule.name),
    };
    match g.below(6) {
        0 => {
            let n = g.count();
            let mut made = None;
            let build = g.build(n, |g| {
                made = make(g);
                made.clone().unwrap_or(Expr::double(0.0))
            });
            made.map(|_| build)
        }
        1 => Some(Expr::if_(g.boolean(1), make(g)?, make(g)?)),
        2 => {
            let value = g.index(1);
            let (x, body) = g.bound("q", Type::INDEX, |g, _| make(g));
            Some(Expr::let_(x, value, body?))
        }
        _ => make(g),
    }
}
