//! The sides of a law, and how a left side matches a term.
//!
//! In: a pattern and a term. Out: what the pattern's metavariables and variables stand for, or where the two first differ.
//! A metavariable stands for a term that mentions no variable which the pattern binds; one that is applied to such variables
//! stands for a term that may mention just these, and so for a function of them. Nothing can be captured: which variables a
//! term mentions is asked of the term, in which every binder has an identity of its own.
//!
//!     build n (fun i -> f i + a)   on   build 5 (fun j -> v[j] + x)   gives   n = 5, i = j, f = fun j -> v[j], a = x

use crate::ir::free::mentions;
use crate::ir::prim::Kind;
use crate::ir::subst::substitute;
use crate::ir::{Change, Expr, Prim, Size, Term, Type, Updated, Var};
use crate::rewrite::alike::same;
use crate::rewrite::form::Form;

/// The number of a variable that a law binds.
pub type Binder = usize;

/// A side of an equation.
#[derive(Clone, Debug)]
pub enum Pattern {
    Meta(String),
    /// A metavariable applied: on a left side to different variables that are bound there.
    Applied(String, Vec<Pattern>),
    /// A variable that the law binds.
    Bound(Binder),
    /// An integer literal: of either number type.
    Number(f64),
    Double(f64),
    Bool(bool),
    Prim(Prim, Vec<Pattern>),
    If(Box<[Pattern; 3]>),
    Get(Box<[Pattern; 2]>),
    Length(Box<Pattern>),
    Tuple(Vec<Pattern>),
    /// `fst`, 0, or `snd`, 1, of a pair.
    Proj(Box<Pattern>, usize),
    /// An array that is written out.
    Array(Vec<Pattern>),
    /// An array, one index, and what is put there or added.
    Update(Change, Box<[Pattern; 3]>),
    /// A value, and what it is bound in.
    Let(Name, Box<[Pattern; 2]>),
    /// A count, and a body.
    Build(Name, Box<[Pattern; 2]>),
    /// Accumulator and index; where it begins, a count, and a step.
    Fold([Name; 2], Box<[Pattern; 3]>),
}

/// A binder, and what it is called where a right side makes it.
#[derive(Clone, Debug)]
pub struct Name {
    pub binder: Binder,
    pub text: String,
}

/// What the metavariables and the variables of a left side stand for.
#[derive(Clone, Debug, Default)]
pub struct Binding<'a> {
    pub metas: Vec<(&'a str, Stands)>,
    vars: Vec<(Binder, Var)>,
}

/// What a metavariable stands for: a function of the variables that it was applied to.
#[derive(Clone, Debug)]
pub struct Stands {
    pub params: Vec<Var>,
    pub term: Expr,
}

impl<'a> Binding<'a> {
    pub fn get(&self, name: &str) -> Option<&Stands> {
        self.metas.iter().find(|(other, _)| *other == name).map(|(_, stands)| stands)
    }

    pub fn var(&self, binder: Binder) -> Option<&Var> {
        self.vars.iter().find(|(other, _)| *other == binder).map(|(_, var)| var)
    }

    /// Lets a metavariable stand for a function, if it may: a repeated one for an equal one only.
    fn bind(&mut self, name: &'a str, params: Vec<Var>, term: &Expr) -> bool {
        if self.vars.iter().any(|(_, var)| !params.contains(var) && mentions(term, var)) {
            return false;
        }
        match self.get(name) {
            Some(known) if known.params == params => same(&known.term, term),
            Some(known) => {
                let renamed: Vec<(Var, Expr)> = known.params.iter().cloned().zip(params.iter().map(Expr::var)).collect();
                known.params.len() == params.len() && same(&substitute(&known.term, &renamed), term)
            }
            None => {
                self.metas.push((name, Stands { params, term: term.clone() }));
                true
            }
        }
    }
}

