//! Linear maps in text, with the notes' operators.
//!
//! In: a map. Out: `0`, `1`, `S(k)`, `m ∘ n`, `m ⊕ n`, `m × n`, `m ⋈ n`, `V(build n (fun i -> m))`, `H(build …)`, `Σ(build …)`; `at(i)` is
//! an element, `hot(i)` its transpose; `FFold` and `RFold` have the step and the start in parts of their own. The tightest operator is ∘,
//! then × and ⋈, then ⊕.

use std::collections::HashMap;

use super::map::{Folding, Form, Map};
use crate::ir::free::each_free_var;
use crate::ir::subst::substitute;
use crate::ir::{Expr, Type, Var, print};

/// `let D f (x: Double) : Double -o Double = …`.
pub fn definition(name: &str, params: &[Var], from: &Type, to: &Type, map: &Map) -> String {
    let mut writer = Writer::default();
    params.iter().for_each(|param| _ = writer.name(param));
    let typed: String = params.iter().map(|param| format!(" ({}: {})", param.name(), param.ty())).collect();
    let side = |ty: &Type| if matches!(ty, Type::Tuple(_)) { format!("({ty})") } else { ty.to_string() };
    format!("let {name}{typed} : {} -o {} =\n{}\n", side(from), side(to), writer.block(map, "  "))
}

#[derive(Default)]
struct Writer {
    /// The variables that were bound so far, under names that differ.
    names: HashMap<Var, Var>,
    /// How often a name was given.
    taken: HashMap<String, usize>,
}

/// Sums, concatenations, compositions, atoms.
const SUM: u8 = 1;
const CAT: u8 = 2;
const COMPOSE: u8 = 3;
const ATOM: u8 = 4;

impl Writer {
    fn term(&self, expr: &Expr) -> String {
        let (mut map, mut free) = (Vec::new(), Vec::new());
        each_free_var(expr, &mut |var| match self.names.get(var) {
            Some(own) => {
                map.push((var.clone(), Expr::var(own)));
                free.push(own.clone());
            }
            None => free.push(var.clone()),
        });
        print::line(&substitute(expr, &map), &free)
    }

    fn name(&mut self, var: &Var) -> String {
        if let Some(own) = self.names.get(var) {
            return own.name().to_string();
        }
        let count = self.taken.entry(var.name().to_string()).or_default();
        *count += 1;
        let name = if *count == 1 { var.name().to_string() } else { format!("{}_{}", var.name(), *count - 1) };
        self.names.insert(var.clone(), Var::fresh(&name, var.ty().clone()));
        name
    }

    /// Lets and checks, a line each, then the map in them.
    fn block(&mut self, map: &Map, indent: &str) -> String {
        match map.form() {
            Form::Let(var, value, body) => {
                let value = self.term(value);
                let name = self.name(var);
                format!("{indent}let {name} = {value} in\n{}", self.block(body, indent))
            }
            Form::Check(cond, status, _, body) => {
                format!("{indent}check {} else {} in\n{}", self.term(cond), print::status_name(*status), self.block(body, indent))
            }
            _ => format!("{indent}{}", self.within(map, SUM)),
        }
    }

    fn all(&mut self, maps: &[Map], operator: &str, level: u8) -> String {
        let parts: Vec<String> = maps.iter().map(|map| self.within(map, level)).collect();
        if parts.len() == 1 { format!("({operator} {})", parts[0]) } else { parts.join(&format!(" {operator} ")) }
    }

    fn built(&mut self, mark: &str, n: &Expr, i: &Var, body: &Map) -> String {
        let n = self.argument(n);
        let i = self.name(i);
        format!("{mark}(build {n} (fun {i} -> {}))", self.within(body, SUM))
    }

    fn argument(&self, expr: &Expr) -> String {
        let text = self.term(expr);
        if text.contains(' ') && !text.starts_with(['(', '[']) { format!("({text})") } else { text }
    }

    fn fold(&mut self, mark: &str, fold: &Folding) -> String {
        let (init, n, start) = (self.argument(&fold.init), self.argument(&fold.n), self.within(&fold.start, SUM));
        let (acc, i) = (self.name(&fold.acc), self.name(&fold.i));
        let (body, step) = (self.term(&fold.body), self.within(&fold.step, SUM));
        format!("{mark}(ifold (fun {acc} {i} -> {body}) {init} {n}; step {step}; start {start})")
    }

    fn within(&mut self, map: &Map, least: u8) -> String {
        let (text, level) = match map.form() {
            Form::Zero => ("0".to_string(), ATOM),
            Form::One => ("1".to_string(), ATOM),
            Form::Scale(k) => (format!("S({})", self.term(k)), ATOM),
            Form::Compose(after, before) => (format!("{} ∘ {}", self.within(after, ATOM), self.within(before, COMPOSE)), COMPOSE),
            Form::Sum(maps) => (self.all(maps, "⊕", CAT), SUM),
            Form::VCat(maps) => (self.all(maps, "×", COMPOSE), CAT),
            Form::HCat(maps) => (self.all(maps, "⋈", COMPOSE), CAT),
            Form::VBuild(n, i, body) => (self.built("V", n, i, body), ATOM),
            Form::HBuild(n, i, body) => (self.built("H", n, i, body), ATOM),
            Form::SumBuild(n, i, body) => (self.built("Σ", n, i, body), ATOM),
            Form::VList(maps) => (format!("V[{}]", self.all(maps, ",", SUM).replace(" , ", ", ")), ATOM),
            Form::HList(maps) => (format!("H[{}]", self.all(maps, ",", SUM).replace(" , ", ", ")), ATOM),
            Form::At(index) => (format!("at({})", self.term(index)), ATOM),
            Form::Hot(index) => (format!("hot({})", self.term(index)), ATOM),
            Form::If(cond, then, otherwise) => {
                let cond = self.term(cond);
                (format!("if {cond} then {} else {}", self.within(then, SUM), self.within(otherwise, SUM)), 0)
            }
            Form::Let(var, value, body) => {
                let value = self.term(value);
                let name = self.name(var);
                (format!("let {name} = {value} in {}", self.within(body, 0)), 0)
            }
            Form::Check(cond, status, _, body) => {
                (format!("check {} else {} in {}", self.term(cond), print::status_name(*status), self.within(body, 0)), 0)
            }
            Form::Fold(fold) => (self.fold("FFold", fold), ATOM),
            Form::FoldBack(fold) => (self.fold("RFold", fold), ATOM),
        };
        if level >= least { text } else { format!("({text})") }
    }
}
