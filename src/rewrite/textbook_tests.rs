//! What is built in against what a strategy file can say, on random terms: `innermost` reaches the same normal forms as
//! `normalize`, for the sets of rules that the built-in schedules use; traversals and rules of 002 Section 5, written in a file,
//! give what the built-in ones give.

use super::generate::Generator;
use super::{Options, Schedule, apply};
use crate::ir::subst::map_children;
use crate::ir::{Expr, Function, Status, Term, Type, print};
use crate::rewrite::alike::same;
use crate::stack::with_large_stack;

/// Terms that are tried.
const TERMS: u64 = 800;

fn normal_form(strategy: &str, g: &Generator, body: &Expr) -> Option<Expr> {
    let schedule = Schedule::parse("test", strategy, 0).expect("a strategy");
    let program = g.program(body.clone());
    let function: &Function = program.functions.get("f").expect("it is there");
    apply(&schedule, &program, function, &Options::default()).expect("ends")
}

fn agree(set: &'static str) {
    with_large_stack(move || {
        let mut changed = 0;
        for seed in 1..=TERMS {
            let mut g = Generator::new(seed);
            // a check that nothing needs may go or stay: sets with one are not confluent
            g.checks = false;
            let ty = [Type::Double, Type::INDEX, Type::Bool][g.below(3)].clone();
            // scalars and whole programs take turns
            let body = if seed % 2 == 0 { g.term(&ty, 4) } else { super::programs_tests::body(&mut g) };
            let fast = normal_form(&format!("innermost {set}"), &g, &body).expect("always applies");
            let textbook = normal_form(&format!("normalize {set}"), &g, &body).expect("always applies");
            changed += usize::from(!same(&fast, &body));
            assert!(
                same(&fast, &textbook),
                "seed {seed}: {}\ninnermost  {}\nnormalize  {}",
                print::expr(&body),
                print::expr(&fast),
                print::expr(&textbook)
            );
        }
        assert!(changed > TERMS as usize / 4, "only {changed} terms were rewritten");
    });
}

#[test]
fn innermost_reaches_the_normal_forms_of_simplify() {
    agree("simplify");
}

#[test]
fn innermost_reaches_the_normal_forms_of_fuse() {
    agree("fuse");
}

/// Terms that strategies of a file are tried on.
const FEW: u64 = 200;

/// The traversals and rules of 002 Section 5.
const FILE: &str = "
    rule getBuild : (build n f)[i] -> f i if atomic i; (build n f)[i] -> let j = i in f j
    rule letSubst1 : let x = a in f x -> f a if count x <= 1 in f; let x = a in f x -> f a if atomic a
    rule letDead : let x = a in e -> e
    let rec topDown (s) = s <+ one (topDown s)
    let rec again (s) = try (s ; again s)
    let normal (s) = again (topDown s)
    let rec inner (s) = all (inner s) ; try (s ; inner s)
";

/// The result of a strategy on a function's body; `None` where it fails.
fn applied(strategy: &str, g: &Generator, body: &Expr) -> Option<Expr> {
    let schedule =
        Schedule::parse("test", &format!("{FILE}\nlet main = {strategy}"), 0).unwrap_or_else(|problem| panic!("{}", problem.message));
    let program = g.program(body.clone());
    let function = program.functions.get("f").expect("it is there");
    apply(&schedule, &program, function, &Options::default()).expect("ends")
}

/// Without the checks that `get-build` keeps where it proves no bound.
fn unchecked(expr: &Expr) -> Expr {
    match expr.term() {
        Term::Check { status: Status::Bounds, body, .. } => unchecked(body),
        _ => map_children(expr, &mut unchecked),
    }
}

/// Holds two strategies against each other on random bodies; how many they changed.
fn agree_on(bodies: impl Fn(&mut Generator) -> Expr, mine: &str, builtin: &str) -> usize {
    let mut changed = 0;
    for seed in 1..=FEW {
        let mut g = Generator::new(seed);
        g.checks = false;
        let body = bodies(&mut g);
        let (own, known) = (applied(mine, &g, &body), applied(builtin, &g, &body).map(|known| unchecked(&known)));
        let is_same = match (&own, &known) {
            (Some(own), Some(known)) => same(own, known),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let text = |found: &Option<Expr>| found.as_ref().map_or("fails".into(), print::expr);
        assert!(is_same, "seed {seed}: {}\n{mine}  {}\n{builtin}  {}", print::expr(&body), text(&own), text(&known));
        changed += usize::from(known.is_some_and(|known| !same(&known, &body)));
    }
    changed
}

#[test]
fn traversals_of_a_file_are_the_built_in_ones() {
    with_large_stack(|| {
        for (mine, builtin) in [
            ("topDown (mul-one <+ add-zero <+ if-same <+ const-fold)", "topdown (mul-one <+ add-zero <+ if-same <+ const-fold)"),
            (
                "again (some (const-fold <+ if-same <+ let-dead <+ let-float))",
                "repeat (some (const-fold <+ if-same <+ let-dead <+ let-float))",
            ),
            ("normal simplify", "normalize simplify"),
            ("inner (const-fold <+ let-dead)", "innermost (const-fold <+ let-dead)"),
        ] {
            let changed = agree_on(super::programs_tests::body, mine, builtin);
            assert!(changed > FEW as usize / 20, "{mine} changed {changed} terms");
        }
    });
}

#[test]
fn get_build_of_a_file_is_the_built_in_one() {
    with_large_stack(|| {
        let read = |g: &mut Generator| {
            let n = g.count();
            let array = g.build(n, |g| g.double(3));
            let read = Expr::get(array, g.index(1));
            Expr::prim(crate::ir::Prim::Add, vec![g.double(3), read])
        };
        assert_eq!(agree_on(read, "topDown getBuild", "topdown get-build"), FEW as usize);
    });
}

#[test]
fn let_rules_of_a_file_are_the_built_in_ones() {
    with_large_stack(|| {
        let bound = |g: &mut Generator| {
            let value = g.double(2);
            let (x, body) = g.bound("t", Type::Double, |g, _| g.double(3));
            Expr::let_(x, value, body)
        };
        assert!(agree_on(bound, "letDead", "let-dead") > FEW as usize / 10);
        // the built-in rule substitutes nothing into a loop; where it fires, both do the same
        let mut both = 0;
        for seed in 1..=TERMS {
            let mut g = Generator::new(seed);
            let body = bound(&mut g);
            if let (Some(mine), Some(known)) = (applied("letSubst1", &g, &body), applied("let-inline", &g, &body)) {
                assert!(same(&mine, &known), "seed {seed}: {}", print::expr(&body));
                both += 1;
            }
            // used once, or an atom: the built-in rule never does more
            assert!(applied("let-inline", &g, &body).is_none() || applied("letSubst1", &g, &body).is_some(), "seed {seed}");
        }
        assert!(both > TERMS as usize / 4, "{both}");
    });
}
