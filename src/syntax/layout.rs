//! Layout: makes what columns mean visible to the grammar.
//!
//! In: the tokens of one declaration (or expression). Out: [`Layout`], a text of those tokens, one space
//! after each, with the control characters of [`mark`] where a block begins and ends, where an omitted
//! `in` belongs, and before `[`, `(` and `-` whose meaning depends on the blanks around them; and the way
//! back to source offsets. Errors that brackets and keywords show by themselves are found here.
//!
//! ```text
//! let f x =            let f x = {
//!   let y = x * x   →    let y = { x * x } IN
//!   y + 1                y + 1 }
//! ```
//!
//! A block is what follows the `=` of a `let`, `->`, `then` and `else`, and a `let` in the middle of an
//! expression. [`Context`]s on a stack say which constructs are open; `offside` closes those that a line
//! further left ends. Every token pushes at most two contexts and is closed over once: linear time.

use super::context::{Block, Context, Kind, Let, Stack};
use super::groups::{self, Group};
use super::laid_out::{Layout, mark};
use super::tokens::{Token, TokenKind};
use super::tokens::{ends_operand, starts_operand};
use crate::diagnostic::Diagnostic;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    Declaration,
    Expression,
    /// An `open` line: no blocks.
    Words,
}

impl Layout {
    /// Lays out the tokens of one declaration or one expression.
    pub fn new(tokens: &[Token], file: u32, goal: Goal) -> Result<Layout, Diagnostic> {
        let mut pass = Pass { tokens, goal, stack: Stack::new(file), pending: None, out: Layout::default() };
        pass.out.file = file;
        pass.out.text.reserve(tokens.len() * 8);
        if goal == Goal::Expression {
            pass.pending = Some(Block::Operand);
        }
        for (index, token) in tokens.iter().enumerate() {
            pass.token(index, token)?;
        }
        pass.finish()?;
        Ok(pass.out)
    }
}

pub(super) struct Pass<'t> {
    tokens: &'t [Token<'t>],
    goal: Goal,
    pub(super) stack: Stack,
    /// A block that begins with the next token.
    pending: Option<Block>,
    out: Layout,
}

