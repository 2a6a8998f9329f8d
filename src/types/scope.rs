//! What names stand for while core is made, and what is applied to what.
//!
//! A name is bound to a value, which is a core term, or to a function, which is none: it is known where it is applied, and a local one has
//! the scope that it closes over. Arguments are either, too.
//!
//!     let twice f x = f (f x) in twice sin   →   twice is a closure, which is applied to a built-in function

use std::rc::Rc;

use super::builtin::Builtin;
use super::env::Env;
use super::ty::{Record, Ty};
use crate::ir::{Expr, Size};
use crate::syntax::ast::{self, LocalFun, Pattern, Recursion, TypeExpr};

/// What open holes are at one use of a polymorphic function.
pub type Instance = Rc<Vec<(u32, Ty)>>;

/// What a name is bound to.
#[derive(Clone)]
pub enum Bind<'a> {
    /// A variable or a literal.
    Value(Expr),
    Function(Callable<'a>),
}

/// Names, size names and open holes in scope.
#[derive(Clone)]
pub struct Scope<'a> {
    pub values: Env<Bind<'a>>,
    pub sizes: Env<Size>,
    pub types: Env<Ty>,
    /// The declaration this is in.
    pub at: usize,
}

/// Something that can be applied.
#[derive(Clone)]
pub enum Callable<'a> {
    Builtin(Builtin),
    Global {
        index: usize,
        instance: Instance,
    },
    Closure(Rc<Closure<'a>>),
    /// A case of a sum type, which takes its data.
    Case {
        sum: Rc<Record>,
        case: usize,
    },
    /// A free function of an expression: nothing is known of it but its type.
    Free {
        name: Rc<str>,
        result: Ty,
    },
}

/// A local function or a `fun`, with the scope it closes over.
pub struct Closure<'a> {
    pub id: u32,
    /// `None` for a `fun` that is passed on the spot: it is expanded where it is applied.
    pub name: Option<Rc<str>>,
    pub params: &'a [Pattern],
    pub result: Option<&'a TypeExpr>,
    pub body: &'a ast::Expr,
    pub scope: Scope<'a>,
    /// What its own holes are at this use.
    pub instance: Instance,
    /// Where its body has its name.
    pub recursion: Option<Siblings<'a>>,
}

/// The functions of a local `let rec`, one of which a closure is.
#[derive(Clone)]
pub struct Siblings<'a> {
    pub functions: &'a [LocalFun],
    /// The number of each.
    pub ids: Rc<[u32]>,
}

/// An argument of an application.
#[derive(Clone)]
pub enum Arg<'a> {
    Value(Expr),
    Function(Callable<'a>),
}

impl<'a> Siblings<'a> {
    /// The names of the scope, and the functions.
    pub(super) fn bound(&self, scope: &Scope<'a>, instance: &Instance) -> Env<Bind<'a>> {
        self.functions.iter().zip(&*self.ids).fold(scope.values.clone(), |values, (fun, id)| {
            let closure = Closure {
                id: *id,
                name: Some(fun.name.text.clone()),
                params: &fun.params,
                result: fun.result.as_ref(),
                body: &fun.value,
                scope: scope.clone(),
                instance: instance.clone(),
                recursion: fun.recursion.as_ref().map(|_| self.clone()),
            };
            values.with(&fun.name.text, Bind::Function(Callable::Closure(Rc::new(closure))))
        })
    }
}

impl Closure<'_> {
    /// What the source says of its calls of itself.
    pub(super) fn written(&self) -> Option<&Recursion> {
        let siblings = self.recursion.as_ref()?;
        let at = siblings.ids.iter().position(|id| *id == self.id)?;
        siblings.functions.get(at)?.recursion.as_ref()
    }
}

/// The name under which a scope keeps what a hole is.
pub fn hole_name(id: u32) -> Rc<str> {
    format!("'{id}").into()
}
