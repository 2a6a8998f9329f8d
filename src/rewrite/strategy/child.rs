//! Traversals for one subterm of one form, after 002 Section 5: `build.body s`, `let.value s`, …
//!
//! In: a name as it stands in a strategy file. Out: a [`Child`], which says for a term whether it has the form, and which of its
//! subterms is meant, counted in evaluation order.
//!
//!     ifold.step   on   ifold f z n   →   the body of f, with its two variables in scope

use std::ops::Range;

use crate::ir::{Expr, Prim, Term};

/// A subterm of a form.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    /// `form.part`.
    pub name: &'static str,
    form: Form,
    /// Its place among the subterms; those from there on where there may be several.
    at: usize,
}

/// The forms with a traversal for each of their subterms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Build,
    Fold,
    Let,
    If,
    Get,
    Call,
}

impl PartialEq for Child {
    fn eq(&self, other: &Child) -> bool {
        self.name == other.name
    }
}

impl Child {
    pub const ALL: [Child; 13] = [
        Child { name: "build.count", form: Form::Build, at: 0 },
        Child { name: "build.body", form: Form::Build, at: 1 },
        Child { name: "ifold.init", form: Form::Fold, at: 0 },
        Child { name: "ifold.count", form: Form::Fold, at: 1 },
        Child { name: "ifold.step", form: Form::Fold, at: 2 },
        Child { name: "let.value", form: Form::Let, at: 0 },
        Child { name: "let.body", form: Form::Let, at: 1 },
        Child { name: "if.condition", form: Form::If, at: 0 },
        Child { name: "if.then", form: Form::If, at: 1 },
        Child { name: "if.else", form: Form::If, at: 2 },
        Child { name: "get.array", form: Form::Get, at: 0 },
        Child { name: "get.index", form: Form::Get, at: 1 },
        Child { name: "call.argument", form: Form::Call, at: 0 },
    ];

    pub fn named(name: &str) -> Option<Child> {
        Child::ALL.into_iter().find(|child| child.name == name)
    }

    /// Which subterms of the term are meant; of several the leftmost in which the strategy succeeds. None where the term has
    /// another form.
    pub fn places(&self, expr: &Expr) -> Range<usize> {
        let form = match expr.term() {
            Term::Build { .. } => Form::Build,
            Term::Fold { .. } => Form::Fold,
            Term::Let(..) => Form::Let,
            Term::If(..) => Form::If,
            Term::Get(..) => Form::Get,
            Term::Call(..) => Form::Call,
            // written as a call
            Term::Prim(prim, _) if Prim::function(prim.row().name) == Some(*prim) => Form::Call,
            Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Prim(..) | Term::Dim(..) | Term::Tuple(_) => {
                return 0..0;
            }
            Term::Proj(..) | Term::Array(_) | Term::Update(..) | Term::Check { .. } | Term::Dual { .. } => return 0..0,
            Term::Vjp { .. } | Term::While { .. } | Term::Iso(..) => return 0..0,
        };
        match form {
            other if other != self.form => 0..0,
            Form::Call => 0..expr.term().children().len(),
            Form::Build | Form::Fold | Form::Let | Form::If | Form::Get => self.at..self.at + 1,
        }
    }
}
