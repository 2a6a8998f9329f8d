//! The stack of constructs that are open at a point of the text, for `layout`.
//!
//! In: pushes and pops from the layout pass. Out: the nearest bracket or keyword that a token answers, and
//! the errors of brackets and keywords without a partner. Also the limits: how many constructs may be open
//! at once ([`NESTING`]), and how high a tree may become when chains count too ([`HEIGHT`]: `let` after
//! `let`, `a + b + c …`), so that every later stage may recurse on the large stack.
//! Example: at the `)` of `(if c then a)` the stack is `Round, Branch, Block(Branch)`.

use super::tokens::Token;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Constructs open at once. A `let` in the value of a `let` takes two, in parentheses four.
pub const NESTING: usize = 10_000;
/// The height of a tree, chains of operators and of `let`s included.
pub const HEIGHT: usize = 25_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// After the `=` of a `let`.
    Value,
    /// After `->`.
    Function,
    /// After `then` and `else`.
    Branch,
    /// A `let` in the middle of an expression.
    Operand,
}

/// What a `let` binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Let {
    /// A name of the file.
    Declaration,
    Local,
    /// A local function by `let rec`, which others may follow by `and`.
    Recursive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Block(Block),
    /// From `let` to `=`.
    LetHead(Let),
    /// From `=` to `in`.
    LetValue(Let),
    /// From `fun` to `->`.
    FunHead,
    /// From `if` to `then`.
    Condition,
    /// From `then` to `else` or `elif`.
    Branch,
    /// From `match` to `with`.
    Scrutinee,
    /// From `with` on; the column of the first `|`, or of the first pattern where no `|` is before it.
    Rows {
        bar: usize,
    },
    /// The pattern of a row, up to its `->`.
    RowHead,
    Round,
    Square,
    SquareBar,
    /// A record.
    Curly,
    /// Parentheses in a pattern or a type.
    Pattern,
    /// A record's pattern.
    FieldPattern,
}

impl Kind {
    pub fn is_head(self) -> bool {
        matches!(self, Kind::LetHead(_) | Kind::FunHead | Kind::RowHead | Kind::Pattern | Kind::FieldPattern)
    }

    pub fn is_bracket(self) -> bool {
        matches!(self, Kind::Round | Kind::Square | Kind::SquareBar | Kind::Curly | Kind::Pattern | Kind::FieldPattern)
    }
}

#[derive(Clone, Debug)]
pub struct Context {
    pub kind: Kind,
    /// The column of its first token.
    pub column: usize,
    /// The column in which its last `let` or body began.
    pub current: usize,
    /// A line that starts left of this column ends it.
    pub limit: usize,
    /// The column of the block or bracket around that a line may not stand in and belong here.
    pub outer: usize,
    /// Nothing has been read since it began, or since its last `in`: a `let` here is one of its own.
    pub fresh: bool,
    /// The same after a written `in`: the next line may say anew where the block stands.
    pub after_in: bool,
    start: usize,
    length: usize,
    /// How much the tokens directly inside add to the height of the tree.
    weight: usize,
    /// The height of the highest part that is complete.
    below: usize,
    /// The height of the elements before the last comma.
    peak: usize,
}

impl Context {
    pub fn new(kind: Kind, token: &Token) -> Context {
        Context {
            kind,
            column: token.column,
            current: token.column,
            limit: token.column,
            outer: token.column,
            fresh: false,
            after_in: false,
            start: token.start,
            length: token.text.len(),
            weight: 0,
            below: 0,
            peak: 0,
        }
    }

    pub fn within(self, limit: usize) -> Context {
        Context { limit, ..self }
    }

    pub fn outside(self, outer: usize) -> Context {
        Context { outer, ..self }
    }

    pub fn aligned(self, column: usize, current: usize) -> Context {
        Context { column, current, ..self }
    }

    fn height(&self) -> usize {
        self.peak.max(self.below + self.weight)
    }
}

#[derive(Debug)]
pub struct Stack {
    file: u32,
    contexts: Vec<Context>,
    /// Where in `contexts` the brackets are.
    brackets: Vec<usize>,
    /// Open `<` of types.
    angles: usize,
    /// A construct that is too high.
    excess: Option<Span>,
}

impl Stack {
    pub fn new(file: u32) -> Stack {
        Stack { file, contexts: Vec::new(), brackets: Vec::new(), angles: 0, excess: None }
    }

    pub fn top(&self) -> Option<&Context> {
        self.contexts.last()
    }

    pub fn top_mut(&mut self) -> Option<&mut Context> {
        self.contexts.last_mut()
    }

    pub fn below_top(&self) -> Option<&Context> {
        self.contexts.len().checked_sub(2).and_then(|at| self.contexts.get(at))
    }

    /// The nearest open bracket.
    pub fn bracket(&self) -> Option<&Context> {
        self.brackets.last().and_then(|at| self.contexts.get(*at))
    }

    pub fn become_kind(&mut self, kind: Kind) {
        if let Some(top) = self.top_mut() {
            top.kind = kind;
        }
    }

    /// The block on top has just begun, or waits for a body after `in`.
    pub fn set_fresh(&mut self) {
        if let Some(top) = self.top_mut() {
            top.fresh = true;
        }
    }

    pub fn push(&mut self, context: Context) -> Result<(), Diagnostic> {
        if self.contexts.len() >= NESTING {
            return Err(self.too_deep(self.span(&context)));
        }
        if context.kind.is_bracket() {
            self.brackets.push(self.contexts.len());
        }
        if let Some(top) = self.top_mut() {
            top.fresh = false;
        }
        self.contexts.push(context);
        Ok(())
    }