impl Pattern {
    /// What the pattern is made of, in the order of a term's children.
    pub fn parts(&self) -> &[Pattern] {
        match self {
            Pattern::Meta(_) | Pattern::Bound(_) | Pattern::Number(_) | Pattern::Double(_) | Pattern::Bool(_) => &[],
            Pattern::Prim(_, parts) | Pattern::Tuple(parts) | Pattern::Array(parts) | Pattern::Applied(_, parts) => parts,
            Pattern::If(parts) | Pattern::Fold(_, parts) | Pattern::Update(_, parts) => &parts[..],
            Pattern::Get(parts) | Pattern::Let(_, parts) | Pattern::Build(_, parts) => &parts[..],
            Pattern::Length(part) | Pattern::Proj(part, _) => std::slice::from_ref(part),
        }
    }

    /// What it binds in its last part, in the order of a term's binders.
    fn names(&self) -> &[Name] {
        match self {
            Pattern::Let(name, _) | Pattern::Build(name, _) => std::slice::from_ref(name),
            Pattern::Fold(names, _) => names,
            Pattern::Meta(_) | Pattern::Applied(..) | Pattern::Bound(_) | Pattern::Number(_) | Pattern::Double(_) | Pattern::Bool(_) => &[],
            Pattern::Prim(..) | Pattern::If(_) | Pattern::Get(_) | Pattern::Length(_) | Pattern::Tuple(_) => &[],
            Pattern::Proj(..) | Pattern::Array(_) | Pattern::Update(..) => &[],
        }
    }

    /// Nodes beside those that metavariables stand for.
    pub fn nodes(&self) -> usize {
        usize::from(!matches!(self, Pattern::Meta(_))) + self.parts().iter().map(Pattern::nodes).sum::<usize>()
    }

    pub fn each_meta(&self, f: &mut dyn FnMut(&str)) {
        match self {
            Pattern::Meta(name) | Pattern::Applied(name, _) => f(name),
            Pattern::Bound(_) | Pattern::Number(_) | Pattern::Double(_) | Pattern::Bool(_) | Pattern::Prim(..) | Pattern::If(_) => {}
            Pattern::Get(_) | Pattern::Length(_) | Pattern::Tuple(_) | Pattern::Let(..) | Pattern::Build(..) | Pattern::Fold(..) => {}
            Pattern::Proj(..) | Pattern::Array(_) | Pattern::Update(..) => {}
        }
        self.parts().iter().for_each(|part| part.each_meta(f));
    }

    /// Whether it stands for any term, or any that mentions some variables only.
    fn is_meta(&self) -> bool {
        matches!(self, Pattern::Meta(_) | Pattern::Applied(..))
    }

    /// Whether the outermost form is that of the term, whatever number a literal is.
    pub fn has_form_of(&self, expr: &Expr) -> bool {
        match (self, expr.term()) {
            (Pattern::Meta(_) | Pattern::Applied(..), _) => true,
            // a written -0.0
            (Pattern::Number(_) | Pattern::Double(_), Term::Double(_) | Term::Prim(Prim::Neg, _)) => true,
            (Pattern::Number(_), Term::Index(_)) | (Pattern::Bool(_), Term::Bool(_)) => true,
            (Pattern::Prim(wanted, parts), Term::Prim(prim, args)) => wanted == prim && parts.len() == args.len(),
            (Pattern::If(_), Term::If(..)) | (Pattern::Get(_), Term::Get(..)) | (Pattern::Length(_), Term::Dim(_, 0)) => true,
            (Pattern::Tuple(parts), Term::Tuple(terms)) => parts.len() == terms.len(),
            (Pattern::Array(parts), Term::Array(terms)) => parts.len() == terms.len(),
            (Pattern::Proj(_, wanted), Term::Proj(pair, at)) => wanted == at && matches!(pair.ty(), Type::Tuple(parts) if parts.len() == 2),
            (Pattern::Update(wanted, _), Term::Update(change, parts)) => {
                wanted == change && Updated::of(parts).is_some_and(|updated| updated.indices.len() == 1)
            }
            (Pattern::Bound(_), Term::Var(_)) | (Pattern::Let(..), Term::Let(..)) => true,
            (Pattern::Build(..), Term::Build { .. }) | (Pattern::Fold(..), Term::Fold { .. }) => true,
            (Pattern::Number(_) | Pattern::Double(_) | Pattern::Bool(_) | Pattern::Prim(..) | Pattern::If(_) | Pattern::Get(_), _) => false,
            (Pattern::Length(_) | Pattern::Tuple(_) | Pattern::Bound(_), _) => false,
            (Pattern::Proj(..) | Pattern::Array(_) | Pattern::Update(..), _) => false,
            (Pattern::Let(..) | Pattern::Build(..) | Pattern::Fold(..), _) => false,
        }
    }

