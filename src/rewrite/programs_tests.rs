//! Whole schedules on random programs: the same values, no new error, no more work.

use super::generate::{Generator, cases};
use super::{Options, Schedule, optimise};
use crate::ir::eval::{Counts, eval};
use crate::ir::{Expr, Program};
use crate::stack::with_large_stack;

/// Programs per schedule; more by the environment.
const PROGRAMS: u64 = 400;

/// The check of its count that a loop leaves behind when it goes is counted; in the loop it was not.
const KEPT_CHECKS: u64 = 2;

fn total(counts: Counts) -> u64 {
    counts.arithmetic + counts.comparisons + counts.reads + counts.writes
}

/// A function's body: a number, a tuple, or arrays.
pub fn body(g: &mut Generator) -> Expr {
    match g.below(4) {
        0 => {
            let n = g.count();
            g.build(n, |g| g.double(4))
        }
        1 => {
            let n = g.count();
            let m = g.count();
            g.build(n, |g| g.build(m, |g| g.double(4)))
        }
        2 => Expr::tuple(vec![g.double(4), g.vector(3)]),
        _ => g.double(5),
    }
}

fn print(program: &Program) -> String {
    crate::ir::print::program(program)
}

fn check_schedule(name: &str, options: &Options) {
    check_strategy(&Schedule::builtin(name).expect("a built-in schedule"), options, true);
}

/// `counts`: no more work is done.
fn check_strategy(schedule: &Schedule, options: &Options, counts: bool) {
    let (mut failures, mut values) = (Vec::new(), 0);
    let (programs, first) = cases(PROGRAMS);
    for seed in (0..programs).map(|k| first.wrapping_add(k)) {
        let mut g = Generator::new(seed.wrapping_add(7));
        let body = body(&mut g);
        let before = g.program(body);
        let after = match optimise(&before, schedule, options) {
            Ok(optimised) => optimised.program,
            Err(problem) => {
                failures.push(format!("seed {seed}: {} {}\n{}", problem.code, problem.message, print(&before)));
                continue;
            }
        };
        if let Err(problem) = crate::ir::check::check(&after) {
            failures.push(format!("seed {seed}: {problem}\nbefore {}after {}", print(&before), print(&after)));
            continue;
        }
        for _ in 0..6 {
            let arguments = g.arguments();
            let Ok(expected) = eval(&before, "f", arguments.clone()) else { continue };
            values += 1;
            let problem = match eval(&after, "f", arguments.clone()) {
                Err(error) => format!("a new error: {}", error.message),
                Ok(found) if !super::rules::close(&expected.value, &found.value, expected.trace.largest.max(1.0)) => {
                    format!("{:?} became {:?}", expected.value, found.value)
                }
                Ok(found)
                    if counts
                        && Generator::is_large(&arguments)
                        && total(found.trace.counts) > total(expected.trace.counts) + KEPT_CHECKS =>
                {
                    format!("more work: {:?} became {:?}", expected.trace.counts, found.trace.counts)
                }
                Ok(_) => continue,
            };
            failures.push(format!("seed {seed}: {problem}\nbefore {}after {}for {arguments:?}", print(&before), print(&after)));
            break;
        }
    }
    assert!(values as u64 >= programs / 4, "only {values} values of {programs} programs");
    assert!(
        failures.is_empty(),
        "{} of {programs}, SMOOTHC_SEED={first}\n{}\nthe smallest: {}",
        failures.len(),
        failures.iter().filter_map(|text| text.lines().next()).collect::<Vec<_>>().join("\n"),
        failures.iter().min_by_key(|text| text.len()).map_or("", |text| text)
    );
}

#[test]
fn default_keeps_meaning_and_work() {
    with_large_stack(|| check_schedule("default", &Options::default()));
}

#[test]
fn paper_keeps_meaning_and_work() {
    with_large_stack(|| check_schedule("paper", &Options::default()));
}

#[test]
fn strict_arithmetic_keeps_meaning_and_work() {
    with_large_stack(|| check_schedule("default", &Options { strict_fp: true, ..Options::default() }));
}

/// Laws that hold wherever their left sides have a value.
const LAWS: &str = "
    rule subst   : let x = a in f x -> f a if count x <= 1 in f
    rule dead    : let x = a in e -> e
    rule flatten : let x = (let y = a in f y) in g x -> let y = a in let x = f y in g x
    rule twice   : let x = a in f x -> let y = a in let z = y in f z if count x > 2 in f
    rule element : (build n f)[i] -> let j = i in f j
    rule halves  : build n (fun i -> f i + g i) -> let a = build n f in build n (fun j -> a[j] + g j)
    rule last    : ifold f z 3 -> let s = ifold f z 2 in f s 2
    rule shift   : ifold (fun s i -> s + f i) z n -> z + ifold (fun s i -> f i + s) 0.0 n
    rule same    : ifold (fun s i -> s) z n -> z
    rule swap    : build n (fun i -> build m (fun j -> f i j)) -> build n (fun a -> build m (fun b -> f a b))
    let main = try (some (all (try (swap <+ halves <+ shift)))) ; repeat (topdown (subst <+ dead <+ flatten <+ element <+ last <+ same)) ; try (topdown twice)
";

#[test]
fn laws_that_bind_variables_keep_meaning() {
    with_large_stack(|| check_strategy(&Schedule::parse("laws", LAWS, 0).expect("a strategy"), &Options::default(), false));
}
