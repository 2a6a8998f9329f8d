//! Core programs as text: for `--dump`, snapshots, messages, and as keys of equal terms.
//!
//! In: terms, types, functions. Out: source-like text, one let a line, with as few parentheses as the
//! grammar's precedences allow. Variables have their source names; a second variable of one name in a
//! function gets a suffix (`x`, `x_1`), in order of appearance, so nothing shadows. What the source language
//! has no form for is printed as `e.0` (projection), `dual (x = e, dx = t) -> …` and `check c else SHAPE in …`.
//!
//!     let f (v: Vector<n>) : Vector<n> =
//!       let s = v[0] in
//!       build n (fun i -> v[i] * s)

use std::collections::{HashMap, HashSet};

use super::prim::Prim;
use super::program::{Function, Program};
use super::term::{Change, Expr, Iso, Size, Status, Term, Type, Updated, Var};

/// All functions, an empty line between them.
pub fn program(program: &Program) -> String {
    program.functions.values().map(function).collect::<Vec<_>>().join("\n")
}

/// A function with its header, ending in a newline.
pub fn function(function: &Function) -> String {
    let mut names = Names::default();
    for size in function.sizes.iter().chain(&function.params) {
        names.name(size);
    }
    let mut name = |var: &Var| names.name(var);
    let mut printer = Printer::new(&mut name);
    let mut text = format!("let {}", function.name);
    for param in &function.params {
        text += &format!(" ({}: {})", (printer.name)(param), printer.ty(param.ty(), false));
    }
    text += &format!(" : {} =\n  ", printer.ty(&function.result, false));
    printer.block(&function.body, 2, &mut text);
    text.push('\n');
    text
}

/// A term by itself.
pub fn expr(expr: &Expr) -> String {
    let mut names = Names::default();
    let mut text = String::new();
    Printer::new(&mut |var| names.name(var)).block(expr, 0, &mut text);
    text
}

/// A term on one line, in the source language wherever it has a form for it. `free` are variables that keep
/// their names.
pub fn line(expr: &Expr, free: &[Var]) -> String {
    let mut names = Names::default();
    for var in free {
        names.name(var);
    }
    Printer { source: true, ..Printer::new(&mut |var| names.name(var)) }.flat(expr, OPEN)
}

/// Terms on one line each, with one name for each variable of them all; what is nested so deep that the longest
/// would have more characters than `width` is printed as `…`.
pub fn brief(exprs: &[&Expr], width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for depth in [24, 16, 12, 9, 7, 6, 5, 4, 3] {
        let mut names = Names::default();
        lines = exprs.iter().map(|expr| Printer { depth, ..Printer::new(&mut |var| names.name(var)) }.flat(expr, OPEN)).collect();
        if lines.iter().all(|line| line.chars().count() <= width) {
            break;
        }
    }
    lines
}

/// A text that is equal for equal terms: variables appear with their numbers. For terms without binders.
pub fn key(expr: &Expr) -> String {
    Printer::new(&mut |var| format!("{}#{}", var.name(), var.id())).flat(expr, OPEN)
}

/// An Index term as a person writes it.
pub fn size_text(expr: &Expr) -> String {
    Printer::new(&mut |var| var.name().to_string()).flat(expr, OPEN)
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", Printer::new(&mut |var| var.name().to_string()).ty(self, false))
    }
}

/// The name that a status has in the printed `check`.
pub fn status_name(status: Status) -> &'static str {
    match status {
        Status::Bounds => "BOUNDS",
        Status::Shape => "SHAPE",
        Status::Negative => "NEGATIVE",
        Status::DivZero => "DIV_ZERO",
        Status::Range => "RANGE",
        Status::Workspace => "WORKSPACE",
    }
}

/// Names of one function's variables, all different.
#[derive(Default)]
struct Names {
    given: HashMap<Var, String>,
    used: HashSet<String>,
}

impl Names {
    fn name(&mut self, var: &Var) -> String {
        if let Some(name) = self.given.get(var) {
            return name.clone();
        }
        let mut name = var.name().to_string();
        let mut suffix = 1;
        while self.used.contains(&name) {
            name = format!("{}_{suffix}", var.name());
            suffix += 1;
        }
        self.used.insert(name.clone());
        self.given.insert(var.clone(), name.clone());
        name
    }
}

