//! Names of a strategy file: what each stands for.
//!
//! In: the tree of a file. Out: the [`Strategy`] of its `main`, or a diagnostic. A definition is written out where it is used,
//! with its arguments for its parameters; one of `let rec` is called, with the arguments as they are.
//!
//!     let twice (s) = s ; s    twice mul-one   →   mul-one ; mul-one

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::file::{Definition, File, Operand, Tree};
use super::{Child, Combinator, Recursive, Strategy, builtin, known_names};
use crate::diagnostic::{Diagnostic, nearest};
use crate::rewrite::rules;
use crate::source::Span;

/// A strategy of more atoms than this, written out, is refused.
const ATOMS: usize = 100_000;

/// The strategy that a file says. `is_builtin`: it is one of the schedules that are built in, which use their own names only.
pub fn main(file: &File, is_builtin: bool) -> Result<Strategy, Diagnostic> {
    let definitions = &file.definitions;
    let Some(main) = definitions.iter().position(|d| d.name == "main").or_else(|| definitions.len().checked_sub(1)) else {
        return Ok(Strategy::Id);
    };
    let definition = &definitions[main];
    if !definition.parameters.is_empty() {
        let message = format!("`{}` has a parameter: it cannot run by itself", definition.name);
        return Err(Diagnostic::error("E0121", Span::new(file.end.file, 0, 0), message));
    }
    let names = Names { file, is_builtin, atoms: Cell::new(0), recursive: RefCell::default(), plain: RefCell::default() };
    if definition.is_recursive {
        return Ok(Strategy::Call(names.recursive(main)?, Rc::new([])));
    }
    names.scope(main, Vec::new()).tree(&definition.body)
}

/// What all scopes share.
struct Names<'a> {
    file: &'a File,
    is_builtin: bool,
    /// Atoms so far, those of used definitions included.
    atoms: Cell<usize>,
    /// The definitions of `let rec` that were used, by their places in the file.
    recursive: RefCell<FxHashMap<usize, Rc<Recursive>>>,
    /// The definitions without parameters that were used, with their atoms.
    plain: RefCell<FxHashMap<usize, (Strategy, usize)>>,
}

/// What a parameter stands for.
enum Bound {
    /// A strategy of so many atoms.
    Argument(Strategy, usize),
    /// The argument of this place of the call that is carried out.
    Parameter(usize),
}

/// The names that the body of a definition may use: those before it, its parameters, and itself by `let rec`.
struct Scope<'a> {
    names: &'a Names<'a>,
    /// The definition's place in the file.
    at: usize,
    bound: Vec<(&'a str, Bound)>,
}

impl<'a> Names<'a> {
    fn scope(&'a self, at: usize, bound: Vec<(&'a str, Bound)>) -> Scope<'a> {
        Scope { names: self, at, bound }
    }

    fn recursive(&'a self, at: usize) -> Result<Rc<Recursive>, Diagnostic> {
        if let Some(known) = self.recursive.borrow().get(&at) {
            return Ok(known.clone());
        }
        let definition = &self.file.definitions[at];
        let bound = definition.parameters.iter().enumerate().map(|(k, name)| (name.as_str(), Bound::Parameter(k))).collect();
        let body = self.scope(at, bound).tree(&definition.body)?;
        let recursive = Rc::new(Recursive { name: definition.name.as_str().into(), body });
        self.recursive.borrow_mut().insert(at, recursive.clone());
        Ok(recursive)
    }
}

/// The operands of an application that are left.
type Rest<'t> = std::slice::Iter<'t, Operand>;

