//! Traversals for one subterm of one form, after 002 Section 5: `build.body s`, `let.value s`, …
//!
//! In: a name as it stands in a strategy file. Out: a [`Child`], which says for a term whether it has the form, and which of its
//! subterms is meant, counted in evaluation order.
//!
//!     ifold.step   on   ifold f z n   →   the body of f, with its two variables in scope

use std::ops::Range;

use crate::ir::{Change, Expr, Prim, Term};

/// A subterm of a form.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    /// `form.part`.
    pub name: &'static str,
    form: Form,
    part: Part,
}

/// The forms with a traversal for each of their subterms: all that a term has once it is differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Build,
    Fold,
    While,
    Let,
    If,
    Get,
    Update,
    Accumulate,
    Tuple,
    Array,
    Check,
    Operator,
    Call,
}

/// Which of a form's subterms.
#[derive(Clone, Copy, Debug)]
enum Part {
    At(usize),
    Any,
    /// All but the first and the last.
    Inner,
    Last,
}

impl PartialEq for Child {
    fn eq(&self, other: &Child) -> bool {
        self.name == other.name
    }
}

impl Child {
    pub const ALL: [Child; 26] = [
        Child { name: "build.count", form: Form::Build, part: Part::At(0) },
        Child { name: "build.body", form: Form::Build, part: Part::At(1) },
        Child { name: "ifold.init", form: Form::Fold, part: Part::At(0) },
        Child { name: "ifold.count", form: Form::Fold, part: Part::At(1) },
        Child { name: "ifold.step", form: Form::Fold, part: Part::At(2) },
        Child { name: "while.init", form: Form::While, part: Part::At(0) },
        Child { name: "while.step", form: Form::While, part: Part::At(1) },
        Child { name: "let.value", form: Form::Let, part: Part::At(0) },
        Child { name: "let.body", form: Form::Let, part: Part::At(1) },
        Child { name: "if.condition", form: Form::If, part: Part::At(0) },
        Child { name: "if.then", form: Form::If, part: Part::At(1) },
        Child { name: "if.else", form: Form::If, part: Part::At(2) },
        Child { name: "get.array", form: Form::Get, part: Part::At(0) },
        Child { name: "get.index", form: Form::Get, part: Part::At(1) },
        Child { name: "update.array", form: Form::Update, part: Part::At(0) },
        Child { name: "update.index", form: Form::Update, part: Part::Inner },
        Child { name: "update.value", form: Form::Update, part: Part::Last },
        Child { name: "accumulate.array", form: Form::Accumulate, part: Part::At(0) },
        Child { name: "accumulate.index", form: Form::Accumulate, part: Part::Inner },
        Child { name: "accumulate.value", form: Form::Accumulate, part: Part::Last },
        Child { name: "tuple.item", form: Form::Tuple, part: Part::Any },
        Child { name: "array.item", form: Form::Array, part: Part::Any },
        Child { name: "check.condition", form: Form::Check, part: Part::At(0) },
        Child { name: "check.body", form: Form::Check, part: Part::At(1) },
        Child { name: "operator.operand", form: Form::Operator, part: Part::Any },
        Child { name: "call.argument", form: Form::Call, part: Part::Any },
    ];

    pub fn named(name: &str) -> Option<Child> {
        Child::ALL.into_iter().find(|child| child.name == name)
    }

    /// Which subterms of the term are meant; of several the leftmost in which the strategy succeeds. None where the term has
    /// another form.
    pub fn places(&self, expr: &Expr) -> Range<usize> {
        if form_of(expr) != Some(self.form) {
            return 0..0;
        }
        let count = expr.term().children().len();
        match self.part {
            Part::At(at) => at..at + 1,
            Part::Any => 0..count,
            Part::Inner => 1..count - 1,
            Part::Last => count - 1..count,
        }
    }
}

/// The form of a term; `None` where it has no subterms, and for derivative forms and values of recursive types, which are taken
/// apart before a strategy runs.
fn form_of(expr: &Expr) -> Option<Form> {
    Some(match expr.term() {
        Term::Build { .. } => Form::Build,
        Term::Fold { .. } => Form::Fold,
        Term::While { .. } => Form::While,
        Term::Let(..) => Form::Let,
        Term::If(..) => Form::If,
        Term::Get(..) => Form::Get,
        Term::Update(Change::Replace, _) => Form::Update,
        Term::Update(Change::Add, _) => Form::Accumulate,
        Term::Tuple(_) => Form::Tuple,
        Term::Array(_) => Form::Array,
        Term::Check { .. } => Form::Check,
        // written as calls
        Term::Call(..) | Term::Dim(..) | Term::Proj(..) => Form::Call,
        Term::Prim(prim, _) if Prim::function(prim.row().name) == Some(*prim) => Form::Call,
        Term::Prim(..) => Form::Operator,
        Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) => return None,
        Term::Dual { .. } | Term::Vjp { .. } | Term::Iso(..) => return None,
    })
}