// precedence levels of docs/language.md, Expressions, loosest first
const OPEN: u8 = 0;
const OR: u8 = 1;
const AND: u8 = 2;
const COMPARE: u8 = 3;
const SUM: u8 = 4;
const PRODUCT: u8 = 5;
const UNARY: u8 = 6;
const POWER: u8 = 7;
const APPLY: u8 = 8;
const ATOM: u8 = 9;

/// Level of an infix primitive, and the levels that its operands need.
fn infix(prim: Prim) -> Option<(u8, u8, u8)> {
    match prim {
        Prim::Or => Some((OR, OR, AND)),
        Prim::And => Some((AND, AND, COMPARE)),
        Prim::Eq | Prim::Ne | Prim::Lt | Prim::Le | Prim::Gt | Prim::Ge => Some((COMPARE, SUM, SUM)),
        Prim::Add | Prim::Sub => Some((SUM, SUM, PRODUCT)),
        Prim::Mul | Prim::Div | Prim::Rem => Some((PRODUCT, PRODUCT, UNARY)),
        Prim::Pow => Some((POWER, APPLY, UNARY)),
        Prim::Neg | Prim::Not | Prim::Min | Prim::Max | Prim::Abs | Prim::Sin | Prim::Cos | Prim::Tan | Prim::Asin => None,
        Prim::Acos | Prim::Atan | Prim::Sinh | Prim::Cosh | Prim::Tanh | Prim::Log | Prim::Exp | Prim::Sqrt => None,
        Prim::Atan2 | Prim::Erf | Prim::Lgamma | Prim::Polygamma | Prim::Sign | Prim::Floor => None,
        Prim::Log1p | Prim::Expm1 | Prim::Erfc | Prim::Asinh | Prim::Acosh | Prim::Atanh | Prim::Cbrt | Prim::Hypot | Prim::Exp2 => None,
        Prim::Log2 | Prim::Log10 | Prim::Ceil | Prim::Round | Prim::Trunc | Prim::Sigmoid | Prim::Softplus => None,
        Prim::ToDouble | Prim::ToIndex => None,
    }
}

/// Terms of more nodes than this are laid out over several lines.
const LINE: usize = 40;

struct Printer<'a> {
    name: &'a mut dyn FnMut(&Var) -> String,
    /// In the source language's own forms, where it has them.
    source: bool,
    /// How many levels of a term on one line are printed.
    depth: usize,
}

fn parens(text: String, needed: bool) -> String {
    if needed { format!("({text})") } else { text }
}

impl<'a> Printer<'a> {
    fn new(name: &'a mut dyn FnMut(&Var) -> String) -> Printer<'a> {
        Printer { name, source: false, depth: usize::MAX }
    }
}

impl Printer<'_> {
    fn size(&mut self, size: &Size) -> String {
        size.to_expr().map_or_else(|| "?".to_string(), |expr| self.flat(&expr, OPEN))
    }

    fn ty(&mut self, ty: &Type, nested: bool) -> String {
        match ty {
            Type::Double => "Double".to_string(),
            Type::Bool => "Bool".to_string(),
            Type::Index(None) => "Index".to_string(),
            Type::Index(Some(bound)) => format!("Index<{}>", self.size(bound)),
            Type::Array(element, size) => {
                let size = self.size(size);
                match element.as_ref() {
                    Type::Double => format!("Vector<{size}>"),
                    Type::Array(inner, columns) if inner.as_ref() == &Type::Double => {
                        format!("Matrix<{size}, {}>", self.size(columns))
                    }
                    Type::Array(..) | Type::Tuple(_) | Type::Rec(_) | Type::Bool | Type::Index(_) => {
                        format!("Array<{}, {size}>", self.ty(element, false))
                    }
                }
            }
            Type::Tuple(parts) => parens(parts.iter().map(|part| self.ty(part, true)).collect::<Vec<_>>().join(" * "), nested),
            Type::Rec(of) => of.name().to_string(),
        }
    }

