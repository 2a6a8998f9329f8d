//! One side of a law, as an expression of the language with its place in the text of the law.

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::{ast, parse_expr};

/// How a law is written.
pub const SHAPE: &str = "write `left -> right if condition`, for example `a + a -> 2 * a if atomic a`";

/// The tree of a side, whose places count from where the side begins in the file.
pub struct Side {
    pub tree: ast::Expr,
    start: u32,
}

impl Side {
    pub fn parse(text: &str, file: u32, start: u32) -> Result<Side, Diagnostic> {
        let tree = parse_expr(text, file).map_err(|errors| {
            let error = errors.into_iter().next();
            error.unwrap_or_else(|| Diagnostic::error("E0118", Span::new(file, 0, text.len()), "expected an expression").help(SHAPE))
        });
        // a place of its own, for the parser's messages
        let here = |span: Span| Span { start: span.start + start, end: span.end + start, ..span };
        tree.map(|tree| Side { tree, start }).map_err(|error| Diagnostic { span: here(error.span), ..error })
    }

    pub fn place(&self, span: Span) -> Span {
        Span { start: span.start + self.start, end: span.end + self.start, ..span }
    }

    pub fn moved(&self, problem: Diagnostic) -> Diagnostic {
        Diagnostic { span: self.place(problem.span), ..problem }
    }
}
