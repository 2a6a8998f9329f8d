//! The functions that elaboration makes, as others see them: those that are made, and recursive ones while they are being made.
//!
//! [`Special`] is a core function as its callers see it. The body of a recursive function calls it before it is there: [`Making`] says
//! which function that is, [`Ahead`] what such a call needs to know of it, [`Passed`] what such calls pass on.

use std::rc::Rc;

use super::arguments::function_key;
use super::scope::Callable;
use super::told::Told;
use super::ty::Ty;
use crate::ir::{Expr, Function, Type, Var};
use crate::source::Span;

/// A core function that was made, as its callers see it.
#[derive(Clone)]
pub struct Special {
    pub name: Rc<str>,
    /// The value parameters, then what else the body needs, as bound while the body was made.
    pub(super) params: Vec<Var>,
    pub(super) extra: Vec<Var>,
    pub(super) result: Type,
    /// What of the value is a size that the shapes and Index arguments tell: `matrixRows m` is one.
    pub(super) value: Told,
    /// Whether the value is one only after a check, so that it has to be called.
    pub(super) is_checked: bool,
    /// What its calls of itself pass on.
    pub(super) passed: Rc<Passed>,
}

impl Special {
    /// The same whose calls of itself pass this on.
    pub(super) fn passing(&self, passed: Rc<Passed>) -> Special {
        Special { passed, ..self.clone() }
    }

    /// The function with its body.
    pub(super) fn function(&self, sizes: Vec<Var>, body: Expr, doc: Option<String>, span: Span) -> Function {
        Function {
            name: self.name.clone(),
            doc,
            sizes,
            params: self.params.iter().chain(&self.extra).cloned().collect(),
            result: self.result.clone(),
            body,
            is_entry: false,
            span,
            labels: Vec::new(),
        }
    }
}

/// A recursive function of the source.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Recursive {
    /// By its number.
    Declaration(usize),
    /// A local function by its number.
    Local(u32),
}

/// A recursive function whose body is being made.
pub(super) struct Making {
    pub of: Recursive,
    key: String,
    functions: String,
    /// Its function arguments that are closures: their numbers, and where they are written.
    pub closures: Vec<(u32, Span)>,
    pub text: Span,
    /// The lengths in its parameters' sums.
    pub lengths: InSums,
    /// What its calls of itself pass on.
    pub passed: Passed,
}

impl Making {
    pub fn new((of, key): (Recursive, &str), functions: &[(usize, Callable)], text: Span, lengths: InSums) -> Making {
        let closures = functions.iter().filter_map(|(_, function)| match function {
            Callable::Closure(closure) => Some((closure.id, closure.body.span)),
            Callable::Builtin(_) | Callable::Global { .. } | Callable::Case { .. } | Callable::Free { .. } => None,
        });
        Making {
            of,
            key: key.to_string(),
            functions: function_key(functions),
            closures: closures.collect(),
            text,
            lengths,
            passed: Passed::default(),
        }
    }

    /// Under which its callers find it.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Whether it is a local function, whose sizes are those of the scope around it too.
    pub fn is_local(&self) -> bool {
        matches!(self.of, Recursive::Local(_))
    }

    /// Whether it is this function, of the same functions.
    pub fn is(&self, of: Recursive, functions: &str) -> bool {
        self.of == of && self.functions == functions
    }

    /// Whether its argument is another closure of this text.
    pub fn is_given_anew(&self, (id, text): (u32, Span)) -> bool {
        self.closures.iter().any(|(known, place)| *place == text && *known != id)
    }
}

/// What is known of a recursive function while its body is made.
pub(super) struct Ahead {
    /// Under which its callers find it.
    pub key: String,
    /// The type of the result, and the same with the lengths that are known.
    pub template: Ty,
    pub result: Type,
    /// The name of the parameter that `decreases` names.
    pub measure: Option<String>,
}

/// The lengths in the sums among the parameters of a recursive function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InSums {
    /// Those of the arguments.
    Given,
    /// Any.
    Own,
    /// Those of the arguments, on which all calls agree: what a call inside passes has room for them.
    Shared,
}

/// What the calls of a recursive function inside itself pass on in sums.
#[derive(Default)]
pub(super) struct Passed {
    /// Whether some has other lengths than the parameters.
    pub is_other: bool,
    /// What is passed for each parameter.
    pub values: Vec<Vec<Expr>>,
}
