//! The offside rule: what the column of a token opens and closes.
//!
//! In: the first token of a line, or of a block. Out: blocks begun and ended, an `in` put where the body of a
//! `let` starts in the column of its `let`, and a mark before a line that continues nothing.
//! Example: before the `y` of
//!
//! ```text
//! let x =
//!     a
//! y
//! ```
//!
//! the value `a` ends (its column is further right) and an `in` follows (the column is that of the `let`).

use super::context::{Block, Context, Kind, Let};
use super::laid_out::mark;
use super::layout::Pass;
use super::tokens::{Token, TokenKind, ends_operand, starts_operand};
use crate::diagnostic::Diagnostic;

impl<'t> Pass<'t> {
    /// Opens the block that `token` is the first of, unless the line is too far left to be in it.
    pub(super) fn begin(&mut self, block: Block, token: &Token<'t>) -> Result<(), Diagnostic> {
        let around = self.stack.top().map_or(0, |top| top.limit);
        self.virtual_mark(mark::BEGIN);
        // A block that begins in the middle of a line may go on anywhere right of what is around it.
        let strict = (token.first || token.text == "let") && self.stack.top().is_some();
        let limit = if strict { token.column.max(around) } else { around };
        let outer = if strict { token.column } else { self.stack.top().map_or(usize::MAX, |top| top.outer) };
        self.push(Context::new(Kind::Block(block), token).within(limit).outside(outer))?;
        self.stack.set_fresh();
        if token.first && token.column < around {
            self.offside(0, token)?;
        }
        Ok(())
    }

    /// What the first token of a line ends: blocks further right, and the value of a `let` in its column.
    pub(super) fn offside(&mut self, index: usize, token: &Token<'t>) -> Result<(), Diagnostic> {
        let column = token.column;
        let goes_on = self.begins_function(index);
        loop {
            let around = self.stack.below_top().map_or(0, |below| below.limit);
            let Some(top) = self.stack.top_mut() else {
                break;
            };
            match top.kind {
                Kind::Block(_) if top.after_in && column >= around => {
                    // The body after a written `in` says itself where the block goes on.
                    top.limit = top.limit.min(column);
                    top.current = column;
                    return Ok(());
                }
                // `let x =` / `    a` / `  + b`: nothing but the value can go on with an operator there.
                Kind::Block(Block::Value | Block::Function) if column < top.limit && column >= around && !top.fresh && is_infix(token) => {
                    return Ok(());
                }
                // it goes on with the functions of this `let rec`
                Kind::LetValue(Let::Recursive) if column == top.column && goes_on => return Ok(()),
                Kind::LetValue(Let::Local | Let::Recursive) if column == top.column => {
                    self.pop();
                    self.virtual_mark(mark::IN);
                    self.stack.set_fresh();
                    if let Some(block) = self.stack.top_mut() {
                        block.current = column;
                    }
                    return Ok(());
                }
                Kind::LetHead(_) | Kind::Pattern | Kind::FieldPattern => return Ok(()),
                Kind::Round | Kind::Square | Kind::SquareBar | Kind::Curly => break,
                // What is in the middle of a line does not go on in the column of the block around it.
                Kind::Block(block)
                    if column >= top.limit
                        && column == top.outer
                        && column < top.column
                        && !(block == Block::Function && is_infix(token)) =>
                {
                    self.pop();
                }
                Kind::LetValue(_)
                | Kind::FunHead
                | Kind::Condition
                | Kind::Branch
                | Kind::Scrutinee
                | Kind::Rows { .. }
                | Kind::RowHead
                | Kind::Block(_) => {
                    if column >= top.limit {
                        break;
                    }
                    self.pop();
                }
            }
        }
        let Some(top) = self.stack.top() else {
            return Ok(());
        };
        let aligned = column == top.column || column == top.current;
        if aligned && starts_operand(token) && self.before(index).is_some_and(ends_operand) {
            self.virtual_mark(mark::LINE);
        }
        Ok(())
    }
}

fn is_infix(token: &Token) -> bool {
    token.kind == TokenKind::Operator
}