impl<'t> Pass<'t> {
    fn token(&mut self, index: usize, token: &Token<'t>) -> Result<(), Diagnostic> {
        let head = self.stack.top().is_some_and(|top| top.kind.is_head());
        let closes = matches!(token.text, ")" | "]" | "|]" | "then" | "else" | "elif" | "in" | "," | ";" | ".." | "}" | "with" | "|");
        let field = self.starts_field(index, token);
        if field {
            self.unwind_to_bracket();
            self.stack.separate();
            self.virtual_mark(';');
        }
        if let Some(block) = self.pending.take() {
            self.begin(block, token)?;
        } else if token.first && !field && (head || !closes) {
            self.offside(index, token)?;
        } else if let Some(top) = self.stack.top_mut().filter(|top| top.after_in) {
            top.current = token.column;
        }
        if let Some(top) = self.stack.top_mut() {
            top.after_in = false;
        }
        if self.stack.top().is_some_and(|top| top.kind.is_head()) {
            return self.head_token(index, token);
        }
        let fresh = self.stack.top_mut().is_some_and(|top| std::mem::take(&mut top.fresh));
        match (token.kind, token.text) {
            (TokenKind::Keyword, "let" | "and") if token.text == "let" || self.goal == Goal::Declaration && index == 0 => {
                let kind = match self.tokens.get(index + 1) {
                    _ if self.goal == Goal::Declaration && index == 0 => Let::Declaration,
                    Some(next) if next.text == "rec" => Let::Recursive,
                    Some(_) | None => Let::Local,
                };
                if !fresh && kind != Let::Declaration {
                    let limit = token.column;
                    self.push(Context::new(Kind::Block(Block::Operand), token).within(limit))?;
                    self.virtual_mark(mark::BEGIN);
                }
                self.stack.weigh(1)?;
                self.emit(None, token);
                self.push(Context::new(Kind::LetHead(kind), token).within(token.column + 1).outside(usize::MAX))
            }
            (TokenKind::Keyword, "and") if self.begins_function(index) => {
                let is_group = |kind| kind == Kind::LetValue(Let::Recursive);
                if self.stack.inside().any(is_group) {
                    self.unwind(token, is_group)?;
                    self.stack.become_kind(Kind::LetHead(Let::Recursive));
                } else if self.stack.bracket().is_none() || Group::of(self.tokens).is_none() {
                    return Err(groups::alone(token, self.tokens.get(index + 1), self.out.file));
                }
                self.emit(None, token);
                Ok(())
            }
            (TokenKind::Keyword, "fun") => {
                self.emit(None, token);
                self.push_inside(Kind::FunHead, token)
            }
            (TokenKind::Keyword, "if") => {
                self.emit(None, token);
                self.push_inside(Kind::Condition, token)
            }
            (TokenKind::Keyword, "match") => {
                self.emit(None, token);
                self.push_inside(Kind::Scrutinee, token)
            }
            (TokenKind::Keyword, "with") if self.stack.inside().any(|kind| kind == Kind::Scrutinee) => self.rows(index, token),
            (TokenKind::Mark, "|") if self.goal != Goal::Words => self.row(token),
            (TokenKind::Keyword, "then") => {
                self.unwind(token, |kind| kind == Kind::Condition)?;
                self.stack.become_kind(Kind::Branch);
                self.emit(None, token);
                self.pending = Some(Block::Branch);
                Ok(())
            }
            (TokenKind::Keyword, "elif") => {
                self.unwind(token, |kind| kind == Kind::Branch)?;
                self.stack.become_kind(Kind::Condition);
                self.stack.weigh(1)?;
                self.emit(None, token);
                Ok(())
            }
            (TokenKind::Keyword, "else") => {
                self.unwind(token, |kind| kind == Kind::Branch)?;
                self.emit(None, token);
                self.pop();
                self.pending = Some(Block::Branch);
                Ok(())
            }
            (TokenKind::Keyword, "in") => {
                self.unwind(token, |kind| matches!(kind, Kind::LetValue(Let::Local | Let::Recursive)))?;
                self.emit(Some(mark::IN), token);
                self.pop();
                self.stack.set_fresh();
                if let Some(block) = self.stack.top_mut() {
                    block.after_in = true;
                }
                Ok(())
            }
            (TokenKind::Keyword, "not") => {
                self.stack.weigh(1)?;
                self.emit(None, token);
                Ok(())
            }
            (TokenKind::Mark, "(") => {
                let call = (self.before(index)).is_some_and(|name| name.kind == TokenKind::Name && name.end() == token.start);
                self.stack.weigh(usize::from(call))?;
                self.emit(call.then_some(mark::CALL), token);
                self.push_bracket(Kind::Round, token, self.tokens.get(index + 1))
            }
            (TokenKind::Mark, "[" | "[|" | ".[") => {
                let adjacent = self
                    .before(index)
                    .is_some_and(|before| ends_operand(before) && (token.text == ".[" || token.text == "[" && before.end() == token.start));
                self.stack.weigh(usize::from(adjacent))?;
                self.emit(adjacent.then_some(mark::INDEX), token);
                let kind = if token.text == "[|" { Kind::SquareBar } else { Kind::Square };
                self.push_bracket(kind, token, self.tokens.get(index + 1))
            }
            (TokenKind::Mark, "{") => {
                self.emit(None, token);
                self.push_bracket(Kind::Curly, token, self.tokens.get(index + 1))
            }
            (TokenKind::Keyword, "with") => {
                if self.stack.bracket().is_some_and(|bracket| bracket.kind == Kind::Curly) {
                    self.unwind_to_bracket();
                }
                self.stack.separate();
                // fields may stand below the first one
                if let (Some(top), Some(next)) = (self.stack.top_mut(), self.tokens.get(index + 1)) {
                    (top.column, top.current) = (next.column, next.column);
                }
                self.emit(None, token);
                Ok(())
            }
            (TokenKind::Mark, ".") => {
                self.stack.weigh(1)?;
                self.emit(None, token);
                Ok(())
            }
            (TokenKind::Mark, ")" | "]" | "|]" | "}") => {
                self.close_to_bracket(token)?;
                self.emit(None, token);
                self.pop();
                Ok(())
            }
            (TokenKind::Mark, ",") => {
                match self.stack.bracket() {
                    Some(bracket) if bracket.kind != Kind::Round => self.unwind_to_bracket(),
                    // A tuple in a `let` or `fun` body belongs to it, but no branch of an `if` is one.
                    Some(_) | None => {
                        while self.stack.top().is_some_and(|top| top.kind == Kind::Block(Block::Branch)) {
                            self.pop();
                        }
                    }
                }
                self.stack.separate();
                self.emit(None, token);
                Ok(())
            }
            (TokenKind::Mark, ";" | "..") => {
                if self.stack.bracket().is_some_and(|bracket| bracket.kind != Kind::Round) {
                    self.unwind_to_bracket();
                }
                self.stack.separate();
                self.emit(None, token);
                Ok(())
            }
            (TokenKind::Operator, text) => {
                self.stack.weigh(1)?;
                let argument = text == "-" && self.starts_argument(index, token);
                self.emit(argument.then_some(mark::NEGATIVE), token);
                Ok(())
            }
            (TokenKind::Mark | TokenKind::Keyword | TokenKind::Name | TokenKind::Number | TokenKind::Text | TokenKind::Stray, _) => {
                self.emit(None, token);
                Ok(())
            }
        }
    }

