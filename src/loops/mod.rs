//! The loop program, and what makes it fast: loop program → loop program.
//!
//! In: what `lower` made of the core: loops, assignments and guards over scalars and pointers. Out: the same program after the
//! passes of [`LOOP_PASSES`], with a function for each function that measures its workspace. Nothing here knows the core
//! language's terms, or C's spelling.
//!
//!     for i < n: if (k >= n) return BOUNDS; out[i] = v[k]   →   if (n > 0 && k >= n) return BOUNDS; for i < n: out[i] = v[k]

mod absorb_zeros;
pub mod analysis;
mod builder;
mod coalesce;
mod distribute_loops;
pub mod eval;
mod factor_polynomials;
mod flatten;
mod fuse_loops;
mod guard_sums;
pub mod helpers;
mod hoist_checks;
mod if_convert;
mod join_branches;
mod keep_order;
pub mod measure;
mod pack;
mod parallelise;
pub mod parse;
mod peel;
pub mod print;
pub mod program;
mod promote;
mod rename;
mod simplify;
mod skip;
mod strip_mine;
mod strips;
mod tile;
mod unroll_and_jam;
mod unswitch;
pub mod values;
mod vectorise;
mod vectorise_outer;
pub mod verify;
pub mod visit;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::real::Real;
use crate::source::Span;

use analysis::failures::can_fail;
use program::{Argument, Block, LoopFunction, LoopProgram, Stmt};
use visit::each_invocation;

/// A loop of a literal number of iterations below this is not worth sharing among threads, whatever each costs.
pub const FEW_TO_SHARE: i64 = 64;

/// What a pass gives.
pub type Result<T> = std::result::Result<T, Diagnostic>;

/// What passes may be told.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Laws of the real numbers that change rounding may be used, as by group `algebra` of the rules.
    pub algebra: bool,
    /// Loops are shared among threads.
    pub parallel: bool,
    /// Sums of Doubles keep their order.
    pub strict_fp: bool,
    /// What a Double is.
    pub real: Real,
    /// Passes apply wherever they may, not only where that is of use: for tests.
    pub eager: bool,
    /// The names of passes that are left out.
    pub disabled: Vec<String>,
}

/// What a pass sees beside its function.
pub struct Context<'a> {
    pub options: &'a Options,
    /// The functions before it, after all passes.
    pub done: &'a [LoopFunction],
}

/// One pass over a function.
#[derive(Debug)]
pub struct LoopPass {
    /// The name of the module that does it.
    pub name: &'static str,
    /// The name with its room's before it, as `--dump` takes it.
    pub stage: &'static str,
    pub need: Need,
    pub what: &'static str,
    run: fn(&mut LoopFunction, &Context) -> Result<()>,
}

/// Whether a program is right without a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It makes loops better, and may be left out.
    Optional,
    /// Emitted code counts on it.
    Always,
}

macro_rules! pass {
    ($name:literal, $need:expr, $what:literal, $run:expr) => {
        LoopPass { name: $name, stage: concat!("loops.", $name), need: $need, what: $what, run: $run }
    };
}

impl LoopPass {
    /// Runs this pass alone on all functions of a program, whose calls say already what their callees need.
    pub fn run_alone(&self, program: LoopProgram, options: &Options) -> Result<LoopProgram> {
        let mut done: Vec<LoopFunction> = Vec::new();
        for mut function in program.functions {
            let context = Context { options, done: &done };
            (self.run)(&mut function, &context)?;
            check(&function, &context, self.stage)?;
            done.push(function);
        }
        Ok(LoopProgram { real: program.real, functions: done })
    }
}

/// All passes, in order.
pub const LOOP_PASSES: &[LoopPass] = &[
    pass!("simplify", Need::Optional, "drops what has no effect", simplify::run),
    pass!("coalesce", Need::Optional, "changes locals in the place of copies", coalesce::run),
    pass!("hoist_checks", Need::Optional, "makes the checks of a loop before it", hoist_checks::run),
    pass!("unswitch", Need::Optional, "makes a branch of two loops of a loop over an invariant branch", unswitch::run),
    pass!("peel", Need::Optional, "peels first and last iterations that have conditions of their own, and splits loops", peel::run),
    pass!("distribute_loops", Need::Optional, "gives functions of sums a loop of their own", distribute_loops::run),
    pass!("promote", Need::Optional, "keeps what a loop adds to one element in a local", promote::run),
    pass!("absorb_zeros", Need::Optional, "stores what would be added to zeros", absorb_zeros::run),
    pass!("fuse_loops", Need::Optional, "makes one loop of several over one range, and locals of arrays that only it has", fuse_loops::run),
    pass!("vectorise_outer", Need::Optional, "runs iterations of outer loops in lanes, where inner loops cannot", vectorise_outer::run),
    pass!("strip_mine", Need::Optional, "goes through chains of products with matrices a block of iterations at a time", strip_mine::run),
    pass!("vectorise", Need::Optional, "marks loops whose iterations may run at once", vectorise::run),
    pass!("if_convert", Need::Optional, "evaluates both branches and selects, where jumps keep sine out of lanes", if_convert::run),
    pass!("pack", Need::Optional, "copies short rows column by column before loops whose lanes read them again and again", pack::run),
    pass!("tile", Need::Optional, "computes rows of matrices eight at a time", tile::run),
    pass!("factor_polynomials", Need::Optional, "computes common factors of tiles once", factor_polynomials::run),
    pass!("unroll_and_jam", Need::Optional, "runs several rows at once that read the same", unroll_and_jam::run),
    pass!("join_branches", Need::Optional, "joins nested conditions, and changes in place", join_branches::run),
    pass!("guard_sums", Need::Optional, "tests before sums that are empty in the first iteration around", guard_sums::run),
    pass!("skip", Need::Optional, "tests blocks of iterations in lanes, and skips those that change nothing", skip::run),
    pass!("parallelise", Need::Always, "shares loops among threads, where that is asked for", parallelise::run),
    pass!("keep_order", Need::Always, "marks loops that compilers must not interchange", keep_order::run),
    pass!("flatten", Need::Always, "makes one offset of the subscripts of an access", flatten::run),
    pass!("measure", Need::Always, "says how much workspace each function needs", measure::run),
];

