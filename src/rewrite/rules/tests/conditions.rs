//! Every side condition is needed, and every rule that it holds back says so.
//!
//! In: the rows of `witnesses`. Each rule is tried with its condition, which does no harm, and without it, which does the
//! harm that the row names. The rows are all pairs of a rule and a condition of its law: a new condition needs one.

use std::rc::Rc;

use super::harm::{Harm, Row};
use super::witnesses::ROWS;
use super::{Run, TRIED, check_rule, compare, in_context};
use crate::ir::eval::{Array, Outcome, Shape, Value, eval};
use crate::ir::{Expr, Function, Program, Type, Var, check};
use crate::rewrite::derivation::Log;
use crate::rewrite::engine::{Budget, OutOfSteps, RuleSets};
use crate::rewrite::facts::Facts;
use crate::rewrite::generate::Generator;
use crate::rewrite::interpret::Interpreter;
use crate::rewrite::mutation::Mutation;
use crate::rewrite::refusals::{Refusal, Refusals};
use crate::rewrite::rule::{Apply, Rule};
use crate::rewrite::strategy;
use crate::rewrite::strategy::Strategy;
use crate::source::SourceMap;
use crate::stack::with_large_stack;
use crate::{syntax, types};

/// How many arguments an expression is evaluated for.
const SAMPLES: usize = 400;
/// How many random terms a rule without its condition may rewrite before it does harm.
const HARMLESS: usize = 1200;

#[test]
fn every_side_condition_is_left_out_once() {
    let mut named: Vec<(&str, String)> = Vec::new();
    for rule in crate::rewrite::rules::all() {
        match &rule.apply {
            Apply::Law(law) => named.extend(law.conditions().map(|condition| (rule.name, condition))),
            Apply::Function(_) => named.extend(rule.conditions.iter().map(|condition| (rule.name, condition.to_string()))),
        }
    }
    let mut rows: Vec<(&str, String)> = ROWS.iter().map(|row| (row.rule, row.condition.to_string())).collect();
    named.sort();
    rows.sort();
    assert_eq!(named, rows);
}

#[test]
fn without_a_side_condition_a_rule_does_harm() {
    with_large_stack(|| {
        let harmless: Vec<String> =
            ROWS.iter().filter_map(|row| problem(row).map(|why| format!("{} without `{}`: {why}", row.rule, row.condition))).collect();
        assert!(harmless.is_empty(), "{}", harmless.join("\n"));
    });
}

/// What is not as the row says.
fn problem(row: &Row) -> Option<String> {
    let mutation = Mutation::without(row.rule, row.condition);
    if row.witness.is_empty() {
        let rule = super::super::named(row.rule).expect("a rule");
        let run = Run { first: 0, wanted: HARMLESS, tried: TRIED };
        let is_shown = match row.harm {
            Harm::Wrong => check_rule(rule, &mutation, run).is_some_and(|problem| !problem.contains("fired only")),
            Harm::Lost => (0..TRIED).any(|seed| loses_an_error(rule, &mutation, seed)),
            Harm::Scope | Harm::Status | Harm::Work | Harm::Idle | Harm::Size | Harm::Endless | Harm::Strict => false,
        };
        return (!is_shown).then(|| "no random term shows it".into());
    }
    let before = program(row.witness);
    let (with, _) = rewritten(row, &before, &Mutation::default());
    let (without, _) = rewritten(row, &before, &mutation);
    if harms(row.harm, &before, &with) {
        return Some("it does that harm with the condition too".into());
    }
    (!harms(row.harm, &before, &without)).then(|| {
        let after = without.ok().flatten().map(|after| crate::ir::print::expr(&after));
        format!("no harm, {:?}, in\n    {}\n    {after:?}", row.harm, row.witness)
    })
}