    fn items(&mut self, items: &[Expr], level: u8, separator: &str) -> String {
        items.iter().map(|item| self.flat(item, level)).collect::<Vec<_>>().join(separator)
    }

    /// The term on one line, in parentheses where its place needs a tighter level.
    fn flat(&mut self, expr: &Expr, level: u8) -> String {
        if self.depth == 0 && !expr.is_atom() {
            return "…".to_string();
        }
        self.depth = self.depth.saturating_sub(1);
        let text = self.whole(expr, level);
        self.depth = self.depth.saturating_add(1);
        text
    }

    fn whole(&mut self, expr: &Expr, level: u8) -> String {
        match expr.term() {
            Term::Var(var) => (self.name)(var),
            Term::Double(value) if value.is_nan() => "(0.0 / 0.0)".to_string(),
            Term::Double(value) if value.is_infinite() => if *value > 0.0 { "(1.0 / 0.0)" } else { "(-1.0 / 0.0)" }.to_string(),
            Term::Double(value) => parens(format!("{value:?}"), level > UNARY && value.is_sign_negative()),
            Term::Index(value) => parens(value.to_string(), level > UNARY && *value < 0),
            Term::Bool(value) => value.to_string(),
            Term::Prim(prim, args) => self.prim(*prim, args, level),
            Term::Let(var, value, body) => {
                let value = self.flat(value, OPEN);
                let text = format!("let {} = {value} in {}", (self.name)(var), self.flat(body, OPEN));
                parens(text, level > OPEN)
            }
            Term::If(c, a, b) => {
                let (c, a) = (self.flat(c, OPEN), self.flat(a, OPEN));
                parens(format!("if {c} then {a} else {}", self.flat(b, OPEN)), level > OPEN)
            }
            Term::Build { n, i, body } => {
                let n = self.flat(n, ATOM);
                let text = format!("build {n} (fun {} -> {})", (self.name)(i), self.flat(body, OPEN));
                parens(text, level > APPLY)
            }
            Term::Fold { n, acc, i, body, init } => {
                let (acc, i) = ((self.name)(acc), (self.name)(i));
                let body = self.flat(body, OPEN);
                let init = self.flat(init, ATOM);
                parens(format!("ifold (fun {acc} {i} -> {body}) {init} {}", self.flat(n, ATOM)), level > APPLY)
            }
            Term::While { state, init, body } => {
                let state = (self.name)(state);
                let body = self.flat(body, OPEN);
                parens(format!("while (fun {state} -> {body}) {}", self.flat(init, ATOM)), level > APPLY)
            }
            Term::Get(array, index) => {
                let array = self.flat(array, ATOM);
                format!("{array}[{}]", self.flat(index, OPEN))
            }
            Term::Dim(array, 0) => parens(format!("length {}", self.flat(array, ATOM)), level > APPLY),
            Term::Dim(array, 1) if self.source => parens(format!("matrixCols {}", self.flat(array, ATOM)), level > APPLY),
            Term::Dim(array, axis) => parens(format!("dim {} {axis}", self.flat(array, ATOM)), level > APPLY),
            Term::Tuple(parts) => format!("({})", self.items(parts, OPEN, ", ")),
            Term::Proj(tuple, index) if self.source => self.component(tuple, *index, level),
            Term::Proj(tuple, index) => format!("{}.{index}", self.flat(tuple, ATOM)),
            Term::Array(items) => format!("[{}]", self.items(items, OPEN, ", ")),
            Term::Call(name, args) if args.is_empty() => name.to_string(),
            Term::Call(name, args) => parens(format!("{name} {}", self.items(args, ATOM, " ")), level > APPLY),
            Term::Check { cond, status, body } => {
                let cond = self.flat(cond, OPEN);
                parens(format!("check {cond} else {} in {}", status_name(*status), self.flat(body, OPEN)), level > OPEN)
            }
            Term::Dual { x, at, tangent, body } => {
                let head = self.dual_head(x, at, tangent);
                parens(format!("{head} {}", self.flat(body, OPEN)), level > OPEN)
            }
            Term::Vjp { x, at, cotangent, body } => {
                let head = self.vjp_head(x, at, cotangent);
                parens(format!("{head} {}", self.flat(body, OPEN)), level > OPEN)
            }
            Term::Update(change, parts) => {
                let name = change.name();
                parens(self.update(name, parts), level > APPLY)
            }
            Term::Iso(Iso::Absent, _) => "absent".to_string(),
            Term::Iso(iso, operands) => {
                let name = if *iso == Iso::Roll { "roll" } else { "unroll" };
                parens(format!("{name} {}", self.items(operands, ATOM, " ")), level > APPLY)
            }
        }
    }

