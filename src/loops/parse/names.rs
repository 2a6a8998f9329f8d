//! What names mean: locals, and variables of sizes.
//!
//! In: names in the order of the text. Out: the number of a local, which is new where it is declared; a variable of sizes, which
//! bears the name of its parameter or loop index; a size that data decides, for `?0`.

use std::collections::{HashMap, HashSet};

use super::Parsed;
use crate::ir::ambient::deeper;
use crate::ir::subst::substitute;
use crate::ir::{Atom, Expr, Size, Term, Type, Var};
use crate::loops::analysis::sizes;
use crate::loops::print;
use crate::loops::program::ranges::Ranges;
use crate::loops::program::*;

#[derive(Default)]
pub struct Names {
    pub locals: Vec<Local>,
    ids: HashMap<String, Id>,
    /// The names of locals, by number.
    texts: Vec<String>,
    /// Named before they are declared.
    pending: HashSet<Id>,
    pub ranges: Ranges,
    /// Whether ranges are kept: not in measures.
    pub with_ranges: bool,
    /// What the function's workspace is measured by.
    pub measured: Vec<Id>,
    vars: HashMap<String, Var>,
    /// Sizes that data decides or a loop computes, as the variables that stand for them while a size is read.
    unknowns: HashMap<Var, Size>,
    /// Whether names are those of variables of sizes.
    pub in_size: bool,
    size_vars: Vec<Var>,
}

/// The name of a local without its number.
fn own(text: &str) -> &str {
    text.split_once('.').map_or(text, |(own, _)| own)
}

impl Names {
    /// A local with this name.
    pub fn declare(&mut self, text: &str, elem: Elem, form: Form) -> Parsed<Id> {
        let local = Local { name: own(text).into(), elem, form, note: None };
        match self.ids.get(text) {
            Some(id) if self.pending.remove(id) => {
                self.locals[*id] = local;
                Ok(*id)
            }
            Some(_) => Err(format!("`{text}` is declared twice")),
            None => Ok(self.add(text, local)),
        }
    }

    fn add(&mut self, text: &str, local: Local) -> Id {
        let id = self.locals.len();
        self.locals.push(local);
        self.texts.push(text.to_string());
        self.ids.insert(text.to_string(), id);
        id
    }

    /// A local that may be declared later.
    pub fn later(&mut self, text: &str) -> Id {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let local = Local { name: own(text).into(), elem: Elem::Index, form: Form::Scalar { mutable: false }, note: None };
        let id = self.add(text, local);
        self.pending.insert(id);
        id
    }

    /// The name of a local in the text.
    pub fn text(&self, id: Id) -> &str {
        &self.texts[id]
    }

    pub fn id(&self, text: &str) -> Parsed<Id> {
        match self.ids.get(text) {
            Some(id) if !self.pending.contains(id) => Ok(*id),
            Some(_) | None => Err(format!("there is no `{text}`")),
        }
    }

    pub fn all_declared(&self) -> Parsed<()> {
        match self.pending.iter().min() {
            Some(id) => Err(format!("`{}` is not declared", self.texts[*id])),
            None => Ok(()),
        }
    }

    /// The variable of sizes of this name, which is new; `?i0` is the index of a fold, which is not negative.
    pub fn variable(&mut self, text: &str, ty: Type) -> Var {
        let name = own(text.strip_prefix('?').unwrap_or(text));
        let index = text.strip_prefix("?i").and_then(|height| Var::of_size(height.parse().ok()?, "i", Type::INDEX));
        self.vars.entry(text.to_string()).or_insert_with(|| index.unwrap_or_else(|| Var::fresh(name, ty))).clone()
    }

    /// Says that a local is how many calls deeper than is said stacks may be.
    pub fn is_deeper(&mut self, id: Id) {
        self.vars.insert(self.texts[id].clone(), deeper());
        self.measured.push(id);
    }

    /// The variable that a local is in sizes.
    pub fn var_of(&self, id: Id) -> Option<Var> {
        self.vars.get(self.texts.get(id)?).cloned()
    }