    /// Whether it says the outermost form, and that is the term's.
    pub fn begins_like(&self, expr: &Expr) -> bool {
        !self.is_meta() && self.has_form_of(expr)
    }

    /// Whether it may match a term of this [form](Form).
    pub fn may_match(&self, expr: &Expr) -> bool {
        let mut known = self.parts().iter().zip(expr.term().children()).take(Form::CHILDREN);
        self.has_form_of(expr) && (self.is_meta() || known.all(|(part, child)| part.has_form_of(child)))
    }

    /// Whether it matches but for variables and repeated metavariables: what most laws fail by, and the cheaper question.
    pub fn has_shape_of(&self, expr: &Expr) -> bool {
        if self.is_meta() {
            return true;
        }
        let is_literal = match (self, expr.term()) {
            (Pattern::Number(value) | Pattern::Double(value), Term::Double(x)) => x.to_bits() == value.to_bits(),
            (Pattern::Number(value) | Pattern::Double(value), Term::Prim(Prim::Neg, args)) => {
                matches!(args.as_slice(), [x] if matches!(x.term(), Term::Double(x) if (-x).to_bits() == value.to_bits()))
            }
            (Pattern::Number(value), Term::Index(i)) => *i as f64 == *value,
            (Pattern::Bool(value), Term::Bool(b)) => value == b,
            _ => true,
        };
        let mut parts = self.parts().iter().zip(expr.term().children());
        is_literal && self.has_form_of(expr) && parts.all(|(part, child)| part.has_shape_of(child))
    }