    /// A component in the source language: `fst` and `snd` of pairs, a pattern for longer tuples.
    fn component(&mut self, tuple: &Expr, index: usize, level: u8) -> String {
        let width = if let Type::Tuple(parts) = tuple.ty() { parts.len() } else { 0 };
        if width == 2 {
            let function = if index == 0 { "fst" } else { "snd" };
            return parens(format!("{function} {}", self.flat(tuple, ATOM)), level > APPLY);
        }
        let pattern = (0..width).map(|at| if at == index { "part" } else { "_" }).collect::<Vec<_>>().join(", ");
        parens(format!("let ({pattern}) = {} in part", self.flat(tuple, OPEN)), level > OPEN)
    }

    fn dual_head(&mut self, x: &Var, at: &Expr, tangent: &Expr) -> String {
        let (at, tangent) = (self.flat(at, OPEN), self.flat(tangent, OPEN));
        let x = (self.name)(x);
        format!("dual ({x} = {at}, d{x} = {tangent}) ->")
    }

    fn vjp_head(&mut self, x: &Var, at: &Expr, cotangent: &Expr) -> String {
        let (at, cotangent) = (self.flat(at, OPEN), self.flat(cotangent, OPEN));
        format!("vjp ({} = {at}, w = {cotangent}) ->", (self.name)(x))
    }

    /// `update a i x`; an element of a row is `update a i (update a[i] j x)` in the source language, and
    /// `update a [i, j] x` elsewhere.
    fn update(&mut self, name: &str, parts: &[Expr]) -> String {
        let Some(Updated { array, indices, value }) = Updated::of(parts) else { return name.to_string() };
        let array = self.flat(array, ATOM);
        match indices {
            [index] => format!("{name} {array} {} {}", self.flat(index, ATOM), self.flat(value, ATOM)),
            _ if !self.source => format!("{name} {array} [{}] {}", self.items(indices, OPEN, ", "), self.flat(value, ATOM)),
            _ => {
                let mut heads = Vec::new();
                let mut row = array;
                for (k, index) in indices.iter().enumerate() {
                    let name = if k + 1 == indices.len() { name } else { Change::Replace.name() };
                    heads.push(format!("{name} {row} {} ", self.flat(index, ATOM)));
                    row = format!("{row}[{}]", self.flat(index, OPEN));
                }
                format!("{}{}{}", heads.join("("), self.flat(value, ATOM), ")".repeat(heads.len() - 1))
            }
        }
    }

    fn prim(&mut self, prim: Prim, args: &[Expr], level: u8) -> String {
        let name = prim.row().name;
        match (infix(prim), args) {
            (Some((own, left, right)), [a, b]) => {
                let a = self.flat(a, left);
                parens(format!("{a} {name} {}", self.flat(b, right)), level > own)
            }
            (None, [a]) if prim == Prim::Neg => {
                // `- -x` would read as one operator in other languages; `-(-x)` reads well in all
                let operand = self.flat(a, POWER);
                parens(format!("-{operand}"), level > UNARY)
            }
            (None, [a]) if prim == Prim::Not => parens(format!("not {}", self.flat(a, POWER)), level > UNARY),
            _ => parens(format!("{name} {}", self.items(args, ATOM, " ")), level > APPLY),
        }
    }

