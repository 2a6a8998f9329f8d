//! Habits of other languages that have no type here: one error where unification would give several, at the right place.
//!
//! In: what is applied and to what. Out: whether it is one of them, which is then reported: `n * x` with n an Index, `build (double n)`,
//! `vectorMap f v`, `List.map f v`. What is only a word or a phrase is in `src/elsewhere.rs`.

use std::rc::Rc;

use super::deferred::Operand;
use super::infer::{Infer, Scope};
use super::ty::Ty;
use crate::diagnostic::Diagnostic;
use crate::elsewhere;
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind, Name};

impl Infer<'_> {
    /// Reports an Index beside a Double, at the Index: that is the one to convert.
    pub(super) fn mixes_numbers(&mut self, left: &Operand, right: &Operand) -> bool {
        let (index, double) = match (self.holes.head(&left.1), self.holes.head(&right.1)) {
            (Ty::Index(_), Ty::Double) => (left.0, right.0),
            (Ty::Double, Ty::Index(_)) => (right.0, left.0),
            _ => return false,
        };
        // an integer literal that no Index can be says so itself
        if self.notes.literals.contains_key(&double) {
            return false;
        }
        let help = "an Index becomes a Double by `double n`; a literal without a point is what its use needs";
        self.report(Diagnostic::error("E0301", index, "expected Double, found Index").help(help));
        true
    }

    /// Reports a function before the array that it is applied to, as other languages have it.
    pub(super) fn swaps_arguments(&mut self, name: Option<&str>, args: &[ast::Expr], params: &[Ty], scope: &Scope) -> bool {
        let (Some(name), [first, rest @ ..]) = (name, args) else { return false };
        let takes_function_last = matches!(params, [Ty::Array(..), .., Ty::Fun(..)]);
        if !takes_function_last || rest.is_empty() {
            return false;
        }
        let is_function = match &first.kind {
            ExprKind::Fun(..) | ExprKind::Operator(_) => true,
            ExprKind::Var(known) if self.is_known(known, scope) => {
                let ty = self.name(known, first.span, scope).0.ty;
                matches!(self.holes.head(&ty), Ty::Fun(..))
            }
            _ => false,
        };
        if is_function {
            let arrays = if rest.len() == 1 { "v" } else { "v w" };
            let message = format!("`{name}` takes the array first, then the function");
            self.report(Diagnostic::error("E0301", first.span, message).help(format!("write `{name} {arrays} f`")));
        }
        is_function
    }

    /// Reports `double n` where an Index is wanted.
    pub(super) fn converts_count(&mut self, arg: &ast::Expr, param: &Ty, found: &Ty) -> bool {
        let converted = matches!(&arg.kind, ExprKind::App(head, _) if matches!(&head.kind, ExprKind::Var(name) if &**name == "double"));
        let wrong = converted && matches!(self.holes.head(found), Ty::Double) && matches!(self.holes.head(param), Ty::Index(_));
        if wrong {
            let help = "lengths, counts and indices are Indexes: leave `double` out";
            self.report(Diagnostic::error("E0301", arg.span, "expected Index, found Double").help(help));
        }
        wrong
    }

    /// `List.map`, `np.dot`: one error for both words.
    pub(super) fn no_module(&mut self, module: &Rc<str>, span: Span, name: &Name, scope: &Scope) {
        let help = match elsewhere::field(&name.text) {
            Some(sentence) => sentence.to_string(),
            None if self.is_known(&name.text, scope) => format!("functions have no module before them: `{}`", name.text),
            None => "functions have no module before them, and the fields of a record stand behind its name".to_string(),
        };
        self.report(Diagnostic::error("E0202", span, format!("unknown name `{module}`")).help(help));
    }
}
