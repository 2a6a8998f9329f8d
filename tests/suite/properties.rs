//! Random programs: what the interpreter says of the program as written, every engine says.
//!
//! Three hundred programs by default, fifty to a C file; `SMOOTHC_CASES=n` for another number, `SMOOTHC_SEED=n` for others,
//! `SMOOTHC_SHRINK=n` for more steps towards a small one. The seed of the first is always printed, those after it follow;
//! a failure is printed with its seeds and the smallest program found that shows it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once};

use crate::generator::engine::{Counts, With, check_all};
use crate::generator::program::Program;
use crate::generator::shrink::shrink;
use crate::generator::{asked, grow};

const BATCH: usize = 50;

/// So many more cases between two lines about a long run.
const REPORTED: usize = 1000;

fn setting(name: &str, default: usize) -> usize {
    asked::number(name).map_or(default, |number| number as usize)
}

thread_local! { static IS_QUIET: Cell<bool> = const { Cell::new(false) } }

/// Panics of this thread are not printed from here on, since they are caught and reported; those of other threads are.
fn be_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_QUIET.get() {
                print(panic);
            }
        }));
    });
    IS_QUIET.set(true);
}

/// The text of a program with its arguments, and what is wrong with it.
fn report(program: &Program, with: With, kind: &str) -> String {
    let mut counts = Counts::default();
    let details: Vec<String> = check_all(std::slice::from_ref(program), with, &mut counts)
        .into_iter()
        .filter(|(_, failure)| failure.kind == kind)
        .map(|(_, failure)| failure.detail)
        .take(1)
        .collect();
    let wild = if program.wild { " (wild: without group algebra)" } else { "" };
    format!("── {kind}{wild}\n{}\n{}\n", program.text(), details.join("\n"))
}

#[test]
fn engines_agree_on_random_programs() {
    check(With::C, setting("SMOOTHC_CASES", 300), setting("SMOOTHC_SEED", 0));
}

/// With the workspace that three threads want, and with what one needs.
#[test]
fn threads_change_nothing_in_random_programs() {
    check(With::Threads, setting("SMOOTHC_CASES", 300) / 4, setting("SMOOTHC_SEED", 0));
}

#[test]
fn eager_passes_change_nothing_in_random_programs() {
    check(With::Eager, setting("SMOOTHC_CASES", 300) / 8, setting("SMOOTHC_SEED", 0));
}

/// As the tests above, which compute derivatives backwards where that is a way.
#[test]
fn derivatives_computed_forward_are_the_same() {
    check(With::Forward, setting("SMOOTHC_CASES", 300) / 2, setting("SMOOTHC_SEED", 0));
}

/// The failing programs of one kind, with their seeds, and what was said of the first: what fails once in a while says so only then.
struct Failing {
    said: String,
    programs: Vec<(usize, Program)>,
}

fn check(with: With, count: usize, first: usize) {
    let budget = setting("SMOOTHC_SHRINK", 400);
    let batches = count.div_ceil(BATCH);
    let start = std::time::Instant::now();
    asked::say(&format!("{count} programs, {with:?}: SMOOTHC_SEED={first}"));
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Counts::default());
    let failing: Mutex<BTreeMap<String, Failing>> = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                smoothc::stack::with_large_stack(|| {
                    be_quiet();
                    loop {
                        let batch = next.fetch_add(1, Ordering::Relaxed);
                        if batch >= batches {
                            break;
                        }
                        let start = batch * BATCH;
                        if count > REPORTED && start > 0 && start.is_multiple_of(REPORTED) {
                            let known = total.lock().expect("no panic");
                            asked::say(&format!("{start} of {count} programs, {with:?}, up to seed {}: {known:?}", first + start));
                        }
                        let programs: Vec<Program> = (start..(start + BATCH).min(count))
                            .map(|k| grow::program((first + k) as u64, &format!("f{}", k - start), (first + k) / BATCH % 3 == 2))
                            .collect();
                        let mut counts = Counts::default();
                        let failures = check_all(&programs, with, &mut counts);
                        total.lock().expect("no panic").add(&counts);
                        let mut failing = failing.lock().expect("no panic");
                        for (at, failure) in failures {
                            let programs_of = &mut failing
                                .entry(failure.kind)
                                .or_insert_with(|| Failing { said: failure.detail, programs: Vec::new() })
                                .programs;
                            if programs_of.last().is_none_or(|(seed, _)| *seed != first + start + at) {
                                programs_of.push((first + start + at, programs[at].clone()));
                            }
                        }
                    }
                })
            });
        }
    });
    let total = total.into_inner().expect("no panic");
    println!("{count} programs in {:.0?}: {total:?}", start.elapsed());
    let failing = failing.into_inner().expect("no panic");
    let mut text = String::new();
    for (kind, Failing { said, programs }) in failing {
        let seeds: Vec<String> = programs.iter().map(|(seed, _)| seed.to_string()).collect();
        text.push_str(&format!("{kind}: {} programs, seeds {}\n{said}\n", programs.len(), seeds.join(" ")));
        text.push_str(&format!(
            "once more: SMOOTHC_SEED={} SMOOTHC_CASES={}\n",
            seeds[0],
            match with {
                With::C => 1,
                With::Eager => 8,
                _ => 4,
            }
        ));
        let smallest = programs.into_iter().map(|(_, program)| program).min_by_key(Program::size);
        let smallest = smallest.map(|program| {
            smoothc::stack::with_large_stack(|| {
                be_quiet();
                let text = program.text();
                let compiles = kind.starts_with("C ") || kind.starts_with("cc ");
                let shrinks_with = if compiles || with == With::Forward { with } else { With::Interpreter };
                let small = shrink(program, budget, &mut |candidate| {
                    check_all(std::slice::from_ref(candidate), shrinks_with, &mut Counts::default())
                        .iter()
                        .any(|(_, failure)| failure.kind == kind)
                });
                if std::env::var_os("SMOOTHC_FULL").is_some() { text + &report(&small, with, &kind) } else { report(&small, with, &kind) }
            })
        });
        text.push_str(&smallest.unwrap_or_default());
    }
    assert!(text.is_empty(), "\n{count} programs from SMOOTHC_SEED={first}\n{text}");
    assert!(total.unsupported * 50 <= count.max(50), "too many programs are refused: {total:?}");
}

/// What the library's functions do is written by operators, slices and records too.
#[test]
fn programs_are_written_in_several_ways() {
    let texts: Vec<String> = (0..300).map(|seed| grow::program(seed, "f", false).text()).collect();
    for words in [" .* ", "[1..", "type Pair_f = ", "vectorEMul ", "vectorSlice "] {
        let count = texts.iter().filter(|text| text.contains(words)).count();
        assert!(count >= 3, "{count} of 300 programs have `{words}`");
    }
}