    /// A token between `let` and `=` or `fun` and `->`: patterns and types, where no blocks are.
    fn head_token(&mut self, index: usize, token: &Token<'t>) -> Result<(), Diagnostic> {
        let Some(kind) = self.stack.top().map(|top| top.kind) else {
            return Ok(());
        };
        match (kind, token.text) {
            (_, "(") => {
                self.emit(None, token);
                return self.push_bracket(Kind::Pattern, token, self.tokens.get(index + 1));
            }
            (_, "{") => {
                self.emit(None, token);
                return self.push_bracket(Kind::FieldPattern, token, self.tokens.get(index + 1));
            }
            (_, ")" | "]" | "|]" | "}") => {
                self.close_to_bracket(token)?;
                self.emit(None, token);
                self.pop();
                return Ok(());
            }
            (Kind::LetHead(kind), "=" | ">=") => {
                if token.text == ">=" {
                    // `let v : Vector<n>= e`
                    self.emit_part(token, 0, 1);
                    self.emit_part(token, 1, 2);
                } else {
                    self.emit(None, token);
                }
                self.stack.become_kind(Kind::LetValue(kind));
                self.pending = Some(Block::Value);
                return Ok(());
            }
            (Kind::FunHead | Kind::RowHead, "->") => {
                self.emit(None, token);
                self.pop();
                self.pending = Some(Block::Function);
                return Ok(());
            }
            (_, "<") => self.stack.angle(token, 1)?,
            (_, ">") => self.stack.angle(token, -1)?,
            (_, _) => {}
        }
        self.emit(None, token);
        Ok(())
    }

    /// The `with` of a `match`; the first row may do without its `|`.
    fn rows(&mut self, index: usize, token: &Token<'t>) -> Result<(), Diagnostic> {
        self.unwind(token, |kind| kind == Kind::Scrutinee)?;
        self.stack.separate();
        self.emit(None, token);
        let first = self.tokens.get(index + 1);
        let bar = first.map_or(usize::MAX, |first| first.column);
        self.stack.become_kind(Kind::Rows { bar });
        match first {
            Some(first) if first.text != "|" => self.push_inside(Kind::RowHead, first),
            Some(_) | None => Ok(()),
        }
    }

    /// A `|` begins the next row of the innermost `match`; on a line of its own, of the innermost whose first `|` is not further right.
    fn row(&mut self, token: &Token<'t>) -> Result<(), Diagnostic> {
        let fits = |kind: Kind| matches!(kind, Kind::Rows { bar } if !token.first || bar <= token.column);
        let any = |kind: Kind| matches!(kind, Kind::Rows { .. });
        if self.stack.inside().any(fits) {
            self.unwind(token, fits)?
        } else {
            self.unwind(token, any)?
        }
        self.stack.separate();
        self.emit(None, token);
        self.push_inside(Kind::RowHead, token)
    }

    /// A field on a line of its own, in the column of the first one.
    fn starts_field(&self, index: usize, token: &Token<'t>) -> bool {
        let Some(bracket) = self.stack.bracket().filter(|bracket| matches!(bracket.kind, Kind::Curly | Kind::FieldPattern)) else {
            return false;
        };
        let separated = self.before(index).is_none_or(|before| matches!(before.text, "{" | ";" | "with"));
        let names = token.kind == TokenKind::Name
            && self.tokens.get(index + 1).is_some_and(|next| next.text == "=" || next.text == ":" && self.goal == Goal::Words);
        token.first && names && token.column == bracket.column && !separated
    }