impl<'a> Scope<'a> {
    fn definition(&self) -> &'a Definition {
        &self.names.file.definitions[self.at]
    }

    fn tree(&self, tree: &Tree) -> Result<Strategy, Diagnostic> {
        let folded = |parts: &[Tree], join: fn(Rc<Strategy>, Rc<Strategy>) -> Strategy| {
            let mut parts = parts.iter();
            let first = parts.next().map_or(Ok(Strategy::Id), |part| self.tree(part))?;
            parts.try_fold(first, |left, part| Ok(join(left.into(), self.tree(part)?.into())))
        };
        match tree {
            Tree::Choice(parts) => folded(parts, Strategy::Choice),
            Tree::Sequence(parts) => folded(parts, Strategy::Seq),
            Tree::Application(operands) => {
                let mut rest = operands.iter();
                let strategy = self.operand(&mut rest, None)?;
                match rest.next() {
                    None => Ok(strategy),
                    Some(extra) => {
                        let message = format!("expected `;`, `<+` or the end, found `{}`", extra.text());
                        Err(Diagnostic::error("E0124", extra.span(), message))
                    }
                }
            }
        }
    }

    /// The next operand with what it takes. `taker`: what wants it.
    fn operand(&self, rest: &mut Rest, taker: Option<(&str, Span)>) -> Result<Strategy, Diagnostic> {
        let Some(operand) = rest.next() else {
            let (name, span) = taker.unwrap_or(("", self.names.file.end));
            return Err(Diagnostic::error("E0125", span, format!("expected a strategy after `{name}`"))
                .help(format!("`{name}` takes the one word or parenthesis after it")));
        };
        let (name, span) = match operand {
            Operand::Group(inner, span) => {
                self.count(1, *span)?;
                return self.tree(inner);
            }
            Operand::Name(name, span) => (name.as_str(), *span),
        };
        if let Some((_, bound)) = self.bound.iter().find(|(known, _)| *known == name) {
            return match bound {
                Bound::Argument(strategy, atoms) => self.count(*atoms, span).map(|()| strategy.clone()),
                Bound::Parameter(k) => self.count(1, span).map(|()| Strategy::Parameter(*k)),
            };
        }
        self.count(1, span)?;
        let definitions = &self.names.file.definitions;
        if self.definition().is_recursive && name == self.definition().name {
            return Ok(Strategy::Again(self.arguments(self.definition(), rest, span)?.into_iter().map(|(argument, _)| argument).collect()));
        }
        if let Some(at) = definitions[..self.at].iter().rposition(|definition| definition.name == name) {
            return self.used(at, rest, span);
        }
        if let Some(combinator) = Combinator::named(name) {
            return Ok(Strategy::With(combinator, self.operand(rest, Some((name, span)))?.into()));
        }
        if let Some(child) = Child::named(name) {
            return Ok(Strategy::In(child, self.operand(rest, Some((name, span)))?.into()));
        }
        match name {
            "id" => Ok(Strategy::Id),
            "fail" => Ok(Strategy::Fail),
            _ => self.outside(name, span),
        }
    }

    /// A rule, or what a built-in schedule calls so.
    fn outside(&self, name: &str, span: Span) -> Result<Strategy, Diagnostic> {
        let file = self.names.file;
        if let Some(rule) = file.given.get(name).copied().or_else(|| rules::named(name)) {
            return Ok(Strategy::Rule(rule));
        }
        if let Some(known) = (!self.names.is_builtin).then(|| builtin(name)).flatten() {
            return Ok(known);
        }
        let known = known_names(&file.definitions[..self.at], &file.given);
        let help = if name == self.definition().name {
            format!("a strategy uses those before it, not itself; one of `let rec {name}` may")
        } else if file.definitions.iter().any(|definition| definition.name == name) {
            "a strategy uses those before it: define this one further up".into()
        } else if let Some(near) = nearest(name, known.iter().map(String::as_str)) {
            format!("did you mean `{near}`?")
        } else {
            "a strategy is used after its `let`; `smoothc explain rules` lists the rules".into()
        };
        Err(Diagnostic::error("E0127", span, format!("no rule or strategy is called `{name}`")).help(help))
    }

    /// The use of a definition.
    fn used(&self, at: usize, rest: &mut Rest, span: Span) -> Result<Strategy, Diagnostic> {
        if let Some((strategy, atoms)) = self.names.plain.borrow().get(&at) {
            return self.count(*atoms, span).map(|()| strategy.clone());
        }
        let before = self.names.atoms.get();
        let definition = &self.names.file.definitions[at];
        let arguments = self.arguments(definition, rest, span)?;
        if definition.is_recursive {
            return Ok(Strategy::Call(self.names.recursive(at)?, arguments.into_iter().map(|(argument, _)| argument).collect()));
        }
        let bound = arguments.into_iter().map(|(argument, atoms)| Bound::Argument(argument, atoms));
        let bound = definition.parameters.iter().map(String::as_str).zip(bound).collect();
        let body = self.names.scope(at, bound).tree(&definition.body)?;
        let used = Strategy::Named(definition.name.as_str().into(), body.into());
        if definition.parameters.is_empty() {
            self.names.plain.borrow_mut().insert(at, (used.clone(), self.names.atoms.get() - before));
        }
        Ok(used)
    }

    /// What a definition takes, each with its atoms.
    fn arguments(&self, definition: &Definition, rest: &mut Rest, span: Span) -> Result<Vec<(Strategy, usize)>, Diagnostic> {
        let argument = |_: &String| {
            let before = self.names.atoms.get();
            let argument = self.operand(rest, Some((&definition.name, span)))?;
            Ok((argument, self.names.atoms.get() - before))
        };
        definition.parameters.iter().map(argument).collect()
    }

    fn count(&self, atoms: usize, span: Span) -> Result<(), Diagnostic> {
        let all = self.names.atoms.get().saturating_add(atoms);
        self.names.atoms.set(all);
        if all <= ATOMS {
            return Ok(());
        }
        let message = format!("the strategy has more than {ATOMS} parts when its definitions are written out");
        Err(Diagnostic::error("E0128", span, message).help("`repeat` and the traversals say in one word what is to be done often"))
    }
}
