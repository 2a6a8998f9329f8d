//! What of a body takes workspace.
//!
//! In: statements, and the functions before their own. Out: [`Demand`]s in order, and what can be said of them without counting
//! bytes: how many totals compete, and whether more threads or deeper stacks need more.
//!
//!     { double t[n]; for i < m { double u[i]; } }   →   Room n, Loop i < m: Room i

use crate::ir::ambient;
use crate::ir::{Size, Var};
use crate::loops::program::*;
use crate::source::Span;

/// What takes room, in order.
pub enum Demand {
    Room { elem: Elem, dims: Vec<Size>, aligned: bool, span: Span },
    Call(Callee, Vec<Measure>, Vec<(Id, Option<Var>)>, Span),
    Inner(Vec<Demand>),
    Loop { var: Option<Var>, size: Option<Size>, body: Vec<Demand> },
    Slices(Slice),
}

/// What a block needs, in order; rooms that are local arrays need nothing.
pub fn needs(done: &[LoopFunction], block: &[Stmt]) -> Vec<Demand> {
    let mut out = Vec::new();
    for stmt in block {
        match stmt {
            Stmt::Room(room) if room.few().is_some() => {}
            Stmt::Room(Room { elem, dims, aligned, span, .. }) => {
                out.push(Demand::Room { elem: *elem, dims: dims.clone(), aligned: *aligned, span: *span });
            }
            Stmt::Invoke(call) => {
                if let Some(callee) = done.iter().find(|other| other.name == call.callee)
                    && callee.workspace.needed
                {
                    let params = callee.workspace.params.clone();
                    out.push(Demand::Call(Callee::Workspace(call.callee.clone()), call.measures.clone(), params, call.span));
                }
            }
            Stmt::Scope(body) | Stmt::While { body, .. } => push_inner(&mut out, needs(done, body)),
            Stmt::If { then, otherwise, .. } => {
                push_inner(&mut out, needs(done, then));
                push_inner(&mut out, needs(done, otherwise));
            }
            Stmt::For { var, size, body, .. } => {
                let body = needs(done, body);
                if !body.is_empty() {
                    out.push(Demand::Loop { var: var.clone(), size: size.clone(), body });
                }
            }
            Stmt::Share(share) => out.extend(share.slice.iter().map(|slice| Demand::Slices(slice.clone()))),
            Stmt::Declare { .. }
            | Stmt::Point { .. }
            | Stmt::Assign { .. }
            | Stmt::Update { .. }
            | Stmt::Fail { .. }
            | Stmt::NoRoom { .. }
            | Stmt::Rotate(_)
            | Stmt::Return(_) => {}
        }
    }
    out
}

fn push_inner(out: &mut Vec<Demand>, inner: Vec<Demand>) {
    if !inner.is_empty() {
        out.push(Demand::Inner(inner));
    }
}

/// Whether a need is there in any case: a loop may not run.
pub fn counts(need: &Demand) -> bool {
    match need {
        Demand::Room { .. } | Demand::Call(..) | Demand::Slices(..) => true,
        Demand::Inner(inner) => inner.iter().any(counts),
        Demand::Loop { .. } => false,
    }
}

/// How many totals compete; a loop always asks for a comparison.
pub fn count_candidates(needs: &[Demand]) -> usize {
    let mut count = 0;
    for (k, need) in needs.iter().enumerate() {
        count += match need {
            Demand::Room { .. } => usize::from(k + 1 == needs.len()),
            Demand::Call(..) | Demand::Slices(..) => 1,
            Demand::Inner(inner) => count_candidates(inner),
            Demand::Loop { .. } => 2,
        };
    }
    if needs.len() > 1 && count == 1 && !needs[..needs.len() - 1].iter().all(|need| matches!(need, Demand::Room { .. })) {
        return 2;
    }
    count
}

/// Calls `f` on every length.
pub fn each_size(needs: &[Demand], f: &mut dyn FnMut(&Size)) {
    for need in needs {
        match need {
            Demand::Room { dims, .. } => dims.iter().for_each(&mut *f),
            Demand::Call(_, measures, ..) => measures.iter().for_each(|measure| match measure {
                Measure::Size(size) => f(size),
                Measure::Bool(_) | Measure::Data => {}
            }),
            Demand::Slices(..) => {}
            Demand::Inner(inner) => each_size(inner, f),
            Demand::Loop { size, body, .. } => {
                size.iter().for_each(&mut *f);
                each_size(body, f);
            }
        }
    }
}

/// Whether some length depends on a variable.
pub fn mentions(needs: &[Demand], var: &Var) -> bool {
    let mut found = false;
    each_size(needs, &mut |size| found |= size.mentions(var));
    found
}

/// Whether the number of threads matters.
pub fn grows(done: &[LoopFunction], needs: &[Demand]) -> bool {
    needs.iter().any(|need| match need {
        Demand::Room { .. } => false,
        Demand::Call(callee, ..) => is_grown(done, callee),
        Demand::Inner(inner) | Demand::Loop { body: inner, .. } => grows(done, inner),
        Demand::Slices(..) => true,
    })
}

/// The same of a callee.
pub fn is_grown(done: &[LoopFunction], callee: &Callee) -> bool {
    workspace_of(done, callee).is_some_and(|workspace| workspace.threads.is_some())
}

/// Whether stacks may be deeper. `at`: where the measure of a slice has how much.
pub fn deepens(done: &[LoopFunction], needs: &[Demand], at: usize) -> bool {
    needs.iter().any(|need| match need {
        Demand::Room { dims, .. } => dims.iter().any(|size| size.mentions(&ambient::deeper())),
        Demand::Call(callee, ..) => is_deepened(done, callee),
        Demand::Inner(inner) | Demand::Loop { body: inner, .. } => deepens(done, inner, at),
        Demand::Slices(slice) => slice.args.contains(&at),
    })
}

/// The same of a callee.
pub fn is_deepened(done: &[LoopFunction], callee: &Callee) -> bool {
    workspace_of(done, callee).is_some_and(|workspace| workspace.deeper.is_some())
}

fn workspace_of<'d>(done: &'d [LoopFunction], callee: &Callee) -> Option<&'d Workspace> {
    let (Callee::Workspace(name) | Callee::Body(name) | Callee::Slice(name, _) | Callee::Deeper(name)) = callee;
    done.iter().find(|other| &other.name == name).map(|other| &other.workspace)
}