    /// F#'s rule: a blank before the `-` and none after it.
    fn starts_argument(&self, index: usize, token: &Token<'t>) -> bool {
        let (Some(before), Some(after)) = (self.before(index), self.tokens.get(index + 1)) else {
            return false;
        };
        let aligned = |top: &Context| token.first && (token.column == top.column || token.column == top.current);
        (ends_operand(before) || before.text == "deriv")
            && before.end() < token.start
            && token.end() == after.start
            && starts_operand(after)
            && !self.stack.top().is_some_and(aligned)
    }

    /// Whether the token is an `and` before one more function of a `let rec`: by its head, or in the column of the `let`.
    pub(super) fn begins_function(&self, index: usize) -> bool {
        let Some([and, after @ ..]) = self.tokens.get(index..) else { return false };
        let is_below = || self.stack.has_below(Kind::LetValue(Let::Recursive), and.column);
        and.text == "and" && (groups::heads_function(after) || and.first && is_below())
    }

    pub(super) fn before(&self, index: usize) -> Option<&Token<'t>> {
        index.checked_sub(1).and_then(|before| self.tokens.get(before))
    }

    pub(super) fn push(&mut self, context: Context) -> Result<(), Diagnostic> {
        self.stack.push(context)
    }

    /// A construct within the line rules of what is around it.
    fn push_inside(&mut self, kind: Kind, token: &Token<'t>) -> Result<(), Diagnostic> {
        let mut context = Context::new(kind, token);
        if let Some(top) = self.stack.top() {
            context = context.within(top.limit).aligned(top.column, top.current).outside(top.outer);
        }
        self.push(context)
    }

    fn push_bracket(&mut self, kind: Kind, token: &Token<'t>, next: Option<&Token<'t>>) -> Result<(), Diagnostic> {
        let column = next.map_or(token.column, |next| next.column);
        self.push(Context::new(kind, token).within(0).aligned(column, column).outside(column))
    }

    pub(super) fn pop(&mut self) {
        if let Some(Context { kind: Kind::Block(_), .. }) = self.stack.pop() {
            self.virtual_mark(mark::END);
        }
    }

    /// Closes what is open inside the nearest bracket.
    fn unwind_to_bracket(&mut self) {
        while self.stack.top().is_some_and(|top| !top.kind.is_bracket()) {
            self.pop();
        }
    }

    fn close_to_bracket(&mut self, token: &Token<'t>) -> Result<(), Diagnostic> {
        self.stack.check_closing(token)?;
        self.unwind_to_bracket();
        Ok(())
    }

    /// Closes what is open inside the construct that a keyword goes on with.
    fn unwind(&mut self, token: &Token<'t>, wanted: impl Fn(Kind) -> bool) -> Result<(), Diagnostic> {
        self.stack.check_keyword(token, &wanted)?;
        while self.stack.top().is_some_and(|top| !wanted(top.kind)) {
            self.pop();
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Diagnostic> {
        if self.pending.take().is_some() {
            self.virtual_mark(mark::BEGIN);
            self.virtual_mark(mark::END);
        }
        self.stack.check_closed()?;
        while self.stack.top().is_some() {
            self.pop();
        }
        self.stack.check_height()
    }

    pub(super) fn virtual_mark(&mut self, mark: char) {
        self.out.text.push(mark);
        self.out.text.push(' ');
    }

    fn emit(&mut self, mark: Option<char>, token: &Token<'t>) {
        if mark == Some(mark::IN) {
            self.out.places.push((self.out.text.len(), token.start, token.end()));
            self.virtual_mark(mark::IN);
            return;
        }
        self.out.text.extend(mark);
        self.emit_part(token, 0, token.text.len());
    }

    fn emit_part(&mut self, token: &Token<'t>, from: usize, to: usize) {
        self.out.places.push((self.out.text.len(), token.start + from, token.start + to));
        self.out.text.push_str(match token.text {
            "×" => "*",
            ".[" => "[",
            text => text.get(from..to).unwrap_or(text),
        });
        self.out.text.push(' ');
    }
}