    /// The term from the current column on, its further lines indented by `indent`.
    fn block(&mut self, expr: &Expr, indent: usize, text: &mut String) {
        if fits(expr, &mut LINE.clone()) {
            text.push_str(&self.flat(expr, OPEN));
            return;
        }
        match expr.term() {
            Term::Let(var, value, body) => {
                // the value is named before the variable, which is not in scope there
                let mut inner = String::new();
                self.block(value, indent + 2, &mut inner);
                let name = (self.name)(var);
                let break_value = inner.contains('\n');
                let start = if break_value { format!("\n{}", " ".repeat(indent + 2)) } else { " ".to_string() };
                text.push_str(&format!("let {name} ={start}{inner}"));
                text.push_str(&if break_value { format!("\n{}in", " ".repeat(indent)) } else { " in".to_string() });
                self.next_line(body, indent, text);
            }
            Term::Check { cond, status, body } => {
                text.push_str(&format!("check {} else {} in", self.flat(cond, OPEN), status_name(*status)));
                self.next_line(body, indent, text);
            }
            Term::If(c, a, b) => {
                text.push_str(&format!("if {} then", self.flat(c, OPEN)));
                self.next_line(a, indent + 2, text);
                text.push_str(&format!("\n{}else", " ".repeat(indent)));
                self.next_line(b, indent + 2, text);
            }
            Term::Build { n, i, body } => {
                text.push_str(&format!("build {} (fun {} ->", self.flat(n, ATOM), (self.name)(i)));
                self.next_line(body, indent + 2, text);
                text.push(')');
            }
            Term::Fold { n, acc, i, body, init } => {
                text.push_str(&format!("ifold (fun {} {} ->", (self.name)(acc), (self.name)(i)));
                self.next_line(body, indent + 2, text);
                text.push_str(&format!(") {} {}", self.flat(init, ATOM), self.flat(n, ATOM)));
            }
            Term::While { state, init, body } => {
                text.push_str(&format!("while (fun {} ->", (self.name)(state)));
                self.next_line(body, indent + 2, text);
                text.push_str(&format!(") {}", self.flat(init, ATOM)));
            }
            Term::Dual { x, at, tangent, body } => {
                text.push_str(&self.dual_head(x, at, tangent));
                self.next_line(body, indent + 2, text);
            }
            Term::Vjp { x, at, cotangent, body } => {
                text.push_str(&self.vjp_head(x, at, cotangent));
                self.next_line(body, indent + 2, text);
            }
            Term::Tuple(items) => self.lines(("(", ")"), items, indent, text),
            Term::Array(items) => self.lines(("[", "]"), items, indent, text),
            Term::Proj(tuple, index) => {
                text.push('(');
                self.block(tuple, indent + 2, text);
                text.push_str(&format!(").{index}"));
            }
            Term::Get(array, index) if !fits(array, &mut LINE.clone()) => {
                text.push('(');
                self.block(array, indent + 2, text);
                text.push_str(&format!(")[{}]", self.flat(index, OPEN)));
            }
            Term::Var(_) | Term::Double(_) | Term::Index(_) | Term::Bool(_) | Term::Prim(..) => text.push_str(&self.flat(expr, OPEN)),
            Term::Get(..) | Term::Dim(..) | Term::Call(..) | Term::Update(..) | Term::Iso(..) => text.push_str(&self.flat(expr, OPEN)),
        }
    }

    fn next_line(&mut self, expr: &Expr, indent: usize, text: &mut String) {
        text.push_str(&format!("\n{}", " ".repeat(indent)));
        self.block(expr, indent, text);
    }

    fn lines(&mut self, (open, close): (&str, &str), items: &[Expr], indent: usize, text: &mut String) {
        text.push_str(open);
        for (k, item) in items.iter().enumerate() {
            if k > 0 {
                text.push_str(&format!(",\n{}", " ".repeat(indent + 1)));
            }
            self.block(item, indent + 1, text);
        }
        text.push_str(close);
    }
}

/// Whether the term belongs on one line: few nodes, nothing that has a line of its own.
fn fits(expr: &Expr, budget: &mut usize) -> bool {
    if *budget == 0 || matches!(expr.term(), Term::Let(..) | Term::Check { .. }) {
        return false;
    }
    *budget -= 1;
    let mut fit = true;
    expr.term().each_child(&mut |child| fit = fit && fits(child, budget));
    fit
}

#[cfg(test)]
#[path = "print_tests.rs"]
mod tests;