/// Whether the rule keeps an error of a random term that it loses without the condition.
fn loses_an_error(rule: &'static Rule, mutation: &Mutation, seed: u64) -> bool {
    let mut generator = Generator::new(seed + 1);
    let Some(body) = in_context(&mut generator, rule) else { return false };
    let before = generator.program(body.clone());
    let after = |mutation| super::apply_once(rule, &before, &body, mutation).map(|after| generator.program(after));
    let (Some(kept), Some(lost)) = (after(&Mutation::default()), after(mutation)) else { return false };
    (0..6).any(|_| {
        let arguments = generator.arguments();
        let run = |program: &Program| eval(program, "f", arguments.clone());
        run(&before).is_err() && run(&kept).is_err() && run(&lost).is_ok()
    })
}

#[test]
fn a_rule_that_a_condition_holds_back_says_so() {
    with_large_stack(|| {
        let silent: Vec<String> =
            ROWS.iter().filter(|row| !says_so(row)).map(|row| format!("{} does not say `{}`", row.rule, row.condition)).collect();
        assert!(silent.is_empty(), "{}", silent.join("\n"));
    });
}

/// Whether the rule names the condition where it does not hold. What the left side looks like need not be said (it may not
/// mention what is bound there, and is not in normal form already), nor what has nothing to gain; and where the rule has
/// another way for it, such as a check of its own, it fires.
fn says_so(row: &Row) -> bool {
    if matches!(row.harm, Harm::Scope | Harm::Endless | Harm::Idle) || row.condition.contains(", else ") {
        return true;
    }
    let is_it = |refusal: &Refusal| &*refusal.rule == row.rule && refusal.why == format!("`{}` does not hold", row.condition);
    if !row.witness.is_empty() {
        let (_, refusals) = rewritten(row, &program(row.witness), &Mutation::default());
        return refusals.iter().any(is_it);
    }
    let rule = super::super::named(row.rule).expect("a rule");
    (0..TRIED).any(|seed| {
        let mut generator = Generator::new(seed + 1);
        let Some(body) = in_context(&mut generator, rule) else { return false };
        let (_, refusals) = rewritten(row, &generator.program(body), &Mutation::default());
        refusals.iter().any(is_it)
    })
}

/// The program of an expression, whose free names are parameters.
fn program(expression: &str) -> Program {
    let mut sources = SourceMap::default();
    let file = sources.add("<expression>", expression);
    let messages = |problems: Vec<crate::diagnostic::Diagnostic>| problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>();
    let tree = syntax::parse_expr(expression, file).unwrap_or_else(|problems| panic!("{expression}: {:?}", messages(problems)));
    let free = types::expression(&mut sources, tree).unwrap_or_else(|problems| panic!("{expression}: {:?}", messages(problems)));
    free.program
}

/// The function that the row is about: an expression's, or that of random terms.
fn subject(program: &Program) -> &Function {
    program.functions.get(types::EXPRESSION).or_else(|| program.functions.get("f")).expect("a function")
}

type Rewritten = Result<Option<Expr>, OutOfSteps>;

fn rewritten(row: &Row, program: &Program, mutation: &Mutation) -> (Rewritten, Vec<Refusal>) {
    let text = if row.strategy.is_empty() { format!("topdown {}", row.rule) } else { row.strategy.to_string() };
    let strategy: Strategy = strategy::parse(&text, 0).unwrap_or_else(|problem| panic!("{text}: {}", problem.message));
    let mut facts = Facts::new(program.clone(), row.harm == Harm::Strict);
    facts.mutation = mutation.clone();
    facts.refusals = Refusals::kept();
    let function = subject(program);
    facts.enter_function(function);
    let mut budget = Budget { step_limit: 1000, ..Budget::for_nodes(0) };
    let mut log = Log::new(false);
    let new =
        Interpreter { facts: &mut facts, budget: &mut budget, log: &mut log, rule_sets: &mut RuleSets::default(), enabled: &|_| true }
            .apply(&strategy, &function.body);
    (new, facts.refusals.take())
}

