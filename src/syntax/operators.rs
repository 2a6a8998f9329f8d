//! Precedence: a row of operands and operators to one tree.
//!
//! In: operands, prefix and infix operators in the order of the text. Out: the tree, by two stacks, so that
//! a long chain needs no recursion. Comparisons are not associative: `a < b < c` is an error.
//! Example: `-x ** 2 + y` gives `(-(x ** 2)) + y`.

use super::ast::{BinOp, Expr, ExprKind, UnOp};
use super::parse::Built;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

#[derive(Clone, Copy)]
enum Waiting {
    Prefix(UnOp, Span),
    Infix(BinOp, Span),
    /// `|>`, looser than any operator.
    Pipe,
}

/// Binding strength of each level, loosest first.
fn level(op: BinOp) -> u8 {
    match op {
        BinOp::Or => 1,
        BinOp::And => 2,
        BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => COMPARISON,
        BinOp::Add | BinOp::Sub => 4,
        BinOp::Mul | BinOp::Div | BinOp::EMul | BinOp::EDiv | BinOp::Rem => 5,
        BinOp::Pow => 7,
    }
}

const COMPARISON: u8 = 3;
const PREFIX: u8 = 6;

/// The operator that a spelling stands for.
pub fn infix(text: &str) -> Option<BinOp> {
    Some(match text {
        "||" => BinOp::Or,
        "&&" => BinOp::And,
        "=" | "==" => BinOp::Eq,
        "<>" | "!=" => BinOp::Ne,
        "<" => BinOp::Lt,
        "<=" => BinOp::Le,
        ">" => BinOp::Gt,
        ">=" => BinOp::Ge,
        "+" => BinOp::Add,
        "-" => BinOp::Sub,
        "*" => BinOp::Mul,
        "/" => BinOp::Div,
        ".*" => BinOp::EMul,
        "./" => BinOp::EDiv,
        "%" => BinOp::Rem,
        "**" => BinOp::Pow,
        _ => return None,
    })
}

/// The two stacks.
#[derive(Default)]
pub struct Row {
    operands: Vec<Expr>,
    waiting: Vec<Waiting>,
}

impl Row {
    pub fn operand(&mut self, operand: Expr) {
        self.operands.push(operand);
    }

    pub fn prefix(&mut self, op: UnOp, span: Span) {
        self.waiting.push(Waiting::Prefix(op, span));
    }

    pub fn infix(&mut self, op: BinOp, span: Span) -> Built<()> {
        while let Some(before) = self.waiting.last().copied() {
            let binds = match before {
                Waiting::Pipe => false,
                Waiting::Prefix(..) => PREFIX > level(op),
                Waiting::Infix(BinOp::Pow, _) => BinOp::Pow != op,
                Waiting::Infix(left, first) if level(left) == COMPARISON && level(op) == COMPARISON => {
                    return Err(Diagnostic::error("E0111", span, "comparisons do not chain")
                        .label(first, "the first comparison")
                        .help("write `a < b && b < c`, or parentheses"));
                }
                Waiting::Infix(left, _) => level(left) >= level(op),
            };
            if !binds {
                break;
            }
            self.apply()?;
        }
        self.waiting.push(Waiting::Infix(op, span));
        Ok(())
    }

    /// `|>`: all before it is the argument.
    pub fn pipe(&mut self) -> Built<()> {
        while !self.waiting.is_empty() {
            self.apply()?;
        }
        self.waiting.push(Waiting::Pipe);
        Ok(())
    }

    /// The tree; `None` for a row that does not alternate, which the grammar does not give.
    pub fn finish(mut self) -> Built<Option<Expr>> {
        while !self.waiting.is_empty() {
            self.apply()?;
        }
        let tree = self.operands.pop();
        Ok(tree.filter(|_| self.operands.is_empty()))
    }

    /// Puts the last waiting operator above its operands.
    fn apply(&mut self) -> Built<()> {
        match (self.waiting.pop(), self.operands.pop()) {
            (Some(Waiting::Prefix(op, at)), Some(operand)) => {
                let span = at.to(operand.span);
                self.operands.push(Expr { kind: ExprKind::Unary(op, Box::new(operand)), span });
            }
            (Some(Waiting::Pipe), Some(right)) => {
                if let Some(left) = self.operands.pop() {
                    self.operands.push(piped(left, right)?);
                }
            }
            (Some(Waiting::Infix(op, _)), Some(right)) => {
                if let Some(left) = self.operands.pop() {
                    let span = left.span.to(right.span);
                    self.operands.push(Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span });
                }
            }
            (_, None) | (None, Some(_)) => {}
        }
        Ok(())
    }
}

/// `x |> f a b` is `f x a b`; what stands in parentheses is applied as it is.
fn piped(argument: Expr, function: Expr) -> Built<Expr> {
    let span = argument.span.to(function.span);
    let kind = match function.kind {
        ExprKind::App(head, mut rest) if head.span.start == function.span.start => {
            rest.insert(0, argument);
            ExprKind::App(head, rest)
        }
        // a `not` that stands alone is where its function is
        ExprKind::Fun(_, body) if body.span == function.span && matches!(body.kind, ExprKind::Unary(UnOp::Not, _)) => {
            ExprKind::Unary(UnOp::Not, Box::new(argument))
        }
        ExprKind::Var(_) | ExprKind::Fun(..) | ExprKind::Operator(_) | ExprKind::App(..) | ExprKind::Field(..) => {
            ExprKind::App(Box::new(function), vec![argument])
        }
        ExprKind::Int(..)
        | ExprKind::Double(_)
        | ExprKind::Bool(_)
        | ExprKind::Let(..)
        | ExprKind::LetFun(..)
        | ExprKind::If(..)
        | ExprKind::Binary(..)
        | ExprKind::Unary(..)
        | ExprKind::Index(..)
        | ExprKind::Slice(..)
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Record(..)
        | ExprKind::Match(..)
        | ExprKind::Deriv(..) => {
            return Err(Diagnostic::error("E0101", function.span, "expected a function after `|>`")
                .help("`x |> f a b` is `f x a b`; put `(…)` around `x |> f` to go on with an operator"));
        }
    };
    Ok(Expr { kind, span })
}
