//! What loops cost without one pass of `LOOP_PASSES`: the second table of `docs/passes.md`, counted without a clock.
//!
//! In: a program of `worth::files`, a mode, and the pass that is left out. Out: [`Work`] of its loop program. A statement in a loop
//! counts as often as the loop runs, and a loop whose number of iterations is no literal runs [`TIMES`] times.
//!
//!     for i < n { if (k >= n) fail; out[i] = v[i] * 2 }   →   10 operations one at a time, 20 loads and stores, 10 checks

use smoothc::driver::Session;
use smoothc::ir::Prim;
use smoothc::loops::program::{Elem, Lanes, LoopProgram, Place, Share, Stmt, Value};
use smoothc::loops::{self, LOOP_PASSES, LoopPass, Need};
use smoothc::{lower, plan};

/// How often a loop runs whose number of iterations is no literal.
const TIMES: u64 = 10;

/// What is counted of a loop program, in the order of the page's columns; less is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Operations on Doubles.
    pub operations: u64,
    /// Those of them that are not in a loop that runs in lanes.
    pub one_at_a_time: u64,
    pub loads_and_stores: u64,
    /// Branches and checks.
    pub tests: u64,
    /// Lines of the printed loop program.
    pub lines: u64,
}

impl Work {
    pub const COLUMNS: [&str; 5] = ["operations", "one at a time", "loads and stores", "branches and checks", "lines"];

    pub fn columns(&self) -> [u64; 5] {
        [self.operations, self.one_at_a_time, self.loads_and_stores, self.tests, self.lines]
    }
}

/// The passes that may be left out.
pub fn optional_passes() -> impl Iterator<Item = &'static LoopPass> {
    LOOP_PASSES.iter().filter(|pass| pass.need == Need::Optional)
}

/// The work of a program after `rewrite`, without a pass where one is named.
pub fn work(session: &Session, left_out: Option<&str>) -> Work {
    let functions = session.program.functions.values();
    let entries: Vec<_> = functions.filter(|function| function.is_entry).map(|function| function.name.clone()).collect();
    let options = lower::LowerOptions { reciprocals: true, ..lower::LowerOptions::default() };
    let planning = plan::Options { algebra: true, ..plan::Options::default() };
    let (program, _) = plan::plan(&session.program, &planning, "").unwrap_or_else(|problems| panic!("{problems:?}"));
    let program = lower::lower(&program, &entries, &options).unwrap_or_else(|problems| panic!("{problems:?}"));
    let disabled = left_out.iter().map(|name| name.to_string()).collect();
    let options = loops::Options { algebra: true, disabled, ..loops::Options::default() };
    let program = loops::optimise(program, &options).unwrap_or_else(|problems| panic!("{problems:?}"));
    count(&program)
}

fn count(program: &LoopProgram) -> Work {
    let mut work = Work { lines: loops::print::program(program).lines().count() as u64, ..Work::default() };
    program.functions.iter().for_each(|function| block(&function.body, 1, false, &mut work));
    work
}

/// Counts statements that run so many times, in lanes or one at a time.
fn block(stmts: &[Stmt], times: u64, in_lanes: bool, work: &mut Work) {
    for stmt in stmts {
        match stmt {
            Stmt::Declare { init, .. } => init.iter().for_each(|init| value(init, times, in_lanes, work)),
            Stmt::Assign { place, value: assigned } => {
                value(assigned, times, in_lanes, work);
                if let Place::Element { offset, .. } = place {
                    work.loads_and_stores += times;
                    offset.iter().for_each(|offset| value(offset, times, in_lanes, work));
                }
            }
            Stmt::Update { offset, value: new, .. } => {
                work.loads_and_stores += times;
                [offset, new].into_iter().for_each(|part| value(part, times, in_lanes, work));
            }
            Stmt::For { count, body, lanes, .. } => {
                value(count, times, in_lanes, work);
                block(body, times.saturating_mul(iterations(count)), in_lanes || *lanes != Lanes::One, work);
            }
            Stmt::While { cond, body } => {
                value(cond, times.saturating_mul(TIMES), in_lanes, work);
                block(body, times.saturating_mul(TIMES), in_lanes, work);
            }
            Stmt::Share(Share { body, .. }) => block(body, times, in_lanes, work),
            Stmt::If { cond, then, otherwise } => {
                work.tests += times;
                value(cond, times, in_lanes, work);
                block(then, times, in_lanes, work);
                block(otherwise, times, in_lanes, work);
            }
            Stmt::Fail { cond, .. } | Stmt::NoRoom { cond } => {
                work.tests += times;
                value(cond, times, in_lanes, work);
            }
            Stmt::Return(result) => value(result, times, in_lanes, work),
            Stmt::Scope(body) => block(body, times, in_lanes, work),
            Stmt::Point { .. } | Stmt::Room(_) | Stmt::Invoke(_) | Stmt::Rotate(_) => {}
        }
    }
}

fn iterations(count: &Value) -> u64 {
    match count.iterations() {
        Value::Index(count) => (*count).max(0) as u64,
        _ => TIMES,
    }
}

/// Counts an expression that is evaluated so many times.
fn value(of: &Value, times: u64, in_lanes: bool, work: &mut Work) {
    match of {
        Value::Prim { prim, elem, args, .. } => {
            // a sign is part of the operation that takes it
            if *elem == Elem::Double && *prim != Prim::Neg {
                work.operations += times;
                work.one_at_a_time += if in_lanes { 0 } else { times };
            }
            args.iter().for_each(|arg| value(arg, times, in_lanes, work));
        }
        Value::Helper(_, args) => args.iter().for_each(|arg| value(arg, times, in_lanes, work)),
        Value::Load { offset, .. } => {
            work.loads_and_stores += times;
            offset.iter().for_each(|offset| value(offset, times, in_lanes, work));
        }
        Value::InRow(parts) | Value::Select(parts) => parts.iter().for_each(|part| value(part, times, in_lanes, work)),
        Value::Local(_)
        | Value::Double(_)
        | Value::Index(_)
        | Value::Bool(_)
        | Value::SizeOf(..)
        | Value::Moved { .. }
        | Value::Call(..) => {}
    }
}