    pub fn pop(&mut self) -> Option<Context> {
        let context = self.contexts.pop()?;
        if context.kind.is_bracket() {
            self.brackets.pop();
        }
        let height = context.height() + 1;
        if height > HEIGHT && self.excess.is_none() {
            self.excess = Some(self.span(&context));
        }
        if let Some(top) = self.top_mut() {
            top.below = top.below.max(height);
        }
        Some(context)
    }

    /// A token that puts one more node above what came before it.
    pub fn weigh(&mut self, amount: usize) -> Result<(), Diagnostic> {
        let Some(top) = self.top_mut() else {
            return Ok(());
        };
        top.weight += amount;
        if top.weight + top.below <= HEIGHT {
            return Ok(());
        }
        match self.top() {
            Some(top) => Err(self.too_deep(self.span(top))),
            None => Ok(()),
        }
    }

    /// Between the elements of a tuple or array: they stand side by side.
    pub fn separate(&mut self) {
        if let Some(top) = self.top_mut() {
            top.peak = top.height();
            top.below = 0;
            top.weight = 0;
        }
    }

    pub fn angle(&mut self, token: &Token, change: isize) -> Result<(), Diagnostic> {
        self.angles = self.angles.saturating_add_signed(change);
        if self.angles > NESTING { Err(self.too_deep(Span::new(self.file, token.start, token.end()))) } else { Ok(()) }
    }

    pub fn check_height(&self) -> Result<(), Diagnostic> {
        self.excess.map_or(Ok(()), |span| Err(self.too_deep(span)))
    }

    /// The constructs that are open inside the nearest bracket, the innermost first.
    pub fn inside(&self) -> impl Iterator<Item = Kind> {
        let from = self.brackets.last().map_or(0, |at| at + 1);
        self.contexts.get(from..).unwrap_or_default().iter().rev().map(|context| context.kind)
    }

    /// Whether such a construct is open inside the nearest bracket that begins in this column.
    pub fn has_below(&self, kind: Kind, column: usize) -> bool {
        let from = self.brackets.last().map_or(0, |at| at + 1);
        self.contexts.get(from..).unwrap_or_default().iter().any(|context| context.kind == kind && context.column == column)
    }

    /// Whether a closing bracket answers the nearest open one.
    pub fn check_closing(&self, token: &Token) -> Result<(), Diagnostic> {
        let place = Span::new(self.file, token.start, token.end());
        let Some(open) = self.bracket() else {
            return Err(Diagnostic::error("E0102", place, format!("expected no `{}`: nothing is open", token.text))
                .help(format!("remove the `{}` or open it before", token.text)));
        };
        let (opening, closing) = brackets(open.kind);
        if closing == token.text {
            return Ok(());
        }
        Err(Diagnostic::error("E0102", place, format!("expected `{closing}`, found `{}`", token.text))
            .label(self.span(open), format!("this `{opening}` is open"))
            .help(format!("close the `{opening}` with `{closing}`")))
    }

    /// Whether the construct that a keyword goes on with is open, in the nearest bracket.
    pub fn check_keyword(&self, token: &Token, wanted: &dyn Fn(Kind) -> bool) -> Result<(), Diagnostic> {
        let from = self.brackets.last().map_or(0, |at| at + 1);
        let inside = self.contexts.get(from..).unwrap_or_default();
        if inside.iter().rev().any(|context| wanted(context.kind)) {
            return Ok(());
        }
        let place = Span::new(self.file, token.start, token.end());
        let outside = self.contexts.get(..from).unwrap_or_default();
        if let Some(open) = self.bracket()
            && outside.iter().any(|context| wanted(context.kind))
        {
            let (opening, closing) = brackets(open.kind);
            return Err(Diagnostic::error("E0102", place, format!("expected `{closing}`, found `{}`", token.text))
                .label(self.span(open), format!("this `{opening}` is open"))
                .help(format!("close the `{opening}` before")));
        }
        let (partner, help) = match token.text {
            "in" => ("let", "`in` follows the value of a local `let`; a declaration has none"),
            "then" => ("if", "write `if condition then a else b`"),
            "|" => ("match … with", "`a || b` is or; cases stand in `match e with | A x -> … | B -> …`"),
            "with" => ("match", "`with` follows what is matched, `match e with`, or the record that is copied, `{ c with x = 1.0 }`"),
            _ => ("if … then", "write `if condition then a else b`; the branches stand right of the `if`'s column"),
        };
        Err(Diagnostic::error("E0101", place, format!("expected `{partner}` before `{}`", token.text)).help(help))
    }

    /// Whether all brackets are closed at the end.
    pub fn check_closed(&self) -> Result<(), Diagnostic> {
        let Some(open) = self.bracket() else {
            return Ok(());
        };
        let (opening, closing) = brackets(open.kind);
        Err(Diagnostic::error("E0102", self.span(open), format!("expected `{closing}` to close this `{opening}`"))
            .help(format!("add the `{closing}` before the next declaration")))
    }

    fn span(&self, context: &Context) -> Span {
        Span::new(self.file, context.start, context.start + context.length)
    }

    fn too_deep(&self, span: Span) -> Diagnostic {
        let message = format!("nesting deeper than {NESTING} constructs, or a chain longer than {HEIGHT}");
        Diagnostic::error("E0109", span, message).help("bind parts of the expression to names in declarations of their own")
    }
}

fn brackets(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Square => ("[", "]"),
        Kind::SquareBar => ("[|", "|]"),
        Kind::Curly | Kind::FieldPattern => ("{", "}"),
        Kind::Round
        | Kind::Pattern
        | Kind::Block(_)
        | Kind::LetHead(_)
        | Kind::LetValue(_)
        | Kind::FunHead
        | Kind::Condition
        | Kind::Branch
        | Kind::Scrutinee
        | Kind::Rows { .. }
        | Kind::RowHead => ("(", ")"),
    }
}