    /// A size as an expression, where it is one of locals.
    pub fn value_of(&self, size: &Size) -> Option<Value> {
        let named = |expr: &Expr| {
            let Term::Var(var) = expr.term() else { return None };
            self.vars.iter().find(|(_, known)| *known == var).and_then(|(name, _)| self.id(name).ok()).map(Value::Local)
        };
        sizes::value(size, &self.ranges, &named)
    }

    /// A name in a size, as an expression over the variables met so far.
    pub fn size_value(&mut self, text: &str) -> Parsed<(Value, Elem)> {
        let var = match text.strip_prefix('?') {
            Some(rest) => {
                let var = self.variable(text, Type::INDEX);
                if rest.chars().all(|c| c.is_ascii_digit()) {
                    self.unknowns.entry(var.clone()).or_insert_with(Size::unknown);
                }
                var
            }
            None => self.vars.get(text).cloned().ok_or_else(|| format!("`{text}` is no variable of sizes"))?,
        };
        let elem = if *var.ty() == Type::Bool { Elem::Bool } else { Elem::Index };
        self.size_vars.push(var);
        Ok((Value::Local(self.size_vars.len() - 1), elem))
    }

    /// `fold.1(n, 1, 2 * ?s1)`: a variable that stands for the size.
    pub fn fold(&mut self, k: &str, height: &str, parts: &[Value]) -> Parsed<Value> {
        let size = |part: &Value| {
            print::size_of(part, &|at| self.size_vars.get(at).cloned())?.substitute(&mut |atom| self.unknown(atom)).to_expr()
        };
        let parts: Option<Vec<Expr>> = parts.iter().map(size).collect();
        let parts = parts.ok_or("what is in a fold is no size")?;
        let Some((n, states)) = parts.split_first().filter(|(_, states)| !states.is_empty() && states.len().is_multiple_of(2)) else {
            return Err("a fold in a size has a count, and a first and a next value of each state".into());
        };
        let count = states.len() / 2;
        let (names, i) = (format!("?s{height}"), self.variable(&format!("?i{height}"), Type::INDEX));
        let states_of = |which: usize| Expr::tuple(states.iter().skip(which).step_by(2).cloned().collect());
        let acc = Var::fresh("s", Type::tuple(vec![Type::INDEX; count]));
        let own = (0..count).map(|k| (self.variable(&print::part(&names, k), Type::INDEX), Expr::proj(Expr::var(&acc), k)));
        let body = substitute(&states_of(1), &own.collect::<Vec<_>>());
        let fold = Expr::fold_with(n.clone(), acc, i, body, states_of(0));
        let k = k.strip_prefix('_').unwrap_or("0").parse().ok().filter(|k| *k < count).ok_or("the fold has no such state")?;
        let size = Size::try_of_expr(&Expr::proj(fold, k)).ok_or("it is no size")?;
        // equal folds are one variable, so that a branch on one keeps the other from being 0
        let known = self.unknowns.iter().find(|(_, known)| **known == size).map(|(var, _)| var.clone());
        let var = known.unwrap_or_else(|| {
            let var = Var::fresh("fold", Type::INDEX);
            self.unknowns.insert(var.clone(), size);
            var
        });
        self.size_vars.push(var);
        Ok(Value::Local(self.size_vars.len() - 1))
    }

    fn unknown(&self, atom: &Atom) -> Option<Size> {
        match atom {
            Atom::Var(var) => self.unknowns.get(var).cloned(),
            Atom::Term(_) | Atom::Unknown(_) => None,
        }
    }

    /// The size that an expression over variables of sizes is.
    pub fn size_of(&mut self, value: &Value) -> Parsed<Size> {
        let vars = std::mem::take(&mut self.size_vars);
        let size = print::size_of(value, &|at| vars.get(at).cloned()).ok_or("it is no size")?;
        Ok(if self.unknowns.is_empty() { size } else { size.substitute(&mut |atom| self.unknown(atom)) })
    }
}