    /// The first place where the term is none of these: what the law has there, and what the term has.
    pub fn differs<'a>(&'a self, expr: &Expr, binding: &mut Binding<'a>) -> Option<(String, Expr)> {
        if let Pattern::Meta(name) | Pattern::Applied(name, _) = self {
            let is_another = binding.get(name).is_some();
            if self.binds(expr, binding) {
                return None;
            }
            let why = if is_another {
                format!("elsewhere `{name}` of the law is another term than here")
            } else {
                format!("`{name}` of the law stands for no term that mentions a variable bound around it")
            };
            return Some((why, expr.clone()));
        }
        if !self.has_form_of(expr) || (self.parts().is_empty() && !self.has_shape_of(expr)) {
            return Some((format!("the law has {} where this stands", self.form()), expr.clone()));
        }
        self.each_part(expr, binding, &mut |part, child, binding| part.differs(child, binding).map_or(Ok(()), Err)).err()
    }

    /// Each part with the subterm at its place, the last one with what this form binds.
    fn each_part<'a, E>(
        &'a self,
        expr: &Expr,
        binding: &mut Binding<'a>,
        f: &mut dyn FnMut(&'a Pattern, &Expr, &mut Binding<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        let last = self.parts().len().saturating_sub(1);
        for (at, (part, child)) in self.parts().iter().zip(expr.term().children()).enumerate() {
            if at == last {
                let vars = self.names().iter().map(|name| name.binder).zip(expr.term().binders().cloned());
                binding.vars.extend(vars);
            }
            f(part, child, binding)?;
        }
        Ok(())
    }

    /// The outermost form in words.
    fn form(&self) -> String {
        match self {
            Pattern::Meta(name) | Pattern::Applied(name, _) => format!("`{name}`"),
            Pattern::Bound(_) => "a variable that it binds".into(),
            Pattern::Number(value) => format!("`{value}`"),
            Pattern::Double(value) => format!("`{value:?}`"),
            Pattern::Bool(value) => format!("`{value}`"),
            Pattern::Prim(prim, _) => format!("`{}`", prim.row().name),
            Pattern::If(_) => "`if`".into(),
            Pattern::Get(_) => "an element".into(),
            Pattern::Length(_) => "`length`".into(),
            Pattern::Tuple(_) => "a tuple".into(),
            Pattern::Proj(_, 0) => "`fst`".into(),
            Pattern::Proj(..) => "`snd`".into(),
            Pattern::Array(_) => "an array that is written out".into(),
            Pattern::Update(Change::Replace, _) => "`update`".into(),
            Pattern::Update(Change::Add, _) => "`accumulate`".into(),
            Pattern::Let(..) => "`let`".into(),
            Pattern::Build(..) => "`build`".into(),
            Pattern::Fold(..) => "`ifold`".into(),
        }
    }

    /// Binds the metavariables of a pattern that [has the shape](Pattern::has_shape_of) of the term; `false` where one of them may
    /// not stand for its term.
    pub fn binds<'a>(&'a self, expr: &Expr, binding: &mut Binding<'a>) -> bool {
        match self {
            Pattern::Meta(name) => binding.bind(name, Vec::new(), expr),
            Pattern::Applied(name, args) => {
                let param = |arg: &Pattern| if let Pattern::Bound(binder) = arg { binding.var(*binder).cloned() } else { None };
                let params: Option<Vec<Var>> = args.iter().map(param).collect();
                params.is_some_and(|params| binding.bind(name, params, expr))
            }
            Pattern::Bound(binder) => matches!(expr.term(), Term::Var(var) if binding.var(*binder) == Some(var)),
            Pattern::Number(_) | Pattern::Double(_) | Pattern::Bool(_) => true,
            Pattern::Prim(..) | Pattern::If(_) | Pattern::Get(_) | Pattern::Length(_) | Pattern::Tuple(_) => self.parts_bind(expr, binding),
            Pattern::Proj(..) | Pattern::Array(_) | Pattern::Update(..) => self.parts_bind(expr, binding),
            Pattern::Let(..) | Pattern::Build(..) | Pattern::Fold(..) => self.parts_bind(expr, binding),
        }
    }

    fn parts_bind<'a>(&'a self, expr: &Expr, binding: &mut Binding<'a>) -> bool {
        self.each_part(expr, binding, &mut |part, child, binding| if part.binds(child, binding) { Ok(()) } else { Err(()) }).is_ok()
    }

    /// The type of what is built; `None` where only its place says it, as of an integer literal. `scope`: the variables of a
    /// right side.
    pub fn ty(&self, binding: &Binding, scope: &[(Binder, Var)]) -> Option<Type> {
        let of = |pattern: &Pattern| pattern.ty(binding, scope);
        match self {
            Pattern::Meta(name) | Pattern::Applied(name, _) => binding.get(name).map(|stands| stands.term.ty().clone()),
            Pattern::Bound(binder) => scope.iter().find(|(other, _)| other == binder).map(|(_, var)| var.ty().clone()),
            Pattern::Number(_) | Pattern::Let(..) | Pattern::Build(..) => None,
            Pattern::Double(_) => Some(Type::Double),
            Pattern::Bool(_) => Some(Type::Bool),
            Pattern::Length(_) => Some(Type::INDEX),
            Pattern::Prim(prim, patterns) => match prim.row().kind {
                Kind::Number => patterns.iter().find_map(of),
                Kind::Double | Kind::IndexToDouble | Kind::IndexDoubleToDouble => Some(Type::Double),
                Kind::Index | Kind::DoubleToIndex => Some(Type::INDEX),
                Kind::Order | Kind::Equality | Kind::Bool => Some(Type::Bool),
            },
            Pattern::Tuple(patterns) => patterns.iter().map(of).collect::<Option<Vec<_>>>().map(Type::tuple),
            Pattern::Proj(pair, at) => match of(pair)? {
                Type::Tuple(parts) => parts.get(*at).cloned(),
                Type::Double | Type::Index(_) | Type::Bool | Type::Array(..) | Type::Rec(_) => None,
            },
            Pattern::Array(patterns) => Some(Type::array(patterns.iter().find_map(of)?, Size::constant(patterns.len() as i64))),
            Pattern::Update(_, patterns) => of(&patterns[0]),
            Pattern::If(patterns) => patterns[1..].iter().find_map(of),
            Pattern::Get(patterns) => of(&patterns[0])?.element().cloned(),
            Pattern::Fold(_, patterns) => of(&patterns[0]),
        }
    }
}
