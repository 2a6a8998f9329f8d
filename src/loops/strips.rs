//! Strip mining: the iterations of a loop in blocks of a literal number, and those that are left.
//!
//! In: a loop and how many iterations a block has. Out: how many blocks there are, an iteration in another place, and the loop over
//! the iterations after the last block; and how passes put such blocks in the place of loops.
//!
//!     for i < n: s   →   blocks = n / 32; …; for rest < n % 32: i = blocks * 32 + rest; s

use crate::ir::Prim;

use super::builder::counter;
use super::program::ranges::Ranges;
use super::program::*;
use super::rename::{copied, rename};
use super::values::folded;
use super::visit::mentions;

/// Puts other statements in the place of each outermost one for which there are some.
pub fn replace_outermost(block: &mut Block, new: &mut dyn FnMut(&Stmt) -> Option<Block>) {
    let mut out = Vec::new();
    for mut stmt in std::mem::take(block) {
        match new(&stmt) {
            Some(new) => out.extend(new),
            None => {
                stmt.blocks_mut().for_each(|block| replace_outermost(block, new));
                out.push(stmt);
            }
        }
    }
    *block = out;
}

/// A loop's iterations in blocks.
pub struct Strips {
    /// The constant that the number of blocks is, where that is no literal.
    pub declared: Option<Stmt>,
    pub blocks: Value,
    width: i64,
    left: Value,
}

impl Strips {
    /// The blocks of so many iterations; `note`: what a reader is told of them.
    pub fn of(count: &Value, width: i64, note: &str, locals: &mut Vec<Local>, ranges: &mut Ranges) -> Strips {
        let left = folded(Prim::Rem, count.clone(), Value::Index(width));
        let blocks = folded(Prim::Div, count.clone(), Value::Index(width));
        let (declared, blocks) = if matches!(blocks, Value::Index(_)) {
            (None, blocks)
        } else {
            let note = format!("{width} at a time, {note}");
            let form = Form::Scalar { mutable: false };
            locals.push(Local { name: "blocks".into(), elem: Elem::Index, form, note: Some(note.into()) });
            let id = locals.len() - 1;
            ranges.insert(id, ranges.of(&blocks));
            (Some(Stmt::Declare { id, init: Some(blocks) }), Value::Local(id))
        };
        Strips { declared, blocks, width, left }
    }

    /// The loop over the iterations after the last block, where there may be some.
    pub fn rest(&self, stmt: &Stmt, locals: &mut Vec<Local>, ranges: &mut Ranges) -> Option<Stmt> {
        let Stmt::For { i, size, body, apart, .. } = stmt else { return None };
        (self.left != Value::Index(0)).then_some(())?;
        let rest = counter("rest", &self.left, locals, ranges);
        let first = folded(Prim::Mul, self.blocks.clone(), Value::Index(self.width));
        let body = iteration(*i, folded(Prim::Add, first, Value::Local(rest)), body, locals, ranges);
        Some(Stmt::For { i: rest, var: None, count: self.left.clone(), size: size.clone(), body, lanes: Lanes::One, apart: *apart })
    }
}

/// The statements of an iteration with locals of their own, for the iteration `at` of the loop over `i`.
pub fn iteration(i: Id, at: Value, stmts: &[Stmt], locals: &mut Vec<Local>, ranges: &mut Ranges) -> Block {
    let mut body = copied(stmts, locals, ranges);
    let own = locals.len();
    locals.push(Local { form: Form::Scalar { mutable: false }, ..locals[i].clone() });
    ranges.get(i).into_iter().for_each(|range| ranges.insert(own, range));
    rename(&mut body, i, own);
    // compilers warn of what nothing reads
    if body.iter().any(|stmt| mentions(stmt, own)) {
        body.insert(0, Stmt::Declare { id: own, init: Some(at) });
    }
    body
}