/// The pass of this name.
pub fn named(name: &str) -> Option<&'static LoopPass> {
    LOOP_PASSES.iter().find(|pass| pass.name == name)
}

/// What is kept of a run of all passes.
#[derive(Debug, Default)]
pub struct Record {
    /// How long each pass took over all functions.
    pub times: Vec<(&'static str, Duration)>,
    /// The program after the pass that is asked for by its stage's name.
    pub snapshot: LoopProgram,
}

/// Runs all passes on a program, callees before callers.
pub fn optimise(program: LoopProgram, options: &Options) -> std::result::Result<LoopProgram, Diagnostics> {
    optimise_recorded(program, options, "", &mut Record::default())
}

/// As [`optimise`]; `record` gets the program after the pass of the stage `wanted`, before calls without use are dropped.
pub fn optimise_recorded(
    program: LoopProgram,
    options: &Options,
    wanted: &str,
    record: &mut Record,
) -> std::result::Result<LoopProgram, Diagnostics> {
    let mut done: Vec<LoopFunction> = Vec::new();
    let mut failed: BTreeSet<Rc<str>> = BTreeSet::new();
    let mut problems = Vec::new();
    record.times = LOOP_PASSES.iter().map(|pass| (pass.stage, Duration::ZERO)).collect();
    record.snapshot = LoopProgram { real: program.real, functions: Vec::new() };
    for mut function in program.functions {
        let mut is_blocked = false;
        each_invocation(&function.body, &mut |name| is_blocked |= failed.contains(name));
        if is_blocked {
            failed.insert(function.name);
            continue;
        }
        match run_passes(&mut function, &Context { options, done: &done }, wanted, record) {
            Ok(()) => done.push(function),
            Err(mut problem) => {
                // a term that the optimiser made has no place of its own
                if problem.span == Span::NONE {
                    problem.span = function.span;
                }
                problems.push(problem);
                failed.insert(function.name);
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    // a call whose value was not needed is gone, and its function with it
    let mut called: BTreeSet<Rc<str>> = BTreeSet::new();
    for function in done.iter().rev() {
        if function.is_entry || called.contains(&function.name) {
            each_invocation(&function.body, &mut |name| {
                called.insert(name.clone());
            });
        }
    }
    done.retain(|function| function.is_entry || called.contains(&function.name));
    Ok(LoopProgram { real: program.real, functions: done })
}

fn run_passes(function: &mut LoopFunction, context: &Context, wanted: &str, record: &mut Record) -> Result<()> {
    link(&mut function.body, context.done);
    check(function, context, "lower")?;
    for (pass, (_, time)) in LOOP_PASSES.iter().zip(&mut record.times) {
        let is_left_out = pass.need == Need::Optional && context.options.disabled.iter().any(|name| name == pass.name);
        if !is_left_out {
            let start = Instant::now();
            (pass.run)(function, context)?;
            *time += start.elapsed();
            check(function, context, pass.stage)?;
        }
        if pass.stage == wanted {
            record.snapshot.functions.push(function.clone());
        }
    }
    Ok(())
}

/// In debug builds, whether the stage gave a well-formed function.
fn check(function: &LoopFunction, context: &Context, stage: &str) -> Result<()> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    verify::function(function, context.done).map_err(|problem| {
        Diagnostic::error("E0901", function.span, format!("internal error: `{stage}` gave a wrong loop program: {problem}"))
            .help("this is a bug in smoothc: please report it with the program")
    })
}

/// Says at each call what the callee turned out to need: whether it fails, and whether it takes workspace.
fn link(block: &mut Block, done: &[LoopFunction]) {
    for stmt in block {
        if let Stmt::Invoke(call) = stmt
            && let Some(callee) = done.iter().find(|other| other.name == call.callee)
        {
            call.fallible = callee.is_entry || can_fail(&callee.body);
            if !(callee.workspace.needed || callee.is_entry) {
                call.args.retain(|arg| !matches!(arg, Argument::Workspace));
            }
        }
        stmt.blocks_mut().for_each(|block| link(block, done));
    }
}
