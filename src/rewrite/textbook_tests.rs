//! `innermost` against its textbook relative: the same normal forms as `normalize`, for the sets of rules that the
//! built-in schedules use, on random terms and on the papers' examples.

use super::generate::Generator;
use super::{Options, Schedule, apply};
use crate::ir::{Expr, Function, Type, print};
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