/// Whether the rewritten expression does this harm.
fn harms(harm: Harm, before: &Program, rewritten: &Rewritten) -> bool {
    let body = match rewritten {
        Err(OutOfSteps) => return harm == Harm::Endless,
        Ok(None) => return false,
        Ok(Some(body)) => body,
    };
    let function = subject(before);
    let (name, old) = (function.name.clone(), function.body.clone());
    let mut after = before.clone();
    after.functions.insert(name.clone(), Function { body: body.clone(), ..function.clone() });
    if check::check(&after).is_err() {
        return harm == Harm::Scope;
    }
    let run = |program: &Program, arguments: &[Value]| eval(program, &name, arguments.to_vec());
    let mut samples = Samples { state: 0x9E37_79B9_7F4A_7C15, large: matches!(harm, Harm::Work | Harm::Idle), sizes: Vec::new() };
    let mut arguments = || samples.arguments(function);
    let total = |outcome: &Outcome| {
        let counts = outcome.trace.counts;
        counts.arithmetic + counts.comparisons + counts.reads + counts.writes
    };
    let mut both = || {
        let arguments = arguments();
        Some((run(before, &arguments).ok()?, run(&after, &arguments).ok()?))
    };
    match harm {
        Harm::Scope | Harm::Endless => false,
        Harm::Size => 2 * body.node_count() > 3 * old.node_count(),
        Harm::Work => (0..SAMPLES).any(|_| both().is_some_and(|(before, after)| total(&after) > total(&before))),
        Harm::Idle => {
            let counted: Vec<bool> = (0..SAMPLES).filter_map(|_| both()).map(|(before, after)| total(&after) >= total(&before)).collect();
            !counted.is_empty() && counted.iter().all(|is_idle| *is_idle)
        }
        Harm::Strict => (0..SAMPLES).any(|_| both().is_some_and(|(before, after)| bits(&before.value) != bits(&after.value))),
        Harm::Lost => (0..SAMPLES).any(|_| {
            let arguments = arguments();
            run(before, &arguments).is_err() && run(&after, &arguments).is_ok()
        }),
        Harm::Status => (0..SAMPLES).any(|_| {
            let arguments = arguments();
            let errors = (run(before, &arguments).err(), run(&after, &arguments).err());
            matches!(errors, (Some(before), Some(after)) if before.kind != after.kind)
        }),
        Harm::Wrong => (0..SAMPLES).any(|_| compare(before, &after, &name, &arguments()).is_some()),
    }
}

fn bits(value: &Value) -> u64 {
    match value {
        Value::Double(x) => x.to_bits(),
        Value::Index(_) | Value::Bool(_) | Value::Tuple(_) | Value::Array(_) | Value::Rolled(_) => 0,
    }
}

/// Arguments for the free names of an expression.
struct Samples {
    state: u64,
    /// Lengths are four or more, and an Index is at least two and within them.
    large: bool,
    sizes: Vec<(Var, i64)>,
}

impl Samples {
    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 33) as usize % bound
    }

    fn arguments(&mut self, function: &Function) -> Vec<Value> {
        self.sizes.clear();
        for size in &function.sizes {
            let length = if self.large { 4 + self.below(3) } else { self.below(4) };
            self.sizes.push((size.clone(), length as i64));
        }
        function.params.iter().map(|param| self.value(param.ty())).collect()
    }

    fn value(&mut self, ty: &Type) -> Value {
        match ty {
            Type::Double => Value::Double([0.0, -0.0, 1.0, 0.5, -0.75, 1.25][self.below(6)]),
            Type::Index(_) => Value::Index(if self.large { 2 + self.below(2) as i64 } else { self.below(6) as i64 - 1 }),
            Type::Bool => Value::Bool(self.below(2) == 0),
            Type::Rec(_) => panic!("rules have no recursive types"),
            Type::Tuple(parts) => Value::Tuple(Rc::new(parts.iter().map(|part| self.value(part)).collect())),
            Type::Array(element, length) => {
                let known = length.as_var().and_then(|var| self.sizes.iter().find(|(size, _)| size == var)).map(|(_, length)| *length);
                let length = length.as_constant().or(known).expect("a size of the function");
                let items: Vec<Value> = (0..length).map(|_| self.value(element)).collect();
                Value::Array(Rc::new(Array { element: items.first().map_or(Shape::Double, Value::shape), items }))
            }
        }
    }
}
